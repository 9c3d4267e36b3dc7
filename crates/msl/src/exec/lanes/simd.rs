//! Operations across the lanes of a SIMD-group (32 threads) or quad (4 threads).
//!
//! Lanes that are not active take no part; what a shuffle reads from such a lane is whatever its
//! register holds, as on a GPU. Reductions go through the active lanes by halves, so that the
//! result does not depend on anything but the values.

use std::marker::PhantomData;

use super::super::isa::{Isa, Lanes, Run, version};
use super::super::machine::{Active, Cell, Instruction, Machine};
use super::arithmetic::{Integer, Number, truth};
use super::builtin::SIMD_WIDTH;
use super::{Narrow, ToBf16, ToF16, ToI8, ToI16, ToU8, ToU16};
use crate::ir::{Scalar, SimdOp};
use crate::math::{fmax, fmin};

/// How two lanes combine, and what an absent lane counts as.
trait Combine<T> {
    fn combine(a: T, b: T) -> T;
    fn neutral() -> T;
}

/// What combination needs of a number.
trait Reducible: Number {
    const ZERO: Self;
    const ONE: Self;
    const LEAST: Self;
    const MOST: Self;
    fn least(self, b: Self) -> Self;
    fn most(self, b: Self) -> Self;
}

macro_rules! reducible {
    ($($t:ty),*) => {$(
        impl Reducible for $t {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const LEAST: Self = <$t>::MIN;
            const MOST: Self = <$t>::MAX;
            #[inline(always)]
            fn least(self, b: Self) -> Self { if b < self { b } else { self } }
            #[inline(always)]
            fn most(self, b: Self) -> Self { if b > self { b } else { self } }
        }
    )*};
}

reducible!(i32, u32, i64, u64);

impl Reducible for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const LEAST: Self = f32::NEG_INFINITY;
    const MOST: Self = f32::INFINITY;
    #[inline(always)]
    fn least(self, b: Self) -> Self {
        fmin(self, b)
    }
    #[inline(always)]
    fn most(self, b: Self) -> Self {
        fmax(self, b)
    }
}

macro_rules! combinations {
    ($($name:ident<$bound:ident>($a:ident, $b:ident) = $result:expr, $neutral:expr;)*) => {$(
        struct $name;
        impl<T: $bound + Reducible> Combine<T> for $name {
            #[inline(always)]
            fn combine($a: T, $b: T) -> T { $result }
            #[inline(always)]
            fn neutral() -> T { $neutral }
        }
    )*};
}

combinations! {
    Sum<Number>(a, b) = a.add(b), T::ZERO;
    Product<Number>(a, b) = a.multiply(b), T::ONE;
    Min<Number>(a, b) = a.least(b), T::MOST;
    Max<Number>(a, b) = a.most(b), T::LEAST;
    And<Integer>(a, b) = a.and(b), T::ZERO.not();
    Or<Integer>(a, b) = a.or(b), T::ZERO;
    Xor<Integer>(a, b) = a.xor(b), T::ZERO;
}

/// No narrowing.
struct Whole<T>(PhantomData<T>);
impl<T: Cell> Narrow for Whole<T> {
    type C = T;
    #[inline(always)]
    fn narrow(x: T) -> T {
        x
    }
}

/// One group of `WIDTH` lanes at a time: reads the operand, calls `f`, writes what it returns for
/// the active lanes.
///
/// # Safety
///
/// The assembler gave rows (a uniform operand is splatted before) of these cells.
#[inline(always)]
unsafe fn each_group<A: Cell, R: Cell, const WIDTH: usize>(
    machine: &mut Machine<'_>,
    i: &Instruction,
    f: impl Fn([A; WIDTH], [bool; WIDTH]) -> [R; WIDTH],
) {
    let (n, lanes) = (machine.padded, machine.lanes);
    let all = machine.active(i.mask) == Active::All;
    // SAFETY: by the caller.
    unsafe {
        let mask = machine.mask(i.mask);
        let a = machine.cells::<A>(i.args[0], n);
        let d = machine.cells_mut::<R>(i.dst, n);
        for start in (0..lanes).step_by(WIDTH) {
            // The last group of an odd-sized threadgroup ends with its last lane.
            let value = std::array::from_fn(|l| a[(start + l).min(n - 1)]);
            let on = std::array::from_fn(|l| {
                let lane = start + l;
                lane < lanes && (all || mask[lane] != 0)
            });
            let result: [R; WIDTH] = f(value, on);
            let room = WIDTH.min(n - start);
            d[start..start + room].copy_from_slice(&result[..room]);
        }
    }
}

