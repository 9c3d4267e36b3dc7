//! softmax and log_softmax of rows, f32.

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
use crate::ops::reduce::depth;

/// The text of the kernels.
pub const SOFTMAX_SHADER_SOURCE: &str = include_str!("../kernels/softmax.metal");

/// The ops of this family.
pub(crate) const OPS: &[Op] = &[
    Op {
        name: "softmax",
        formula: "y = exp(x - max) / sum of exp(x - max)",
        gradient: Some("dx = y * (dy - sum of dy * y)"),
        kernels: &["softmax_f32", "softmax_backward_f32"],
        source: SOFTMAX_SHADER_SOURCE,
        proof: Proof::Row {
            reference: |x| {
                let row = Row::new(x);
                let softmax = |&x| {
                    let value = row.probability(x);
                    Exact {
                        value,
                        scale: times(value, row.relative_error(x)),
                        roundings: depth(row.length) + 6.0,
                    }
                };
                x.iter().map(softmax).collect()
            },
            gradient: |x, dy| {
                let row = Row::new(x);
                let terms = || std::iter::zip(x, dy).map(|(&x, dy)| row.probability(x) * dy);
                let (total, size) = (terms().sum::<f64>(), terms().map(f64::abs).sum::<f64>());
                let gradient = |(&x, dy): (&f64, &f64)| Exact {
                    value: row.probability(x) * (dy - total),
                    scale: times(
                        row.probability(x),
                        (dy.abs() + size) * row.relative_error(x),
                    ),
                    roundings: 4.0 * depth(row.length) + 20.0,
                };
                std::iter::zip(x, dy).map(gradient).collect()
            },
            domain: Domain::Uniform(-8.0, 8.0),
        },
    },
    Op {
        name: "log_softmax",
        formula: "y = x - max - log(sum of exp(x - max))",
        gradient: Some("dx = dy - exp(y) * sum of dy"),
        kernels: &["log_softmax_f32", "log_softmax_backward_f32"],
        source: SOFTMAX_SHADER_SOURCE,
        proof: Proof::Row {
            reference: |x| {
                let row = Row::new(x);
                let log_softmax = |&x| Exact {
                    value: row.log_probability(x),
                    scale: row.total.ln().abs() + row.relative_error(x),
                    roundings: depth(row.length) + 6.0,
                };
                x.iter().map(log_softmax).collect()
            },
            gradient: |x, dy| {
                let row = Row::new(x);
                let (total, size) = (
                    dy.iter().sum::<f64>(),
                    dy.iter().map(|v| v.abs()).sum::<f64>(),
                );
                let gradient = |(&x, dy): (&f64, &f64)| {
                    let error = row.total.ln().abs() + row.relative_error(x);
                    Exact {
                        value: dy - row.probability(x) * total,
                        scale: dy.abs() + times(row.probability(x), size * (1.0 + error)),
                        roundings: 2.0 * depth(row.length) + 10.0,
                    }
                };
                std::iter::zip(x, dy).map(gradient).collect()
            },
            domain: Domain::Uniform(-8.0, 8.0),
        },
    },
];

/// The product, 0 if the first factor is: an element of negative infinity adds no error.
fn times(a: f64, b: f64) -> f64 {
    if a == 0.0 { 0.0 } else { a * b }
}

/// A row's maximum and sum of exponentials, in f64.
struct Row {
    length: usize,
    best: f64,
    total: f64,
    /// The mean distance from the maximum, weighted by probability.
    distance: f64,
}

impl Row {
    fn new(x: &[f64]) -> Self {
        let best = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total = x.iter().map(|x| (x - best).exp()).sum();
        let weighted = |x: &f64| times((x - best).exp() / total, best - x);
        Self {
            length: x.len(),
            best,
            total,
            distance: x.iter().map(weighted).sum(),
        }
    }

    fn probability(&self, x: f64) -> f64 {
        (x - self.best).exp() / self.total
    }

    fn log_probability(&self, x: f64) -> f64 {
        x - self.best - self.total.ln()
    }

