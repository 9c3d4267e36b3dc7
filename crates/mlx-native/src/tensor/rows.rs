//! Functions of whole rows: softmax, log_softmax, and the loss of classes.

use std::sync::Arc;

use super::{FusedRule, Tensor};
use crate::autograd::Node;
use crate::buffer::MlxBuffer;
use crate::device::DeviceKind;
use crate::dtypes::DType;
use crate::encoder::CommandEncoder;
use crate::error::{MlxError, Result};
use crate::kernel_registry::KernelRegistry;
use crate::metal::DeviceRef;
use crate::ops::nll::{self, Classes};
use crate::ops::softmax::{self, Rows};

type Forward = fn(
    &mut CommandEncoder,
    &mut KernelRegistry,
    &DeviceRef,
    &MlxBuffer,
    &MlxBuffer,
    &Rows,
) -> Result<()>;
type Backward = fn(
    &mut CommandEncoder,
    &mut KernelRegistry,
    &DeviceRef,
    &MlxBuffer,
    &MlxBuffer,
    &MlxBuffer,
    &Rows,
) -> Result<()>;
/// The gradient of a function of the last dimension, of its output and dy.
type RowRule = fn(&Tensor, &Tensor) -> Result<Tensor>;

impl Tensor {
    /// Numbers that are positive and add up to 1 along an axis.
    ///
    /// `y = exp(x - max) / sum of exp(x - max)`, `dx = y * (dy - sum of dy * y)`
    ///
    /// Where all x along the axis are negative infinity, or one is positive infinity or NaN, y is
    /// NaN.
    ///
    /// # Errors
    ///
    /// If there is no such axis, or the tensor is not f32.
    ///
    /// ```
    /// use mlx_native::{MlxDevice, Stream, Tensor};
    /// let stream = Stream::new(&MlxDevice::new()?)?;
    /// let x = Tensor::from_slice(&stream, &[100.0f32, 100.0], [2])?;
    /// assert_eq!(x.softmax(0)?.to_vec::<f32>()?, [0.5, 0.5]);
    /// # Ok::<(), mlx_native::MlxError>(())
    /// ```
    pub fn softmax(&self, axis: isize) -> Result<Self> {
        let forward = softmax::dispatch_softmax_f32;
        let backward = softmax::dispatch_softmax_backward_f32;
        self.row_function("softmax", axis, forward, backward, |y, dy| {
            y.mul(&dy.sub(&dy.mul(y)?.sum([-1], true)?)?)
        })
    }

    /// The logarithm of [`softmax`](Self::softmax), without its overflow and underflow.
    ///
    /// `y = x - max - log(sum of exp(x - max))`, `dx = dy - exp(y) * sum of dy`
    ///
    /// # Errors
    ///
    /// If there is no such axis, or the tensor is not f32.
    ///
    /// ```
    /// use mlx_native::{MlxDevice, Stream, Tensor};
    /// let stream = Stream::new(&MlxDevice::new()?)?;
    /// let x = Tensor::from_slice(&stream, &[0.0f32, 1000.0], [2])?;
    /// assert_eq!(x.log_softmax(0)?.to_vec::<f32>()?, [-1000.0, 0.0]);
    /// # Ok::<(), mlx_native::MlxError>(())
    /// ```
    pub fn log_softmax(&self, axis: isize) -> Result<Self> {
        let forward = softmax::dispatch_log_softmax_f32;
        let backward = softmax::dispatch_log_softmax_backward_f32;
        self.row_function("log_softmax", axis, forward, backward, |y, dy| {
            dy.sub(&y.exp()?.mul(&dy.sum([-1], true)?)?)
        })
    }

    /// Rows lie along `axis`; the gradient is made from the output.
    fn row_function(
        &self,
        operation: &'static str,
        axis: isize,
        forward: Forward,
        backward: Backward,
        tensors: RowRule,
    ) -> Result<Self> {
        self.expect_dtype(operation, "input", DType::F32)?;
        let axis = self.axis(operation, axis)? as isize;
        let rows = self.transpose(axis, -1)?;
        let output = rows.function_of_last(operation, forward, backward, tensors)?;
        output.transpose(axis, -1)
    }

    fn function_of_last(
        &self,
        operation: &'static str,
        forward: Forward,
        backward: Backward,
        tensors: RowRule,
    ) -> Result<Self> {
        let output = self.empty_like(self.shape())?;
        let length = self.shape().last().copied().unwrap_or(0);
        let rows = Rows {
            rows: super::layout::count(operation, self.element_count() / length.max(1))?,
            length: super::layout::count(operation, length)?,
        };
        if self.element_count() > 0 {
            let input = self.detach().contiguous()?;
            self.stream.record(|encoder, registry, device| {
                let (x, y) = (input.buffer(), output.buffer());
                forward(encoder, registry, device, x, y, &rows)
            })?;
        }
        let y = output.clone();
        let rule = FusedRule {
            fused: {
                let y = y.clone();
                move |dy: &Self| {
                    let dy = dy.detach().contiguous()?;
                    let dx = dy.empty_like(dy.shape())?;
                    if dy.element_count() > 0 {
                        dy.stream.record(|encoder, registry, device| {
                            let (y, dy, dx) = (y.buffer(), dy.buffer(), dx.buffer());
                            backward(encoder, registry, device, y, dy, dx, &rows)
                        })?;
                    }
                    Ok(dx)
                }
            },
            tensors: move |dy: &Self, node: &Arc<Node>| {
                tensors(&y.with_node(Some(Arc::clone(node))), dy)
            },
        };
        output.record_fused(operation, self, rule)
    }

