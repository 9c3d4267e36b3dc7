//! Conversions between scalar types, and reinterpretation of bits.

use std::marker::PhantomData;

use super::arithmetic::truth;
use super::{Map1, Map2, Unary, shaped};
use crate::exec::isa::{Isa, Run, version};
use crate::exec::machine::Cell;
use crate::ir::Scalar;
use crate::lower::form::Kind;
use crate::math::{
    bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16, integer_to_bf16, round_to_bf16, round_to_f16,
    to_i32, to_u32,
};

/// What a scalar of a type in a register is for another type; numbers go by value.
trait Source: Cell {
    fn to_i32(self) -> i32;
    fn to_u32(self) -> u32;
    fn to_i64(self) -> i64;
    fn to_u64(self) -> u64;
    fn to_f32(self) -> f32;
    fn to_bf16(self) -> f32;
    fn is_true(self) -> bool;
}

macro_rules! integer_sources {
    ($($t:ty),*) => {$(
        impl Source for $t {
            #[inline(always)]
            fn to_i32(self) -> i32 { self as i32 }
            #[inline(always)]
            fn to_u32(self) -> u32 { self as u32 }
            #[inline(always)]
            fn to_i64(self) -> i64 { self as i64 }
            #[inline(always)]
            fn to_u64(self) -> u64 { self as u64 }
            #[inline(always)]
            fn to_f32(self) -> f32 { self as f32 }
            #[inline(always)]
            #[allow(unused_comparisons)]
            fn to_bf16(self) -> f32 {
                if self < 0 {
                    -integer_to_bf16((self as i64).unsigned_abs())
                } else {
                    integer_to_bf16(self as u64)
                }
            }
            #[inline(always)]
            fn is_true(self) -> bool { self != 0 }
        }
    )*};
}

integer_sources!(i32, u32, i64, u64);

impl Source for f32 {
    #[inline(always)]
    fn to_i32(self) -> i32 {
        to_i32(self)
    }
    #[inline(always)]
    fn to_u32(self) -> u32 {
        to_u32(self)
    }
    #[inline(always)]
    fn to_i64(self) -> i64 {
        self as i64
    }
    #[inline(always)]
    fn to_u64(self) -> u64 {
        self as u64
    }
    #[inline(always)]
    fn to_f32(self) -> f32 {
        self
    }
    #[inline(always)]
    fn to_bf16(self) -> f32 {
        round_to_bf16(self)
    }
    #[inline(always)]
    fn is_true(self) -> bool {
        self != 0.0
    }
}

macro_rules! targets {
    ($($name:ident: $r:ty = |$x:ident: $s:ident| $result:expr;)*) => {$(
        struct $name<S>(PhantomData<S>);
        impl<$s: Source> Map1 for $name<$s> {
            type A = $s;
            type R = $r;
            #[inline(always)]
            fn map($x: $s) -> $r { $result }
        }
    )*};
}

targets! {
    IntoBool: u32 = |x: S| truth(x.is_true());
    IntoI8: i32 = |x: S| x.to_i32() << 24 >> 24;
    IntoU8: u32 = |x: S| x.to_u32() & 0xff;
    IntoI16: i32 = |x: S| x.to_i32() << 16 >> 16;
    IntoU16: u32 = |x: S| x.to_u32() & 0xffff;
    IntoI32: i32 = |x: S| x.to_i32();
    IntoU32: u32 = |x: S| x.to_u32();
    IntoI64: i64 = |x: S| x.to_i64();
    IntoU64: u64 = |x: S| x.to_u64();
    IntoF32: f32 = |x: S| x.to_f32();
    IntoF16: f32 = |x: S| round_to_f16(x.to_f32());
    IntoBf16: f32 = |x: S| x.to_bf16();
}

macro_rules! maps {
    ($($name:ident: $a:ty => $r:ty = |$x:ident| $result:expr;)*) => {$(
        struct $name;
        impl Map1 for $name {
            type A = $a;
            type R = $r;
            #[inline(always)]
            fn map($x: $a) -> $r { $result }
        }
    )*};
}

maps! {
    // From bool: one or zero.
    BoolToInt: u32 => u32 = |x| x & 1;
    BoolToWide: u32 => u64 = |x| u64::from(x & 1);
    BoolToFloat: u32 => f32 = |x| (x & 1) as f32;
    // A float that saturates at the bounds of a small integer type.
    FloatToI8: f32 => i32 = |x| to_i32(x).clamp(-128, 127);
    FloatToU8: f32 => u32 = |x| to_u32(x).min(0xff);
    FloatToI16: f32 => i32 = |x| to_i32(x).clamp(-32768, 32767);
    FloatToU16: f32 => u32 = |x| to_u32(x).min(0xffff);
    // Bits.
    Copy32: u32 => u32 = |x| x;
    Copy64: u64 => u64 = |x| x;
    HalfBits: f32 => u32 = |x| f32_to_f16(x);
    BfloatBits: f32 => u32 = |x| f32_to_bf16(x);
    BitsToHalf: u32 => f32 = |x| f16_to_f32(x & 0xffff);
    BitsToBfloat: u32 => f32 = |x| bf16_to_f32(x & 0xffff);
    SignExtend8: u32 => u32 = |x| ((x << 24) as i32 >> 24) as u32;
    SignExtend16: u32 => u32 = |x| ((x << 16) as i32 >> 16) as u32;
    ZeroExtend8: u32 => u32 = |x| x & 0xff;
    ZeroExtend16: u32 => u32 = |x| x & 0xffff;
    Low: u64 => u32 = |x| x as u32;
    High: u64 => u32 = |x| (x >> 32) as u32;
    HalfBitsSigned: f32 => i32 = |x| (f32_to_f16(x) << 16) as i32 >> 16;
    BfloatBitsSigned: f32 => i32 = |x| (f32_to_bf16(x) << 16) as i32 >> 16;
    HalfToBfloat: f32 => f32 = |x| bf16_to_f32(f32_to_f16(x));
    BfloatToHalf: f32 => f32 = |x| f16_to_f32(f32_to_bf16(x));
}

