//! Measures the maths library against `f64` references and asserts the documented bounds.
//!
//! The default tests take a stride through all bit patterns. All of them, in an hour or so:
//! `cargo test --release -p msl --test math_accuracy -- --ignored --nocapture`.

use std::f64::consts::PI;

use msl::math;
use rayon::prelude::*;

/// A function, its reference, and the largest documented error in ULP.
struct Case {
    name: &'static str,
    function: fn(f32) -> f32,
    exact: fn(f64) -> f64,
    bound: f64,
}

macro_rules! cases {
    ($($name:ident: $exact:expr, $bound:literal;)*) => {
        [$(Case { name: stringify!($name), function: math::$name, exact: $exact, bound: $bound }),*]
    };
}

fn cases() -> impl IntoIterator<Item = Case> {
    cases! {
        exp: f64::exp, 1.0;
        exp2: f64::exp2, 1.0;
        exp10: |x| 10_f64.powf(x), 0.51;
        expm1: f64::exp_m1, 0.51;
        log: f64::ln, 1.0;
        log2: f64::log2, 1.0;
        log10: f64::log10, 0.51;
        log1p: f64::ln_1p, 0.51;
        sqrt: f64::sqrt, 0.5;
        rsqrt: |x| 1.0 / x.sqrt(), 1.5;
        cbrt: f64::cbrt, 0.51;
        sin: f64::sin, 0.51;
        cos: f64::cos, 0.51;
        tan: f64::tan, 0.51;
        sinpi: |x| exact_sinpi(x), 0.51;
        cospi: |x| exact_cospi(x), 0.51;
        tanpi: |x| exact_sinpi(x) / exact_cospi(x), 0.51;
        asin: f64::asin, 0.51;
        acos: f64::acos, 0.51;
        atan: f64::atan, 0.51;
        sinh: f64::sinh, 0.51;
        cosh: f64::cosh, 0.51;
        tanh: f64::tanh, 1.5;
        asinh: libm::asinh, 0.51;
        acosh: |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) }, 0.51;
        atanh: libm::atanh, 0.51;
        erf: libm::erf, 1.5;
        erfc: libm::erfc, 0.51;
    }
}

/// Exact at multiples of 1/2, where zeros have the sign of `x`.
fn exact_sinpi(x: f64) -> f64 {
    let rest = x % 2.0;
    let whole = rest.round();
    let value = ((rest - whole) * PI).sin();
    if value == 0.0 {
        0_f64.copysign(x)
    } else {
        value * (1.0 - 2.0 * (whole.abs() % 2.0))
    }
}

fn exact_cospi(x: f64) -> f64 {
    let value = exact_sinpi(0.5 - x.abs() % 2.0);
    if value == 0.0 { 0.0 } else { value }
}

