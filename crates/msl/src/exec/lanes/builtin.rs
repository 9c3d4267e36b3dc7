//! The thread's place in its SIMD-group, threadgroup and grid.

use super::super::isa::Lanes;
use super::super::machine::{Instruction, Machine, Place};
use crate::ir::Builtin;

/// Lanes of a SIMD-group.
pub const SIMD_WIDTH: usize = 32;

/// `dst` = the component that `builtins[aux]` names.
pub struct ReadBuiltin;
impl Lanes for ReadBuiltin {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        let code = machine.code;
        let Some(&(builtin, component)) = code.builtins.get(i.aux as usize) else {
            return;
        };
        let (place, n) = (machine.place, machine.width(i.dst));
        // SAFETY: the assembler gave a register of 32-bit cells.
        let d = unsafe { machine.cells_mut::<u32>(i.dst, n) };
        if let Some(value) = of_threadgroup(&place, builtin, usize::from(component)) {
            d.fill(value as u32);
            return;
        }
        match builtin {
            Builtin::ThreadPositionInGrid => {
                let c = usize::from(component);
                positions(d, &place, c, (place.group[c] * place.full[c]) as u32);
            }
            Builtin::ThreadPositionInThreadgroup => positions(d, &place, usize::from(component), 0),
            Builtin::ThreadIndexInThreadgroup => each(d, |lane| lane),
            Builtin::ThreadIndexInSimdgroup => each(d, |lane| lane % SIMD_WIDTH as u32),
            Builtin::ThreadIndexInQuadgroup => each(d, |lane| lane % 4),
            Builtin::SimdgroupIndexInThreadgroup => each(d, |lane| lane / SIMD_WIDTH as u32),
            _ => each(d, |lane| lane / 4),
        }
    }
}

#[inline(always)]
fn each(d: &mut [u32], f: impl Fn(u32) -> u32) {
    for (lane, d) in (0..).zip(d) {
        *d = f(lane);
    }
}

/// One coordinate of every thread's position in the threadgroup, moved by `base`.
#[inline(always)]
fn positions(d: &mut [u32], place: &Place, component: usize, base: u32) {
    let before = place.size[..component].iter().product::<u64>() as u32;
    let size = place.size[component] as u32;
    let inner = component == 0;
    if inner && place.size[1] == 1 && place.size[2] == 1 {
        return each(d, |lane| base.wrapping_add(lane));
    }
    // Counting is quicker than dividing, and no lane is left out.
    let (mut at, mut repeat) = (0, 0);
    for d in d {
        *d = base.wrapping_add(at);
        repeat += 1;
        if repeat >= before.max(1) {
            repeat = 0;
            at = if at + 1 >= size { 0 } else { at + 1 };
        }
    }
}

/// What is the same for the whole threadgroup.
fn of_threadgroup(place: &Place, builtin: Builtin, component: usize) -> Option<u64> {
    let threads = |size: [u64; 3]| size.iter().product::<u64>();
    Some(match builtin {
        Builtin::ThreadgroupPositionInGrid => place.group[component],
        Builtin::ThreadsPerGrid => place.grid[component],
        Builtin::ThreadsPerThreadgroup => place.size[component],
        Builtin::DispatchThreadsPerThreadgroup => place.full[component],
        Builtin::ThreadgroupsPerGrid => place.groups[component],
        Builtin::ThreadsPerSimdgroup => SIMD_WIDTH as u64,
        Builtin::SimdgroupsPerThreadgroup => threads(place.size).div_ceil(SIMD_WIDTH as u64),
        Builtin::DispatchSimdgroupsPerThreadgroup => {
            threads(place.full).div_ceil(SIMD_WIDTH as u64)
        }
        Builtin::QuadgroupsPerThreadgroup => threads(place.size).div_ceil(4),
        Builtin::GridOrigin => 0,
        _ => return None,
    })
}
