#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, which the lint does not know as such
//! The interpreter against results worked out in Rust.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use msl::Compilation;
use msl::exec::FaultKind;
use msl::interpret::{Dispatch, Error, Finding, run};

fn compile(source: &str) -> Compilation {
    let text = format!("#include <metal_stdlib>\nusing namespace metal;\n{source}");
    msl::compile("test.metal", &text, &msl::syntax::Options::default())
        .unwrap_or_else(|d| panic!("{d}"))
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let words = bytes.chunks_exact(4);
    words
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect()
}

/// Runs kernel `k`, checked: buffer 0 is the output, of zeros, and the inputs follow.
fn checked(
    source: &str,
    inputs: &[&[u32]],
    len: usize,
    grid: [u64; 3],
    threadgroup: [u64; 3],
) -> Result<(Vec<u32>, Vec<Finding>), Error> {
    let mut out = vec![0; len * 4];
    let mut inputs: Vec<_> = inputs.iter().map(|input| bytes(input)).collect();
    let mut buffers: Vec<Option<&mut [u8]>> = vec![Some(&mut out)];
    buffers.extend(inputs.iter_mut().map(|input| Some(&mut input[..])));
    let dispatch = Dispatch {
        grid,
        threadgroup,
        buffers: &mut buffers,
        threadgroup_memory: &[(0, 4096)],
        constants: &BTreeMap::new(),
        check: true,
        step_limit: None,
        interrupt: None,
    };
    let findings = run(&compile(source), "k", dispatch)?;
    Ok((words(&out), findings))
}

/// As [`checked`], and nothing may be found.
fn clean(
    source: &str,
    inputs: &[&[u32]],
    len: usize,
    grid: [u64; 3],
    threadgroup: [u64; 3],
) -> Vec<u32> {
    let (out, findings) =
        checked(source, inputs, len, grid, threadgroup).unwrap_or_else(|error| panic!("{error}"));
    for finding in &findings {
        eprintln!("{finding}");
    }
    assert_eq!(findings.len(), 0);
    out
}

/// One row of threads in one threadgroup, one word of output each.
fn row(source: &str, threads: usize) -> Vec<u32> {
    let size = [threads as u64, 1, 1];
    clean(source, &[], threads, size, size)
}

fn signed(words: &[u32]) -> Vec<i32> {
    words.iter().map(|&word| word as i32).collect()
}

#[test]
fn a_condition_that_its_branch_changes_is_decided_once() {
    let source = "kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
        bool b = i < 2;
        if (b) { b = false; out[i] = 1; } else { out[i] = 2; }
    }";
    assert_eq!(row(source, 4), [1, 1, 2, 2]);
}

#[test]
fn an_initialiser_keeps_what_was_there_before_the_next_one_ran() {
    let source = "int id(int x) { return x; }
    kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
        int x = int(i) + 1;
        int v[2] = { id(x), (x = 50) };
        out[i] = v[0] * 100 + v[1];
    }";
    assert_eq!(row(source, 3), [150, 250, 350]);
}

#[test]
fn a_pointer_assigned_after_its_use_moves_on_in_the_next_round() {
    let source = "kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
        int a[4] = {1, 20, 300, 4000};
        thread int* p = a;
        int sum = 0;
        for (uint j = 0; j < i; j++) { sum += *p; *p = 7; p = &a[j + 1]; }
        out[i] = sum + a[0];
    }";
    assert_eq!(row(source, 4), [1, 8, 28, 328]);
}

#[test]
fn threads_that_return_early_leave_the_rest_alone() {
    let source =
        "kernel void k(device int* out, constant int& n, uint i [[thread_position_in_grid]]) {
        if (int(i) >= n) return;
        int total = 0;
        for (int j = 0; j < 10; j++) { total += j * int(i); }
        out[i] = total;
    }";
    let out = clean(source, &[&[70]], 100, [100, 1, 1], [64, 1, 1]);
    for (i, &value) in (0..).zip(&out) {
        assert_eq!(value, if i < 70 { 45 * i } else { 0 });
    }
}

