//! Each pass alone, and all of them in a row.

mod print;

use super::form::{Lowered, Reg};
use super::survey::Survey;
use super::{copies, dead, inline, lower, scalars, stand_in, typed, uniform, unroll};
use crate::Compilation;
use print::print;

fn compile(body: &str) -> Compilation {
    let text = format!("#include <metal_stdlib>\nusing namespace metal;\n{body}");
    crate::compile("test.metal", &text, &Default::default()).unwrap_or_else(|d| panic!("{d}"))
}

fn inlined(compilation: &Compilation) -> typed::Inlined {
    let module = &compilation.module;
    inline::inline(module, &module.kernels[0], &Default::default()).unwrap()
}

/// The lowered form before copies are taken away.
fn translated(compilation: &Compilation) -> Lowered {
    let module = &compilation.module;
    let inlined = inlined(compilation);
    let stand_ins = stand_in::stand_ins(&inlined);
    let kernel = &module.kernels[0];
    scalars::translate(module, kernel, &inlined, &stand_ins, &Default::default()).unwrap()
}

fn lowered(compilation: &Compilation) -> Lowered {
    let module = &compilation.module;
    lower(module, &module.kernels[0], &Default::default()).unwrap()
}

/// All passes on a kernel whose output is `out` and whose thread is `i`.
fn text(body: &str) -> String {
    print(&lowered(&compile(&kernel(body))))
}

fn kernel(body: &str) -> String {
    format!("kernel void k(device int* out, uint i [[thread_position_in_grid]]) {{ {body} }}")
}

fn count<'a>(nodes: &'a typed::Block, of: &dyn Fn(&'a typed::Node) -> bool) -> usize {
    let inner =
        |node: &'a typed::Node| -> usize { node.blocks().into_iter().map(|b| count(b, of)).sum() };
    nodes.iter().map(|n| usize::from(of(n)) + inner(n)).sum()
}

#[test]
fn a_load_is_a_copy_until_it_is_proven_needless() {
    let compilation = compile(&kernel(
        "int x = int(i), y = x; if (i > 2) { x = 5; } out[i] = x + y;",
    ));
    let before = translated(&compilation);
    assert!(print(&before).contains("Copy"));
    insta::assert_snapshot!(print(&lowered(&compilation)), @r"
    r1 = Builtin(ThreadPositionInGrid, 0)()
    r2 = Convert(r1)
    v3 := r2
    r4 = Copy(v3)
    r6 = Binary(Greater)(r1, 2)
    if r6
        v3 := 5
    r9 = Binary(Add)(v3, r4)
    store r9 to out + r1 * 4
    ");
}

#[test]
fn a_condition_that_its_branch_changes_is_read_once() {
    let text = text("bool b = i < 2; if (b) { b = false; out[i] = 1; } else { out[i] = b; }");
    let branch = text.find("if v").expect(&text);
    assert!(text[branch..].contains(":= 0"), "{text}");
}

#[test]
fn functions_with_one_return_at_the_end_need_no_scope() {
    let text = |function: &str| {
        let body = kernel("out[i] = f(int(i));");
        inlined(&compile(&format!("{function} {body}")))
    };
    let plain = text("static int f(int x) { int y = x * 2; return y + 1; }");
    let early = text("static int f(int x) { if (x > 3) return 1; return x; }");
    let scopes =
        |inlined: &typed::Inlined| count(&inlined.body, &|n| matches!(n, typed::Node::Scope(..)));
    assert_eq!((scopes(&plain), scopes(&early)), (0, 1));
}

#[test]
fn what_a_function_constant_decides_is_gone() {
    let compilation = compile(&format!(
        "constant bool wide [[function_constant(0)]]; {}",
        kernel("if (wide) { out[i] = 1; } else { out[i] = 2; }")
    ));
    let module = &compilation.module;
    for (value, stored) in [(1, "store 1"), (0, "store 2")] {
        let constants = [(0, vec![value])].into();
        let text = print(&lower(module, &module.kernels[0], &constants).unwrap());
        assert!(text.contains(stored) && !text.contains("if "), "{text}");
    }
}

#[test]
fn short_loops_over_small_arrays_are_written_out() {
    insta::assert_snapshot!(text(
        "int a[3]; for (int k = 0; k < 3; k++) { a[k] = int(i) * k; } out[i] = a[0] + a[2];"
    ), @r"
    r1 = Builtin(ThreadPositionInGrid, 0)()
    r4 = Convert(r1)
    r5 = Binary(Multiply)(r4, 0)
    r13 = Convert(r1)
    r14 = Binary(Multiply)(r13, 2)
    r18 = Binary(Add)(r5, r14)
    store r18 to out + r1 * 4
    ");
}

#[test]
fn which_loops_are_written_out() {
    let loops = |body: &str| {
        let compilation = compile(&kernel(body));
        let mut inlined = inlined(&compilation);
        unroll::unroll(&mut inlined, &compilation.module.types);
        count(&inlined.body, &|n| matches!(n, typed::Node::Loop(_)))
    };
    let each = |header: &str| {
        loops(&format!(
            "int s = 0; for ({header}) {{ s += k; }} out[i] = s;"
        ))
    };
    for short in [
        "int k = 0; k < 4; k++",
        "uint k = 8; k > 0; k >>= 1",
        "short k = 3; k >= 0; --k",
        "int k = 0; k < 0; k++",
    ] {
        assert_eq!(each(short), 0, "{short}");
    }
    for long in [
        "int k = 0; k < 1000; k++",
        "int k = 0; k < int(i); k++",
        "int k = int(i); k < 4; k++",
        "uint k = 0; k >= 0; k++",
    ] {
        assert_eq!(each(long), 1, "{long}");
    }
    // The counter is not the step's alone.
    assert_eq!(
        loops("for (int k = 0; k < 4; k++) { if (i > 2) k++; out[k] = k; }"),
        1
    );
    assert_eq!(
        loops("for (int k = 0; k < 4; k++) { thread int* p = &k; *p += 1; out[k] = k; }"),
        1
    );
    // Both of a nest, with ways out of them.
    assert_eq!(
        loops(
            "for (int k = 0; k < 3; k++) { for (int j = 0; j <= k; j++) {
                 if (i == 5) break; if (j == 1) continue; out[i + j] = k; } }"
        ),
        0
    );
}

