#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, which the lint does not know as such
//! Kernels compiled from text and run on the CPU, against results worked out in Rust.

mod support;

use msl::exec::FaultKind;
use support::{bytes, run};

#[test]
fn threads_that_return_early_leave_the_rest_alone() {
    let source =
        "kernel void k(device int* out, constant int& n, uint i [[thread_position_in_grid]]) {
        if (int(i) >= n) return;
        int total = 0;
        for (int j = 0; j < 10; j++) { total += j * int(i); }
        out[i] = total;
    }";
    let mut out = vec![-1i32; 100];
    run(
        source,
        &mut [bytes(&mut [70i32])],
        &mut out,
        [100, 1, 1],
        [64, 1, 1],
    )
    .unwrap();
    for (i, &value) in out.iter().enumerate() {
        assert_eq!(value, if i < 70 { 45 * i as i32 } else { -1 });
    }
}

#[test]
fn loops_end_at_different_rounds_in_different_lanes() {
    // The Collatz length has breaks, continues and a varying bound.
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
    let mut out = vec![0u32; 300];
    run(source, &mut [], &mut out, [300, 1, 1], [128, 1, 1]).unwrap();
    for (i, &steps) in out.iter().enumerate() {
        let (mut x, mut n) = (i as u64 + 1, 0);
        while x != 1 {
            x = if x % 2 == 0 { x / 2 } else { 3 * x + 1 };
            n += 1;
        }
        assert_eq!(steps, n, "of {}", i + 1);
    }
}

#[test]
fn a_uniform_counter_in_a_loop_that_lanes_leave_keeps_its_value() {
    let source = "kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
        int k = 0;
        while (true) { if (k == int(i % 7)) break; k++; }
        int after = k;
        do { after += 10; if (i & 1) break; k++; } while (k < 3);
        out[i] = after * 100 + k;
    }";
    let mut out = vec![0i32; 77];
    run(source, &mut [], &mut out, [77, 1, 1], [32, 1, 1]).unwrap();
    for (i, &got) in out.iter().enumerate() {
        let mut k = (i % 7) as i32;
        let mut after = k;
        loop {
            after += 10;
            if i & 1 == 1 {
                break;
            }
            k += 1;
            if k >= 3 {
                break;
            }
        }
        assert_eq!(got, after * 100 + k, "thread {i}");
    }
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
    let mut out = vec![0i32; 40];
    run(source, &mut [], &mut out, [40, 1, 1], [40, 1, 1]).unwrap();
    for (i, &got) in out.iter().enumerate() {
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
fn functions_with_early_returns_and_references_are_inlined_right() {
    let source = "
    struct Pair { float a; int b; float c[3]; };
    float pick(float x, thread int& count) { count += 1; if (x < 0) { return -x; } count += 10; if (x > 2) return 2; return x; }
    void fill(thread Pair& p, thread float* c, float x) { p.b = int(x) * 2; for (int i = 0; i < 3; i++) c[i] = x + i; }
    kernel void k(device float* out, uint i [[thread_position_in_grid]]) {
        int count = 0;
        float y = pick(float(i) - 3.0f, count);
        Pair p; p.a = y;
        fill(p, p.c, float(i));
        float old = p.a; p.a = 7;
        out[i] = y * 1000 + count + p.b + p.c[i % 3] + (old == y ? 0.5f : 0.0f) + p.a;
    }";
    let mut out = vec![0f32; 9];
    run(source, &mut [], &mut out, [9, 1, 1], [9, 1, 1]).unwrap();
    for (i, &got) in out.iter().enumerate() {
        let x = i as f32 - 3.0;
        let (y, count) = if x < 0.0 {
            (-x, 1)
        } else if x > 2.0 {
            (2.0, 11)
        } else {
            (x, 11)
        };
        let want = y * 1000.0 + count as f32 + i as f32 * 2.0 + i as f32 + (i % 3) as f32 + 7.5;
        assert_eq!(got, want, "thread {i}");
    }
}

#[test]
fn a_tree_in_threadgroup_memory_sums_a_group() {
    let source = "kernel void k(device float* out, device const float* x, threadgroup float* t [[threadgroup(0)]],
        uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]],
        uint g [[threadgroup_position_in_grid]]) {
        t[l] = x[i];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint s = 128; s > 0; s >>= 1) {
            if (l < s && l + s < n) t[l] += t[l + s];
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
        if (l == 0) out[g] = t[0] + simd_sum(0.0f);
    }";
    let mut x: Vec<f32> = (0..1000).map(|i| (i % 17) as f32).collect();
    let mut out = vec![0f32; 4];
    run(
        source,
        &mut [bytes(&mut x.clone())],
        &mut out,
        [1000, 1, 1],
        [256, 1, 1],
    )
    .unwrap();
    for (group, got) in out.iter().enumerate() {
        let want: f32 = x.drain(..256.min(x.len())).sum();
        assert_eq!(*got, want, "group {group}");
    }
}

