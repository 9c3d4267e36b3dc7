//! What the unit tests share: kernels that are Rust functions, so that a test can stop one in the
//! middle, or count and fail at will, without a compiler.

use crate::backend::cpu::CpuKernel;
use crate::backend::cpu::native::NativeKernel;
use crate::device::{DeviceKind, MlxDevice};
use crate::dtypes::DType;
use crate::error::Slot;
use crate::pipeline::{Argument, Pipeline, Signature};
use crate::{MTLSize, MlxBuffer};

pub const ONE: MTLSize = MTLSize::new(1, 1, 1);

pub fn cpu() -> MlxDevice {
    MlxDevice::open(DeviceKind::Cpu).unwrap()
}

/// A buffer of f32.
pub fn floats(device: &MlxDevice, data: &[f32]) -> MlxBuffer {
    device.buffer_from_slice(data, vec![data.len()]).unwrap()
}

pub fn zeroes(device: &MlxDevice, len: usize) -> MlxBuffer {
    device.alloc_buffer(4 * len, DType::F32, vec![len]).unwrap()
}

/// A signature whose buffers are `(name, writable)` in order.
pub fn signature(kernel: &str, buffers: &[(&str, bool)]) -> Signature {
    let argument = |(index, &(name, writable)): (usize, &(&str, bool))| Argument {
        name: name.into(),
        slot: Slot::Buffer(index as u32),
        type_name: "float".into(),
        writable,
        least_bytes: 1,
    };
    Signature {
        kernel: kernel.into(),
        arguments: buffers.iter().enumerate().map(argument).collect(),
        max_total_threads_per_threadgroup: 1024,
        static_threadgroup_memory: 0,
    }
}

pub fn pipeline(device: &MlxDevice, signature: Signature, native: NativeKernel) -> Pipeline {
    let executable = Box::new(CpuKernel::from_native(native));
    Pipeline::from_parts(device.metal_device(), signature, executable)
}

/// `y = x + 1` over all of y, with arguments `x` (0) and `y` (1).
pub fn increment(device: &MlxDevice) -> Pipeline {
    pipeline(
        device,
        signature("increment", &[("x", false), ("y", true)]),
        |arguments| {
            let (x, y) = (arguments.read::<f32>(0)?, arguments.write::<f32>(1)?);
            y.iter_mut().zip(x).for_each(|(y, x)| *y = x + 1.0);
            Ok(())
        },
    )
}

/// `y = 7`, with argument `y` (0).
pub fn fill(device: &MlxDevice) -> Pipeline {
    pipeline(device, signature("fill", &[("y", true)]), |arguments| {
        arguments.write::<f32>(0)?.fill(7.0);
        Ok(())
    })
}

/// Writes -1 to the first element of `y` (0), then fails.
pub fn failing(device: &MlxDevice) -> Pipeline {
    pipeline(device, signature("failing", &[("y", true)]), |arguments| {
        arguments.write::<f32>(0)?[0] = -1.0;
        Err(arguments.error(0, "broken on purpose"))
    })
}
