//! exp of every element, and its gradient, under the names that programs outside this repository
//! rely on; [`unary`](super::unary) has it with the other functions of one element.

pub use super::unary::{
    EXP_SHADER_SOURCE as EXP_ELEMENTWISE_SHADER_SOURCE, dispatch_exp_backward_f32, dispatch_exp_f32,
};
use crate::kernel_registry::KernelRegistry;

/// Registers `exp_f32` and `exp_backward_f32`. A new registry has them already.
pub fn register(registry: &mut KernelRegistry) {
    registry.register_built_in(
        &["exp_f32", "exp_backward_f32"],
        EXP_ELEMENTWISE_SHADER_SOURCE,
    );
}
