// expect: undefined value 6 5
#include <metal_stdlib>
using namespace metal;

kernel void k(device float* out, threadgroup float* t [[threadgroup(0)]], uint l [[thread_index_in_threadgroup]]) {
    t[l] += 1.0f;
    out[l] = t[l];
}
