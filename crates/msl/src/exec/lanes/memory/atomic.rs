//! Atomic operations, lane by lane.

use std::sync::atomic::{AtomicU32, Ordering};

use super::access;
use super::target::lane_address;
use crate::exec::FaultKind;
use crate::exec::isa::Lanes;
use crate::exec::machine::{Instruction, Machine, Operand};
use crate::ir::AtomicOp;
use crate::math::{fmax, fmin};

/// An atomic operation on 32 bits, lane by lane.
pub(super) struct Atomic;
impl Lanes for Atomic {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        let Some(access) = access(machine, i) else {
            return;
        };
        let (Some(op), lanes) = (access.atomic, machine.lanes) else {
            return;
        };
        let sort = access.registers[3];
        for lane in 0..lanes {
            // SAFETY: `lane_address` checks what is reached; the assembler gave 32-bit registers.
            unsafe {
                if *machine.mask_row(i.mask).add(lane) == 0 {
                    continue;
                }
                let p = match lane_address(machine, access, lane, op != AtomicOp::Load) {
                    Ok(p) if (p as usize).is_multiple_of(4) => p,
                    Ok(_) => {
                        let message =
                            "updates an atomic that is not aligned to 4 bytes".to_string();
                        return machine.fail(FaultKind::OutOfBounds, access.place, lane, message);
                    }
                    Err(message) => {
                        let message = format!("updates {message}");
                        return machine.fail(FaultKind::OutOfBounds, access.place, lane, message);
                    }
                };
                let mut arg = |n: usize| {
                    let reg = access.registers[n];
                    *machine
                        .row::<u32>(reg)
                        .add(if reg.is_uniform() { 0 } else { lane })
                };
                let (a, b) = (arg(0), arg(1));
                let old = update(AtomicU32::from_ptr(p.cast()), op, sort, a, b);
                if op != AtomicOp::Store {
                    *machine.row::<u32>(i.dst).add(lane) = old;
                }
            }
        }
    }
}

/// Which arithmetic an atomic's 32 bits have, kept in the place of a register's name.
pub mod atomic_sort {
    use super::Operand;

    /// uint and bool
    pub const UNSIGNED: Operand = Operand::lanes(0);
    /// int
    pub const SIGNED: Operand = Operand::lanes(1);
    /// float
    pub const FLOAT: Operand = Operand::lanes(2);
}

fn update(cell: &AtomicU32, op: AtomicOp, sort: Operand, a: u32, b: u32) -> u32 {
    const RELAXED: Ordering = Ordering::Relaxed;
    let float = |f: fn(f32, f32) -> f32| {
        let next = |old: u32| Some(f(f32::from_bits(old), f32::from_bits(a)).to_bits());
        cell.fetch_update(RELAXED, RELAXED, next)
            .unwrap_or_else(|old| old)
    };
    let signed = |f: fn(i32, i32) -> i32| {
        let next = |old: u32| Some(f(old as i32, a as i32) as u32);
        cell.fetch_update(RELAXED, RELAXED, next)
            .unwrap_or_else(|old| old)
    };
    let is_float = sort == atomic_sort::FLOAT;
    let is_signed = sort == atomic_sort::SIGNED;
    match op {
        AtomicOp::Load => cell.load(RELAXED),
        AtomicOp::Store => {
            cell.store(a, RELAXED);
            a
        }
        AtomicOp::Exchange => cell.swap(a, RELAXED),
        AtomicOp::CompareExchange => cell
            .compare_exchange(a, b, RELAXED, RELAXED)
            .unwrap_or_else(|old| old),
        AtomicOp::Add if is_float => float(|x, y| x + y),
        AtomicOp::Subtract if is_float => float(|x, y| x - y),
        AtomicOp::Min if is_float => float(fmin),
        AtomicOp::Max if is_float => float(fmax),
        AtomicOp::Min if is_signed => signed(i32::min),
        AtomicOp::Max if is_signed => signed(i32::max),
        AtomicOp::Add => cell.fetch_add(a, RELAXED),
        AtomicOp::Subtract => cell.fetch_sub(a, RELAXED),
        AtomicOp::Min => cell.fetch_min(a, RELAXED),
        AtomicOp::Max => cell.fetch_max(a, RELAXED),
        AtomicOp::And => cell.fetch_and(a, RELAXED),
        AtomicOp::Or => cell.fetch_or(a, RELAXED),
        AtomicOp::Xor => cell.fetch_xor(a, RELAXED),
    }
}
