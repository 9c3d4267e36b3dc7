//! Logarithms: natural, binary, decimal and `ln(1 + x)`.
//!
//! All write the argument as `2^k (1 + f)` with `1 + f` between `sqrt(1/2)` and `sqrt(2)`, so that
//! near 1 the integer part is zero and nothing cancels.

use std::f64::consts::{LN_2, LOG2_E, LOG10_E};

use super::exponential::{LN2_HIGH, LN2_LOW};
use super::{polynomial, polynomial_f64};

/// `(ln(1 + f) - f + f^2 / 2) / f^3` for `sqrt(1/2) <= 1 + f <= sqrt(2)`.
const LOG: [f32; 9] = [
    0.333_333_13,
    -0.250_000_1,
    0.200_020_73,
    -0.166_68,
    0.142_203_29,
    -0.124_059_48,
    0.118_834_78,
    -0.116_719_97,
    0.067_521_5,
];

/// `(ln((1 + s) / (1 - s)) - 2s) / s^3` in powers of `s^2`, for `|s| <= 3 - 2 sqrt(2)`.
const LOG_ODD: [f64; 5] = [
    0.6666666667578424,
    0.3999999562868462,
    0.2857210836572987,
    0.2217622351564373,
    0.19583634206318962,
];

/// log2(e) in two parts; the first has eleven bits.
const LOG2E_HIGH: f32 = 1477.0 / 1024.0;
const LOG2E_LOW: f32 = 3.122_284e-4;

/// `(k, f)` with `x = 2^k (1 + f)`, for positive finite `x`.
#[inline(always)]
fn split(x: f32) -> (f32, f32) {
    let subnormal = x < f32::MIN_POSITIVE;
    let bits = (if subnormal { x * 8_388_608.0 } else { x }).to_bits();
    let k = (bits.wrapping_sub(std::f32::consts::FRAC_1_SQRT_2.to_bits()) as i32) >> 23;
    let m = f32::from_bits(bits.wrapping_sub((k as u32) << 23));
    (k as f32 - if subnormal { 23.0 } else { 0.0 }, m - 1.0)
}

/// `value`, the logarithm of a positive finite `x`, or what the logarithm of another `x` is.
#[inline(always)]
fn exceptions(x: f32, value: f32) -> f32 {
    let value = if x < f32::INFINITY { value } else { x };
    let beyond = if x == 0.0 {
        f32::NEG_INFINITY
    } else {
        f32::NAN
    };
    if x > 0.0 { value } else { beyond }
}

/// `(k, ln(1 + f))` with `u = 2^k (1 + f)`, for normal positive `u`. Where `k` is zero, `f` is
/// `less_one`, which may hold `u - 1` to more digits than `u` does.
#[inline(always)]
fn log_parts(u: f64, less_one: f64) -> (f64, f64) {
    const BIAS: u64 = 1023;
    const TWO_52: f64 = 4_503_599_627_370_496.0;
    let bits = u.to_bits();
    let above = bits.wrapping_add(1.0_f64.to_bits() - std::f64::consts::FRAC_1_SQRT_2.to_bits());
    let biased = above >> 52;
    let k = f64::from_bits(biased | TWO_52.to_bits()) - (TWO_52 + BIAS as f64);
    let m = f64::from_bits(bits.wrapping_sub(biased.wrapping_sub(BIAS) << 52));
    let f = if k == 0.0 { less_one } else { m - 1.0 };
    let s = f / (2.0 + f);
    let z = s * s;
    (k, 2.0 * s + s * z * polynomial_f64(z, &LOG_ODD))
}

/// log2(x) for `x >= 0`, with a relative error of 2^-44.
#[inline(always)]
pub(super) fn log2_f64(x: f32) -> f64 {
    let x = f64::from(x);
    let (k, log) = log_parts(x, x - 1.0);
    let value = if x < f64::INFINITY {
        k + log * LOG2_E
    } else {
        x
    };
    if x == 0.0 { f64::NEG_INFINITY } else { value }
}

/// ln(1 + x) for `x > -1`, with a relative error of 2^-44.
#[inline(always)]
pub(super) fn log1p_f64(x: f64) -> f64 {
    let (k, log) = log_parts(1.0 + x, x);
    if x < f64::INFINITY { k * LN_2 + log } else { x }
}

/// The natural logarithm, within 1 ULP.
#[inline(always)]
pub fn log(x: f32) -> f32 {
    let (k, f) = split(x);
    let square = f * f;
    let tail = square * f * polynomial(f, &LOG) - 0.5 * square;
    exceptions(x, k * LN2_HIGH + (f + (tail + k * LN2_LOW)))
}

/// The binary logarithm, within 1 ULP; exact for powers of two.
#[inline(always)]
pub fn log2(x: f32) -> f32 {
    let (k, f) = split(x);
    let square = f * f;
    let half = 0.5 * square;
    // ln(1 + f) in two parts, of which the first has twelve bits.
    let high = f32::from_bits((f - half).to_bits() & 0xffff_f000);
    let low = ((f - high) - half) + square * f * polynomial(f, &LOG);
    let rest = low * LOG2E_HIGH + (high + low) * LOG2E_LOW;
    exceptions(x, k + (high * LOG2E_HIGH + rest))
}

/// The decimal logarithm, within 0.51 ULP.
#[inline(always)]
pub fn log10(x: f32) -> f32 {
    let u = f64::from(x);
    let (k, log) = log_parts(u, u - 1.0);
    exceptions(x, ((k * LN_2 + log) * LOG10_E) as f32)
}

/// `ln(1 + x)`, within 0.51 ULP.
#[inline(always)]
pub fn log1p(x: f32) -> f32 {
    let value = log1p_f64(f64::from(x)) as f32;
    let beyond = if x == -1.0 {
        f32::NEG_INFINITY
    } else {
        f32::NAN
    };
    (if x > -1.0 { value } else { beyond }).copysign(x)
}
