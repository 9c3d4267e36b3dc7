//! The maths library: which scalar definition of [`crate::math`] serves which function and type.

use std::marker::PhantomData;

use super::arithmetic::truth;
use super::{
    Map1, Map2, Map3, Narrowed, Ternary, ToI8, ToI16, ToU8, ToU16, Unary, float1, float2, float3,
    shaped,
};
use crate::exec::isa::{Isa, Run, version};
use crate::exec::machine::Cell;
use crate::ir::{MathFunction, Scalar};
use crate::math;

macro_rules! map1 {
    ($($name:ident: $a:ty => $r:ty = $f:expr;)*) => {$(
        struct $name;
        impl Map1 for $name {
            type A = $a;
            type R = $r;
            #[inline(always)]
            fn map(a: $a) -> $r { ($f)(a) }
        }
    )*};
}

macro_rules! map2 {
    ($($name:ident: $a:ty, $b:ty => $r:ty = $f:expr;)*) => {$(
        struct $name;
        impl Map2 for $name {
            type A = $a;
            type B = $b;
            type R = $r;
            #[inline(always)]
            fn map(a: $a, b: $b) -> $r { ($f)(a, b) }
        }
    )*};
}

macro_rules! map3 {
    ($($name:ident: $a:ty => $f:expr;)*) => {$(
        struct $name;
        impl Map3 for $name {
            type A = $a;
            type R = $a;
            #[inline(always)]
            fn map(a: $a, b: $a, c: $a) -> $a { ($f)(a, b, c) }
        }
    )*};
}

map1! {
    Acos: f32 => f32 = math::acos;
    Acosh: f32 => f32 = math::acosh;
    Asin: f32 => f32 = math::asin;
    Asinh: f32 => f32 = math::asinh;
    Atan: f32 => f32 = math::atan;
    Atanh: f32 => f32 = math::atanh;
    Ceil: f32 => f32 = math::ceil;
    Cos: f32 => f32 = math::cos;
    Cosh: f32 => f32 = math::cosh;
    Cospi: f32 => f32 = math::cospi;
    Exp: f32 => f32 = math::exp;
    Exp2: f32 => f32 = math::exp2;
    Exp10: f32 => f32 = math::exp10;
    Fabs: f32 => f32 = f32::abs;
    Floor: f32 => f32 = math::floor;
    Fract: f32 => f32 = math::fract;
    Log: f32 => f32 = math::log;
    Log2: f32 => f32 = math::log2;
    Log10: f32 => f32 = math::log10;
    Rint: f32 => f32 = math::rint;
    Round: f32 => f32 = math::round;
    Rsqrt: f32 => f32 = math::rsqrt;
    Saturate: f32 => f32 = math::saturate;
    Sign: f32 => f32 = math::sign;
    Sin: f32 => f32 = math::sin;
    Sinh: f32 => f32 = math::sinh;
    Sinpi: f32 => f32 = math::sinpi;
    Sqrt: f32 => f32 = math::sqrt;
    Tan: f32 => f32 = math::tan;
    Tanh: f32 => f32 = math::tanh;
    Tanpi: f32 => f32 = math::tanpi;
    Trunc: f32 => f32 = math::trunc;
    FrexpFraction: f32 => f32 = |x| math::frexp(x).0;
    FrexpExponent: f32 => i32 = |x| math::frexp(x).1;
    Ilogb: f32 => i32 = math::ilogb;
    Isfinite: f32 => u32 = |x: f32| truth(x.abs() < f32::INFINITY);
    Isinf: f32 => u32 = |x: f32| truth(x.abs() == f32::INFINITY);
    Isnan: f32 => u32 = |x: f32| truth(x.is_nan());
    Signbit: f32 => u32 = |x: f32| truth(x.to_bits() >> 31 != 0);
    NormalF32: f32 => u32 = |x: f32| truth(x.abs() < f32::INFINITY && x.abs() >= f32::MIN_POSITIVE);
    NormalF16: f32 => u32 = |x: f32| truth(x.abs() < f32::INFINITY && x.abs() >= 6.103_515_6e-5);
}

