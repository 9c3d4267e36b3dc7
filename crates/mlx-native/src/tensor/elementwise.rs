//! Functions of each element, made from the lists of ops.

use std::sync::Arc;

use super::layout::{Layout, broadcast};
use super::{FusedRule, Stream, Tensor};
use crate::autograd::{self, Node};
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
            tensors: $tensors:expr,
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
                    self.unary(stringify!($name), &unary::[<$name:upper>], $tensors)
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

/// The gradient of a unary op, of what it keeps and dy.
type UnaryRule = fn(&Tensor, &Tensor) -> Result<Tensor>;

impl Tensor {
    fn unary(&self, name: &'static str, op: &'static Unary, tensors: UnaryRule) -> Result<Self> {
        self.expect_dtype(name, "input", DType::F32)?;
        let input = self.detach().contiguous()?;
        let output = self.empty_like(self.shape())?;
        encode(&self.stream, op, Pass::Forward, &[&input, &output])?;
        let kept = match op.kept {
            Kept::Input => input,
            Kept::Output => output.clone(),
        };
        let rule = FusedRule {
            fused: {
                let kept = kept.clone();
                move |dy: &Self| dy.unary_gradient(op, &kept)
            },
            tensors: move |dy: &Self, node: &Arc<Node>| {
                let kept = match op.kept {
                    Kept::Input => kept.with_node(node.input()),
                    Kept::Output => kept.with_node(Some(Arc::clone(node))),
                };
                tensors(&kept, dy)
            },
        };
        output.record_fused(name, self, rule)
    }

    /// What the gradient kernel of a unary op makes of dy, without history.
    fn unary_gradient(&self, op: &'static Unary, kept: &Self) -> Result<Self> {
        let (dy, kept) = (self.detach().contiguous()?, kept.detach().contiguous()?);
        let dx = dy.empty_like(dy.shape())?;
        encode(dy.stream(), op, Pass::Backward, &[&kept, &dy, &dx])?;
        Ok(dx)
    }

    /// Its elements where those of a condition of the same shape are positive, else 0. The condition
    /// gets no gradient.
    pub(crate) fn where_positive(&self, condition: &Self) -> Result<Self> {
        let condition = condition.detach();
        let output = self.unary_gradient(&unary::RELU, &condition)?;
        output.record("where_positive", &[self], move |dy| {
            Ok(vec![Some(dy.where_positive(&condition)?)])
        })
    }

    /// `x / (2 y)`, and 0 where x is 0, also if y is 0 or NaN; y has the same shape.
    fn over_twice(&self, y: &Self) -> Result<Self> {
        let output = self.unary_gradient(&unary::SQRT, y)?;
        let (quotient, divisor) = (output.clone(), y.clone());
        // Where histories are kept the quotient is made anew, so that it has that of its operands.
        let dividend = self.clone();
        output.record("over_twice", &[self, y], move |dy| {
            let by_dividend = dy.over_twice(&divisor)?;
            let quotient = match autograd::keeps_history() {
                true => dividend.over_twice(&divisor)?,
                false => quotient.clone(),
            };
            let slope = dy.mul(&quotient)?;
            let by_divisor = slope.add(&slope)?.over_twice(&divisor)?.neg()?;
            Ok(vec![Some(by_dividend), Some(by_divisor)])
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