#[test]
fn loops_break_and_continue_in_each_thread_by_itself() {
    let source = "kernel void k(device uint* out, uint i [[thread_position_in_grid]]) {
        uint x = i + 1, steps = 0;
        for (;;) {
            if (x == 1) break;
            steps++;
            if (x % 2 == 0) { x /= 2; continue; }
            x = 3 * x + 1;
        }
        out[i] = steps;
    }";
    for (i, &steps) in (1u64..).zip(&row(source, 100)) {
        let (mut x, mut n) = (i, 0);
        while x != 1 {
            x = if x % 2 == 0 { x / 2 } else { 3 * x + 1 };
            n += 1;
        }
        assert_eq!(steps, n, "of {i}");
    }
}

#[test]
fn a_do_while_runs_before_its_test_and_continue_goes_to_the_test() {
    let source = "kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
        int j = int(i), rounds = 0;
        do { rounds++; j++; if (j == 2) continue; if (j == 3) break; rounds += 10; } while (j < 2);
        out[i] = rounds * 10 + j;
    }";
    // From 0: round one adds 11, round two continues, and 2 < 2 ends it.
    assert_eq!(row(source, 5), [122, 12, 13, 114, 115]);
}

#[test]
fn a_switch_falls_through_and_has_a_default_in_the_middle() {
    let source = "kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
        int r = 0;
        switch (i % 5) {
            case 0: r += 1;
            case 1: r += 10; break;
            default: r += 100;
            case 3: r += 1000; if (i > 20) break; r += 5;
            case 4: r += 10000;
        }
        out[i] = r;
    }";
    for (i, &got) in row(source, 40).iter().enumerate() {
        let late = if i > 20 { 1000 } else { 11005 };
        let want = match i % 5 {
            0 => 11,
            1 => 10,
            3 => late,
            4 => 10000,
            _ => 100 + late,
        };
        assert_eq!(got, want, "thread {i}");
    }
}

#[test]
fn a_tree_in_threadgroup_memory_sums_a_group_at_the_edge_too() {
    let source = "kernel void k(device int* out, device const int* x, threadgroup int* t [[threadgroup(0)]],
        uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]],
        uint g [[threadgroup_position_in_grid]]) {
        t[l] = x[i];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint s = 64; s > 0; s >>= 1) {
            if (l < s && l + s < n) t[l] += t[l + s];
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
        if (l == 0) out[g] = t[0];
    }";
    let x: Vec<u32> = (0..300).map(|i| i * i % 17).collect();
    let out = clean(source, &[&x], 3, [300, 1, 1], [128, 1, 1]);
    let want: Vec<u32> = x.chunks(128).map(|group| group.iter().sum()).collect();
    assert_eq!(out, want);
}

#[test]
fn lanes_that_are_not_active_take_no_part() {
    let source = "kernel void k(device uint* out, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
        uint r = 0;
        if (lane % 2 == 0) { r = simd_sum(lane); } else if (lane < 8) { r = simd_min(lane) * 100 + simd_max(lane); }
        bool any = simd_any(i == 40);
        uint scan = simd_prefix_exclusive_sum(1u);
        out[i] = r + (any ? 1000000 : 0) + (scan == lane ? 2000000 : 0);
    }";
    for (i, &got) in row(source, 50).iter().enumerate() {
        let lane = i % 32;
        let lanes = if i < 32 { 32 } else { 18 };
        let own: usize = match (lane % 2, lane) {
            (0, _) => (0..lanes).step_by(2).sum(),
            (_, 0..8) => 107,
            _ => 0,
        };
        let want = own + if i >= 32 { 1_000_000 } else { 0 } + 2_000_000;
        assert_eq!(got as usize, want, "thread {i}");
    }
}

#[test]
fn lanes_meet_in_the_same_round_of_a_loop() {
    // Each round counts the lanes that are still there; those that have left meet again after it.
    let source = "kernel void k(device uint* out, uint i [[thread_position_in_grid]]) {
        uint total = 0;
        for (uint j = 0; j <= i % 4; j++) {
            if (i == 5 && j == 1) continue;
            total = total * 100 + simd_sum(1u);
        }
        out[i] = total + 100000000 * (simd_sum(1u) == 8 ? 1 : 0);
    }";
    let mut want = [0, 1, 2, 3, 0, 1, 2, 3].map(|rounds| match rounds {
        0 => 8,
        1 => 805,
        2 => 80_504,
        _ => 8_050_402,
    });
    want[5] = 8;
    assert_eq!(row(source, 8), want.map(|n| n + 100_000_000));
}

