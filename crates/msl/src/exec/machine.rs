//! The state of one worker while it runs threadgroups: registers, masks, memory.
//!
//! A lane register is a row of 32-bit (or 64-bit) cells, one for each thread of the threadgroup; a
//! uniform register is one 64-bit cell. Operands name either by number.
//!
//! Invariants that the raw pointers rest on: the assembler gives every operand a register inside
//! the frame; the registers an instruction writes are none of those it reads; and the frame is laid
//! out for the largest threadgroup of the dispatch, with rows padded to whole vectors.

use std::sync::atomic::{AtomicBool, Ordering};

use super::code::Code;
use super::isa::Run;
use super::{Fault, FaultKind};

/// Lanes that rows are padded to: a full AVX-512 vector of 32-bit cells.
pub const LANE_BLOCK: usize = 16;

/// Words that one lane may load or store at once: four scalars of 64 bits.
const SCRATCH_WORDS: usize = 8;

/// The bit that tells a uniform register from a row of lanes.
const UNIFORM: u32 = 1 << 31;

/// The name of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand(u32);

impl Operand {
    /// The row that starts at this word of the frame.
    pub const fn lanes(word: u32) -> Self {
        Self(word)
    }

    /// The uniform register of this number.
    pub const fn uniform(number: u32) -> Self {
        Self(number | UNIFORM)
    }

    /// Whether it is uniform.
    pub const fn is_uniform(self) -> bool {
        self.0 & UNIFORM != 0
    }

    /// The first word of a row; none of a uniform register.
    pub const fn word(self) -> Option<u32> {
        if self.is_uniform() {
            None
        } else {
            Some(self.0)
        }
    }

    /// The register `words` words further on (of the same sort).
    pub const fn offset(self, words: u32) -> Self {
        Self(self.0 + words)
    }
}

/// The number of a mask register. Mask 0 holds all threads of the threadgroup and never changes.
pub type Mask = u32;

/// One step of a program.
#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    /// Its code.
    pub run: Run,
    /// The register it writes.
    pub dst: Operand,
    /// The registers it reads.
    pub args: [Operand; 3],
    /// The threads it acts for.
    pub mask: Mask,
    /// A jump's target, a table's index, a constant.
    pub aux: u32,
}

/// How many of a mask's lanes are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Active {
    /// None.
    None,
    /// Some, not all.
    Some,
    /// All of the threadgroup.
    All,
}

/// A type of cell.
pub trait Cell: Copy + 'static {}
impl Cell for u32 {}
impl Cell for i32 {}
impl Cell for f32 {}
impl Cell for u64 {}
impl Cell for i64 {}

/// Memory that pointers with one tag point into.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// The first byte.
    pub pointer: *mut u8,
    /// How many bytes may be read.
    pub len: usize,
    /// How many may be written: all or none. A kernel can make a pointer to what it was lent only
    /// for reading look like another, so that this is known only here.
    pub writable_len: usize,
}

impl Region {
    /// Memory of `len` bytes.
    pub const fn new(pointer: *mut u8, len: usize, writable: bool) -> Self {
        let writable_len = if writable { len } else { 0 };
        Self {
            pointer,
            len,
            writable_len,
        }
    }

    /// How many bytes there are to read, or to write.
    pub const fn room(&self, writes: bool) -> usize {
        if writes { self.writable_len } else { self.len }
    }
}

/// Where the machine is in the grid.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    /// Threads of the whole grid.
    pub grid: [u64; 3],
    /// Threads of a full threadgroup.
    pub full: [u64; 3],
    /// Threadgroups in each dimension.
    pub groups: [u64; 3],
    /// This threadgroup's position.
    pub group: [u64; 3],
    /// This threadgroup's threads.
    pub size: [u64; 3],
}

impl Place {
    /// The position in the threadgroup of the thread of this index.
    pub fn thread(&self, lane: usize) -> [u64; 3] {
        let lane = lane as u64;
        let [x, y, _] = self.size.map(|n| n.max(1));
        [lane % x, lane / x % y, lane / (x * y)]
    }

    /// The position in the grid of the thread of this index.
    pub fn position(&self, lane: usize) -> [u64; 3] {
        let thread = self.thread(lane);
        std::array::from_fn(|d| self.group[d] * self.full[d] + thread[d])
    }
}

