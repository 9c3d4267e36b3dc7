//! From the IR of a kernel to a form that back ends can turn into instructions one by one: calls
//! inlined, values split into scalars, variables given registers, and known which registers hold the
//! same in all threads.
//!
//! The passes, in order:
//! 1. [`inline`] makes one typed body of the kernel and what it calls;
//! 2. [`unroll`] writes out short loops with a constant counter;
//! 3. [`stand_in`] finds variables that stand for one value;
//! 4. [`scalars`] translates to the lowered form, in which every load of a variable is a copy;
//! 5. [`scopes`] takes away scopes that nobody leaves, [`copies`] the copies that it can prove
//!    needless, [`dead`] what nobody needs;
//! 6. [`uniform`] says which registers and scopes differ between threads, [`consecutive`] which
//!    registers count up from thread to thread.

pub mod consecutive;
pub mod constant;
pub mod copies;
pub mod dead;
pub mod form;
pub mod inline;
pub mod memory;
pub mod scalars;
pub mod scopes;
pub mod stand_in;
pub mod survey;
pub mod typed;
pub mod uniform;
pub mod unroll;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::diag::Span;
use crate::ir::{Kernel, Module};
use form::Lowered;

/// Values of function constants by index, as the bytes that memory would hold.
pub type FunctionConstants = BTreeMap<u32, Vec<u8>>;

/// What cannot be lowered, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What.
    pub message: String,
    /// Where.
    pub span: Span,
}

type Result<T> = std::result::Result<T, Unsupported>;

fn unsupported(span: Span, message: impl Into<String>) -> Unsupported {
    Unsupported {
        message: message.into(),
        span,
    }
}

/// Lowers a kernel.
///
/// # Errors
///
/// It uses something that no back end that reads this form runs, or is too large.
pub fn lower(module: &Module, kernel: &Kernel, constants: &FunctionConstants) -> Result<Lowered> {
    let mut inlined = inline::inline(module, kernel, constants)?;
    unroll::unroll(&mut inlined, &module.types);
    let stand_ins = stand_in::stand_ins(&inlined);
    let mut lowered = scalars::translate(module, kernel, &inlined, &stand_ins, constants)?;
    scopes::simplify(&mut lowered);
    copies::forward(&mut lowered);
    copies::share(&mut lowered);
    dead::remove(&mut lowered);
    Ok(lowered)
}