struct Reduce<C, T, N, const WIDTH: usize>(PhantomData<(C, T, N)>);
impl<T: Cell, C: Combine<T>, N: Narrow<C = T>, const WIDTH: usize> Lanes
    for Reduce<C, T, N, WIDTH>
{
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        // SAFETY: as `each_group`.
        unsafe {
            each_group::<T, T, WIDTH>(machine, i, |value, on| {
                let mut v: [T; WIDTH] =
                    std::array::from_fn(|l| if on[l] { value[l] } else { C::neutral() });
                let mut half = WIDTH / 2;
                while half > 0 {
                    for l in 0..half {
                        v[l] = N::narrow(C::combine(v[l], v[l + half]));
                    }
                    half /= 2;
                }
                [v[0]; WIDTH]
            });
        }
    }
}

struct Scan<C, T, N, const INCLUSIVE: bool>(PhantomData<(C, T, N)>);
impl<T: Cell, C: Combine<T>, N: Narrow<C = T>, const INCLUSIVE: bool> Lanes
    for Scan<C, T, N, INCLUSIVE>
{
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        // SAFETY: as `each_group`.
        unsafe {
            each_group::<T, T, SIMD_WIDTH>(machine, i, |value, on| {
                let mut total = C::neutral();
                std::array::from_fn(|l| {
                    let before = total;
                    if on[l] {
                        total = N::narrow(C::combine(total, value[l]));
                    }
                    if INCLUSIVE { total } else { before }
                })
            });
        }
    }
}

/// Which lane a lane reads from: its own number, the operand, the width. `None` leaves it its own.
trait Route {
    fn source(lane: u32, operand: u32, width: u32) -> Option<u32>;
}

macro_rules! routes {
    ($($name:ident($lane:ident, $operand:ident, $width:ident) = $source:expr;)*) => {$(
        struct $name;
        impl Route for $name {
            #[inline(always)]
            fn source($lane: u32, $operand: u32, $width: u32) -> Option<u32> {
                let _ = ($lane, $width);
                $source
            }
        }
    )*};
}

routes! {
    ToLane(lane, operand, width) = (operand < width).then_some(operand);
    ByXor(lane, operand, width) = Some(lane ^ operand).filter(|&s| s < width);
    Up(lane, operand, width) = lane.checked_sub(operand);
    Down(lane, operand, width) = lane.checked_add(operand).filter(|&s| s < width);
    RotateUp(lane, operand, width) = Some(lane.wrapping_sub(operand) % width);
    RotateDown(lane, operand, width) = Some(lane.wrapping_add(operand) % width);
}

/// `dst` = `args[0]` of the lane that the route and `args[1]` name.
struct Shuffle<R, T, const WIDTH: usize>(PhantomData<(R, T)>);
impl<R: Route, T: Cell, const WIDTH: usize> Lanes for Shuffle<R, T, WIDTH> {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        let (n, lanes) = (machine.padded, machine.lanes);
        // SAFETY: the assembler gave rows of these cells.
        unsafe {
            let a = machine.cells::<T>(i.args[0], n);
            let by = machine.cells::<u32>(i.args[1], n);
            let d = machine.cells_mut::<T>(i.dst, n);
            for start in (0..lanes).step_by(WIDTH) {
                for lane in start..(start + WIDTH).min(lanes) {
                    let own = (lane - start) as u32;
                    let from = R::source(own, by[lane], WIDTH as u32).unwrap_or(own) as usize;
                    d[lane] = a[(start + from).min(lanes - 1)];
                }
            }
        }
    }
}

/// `dst` = `args[0]` of the lane `args[2]` below (or above), or `args[1]` of the lane that wraps.
struct ShuffleAndFill<T, const UP: bool>(PhantomData<T>);
impl<T: Cell, const UP: bool> Lanes for ShuffleAndFill<T, UP> {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        let (n, lanes) = (machine.padded, machine.lanes);
        // SAFETY: the assembler gave rows of these cells.
        unsafe {
            let a = machine.cells::<T>(i.args[0], n);
            let fill = machine.cells::<T>(i.args[1], n);
            let by = machine.cells::<u32>(i.args[2], n);
            let d = machine.cells_mut::<T>(i.dst, n);
            for lane in 0..lanes {
                let (start, own) = (lane / SIMD_WIDTH * SIMD_WIDTH, lane % SIMD_WIDTH);
                let distance = by[lane] as usize % SIMD_WIDTH;
                let (from, wraps) = if UP {
                    ((own + SIMD_WIDTH - distance) % SIMD_WIDTH, own < distance)
                } else {
                    ((own + distance) % SIMD_WIDTH, own + distance >= SIMD_WIDTH)
                };
                let at = (start + from).min(lanes - 1);
                d[lane] = if wraps { fill[at] } else { a[at] };
            }
        }
    }
}

