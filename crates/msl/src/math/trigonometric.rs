//! Sine, cosine and tangent, of angles in radians and in half turns.
//!
//! An angle is reduced to the nearest zero of the wanted function, so that one odd polynomial
//! gives sine and cosine alike with a small relative error everywhere. Up to [`NEAR`] the
//! reduction subtracts multiples of pi in `f64`; beyond, it multiplies by the binary digits of
//! 1/(2 pi) that matter at that magnitude (Payne and Hanek, 1983), in integers. Both are computed
//! for every argument, which costs small ones: loops that can test many arguments at once should
//! use [`sin_slice`] and its like.

use std::f64::consts::{FRAC_1_PI, FRAC_2_PI, PI};

use super::{ROUNDER_F64, polynomial_f64};

/// The largest magnitude that [`sin_near`], [`cos_near`] and [`tan_near`] accept.
pub const NEAR: f32 = 8_388_608.0; // 2^23

/// pi in two parts; the first has 30 bits, so that its product with up to 23 bits is exact.
const PI_HIGH: f64 = f64::from_bits(PI.to_bits() & !0x007f_ffff);
const PI_LOW: f64 = (PI - PI_HIGH) + 1.224_646_799_147_353_2e-16;

/// The binary digits of 1/(2 pi) after the point.
const DIGITS: [u32; 7] = [
    0x28be_60db,
    0x9391_054a,
    0x7f09_d5f4,
    0x7d4d_3770,
    0x36d8_a566,
    0x4f10_e410,
    0x7f94_58ea,
];

/// `(sin(r) - r) / r^3` in powers of `r^2`, for `|r| <= pi / 2`.
const SIN: [f64; 5] = [
    -0.16666666626139656,
    0.008333331108189417,
    -0.00019840868155823277,
    2.7525381630585346e-06,
    -2.388885955062095e-08,
];

/// `(sin(r) - r) / r^3` in powers of `r^2`, for `|r| <= pi / 4`.
const SIN_QUARTER: [f64; 4] = [
    -0.1666666664079555,
    0.008333329304710617,
    -0.00019839312232947622,
    2.718121309330075e-06,
];

/// `(cos(r) - 1 + r^2 / 2) / r^4` in powers of `r^2`, for `|r| <= pi / 4`.
const COS_QUARTER: [f64; 3] = [
    0.04166664569261838,
    -0.0013887316737355175,
    2.4433212526440895e-05,
];

/// An angle as `count` steps of some size (only the low two bits are meant) and a rest of at most
/// half a step, in radians.
#[derive(Clone, Copy)]
struct Reduced {
    count: u64,
    rest: f64,
}

/// Reduces `0 <= a <= NEAR` to the nearest `pi (n + 1/2)` or, with `offset` 0, to the nearest
/// `pi n`.
#[inline(always)]
fn reduce_near(a: f32, offset: f64) -> Reduced {
    let a = f64::from(a);
    let shifted = (a * FRAC_1_PI - offset) + ROUNDER_F64;
    let n = (shifted - ROUNDER_F64) + offset;
    Reduced {
        count: shifted.to_bits(),
        rest: (a - n * PI_HIGH) - n * PI_LOW,
    }
}

/// Reduces `0 <= a <= NEAR` to the nearest quarter turn.
#[inline(always)]
fn reduce_near_quarter(a: f32) -> Reduced {
    let a = f64::from(a);
    let shifted = a * FRAC_2_PI + ROUNDER_F64;
    let n = shifted - ROUNDER_F64;
    Reduced {
        count: shifted.to_bits(),
        rest: (a - n * (0.5 * PI_HIGH)) - n * (0.5 * PI_LOW),
    }
}

