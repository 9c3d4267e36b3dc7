//! Tensors: arrays of numbers on a device, with ops and gradients.
//!
//! A tensor is a layout over a shared buffer, and the node of its history if gradients are
//! wanted. `layout` knows where elements are, `stream` where work goes, `views` what needs no work;
//! the other modules are the ops, by family. [`crate::autograd`] walks the history back.

mod elementwise;
pub(crate) mod layout;
mod matmul;
mod reduce;
mod rows;
mod stream;
mod views;

use std::fmt;
use std::sync::Arc;

use crate::autograd::{self, Node};
use crate::buffer::MlxBuffer;
use crate::dtypes::{DType, Element};
use crate::error::{MlxError, Result};
use crate::ops::copy;
use layout::Layout;

pub use stream::Stream;

/// An array of numbers on a device.
///
/// Tensors do not change: ops make new ones. Clones and views share the numbers. Ops record work
/// on the tensor's [`Stream`] and return at once; reading waits for it. An op takes tensors of one
/// stream.
///
/// ```
/// use mlx_native::{MlxDevice, Stream, Tensor};
///
/// let stream = Stream::new(&MlxDevice::new()?)?;
/// let x = Tensor::from_slice(&stream, &[1.0f32, 2.0, 3.0], [3])?.variable();
/// let y = x.mul(&x)?.sum_all()?;
/// let gradients = y.backward()?;
/// assert_eq!(gradients.get(&x).unwrap().to_vec::<f32>()?, [2.0, 4.0, 6.0]);
/// # Ok::<(), mlx_native::MlxError>(())
/// ```
#[derive(Clone)]
pub struct Tensor {
    stream: Stream,
    /// Shared by views. Its own count, which work on the device does not raise, tells whether
    /// anybody else could see a change.
    storage: Arc<MlxBuffer>,
    layout: Layout,
    node: Option<Arc<Node>>,
}

/// The gradient of an op that has a kernel for it.
struct FusedRule<F, T> {
    /// By the kernel, from dy.
    fused: F,
    /// The same by tensor ops, from dy and the node of the op's output, so that it can be
    /// differentiated. What the op keeps gets the nodes that belong to it here: a rule that held its
    /// own output's node would be a cycle.
    tensors: T,
}

impl Tensor {
    /// A tensor with these elements in row-major order.
    ///
    /// # Errors
    ///
    /// If the shape does not have as many elements as `data`, or the memory cannot be had.
    ///
    /// ```
    /// use mlx_native::{MlxDevice, Stream, Tensor};
    /// let stream = Stream::new(&MlxDevice::new()?)?;
    /// let x = Tensor::from_slice(&stream, &[1u32, 2, 3, 4, 5, 6], [2, 3])?;
    /// assert_eq!(x.shape(), [2, 3]);
    /// # Ok::<(), mlx_native::MlxError>(())
    /// ```
    pub fn from_slice<T: Element>(
        stream: &Stream,
        data: &[T],
        shape: impl AsRef<[usize]>,
    ) -> Result<Self> {
        let shape = shape.as_ref();
        crate::buffer::check_len("from_slice", T::DTYPE, shape, data.len())?;
        let mut buffer = stream.allocate(T::DTYPE, shape)?;
        buffer.as_mut_slice::<T>()?.copy_from_slice(data);
        Ok(Self::from_buffer(stream, buffer))
    }

    /// A tensor of one element and no dimensions.
    ///
    /// # Errors
    ///
    /// If the memory cannot be had.
    pub fn scalar<T: Element>(stream: &Stream, value: T) -> Result<Self> {
        Self::from_slice(stream, &[value], [])
    }

    /// A tensor of zeroes.
    ///
    /// # Errors
    ///
    /// If the memory cannot be had.
    pub fn zeros(stream: &Stream, dtype: DType, shape: impl AsRef<[usize]>) -> Result<Self> {
        let buffer = stream.allocate(dtype, shape.as_ref())?;
        Ok(Self::from_buffer(stream, buffer))
    }

