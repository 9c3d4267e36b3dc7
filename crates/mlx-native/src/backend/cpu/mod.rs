//! The CPU: always there, needs nothing installed.
//!
//! Memory is host memory, so a view is its address. A list runs when it is committed, on the
//! caller's thread and the rayon pool, and is finished when `submit` returns; the queue lets one run
//! at a time, which is the order that Metal queues and CUDA streams keep. Barriers are nothing here.
//!
//! A kernel runs as its native implementation, if it is the library's own and has one, or as its text
//! by the executor of the `msl` crate. A checked run is the interpreter's.

mod checked;
mod memory;
pub(crate) mod native;
mod pool;
#[cfg(test)]
mod tests;

use std::any::Any;
use std::slice;

use msl::exec;

use super::{
    Backend, Binding, Command, CommandList, Contents, Dispatch, Executable, KernelText, Memory,
};
use crate::device::{DeviceKind, Execution, InterruptHandle};
use crate::error::{MlxError, Result};
use crate::pipeline::limits;
use crate::queue::{Fault, Ticket};
use memory::HostMemory;
use native::{NativeArguments, NativeBuffer, NativeKernel};

/// The CPU as a device.
#[derive(Debug)]
pub(crate) struct CpuBackend {
    name: String,
    interrupt: InterruptHandle,
}

/// A kernel ready to run here: at least one of the two is there.
#[derive(Debug)]
pub(crate) struct CpuKernel {
    program: Option<exec::Program>,
    native: Option<NativeKernel>,
    /// What a checked run interprets.
    text: Option<checked::Text>,
}

impl Executable for CpuKernel {}

#[cfg(test)]
impl CpuKernel {
    /// For tests of the layers above: a kernel that is a function.
    pub fn from_native(native: NativeKernel) -> Self {
        Self {
            program: None,
            native: Some(native),
            text: None,
        }
    }
}

impl CpuBackend {
    /// The CPU, whose work ends early when `interrupt` says so.
    pub fn new(interrupt: InterruptHandle) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            name: format!("CPU ({}, {threads} threads)", std::env::consts::ARCH),
            interrupt,
        }
    }

    fn run(&self, list: &CommandList) -> Result<(), Fault> {
        let dispatches = list.commands.iter().filter_map(|command| match command {
            Command::Dispatch(dispatch) => Some(dispatch),
            Command::Barrier => None,
        });
        for (number, dispatch) in dispatches.enumerate() {
            self.run_dispatch(dispatch).map_err(|error| Fault {
                error,
                dispatch: number,
            })?;
        }
        Ok(())
    }

    fn run_dispatch(&self, dispatch: &Dispatch) -> Result<()> {
        if self.interrupt.is_interrupted() {
            return Err(MlxError::Interrupted {
                kernel: dispatch.pipeline.name().into(),
            });
        }
        let executable: &dyn Any = dispatch.pipeline.executable();
        let Some(kernel) = executable.downcast_ref::<CpuKernel>() else {
            return Err(foreign(dispatch));
        };
        if let (Execution::Checked, Some(text)) = (dispatch.execution, &kernel.text) {
            return checked::run(text, dispatch, &self.interrupt);
        }
        let wants_native = dispatch.execution == Execution::Native;
        match (kernel.native, &kernel.program) {
            (Some(native), program) if wants_native || program.is_none() => {
                run_native(native, dispatch)
            }
            (_, Some(program)) => self.run_program(program, dispatch),
            (_, None) => Err(foreign(dispatch)),
        }
    }

    fn run_program(&self, program: &exec::Program, dispatch: &Dispatch) -> Result<()> {
        let mut buffers = [None; limits::BUFFERS as usize];
        for binding in &dispatch.bindings {
            let (pointer, len) = place(binding).ok_or_else(|| foreign(dispatch))?;
            buffers[binding.index as usize] = Some(exec::Memory { pointer, len });
        }
        let bound = dispatch.bindings.iter().map(|b| b.index as usize + 1).max();
        let request = exec::Dispatch {
            grid: dispatch.threads,
            threadgroup: dispatch.threads_per_threadgroup,
            buffers: &buffers[..bound.unwrap_or(0)],
            threadgroup_memory: &dispatch.threadgroup_memory,
            interrupt: Some(self.interrupt.flag()),
        };
        // SAFETY: the list keeps the memory alive. The queue runs one list of this device at a time
        // and lets no view that conflicts with it exist until it is finished, and memory belongs to
        // one device: nothing else reads or writes it. Inline bytes are bound to arguments that the
        // kernel cannot write.
        unsafe { program.run(&request) }.map_err(faulted)
    }
}

