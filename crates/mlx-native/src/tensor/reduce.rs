//! Reductions along axes.

use std::ops::Range;
use std::sync::Arc;

use super::{FusedRule, Tensor};
use crate::autograd::Node;
use crate::dtypes::DType;
use crate::error::Result;
use crate::ops::reduce::{self, Reduction};

impl Tensor {
    /// The sum along axes, which then are gone or, with `keep_dims`, of length 1. Negative axes
    /// count from the last; the sum of no elements is 0.
    ///
    /// `dx = dy`, repeated
    ///
    /// # Errors
    ///
    /// If there is no such axis or one is named twice, or the tensor is not f32.
    ///
    /// ```
    /// use mlx_native::{MlxDevice, Stream, Tensor};
    /// let stream = Stream::new(&MlxDevice::new()?)?;
    /// let x = Tensor::from_slice(&stream, &[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
    /// assert_eq!(x.sum([0], false)?.to_vec::<f32>()?, [4.0, 6.0]);
    /// assert_eq!(x.sum([1], true)?.shape(), [2, 1]);
    /// # Ok::<(), mlx_native::MlxError>(())
    /// ```
    pub fn sum(&self, axes: impl AsRef<[isize]>, keep_dims: bool) -> Result<Self> {
        let reduced = self.axes("sum", axes.as_ref())?;
        self.sum_or_mean("sum", reduced, keep_dims)
    }

    /// The sum of all elements, as a tensor without dimensions.
    ///
    /// # Errors
    ///
    /// As [`sum`](Self::sum).
    pub fn sum_all(&self) -> Result<Self> {
        self.sum_or_mean("sum", (0..self.rank()).collect(), false)
    }

    /// The mean along axes; see [`sum`](Self::sum). The mean of no elements is NaN.
    ///
    /// `dx = dy / count`, repeated
    ///
    /// # Errors
    ///
    /// As [`sum`](Self::sum).
    ///
    /// ```
    /// use mlx_native::{MlxDevice, Stream, Tensor};
    /// let stream = Stream::new(&MlxDevice::new()?)?;
    /// let x = Tensor::from_slice(&stream, &[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
    /// assert_eq!(x.mean([-1], false)?.to_vec::<f32>()?, [1.5, 3.5]);
    /// # Ok::<(), mlx_native::MlxError>(())
    /// ```
    pub fn mean(&self, axes: impl AsRef<[isize]>, keep_dims: bool) -> Result<Self> {
        let reduced = self.axes("mean", axes.as_ref())?;
        self.sum_or_mean("mean", reduced, keep_dims)
    }

    /// The mean of all elements, as a tensor without dimensions.
    ///
    /// # Errors
    ///
    /// As [`sum`](Self::sum).
    pub fn mean_all(&self) -> Result<Self> {
        self.sum_or_mean("mean", (0..self.rank()).collect(), false)
    }

    /// The largest element along axes, NaN if any is; see [`sum`](Self::sum). Elements that tie for
    /// it share the gradient equally.
    ///
    /// # Errors
    ///
    /// As [`sum`](Self::sum), and if there are no elements along the axes.
    ///
    /// ```
    /// use mlx_native::{MlxDevice, Stream, Tensor};
    /// let stream = Stream::new(&MlxDevice::new()?)?;
    /// let x = Tensor::from_slice(&stream, &[1.0f32, 2.0, 3.0, 3.0], [2, 2])?.variable();
    /// let y = x.max([1], false)?;
    /// assert_eq!(y.to_vec::<f32>()?, [2.0, 3.0]);
    /// let gradients = y.sum_all()?.backward()?;
    /// assert_eq!(gradients.get(&x).unwrap().to_vec::<f32>()?, [0.0, 1.0, 0.5, 0.5]);
    /// # Ok::<(), mlx_native::MlxError>(())
    /// ```
    pub fn max(&self, axes: impl AsRef<[isize]>, keep_dims: bool) -> Result<Self> {
        self.expect_dtype("max", "input", DType::F32)?;
        let reduced = self.axes("max", axes.as_ref())?;
        self.reduce(&reduced, keep_dims, Self::max_of_run)
    }

    fn max_of_run(&self, run: Range<usize>) -> Result<Self> {
        let input = self.detach().contiguous()?;
        let reduction = Reduction::of_run("max", self.shape(), &run, 1.0)?;
        let output = self.empty_like(&without(self.shape(), &run))?;
        if output.element_count() == 0 {
            let shape = self.shape().to_vec();
            return output.record("max", &[self], move |dy| {
                Ok(vec![Some(dy.empty_like(&shape)?)])
            });
        }
        if reduction.length == 0 {
            return Self::shape_error(
                "max",
                format!(
                    "there is no largest of no elements: an axis of {:?} that is reduced is empty",
                    self.shape()
                ),
            );
        }
        self.stream.record(|encoder, registry, device| {
            let (input, output) = (input.buffer(), output.buffer());
            reduce::dispatch_max_f32(encoder, registry, device, input, output, &reduction)
        })?;
        let y = output.clone();
        let rule = FusedRule {
            fused: {
                let (x, y) = (input.clone(), y.clone());
                move |dy: &Self| dy.max_gradient(&x, &y, &reduction)
            },
            tensors: move |dy: &Self, _: &Arc<Node>| {
                // Where x is the maximum does not change with it: a positive share of a gradient of 1.
                let one = Self::full(dy.stream(), 1.0, y.shape())?;
                let shares = one.max_gradient(&input, &y, &reduction)?;
                let ones = Self::full(dy.stream(), 1.0, input.shape())?;
                let ties = ones
                    .where_positive(&shares)?
                    .sum_of_run("sum", run.clone())?;
                let repeated = dy.div(&ties)?.repeat_along(run.clone(), input.shape())?;
                repeated.where_positive(&shares)
            },
        };
        output.record_fused("max", self, rule)
    }

