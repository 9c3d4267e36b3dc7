//! Functions of one element, f32.
//!
//! `unary_ops` is the list: an op is one entry.

use crate::buffer::MlxBuffer;
use crate::encoder::{CommandEncoder, KernelArgument};
use crate::error::Result;
use crate::kernel_registry::KernelRegistry;
use crate::metal::DeviceRef;
use crate::ops::Op;
use crate::ops::arguments::{Check, Grid, Target};
use crate::ops::proof::{Domain, Proof, Roundings};

/// Hands the list of unary ops to a macro. For each op: its documentation; its name; what its
/// gradient is made from, x or y; both formulas, which are the kernel text; the gradient as a
/// function of tensors (x or y, and dy), to the bit what the kernel makes; a value as an example; the
/// reference and its gradient in f64; the numbers to try; and how many roundings each kernel
/// makes (a function of Metal's library within 1 ULP counts as 2).
macro_rules! unary_ops {
    ($apply:ident) => {
        $apply! {
            /// e to the power of each element.
            exp {
                keeps: y, forward: "exp(x)", backward: "dy * y",
                tensors: |y, dy| dy.mul(y),
                example: 0.5 => 1.648_721_3,
                reference: f64::exp, gradient: |x, dy| dy * x.exp(),
                domain: Domain::Uniform(-87.0, 88.0), roundings: (2.0, 3.0),
            }
            /// The natural logarithm of each element; NaN below 0.
            log {
                keeps: x, forward: "log(x)", backward: "dy / x",
                tensors: |x, dy| dy.div(x),
                example: 0.5 => -0.693_147_2,
                reference: f64::ln, gradient: |x, dy| dy / x,
                domain: Domain::Logarithmic(1e-37, 1e38), roundings: (2.0, 1.0),
            }
            /// The square root of each element; NaN below 0. At 0 the gradient is infinite, or 0
            /// if dy is.
            sqrt {
                keeps: y, forward: "sqrt(x)", backward: "dy == 0.0f ? 0.0f : dy / (2.0f * y)",
                tensors: |y, dy| dy.over_twice(y),
                example: 0.25 => 0.5,
                reference: f64::sqrt,
                gradient: |x, dy| if dy == 0.0 { 0.0 } else { dy / (2.0 * x.sqrt()) },
                domain: Domain::Logarithmic(1e-37, 1e38), roundings: (1.0, 2.0),
            }
            /// The negative of each element.
            neg {
                keeps: y, forward: "-x", backward: "-dy",
                tensors: |_y, dy| dy.neg(),
                example: 0.5 => -0.5,
                reference: |x| -x, gradient: |_, dy| -dy,
                domain: Domain::Signed(1e-30, 1e30), roundings: (0.0, 0.0),
            }
            /// The rectifier: the larger of each element and 0. NaN stays NaN; at 0 the gradient
            /// is 0.
            relu {
                keeps: x, forward: "x > 0.0f || isnan(x) ? x : 0.0f",
                backward: "x > 0.0f ? dy : 0.0f",
                tensors: |x, dy| dy.where_positive(x),
                example: -0.5 => 0.0,
                reference: |x| if x > 0.0 || x.is_nan() { x } else { 0.0 },
                gradient: |x, dy| if x > 0.0 { dy } else { 0.0 },
                domain: Domain::Signed(1e-3, 1e3), roundings: (0.0, 0.0),
            }
        }
    };
}
pub(crate) use unary_ops;

/// Which of its two kernels an op runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    Forward,
    Backward,
}

/// What an op's gradient is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    Input,
    Output,
}

/// A unary op, ready to be encoded.
#[derive(Debug)]
pub(crate) struct Unary {
    /// The forward and the backward kernel.
    kernels: [&'static str; 2],
    pub kept: Kept,
}

impl Unary {
    /// The kernel of a pass.
    pub fn kernel(&self, pass: Pass) -> &'static str {
        self.kernels[pass as usize]
    }

    /// Encodes a pass over `count` elements. The buffers are input and output; or what is kept, dy
    /// and dx.
    pub fn encode(
        &self,
        pass: Pass,
        target: &mut Target<'_>,
        buffers: &[&MlxBuffer],
        count: u64,
        params: KernelArgument<'_>,
    ) -> Result<()> {
        target.dispatch(self.kernel(pass), buffers, params, Grid::line(count))
    }
}

macro_rules! kept {
    (x) => {
        Kept::Input
    };
    (y) => {
        Kept::Output
    };
}

macro_rules! kept_name {
    (x) => {
        "input"
    };
    (y) => {
        "output"
    };
}

