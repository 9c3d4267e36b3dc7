//! Encoders: they record dispatches, put barriers between those that depend on each other, and
//! commit them.
//!
//! `check` compares a dispatch with its kernel's signature; `uses` keeps who reads and writes
//! what. Running is the device's business.

mod check;
#[cfg(test)]
mod tests;
pub(crate) mod uses;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::NoUninit;

use crate::backend::{Command, CommandList, Contents, Dispatch};
use crate::buffer::MlxBuffer;
use crate::device::Execution;
use crate::error::{MlxError, Result};
use crate::metal::{DeviceRef, MTLSize};
use crate::pipeline::Pipeline;
use crate::queue::Submission;
use crate::sync::lock;
use uses::Uses;

/// What a kernel argument is bound to.
#[derive(Clone, Copy, Debug)]
pub enum KernelArgument<'a> {
    /// A buffer.
    Buffer(&'a MlxBuffer),
    /// A few bytes (at most 4,096) that are copied now; for arguments that the kernel only reads.
    Bytes(&'a [u8]),
}

impl<'a> KernelArgument<'a> {
    /// The bytes of a plain value, to bind a scalar or a struct of parameters without a buffer.
    pub fn value<T: NoUninit>(value: &'a T) -> Self {
        Self::Bytes(bytemuck::bytes_of(value))
    }
}

impl<'a> From<&'a MlxBuffer> for KernelArgument<'a> {
    fn from(buffer: &'a MlxBuffer) -> Self {
        Self::Buffer(buffer)
    }
}

/// Records dispatches and commits them.
///
/// Dispatches behave as if they ran one after the other in the order in which they were encoded.
/// Nothing runs before a commit. What is wrong with a dispatch comes back from the commit, and then
/// nothing of the list runs; after an error the encoder is empty and can be used again.
///
/// An encoder that is dropped with uncommitted work makes the buffers which that work was to write
/// report [`MlxError::LostWork`] to whoever views them next.
pub struct CommandEncoder {
    device: DeviceRef,
    /// How kernels run.
    execution: Execution,
    list: CommandList,
    uses: Uses,
    /// The first error since the last commit.
    error: Option<MlxError>,
    /// Committed work whose outcome nobody has been told yet.
    submitted: Vec<Arc<Submission>>,
}

impl CommandEncoder {
    pub(crate) fn new(device: DeviceRef) -> Self {
        let execution = *lock(&device.shared.execution);
        Self::with(device, execution, false)
    }

    /// An encoder of work that many people record, each of whom must hear of what fails for him:
    /// a wrong dispatch is refused alone ([`take_error`](Self::take_error)); what failed work was to
    /// write, and what is made from that, stays an error whoever has been told.
    pub(crate) fn for_stream(device: DeviceRef, execution: Execution) -> Self {
        Self::with(device, execution, true)
    }

    fn with(device: DeviceRef, execution: Execution, keeps_failures: bool) -> Self {
        static NEXT_ID: AtomicU64 = AtomicU64::new(1);
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        Self {
            device,
            execution,
            list: CommandList::default(),
            uses: Uses::new(id, keeps_failures),
            error: None,
            submitted: Vec::new(),
        }
    }

    /// Records a run of `pipeline` over exactly `threads` threads, in threadgroups of
    /// `threads_per_threadgroup`; the last one in a dimension may be smaller. Each binding is the
    /// argument's buffer index and its buffer.
    ///
    /// What is wrong comes back from [`commit_and_wait`](Self::commit_and_wait), naming the kernel
    /// and the argument.
    pub fn encode(
        &mut self,
        pipeline: &Pipeline,
        buffers: &[(u64, &MlxBuffer)],
        threads: MTLSize,
        threads_per_threadgroup: MTLSize,
    ) {
        let arguments = buffers
            .iter()
            .map(|&(index, buffer)| (index, KernelArgument::Buffer(buffer)));
        self.record(pipeline, arguments, &[], threads, threads_per_threadgroup);
    }