struct Join;
impl Map2 for Join {
    type A = u32;
    type B = u32;
    type R = u64;
    #[inline(always)]
    fn map(low: u32, high: u32) -> u64 {
        u64::from(low) | u64::from(high) << 32
    }
}

/// Two 32-bit halves as one 64-bit cell.
pub fn join(shape: u8, isa: Isa) -> Run {
    shaped::<Join>(shape, isa)
}

/// The low or high half of a 64-bit cell.
pub fn part(high: bool, isa: Isa) -> Run {
    if high {
        version::<Unary<High>>(isa)
    } else {
        version::<Unary<Low>>(isa)
    }
}

/// A copy.
pub fn copy(kind: Kind, isa: Isa) -> Run {
    match kind.words() {
        1 => version::<Unary<Copy32>>(isa),
        _ => version::<Unary<Copy64>>(isa),
    }
}

/// Conversion by value.
pub fn convert(from: Scalar, to: Scalar, isa: Isa) -> Run {
    macro_rules! to_target {
        ($S:ty) => {
            match to {
                Scalar::Bool => version::<Unary<IntoBool<$S>>>(isa),
                Scalar::I8 => version::<Unary<IntoI8<$S>>>(isa),
                Scalar::U8 => version::<Unary<IntoU8<$S>>>(isa),
                Scalar::I16 => version::<Unary<IntoI16<$S>>>(isa),
                Scalar::U16 => version::<Unary<IntoU16<$S>>>(isa),
                Scalar::I32 => version::<Unary<IntoI32<$S>>>(isa),
                Scalar::U32 => version::<Unary<IntoU32<$S>>>(isa),
                Scalar::I64 => version::<Unary<IntoI64<$S>>>(isa),
                Scalar::U64 => version::<Unary<IntoU64<$S>>>(isa),
                Scalar::F16 => version::<Unary<IntoF16<$S>>>(isa),
                Scalar::Bf16 => version::<Unary<IntoBf16<$S>>>(isa),
                Scalar::F32 => version::<Unary<IntoF32<$S>>>(isa),
            }
        };
    }
    match (from, to) {
        (Scalar::Bool, Scalar::Bool) => version::<Unary<Copy32>>(isa),
        (Scalar::Bool, Scalar::I64 | Scalar::U64) => version::<Unary<BoolToWide>>(isa),
        (Scalar::Bool, Scalar::F16 | Scalar::Bf16 | Scalar::F32) => {
            version::<Unary<BoolToFloat>>(isa)
        }
        (Scalar::Bool, _) => version::<Unary<BoolToInt>>(isa),
        (Scalar::F16 | Scalar::Bf16 | Scalar::F32, Scalar::I8) => version::<Unary<FloatToI8>>(isa),
        (Scalar::F16 | Scalar::Bf16 | Scalar::F32, Scalar::U8) => version::<Unary<FloatToU8>>(isa),
        (Scalar::F16 | Scalar::Bf16 | Scalar::F32, Scalar::I16) => {
            version::<Unary<FloatToI16>>(isa)
        }
        (Scalar::F16 | Scalar::Bf16 | Scalar::F32, Scalar::U16) => {
            version::<Unary<FloatToU16>>(isa)
        }
        (Scalar::F16 | Scalar::Bf16 | Scalar::F32, _) => to_target!(f32),
        (Scalar::I8 | Scalar::I16 | Scalar::I32, _) => to_target!(i32),
        (Scalar::U8 | Scalar::U16 | Scalar::U32, _) => to_target!(u32),
        (Scalar::I64, _) => to_target!(i64),
        (Scalar::U64, _) => to_target!(u64),
    }
}

/// The same bits as another type of the same size.
pub fn bitcast(from: Scalar, to: Scalar, isa: Isa) -> Option<Run> {
    use Scalar::{Bf16, Bool, F16, F32, I8, I16, I32, I64, U8, U16, U32, U64};
    Some(match (from, to) {
        (a, b) if a == b && a.size() <= 4 => version::<Unary<Copy32>>(isa),
        (I64 | U64, I64 | U64) => version::<Unary<Copy64>>(isa),
        (I32 | U32 | F32, I32 | U32 | F32) => version::<Unary<Copy32>>(isa),
        (F16, U16) => version::<Unary<HalfBits>>(isa),
        (F16, I16) => version::<Unary<HalfBitsSigned>>(isa),
        (Bf16, U16) => version::<Unary<BfloatBits>>(isa),
        (Bf16, I16) => version::<Unary<BfloatBitsSigned>>(isa),
        (U16 | I16, F16) => version::<Unary<BitsToHalf>>(isa),
        (U16 | I16, Bf16) => version::<Unary<BitsToBfloat>>(isa),
        (F16, Bf16) => version::<Unary<HalfToBfloat>>(isa),
        (Bf16, F16) => version::<Unary<BfloatToHalf>>(isa),
        (U16, I16) => version::<Unary<SignExtend16>>(isa),
        (I16, U16) => version::<Unary<ZeroExtend16>>(isa),
        (U8, I8) => version::<Unary<SignExtend8>>(isa),
        (I8, U8) => version::<Unary<ZeroExtend8>>(isa),
        (Bool, U8 | I8) => version::<Unary<BoolToInt>>(isa),
        (U8 | I8, Bool) => version::<Unary<IntoBool<u32>>>(isa),
        _ => return None,
    })
}
