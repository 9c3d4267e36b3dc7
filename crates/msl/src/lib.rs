//! A compiler for the compute subset of the Metal Shading Language, and its back ends.
//!
//! It knows nothing of tensors or devices. A source text goes through [`syntax`] (tokens, tree) and
//! [`sema`] (types, names) to the typed, structured [`ir`], which every back end reads; [`exec`]
//! runs it on the CPU, and [`interpret`] runs it slowly and plainly, to compare and to check.

pub mod diag;
pub mod exec;
pub mod interpret;
pub mod ir;
mod lower;
pub mod math;
pub mod sema;
pub mod syntax;

use std::sync::Arc;

use diag::{Diagnostics, Report, Sources};

/// What a text compiled to.
#[derive(Clone, Debug)]
pub struct Compilation {
    /// Its kernels and functions.
    pub module: ir::Module,
    /// The text and what it includes: the spans of the module point here.
    pub sources: Arc<Sources>,
    /// Warnings.
    pub warnings: Report,
}

/// Compiles a text, called `name` in messages.
///
/// # Errors
///
/// The text is not accepted; the diagnostics say where and why.
pub fn compile(
    name: &str,
    text: &str,
    options: &syntax::Options,
) -> Result<Compilation, Diagnostics> {
    let (unit, sources, mut report) = syntax::parse(name, text, options);
    let module = if report.has_errors() {
        ir::Module::default()
    } else {
        sema::check(&unit, &mut report)
    };
    if report.has_errors() {
        return Err(Diagnostics { sources, report });
    }
    debug_assert_eq!(ir::validate::validate(&module), Ok(()));
    Ok(Compilation {
        module,
        sources,
        warnings: report,
    })
}
