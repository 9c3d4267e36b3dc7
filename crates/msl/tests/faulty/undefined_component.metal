// expect: undefined value 9 6
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out, uint i [[thread_position_in_grid]]) {
    float4 v;
    v.xyz = float3(1, 2, 3);
    out[i] = v.z;
    out[i] = v.w;
}
