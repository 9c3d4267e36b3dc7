#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out, uint l [[thread_index_in_threadgroup]]) {
    threadgroup int t[64];
    int sum = 0;
    for (int round = 0; round < 3; round++) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        t[l] = round + int(l);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        sum += t[(l + 1) % 64];
    }
    out[l] = sum;
}
