//! Jumps, masks, assignments.

use std::marker::PhantomData;

use super::super::FaultKind;
use super::super::code::IndexKind;
use super::super::isa::{Isa, Lanes, Run, version};
use super::super::machine::{Active, Cell, Instruction, Machine, Mask, Operand};

/// `aux` is the target.
pub struct Jump;
impl Lanes for Jump {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        machine.pc = i.aux as usize;
    }
}

/// A jump back, where an endless loop can be ended from outside.
pub struct JumpBack;
impl Lanes for JumpBack {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        machine.pc = i.aux as usize;
        if machine.interrupted() {
            machine.fail(
                FaultKind::Interrupted,
                u32::MAX,
                0,
                "interrupted".to_string(),
            );
        }
    }
}

/// To `aux` if the uniform bool `args[0]` is false.
pub struct JumpIfFalse;
impl Lanes for JumpIfFalse {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        // SAFETY: the assembler gave a uniform bool.
        if unsafe { machine.uniform::<u32>(i.args[0]) } == 0 {
            machine.pc = i.aux as usize;
        }
    }
}

/// To `aux` if no lane of `mask` is on.
pub struct JumpIfNone;
impl Lanes for JumpIfNone {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        if machine.active(i.mask) == Active::None {
            machine.pc = i.aux as usize;
        }
    }
}

/// Sets mask `dst` to a function of mask `from` and the cells `with`, and notes how many are on.
///
/// # Safety
///
/// `with` holds bools, or is a mask's row.
#[inline(always)]
unsafe fn combine(
    machine: &mut Machine<'_>,
    dst: Mask,
    from: Mask,
    with: *const u32,
    f: impl Fn(u32, u32) -> u32,
) {
    let (n, lanes) = (machine.padded, machine.lanes);
    let (d, a) = (machine.mask_row(dst), machine.mask_row(from));
    let mut on = 0u32;
    // In blocks of a register each, so that `dst` and `from` may be one row.
    for block in (0..n).step_by(16) {
        // SAFETY: rows have `padded` cells, a multiple of 16.
        unsafe {
            let x: [u32; 16] = a.add(block).cast::<[u32; 16]>().read();
            let y: [u32; 16] = with.add(block).cast::<[u32; 16]>().read();
            let mut r = [0u32; 16];
            for l in 0..16 {
                r[l] = f(x[l], y[l]);
            }
            for l in r {
                on += l & 1;
            }
            d.add(block).cast::<[u32; 16]>().write(r);
        }
    }
    machine.set_active(
        dst,
        match on as usize {
            0 => Active::None,
            n if n == lanes => Active::All,
            _ => Active::Some,
        },
    );
}

/// mask `aux` = mask & the bools of `args[0]`
pub struct MaskAnd;
impl Lanes for MaskAnd {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        let with = machine.row::<u32>(i.args[0]);
        // SAFETY: the assembler gave a row of bools.
        unsafe { combine(machine, i.aux, i.mask, with, |m, c| m & c) };
    }
}

/// mask `aux` = mask & not the bools of `args[0]`
pub struct MaskAndNot;
impl Lanes for MaskAndNot {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        let with = machine.row::<u32>(i.args[0]);
        // SAFETY: the assembler gave a row of bools.
        unsafe { combine(machine, i.aux, i.mask, with, |m, c| m & !c) };
    }
}

/// mask `aux` = mask `aux` without the lanes of mask
pub struct MaskRemove;
impl Lanes for MaskRemove {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        match machine.active(i.mask) {
            Active::None => return,
            Active::All => {
                let n = machine.padded;
                let row = machine.mask_row(i.aux);
                // SAFETY: a mask has `padded` cells.
                unsafe { std::slice::from_raw_parts_mut(row, n) }.fill(0);
                machine.set_active(i.aux, Active::None);
                return;
            }
            Active::Some => {}
        }
        let with = machine.mask_row(i.mask);
        // SAFETY: the row of a mask.
        unsafe { combine(machine, i.aux, i.aux, with, |m, c| m & !c) };
    }
}

