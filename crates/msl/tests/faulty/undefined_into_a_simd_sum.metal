// expect: undefined value 7 6
#include <metal_stdlib>
using namespace metal;

kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
    int x; if (i % 2 == 0) x = 1;
    out[i] = simd_sum(x);
}
