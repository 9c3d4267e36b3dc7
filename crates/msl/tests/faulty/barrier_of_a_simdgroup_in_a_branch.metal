// expect: missed barrier 7 9
#include <metal_stdlib>
using namespace metal;

kernel void k(device int* out, uint l [[thread_index_in_threadgroup]]) {
    if (l % 32 < 5) {
        simdgroup_barrier(mem_flags::mem_device);
    }
    threadgroup_barrier(mem_flags::mem_device);
    out[l] = 1;
}