#[test]
fn simd_operations_know_active_lanes() {
    let source = "kernel void k(device uint* out, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
        uint r = 0;
        if (lane % 2 == 0) { r = simd_sum(lane); }
        uint up = simd_shuffle_xor(lane, 1);
        uint first = simd_broadcast(i, 3);
        bool any = simd_any(i == 40);
        uint scan = simd_prefix_exclusive_sum(1u);
        out[i] = r + up * 1000 + (first % 32) * 100000 + (any ? 1000000 : 0) + (scan == lane ? 2000000 : 0);
    }";
    let mut out = vec![0u32; 50];
    run(source, &mut [], &mut out, [50, 1, 1], [50, 1, 1]).unwrap();
    for (i, &got) in out.iter().enumerate() {
        let lane = i % 32;
        let lanes = if i < 32 { 32 } else { 18 };
        let sum: usize = (0..lanes).step_by(2).sum();
        let want = if lane % 2 == 0 { sum } else { 0 }
            + (lane ^ 1) * 1000
            + 3 * 100_000
            + if i >= 32 { 1_000_000 } else { 0 }
            + 2_000_000;
        assert_eq!(got as usize, want, "thread {i}");
    }
}

#[test]
fn vectors_swizzles_and_two_dimensional_edges() {
    let source = "kernel void k(device float4* out, device const packed_float3* x, constant uint2& size,
        uint2 p [[thread_position_in_grid]], uint2 t [[thread_position_in_threadgroup]], uint2 n [[threads_per_threadgroup]]) {
        uint at = p.y * size.x + p.x;
        float3 v = x[at];
        float4 r = float4(v.zyx, 1);
        r.xy = r.yx + float2(t);
        r[3] = float(n.x * 10 + n.y) + dot(v, float3(1, 0, 0));
        out[at] = r;
    }";
    let (w, h) = (19usize, 7usize);
    let mut x: Vec<f32> = (0..w * h * 3).map(|i| i as f32).collect();
    let mut out = vec![[0f32; 4]; w * h];
    let mut size = [w as u32, h as u32];
    run(
        source,
        &mut [bytes(&mut x), bytes(&mut size)],
        &mut out,
        [w as u64, h as u64, 1],
        [8, 4, 1],
    )
    .unwrap();
    for y in 0..h {
        for x in 0..w {
            let at = y * w + x;
            let v = [3 * at, 3 * at + 1, 3 * at + 2].map(|n| n as f32);
            let n = (8.min(w - x / 8 * 8), 4.min(h - y / 4 * 4));
            let want = [
                v[1] + (x % 8) as f32,
                v[2] + (y % 4) as f32,
                v[0],
                (n.0 * 10 + n.1) as f32 + v[0],
            ];
            assert_eq!(out[at], want, "thread ({x}, {y})");
        }
    }
}

#[test]
fn narrow_types_wrap_and_round() {
    let source = "kernel void k(device float* out, uint i [[thread_position_in_grid]]) {
        half h = half(2048.0h) + half(i);
        uchar u = uchar(250 + i);
        short s = short(32767); s += short(i);
        bfloat b = bfloat(256.0f) + bfloat(float(i));
        char c = char(-3); c = c / char(2);
        int big = int(as_type<float>(0x7fc00000u)) + int(3e9f) % 7;
        out[i] = float(h) + float(u) * 10000 + float(s) + float(b) + float(c) + float(big) + float(as_type<ushort>(h) & 1);
    }";
    let mut out = vec![0f32; 10];
    run(source, &mut [], &mut out, [10, 1, 1], [10, 1, 1]).unwrap();
    for (i, &got) in out.iter().enumerate() {
        let h = half::f16::from_f32(2048.0 + i as f32);
        let want = h.to_f32()
            + f32::from((250 + i) as u8) * 10000.0
            + f32::from(32767i16.wrapping_add(i as i16))
            + half::bf16::from_f32(256.0 + i as f32).to_f32()
            - 1.0
            + (i32::MAX % 7) as f32
            + f32::from(h.to_bits() & 1);
        assert_eq!(got, want, "thread {i}");
    }
}

