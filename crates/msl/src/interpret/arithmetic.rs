//! Operators and conversions of numbers, and the maths library.
//!
//! A half or bfloat operation computes in float and rounds once when its result is written. What
//! the processor's own float operations do not define comes from [`crate::math`].

use super::values::{Number, limits};
use crate::ir::{BinaryOp, MathFunction, Scalar, UnaryOp};
use crate::math;

use Number::{Float, Integer};

/// An operator with one operand.
pub fn unary(op: UnaryOp, a: Number) -> Number {
    match (op, a) {
        (UnaryOp::Negate, Float(a)) => Float(-a),
        (UnaryOp::Negate, Integer(a)) => Integer(-a),
        (UnaryOp::LogicalNot, a) => Number::truth(!a.is_true()),
        (UnaryOp::BitwiseNot, a) => Integer(!a.integer()),
    }
}

/// An operator with two operands of one type.
pub fn binary(op: BinaryOp, scalar: Scalar, a: Number, b: Number) -> Number {
    match (a, b) {
        (Float(a), Float(b)) => of_floats(op, a, b),
        _ => of_integers(op, scalar.bits(), a.integer(), b.integer()),
    }
}

fn of_floats(op: BinaryOp, a: f32, b: f32) -> Number {
    match op {
        BinaryOp::Add => Float(a + b),
        BinaryOp::Subtract => Float(a - b),
        BinaryOp::Multiply => Float(a * b),
        BinaryOp::Divide => Float(a / b),
        BinaryOp::Remainder => Float(math::fmod(a, b)),
        BinaryOp::Equal => Number::truth(a == b),
        BinaryOp::NotEqual => Number::truth(a != b),
        BinaryOp::Less => Number::truth(a < b),
        BinaryOp::LessEqual => Number::truth(a <= b),
        BinaryOp::Greater => Number::truth(a > b),
        BinaryOp::GreaterEqual => Number::truth(a >= b),
        // Of integers only.
        BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor => Float(a),
    }
}

fn of_integers(op: BinaryOp, bits: u32, a: i128, b: i128) -> Number {
    let count = b as u32 % bits;
    match op {
        BinaryOp::Add => Integer(a + b),
        BinaryOp::Subtract => Integer(a - b),
        BinaryOp::Multiply => Integer(a.wrapping_mul(b)),
        BinaryOp::Divide => Integer(if b == 0 { 0 } else { a / b }),
        BinaryOp::Remainder => Integer(if b == 0 { a } else { a % b }),
        BinaryOp::ShiftLeft => Integer(a << count),
        BinaryOp::ShiftRight => Integer(a >> count),
        BinaryOp::And => Integer(a & b),
        BinaryOp::Or => Integer(a | b),
        BinaryOp::Xor => Integer(a ^ b),
        BinaryOp::Equal => Number::truth(a == b),
        BinaryOp::NotEqual => Number::truth(a != b),
        BinaryOp::Less => Number::truth(a < b),
        BinaryOp::LessEqual => Number::truth(a <= b),
        BinaryOp::Greater => Number::truth(a > b),
        BinaryOp::GreaterEqual => Number::truth(a >= b),
    }
}

/// A number as another type.
pub fn convert(a: Number, to: Scalar) -> Number {
    match a {
        Integer(a) if to == Scalar::Bool => Number::truth(a != 0),
        Float(a) if to == Scalar::Bool => Number::truth(a != 0.0),
        Integer(a) if to == Scalar::F32 => Float(a as f32),
        Integer(a) if to.is_float() => Float(float_with_remainder(a)),
        Integer(a) => Integer(a),
        Float(a) if to.is_float() => Float(a),
        Float(a) => {
            let (least, greatest) = limits(to);
            Integer((a as i128).clamp(least, greatest))
        }
    }
}

/// A float that rounds to half or bfloat as the integer itself does: the bits that a float has no
/// room for leave a trace in the last one.
fn float_with_remainder(a: i128) -> f32 {
    let size = a.unsigned_abs();
    let extra = (u128::BITS - size.leading_zeros()).saturating_sub(f32::MANTISSA_DIGITS);
    let lost = size & ((1 << extra) - 1) != 0;
    let kept = (size >> extra) | u128::from(lost);
    let value = (kept << extra) as f32;
    if a < 0 { -value } else { value }
}

/// A function of the maths library whose operands and results are single numbers. `scalar` is the
/// type of the first operand.
pub fn function(function: MathFunction, scalar: Scalar, args: &[Number]) -> Number {
    let arg = |index: usize| args.get(index).copied().unwrap_or(Integer(0));
    if scalar.is_float() {
        let (x, y, z) = (arg(0).float(), arg(1), arg(2));
        of_float(function, scalar, x, y, z.float())
    } else {
        let [a, b, c, d] = [0, 1, 2, 3].map(|index| arg(index).integer());
        Integer(of_integer(function, scalar, a, b, c, d))
    }
}