/// mask `aux` = mask
pub struct MaskCopy;
impl Lanes for MaskCopy {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        let (from, to) = (machine.mask_row(i.mask), machine.mask_row(i.aux));
        let n = machine.padded;
        if from != to {
            // SAFETY: two different rows of `padded` cells.
            unsafe { std::ptr::copy_nonoverlapping(from, to, n) };
        }
        let active = machine.active(i.mask);
        machine.set_active(i.aux, active);
    }
}

/// `dst = args[0]` (a row or uniform) in the lanes of `mask`.
pub struct Assign<T>(PhantomData<T>);
impl<T: Cell> Lanes for Assign<T> {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        let n = machine.width(i.dst);
        let active = machine.active(i.mask);
        // SAFETY: the assembler gave registers of these cells, two different ones.
        unsafe {
            let d = machine.cells_mut::<T>(i.dst, n);
            if i.dst.is_uniform() {
                d[0] = machine.uniform::<T>(i.args[0]);
            } else if i.args[0].is_uniform() {
                let value = machine.uniform::<T>(i.args[0]);
                if active == Active::All {
                    d.fill(value);
                } else {
                    for (d, m) in d.iter_mut().zip(machine.mask(i.mask)) {
                        *d = if *m != 0 { value } else { *d };
                    }
                }
            } else {
                let a = machine.cells::<T>(i.args[0], n);
                if active == Active::All {
                    d.copy_from_slice(a);
                } else {
                    for ((d, a), m) in d.iter_mut().zip(a).zip(machine.mask(i.mask)) {
                        *d = if *m != 0 { *a } else { *d };
                    }
                }
            }
        }
    }
}

/// `dst = args[0]` in every lane, a uniform value as a row.
pub struct Splat<T>(PhantomData<T>);
impl<T: Cell> Lanes for Splat<T> {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        let n = machine.width(i.dst);
        // SAFETY: the assembler gave a uniform register and a row of these cells.
        unsafe {
            let value = machine.uniform::<T>(i.args[0]);
            machine.cells_mut::<T>(i.dst, n).fill(value);
        }
    }
}

/// `dst = args[0] ? args[1] : args[2]`; all rows, or all uniform.
pub struct Select<T>(PhantomData<T>);
impl<T: Cell> Lanes for Select<T> {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        let n = machine.width(i.dst);
        // SAFETY: the assembler gave registers of these cells; the result's is none of the others.
        unsafe {
            let d = machine.cells_mut::<T>(i.dst, n);
            let c = machine.cells::<u32>(i.args[0], n);
            let (a, b) = (
                machine.cells::<T>(i.args[1], n),
                machine.cells::<T>(i.args[2], n),
            );
            for (((d, c), a), b) in d.iter_mut().zip(c).zip(a).zip(b) {
                *d = if *c != 0 { *a } else { *b };
            }
        }
    }
}

/// `dst` = the row of `indexed[aux]`, for lanes in `mask`.
pub struct GetIndexed<T>(PhantomData<T>);
impl<T: Cell> Lanes for GetIndexed<T> {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        // SAFETY: the assembler gave rows of these cells; `element` checks the index.
        unsafe {
            each_element(
                machine,
                i,
                |machine, lane, row| {
                    let at = if row.is_uniform() { 0 } else { lane };
                    let value = *machine.row::<T>(row).add(at);
                    *machine
                        .row::<T>(i.dst)
                        .add(if i.dst.is_uniform() { 0 } else { lane }) = value;
                },
                |machine, row| {
                    let n = machine.width(i.dst);
                    let from = machine.cells::<T>(row, n);
                    machine.cells_mut::<T>(i.dst, n).copy_from_slice(from);
                },
            );
        }
    }
}

