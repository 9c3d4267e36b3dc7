//! What instructions do to rows of lanes, one family a module.

pub mod arithmetic;
pub mod builtin;
pub mod control;
pub mod convert;
pub mod maths;
pub mod memory;
pub mod simd;

use std::marker::PhantomData;

use super::isa::{Isa, Lanes, Run, version};
use super::machine::{Cell, Instruction, Machine};
use crate::ir::Scalar;
use crate::math::{round_to_bf16, round_to_f16};

/// A function of one cell.
pub trait Map1 {
    /// The operand's cells.
    type A: Cell;
    /// The result's cells.
    type R: Cell;
    /// The function.
    fn map(a: Self::A) -> Self::R;
}

/// A function of two cells.
pub trait Map2 {
    /// The first operand's cells.
    type A: Cell;
    /// The second operand's cells.
    type B: Cell;
    /// The result's cells.
    type R: Cell;
    /// The function.
    fn map(a: Self::A, b: Self::B) -> Self::R;
}

/// A function of three cells of one type.
pub trait Map3 {
    /// The operands' cells.
    type A: Cell;
    /// The result's cells.
    type R: Cell;
    /// The function.
    fn map(a: Self::A, b: Self::A, c: Self::A) -> Self::R;
}

/// `dst = O(a)`; a uniform operand only with a uniform result.
pub struct Unary<O>(PhantomData<O>);

impl<O: Map1> Lanes for Unary<O> {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        let n = machine.width(i.dst);
        // SAFETY: the assembler gave operands of these cells, the result's row is none of them.
        let (d, a) = unsafe {
            (
                machine.cells_mut::<O::R>(i.dst, n),
                machine.cells::<O::A>(i.args[0], n),
            )
        };
        for (d, a) in d.iter_mut().zip(a) {
            *d = O::map(*a);
        }
    }
}

/// Which operands of a [`Binary`] are rows like the result.
pub mod shape {
    /// Both (or both uniform with the result).
    pub const BOTH: u8 = 0;
    /// The second is uniform.
    pub const FIRST: u8 = 1;
    /// The first is uniform.
    pub const SECOND: u8 = 2;
}

/// `dst = O(a, b)`.
pub struct Binary<O, const SHAPE: u8>(PhantomData<O>);

impl<O: Map2, const SHAPE: u8> Lanes for Binary<O, SHAPE> {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        let n = machine.width(i.dst);
        let [a, b, _] = i.args;
        // SAFETY: the assembler gave operands of these cells, the result's row is none of them.
        unsafe {
            let d = machine.cells_mut::<O::R>(i.dst, n);
            match SHAPE {
                shape::FIRST => {
                    let (a, b) = (machine.cells::<O::A>(a, n), machine.uniform::<O::B>(b));
                    for (d, a) in d.iter_mut().zip(a) {
                        *d = O::map(*a, b);
                    }
                }
                shape::SECOND => {
                    let (a, b) = (machine.uniform::<O::A>(a), machine.cells::<O::B>(b, n));
                    for (d, b) in d.iter_mut().zip(b) {
                        *d = O::map(a, *b);
                    }
                }
                _ => {
                    let (a, b) = (machine.cells::<O::A>(a, n), machine.cells::<O::B>(b, n));
                    for ((d, a), b) in d.iter_mut().zip(a).zip(b) {
                        *d = O::map(*a, *b);
                    }
                }
            }
        }
    }
}

/// `dst = O(a, b, c)`; all rows, or all uniform.
pub struct Ternary<O>(PhantomData<O>);

impl<O: Map3> Lanes for Ternary<O> {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        let n = machine.width(i.dst);
        // SAFETY: the assembler gave operands of these cells, the result's row is none of them.
        let (d, [a, b, c]) = unsafe {
            (
                machine.cells_mut::<O::R>(i.dst, n),
                i.args.map(|x| machine.cells::<O::A>(x, n)),
            )
        };
        for (((d, a), b), c) in d.iter_mut().zip(a).zip(b).zip(c) {
            *d = O::map(*a, *b, *c);
        }
    }
}

