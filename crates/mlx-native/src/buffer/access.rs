//! Who may touch a buffer when: the whole state machine, and no memory.
//!
//! A buffer is touched by host views and by work. Work on it goes through three states:
//!
//! - *recorded* in an encoder, not committed: views that conflict with it are refused, as they
//!   would show what is about to change;
//! - *committed*: its number on the device's timeline is noted, and views that conflict wait for it;
//! - *finished*: the timeline has passed its number.
//!
//! A view and work conflict if either writes. Work is checked against views when it is committed.
//! Work that was to write the buffer but never will (its encoder was dropped; it failed on the device
//! and nobody heard of it; a stream's work failed or was refused, or read what such work was to make)
//! makes the contents *lost*: that is an error for every reader until committed work writes the
//! buffer, or a mutable view has reported it. A stream's failures stay whoever hears of them, since
//! its tensors are many people's.
//!
//! Everything happens under the buffer's lock, so there is never a moment at which a view and
//! conflicting committed work both exist: this is what the `unsafe` code of views and of the back
//! ends relies on.

use std::sync::Arc;

use crate::encoder::uses::Use;
use crate::error::{MlxError, Result};
use crate::queue::{Submission, Timeline};

/// What a view is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ViewMode {
    Read,
    Write,
}

/// The state of one buffer.
#[derive(Debug, Default)]
pub(crate) struct Access {
    /// Live views to read.
    readers: usize,
    /// Whether a view to write lives; then `readers` is 0.
    writer: bool,
    /// The encoders that have recorded work on the buffer; mostly none or one.
    recorded: Vec<Recorded>,
    /// The last committed work that reads it.
    last_read: u64,
    /// The last committed work that writes it.
    last_write: u64,
    /// What was last committed to write it.
    writer_work: Option<Writing>,
    /// Why work that was to write it never will.
    lost: Option<MlxError>,
}

/// Committed work that writes a buffer.
#[derive(Debug)]
struct Writing {
    submission: Arc<Submission>,
    kernel: Arc<str>,
    /// The number of the dispatch in its list.
    dispatch: usize,
}

#[derive(Debug)]
struct Recorded {
    encoder: u64,
    kernel: Arc<str>,
    writes: bool,
}

impl Access {
    /// Counts a view in, refuses it, or returns the number to wait for before asking again.
    pub fn begin_view(&mut self, mode: ViewMode, timeline: &Timeline) -> Result<Option<u64>> {
        let writing = mode == ViewMode::Write;
        if let Some(work) = self.recorded.iter().find(|r| r.writes || writing) {
            return Err(MlxError::UncommittedWork {
                kernel: work.kernel.to_string(),
                writes: work.writes,
            });
        }
        if self.writer || (writing && self.readers > 0) {
            return Err(MlxError::ViewConflict {
                mutable: self.writer,
            });
        }
        let wanted = if writing {
            self.last_write.max(self.last_read)
        } else {
            self.last_write
        };
        if wanted > timeline.completed() {
            return Ok(Some(wanted));
        }
        if let Some(lost) = self.lost() {
            if writing {
                self.lost = None;
                self.writer_work = None;
            }
            return Err(lost);
        }
        match mode {
            ViewMode::Read => self.readers += 1,
            ViewMode::Write => self.writer = true,
        }
        Ok(None)
    }

    /// Counts a view out.
    pub fn end_view(&mut self, mode: ViewMode) {
        match mode {
            ViewMode::Read => self.readers -= 1,
            ViewMode::Write => self.writer = false,
        }
    }

    /// Notes work that an encoder has recorded.
    pub fn record(&mut self, encoder: u64, kernel: &Arc<str>, writes: bool) {
        match self.recorded.iter_mut().find(|r| r.encoder == encoder) {
            Some(known) if writes && !known.writes => {
                known.kernel = Arc::clone(kernel);
                known.writes = true;
            }
            Some(_) => {}
            None => self.recorded.push(Recorded {
                encoder,
                kernel: Arc::clone(kernel),
                writes,
            }),
        }
    }

    /// Forgets an encoder's recorded work, whose caller has been told.
    pub fn forget(&mut self, encoder: u64) {
        self.recorded.retain(|r| r.encoder != encoder);
    }

    /// Forgets an encoder's recorded work, of which nobody will be told.
    pub fn abandon(&mut self, encoder: u64) {
        let work = self.recorded.iter().find(|r| r.encoder == encoder);
        if let Some(work) = work.filter(|w| w.writes) {
            self.lost = Some(MlxError::LostWork {
                kernel: work.kernel.to_string(),
                reason: "its encoder was dropped before commit_and_wait".into(),
            });
        }
        self.forget(encoder);
    }