map2! {
    Atan2: f32, f32 => f32 = math::atan2;
    Copysign: f32, f32 => f32 = f32::copysign;
    Fdim: f32, f32 => f32 = math::fdim;
    Fmax: f32, f32 => f32 = math::fmax;
    Fmin: f32, f32 => f32 = math::fmin;
    Fmod: f32, f32 => f32 = math::fmod;
    Ldexp: f32, i32 => f32 = math::ldexp;
    NextafterF32: f32, f32 => f32 = math::nextafter;
    NextafterF16: f32, f32 => f32 = math::nextafter_f16;
    NextafterBf16: f32, f32 => f32 = math::nextafter_bf16;
    Pow: f32, f32 => f32 = math::pow;
    Powr: f32, f32 => f32 = math::powr;
    Step: f32, f32 => f32 = math::step;
}

map3! {
    Fma: f32 => f32::mul_add;
    Mix: f32 => math::mix;
    Smoothstep: f32 => math::smoothstep;
    Fclamp: f32 => |x, low, high| math::fmin(math::fmax(x, low), high);
}

/// Integer functions, in register cells; `BITS` is the type's width.
trait Bits: Cell + Ord {
    fn absolute(self) -> Self;
    fn difference(self, b: Self) -> Self;
    fn saturating_sum(self, b: Self, bits: u32) -> Self;
    fn saturating_difference(self, b: Self, bits: u32) -> Self;
    fn saturating_product_sum(self, b: Self, c: Self, bits: u32) -> Self;
    fn leading_zeros(self, bits: u32) -> Self;
    fn trailing_zeros(self, bits: u32) -> Self;
    fn ones(self, bits: u32) -> Self;
    fn reversed(self, bits: u32) -> Self;
    fn rotated(self, b: Self, bits: u32) -> Self;
    fn half_sum(self, b: Self) -> Self;
    fn rounded_half_sum(self, b: Self) -> Self;
    fn high_product(self, b: Self, bits: u32) -> Self;
    fn sum(self, b: Self) -> Self;
    fn product24(self, b: Self) -> Self;
}

macro_rules! bits {
    ($($t:ty, $u:ty, $wide:ty;)*) => {$(
        impl Bits for $t {
            #[inline(always)]
            fn absolute(self) -> Self { if self < 0 as $t { (0 as $t).wrapping_sub(self) } else { self } }
            #[inline(always)]
            fn difference(self, b: Self) -> Self { if self > b { self.wrapping_sub(b) } else { b.wrapping_sub(self) } }
            #[inline(always)]
            fn saturating_sum(self, b: Self, bits: u32) -> Self { limit!($t, $wide, bits, self as $wide + b as $wide) }
            #[inline(always)]
            fn saturating_difference(self, b: Self, bits: u32) -> Self { limit!($t, $wide, bits, (self as $wide).wrapping_sub(b as $wide)) }
            #[inline(always)]
            fn saturating_product_sum(self, b: Self, c: Self, bits: u32) -> Self {
                if <$t>::MIN == 0 {
                    // The product of two unsigned numbers may not fit the signed wide type.
                    let exact = self.checked_mul(b).and_then(|product| product.checked_add(c));
                    return exact.unwrap_or(<$t>::MAX).min(<$t>::MAX >> (<$t>::BITS - bits));
                }
                limit!($t, $wide, bits, (self as $wide).wrapping_mul(b as $wide).wrapping_add(c as $wide))
            }
            #[inline(always)]
            fn leading_zeros(self, bits: u32) -> Self {
                ((self as $u) << (<$t>::BITS - bits) | low_ones!($u, <$t>::BITS - bits)).leading_zeros().min(bits) as $t
            }
            #[inline(always)]
            fn trailing_zeros(self, bits: u32) -> Self { (self as $u).trailing_zeros().min(bits) as $t }
            #[inline(always)]
            fn ones(self, bits: u32) -> Self { ((self as $u) << (<$t>::BITS - bits)).count_ones() as $t }
            #[inline(always)]
            fn reversed(self, bits: u32) -> Self { ((self as $u).reverse_bits() >> (<$t>::BITS - bits)) as $t }
            #[inline(always)]
            fn rotated(self, b: Self, bits: u32) -> Self {
                let x = (self as $u) << (<$t>::BITS - bits) >> (<$t>::BITS - bits);
                let n = b as u32 & (bits - 1);
                (x << n | x >> ((bits - n) & (bits - 1))) as $t
            }
            #[inline(always)]
            fn half_sum(self, b: Self) -> Self { (self & b).wrapping_add((self ^ b) >> 1) }
            #[inline(always)]
            fn rounded_half_sum(self, b: Self) -> Self { (self | b).wrapping_sub((self ^ b) >> 1) }
            #[inline(always)]
            fn high_product(self, b: Self, bits: u32) -> Self { ((self as $wide).wrapping_mul(b as $wide) >> bits) as $t }
            #[inline(always)]
            fn sum(self, b: Self) -> Self { self.wrapping_add(b) }
            #[inline(always)]
            fn product24(self, b: Self) -> Self {
                let narrow = |x: $t| x << (<$t>::BITS - 24) >> (<$t>::BITS - 24);
                narrow(self).wrapping_mul(narrow(b))
            }
        }
    )*};
}

