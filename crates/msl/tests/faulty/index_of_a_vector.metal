// expect: index out of range 7
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out, uint i [[thread_position_in_grid]]) {
    float3 v = float3(1, 2, 3);
    v[i % 4] = 7;
    out[i] = v.x;
}