#[test]
fn atomics_count_across_threadgroups() {
    let source = "kernel void k(device atomic_uint* out, uint i [[thread_position_in_grid]]) {
        atomic_fetch_add_explicit(&out[i % 3], i, memory_order_relaxed);
        atomic_fetch_max_explicit(&out[3], i, memory_order_relaxed);
    }";
    let mut out = vec![0u32; 4];
    run(source, &mut [], &mut out, [10_000, 1, 1], [256, 1, 1]).unwrap();
    let sum = |r: u32| (0..10_000u32).filter(|i| i % 3 == r).sum();
    assert_eq!(out, [sum(0), sum(1), sum(2), 9_999]);
}

#[test]
fn a_pointer_keeps_its_place_when_what_it_was_made_from_changes() {
    // The addresses of `a` escape through the choice, so that it lives in memory; `b` does not.
    let source = "kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
        int a[8], b[8];
        for (int j = 0; j < 8; j++) { a[j] = 10 + j; b[j] = 20 + j; }
        thread int* either = i % 2 == 0 ? a : a + 1;
        int j = int(i % 4);
        thread int* p = a + j;
        thread int* q = b + j;
        thread int* r = either;
        j = 7;
        either = a + 6;
        out[i] = *p + 100 * *q + 10000 * *r + j * 1000000;
    }";
    let mut out = vec![0i32; 40];
    run(source, &mut [], &mut out, [40, 1, 1], [40, 1, 1]).unwrap();
    for (i, &got) in out.iter().enumerate() {
        let (j, odd) = ((i % 4) as i32, (i % 2) as i32);
        let want = 10 + j + 100 * (20 + j) + 10000 * (10 + odd) + 7_000_000;
        assert_eq!(got, want, "thread {i}");
    }
}

#[test]
fn an_access_out_of_bounds_names_kernel_place_thread_and_index() {
    let source = "kernel void k(device float* out, device const float* x, uint i [[thread_position_in_grid]]) {
        out[i] = x[i + 1];
    }";
    let mut x = vec![0f32; 100];
    let mut out = vec![0f32; 100];
    let fault = run(
        source,
        &mut [bytes(&mut x)],
        &mut out,
        [100, 1, 1],
        [64, 1, 1],
    )
    .unwrap_err();
    assert_eq!(fault.kind, FaultKind::OutOfBounds);
    insta::assert_snapshot!(fault, @"kernel `k`, test.metal:4:18, thread (99, 0, 0): reads 4 bytes at byte 400 (element 100 of 4 bytes) of `x`, which has 400 bytes");
}

#[test]
fn pointers_that_vary_and_local_arrays_with_computed_indices() {
    let source = "
    constant int table[4] = {7, 11, 13, 17};
    kernel void k(device int* out, device const int* x, uint i [[thread_position_in_grid]]) {
        device const int* p = x + (i * 7) % 32;
        p += 1;
        int local[5];
        for (int j = 0; j < 5; j++) local[j] = p[j] * j;
        thread int* q = &local[1];
        int sum = q[i % 4] + *(q - 1) + table[i % 4];
        thread int* r = i % 2 == 0 ? local : q;
        out[i] = sum * 1000 + r[1];
    }";
    let mut x: Vec<i32> = (0..40).map(|i| i * i % 23).collect();
    let mut out = vec![0i32; 64];
    run(
        source,
        &mut [bytes(&mut x.clone())],
        &mut out,
        [64, 1, 1],
        [32, 1, 1],
    )
    .unwrap();
    for (i, &got) in out.iter().enumerate() {
        let p = &mut x[(i * 7) % 32 + 1..];
        let local: Vec<i32> = (0..5).map(|j| p[j] * j as i32).collect();
        let sum = local[1 + i % 4] + local[0] + [7, 11, 13, 17][i % 4];
        assert_eq!(
            got,
            sum * 1000 + local[if i % 2 == 0 { 1 } else { 2 }],
            "thread {i}"
        );
    }
}

