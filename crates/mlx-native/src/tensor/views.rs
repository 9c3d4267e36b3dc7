//! Views: other shapes and orders of the same numbers. They cost no work.

use super::{Layout, Tensor};
use crate::error::{MlxError, Result};
use crate::ops::copy;

/// The elements `start`, `start + step`, ... of a dimension, `count` of them.
#[derive(Clone, Copy)]
struct Cut {
    dimension: usize,
    start: usize,
    step: isize,
    count: usize,
}

impl Cut {
    fn of(self, layout: &Layout) -> Layout {
        layout.slice(self.dimension, self.start, self.step, self.count)
    }
}

impl Tensor {
    /// The same elements in the same order with another shape. Copies only if they are not in
    /// row-major order.
    ///
    /// # Errors
    ///
    /// If the shape has another number of elements.
    ///
    /// ```
    /// use mlx_native::{MlxDevice, Stream, Tensor};
    /// let stream = Stream::new(&MlxDevice::new()?)?;
    /// let x = Tensor::from_slice(&stream, &[1.0f32, 2.0, 3.0, 4.0], [4])?;
    /// assert_eq!(x.reshape([2, 2])?.shape(), [2, 2]);
    /// # Ok::<(), mlx_native::MlxError>(())
    /// ```
    pub fn reshape(&self, shape: impl AsRef<[usize]>) -> Result<Self> {
        let shape = shape.as_ref();
        let count = crate::buffer::element_count(self.dtype(), shape)?;
        if count != self.element_count() {
            return Self::shape_error(
                "reshape",
                format!(
                    "{:?} has {} elements, but {shape:?} has {count}",
                    self.shape(),
                    self.element_count()
                ),
            );
        }
        let Some(layout) = self.layout.reshape(shape) else {
            return self.contiguous()?.reshape(shape);
        };
        let original = self.shape().to_vec();
        self.with_layout(layout)
            .record("reshape", &[self], move |dy| {
                Ok(vec![Some(dy.reshape(&original)?)])
            })
    }

    /// Dimension `axes[i]` becomes dimension i. Negative axes count from the last.
    ///
    /// # Errors
    ///
    /// If `axes` does not name each dimension once.
    ///
    /// ```
    /// use mlx_native::{DType, MlxDevice, Stream, Tensor};
    /// let stream = Stream::new(&MlxDevice::new()?)?;
    /// let x = Tensor::zeros(&stream, DType::F32, [2, 3, 4])?;
    /// assert_eq!(x.permute([2, 0, 1])?.shape(), [4, 2, 3]);
    /// # Ok::<(), mlx_native::MlxError>(())
    /// ```
    pub fn permute(&self, axes: impl AsRef<[isize]>) -> Result<Self> {
        let axes = axes.as_ref();
        let mut order = Vec::with_capacity(axes.len());
        for &axis in axes {
            order.push(self.axis("permute", axis)?);
        }
        let mut inverse = vec![None; self.rank()];
        for (place, &dimension) in order.iter().enumerate() {
            inverse[dimension] = Some(place as isize);
        }
        let inverse: Option<Vec<isize>> = inverse.into_iter().collect();
        let Some(inverse) = inverse.filter(|_| order.len() == self.rank()) else {
            return Self::shape_error(
                "permute",
                format!(
                    "the axes {axes:?} do not name each of the {} dimensions of {:?} once",
                    self.rank(),
                    self.shape()
                ),
            );
        };
        self.with_layout(self.layout.permute(&order))
            .record("permute", &[self], move |dy| {
                Ok(vec![Some(dy.permute(&inverse)?)])
            })
    }

    /// Two dimensions change places.
    ///
    /// # Errors
    ///
    /// If there is no such axis.
    pub fn transpose(&self, a: isize, b: isize) -> Result<Self> {
        let (a, b) = (self.axis("transpose", a)?, self.axis("transpose", b)?);
        if a == b {
            return Ok(self.clone());
        }
        let mut axes: Vec<isize> = (0..self.rank() as isize).collect();
        axes.swap(a, b);
        self.permute(axes)
    }

    /// The transpose of a matrix.
    ///
    /// # Errors
    ///
    /// If it does not have two dimensions.
    pub fn t(&self) -> Result<Self> {
        match self.rank() {
            2 => self.transpose(0, 1),
            _ => Self::shape_error(
                "t",
                format!(
                    "{:?} is no matrix; use transpose or permute for other ranks",
                    self.shape()
                ),
            ),
        }
    }

