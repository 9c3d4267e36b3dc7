// expect: shift count 6
#include <metal_stdlib>
using namespace metal;

kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
    out[i] = 1000 >> (int(i % 20) - 1);
}