    /// Work that was to write the buffer never will.
    pub fn lose(&mut self, reason: MlxError) {
        self.lost = Some(reason);
    }

    /// Whether work may be committed now. `strictly` counts what may be written among what is read.
    pub fn check_work(&self, used: &Use, strictly: bool) -> Result<()> {
        let site = match (self.writer, self.readers > 0) {
            (true, _) => Some(&used.first),
            (false, true) => used.first_write.as_ref(),
            (false, false) => None,
        };
        if let Some(site) = site {
            return Err(MlxError::BufferViewed {
                kernel: site.kernel().to_string(),
                argument: site.argument().to_string(),
                slot: site.slot(),
                writes: used.first_write.is_some(),
                mutable: self.writer,
            });
        }
        match self.lost() {
            Some(lost) if used.reads_first || strictly => Err(MlxError::InvalidBinding {
                kernel: used.first.kernel().to_string(),
                argument: used.first.argument().to_string(),
                slot: used.first.slot(),
                message: lost.to_string(),
            }),
            _ => Ok(()),
        }
    }

    /// Notes that recorded work is committed.
    pub fn begin_work(&mut self, used: &Use, encoder: u64, submission: &Arc<Submission>) {
        self.forget(encoder);
        if used.reads {
            self.last_read = submission.number;
        }
        if let Some((site, dispatch)) = &used.last_write {
            self.last_write = submission.number;
            self.writer_work = Some(Writing {
                submission: Arc::clone(submission),
                kernel: Arc::clone(site.kernel()),
                dispatch: *dispatch,
            });
            self.lost = None;
        }
    }

    /// Why the contents are not what they should be, if so.
    pub fn lost(&self) -> Option<MlxError> {
        if let Some(lost) = &self.lost {
            return Some(lost.clone());
        }
        let work = self.writer_work.as_ref()?;
        let fault = work.submission.untold_fault()?;
        if work.dispatch < fault.dispatch {
            return None;
        }
        let itself = work.dispatch == fault.dispatch;
        let what = if itself { "its run" } else { "work before it" };
        Some(MlxError::LostWork {
            kernel: work.kernel.to_string(),
            reason: format!("{what} failed: {}", fault.error),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::ViewMode::{Read, Write};
    use super::*;

    fn kernel() -> Arc<str> {
        "k".into()
    }

    /// What a view is told while nothing is finished.
    fn view(access: &mut Access, mode: ViewMode) -> Result<Option<u64>> {
        access.begin_view(mode, &Timeline::default())
    }

    #[test]
    fn readers_share_and_a_writer_does_not() {
        let mut access = Access::default();
        assert_eq!(view(&mut access, Read), Ok(None));
        assert_eq!(view(&mut access, Read), Ok(None));
        let in_the_way = |mutable| Err(MlxError::ViewConflict { mutable });
        assert_eq!(view(&mut access, Write), in_the_way(false));
        access.end_view(Read);
        assert_eq!(view(&mut access, Write), in_the_way(false));
        access.end_view(Read);
        assert_eq!(view(&mut access, Write), Ok(None));
        assert_eq!(view(&mut access, Read), in_the_way(true));
        assert_eq!(view(&mut access, Write), in_the_way(true));
        access.end_view(Write);
        assert_eq!(view(&mut access, Read), Ok(None));
    }

    #[test]
    fn views_wait_for_the_last_work_that_conflicts() {
        let mut access = Access {
            last_read: 5,
            last_write: 3,
            ..Access::default()
        };
        assert_eq!(view(&mut access, Read), Ok(Some(3)));
        assert_eq!(view(&mut access, Write), Ok(Some(5)));
        access.last_write = 0;
        assert_eq!(view(&mut access, Read), Ok(None));
    }

    #[test]
    fn each_encoder_that_has_recorded_counts() {
        let mut access = Access::default();
        access.record(1, &kernel(), false);
        access.record(2, &kernel(), false);
        access.record(2, &kernel(), true);
        assert!(view(&mut access, Read).is_err());
        access.forget(2);
        assert_eq!(view(&mut access, Read), Ok(None));
        access.end_view(Read);
        assert!(view(&mut access, Write).is_err());
        access.abandon(1);
        assert_eq!(view(&mut access, Write), Ok(None), "reads leave no loss");
    }

    #[test]
    fn a_loss_is_told_to_all_readers_and_once_to_a_writer() {
        let mut access = Access::default();
        access.record(1, &kernel(), true);
        access.abandon(1);
        for _ in 0..2 {
            let told = view(&mut access, Read);
            assert!(matches!(told, Err(MlxError::LostWork { kernel, .. }) if kernel == "k"));
        }
        assert!(view(&mut access, Write).is_err());
        assert_eq!(view(&mut access, Write), Ok(None));
    }
}
