// expect: data race 8 10
// grid 32 group 32
#include <metal_stdlib>
using namespace metal;

kernel void k(device int* out, uint l [[thread_index_in_threadgroup]]) {
    threadgroup int t[32];
    t[l] = int(l);
    int sum = simd_sum(1);
    out[l] = t[31 - l] + sum;
}
