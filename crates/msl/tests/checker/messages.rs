//! What wrong programs are told by the type checker, and how often. What the parser says of them is
//! tested beside it.

use super::wrong;

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
