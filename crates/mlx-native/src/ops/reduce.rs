//! Reductions of one run of dimensions, f32: many elements become one.

use bytemuck::{Pod, Zeroable};

use crate::buffer::MlxBuffer;
use crate::dtypes::DType;
use crate::encoder::{CommandEncoder, KernelArgument};
use crate::error::Result;
use crate::kernel_registry::KernelRegistry;
use crate::metal::DeviceRef;
use crate::ops::Op;
use crate::ops::arguments::{Check, Grid, Target};
use crate::ops::proof::{Domain, Exact, Proof};

/// The text of the kernels.
pub const REDUCE_SHADER_SOURCE: &str = include_str!("../kernels/reduce.metal");

/// The ops of this family.
pub(crate) const OPS: &[Op] = &[
    Op {
        name: "sum",
        formula: "y = sum of x",
        gradient: Some("dx = dy, repeated"),
        kernels: &["sum_rows_f32", "sum_columns_f32"],
        source: REDUCE_SHADER_SOURCE,
        proof: Proof::Reduction {
            reference: sum,
            gradient: |x, dy| vec![Exact::new(dy, 0.0); x.len()],
            domain: Domain::Uniform(-1.0, 2.0),
            empty: true,
        },
    },
    Op {
        name: "mean",
        formula: "y = sum of x / count of x",
        gradient: Some("dx = dy / count of x, repeated"),
        kernels: &["sum_rows_f32", "sum_columns_f32"],
        source: REDUCE_SHADER_SOURCE,
        proof: Proof::Reduction {
            reference: |x| {
                let total = sum(x);
                let n = x.len() as f64;
                Exact {
                    value: total.value / n,
                    scale: total.scale / n,
                    roundings: total.roundings + 1.0,
                }
            },
            gradient: |x, dy| vec![Exact::new(dy / x.len() as f64, 1.0); x.len()],
            domain: Domain::Uniform(-1.0, 2.0),
            empty: true,
        },
    },
    Op {
        name: "max",
        formula: "y = the largest x, NaN if any is",
        gradient: Some("dx = dy / ties where x = y, else 0"),
        kernels: &["max_rows_f32", "max_columns_f32", "max_backward_f32"],
        source: REDUCE_SHADER_SOURCE,
        proof: Proof::Reduction {
            reference: |x| Exact::new(maximum(x), 0.0),
            gradient: |x, dy| {
                let best = maximum(x);
                let is_best = |v: f64| v == best || (v.is_nan() && best.is_nan());
                let ties = x.iter().filter(|v| is_best(**v)).count() as f64;
                let share = |&v| if is_best(v) { dy / ties } else { 0.0 };
                x.iter().map(|v| Exact::new(share(v), 1.0)).collect()
            },
            domain: Domain::Distinct,
            empty: false,
        },
    },
];

fn sum(x: &[f64]) -> Exact {
    Exact {
        value: x.iter().sum(),
        scale: x.iter().map(|v| v.abs()).sum(),
        roundings: depth(x.len()),
    }
}

fn maximum(x: &[f64]) -> f64 {
    let larger = |a: f64, b: f64| if a.is_nan() || a > b { a } else { b };
    x.iter().copied().fold(f64::NEG_INFINITY, larger)
}

/// The most additions on the way from an element to the sum: within a block, over the blocks, over
/// a SIMD-group and over the SIMD-groups of a threadgroup.
pub(crate) fn depth(length: usize) -> f64 {
    (length.min(128) + length.div_ceil(128) + 5 + 8) as f64
}

/// The middle dimension of an array of shape [outer, length, inner], in row-major order, is
/// reduced.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Reduction {
    /// The product of the dimensions before it.
    pub outer: u32,
    /// The elements that become one.
    pub length: u32,
    /// The product of the dimensions after it.
    pub inner: u32,
    /// What a sum is divided by: 1, or `length` for a mean. A maximum ignores it.
    pub divisor: f32,
}

impl Reduction {
    fn results(&self) -> u64 {
        u64::from(self.outer) * u64::from(self.inner)
    }

    /// The number of elements of the input, if there are some and the kernel can count them.
    fn elements(&self, check: Check) -> Result<u64> {
        let [outer, length, inner] = [self.outer, self.length, self.inner].map(|n| n as usize);
        match check.count(&[outer, length, inner])? {
            0 => check.invalid(format!(
                "there are no elements in [{outer}, {length}, {inner}]; it takes at least one"
            )),
            count => Ok(count),
        }
    }
}

