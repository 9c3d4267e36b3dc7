//! Exponentials: `e^x`, `2^x`, `10^x` and `e^x - 1`.
//!
//! All split the exponent into an integer, which goes into the exponent field, and a remainder of
//! at most a half, whose exponential is a polynomial.

use std::f64::consts::{LN_2, LOG2_10, LOG2_E};

use super::{ROUNDER, ROUNDER_F64, bound, polynomial, polynomial_f64};

/// ln 2 in two parts; the product of the first, of nine bits, with an exponent is exact.
pub(super) const LN2_HIGH: f32 = 355.0 / 512.0;
pub(super) const LN2_LOW: f32 = -2.121_944_4e-4;

/// `(e^r - 1 - r) / r^2` for `|r| <= ln(2) / 2`.
const EXP: [f32; 5] = [
    0.499_999_94,
    0.166_665_21,
    0.041_668_28,
    0.008_368_674,
    0.001_381_858_8,
];

/// The leading eleven bits of ln 2; the product with twelve bits is exact.
const LN2_LEADING: f32 = 1419.0 / 2048.0;

/// `(2^r - 1) / r - LN2_LEADING` for `|r| <= 1/2`.
const EXP2: [f32; 6] = [
    2.761_093e-4,
    0.240_226_48,
    0.055_503_32,
    0.009_618_461,
    0.001_339_905_5,
    1.534_614_4e-4,
];

/// `(e^r - 1 - r) / r^2` for `|r| <= ln(2) / 2`.
const EXPM1: [f64; 6] = [
    0.500000004439116,
    0.16666666367152752,
    0.04166635985377455,
    0.008333390121400842,
    0.0013940717308070691,
    0.00019845499605687016,
];

/// The nearest integer to `x`, as a float and as an integer.
#[inline(always)]
fn nearest(x: f32) -> (f32, i32) {
    let shifted = x + ROUNDER;
    let integer = shifted.to_bits().wrapping_sub(ROUNDER.to_bits()) as i32;
    (shifted - ROUNDER, integer)
}

/// `y * 2^exponent` for `y` near 1, rounded once even where the result is subnormal or infinite.
#[inline(always)]
fn scale(y: f32, exponent: i32) -> f32 {
    let half = exponent >> 1;
    y * power_of_two(half) * power_of_two(exponent.wrapping_sub(half))
}

/// `2^exponent` for a normal result.
#[inline(always)]
fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits((exponent.wrapping_add(127) as u32) << 23)
}

/// `2^t` for `|t| < 1000` as `(f, s)` with `2^t = (1 + f) s`, `s` a power of two; `f` has a
/// relative error of 2^-32.
#[inline(always)]
pub(super) fn exp2_parts(t: f64) -> (f64, f64) {
    let shifted = t + ROUNDER_F64;
    let r = (t - (shifted - ROUNDER_F64)) * LN_2;
    let f = r + r * r * polynomial_f64(r, &EXPM1);
    let s = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1.0_f64.to_bits()));
    (f, s)
}

/// `2^t` for `|t| < 1000`.
#[inline(always)]
pub(super) fn exp2_f64(t: f64) -> f64 {
    let (f, s) = exp2_parts(t);
    f * s + s
}

/// `e^x - 1` for `|x| < 690`, with a small relative error near zero too.
#[inline(always)]
pub(super) fn expm1_f64(x: f64) -> f64 {
    let (f, s) = exp2_parts(x * LOG2_E);
    f * s + (s - 1.0)
}

/// `e^x`, within 1 ULP.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    let x = bound(x, -104.0, 89.0);
    let (n, exponent) = nearest(x * std::f32::consts::LOG2_E);
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    scale(1.0 + (r + r * r * polynomial(r, &EXP)), exponent)
}

/// `2^x`, within 1 ULP; exact for integers.
#[inline(always)]
pub fn exp2(x: f32) -> f32 {
    let x = bound(x, -151.0, 129.0);
    let (n, exponent) = nearest(x);
    let r = x - n;
    let high = f32::from_bits(r.to_bits() & 0xffff_f000);
    let rest = (r - high) * LN2_LEADING + r * polynomial(r, &EXP2);
    scale(1.0 + (high * LN2_LEADING + rest), exponent)
}

/// `10^x`, within 0.51 ULP.
#[inline(always)]
pub fn exp10(x: f32) -> f32 {
    exp2_f64(f64::from(bound(x, -50.0, 50.0)) * LOG2_10) as f32
}

/// `e^x - 1`, within 0.51 ULP.
#[inline(always)]
pub fn expm1(x: f32) -> f32 {
    (expm1_f64(f64::from(bound(x, -104.0, 89.0))) as f32).copysign(x)
}
