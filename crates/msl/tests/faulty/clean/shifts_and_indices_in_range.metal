#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
    int a[4] = {1, 2, 3, 4};
    thread int* end = &a[i / 64 + 4];
    int sum = 0;
    for (thread int* p = a; p != end; p++) sum += *p;
    out[i] = (sum << (i % 32)) + (int(i) >> 31) + 7 / (int(i) + 1) + a[i % 4];
}
