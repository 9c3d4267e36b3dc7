// exp and its gradient, element by element.
#include <metal_stdlib>
using namespace metal;

// output[i] = exp(input[i]) for i < n.
kernel void exp_f32(device const float *input [[buffer(0)]],
                    device float *output [[buffer(1)]],
                    constant uint &n [[buffer(2)]],
                    uint i [[thread_position_in_grid]])
{
    if (i < n) {
        output[i] = precise::exp(input[i]);
    }
}

// dx[i] = dy[i] * y[i] for i < n, where y is the output of exp.
kernel void exp_backward_f32(device const float *y [[buffer(0)]],
                             device const float *dy [[buffer(1)]],
                             device float *dx [[buffer(2)]],
                             constant uint &n [[buffer(3)]],
                             uint i [[thread_position_in_grid]])
{
    if (i < n) {
        dx[i] = dy[i] * y[i];
    }
}