#[test]
fn pointers_to_variables_that_stay_known_need_no_memory() {
    let memory = |body: &str| lowered(&compile(&kernel(body))).private_size;
    assert_eq!(
        memory("int a[4] = {1, 2, 3, 4}; thread int* p = &a[i % 2]; p[1] = 9; out[i] = a[1];"),
        0
    );
    assert_eq!(
        memory("int x = 3; thread int& r = x; r = int(i); out[i] = x;"),
        0
    );
    // Which of the two it is differs between threads.
    assert_ne!(
        memory("int x = 1, y = 2; thread int* p = i > 3 ? &x : &y; *p = 7; out[i] = x + y;"),
        0
    );
}

#[test]
fn a_variable_stands_for_a_value_if_it_is_set_once_and_first() {
    let compilation = compile(&kernel(
        "int once = int(i); int twice = 1; if (i > 3) { twice = 2; }
         int late; for (int k = 0; k < 99; k++) { if (k > 0) { out[k] = late; } late = k; }
         out[i] = once + twice;",
    ));
    let inlined = inlined(&compilation);
    let stand_ins = stand_in::stand_ins(&inlined);
    let named = |name: &str| {
        let mut locals = inlined.locals.iter();
        let (handle, _) = locals.find(|(_, local)| &*local.name == name).unwrap();
        stand_ins[handle.index()]
    };
    assert!(named("once") && !named("twice") && !named("late"));
}

#[test]
fn what_nobody_needs_is_left_out() {
    let mut lowered = translated(&compile(&kernel(
        "int x = out[i + 1] * 3; if (x > 2) { x = 4; } out[i] = 1;",
    )));
    copies::forward(&mut lowered);
    copies::share(&mut lowered);
    dead::remove(&mut lowered);
    let text = print(&lowered);
    assert!(
        !text.contains("Multiply") && text.contains("store 1"),
        "{text}"
    );
}

#[test]
fn what_is_the_same_in_all_threads_is_known() {
    let source =
        "kernel void k(device int* out, constant int& n, uint i [[thread_position_in_grid]]) {
        int uniform = n * 2;
        int counter = 0;
        while (counter < n) { if (int(i) == counter) break; counter++; }
        int own = 0;
        if (i > 3) { own = 1; }
        threadgroup_barrier(mem_flags::mem_none);
        out[i] = uniform + counter + own;
    }";
    let lowered = lowered(&compile(source));
    let survey = Survey::new(&lowered);
    let uniformity = uniform::analyze(&lowered, &survey);
    let varying = |wanted: &str| {
        let text = print(&lowered);
        let line = text
            .lines()
            .find(|l| l.contains(wanted))
            .unwrap_or_else(|| panic!("{text}"));
        let name = line.split_whitespace().next().unwrap();
        let reg: Reg = name[1..].parse().unwrap();
        uniformity.varying[reg as usize]
    };
    assert!(!varying("= Binary(Multiply)"));
    // Threads leave the loop at different rounds and read the counter behind it.
    assert!(varying("= Binary(Add)"));
    assert!(varying("= Builtin"));
}
