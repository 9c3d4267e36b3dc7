//! Functions of two elements, f32, with broadcasting.
//!
//! `binary_ops` is the list: an op is one entry. Their gradients are made of ops, by the layer of
//! tensors.

use bytemuck::{Pod, Zeroable};

use crate::buffer::MlxBuffer;
use crate::dtypes::DType;
use crate::encoder::{CommandEncoder, KernelArgument};
use crate::error::Result;
use crate::kernel_registry::KernelRegistry;
use crate::metal::DeviceRef;
use crate::ops::Op;
use crate::ops::arguments::{Check, Grid, Target};
use crate::ops::copy::MAX_RANK;
use crate::ops::proof::{Domain, Proof, Roundings};

/// How to find the elements of two arrays for each element of the result, dimensions outermost
/// first. A stride of 0 repeats; strides and offsets count elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Broadcast {
    /// Elements of the result: the product of `shape`.
    pub n: u32,
    /// Its dimensions.
    pub rank: u32,
    /// Where the first array starts.
    pub a_offset: i32,
    /// Where the second array starts.
    pub b_offset: i32,
    /// The result's shape, of which `rank` count.
    pub shape: [u32; MAX_RANK],
    /// The first array's strides.
    pub a_stride: [i32; MAX_RANK],
    /// The second array's strides.
    pub b_stride: [i32; MAX_RANK],
}

/// Hands the list of binary ops to a macro. For each op: its documentation; its name; its formula,
/// which is the kernel text; its gradients as formulas, and as functions of tensors (a, b, dy) for
/// a and for b; an example; the reference in f64 and its gradients; the numbers to try; and the
/// roundings of the value and of each gradient.
macro_rules! binary_ops {
    ($apply:ident) => {
        $apply! {
            /// The sum of two elements.
            add {
                forward: "a + b", backward: "da = dy, db = dy",
                vjp: (|_a, _b, dy| Ok(dy.clone()), |_a, _b, dy| Ok(dy.clone())),
                example: (1.5, 0.5) => 2.0,
                reference: |a, b| a + b, gradient: |_, _, dy| (dy, dy),
                domain: [Domain::Signed(1e-3, 1e3), Domain::Signed(1e-3, 1e3)],
                roundings: (1.0, 0.0),
            }
            /// The difference of two elements.
            sub {
                forward: "a - b", backward: "da = dy, db = -dy",
                vjp: (|_a, _b, dy| Ok(dy.clone()), |_a, _b, dy| dy.neg()),
                example: (1.5, 0.5) => 1.0,
                reference: |a, b| a - b, gradient: |_, _, dy| (dy, -dy),
                domain: [Domain::Signed(1e-3, 1e3), Domain::Signed(1e-3, 1e3)],
                roundings: (1.0, 0.0),
            }
            /// The product of two elements.
            mul {
                forward: "a * b", backward: "da = dy * b, db = dy * a",
                vjp: (|_a, b, dy| dy.mul(b), |a, _b, dy| dy.mul(a)),
                example: (1.5, 0.5) => 0.75,
                reference: |a, b| a * b, gradient: |a, b, dy| (dy * b, dy * a),
                domain: [Domain::Signed(1e-10, 1e10), Domain::Signed(1e-10, 1e10)],
                roundings: (1.0, 1.0),
            }
            /// The quotient of two elements.
            div {
                forward: "a / b", backward: "da = dy / b, db = -(dy / b) * (a / b)",
                vjp: (|_a, b, dy| dy.div(b), |a, b, dy| dy.div(b)?.mul(&a.div(b)?)?.neg()),
                example: (1.5, 0.5) => 3.0,
                reference: |a, b| a / b, gradient: |a, b, dy| (dy / b, -dy * a / (b * b)),
                domain: [Domain::Signed(1e-8, 1e8), Domain::Signed(1e-5, 1e5)],
                roundings: (1.0, 3.0),
            }
        }
    };
}
pub(crate) use binary_ops;

/// A binary op, ready to be encoded.
#[derive(Debug)]
pub(crate) struct Binary {
    contiguous: &'static str,
    broadcast: &'static str,
}

impl Binary {
    /// Encodes the op on two arrays in the order of the result.
    pub fn encode(
        &self,
        target: &mut Target<'_>,
        buffers: &[&MlxBuffer; 3],
        count: u64,
        n: KernelArgument<'_>,
    ) -> Result<()> {
        target.dispatch(self.contiguous, buffers, n, Grid::line(count))
    }

    /// Encodes the op on two arrays that have to be looked up.
    pub fn encode_broadcast(
        &self,
        target: &mut Target<'_>,
        buffers: &[&MlxBuffer; 3],
        shape: &Broadcast,
    ) -> Result<()> {
        let check = Check {
            kernel: self.broadcast,
        };
        check.buffer("output", buffers[2], DType::F32, shape.n.into())?;
        check.buffer("left", buffers[0], DType::F32, 0)?;
        check.buffer("right", buffers[1], DType::F32, 0)?;
        if shape.n == 0 || shape.rank as usize > MAX_RANK {
            return check.invalid(format!(
                "it takes at least one element and at most {MAX_RANK} dimensions, not {} and {}",
                shape.n, shape.rank
            ));
        }
        let grid = Grid::line(shape.n.into());
        target.dispatch(self.broadcast, buffers, KernelArgument::value(shape), grid)
    }
}

