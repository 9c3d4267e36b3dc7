//! Reads and writes of memory: buffers, threadgroup memory, constants, and a thread's own memory.
//!
//! A pointer is 64 bits: a tag that names a region (0 is no region: the null pointer) above a byte
//! offset, which is biased so that it may be negative on the way. Every access is checked against
//! its region before anything is touched; the lanes that are off are not looked at.

mod atomic;
mod elements;
mod lent;
mod own;
mod shared;
mod target;

use std::marker::PhantomData;

use super::shape;
use crate::exec::code::{Access, IndexKind};
use crate::exec::isa::{Isa, Lanes, Run, version};
use crate::exec::machine::{Instruction, Machine};
use crate::ir::Scalar;
use elements::{Bfloat, Boolean, Char, Half, Short, Uchar, Ushort, Wide, Word};
use lent::{Load, Store};
use own::{LoadOwn, StoreOwn};
use target::Index;

pub use atomic::atomic_sort;

const TAG_SHIFT: u32 = 48;
const BIAS: i64 = 1 << 47;

/// The pointer to the start of the region with this tag.
pub const fn base_pointer(tag: u16) -> u64 {
    (tag as u64) << TAG_SHIFT | BIAS as u64
}

/// The tag of a pointer, and its byte offset in the region.
#[inline(always)]
const fn split(pointer: u64) -> (usize, i64) {
    let offset = (pointer & ((1 << TAG_SHIFT) - 1)) as i64 - BIAS;
    ((pointer >> TAG_SHIFT) as usize, offset)
}

/// `dst` = the pointer `args[0]` moved by the index `args[1]` times `aux` bytes.
struct Move<I, const SHAPE: u8>(PhantomData<I>);
impl<I: Index, const SHAPE: u8> Lanes for Move<I, SHAPE> {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        let n = machine.width(i.dst);
        let stride = i64::from(i.aux);
        let by = |index: I| index.wide().wrapping_mul(stride) as u64;
        let [a, b, _] = i.args;
        // SAFETY: the assembler gave registers of these cells; the result's is none of the others.
        unsafe {
            let d = machine.cells_mut::<u64>(i.dst, n);
            match SHAPE {
                shape::FIRST => {
                    let step = by(machine.uniform::<I>(b));
                    for (d, a) in d.iter_mut().zip(machine.cells::<u64>(a, n)) {
                        *d = a.wrapping_add(step);
                    }
                }
                shape::SECOND => {
                    let a = machine.uniform::<u64>(a);
                    for (d, b) in d.iter_mut().zip(machine.cells::<I>(b, n)) {
                        *d = a.wrapping_add(by(*b));
                    }
                }
                _ => {
                    let (a, b) = (machine.cells::<u64>(a, n), machine.cells::<I>(b, n));
                    for ((d, a), b) in d.iter_mut().zip(a).zip(b) {
                        *d = a.wrapping_add(by(*b));
                    }
                }
            }
        }
    }
}

/// The code that moves a pointer by an index.
pub fn move_pointer(kind: IndexKind, shape: u8, isa: Isa) -> Run {
    fn of<I: Index>(shape: u8, isa: Isa) -> Run {
        match shape {
            shape::FIRST => version::<Move<I, { shape::FIRST }>>(isa),
            shape::SECOND => version::<Move<I, { shape::SECOND }>>(isa),
            _ => version::<Move<I, { shape::BOTH }>>(isa),
        }
    }
    match kind {
        IndexKind::Signed32 => of::<i32>(shape, isa),
        IndexKind::Unsigned32 => of::<u32>(shape, isa),
        IndexKind::Wide => of::<i64>(shape, isa),
    }
}

/// Marks a store in `Instruction::aux`.
pub const STORE: u32 = 1 << 31;

fn access<'a>(machine: &Machine<'a>, i: &Instruction) -> Option<&'a Access> {
    let code = machine.code;
    code.accesses.get((i.aux & !STORE) as usize)
}

macro_rules! by_element {
    ($scalar:expr, $pointer:expr, |$E:ident| $code:expr) => {
        match $scalar {
            _ if $pointer => {
                type $E = Wide;
                $code
            }
            Scalar::Bool => {
                type $E = Boolean;
                $code
            }
            Scalar::I8 => {
                type $E = Char;
                $code
            }
            Scalar::U8 => {
                type $E = Uchar;
                $code
            }
            Scalar::I16 => {
                type $E = Short;
                $code
            }
            Scalar::U16 => {
                type $E = Ushort;
                $code
            }
            Scalar::I32 | Scalar::U32 | Scalar::F32 => {
                type $E = Word;
                $code
            }
            Scalar::I64 | Scalar::U64 => {
                type $E = Wide;
                $code
            }
            Scalar::F16 => {
                type $E = Half;
                $code
            }
            Scalar::Bf16 => {
                type $E = Bfloat;
                $code
            }
        }
    };
}

/// The code of a load of `count` elements.
pub fn load(scalar: Scalar, is_pointer: bool, count: u32, private: bool, isa: Isa) -> Run {
    by_element!(scalar, is_pointer, |E| match count {
        _ if private => version::<LoadOwn<E>>(isa),
        1 => version::<Load<E, 1>>(isa),
        2 => version::<Load<E, 2>>(isa),
        3 => version::<Load<E, 3>>(isa),
        _ => version::<Load<E, 4>>(isa),
    })
}

/// The code of a store of `count` elements.
pub fn store(scalar: Scalar, is_pointer: bool, count: u32, private: bool, isa: Isa) -> Run {
    by_element!(scalar, is_pointer, |E| match count {
        _ if private => version::<StoreOwn<E>>(isa),
        1 => version::<Store<E, 1>>(isa),
        2 => version::<Store<E, 2>>(isa),
        3 => version::<Store<E, 3>>(isa),
        _ => version::<Store<E, 4>>(isa),
    })
}

/// The code of an atomic operation.
pub fn atomic(isa: Isa) -> Run {
    version::<atomic::Atomic>(isa)
}
