//! The ops: each declared once, with its kernel text, its `dispatch_*` functions and what proves it
//! right.
//!
//! A module is a family of ops whose kernels take the same arguments. The declaration of an op
//! ([`Op`]) is all that the registry, the tensor methods, `verify` and the `ops` table know of it.
//! Shapes, strides and gradients of tensors are the business of the layers above.

pub mod adam;
pub(crate) mod arguments;
pub mod binary;
pub mod copy;
pub mod exp_elementwise;
pub mod matmul;
pub mod nll;
pub(crate) mod proof;
pub mod reduce;
pub mod softmax;
pub mod unary;

use crate::dtypes::DType;
use crate::kernel_registry::KernelRegistry;
use proof::Proof;

/// An op, as it is declared.
#[derive(Debug)]
pub struct Op {
    /// Its name, which is that of the tensor method too.
    pub name: &'static str,
    /// What it computes.
    pub formula: &'static str,
    /// Its gradient, `dx` and so on being those of the inputs and `dy` that of the output; none if
    /// it has none.
    pub gradient: Option<&'static str>,
    /// The kernels that it runs, by name.
    pub kernels: &'static [&'static str],
    /// Their text in the Metal Shading Language.
    pub source: &'static str,
    /// What it is tested against.
    pub(crate) proof: Proof,
}

impl Op {
    /// What its numbers may be.
    pub fn dtypes(&self) -> &'static [DType] {
        &[DType::F32]
    }
}

/// All ops, in the order of their families.
///
/// ```
/// assert!(mlx_native::ops::table().any(|op| op.name == "softmax"));
/// ```
pub fn table() -> impl Iterator<Item = &'static Op> {
    let families: [&'static [Op]; 8] = [
        unary::OPS,
        binary::OPS,
        reduce::OPS,
        matmul::OPS,
        softmax::OPS,
        nll::OPS,
        copy::OPS,
        adam::OPS,
    ];
    families.into_iter().flatten()
}

/// Registers every built-in kernel.
pub(crate) fn register_all(registry: &mut KernelRegistry) {
    for op in table() {
        registry.register_built_in(op.kernels, op.source);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::cpu;
    use std::collections::HashSet;

    #[test]
    fn names_are_distinct_and_every_kernel_compiles() {
        let names: HashSet<_> = table().map(|op| op.name).collect();
        assert_eq!(names.len(), table().count());
        let device = cpu();
        let mut registry = KernelRegistry::new();
        for kernel in table().flat_map(|op| op.kernels) {
            registry
                .get_pipeline(kernel, device.metal_device())
                .unwrap();
        }
    }
}
