// Copies between a view and row-major order, and filling with a number.
#include <metal_stdlib>
using namespace metal;

// Where the elements of a view are. Dimensions are outermost first; a stride of 0 repeats.
struct View {
    uint n;
    uint rank;
    int offset;
    uint shape[8];
    int stride[8];
};

inline int element_of(constant View& view, uint i) {
    int at = view.offset;
    for (uint d = view.rank; d > 0; d--) {
        at += int(i % view.shape[d - 1]) * view.stride[d - 1];
        i /= view.shape[d - 1];
    }
    return at;
}

// output[i] = input[view(i)]
kernel void copy_view_f32(device const float* input [[buffer(0)]],
                          device float* output [[buffer(1)]],
                          constant View& view [[buffer(2)]],
                          uint i [[thread_position_in_grid]]) {
    if (i < view.n) {
        output[i] = input[element_of(view, i)];
    }
}

// output[view(i)] = input[i]; the view has no two elements in one place.
kernel void copy_into_view_f32(device const float* input [[buffer(0)]],
                               device float* output [[buffer(1)]],
                               constant View& view [[buffer(2)]],
                               uint i [[thread_position_in_grid]]) {
    if (i < view.n) {
        output[element_of(view, i)] = input[i];
    }
}

kernel void fill_f32(device float* output [[buffer(0)]],
                     constant float& value [[buffer(1)]],
                     constant uint& n [[buffer(2)]],
                     uint i [[thread_position_in_grid]]) {
    if (i < n) {
        output[i] = value;
    }
}
