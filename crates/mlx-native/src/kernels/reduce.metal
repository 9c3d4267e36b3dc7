// Reductions of the middle of an array of shape [outer, length, inner], in row-major order.
//
// With inner = 1 a threadgroup reduces a row at a time, and takes further rows if there are more of
// them than threadgroups; else a thread reduces each column. Sums are taken
// in blocks, so that the rounding error grows with the root of the length rather than with it.
#include <metal_stdlib>
using namespace metal;

struct Reduction {
    uint outer;
    uint length;
    uint inner;
    // What a sum is divided by: 1, or the number of elements for a mean.
    float divisor;
};

constant uint BLOCK = 128;

// The larger, or NaN if either is NaN.
inline float maximum(float a, float b) {
    return isnan(a) ? a : (isnan(b) ? b : max(a, b));
}

// Reduces one value of every thread of a threadgroup of at most 1024; all threads get the result.
inline float threadgroup_sum(float value, threadgroup float* partial, uint lane, uint simdgroup,
                             uint simdgroups) {
    value = simd_sum(value);
    if (lane == 0) {
        partial[simdgroup] = value;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float total = 0.0f;
    for (uint i = 0; i < simdgroups; i++) {
        total += partial[i];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return total;
}

inline float threadgroup_maximum(float value, threadgroup float* partial, uint lane, uint simdgroup,
                                 uint simdgroups) {
    bool any_nan = simd_any(isnan(value));
    value = any_nan ? NAN : simd_max(value);
    if (lane == 0) {
        partial[simdgroup] = value;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float total = partial[0];
    for (uint i = 1; i < simdgroups; i++) {
        total = maximum(total, partial[i]);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return total;
}

kernel void sum_rows_f32(device const float* input [[buffer(0)]],
                         device float* output [[buffer(1)]],
                         constant Reduction& p [[buffer(2)]],
                         uint group [[threadgroup_position_in_grid]],
                         uint groups [[threadgroups_per_grid]],
                         uint index [[thread_index_in_threadgroup]],
                         uint threads [[threads_per_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]],
                         uint simdgroup [[simdgroup_index_in_threadgroup]],
                         uint simdgroups [[simdgroups_per_threadgroup]]) {
    threadgroup float partial[32];
    for (ulong row = group; row < p.outer; row += groups) {
        device const float* x = input + row * p.length;
        float total = 0.0f;
        float block = 0.0f;
        uint in_block = 0;
        for (uint i = index; i < p.length; i += threads) {
            block += x[i];
            in_block++;
            if (in_block == BLOCK) {
                total += block;
                block = 0.0f;
                in_block = 0;
            }
        }
        total = threadgroup_sum(total + block, partial, lane, simdgroup, simdgroups);
        if (index == 0) {
            output[row] = total / p.divisor;
        }
    }
}

kernel void sum_columns_f32(device const float* input [[buffer(0)]],
                            device float* output [[buffer(1)]],
                            constant Reduction& p [[buffer(2)]],
                            uint i [[thread_position_in_grid]]) {
    if (i < p.outer * p.inner) {
        device const float* x = input + (i / p.inner) * p.length * p.inner + i % p.inner;
        float total = 0.0f;
        for (uint start = 0; start < p.length; start += BLOCK) {
            float block = 0.0f;
            uint end = min(start + BLOCK, p.length);
            for (uint k = start; k < end; k++) {
                block += x[k * p.inner];
            }
            total += block;
        }
        output[i] = total / p.divisor;
    }
}

kernel void max_rows_f32(device const float* input [[buffer(0)]],
                         device float* output [[buffer(1)]],
                         constant Reduction& p [[buffer(2)]],
                         uint group [[threadgroup_position_in_grid]],
                         uint groups [[threadgroups_per_grid]],
                         uint index [[thread_index_in_threadgroup]],
                         uint threads [[threads_per_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]],
                         uint simdgroup [[simdgroup_index_in_threadgroup]],
                         uint simdgroups [[simdgroups_per_threadgroup]]) {
    threadgroup float partial[32];
    for (ulong row = group; row < p.outer; row += groups) {
        device const float* x = input + row * p.length;
        float best = -INFINITY;
        for (uint i = index; i < p.length; i += threads) {
            best = maximum(best, x[i]);
        }
        best = threadgroup_maximum(best, partial, lane, simdgroup, simdgroups);
        if (index == 0) {
            output[row] = best;
        }
    }
}

kernel void max_columns_f32(device const float* input [[buffer(0)]],
                            device float* output [[buffer(1)]],
                            constant Reduction& p [[buffer(2)]],
                            uint i [[thread_position_in_grid]]) {
    if (i < p.outer * p.inner) {
        device const float* x = input + (i / p.inner) * p.length * p.inner + i % p.inner;
        float best = -INFINITY;
        for (uint k = 0; k < p.length; k++) {
            best = maximum(best, x[k * p.inner]);
        }
        output[i] = best;
    }
}

// dx of a maximum: dy, shared equally by all elements that are the maximum.
kernel void max_backward_f32(device const float* input [[buffer(0)]],
                             device const float* output [[buffer(1)]],
                             device const float* output_gradient [[buffer(2)]],
                             device float* input_gradient [[buffer(3)]],
                             constant Reduction& p [[buffer(4)]],
                             uint i [[thread_position_in_grid]]) {
    if (i < p.outer * p.inner) {
        uint first = (i / p.inner) * p.length * p.inner + i % p.inner;
        float best = output[i];
        uint ties = 0;
        for (uint k = 0; k < p.length; k++) {
            float x = input[first + k * p.inner];
            ties += uint(x == best || (isnan(x) && isnan(best)));
        }
        float share = output_gradient[i] / float(ties);
        for (uint k = 0; k < p.length; k++) {
            float x = input[first + k * p.inner];
            input_gradient[first + k * p.inner] =
                (x == best || (isnan(x) && isnan(best))) ? share : 0.0f;
        }
    }
}