/// The angle `a >= NEAR` modulo a turn, in units of 2^-64 turns.
#[inline(always)]
fn turn(a: f32) -> u64 {
    let bits = a.to_bits();
    let mantissa = u64::from((bits & 0x007f_ffff) | 0x0080_0000);
    // The value is mantissa * 2^shift: digits before `shift` give whole turns only.
    let shift = (bits >> 23).wrapping_sub(150);
    let skip = |by: u32, here: u32, there: u32| if shift & by == 0 { here } else { there };
    let [d0, d1, d2, d3, d4, d5, d6] = DIGITS;
    let (d0, d1, d2, d3, d4) = (
        skip(64, d0, d2),
        skip(64, d1, d3),
        skip(64, d2, d4),
        skip(64, d3, d5),
        skip(64, d4, d6),
    );
    let (d0, d1, d2, d3) = (
        skip(32, d0, d1),
        skip(32, d1, d2),
        skip(32, d2, d3),
        skip(32, d3, d4),
    );
    let digits = |high: u32, low: u32| {
        u64::from((high << (shift & 31)) | ((low >> 1) >> (31 - (shift & 31))))
    };
    (mantissa.wrapping_mul(digits(d0, d1)) << 32)
        .wrapping_add(mantissa.wrapping_mul(digits(d1, d2)))
        .wrapping_add(mantissa.wrapping_mul(digits(d2, d3)) >> 32)
}

/// Reduces a turn to the nearest multiple of `2^-steps` turns.
#[inline(always)]
fn reduce_turn(turn: u64, steps: u32) -> Reduced {
    let count = turn.wrapping_add(1 << (63 - steps)) >> (64 - steps);
    let rest = (turn << steps) as i64;
    const UNIT: f64 = 2.0 * PI / 18_446_744_073_709_551_616.0;
    Reduced {
        count,
        rest: rest as f64 * (UNIT / (1_u64 << steps) as f64),
    }
}

/// The sine of a reduced angle of at most a quarter turn, negated for an odd `count`.
#[inline(always)]
fn signed_sine(angle: Reduced) -> f32 {
    let r = angle.rest;
    let z = r * r;
    let sine = (r + r * z * polynomial_f64(z, &SIN)) as f32;
    f32::from_bits(sine.to_bits() ^ ((angle.count as u32) << 31))
}

/// `(sin(r), cos(r))` for a rest of at most an eighth of a turn.
#[inline(always)]
fn sine_cosine(r: f64) -> (f64, f64) {
    let z = r * r;
    let sine = r + r * z * polynomial_f64(z, &SIN_QUARTER);
    let cosine = 1.0 - (0.5 * z - z * z * polynomial_f64(z, &COS_QUARTER));
    (sine, cosine)
}

/// The tangent of an angle reduced to quarter turns.
#[inline(always)]
fn tangent(angle: Reduced) -> f32 {
    let (sine, cosine) = sine_cosine(angle.rest);
    let odd = angle.count & 1 == 1;
    let (above, below) = (
        if odd { -cosine } else { sine },
        if odd { sine } else { cosine },
    );
    (above / below) as f32
}

/// `value` with its sign flipped if `x` is negative.
#[inline(always)]
fn odd(value: f32, x: f32) -> f32 {
    f32::from_bits(value.to_bits() ^ (x.to_bits() & 0x8000_0000))
}

/// `far`, or NaN if `a` is infinite or NaN.
#[inline(always)]
fn finite(a: f32, far: Reduced) -> Reduced {
    Reduced {
        rest: if a < f32::INFINITY {
            far.rest
        } else {
            f64::NAN
        },
        ..far
    }
}

/// One of two reductions.
#[inline(always)]
fn choose(near: bool, this: Reduced, other: Reduced) -> Reduced {
    Reduced {
        count: if near { this.count } else { other.count },
        rest: if near { this.rest } else { other.rest },
    }
}

/// The sine for `|x| <= NEAR`, within 0.51 ULP.
#[inline(always)]
pub fn sin_near(x: f32) -> f32 {
    odd(signed_sine(reduce_near(x.abs(), 0.0)), x)
}

/// The cosine for `|x| <= NEAR`, within 0.51 ULP.
#[inline(always)]
pub fn cos_near(x: f32) -> f32 {
    -signed_sine(reduce_near(x.abs(), 0.5))
}

/// The tangent for `|x| <= NEAR`, within 0.51 ULP.
#[inline(always)]
pub fn tan_near(x: f32) -> f32 {
    odd(tangent(reduce_near_quarter(x.abs())), x)
}

/// The sine, within 0.51 ULP for every `x`.
#[inline(always)]
pub fn sin(x: f32) -> f32 {
    let a = x.abs();
    let far = finite(a, reduce_turn(turn(a), 1));
    odd(signed_sine(choose(a <= NEAR, reduce_near(a, 0.0), far)), x)
}

