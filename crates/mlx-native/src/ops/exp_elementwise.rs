//! exp of every element, and its gradient.

use crate::buffer::MlxBuffer;
use crate::dtypes::DType;
use crate::encoder::CommandEncoder;
use crate::error::{MlxError, Result};
use crate::kernel_registry::KernelRegistry;
use crate::metal::{DeviceRef, MTLSize};
use crate::pipeline::limits;

/// The text of both kernels.
pub const EXP_ELEMENTWISE_SHADER_SOURCE: &str = include_str!("../kernels/exp_elementwise.metal");

const FORWARD: &str = "exp_f32";
const BACKWARD: &str = "exp_backward_f32";

/// Registers `exp_f32` and `exp_backward_f32`. A new registry has them already.
pub fn register(registry: &mut KernelRegistry) {
    registry.register_built_in(&[FORWARD, BACKWARD], EXP_ELEMENTWISE_SHADER_SOURCE);
}

/// Encodes `output = exp(input)`. `params` holds the number of elements as one `u32`.
///
/// # Errors
///
/// [`MlxError::InvalidArgument`] if there are no elements, the element counts differ, a buffer is
/// not `f32`, or `params` has less than 4 bytes.
///
/// ```
/// use mlx_native::ops::exp_elementwise::dispatch_exp_f32;
/// use mlx_native::{DType, KernelRegistry, MlxDevice};
///
/// let device = MlxDevice::new()?;
/// let x = device.buffer_from_slice(&[0.0f32, 1.0], vec![2])?;
/// let y = device.alloc_buffer(8, DType::F32, vec![2])?;
/// let n = device.buffer_from_slice(&[2u32], vec![1])?;
/// let mut encoder = device.command_encoder()?;
/// let mut registry = KernelRegistry::new();
/// dispatch_exp_f32(&mut encoder, &mut registry, device.metal_device(), &x, &y, &n)?;
/// encoder.commit_and_wait()?;
/// assert!((y.as_slice::<f32>()?[1] - 1f32.exp()).abs() < 1e-6);
/// # Ok::<(), mlx_native::MlxError>(())
/// ```
pub fn dispatch_exp_f32(
    encoder: &mut CommandEncoder,
    registry: &mut KernelRegistry,
    device: &DeviceRef,
    input: &MlxBuffer,
    output: &MlxBuffer,
    params: &MlxBuffer,
) -> Result<()> {
    let count = check(FORWARD, &[("input", input), ("output", output)], params)?;
    let pipeline = registry.get_pipeline(FORWARD, device)?;
    let (grid, group) = line(count);
    encoder.encode(
        pipeline,
        &[(0, input), (1, output), (2, params)],
        grid,
        group,
    );
    Ok(())
}

/// Encodes `dx = dy * y`, the gradient of exp, `y` being its output. `params` holds the number of
/// elements as one `u32`.
///
/// # Errors
///
/// As [`dispatch_exp_f32`].
pub fn dispatch_exp_backward_f32(
    encoder: &mut CommandEncoder,
    registry: &mut KernelRegistry,
    device: &DeviceRef,
    y: &MlxBuffer,
    dy: &MlxBuffer,
    dx: &MlxBuffer,
    params: &MlxBuffer,
) -> Result<()> {
    let count = check(BACKWARD, &[("y", y), ("dy", dy), ("dx", dx)], params)?;
    let pipeline = registry.get_pipeline(BACKWARD, device)?;
    let (grid, group) = line(count);
    encoder.encode(
        pipeline,
        &[(0, y), (1, dy), (2, dx), (3, params)],
        grid,
        group,
    );
    Ok(())
}

/// A grid of `count` threads in a line, and its threadgroups.
fn line(count: usize) -> (MTLSize, MTLSize) {
    let count = count as u64;
    (
        MTLSize::new(count, 1, 1),
        MTLSize::new(count.min(256), 1, 1),
    )
}

/// Checks element counts, dtypes and params, in this order, and returns the element count.
fn check(kernel: &str, buffers: &[(&str, &MlxBuffer)], params: &MlxBuffer) -> Result<usize> {
    let invalid = |message: String| Err(MlxError::InvalidArgument(format!("{kernel}: {message}")));
    let counts = || buffers.iter().map(|&(name, b)| (name, b.element_count()));
    let count = counts().next().map_or(0, |(_, count)| count);
    if count == 0 {
        return invalid("there are no elements; it takes at least one".into());
    }
    if counts().any(|(_, other)| other != count) {
        let found: Vec<_> = counts().map(|(name, n)| format!("{name} {n}")).collect();
        return invalid(format!(
            "element counts differ: {}; they must be equal",
            found.join(", ")
        ));
    }
    if let Some((name, buffer)) = buffers.iter().find(|(_, b)| b.dtype() != DType::F32) {
        return invalid(format!("{name} is {}; it must be f32", buffer.dtype()));
    }
    if params.byte_len() < 4 {
        return invalid(format!(
            "params has {} bytes; it holds the element count as one u32, so at least 4",
            params.byte_len()
        ));
    }
    if count as u64 > limits::GRID {
        return invalid(format!(
            "there are {count} elements; params counts them as one u32, so at most {}",
            limits::GRID
        ));
    }
    Ok(count)
}