    /// An f32 tensor whose elements all are `value`. They share one place.
    ///
    /// # Errors
    ///
    /// If the memory cannot be had.
    ///
    /// ```
    /// use mlx_native::{MlxDevice, Stream, Tensor};
    /// let stream = Stream::new(&MlxDevice::new()?)?;
    /// assert_eq!(Tensor::full(&stream, 0.5, [2])?.to_vec::<f32>()?, [0.5, 0.5]);
    /// # Ok::<(), mlx_native::MlxError>(())
    /// ```
    pub fn full(stream: &Stream, value: f32, shape: impl AsRef<[usize]>) -> Result<Self> {
        Self::scalar(stream, value)?.broadcast_to(shape)
    }

    /// The tensor of a whole buffer, in row-major order.
    pub(crate) fn from_buffer(stream: &Stream, buffer: MlxBuffer) -> Self {
        Self {
            stream: stream.clone(),
            layout: Layout::contiguous(buffer.shape()),
            storage: Arc::new(buffer),
            node: None,
        }
    }

    /// A tensor of the same stream, for an op to write.
    pub(crate) fn empty_like(&self, shape: &[usize]) -> Result<Self> {
        let buffer = self.stream.allocate(self.dtype(), shape)?;
        Ok(Self::from_buffer(&self.stream, buffer))
    }

    /// The length of each dimension.
    pub fn shape(&self) -> &[usize] {
        &self.layout.shape
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.layout.rank()
    }

    /// The number of elements.
    pub fn element_count(&self) -> usize {
        self.layout.element_count()
    }

    /// What the elements are.
    pub fn dtype(&self) -> DType {
        self.storage.dtype()
    }

    /// Where its work goes.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// The same numbers as a variable: gradients are kept for it. Its history starts here.
    pub fn variable(&self) -> Self {
        self.with_node(Some(Node::variable()))
    }

    /// The same numbers without a history: no gradient goes further back.
    pub fn detach(&self) -> Self {
        self.with_node(None)
    }

    /// Whether gradients are wanted for it or for what it was made from.
    pub fn is_tracked(&self) -> bool {
        self.node.is_some()
    }