/// Brings a result into the range or precision of a narrower type.
pub trait Narrow {
    /// The cells.
    type C: Cell;
    /// The nearest value (floats) or the low bits (integers).
    fn narrow(x: Self::C) -> Self::C;
}

macro_rules! narrow {
    ($($(#[$doc:meta])* $name:ident: $cell:ty = $function:expr;)*) => {$(
        $(#[$doc])*
        pub struct $name;
        impl Narrow for $name {
            type C = $cell;
            #[inline(always)]
            fn narrow(x: $cell) -> $cell {
                ($function)(x)
            }
        }
    )*};
}

narrow! {
    /// To half.
    ToF16: f32 = round_to_f16;
    /// To bfloat.
    ToBf16: f32 = round_to_bf16;
    /// To char, in signed cells.
    ToI8: i32 = |x: i32| x << 24 >> 24;
    /// To short, in signed cells.
    ToI16: i32 = |x: i32| x << 16 >> 16;
    /// To uchar, in unsigned cells.
    ToU8: u32 = |x: u32| x & 0xff;
    /// To ushort, in unsigned cells.
    ToU16: u32 = |x: u32| x & 0xffff;
}

/// A function followed by a [`Narrow`].
pub struct Narrowed<O, N>(PhantomData<(O, N)>);

impl<O: Map1<R = N::C>, N: Narrow> Map1 for Narrowed<O, N> {
    type A = O::A;
    type R = O::R;
    #[inline(always)]
    fn map(a: O::A) -> O::R {
        N::narrow(O::map(a))
    }
}

impl<O: Map2<R = N::C>, N: Narrow> Map2 for Narrowed<O, N> {
    type A = O::A;
    type B = O::B;
    type R = O::R;
    #[inline(always)]
    fn map(a: O::A, b: O::B) -> O::R {
        N::narrow(O::map(a, b))
    }
}

impl<O: Map3<R = N::C>, N: Narrow> Map3 for Narrowed<O, N> {
    type A = O::A;
    type R = O::R;
    #[inline(always)]
    fn map(a: O::A, b: O::A, c: O::A) -> O::R {
        N::narrow(O::map(a, b, c))
    }
}

/// The versions of a function of floats for the three floating types.
pub fn float1<O: Map1<A = f32, R = f32>>(scalar: Scalar, isa: Isa) -> Option<Run> {
    match scalar {
        Scalar::F32 => Some(version::<Unary<O>>(isa)),
        Scalar::F16 => Some(version::<Unary<Narrowed<O, ToF16>>>(isa)),
        Scalar::Bf16 => Some(version::<Unary<Narrowed<O, ToBf16>>>(isa)),
        _ => None,
    }
}

/// The version of a binary function for a shape.
pub fn shaped<O: Map2>(shape: u8, isa: Isa) -> Run {
    match shape {
        shape::FIRST => version::<Binary<O, { shape::FIRST }>>(isa),
        shape::SECOND => version::<Binary<O, { shape::SECOND }>>(isa),
        _ => version::<Binary<O, { shape::BOTH }>>(isa),
    }
}

/// The versions of a function of two floats for the three floating types.
pub fn float2<O: Map2<A = f32, B = f32, R = f32>>(
    scalar: Scalar,
    shape: u8,
    isa: Isa,
) -> Option<Run> {
    match scalar {
        Scalar::F32 => Some(shaped::<O>(shape, isa)),
        Scalar::F16 => Some(shaped::<Narrowed<O, ToF16>>(shape, isa)),
        Scalar::Bf16 => Some(shaped::<Narrowed<O, ToBf16>>(shape, isa)),
        _ => None,
    }
}

/// The versions of a function of three floats for the three floating types.
pub fn float3<O: Map3<A = f32, R = f32>>(scalar: Scalar, isa: Isa) -> Option<Run> {
    match scalar {
        Scalar::F32 => Some(version::<Ternary<O>>(isa)),
        Scalar::F16 => Some(version::<Ternary<Narrowed<O, ToF16>>>(isa)),
        Scalar::Bf16 => Some(version::<Ternary<Narrowed<O, ToBf16>>>(isa)),
        _ => None,
    }
}
