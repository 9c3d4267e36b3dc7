//! Scalar definitions of the maths library, written so that loops over them vectorise.
//!
//! Every function maps plain numbers to plain numbers, without tables, calls or branches: an `if`
//! only picks between values that are computed either way. A loop that applies one of them to the
//! lanes of a threadgroup is therefore straight-line arithmetic that the compiler turns into AVX2,
//! AVX-512 or NEON code. There is no fused multiply-add in them, so every instruction set computes
//! the same bits. Only [`fmod`], and division and upper halves of products of 64-bit integers, stay
//! scalar.
//!
//! A function is always inlined where it is named, but a closure around it is not: a loop that gets
//! one as an argument and is compiled with other target features may call it for each element.
//!
//! Functions whose argument or intermediate value needs more than `f32` holds compute in `f64` and
//! round once at the end. Exceptional arguments follow C99 Annex F. Errors are in units of the last
//! place (ULP) of the exact result, as measured by `tests/math_accuracy.rs`. Coefficients without
//! another source come from `fit.py` beside this file.

mod convert;
mod exponential;
mod hyperbolic;
mod integer;
mod inverse;
mod logarithm;
mod power;
mod rounding;
mod special;
mod trigonometric;

pub use convert::*;
pub use exponential::*;
pub use hyperbolic::*;
pub use integer::*;
pub use inverse::*;
pub use logarithm::*;
pub use power::*;
pub use rounding::*;
pub use special::*;
pub use trigonometric::*;

/// Added to an `f32` of magnitude up to 2^22, it leaves no bits for a fraction: the sum is the
/// nearest integer (ties to even), standing in the low bits of the representation.
const ROUNDER: f32 = 12_582_912.0; // 1.5 * 2^23

/// As [`ROUNDER`], for an `f64` of magnitude up to 2^51.
const ROUNDER_F64: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52

/// The polynomial with the given coefficients, lowest power first.
#[inline(always)]
fn polynomial<const N: usize>(x: f32, coefficients: &[f32; N]) -> f32 {
    let mut sum = 0.0;
    for &coefficient in coefficients.iter().rev() {
        sum = sum * x + coefficient;
    }
    sum
}

/// As [`polynomial`], in `f64`.
#[inline(always)]
fn polynomial_f64<const N: usize>(x: f64, coefficients: &[f64; N]) -> f64 {
    let mut sum = 0.0;
    for &coefficient in coefficients.iter().rev() {
        sum = sum * x + coefficient;
    }
    sum
}

/// `x` between bounds; NaN stays NaN.
#[inline(always)]
fn bound(x: f32, low: f32, high: f32) -> f32 {
    let x = if x < low { low } else { x };
    if x > high { high } else { x }
}

/// As [`bound`], in `f64`.
#[inline(always)]
fn bound_f64(x: f64, low: f64, high: f64) -> f64 {
    let x = if x < low { low } else { x };
    if x > high { high } else { x }
}
