//! The built-in ops of the explicit layer: for each the kernel text and functions that check their
//! arguments and encode it.

pub mod exp_elementwise;

use crate::kernel_registry::KernelRegistry;

/// Registers every built-in kernel.
pub(crate) fn register_all(registry: &mut KernelRegistry) {
    exp_elementwise::register(registry);
}
