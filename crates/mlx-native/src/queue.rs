//! The order of a device's work.
//!
//! Every committed command list gets a number, counted up in the order of submission, and a device
//! finishes them in that order (a Metal queue and a CUDA stream do; the CPU runs one at a time).
//! So "has this buffer's work finished?" is a comparison of two numbers, and nobody has to be
//! called back. What went wrong is kept here under the list's number until somebody hears of it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::backend::{Backend, CommandList};
use crate::buffer::access::Access;
use crate::encoder::uses::Uses;
use crate::error::{MlxError, Result};
use crate::sync::lock;

/// A device's submissions.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// The number of the last submission. Held while a list is handed over, so that numbers follow
    /// the order of handing over, and no two lists check and mark buffers at the same time.
    last: Mutex<u64>,
    pub(crate) timeline: Arc<Timeline>,
}

impl Queue {
    /// Hands a list to the device, if the host views none of its buffers in a way that forbids it:
    /// else nothing of it runs. Returns its number.
    pub fn submit(&self, backend: &dyn Backend, list: CommandList, uses: &Uses) -> Result<u64> {
        let mut last = lock(&self.last);
        let number = *last + 1;
        {
            // All buffers are locked before one is marked: a refusal leaves no trace. This cannot
            // deadlock, as everyone else locks one buffer at a time, and a buffer has one queue.
            let mut accesses: Vec<_> = uses.iter().map(|u| (u, u.allocation.access())).collect();
            for (used, access) in &accesses {
                access.check_work(used, &self.timeline)?;
            }
            for (used, access) in &mut accesses {
                Access::begin_work(access, used, uses.encoder(), number);
            }
        }
        *last = number;
        let ticket = Ticket {
            timeline: Arc::clone(&self.timeline),
            number,
            outcome: None,
        };
        backend.submit(list, ticket);
        Ok(number)
    }

    /// Waits until the device has finished everything up to `number`.
    pub fn wait(&self, backend: &dyn Backend, number: u64) {
        if self.timeline.completed() < number {
            backend.advance(number);
            self.timeline.wait(number);
        }
    }
}

/// How far a device has come, and what went wrong on the way.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    completed: AtomicU64,
    /// How many faults `progress` holds: looking costs no lock while there are none.
    fault_count: AtomicUsize,
    progress: Mutex<Progress>,
    advanced: Condvar,
}

#[derive(Debug, Default)]
struct Progress {
    waiters: usize,
    faults: BTreeMap<u64, MlxError>,
}

impl Timeline {
    /// The number up to which everything is finished, its memory visible to the caller.
    pub fn completed(&self) -> u64 {
        self.completed.load(Ordering::Acquire)
    }

    /// Blocks until `completed` reaches `number`.
    pub fn wait(&self, number: u64) {
        let mut progress = lock(&self.progress);
        progress.waiters += 1;
        while self.completed() < number {
            progress = self
                .advanced
                .wait(progress)
                .unwrap_or_else(PoisonError::into_inner);
        }
        progress.waiters -= 1;
    }

    /// What went wrong in a submission, if nobody has heard of it yet.
    pub fn fault(&self, number: u64) -> Option<MlxError> {
        if self.fault_count.load(Ordering::Acquire) == 0 {
            return None;
        }
        lock(&self.progress).faults.get(&number).cloned()
    }

    /// The same, and it counts as heard of from now on.
    pub fn take_fault(&self, number: u64) -> Option<MlxError> {
        if self.fault_count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let fault = lock(&self.progress).faults.remove(&number);
        if fault.is_some() {
            self.fault_count.fetch_sub(1, Ordering::AcqRel);
        }
        fault
    }

    fn finish(&self, number: u64, outcome: Result<()>) {
        let mut progress = lock(&self.progress);
        if let Err(fault) = outcome
            && progress.faults.insert(number, fault).is_none()
        {
            self.fault_count.fetch_add(1, Ordering::AcqRel);
        }
        self.completed.fetch_max(number, Ordering::Release);
        // Waking is a system call; mostly nobody waits.
        let wake = progress.waiters > 0;
        drop(progress);
        if wake {
            self.advanced.notify_all();
        }
    }
}

/// The duty to say when a submission is finished. It can travel to another thread; dropped without
/// a word (a panic, a lost device), it counts as a fault, so that nobody waits for ever.
#[derive(Debug)]
pub(crate) struct Ticket {
    timeline: Arc<Timeline>,
    number: u64,
    outcome: Option<Result<()>>,
}

impl Ticket {
    /// The submission is finished: all it wrote is visible to who sees this.
    pub fn finish(mut self, outcome: Result<()>) {
        self.outcome = Some(outcome);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let outcome = self.outcome.take().unwrap_or_else(|| {
            Err(MlxError::DeviceFault {
                kernel: String::new(),
                message: "the device stopped in the middle of a command list".into(),
            })
        });
        self.timeline.finish(self.number, outcome);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticket(timeline: &Arc<Timeline>, number: u64) -> Ticket {
        Ticket {
            timeline: Arc::clone(timeline),
            number,
            outcome: None,
        }
    }

    #[test]
    fn waiting_ends_when_the_number_is_reached() {
        let timeline = Arc::new(Timeline::default());
        let (first, second) = (ticket(&timeline, 1), ticket(&timeline, 2));
        let waiter = std::thread::spawn({
            let timeline = Arc::clone(&timeline);
            move || timeline.wait(2)
        });
        first.finish(Ok(()));
        assert_eq!(timeline.completed(), 1);
        second.finish(Ok(()));
        waiter.join().unwrap();
        assert_eq!(timeline.completed(), 2);
    }

    #[test]
    fn a_dropped_ticket_is_a_fault_that_is_told_once() {
        let timeline = Arc::new(Timeline::default());
        drop(ticket(&timeline, 1));
        assert_eq!(timeline.completed(), 1);
        assert!(timeline.fault(1).is_some());
        assert!(timeline.take_fault(1).is_some());
        assert!(timeline.fault(1).is_none() && timeline.take_fault(1).is_none());
    }
}