    /// The elements `start`, `start + step`, ... of a dimension, before `end`; a negative step goes
    /// down from `start` to after `end`. As in Python, negative positions count from the end and
    /// what lies outside is cut off; `None` is the first or last position in the step's direction.
    ///
    /// # Errors
    ///
    /// If the step is 0, or there is no such axis.
    ///
    /// ```
    /// use mlx_native::{MlxDevice, Stream, Tensor};
    /// let stream = Stream::new(&MlxDevice::new()?)?;
    /// let x = Tensor::from_slice(&stream, &[0.0f32, 1.0, 2.0, 3.0, 4.0], [5])?;
    /// assert_eq!(x.slice(0, Some(1), Some(-1), 2)?.to_vec::<f32>()?, [1.0, 3.0]);
    /// assert_eq!(x.slice(0, None, None, -2)?.to_vec::<f32>()?, [4.0, 2.0, 0.0]);
    /// # Ok::<(), mlx_native::MlxError>(())
    /// ```
    pub fn slice(
        &self,
        axis: isize,
        start: Option<isize>,
        end: Option<isize>,
        step: isize,
    ) -> Result<Self> {
        let dimension = self.axis("slice", axis)?;
        if step == 0 {
            return Self::shape_error("slice", "the step is 0; use 1 to take every element");
        }
        // Wide enough for any position plus any length.
        let length = self.shape()[dimension] as i128;
        // The first and last allowed positions; an end may lie one before the first.
        let (low, high) = if step > 0 {
            (0, length)
        } else {
            (-1, length - 1)
        };
        let clip = |position: Option<isize>, default: i128| match position.map(|p| p as i128) {
            None => default,
            Some(p) if p < 0 => (p + length).clamp(low, high),
            Some(p) => p.clamp(low, high),
        };
        let (start, end) = if step > 0 {
            (clip(start, low), clip(end, high))
        } else {
            (clip(start, high), clip(end, low))
        };
        let distance = if step > 0 { end - start } else { start - end };
        let steps = distance.max(0).unsigned_abs();
        let count = steps.div_ceil(step.unsigned_abs() as u128) as usize;
        self.cut(Cut {
            dimension,
            start: start.max(0) as usize,
            step,
            count,
        })
    }

    fn cut(&self, cut: Cut) -> Result<Self> {
        let shape = self.shape().to_vec();
        self.with_layout(cut.of(&self.layout))
            .record("slice", &[self], move |dy| {
                Ok(vec![Some(dy.scatter(&shape, cut)?)])
            })
    }

    /// A tensor of zeroes of this shape, with these elements in the places of a cut of it.
    fn scatter(&self, shape: &[usize], cut: Cut) -> Result<Self> {
        let input = self.contiguous()?;
        let output = self.empty_like(shape)?;
        if input.element_count() > 0 {
            let view = cut.of(&output.layout).to_view("slice")?;
            self.stream.record(|encoder, registry, device| {
                let (input, output) = (&input.storage, &output.storage);
                copy::dispatch_copy_into_view_f32(encoder, registry, device, input, output, &view)
            })?;
        }
        output.record("slice", &[self], move |dy| Ok(vec![Some(dy.cut(cut)?)]))
    }

    /// A dimension in the opposite order.
    ///
    /// # Errors
    ///
    /// If there is no such axis.
    pub fn flip(&self, axis: isize) -> Result<Self> {
        self.slice(axis, None, None, -1)
    }

    /// The elements repeated to a larger shape: dimensions are matched from the last one, and those
    /// of length 1 or missing repeat.
    ///
    /// # Errors
    ///
    /// If another dimension differs.
    ///
    /// ```
    /// use mlx_native::{MlxDevice, Stream, Tensor};
    /// let stream = Stream::new(&MlxDevice::new()?)?;
    /// let x = Tensor::from_slice(&stream, &[1.0f32, 2.0], [2, 1])?;
    /// assert_eq!(x.broadcast_to([2, 2])?.to_vec::<f32>()?, [1.0, 1.0, 2.0, 2.0]);
    /// # Ok::<(), mlx_native::MlxError>(())
    /// ```
    pub fn broadcast_to(&self, shape: impl AsRef<[usize]>) -> Result<Self> {
        let shape = shape.as_ref();
        crate::buffer::element_count(self.dtype(), shape)?;
        let Some(layout) = self.layout.broadcast_to(shape) else {
            return Self::shape_error(
                "broadcast_to",
                format!(
                    "{:?} does not broadcast to {shape:?}: matched from the last, each dimension \
                     must be equal or 1",
                    self.shape()
                ),
            );
        };
        let original = self.shape().to_vec();
        self.with_layout(layout)
            .record("broadcast_to", &[self], move |dy| {
                Ok(vec![Some(dy.sum_to(&original)?)])
            })
    }

    /// Without a dimension of length 1.
    ///
    /// # Errors
    ///
    /// If there is no such axis, or its length is not 1.
    pub fn squeeze(&self, axis: isize) -> Result<Self> {
        let dimension = self.axis("squeeze", axis)?;
        if self.shape()[dimension] != 1 {
            return Self::shape_error(
                "squeeze",
                format!(
                    "dimension {dimension} of {:?} has length {}, not 1",
                    self.shape(),
                    self.shape()[dimension]
                ),
            );
        }
        let mut layout = self.layout.clone();
        layout.shape.remove(dimension);
        layout.strides.remove(dimension);
        let axis = dimension as isize;
        self.with_layout(layout)
            .record("squeeze", &[self], move |dy| {
                Ok(vec![Some(dy.unsqueeze(axis)?)])
            })
    }

    /// With a new dimension of length 1 before `axis`; -1 puts it last.
    ///
    /// # Errors
    ///
    /// If the axis lies beyond the last place.
    pub fn unsqueeze(&self, axis: isize) -> Result<Self> {
        let places = self.rank() as isize + 1;
        let place = if axis < 0 { axis + places } else { axis };
        if !(0..places).contains(&place) {
            return Err(MlxError::AxisOutOfRange {
                operation: "unsqueeze",
                axis,
                shape: self.shape().to_vec(),
            });
        }
        let mut layout = self.layout.clone();
        layout.shape.insert(place as usize, 1);
        layout.strides.insert(place as usize, 0);
        self.with_layout(layout)
            .record("unsqueeze", &[self], move |dy| {
                Ok(vec![Some(dy.squeeze(place)?)])
            })
    }
}
