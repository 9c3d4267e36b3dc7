//! What a device has to do. The explicit layer is written against these traits alone; each back end
//! is a folder that implements them.
//!
//! | | CPU | Metal | CUDA |
//! |---|---|---|---|
//! | [`Memory`] | host pages; `map` is the address | shared storage; `map` is its contents | device memory; `map` copies to a pinned staging area, and `unmap` of a written view copies back |
//! | [`Backend::prepare`] | an executor program, or a native function; the IR for checked runs | the text as it is, by the driver | translated text, by NVRTC |
//! | [`Backend::submit`] | runs at once on the caller's threads | a command buffer; finishes in its handler | launches on one stream, then a host function |
//! | [`Command::Barrier`] | nothing: dispatches run in order | a memory barrier in a concurrent encoder | nothing on one stream; an edge in a graph |
//!
//! Rules that keep every back end sound: a list's memory is kept alive by the list, so the back end
//! keeps the list until the work is finished; finished means visible to the host; lists finish in
//! the order in which they are submitted.

pub(crate) mod cpu;

use std::any::Any;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::buffer::Allocation;
use crate::buffer::access::ViewMode;
use crate::device::{DeviceKind, Execution};
use crate::error::Result;
use crate::kernel_registry::FunctionConstants;
use crate::pipeline::Pipeline;
use crate::queue::Ticket;

/// A device.
pub(crate) trait Backend: Send + Sync + fmt::Debug {
    /// What sort of device it is.
    fn kind(&self) -> DeviceKind;

    /// Its name, for people.
    fn name(&self) -> &str;

    /// Memory of `byte_len` (at least 1) zeroes.
    fn allocate(&self, byte_len: usize) -> Result<Box<dyn Memory>>;

    /// Makes a kernel ready to run.
    fn prepare(&self, kernel: &KernelText<'_>) -> Result<Box<dyn Executable>>;

    /// Whether a built-in kernel of this name has a native implementation.
    fn has_native(&self, _kernel: &str) -> bool {
        false
    }

    /// Runs a list, at once or later, and then finishes the ticket. Calls come one at a time.
    fn submit(&self, list: CommandList, ticket: Ticket);

    /// Somebody is about to wait for this submission. A device that notices the end of its work only
    /// when asked waits for it here and finishes the tickets.
    fn advance(&self, _number: u64) {}
}

/// Memory of a device.
///
/// # Safety
///
/// The pointer that `map` returns must be aligned to 16 bytes and point to as many initialised bytes
/// as were allocated, which stay in place until the matching `unmap`, and which nothing but views
/// and submitted lists that contain this memory writes.
pub(crate) unsafe trait Memory: Any + Send + Sync + fmt::Debug {
    /// Shows the contents to the host. There may be several mappings to read, or one to write; no
    /// work that conflicts with it is unfinished.
    fn map(&self, mode: ViewMode) -> Result<NonNull<u8>>;

    /// Ends one mapping; what the host wrote through it becomes visible to the device.
    fn unmap(&self, mode: ViewMode);
}

/// A kernel made ready for a device; the back end that made it knows what it is.
pub(crate) trait Executable: Any + Send + Sync + fmt::Debug {}

/// A kernel to make ready.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelText<'a> {
    /// The compiled text. Its sources hold the text itself.
    pub compilation: &'a Arc<msl::Compilation>,
    /// The kernel's name in it.
    pub name: &'a str,
    /// Values of its function constants.
    pub constants: &'a FunctionConstants,
    /// Whether the text is this library's own, so that a native implementation under the same name
    /// means the same. A user's kernel of that name is another kernel.
    pub built_in: bool,
}

/// Recorded work, in order.
#[derive(Debug, Default)]
pub(crate) struct CommandList {
    pub commands: Vec<Command>,
}

/// A piece of recorded work.
#[derive(Debug)]
pub(crate) enum Command {
    /// Runs a kernel.
    Dispatch(Dispatch),
    /// What follows depends on what came since the last barrier; without one between them,
    /// dispatches may run at the same time.
    Barrier,
}

/// One run of a kernel. It has been checked against the kernel's signature: every buffer argument
/// is bound, once, and sizes are within the limits.
#[derive(Debug)]
pub(crate) struct Dispatch {
    pub pipeline: Pipeline,
    /// In the order of the kernel's arguments.
    pub bindings: Vec<Binding>,
    /// Index and bytes of each `[[threadgroup(n)]]` argument.
    pub threadgroup_memory: Vec<(u32, usize)>,
    pub threads: [u64; 3],
    pub threads_per_threadgroup: [u64; 3],
    /// How the kernel runs. If memory that it writes is bound twice, by its text.
    pub execution: Execution,
}

impl Dispatch {
    /// How many threadgroups the grid has; the smaller ones at its edges count.
    pub fn threadgroups(&self) -> u64 {
        std::iter::zip(self.threads, self.threads_per_threadgroup)
            .map(|(threads, group)| threads.div_ceil(group))
            .fold(1, u64::saturating_mul)
    }
}

/// What a buffer argument is bound to.
#[derive(Debug)]
pub(crate) struct Binding {
    pub index: u32,
    pub writable: bool,
    pub contents: Contents,
}

#[derive(Debug)]
pub(crate) enum Contents {
    Buffer(Arc<Allocation>),
    Bytes(InlineBytes),
}

/// A few bytes that travel with a dispatch, aligned to 16.
#[derive(Clone, Debug)]
pub(crate) struct InlineBytes {
    blocks: Box<[Block]>,
    len: usize,
}

#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
struct Block([u8; 16]);

impl InlineBytes {
    pub fn new(bytes: &[u8]) -> Self {
        let block = |chunk: &[u8]| {
            let mut block = Block([0; 16]);
            block.0[..chunk.len()].copy_from_slice(chunk);
            block
        };
        Self {
            blocks: bytes.chunks(16).map(block).collect(),
            len: bytes.len(),
        }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// The first of `len` bytes, aligned to 16, to read only.
    pub fn as_ptr(&self) -> *const u8 {
        self.blocks.as_ptr().cast()
    }
}
