//! What can go wrong, a variant for each cause. Messages say the operation, what was expected, what
//! was found, and what to do.

use std::fmt;

use crate::device::DeviceKind;
use crate::dtypes::DType;

/// The result of everything that can fail.
pub type Result<T, E = MlxError> = std::result::Result<T, E>;

/// Where a kernel argument is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// `[[buffer(n)]]`
    Buffer(u32),
    /// `[[threadgroup(n)]]`
    Threadgroup(u32),
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Buffer(index) => write!(f, "buffer {index}"),
            Self::Threadgroup(index) => write!(f, "threadgroup {index}"),
        }
    }
}

/// An error of this library.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MlxError {
    /// An op was called with arguments that do not fit; the text starts with the kernel's name.
    #[error("{0}")]
    InvalidArgument(String),

    /// A value for a function constant that does not fit.
    #[error("kernel `{kernel}`, function constant {index}: {message}")]
    InvalidConstant {
        /// The kernel.
        kernel: String,
        /// The constant's index.
        index: u32,
        /// What is wrong.
        message: String,
    },

    /// There is no such device here.
    #[error("the device {kind} is not available: {reason}")]
    DeviceUnavailable {
        /// The device asked for.
        kind: DeviceKind,
        /// Why not, and what to do.
        reason: String,
    },

    /// `alloc_buffer` was asked for no bytes.
    #[error(
        "alloc_buffer: the byte length is 0; a buffer has at least 1 byte, even if its shape \
         {shape:?} has no elements"
    )]
    EmptyBuffer {
        /// The shape asked for.
        shape: Vec<usize>,
    },

    /// `alloc_buffer` was asked for fewer bytes than the shape needs.
    #[error(
        "alloc_buffer: {dtype} of shape {shape:?} needs {needed} bytes, but the byte length is \
         {byte_len}; pass at least {needed}"
    )]
    BufferTooSmall {
        /// The dtype asked for.
        dtype: DType,
        /// The shape asked for.
        shape: Vec<usize>,
        /// What they need.
        needed: usize,
        /// What was given.
        byte_len: usize,
    },

    /// A shape whose size cannot be counted.
    #[error(
        "alloc_buffer: {dtype} of shape {shape:?} has more bytes than an address can count; is a \
         dimension wrong?"
    )]
    ShapeOverflow {
        /// The dtype asked for.
        dtype: DType,
        /// The shape asked for.
        shape: Vec<usize>,
    },

    /// The memory could not be had.
    #[error(
        "alloc_buffer: {device} cannot give {byte_len} bytes; use smaller buffers or free some first"
    )]
    OutOfMemory {
        /// The device's name.
        device: String,
        /// How many bytes were asked for.
        byte_len: usize,
    },

    /// A host view of the wrong type.
    #[error(
        "the buffer holds {dtype}, which cannot be viewed as {requested}; view it as {expected}"
    )]
    DTypeMismatch {
        /// What the buffer holds.
        dtype: DType,
        /// The Rust type asked for.
        requested: &'static str,
        /// The Rust type that fits.
        expected: &'static str,
    },

    /// A slice that does not have as many elements as the shape.
    #[error("{operation}: shape {shape:?} has {expected} elements, but {found} were given")]
    LengthMismatch {
        /// What was called.
        operation: &'static str,
        /// The shape.
        shape: Vec<usize>,
        /// Its number of elements.
        expected: usize,
        /// The number given.
        found: usize,
    },

    /// A host view of a buffer that recorded work uses.
    #[error(
        "kernel `{kernel}` has been encoded to {} this buffer and has not run yet; call \
         commit_and_wait first", if *.writes { "write" } else { "read" }
    )]
    UncommittedWork {
        /// The kernel.
        kernel: String,
        /// Whether it writes the buffer.
        writes: bool,
    },

    /// A host view of a buffer that has another, and one of the two is mutable.
    #[error(
        "the buffer already has a {}view; drop it first", if *.mutable { "mutable " } else { "" }
    )]
    ViewConflict {
        /// Whether the view that exists is the mutable one.
        mutable: bool,
    },

    /// Work on a buffer that the host views. Nothing of the command list ran.
    #[error(
        "kernel `{kernel}`, argument `{argument}` ({slot}): the host has a {}view of the buffer, \
         so it cannot be {}; drop the view before the work is committed",
        if *.mutable { "mutable " } else { "" }, if *.writes { "written" } else { "read" }
    )]
    BufferViewed {
        /// The kernel.
        kernel: String,
        /// Its argument.
        argument: String,
        /// Where that is bound.
        slot: Slot,
        /// Whether the kernel writes the buffer.
        writes: bool,
        /// Whether the view is mutable.
        mutable: bool,
    },

    /// The contents of a buffer are not what a kernel would have made of them.
    #[error(
        "kernel `{kernel}` was to write this buffer, but {reason}; run it again, or overwrite the \
         buffer with as_mut_slice, which reports this once"
    )]
    LostWork {
        /// The kernel.
        kernel: String,
        /// What happened.
        reason: String,
    },

    /// A binding that does not fit its argument.
    #[error("kernel `{kernel}`, argument `{argument}` ({slot}): {message}")]
    InvalidBinding {
        /// The kernel.
        kernel: String,
        /// Its argument.
        argument: String,
        /// Where that is bound.
        slot: Slot,
        /// What is wrong, and what to do.
        message: String,
    },

    /// A dispatch that does not fit its kernel.
    #[error("kernel `{kernel}`: {message}")]
    InvalidDispatch {
        /// The kernel.
        kernel: String,
        /// What is wrong, and what to do.
        message: String,
    },

    /// A name that nothing was registered under.
    #[error("there is no kernel `{name}` in the registry{}", suggestion(.near))]
    KernelNotFound {
        /// The name asked for.
        name: String,
        /// Names that look like it.
        near: Vec<String>,
    },

    /// A source in which the kernel of a registered name cannot be told.
    #[error(
        "the source registered as `{name}` has no kernel of that name{}",
        choices(.kernels)
    )]
    AmbiguousKernel {
        /// The name it was registered under.
        name: String,
        /// The kernels it has.
        kernels: Vec<String>,
    },

    /// A source that does not compile.
    #[error("the source registered as `{name}` does not compile\n{diagnostics}")]
    Compile {
        /// The name it was registered under.
        name: String,
        /// The compiler's messages, each with line, caret and hint.
        diagnostics: String,
    },

    /// A kernel that compiles but uses what the device cannot run.
    #[error("{message}")]
    UnsupportedKernel {
        /// The kernel.
        kernel: String,
        /// Which construct, and where.
        message: String,
    },

    /// A kernel went wrong while it ran.
    #[error("{message}")]
    DeviceFault {
        /// The kernel.
        kernel: String,
        /// What happened: kernel, source place, thread, argument and index.
        message: String,
    },

    /// A checked run of a kernel found what no kernel may do.
    #[error("kernel `{kernel}` does what it must not:\n{}", findings.join("\n"))]
    Misbehaved {
        /// The kernel.
        kernel: String,
        /// A sentence for each thing found, with its place.
        findings: Vec<String>,
    },

    /// Shapes that an op cannot take.
    #[error("{operation}: {message}")]
    ShapeMismatch {
        /// The op.
        operation: &'static str,
        /// Which shapes, and what they should be.
        message: String,
    },

    /// An axis that a tensor does not have.
    #[error(
        "{operation}: there is no axis {axis} in {shape:?}; axes go from {} to {}",
        -(.shape.len() as isize), .shape.len() as isize - 1
    )]
    AxisOutOfRange {
        /// The op.
        operation: &'static str,
        /// The axis asked for.
        axis: isize,
        /// The tensor's shape.
        shape: Vec<usize>,
    },

    /// A dtype that an op does not take.
    #[error("{operation}: {argument} is {found}; it must be {expected}")]
    UnsupportedDType {
        /// The op.
        operation: &'static str,
        /// Its argument.
        argument: &'static str,
        /// The dtype it takes.
        expected: DType,
        /// The dtype given.
        found: DType,
    },

    /// An index that lies outside.
    #[error(
        "{operation}: {argument}[{position}] is {index}; it must be less than {length}, the number \
         of classes"
    )]
    IndexOutOfRange {
        /// The op.
        operation: &'static str,
        /// The argument with the index.
        argument: &'static str,
        /// Where the index is in it.
        position: usize,
        /// The index.
        index: u64,
        /// What it must be less than.
        length: usize,
    },

    /// Tensors of different streams in one op.
    #[error(
        "{operation}: {argument} is on {found}, but the tensor on {expected}; make both with one \
         Stream, or copy one with to_vec and from_slice"
    )]
    StreamMismatch {
        /// The op.
        operation: &'static str,
        /// Its argument.
        argument: &'static str,
        /// The stream that it must be on.
        expected: String,
        /// The stream that it is on.
        found: String,
    },

    /// A tensor too large for the 32 bits in which kernels count.
    #[error("{operation}: {message}; kernels count in 32 bits and up to 8 dimensions")]
    TooLarge {
        /// The op.
        operation: &'static str,
        /// What is too large.
        message: String,
    },

    /// One element is needed.
    #[error("{operation}: a tensor of shape {shape:?} is not one number; reduce it first")]
    NotScalar {
        /// What was called.
        operation: &'static str,
        /// The tensor's shape.
        shape: Vec<usize>,
    },

    /// Gradients of a tensor that was made from no variable.
    #[error(
        "{operation}: the tensor was not made from a variable; call variable() on what gradients \
         are wanted for"
    )]
    NoHistory {
        /// What was called.
        operation: &'static str,
    },

    /// A run was ended by [`InterruptHandle::interrupt`](crate::device::InterruptHandle::interrupt).
    #[error("kernel `{kernel}` was interrupted")]
    Interrupted {
        /// The kernel.
        kernel: String,
    },
}

fn suggestion(names: &[String]) -> String {
    match quoted(names) {
        list if list.is_empty() => "; register its source first".into(),
        list => format!("; did you mean {list}?"),
    }
}

fn choices(kernels: &[String]) -> String {
    match quoted(kernels) {
        list if list.is_empty() => ", nor any other".into(),
        list => format!("; it has {list}: register it under one of those"),
    }
}

/// The names in backticks, with commas.
pub(crate) fn quoted<S: AsRef<str>>(names: &[S]) -> String {
    let names: Vec<_> = names.iter().map(|n| format!("`{}`", n.as_ref())).collect();
    names.join(", ")
}
