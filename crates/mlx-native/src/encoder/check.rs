//! Compares a dispatch with its kernel's signature and the limits, so that back ends need not.

use crate::backend::{Binding, Contents, Dispatch, InlineBytes};
use crate::device::Execution;
use crate::error::{MlxError, Result, Slot};
use crate::metal::DeviceRef;
use crate::pipeline::{Argument, Pipeline, limits};
use std::sync::Arc;

use super::KernelArgument;

/// A dispatch as the caller asks for it.
pub(super) struct Request<'r, A> {
    pub pipeline: &'r Pipeline,
    pub device: &'r DeviceRef,
    /// How the kernel is to run.
    pub execution: Execution,
    /// Index and what is bound there.
    pub arguments: A,
    /// Index and bytes.
    pub threadgroup_memory: &'r [(u64, u64)],
    pub threads: [u64; 3],
    pub threads_per_threadgroup: [u64; 3],
}

impl<'a, A: Iterator<Item = (u64, KernelArgument<'a>)> + Clone> Request<'_, A> {
    /// The dispatch, if all is right.
    pub fn check(&self) -> Result<Dispatch> {
        if self.pipeline.device() != self.device.shared.id {
            return Err(self.dispatch_error(
                "its pipeline was compiled for another device; get it with this device's \
                 metal_device()"
                    .into(),
            ));
        }
        self.check_sizes()?;
        self.check_indices()?;
        let bindings = self.bindings()?;
        let threadgroup_memory = self.threadgroup_memory()?;
        let execution = match self.execution {
            // Native code and the checker see what is written as slices.
            Execution::Native if aliased(&bindings) => Execution::KernelText,
            Execution::Checked if aliased(&bindings) => {
                return Err(self.dispatch_error(
                    "a buffer that the kernel writes is bound twice; a checked run needs a buffer \
                     for each argument"
                        .into(),
                ));
            }
            execution => execution,
        };
        Ok(Dispatch {
            execution,
            pipeline: self.pipeline.clone(),
            bindings,
            threadgroup_memory,
            threads: self.threads,
            threads_per_threadgroup: self.threads_per_threadgroup,
        })
    }

    fn check_sizes(&self) -> Result<()> {
        let [x, y, z] = self.threads;
        if x == 0 || y == 0 || z == 0 {
            return Err(self.dispatch_error(format!(
                "the grid of {x} x {y} x {z} threads is empty; do not encode a dispatch of nothing"
            )));
        }
        if x.max(y).max(z) > limits::GRID {
            return Err(self.dispatch_error(format!(
                "the grid of {x} x {y} x {z} threads is too large; a dimension has at most {}",
                limits::GRID
            )));
        }
        let [x, y, z] = self.threads_per_threadgroup;
        let total = x.saturating_mul(y).saturating_mul(z);
        let most = self.pipeline.signature().max_total_threads_per_threadgroup;
        if total == 0 {
            return Err(self.dispatch_error(format!(
                "the threadgroup of {x} x {y} x {z} threads is empty; each dimension is at least 1"
            )));
        }
        if total > most {
            return Err(self.dispatch_error(format!(
                "the threadgroup of {x} x {y} x {z} = {total} threads is too large; this kernel \
                 takes at most {most}"
            )));
        }
        Ok(())
    }

    /// Every bound index is an argument's, and none is bound twice.
    fn check_indices(&self) -> Result<()> {
        let mut seen = 0u32;
        for (index, _) in self.arguments.clone() {
            if index >= u64::from(limits::BUFFERS) {
                return Err(self.dispatch_error(format!(
                    "buffer {index} is bound, but the highest index is {}",
                    limits::BUFFERS - 1
                )));
            }
            let Some(argument) = self.argument_at(Slot::Buffer(index as u32)) else {
                return Err(self.dispatch_error(format!(
                    "buffer {index} is bound, but the kernel has no argument there; it has {}",
                    self.known_slots(|slot| matches!(slot, Slot::Buffer(_)))
                )));
            };
            if seen & (1 << index) != 0 {
                return Err(self.binding_error(argument, "it is bound twice".into()));
            }
            seen |= 1 << index;
        }
        Ok(())
    }

    fn bindings(&self) -> Result<Vec<Binding>> {
        let mut bindings = Vec::with_capacity(self.pipeline.signature().arguments.len());
        for argument in &self.pipeline.signature().arguments {
            let Slot::Buffer(index) = argument.slot else {
                continue;
            };
            let bound = self
                .arguments
                .clone()
                .find(|&(i, _)| i == u64::from(index))
                .map(|(_, bound)| bound);
            bindings.push(Binding {
                index,
                writable: argument.writable,
                contents: self.contents(argument, bound)?,
            });
        }
        Ok(bindings)
    }

    fn contents(&self, argument: &Argument, bound: Option<KernelArgument<'_>>) -> Result<Contents> {
        let (contents, byte_len) = match bound {
            None => {
                let message = format!("nothing is bound; bind a buffer at {}", argument.slot);
                return Err(self.binding_error(argument, message));
            }
            Some(KernelArgument::Buffer(buffer)) => {
                let allocation = buffer.allocation();
                if allocation.device.shared.id != self.device.shared.id {
                    let message = format!(
                        "the buffer belongs to another device ({}); allocate it on the encoder's",
                        allocation.device.name()
                    );
                    return Err(self.binding_error(argument, message));
                }
                let byte_len = buffer.byte_len();
                (Contents::Buffer(Arc::clone(allocation)), byte_len)
            }
            Some(KernelArgument::Bytes(bytes)) => {
                if argument.writable {
                    let message = "the kernel may write it, so it needs a buffer, not bytes; or \
                                   declare it `const`";
                    return Err(self.binding_error(argument, message.into()));
                }
                if bytes.len() > limits::INLINE_BYTES {
                    let message = format!(
                        "{} bytes are bound without a buffer, and the most is {}; use a buffer",
                        bytes.len(),
                        limits::INLINE_BYTES
                    );
                    return Err(self.binding_error(argument, message));
                }
                (Contents::Bytes(InlineBytes::new(bytes)), bytes.len())
            }
        };
        if byte_len < argument.least_bytes {
            let message = format!(
                "`{}` needs {} bytes, but {byte_len} are bound",
                argument.type_name, argument.least_bytes
            );
            return Err(self.binding_error(argument, message));
        }
        Ok(contents)
    }

    fn threadgroup_memory(&self) -> Result<Vec<(u32, usize)>> {
        let signature = self.pipeline.signature();
        let given = self.threadgroup_memory;
        for (position, &(index, _)) in given.iter().enumerate() {
            let slot = u32::try_from(index).map(Slot::Threadgroup);
            let Some(argument) = slot.ok().and_then(|slot| self.argument_at(slot)) else {
                return Err(self.dispatch_error(format!(
                    "threadgroup memory {index} is given, but the kernel has no argument there; \
                     it has {}",
                    self.known_slots(|slot| matches!(slot, Slot::Threadgroup(_)))
                )));
            };
            if given[..position].iter().any(|&(i, _)| i == index) {
                return Err(self.binding_error(argument, "its length is given twice".into()));
            }
        }
        let mut lengths = Vec::new();
        let mut total = signature.static_threadgroup_memory;
        for argument in &signature.arguments {
            let Slot::Threadgroup(index) = argument.slot else {
                continue;
            };
            let length = given
                .iter()
                .find(|&&(i, _)| i == u64::from(index))
                .map_or(0, |&(_, length)| length);
            if length == 0 {
                let message = format!(
                    "it has no length; give encode_with the bytes of {}",
                    argument.slot
                );
                return Err(self.binding_error(argument, message));
            }
            // Metal hands threadgroup memory out in steps of 16 bytes.
            total = total.saturating_add(length.div_ceil(16).saturating_mul(16));
            if total > limits::THREADGROUP_MEMORY {
                let message = format!(
                    "{length} bytes make {total} bytes of threadgroup memory in all, and the most \
                     is {}",
                    limits::THREADGROUP_MEMORY
                );
                return Err(self.binding_error(argument, message));
            }
            lengths.push((index, length as usize));
        }
        if total > limits::THREADGROUP_MEMORY {
            return Err(self.dispatch_error(format!(
                "it declares {total} bytes of threadgroup memory, and the most is {}",
                limits::THREADGROUP_MEMORY
            )));
        }
        Ok(lengths)
    }

    fn argument_at(&self, slot: Slot) -> Option<&Argument> {
        let arguments = &self.pipeline.signature().arguments;
        arguments.iter().find(|a| a.slot == slot)
    }

    fn known_slots(&self, wanted: impl Fn(Slot) -> bool) -> String {
        let arguments = self.pipeline.signature().arguments.iter();
        let known: Vec<_> = arguments
            .filter(|a| wanted(a.slot))
            .map(|a| format!("`{}` ({})", a.name, a.slot))
            .collect();
        match known.as_slice() {
            [] => "none".into(),
            _ => known.join(", "),
        }
    }

    fn dispatch_error(&self, message: String) -> MlxError {
        MlxError::InvalidDispatch {
            kernel: self.pipeline.name().into(),
            message,
        }
    }

    fn binding_error(&self, argument: &Argument, message: String) -> MlxError {
        MlxError::InvalidBinding {
            kernel: self.pipeline.name().into(),
            argument: argument.name.to_string(),
            slot: argument.slot,
            message,
        }
    }
}

/// Whether memory that the kernel writes is bound twice.
fn aliased(bindings: &[Binding]) -> bool {
    let id = |binding: &Binding| match &binding.contents {
        Contents::Buffer(allocation) => Some(allocation.id),
        Contents::Bytes(_) => None,
    };
    bindings.iter().enumerate().any(|(place, written)| {
        written.writable
            && bindings
                .iter()
                .enumerate()
                .any(|(other, b)| other != place && id(b).is_some() && id(b) == id(written))
    })
}
