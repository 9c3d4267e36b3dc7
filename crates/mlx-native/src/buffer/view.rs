//! The guards through which the host sees a buffer's memory.
//!
//! All `unsafe` of host access is here. It rests on one invariant, kept by
//! [`Access`](super::access::Access): from a successful `begin_view` to its `end_view`, no work that
//! conflicts with the view is committed and unfinished, and no conflicting view exists.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use bytemuck::Pod;

use super::Allocation;
use super::access::ViewMode;
use crate::error::{MlxError, Result};

/// A view counted in and mapped, until it is dropped.
struct Mapped<'a> {
    allocation: &'a Allocation,
    mode: ViewMode,
    pointer: NonNull<u8>,
}

impl<'a> Mapped<'a> {
    fn new(allocation: &'a Allocation, mode: ViewMode) -> Result<Self> {
        allocation.begin_view(mode)?;
        match allocation.memory.map(mode) {
            Ok(pointer) => Ok(Self {
                allocation,
                mode,
                pointer,
            }),
            Err(error) => {
                allocation.access().end_view(mode);
                Err(error)
            }
        }
    }

    /// The pointer to `len` elements, which the memory is known to hold.
    fn elements<T: Pod>(&self, len: usize) -> Result<NonNull<T>> {
        let fits = len
            .checked_mul(size_of::<T>())
            .is_some_and(|bytes| bytes <= self.allocation.byte_len);
        let pointer = self.pointer.cast::<T>();
        if fits && pointer.is_aligned() {
            return Ok(pointer);
        }
        Err(MlxError::InvalidArgument(format!(
            "a view of {len} {} does not fit a buffer of {} bytes",
            std::any::type_name::<T>(),
            self.allocation.byte_len
        )))
    }
}

impl Drop for Mapped<'_> {
    fn drop(&mut self) {
        self.allocation.memory.unmap(self.mode);
        self.allocation.access().end_view(self.mode);
    }
}

/// The elements of a buffer, to read. While it lives, work that writes the buffer is refused.
pub struct BufferView<'a, T> {
    pointer: NonNull<T>,
    len: usize,
    _mapped: Mapped<'a>,
    _elements: PhantomData<&'a [T]>,
}

impl<'a, T: Pod> BufferView<'a, T> {
    pub(super) fn new(allocation: &'a Allocation, len: usize) -> Result<Self> {
        let mapped = Mapped::new(allocation, ViewMode::Read)?;
        Ok(Self {
            pointer: mapped.elements(len)?,
            len,
            _mapped: mapped,
            _elements: PhantomData,
        })
    }
}

/// The elements of a buffer, to read and write. While it lives, all work on the buffer is refused.
pub struct BufferViewMut<'a, T> {
    pointer: NonNull<T>,
    len: usize,
    _mapped: Mapped<'a>,
    _elements: PhantomData<&'a mut [T]>,
}

impl<'a, T: Pod> BufferViewMut<'a, T> {
    pub(super) fn new(allocation: &'a Allocation, len: usize) -> Result<Self> {
        let mapped = Mapped::new(allocation, ViewMode::Write)?;
        Ok(Self {
            pointer: mapped.elements(len)?,
            len,
            _mapped: mapped,
            _elements: PhantomData,
        })
    }
}

impl<T> Deref for BufferView<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `Memory::map` gave a pointer to initialised bytes that stay until `unmap`;
        // `elements` checked length and alignment, and any bytes are a `T` (it is `Pod`). By the
        // module's invariant nothing writes them while the view lives.
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr(), self.len) }
    }
}

impl<T> Deref for BufferViewMut<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: as for `BufferView`.
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for BufferViewMut<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `BufferView`; and by the module's invariant nothing else reads or writes
        // them either.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.as_ptr(), self.len) }
    }
}

// SAFETY: the guard is a shared borrow of plain elements; mapping and unmapping may happen on any
// thread.
unsafe impl<T: Sync> Send for BufferView<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for BufferView<'_, T> {}
// SAFETY: the guard is an exclusive borrow of plain elements.
unsafe impl<T: Send> Send for BufferViewMut<'_, T> {}
// SAFETY: a shared guard only gives shared access.
unsafe impl<T: Sync> Sync for BufferViewMut<'_, T> {}

impl<T: fmt::Debug> fmt::Debug for BufferView<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.deref().fmt(f)
    }
}

impl<T: fmt::Debug> fmt::Debug for BufferViewMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.deref().fmt(f)
    }
}