/// Encodes `output = sum(input) / divisor` over the middle dimension. `output` has a place for each
/// [outer, inner].
///
/// # Errors
///
/// [`MlxError::InvalidArgument`](crate::MlxError::InvalidArgument) if a buffer is not `f32` or has
/// fewer elements than the dimensions say, or if there are none.
///
/// ```
/// use mlx_native::ops::reduce::{Reduction, dispatch_sum_f32};
/// use mlx_native::{DType, KernelRegistry, MlxDevice};
///
/// let device = MlxDevice::new()?;
/// let x = device.buffer_from_slice(&[1.0f32, 2.0, 3.0, 4.0], vec![2, 2])?;
/// let y = device.alloc_buffer(8, DType::F32, vec![2])?;
/// let rows = Reduction { outer: 2, length: 2, inner: 1, divisor: 1.0 };
/// let mut encoder = device.command_encoder()?;
/// let mut registry = KernelRegistry::new();
/// dispatch_sum_f32(&mut encoder, &mut registry, device.metal_device(), &x, &y, &rows)?;
/// encoder.commit_and_wait()?;
/// assert_eq!(y.as_slice::<f32>()?[..], [3.0, 7.0]);
/// # Ok::<(), mlx_native::MlxError>(())
/// ```
pub fn dispatch_sum_f32(
    encoder: &mut CommandEncoder,
    registry: &mut KernelRegistry,
    device: &DeviceRef,
    input: &MlxBuffer,
    output: &MlxBuffer,
    reduction: &Reduction,
) -> Result<()> {
    let target = &mut Target::new(encoder, registry, device);
    let kernels = ["sum_rows_f32", "sum_columns_f32"];
    reduce(target, kernels, input, output, reduction)
}

/// Encodes `output = max(input)` over the middle dimension: NaN if any element is.
///
/// # Errors
///
/// As [`dispatch_sum_f32`].
pub fn dispatch_max_f32(
    encoder: &mut CommandEncoder,
    registry: &mut KernelRegistry,
    device: &DeviceRef,
    input: &MlxBuffer,
    output: &MlxBuffer,
    reduction: &Reduction,
) -> Result<()> {
    let target = &mut Target::new(encoder, registry, device);
    let kernels = ["max_rows_f32", "max_columns_f32"];
    reduce(target, kernels, input, output, reduction)
}

/// Rows by a threadgroup each with the first kernel, columns by a thread each with the second.
fn reduce(
    target: &mut Target<'_>,
    [rows, columns]: [&'static str; 2],
    input: &MlxBuffer,
    output: &MlxBuffer,
    reduction: &Reduction,
) -> Result<()> {
    let (kernel, grid) = match reduction.inner {
        1 => (
            rows,
            Grid::rows(reduction.outer.into(), reduction.length.into()),
        ),
        _ => (columns, Grid::line(reduction.results())),
    };
    let check = Check { kernel };
    let count = reduction.elements(check)?;
    check.buffer("input", input, DType::F32, count)?;
    check.buffer("output", output, DType::F32, reduction.results())?;
    target.dispatch(
        kernel,
        &[input, output],
        KernelArgument::value(reduction),
        grid,
    )
}

/// Encodes the gradient of a maximum: `dx = dy / ties` where x is the maximum y, else 0.
///
/// # Errors
///
/// As [`dispatch_sum_f32`].
#[allow(clippy::too_many_arguments)]
pub fn dispatch_max_backward_f32(
    encoder: &mut CommandEncoder,
    registry: &mut KernelRegistry,
    device: &DeviceRef,
    x: &MlxBuffer,
    y: &MlxBuffer,
    dy: &MlxBuffer,
    dx: &MlxBuffer,
    reduction: &Reduction,
) -> Result<()> {
    let check = Check {
        kernel: "max_backward_f32",
    };
    let count = reduction.elements(check)?;
    check.buffer("x", x, DType::F32, count)?;
    check.buffer("y", y, DType::F32, reduction.results())?;
    check.buffer("dy", dy, DType::F32, reduction.results())?;
    check.buffer("dx", dx, DType::F32, count)?;
    let target = &mut Target::new(encoder, registry, device);
    let grid = Grid::line(reduction.results());
    target.dispatch(
        check.kernel,
        &[x, y, dy, dx],
        KernelArgument::value(reduction),
        grid,
    )
}