/// A worker's state.
pub struct Machine<'a> {
    /// The program.
    pub code: &'a Code,
    /// The next instruction.
    pub pc: usize,
    /// Threads in this threadgroup.
    pub lanes: usize,
    /// The same, rounded up to whole vectors.
    pub padded: usize,
    /// Where it is.
    pub place: Place,
    /// Memory by tag less one.
    pub regions: Vec<Region>,
    /// What went wrong.
    pub fault: Option<Box<Fault>>,
    interrupt: Option<&'a AtomicBool>,
    /// Cells in a row.
    capacity: usize,
    frame: AlignedWords,
    uniforms: Vec<u64>,
    masks: AlignedWords,
    active: Vec<Active>,
    private: AlignedWords,
    /// Room for what all lanes load or store at once, as memory has it.
    scratch: AlignedWords,
    /// Threadgroup memory, all regions in a row.
    pub threadgroup: AlignedWords,
}

/// Zeroed 32-bit words, aligned to a cache line.
#[derive(Debug, Default)]
pub struct AlignedWords {
    lines: Vec<CacheLine>,
}

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct CacheLine([u32; 16]);

impl AlignedWords {
    /// Makes room for this many words.
    pub fn reserve(&mut self, words: usize) {
        if self.lines.len() * 16 < words {
            self.lines.resize(words.div_ceil(16), CacheLine([0; 16]));
        }
    }

    /// The first word.
    pub fn pointer(&mut self) -> *mut u32 {
        self.lines.as_mut_ptr().cast()
    }

    /// Sets the first `words` words to zero.
    pub fn clear(&mut self, words: usize) {
        let count = words.div_ceil(16).min(self.lines.len());
        self.lines[..count].fill(CacheLine([0; 16]));
    }
}

impl<'a> Machine<'a> {
    /// A machine for threadgroups of up to `most` threads.
    pub fn new(
        code: &'a Code,
        most: usize,
        regions: Vec<Region>,
        interrupt: Option<&'a AtomicBool>,
    ) -> Self {
        let capacity = most.next_multiple_of(LANE_BLOCK);
        let mut machine = Self {
            code,
            pc: 0,
            lanes: 0,
            padded: 0,
            place: Place::default(),
            regions,
            fault: None,
            interrupt,
            capacity,
            frame: AlignedWords::default(),
            uniforms: vec![0; code.uniforms as usize],
            masks: AlignedWords::default(),
            active: vec![Active::All; code.masks as usize + 1],
            private: AlignedWords::default(),
            scratch: AlignedWords::default(),
            threadgroup: AlignedWords::default(),
        };
        machine.frame.reserve(code.frame_words as usize * capacity);
        machine.masks.reserve((code.masks as usize + 1) * capacity);
        machine
            .private
            .reserve((code.private_size as usize).div_ceil(4) * capacity);
        if !code.accesses.is_empty() {
            machine.scratch.reserve(SCRATCH_WORDS * capacity);
        }
        for &(operand, bits, words) in &code.constants {
            let n = if operand.is_uniform() { 1 } else { capacity };
            // SAFETY: constants have registers of their own, and nothing else runs yet.
            unsafe {
                match words {
                    1 if !operand.is_uniform() => {
                        machine.cells_mut::<u32>(operand, n).fill(bits as u32);
                    }
                    _ => machine.cells_mut::<u64>(operand, n).fill(bits),
                }
            }
        }
        machine
    }

    /// Runs one threadgroup from the start.
    pub fn run(&mut self, place: Place) {
        self.place = place;
        let [x, y, z] = place.size;
        self.lanes = (x * y * z) as usize;
        self.padded = self.lanes.next_multiple_of(LANE_BLOCK);
        debug_assert!(self.padded <= self.capacity);
        self.pc = 0;
        // SAFETY: mask 0 has `capacity` cells.
        let all = unsafe { std::slice::from_raw_parts_mut(self.mask_row(0), self.padded) };
        all[..self.lanes].fill(u32::MAX);
        all[self.lanes..].fill(0);
        let code = self.code;
        while let Some(instruction) = code.instructions.get(self.pc) {
            self.pc += 1;
            // SAFETY: the instruction belongs to this machine's program, which was assembled for
            // this processor.
            unsafe { (instruction.run)(self, instruction) };
        }
    }

