// grid 40 group 40
#include <metal_stdlib>
using namespace metal;
kernel void k(device uint* out, uint l [[thread_index_in_threadgroup]]) {
    uint r = 0;
    if (l % 2 == 0) r = simd_shuffle_xor(l, 2) + simd_sum(l);
    if (l < 4) r += quad_broadcast(l, 3);
    r += simd_shuffle_up(l, 1) + simd_broadcast_first(l);
    out[l] = r;
}
