// One step of Adam (Kingma and Ba, 2015, algorithm 1), in place.
#include <metal_stdlib>
using namespace metal;

struct Adam {
    uint n;
    float learning_rate;
    float beta1;
    float beta2;
    // 1 - beta, rounded once: of beta near 1 a subtraction here would leave few digits.
    float rest1;
    float rest2;
    float epsilon;
    // 1 - beta^t, which undo the bias of moments that start at zero.
    float correction1;
    float correction2;
};

kernel void adam_f32(device float* parameter [[buffer(0)]],
                     device const float* gradient [[buffer(1)]],
                     device float* first_moment [[buffer(2)]],
                     device float* second_moment [[buffer(3)]],
                     constant Adam& p [[buffer(4)]],
                     uint i [[thread_position_in_grid]]) {
    if (i < p.n) {
        float g = gradient[i];
        float m = p.beta1 * first_moment[i] + p.rest1 * g;
        float v = p.beta2 * second_moment[i] + p.rest2 * g * g;
        first_moment[i] = m;
        second_moment[i] = v;
        float step = p.learning_rate * (m / p.correction1);
        parameter[i] -= step / (sqrt(v / p.correction2) + p.epsilon);
    }
}
