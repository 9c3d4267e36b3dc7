//! The negative log-likelihood of the right class, f32.

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

/// The text of the kernels.
pub const NLL_SHADER_SOURCE: &str = include_str!("../kernels/nll.metal");

/// The ops of this family.
pub(crate) const OPS: &[Op] = &[Op {
    name: "nll",
    formula: "y = -x[target]",
    gradient: Some("dx = -dy at the target, else 0"),
    kernels: &["nll_f32", "nll_backward_f32"],
    source: NLL_SHADER_SOURCE,
    proof: Proof::NegativeLogLikelihood,
}];

/// The shape of the log-probabilities: a row for each sample, in row-major order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Classes {
    /// Samples.
    pub rows: u32,
    /// Classes of each.
    pub classes: u32,
}

/// Encodes `loss[i] = -log_probability[i, target[i]]`. A target that is no class reads as 0.
///
/// # Errors
///
/// [`MlxError::InvalidArgument`](crate::MlxError::InvalidArgument) if `target` is not `u32` or
/// another buffer not `f32`, if one has fewer elements than the shape says, or if there are none.
///
/// ```
/// use mlx_native::ops::nll::{Classes, dispatch_nll_f32};
/// use mlx_native::{DType, KernelRegistry, MlxDevice};
///
/// let device = MlxDevice::new()?;
/// let log_probability = device.buffer_from_slice(&[-0.5f32, -1.5, -2.5, -3.5], vec![2, 2])?;
/// let target = device.buffer_from_slice(&[1u32, 0], vec![2])?;
/// let loss = device.alloc_buffer(8, DType::F32, vec![2])?;
/// let shape = Classes { rows: 2, classes: 2 };
/// let mut encoder = device.command_encoder()?;
/// let mut registry = KernelRegistry::new();
/// let handle = device.metal_device();
/// dispatch_nll_f32(&mut encoder, &mut registry, handle, &log_probability, &target, &loss, &shape)?;
/// encoder.commit_and_wait()?;
/// assert_eq!(loss.as_slice::<f32>()?[..], [1.5, 2.5]);
/// # Ok::<(), mlx_native::MlxError>(())
/// ```
pub fn dispatch_nll_f32(
    encoder: &mut CommandEncoder,
    registry: &mut KernelRegistry,
    device: &DeviceRef,
    log_probability: &MlxBuffer,
    target: &MlxBuffer,
    loss: &MlxBuffer,
    shape: &Classes,
) -> Result<()> {
    let check = Check { kernel: "nll_f32" };
    let count = elements(check, shape)?;
    check.buffer("log_probability", log_probability, DType::F32, count)?;
    check.buffer("target", target, DType::U32, shape.rows.into())?;
    check.buffer("loss", loss, DType::F32, shape.rows.into())?;
    let buffers = [log_probability, target, loss];
    let grid = Grid::line(shape.rows.into());
    let target = &mut Target::new(encoder, registry, device);
    target.dispatch(check.kernel, &buffers, KernelArgument::value(shape), grid)
}

/// Encodes the gradient of the log-probabilities: `dx[i, c] = -dy[i]` where c is the target of i,
/// else 0.
///
/// # Errors
///
/// As [`dispatch_nll_f32`].
pub fn dispatch_nll_backward_f32(
    encoder: &mut CommandEncoder,
    registry: &mut KernelRegistry,
    device: &DeviceRef,
    target: &MlxBuffer,
    dy: &MlxBuffer,
    dx: &MlxBuffer,
    shape: &Classes,
) -> Result<()> {
    let check = Check {
        kernel: "nll_backward_f32",
    };
    let count = elements(check, shape)?;
    check.buffer("target", target, DType::U32, shape.rows.into())?;
    check.buffer("dy", dy, DType::F32, shape.rows.into())?;
    check.buffer("dx", dx, DType::F32, count)?;
    let buffers = [target, dy, dx];
    let target = &mut Target::new(encoder, registry, device);
    target.dispatch(
        check.kernel,
        &buffers,
        KernelArgument::value(shape),
        Grid::line(count),
    )
}

fn elements(check: Check, shape: &Classes) -> Result<u64> {
    match check.count(&[shape.rows as usize, shape.classes as usize])? {
        0 => check.invalid("there are no elements; it takes at least one"),
        count => Ok(count),
    }
}
