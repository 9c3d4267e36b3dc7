//! Operators: arithmetic, bits, shifts, comparisons, of every scalar type.

use std::marker::PhantomData;

use super::{Map1, Map2, Narrowed, ToBf16, ToF16, ToI8, ToI16, ToU8, ToU16, Unary, float1, shaped};
use crate::exec::isa::{Isa, Run, version};
use crate::exec::machine::Cell;
use crate::ir::{BinaryOp, Scalar, UnaryOp};

/// A type that operators work on in registers.
pub trait Number: Cell + PartialOrd {
    /// `-x`
    fn negate(self) -> Self;
    /// `self + b`
    fn add(self, b: Self) -> Self;
    /// `self - b`
    fn subtract(self, b: Self) -> Self;
    /// `self * b`
    fn multiply(self, b: Self) -> Self;
    /// `self / b`
    fn divide(self, b: Self) -> Self;
}

/// A type that integer operators work on in registers.
pub trait Integer: Number {
    /// `self % b`
    fn remainder(self, b: Self) -> Self;
    /// `self << b`, the count modulo `bits`
    fn shift_left(self, b: Self, bits: u32) -> Self;
    /// `self >> b`, the count modulo `bits`
    fn shift_right(self, b: Self, bits: u32) -> Self;
    /// `self & b`
    fn and(self, b: Self) -> Self;
    /// `self | b`
    fn or(self, b: Self) -> Self;
    /// `self ^ b`
    fn xor(self, b: Self) -> Self;
    /// `~self`
    fn not(self) -> Self;
}

impl Number for f32 {
    #[inline(always)]
    fn negate(self) -> Self {
        -self
    }
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        self + b
    }
    #[inline(always)]
    fn subtract(self, b: Self) -> Self {
        self - b
    }
    #[inline(always)]
    fn multiply(self, b: Self) -> Self {
        self * b
    }
    #[inline(always)]
    fn divide(self, b: Self) -> Self {
        self / b
    }
}

macro_rules! integers {
    ($($t:ty),*) => {$(
        impl Number for $t {
            #[inline(always)]
            fn negate(self) -> Self { self.wrapping_neg() }
            #[inline(always)]
            fn add(self, b: Self) -> Self { self.wrapping_add(b) }
            #[inline(always)]
            fn subtract(self, b: Self) -> Self { self.wrapping_sub(b) }
            #[inline(always)]
            fn multiply(self, b: Self) -> Self { self.wrapping_mul(b) }
            #[inline(always)]
            fn divide(self, b: Self) -> Self { if b == 0 { 0 } else { self.wrapping_div(b) } }
        }
        impl Integer for $t {
            #[inline(always)]
            fn remainder(self, b: Self) -> Self { if b == 0 { self } else { self.wrapping_rem(b) } }
            #[inline(always)]
            fn shift_left(self, b: Self, bits: u32) -> Self { self.wrapping_shl(b as u32 & (bits - 1)) }
            #[inline(always)]
            fn shift_right(self, b: Self, bits: u32) -> Self { self.wrapping_shr(b as u32 & (bits - 1)) }
            #[inline(always)]
            fn and(self, b: Self) -> Self { self & b }
            #[inline(always)]
            fn or(self, b: Self) -> Self { self | b }
            #[inline(always)]
            fn xor(self, b: Self) -> Self { self ^ b }
            #[inline(always)]
            fn not(self) -> Self { !self }
        }
    )*};
}

integers!(i32, u32, i64, u64);

macro_rules! operators {
    ($($name:ident<$bound:ident>($a:ident, $b:ident) = $result:expr;)*) => {$(
        struct $name<T>(PhantomData<T>);
        impl<T: $bound> Map2 for $name<T> {
            type A = T;
            type B = T;
            type R = T;
            #[inline(always)]
            fn map($a: T, $b: T) -> T { $result }
        }
    )*};
}