/// The cosine, within 0.51 ULP for every `x`.
#[inline(always)]
pub fn cos(x: f32) -> f32 {
    const QUARTER: u64 = 1 << 62;
    let a = x.abs();
    let far = finite(a, reduce_turn(turn(a).wrapping_sub(QUARTER), 1));
    -signed_sine(choose(a <= NEAR, reduce_near(a, 0.5), far))
}

/// `(sin(x), cos(x))`.
#[inline(always)]
pub fn sincos(x: f32) -> (f32, f32) {
    (sin(x), cos(x))
}

/// The tangent, within 0.51 ULP for every `x`.
#[inline(always)]
pub fn tan(x: f32) -> f32 {
    let a = x.abs();
    let far = finite(a, reduce_turn(turn(a), 2));
    odd(tangent(choose(a <= NEAR, reduce_near_quarter(a), far)), x)
}

/// `|x|` as an `f64`, or 0 if it is so large that it is an even integer, or NaN if infinite.
#[inline(always)]
fn half_turns(x: f32) -> f64 {
    let a = x.abs();
    f64::from(if a < 16_777_216.0 { a } else { 0.0 * a })
}

/// `sin(pi x)`, within 0.51 ULP; a zero has the sign of `x`.
#[inline(always)]
pub fn sinpi(x: f32) -> f32 {
    let a = half_turns(x);
    let shifted = a + ROUNDER_F64;
    let rest = (a - (shifted - ROUNDER_F64)) * PI;
    // Of the zeros at odd integers too, the sign is that of `x`.
    let count = if rest == 0.0 { 0 } else { shifted.to_bits() };
    odd(signed_sine(Reduced { count, rest }), x)
}

/// `cos(pi x)`, within 0.51 ULP; a zero is positive.
#[inline(always)]
pub fn cospi(x: f32) -> f32 {
    let a = half_turns(x);
    let shifted = (a - 0.5) + ROUNDER_F64;
    let rest = (a - ((shifted - ROUNDER_F64) + 0.5)) * PI;
    0.0 - signed_sine(Reduced {
        count: shifted.to_bits(),
        rest,
    })
}

/// `tan(pi x)`, as the quotient of [`sinpi`] and [`cospi`], within 0.51 ULP.
#[inline(always)]
pub fn tanpi(x: f32) -> f32 {
    let a = half_turns(x);
    let shifted = 2.0 * a + ROUNDER_F64;
    let (sine, cosine) = sine_cosine((a - 0.5 * (shifted - ROUNDER_F64)) * PI);
    let count = shifted.to_bits();
    // An eighth of a turn further, sine and cosine swap; after half a turn both are negative.
    let swapped = count & 1 == 1;
    let turned = count & 2 == 2;
    let above = if swapped { cosine } else { sine };
    let below = if swapped { -sine } else { cosine };
    let above = if turned { -above } else { above };
    let below = if turned { -below } else { below };
    // Adding zero makes zeros of either sign positive, which fixes the sign of zeros and poles.
    odd(((above + 0.0) / (below + 0.0)) as f32, x)
}

/// Whether no lane is beyond [`NEAR`]; NaN is within.
#[inline(always)]
fn all_near(x: &[f32]) -> bool {
    !x.iter().fold(false, |beyond, x| beyond | (x.abs() > NEAR))
}

macro_rules! slices {
    ($($name:ident: $full:ident, $near:ident;)*) => { $(
        #[doc = concat!("Sets `out` to [`", stringify!($full), "`] of each element of `x`, at the cost")]
        #[doc = concat!("of [`", stringify!($near), "`] if that will do for all.")]
        #[inline(always)]
        pub fn $name(x: &[f32], out: &mut [f32]) {
            if all_near(x) {
                for (out, &x) in out.iter_mut().zip(x) {
                    *out = $near(x);
                }
            } else {
                for (out, &x) in out.iter_mut().zip(x) {
                    *out = $full(x);
                }
            }
        }
    )* };
}

slices! {
    sin_slice: sin, sin_near;
    cos_slice: cos, cos_near;
    tan_slice: tan, tan_near;
}
