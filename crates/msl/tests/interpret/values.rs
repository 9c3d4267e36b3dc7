//! Numbers, vectors and structures: how they convert, round, wrap and lie in memory.

use super::{checked, clean, row, signed};

#[test]
fn a_structure_is_copied_with_its_vectors_and_arrays() {
    let source = "
    struct Inner { float3 v; char c; };
    struct Outer { Inner parts[2]; packed_float3 p; int n; };
    Outer twice(Outer o) { o.parts[1].v *= 2; o.n += 1; return o; }
    kernel void k(device float* out, uint i [[thread_position_in_grid]]) {
        Outer o = {{{float3(1, 2, 3), 4}, {float3(5, 6, 7), 8}}, packed_float3(9, 10, 11), 12};
        Outer t = twice(o);
        float3 p = t.p;
        o.parts[i % 2].v[i % 3] = 100;
        out[i] = t.parts[1].v.y * 10000 + p.z * 100 + float(t.n) + o.parts[0].v.x;
    }";
    let out = row(source, 2)
        .iter()
        .map(|&w| f32::from_bits(w))
        .collect::<Vec<_>>();
    assert_eq!(out, [121_213.0, 121_114.0]);
}

#[test]
fn numbers_convert_wrap_and_round_by_their_types() {
    let source = "kernel void k(device int* out, device const float* x, uint i [[thread_position_in_grid]]) {
        float f = x[0];
        int zero = int(i);
        short s = short(32767); s += short(1 + zero);
        uchar u = uchar(250 + 10);
        out[0] = int(f);
        out[1] = int(uint(-1.5f));
        out[2] = int(char(as_type<float>(0x7fc00000u)));
        out[3] = s;
        out[4] = u;
        out[5] = 7 / -2;
        out[6] = -7 % 4;
        out[7] = (-2147483647 - 1 - zero) / (-1 - zero);
        out[8] = -8 >> (1 + zero);
        out[9] = int(uint(0xfffffff8u + uint(zero)) >> 1);
        out[10] = int(float(half(2049.0f + float(zero))));
        out[11] = int(half(1.0h) / half(3.0h) * 3000.0h);
        out[12] = bool(0.5f + float(zero)) ? 1 : 0;
        out[13] = int(ulong(long(-1 - zero)) >> 40);
        out[14] = int(as_type<ushort>(bfloat(16842751 + zero)));
    }";
    let out = clean(source, &[&[3e9f32.to_bits()]], 15, [1, 1, 1], [1, 1, 1]);
    let third = half::f16::from_f32(1.0) / half::f16::from_f32(3.0);
    let third = (third * half::f16::from_f32(3000.0)).to_f32() as i32;
    // 16842751 is just below the middle of two bfloats, but its float is in the middle.
    let bfloat = 0x4b80;
    let want = [
        i32::MAX,
        0,
        0,
        -32768,
        4,
        -3,
        -3,
        i32::MIN,
        -4,
        0x7fff_fffc,
        2048,
        third,
        1,
        0xff_ffff,
        bfloat,
    ];
    assert_eq!(signed(&out), want);
}

#[test]
fn integer_functions_are_defined_at_their_edges() {
    let source = "kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
        int z = int(i);
        out[0] = clz(short(1 + z)) * 100 + ctz(char(z));
        out[1] = mulhi(0x40000000 + z, 16);
        out[2] = int(mulhi(0xffffffffffffffffUL - ulong(z), 0xffffffffffffffffUL) >> 32);
        out[3] = addsat(char(100 + z), char(100));
        out[4] = int(madsat(0xffffffffu - uint(z), 5u, 1u));
        out[5] = int(rotate(0x80000001u + uint(z), 4u));
        out[6] = popcount(uchar(-1 - z)) * 10 + hadd(-3 - z, 0) + rhadd(4 + z, 1);
        out[7] = int(absdiff(-2147483647 - 1 - z, 2147483647));
        out[8] = extract_bits(0xF0 + z, 4, 4) * 100 + int(extract_bits(0xF0u + uint(z), 4, 4));
        out[9] = insert_bits(0xff00 + z, 0x35, 4, 8);
        out[10] = int(reverse_bits(ushort(1 + z)));
        out[11] = mul24(0x1000003 + z, 5);
        out[12] = extract_bits(-1 - z, 30, 8) * 10 + int(extract_bits(5u + uint(z), 0, 0));
    }";
    let out = clean(source, &[], 13, [1, 1, 1], [1, 1, 1]);
    let want = [
        1508,
        4,
        -1,
        127,
        -1,
        0x18,
        80 - 2 + 3,
        -1,
        -100 + 15,
        0xf350,
        0x8000,
        15,
        -10,
    ];
    assert_eq!(signed(&out), want);
}

#[test]
fn a_vector_of_three_leaves_the_bytes_after_it() {
    let source = "kernel void k(device float3* out, device packed_float3* packed, uint i [[thread_position_in_grid]]) {
        out[i] = float3(1, 2, 3);
        packed[i] = out[i] * float(i + 1);
        float3x3 m = float3x3(float3(1, 0, 0), float3(0, 2, 0), float3(packed[i]));
        ((device float*)out)[i * 4 + 3] = (m * float3(1, 1, 2)).y + m[i][i];
    }";
    let out = clean(source, &[&[0; 6]], 8, [2, 1, 1], [2, 1, 1]);
    let floats: Vec<f32> = out.iter().map(|&word| f32::from_bits(word)).collect();
    assert_eq!(floats, [1.0, 2.0, 3.0, 7.0, 1.0, 2.0, 3.0, 12.0]);
    let short = checked(source, &[&[0; 6]], 7, [2, 1, 1], [1, 1, 1]).unwrap_err();
    assert!(
        short.to_string().contains("writes 4 bytes at byte 28"),
        "{short}"
    );
}

#[test]
fn vectors_choose_by_component_and_halves_round_at_every_step() {
    let source = "kernel void k(device float4* out, uint i [[thread_position_in_grid]]) {
        float4 v = float4(1, -2, 3, -4) * float(i + 1);
        half h = half(2048.0f) + half(i);
        half sum = simd_sum(i == 0 ? 2048.0h : 1.0h);
        out[i] = select(v, -v, v < 0.0f) + float4(float(h), float(sum), any(v > 3.5f), all(v != 8.0f));
    }";
    let out = clean(source, &[], 12, [3, 1, 1], [3, 1, 1]);
    let floats: Vec<f32> = out.iter().map(|&word| f32::from_bits(word)).collect();
    // 2048 + 1 is between two halves, and goes to the even one twice.
    let rows = [
        [2049.0, 2050.0, 3.0, 5.0],
        [2050.0, 2052.0, 7.0, 9.0],
        [2053.0, 2054.0, 10.0, 13.0],
    ];
    assert_eq!(floats, rows.concat());
}
