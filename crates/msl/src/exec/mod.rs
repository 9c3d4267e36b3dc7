//! Runs kernels on the CPU, a threadgroup at a time, all its threads in step.
//!
//! A kernel that was lowered (`lower`) goes through an assembler, into instructions that each
//! work on all lanes of a threadgroup in one vectorised loop. Barriers and operations across a
//! SIMD-group then cost nothing, and every access to memory is checked.

mod assemble;
mod code;
mod grid;
mod isa;
mod lanes;
mod machine;

use std::sync::atomic::AtomicBool;

pub use crate::lower::FunctionConstants;
pub use isa::Isa;

use crate::Compilation;
use crate::ir::Kernel;

/// A kernel made ready to run on this CPU. It can be shared between threads and run many times.
#[derive(Clone, Debug)]
pub struct Program {
    kernel: Kernel,
    code: code::Code,
}

/// Why a kernel cannot be made ready.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// The text has no kernel of this name.
    #[error("there is no kernel `{name}`; the source has {}", list(.known))]
    UnknownKernel {
        /// The name asked for.
        name: String,
        /// The kernels that exist.
        known: Vec<String>,
    },
    /// A construct that this back end does not run.
    #[error("kernel `{kernel}`, {place}: {message}")]
    Unsupported {
        /// The kernel.
        kernel: String,
        /// File, line and column.
        place: String,
        /// What is not supported.
        message: String,
    },
}

pub(crate) fn list(names: &[String]) -> String {
    match names {
        [] => "none".to_string(),
        _ => names
            .iter()
            .map(|n| format!("`{n}`"))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// Memory lent to a dispatch.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// The first byte, aligned to 16.
    pub pointer: *mut u8,
    /// How many bytes.
    pub len: usize,
}

/// One run of a kernel over a grid.
#[derive(Clone, Copy, Debug)]
pub struct Dispatch<'a> {
    /// Threads in x, y, z; each at least 1.
    pub grid: [u64; 3],
    /// Threads of a full threadgroup; the last one in a dimension may be smaller.
    pub threadgroup: [u64; 3],
    /// The buffer at each index.
    pub buffers: &'a [Option<Memory>],
    /// Bytes of threadgroup memory for `[[threadgroup(n)]]` arguments: index and length.
    pub threadgroup_memory: &'a [(u32, usize)],
    /// Set to true by anyone, it ends the run early with [`FaultKind::Interrupted`].
    pub interrupt: Option<&'a AtomicBool>,
}

/// What went wrong while a kernel ran.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kernel `{kernel}`{}, thread ({}, {}, {}): {message}", at(.place), thread[0], thread[1], thread[2])]
pub struct Fault {
    /// The kernel.
    pub kernel: String,
    /// File, line and column of the expression; empty if no one place is to blame.
    pub place: String,
    /// The thread's position in the grid.
    pub thread: [u64; 3],
    /// The sort of fault.
    pub kind: FaultKind,
    /// What happened, with the index, the argument's name and its size.
    pub message: String,
}

fn at(place: &str) -> String {
    if place.is_empty() {
        String::new()
    } else {
        format!(", {place}")
    }
}

/// The sorts of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A read or write outside the memory that the kernel may read or write.
    OutOfBounds,
    /// The run was interrupted.
    Interrupted,
}

impl Program {
    /// Makes the kernel of this name ready.
    ///
    /// # Errors
    ///
    /// There is no such kernel, or it uses something that the CPU does not run yet.
    pub fn new(compilation: &Compilation, kernel: &str) -> Result<Self, BuildError> {
        let options = Options::default();
        Self::with_options(compilation, kernel, &options)
    }

    /// Makes the kernel of this name ready, with function constants or for a certain instruction
    /// set.
    ///
    /// # Errors
    ///
    /// As [`Program::new`], and a function constant that the kernel needs has no value.
    pub fn with_options(
        compilation: &Compilation,
        kernel: &str,
        options: &Options,
    ) -> Result<Self, BuildError> {
        let (module, sources) = (&compilation.module, &compilation.sources);
        let found = module.kernels.iter().find(|k| &*k.name == kernel);
        let found = found.ok_or_else(|| BuildError::UnknownKernel {
            name: kernel.to_string(),
            known: module.kernels.iter().map(|k| k.name.to_string()).collect(),
        })?;
        let isa = options.isa.unwrap_or_else(Isa::detect);
        let code = crate::lower::lower(module, found, &options.constants)
            .and_then(|lowered| assemble::assemble(kernel, lowered, sources, isa))
            .map_err(|unsupported| {
                let place = sources.place(unsupported.span);
                BuildError::Unsupported {
                    kernel: kernel.to_string(),
                    place: place.map_or_else(String::new, |(source, line, column)| {
                        format!("{}:{line}:{column}", source.name())
                    }),
                    message: unsupported.message,
                }
            })?;
        Ok(Self {
            kernel: found.clone(),
            code,
        })
    }

    /// The kernel's name and arguments.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Runs over the whole grid and returns when it is done. Threadgroups are spread over the
    /// threads of the current rayon pool.
    ///
    /// # Errors
    ///
    /// The kernel read or wrote outside its memory, or the run was interrupted; what it wrote
    /// before stays written.
    ///
    /// # Safety
    ///
    /// Each buffer's memory must be valid for reads, and for writes where the kernel's argument is
    /// writable, for the whole call, and nothing else may write it, or read what the kernel writes.
    pub unsafe fn run(&self, dispatch: &Dispatch<'_>) -> Result<(), Fault> {
        // SAFETY: by the caller.
        unsafe { grid::run(&self.code, dispatch) }
    }
}

/// How a kernel is made ready.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Values of function constants.
    pub constants: FunctionConstants,
    /// The instruction set; the best that the processor has if none is named. It must be one of
    /// [`Isa::available`].
    pub isa: Option<Isa>,
}