/// `dst` = `args[0]` of the first active lane.
struct BroadcastFirst<T>(PhantomData<T>);
impl<T: Cell> Lanes for BroadcastFirst<T> {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        // SAFETY: as `each_group`.
        unsafe {
            each_group::<T, T, SIMD_WIDTH>(machine, i, |value, on| {
                [value[on.iter().position(|&on| on).unwrap_or(0)]; SIMD_WIDTH]
            });
        }
    }
}

/// `dst` = whether the bool `args[0]` holds in all (or any) active lanes.
struct Vote<const ALL: bool, const WIDTH: usize>;
impl<const ALL: bool, const WIDTH: usize> Lanes for Vote<ALL, WIDTH> {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        // SAFETY: as `each_group`.
        unsafe {
            each_group::<u32, u32, WIDTH>(machine, i, |value, on| {
                let mut lanes = value.iter().zip(on).filter(|(_, on)| *on);
                let vote = match ALL {
                    true => lanes.all(|(v, _)| *v != 0),
                    false => lanes.any(|(v, _)| *v != 0),
                };
                [truth(vote); WIDTH]
            });
        }
    }
}

/// `dst` = a bit for each active lane in which the bool `args[0]` holds.
struct Ballot;
impl Lanes for Ballot {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        // SAFETY: as `each_group`.
        unsafe {
            each_group::<u32, u64, SIMD_WIDTH>(machine, i, |value, on| {
                let bits = (0..SIMD_WIDTH).filter(|&l| on[l] && value[l] != 0);
                [bits.fold(0, |bits, l| bits | 1 << l); SIMD_WIDTH]
            });
        }
    }
}

/// `dst` = whether this is the first active lane; `args[0]` is any row of 32-bit cells.
struct IsFirst;
impl Lanes for IsFirst {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        // SAFETY: as `each_group`.
        unsafe {
            each_group::<u32, u32, SIMD_WIDTH>(machine, i, |_, on| {
                let first = on.iter().position(|&on| on);
                std::array::from_fn(|l| truth(Some(l) == first))
            });
        }
    }
}

