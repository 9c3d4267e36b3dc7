//! Times the maths library over slices, beside the standard library's scalar functions.
//!
//! `cargo run --release -p msl --example math_speed`

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

/// Loops over slices, compiled for one set of instructions.
macro_rules! loops {
    ($module:ident, $features:literal) => {
        #[cfg(target_arch = "x86_64")]
        mod $module {
            #[target_feature(enable = $features)]
            pub fn map<A: Copy, R>(f: impl Fn(A) -> R, x: &[A], out: &mut [R]) {
                for (out, &x) in out.iter_mut().zip(x) {
                    *out = f(x);
                }
            }

            #[target_feature(enable = $features)]
            pub fn zip<A: Copy, R>(f: impl Fn(A, A) -> R, x: &[A], y: &[A], out: &mut [R]) {
                for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
                    *out = f(x, y);
                }
            }

            #[target_feature(enable = $features)]
            pub fn slice(f: impl Fn(&[f32], &mut [f32]), x: &[f32], out: &mut [f32]) {
                f(x, out);
            }
        }
    };
}
loops!(avx2, "avx2,fma");
loops!(avx512, "avx512f,avx512bw,avx512dq,avx512vl,fma");

#[cfg(not(target_arch = "x86_64"))]
fn main() {
    println!("compares instruction sets of x86-64 only");
}

#[cfg(target_arch = "x86_64")]
fn main() {
    if !is_x86_feature_detected!("avx512dq") {
        println!("needs AVX-512");
        return;
    }
    println!(
        "{:16} {:>8} {:>8} {:>8}",
        "ns/element", "AVX-512", "AVX2", "std"
    );
    let lerp = |low: f32, high: f32| -> Vec<f32> {
        (0..LENGTH)
            .map(|i| low + (high - low) * ((i * 1597 % LENGTH) as f32 / LENGTH as f32))
            .collect()
    };
    let signed = lerp(-10.0, 10.0);
    let positive = lerp(0.001, 10.0);
    let unit = lerp(-1.0, 1.0);
    let above = lerp(1.0, 10.0);

    // SAFETY: (all blocks in this macro) the features were detected above.
    macro_rules! unary {
        ($($name:literal, $f:expr, $std:expr, $x:expr;)*) => { $({
            let x = black_box(&$x[..]);
            let mut out: Vec<_> = x.iter().map(|&x| $f(x)).collect();
            let wide = time(|| { unsafe { avx512::map(|x| $f(x), x, &mut out) }; black_box(&mut out); });
            let narrow = time(|| { unsafe { avx2::map(|x| $f(x), x, &mut out) }; black_box(&mut out); });
            let scalar = time(|| { for (out, &x) in out.iter_mut().zip(x) { *out = black_box($std(x)); } black_box(&mut out); });
            println!("{:16} {wide:8.3} {narrow:8.3} {scalar:8.3}", $name);
        })* };
    }
    macro_rules! binary {
        ($($name:literal, $f:expr, $std:expr, $x:expr, $y:expr;)*) => { $({
            let (x, y) = (black_box(&$x[..]), black_box(&$y[..]));
            let mut out: Vec<_> = x.iter().zip(y).map(|(&x, &y)| $f(x, y)).collect();
            let wide = time(|| { unsafe { avx512::zip(|x, y| $f(x, y), x, y, &mut out) }; black_box(&mut out); });
            let narrow = time(|| { unsafe { avx2::zip(|x, y| $f(x, y), x, y, &mut out) }; black_box(&mut out); });
            let scalar = time(|| { for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) { *out = black_box($std(x, y)); } black_box(&mut out); });
            println!("{:16} {wide:8.3} {narrow:8.3} {scalar:8.3}", $name);
        })* };
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
        "sinpi", math::sinpi, |x: f32| (x * 3.14).sin(), signed;
        "cospi", math::cospi, |x: f32| (x * 3.14).cos(), signed;
        "tanpi", math::tanpi, |x: f32| (x * 3.14).tan(), signed;
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
        "f32_to_f16", math::f32_to_f16, |x| u32::from(half::f16::from_f32(x).to_bits()), signed;
        "f32_to_bf16", math::f32_to_bf16, |x| u32::from(half::bf16::from_f32(x).to_bits()), signed;
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
        "ldexp", |x, n: f32| math::ldexp(x, n.to_bits() as i32 >> 20), |x, n: f32| libm::ldexpf(x, n.to_bits() as i32 >> 20), positive, signed;
    }
    let n: Vec<i32> = (0..LENGTH as i32)
        .map(|i| i.wrapping_mul(0x9e37_79b9_u32 as i32))
        .collect();
    let d: Vec<i32> = (0..LENGTH as i32).map(|i| i * 7 - 5000).collect();
    let un: Vec<u32> = n.iter().map(|&x| x as u32).collect();
    let ud: Vec<u32> = d.iter().map(|&x| x as u32 >> 12).collect();
    binary! {
        "i32 divide", |n: i32, d| n.divide(d), |n: i32, d| n.checked_div(d).unwrap_or(0), n, d;
        "i32 remainder", |n: i32, d| n.remainder(d), |n: i32, d| n.checked_rem(d).unwrap_or(0), n, d;
        "u32 divide", |n: u32, d| n.divide(d), |n: u32, d| n.checked_div(d).unwrap_or(0), un, ud;
        "u32 remainder", |n: u32, d| n.remainder(d), |n: u32, d| n.checked_rem(d).unwrap_or(0), un, ud;
        "i32 mulhi", |n: i32, d| n.mulhi(d), |n: i32, d: i32| ((n as i64 * d as i64) >> 32) as i32, n, d;
        "i32 madsat", |n: i32, d| n.madsat(d, n), |n: i32, d| n.saturating_mul(d), n, d;
        "i32 clz", |n: i32, _| n.clz(), |n: i32, _| n.leading_zeros() as i32, n, d;
        "i32 reverse_bits", |n: i32, _| Integer::reverse_bits(n), |n: i32, _| n.reverse_bits(), n, d;
        "i32 extract_bits", |n: i32, d: i32| n.extract_bits(d as u32 & 15, 9), |n: i32, d| n >> (d & 15), n, d;
    }

    let mut out = vec![0.0; LENGTH];
    let wide = time(|| {
        unsafe { avx512::slice(|x, out| math::sin_slice(x, out), &signed, &mut out) };
        black_box(&mut out);
    });
    let narrow = time(|| {
        unsafe { avx2::slice(|x, out| math::sin_slice(x, out), &signed, &mut out) };
        black_box(&mut out);
    });
    println!("{:16} {wide:8.3} {narrow:8.3}", "sin_slice");
}
