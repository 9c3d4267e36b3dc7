//! A compiler for the compute subset of the Metal Shading Language, and its back ends.
//!
//! It knows nothing of tensors or devices. A source text goes through [`syntax`] (tokens, tree) and
//! [`sema`] (types, names) to the typed, structured [`ir`], which every back end reads; [`exec`]
//! runs it on the CPU.

pub mod diag;
pub mod exec;
pub mod ir;
pub mod sema;
pub mod syntax;

use std::sync::Arc;

use diag::{Diagnostics, Report, Sources};

pub use syntax::Options;

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

/// Compiles a text that its user knows as `name`: from the preprocessor to the IR.
pub fn compile(name: &str, text: &str, options: &Options) -> Result<Compilation, Diagnostics> {
    let (unit, sources, mut report) = syntax::parse(name, text, options);
    // What the parser could not read would only give misleading follow-ups.
    let module = if report.has_errors() {
        ir::Module::default()
    } else {
        sema::check(&unit, &mut report)
    };
    if report.has_errors() {
        return Err(Diagnostics { sources, report });
    }
    Ok(Compilation {
        module,
        sources,
        warnings: report,
    })
}
