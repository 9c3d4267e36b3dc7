#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out, uint l [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
    threadgroup int t[64];
    t[l] = int(l);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint s = 32; s > 0; s /= 2) {
        if (l < s && l + s < n) t[l] += t[l + s];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (l == 0) out[0] = t[0];
}
