// Kernels for the tests of the command line.
#include <metal_stdlib>
using namespace metal;

struct Size {
    uint rows;
    uint columns;
};

// The sum of each row, by a tree in threadgroup memory over the sums of SIMD-groups.
kernel void row_sums(device const float* x [[buffer(0)]],
                     device float* sums [[buffer(1)]],
                     constant Size& size [[buffer(2)]],
                     threadgroup float* partial [[threadgroup(0)]],
                     uint row [[threadgroup_position_in_grid]],
                     uint index [[thread_index_in_threadgroup]],
                     uint threads [[threads_per_threadgroup]],
                     uint lane [[thread_index_in_simdgroup]],
                     uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    float sum = 0.0f;
    for (uint c = index; c < size.columns; c += threads) {
        sum += x[row * size.columns + c];
    }
    sum = simd_sum(sum);
    if (lane == 0) {
        partial[simdgroup] = sum;
    }
    for (uint stride = threads / 64; stride > 0; stride /= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (index < stride) {
            partial[index] += partial[index + stride];
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (index == 0) {
        sums[row] = partial[0];
    }
}

// A grid that need not be a multiple of the threadgroup: out[y, x] = dot(colour, weight) + y - x.
kernel void mix_colours(device const float3* colours [[buffer(0)]],
                        device const int4* offsets [[buffer(1)]],
                        device float* out [[buffer(2)]],
                        uint2 at [[thread_position_in_grid]],
                        uint2 grid [[threads_per_grid]]) {
    uint i = at.y * grid.x + at.x;
    int4 offset = offsets[i];
    float3 colour = colours[i];
    out[i] = dot(colour, float3(0.5f, 0.25f, 0.125f)) + float(offset.x + offset.y + offset.w - offset.z);
}

constant bool negated [[function_constant(0)]];
constant int4 offsets_of [[function_constant(1)]];

kernel void shifted(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    float value = float(i) + float(offsets_of[i % 4]);
    y[i] = negated ? -value : value;
}

kernel void out_of_bounds(device const float* x [[buffer(0)]],
                          device float* y [[buffer(1)]],
                          uint i [[thread_position_in_grid]]) {
    y[i] = x[i + 3];
}

kernel void endless(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    while (y[0] == 0.0f) {
        y[i] = 0.0f;
    }
}

// Every thread adds to its neighbour's element, without a barrier.
kernel void races(device float* out [[buffer(0)]], uint i [[thread_index_in_threadgroup]],
                  uint n [[threads_per_threadgroup]]) {
    threadgroup float shared[64];
    shared[i] = float(i);
    out[i] = shared[(i + 1) % n];
}

kernel void counts(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    out[i] = i;
}
