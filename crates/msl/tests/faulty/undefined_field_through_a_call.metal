// expect: undefined value 10 8
#include <metal_stdlib>
using namespace metal;

struct S { int a; int b; };
S half_made(int a, thread S& s) { s.a = a; return s; }
kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
    S s;
    S t = half_made(int(i), s);
    out[i] = t.a + t.b;
}
