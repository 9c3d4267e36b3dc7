// expect: undefined value 8 6
#include <metal_stdlib>
using namespace metal;

kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
    bool flags[2];
    flags[0] = true;
    if (flags[i % 2]) out[i] = 1;
}
