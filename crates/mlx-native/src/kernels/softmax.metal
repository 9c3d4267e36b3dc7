// softmax and log_softmax of rows; a threadgroup takes a row of any length at a time, and further
// rows if there are more of them than threadgroups.
#include <metal_stdlib>
using namespace metal;

struct Rows {
    uint rows;
    uint length;
};

inline float row_sum(float value, threadgroup float* partial, uint lane, uint simdgroup,
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

// The maximum of the numbers of a row; a NaN shows in the sum that follows.
inline float row_max(float value, threadgroup float* partial, uint lane, uint simdgroup,
                     uint simdgroups) {
    value = simd_max(value);
    if (lane == 0) {
        partial[simdgroup] = value;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float best = partial[0];
    for (uint i = 1; i < simdgroups; i++) {
        best = max(best, partial[i]);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return best;
}

#define ROW_ARGUMENTS                                                                              \
    uint group [[threadgroup_position_in_grid]], uint groups [[threadgroups_per_grid]],           \
        uint index [[thread_index_in_threadgroup]],                                                \
        uint threads [[threads_per_threadgroup]], uint lane [[thread_index_in_simdgroup]],         \
        uint simdgroup [[simdgroup_index_in_threadgroup]],                                         \
        uint simdgroups [[simdgroups_per_threadgroup]]

// y = exp(x - max) / sum(exp(x - max))
kernel void softmax_f32(device const float* input [[buffer(0)]],
                        device float* output [[buffer(1)]],
                        constant Rows& p [[buffer(2)]], ROW_ARGUMENTS) {
    threadgroup float partial[32];
    for (ulong row = group; row < p.rows; row += groups) {
        device const float* x = input + row * p.length;
        device float* y = output + row * p.length;
        float best = -INFINITY;
        for (uint i = index; i < p.length; i += threads) {
            best = max(best, x[i]);
        }
        best = row_max(best, partial, lane, simdgroup, simdgroups);
        float total = 0.0f;
        for (uint i = index; i < p.length; i += threads) {
            float e = exp(x[i] - best);
            y[i] = e;
            total += e;
        }
        total = row_sum(total, partial, lane, simdgroup, simdgroups);
        for (uint i = index; i < p.length; i += threads) {
            y[i] = y[i] / total;
        }
    }
}

// dx = y * (dy - sum(dy * y))
kernel void softmax_backward_f32(device const float* output [[buffer(0)]],
                                 device const float* output_gradient [[buffer(1)]],
                                 device float* input_gradient [[buffer(2)]],
                                 constant Rows& p [[buffer(3)]], ROW_ARGUMENTS) {
    threadgroup float partial[32];
    for (ulong row = group; row < p.rows; row += groups) {
        ulong start = row * p.length;
        float total = 0.0f;
        for (uint i = index; i < p.length; i += threads) {
            total += output_gradient[start + i] * output[start + i];
        }
        total = row_sum(total, partial, lane, simdgroup, simdgroups);
        for (uint i = index; i < p.length; i += threads) {
            input_gradient[start + i] = output[start + i] * (output_gradient[start + i] - total);
        }
    }
}

// y = x - max - log(sum(exp(x - max)))
kernel void log_softmax_f32(device const float* input [[buffer(0)]],
                            device float* output [[buffer(1)]],
                            constant Rows& p [[buffer(2)]], ROW_ARGUMENTS) {
    threadgroup float partial[32];
    for (ulong row = group; row < p.rows; row += groups) {
        device const float* x = input + row * p.length;
        device float* y = output + row * p.length;
        float best = -INFINITY;
        for (uint i = index; i < p.length; i += threads) {
            best = max(best, x[i]);
        }
        best = row_max(best, partial, lane, simdgroup, simdgroups);
        float total = 0.0f;
        for (uint i = index; i < p.length; i += threads) {
            total += exp(x[i] - best);
        }
        total = log(row_sum(total, partial, lane, simdgroup, simdgroups));
        for (uint i = index; i < p.length; i += threads) {
            y[i] = x[i] - best - total;
        }
    }
}

// dx = dy - exp(y) * sum(dy)
kernel void log_softmax_backward_f32(device const float* output [[buffer(0)]],
                                     device const float* output_gradient [[buffer(1)]],
                                     device float* input_gradient [[buffer(2)]],
                                     constant Rows& p [[buffer(3)]], ROW_ARGUMENTS) {
    threadgroup float partial[32];
    for (ulong row = group; row < p.rows; row += groups) {
        ulong start = row * p.length;
        float total = 0.0f;
        for (uint i = index; i < p.length; i += threads) {
            total += output_gradient[start + i];
        }
        total = row_sum(total, partial, lane, simdgroup, simdgroups);
        for (uint i = index; i < p.length; i += threads) {
            input_gradient[start + i] =
                output_gradient[start + i] - exp(output[start + i]) * total;
        }
    }
}
