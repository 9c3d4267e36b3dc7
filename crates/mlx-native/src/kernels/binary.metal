// Functions of two elements.
//
// Each op adds one line: BINARY(name, y as an expression of a and b).
#include <metal_stdlib>
using namespace metal;

// How to find the elements of two arrays for each element of the result. Dimensions are outermost
// first; a stride of 0 repeats.
struct Broadcast {
    uint n;
    uint rank;
    int a_offset;
    int b_offset;
    uint shape[8];
    int a_stride[8];
    int b_stride[8];
};

#define BINARY(NAME, FORWARD)                                                                      \
    kernel void NAME##_f32(device const float* left [[buffer(0)]],                                 \
                           device const float* right [[buffer(1)]],                                \
                           device float* output [[buffer(2)]],                                     \
                           constant uint& n [[buffer(3)]],                                         \
                           uint i [[thread_position_in_grid]]) {                                   \
        if (i < n) {                                                                               \
            float a = left[i];                                                                     \
            float b = right[i];                                                                    \
            output[i] = FORWARD;                                                                   \
        }                                                                                          \
    }                                                                                              \
    kernel void NAME##_broadcast_f32(device const float* left [[buffer(0)]],                       \
                                     device const float* right [[buffer(1)]],                      \
                                     device float* output [[buffer(2)]],                           \
                                     constant Broadcast& p [[buffer(3)]],                          \
                                     uint i [[thread_position_in_grid]]) {                         \
        if (i < p.n) {                                                                             \
            uint rest = i;                                                                         \
            int a_at = p.a_offset;                                                                 \
            int b_at = p.b_offset;                                                                 \
            for (uint d = p.rank; d > 0; d--) {                                                    \
                int at = int(rest % p.shape[d - 1]);                                               \
                rest /= p.shape[d - 1];                                                            \
                a_at += at * p.a_stride[d - 1];                                                    \
                b_at += at * p.b_stride[d - 1];                                                    \
            }                                                                                      \
            float a = left[a_at];                                                                  \
            float b = right[b_at];                                                                 \
            output[i] = FORWARD;                                                                   \
        }                                                                                          \
    }
