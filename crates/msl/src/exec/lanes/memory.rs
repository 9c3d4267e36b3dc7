//! Reads and writes of memory: buffers, threadgroup memory, constants, and a thread's own memory.
//!
//! A pointer is 64 bits: a tag that names a region (0 is no region: the null pointer) above a byte
//! offset, which is biased so that it may be negative on the way. Every access is checked against
//! its region before anything is touched; the lanes that are off are not looked at. Device memory
//! is only ever reached through raw pointers: other workers may touch it at the same time, and a
//! kernel that races gets unspecified values, as on a GPU.
//!
//! A thread's own memory is kept by words: word `w` of lane `l` is at `w * capacity + l`, so that
//! what all lanes do at one address is contiguous.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering};

use super::super::FaultKind;
use super::super::code::{Access, IndexKind};
use super::super::isa::{Isa, Lanes, Run, version};
use super::super::machine::{Active, Cell, Instruction, Machine, Operand};
use super::arithmetic::truth;
use super::shape;
use crate::ir::{AtomicOp, Scalar};
use crate::lower::scalars::THREAD_MEMORY_START;
use crate::math::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16, fmax, fmin};

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

/// A scalar in memory.
trait Element {
    type Cell: Cell;
    const SIZE: usize;
    /// # Safety
    /// `SIZE` bytes from `p` on can be read.
    unsafe fn read(p: *const u8) -> Self::Cell;
    /// # Safety
    /// `SIZE` bytes from `p` on can be written.
    unsafe fn write(p: *mut u8, value: Self::Cell);
}

macro_rules! elements {
    ($($name:ident: $raw:ty => $cell:ty, |$r:ident| $read:expr, |$w:ident| $write:expr;)*) => {$(
        struct $name;
        impl Element for $name {
            type Cell = $cell;
            const SIZE: usize = size_of::<$raw>();
            #[inline(always)]
            unsafe fn read(p: *const u8) -> $cell {
                // SAFETY: by the caller.
                let $r = unsafe { p.cast::<$raw>().read_unaligned() };
                $read
            }
            #[inline(always)]
            unsafe fn write(p: *mut u8, $w: $cell) {
                // SAFETY: by the caller.
                unsafe { p.cast::<$raw>().write_unaligned($write) }
            }
        }
    )*};
}

elements! {
    Boolean: u8 => u32, |r| truth(r != 0), |w| (w & 1) as u8;
    Char: i8 => i32, |r| i32::from(r), |w| w as i8;
    Uchar: u8 => u32, |r| u32::from(r), |w| w as u8;
    Short: i16 => i32, |r| i32::from(r), |w| w as i16;
    Ushort: u16 => u32, |r| u32::from(r), |w| w as u16;
    Word: u32 => u32, |r| r, |w| w;
    Wide: u64 => u64, |r| r, |w| w;
    Half: u16 => f32, |r| f16_to_f32(u32::from(r)), |w| f32_to_f16(w) as u16;
    Bfloat: u16 => f32, |r| bf16_to_f32(u32::from(r)), |w| f32_to_bf16(w) as u16;
}

/// Where the lanes of an access go, once checked.
#[derive(Clone, Copy)]
enum Target {
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
unsafe fn target<const WRITES: bool>(
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
                IndexKind::Unsigned32 => extremes::<u32>(machine, i, reg, active),
                IndexKind::Signed32 => extremes::<i32>(machine, i, reg, active),
                IndexKind::Wide => extremes::<i64>(machine, i, reg, active),
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
trait Index: Cell + Ord {
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
    active: Active,
) -> (i64, i64, bool) {
    let lanes = machine.lanes;
    // SAFETY: by the caller.
    let (cells, mask) = unsafe { (machine.cells::<T>(reg, lanes), machine.mask(i.mask)) };
    if active == Active::All {
        let first = cells[0];
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
unsafe fn index_at(machine: &mut Machine<'_>, reg: Operand, kind: IndexKind, lane: usize) -> i64 {
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
unsafe fn lane_address(
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

/// Marks a store in `Instruction::aux`.
pub const STORE: u32 = 1 << 31;

fn access<'a>(machine: &Machine<'a>, i: &Instruction) -> Option<&'a Access> {
    let code = machine.code;
    code.accesses.get((i.aux & !STORE) as usize)
}

/// Calls `visit` with the address of every active lane.
///
/// # Safety
///
/// The access is one of the machine's program, and the target that of it.
#[inline(always)]
unsafe fn each_lane(
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

/// Loads `COUNT` elements into as many registers from `dst` on.
struct Load<E, const COUNT: usize>(PhantomData<E>);
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
                            E::read(p.add(c * E::SIZE));
                    }
                }
                return;
            }
            let rows: [*mut E::Cell; COUNT] =
                std::array::from_fn(|c| machine.row::<E::Cell>(i.dst.offset(c as u32 * words)));
            if let Target::Contiguous(p) = target {
                if COUNT == 1 {
                    let d = std::slice::from_raw_parts_mut(rows[0], lanes);
                    for (l, d) in d.iter_mut().enumerate() {
                        *d = E::read(p.add(l * E::SIZE));
                    }
                } else {
                    for (c, row) in rows.iter().enumerate() {
                        let d = std::slice::from_raw_parts_mut(*row, lanes);
                        for (l, d) in d.iter_mut().enumerate() {
                            *d = E::read(p.add((l * COUNT + c) * E::SIZE));
                        }
                    }
                }
                return;
            }
            each_lane(machine, i, access, target, |lane, p| {
                for (c, row) in rows.iter().enumerate() {
                    *row.add(lane) = E::read(p.add(c * E::SIZE));
                }
            });
        }
    }
}

