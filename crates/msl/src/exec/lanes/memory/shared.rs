//! Memory that other threads may touch at the same time.
//!
//! A kernel whose threads race is wrong, but must stay harmless here: safe programs can run it. So
//! what was lent to a kernel is never read or written by plain Rust accesses. Single elements go by
//! relaxed atomics, rows by a copy in assembly, of which the compiler knows only that it copies.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// An unsigned integer that is read and written by relaxed atomics.
pub(super) trait Shared: Copy {
    /// Reads one.
    ///
    /// # Safety
    ///
    /// The bytes from `p` on can be read.
    unsafe fn load(p: *const u8) -> Self;

    /// Writes one.
    ///
    /// # Safety
    ///
    /// The bytes from `p` on can be written.
    unsafe fn store(p: *mut u8, value: Self);
}

impl Shared for u8 {
    #[inline(always)]
    unsafe fn load(p: *const u8) -> Self {
        // SAFETY: by the caller.
        unsafe { AtomicU8::from_ptr(p.cast_mut()).load(Ordering::Relaxed) }
    }

    #[inline(always)]
    unsafe fn store(p: *mut u8, value: Self) {
        // SAFETY: by the caller.
        unsafe { AtomicU8::from_ptr(p).store(value, Ordering::Relaxed) }
    }
}

macro_rules! shared {
    ($($raw:ty: $atomic:ty;)*) => {$(
        impl Shared for $raw {
            #[inline(always)]
            unsafe fn load(p: *const u8) -> Self {
                // SAFETY: by the caller; the atomic's place is aligned.
                unsafe {
                    if p.addr().is_multiple_of(align_of::<$atomic>()) {
                        return <$atomic>::from_ptr(p.cast_mut().cast()).load(Ordering::Relaxed);
                    }
                    <$raw>::from_le_bytes(std::array::from_fn(|i| u8::load(p.add(i))))
                }
            }

            #[inline(always)]
            unsafe fn store(p: *mut u8, value: Self) {
                // SAFETY: by the caller; the atomic's place is aligned.
                unsafe {
                    if p.addr().is_multiple_of(align_of::<$atomic>()) {
                        return <$atomic>::from_ptr(p.cast()).store(value, Ordering::Relaxed);
                    }
                    for (i, byte) in value.to_le_bytes().into_iter().enumerate() {
                        u8::store(p.add(i), byte);
                    }
                }
            }
        }
    )*};
}

shared! {
    u16: AtomicU16;
    u32: AtomicU32;
    u64: AtomicU64;
}

/// Copies `len` bytes between two places that do not overlap; either may be shared.
///
/// # Safety
///
/// The bytes can be read and written.
#[inline(never)]
pub(super) unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    let blocks = len / 64;
    // SAFETY: by the caller; `blocks * 64` is at most `len`.
    unsafe {
        if blocks > 0 {
            copy_blocks(from, to, blocks);
        }
        let mut at = blocks * 64;
        while at + 8 <= len {
            u64::store(to.add(at), u64::load(from.add(at)));
            at += 8;
        }
        while at < len {
            u8::store(to.add(at), u8::load(from.add(at)));
            at += 1;
        }
    }
}

/// # Safety
///
/// As [`copy`], with 64 bytes a block, at least one.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn copy_blocks(from: *const u8, to: *mut u8, blocks: usize) {
    // SAFETY: by the caller.
    unsafe {
        std::arch::asm!(
            "2:",
            "movups {a}, [{from}]",
            "movups {b}, [{from} + 16]",
            "movups {c}, [{from} + 32]",
            "movups {d}, [{from} + 48]",
            "movups [{to}], {a}",
            "movups [{to} + 16], {b}",
            "movups [{to} + 32], {c}",
            "movups [{to} + 48], {d}",
            "add {from}, 64",
            "add {to}, 64",
            "dec {blocks}",
            "jnz 2b",
            from = inout(reg) from => _,
            to = inout(reg) to => _,
            blocks = inout(reg) blocks => _,
            a = out(xmm_reg) _,
            b = out(xmm_reg) _,
            c = out(xmm_reg) _,
            d = out(xmm_reg) _,
            options(nostack),
        );
    }
}

/// # Safety
///
/// As [`copy`], with 64 bytes a block, at least one.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
unsafe fn copy_blocks(from: *const u8, to: *mut u8, blocks: usize) {
    // SAFETY: by the caller.
    unsafe {
        std::arch::asm!(
            "2:",
            "ldp {a:q}, {b:q}, [{from}], #32",
            "ldp {c:q}, {d:q}, [{from}], #32",
            "stp {a:q}, {b:q}, [{to}], #32",
            "stp {c:q}, {d:q}, [{to}], #32",
            "subs {blocks}, {blocks}, #1",
            "b.ne 2b",
            from = inout(reg) from => _,
            to = inout(reg) to => _,
            blocks = inout(reg) blocks => _,
            a = out(vreg) _,
            b = out(vreg) _,
            c = out(vreg) _,
            d = out(vreg) _,
            options(nostack),
        );
    }
}

/// # Safety
///
/// As [`copy`], with 64 bytes a block.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
unsafe fn copy_blocks(from: *const u8, to: *mut u8, blocks: usize) {
    for at in (0..blocks * 64).step_by(8) {
        // SAFETY: by the caller.
        unsafe { u64::store(to.add(at), u64::load(from.add(at))) }
    }
}
