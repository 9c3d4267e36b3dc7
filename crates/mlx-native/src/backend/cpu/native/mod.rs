//! Native implementations: Rust functions that stand in for a built-in kernel's text on the CPU,
//! where a library or hand-written code is faster.
//!
//! One has the kernel's name and keeps its argument contract: the same buffers at the same indices,
//! the same results (within the op's tolerance) for every grid the op dispatches. What it reads and
//! writes comes as slices that do not overlap. To add one, write a
//! [`NativeKernel`] and put it into [`KERNELS`]; the op's tests run both.

mod exp;
mod matmul;

use bytemuck::Pod;

use crate::error::{MlxError, Result};

/// A native implementation.
pub(crate) type NativeKernel = fn(&mut NativeArguments<'_>) -> Result<()>;

/// The kernels that have one, by name.
pub(super) const KERNELS: &[(&str, NativeKernel)] = &[
    ("exp_backward_f32", exp::backward_f32),
    ("matmul_f32", matmul::matmul_f32),
];

/// The native implementation of a built-in kernel.
pub(super) fn find(name: &str) -> Option<NativeKernel> {
    KERNELS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|&(_, kernel)| kernel)
}

/// What is bound at an index.
#[derive(Debug)]
pub(super) enum NativeBuffer<'a> {
    Read(&'a [u8]),
    Write(&'a mut [u8]),
}

/// The arguments of one dispatch.
#[derive(Debug)]
pub(crate) struct NativeArguments<'a> {
    kernel: &'a str,
    buffers: Vec<(u32, NativeBuffer<'a>)>,
    threads: [u64; 3],
    parallel: bool,
}

impl<'a> NativeArguments<'a> {
    pub(super) fn new(
        kernel: &'a str,
        buffers: Vec<(u32, NativeBuffer<'a>)>,
        threads: [u64; 3],
        parallel: bool,
    ) -> Self {
        Self {
            kernel,
            buffers,
            threads,
            parallel,
        }
    }

    /// The grid.
    pub fn threads(&self) -> [u64; 3] {
        self.threads
    }

    /// Whether rayon may be used: this is then its back end's own pool. A dispatch of a single
    /// threadgroup runs on the caller's thread, whose pool must be left alone.
    pub fn is_parallel(&self) -> bool {
        self.parallel
    }

    /// The whole elements of the buffer at `index`, which the kernel only reads.
    pub fn read<T: Pod>(&self, index: u32) -> Result<&'a [T]> {
        let found = self.buffers.iter().find(|(i, _)| *i == index);
        match found {
            Some(&(_, NativeBuffer::Read(bytes))) => {
                let whole = bytes.len() / size_of::<T>().max(1) * size_of::<T>();
                bytemuck::try_cast_slice(&bytes[..whole]).map_err(|e| self.error(index, e))
            }
            _ => Err(self.error(index, "no buffer to read")),
        }
    }

    /// The whole elements of the buffer at `index`, which the kernel writes. Each can be taken once.
    pub fn write<T: Pod>(&mut self, index: u32) -> Result<&'a mut [T]> {
        let is_it =
            |(i, b): &(u32, NativeBuffer<'_>)| *i == index && matches!(b, NativeBuffer::Write(_));
        let found = self.buffers.iter().position(is_it);
        match found.map(|place| self.buffers.swap_remove(place)) {
            Some((_, NativeBuffer::Write(bytes))) => {
                let whole = bytes.len() / size_of::<T>().max(1) * size_of::<T>();
                bytemuck::try_cast_slice_mut(&mut bytes[..whole]).map_err(|e| self.error(index, e))
            }
            _ => Err(self.error(index, "no buffer to write")),
        }
    }

    /// An error of this kernel.
    pub fn error(&self, index: u32, message: impl std::fmt::Display) -> MlxError {
        MlxError::DeviceFault {
            kernel: self.kernel.into(),
            message: format!(
                "kernel `{}` (native), buffer {index}: {message}",
                self.kernel
            ),
        }
    }
}
