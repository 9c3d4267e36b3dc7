// expect: missed barrier 7 5
#include <metal_stdlib>
using namespace metal;

kernel void k(device int* out, uint l [[thread_index_in_threadgroup]]) {
    for (uint j = 0; j <= l / 32; j++) {
        threadgroup_barrier(mem_flags::mem_device);
    }
    out[l] = 1;
}
