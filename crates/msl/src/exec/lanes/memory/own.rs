//! A thread's own memory.
//!
//! It is kept by words: word `w` of lane `l` is at `w * capacity + l`, so that what all lanes do at
//! one address is contiguous. Nobody else reaches it.

use std::marker::PhantomData;

use super::elements::Element;
use super::target::index_at;
use super::{STORE, access};
use crate::exec::FaultKind;
use crate::exec::code::Access;
use crate::exec::isa::Lanes;
use crate::exec::machine::{Active, Instruction, Machine, Operand};
use crate::lower::scalars::THREAD_MEMORY_START;

/// One lane's place in its own memory, as a byte.
///
/// # Safety
///
/// The access is one of the machine's program.
unsafe fn own_address(
    machine: &mut Machine<'_>,
    access: &Access,
    lane: usize,
) -> Result<usize, String> {
    let at = |reg: Operand| if reg.is_uniform() { 0 } else { lane };
    let mut offset = access.offset;
    // SAFETY: the assembler gave registers of these cells.
    unsafe {
        if let Some((reg, kind)) = access.index {
            let index = index_at(machine, reg, kind, at(reg));
            offset = offset.wrapping_add(index.wrapping_mul(i64::from(access.stride)));
        }
        if let Some(pointer) = access.pointer {
            offset = offset.wrapping_add(*machine.row::<u64>(pointer).add(at(pointer)) as i64);
        }
    }
    let (bytes, size) = (
        i64::from(access.size * access.count),
        i64::from(machine.code.private_size),
    );
    if (0..i64::from(THREAD_MEMORY_START)).contains(&offset) {
        return Err("through a pointer that is null".to_string());
    }
    if offset < 0 || offset.checked_add(bytes).is_none_or(|end| end > size) {
        return Err(format!(
            "{bytes} bytes at byte {offset} of the thread's own memory, which has {size} bytes"
        ));
    }
    if offset % i64::from(access.size.min(4)) != 0 {
        return Err(format!(
            "{} bytes at byte {offset} of the thread's own memory, which is not aligned",
            access.size
        ));
    }
    Ok(offset as usize)
}

/// As [`own_address`]; what is wrong ends the program.
///
/// # Safety
///
/// The access is one of the machine's program.
#[inline(always)]
unsafe fn checked(
    machine: &mut Machine<'_>,
    i: &Instruction,
    access: &Access,
    lane: usize,
) -> Option<usize> {
    // SAFETY: by the caller.
    match unsafe { own_address(machine, access, lane) } {
        Ok(at) => Some(at),
        Err(message) => {
            let verb = match i.aux & STORE {
                0 => "reads",
                _ => "writes",
            };
            let message = format!("{verb} {message}");
            machine.fail(FaultKind::OutOfBounds, access.place, lane, message);
            None
        }
    }
}

/// Calls `visit` with the memory of each element of every active lane: the lane, the element's
/// number, its first byte, and for elements of two words the second word.
///
/// # Safety
///
/// The access is one of the machine's program.
#[inline(always)]
unsafe fn each_own<E: Element>(
    machine: &mut Machine<'_>,
    i: &Instruction,
    access: &Access,
    mut visit: impl FnMut(usize, usize, *mut u8, *mut u32),
) {
    let (lanes, active) = (machine.lanes, machine.active(i.mask));
    let is_one = access.pointer.is_none_or(Operand::is_uniform)
        && access.index.is_none_or(|(reg, _)| reg.is_uniform());
    let mask = machine.mask_row(i.mask);
    // SAFETY: `checked` checks the place; a mask has `lanes` cells.
    unsafe {
        let on = |lane: usize| active == Active::All || *mask.add(lane) != 0;
        let element = |machine: &mut Machine<'_>, at: usize, c: usize| {
            let byte = at + c * E::SIZE;
            let next = if E::SIZE == 8 { byte + 4 } else { byte };
            let first = machine.own_word(byte).cast::<u8>().add(byte % 4);
            (first, machine.own_word(next))
        };
        if is_one {
            let Some(first) = (0..lanes).find(|&lane| on(lane)) else {
                return;
            };
            let Some(at) = checked(machine, i, access, first) else {
                return;
            };
            for c in 0..access.count as usize {
                let (p, next) = element(machine, at, c);
                for lane in (0..lanes).filter(|&lane| on(lane)) {
                    visit(lane, c, p.add(lane * 4), next.add(lane));
                }
            }
            return;
        }
        for lane in (0..lanes).filter(|&lane| on(lane)) {
            let Some(at) = checked(machine, i, access, lane) else {
                return;
            };
            for c in 0..access.count as usize {
                let (p, next) = element(machine, at, c);
                visit(lane, c, p.add(lane * 4), next.add(lane));
            }
        }
    }
}

/// Loads from the thread's own memory.
pub(super) struct LoadOwn<E>(PhantomData<E>);
impl<E: Element> Lanes for LoadOwn<E> {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        let Some(access) = access(machine, i) else {
            return;
        };
        let words = size_of::<E::Cell>() / 4;
        // SAFETY: `each_own` checks what is read; the assembler gave `count` rows from `dst` on.
        unsafe {
            let row = machine.row::<u32>(i.dst);
            let step = words * machine.stride();
            each_own::<E>(machine, i, access, |lane, c, p, next| {
                let d = row.add(step * c);
                if E::SIZE == 8 {
                    let wide = u64::from(p.cast::<u32>().read()) | u64::from(next.read()) << 32;
                    *d.cast::<u64>().add(lane) = wide;
                } else {
                    *d.cast::<E::Cell>().add(lane) = E::cell(p.cast::<E::Raw>().read());
                }
            });
        }
    }
}

/// Stores to the thread's own memory.
pub(super) struct StoreOwn<E>(PhantomData<E>);
impl<E: Element> Lanes for StoreOwn<E> {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        let Some(access) = access(machine, i) else {
            return;
        };
        // SAFETY: `each_own` checks what is written; the assembler gave `count` registers.
        unsafe {
            let rows: [(*mut E::Cell, usize); 4] = std::array::from_fn(|c| {
                let reg = access.registers[c];
                (machine.row::<E::Cell>(reg), usize::from(!reg.is_uniform()))
            });
            each_own::<E>(machine, i, access, |lane, c, p, next| {
                let (row, step) = rows[c % 4];
                let value = row.add(lane * step);
                if E::SIZE == 8 {
                    let wide = value.cast::<u64>().read();
                    p.cast::<u32>().write(wide as u32);
                    next.write((wide >> 32) as u32);
                } else {
                    p.cast::<E::Raw>().write(E::raw(*value));
                }
            });
        }
    }
}
