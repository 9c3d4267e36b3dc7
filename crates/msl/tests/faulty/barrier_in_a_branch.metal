// expect: missed barrier 6 5
#include <metal_stdlib>
using namespace metal;

kernel void k(device int* out, uint l [[thread_index_in_threadgroup]]) {
    if (l < 20) { threadgroup_barrier(mem_flags::mem_none); }
    out[l] = 1;
}
