//! Buffers: typed memory of a device, and the host's views of it.
//!
//! `access` decides who may touch a buffer when; `view` holds the guards that the host looks through.
//! Neither knows what kernels do.

pub(crate) mod access;
mod view;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use bytemuck::Pod;

use crate::backend::Memory;
use crate::dtypes::DType;
use crate::error::{MlxError, Result};
use crate::metal::DeviceRef;
use crate::sync::lock;
use access::{Access, ViewMode};

pub use view::{BufferView, BufferViewMut};

/// Typed memory of a device. Clones share the memory; it is freed when the last clone and the last
/// work that uses it are gone, so that dropping a buffer is always fine.
///
/// The host sees the contents through guards ([`as_slice`](Self::as_slice) and
/// [`as_mut_slice`](Self::as_mut_slice)); the two never overlap with work that conflicts with them.
#[derive(Clone)]
pub struct MlxBuffer {
    allocation: Arc<Allocation>,
    dtype: DType,
    shape: Vec<usize>,
    element_count: usize,
}

impl MlxBuffer {
    pub(crate) fn allocate(
        device: &DeviceRef,
        byte_len: usize,
        dtype: DType,
        shape: Vec<usize>,
    ) -> Result<Self> {
        let element_count = checked_len(byte_len, dtype, &shape)?;
        static NEXT_ID: AtomicU64 = AtomicU64::new(1);
        let allocation = Allocation {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            memory: device.shared.backend.allocate(byte_len)?,
            device: device.clone(),
            byte_len,
            access: Mutex::default(),
        };
        Ok(Self {
            allocation: Arc::new(allocation),
            dtype,
            shape,
            element_count,
        })
    }

    /// How many elements: the product of the shape.
    pub fn element_count(&self) -> usize {
        self.element_count
    }

    /// How many bytes were allocated; at least what the elements need.
    pub fn byte_len(&self) -> usize {
        self.allocation.byte_len
    }

    /// What the elements are.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The length of each dimension.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The same memory with another dtype and shape.
    ///
    /// # Errors
    ///
    /// If the memory is too small for them.
    ///
    /// ```
    /// use mlx_native::{DType, MlxDevice};
    /// let buffer = MlxDevice::new()?.buffer_from_slice(&[1.0f32], vec![1])?;
    /// let bits = buffer.reinterpret(DType::U16, vec![2])?;
    /// assert_eq!(bits.as_slice::<u16>()?[..], [0x0000, 0x3f80]);
    /// # Ok::<(), mlx_native::MlxError>(())
    /// ```
    pub fn reinterpret(&self, dtype: DType, shape: Vec<usize>) -> Result<Self> {
        let element_count = checked_len(self.byte_len(), dtype, &shape)?;
        Ok(Self {
            allocation: Arc::clone(&self.allocation),
            dtype,
            shape,
            element_count,
        })
    }

