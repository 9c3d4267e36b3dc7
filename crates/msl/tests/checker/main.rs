//! The type checker: what it says of wrong programs, and what it makes of right ones. What those
//! compute is tested with the executor and the interpreter.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, which the lint does not know as such

mod attributes;
mod conversions;
mod layout;
mod messages;

use msl::Compilation;
use msl::diag::Diagnostics;

fn compile(source: &str) -> Result<Compilation, Diagnostics> {
    let text = format!("#include <metal_stdlib>\nusing namespace metal;\n{source}");
    msl::compile("test.metal", &text, &Default::default())
}

/// The message of a wrong program.
fn wrong(source: &str) -> String {
    match compile(source) {
        Ok(_) => panic!("this is accepted:\n{source}"),
        Err(diagnostics) => diagnostics.to_string(),
    }
}
