//! Scalars in memory, and the cells that hold them in registers.

use super::shared::Shared;
use crate::exec::lanes::arithmetic::truth;
use crate::exec::machine::Cell;
use crate::math::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};

/// A scalar in memory.
pub(super) trait Element {
    /// Its bits in memory.
    type Raw: Shared;
    /// What registers hold.
    type Cell: Cell;
    /// Bytes in memory.
    const SIZE: usize = size_of::<Self::Raw>();
    /// Whether a register's cell has the very bytes of memory.
    const IS_SAME: bool;

    /// The cell of bits in memory.
    fn cell(raw: Self::Raw) -> Self::Cell;

    /// The bits in memory of a cell.
    fn raw(cell: Self::Cell) -> Self::Raw;
}

macro_rules! elements {
    ($($name:ident: $raw:ty => $cell:ty, $same:literal, |$r:ident| $read:expr, |$w:ident| $write:expr;)*) => {$(
        pub(super) struct $name;
        impl Element for $name {
            type Raw = $raw;
            type Cell = $cell;
            const IS_SAME: bool = $same;
            #[inline(always)]
            fn cell($r: $raw) -> $cell {
                $read
            }
            #[inline(always)]
            fn raw($w: $cell) -> $raw {
                $write
            }
        }
    )*};
}

elements! {
    Boolean: u8 => u32, false, |r| truth(r != 0), |w| (w & 1) as u8;
    Char: u8 => i32, false, |r| i32::from(r as i8), |w| w as u8;
    Uchar: u8 => u32, false, |r| u32::from(r), |w| w as u8;
    Short: u16 => i32, false, |r| i32::from(r as i16), |w| w as u16;
    Ushort: u16 => u32, false, |r| u32::from(r), |w| w as u16;
    Word: u32 => u32, true, |r| r, |w| w;
    Wide: u64 => u64, true, |r| r, |w| w;
    Half: u16 => f32, false, |r| f16_to_f32(u32::from(r)), |w| f32_to_f16(w) as u16;
    Bfloat: u16 => f32, false, |r| bf16_to_f32(u32::from(r)), |w| f32_to_bf16(w) as u16;
}
