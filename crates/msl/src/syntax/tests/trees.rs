//! What is read as what.

use super::show;
use crate::diag::Diagnostics;
use crate::syntax::{Options, parse};

fn tree(text: &str) -> String {
    let (unit, sources, report) = parse("test.metal", text, &Options::default());
    assert!(
        report.list().is_empty(),
        "{}",
        Diagnostics { sources, report }
    );
    show::unit(&unit)
}

/// The statements of a function body, one a line.
fn body(text: &str) -> String {
    let whole = tree(&format!("void f() {{ {text} }}"));
    let inner = whole.strip_prefix("fn f() -> void { ").unwrap();
    inner.strip_suffix(" }").unwrap().to_string()
}

fn check(cases: &[(&str, &str)], read: fn(&str) -> String) {
    let mut wrong = String::new();
    for (text, expected) in cases {
        let found = read(text);
        if found != *expected {
            wrong += &format!("{text}\n  expected {expected}\n  found    {found}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn operators_bind_as_in_cpp() {
    check(
        &[
            ("a + b * c;", "(a Add (b Multiply c));"),
            ("a - b - c;", "((a Subtract b) Subtract c);"),
            ("a = b = c;", "(a = (b = c));"),
            ("a >>= b >> 1;", "(a ShiftRight= (b ShiftRight 1));"),
            ("a << 1 < b;", "((a ShiftLeft 1) Less b);"),
            ("a ? b : c ? d : e;", "(a ? b : (c ? d : e));"),
            ("a ? b = 1 : c = 2;", "(a ? (b = 1) : (c = 2));"),
            (
                "a || b && c | d ^ e & f == g;",
                "(a LogicalOr (b LogicalAnd (c BitwiseOr (d BitwiseXor (e BitwiseAnd (f Equal g))))));",
            ),
            ("-a.b[1]++;", "(Negate (PostIncrement a.b[1]));"),
            ("!*p->q;", "(LogicalNot (Dereference p->q));"),
            ("a, b += 1;", "(a, (b Add= 1));"),
            (
                "a and not b or c;",
                "((a LogicalAnd (LogicalNot b)) LogicalOr c);",
            ),
            ("(a + b) * c;", "((a Add b) Multiply c);"),
            (
                "sizeof(float4) + sizeof x;",
                "(sizeof(float4) Add sizeof_value(x));",
            ),
            ("a <= b >= c;", "((a LessEqual b) GreaterEqual c);"),
            ("\"a\" \"b\";", "\"ab\";"),
        ],
        body,
    );
}

#[test]
fn casts_are_told_from_parentheses() {
    check(
        &[
            ("(float)x;", "(C float <- x);"),
            ("(float)-x;", "(C float <- (Negate x));"),
            ("(x) - y;", "(x Subtract y);"),
            ("(x)(y);", "x(y);"),
            ("(unknown)y;", "(C unknown <- y);"),
            ("(unknown*)p;", "(C ptr(unknown) <- p);"),
            (
                "(device const float4*)p;",
                "(C ptr(device const float4) <- p);",
            ),
            (
                "(device float (*)[4])p;",
                "(C ptr(array(device float, 4)) <- p);",
            ),
            ("(unsigned long long)x;", "(C ulong <- x);"),
            ("(metal::uint2)x;", "(C metal::uint2 <- x);"),
            ("(vec<T, 4>)x;", "(C vec<=T, =4> <- x);"),
            ("float(x) * 2;", "(new float(x) Multiply 2);"),
            ("unsigned(x);", "new uint(x);"),
            ("float2{1, 2}.x;", "new{} float2(1, 2).x;"),
            ("(float2)(1.0);", "(C float2 <- 1.0);"),
            ("int T = 1; (T) - 1;", "var T: int = 1; (T Subtract 1);"),
            (
                "static_cast<vec<half, 2>>(x);",
                "(Static vec<half, =2> <- x);",
            ),
            (
                "reinterpret_cast<device uint*>(p);",
                "(Reinterpret ptr(device uint) <- p);",
            ),
            ("as_type<float>(1u);", "as_type<float>(1u);"),
        ],
        body,
    );
}

#[test]
fn declarations_are_told_from_expressions() {
    check(
        &[
            ("Foo x;", "var x: Foo;"),
            ("Foo* x;", "var x: ptr(Foo);"),
            ("Foo & x = y;", "var x: ref(Foo) = y;"),
            ("int a; a * b;", "var a: int; (a Multiply b);"),
            ("float4 * p;", "var p: ptr(float4);"),
            (
                "int a, *b = &a, c[2][3];",
                "var a: int, var b: ptr(int) = (AddressOf a), var c: array(array(int, 3), 2);",
            ),
            ("float (*p)[4] = q;", "var p: ptr(array(float, 4)) = q;"),
            ("float (&r)[4] = q;", "var r: ref(array(float, 4)) = q;"),
            (
                "void (*g)(int, float*) = h;",
                "var g: ptr(fn(int, ptr(float)) -> void) = h;",
            ),
            ("float4 v(1, 2);", "var v: float4 = new float4(1, 2);"),
            ("float4 v{1, 2};", "var v: float4 = {1, 2};"),
            ("ns::Foo<3> x;", "var x: ns::Foo<=3>;"),
            (
                "threadgroup float s[32];",
                "var s: array(threadgroup float, 32);",
            ),
            ("constexpr short N = 4;", "constexpr var N: short = 4;"),
            (
                "device float* const p = q;",
                "var p: const ptr(device float) = q;",
            ),
            (
                "device float* device* p = q;",
                "var p: ptr(device ptr(device float)) = q;",
            ),
            ("const auto& x = y;", "var x: ref(const auto) = y;"),
            (
                "long int x; short unsigned y; signed char z;",
                "var x: long; var y: ushort; var z: char;",
            ),
            ("decltype(a + b) x = a;", "var x: decltype((a Add b)) = a;"),
            ("typename T::type x;", "var x: T::type;"),
            (
                "array<float, 2> array = {1, 2}; array[0] < 1;",
                "var array: array<float, =2> = {1, 2}; (array[0] Less 1);",
            ),
            (
                "struct P { int x; } p = {1};",
                "struct P { var x: int; } var p: P = {1};",
            ),
            ("using V = float2; V v;", "type V = float2; var v: V;"),
            (
                "float S[4] = { [0 ... 3] = 1.0f };",
                "var S: array(float, 4) = {[0..3]=1.0};",
            ),
            ("P p = {.x = 1, .y = {2}};", "var p: P = {.x=1, .y={2}};"),
            (
                "metal::float2 v; ::metal::uint u;",
                "var v: metal::float2; var u: metal::uint;",
            ),
            ("decltype(a)::type x;", "var x: decltype<=a>::type;"),
        ],
        body,
    );
}

#[test]
fn template_arguments_are_told_from_comparisons() {
    check(
        &[
            ("int a, b; a < b;", "var a: int, var b: int; (a Less b);"),
            (
                "int a, b, c; a < b > (c);",
                "var a: int, var b: int, var c: int; ((a Less b) Greater c);",
            ),
            ("vec<vec<float, 2>, 3>();", "new vec<vec<float, =2>, =3>();"),
            ("g<4>(x);", "g<=4>(x);"),
            ("g<T, (N > 2)>(x);", "g<=T, =(N Greater 2)>(x);"),
            (
                "x < n && y > (z);",
                "((x Less n) LogicalAnd (y Greater z));",
            ),
            (
                "for (int i = 0; i < n; i++) ;",
                "for (var i: int = 0; (i Less n); (PostIncrement i)) ;",
            ),
            (
                "numeric_limits<float>::max();",
                "numeric_limits<float>::max();",
            ),
            ("T::template g<2>(x);", "T::g<=2>(x);"),
            ("p->template g<float>(x);", "p->g<float>(x);"),
            (
                "x.a < 3 && x.b > (4);",
                "((x.a Less 3) LogicalAnd (x.b Greater 4));",
            ),
            ("is_same<T, float>::value;", "is_same<=T, float>::value;"),
            ("typename X<T>::type(1);", "new X<=T>::type(1);"),
            (
                "array<uint, 1 << 2> a;",
                "var a: array<uint, =(1 ShiftLeft 2)>;",
            ),
            ("decltype(a)::size < 3;", "(decltype<=a>::size Less 3);"),
        ],
        body,
    );
}

#[test]
fn statements() {
    check(
        &[
            (
                "if (a) b; else if (c) d; else { e; }",
                "if a b; else if c d; else { e; }",
            ),
            (
                "if constexpr (N > 1) return;",
                "if constexpr (N Greater 1) return;",
            ),
            ("if (int x = f()) x;", "{ var x: int = f(); if x x; }"),
            (
                "for (;;) { break; continue; }",
                "for (; ; ) { break; continue; }",
            ),
            (
                "for (uint i = 0, n = 2; i < n; i += 2, --n) ;",
                "for (var i: uint = 0, var n: uint = 2; (i Less n); ((i Add= 2), (PreDecrement n))) ;",
            ),
            ("for (auto x : xs) x;", "for (var x: auto in xs) x;"),
            ("while (true) ;", "while true ;"),
            (
                "do x++; while (x < 3);",
                "do (PostIncrement x); while (x Less 3);",
            ),
            (
                "switch (x) { case 1: case 2: a; break; default: b; }",
                "switch x { [1, 2]: a; break; [default]: b; }",
            ),
            (
                "switch (x) { case A::B: { a; } case (c ? 1 : 2): ; }",
                "switch x { [A::B]: { a; } [(c ? 1 : 2)]: ; }",
            ),
            ("if (a) [[likely]] { b; }", "if a { b; }"),
            ("return {1, 2};", "return {1, 2};"),
            (
                "static_assert(sizeof(int) == 4, \"size\");",
                "static_assert (sizeof(int) Equal 4), \"size\";",
            ),
            (
                "auto f = [&, x](int a) -> float { return a; };",
                "var f: auto = lambda[&x](a: int) -> float { return a; };",
            ),
            (
                "enum E { A, B = 2 }; E e = A;",
                "enum E { A, B = 2 } var e: E = A;",
            ),
            ("_Pragma(\"unroll\") for (;;) ;", "for (; ; ) ;"),
        ],
        body,
    );
}

#[test]
fn kernels_and_functions() {
    check(
        &[
            (
                "kernel void k(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = 1; }",
                "kernel fn k(x: ptr(device float) [[buffer(0)]], i: uint [[thread_position_in_grid]]) -> void { (x[i] = 1); }",
            ),
            (
                "[[kernel]] [[max_total_threads_per_threadgroup(256)]] void k();",
                "kernel fn k() -> void [[max_total_threads_per_threadgroup(256)]];",
            ),
            (
                "[[host_name(\"a\")]] kernel void k() [[noinline]] {}",
                "kernel fn k() -> void [[host_name(\"a\")]] [[noinline]] {  }",
            ),
            (
                "static inline float f(float x, float = 2) { return x; }",
                "static fn f(x: float, _: float = 2) -> float { return x; }",
            ),
            (
                "__attribute__((always_inline, const)) int f(void);",
                "fn f() -> int [[always_inline]] [[const]];",
            ),
            (
                "METAL_FUNC float f(thread float (&a)[4], threadgroup const half* __restrict b);",
                "fn f(a: ref(array(thread float, 4)), b: ptr(threadgroup const half)) -> float;",
            ),
            ("auto f(int x) -> float;", "fn f(x: int) -> float;"),
            (
                "void f(float g(int), void (*h)(float));",
                "fn f(g: fn(int) -> float, h: ptr(fn(float) -> void)) -> void;",
            ),
            (
                "constant float table[] = {1, 2,};",
                "var table: array(constant float) = {1, 2};",
            ),
            (
                "constant bool flag [[function_constant(0)]];",
                "var flag: constant bool [[function_constant(0)]];",
            ),
            (
                "constant constexpr int N = 3, M = 4;",
                "constexpr var N: constant int = 3;\nconstexpr var M: constant int = 4;",
            ),
            ("extern \"C\" { void f(); }", "fn f() -> void;"),
            (
                "device float* f(int);",
                "fn f(_: int) -> ptr(device float);",
            ),
            (
                "void (*f(int))(float);",
                "fn f(_: int) -> ptr(fn(float) -> void);",
            ),
            (
                "kernel void f(array<texture2d<float, access::read>, 2> t [[texture(0)]]);",
                "kernel fn f(t: array<texture2d<float, =access::read>, =2> [[texture(0)]]) -> void;",
            ),
            (
                "float f() [[clang::noinline]] { return 1.h; }",
                "fn f() -> float [[clang::noinline]] { return 1.0h; }",
            ),
            (
                "alignas(16) constant int x = 1;",
                "var x: constant int [[alignas(16)]] = 1;",
            ),
        ],
        tree,
    );
}

#[test]
fn types() {
    check(
        &[
            (
                "struct S { float a, *b; uint c[2]; float4 d [[maybe_unused]]; };",
                "struct S { var a: float; var b: ptr(float); var c: array(uint, 2); var d: float4 [[maybe_unused]]; }",
            ),
            (
                "typedef struct { int x; } S; S s;",
                "struct S { var x: int; }\nvar s: S;",
            ),
            (
                "typedef struct T { int x; } S, *P;",
                "struct T { var x: int; }\ntype S = T;\ntype P = ptr(T);",
            ),
            ("typedef struct T { int x; } T;", "struct T { var x: int; }"),
            (
                "struct S { union { float f; uint u; }; int x : 1; };"
                    .replace(" int x : 1;", "")
                    .leak(),
                "struct S { union _ { var f: float; var u: uint; } }",
            ),
            (
                "struct __attribute__((packed)) S { int x; } __attribute__((aligned(4)));",
                "struct S [[packed]] [[aligned(4)]] { var x: int; }",
            ),
            (
                "struct S; struct S f(struct S s);",
                "struct S;\nfn f(s: S) -> S;",
            ),
            (
                "enum class E : uchar { A = 1 << 2, B, };",
                "enum class E: uchar { A = (1 ShiftLeft 2), B }",
            ),
            (
                "enum { A, B }; int x[B];",
                "enum _ { A, B }\nvar x: array(int, B);",
            ),
            (
                "class C : public B, private D<int> { public: C() = default; C(int a) : x(a), y{2} {} \
              private: int x; int y; };",
                "struct C : B, D<int> { fn C() = default fn C(a: int) : x(a), y(2) {  } var x: int; var y: int; }",
            ),
            (
                "struct S { S operator+(S o) const thread; float operator[](int i) const { return x; } \
              operator float() const { return x; } S& operator=(const S& o) = delete; \
              bool operator()(int a); S operator>>(int n); static constexpr int N = 3; float x; };",
                "struct S { fn operator+(o: S) const thread -> S; fn operator[](i: int) const -> float \
              { return x; } fn operator float() const -> float { return x; } \
              fn operator=(o: ref(const S)) -> ref(S) = delete fn operator()(a: int) -> bool; \
              fn operator>>(n: int) -> S; constexpr static var N: int = 3; var x: float; }",
            ),
            (
                "struct S { struct T { int a; }; T t; enum { X = 1 }; using U = T; }; S::T t; S::U u;",
                "struct S { struct T { var a: int; } var t: T; enum _ { X = 1 } type U = T; }\nvar t: S::T;\nvar u: S::U;",
            ),
            (
                "namespace a::b { struct S {}; } using namespace a; b::S s; using a::b::S; S t;",
                "namespace a { namespace b { struct S {  } } }\nusing namespace a;\nvar s: b::S;\nusing a::b::S;\nvar t: S;",
            ),
            (
                "namespace metal { struct S {}; } metal::S s; metal::vec<float, 4> v;",
                "namespace metal { struct S {  } }\nvar s: metal::S;\nvar v: metal::vec<float, =4>;",
            ),
            ("namespace { int x; }", "namespace _ { var x: int; }"),
            (
                "using F = float(int, half); using P = device float*;",
                "type F = fn(int, half) -> float;\ntype P = ptr(device float);",
            ),
            (
                "typedef float A[4][2];",
                "type A = array(array(float, 2), 4);",
            ),
        ],
        tree,
    );
}

#[test]
fn templates() {
    check(
        &[
            (
                "template <typename T, int N = 4, class U = float> T f(T x) { return vec<T, N>(x)[0]; }",
                "template<T, N: int = 4, U = float> fn f(x: T) -> T { return new vec<T, =N>(x)[0]; }",
            ),
            (
                "template <typename T> struct S { T x; S(T y) : x(y) {} template <typename U> U g(); }; \
              template <> struct S<half> { half x; }; S<float> s; S<vec<float, 2>> t;",
                "template<T> struct S { var x: T; fn S(y: T) : x(y) {  } template<U> fn g() -> U; }\n\
              template<> struct S<half> { var x: half; }\nvar s: S<float>;\nvar t: S<vec<float, =2>>;",
            ),
            (
                "template <typename T> void f(T); template <> void f<float>(float x) {}",
                "template<T> fn f(_: T) -> void;\ntemplate<> fn f<float>(x: float) -> void {  }",
            ),
            (
                "template <typename T> kernel void k(device T* x); \
              template [[host_name(\"k_f\")]] kernel void k<float>(device float* x [[buffer(0)]]); \
              template [[host_name(\"k_h\")]] [[kernel]] decltype(k<half>) k<half>; \
              typedef decltype(k<float>) k_t; template [[host_name(\"k\")]] kernel k_t k<float>;",
                "template<T> kernel fn k(x: ptr(device T)) -> void;\n\
              instantiate kernel fn k<float>(x: ptr(device float) [[buffer(0)]]) -> void [[host_name(\"k_f\")]];\n\
              instantiate kernel fn k<half>() -> decltype(k<half>) [[host_name(\"k_h\")]];\n\
              type k_t = decltype(k<float>);\n\
              instantiate kernel fn k<float>() -> k_t [[host_name(\"k\")]];",
            ),
            (
                "template <typename T> constexpr constant T zero = T(0); \
              template <> constexpr constant int zero<int> = 1; auto x = zero<float>;",
                "template<T> constexpr var zero: constant T = new T(0);\n\
              template<> constexpr var zero<int>: constant int = 1;\nvar x: auto = zero<float>;",
            ),
            (
                "template <typename T> using V = vec<T, 4>; V<float> v;",
                "template<T> type V = vec<T, =4>;\nvar v: V<float>;",
            ),
            (
                "template <void (*f)(device float*, int), typename... A> void g(A... a) { h(a...); sizeof...(A); }",
                "template<f: ptr(fn(ptr(device float), int) -> void), ...A> fn g(...a: A) -> void { h(a...); sizeof...(A); }",
            ),
            (
                "template <typename T, typename = enable_if_t<is_floating_point_v<T>>> T f(T x);",
                "template<T, _ = enable_if_t<=is_floating_point_v<T>>> fn f(x: T) -> T;",
            ),
            (
                "template <typename T, enable_if_t<sizeof(T) == 4, bool> = true> T f(T x);",
                "template<T, _: enable_if_t<=(sizeof(T) Equal 4), bool> = true> fn f(x: T) -> T;",
            ),
            (
                "template <template <typename> class C, typename T> void f(C<T> c);",
                "template<C: template<_> , T> fn f(c: C<T>) -> void;",
            ),
            (
                "template <typename T> struct S { void f(); static int n; }; \
              template <typename T> void S<T>::f() {} template <typename T> int S<T>::n = 1;",
                "template<T> struct S { fn f() -> void; static var n: int; }\n\
              template<T> fn S<T>::f() -> void {  }\ntemplate<T> var S<T>::n: int = 1;",
            ),
            (
                "struct S { template <int N> int g(); }; int f(S s) { return s.g<2>() < 3; }",
                "struct S { template<N: int> fn g() -> int; }\nfn f(s: S) -> int { return (s.g<=2>() Less 3); }",
            ),
            (
                "template <typename T> struct S { S<T>() = default; using U = S<T>; };",
                "template<T> struct S { fn S<=T>() = default type U = S<T>; }"
                    .replace("S<=T>()", "S()")
                    .leak(),
            ),
        ],
        tree,
    );
}
