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

#[test]
fn bfloat_is_a_number_like_others() {
    let source = "
        template <typename T> T grow(T x) { T one = 1; return x > 0 ? x + one : T(exp(x) - 1); }
        kernel void k(device float* out, device const float* x, uint i [[thread_position_in_grid]]) {
            bfloat b = bfloat(x[i]);
            int whole = b;
            out[i] = float(grow(b)) * 100 + whole + (b ? 1000 : 0) + max(float(b), 2.0f) * 10000;
        }";
    let expected = |i: f32| {
        let grown = if i > 0.0 { i + 1.0 } else { 0.0 };
        grown * 100.0 + i + if i == 0.0 { 0.0 } else { 1000.0 } + i.max(2.0) * 10000.0
    };
    let expected: Vec<f32> = (0..5).map(|i| expected(i as f32)).collect();
    assert_eq!(floats(source, 5), expected);
}

#[test]
fn a_specialisation_is_taken_only_where_its_condition_holds() {
    let source = "
        template <typename T> struct pair { T a; T b; };
        template <typename T> struct is_pair { static constant constexpr bool value = false; };
        template <typename T> struct is_pair<pair<T>> { static constant constexpr bool value = true; };
        template <typename T> constexpr constant bool single = !is_pair<T>::value;
        template <typename T, typename = void> struct name;
        template <typename T> struct name<T, enable_if_t<single<T>>> {
            static constant constexpr int value = 1;
        };
        template <typename T> struct name<T, enable_if_t<is_pair<T>::value>> {
            static constant constexpr int value = 2;
        };
        // The default argument is left out.
        template <> struct name<short> { static constant constexpr int value = 3; };
        kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
            int values[] = {name<int>::value, name<pair<int>>::value, name<short>::value};
            out[i] = values[i];
        }";
    assert_eq!(integers(source, 3), [1, 2, 3]);
}

#[test]
fn constants_are_types_too() {
    let source = "
        template <int N> using Int = integral_constant<int, N>;
        template <typename T, T a, typename U, U b>
        constexpr auto operator+(integral_constant<T, a>, integral_constant<U, b>) {
            constexpr auto sum = a + b;
            return integral_constant<decltype(sum), sum>{};
        }
        struct yes : true_type {};
        template <typename Stride> int step(int i, Stride s) { return i * s.value; }
        kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
            Int<4> four;
            auto seven = four + Int<3>{};
            int values[] = {four, decltype(seven)::value, step(5, Int<6>{}), yes::value};
            out[i] = values[i];
        }";
    assert_eq!(integers(source, 4), [4, 7, 30, 1]);
}

#[test]
fn deduction_sees_through_aliases_and_takes_what_converts() {
    let source = "
        template <int N> struct Fragment {
            static constant constexpr int count = N;
            template <typename U> using items = vec<U, count>;
            template <typename U> static U first(thread items<U>& x, thread float3& scale) {
                return x[0] * U(scale.y);
            }
        };
        template <typename T> T shift(device const T* p, int by, threadgroup float* spare) {
            return spare ? spare[0] : p[by];
        }
        kernel void k(device float* out, device const float* x, uint i [[thread_position_in_grid]]) {
            float3 scale = float3(1, 10, 100);
            vec<float, 2> v = float2(x[i], 7);
            out[i] = Fragment<2>::first(v, scale) + shift(x, 3u, nullptr) * 1000;
        }";
    assert_eq!(floats(source, 4), [3000.0, 3010.0, 3020.0, 3030.0]);
}

