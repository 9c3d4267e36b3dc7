// expect: inactive lane 6
// grid 20 group 20
#include <metal_stdlib>
using namespace metal;
kernel void k(device uint* out, uint l [[thread_index_in_threadgroup]]) {
    out[l] = simd_broadcast(l, 25);
}
