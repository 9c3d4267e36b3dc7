//! Functions of each element, made from the lists of ops.

use super::layout::{Layout, broadcast};
use super::{Stream, Tensor};
use crate::dtypes::DType;
use crate::encoder::KernelArgument;
use crate::error::Result;
use crate::ops::arguments::Target;
use crate::ops::binary::{self, Binary, binary_ops};
use crate::ops::unary::{self, Kept, Pass, Unary, unary_ops};

macro_rules! unary_methods {
    ($(
        $(#[$doc:meta])*
        $name:ident {
            keeps: $kept:ident, forward: $forward:literal, backward: $backward:literal,
            example: $x:literal => $y:literal,
            $($rest:tt)*
        }
    )*) => { pastey::paste! {
        impl Tensor {
            $(
                $(#[$doc])*
                ///
                #[doc = concat!("`y = ", $forward, "`, `dx = ", $backward, "`")]
                ///
                /// # Errors
                ///
                /// If the tensor is not f32, or the memory cannot be had.
                ///
                /// ```
                /// use mlx_native::{MlxDevice, Stream, Tensor};
                /// let stream = Stream::new(&MlxDevice::new()?)?;
                #[doc = concat!("let x = Tensor::from_slice(&stream, &[", stringify!($x), "f32], [1])?;")]
                #[doc = concat!("let y = x.", stringify!($name), "()?.item::<f32>()?;")]
                #[doc = concat!("assert!((y - ", stringify!($y), ").abs() < 1e-6);")]
                /// # Ok::<(), mlx_native::MlxError>(())
                /// ```
                pub fn $name(&self) -> Result<Self> {
                    self.unary(stringify!($name), &unary::[<$name:upper>])
                }
            )*
        }
    } };
}

unary_ops!(unary_methods);

macro_rules! binary_methods {
    ($(
        $(#[$doc:meta])*
        $name:ident {
            forward: $forward:literal, backward: $backward:literal,
            vjp: ($da:expr, $db:expr),
            example: ($a:literal, $b:literal) => $y:literal,
            $($rest:tt)*
        }
    )*) => { pastey::paste! {
        impl Tensor {
            $(
                $(#[$doc])*
                ///
                #[doc = concat!("`y = ", $forward, "`, `", $backward, "`")]
                ///
                /// The shapes are broadcast: matched from the last dimension, those of length 1 or
                /// missing repeat.
                ///
                /// # Errors
                ///
                /// If the shapes do not match, a tensor is not f32, they are on different streams, or
                /// the memory cannot be had.
                ///
                /// ```
                /// use mlx_native::{MlxDevice, Stream, Tensor};
                /// let stream = Stream::new(&MlxDevice::new()?)?;
                #[doc = concat!("let a = Tensor::from_slice(&stream, &[", stringify!($a), "f32], [1])?;")]
                #[doc = concat!("let b = Tensor::scalar(&stream, ", stringify!($b), "f32)?;")]
                #[doc = concat!("assert_eq!(a.", stringify!($name), "(&b)?.item::<f32>()?, ",
                    stringify!($y), ");")]
                /// # Ok::<(), mlx_native::MlxError>(())
                /// ```
                pub fn $name(&self, other: &Self) -> Result<Self> {
                    let rules: [BinaryRule; 2] = [$da, $db];
                    self.binary(stringify!($name), other, &binary::[<$name:upper>], rules)
                }
            )*
        }
    } };
}

binary_ops!(binary_methods);

/// The gradient of one operand, of both operands and dy, in the shape of dy.
type BinaryRule = fn(&Tensor, &Tensor, &Tensor) -> Result<Tensor>;

impl Tensor {
    fn unary(&self, name: &'static str, op: &'static Unary) -> Result<Self> {
        self.expect_dtype(name, "input", DType::F32)?;
        let input = self.detach().contiguous()?;
        let output = self.empty_like(self.shape())?;
        encode(&self.stream, op, Pass::Forward, &[&input, &output])?;
        let kept = match op.kept {
            Kept::Input => input,
            Kept::Output => output.clone(),
        };
        output.record(name, &[self], move |dy| {
            let dy = dy.for_fused_rule(name)?.contiguous()?;
            let dx = dy.empty_like(dy.shape())?;
            encode(dy.stream(), op, Pass::Backward, &[&kept, &dy, &dx])?;
            Ok(vec![Some(dx)])
        })
    }

    fn binary(
        &self,
        name: &'static str,
        other: &Self,
        op: &'static Binary,
        rules: [BinaryRule; 2],
    ) -> Result<Self> {
        self.expect_dtype(name, "left", DType::F32)?;
        other.expect_dtype(name, "right", DType::F32)?;
        self.stream.expect(name, "right", &other.stream)?;
        let layouts = broadcast(self.shape(), other.shape()).and_then(|shape| {
            let [a, b] = [self, other].map(|operand| operand.layout.broadcast_to(&shape));
            Some((a?, b?))
        });
        let Some((a, b)) = layouts else {
            return Self::shape_error(
                name,
                format!(
                    "{:?} and {:?} do not broadcast: matched from the last, each dimension must be \
                     equal or 1",
                    self.shape(),
                    other.shape()
                ),
            );
        };
        let output = self.empty_like(&a.shape)?;
        let n = super::layout::count(name, output.element_count())?;
        let buffers = [&*self.storage, &*other.storage, &*output.storage];
        if n > 0 && a.is_contiguous() && b.is_contiguous() {
            self.stream.record(|encoder, registry, device| {
                let target = &mut Target::new(encoder, registry, device);
                op.encode(target, &buffers, n.into(), KernelArgument::value(&n))
            })?;
        } else if n > 0 {
            let places = Layout::to_broadcast(name, &a, &b)?;
            self.stream.record(|encoder, registry, device| {
                let target = &mut Target::new(encoder, registry, device);
                op.encode_broadcast(target, &buffers, &places)
            })?;
        }
        let (a, b) = (self.clone(), other.clone());
        output.record(name, &[self, other], move |dy| {
            let gradient = |operand: &Self, rule: BinaryRule| match operand.is_tracked() {
                true => rule(&a, &b, dy)?.sum_to(operand.shape()).map(Some),
                false => Ok(None),
            };
            Ok(vec![gradient(&a, rules[0])?, gradient(&b, rules[1])?])
        })
    }
}

/// Encodes a pass of a unary op over contiguous tensors of one shape.
fn encode(stream: &Stream, op: &Unary, pass: Pass, tensors: &[&Tensor]) -> Result<()> {
    let count = tensors[0].element_count();
    if count == 0 {
        return Ok(());
    }
    let n = super::layout::count(op.kernel(pass), count)?;
    let buffers: Vec<_> = tensors.iter().map(|t| t.buffer()).collect();
    stream.record(|encoder, registry, device| {
        let target = &mut Target::new(encoder, registry, device);
        op.encode(
            pass,
            target,
            &buffers,
            count as u64,
            KernelArgument::value(&n),
        )
    })
}