macro_rules! declare {
    ($(
        $(#[$doc:meta])*
        $name:ident {
            forward: $forward:literal, backward: $backward:literal,
            vjp: ($($vjp:tt)*),
            example: ($a:literal, $b:literal) => $y:literal,
            reference: $reference:expr, gradient: $gradient:expr,
            domain: $domain:expr, roundings: ($f:literal, $g:literal),
        }
    )*) => { pastey::paste! {
        /// The ops of this family.
        pub(crate) const OPS: &[Op] = &[$(Op {
            name: stringify!($name),
            formula: concat!("y = ", $forward),
            gradient: Some($backward),
            kernels: &[stringify!([<$name _f32>]), stringify!([<$name _broadcast_f32>])],
            source: [<$name:upper _SHADER_SOURCE>],
            proof: Proof::Binary {
                reference: $reference,
                gradient: $gradient,
                domain: $domain,
                roundings: Roundings { forward: $f, backward: $g },
            },
        }),*];

        $(
            #[doc = concat!("The text of the kernels of ", stringify!($name), ".")]
            pub const [<$name:upper _SHADER_SOURCE>]: &str = concat!(
                include_str!("../kernels/binary.metal"),
                "\nBINARY(", stringify!($name), ", (", $forward, "))\n",
            );

            pub(crate) static [<$name:upper>]: Binary = Binary {
                contiguous: stringify!([<$name _f32>]),
                broadcast: stringify!([<$name _broadcast_f32>]),
            };

            $(#[$doc])*
            ///
            #[doc = concat!("Encodes `y = ", $forward, "` for each a of `left`, b of `right` and y")]
            /// of `output`. `params` holds the number of elements as one `u32`.
            ///
            /// # Errors
            ///
            /// [`MlxError::InvalidArgument`](crate::MlxError::InvalidArgument) if there are no
            /// elements, the element counts differ, a buffer is not `f32`, or `params` has less
            /// than 4 bytes.
            ///
            /// ```
            #[doc = concat!("use mlx_native::ops::binary::dispatch_", stringify!($name), "_f32;")]
            /// use mlx_native::{DType, KernelRegistry, MlxDevice};
            ///
            /// let device = MlxDevice::new()?;
            #[doc = concat!(
                "let a = device.buffer_from_slice(&[", stringify!($a), "f32], vec![1])?;")]
            #[doc = concat!(
                "let b = device.buffer_from_slice(&[", stringify!($b), "f32], vec![1])?;")]
            /// let y = device.alloc_buffer(4, DType::F32, vec![1])?;
            /// let n = device.buffer_from_slice(&[1u32], vec![1])?;
            /// let mut encoder = device.command_encoder()?;
            /// let mut registry = KernelRegistry::new();
            #[doc = concat!("dispatch_", stringify!($name),
                "_f32(&mut encoder, &mut registry, device.metal_device(), &a, &b, &y, &n)?;")]
            /// encoder.commit_and_wait()?;
            #[doc = concat!("assert_eq!(y.as_slice::<f32>()?[0], ", stringify!($y), ");")]
            /// # Ok::<(), mlx_native::MlxError>(())
            /// ```
            pub fn [<dispatch_ $name _f32>](
                encoder: &mut CommandEncoder,
                registry: &mut KernelRegistry,
                device: &DeviceRef,
                left: &MlxBuffer,
                right: &MlxBuffer,
                output: &MlxBuffer,
                params: &MlxBuffer,
            ) -> Result<()> {
                let check = Check { kernel: stringify!([<$name _f32>]) };
                let buffers = [("left", left), ("right", right), ("output", output)];
                let count = check.elementwise(&buffers, params)?;
                let target = &mut Target::new(encoder, registry, device);
                [<$name:upper>].encode(target, &[left, right, output], count, params.into())
            }

            #[doc = concat!("Encodes `y = ", $forward, "`, the elements a and b being found by")]
            /// `shape`. An index outside an array is an error of the run.
            ///
            /// # Errors
            ///
            /// [`MlxError::InvalidArgument`](crate::MlxError::InvalidArgument) if a buffer is not
            /// `f32`, or `output` has fewer elements than `shape.n`.
            pub fn [<dispatch_ $name _broadcast_f32>](
                encoder: &mut CommandEncoder,
                registry: &mut KernelRegistry,
                device: &DeviceRef,
                left: &MlxBuffer,
                right: &MlxBuffer,
                output: &MlxBuffer,
                shape: &Broadcast,
            ) -> Result<()> {
                let target = &mut Target::new(encoder, registry, device);
                [<$name:upper>].encode_broadcast(target, &[left, right, output], shape)
            }
        )*
    } };
}

binary_ops!(declare);
