// expect: data race 7 9
#include <metal_stdlib>
using namespace metal;

kernel void k(device int* out, uint l [[thread_index_in_threadgroup]]) {
    threadgroup int t[64];
    t[l] = int(l);
    threadgroup_barrier(mem_flags::mem_device);
    out[l] = t[63 - l];
}
