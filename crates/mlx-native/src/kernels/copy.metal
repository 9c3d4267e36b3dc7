// A view, copied into row-major order.
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

kernel void copy_view_f32(device const float* input [[buffer(0)]],
                          device float* output [[buffer(1)]],
                          constant View& p [[buffer(2)]],
                          uint i [[thread_position_in_grid]]) {
    if (i < p.n) {
        uint rest = i;
        int at = p.offset;
        for (uint d = p.rank; d > 0; d--) {
            at += int(rest % p.shape[d - 1]) * p.stride[d - 1];
            rest /= p.shape[d - 1];
        }
        output[i] = input[at];
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