    /// What the gradient kernel of max makes of dy, without history.
    fn max_gradient(&self, x: &Self, y: &Self, reduction: &Reduction) -> Result<Self> {
        let dy = self.detach().contiguous()?;
        let dx = dy.empty_like(x.shape())?;
        dy.stream.record(|encoder, registry, device| {
            let (x, y, dy, dx) = (x.buffer(), y.buffer(), dy.buffer(), dx.buffer());
            reduce::dispatch_max_backward_f32(encoder, registry, device, x, y, dy, dx, reduction)
        })?;
        Ok(dx)
    }

    /// Each element repeated along a run of the dimensions of a shape, which are gone here.
    fn repeat_along(&self, run: Range<usize>, shape: &[usize]) -> Result<Self> {
        let mut kept = shape.to_vec();
        kept[run].fill(1);
        self.reshape(kept)?.broadcast_to(shape)
    }

    fn sum_or_mean(
        &self,
        operation: &'static str,
        reduced: Vec<usize>,
        keep_dims: bool,
    ) -> Result<Self> {
        self.expect_dtype(operation, "input", DType::F32)?;
        self.reduce(&reduced, keep_dims, |tensor, run| {
            tensor.sum_of_run(operation, run)
        })
    }

    fn sum_of_run(&self, operation: &'static str, run: Range<usize>) -> Result<Self> {
        let is_mean = operation == "mean";
        let length = super::layout::product(&self.shape()[run.clone()]);
        let divisor = if is_mean { length as f32 } else { 1.0 };
        let shape = without(self.shape(), &run);
        let output = if self.element_count() > 0 {
            let input = self.detach().contiguous()?;
            let reduction = Reduction::of_run(operation, self.shape(), &run, divisor)?;
            let output = self.empty_like(&shape)?;
            self.stream.record(|encoder, registry, device| {
                let (input, output) = (input.buffer(), output.buffer());
                reduce::dispatch_sum_f32(encoder, registry, device, input, output, &reduction)
            })?;
            output
        } else {
            let nothing = if is_mean { f32::NAN } else { 0.0 };
            Self::full(&self.stream, nothing, &shape)?
        };
        let original = self.shape().to_vec();
        output.record(operation, &[self], move |dy| {
            let share = match divisor == 1.0 {
                true => dy.clone(),
                false => dy.div(&Self::scalar(dy.stream(), divisor)?)?,
            };
            Ok(vec![Some(share.repeat_along(run.clone(), &original)?)])
        })
    }

    /// Reduces dimensions (in order) by `work`, which takes one run of them: if they are none, they
    /// become the last ones first.
    fn reduce(
        &self,
        reduced: &[usize],
        keep_dims: bool,
        work: impl FnOnce(&Self, Range<usize>) -> Result<Self>,
    ) -> Result<Self> {
        let rank = self.rank();
        let is_run = reduced.windows(2).all(|pair| pair[1] == pair[0] + 1);
        let output = if is_run {
            let start = reduced.first().copied().unwrap_or(rank);
            work(self, start..start + reduced.len())?
        } else {
            let kept = (0..rank).filter(|d| !reduced.contains(d));
            let order: Vec<isize> = kept
                .chain(reduced.iter().copied())
                .map(|d| d as isize)
                .collect();
            work(&self.permute(order)?, rank - reduced.len()..rank)?
        };
        if !keep_dims {
            return Ok(output);
        }
        let mut shape = self.shape().to_vec();
        reduced.iter().for_each(|&d| shape[d] = 1);
        output.reshape(shape)
    }

    /// The gradient of a broadcast: the sum over the places that an element was repeated to.
    pub(super) fn sum_to(&self, shape: &[usize]) -> Result<Self> {
        if self.shape() == shape {
            return Ok(self.clone());
        }
        let added = self.rank() - shape.len();
        let repeated = |d: &usize| *d < added || (shape[d - added] == 1 && self.shape()[*d] != 1);
        let reduced = (0..self.rank()).filter(repeated).collect();
        self.sum_or_mean("sum", reduced, false)?.reshape(shape)
    }

    /// The dimensions that axes name, in order.
    fn axes(&self, operation: &'static str, axes: &[isize]) -> Result<Vec<usize>> {
        let mut dimensions = Vec::with_capacity(axes.len());
        for &axis in axes {
            let dimension = self.axis(operation, axis)?;
            if dimensions.contains(&dimension) {
                return Self::shape_error(
                    operation,
                    format!("axis {axis} is named twice in {axes:?}"),
                );
            }
            dimensions.push(dimension);
        }
        dimensions.sort_unstable();
        Ok(dimensions)
    }
}

/// A shape without a run of its dimensions.
fn without(shape: &[usize], run: &Range<usize>) -> Vec<usize> {
    [&shape[..run.start], &shape[run.end..]].concat()
}

impl Reduction {
    /// The reduction of a run of dimensions.
    fn of_run(
        operation: &'static str,
        shape: &[usize],
        run: &Range<usize>,
        divisor: f32,
    ) -> Result<Self> {
        let product =
            |range: &[usize]| super::layout::count(operation, super::layout::product(range));
        Ok(Self {
            outer: product(&shape[..run.start])?,
            length: product(&shape[run.clone()])?,
            inner: product(&shape[run.end..])?,
            divisor,
        })
    }
}