macro_rules! low_ones {
    ($u:ty, $n:expr) => {
        (((1 as $u) << ($n & (<$u>::BITS - 1))) - 1) as $u
    };
}

macro_rules! limit {
    ($t:ty, $wide:ty, $bits:expr, $value:expr) => {{
        let signed = <$t>::MIN != 0;
        let shift = <$t>::BITS - $bits;
        let (low, high) = match signed {
            true => ((<$t>::MIN >> shift) as $wide, (<$t>::MAX >> shift) as $wide),
            false => (0, (<$t>::MAX >> shift) as $wide),
        };
        let value: $wide = $value;
        value.clamp(low, high) as $t
    }};
}

bits! {
    i32, u32, i64;
    u32, u32, i64;
    i64, u64, i128;
    u64, u64, i128;
}

macro_rules! bit_functions1 {
    ($($name:ident = |$x:ident, $bits:ident| $result:expr;)*) => {$(
        struct $name<T, const BITS: u32>(PhantomData<T>);
        impl<T: Bits, const BITS: u32> Map1 for $name<T, BITS> {
            type A = T;
            type R = T;
            #[inline(always)]
            fn map($x: T) -> T { let $bits = BITS; let _ = $bits; $result }
        }
    )*};
}

macro_rules! bit_functions2 {
    ($($name:ident = |$x:ident, $y:ident, $bits:ident| $result:expr;)*) => {$(
        struct $name<T, const BITS: u32>(PhantomData<T>);
        impl<T: Bits, const BITS: u32> Map2 for $name<T, BITS> {
            type A = T;
            type B = T;
            type R = T;
            #[inline(always)]
            fn map($x: T, $y: T) -> T { let $bits = BITS; let _ = $bits; $result }
        }
    )*};
}

macro_rules! bit_functions3 {
    ($($name:ident = |$x:ident, $y:ident, $z:ident, $bits:ident| $result:expr;)*) => {$(
        struct $name<T, const BITS: u32>(PhantomData<T>);
        impl<T: Bits, const BITS: u32> Map3 for $name<T, BITS> {
            type A = T;
            type R = T;
            #[inline(always)]
            fn map($x: T, $y: T, $z: T) -> T { let $bits = BITS; let _ = $bits; $result }
        }
    )*};
}

bit_functions1! {
    Abs = |x, bits| x.absolute();
    Clz = |x, bits| x.leading_zeros(bits);
    Ctz = |x, bits| x.trailing_zeros(bits);
    Popcount = |x, bits| x.ones(bits);
    ReverseBits = |x, bits| x.reversed(bits);
}

