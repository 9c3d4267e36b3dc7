// expect: inactive lane 7
#include <metal_stdlib>
using namespace metal;

kernel void k(device uint* out, uint l [[thread_index_in_threadgroup]]) {
    uint r = 0;
    if (l % 2 == 0) r = simd_shuffle_xor(l, 1);
    out[l] = r;
}
