//! What threads do together: threadgroup memory, barriers, lanes of a SIMD-group, atomics.

use super::{clean, row, signed};

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
fn narrow_integers_have_narrow_neutral_elements() {
    let source = "kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
        char least = simd_min(char(50 + i)), most = simd_max(char(-50 - int(i)));
        out[i] = int(least) * 1000 + int(most);
    }";
    // Three lanes of 32: the others count as 127 and -128.
    assert_eq!(signed(&row(source, 3)), [50 * 1000 - 50; 3]);
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