    /// The negative log-likelihood of each row's class: `y[i] = -x[i, target[i]]`, x being
    /// log-probabilities of shape [rows, classes], and target the indices of the right ones, `u32`.
    /// For the usual loss take [`mean_all`](Self::mean_all) of it.
    ///
    /// `dx[i, c] = -dy[i]` at the target, else 0
    ///
    /// # Errors
    ///
    /// If x has not two dimensions, the counts of rows differ, a dtype is wrong, they are on different
    /// streams; on the CPU, if a
    /// target is no class ([`MlxError::IndexOutOfRange`]). On a GPU such a row counts 0.
    ///
    /// ```
    /// use mlx_native::{MlxDevice, Stream, Tensor};
    /// let stream = Stream::new(&MlxDevice::new()?)?;
    /// let x = Tensor::from_slice(&stream, &[-0.5f32, -1.5, -2.5, -3.5], [2, 2])?;
    /// let target = Tensor::from_slice(&stream, &[1u32, 0], [2])?;
    /// assert_eq!(x.nll(&target)?.to_vec::<f32>()?, [1.5, 2.5]);
    /// # Ok::<(), mlx_native::MlxError>(())
    /// ```
    pub fn nll(&self, target: &Self) -> Result<Self> {
        self.expect_dtype("nll", "input", DType::F32)?;
        target.expect_dtype("nll", "target", DType::U32)?;
        self.stream.expect("nll", "target", &target.stream)?;
        let &[rows, classes] = self.shape() else {
            return Self::shape_error(
                "nll",
                format!(
                    "the input {:?} must have two dimensions, [rows, classes]",
                    self.shape()
                ),
            );
        };
        if target.shape() != [rows] {
            return Self::shape_error(
                "nll",
                format!(
                    "the input {:?} has {rows} rows, but the targets are {:?}; they must be [{rows}]",
                    self.shape(),
                    target.shape()
                ),
            );
        }
        let target = target.index_row(classes)?;
        let input = self.detach().contiguous()?;
        let output = self.empty_like(&[rows])?;
        let shape = Classes {
            rows: super::layout::count("nll", rows)?,
            classes: super::layout::count("nll", classes)?,
        };
        if input.element_count() > 0 {
            self.stream.record(|encoder, registry, device| {
                let (input, target, output) = (input.buffer(), target.buffer(), output.buffer());
                nll::dispatch_nll_f32(encoder, registry, device, input, target, output, &shape)
            })?;
        }
        let gradient = move |dy: &Self| {
            let dy = dy.detach().contiguous()?;
            let dx = dy.empty_like(&[rows, classes])?;
            if dx.element_count() > 0 {
                dy.stream.record(|encoder, registry, device| {
                    let (target, dy, dx) = (target.buffer(), dy.buffer(), dx.buffer());
                    nll::dispatch_nll_backward_f32(
                        encoder, registry, device, target, dy, dx, &shape,
                    )
                })?;
            }
            Ok(dx)
        };
        let rule = FusedRule {
            fused: gradient.clone(),
            tensors: move |dy: &Self, _: &Arc<Node>| {
                // 1 at each target.
                let places = gradient(&Self::full(dy.stream(), -1.0, [rows])?)?;
                let repeated = dy.neg()?.unsqueeze(1)?.broadcast_to([rows, classes])?;
                repeated.where_positive(&places)
            },
        };
        output.record_fused("nll", self, rule)
    }

    /// A contiguous row of indices, all of them below `length` where the device can tell: the host
    /// shares the CPU's memory, so that looking costs no copy.
    fn index_row(&self, length: usize) -> Result<Self> {
        let on_cpu = self.stream.device().kind() == DeviceKind::Cpu;
        if !on_cpu && self.layout.is_contiguous() {
            return Ok(self.detach());
        }
        let indices = self.to_vec::<u32>()?;
        let wrong = |&(_, &index): &(usize, &u32)| on_cpu && index as usize >= length;
        if let Some((position, &index)) = indices.iter().enumerate().find(wrong) {
            return Err(MlxError::IndexOutOfRange {
                operation: "nll",
                argument: "target",
                position,
                index: index.into(),
                length,
            });
        }
        if self.layout.is_contiguous() {
            return Ok(self.detach());
        }
        Self::from_slice(&self.stream, &indices, [indices.len()])
    }
}
