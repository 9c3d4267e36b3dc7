//! Compute kernels for training and running neural networks, written once and run anywhere.
//!
//! Every kernel is written in the Metal Shading Language. This crate runs that text on Apple GPUs
//! unchanged, on NVIDIA GPUs translated, and on any CPU by its own executor, which is the default
//! where there is no GPU and needs nothing installed.
//!
//! # The explicit layer
//!
//! A [`device`] allocates [`buffer`]s and makes command [`encoder`]s; a [`kernel_registry`] turns
//! kernel text into pipelines; an encoder records dispatches and commits them. The caller's own
//! text runs just as well as a built-in kernel:
//!
//! ```
//! use mlx_native::{DType, KernelRegistry, MTLSize, MlxDevice};
//!
//! let device = MlxDevice::new()?;
//! let mut input = device.alloc_buffer(4 * 3, DType::F32, vec![3])?;
//! let output = device.alloc_buffer(4 * 3, DType::F32, vec![3])?;
//! input.as_mut_slice::<f32>()?.copy_from_slice(&[1.0, 2.0, 3.0]);
//!
//! let mut registry = KernelRegistry::new();
//! registry.register_source(
//!     "twice",
//!     "kernel void twice(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
//!                        uint i [[thread_position_in_grid]]) { y[i] = 2.0f * x[i]; }",
//! );
//! let pipeline = registry.get_pipeline("twice", device.metal_device())?;
//!
//! let mut encoder = device.command_encoder()?;
//! encoder.encode(
//!     pipeline,
//!     &[(0, &input), (1, &output)],
//!     MTLSize::new(3, 1, 1),
//!     MTLSize::new(3, 1, 1),
//! );
//! encoder.commit_and_wait()?;
//! assert_eq!(output.as_slice::<f32>()?[..], [2.0, 4.0, 6.0]);
//! # Ok::<(), mlx_native::MlxError>(())
//! ```

pub mod autograd;
mod backend;
pub mod buffer;
pub mod device;
pub mod dtypes;
pub mod encoder;
pub mod error;
pub mod kernel_registry;
pub mod metal;
pub mod ops;
pub mod optim;
pub mod pipeline;
mod queue;
mod sync;
pub mod tensor;
#[cfg(test)]
mod testing;
pub mod verify;

pub use buffer::MlxBuffer;
pub use device::{DeviceKind, Execution, MlxDevice};
pub use dtypes::{DType, Element};
pub use encoder::{CommandEncoder, KernelArgument};
pub use error::{MlxError, Result};
pub use kernel_registry::KernelRegistry;
pub use metal::{DeviceRef, MTLSize};
pub use pipeline::Pipeline;
pub use tensor::{Stream, Tensor};
