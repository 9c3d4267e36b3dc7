//! Templates and classes, compiled and run, against results worked out in Rust.

#![allow(clippy::unwrap_used)]

mod support;

use support::{bytes, run};

/// Runs kernel `k` over `n` threads on the numbers 0, 1, ... and returns its output.
fn floats(source: &str, n: usize) -> Vec<f32> {
    let mut input: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let mut output = vec![f32::NAN; n];
    let grid = [n as u64, 1, 1];
    run(
        source,
        &mut [bytes(&mut input)],
        &mut output,
        grid,
        [32, 1, 1],
    )
    .unwrap();
    output
}

/// The same of a kernel without inputs, over integers.
fn integers(source: &str, n: usize) -> Vec<i32> {
    let mut output = vec![i32::MIN; n];
    run(source, &mut [], &mut output, [n as u64, 1, 1], [32, 1, 1]).unwrap();
    output
}

#[test]
fn a_kernel_template_is_instantiated_under_a_host_name() {
    let source = "
        template <typename T, int N>
        kernel void scale(device T* out [[buffer(0)]], device const T* x [[buffer(1)]],
                          uint i [[thread_position_in_grid]]) {
            T sum = T(0);
            for (int j = 0; j < N; j++) { sum += x[i]; }
            out[i] = sum;
        }
        template [[host_name(\"k\")]] kernel void scale<float, 3>(
            device float*, device const float*, uint);
        template [[host_name(\"other\")]] kernel void scale<half, 2>(
            device half*, device const half*, uint);";
    assert_eq!(floats(source, 40)[..4], [0.0, 3.0, 6.0, 9.0]);
    let text = format!("#include <metal_stdlib>\nusing namespace metal;\n{source}");
    let compilation = msl::compile("t.metal", &text, &Default::default()).unwrap();
    let names: Vec<_> = compilation
        .module
        .kernels
        .iter()
        .map(|k| &*k.name)
        .collect();
    assert_eq!(names, ["k", "other"]);
}

#[test]
fn arguments_are_deduced_and_the_best_overload_is_taken() {
    let source = "
        template <typename T> T twice(T x) { return x + x; }
        template <typename T> int kind(T) { return 1; }
        template <typename T> int kind(device const T*) { return 2; }
        int kind(float) { return 3; }
        template <typename T, int N> int length(thread T (&items)[N]) { return N; }
        template <typename R, typename T> R to(T x) { return R(x); }
        kernel void k(device float* out, device const float* x, uint i [[thread_position_in_grid]]) {
            int a[5] = {};
            switch (i) {
            case 0: out[i] = twice(1.5f); break;
            case 1: out[i] = twice(int(3)); break;
            case 2: out[i] = kind(7u); break;
            case 3: out[i] = kind(x); break;
            case 4: out[i] = kind(1.0f); break;
            case 5: out[i] = length(a); break;
            default: out[i] = to<int>(7.9f);
            }
        }";
    assert_eq!(floats(source, 7), [3.0, 6.0, 1.0, 2.0, 3.0, 5.0, 7.0]);
}

#[test]
fn if_constexpr_traits_and_static_assert_decide_at_compile_time() {
    let source = "
        template <typename T> struct name { static constant constexpr int value = 0; };
        template <> struct name<float> { static constant constexpr int value = 32; };
        template <> struct name<half> { static constant constexpr int value = 16; };
        template <typename T> int choose(T x) {
            if constexpr (is_same<T, float>::value) { return 1; }
            else if constexpr (is_integral<T>::value && is_signed<T>::value) { return 2; }
            else { return x.nonexistent_for_numbers; }
        }
        template <typename T, typename U> constexpr bool same() { return is_same_v<T, U>; }
        static_assert(same<int, int32_t>() && !same<int, uint>(), \"types\");
        static_assert(sizeof(float3) == 16 && sizeof(packed_float3) == 12, \"layout\");
        kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
            int values[] = {choose(1.0f), choose(1), name<float>::value, name<half>::value,
                            name<int>::value, numeric_limits<int>::max() == 2147483647,
                            isinf(numeric_limits<float>::infinity())};
            out[i] = values[i];
        }";
    assert_eq!(integers(source, 7), [1, 2, 32, 16, 0, 1, 1]);
}

#[test]
fn classes_have_members_constructors_and_operators() {
    let source = "
        template <typename T, int N>
        struct Vec {
            T items[N];
            static constant constexpr int count = N;
            Vec() thread { for (int i = 0; i < N; i++) items[i] = T(0); }
            explicit Vec(T x) thread { for (int i = 0; i < N; i++) items[i] = x; }
            thread T& operator[](int i) thread { return items[i]; }
            T operator[](int i) const thread { return items[i]; }
            Vec operator+(Vec other) const thread {
                Vec sum;
                for (int i = 0; i < N; i++) sum[i] = items[i] + other[i];
                return sum;
            }
            T total() const thread { T t = T(0); for (int i = 0; i < N; i++) t += items[i]; return t; }
        };
        struct Max { int operator()(int a, int b) const thread { return a > b ? a : b; } };
        template <typename Op> int fold(Op op, int n) {
            int value = 0;
            for (int i = 0; i < n; i++) { value = op(value, (i * 7) % 5); }
            return value;
        }
        kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
            Vec<int, 4> a(int(i)), b;
            b[1] = 10;
            Vec<int, 4> c = a + b;
            out[i] = c.total() * 100 + Vec<int, 4>::count * 10 + fold(Max(), int(i) + 1);
        }";
    for (i, value) in integers(source, 9).into_iter().enumerate() {
        let i = i as i32;
        let best = (0..=i).map(|j| (j * 7) % 5).max().unwrap();
        assert_eq!(value, (4 * i + 10) * 100 + 40 + best);
    }
}

#[test]
fn packs_aliases_and_default_arguments() {
    let source = "
        int sum() { return 0; }
        template <typename T, typename... Rest> int sum(T first, Rest... rest) {
            return int(first) + sum(rest...);
        }
        template <typename... Ts> constexpr int count() { return sizeof...(Ts); }
        template <typename T> using pair = vec<T, 2>;
        template <typename T, typename Accumulator = float> Accumulator halve(T x) {
            return Accumulator(x) / 2;
        }
        kernel void k(device float* out, device const float* x, uint i [[thread_position_in_grid]]) {
            pair<float> p(x[i], 1.0f);
            out[i] = sum(1, 2.5f, 3u, short(4)) + count<int, float, half>() * 100
                   + p.x * 1000 + p.y * 10000 + halve(1) + halve<int, int>(3);
        }";
    // 1 + 2 + 3 + 4, 3, the pair, a half and 3 / 2 in integers.
    let expected = |i: f32| 10.0 + 300.0 + 1000.0 * i + 10000.0 + 0.5 + 1.0;
    assert_eq!(
        floats(source, 3),
        [expected(0.0), expected(1.0), expected(2.0)]
    );
}

#[test]
fn functions_are_template_arguments() {
    let source = "
        float square(float x) { return x * x; }
        float negate(float x) { return -x; }
        template <float (*F)(float)> float apply(float x) { return F(x); }
        kernel void k(device float* out, device const float* x, uint i [[thread_position_in_grid]]) {
            out[i] = apply<square>(x[i]) + apply<negate>(1.0f);
        }";
    assert_eq!(floats(source, 4), [-1.0, 0.0, 3.0, 8.0]);
}