#[test]
fn lanes_meet_inside_functions_and_switches() {
    let source =
        "uint count(uint x) { if (x > 1) { return simd_sum(1u) * 10; } return simd_sum(1u); }
    kernel void k(device uint* out, uint i [[thread_position_in_grid]]) {
        uint r = 0;
        switch (i) {
            case 0: r = count(i);
            case 1: r += 100 * simd_sum(1u); break;
            default: r = count(i);
        }
        out[i] = r;
    }";
    assert_eq!(row(source, 6), [201, 200, 40, 40, 40, 40]);
}

#[test]
fn a_reduction_of_floats_goes_by_halves() {
    let source = "kernel void k(device float* out, device const float* x, uint i [[thread_position_in_grid]]) {
        out[i] = simd_sum(x[i]);
    }";
    let x: Vec<f32> = (0..32).map(|i| 1.0 + 1e7 * ((i * 7) % 5) as f32).collect();
    let bits: Vec<u32> = x.iter().map(|x| x.to_bits()).collect();
    let out = clean(source, &[&bits], 32, [32, 1, 1], [32, 1, 1]);
    let mut left = x;
    while left.len() > 1 {
        let (low, high) = left.split_at(left.len() / 2);
        left = low.iter().zip(high).map(|(a, b)| a + b).collect();
    }
    assert_eq!(out, vec![left[0].to_bits(); 32]);
}

#[test]
fn shuffles_move_data_as_their_names_say() {
    let source = "kernel void k(device uint* out, uint i [[thread_position_in_grid]]) {
        uint4 r;
        r.x = simd_shuffle_xor(i, 5) + 100 * simd_broadcast(i, 3);
        r.y = simd_shuffle_up(i, 2) + 100 * simd_shuffle_down(i, 2);
        r.z = simd_shuffle_rotate_up(i, 1) + 100 * simd_shuffle_rotate_down(i, 1);
        r.w = quad_broadcast(i, 2) + 100 * quad_shuffle_xor(i, 1) + 10000 * quad_sum(i);
        ((device uint4*)out)[i] = r;
    }";
    let out = clean(source, &[], 128, [32, 1, 1], [32, 1, 1]);
    for (i, got) in (0u32..).zip(out.chunks(4)) {
        let up = if i < 2 { i } else { i - 2 };
        let down = if i + 2 < 32 { i + 2 } else { i };
        let quad = i / 4 * 4;
        let want = [
            (i ^ 5) + 300,
            up + 100 * down,
            (i + 31) % 32 + 100 * ((i + 1) % 32),
            quad + 2 + 100 * (i ^ 1) + 10000 * (4 * quad + 6),
        ];
        assert_eq!(got, want, "lane {i}");
    }
}

#[test]
fn narrow_integers_have_narrow_neutral_elements() {
    let source = "kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
        char least = simd_min(char(50 + i)), most = simd_max(char(-50 - int(i)));
        out[i] = int(least) * 1000 + int(most);
    }";
    // Three lanes of 32: the others count as 127 and -128.
    assert_eq!(signed(&row(source, 3)), [50 * 1000 - 50; 3]);
}

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
fn edge_threadgroups_know_their_size() {
    let source = "kernel void k(device uint4* out, uint2 p [[thread_position_in_grid]], uint2 t [[thread_position_in_threadgroup]],
        uint2 n [[threads_per_threadgroup]], uint2 full [[dispatch_threads_per_threadgroup]], uint2 size [[threads_per_grid]],
        uint index [[thread_index_in_threadgroup]], uint s [[simdgroup_index_in_threadgroup]]) {
        out[p.y * size.x + p.x] = uint4(t.x + 100 * t.y, n.x + 100 * n.y, full.x + 100 * full.y, index + 1000 * s);
    }";
    let (w, h) = (19u32, 7u32);
    let len = (w * h * 4) as usize;
    let out = clean(source, &[], len, [w.into(), h.into(), 1], [12, 4, 1]);
    for (at, got) in (0..).zip(out.chunks(4)) {
        let (x, y) = (at % w, at / w);
        let (t, n) = (
            (x % 12, y % 4),
            (12.min(w - x / 12 * 12), 4.min(h - y / 4 * 4)),
        );
        let index = t.1 * n.0 + t.0;
        let want = [
            t.0 + 100 * t.1,
            n.0 + 100 * n.1,
            412,
            index + 1000 * (index / 32),
        ];
        assert_eq!(got, want, "thread ({x}, {y})");
    }
}

