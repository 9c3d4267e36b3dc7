// expect: data race 7
// grid 64 group 64
#include <metal_stdlib>
using namespace metal;

kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
    out[i / 2] = int(i);
}
