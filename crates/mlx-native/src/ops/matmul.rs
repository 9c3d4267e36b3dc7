//! The product of two matrices, either of them transposed, f32.

use bytemuck::{Pod, Zeroable};

use crate::buffer::MlxBuffer;
use crate::dtypes::DType;
use crate::encoder::{CommandEncoder, KernelArgument};
use crate::error::Result;
use crate::kernel_registry::KernelRegistry;
use crate::metal::{DeviceRef, MTLSize};
use crate::ops::Op;
use crate::ops::arguments::{Check, Grid, Target};
use crate::ops::proof::Proof;

/// The text of the kernel.
pub const MATMUL_SHADER_SOURCE: &str = include_str!("../kernels/matmul.metal");

/// The ops of this family.
pub(crate) const OPS: &[Op] = &[Op {
    name: "matmul",
    formula: "c = a b",
    gradient: Some("da = dc b^T, db = a^T dc"),
    kernels: &["matmul_f32"],
    source: MATMUL_SHADER_SOURCE,
    proof: Proof::Matmul,
}];

/// Rows and columns that a threadgroup makes.
const TILE: u64 = 64;
/// Threads of a threadgroup in each direction.
const SIDE: u64 = 16;

/// The sizes of a product: c is [m, n]; a is [m, k], or [k, m] if transposed; b is [k, n], or
/// [n, k] if transposed. All are in row-major order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Matmul {
    /// Rows of the product.
    pub m: u32,
    /// Columns of the product.
    pub n: u32,
    /// The dimension that is summed over.
    pub k: u32,
    /// Whether a is transposed: 0 or 1.
    pub transpose_a: u32,
    /// Whether b is transposed: 0 or 1.
    pub transpose_b: u32,
}

/// Encodes `c = a b`.
///
/// # Errors
///
/// [`MlxError::InvalidArgument`](crate::MlxError::InvalidArgument) if m or n is 0, or if a buffer is
/// not `f32` or has fewer elements than its sizes say.
///
/// ```
/// use mlx_native::ops::matmul::{Matmul, dispatch_matmul_f32};
/// use mlx_native::{DType, KernelRegistry, MlxDevice};
///
/// let device = MlxDevice::new()?;
/// let a = device.buffer_from_slice(&[1.0f32, 2.0, 3.0, 4.0], vec![2, 2])?;
/// let c = device.alloc_buffer(16, DType::F32, vec![2, 2])?;
/// let sizes = Matmul { m: 2, n: 2, k: 2, transpose_a: 0, transpose_b: 1 };
/// let mut encoder = device.command_encoder()?;
/// let mut registry = KernelRegistry::new();
/// dispatch_matmul_f32(&mut encoder, &mut registry, device.metal_device(), &a, &a, &c, &sizes)?;
/// encoder.commit_and_wait()?;
/// assert_eq!(c.as_slice::<f32>()?[..], [5.0, 11.0, 11.0, 25.0]);
/// # Ok::<(), mlx_native::MlxError>(())
/// ```
pub fn dispatch_matmul_f32(
    encoder: &mut CommandEncoder,
    registry: &mut KernelRegistry,
    device: &DeviceRef,
    a: &MlxBuffer,
    b: &MlxBuffer,
    c: &MlxBuffer,
    sizes: &Matmul,
) -> Result<()> {
    let check = Check {
        kernel: "matmul_f32",
    };
    let [m, n, k] = [sizes.m, sizes.n, sizes.k].map(|size| size as usize);
    let results = check.count(&[m, n])?;
    if results == 0 {
        return check.invalid(format!("the product of [{m}, {k}] and [{k}, {n}] is empty"));
    }
    check.buffer("a", a, DType::F32, check.count(&[m, k])?)?;
    check.buffer("b", b, DType::F32, check.count(&[k, n])?)?;
    check.buffer("c", c, DType::F32, results)?;
    let tiles = |size: usize| (size as u64).div_ceil(TILE) * SIDE;
    let grid = Grid {
        threads: MTLSize::new(tiles(n), tiles(m), 1),
        group: MTLSize::new(SIDE, SIDE, 1),
    };
    let target = &mut Target::new(encoder, registry, device);
    target.dispatch(check.kernel, &[a, b, c], KernelArgument::value(sizes), grid)
}