#[test]
fn atomics_count_across_threadgroups() {
    let source = "kernel void k(device atomic_uint* out, device atomic_float* sum, uint i [[thread_position_in_grid]]) {
        atomic_fetch_add_explicit(&out[i % 3], i, memory_order_relaxed);
        atomic_fetch_max_explicit(&out[3], i, memory_order_relaxed);
        uint expected = i;
        atomic_compare_exchange_weak_explicit(&out[4], &expected, i + 1, memory_order_relaxed, memory_order_relaxed);
        atomic_fetch_add_explicit(&out[5], expected, memory_order_relaxed);
        atomic_fetch_add_explicit(sum, 0.5f, memory_order_relaxed);
    }";
    let out = clean(source, &[&[0]], 6, [500, 1, 1], [256, 1, 1]);
    let sum = |r: u32| (0..500u32).filter(|i| i % 3 == r).sum();
    let all = (0..500u32).sum();
    assert_eq!(out, [sum(0), sum(1), sum(2), 499, 500, all]);
}

#[test]
fn simdgroup_matrices_multiply() {
    let source = "#include <metal_simdgroup_matrix>
    kernel void k(device float* out, device const float* a, device const float* b, uint lane [[thread_index_in_simdgroup]]) {
        simdgroup_float8x8 x, y, z = make_filled_simdgroup_matrix<float, 8, 8>(1.0f);
        simdgroup_load(x, a, 8);
        simdgroup_load(y, b, 8, ulong2(0, 0), true);
        simdgroup_multiply_accumulate(z, x, y, z);
        simdgroup_store(z, out, 8);
    }";
    let number = |i: u32, by: u32| (i * by % 11) as f32;
    let a: Vec<u32> = (0..64).map(|i| number(i, 7).to_bits()).collect();
    let b: Vec<u32> = (0..64).map(|i| number(i, 5).to_bits()).collect();
    let out = clean(source, &[&a, &b], 64, [32, 1, 1], [32, 1, 1]);
    for (at, got) in (0..).zip(out) {
        let (row, column) = (at / 8, at % 8);
        let sum = |k: u32| number(row * 8 + k, 7) * number(column * 8 + k, 5);
        let want = 1.0 + (0..8).map(sum).sum::<f32>();
        assert_eq!(f32::from_bits(got), want, "({row}, {column})");
    }
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
fn shuffles_can_fill_from_other_data() {
    let source = "kernel void k(device uint* out, uint i [[thread_position_in_grid]]) {
        out[i] = simd_shuffle_and_fill_up(i, 100 + i, 3) + 1000 * simd_shuffle_and_fill_down(i, 100 + i, 3);
    }";
    for (i, got) in (0..).zip(row(source, 32)) {
        let up = if i < 3 { 100 + i + 29 } else { i - 3 };
        let down = if i >= 29 { 100 + i - 29 } else { i + 3 };
        assert_eq!(got, up + 1000 * down, "lane {i}");
    }
}

#[test]
fn lanes_that_break_wait_behind_the_loop() {
    let source = "kernel void k(device uint* out, uint i [[thread_position_in_grid]]) {
        uint seen = 0, j = 0;
        while (true) {
            if (j == i) { seen += 1000 * simd_sum(1u); break; }
            if (i % 2 == 0 && j == 1) { j += 1; continue; }
            seen += simd_sum(1u);
            j++;
        }
        seen += 100 * simd_sum(1u);
        out[i] = seen;
    }";
    // Lane by lane: lane j breaks alone in round j; in round 1 only odd lanes reach the sum.
    assert_eq!(row(source, 4), [1400, 1403, 1403, 1405]);
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

