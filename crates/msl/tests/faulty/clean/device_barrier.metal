#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out, device int* x, uint l [[thread_index_in_threadgroup]]) {
    x[l] = int(l);
    threadgroup_barrier(mem_flags::mem_device);
    out[l] = x[63 - l];
}