    /// The first cell of a register.
    #[inline(always)]
    pub fn row<T: Cell>(&mut self, operand: Operand) -> *mut T {
        let number = (operand.0 & !UNIFORM) as usize;
        if operand.is_uniform() {
            // SAFETY: the assembler's register numbers are below `code.uniforms`.
            unsafe { self.uniforms.as_mut_ptr().add(number).cast() }
        } else {
            // SAFETY: the assembler's rows are inside the frame.
            unsafe { self.frame.pointer().add(number * self.capacity).cast() }
        }
    }

    /// The cells of a register that an instruction reads, `len` of them.
    ///
    /// # Safety
    ///
    /// The register has cells of this type, and is not written while the slice lives.
    #[inline(always)]
    pub unsafe fn cells<'b, T: Cell>(&mut self, operand: Operand, len: usize) -> &'b [T] {
        // SAFETY: rows have at least `padded` cells, uniform registers one.
        unsafe { std::slice::from_raw_parts(self.row::<T>(operand), len) }
    }

    /// The cells of a register that an instruction writes, `len` of them.
    ///
    /// # Safety
    ///
    /// The register has cells of this type, and nothing else refers to it while the slice lives.
    #[inline(always)]
    pub unsafe fn cells_mut<'b, T: Cell>(&mut self, operand: Operand, len: usize) -> &'b mut [T] {
        // SAFETY: rows have at least `padded` cells, uniform registers one.
        unsafe { std::slice::from_raw_parts_mut(self.row::<T>(operand), len) }
    }

    /// A uniform register's value.
    ///
    /// # Safety
    ///
    /// The operand is uniform and has cells of this type.
    #[inline(always)]
    pub unsafe fn uniform<T: Cell>(&mut self, operand: Operand) -> T {
        debug_assert!(operand.is_uniform());
        // SAFETY: by the caller.
        unsafe { *self.row::<T>(operand) }
    }

    /// 32-bit cells from one word of the frame to the next.
    #[inline(always)]
    pub fn stride(&self) -> usize {
        self.capacity
    }

    /// How many cells an instruction works on: one for a uniform result, else all lanes.
    #[inline(always)]
    pub fn width(&self, dst: Operand) -> usize {
        if dst.is_uniform() { 1 } else { self.padded }
    }

    /// The first cell of a mask: all bits set where the lane is on.
    #[inline(always)]
    pub fn mask_row(&mut self, mask: Mask) -> *mut u32 {
        // SAFETY: the assembler's mask numbers are at most `code.masks`.
        unsafe { self.masks.pointer().add(mask as usize * self.capacity) }
    }

    /// The cells of a mask.
    ///
    /// # Safety
    ///
    /// The mask is not written while the slice lives.
    #[inline(always)]
    pub unsafe fn mask<'b>(&mut self, mask: Mask) -> &'b [u32] {
        let len = self.padded;
        // SAFETY: a mask has at least `padded` cells.
        unsafe { std::slice::from_raw_parts(self.mask_row(mask), len) }
    }

    /// How many lanes of a mask are on.
    #[inline(always)]
    pub fn active(&self, mask: Mask) -> Active {
        self.active[mask as usize]
    }

    /// Says how many lanes of a mask are on.
    #[inline(always)]
    pub fn set_active(&mut self, mask: Mask, active: Active) {
        self.active[mask as usize] = active;
    }

    /// The word of a thread's memory that holds byte `offset` of lane 0; the next lane's is next.
    #[inline(always)]
    pub fn own_word(&mut self, offset: usize) -> *mut u32 {
        let at = offset / 4 * self.capacity;
        // SAFETY: callers check the offset against `code.private_size`.
        unsafe { self.private.pointer().add(at) }
    }

    /// Room for four scalars of 64 bits for each lane.
    #[inline(always)]
    pub fn scratch(&mut self) -> *mut u8 {
        self.scratch.pointer().cast()
    }

    /// Whether somebody asked for an end.
    #[inline]
    pub fn interrupted(&self) -> bool {
        self.interrupt
            .is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Notes what went wrong, and ends the program.
    #[cold]
    pub fn fail(&mut self, kind: FaultKind, span: u32, lane: usize, message: String) {
        let place = self
            .code
            .places
            .get(span as usize)
            .cloned()
            .unwrap_or_default();
        self.fault.get_or_insert_with(|| {
            Box::new(Fault {
                kernel: self.code.kernel.clone(),
                place,
                thread: self.place.position(lane),
                kind,
                message,
            })
        });
        self.pc = usize::MAX;
    }
}