/// Stores `COUNT` registers.
struct Store<E, const COUNT: usize>(PhantomData<E>);
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
                    E::write(p.add(c * E::SIZE), *row.add(last * step));
                }
                return;
            }
            if let Target::Contiguous(p) = target {
                for (c, (row, step)) in rows.iter().enumerate() {
                    if *step == 0 {
                        let value = **row;
                        for l in 0..lanes {
                            E::write(p.add((l * COUNT + c) * E::SIZE), value);
                        }
                    } else {
                        let s = std::slice::from_raw_parts(*row, lanes);
                        for (l, s) in s.iter().enumerate() {
                            E::write(p.add((l * COUNT + c) * E::SIZE), *s);
                        }
                    }
                }
                return;
            }
            each_lane(machine, i, access, target, |lane, p| {
                for (c, (row, step)) in rows.iter().enumerate() {
                    E::write(p.add(c * E::SIZE), *row.add(lane * step));
                }
            });
        }
    }
}

/// One lane's place in its own memory: the word of that lane, and the byte in it.
///
/// # Safety
///
/// The access is one of the machine's program.
unsafe fn private_address(
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
        return Err("the pointer is null or points nowhere".to_string());
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

/// Calls `visit` with the memory of each of `COUNT` elements of every active lane: the word, and
/// for elements of two words the next one.
///
/// # Safety
///
/// The access is one of the machine's program.
#[inline(always)]
unsafe fn each_private(
    machine: &mut Machine<'_>,
    i: &Instruction,
    access: &Access,
    mut visit: impl FnMut(usize, usize, *mut u8, *mut u32),
) {
    let (lanes, active) = (machine.lanes, machine.active(i.mask));
    let fixed = access.pointer.is_none() && access.index.is_none();
    let mut at = usize::MAX;
    for lane in 0..lanes {
        // SAFETY: `private_address` checks the place.
        unsafe {
            if active != Active::All && *machine.mask_row(i.mask).add(lane) == 0 {
                continue;
            }
            if !fixed || at == usize::MAX {
                at = match private_address(machine, access, lane) {
                    Ok(at) => at,
                    Err(message) => {
                        let verb = if i.aux & STORE != 0 {
                            "writes"
                        } else {
                            "reads"
                        };
                        machine.fail(
                            FaultKind::OutOfBounds,
                            access.place,
                            lane,
                            format!("{verb} {message}"),
                        );
                        return;
                    }
                };
            }
            for c in 0..access.count as usize {
                let byte = at + c * access.size as usize;
                let word = machine.private_word(byte).add(lane);
                let next = if access.size == 8 {
                    machine.private_word(byte + 4).add(lane)
                } else {
                    word
                };
                visit(lane, c, word.cast::<u8>().add(byte % 4), next);
            }
        }
    }
}

/// Loads from the thread's own memory.
struct LoadPrivate<E>(PhantomData<E>);
impl<E: Element> Lanes for LoadPrivate<E> {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        let Some(access) = access(machine, i) else {
            return;
        };
        let words = (size_of::<E::Cell>() / 4) as u32;
        // SAFETY: `each_private` checks what is read; the assembler gave `count` rows from `dst` on.
        unsafe {
            let row = machine.row::<u32>(i.dst);
            let step = (words as usize * machine.stride()) as isize;
            each_private(machine, i, access, |lane, c, p, next| {
                let d = row.offset(step * c as isize);
                if E::SIZE == 8 {
                    let wide = u64::from(p.cast::<u32>().read()) | u64::from(next.read()) << 32;
                    *d.cast::<u64>().add(lane) = wide;
                } else {
                    *d.cast::<E::Cell>().add(lane) = E::read(p);
                }
            });
        }
    }
}

/// Stores to the thread's own memory.
struct StorePrivate<E>(PhantomData<E>);
impl<E: Element> Lanes for StorePrivate<E> {
    #[inline(always)]
    unsafe fn run(machine: &mut Machine<'_>, i: &Instruction) {
        let Some(access) = access(machine, i) else {
            return;
        };
        // SAFETY: `each_private` checks what is written; the assembler gave `count` registers.
        unsafe {
            let rows: [(*mut E::Cell, usize); 4] = std::array::from_fn(|c| {
                let reg = access.registers[c];
                (machine.row::<E::Cell>(reg), usize::from(!reg.is_uniform()))
            });
            each_private(machine, i, access, |lane, c, p, next| {
                let (row, step) = rows[c % 4];
                let value = row.add(lane * step);
                if E::SIZE == 8 {
                    let wide = value.cast::<u64>().read();
                    p.cast::<u32>().write(wide as u32);
                    next.write((wide >> 32) as u32);
                } else {
                    E::write(p, *value);
                }
            });
        }
    }
}

/// An atomic operation on 32 bits, lane by lane.
struct Atomic;
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
        _ if private => version::<LoadPrivate<E>>(isa),
        1 => version::<Load<E, 1>>(isa),
        2 => version::<Load<E, 2>>(isa),
        3 => version::<Load<E, 3>>(isa),
        _ => version::<Load<E, 4>>(isa),
    })
}

/// The code of a store of `count` elements.
pub fn store(scalar: Scalar, is_pointer: bool, count: u32, private: bool, isa: Isa) -> Run {
    by_element!(scalar, is_pointer, |E| match count {
        _ if private => version::<StorePrivate<E>>(isa),
        1 => version::<Store<E, 1>>(isa),
        2 => version::<Store<E, 2>>(isa),
        3 => version::<Store<E, 3>>(isa),
        _ => version::<Store<E, 4>>(isa),
    })
}

/// The code of an atomic operation.
pub fn atomic(isa: Isa) -> Run {
    version::<Atomic>(isa)
}
