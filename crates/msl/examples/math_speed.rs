//! Times the maths library over slices, beside the standard library's scalar functions.
//!
//! `cargo run --release -p msl --example math_speed`

#![cfg_attr(not(target_arch = "x86_64"), allow(unused))]

use std::f32::consts::PI;
use std::hint::black_box;
use std::time::Instant;

use msl::math::{self, Integer};

const LENGTH: usize = 4096;

/// The best time for one element, in nanoseconds.
fn time(mut run: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..30 {
        let start = Instant::now();
        for _ in 0..4 {
            run();
        }
        best = best.min(start.elapsed().as_secs_f64() / (4 * LENGTH) as f64);
    }
    best * 1e9
}

/// A loop over slices, compiled for one set of instructions.
macro_rules! instructions {
    ($name:ident, $features:literal, $detected:expr) => {
        #[cfg(target_arch = "x86_64")]
        fn $name<A: Copy, R>(f: impl Fn(A, A) -> R, x: &[A], y: &[A], out: &mut [R]) {
            #[target_feature(enable = $features)]
            fn inner<A: Copy, R>(f: impl Fn(A, A) -> R, x: &[A], y: &[A], out: &mut [R]) {
                for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
                    *out = f(x, y);
                }
            }
            assert!($detected);
            // SAFETY: the features were found just now.
            unsafe { inner(f, x, y, out) }
        }
    };
}
instructions!(
    avx2,
    "avx2,fma",
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
);
instructions!(
    avx512,
    "avx512f,avx512bw,avx512dq,avx512vl,fma",
    is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("fma")
);

#[cfg(not(target_arch = "x86_64"))]
fn main() {
    println!("compares instruction sets of x86-64 only");
}

/// Prints what a function costs with AVX-512 and AVX2, and what `scalar` costs one by one. The
/// function comes as two closures: one that is called twice might be too large to be inlined.
#[cfg(target_arch = "x86_64")]
fn compare<A: Copy, R: Copy + Default, S>(
    name: &str,
    wide: impl Fn(A, A) -> R,
    narrow: impl Fn(A, A) -> R,
    scalar: impl Fn(A, A) -> S,
    x: &[A],
    y: &[A],
) {
    let mut out = vec![R::default(); LENGTH];
    let wide = time(|| avx512(&wide, black_box(x), black_box(y), black_box(&mut out)));
    let narrow = time(|| avx2(&narrow, black_box(x), black_box(y), black_box(&mut out)));
    let single = time(|| {
        for (&x, &y) in black_box(x).iter().zip(black_box(y)) {
            black_box(scalar(x, y));
        }
    });
    println!("{name:16} {wide:8.3} {narrow:8.3} {single:8.3}");
}

