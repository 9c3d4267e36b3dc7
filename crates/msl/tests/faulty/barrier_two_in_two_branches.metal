// expect: missed barrier 7 9; missed barrier 9 5
#include <metal_stdlib>
using namespace metal;

kernel void k(device int* out, uint l [[thread_index_in_threadgroup]]) {
    if (l % 2 == 0) {
        threadgroup_barrier(mem_flags::mem_device);
    } else {
        threadgroup_barrier(mem_flags::mem_device);
    }
    out[l] = 1;
}