    /// The elements, to read. `T` is the Rust type of the dtype's name (`half::f16`, `half::bf16`);
    /// `Bool` is `u8`.
    ///
    /// Waits for committed work that writes the buffer. While the guard lives, work that writes the
    /// buffer is refused when it is committed.
    ///
    /// # Errors
    ///
    /// If `T` does not match; if work that writes the buffer is encoded but not committed; if such
    /// work was dropped or failed, until other work has written the buffer; if a mutable view of a
    /// clone lives.
    pub fn as_slice<T: Pod>(&self) -> Result<BufferView<'_, T>> {
        self.check_type::<T>()?;
        BufferView::new(&self.allocation, self.element_count)
    }

    /// The elements, to read and write; see [`as_slice`](Self::as_slice).
    ///
    /// Waits for all committed work on the buffer. While the guard lives, all work on the buffer is
    /// refused when it is committed.
    ///
    /// # Errors
    ///
    /// If `T` does not match; if any work on the buffer is encoded but not committed; once if work
    /// that writes the buffer was dropped or failed; if any view of a clone lives.
    pub fn as_mut_slice<T: Pod>(&mut self) -> Result<BufferViewMut<'_, T>> {
        self.check_type::<T>()?;
        BufferViewMut::new(&self.allocation, self.element_count)
    }

    /// All bytes, whatever the dtype, to read; otherwise as [`as_slice`](Self::as_slice).
    ///
    /// # Errors
    ///
    /// As [`as_slice`](Self::as_slice), the type excepted.
    pub fn as_bytes(&self) -> Result<BufferView<'_, u8>> {
        BufferView::new(&self.allocation, self.byte_len())
    }

    /// All bytes, whatever the dtype, to read and write; otherwise as
    /// [`as_mut_slice`](Self::as_mut_slice).
    ///
    /// # Errors
    ///
    /// As [`as_mut_slice`](Self::as_mut_slice), the type excepted.
    pub fn as_mut_bytes(&mut self) -> Result<BufferViewMut<'_, u8>> {
        BufferViewMut::new(&self.allocation, self.byte_len())
    }

    pub(crate) fn allocation(&self) -> &Arc<Allocation> {
        &self.allocation
    }

    fn check_type<T: 'static>(&self) -> Result<()> {
        if self.dtype.matches::<T>() {
            return Ok(());
        }
        Err(MlxError::DTypeMismatch {
            dtype: self.dtype,
            requested: std::any::type_name::<T>(),
            expected: match self.dtype {
                DType::Bool => "u8",
                DType::F16 => "half::f16",
                DType::BF16 => "half::bf16",
                other => other.name(),
            },
        })
    }
}

impl fmt::Debug for MlxBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MlxBuffer")
            .field("dtype", &self.dtype)
            .field("shape", &self.shape)
            .field("byte_len", &self.byte_len())
            .finish_non_exhaustive()
    }
}

/// The number of elements of a shape whose bytes can be counted.
pub(crate) fn element_count(dtype: DType, shape: &[usize]) -> Result<usize> {
    if shape.contains(&0) {
        return Ok(0);
    }
    shape
        .iter()
        .try_fold(1usize, |product, &d| product.checked_mul(d))
        .filter(|count| count.checked_mul(dtype.size_of()).is_some())
        .ok_or_else(|| MlxError::ShapeOverflow {
            dtype,
            shape: shape.to_vec(),
        })
}

/// Refuses a slice that does not have as many elements as a shape.
pub(crate) fn check_len(
    operation: &'static str,
    dtype: DType,
    shape: &[usize],
    found: usize,
) -> Result<()> {
    let expected = element_count(dtype, shape)?;
    if found == expected {
        return Ok(());
    }
    Err(MlxError::LengthMismatch {
        operation,
        shape: shape.to_vec(),
        expected,
        found,
    })
}

/// The number of elements, if they fit in `byte_len`.
fn checked_len(byte_len: usize, dtype: DType, shape: &[usize]) -> Result<usize> {
    let count = element_count(dtype, shape)?;
    let needed = count * dtype.size_of();
    if byte_len == 0 {
        return Err(MlxError::EmptyBuffer {
            shape: shape.to_vec(),
        });
    }
    if byte_len < needed {
        return Err(MlxError::BufferTooSmall {
            dtype,
            shape: shape.to_vec(),
            needed,
            byte_len,
        });
    }
    Ok(count)
}

/// A piece of a device's memory, shared by buffers, views and the work that uses it.
#[derive(Debug)]
pub(crate) struct Allocation {
    /// Different for every allocation of the process.
    pub id: u64,
    pub memory: Box<dyn Memory>,
    pub device: DeviceRef,
    pub byte_len: usize,
    access: Mutex<Access>,
}

impl Allocation {
    /// Who touches it.
    pub fn access(&self) -> MutexGuard<'_, Access> {
        lock(&self.access)
    }

    /// Waits for the work that a view would conflict with, and counts the view in.
    fn begin_view(&self, mode: ViewMode) -> Result<()> {
        let shared = &self.device.shared;
        loop {
            let wanted = self.access().begin_view(mode, &shared.queue.timeline)?;
            match wanted {
                None => return Ok(()),
                Some(number) => shared.queue.wait(shared.backend.as_ref(), number),
            }
        }
    }
}
