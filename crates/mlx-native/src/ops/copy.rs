//! Copies between views and row-major order.

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

/// The most dimensions that a kernel is told of.
pub const MAX_RANK: usize = 8;

/// The text of the copying kernels.
pub const COPY_SHADER_SOURCE: &str = include_str!("../kernels/copy.metal");

/// The ops of this family.
pub(crate) const OPS: &[Op] = &[Op {
    name: "copy",
    formula: "y[i] = x[view(i)]",
    gradient: Some("dx[view(i)] = dy[i], else 0"),
    kernels: &["copy_view_f32", "copy_into_view_f32", "fill_f32"],
    source: COPY_SHADER_SOURCE,
    proof: Proof::Views,
}];

/// Where the elements of a view are, dimensions outermost first. A stride of 0 repeats; strides
/// and the offset count elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct View {
    /// Elements: the product of `shape`.
    pub n: u32,
    /// Dimensions.
    pub rank: u32,
    /// The place of the first element.
    pub offset: i32,
    /// Lengths of the dimensions, of which `rank` count.
    pub shape: [u32; MAX_RANK],
    /// The distance of neighbours in each dimension.
    pub stride: [i32; MAX_RANK],
}

/// Encodes `output[i] = input[view(i)]` for each element of a view of `input`. A place outside
/// `input` is an error of the run.
///
/// # Errors
///
/// [`MlxError::InvalidArgument`](crate::MlxError::InvalidArgument) if a buffer is not `f32`, if
/// `output` has fewer elements than the view, or if the view has none or too many dimensions.
///
/// ```
/// use mlx_native::ops::copy::{View, dispatch_copy_view_f32};
/// use mlx_native::{DType, KernelRegistry, MlxDevice};
///
/// let device = MlxDevice::new()?;
/// let x = device.buffer_from_slice(&[1.0f32, 2.0, 3.0], vec![3])?;
/// let y = device.alloc_buffer(12, DType::F32, vec![3])?;
/// let mut backwards = View { n: 3, rank: 1, offset: 2, ..View::default() };
/// (backwards.shape[0], backwards.stride[0]) = (3, -1);
/// let mut encoder = device.command_encoder()?;
/// let mut registry = KernelRegistry::new();
/// dispatch_copy_view_f32(&mut encoder, &mut registry, device.metal_device(), &x, &y, &backwards)?;
/// encoder.commit_and_wait()?;
/// assert_eq!(y.as_slice::<f32>()?[..], [3.0, 2.0, 1.0]);
/// # Ok::<(), mlx_native::MlxError>(())
/// ```
pub fn dispatch_copy_view_f32(
    encoder: &mut CommandEncoder,
    registry: &mut KernelRegistry,
    device: &DeviceRef,
    input: &MlxBuffer,
    output: &MlxBuffer,
    view: &View,
) -> Result<()> {
    let check = Check {
        kernel: "copy_view_f32",
    };
    check.buffer("input", input, DType::F32, 0)?;
    check.buffer("output", output, DType::F32, view.n.into())?;
    let target = Target::new(encoder, registry, device);
    encode(check, target, input, output, view)
}

/// Encodes `output[view(i)] = input[i]` for each element of a view of `output`; the rest of
/// `output` stays. If the view has two elements in one place, either may win.
///
/// # Errors
///
/// [`MlxError::InvalidArgument`](crate::MlxError::InvalidArgument) if a buffer is not `f32`, if
/// `input` has fewer elements than the view, or if the view has none or too many dimensions.
pub fn dispatch_copy_into_view_f32(
    encoder: &mut CommandEncoder,
    registry: &mut KernelRegistry,
    device: &DeviceRef,
    input: &MlxBuffer,
    output: &MlxBuffer,
    view: &View,
) -> Result<()> {
    let check = Check {
        kernel: "copy_into_view_f32",
    };
    check.buffer("input", input, DType::F32, view.n.into())?;
    check.buffer("output", output, DType::F32, 0)?;
    let target = Target::new(encoder, registry, device);
    encode(check, target, input, output, view)
}

fn encode(
    check: Check,
    mut target: Target<'_>,
    input: &MlxBuffer,
    output: &MlxBuffer,
    view: &View,
) -> Result<()> {
    if view.n == 0 || view.rank as usize > MAX_RANK {
        return check.invalid(format!(
            "a view has at least one element and at most {MAX_RANK} dimensions, not {} and {}",
            view.n, view.rank
        ));
    }
    let grid = Grid::line(view.n.into());
    target.dispatch(
        check.kernel,
        &[input, output],
        KernelArgument::value(view),
        grid,
    )
}

/// Encodes `output[i] = value` for all elements.
///
/// # Errors
///
/// [`MlxError::InvalidArgument`](crate::MlxError::InvalidArgument) if the buffer is not `f32` or
/// has no elements.
///
/// ```
/// use mlx_native::ops::copy::dispatch_fill_f32;
/// use mlx_native::{DType, KernelRegistry, MlxDevice};
///
/// let device = MlxDevice::new()?;
/// let y = device.alloc_buffer(12, DType::F32, vec![3])?;
/// let mut encoder = device.command_encoder()?;
/// let mut registry = KernelRegistry::new();
/// dispatch_fill_f32(&mut encoder, &mut registry, device.metal_device(), &y, 0.5)?;
/// encoder.commit_and_wait()?;
/// assert_eq!(y.as_slice::<f32>()?[..], [0.5; 3]);
/// # Ok::<(), mlx_native::MlxError>(())
/// ```
pub fn dispatch_fill_f32(
    encoder: &mut CommandEncoder,
    registry: &mut KernelRegistry,
    device: &DeviceRef,
    output: &MlxBuffer,
    value: f32,
) -> Result<()> {
    let check = Check { kernel: "fill_f32" };
    check.buffer("output", output, DType::F32, 1)?;
    let count = check.count(&[output.element_count()])?;
    let n = count as u32;
    let pipeline = registry.get_pipeline(check.kernel, device)?;
    let grid = Grid::line(count);
    encoder.encode_with(
        pipeline,
        &[
            (0, output.into()),
            (1, KernelArgument::value(&value)),
            (2, KernelArgument::value(&n)),
        ],
        &[],
        grid.threads,
        grid.group,
    );
    Ok(())
}
