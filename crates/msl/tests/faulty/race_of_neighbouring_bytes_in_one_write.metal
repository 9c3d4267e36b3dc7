// expect: data race 6
#include <metal_stdlib>
using namespace metal;

kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
    *(device packed_uchar4*)((device uchar*)out + i * 2) = packed_uchar4(uchar4(1));
}
