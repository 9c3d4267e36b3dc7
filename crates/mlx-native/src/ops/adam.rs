//! A step of Adam (Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2015, algorithm 1),
//! f32.

use bytemuck::{Pod, Zeroable};

use crate::buffer::MlxBuffer;
use crate::dtypes::DType;
use crate::encoder::{CommandEncoder, KernelArgument};
use crate::error::Result;
use crate::kernel_registry::KernelRegistry;
use crate::metal::DeviceRef;
use crate::ops::Op;
use crate::ops::arguments::{Check, Grid, Target};
use crate::ops::proof::Proof;

/// The text of the kernel.
pub const ADAM_SHADER_SOURCE: &str = include_str!("../kernels/adam.metal");

/// The ops of this family.
pub(crate) const OPS: &[Op] = &[Op {
    name: "adam",
    formula: "m = beta1 m + (1 - beta1) g, v = beta2 v + (1 - beta2) g^2, \
              x -= rate (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)",
    gradient: None,
    kernels: &["adam_f32"],
    source: ADAM_SHADER_SOURCE,
    proof: Proof::Adam,
}];

/// A step's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct AdamStep {
    /// How many parameters.
    pub n: u32,
    /// The size of a step.
    pub learning_rate: f32,
    /// The decay of the mean of the gradient.
    pub beta1: f32,
    /// The decay of the mean of its square.
    pub beta2: f32,
    /// 1 - beta1, rounded once: of a beta near 1 a subtraction of rounded numbers leaves few digits.
    pub rest1: f32,
    /// 1 - beta2
    pub rest2: f32,
    /// What keeps the divisor from 0.
    pub epsilon: f32,
    /// 1 - beta1^t, t being the number of this step, from 1.
    pub correction1: f32,
    /// 1 - beta2^t
    pub correction2: f32,
}

/// Encodes a step: parameters and moments change in place.
///
/// # Errors
///
/// [`MlxError::InvalidArgument`](crate::MlxError::InvalidArgument) if a buffer is not `f32` or has
/// fewer than `step.n` elements, or if that is 0.
///
/// ```
/// use mlx_native::ops::adam::{AdamStep, dispatch_adam_f32};
/// use mlx_native::{DType, KernelRegistry, MlxDevice};
///
/// let device = MlxDevice::new()?;
/// let x = device.buffer_from_slice(&[1.0f32], vec![1])?;
/// let gradient = device.buffer_from_slice(&[4.0f32], vec![1])?;
/// let [m, v] = [(); 2].map(|()| device.alloc_buffer(4, DType::F32, vec![1]));
/// let step = AdamStep {
///     n: 1, learning_rate: 0.5, beta1: 0.9, beta2: 0.999, rest1: 0.1, rest2: 0.001,
///     epsilon: 1e-8, correction1: 0.1, correction2: 0.001,
/// };
/// let mut encoder = device.command_encoder()?;
/// let mut registry = KernelRegistry::new();
/// let handle = device.metal_device();
/// dispatch_adam_f32(&mut encoder, &mut registry, handle, &x, &gradient, &m?, &v?, &step)?;
/// encoder.commit_and_wait()?;
/// // The first step has the size of the learning rate, whatever the gradient's.
/// assert!((x.as_slice::<f32>()?[0] - 0.5).abs() < 1e-4);
/// # Ok::<(), mlx_native::MlxError>(())
/// ```
#[allow(clippy::too_many_arguments)]
pub fn dispatch_adam_f32(
    encoder: &mut CommandEncoder,
    registry: &mut KernelRegistry,
    device: &DeviceRef,
    parameter: &MlxBuffer,
    gradient: &MlxBuffer,
    first_moment: &MlxBuffer,
    second_moment: &MlxBuffer,
    step: &AdamStep,
) -> Result<()> {
    let check = Check { kernel: "adam_f32" };
    if step.n == 0 {
        return check.invalid("there are no elements; it takes at least one");
    }
    let buffers = [
        ("parameter", parameter),
        ("gradient", gradient),
        ("first_moment", first_moment),
        ("second_moment", second_moment),
    ];
    for (name, buffer) in buffers {
        check.buffer(name, buffer, DType::F32, step.n.into())?;
    }
    let grid = Grid::line(step.n.into());
    let target = &mut Target::new(encoder, registry, device);
    target.dispatch(
        check.kernel,
        &buffers.map(|(_, buffer)| buffer),
        KernelArgument::value(step),
        grid,
    )
}
