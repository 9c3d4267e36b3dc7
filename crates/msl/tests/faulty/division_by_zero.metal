// expect: division by zero 6
#include <metal_stdlib>
using namespace metal;

kernel void k(device int* out, device const int* x, uint i [[thread_position_in_grid]]) {
    out[i] = 7 / x[i];
}