    /// As [`encode`](Self::encode), with arguments that need not be buffers, and the index and byte
    /// length of each `[[threadgroup(n)]]` argument.
    ///
    /// ```
    /// use mlx_native::{DType, KernelArgument, KernelRegistry, MTLSize, MlxDevice};
    ///
    /// let device = MlxDevice::new()?;
    /// let output = device.alloc_buffer(8, DType::F32, vec![2])?;
    /// let mut registry = KernelRegistry::new();
    /// registry.register_source(
    ///     "fill",
    ///     "kernel void fill(device float* out, constant float& value,
    ///                       uint i [[thread_position_in_grid]]) { out[i] = value; }",
    /// );
    /// let fill = registry.get_pipeline("fill", device.metal_device())?;
    /// let mut encoder = device.command_encoder()?;
    /// encoder.encode_with(
    ///     fill,
    ///     &[(0, (&output).into()), (1, KernelArgument::value(&0.5f32))],
    ///     &[],
    ///     MTLSize::new(2, 1, 1),
    ///     MTLSize::new(2, 1, 1),
    /// );
    /// encoder.commit_and_wait()?;
    /// assert_eq!(output.as_slice::<f32>()?[..], [0.5, 0.5]);
    /// # Ok::<(), mlx_native::MlxError>(())
    /// ```
    pub fn encode_with(
        &mut self,
        pipeline: &Pipeline,
        arguments: &[(u64, KernelArgument<'_>)],
        threadgroup_memory: &[(u64, u64)],
        threads: MTLSize,
        threads_per_threadgroup: MTLSize,
    ) {
        self.record(
            pipeline,
            arguments.iter().copied(),
            threadgroup_memory,
            threads,
            threads_per_threadgroup,
        );
    }

    /// Commits what is encoded, without waiting for it where the device works on its own. Views of
    /// the buffers wait by themselves.
    ///
    /// # Errors
    ///
    /// What was wrong with a dispatch, or that the host views a buffer: then nothing runs, and the
    /// encoder is empty again. What goes wrong on the device comes from [`wait`](Self::wait), or
    /// from views of the buffers that were to be written.
    pub fn commit(&mut self) -> Result<()> {
        let list = std::mem::take(&mut self.list);
        let result = match self.error.take() {
            Some(error) => Err(error),
            None if list.commands.is_empty() => Ok(None),
            None => {
                let shared = &self.device.shared;
                shared
                    .queue
                    .submit(shared.backend.as_ref(), list, &self.uses)
                    .map(Some)
            }
        };
        match result {
            Ok(submission) => {
                let timeline = &self.device.shared.queue.timeline;
                // What has ended well already needs no wait.
                self.submitted.extend(
                    submission.filter(|s| timeline.completed() < s.number || s.fault().is_some()),
                );
                self.uses.clear();
                Ok(())
            }
            Err(error) => {
                self.uses.refuse(&error);
                Err(error)
            }
        }
    }

    /// Waits for all that this encoder has committed.
    ///
    /// # Errors
    ///
    /// The first thing that went wrong on the device, naming kernel, argument and thread.
    pub fn wait(&mut self) -> Result<()> {
        let shared = &self.device.shared;
        if let Some(last) = self.submitted.last() {
            shared.queue.wait(shared.backend.as_ref(), last.number);
        }
        let mut first = Ok(());
        for submission in self.submitted.drain(..) {
            let Some(fault) = submission.untold_fault() else {
                continue;
            };
            if first.is_ok() {
                first = Err(fault.error.clone());
            }
            if !self.uses.keeps_failures() {
                submission.tell();
            }
        }
        first
    }

    /// The first error since the last commit, which then does not come from the commit.
    pub(crate) fn take_error(&mut self) -> Option<MlxError> {
        self.error.take()
    }

    /// Commits what is encoded and waits for it.
    ///
    /// # Errors
    ///
    /// As [`commit`](Self::commit) and [`wait`](Self::wait).
    pub fn commit_and_wait(&mut self) -> Result<()> {
        self.commit()?;
        self.wait()
    }

    fn record<'a>(
        &mut self,
        pipeline: &Pipeline,
        arguments: impl Iterator<Item = (u64, KernelArgument<'a>)> + Clone,
        threadgroup_memory: &[(u64, u64)],
        threads: MTLSize,
        threads_per_threadgroup: MTLSize,
    ) {
        let request = check::Request {
            pipeline,
            device: &self.device,
            execution: self.execution,
            arguments: arguments.clone(),
            threadgroup_memory,
            threads: threads.dimensions(),
            threads_per_threadgroup: threads_per_threadgroup.dimensions(),
        };
        let checked = request.check();
        if self.uses.keeps_failures() {
            match &checked {
                Ok(dispatch) if self.inherits_failure(dispatch) => return,
                Ok(_) => {}
                Err(error) => {
                    self.error.get_or_insert_with(|| error.clone());
                    return;
                }
            }
        }
        // Even a wrong dispatch leaves its mark on the buffers, so that it cannot be forgotten by
        // dropping the encoder.
        let depends = self.uses.add(&self.device, pipeline, arguments);
        match checked {
            Ok(dispatch) => {
                if depends {
                    self.list.commands.push(Command::Barrier);
                }
                self.list.commands.push(Command::Dispatch(dispatch));
            }
            Err(error) => {
                self.error.get_or_insert(error);
            }
        }
    }
}

impl CommandEncoder {
    /// What would be made from lost contents is lost too, for the same reason. True if so; then the
    /// dispatch must not be encoded.
    fn inherits_failure(&mut self, dispatch: &Dispatch) -> bool {
        let buffers = || {
            dispatch
                .bindings
                .iter()
                .filter_map(|binding| match &binding.contents {
                    Contents::Buffer(allocation) => Some((allocation, binding.writable)),
                    Contents::Bytes(_) => None,
                })
        };
        let Some(lost) = buffers().find_map(|(allocation, _)| allocation.access().lost()) else {
            return false;
        };
        // Committing counts what is written as made, so that earlier work on the same buffers has to
        // be committed before.
        if let Err(error) = self.commit() {
            self.error.get_or_insert(error);
        }
        const INHERITED: &str = "it reads what failed work was to make: ";
        let reason = match lost {
            MlxError::LostWork { reason, .. } if reason.starts_with(INHERITED) => reason,
            MlxError::LostWork { kernel, reason } => {
                format!("{INHERITED}kernel `{kernel}` never made it, as {reason}")
            }
            other => format!("{INHERITED}{other}"),
        };
        for (allocation, _) in buffers().filter(|&(_, writable)| writable) {
            allocation.access().lose(MlxError::LostWork {
                kernel: dispatch.pipeline.name().into(),
                reason: reason.clone(),
            });
        }
        true
    }
}

impl Drop for CommandEncoder {
    fn drop(&mut self) {
        self.uses.abandon();
    }
}

impl fmt::Debug for CommandEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandEncoder")
            .field("device", &self.device.name())
            .field("commands", &self.list.commands.len())
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}
