//! Host memory for buffers: zeroed, aligned, and raw.
//!
//! It hands out pointers, never references: kernels bound to the same memory twice, and views, must
//! not claim more than they have.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use crate::backend::Memory;
use crate::buffer::access::ViewMode;
use crate::error::Result;

/// A cache line pair, and more than any vector load asks for.
const ALIGN: usize = 128;

/// A piece of zeroed memory, aligned to 128 bytes.
#[derive(Debug)]
pub(super) struct HostMemory {
    block: NonNull<u8>,
    layout: Layout,
    /// Within the block.
    start: NonNull<u8>,
}

// SAFETY: it owns its block, and only hands out pointers to it; who uses them answers for races.
unsafe impl Send for HostMemory {}
// SAFETY: as above.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    /// `len` (at least 1) zeroes, or `None` if they cannot be had.
    pub fn new(len: usize) -> Option<Self> {
        // Asking for the alignment would make the allocator write the zeroes itself; with its own
        // alignment, large blocks come as untouched pages.
        let layout = Layout::from_size_align(len.checked_add(ALIGN)?, 16).ok()?;
        // SAFETY: the size is not 0.
        let block = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let offset = block.addr().get().next_multiple_of(ALIGN) - block.addr().get();
        // SAFETY: the offset is less than `ALIGN`, by which the block is longer than `len`.
        let start = unsafe { block.add(offset) };
        Some(Self {
            block,
            layout,
            start,
        })
    }

    pub fn pointer(&self) -> NonNull<u8> {
        self.start
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        // SAFETY: `block` came from `alloc_zeroed` with this layout.
        unsafe { dealloc(self.block.as_ptr(), self.layout) };
    }
}

// SAFETY: the block is aligned, initialised and stays in place until it is dropped; the CPU back end
// gives it to kernels only through lists.
unsafe impl Memory for HostMemory {
    fn map(&self, _mode: ViewMode) -> Result<NonNull<u8>> {
        Ok(self.start)
    }

    fn unmap(&self, _mode: ViewMode) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_aligned_and_zeroed() {
        for len in [1, 15, 128, 4097] {
            let memory = HostMemory::new(len).unwrap();
            assert_eq!(memory.pointer().addr().get() % ALIGN, 0);
            // SAFETY: `len` initialised bytes, with nobody else around.
            let bytes = unsafe { std::slice::from_raw_parts(memory.pointer().as_ptr(), len) };
            assert!(bytes.iter().all(|&b| b == 0));
        }
    }

    #[test]
    fn what_cannot_be_had_is_none() {
        assert!(HostMemory::new(usize::MAX).is_none());
        assert!(HostMemory::new(isize::MAX as usize - ALIGN).is_none());
    }
}