fn of_float(function: MathFunction, scalar: Scalar, x: f32, second: Number, z: f32) -> Number {
    use MathFunction as F;
    let y = second.float();
    let least_normal = match scalar {
        Scalar::F16 => half::f16::MIN_POSITIVE.to_f32(),
        _ => f32::MIN_POSITIVE,
    };
    Float(match function {
        F::Acos => math::acos(x),
        F::Acosh => math::acosh(x),
        F::Asin => math::asin(x),
        F::Asinh => math::asinh(x),
        F::Atan => math::atan(x),
        F::Atanh => math::atanh(x),
        F::Ceil => math::ceil(x),
        F::Cos => math::cos(x),
        F::Cosh => math::cosh(x),
        F::Cospi => math::cospi(x),
        F::Exp => math::exp(x),
        F::Exp2 => math::exp2(x),
        F::Exp10 => math::exp10(x),
        F::Fabs => x.abs(),
        F::Floor => math::floor(x),
        F::Fract => math::fract(x),
        F::Log => math::log(x),
        F::Log2 => math::log2(x),
        F::Log10 => math::log10(x),
        F::Rint => math::rint(x),
        F::Round => math::round(x),
        F::Rsqrt => math::rsqrt(x),
        F::Saturate => math::saturate(x),
        F::Sign => math::sign(x),
        F::Sin => math::sin(x),
        F::Sinh => math::sinh(x),
        F::Sinpi => math::sinpi(x),
        F::Sqrt => math::sqrt(x),
        F::Tan => math::tan(x),
        F::Tanh => math::tanh(x),
        F::Tanpi => math::tanpi(x),
        F::Trunc => math::trunc(x),
        F::FrexpFraction => math::frexp(x).0,
        F::FrexpExponent => return Integer(math::frexp(x).1.into()),
        F::Ilogb => return Integer(math::ilogb(x).into()),
        F::Atan2 => math::atan2(x, y),
        F::Copysign => x.copysign(y),
        F::Fdim => math::fdim(x, y),
        F::Fmax => math::fmax(x, y),
        F::Fmin => math::fmin(x, y),
        F::Fmod => math::fmod(x, y),
        F::Ldexp => math::ldexp(x, second.integer() as i32),
        F::Nextafter if scalar == Scalar::F32 => math::nextafter(x, y),
        F::Nextafter => next_narrow(scalar, x, y),
        F::Pow => math::pow(x, y),
        F::Powr => math::powr(x, y),
        F::Step => math::step(x, y),
        F::Fma => x.mul_add(y, z),
        F::Mix => math::mix(x, y, z),
        F::Smoothstep => math::smoothstep(x, y, z),
        F::Fclamp => math::fmin(math::fmax(x, y), z),
        F::Isfinite => return Number::truth(x.is_finite()),
        F::Isinf => return Number::truth(x.is_infinite()),
        F::Isnan => return Number::truth(x.is_nan()),
        F::Isnormal => return Number::truth(x.is_finite() && x.abs() >= least_normal),
        F::Signbit => return Number::truth(x.is_sign_negative()),
        // Of whole vectors, or of integers only.
        _ => x,
    })
}

/// `nextafter` of half and bfloat: their numbers follow each other as their bits do.
fn next_narrow(scalar: Scalar, x: f32, y: f32) -> f32 {
    if x.is_nan() || y.is_nan() {
        return f32::NAN;
    }
    if x == y {
        return y;
    }
    let bits = Float(x).bits(scalar);
    let next = if x == 0.0 {
        1 | if y < 0.0 { 0x8000 } else { 0 }
    } else if (x < y) == (x > 0.0) {
        bits + 1
    } else {
        bits - 1
    };
    Number::of_bits(scalar, next).float()
}

/// In bounds of bit fields: what reaches beyond the width is cut off, one value where the language
/// leaves the result open.
fn field(bits: u32, offset: i128, count: i128) -> (u32, i128) {
    let offset = offset.clamp(0, bits.into()) as u32;
    let count = count.clamp(0, (bits - offset).into()) as u32;
    (offset, (1 << count) - 1)
}

fn of_integer(function: MathFunction, scalar: Scalar, a: i128, b: i128, c: i128, d: i128) -> i128 {
    use MathFunction as F;
    let bits = scalar.bits();
    let (least, greatest) = limits(scalar);
    let pattern = a as u128 & (u128::MAX >> (u128::BITS - bits));
    let high_product = || match scalar {
        Scalar::U64 => ((a as u128 * b as u128) >> bits) as i128,
        _ => (a * b) >> bits,
    };
    let product24 = || {
        let narrow = |x: i128| match scalar.is_signed() {
            true => i128::from((x as i32) << 8 >> 8),
            false => x & 0xff_ffff,
        };
        narrow(a) * narrow(b)
    };
    match function {
        F::Abs => a.abs(),
        F::Absdiff => (a - b).abs(),
        F::Addsat => (a + b).clamp(least, greatest),
        F::Subsat => (a - b).clamp(least, greatest),
        F::Clamp => a.max(b).min(c),
        F::Clz => (pattern.leading_zeros() - (u128::BITS - bits)).into(),
        F::Ctz => pattern.trailing_zeros().min(bits).into(),
        F::Popcount => pattern.count_ones().into(),
        F::ReverseBits => (pattern.reverse_bits() >> (u128::BITS - bits)) as i128,
        F::Hadd => (a + b) >> 1,
        F::Rhadd => (a + b + 1) >> 1,
        F::Mad24 => product24() + c,
        F::Madhi => high_product() + c,
        F::Madsat => a.saturating_mul(b).saturating_add(c).clamp(least, greatest),
        F::Max => a.max(b),
        F::Min => a.min(b),
        F::Mul24 => product24(),
        F::Mulhi => high_product(),
        F::Rotate => {
            let count = b as u32 % bits;
            (pattern << count | pattern >> (bits - count)) as i128
        }
        F::ExtractBits => {
            let (offset, mask) = field(bits, b, c);
            let found = (pattern >> offset) as i128 & mask;
            let sign = (mask + 1) >> 1;
            let is_negative = scalar.is_signed() && found & sign != 0;
            if is_negative {
                found - (mask + 1)
            } else {
                found
            }
        }
        F::InsertBits => {
            let (offset, mask) = field(bits, c, d);
            a & !(mask << offset) | (b & mask) << offset
        }
        // Of whole vectors, or of floats only.
        _ => a,
    }
}
