// expect: data race 6 8
// grid 64 group 32
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out, device int* x, uint i [[thread_position_in_grid]]) {
    x[i] = int(i);
    threadgroup_barrier(mem_flags::mem_device);
    out[i] = x[(i + 32) % 64];
}