#[test]
fn variables_are_new_for_each_call_and_pointers_reach_them() {
    let source = "
    struct Pair { thread int* a; thread int* b; };
    void keep(thread Pair& pair, thread int* a, thread int& b) { pair.a = a; pair.b = &b; }
    int sum(int n) { int t[3] = {n, 2, 3}; thread int* p = t + 2; int s = 0; while (p >= t) { s += *p; p--; } return s; }
    kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
        int x = int(i), y = 10;
        Pair pair;
        keep(pair, &x, y);
        *pair.a += 1;
        *pair.b += *pair.a;
        out[i] = x * 1000 + y + 10000 * (sum(x) - sum(1));
    }";
    let want: Vec<u32> = (0..8)
        .map(|i| (i + 1) * 1000 + 11 + i + 10000 * i)
        .collect();
    assert_eq!(row(source, 8), want);
}

#[test]
fn an_access_out_of_bounds_names_kernel_place_thread_and_index() {
    let source = "kernel void k(device float* out, device const float* x, uint i [[thread_position_in_grid]]) {
        out[i] = x[i + 1];
    }";
    let error = checked(source, &[&[0; 100]], 100, [100, 1, 1], [64, 1, 1]).unwrap_err();
    insta::assert_snapshot!(error, @"kernel `k`, test.metal:4:18, thread (99, 0, 0): reads 4 bytes at byte 400 (element 100 of 4 bytes) of `x`, which has 400 bytes");
    assert!(matches!(error, Error::Fault(fault) if fault.kind == FaultKind::OutOfBounds));
}

#[test]
fn what_is_lent_for_reading_is_not_written() {
    let source = "kernel void k(device float* out, device const float* x, uint i [[thread_position_in_grid]]) {
        device const float* q = x;
        device float* thread* p = (device float* thread*)&q;
        (*p)[i] = 1.0f;
    }";
    let error = checked(source, &[&[0; 10]], 10, [10, 1, 1], [10, 1, 1]).unwrap_err();
    assert!(error.to_string().contains("only for reading"), "{error}");
}

#[test]
fn runs_that_do_not_end_are_cut_short() {
    let source = "kernel void k(device int* out) { while (true) { out[0] += 1; } }";
    let (compilation, stop) = (compile(source), AtomicBool::new(true));
    let start = |step_limit, interrupt| {
        let mut out = [0; 4];
        let dispatch = Dispatch {
            grid: [1; 3],
            threadgroup: [1; 3],
            buffers: &mut [Some(&mut out)],
            threadgroup_memory: &[],
            constants: &BTreeMap::new(),
            check: false,
            step_limit,
            interrupt,
        };
        run(&compilation, "k", dispatch)
    };
    assert!(matches!(
        start(Some(1000), None),
        Err(Error::StepLimit { limit: 1000, .. })
    ));
    assert!(matches!(
        start(None, Some(&stop)),
        Err(Error::Interrupted { .. })
    ));
}

#[test]
fn function_constants_are_asked_for_when_they_are_used() {
    let source = "constant int n [[function_constant(3)]];
    constant bool given = is_function_constant_defined(n);
    kernel void k(device int* out) { out[0] = given ? 1 : 0; if (given) { out[0] = n; } else if (out[1] == 1) { out[0] = n; } }";
    let compilation = compile(source);
    let start = |constants: &BTreeMap<u32, Vec<u8>>, second: u8| {
        let mut out = [0, 0, 0, 0, second, 0, 0, 0];
        let dispatch = Dispatch {
            grid: [1; 3],
            threadgroup: [1; 3],
            buffers: &mut [Some(&mut out)],
            threadgroup_memory: &[],
            constants,
            check: true,
            step_limit: None,
            interrupt: None,
        };
        run(&compilation, "k", dispatch).map(|_| words(&out)[0])
    };
    let given = BTreeMap::from([(3, vec![77, 0, 0, 0])]);
    assert_eq!(start(&given, 0), Ok(77));
    assert_eq!(start(&BTreeMap::new(), 0), Ok(0));
    let error = start(&BTreeMap::new(), 1).unwrap_err();
    assert!(
        matches!(error, Error::MissingConstant { index: 3, .. }),
        "{error}"
    );
}
