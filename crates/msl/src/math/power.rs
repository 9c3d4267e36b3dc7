//! Powers and roots.

use super::bound_f64;
use super::exponential::exp2_f64;
use super::logarithm::log2_f64;

/// The square root, correctly rounded.
#[inline(always)]
pub fn sqrt(x: f32) -> f32 {
    x.sqrt()
}

/// `1 / sqrt(x)`, within 1.5 ULP.
#[inline(always)]
pub fn rsqrt(x: f32) -> f32 {
    1.0 / x.sqrt()
}

/// The real cube root, within 0.51 ULP.
#[inline(always)]
pub fn cbrt(x: f32) -> f32 {
    (exp2_f64(bound_f64(log2_f64(x.abs()) * (1.0 / 3.0), -900.0, 900.0)) as f32).copysign(x)
}

/// `x^y`, within 0.51 ULP. A negative `x` has a power only for integers `y`; `x^0` and `1^y` are 1
/// even for NaN.
#[inline(always)]
pub fn pow(x: f32, y: f32) -> f32 {
    let magnitude = x.abs();
    let exponent = f64::from(y) * log2_f64(magnitude);
    let exponent = if magnitude == 1.0 { 0.0 } else { exponent };
    let exponent = if y == 0.0 { 0.0 } else { exponent };
    let value = exp2_f64(bound_f64(exponent, -300.0, 300.0)) as f32;

    let half = 0.5 * y;
    let integer = y.floor() == y;
    let odd = integer & (half.floor() != half);
    let sign = if odd { x.to_bits() & 0x8000_0000 } else { 0 };
    let undefined = (x < 0.0) & (x > f32::NEG_INFINITY) & !integer;
    let value = f32::from_bits(value.to_bits() | sign);
    let value = if undefined { f32::NAN } else { value };
    // -1 to a power of NaN was caught above as undefined; 1 to any power is 1.
    if x == 1.0 { 1.0 } else { value }
}

/// `x^y` for `x >= 0`, as `2^(y log2(x))` in exact arithmetic would be: NaN for a negative `x` and
/// where that product is NaN (0 or infinity to the power of 0, and 1 to that of infinity). Within
/// 0.51 ULP.
#[inline(always)]
pub fn powr(x: f32, y: f32) -> f32 {
    let exponent = f64::from(y) * log2_f64(x);
    let value = exp2_f64(bound_f64(exponent, -300.0, 300.0)) as f32;
    if x < 0.0 { f32::NAN } else { value }
}
