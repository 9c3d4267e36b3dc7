//! What wrong programs are told by the parser; what the type checker says of them is in the tests of
//! the whole crate.

mod brackets;
mod declarations;
mod not_metal;
mod statements;
mod tokens;

use crate::diag::Diagnostics;
use crate::syntax::{Options, parse};

fn errors(text: &str) -> String {
    let (_, sources, report) = parse("test.metal", text, &Options::default());
    Diagnostics { sources, report }.to_string()
}
