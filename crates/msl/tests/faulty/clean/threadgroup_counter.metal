#include <metal_stdlib>
using namespace metal;
kernel void k(device uint* out, uint l [[thread_index_in_threadgroup]]) {
    threadgroup atomic_uint count;
    if (l == 0) atomic_store_explicit(&count, 0u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint mine = atomic_fetch_add_explicit(&count, 1u, memory_order_relaxed);
    out[mine] = l;
}
