// Negative log-likelihood of the right class, by index.
#include <metal_stdlib>
using namespace metal;

struct Classes {
    uint rows;
    uint classes;
};

// loss = -log_probability[row, target[row]]; an index out of range reads as 0.
kernel void nll_f32(device const float* log_probability [[buffer(0)]],
                    device const uint* target [[buffer(1)]],
                    device float* loss [[buffer(2)]],
                    constant Classes& p [[buffer(3)]],
                    uint row [[thread_position_in_grid]]) {
    if (row < p.rows) {
        uint c = target[row];
        loss[row] = c < p.classes ? -log_probability[row * p.classes + c] : 0.0f;
    }
}

// The gradient of each log-probability: -dy where it is the target's, else 0.
kernel void nll_backward_f32(device const uint* target [[buffer(0)]],
                             device const float* loss_gradient [[buffer(1)]],
                             device float* input_gradient [[buffer(2)]],
                             constant Classes& p [[buffer(3)]],
                             uint i [[thread_position_in_grid]]) {
    if (i < p.rows * p.classes) {
        uint row = i / p.classes;
        bool is_target = i - row * p.classes == target[row];
        input_gradient[i] = is_target ? -loss_gradient[row] : 0.0f;
    }
}
