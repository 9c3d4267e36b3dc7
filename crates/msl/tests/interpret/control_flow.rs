//! Branches, loops, switches, functions and the order of evaluation, each thread by itself.

use super::{clean, row};

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
