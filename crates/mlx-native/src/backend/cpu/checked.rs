//! Checked runs: a kernel's text by the interpreter, which looks for what no kernel may do.

use std::slice;
use std::sync::Arc;

use msl::Compilation;
use msl::interpret;

use super::{KernelText, faulted, foreign, place};
use crate::backend::Dispatch;
use crate::device::InterruptHandle;
use crate::error::{MlxError, Result};
use crate::kernel_registry::FunctionConstants;
use crate::pipeline::limits;

/// What the interpreter needs of a kernel.
#[derive(Debug)]
pub(super) struct Text {
    compilation: Arc<Compilation>,
    name: String,
    constants: FunctionConstants,
}

impl Text {
    pub fn new(kernel: &KernelText<'_>) -> Self {
        Self {
            compilation: Arc::clone(kernel.compilation),
            name: kernel.name.to_string(),
            constants: kernel.constants.clone(),
        }
    }
}

/// Runs a kernel; what it does and may not do is an error.
pub(super) fn run(text: &Text, dispatch: &Dispatch, interrupt: &InterruptHandle) -> Result<()> {
    // What is only read may be bound twice, and goes as copies.
    let mut copies = Vec::new();
    for binding in dispatch.bindings.iter().filter(|b| !b.writable) {
        let (pointer, len) = place(binding).ok_or_else(|| foreign(dispatch))?;
        // SAFETY: the list keeps the memory alive, and nothing writes it before it is finished but
        // this kernel, which has not begun.
        copies.push(unsafe { slice::from_raw_parts(pointer, len) }.to_vec());
    }
    let mut buffers: [Option<&mut [u8]>; limits::BUFFERS as usize] = Default::default();
    let mut copies = copies.iter_mut();
    for binding in &dispatch.bindings {
        buffers[binding.index as usize] = if binding.writable {
            let (pointer, len) = place(binding).ok_or_else(|| foreign(dispatch))?;
            // SAFETY: the queue runs one list of this device at a time and lets no view of what it
            // writes exist; and what is written is bound once, else the encoder refuses.
            Some(unsafe { slice::from_raw_parts_mut(pointer, len) })
        } else {
            copies.next().map(Vec::as_mut_slice)
        };
    }
    let request = interpret::Dispatch {
        grid: dispatch.threads,
        threadgroup: dispatch.threads_per_threadgroup,
        buffers: &mut buffers,
        threadgroup_memory: &dispatch.threadgroup_memory,
        constants: &text.constants,
        check: true,
        step_limit: None,
        interrupt: Some(interrupt.flag()),
    };
    let kernel = || dispatch.pipeline.name().to_string();
    match interpret::run(&text.compilation, &text.name, request) {
        Ok(findings) if findings.is_empty() => Ok(()),
        Ok(findings) => Err(MlxError::Misbehaved {
            kernel: kernel(),
            findings: findings.iter().map(ToString::to_string).collect(),
        }),
        Err(interpret::Error::Fault(fault)) => Err(faulted(fault)),
        Err(interpret::Error::Interrupted { .. }) => {
            Err(MlxError::Interrupted { kernel: kernel() })
        }
        Err(error) => Err(MlxError::DeviceFault {
            kernel: kernel(),
            message: error.to_string(),
        }),
    }
}