/// However a kernel gets a pointer to what it was lent for reading, it cannot write there.
#[test]
fn what_is_lent_for_reading_is_not_written() {
    let disguises = [
        // A pointer to a pointer.
        "device const float* q = x; device float* thread* p = (device float* thread*)&q;
         (*p)[i] = 1.0f;",
        "constant float* q = y; device float* thread* p = (device float* thread*)&q;
         (*p)[i] = 1.0f;",
        // The same memory under two types.
        "union { device const float* from; device float* to; } u; u.from = x; u.to[i] = 1.0f;",
        "A a = {x}; B b = *(thread B*)&a; b.to[i % 7] = 1.0f;",
        "A a = {x}; B b = *(thread B*)&a;
         atomic_store_explicit((device atomic_uint*)b.to, 1u, memory_order_relaxed);",
        // Each lane its own pointer.
        "device const float* qs[2] = {x, out}; device float* thread* p = (device float* thread*)&qs;
         p[i % 2][i] = 1.0f;",
        "device const float* q = table; device float* thread* p = (device float* thread*)&q;
         (*p)[i] = 1.0f;",
    ];
    for disguise in disguises {
        let table = disguise.contains("table");
        let q = if table {
            "constant float* q"
        } else {
            "device const float* q"
        };
        let disguise = disguise.replace("device const float* q = table", &format!("{q} = table"));
        let source = format!(
            "struct A {{ device const float* from; }}; struct B {{ device float* to; }};
             constant float table[64] = {{1, 2, 3}};
             kernel void k(device float* out [[buffer(0)]], device const float* x [[buffer(1)]],
                           constant float* y [[buffer(2)]],
                           uint i [[thread_position_in_grid]]) {{ {disguise} }}"
        );
        let (mut x, mut y) = (vec![7.0f32; 64], vec![8.0f32; 64]);
        let mut out = vec![0.0f32; 64];
        let inputs = &mut [bytes(&mut x), bytes(&mut y)];
        let fault = run(&source, inputs, &mut out, [64, 1, 1], [32, 1, 1]).unwrap_err();
        let message = fault.to_string();
        assert!(
            message.contains("only for reading"),
            "{disguise}: {message}"
        );
        assert_eq!((x, y), (vec![7.0; 64], vec![8.0; 64]), "{disguise}");
    }
}

#[test]
fn a_pointer_to_a_variable_can_be_kept_in_a_struct_or_another_variable() {
    let source = "
    struct Pair { thread int* a; thread int* b; };
    void keep(thread Pair& pair, thread int* a, thread int& b) { pair.a = a; pair.b = &b; }
    thread int* pick(thread int* a, thread int* b, bool first) {
        thread int* p = a;
        if (!first) { p = b; }
        return p;
    }
    kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
        int x = int(i), y = 10;
        Pair pair;
        keep(pair, &x, y);
        *pair.a += 1;
        *pair.b += *pair.a;
        *pick(&x, &y, i % 2 == 0) += 1000;
        out[i] = x * 10000 + y;
    }";
    let mut out = [0i32; 8];
    run(source, &mut [], &mut out, [8, 1, 1], [8, 1, 1]).unwrap();
    for (i, &value) in (0..).zip(&out) {
        let (mut x, mut y) = (i + 1, 11 + i);
        *if i % 2 == 0 { &mut x } else { &mut y } += 1000;
        assert_eq!(value, x * 10000 + y);
    }
}

#[test]
fn a_branch_may_change_what_its_condition_was() {
    let source = "
    struct Flags { bool b; int n; };
    static void flip(thread bool& b) { b = !b; }
    kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
        int total = 0;
        bool b = i < 2;
        if (b) { b = false; total += 1; } else { total += 2; }
        Flags f{i % 3 == 0, 0};
        if (f.b) { f.b = false; total += 10; } else { f.b = true; total += 20; }
        bool many[2] = {i % 2 == 0, false};
        if (many[0]) { many[0] = false; total += 100; } else { total += 200; }
        bool2 v = bool2(i < 5, false);
        if (v.x) { v.x = false; total += 1000; } else { total += 2000; }
        bool r = i % 4 == 1;
        if (r) { flip(r); total += 10000; } else { flip(r); total += 20000; }
        int best = 0;
        bool first = i % 2 == 1;
        for (int k = 0; k < 3; k++) {
            if (first) { best = k + 5; first = false; } else { best += 1; first = k == 1; }
        }
        out[i] = total + best * 100000;
    }";
    let mut out = vec![0i32; 37];
    run(source, &mut [], &mut out, [37, 1, 1], [16, 1, 1]).unwrap();
    for (i, &got) in out.iter().enumerate() {
        let pick = |c: bool, a: i32, b: i32| if c { a } else { b };
        let mut total = pick(i < 2, 1, 2)
            + pick(i % 3 == 0, 10, 20)
            + pick(i % 2 == 0, 100, 200)
            + pick(i < 5, 1000, 2000)
            + pick(i % 4 == 1, 10000, 20000);
        let (mut best, mut first) = (0, i % 2 == 1);
        for k in 0..3 {
            if first {
                best = k + 5;
                first = false;
            } else {
                best += 1;
                first = k == 1;
            }
        }
        total += best * 100000;
        assert_eq!(got, total, "thread {i}");
    }
}