bit_functions2! {
    Absdiff = |x, y, bits| x.difference(y);
    Addsat = |x, y, bits| x.saturating_sum(y, bits);
    Subsat = |x, y, bits| x.saturating_difference(y, bits);
    Hadd = |x, y, bits| x.half_sum(y);
    Rhadd = |x, y, bits| x.rounded_half_sum(y);
    Max = |x, y, bits| x.max(y);
    Min = |x, y, bits| x.min(y);
    Mulhi = |x, y, bits| x.high_product(y, bits);
    Rotate = |x, y, bits| x.rotated(y, bits);
    Mul24 = |x, y, bits| x.product24(y);
}

bit_functions3! {
    Clamp = |x, low, high, bits| x.max(low).min(high);
    Mad24 = |x, y, z, bits| x.product24(y).sum(z);
    Madhi = |x, y, z, bits| x.high_product(y, bits).sum(z);
    Madsat = |x, y, z, bits| x.saturating_product_sum(y, z, bits);
}

/// How an operand's registers are shaped: see [`super::shape`].
type Shape = u8;

/// The code of a function whose operands (the first one, at least) are of type `scalar`.
pub fn math(function: MathFunction, scalar: Scalar, shape: Shape, isa: Isa) -> Option<Run> {
    use MathFunction as F;
    macro_rules! integer {
        ($as:ident, $O:ident) => {
            match scalar {
                Scalar::I8 => Some($as!(Narrowed<$O<i32, 8>, ToI8>)),
                Scalar::U8 => Some($as!(Narrowed<$O<u32, 8>, ToU8>)),
                Scalar::I16 => Some($as!(Narrowed<$O<i32, 16>, ToI16>)),
                Scalar::U16 => Some($as!(Narrowed<$O<u32, 16>, ToU16>)),
                Scalar::I32 => Some($as!($O<i32, 32>)),
                Scalar::U32 => Some($as!($O<u32, 32>)),
                Scalar::I64 => Some($as!($O<i64, 64>)),
                Scalar::U64 => Some($as!($O<u64, 64>)),
                _ => None,
            }
        };
    }
    macro_rules! one {
        ($O:ty) => {
            version::<Unary<$O>>(isa)
        };
    }
    macro_rules! two {
        ($O:ty) => {
            shaped::<$O>(shape, isa)
        };
    }
    macro_rules! three {
        ($O:ty) => {
            version::<Ternary<$O>>(isa)
        };
    }
    let is_float = scalar.is_float();
    let float_to = |run: Run| is_float.then_some(run);
    match function {
        F::Acos => float1::<Acos>(scalar, isa),
        F::Acosh => float1::<Acosh>(scalar, isa),
        F::Asin => float1::<Asin>(scalar, isa),
        F::Asinh => float1::<Asinh>(scalar, isa),
        F::Atan => float1::<Atan>(scalar, isa),
        F::Atanh => float1::<Atanh>(scalar, isa),
        F::Ceil => float1::<Ceil>(scalar, isa),
        F::Cos => float1::<Cos>(scalar, isa),
        F::Cosh => float1::<Cosh>(scalar, isa),
        F::Cospi => float1::<Cospi>(scalar, isa),
        F::Exp => float1::<Exp>(scalar, isa),
        F::Exp2 => float1::<Exp2>(scalar, isa),
        F::Exp10 => float1::<Exp10>(scalar, isa),
        F::Fabs => float1::<Fabs>(scalar, isa),
        F::Floor => float1::<Floor>(scalar, isa),
        F::Fract => float1::<Fract>(scalar, isa),
        F::Log => float1::<Log>(scalar, isa),
        F::Log2 => float1::<Log2>(scalar, isa),
        F::Log10 => float1::<Log10>(scalar, isa),
        F::Rint => float1::<Rint>(scalar, isa),
        F::Round => float1::<Round>(scalar, isa),
        F::Rsqrt => float1::<Rsqrt>(scalar, isa),
        F::Saturate => float1::<Saturate>(scalar, isa),
        F::Sign => float1::<Sign>(scalar, isa),
        F::Sin => float1::<Sin>(scalar, isa),
        F::Sinh => float1::<Sinh>(scalar, isa),
        F::Sinpi => float1::<Sinpi>(scalar, isa),
        F::Sqrt => float1::<Sqrt>(scalar, isa),
        F::Tan => float1::<Tan>(scalar, isa),
        F::Tanh => float1::<Tanh>(scalar, isa),
        F::Tanpi => float1::<Tanpi>(scalar, isa),
        F::Trunc => float1::<Trunc>(scalar, isa),
        F::FrexpFraction => float1::<FrexpFraction>(scalar, isa),
        F::FrexpExponent => float_to(version::<Unary<FrexpExponent>>(isa)),
        F::Ilogb => float_to(version::<Unary<Ilogb>>(isa)),
        F::Atan2 => float2::<Atan2>(scalar, shape, isa),
        F::Copysign => float2::<Copysign>(scalar, shape, isa),
        F::Fdim => float2::<Fdim>(scalar, shape, isa),
        F::Fmax => float2::<Fmax>(scalar, shape, isa),
        F::Fmin => float2::<Fmin>(scalar, shape, isa),
        F::Fmod => float2::<Fmod>(scalar, shape, isa),
        F::Nextafter => match scalar {
            Scalar::F32 => Some(shaped::<NextafterF32>(shape, isa)),
            Scalar::F16 => Some(shaped::<NextafterF16>(shape, isa)),
            Scalar::Bf16 => Some(shaped::<NextafterBf16>(shape, isa)),
            _ => None,
        },
        F::Pow => float2::<Pow>(scalar, shape, isa),
        F::Powr => float2::<Powr>(scalar, shape, isa),
        F::Step => float2::<Step>(scalar, shape, isa),
        F::Ldexp => match scalar {
            Scalar::F32 => Some(shaped::<Ldexp>(shape, isa)),
            Scalar::F16 => Some(shaped::<Narrowed<Ldexp, super::ToF16>>(shape, isa)),
            Scalar::Bf16 => Some(shaped::<Narrowed<Ldexp, super::ToBf16>>(shape, isa)),
            _ => None,
        },
        F::Fma => float3::<Fma>(scalar, isa),
        F::Mix => float3::<Mix>(scalar, isa),
        F::Smoothstep => float3::<Smoothstep>(scalar, isa),
        F::Fclamp => float3::<Fclamp>(scalar, isa),
        F::Isfinite => float_to(version::<Unary<Isfinite>>(isa)),
        F::Isinf => float_to(version::<Unary<Isinf>>(isa)),
        F::Isnan => float_to(version::<Unary<Isnan>>(isa)),
        F::Isnormal if scalar == Scalar::F16 => Some(version::<Unary<NormalF16>>(isa)),
        F::Isnormal => float_to(version::<Unary<NormalF32>>(isa)),
        F::Signbit => float_to(version::<Unary<Signbit>>(isa)),
        F::Abs => integer!(one, Abs),
        F::Clz => integer!(one, Clz),
        F::Ctz => integer!(one, Ctz),
        F::Popcount => integer!(one, Popcount),
        F::ReverseBits => integer!(one, ReverseBits),
        F::Absdiff => integer!(two, Absdiff),
        F::Addsat => integer!(two, Addsat),
        F::Subsat => integer!(two, Subsat),
        F::Hadd => integer!(two, Hadd),
        F::Rhadd => integer!(two, Rhadd),
        F::Max => integer!(two, Max),
        F::Min => integer!(two, Min),
        F::Mulhi => integer!(two, Mulhi),
        F::Rotate => integer!(two, Rotate),
        F::Mul24 => integer!(two, Mul24),
        F::Clamp => integer!(three, Clamp),
        F::Mad24 => integer!(three, Mad24),
        F::Madhi => integer!(three, Madhi),
        F::Madsat => integer!(three, Madsat),
        // Taken apart into operators before this point.
        F::All | F::Any | F::Dot | F::ExtractBits | F::InsertBits => None,
    }
}
