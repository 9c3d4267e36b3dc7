//! Pipelines: kernels compiled for a device, and what they ask to be bound.

use std::sync::Arc;

use crate::kernel_registry::FunctionConstants;
use msl::ir;

use crate::backend::{Executable, KernelText};
use crate::error::{Result, Slot};
use crate::metal::DeviceRef;

/// The limits that every device keeps, Metal's own.
pub mod limits {
    /// Buffers a kernel can have: indices 0 to 30.
    pub const BUFFERS: u32 = 31;
    /// Threads of a threadgroup.
    pub const THREADS_PER_THREADGROUP: u64 = 1024;
    /// Bytes of threadgroup memory.
    pub const THREADGROUP_MEMORY: u64 = 32 * 1024;
    /// Bytes bound without a buffer.
    pub const INLINE_BYTES: usize = 4096;
    /// Threads of a grid in one dimension: positions are `uint`.
    pub const GRID: u64 = u32::MAX as u64;
}

/// A kernel compiled for a device; made by
/// [`KernelRegistry::get_pipeline`](crate::KernelRegistry::get_pipeline). Clones are cheap.
#[derive(Clone, Debug)]
pub struct Pipeline {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    signature: Arc<Signature>,
    device: u64,
    executable: Box<dyn Executable>,
}

impl Pipeline {
    pub(crate) fn new(
        device: &DeviceRef,
        text: &KernelText<'_>,
        kernel: &ir::Kernel,
    ) -> Result<Self> {
        Ok(Self::from_parts(
            device,
            Signature::new(&text.compilation.module, kernel, text.constants),
            device.shared.backend.prepare(text)?,
        ))
    }

    pub(crate) fn from_parts(
        device: &DeviceRef,
        signature: Signature,
        executable: Box<dyn Executable>,
    ) -> Self {
        Self {
            inner: Arc::new(Inner {
                signature: Arc::new(signature),
                device: device.shared.id,
                executable,
            }),
        }
    }

    /// The kernel's name in its source.
    pub fn name(&self) -> &str {
        &self.inner.signature.kernel
    }

    /// What the kernel asks for.
    pub fn signature(&self) -> &Signature {
        &self.inner.signature
    }

    pub(crate) fn shared_signature(&self) -> &Arc<Signature> {
        &self.inner.signature
    }

    /// The id of the device it is compiled for.
    pub(crate) fn device(&self) -> u64 {
        self.inner.device
    }

    pub(crate) fn executable(&self) -> &dyn Executable {
        self.inner.executable.as_ref()
    }
}

/// What a kernel asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The kernel's name.
    pub kernel: Arc<str>,
    /// The arguments that a dispatch gives, in the order of the source.
    pub arguments: Vec<Argument>,
    /// The most threads of a threadgroup.
    pub max_total_threads_per_threadgroup: u64,
    /// Bytes of threadgroup memory that the kernel declares itself.
    pub static_threadgroup_memory: u64,
}

/// An argument that a dispatch gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its name.
    pub name: Arc<str>,
    /// Where it is bound.
    pub slot: Slot,
    /// What it points at, as the language spells it.
    pub type_name: String,
    /// Whether the kernel may write it.
    pub writable: bool,
    /// The least bytes that must be bound: the size of what a reference refers to, 1 for pointers.
    pub least_bytes: usize,
}

impl Signature {
    fn new(module: &ir::Module, kernel: &ir::Kernel, constants: &FunctionConstants) -> Self {
        let types = &module.types;
        let argument = |argument: &ir::Argument| {
            let is_true = |constant| {
                let given = constants.get(&module.function_constants[constant].index);
                given.is_some_and(|bytes| bytes.iter().any(|&byte| byte != 0))
            };
            let condition = argument.condition.as_ref();
            if condition.is_some_and(|condition| !condition.holds(&is_true)) {
                return None;
            }
            let (slot, pointee, writable, least_bytes) = match argument.binding {
                ir::Binding::Buffer {
                    index,
                    writable,
                    pointee,
                    is_reference,
                    ..
                } => {
                    let bytes = if is_reference {
                        types.layout(pointee).0.max(1)
                    } else {
                        1
                    };
                    (Slot::Buffer(index), pointee, writable, bytes as usize)
                }
                ir::Binding::Threadgroup { index, pointee } => {
                    (Slot::Threadgroup(index), pointee, true, 1)
                }
                ir::Binding::Builtin(_) => return None,
            };
            Some(Argument {
                name: Arc::clone(&argument.name),
                slot,
                type_name: types.name(pointee),
                writable,
                least_bytes,
            })
        };
        let threadgroup = &module.functions[kernel.function].threadgroup;
        Self {
            kernel: Arc::clone(&kernel.name),
            arguments: kernel.arguments.iter().filter_map(argument).collect(),
            max_total_threads_per_threadgroup: kernel
                .max_threads
                .map_or(limits::THREADS_PER_THREADGROUP, u64::from)
                .min(limits::THREADS_PER_THREADGROUP),
            static_threadgroup_memory: threadgroup
                .iter()
                .map(|(_, variable)| u64::from(types.stride(variable.ty)))
                .sum(),
        }
    }
}
