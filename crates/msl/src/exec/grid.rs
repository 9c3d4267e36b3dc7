//! Spreads the threadgroups of a grid over the cores.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::code::Code;
use super::machine::{Machine, Place, Region};
use super::{Dispatch, Fault};
use crate::lower::form::Slot;

/// Lane operations below which waking another core costs more than it saves.
const WORTH_SHARING: u64 = 60_000;

/// Threadgroups in a grid, as a dispatch describes it.
struct Grid {
    threads: [u64; 3],
    full: [u64; 3],
    groups: [u64; 3],
}

impl Grid {
    fn new(threads: [u64; 3], full: [u64; 3]) -> Self {
        let full = full.map(|n| n.max(1));
        Self {
            threads,
            full,
            groups: std::array::from_fn(|d| threads[d].div_ceil(full[d])),
        }
    }

    fn count(&self) -> u64 {
        self.groups.iter().product()
    }

    /// The place of the threadgroup with this number; x counts fastest.
    fn place(&self, number: u64) -> Place {
        let [x, y, _] = self.groups;
        let group = [number % x, number / x % y, number / (x * y)];
        let size =
            std::array::from_fn(|d| self.full[d].min(self.threads[d] - group[d] * self.full[d]));
        Place {
            grid: self.threads,
            full: self.full,
            groups: self.groups,
            group,
            size,
        }
    }
}

/// Runs a program over a grid.
///
/// # Safety
///
/// As [`super::Program::run`].
pub unsafe fn run(code: &Code, dispatch: &Dispatch<'_>) -> Result<(), Fault> {
    let grid = Grid::new(dispatch.grid, dispatch.threadgroup);
    let count = grid.count();
    if count == 0 {
        return Ok(());
    }
    let most: u64 = (0..3).map(|d| grid.full[d].min(grid.threads[d])).product();
    let cost = code.weight.saturating_mul(most).saturating_mul(count);
    let workers = match cost {
        0..WORTH_SHARING => 1,
        _ => count.min(rayon::current_num_threads() as u64),
    };
    if workers <= 1 {
        let mut worker = Worker::new(code, dispatch, most as usize);
        for number in 0..count {
            worker.run(grid.place(number));
            if let Some(fault) = worker.machine.fault.take() {
                return Err(*fault);
            }
        }
        return Ok(());
    }
    // A worker takes several threadgroups at a time, fewer towards the end.
    let next = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let fault = Mutex::new(None);
    let chunk = (count / (workers * 16)).clamp(1, 64);
    let work = Shared(dispatch);
    rayon::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|_| {
                let mut worker = Worker::new(code, work.get(), most as usize);
                loop {
                    let first = next.fetch_add(chunk, Ordering::Relaxed);
                    for number in first..count.min(first.saturating_add(chunk)) {
                        if stop.load(Ordering::Relaxed) {
                            return;
                        }
                        worker.run(grid.place(number));
                        if let Some(found) = worker.machine.fault.take() {
                            stop.store(true, Ordering::Relaxed);
                            if let Ok(mut fault) = fault.lock() {
                                fault.get_or_insert(*found);
                            }
                            return;
                        }
                    }
                    if first.saturating_add(chunk) >= count {
                        return;
                    }
                }
            });
        }
    });
    match fault.into_inner() {
        Ok(Some(fault)) => Err(fault),
        _ => Ok(()),
    }
}

/// A dispatch that workers share.
struct Shared<'a>(&'a Dispatch<'a>);

impl<'a> Shared<'a> {
    fn get(&self) -> &'a Dispatch<'a> {
        self.0
    }
}

// SAFETY: the pointers in a dispatch are to memory that the caller of `run` lends for the call, to
// be reached from several threads as from those of a GPU.
unsafe impl Sync for Shared<'_> {}

/// A machine with its threadgroup memory.
struct Worker<'a> {
    machine: Machine<'a>,
    threadgroup_words: usize,
}

impl<'a> Worker<'a> {
    fn new(code: &'a Code, dispatch: &'a Dispatch<'a>, most: usize) -> Self {
        let mut machine = Machine::new(code, most, Vec::new(), dispatch.interrupt);
        // Offsets first: the memory must not move once it is pointed at.
        let mut bytes = 0usize;
        let mut place = |len: usize| {
            let at = bytes;
            bytes = (bytes + len).next_multiple_of(16);
            (at, len)
        };
        let shared: Vec<Option<(usize, usize)>> = code
            .slots
            .iter()
            .map(|slot| match slot {
                Slot::Threadgroup { size, .. } => Some(place(*size as usize)),
                Slot::ThreadgroupArgument { index, .. } => {
                    let given = dispatch.threadgroup_memory.iter().find(|(i, _)| i == index);
                    Some(place(given.map_or(0, |(_, len)| *len)))
                }
                _ => None,
            })
            .collect();
        machine.threadgroup.reserve(bytes.div_ceil(4));
        let memory = machine.threadgroup.pointer().cast::<u8>();
        machine.regions = code
            .slots
            .iter()
            .zip(shared)
            .map(|(slot, shared)| match (slot, shared) {
                // SAFETY: `at` is inside the memory just reserved.
                (_, Some((at, len))) => Region::new(unsafe { memory.add(at) }, len, true),
                (
                    Slot::Buffer {
                        index, writable, ..
                    },
                    _,
                ) => match dispatch.buffers.get(*index as usize).copied().flatten() {
                    Some(given) => Region::new(given.pointer, given.len, *writable),
                    None => Region::new(std::ptr::null_mut(), 0, false),
                },
                (Slot::Constant { bytes, .. }, _) => {
                    Region::new(bytes.as_ptr().cast_mut(), bytes.len(), false)
                }
                _ => Region::new(std::ptr::null_mut(), 0, false),
            })
            .collect();
        Self {
            machine,
            threadgroup_words: bytes.div_ceil(4),
        }
    }

    fn run(&mut self, place: Place) {
        if self.threadgroup_words > 0 {
            self.machine.threadgroup.clear(self.threadgroup_words);
        }
        self.machine.run(place);
    }
}
