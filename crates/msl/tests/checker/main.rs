//! What the type checker says of wrong programs, and what it notes of right ones.

#![allow(clippy::unwrap_used, clippy::panic)]

use msl::Compilation;
use msl::diag::Diagnostics;
use msl::ir::Binding;

fn compile(source: &str) -> Result<Compilation, Diagnostics> {
    let text = format!("#include <metal_stdlib>\nusing namespace metal;\n{source}");
    msl::compile("test.metal", &text, &Default::default())
}

/// The message of a wrong program.
fn wrong(source: &str) -> String {
    match compile(source) {
        Ok(_) => panic!("this is accepted:\n{source}"),
        Err(diagnostics) => diagnostics.to_string(),
    }
}

#[test]
fn a_kernel_that_casts_away_const_counts_as_writing() {
    let casts = [
        "((device float*)p)[i] = 1.0f;",
        "const_cast<device float*>(p)[i] = 1.0f;",
        "reinterpret_cast<device int*>(p)[i] = 1;",
        "device char* q = (device char*)&p[1]; q[i] = 1;",
        "(device float&)p[0] = 1.0f;",
        "store(p, i);",
        "const device Rows* rows = (const device Rows*)p; ((device float*)rows->row[0])[i] = 1.0f;",
        "((const device Rows*)p)->first()[0] = 1.0f;",
    ];
    for cast in casts {
        let source = format!(
            "struct Rows {{ float row[2][4];
                           device float* first() const device {{ return (device float*)row; }} }};
             void store(device const float* p, uint i) {{ ((device float*)p)[i] = 1.0f; }}
             kernel void k(device const float* p, uint i [[thread_position_in_grid]]) {{ {cast} }}
             kernel void other(device const float* p, device float* q) {{ q[0] = p[0]; }}"
        );
        let module = compile(&source).unwrap_or_else(|d| panic!("{d}")).module;
        let written: Vec<Vec<bool>> = module
            .kernels
            .iter()
            .map(|kernel| {
                let buffers = kernel.arguments.iter().filter_map(|a| match a.binding {
                    Binding::Buffer { writable, .. } => Some(writable),
                    _ => None,
                });
                buffers.collect()
            })
            .collect();
        assert_eq!(written, [vec![true], vec![false, true]], "{cast}");
    }
}

