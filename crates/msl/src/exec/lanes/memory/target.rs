//! Where an access goes: every address is checked before anything is touched.

use super::{BIAS, STORE, TAG_SHIFT, split};
use crate::exec::FaultKind;
use crate::exec::code::{Access, IndexKind};
use crate::exec::machine::{Active, Cell, Instruction, Machine, Operand};

/// Where the lanes of an access go, once checked.
#[derive(Clone, Copy)]
pub(super) enum Target {
    /// All to one address.
    One(*mut u8),
    /// Lane 0 to this address, each further lane to the next element.
    Contiguous(*mut u8),
    /// Each lane by its index from this address.
    Indexed(*mut u8, Operand, IndexKind),
    /// Each lane by its pointer; the address that a pointer of offset 0 in its region has.
    Pointers(*mut u8, Operand),
    /// Each lane in its own region.
    Mixed,
    /// Refused; the fault is noted.
    Bad,
}

/// Checks an access for the lanes of the mask.
///
/// # Safety
///
/// The access is one of the machine's program.
#[inline(always)]
pub(super) unsafe fn target<const WRITES: bool>(
    machine: &mut Machine<'_>,
    i: &Instruction,
    access: &Access,
) -> Target {
    let active = machine.active(i.mask);
    if active == Active::None {
        return Target::Bad;
    }
    let Some(pointer) = access.pointer else {
        return Target::Mixed;
    };
    let bytes = i64::from(access.size * access.count);
    let varying = access.index.filter(|(reg, _)| !reg.is_uniform());
    // SAFETY: the assembler gave registers of these cells.
    unsafe {
        let mut fixed = access.offset;
        if let (Some((reg, kind)), None) = (access.index, varying) {
            fixed = fixed.wrapping_add(
                index_at(machine, reg, kind, 0).wrapping_mul(i64::from(access.stride)),
            );
        }
        if pointer.is_uniform() {
            let (tag, start) = split(machine.uniform::<u64>(pointer));
            let Some(region) = tag
                .checked_sub(1)
                .and_then(|t| machine.regions.get(t))
                .copied()
            else {
                return bad(machine, i, access);
            };
            let start = start.wrapping_add(fixed);
            let fits = |low: i64, high: i64| {
                low >= 0
                    && high
                        .checked_add(bytes)
                        .is_some_and(|end| end <= region.room(WRITES) as i64)
            };
            let Some((reg, kind)) = varying else {
                return match fits(start, start) {
                    true => Target::One(region.pointer.offset(start as isize)),
                    false => bad(machine, i, access),
                };
            };
            let (low, high, in_order) = match kind {
                IndexKind::Unsigned32 => extremes::<u32>(machine, i, reg, access.counts_up),
                IndexKind::Signed32 => extremes::<i32>(machine, i, reg, access.counts_up),
                IndexKind::Wide => extremes::<i64>(machine, i, reg, access.counts_up),
            };
            let stride = i64::from(access.stride);
            let at = |index: i64| index.checked_mul(stride).and_then(|b| b.checked_add(start));
            let (Some(low), Some(high)) = (at(low), at(high)) else {
                return bad(machine, i, access);
            };
            if !fits(low, high) {
                return bad(machine, i, access);
            }
            if in_order && stride == bytes {
                return Target::Contiguous(region.pointer.offset(low as isize));
            }
            // The base may lie outside the region; only lanes' addresses are used.
            return Target::Indexed(region.pointer.wrapping_offset(start as isize), reg, kind);
        }
        if varying.is_some() || access.index.is_some() {
            return Target::Mixed;
        }
        let cells = machine.cells::<u64>(pointer, machine.lanes);
        let (low, high, in_order) = pointer_extremes(machine, i, cells, active, bytes as u64);
        let ((tag, low_offset), (high_tag, high_offset)) = (split(low), split(high));
        if tag != high_tag {
            return Target::Mixed;
        }
        let Some(region) = tag
            .checked_sub(1)
            .and_then(|t| machine.regions.get(t))
            .copied()
        else {
            return bad(machine, i, access);
        };
        let (low, high) = (
            low_offset.wrapping_add(fixed),
            high_offset.wrapping_add(fixed),
        );
        if low < 0
            || high
                .checked_add(bytes)
                .is_none_or(|end| end > region.room(WRITES) as i64)
        {
            return bad(machine, i, access);
        }
        if in_order {
            return Target::Contiguous(region.pointer.offset(low as isize));
        }
        Target::Pointers(
            region.pointer.wrapping_offset((fixed - BIAS) as isize),
            pointer,
        )
    }
}

/// An index as it is read.
pub(super) trait Index: Cell + Ord {
    const LEAST: Self;
    const MOST: Self;
    fn wide(self) -> i64;
    fn after(self, lane: usize) -> Self;
}

