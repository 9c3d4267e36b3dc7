// expect: data race 6 7
#include <metal_stdlib>
using namespace metal;

kernel void k(device uint* out, device atomic_uint* count, uint i [[thread_position_in_grid]]) {
    atomic_fetch_add_explicit(&count[0], 1u, memory_order_relaxed);
    out[i] = ((device uint*)count)[0];
}