    /// exp turns the rounding of x - max, which grows with it, into a relative error, of an element
    /// and of the sum.
    fn relative_error(&self, x: f64) -> f64 {
        1.0 + (self.best - x) + self.distance
    }
}

/// Rows of an array in row-major order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Rows {
    /// How many.
    pub rows: u32,
    /// The elements of each.
    pub length: u32,
}

macro_rules! dispatch {
    ($($(#[$doc:meta])* $forward:ident, $backward:ident, $kernel:literal, $gradient:literal;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Errors
            ///
            /// [`MlxError::InvalidArgument`](crate::MlxError::InvalidArgument) if a buffer is not
            /// `f32` or has fewer elements than the rows, or if there are none.
            ///
            /// ```
            #[doc = concat!("use mlx_native::ops::softmax::{Rows, ", stringify!($forward), "};")]
            /// use mlx_native::{DType, KernelRegistry, MlxDevice};
            ///
            /// let device = MlxDevice::new()?;
            /// let x = device.buffer_from_slice(&[1.0f32, 1.0, 0.5, 0.5], vec![2, 2])?;
            /// let y = device.alloc_buffer(16, DType::F32, vec![2, 2])?;
            /// let rows = Rows { rows: 2, length: 2 };
            /// let mut encoder = device.command_encoder()?;
            /// let mut registry = KernelRegistry::new();
            #[doc = concat!(stringify!($forward),
                "(&mut encoder, &mut registry, device.metal_device(), &x, &y, &rows)?;")]
            /// encoder.commit_and_wait()?;
            /// let y = y.as_slice::<f32>()?;
            /// assert!(y[0] == y[1] && y[0] == y[2]);
            /// # Ok::<(), mlx_native::MlxError>(())
            /// ```
            pub fn $forward(
                encoder: &mut CommandEncoder,
                registry: &mut KernelRegistry,
                device: &DeviceRef,
                input: &MlxBuffer,
                output: &MlxBuffer,
                rows: &Rows,
            ) -> Result<()> {
                let buffers = [("input", input), ("output", output)];
                encode(&mut Target::new(encoder, registry, device), $kernel, &buffers, rows)
            }

            #[doc = concat!("Encodes the gradient of [`", stringify!($forward), "`], made from its output y.")]
            ///
            /// # Errors
            ///
            #[doc = concat!("As [`", stringify!($forward), "`].")]
            pub fn $backward(
                encoder: &mut CommandEncoder,
                registry: &mut KernelRegistry,
                device: &DeviceRef,
                y: &MlxBuffer,
                dy: &MlxBuffer,
                dx: &MlxBuffer,
                rows: &Rows,
            ) -> Result<()> {
                let buffers = [("y", y), ("dy", dy), ("dx", dx)];
                encode(&mut Target::new(encoder, registry, device), $gradient, &buffers, rows)
            }
        )*
    };
}

dispatch! {
    /// Encodes `y = exp(x - max) / sum of exp(x - max)` for each row. A row whose largest element
    /// is an infinity of either sign, or that has a NaN, becomes NaN.
    dispatch_softmax_f32, dispatch_softmax_backward_f32, "softmax_f32", "softmax_backward_f32";
    /// Encodes `y = x - max - log(sum of exp(x - max))` for each row: the logarithm of softmax.
    dispatch_log_softmax_f32, dispatch_log_softmax_backward_f32, "log_softmax_f32",
        "log_softmax_backward_f32";
}

fn encode(
    target: &mut Target<'_>,
    kernel: &'static str,
    buffers: &[(&str, &MlxBuffer)],
    rows: &Rows,
) -> Result<()> {
    let check = Check { kernel };
    let count = check.count(&[rows.rows as usize, rows.length as usize])?;
    if count == 0 {
        return check.invalid("there are no elements; it takes at least one");
    }
    for (name, buffer) in buffers {
        check.buffer(name, buffer, DType::F32, count)?;
    }
    let buffers: Vec<_> = buffers.iter().map(|(_, buffer)| *buffer).collect();
    let grid = Grid::rows(rows.rows.into(), rows.length.into());
    target.dispatch(kernel, &buffers, KernelArgument::value(rows), grid)
}