macro_rules! indices {
    ($($t:ty),*) => {$(
        impl Index for $t {
            const LEAST: Self = <$t>::MIN;
            const MOST: Self = <$t>::MAX;
            #[inline(always)]
            fn wide(self) -> i64 { self as i64 }
            #[inline(always)]
            fn after(self, lane: usize) -> Self { self.wrapping_add(lane as $t) }
        }
    )*};
}

indices!(u32, i32, i64);

/// The least and greatest index of the active lanes, and whether all lanes count up by one.
///
/// # Safety
///
/// The register is a row of these cells.
#[inline(always)]
unsafe fn extremes<T: Index>(
    machine: &mut Machine<'_>,
    i: &Instruction,
    reg: Operand,
    counts_up: bool,
) -> (i64, i64, bool) {
    let (lanes, active) = (machine.lanes, machine.active(i.mask));
    // SAFETY: by the caller.
    let (cells, mask) = unsafe { (machine.cells::<T>(reg, lanes), machine.mask(i.mask)) };
    if active == Active::All {
        let first = cells[0];
        let [_, rows, layers] = machine.place.size;
        if counts_up && rows * layers == 1 {
            // What counts up and has not wrapped at the end has not wrapped on the way.
            let (low, high) = (first.wide(), cells[lanes - 1].wide());
            if high.wrapping_sub(low) == lanes as i64 - 1 {
                return (low, high, true);
            }
        }
        let mut in_order = true;
        for (lane, cell) in cells.iter().enumerate() {
            in_order &= *cell == first.after(lane);
        }
        if in_order && first.after(lanes - 1) >= first {
            return (first.wide(), first.after(lanes - 1).wide(), true);
        }
        let (mut low, mut high) = (T::MOST, T::LEAST);
        for cell in cells {
            low = low.min(*cell);
            high = high.max(*cell);
        }
        return (low.wide(), high.wide(), false);
    }
    let (mut low, mut high) = (T::MOST, T::LEAST);
    for (cell, m) in cells.iter().zip(mask) {
        low = low.min(if *m != 0 { *cell } else { T::MOST });
        high = high.max(if *m != 0 { *cell } else { T::LEAST });
    }
    (low.wide(), high.wide(), false)
}

/// The least and greatest pointer of the active lanes, and whether all lanes count up by `bytes`.
///
/// # Safety
///
/// `i.mask` is a mask of the machine's program.
#[inline(always)]
unsafe fn pointer_extremes(
    machine: &mut Machine<'_>,
    i: &Instruction,
    cells: &[u64],
    active: Active,
    bytes: u64,
) -> (u64, u64, bool) {
    let (mut low, mut high) = (u64::MAX, 0);
    if active == Active::All {
        let first = cells[0];
        let mut in_order = true;
        for (lane, cell) in (0..).zip(cells) {
            in_order &= *cell == first.wrapping_add(bytes * lane);
            low = low.min(*cell);
            high = high.max(*cell);
        }
        return (low, high, in_order);
    }
    // SAFETY: by the caller.
    for (cell, m) in cells.iter().zip(unsafe { machine.mask(i.mask) }) {
        low = low.min(if *m != 0 { *cell } else { u64::MAX });
        high = high.max(if *m != 0 { *cell } else { 0 });
    }
    (low, high, false)
}

/// # Safety
///
/// The register is a row of these cells with more than `lane` of them, or uniform and `lane` is 0.
#[inline(always)]
pub(super) unsafe fn index_at(
    machine: &mut Machine<'_>,
    reg: Operand,
    kind: IndexKind,
    lane: usize,
) -> i64 {
    // SAFETY: by the caller.
    unsafe {
        match kind {
            IndexKind::Signed32 => i64::from(*machine.row::<i32>(reg).add(lane)),
            IndexKind::Unsigned32 => i64::from(*machine.row::<u32>(reg).add(lane)),
            IndexKind::Wide => *machine.row::<i64>(reg).add(lane),
        }
    }
}

