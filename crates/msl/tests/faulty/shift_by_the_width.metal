// expect: shift count 6
#include <metal_stdlib>
using namespace metal;

kernel void k(device uint* out, uint i [[thread_position_in_grid]]) {
    out[i] = 1u << (i / 2 + 1);
}
