//! The order of a device's work.
//!
//! Every committed command list gets a number, counted up in the order of submission, and a device
//! finishes them in that order (a Metal queue and a CUDA stream do; the CPU runs one at a time).
//! So "has this buffer's work finished?" is a comparison of two numbers, and nobody has to be
//! called back. What went wrong with a list is known to its encoder and to every buffer that it was
//! to write, which share its [`Submission`].

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};

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
    /// else nothing of it runs.
    pub fn submit(
        &self,
        backend: &dyn Backend,
        list: CommandList,
        uses: &Uses,
    ) -> Result<Arc<Submission>> {
        let mut last = lock(&self.last);
        let number = *last + 1;
        let submission = Arc::new(Submission::new(number));
        {
            // All buffers are locked before one is marked: a refusal leaves no trace. This cannot
            // deadlock, as everyone else locks one buffer at a time, and a buffer has one queue.
            let mut accesses: Vec<_> = uses.iter().map(|u| (u, u.allocation.access())).collect();
            for (used, access) in &accesses {
                access.check_work(used, uses.keeps_failures())?;
            }
            for (used, access) in &mut accesses {
                Access::begin_work(access, used, uses.encoder(), &submission);
            }
        }
        *last = number;
        let ticket = Ticket {
            timeline: Arc::clone(&self.timeline),
            submission: Arc::clone(&submission),
            outcome: None,
        };
        backend.submit(list, ticket);
        Ok(submission)
    }

    /// Waits until the device has finished everything up to `number`.
    pub fn wait(&self, backend: &dyn Backend, number: u64) {
        if self.timeline.completed() < number {
            backend.advance(number);
            self.timeline.wait(number);
        }
    }
}

/// A list that was handed to a device, for those who want to know what came of it.
#[derive(Debug)]
pub(crate) struct Submission {
    pub number: u64,
    fault: OnceLock<Fault>,
    /// Whether somebody who answers for its results has been told of the fault.
    told: AtomicBool,
}

/// What went wrong with a list.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub error: MlxError,
    /// The number of the dispatch at which it happened, counted from 0: what earlier ones made is
    /// right.
    pub dispatch: usize,
}

impl Submission {
    pub fn new(number: u64) -> Self {
        Self {
            number,
            fault: OnceLock::new(),
            told: AtomicBool::new(false),
        }
    }

    /// What went wrong, once the list is finished.
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.get()
    }

    /// The same, if nobody has been told.
    pub fn untold_fault(&self) -> Option<&Fault> {
        self.fault().filter(|_| !self.told.load(Ordering::Acquire))
    }

    /// Somebody has been told of the fault, and buffers need not tell it.
    pub fn tell(&self) {
        self.told.store(true, Ordering::Release);
    }
}

/// How far a device has come.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    completed: AtomicU64,
    /// How many threads wait.
    waiters: Mutex<usize>,
    advanced: Condvar,
}

impl Timeline {
    /// The number up to which everything is finished, its memory visible to the caller.
    pub fn completed(&self) -> u64 {
        self.completed.load(Ordering::Acquire)
    }

    /// Blocks until `completed` reaches `number`.
    pub fn wait(&self, number: u64) {
        let mut waiters = lock(&self.waiters);
        *waiters += 1;
        while self.completed() < number {
            waiters = self
                .advanced
                .wait(waiters)
                .unwrap_or_else(PoisonError::into_inner);
        }
        *waiters -= 1;
    }

    fn finish(&self, number: u64) {
        let waiters = lock(&self.waiters);
        self.completed.fetch_max(number, Ordering::Release);
        // Waking is a system call; mostly nobody waits.
        let wake = *waiters > 0;
        drop(waiters);
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
    submission: Arc<Submission>,
    outcome: Option<Result<(), Fault>>,
}

impl Ticket {
    /// The submission is finished: all it wrote is visible to who sees this.
    pub fn finish(mut self, outcome: Result<(), Fault>) {
        self.outcome = Some(outcome);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let outcome = self.outcome.take().unwrap_or_else(|| {
            Err(Fault {
                error: MlxError::DeviceFault {
                    kernel: String::new(),
                    message: "the device stopped in the middle of a command list".into(),
                },
                dispatch: 0,
            })
        });
        if let Err(fault) = outcome {
            // A ticket finishes once, so nothing is there yet.
            let _ = self.submission.fault.set(fault);
        }
        self.timeline.finish(self.submission.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticket(timeline: &Arc<Timeline>, number: u64) -> Ticket {
        Ticket {
            timeline: Arc::clone(timeline),
            submission: Arc::new(Submission::new(number)),
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
    fn a_dropped_ticket_is_a_fault() {
        let timeline = Arc::new(Timeline::default());
        let ticket = ticket(&timeline, 1);
        let submission = Arc::clone(&ticket.submission);
        drop(ticket);
        assert_eq!(timeline.completed(), 1);
        assert!(submission.untold_fault().is_some());
        submission.tell();
        assert!(submission.untold_fault().is_none() && submission.fault().is_some());
    }
}
