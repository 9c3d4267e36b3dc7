// grid 100 group 32
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out, constant int& n, uint i [[thread_position_in_grid]]) {
    for (int j = 0; j < 3 + n; j++) {
        if (j == 1) continue;
        if (j == 2) { threadgroup_barrier(mem_flags::mem_device); }
        simdgroup_barrier(mem_flags::mem_none);
    }
    out[i] = 1;
}
