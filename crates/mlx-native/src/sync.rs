//! Locking without a panic in it.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex`. What our mutexes guard is changed in single steps, so it is whole even if a
/// thread panicked while it held the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