macro_rules! declare {
    ($(
        $(#[$doc:meta])*
        $name:ident {
            keeps: $kept:ident, forward: $forward:literal, backward: $backward:literal,
            tensors: $tensors:expr,
            example: $x:literal => $y:literal,
            reference: $reference:expr, gradient: $gradient:expr,
            domain: $domain:expr, roundings: ($f:literal, $b:literal),
        }
    )*) => { pastey::paste! {
        /// The ops of this family.
        pub(crate) const OPS: &[Op] = &[$(Op {
            name: stringify!($name),
            formula: concat!("y = ", $forward),
            gradient: Some(concat!("dx = ", $backward)),
            kernels: &[stringify!([<$name _f32>]), stringify!([<$name _backward_f32>])],
            source: [<$name:upper _SHADER_SOURCE>],
            proof: Proof::Unary {
                reference: $reference,
                gradient: $gradient,
                domain: $domain,
                roundings: Roundings { forward: $f, backward: $b },
            },
        }),*];

        $(
            #[doc = concat!("The text of the kernels of ", stringify!($name), ".")]
            pub const [<$name:upper _SHADER_SOURCE>]: &str = concat!(
                include_str!("../kernels/unary.metal"),
                "\nUNARY(", stringify!($name), ", ", stringify!($kept), ", (", $forward, "), (",
                $backward, "))\n",
            );

            pub(crate) static [<$name:upper>]: Unary = Unary {
                kernels: [stringify!([<$name _f32>]), stringify!([<$name _backward_f32>])],
                kept: kept!($kept),
            };

            $(#[$doc])*
            ///
            #[doc = concat!("Encodes `y = ", $forward, "` for each element x of `input`, y being")]
            /// that of `output`. `params` holds the number of elements as one `u32`.
            ///
            /// # Errors
            ///
            /// [`MlxError::InvalidArgument`](crate::MlxError::InvalidArgument) if there are no
            /// elements, the element counts differ, a buffer is not `f32`, or `params` has less
            /// than 4 bytes.
            ///
            /// ```
            #[doc = concat!("use mlx_native::ops::unary::dispatch_", stringify!($name), "_f32;")]
            /// use mlx_native::{DType, KernelRegistry, MlxDevice};
            ///
            /// let device = MlxDevice::new()?;
            #[doc = concat!(
                "let x = device.buffer_from_slice(&[", stringify!($x), "f32], vec![1])?;")]
            /// let y = device.alloc_buffer(4, DType::F32, vec![1])?;
            /// let n = device.buffer_from_slice(&[1u32], vec![1])?;
            /// let mut encoder = device.command_encoder()?;
            /// let mut registry = KernelRegistry::new();
            #[doc = concat!("dispatch_", stringify!($name),
                "_f32(&mut encoder, &mut registry, device.metal_device(), &x, &y, &n)?;")]
            /// encoder.commit_and_wait()?;
            #[doc = concat!(
                "assert!((y.as_slice::<f32>()?[0] - ", stringify!($y), ").abs() < 1e-6);")]
            /// # Ok::<(), mlx_native::MlxError>(())
            /// ```
            pub fn [<dispatch_ $name _f32>](
                encoder: &mut CommandEncoder,
                registry: &mut KernelRegistry,
                device: &DeviceRef,
                input: &MlxBuffer,
                output: &MlxBuffer,
                params: &MlxBuffer,
            ) -> Result<()> {
                let check = Check { kernel: stringify!([<$name _f32>]) };
                let count = check.elementwise(&[("input", input), ("output", output)], params)?;
                let target = &mut Target::new(encoder, registry, device);
                [<$name:upper>].encode(
                    Pass::Forward, target, &[input, output], count, params.into(),
                )
            }

            #[doc = concat!("Encodes the gradient of ", stringify!($name), ", `dx = ", $backward, "`,")]
            #[doc = concat!("`", stringify!($kept), "` being its ", kept_name!($kept), ". `params`")]
            /// holds the number of elements as one `u32`.
            ///
            /// # Errors
            ///
            /// As the forward pass.
            pub fn [<dispatch_ $name _backward_f32>](
                encoder: &mut CommandEncoder,
                registry: &mut KernelRegistry,
                device: &DeviceRef,
                $kept: &MlxBuffer,
                dy: &MlxBuffer,
                dx: &MlxBuffer,
                params: &MlxBuffer,
            ) -> Result<()> {
                let check = Check { kernel: stringify!([<$name _backward_f32>]) };
                let buffers = [(stringify!($kept), $kept), ("dy", dy), ("dx", dx)];
                let count = check.elementwise(&buffers, params)?;
                let target = &mut Target::new(encoder, registry, device);
                [<$name:upper>].encode(
                    Pass::Backward, target, &[$kept, dy, dx], count, params.into(),
                )
            }
        )*
    } };
}

unary_ops!(declare);
