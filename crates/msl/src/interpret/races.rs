//! Which accesses to a byte of shared memory race.

use std::rc::Rc;

use super::SIMD_WIDTH;
use crate::diag::Span;

/// The last barriers that a thread has passed, by kind of memory that they order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passed {
    /// Barriers of the threadgroup that order device memory, and threadgroup memory.
    pub group: [u64; 2],
    /// The same of the SIMD-group.
    pub simd: [u64; 2],
}

/// An access to shared memory.
#[derive(Debug)]
pub struct Access {
    /// The thread's position in the grid.
    pub position: [u64; 3],
    /// The thread's number in its threadgroup.
    pub index: usize,
    /// The number of the threadgroup.
    pub group: u64,
    /// The barriers that the thread had passed.
    pub passed: Passed,
    /// Where.
    pub span: Span,
    /// Whether it is atomic.
    pub is_atomic: bool,
    /// Whether it writes.
    pub writes: bool,
}

impl Access {
    fn is_same_thread(&self, other: &Self) -> bool {
        self.group == other.group && self.index == other.index
    }

    fn is_same_simdgroup(&self, other: &Self) -> bool {
        self.group == other.group && self.index / SIMD_WIDTH == other.index / SIMD_WIDTH
    }

    /// Whether an access that was recorded before this one happens before it on every machine.
    fn is_after(&self, earlier: &Self, memory: usize) -> bool {
        let barrier = self.passed.group[memory] > earlier.passed.group[memory];
        let of_simdgroup = self.passed.simd[memory] > earlier.passed.simd[memory];
        self.is_same_thread(earlier)
            || (self.group == earlier.group && barrier)
            || (self.is_same_simdgroup(earlier) && of_simdgroup)
    }

    /// What it does.
    pub fn verb(&self) -> &'static str {
        if self.writes { "writes" } else { "reads" }
    }
}

/// The accesses to a byte that later ones may conflict with.
#[derive(Debug, Default)]
pub struct History {
    /// The last writes of at most two threads, more than one only if they are atomic.
    writes: Vec<Rc<Access>>,
    /// Some of the reads since.
    reads: Vec<Rc<Access>>,
}

impl History {
    /// The earlier accesses that one conflicts with: not both read, not both are atomic, and nothing
    /// orders them. `memory` is 0 for device memory and 1 for threadgroup memory.
    pub fn conflicts<'h>(
        &'h self,
        access: &'h Access,
        memory: usize,
    ) -> impl Iterator<Item = &'h Rc<Access>> {
        let reads = self.reads.iter().filter(|_| access.writes);
        self.writes.iter().chain(reads).filter(move |earlier| {
            let both_are_atomic = access.is_atomic && earlier.is_atomic;
            !both_are_atomic && !access.is_after(earlier, memory)
        })
    }

    /// Remembers an access.
    pub fn add(&mut self, access: &Rc<Access>) {
        if access.writes {
            self.reads.clear();
            self.writes
                .retain(|w| w.is_atomic && access.is_atomic && !w.is_same_thread(access));
            self.writes.truncate(1);
            self.writes.insert(0, access.clone());
            return;
        }
        // Room for two readers of this SIMD-group, one of its threadgroup, one of elsewhere.
        let mut room = [2, 1, 1];
        let mut kept = vec![access.clone()];
        room[0] -= 1;
        for read in &self.reads {
            let class = if read.is_same_simdgroup(access) {
                0
            } else if read.group == access.group {
                1
            } else {
                2
            };
            if !read.is_same_thread(access) && room[class] > 0 {
                room[class] -= 1;
                kept.push(read.clone());
            }
        }
        self.reads = kept;
    }
}