#[test]
fn a_value_stays_what_it_was_when_its_variable_changes() {
    let source = "
    static int id(int x) { return x; }
    kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
        int x = int(i);
        int v[2] = { id(x), (x = 50) };
        int w[3] = { x, ++x, x++ };
        x = x;
        int4 s = int4(x, 1, 2, 3);
        s = s.wzyx;
        int a = 1, b = 2;
        int pair[2] = { b, a };
        a = pair[0]; b = pair[1];
        out[i] = v[0] + v[1] * 100 + w[0] + w[1] * 3 + w[2] * 5 + x + s.x * 1000000 + s.w + a * 7 + b;
    }";
    let mut out = vec![0i32; 20];
    run(source, &mut [], &mut out, [20, 1, 1], [8, 1, 1]).unwrap();
    for (i, &got) in out.iter().enumerate() {
        let want = i as i32 + 5000 + 50 + 51 * 3 + 51 * 5 + 52 + 3_000_000 + 52 + 14 + 1;
        assert_eq!(got, want, "thread {i}");
    }
}

#[test]
fn a_pointer_may_be_set_after_it_is_used() {
    let source = "kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
        int a[4] = { 1, 2, 3, int(i) };
        thread int* p = nullptr;
        for (int k = 0; k < 4; k++) { if (k > 0) { *p += 10; } p = &a[k]; }
        thread int* q = i % 2 ? &a[0] : &a[3];
        *q += 1000;
        out[i] = a[0] + a[1] * 3 + a[2] * 5 + a[3] * 7;
    }";
    let mut out = vec![0i32; 20];
    run(source, &mut [], &mut out, [20, 1, 1], [8, 1, 1]).unwrap();
    for (i, &got) in out.iter().enumerate() {
        let mut a = [11, 12, 13, i as i32];
        a[if i % 2 == 1 { 0 } else { 3 }] += 1000;
        assert_eq!(got, a[0] + a[1] * 3 + a[2] * 5 + a[3] * 7, "thread {i}");
    }
}

#[test]
fn aligned_fields_and_variables_are_where_they_should_be() {
    let source = "struct S { float a; alignas(16) float b; };
        struct alignas(32) T { char c; S s[2]; };
        constant alignas(64) int table[3] = {5, 6, 7};
        int sum(thread const int (&values)[4]) { return values[0] + values[3]; }
        kernel void k(device int* out, device const S* in [[buffer(1)]],
                      uint i [[thread_position_in_grid]]) {
            threadgroup char first;
            threadgroup alignas(32) int shared[4];
            alignas(16) int mine[4] = {1, 2, 3, 4};
            alignas(8) int count = 3;
            alignas(16) S copy = in[1];
            constant alignas(32) int more[2] = {8, 9};
            alignas(64) T t = {};
            t.s[i % 2].b = 0.5f;
            first = 1;
            shared[i] = int(i);
            threadgroup_barrier(mem_flags::mem_threadgroup);
            mine[i] += 10;
            count += first;
            device int* o = out + i * 8;
            o[0] = int(in[i % 2].b) + int(in[i % 2].a) * 10;
            o[1] = int((device const char*)&in[1].b - (device const char*)in);
            o[2] = table[i % 3] + more[i % 2];
            o[3] = shared[3 - i];
            o[4] = sum(mine);
            o[5] = count;
            o[6] = int(copy.b);
            o[7] = int(t.s[i % 2].b * 2) + int(t.s[(i + 1) % 2].b) + int(sizeof(T)) * 10;
        }";
    // Two structs of 32 bytes.
    let mut input = [0f32; 16];
    (input[0], input[4], input[8], input[12]) = (1.0, 2.0, 3.0, 4.0);
    let mut out = vec![0i32; 32];
    run(
        source,
        &mut [bytes(&mut input)],
        &mut out,
        [4, 1, 1],
        [4, 1, 1],
    )
    .unwrap();
    for i in 0..4 {
        let mine = 1 + 4 + if i == 0 || i == 3 { 10 } else { 0 };
        let expected = [
            [12, 34][i % 2],
            48,
            [5, 6, 7][i % 3] + [8, 9][i % 2],
            3 - i as i32,
            mine,
            4,
            4,
            961,
        ];
        assert_eq!(out[i * 8..][..8], expected, "thread {i}");
    }
}
