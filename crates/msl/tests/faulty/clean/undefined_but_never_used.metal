#include <metal_stdlib>
using namespace metal;
struct S { int a; int b; };
S make(int a) { S s; s.a = a; return s; }
kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
    int rest[4];
    rest[1] = 3;
    S s = make(int(i));
    S t = i % 2 == 0 ? s : make(2);
    out[i] = t.a + rest[1];
}
