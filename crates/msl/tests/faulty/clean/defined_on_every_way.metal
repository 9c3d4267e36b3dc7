#include <metal_stdlib>
using namespace metal;
struct S { float3 v; char c; };
kernel void k(device S* out, uint i [[thread_position_in_grid]]) {
    int x;
    if (i % 2 == 0) { x = 1; } else { x = 2; }
    float4 v;
    v.xy = float2(1, 2);
    v.zw = v.xy;
    S s;
    s.v = v.xyz;
    s.c = char(x);
    S copy = s;
    out[i % 64] = copy;
}
