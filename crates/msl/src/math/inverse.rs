//! Inverse trigonometric functions.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

use super::polynomial_f64;

/// `(asin(t) - t) / t^3` in powers of `t^2`, for `|t| <= 1/2`.
const ASIN: [f64; 8] = [
    0.1666666662734401,
    0.07500004980455119,
    0.04464070842632326,
    0.030426512563413544,
    0.021865813562920253,
    0.0206459137411639,
    0.001980262424116098,
    0.03291055144145473,
];

/// `(atan(t) - t) / t^3` in powers of `t^2`, for `|t| <= tan(pi / 8)`.
const ATAN: [f64; 6] = [
    -0.3333333249878327,
    0.19999903877098263,
    -0.1428200685708085,
    0.11044680217768377,
    -0.08476204078568286,
    0.04743910587496521,
];

/// For `a >= 0`, the arc sine of `a` up to 1/2, and of `sqrt((1 - a) / 2)` beyond, where
/// `asin(a) = pi / 2 - 2 asin(sqrt((1 - a) / 2))`. NaN for `a > 1`.
#[inline(always)]
fn asin_part(a: f64) -> f64 {
    let small = a <= 0.5;
    let reflected = 0.5 * (1.0 - a);
    let z = if small { a * a } else { reflected };
    let t = if small { a } else { reflected.sqrt() };
    t + t * z * polynomial_f64(z, &ASIN)
}

/// The arc sine, NaN beyond -1 to 1, within 0.51 ULP.
#[inline(always)]
pub fn asin(x: f32) -> f32 {
    let a = f64::from(x.abs());
    let part = asin_part(a);
    ((if a <= 0.5 {
        part
    } else {
        FRAC_PI_2 - 2.0 * part
    }) as f32)
        .copysign(x)
}

/// The arc cosine, NaN beyond -1 to 1, within 0.51 ULP.
#[inline(always)]
pub fn acos(x: f32) -> f32 {
    let part = asin_part(f64::from(x.abs()));
    let central = FRAC_PI_2 - if x < 0.0 { -part } else { part };
    let outer = if x < 0.0 { PI - 2.0 * part } else { 2.0 * part };
    (if x.abs() <= 0.5 { central } else { outer }) as f32
}

/// The angle from the x axis to the point `(x, y)` for `x >= 0` and `y >= 0`; 0 for the origin, and
/// pi / 4 for both infinite.
#[inline(always)]
fn angle(y: f64, x: f64) -> f64 {
    const TAN_PI_8: f64 = std::f64::consts::SQRT_2 - 1.0;
    let steep = y > x;
    let (short, long) = (if steep { x } else { y }, if steep { y } else { x });
    // Beyond pi / 8, turn back by pi / 4.
    let turned = (short > TAN_PI_8 * long) | (short == f64::INFINITY);
    let above = if turned { short - long } else { short };
    let below = if turned { short + long } else { long };
    let below = if below == 0.0 { 1.0 } else { below };
    let t = above / below;
    let t = if (short == long) & turned { 0.0 } else { t };
    let z = t * t;
    let part = t + t * z * polynomial_f64(z, &ATAN);
    let part = if turned { part + FRAC_PI_4 } else { part };
    if steep { FRAC_PI_2 - part } else { part }
}

/// The arc tangent, within 0.51 ULP.
#[inline(always)]
pub fn atan(x: f32) -> f32 {
    (angle(f64::from(x.abs()), 1.0) as f32).copysign(x)
}

/// The angle from the x axis to the point `(x, y)`, between -pi and pi, within 0.51 ULP.
#[inline(always)]
pub fn atan2(y: f32, x: f32) -> f32 {
    let part = angle(f64::from(y.abs()), f64::from(x.abs()));
    let value = if x.is_sign_negative() {
        PI - part
    } else {
        part
    };
    let value = if x.is_nan() | y.is_nan() {
        f64::NAN
    } else {
        value
    };
    (value as f32).copysign(y)
}