/// Wrong programs, each with what is wrong with it. Snapshots hold the messages.
const WRONG: [(&str, &str); 37] = [
    (
        "unknown_name",
        "kernel void k(device float* out) { out[0] = valeu; float value = 1; }",
    ),
    (
        "unknown_function",
        "kernel void k(device float* out) { out[0] = sqr(2.0f); }",
    ),
    (
        "unknown_member",
        "struct S { float red; }; kernel void k(device S* s) { s->rad = 1; }",
    ),
    (
        "wrong_swizzle",
        "kernel void k(device float2* p) { p[0].z = 1; }",
    ),
    (
        "no_address_space",
        "kernel void k(device float* out) { float* p = out; }",
    ),
    (
        "other_address_space",
        "kernel void k(device float* out) { threadgroup float* p = out; }",
    ),
    (
        "const_write",
        "kernel void k(device const float* x) { x[0] = 1.0f; }",
    ),
    (
        "constant_write",
        "constant float a = 1; kernel void k() { a = 2; }",
    ),
    (
        "double",
        "kernel void k(device float* out) { double x = 1; out[0] = x; }",
    ),
    ("kernel_result", "kernel int k() { return 1; }"),
    ("by_value", "kernel void k(uint n) {}"),
    (
        "too_few_arguments",
        "float f(float a, float b) { return a; } kernel void k(device float* o) { o[0] = f(1); }",
    ),
    (
        "wrong_argument",
        "float f(float2 a) { return a.x; } kernel void k(device float* o) { o[0] = f(float3(1)); }",
    ),
    (
        "ambiguous",
        "int f(uint a) { return 1; } int f(float a) { return 2; } kernel void k(device int* o) { o[0] = f(1); }",
    ),
    (
        "missing_return_value",
        "float f() { return; } kernel void k(device float* o) { o[0] = f(); }",
    ),
    (
        "vector_condition",
        "kernel void k(device float4* o) { if (o[0] > 0) { o[0] = 1; } }",
    ),
    (
        "mixed_vectors",
        "kernel void k(device float4* o) { o[0] = float3(1) + o[0]; }",
    ),
    (
        "modulo_float",
        "kernel void k(device float* o) { o[0] = o[0] % 2.0f; }",
    ),
    ("break_outside", "kernel void k() { break; }"),
    (
        "duplicate_case",
        "kernel void k(device int* o) { switch (o[0]) { case 1: break; case 1: break; } }",
    ),
    (
        "same_buffer",
        "kernel void k(device int* a [[buffer(1)]], device int* b [[buffer(1)]]) {}",
    ),
    (
        "static_assertion",
        "static_assert(sizeof(float3) == 12, \"packed\"); kernel void k() {}",
    ),
    (
        "array_too_long",
        "kernel void k(device int* o) { int a[2] = {1, 2, 3}; o[0] = a[0]; }",
    ),
    (
        "recursion",
        "int f(int n) { return n == 0 ? 0 : f(n - 1); } kernel void k(device int* o) { o[0] = f(3); }",
    ),
    (
        "in_an_instance",
        "template <typename T> T norm(T x) { return x.length(); }
         template <typename T> T twice(T x) { return 2 * norm(x); }
         kernel void k(device float* o) { o[0] = twice(o[0]); }",
    ),
    (
        "no_deduction",
        "template <typename T> T largest(T a, T b) { return a > b ? a : b; }
         kernel void k(device float* o) { o[0] = largest(1, 2.0f); }",
    ),
    (
        "template_arguments",
        "template <typename T, int N> struct Block { T items[N]; };
         kernel void k() { Block<float> b; }",
    ),
    (
        "change_of_address_space",
        "kernel void k(constant float* x) { device float* p = (device float*)x; p[0] = 1; }",
    ),
    (
        "pointer_as_integer",
        "kernel void k(device const float* x) { ((device float*)(ulong)x)[0] = 1; }",
    ),
    (
        "atomic_store_to_const",
        "kernel void k(device const atomic_uint* n) { atomic_store_explicit(n, 1u, memory_order_relaxed); }",
    ),
    (
        "function_as_a_value",
        "typedef void (act)(int); struct S { act* f; }; kernel void k() {}",
    ),
    (
        "argument_by_a_number",
        "constant int n [[function_constant(0)]];
         kernel void k(device float* x [[buffer(0), function_constant(n)]]) {}",
    ),
    (
        "half_and_bfloat",
        "kernel void k(device half* h, device bfloat* b) { h[0] = b[0]; }",
    ),
    (
        "matrix_of_integers",
        "kernel void k() { simdgroup_matrix<int, 8, 8> m; }",
    ),
    (
        "condition_does_not_hold",
        "template <typename T> enable_if_t<is_integral_v<T>, T> twice(T x) { return x + x; }
         kernel void k(device float* o) { o[0] = twice(o[0]); }",
    ),
    (
        "no_specialisation",
        "template <typename T> struct name; template <> struct name<int> { int x; };
         template <typename T> void use() { name<T> n; }
         kernel void k() { use<float>(); }",
    ),
    (
        "wrong_instantiation",
        "template <typename T> kernel void fill(device T* out) { out[0] = T(1); }
         template [[host_name(\"f\")]] kernel void fill<float>(device half*);",
    ),
];

#[test]
fn wrong_programs_are_explained() {
    let mut all = String::new();
    for (name, source) in WRONG {
        all.push_str(&format!("== {name}\n{}\n", wrong(source)));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn several_problems_are_told_at_once_and_each_once() {
    let message = wrong(
        "kernel void a(device float* o) { o[0] = first; o[1] = first + 1; }
         kernel void b(device float* o) { o[0] = second; }",
    );
    assert_eq!(message.matches("error:").count(), 3, "{message}");
}

#[test]
fn a_stack_of_instances_does_not_hide_the_limit() {
    let message = wrong(
        "template <int N> struct Deep { static constant constexpr int value = Deep<N + 1>::value; };
         kernel void k(device int* o) { o[0] = Deep<0>::value; }",
    );
    assert!(message.contains("error:"), "{message}");
}

/// Size and alignment of every scalar, vector, packed vector and matrix type, by Metal's tables.
fn plain_types() -> Vec<(String, u32, u32)> {
    let scalars = [
        ("bool", 1),
        ("char", 1),
        ("uchar", 1),
        ("short", 2),
        ("ushort", 2),
        ("int", 4),
        ("uint", 4),
        ("long", 8),
        ("ulong", 8),
        ("half", 2),
        ("bfloat", 2),
        ("float", 4),
    ];
    let mut types = Vec::new();
    for (name, size) in scalars {
        types.push((name.to_string(), size, size));
        for (len, room) in [(2, 2), (3, 4), (4, 4)] {
            types.push((format!("{name}{len}"), size * room, size * room));
            if name != "bool" {
                types.push((format!("packed_{name}{len}"), size * len, size));
            }
        }
    }
    for (name, size) in [("float", 4), ("half", 2)] {
        for columns in 2..=4 {
            for (rows, room) in [(2, 2), (3, 4), (4, 4)] {
                let column = size * room;
                types.push((format!("{name}{columns}x{rows}"), columns * column, column));
            }
        }
    }
    types
}

#[test]
fn every_type_has_the_size_and_alignment_of_metal() {
    let mut source = String::new();
    let mut declared = |name: &str, ty: &str, size: u32, align: u32| {
        source.push_str(&format!(
            "struct In_{name} {{ char before; {ty} it; char after; }};
             union Or_{name} {{ char other; {ty} it; }};
             static_assert(sizeof({ty}) == {size}, \"size\");
             static_assert(alignof({ty}) == {align}, \"alignment\");
             typedef {ty} Type_{name}; typedef Type_{name} Three_{name}[3];
             static_assert(sizeof(Three_{name}) == {}, \"array\");
             static_assert(sizeof(In_{name}) == {}, \"struct\");
             static_assert(alignof(In_{name}) == {align}, \"struct\");
             static_assert(sizeof(Or_{name}) == {size} && alignof(Or_{name}) == {align}, \"union\");\n",
            3 * size,
            // The byte after it makes it one unit of alignment longer.
            align + size + align,
        ));
    };
    for (ty, size, align) in plain_types() {
        declared(&ty, &ty, size, align);
    }
    declared("atomic", "atomic_uint", 4, 4);
    declared("pointer", "device float*", 8, 8);
    compile(&source).unwrap_or_else(|d| panic!("{d}"));
}

/// The offsets and the size and alignment of struct `S`.
fn layout(source: &str) -> (Vec<u32>, u32, u32) {
    let text = format!("{source}\nkernel void k(device S* s) {{}}");
    let module = compile(&text)
        .unwrap_or_else(|d| panic!("{source}\n{d}"))
        .module;
    let found = module.types.structs.iter().find(|(_, s)| &*s.name == "S");
    let (_, found) = found.unwrap();
    let offsets = found.fields.iter().map(|f| f.offset).collect();
    (offsets, found.size, found.align)
}

#[test]
fn structs_are_laid_out_as_their_attributes_say() {
    let gnu = "__attribute__((aligned(16)))";
    let table: &[(&str, &[u32], u32, u32)] = &[
        ("struct S { float a; float b; };", &[0, 4], 8, 4),
        (
            "struct S { float a; alignas(16) float b; };",
            &[0, 16],
            32,
            16,
        ),
        (
            &format!("struct S {{ float a; {gnu} float b; }};"),
            &[0, 16],
            32,
            16,
        ),
        (
            &format!("struct S {{ float a; float b {gnu}; }};"),
            &[0, 16],
            32,
            16,
        ),
        (
            "struct S { float a; [[gnu::aligned(8)]] float b; float c; };",
            &[0, 8, 12],
            16,
            8,
        ),
        (
            "struct S { float a; __attribute__((__aligned__(8))) float b; };",
            &[0, 8],
            16,
            8,
        ),
        (
            "struct S { alignas(float4) half a; half b; };",
            &[0, 2],
            16,
            16,
        ),
        (
            "struct S { alignas(4) alignas(8) half a; half b; };",
            &[0, 2],
            8,
            8,
        ),
        ("struct S { alignas(0) char a; char b; };", &[0, 1], 2, 1),
        (
            "struct S { char a; alignas(8) float b[3]; char c; };",
            &[0, 8, 20],
            24,
            8,
        ),
        (
            "struct S { char a; alignas(2 * 4) char b, c; };",
            &[0, 8, 16],
            24,
            8,
        ),
        ("struct alignas(32) S { float a; };", &[0], 32, 32),
        (
            "struct __attribute__((aligned(32))) S { float a; };",
            &[0],
            32,
            32,
        ),
        (
            "struct S { float a; } __attribute__((aligned(32)));",
            &[0],
            32,
            32,
        ),
        (
            "struct alignas(8) S { alignas(16) char a; char b; } __attribute__((aligned(32)));",
            &[0, 1],
            32,
            32,
        ),
        ("union S { float a; alignas(16) char b; };", &[0, 0], 16, 16),
        (
            "struct alignas(16) T { float a; }; struct S { char a; T b; T c[2]; char d; };",
            &[0, 16, 32, 64],
            80,
            16,
        ),
        (
            "struct T { char a; alignas(8) char b; }; struct S { char a; T b; char c; };",
            &[0, 8, 24],
            32,
            8,
        ),
        (
            "template <int N> struct alignas(N) T { alignas(N / 2) char a; char b; };
          struct S { char a; T<32> b; };",
            &[0, 32],
            64,
            32,
        ),
        (
            "struct S { bool3 a; bool b; packed_float3 c; float3 d; };",
            &[0, 4, 8, 32],
            48,
            16,
        ),
        (
            "struct S { half2x3 a; char b; float4x4 c; };",
            &[0, 16, 32],
            96,
            16,
        ),
        (
            "struct S { char a; struct { char b; alignas(4) char c; }; char d; };",
            &[0, 4, 12],
            16,
            4,
        ),
    ];
    for (source, offsets, size, align) in table {
        assert_eq!(
            layout(source),
            (offsets.to_vec(), *size, *align),
            "{source}"
        );
    }
}

#[test]
fn variables_lie_where_their_attributes_say() {
    let source = "constant alignas(64) float table[3] = {1, 2, 3};
        kernel void k(device float* out, uint i [[thread_position_in_grid]]) {
            threadgroup char first[3];
            threadgroup alignas(32) float shared[8];
            alignas(16) float mine[4] = {1, 2, 3, 4};
            [[maybe_unused]] alignas(8) int count = 3;
            constant alignas(32) int more[2] = {5, 6};
            first[0] = 1; shared[i] = i; count += int(i);
            out[i] = table[i % 3] + shared[i] + mine[i % 4] + count + more[i % 2] + first[0];
        }";
    let module = compile(source).unwrap_or_else(|d| panic!("{d}")).module;
    let align = |ty| module.types.layout(ty).1;
    let function = &module.functions[module.kernels[0].function];
    let threadgroup: Vec<_> = function
        .threadgroup
        .iter()
        .map(|(_, v)| align(v.ty))
        .collect();
    assert_eq!(threadgroup, [1, 32]);
    let constants: Vec<_> = module.constants.iter().map(|(_, c)| align(c.ty)).collect();
    assert_eq!(constants, [32, 64]);
    for (name, wanted) in [("mine", 16), ("count", 8)] {
        let local = function.locals.iter().find(|(_, l)| &*l.name == name);
        assert_eq!(align(local.unwrap().1.ty), wanted, "{name}");
    }
}

#[test]
fn attributes_are_understood_or_refused() {
    // What is wrong, and a part of the message.
    let refused = [
        ("struct S { alignas(3) float a; };", "3 is not an alignment"),
        (
            "struct S { alignas(-4) float a; };",
            "-4 is not an alignment",
        ),
        (
            "struct S { alignas(8192) float a; };",
            "8192 is not an alignment",
        ),
        ("struct S { alignas(2) float a; };", "less than the 4"),
        (
            "struct S { float4 a __attribute__((aligned(8))); };",
            "less than the 16",
        ),
        ("struct alignas(4) S { float2 a; };", "less than the 8"),
        (
            "struct S { float a __attribute__((aligned)); };",
            "one number of bytes",
        ),
        (
            "struct S { float a; } __attribute__((packed));",
            "packed structs are not supported",
        ),
        (
            "struct S { char b; float a __attribute__((packed)); };",
            "packed structs are not",
        ),
        (
            "struct S { float a [[color(0)]]; };",
            "`color` is not an attribute",
        ),
        (
            "struct S { float a [[id(0)]]; };",
            "`id` is not an attribute",
        ),
        (
            "struct S { float a [[function_constant(0)]]; };",
            "cannot be a function constant",
        ),
        (
            "struct [[mystery]] S { float a; };",
            "`mystery` is not an attribute",
        ),
        ("enum [[mystery]] E { A };", "`mystery` is not an attribute"),
        ("enum E { A [[mystery]] };", "`mystery` is not an attribute"),
        (
            "typedef float T __attribute__((aligned(16)));",
            "`aligned` is not an attribute",
        ),
        (
            "using T [[mystery]] = float;",
            "`mystery` is not an attribute",
        ),
        (
            "alignas(16) struct S { float a; };",
            "`alignas` is not an attribute",
        ),
        (
            "namespace [[mystery]] n { }",
            "`mystery` is not an attribute",
        ),
        (
            "[[mystery]] constant int x = 1;",
            "`mystery` is not an attribute",
        ),
        ("alignas(1) constant int x = 1;", "less than the 4"),
        (
            "[[visible]] int f() { return 1; }",
            "`visible` is not an attribute",
        ),
        (
            "__attribute__((aligned(16))) int f() { return 1; }",
            "`aligned` is not an attribute",
        ),
        (
            "__attribute__((enable_if(1, \"\"))) int f() { return 1; }",
            "`enable_if` is not",
        ),
        (
            "int f(int x alignas(8)) { return x; }",
            "`alignas` is not an attribute",
        ),
        ("kernel void k(device int* x [[bufer(0)]]) { }", "`buffer`"),
        (
            "kernel void k(device int* x alignas(16)) { }",
            "`alignas` is not an attribute",
        ),
        (
            "void f() { [[mystery]] return; }",
            "`mystery` is not an attribute",
        ),
        (
            "void f(int x) { if (x) { } else [[mystery]] { } }",
            "`mystery` is not an attribute",
        ),
        (
            "void f() { [[mystery]] int x; }",
            "`mystery` is not an attribute",
        ),
        ("void f() { alignas(1) int x; }", "less than the 4"),
        (
            "void f() { int x; alignas(16) thread int& y = x; }",
            "a reference has no alignment",
        ),
        (
            "kernel void k() { threadgroup alignas(2) int x[2]; }",
            "less than the 4",
        ),
        (
            "void f() { auto g = []() [[mystery]] { }; }",
            "`mystery` is not an attribute",
        ),
    ];
    for (source, part) in refused {
        // A kernel of it all, so that what is only lowered on use is used.
        let message = wrong(&format!("{source}\nkernel void last() {{ }}"));
        assert!(message.contains(part), "{source}\n{message}");
        assert_eq!(message.matches("error:").count(), 1, "{source}\n{message}");
    }
    let accepted = "[[maybe_unused]] constant int x = 1;
        struct [[deprecated(\"old\")]] S { [[maybe_unused]] float a; };
        [[nodiscard]] __attribute__((always_inline, const)) inline int f(int x [[maybe_unused]]) {
            switch (x) { case 1: x++; [[fallthrough]]; default: [[clang::noinline]] f2(); }
            if (x) [[likely]] { return 1; } else [[unlikely]] { return 2; }
        }
        kernel void k(device int* o [[maybe_unused]]) { [[gnu::unused]] int y = f(1); }";
    let accepted = format!("[[gnu::noinline]] void f2() {{ }}\n{accepted}");
    compile(&accepted).unwrap_or_else(|d| panic!("{d}"));
}

/// Every way in which a value is converted without being asked: a `to` from a `from`.
fn implicit_conversions(to: &str, from: &str) -> Vec<String> {
    let kernel = |body: &str, before: &str| {
        format!(
            "{before}\nkernel void k(device {from}* x, device {to}* y, device float* o) {{ {body} }}"
        )
    };
    vec![
        kernel(&format!("{to} z = x[0]; y[0] = z;"), ""),
        kernel(&format!("{to} z{{x[0]}}; y[0] = z;"), ""),
        kernel(&format!("{to} z[2] = {{x[0], y[0]}}; y[0] = z[0];"), ""),
        kernel(
            "S s = {x[0]}; y[0] = s.member;",
            &format!("struct S {{ {to} member; }};"),
        ),
        kernel("y[0] = x[0];", ""),
        kernel(
            "y[0] = f(x[0]);",
            &format!("{to} f({to} v) {{ return v; }}"),
        ),
        kernel(
            "y[0] = f(x[0]);",
            &format!("{to} f({from} v) {{ return v; }}"),
        ),
        kernel(
            "y[0] = f(y[0], x[0]);",
            &format!("{to} f({to} v, {to} w) {{ return w; }}"),
        ),
    ]
}

#[test]
fn what_becomes_a_bfloat_by_itself_and_what_does_not() {
    let refused = [
        ("bfloat", "float", "`bfloat(..)`"),
        ("bfloat", "half", "`bfloat(..)`"),
        ("half", "bfloat", "`half(..)`"),
    ];
    for (to, from, hint) in refused {
        for source in implicit_conversions(to, from) {
            let message = wrong(&source);
            assert!(message.contains(hint), "{source}\n{message}");
            assert_eq!(message.matches("error:").count(), 1, "{source}\n{message}");
        }
    }
    let accepted = [
        "bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "bfloat",
    ];
    let into_bfloat = accepted.map(|from| ("bfloat", from));
    let from_bfloat = ["float", "int", "bool"].map(|to| (to, "bfloat"));
    for (to, from) in into_bfloat.into_iter().chain(from_bfloat) {
        for source in implicit_conversions(to, from) {
            // Braces take nothing that may lose something, whatever the types.
            let braced = source.contains("z{") || source.contains("= {");
            if !braced {
                compile(&source).unwrap_or_else(|d| panic!("{source}\n{d}"));
            }
        }
    }
    for statement in [
        "b += f;",
        "b = b * f;",
        "b = f > 0 ? b : f;",
        "bfloat2 v = bfloat2(b); v = f;",
        "b = exp(f);",
        "b = 1.0f;",
    ] {
        let message = wrong(&format!(
            "kernel void k(device bfloat* y, device float* x) {{ bfloat b = y[0]; float f = x[0];
             {statement} }}"
        ));
        assert!(message.contains("error:"), "{statement}");
    }
    let fine = "kernel void k(device bfloat* y, device float* x) {
        bfloat b = y[0]; float f = x[0];
        b += bfloat(f); b = bfloat(b * f); f += b; f = b; b = bfloat(f); b = 1; b = bfloat(exp(b)); b *= 2;
        x[0] = f + b; y[0] = b; }";
    compile(fine).unwrap_or_else(|d| panic!("{d}"));
}
