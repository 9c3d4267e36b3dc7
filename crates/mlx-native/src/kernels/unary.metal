// Functions of one element. `params` is the number of elements.
//
// Each op adds one line, UNARY: its name, what the backward pass keeps (x or y), y as an expression of
// x, and dx as an expression of dy and what is kept.
#include <metal_stdlib>
using namespace metal;

#define UNARY_FORWARD(NAME, FORWARD)                                                               \
    kernel void NAME##_f32(device const float* input [[buffer(0)]],                                \
                           device float* output [[buffer(1)]],                                     \
                           constant uint& n [[buffer(2)]],                                         \
                           uint i [[thread_position_in_grid]]) {                                   \
        if (i < n) {                                                                               \
            float x = input[i];                                                                    \
            output[i] = FORWARD;                                                                   \
        }                                                                                          \
    }

#define UNARY_BACKWARD(NAME, KEPT, BACKWARD)                                                       \
    kernel void NAME##_backward_f32(device const float* kept [[buffer(0)]],                        \
                                    device const float* output_gradient [[buffer(1)]],             \
                                    device float* input_gradient [[buffer(2)]],                    \
                                    constant uint& n [[buffer(3)]],                                \
                                    uint i [[thread_position_in_grid]]) {                          \
        if (i < n) {                                                                               \
            float KEPT = kept[i];                                                                  \
            float dy = output_gradient[i];                                                         \
            input_gradient[i] = BACKWARD;                                                          \
        }                                                                                          \
    }

#define UNARY(NAME, KEPT, FORWARD, BACKWARD)                                                       \
    UNARY_FORWARD(NAME, FORWARD)                                                                   \
    UNARY_BACKWARD(NAME, KEPT, BACKWARD)
