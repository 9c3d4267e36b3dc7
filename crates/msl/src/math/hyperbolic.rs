//! Hyperbolic functions and their inverses, from `e^x - 1` and `ln(1 + x)`.

use super::exponential::{exp, expm1_f64};
use super::logarithm::log1p_f64;
use super::{bound, polynomial};

/// `(tanh(x) - x) / x^3` in powers of `x^2`, for `|x| <= 0.64`.
const TANH: [f32; 5] = [
    -0.333_332_7,
    0.133_310_77,
    -0.053_708_624,
    0.020_536_074,
    -0.005_588_465_4,
];

/// The hyperbolic sine, within 0.51 ULP.
#[inline(always)]
pub fn sinh(x: f32) -> f32 {
    let e = expm1_f64(f64::from(bound(x.abs(), 0.0, 100.0)));
    ((0.5 * (e + e / (e + 1.0))) as f32).copysign(x)
}

/// The hyperbolic cosine, within 0.51 ULP.
#[inline(always)]
pub fn cosh(x: f32) -> f32 {
    let e = expm1_f64(f64::from(bound(x.abs(), 0.0, 100.0))) + 1.0;
    (0.5 * (e + 1.0 / e)) as f32
}

/// The hyperbolic tangent, within 1.5 ULP.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    let a = x.abs();
    let z = a * a;
    let small = a + a * (z * polynomial(z, &TANH));
    let large = 1.0 - 2.0 / (exp(2.0 * a) + 1.0);
    (if a < 0.625 { small } else { large }).copysign(x)
}

/// The inverse hyperbolic sine, within 0.51 ULP.
#[inline(always)]
pub fn asinh(x: f32) -> f32 {
    let a = f64::from(x.abs());
    let square = a * a;
    let less_one = a + square / (1.0 + (1.0 + square).sqrt());
    let value = if a < f64::INFINITY {
        log1p_f64(less_one)
    } else {
        a
    };
    (value as f32).copysign(x)
}

/// The inverse hyperbolic cosine, NaN below 1, within 0.51 ULP.
#[inline(always)]
pub fn acosh(x: f32) -> f32 {
    let t = f64::from(x) - 1.0;
    let value = log1p_f64(t + (t * (t + 2.0)).sqrt()) as f32;
    if x < 1.0 { f32::NAN } else { value }
}

/// The inverse hyperbolic tangent, NaN beyond -1 to 1, within 0.51 ULP.
#[inline(always)]
pub fn atanh(x: f32) -> f32 {
    let a = f64::from(x.abs());
    let value = (0.5 * log1p_f64(2.0 * a / (1.0 - a))) as f32;
    (if a > 1.0 { f32::NAN } else { value }).copysign(x)
}