#[test]
fn types_of_functions_name_template_parameters_and_instances() {
    let source = "
        typedef int (binary)(int, int);
        int add(int a, int b) { return a + b; }
        template <typename T> T times(T a, T b) { return a * b; }
        float times(float a) { return a; }
        template <binary f> int apply(int a, int b) { return f(a, b); }
        typedef decltype(apply<add>) apply_t;
        template <apply_t f> int twice(int a) { return f(f(a, a), a); }
        typedef void (fill_t)(device int*, uint);
        template <int N>
        kernel void fill(device int* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
            out[i] = N + twice<apply<add>>(int(i)) + 100 * apply<times>(int(i), 3);
        }
        template [[host_name(\"k\")]] kernel fill_t fill<10000>;";
    assert_eq!(integers(source, 4), [10000, 10303, 10606, 10909]);
}

#[test]
fn members_refer_to_what_is_elsewhere() {
    let source = "
        struct Axis { constant int& size; device int* data; const int step;
                      int operator()(int i) const { return i * size + step; } };
        struct Counter { thread int& n; Counter(thread int& x) : n(x) {} void tick() { n += 2; } };
        kernel void k(device int* out, constant int* sizes [[buffer(1)]],
                      uint i [[thread_position_in_grid]]) {
            Axis axis = {sizes[1], out, 3};
            int n = 0;
            Counter counter(n);
            for (uint j = 0; j <= i; j++) counter.tick();
            axis.data[i] = axis(int(i)) * 100 + n;
        }";
    let mut sizes = [5i32, 7, 11];
    let mut output = [0i32; 4];
    run(
        source,
        &mut [bytes(&mut sizes)],
        &mut output,
        [4, 1, 1],
        [32, 1, 1],
    )
    .unwrap();
    let expected = |i: i32| (i * 7 + 3) * 100 + 2 * (i + 1);
    assert_eq!(output, [0, 1, 2, 3].map(expected));
}

#[test]
fn an_aggregate_may_say_that_its_constructor_is_the_default() {
    let source = "
        struct Total {
            float m; float d;
            constexpr Total() = default;
            constexpr Total() threadgroup = default;
        };
        struct Either { int n; Either() thread = default; Either(int a, int b) : n(a * b) {} };
        Total start() { return {3, 4}; }
        kernel void k(device float* out, uint i [[thread_position_in_grid]]) {
            threadgroup Total shared[2];
            shared[0] = start();
            Total total = Total{shared[0].m, 2};
            Either none, some(5, 6);
            out[i] = total.m * 10 + total.d + some.n * 100;
        }";
    assert_eq!(floats(source, 1), [3032.0]);
}

#[test]
fn numeric_limits_know_own_types() {
    let source = "
        template <typename T> struct indexed { uint at; T value; };
        namespace metal {
        template <typename T> struct _numeric_limits_impl<indexed<T>> {
            static constexpr indexed<T> lowest() { return {7, numeric_limits<T>::lowest()}; }
        };
        }
        kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
            indexed<short> least = numeric_limits<indexed<short>>::lowest();
            int values[] = {int(least.at), least.value, numeric_limits<ushort>::max(),
                            numeric_limits<float>::digits,
                            numeric_limits<half>::infinity() > 65504.0h};
            out[i] = values[i];
        }";
    assert_eq!(integers(source, 5), [7, -32768, 65535, 24, 1]);
}

#[test]
fn arguments_depend_on_function_constants() {
    use msl::ir::Condition;
    let text = "
        constant bool has_bias [[function_constant(0)]];
        constant bool has_mask [[function_constant(1)]];
        constant bool plain = !(has_bias || has_mask);
        kernel void k(device float* x,
                      device const float* bias [[buffer(1), function_constant(has_bias)]],
                      constant float& scale [[buffer(2), function_constant(plain)]]) {
            x[0] = has_bias ? bias[0] : plain ? scale : 1;
        }";
    let module = msl::compile("t.metal", text, &Default::default())
        .unwrap()
        .module;
    let needs = |bias: bool, mask: bool| -> Vec<bool> {
        let is_true = |constant| match module.function_constants[constant].index {
            0 => bias,
            _ => mask,
        };
        let holds = |c: &Option<Condition>| c.as_ref().is_none_or(|c| c.holds(&is_true));
        let arguments = &module.kernels[0].arguments;
        arguments.iter().map(|a| holds(&a.condition)).collect()
    };
    assert_eq!(needs(true, false), [true, true, false]);
    assert_eq!(needs(false, false), [true, false, true]);
    assert_eq!(needs(false, true), [true, false, false]);
}

#[test]
fn one_kernel_template_many_types() {
    // Each instance against the same sum in Rust, wrapping as its type does.
    let source = |ty: &str| {
        format!(
            "template <typename T, int N> struct Window {{
                T items[N];
                static Window load(device const T* p) {{
                    Window w;
                    for (int i = 0; i < N; i++) w.items[i] = p[i];
                    return w;
                }}
                T sum() const {{ T s = 0; for (int i = 0; i < N; i++) s += items[i]; return s; }}
            }};
            template <typename T, int N>
            kernel void slide(device T* out, device const T* x, uint i [[thread_position_in_grid]]) {{
                out[i] = Window<T, N>::load(x + i).sum();
            }}
            #define instantiate(name, T, n) template [[host_name(name)]] [[kernel]] \\
                decltype(slide<T, n>) slide<T, n>;
            instantiate(\"k\", {ty}, 3) instantiate(\"other\", {ty}, 5)"
        )
    };
    macro_rules! check {
        ($name:literal, $T:ty, $add:expr) => {{
            let mut input: Vec<$T> = (0..66).map(|i| (i * 37 % 256) as $T).collect();
            let mut output = vec![<$T>::default(); 64];
            let expected: Vec<$T> = input
                .windows(3)
                .map(|w| w.iter().copied().reduce($add).unwrap())
                .collect();
            let inputs = &mut [bytes(&mut input)];
            run(&source($name), inputs, &mut output, [64, 1, 1], [32, 1, 1]).unwrap();
            assert_eq!(output, expected, $name);
        }};
    }
    check!("uchar", u8, u8::wrapping_add);
    check!("short", i16, i16::wrapping_add);
    check!("uint", u32, u32::wrapping_add);
    check!("long", i64, i64::wrapping_add);
    check!("float", f32, |a, b| a + b);
}
