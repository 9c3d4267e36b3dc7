// expect: index out of range 8
#include <metal_stdlib>
using namespace metal;

kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
    int t[64];
    t[i] = 1;
    t[int(i) - 1] = 2;
    out[i] = t[i];
}
