//! The error function and its complement.

use std::f64::consts::LOG2_E;

use super::exponential::{exp, exp2_f64};
use super::{bound, polynomial, polynomial_f64};

/// `erf(x) / x - 1` in powers of `x^2`, for `|x| <= 1`.
const ERF: [f32; 7] = [
    0.128_379_17,
    -0.376_126_26,
    0.112_835_79,
    -0.026_853_349,
    0.005_187_171,
    -7.997_987_6e-4,
    7.807_55e-5,
];

/// `ln(erfc(x))` in powers of `x - 1`, for `1 <= x <= 3.93`.
const LOG_ERFC: [f32; 9] = [
    -1.849_605_6,
    -2.638_961,
    -0.843_231_9,
    -0.040_703_326,
    0.007_311_658,
    0.002_450_654_5,
    -0.003_541_457_2,
    0.001_610_905_7,
    -2.703_656_2e-4,
];

/// `e^(x^2) erfc(x)` in powers of `(x - 3) / (x + 3)`, for `0 <= x <= 10.1`.
const ERFC: [f64; 13] = [
    0.17900115118077703,
    -0.3262335601446363,
    0.24560380197617873,
    -0.15011593109128502,
    0.07166582827933807,
    -0.024392583355019114,
    0.004269219967475016,
    0.0007083276245884078,
    -0.0005973111944247775,
    4.324365817078152e-05,
    6.39750253038326e-05,
    -9.513944869225125e-06,
    -6.6825193242007944e-06,
];

/// The error function, within 1.5 ULP.
#[inline(always)]
pub fn erf(x: f32) -> f32 {
    let a = bound(x.abs(), 0.0, 3.93);
    let small = a + a * polynomial(a * a, &ERF);
    let large = 1.0 - exp(polynomial(a - 1.0, &LOG_ERFC));
    (if a < 1.0 { small } else { large }).copysign(x)
}

/// `1 - erf(x)`, within 0.51 ULP.
#[inline(always)]
pub fn erfc(x: f32) -> f32 {
    let a = f64::from(bound(x.abs(), 0.0, 10.1));
    let tail = exp2_f64(-a * a * LOG2_E) * polynomial_f64((a - 3.0) / (a + 3.0), &ERFC);
    (if x < 0.0 { 2.0 - tail } else { tail }) as f32
}