/// The error of `got` in units of the last place of `exact`.
fn ulps(got: f32, exact: f64) -> f64 {
    let rounded = exact as f32;
    if rounded.is_nan() || got.is_nan() {
        return if rounded.is_nan() && got.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    if got == rounded {
        // Infinities, and the bulk.
        if got.is_infinite() || exact == 0.0 {
            return 0.0;
        }
    } else if got.is_infinite() || rounded.is_infinite() {
        // An infinity stands for the power of two that it would be.
        let finite = |x: f32| {
            if x.is_infinite() {
                2_f64.powi(128).copysign(x.into())
            } else {
                x.into()
            }
        };
        return (finite(got) - exact.clamp(-2_f64.powi(128), 2_f64.powi(128))).abs()
            / 2_f64.powi(104);
    }
    let exponent = ((exact.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    (f64::from(got) - exact).abs() / 2_f64.powi(exponent.clamp(-126, 127) - 23)
}

/// The worst error over `count` arguments, and its argument.
fn worst(case: &Case, count: u64, argument: impl Fn(u64) -> f32 + Sync) -> (f64, f32) {
    const BLOCK: u64 = 1 << 16;
    (0..count.div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| {
            (block * BLOCK..count.min((block + 1) * BLOCK))
                .map(|i| {
                    let x = argument(i);
                    (ulps((case.function)(x), (case.exact)(x.into())), x)
                })
                .fold((0.0, 0.0), |a, b| if b.0 > a.0 { b } else { a })
        })
        .reduce(|| (0.0, 0.0), |a, b| if b.0 > a.0 { b } else { a })
}

fn check(sweeps: impl Fn(&Case) -> (f64, f32)) {
    let mut failed = Vec::new();
    for case in cases() {
        let (error, argument) = sweeps(&case);
        println!("{:8} {error:.4} ulp at {argument:e}", case.name);
        if error > case.bound {
            failed.push(case.name);
        }
    }
    assert!(failed.is_empty(), "beyond the documented error: {failed:?}");
}

#[test]
fn strided_bit_patterns() {
    const STRIDE: u64 = 4099;
    check(|case| {
        worst(case, (1 << 32) / STRIDE, |i| {
            f32::from_bits((i * STRIDE) as u32)
        })
    });
}

#[test]
fn dense_ranges() {
    // Arguments around one, of ordinary size, and where results leave the normal range.
    let ranges = [(-2.0, 2.0), (-12.0, 12.0), (-110.0, 110.0), (-160.0, 160.0)];
    check(|case| {
        ranges
            .map(|(low, high)| worst(case, 300_000, |i| low + (high - low) * (i as f32 / 3e5)))
            .into_iter()
            .fold((0.0, 0.0), |a, b| if b.0 > a.0 { b } else { a })
    });
}

#[test]
#[ignore = "takes an hour"]
fn all_bit_patterns() {
    check(|case| worst(case, 1 << 32, |i| f32::from_bits(i as u32)));
}

/// The multiples of pi / 2 that come nearest to floats, and other large arguments.
#[test]
fn trigonometric_reduction() {
    let hard = [
        16367173.0 * 2_f32.powi(72),
        f32::MAX,
        8388607.5,
        8388608.0,
        8388609.0,
        1e10,
        1e22,
    ];
    let near_multiples = (1..200_000).map(|n| (f64::from(n) * 0.5 * PI) as f32);
    for x in near_multiples.chain(hard) {
        for x in [x, -x] {
            let exact = f64::from(x);
            assert!(ulps(math::sin(x), exact.sin()) < 0.51, "sin {x}");
            assert!(ulps(math::cos(x), exact.cos()) < 0.51, "cos {x}");
            assert!(ulps(math::tan(x), exact.tan()) < 0.51, "tan {x}");
            assert_eq!(math::sincos(x), (math::sin(x), math::cos(x)));
            if x.abs() <= math::NEAR {
                let near = [math::sin_near(x), math::cos_near(x), math::tan_near(x)];
                assert_eq!(near, [math::sin(x), math::cos(x), math::tan(x)]);
            }
        }
    }
}

/// A pseudo-random sequence of bits.
fn random(index: u64) -> u64 {
    let mut z = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The worst error of a function of two arguments over random pairs.
fn worst_pair(
    function: fn(f32, f32) -> f32,
    exact: fn(f64, f64) -> f64,
    pairs: impl Iterator<Item = (f32, f32)>,
) -> f64 {
    pairs
        .map(|(x, y)| ulps(function(x, y), exact(x.into(), y.into())))
        .fold(0.0, f64::max)
}

#[test]
fn two_arguments() {
    const COUNT: u64 = 1_000_000;
    let bits = || {
        (0..COUNT)
            .map(random)
            .map(|r| (f32::from_bits(r as u32), f32::from_bits((r >> 32) as u32)))
    };
    // Powers between subnormal and infinite: any x, and y at most 150 / |log2 x|.
    let powers = || {
        (0..COUNT).map(random).map(|r| {
            let x = f32::from_bits(1 + r as u32 % 0x7f7f_ffff);
            let limit = 150.0 / x.log2().abs();
            (
                x,
                ((r >> 32) as f32 / 2_f32.powi(31) - 1.0) * limit.min(1e30),
            )
        })
    };
    let near_one = || {
        (0..COUNT).map(random).map(|r| {
            (
                0.5 + (r as u32 as f32) * 2_f32.powi(-32),
                (r >> 32) as u32 as f32 * 2_f32.powi(-23) - 256.0,
            )
        })
    };
    let points = || {
        (0..COUNT)
            .map(random)
            .map(|r| (r as i32 as f32, (r >> 32) as i32 as f32))
    };

    for (name, error) in [
        ("pow bits", worst_pair(math::pow, f64::powf, bits())),
        ("pow", worst_pair(math::pow, f64::powf, powers())),
        ("pow near 1", worst_pair(math::pow, f64::powf, near_one())),
        ("powr", worst_pair(math::powr, f64::powf, powers())),
        ("powr near 1", worst_pair(math::powr, f64::powf, near_one())),
        ("atan2 bits", worst_pair(math::atan2, f64::atan2, bits())),
        ("atan2", worst_pair(math::atan2, f64::atan2, points())),
    ] {
        println!("{name:12} {error:.4} ulp");
        assert!(error < 0.51, "{name}");
    }
    for (x, y) in bits().chain(powers()) {
        assert_eq!(
            math::fmod(x, y).to_bits() & same_nan(x % y),
            (x % y).to_bits() & same_nan(x % y),
            "{x} % {y}"
        );
    }
}

/// A mask that drops the bits in which NaNs may differ.
fn same_nan(x: f32) -> u32 {
    if x.is_nan() { 0x7f80_0000 } else { u32::MAX }
}
