// expect: undefined value 8 6
#include <metal_stdlib>
using namespace metal;

kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
    int x;
    if (i < 63) x = 1;
    out[i] = x + 1;
}
