// expect: inactive lane 7
#include <metal_stdlib>
using namespace metal;

kernel void k(device uint* out, uint l [[thread_index_in_threadgroup]]) {
    if (l == 6) return;
    out[l] = quad_shuffle_up(l, 1);
}