/// The code of an operation whose data is of type `scalar`.
pub fn simd(op: SimdOp, scalar: Scalar, isa: Isa) -> Option<Run> {
    macro_rules! integers {
        ($F:ident, $C:ident, $($width:tt)*) => {
            match scalar {
                Scalar::I8 => version::<$F<$C, i32, ToI8, $($width)*>>(isa),
                Scalar::U8 => version::<$F<$C, u32, ToU8, $($width)*>>(isa),
                Scalar::I16 => version::<$F<$C, i32, ToI16, $($width)*>>(isa),
                Scalar::U16 => version::<$F<$C, u32, ToU16, $($width)*>>(isa),
                Scalar::I32 => version::<$F<$C, i32, Whole<i32>, $($width)*>>(isa),
                Scalar::U32 => version::<$F<$C, u32, Whole<u32>, $($width)*>>(isa),
                Scalar::I64 => version::<$F<$C, i64, Whole<i64>, $($width)*>>(isa),
                Scalar::U64 => version::<$F<$C, u64, Whole<u64>, $($width)*>>(isa),
                _ => return None,
            }
        };
    }
    macro_rules! numbers {
        ($F:ident, $C:ident, $($width:tt)*) => {
            match scalar {
                Scalar::F32 => version::<$F<$C, f32, Whole<f32>, $($width)*>>(isa),
                Scalar::F16 => version::<$F<$C, f32, ToF16, $($width)*>>(isa),
                Scalar::Bf16 => version::<$F<$C, f32, ToBf16, $($width)*>>(isa),
                _ => integers!($F, $C, $($width)*),
            }
        };
    }
    // What is one of the operands is never out of range, but what absent lanes count as may be: it
    // must not be narrowed.
    macro_rules! choices_of_integers {
        ($C:ident, $width:literal) => {
            match scalar {
                Scalar::I8 | Scalar::I16 | Scalar::I32 => {
                    version::<Reduce<$C, i32, Whole<i32>, $width>>(isa)
                }
                Scalar::U8 | Scalar::U16 | Scalar::U32 => {
                    version::<Reduce<$C, u32, Whole<u32>, $width>>(isa)
                }
                Scalar::I64 => version::<Reduce<$C, i64, Whole<i64>, $width>>(isa),
                Scalar::U64 => version::<Reduce<$C, u64, Whole<u64>, $width>>(isa),
                _ => return None,
            }
        };
    }
    macro_rules! choices {
        ($C:ident, $width:literal) => {
            match scalar {
                Scalar::F32 | Scalar::F16 | Scalar::Bf16 => {
                    version::<Reduce<$C, f32, Whole<f32>, $width>>(isa)
                }
                _ => choices_of_integers!($C, $width),
            }
        };
    }
    macro_rules! data {
        ($F:ident<$R:ident, $width:literal>) => {
            if scalar.size() == 8 {
                version::<$F<$R, u64, $width>>(isa)
            } else {
                version::<$F<$R, u32, $width>>(isa)
            }
        };
    }
    let wide = scalar.size() == 8;
    Some(match op {
        SimdOp::Sum => numbers!(Reduce, Sum, 32),
        SimdOp::Product => numbers!(Reduce, Product, 32),
        SimdOp::Min => choices!(Min, 32),
        SimdOp::Max => choices!(Max, 32),
        SimdOp::And => choices_of_integers!(And, 32),
        SimdOp::Or => choices_of_integers!(Or, 32),
        SimdOp::Xor => choices_of_integers!(Xor, 32),
        SimdOp::QuadSum => numbers!(Reduce, Sum, 4),
        SimdOp::QuadProduct => numbers!(Reduce, Product, 4),
        SimdOp::QuadMin => choices!(Min, 4),
        SimdOp::QuadMax => choices!(Max, 4),
        SimdOp::QuadAnd => choices_of_integers!(And, 4),
        SimdOp::QuadOr => choices_of_integers!(Or, 4),
        SimdOp::QuadXor => choices_of_integers!(Xor, 4),
        SimdOp::PrefixInclusiveSum => numbers!(Scan, Sum, true),
        SimdOp::PrefixExclusiveSum => numbers!(Scan, Sum, false),
        SimdOp::PrefixInclusiveProduct => numbers!(Scan, Product, true),
        SimdOp::PrefixExclusiveProduct => numbers!(Scan, Product, false),
        SimdOp::Broadcast | SimdOp::Shuffle => data!(Shuffle<ToLane, 32>),
        SimdOp::ShuffleXor => data!(Shuffle<ByXor, 32>),
        SimdOp::ShuffleUp => data!(Shuffle<Up, 32>),
        SimdOp::ShuffleDown => data!(Shuffle<Down, 32>),
        SimdOp::ShuffleRotateUp => data!(Shuffle<RotateUp, 32>),
        SimdOp::ShuffleRotateDown => data!(Shuffle<RotateDown, 32>),
        SimdOp::QuadBroadcast | SimdOp::QuadShuffle => data!(Shuffle<ToLane, 4>),
        SimdOp::QuadShuffleXor => data!(Shuffle<ByXor, 4>),
        SimdOp::QuadShuffleUp => data!(Shuffle<Up, 4>),
        SimdOp::QuadShuffleDown => data!(Shuffle<Down, 4>),
        SimdOp::ShuffleAndFillUp if wide => version::<ShuffleAndFill<u64, true>>(isa),
        SimdOp::ShuffleAndFillUp => version::<ShuffleAndFill<u32, true>>(isa),
        SimdOp::ShuffleAndFillDown if wide => version::<ShuffleAndFill<u64, false>>(isa),
        SimdOp::ShuffleAndFillDown => version::<ShuffleAndFill<u32, false>>(isa),
        SimdOp::BroadcastFirst if wide => version::<BroadcastFirst<u64>>(isa),
        SimdOp::BroadcastFirst => version::<BroadcastFirst<u32>>(isa),
        SimdOp::All => version::<Vote<true, 32>>(isa),
        SimdOp::Any => version::<Vote<false, 32>>(isa),
        SimdOp::QuadAll => version::<Vote<true, 4>>(isa),
        SimdOp::QuadAny => version::<Vote<false, 4>>(isa),
        SimdOp::Ballot | SimdOp::ActiveThreadsMask => version::<Ballot>(isa),
        SimdOp::IsFirst => version::<IsFirst>(isa),
    })
}