/// One lane's address, checked: the memory, or what is wrong with it.
///
/// # Safety
///
/// The access is one of the machine's program.
pub(super) unsafe fn lane_address(
    machine: &mut Machine<'_>,
    access: &Access,
    lane: usize,
    writes: bool,
) -> Result<*mut u8, String> {
    let at = |reg: Operand| if reg.is_uniform() { 0 } else { lane };
    let mut offset = access.offset;
    // SAFETY: the assembler gave registers of these cells.
    unsafe {
        if let Some((reg, kind)) = access.index {
            let index = index_at(machine, reg, kind, at(reg));
            offset = offset.wrapping_add(index.wrapping_mul(i64::from(access.stride)));
        }
        let bytes = i64::from(access.size * access.count);
        let pointer = access
            .pointer
            .map_or(0, |reg| *machine.row::<u64>(reg).add(at(reg)));
        let (tag, start) = split(pointer);
        let Some(region) = tag
            .checked_sub(1)
            .and_then(|t| machine.regions.get(t))
            .copied()
        else {
            return Err("the pointer is null or points nowhere".to_string());
        };
        let offset = start.wrapping_add(offset);
        if offset >= 0
            && offset
                .checked_add(bytes)
                .is_some_and(|end| end <= region.room(writes) as i64)
        {
            return Ok(region.pointer.offset(offset as isize));
        }
        let name = machine
            .code
            .slots
            .get(tag - 1)
            .map_or("?", |slot| slot.name());
        if writes && region.room(true) < region.len {
            return Err(format!(
                "`{name}`, which the kernel was given only for reading"
            ));
        }
        let element = match access.stride.max(1) {
            stride if stride > 1 && offset % i64::from(stride) == 0 => {
                format!(
                    " (element {} of {stride} bytes)",
                    offset / i64::from(stride)
                )
            }
            _ => String::new(),
        };
        Err(format!(
            "{bytes} bytes at byte {offset}{element} of `{name}`, which has {} bytes",
            region.len
        ))
    }
}

/// Notes the first active lane that is out of bounds.
///
/// # Safety
///
/// The access is one of the machine's program.
#[cold]
#[inline(never)]
unsafe fn bad(machine: &mut Machine<'_>, i: &Instruction, access: &Access) -> Target {
    let writes = i.aux & STORE != 0;
    for lane in 0..machine.lanes {
        // SAFETY: by the caller.
        unsafe {
            if *machine.mask_row(i.mask).add(lane) == 0 {
                continue;
            }
            if let Err(message) = lane_address(machine, access, lane, writes) {
                let verb = if writes { "writes" } else { "reads" };
                machine.fail(
                    FaultKind::OutOfBounds,
                    access.place,
                    lane,
                    format!("{verb} {message}"),
                );
                return Target::Bad;
            }
        }
    }
    machine.fail(
        FaultKind::OutOfBounds,
        access.place,
        0,
        "an access out of bounds".to_string(),
    );
    Target::Bad
}

/// Calls `visit` with the address of every active lane.
///
/// # Safety
///
/// The access is one of the machine's program, and the target that of it.
#[inline(always)]
pub(super) unsafe fn each_lane(
    machine: &mut Machine<'_>,
    i: &Instruction,
    access: &Access,
    target: Target,
    mut visit: impl FnMut(usize, *mut u8),
) {
    let (lanes, all) = (machine.lanes, machine.active(i.mask) == Active::All);
    let stride = access.stride as isize;
    // SAFETY: the masks' and registers' rows have `lanes` cells; `target` has checked the addresses.
    unsafe {
        let mask = machine.mask(i.mask);
        let on = |lane: usize| all || mask[lane] != 0;
        match target {
            Target::Bad => {}
            Target::One(p) => (0..lanes).filter(|&l| on(l)).for_each(|l| visit(l, p)),
            Target::Contiguous(p) => {
                let step = (access.size * access.count) as usize;
                (0..lanes).for_each(|l| visit(l, p.add(l * step)));
            }
            Target::Indexed(p, reg, IndexKind::Unsigned32) => {
                let index = machine.cells::<u32>(reg, lanes);
                for lane in (0..lanes).filter(|&l| on(l)) {
                    visit(lane, p.wrapping_offset(index[lane] as isize * stride));
                }
            }
            Target::Indexed(p, reg, IndexKind::Signed32) => {
                let index = machine.cells::<i32>(reg, lanes);
                for lane in (0..lanes).filter(|&l| on(l)) {
                    visit(lane, p.wrapping_offset(index[lane] as isize * stride));
                }
            }
            Target::Indexed(p, reg, IndexKind::Wide) => {
                let index = machine.cells::<i64>(reg, lanes);
                for lane in (0..lanes).filter(|&l| on(l)) {
                    visit(lane, p.wrapping_offset(index[lane] as isize * stride));
                }
            }
            Target::Pointers(p, reg) => {
                let pointers = machine.cells::<u64>(reg, lanes);
                for lane in (0..lanes).filter(|&l| on(l)) {
                    let offset = pointers[lane] & ((1 << TAG_SHIFT) - 1);
                    visit(lane, p.wrapping_offset(offset as isize));
                }
            }
            Target::Mixed => {
                let writes = i.aux & STORE != 0;
                for lane in (0..lanes).filter(|&l| on(l)) {
                    match lane_address(machine, access, lane, writes) {
                        Ok(p) => visit(lane, p),
                        Err(_) => {
                            bad(machine, i, access);
                            return;
                        }
                    }
                }
            }
        }
    }
}
