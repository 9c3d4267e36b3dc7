// expect: index out of range 8
#include <metal_stdlib>
using namespace metal;

struct S { int a[4]; int b[4]; };
kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
    S s = {{1, 2, 3, 4}, {5, 6, 7, 8}};
    out[i] = s.a[i % 5];
}
