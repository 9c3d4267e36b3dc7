// expect: division by zero 6
#include <metal_stdlib>
using namespace metal;

kernel void k(device uint* out, uint i [[thread_position_in_grid]]) {
    out[i] = 7u % (i % 3);
}