#[cfg(target_arch = "x86_64")]
fn main() {
    println!(
        "{:16} {:>8} {:>8} {:>8}",
        "ns/element", "AVX-512", "AVX2", "std"
    );
    let between = |low: f32, high: f32| -> Vec<f32> {
        let scrambled = (0..LENGTH).map(|i| (i * 1597 % LENGTH) as f32 / LENGTH as f32);
        scrambled.map(|part| low + (high - low) * part).collect()
    };
    let signed = between(-10.0, 10.0);
    let positive = between(0.001, 10.0);
    let unit = between(-1.0, 1.0);
    let above = between(1.0, 10.0);

    macro_rules! unary {
        ($($name:literal, $f:expr, $std:expr, $x:expr;)*) => { $(
            compare($name, |x, _| $f(x), |x, _| $f(x), |x, _| $std(x), &$x, &$x);
        )* };
    }
    macro_rules! binary {
        ($($name:literal, $f:expr, $std:expr, $x:expr, $y:expr;)*) => { $(
            compare($name, |x, y| $f(x, y), |x, y| $f(x, y), $std, &$x, &$y);
        )* };
    }
    unary! {
        "exp", math::exp, f32::exp, signed;
        "exp2", math::exp2, f32::exp2, signed;
        "exp10", math::exp10, |x: f32| 10_f32.powf(x), signed;
        "expm1", math::expm1, f32::exp_m1, signed;
        "log", math::log, f32::ln, positive;
        "log2", math::log2, f32::log2, positive;
        "log10", math::log10, f32::log10, positive;
        "log1p", math::log1p, f32::ln_1p, positive;
        "sqrt", math::sqrt, f32::sqrt, positive;
        "rsqrt", math::rsqrt, |x: f32| 1.0 / x.sqrt(), positive;
        "cbrt", math::cbrt, f32::cbrt, signed;
        "sin", math::sin, f32::sin, signed;
        "cos", math::cos, f32::cos, signed;
        "sincos", math::sincos, f32::sin_cos, signed;
        "tan", math::tan, f32::tan, signed;
        "sin_near", math::sin_near, f32::sin, signed;
        "cos_near", math::cos_near, f32::cos, signed;
        "tan_near", math::tan_near, f32::tan, signed;
        "sinpi", math::sinpi, |x: f32| (x * PI).sin(), signed;
        "cospi", math::cospi, |x: f32| (x * PI).cos(), signed;
        "tanpi", math::tanpi, |x: f32| (x * PI).tan(), signed;
        "asin", math::asin, f32::asin, unit;
        "acos", math::acos, f32::acos, unit;
        "atan", math::atan, f32::atan, signed;
        "sinh", math::sinh, f32::sinh, signed;
        "cosh", math::cosh, f32::cosh, signed;
        "tanh", math::tanh, f32::tanh, signed;
        "asinh", math::asinh, f32::asinh, signed;
        "acosh", math::acosh, f32::acosh, above;
        "atanh", math::atanh, f32::atanh, unit;
        "erf", math::erf, libm::erff, signed;
        "erfc", math::erfc, libm::erfcf, signed;
        "floor", math::floor, f32::floor, signed;
        "round", math::round, f32::round, signed;
        "rint", math::rint, f32::round_ties_even, signed;
        "modf", math::modf, |x: f32| (x.fract(), x.trunc()), signed;
        "fract", math::fract, f32::fract, signed;
        "sign", math::sign, f32::signum, signed;
        "frexp", math::frexp, libm::frexpf, signed;
        "ilogb", math::ilogb, libm::ilogbf, signed;
        "logb", math::logb, |x| libm::ilogbf(x) as f32, signed;
        "to_i8", math::to_i8, |x| x as i8, signed;
        "to_u8", math::to_u8, |x| x as u8, signed;
        "to_i32", math::to_i32, |x| x as i32, signed;
        "to_u32", math::to_u32, |x| x as u32, signed;
        "to_i64", math::to_i64, |x| x as i64, signed;
        "to_u64", math::to_u64, |x| x as u64, signed;
        "f32_to_f16", math::f32_to_f16, half::f16::from_f32, signed;
        "f32_to_bf16", math::f32_to_bf16, half::bf16::from_f32, signed;
        "round_to_f16", math::round_to_f16, |x| half::f16::from_f32(x).to_f32(), signed;
        "round_to_bf16", math::round_to_bf16, |x| half::bf16::from_f32(x).to_f32(), signed;
    }
    let halves: Vec<u32> = signed.iter().map(|&x| math::f32_to_f16(x)).collect();
    unary! {
        "f16_to_f32", math::f16_to_f32, |x| half::f16::from_bits(x as u16).to_f32(), halves;
    }
    binary! {
        "pow", math::pow, f32::powf, positive, signed;
        "powr", math::powr, f32::powf, positive, signed;
        "atan2", math::atan2, f32::atan2, positive, signed;
        "fmin", math::fmin, f32::min, positive, signed;
        "fmod", math::fmod, |x: f32, y: f32| x % y, positive, signed;
        "nextafter", math::nextafter, libm::nextafterf, positive, signed;
        "ldexp",
            |x, n: f32| math::ldexp(x, n.to_bits() as i32 >> 20),
            |x, n: f32| libm::ldexpf(x, n.to_bits() as i32 >> 20), positive, signed;
    }
    let n: Vec<i32> = (0..LENGTH as i32)
        .map(|i| i.wrapping_mul(0x9e37_79b9_u32 as i32))
        .collect();
    let d: Vec<i32> = (0..LENGTH as i32).map(|i| i * 7 - 5000).collect();
    let un: Vec<u32> = n.iter().map(|&x| x as u32).collect();
    let ud: Vec<u32> = d.iter().map(|&x| x as u32 >> 12).collect();
    binary! {
        "i32 divide", i32::divide, |n: i32, d| n.checked_div(d).unwrap_or(0), n, d;
        "i32 remainder", i32::remainder, |n: i32, d| n.checked_rem(d).unwrap_or(0), n, d;
        "u32 divide", u32::divide, |n: u32, d| n.checked_div(d).unwrap_or(0), un, ud;
        "u32 remainder", u32::remainder, |n: u32, d| n.checked_rem(d).unwrap_or(0), un, ud;
        "i32 mulhi", i32::mulhi, |n, d| (i64::from(n) * i64::from(d)) >> 32, n, d;
        "i32 rotate", i32::rotate, |n: i32, d| n.rotate_left(d as u32 & 31), n, d;
        "i32 rhadd", i32::rhadd, |n: i32, d: i32| (n | d) - ((n ^ d) >> 1), n, d;
        "i32 addsat", i32::addsat, i32::saturating_add, n, d;
    }
    unary! {
        "i32 clz", i32::clz, i32::leading_zeros, n;
        "i32 popcount", i32::popcount, i32::count_ones, n;
        "i32 reverse_bits", <i32 as Integer>::reverse_bits, i32::reverse_bits, n;
    }
}
