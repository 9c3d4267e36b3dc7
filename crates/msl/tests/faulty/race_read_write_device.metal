// expect: data race 6
#include <metal_stdlib>
using namespace metal;

kernel void k(device int* out, device int* x, uint i [[thread_position_in_grid]]) {
    x[i] = x[(i + 1) % 64] + 1;
}