/// The row of `indexed[aux]` = `args[0]`, for lanes in `mask`.
pub struct SetIndexed<T>(PhantomData<T>);
impl<T: Cell> Lanes for SetIndexed<T> {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        let value = i.args[0];
        // SAFETY: the assembler gave rows of these cells; `element` checks the index.
        unsafe {
            each_element(
                machine,
                i,
                |machine, lane, row| {
                    let v = *machine
                        .row::<T>(value)
                        .add(if value.is_uniform() { 0 } else { lane });
                    *machine
                        .row::<T>(row)
                        .add(if row.is_uniform() { 0 } else { lane }) = v;
                },
                |machine, row| {
                    let assign = Instruction { dst: row, ..*i };
                    Assign::<T>::run(machine, &assign);
                },
            );
        }
    }
}

/// Calls `one` with the row of each active lane, or `all` if they share one row.
///
/// # Safety
///
/// `i.aux` names an indexed access of the program.
#[inline(always)]
unsafe fn each_element(
    machine: &mut Machine<'_>,
    i: &Instruction,
    one: impl Fn(&mut Machine<'_>, usize, Operand),
    all: impl Fn(&mut Machine<'_>, Operand),
) {
    let code = machine.code;
    let Some(access) = code.indexed.get(i.aux as usize) else {
        return;
    };
    let index = |machine: &mut Machine<'_>, lane: usize| -> i64 {
        let mut total = access.offset;
        for &(reg, kind, worth) in &access.terms {
            let at = if reg.is_uniform() { 0 } else { lane };
            // SAFETY: the assembler gave a register of this kind.
            let value = unsafe {
                match kind {
                    IndexKind::Signed32 => i64::from(*machine.row::<i32>(reg).add(at)),
                    IndexKind::Unsigned32 => i64::from(*machine.row::<u32>(reg).add(at)),
                    IndexKind::Wide => *machine.row::<i64>(reg).add(at),
                }
            };
            total = total.wrapping_add(value.wrapping_mul(i64::from(worth)));
        }
        total
    };
    let row = |machine: &mut Machine<'_>, lane: usize, index: i64| -> Option<Operand> {
        if (0..i64::from(access.count)).contains(&index) {
            return Some(access.base.offset(index as u32 * access.words));
        }
        let message = format!(
            "index {index} is outside an array of {} values in the thread's registers",
            access.count
        );
        machine.fail(FaultKind::OutOfBounds, access.place, lane, message);
        None
    };
    let (active, lanes) = (machine.active(i.mask), machine.lanes);
    if access.terms.iter().all(|(reg, ..)| reg.is_uniform()) {
        let at = index(machine, 0);
        if let Some(row) = row(machine, 0, at) {
            all(machine, row);
        }
        return;
    }
    for lane in 0..lanes {
        // SAFETY: a mask has at least `lanes` cells.
        if active != Active::All && unsafe { *machine.mask_row(i.mask).add(lane) } == 0 {
            continue;
        }
        let at = index(machine, lane);
        match row(machine, lane, at) {
            Some(row) => one(machine, lane, row),
            None => return,
        }
    }
}

macro_rules! by_words {
    ($words:expr, $L:ident, $isa:expr) => {
        match $words {
            1 => version::<$L<u32>>($isa),
            _ => version::<$L<u64>>($isa),
        }
    };
}

/// [`Assign`] for cells of one or two words.
pub fn assign(words: u32, isa: Isa) -> Run {
    by_words!(words, Assign, isa)
}

/// [`Splat`] for cells of one or two words.
pub fn splat(words: u32, isa: Isa) -> Run {
    by_words!(words, Splat, isa)
}

/// [`Select`] for cells of one or two words.
pub fn select(words: u32, isa: Isa) -> Run {
    by_words!(words, Select, isa)
}

/// [`GetIndexed`] for cells of one or two words.
pub fn get_indexed(words: u32, isa: Isa) -> Run {
    by_words!(words, GetIndexed, isa)
}

/// [`SetIndexed`] for cells of one or two words.
pub fn set_indexed(words: u32, isa: Isa) -> Run {
    by_words!(words, SetIndexed, isa)
}