operators! {
    Add<Number>(a, b) = a.add(b);
    Subtract<Number>(a, b) = a.subtract(b);
    Multiply<Number>(a, b) = a.multiply(b);
    Divide<Number>(a, b) = a.divide(b);
    Remainder<Integer>(a, b) = a.remainder(b);
    And<Integer>(a, b) = a.and(b);
    Or<Integer>(a, b) = a.or(b);
    Xor<Integer>(a, b) = a.xor(b);
}

struct ShiftLeft<T, const BITS: u32>(PhantomData<T>);
impl<T: Integer, const BITS: u32> Map2 for ShiftLeft<T, BITS> {
    type A = T;
    type B = T;
    type R = T;
    #[inline(always)]
    fn map(a: T, b: T) -> T {
        a.shift_left(b, BITS)
    }
}

struct ShiftRight<T, const BITS: u32>(PhantomData<T>);
impl<T: Integer, const BITS: u32> Map2 for ShiftRight<T, BITS> {
    type A = T;
    type B = T;
    type R = T;
    #[inline(always)]
    fn map(a: T, b: T) -> T {
        a.shift_right(b, BITS)
    }
}

macro_rules! comparisons {
    ($($name:ident($a:ident, $b:ident) = $result:expr;)*) => {$(
        struct $name<T>(PhantomData<T>);
        impl<T: Number> Map2 for $name<T> {
            type A = T;
            type B = T;
            type R = u32;
            #[inline(always)]
            fn map($a: T, $b: T) -> u32 { truth($result) }
        }
    )*};
}

comparisons! {
    Equal(a, b) = a == b;
    NotEqual(a, b) = a != b;
    Less(a, b) = a < b;
    LessEqual(a, b) = a <= b;
    Greater(a, b) = a > b;
    GreaterEqual(a, b) = a >= b;
}

/// A bool as registers hold it: all bits set or none.
#[inline(always)]
pub fn truth(condition: bool) -> u32 {
    if condition { u32::MAX } else { 0 }
}

struct Negate<T>(PhantomData<T>);
impl<T: Number> Map1 for Negate<T> {
    type A = T;
    type R = T;
    #[inline(always)]
    fn map(a: T) -> T {
        a.negate()
    }
}

struct Not<T>(PhantomData<T>);
impl<T: Integer> Map1 for Not<T> {
    type A = T;
    type R = T;
    #[inline(always)]
    fn map(a: T) -> T {
        a.not()
    }
}

/// The code of an operator with one operand.
pub fn unary(op: UnaryOp, scalar: Scalar, isa: Isa) -> Option<Run> {
    macro_rules! integer {
        ($O:ident) => {
            match scalar {
                Scalar::I8 => Some(version::<Unary<Narrowed<$O<i32>, ToI8>>>(isa)),
                Scalar::U8 => Some(version::<Unary<Narrowed<$O<u32>, ToU8>>>(isa)),
                Scalar::I16 => Some(version::<Unary<Narrowed<$O<i32>, ToI16>>>(isa)),
                Scalar::U16 => Some(version::<Unary<Narrowed<$O<u32>, ToU16>>>(isa)),
                Scalar::I32 => Some(version::<Unary<$O<i32>>>(isa)),
                Scalar::U32 | Scalar::Bool => Some(version::<Unary<$O<u32>>>(isa)),
                Scalar::I64 => Some(version::<Unary<$O<i64>>>(isa)),
                Scalar::U64 => Some(version::<Unary<$O<u64>>>(isa)),
                _ => None,
            }
        };
    }
    match op {
        UnaryOp::Negate if scalar.is_float() => float1::<Negate<f32>>(scalar, isa),
        UnaryOp::Negate => integer!(Negate),
        UnaryOp::BitwiseNot => integer!(Not),
        UnaryOp::LogicalNot if scalar == Scalar::Bool => Some(version::<Unary<Not<u32>>>(isa)),
        UnaryOp::LogicalNot => None,
    }
}