    /// The elements in row-major order, once all work that makes them is done.
    ///
    /// # Errors
    ///
    /// If `T` does not match the dtype, or if work that makes them failed.
    ///
    /// ```
    /// use mlx_native::{MlxDevice, Stream, Tensor};
    /// let stream = Stream::new(&MlxDevice::new()?)?;
    /// let x = Tensor::from_slice(&stream, &[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
    /// assert_eq!(x.t()?.to_vec::<f32>()?, [1.0, 3.0, 2.0, 4.0]);
    /// # Ok::<(), mlx_native::MlxError>(())
    /// ```
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        let tensor = match self.dtype() {
            DType::F32 => self.detach().contiguous()?,
            _ => self.detach(),
        };
        tensor.stream.commit()?;
        let view = tensor.storage.as_slice::<T>()?;
        if tensor.layout.is_contiguous() {
            return Ok(view[..tensor.element_count()].to_vec());
        }
        // The copying kernel is for f32; other dtypes are gathered here.
        let places = (0..tensor.element_count()).map(|i| tensor.layout.place_of(i));
        Ok(places.map(|place| view[place]).collect())
    }

    /// The only element.
    ///
    /// # Errors
    ///
    /// If there is more than one or none; otherwise as [`to_vec`](Self::to_vec).
    pub fn item<T: Element>(&self) -> Result<T> {
        match self.to_vec::<T>()?.as_slice() {
            [only] => Ok(*only),
            _ => Err(MlxError::NotScalar {
                operation: "item",
                shape: self.shape().to_vec(),
            }),
        }
    }

    /// The same numbers in row-major order at the start of a buffer of their own; itself if it is
    /// that already.
    ///
    /// # Errors
    ///
    /// If the memory cannot be had, or the dtype is not f32.
    pub fn contiguous(&self) -> Result<Self> {
        if self.layout.is_contiguous() {
            return Ok(self.clone());
        }
        let output = self.gather()?;
        output.record("contiguous", &[self], |dy| Ok(vec![Some(dy.clone())]))
    }

    /// A copy in row-major order, without history.
    fn gather(&self) -> Result<Self> {
        self.expect_dtype("contiguous", "input", DType::F32)?;
        let output = self.empty_like(self.shape())?;
        if self.element_count() > 0 {
            let view = self.layout.to_view("contiguous")?;
            self.stream.record(|encoder, registry, device| {
                let (input, output) = (&self.storage, &output.storage);
                copy::dispatch_copy_view_f32(encoder, registry, device, input, output, &view)
            })?;
        }
        Ok(output)
    }

    /// The buffer of a tensor whose layout is contiguous.
    pub(crate) fn buffer(&self) -> &MlxBuffer {
        &self.storage
    }

    /// The storage, to write in place: a copy if a tensor elsewhere shares it.
    pub(crate) fn make_unique(&mut self) -> Result<&MlxBuffer> {
        if Arc::strong_count(&self.storage) > 1 || !self.layout.is_contiguous() {
            let copy = self.gather()?;
            self.storage = copy.storage;
            self.layout = copy.layout;
        }
        Ok(&self.storage)
    }

    pub(crate) fn node(&self) -> Option<&Arc<Node>> {
        self.node.as_ref()
    }

    fn with_node(&self, node: Option<Arc<Node>>) -> Self {
        Self {
            node,
            ..self.clone()
        }
    }

    fn with_layout(&self, layout: Layout) -> Self {
        Self {
            stream: self.stream.clone(),
            storage: Arc::clone(&self.storage),
            layout,
            node: None,
        }
    }

    /// Puts an op into the history of its output: `rule` makes the gradients of the inputs from
    /// that of the output, and is kept only if one of them is tracked.
    fn record(
        self,
        operation: &'static str,
        inputs: &[&Self],
        rule: impl Fn(&Self) -> Result<Vec<Option<Self>>> + Send + Sync + 'static,
    ) -> Result<Self> {
        let nodes = inputs.iter().map(|input| input.node.clone());
        let rule = move |dy: &Self, _: &Arc<Node>| rule(dy);
        Ok(match Node::computed(operation, nodes.collect(), rule) {
            Some(node) => self.with_node(Some(node)),
            None => self,
        })
    }

    /// As [`record`](Self::record), for an op of one input whose gradient has a kernel of its own.
    fn record_fused<F, T>(
        self,
        operation: &'static str,
        input: &Self,
        rule: FusedRule<F, T>,
    ) -> Result<Self>
    where
        F: Fn(&Self) -> Result<Self> + Send + Sync + 'static,
        T: Fn(&Self, &Arc<Node>) -> Result<Self> + Send + Sync + 'static,
    {
        let rule = move |dy: &Self, node: &Arc<Node>| {
            let dx = match autograd::keeps_history() {
                true => (rule.tensors)(dy, node)?,
                false => (rule.fused)(dy)?,
            };
            Ok(vec![Some(dx)])
        };
        let node = Node::computed(operation, vec![input.node.clone()], rule);
        Ok(self.with_node(node))
    }

    pub(crate) fn expect_dtype(
        &self,
        operation: &'static str,
        argument: &'static str,
        expected: DType,
    ) -> Result<()> {
        if self.dtype() == expected {
            return Ok(());
        }
        Err(MlxError::UnsupportedDType {
            operation,
            argument,
            expected,
            found: self.dtype(),
        })
    }

    fn shape_error<T>(operation: &'static str, message: impl Into<String>) -> Result<T> {
        Err(MlxError::ShapeMismatch {
            operation,
            message: message.into(),
        })
    }

    /// The dimension that an axis means; negative ones count from the last.
    fn axis(&self, operation: &'static str, axis: isize) -> Result<usize> {
        let rank = self.rank() as isize;
        let dimension = if axis < 0 { axis + rank } else { axis };
        if (0..rank).contains(&dimension) {
            return Ok(dimension as usize);
        }
        Err(MlxError::AxisOutOfRange {
            operation,
            axis,
            shape: self.shape().to_vec(),
        })
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tensor")
            .field("dtype", &self.dtype())
            .field("shape", &self.shape())
            .field("tracked", &self.is_tracked())
            .finish_non_exhaustive()
    }
}
