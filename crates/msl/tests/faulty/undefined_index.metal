// expect: undefined value 8 7
#include <metal_stdlib>
using namespace metal;

kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
    int a[2] = {1, 2};
    int n;
    out[i] = a[n];
}