/// The code of an operator with two operands of type `scalar`.
pub fn binary(op: BinaryOp, scalar: Scalar, shape: u8, isa: Isa) -> Option<Run> {
    macro_rules! integer {
        ($O:ident) => {
            match scalar {
                Scalar::I8 => Some(shaped::<Narrowed<$O<i32>, ToI8>>(shape, isa)),
                Scalar::U8 => Some(shaped::<Narrowed<$O<u32>, ToU8>>(shape, isa)),
                Scalar::I16 => Some(shaped::<Narrowed<$O<i32>, ToI16>>(shape, isa)),
                Scalar::U16 => Some(shaped::<Narrowed<$O<u32>, ToU16>>(shape, isa)),
                Scalar::I32 => Some(shaped::<$O<i32>>(shape, isa)),
                Scalar::U32 | Scalar::Bool => Some(shaped::<$O<u32>>(shape, isa)),
                Scalar::I64 => Some(shaped::<$O<i64>>(shape, isa)),
                Scalar::U64 => Some(shaped::<$O<u64>>(shape, isa)),
                _ => None,
            }
        };
    }
    macro_rules! number {
        ($O:ident) => {
            match scalar {
                Scalar::F32 => Some(shaped::<$O<f32>>(shape, isa)),
                Scalar::F16 => Some(shaped::<Narrowed<$O<f32>, ToF16>>(shape, isa)),
                Scalar::Bf16 => Some(shaped::<Narrowed<$O<f32>, ToBf16>>(shape, isa)),
                _ => integer!($O),
            }
        };
    }
    macro_rules! shift {
        ($O:ident) => {
            match scalar {
                Scalar::I8 => Some(shaped::<Narrowed<$O<i32, 8>, ToI8>>(shape, isa)),
                Scalar::U8 => Some(shaped::<Narrowed<$O<u32, 8>, ToU8>>(shape, isa)),
                Scalar::I16 => Some(shaped::<Narrowed<$O<i32, 16>, ToI16>>(shape, isa)),
                Scalar::U16 => Some(shaped::<Narrowed<$O<u32, 16>, ToU16>>(shape, isa)),
                Scalar::I32 => Some(shaped::<$O<i32, 32>>(shape, isa)),
                Scalar::U32 => Some(shaped::<$O<u32, 32>>(shape, isa)),
                Scalar::I64 => Some(shaped::<$O<i64, 64>>(shape, isa)),
                Scalar::U64 => Some(shaped::<$O<u64, 64>>(shape, isa)),
                _ => None,
            }
        };
    }
    macro_rules! comparison {
        ($O:ident) => {
            Some(match scalar {
                Scalar::F32 | Scalar::F16 | Scalar::Bf16 => shaped::<$O<f32>>(shape, isa),
                Scalar::I8 | Scalar::I16 | Scalar::I32 => shaped::<$O<i32>>(shape, isa),
                Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::Bool => {
                    shaped::<$O<u32>>(shape, isa)
                }
                Scalar::I64 => shaped::<$O<i64>>(shape, isa),
                Scalar::U64 => shaped::<$O<u64>>(shape, isa),
            })
        };
    }
    match op {
        BinaryOp::Add => number!(Add),
        BinaryOp::Subtract => number!(Subtract),
        BinaryOp::Multiply => number!(Multiply),
        BinaryOp::Divide => number!(Divide),
        BinaryOp::Remainder => integer!(Remainder),
        BinaryOp::And => integer!(And),
        BinaryOp::Or => integer!(Or),
        BinaryOp::Xor => integer!(Xor),
        BinaryOp::ShiftLeft => shift!(ShiftLeft),
        BinaryOp::ShiftRight => shift!(ShiftRight),
        BinaryOp::Equal => comparison!(Equal),
        BinaryOp::NotEqual => comparison!(NotEqual),
        BinaryOp::Less => comparison!(Less),
        BinaryOp::LessEqual => comparison!(LessEqual),
        BinaryOp::Greater => comparison!(Greater),
        BinaryOp::GreaterEqual => comparison!(GreaterEqual),
    }
}
