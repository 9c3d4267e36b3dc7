//! Loads and stores of memory that pointers reach: buffers, threadgroup memory, constants.

use std::marker::PhantomData;

use super::access;
use super::elements::Element;
use super::shared::{self, Shared};
use super::target::{Target, each_lane, target};
use crate::exec::isa::Lanes;
use crate::exec::machine::{Active, Instruction, Machine};

/// Loads `COUNT` elements into as many registers from `dst` on.
pub(super) struct Load<E, const COUNT: usize>(PhantomData<E>);
impl<E: Element, const COUNT: usize> Lanes for Load<E, COUNT> {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        let Some(access) = access(machine, i) else {
            return;
        };
        let (lanes, words) = (machine.lanes, (size_of::<E::Cell>() / 4) as u32);
        // SAFETY: `target` checks what is read; the assembler gave `COUNT` rows from `dst` on.
        unsafe {
            let target = target::<false>(machine, i, access);
            if i.dst.is_uniform() {
                if let Target::One(p) = target {
                    for c in 0..COUNT {
                        *machine.row::<E::Cell>(i.dst.offset(c as u32)) =
                            E::cell(E::Raw::load(p.add(c * E::SIZE)));
                    }
                }
                return;
            }
            let rows: [*mut E::Cell; COUNT] =
                std::array::from_fn(|c| machine.row::<E::Cell>(i.dst.offset(c as u32 * words)));
            if let Target::Contiguous(p) = target {
                let bytes = lanes * COUNT * E::SIZE;
                if COUNT == 1 && E::IS_SAME {
                    return shared::copy(p, rows[0].cast(), bytes);
                }
                let scratch = machine.scratch();
                shared::copy(p, scratch, bytes);
                let raw = std::slice::from_raw_parts(scratch.cast::<E::Raw>(), lanes * COUNT);
                for (c, row) in rows.iter().enumerate() {
                    let d = std::slice::from_raw_parts_mut(*row, lanes);
                    for (l, d) in d.iter_mut().enumerate() {
                        *d = E::cell(raw[l * COUNT + c]);
                    }
                }
                return;
            }
            each_lane(machine, i, access, target, |lane, p| {
                for (c, row) in rows.iter().enumerate() {
                    *row.add(lane) = E::cell(E::Raw::load(p.add(c * E::SIZE)));
                }
            });
        }
    }
}

/// Stores `COUNT` registers.
pub(super) struct Store<E, const COUNT: usize>(PhantomData<E>);
impl<E: Element, const COUNT: usize> Lanes for Store<E, COUNT> {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        let Some(access) = access(machine, i) else {
            return;
        };
        let lanes = machine.lanes;
        // SAFETY: `target` checks what is written; the assembler gave `COUNT` registers.
        unsafe {
            let target = target::<true>(machine, i, access);
            let rows: [(*mut E::Cell, usize); COUNT] = std::array::from_fn(|c| {
                let reg = access.registers[c];
                (machine.row::<E::Cell>(reg), usize::from(!reg.is_uniform()))
            });
            if let Target::One(p) = target {
                // All lanes write one place: the last one's value stays.
                let mask = machine.mask(i.mask);
                let all = machine.active(i.mask) == Active::All;
                let last = (0..lanes).rev().find(|&l| all || mask[l] != 0).unwrap_or(0);
                for (c, (row, step)) in rows.iter().enumerate() {
                    E::Raw::store(p.add(c * E::SIZE), E::raw(*row.add(last * step)));
                }
                return;
            }
            if let Target::Contiguous(p) = target {
                let bytes = lanes * COUNT * E::SIZE;
                if COUNT == 1 && E::IS_SAME && rows[0].1 == 1 {
                    return shared::copy(rows[0].0.cast(), p, bytes);
                }
                let scratch = machine.scratch();
                let raw = std::slice::from_raw_parts_mut(scratch.cast::<E::Raw>(), lanes * COUNT);
                for (c, (row, step)) in rows.iter().enumerate() {
                    if *step == 0 {
                        let value = E::raw(**row);
                        (0..lanes).for_each(|l| raw[l * COUNT + c] = value);
                    } else {
                        let s = std::slice::from_raw_parts(*row, lanes);
                        for (l, s) in s.iter().enumerate() {
                            raw[l * COUNT + c] = E::raw(*s);
                        }
                    }
                }
                return shared::copy(scratch, p, bytes);
            }
            each_lane(machine, i, access, target, |lane, p| {
                for (c, (row, step)) in rows.iter().enumerate() {
                    E::Raw::store(p.add(c * E::SIZE), E::raw(*row.add(lane * step)));
                }
            });
        }
    }
}
