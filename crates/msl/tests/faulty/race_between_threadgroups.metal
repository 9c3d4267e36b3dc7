// expect: data race 8
// grid 64 group 32
#include <metal_stdlib>
using namespace metal;

kernel void k(device int* out, uint l [[thread_index_in_threadgroup]], uint g [[threadgroup_position_in_grid]]) {
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    if (l == 3) out[5] = int(g);
}