impl Backend for CpuBackend {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Cpu
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn allocate(&self, byte_len: usize) -> Result<Box<dyn Memory>> {
        match HostMemory::new(byte_len) {
            Some(memory) => Ok(Box::new(memory)),
            None => Err(MlxError::OutOfMemory {
                device: self.name.clone(),
                byte_len,
            }),
        }
    }

    fn prepare(&self, kernel: &KernelText<'_>) -> Result<Box<dyn Executable>> {
        let options = exec::Options {
            constants: kernel.constants.clone(),
            ..Default::default()
        };
        let program = exec::Program::with_options(kernel.compilation, kernel.name, &options)
            .map_err(|error| MlxError::UnsupportedKernel {
                kernel: kernel.name.into(),
                message: error.to_string(),
            })?;
        let has_native = kernel.built_in && kernel.constants.is_empty();
        Ok(Box::new(CpuKernel {
            program: Some(program),
            native: native::find(kernel.name).filter(|_| has_native),
            text: Some(checked::Text::new(kernel)),
        }))
    }

    fn has_native(&self, kernel: &str) -> bool {
        native::find(kernel).is_some()
    }

    fn submit(&self, list: CommandList, ticket: Ticket) {
        // All that could use rayon runs in the pool. A single threadgroup does not, and is done
        // before another thread would have woken up.
        let spreads = |command: &Command| match command {
            Command::Dispatch(dispatch) => dispatch.threadgroups() > 1,
            Command::Barrier => false,
        };
        let outcome = if list.commands.iter().any(spreads) {
            pool::run(|| self.run(&list))
        } else {
            self.run(&list)
        };
        drop(list);
        ticket.finish(outcome);
    }
}

fn faulted(fault: exec::Fault) -> MlxError {
    match fault.kind {
        exec::FaultKind::Interrupted => MlxError::Interrupted {
            kernel: fault.kernel,
        },
        _ => MlxError::DeviceFault {
            message: fault.to_string(),
            kernel: fault.kernel,
        },
    }
}

/// The bytes that a binding stands for.
fn place(binding: &Binding) -> Option<(*mut u8, usize)> {
    match &binding.contents {
        Contents::Buffer(allocation) => {
            let memory: &dyn Any = allocation.memory.as_ref();
            let memory = memory.downcast_ref::<HostMemory>()?;
            Some((memory.pointer().as_ptr(), allocation.byte_len))
        }
        Contents::Bytes(bytes) => Some((bytes.as_ptr().cast_mut(), bytes.len())),
    }
}

fn run_native(native: NativeKernel, dispatch: &Dispatch) -> Result<()> {
    let mut buffers = Vec::with_capacity(dispatch.bindings.len());
    for binding in &dispatch.bindings {
        let (pointer, len) = place(binding).ok_or_else(|| foreign(dispatch))?;
        // SAFETY: as in `run_program`, nothing else touches the memory meanwhile; and what is
        // written is bound once, else the kernel runs by its text.
        let buffer = unsafe {
            if binding.writable {
                NativeBuffer::Write(slice::from_raw_parts_mut(pointer, len))
            } else {
                NativeBuffer::Read(slice::from_raw_parts(pointer, len))
            }
        };
        buffers.push((binding.index, buffer));
    }
    native(&mut NativeArguments::new(
        dispatch.pipeline.name(),
        buffers,
        dispatch.threads,
        dispatch.threadgroups() > 1,
    ))
}

/// Memory or a pipeline of another back end; the encoder refuses those, so nobody sees this.
fn foreign(dispatch: &Dispatch) -> MlxError {
    MlxError::DeviceFault {
        kernel: dispatch.pipeline.name().into(),
        message: format!(
            "kernel `{}`: its pipeline or a buffer is not of the CPU",
            dispatch.pipeline.name()
        ),
    }
}
