// c = a * b of matrices in row-major order, either side transposed: a is [m, k] (or [k, m]), b is
// [k, n] (or [n, k]), c is [m, n].
//
// A threadgroup of 16 x 16 threads makes a tile of 64 x 64 from tiles of a and b in threadgroup
// memory; each thread makes 4 x 4 elements, 16 apart.
#include <metal_stdlib>
using namespace metal;

struct Matmul {
    uint m;
    uint n;
    uint k;
    uint transpose_a;
    uint transpose_b;
};

constant uint TILE = 64;
constant uint DEPTH = 16;

kernel void matmul_f32(device const float* a [[buffer(0)]],
                       device const float* b [[buffer(1)]],
                       device float* c [[buffer(2)]],
                       constant Matmul& p [[buffer(3)]],
                       uint2 group [[threadgroup_position_in_grid]],
                       uint2 at [[thread_position_in_threadgroup]],
                       uint index [[thread_index_in_threadgroup]]) {
    threadgroup float a_tile[DEPTH * TILE];
    threadgroup float b_tile[DEPTH * TILE];
    uint first_row = group.y * TILE;
    uint first_column = group.x * TILE;
    float sum[4][4] = {};

    for (uint start = 0; start < p.k; start += DEPTH) {
        for (uint i = index; i < DEPTH * TILE; i += 256) {
            // Neighbouring threads read neighbouring elements, whichever way a matrix lies.
            uint depth = p.transpose_a != 0 ? i / TILE : i % DEPTH;
            uint along = p.transpose_a != 0 ? i % TILE : i / DEPTH;
            uint row = first_row + along;
            uint l = start + depth;
            float value = 0.0f;
            if (row < p.m && l < p.k) {
                value = a[p.transpose_a != 0 ? l * p.m + row : row * p.k + l];
            }
            a_tile[depth * TILE + along] = value;
        }
        for (uint i = index; i < DEPTH * TILE; i += 256) {
            uint depth = p.transpose_b != 0 ? i % DEPTH : i / TILE;
            uint along = p.transpose_b != 0 ? i / DEPTH : i % TILE;
            uint column = first_column + along;
            uint l = start + depth;
            float value = 0.0f;
            if (column < p.n && l < p.k) {
                value = b[p.transpose_b != 0 ? column * p.k + l : l * p.n + column];
            }
            b_tile[depth * TILE + along] = value;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint l = 0; l < DEPTH; l++) {
            float x[4];
            float y[4];
            for (uint i = 0; i < 4; i++) {
                x[i] = a_tile[l * TILE + at.y + 16 * i];
                y[i] = b_tile[l * TILE + at.x + 16 * i];
            }
            for (uint i = 0; i < 4; i++) {
                for (uint j = 0; j < 4; j++) {
                    sum[i][j] = fma(x[i], y[j], sum[i][j]);
                }
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }

    for (uint i = 0; i < 4; i++) {
        for (uint j = 0; j < 4; j++) {
            uint row = first_row + at.y + 16 * i;
            uint column = first_column + at.x + 16 * j;
            if (row < p.m && column < p.n) {
                c[row * p.n + column] = sum[i][j];
            }
        }
    }
}
