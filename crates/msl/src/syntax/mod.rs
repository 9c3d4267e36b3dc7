//! From text to tree: the preprocessor makes tokens, the parser makes the tree.
//!
//! [`parse`] never fails: it gives what it could read, and says in the report what it could not.
//! No tree is deeper than a fixed number of nodes, whatever the text, so that what walks it may
//! recurse.

use std::sync::Arc;

use crate::diag::{Report, Sources};

pub mod ast;
pub(crate) mod attributes;
mod bad_token;
mod builtin_names;
mod condition;
mod declarators;
mod expansion;
mod expressions;
mod functions;
mod headers;
mod items;
mod lexer;
mod literal;
mod lookahead;
mod macros;
mod parser;
mod paths;
mod preprocessor;
mod primary;
mod scope;
mod spelling;
mod statements;
mod structs;
mod templates;
mod token;
mod types;

#[cfg(test)]
mod tests;

pub use parser::{CHAIN_LIMIT, NESTING_LIMIT};
pub use preprocessor::IncludeResolver;

/// What a text is parsed with.
#[derive(Clone, Default)]
pub struct Options {
    /// Macros defined before the first line: names (with parameters, if any) and values.
    pub defines: Vec<(String, String)>,
    /// Finds the files of `#include "..."`; without it, they are errors.
    pub includes: Option<Arc<IncludeResolver>>,
}

/// Parses a text that its user knows as `name`.
pub fn parse(
    name: &str,
    text: &str,
    options: &Options,
) -> (ast::TranslationUnit, Arc<Sources>, Report) {
    let preprocessed =
        preprocessor::preprocess(name, text, &options.defines, options.includes.as_deref());
    let mut interner = preprocessed.interner;
    let mut report = preprocessed.report;
    let unit = parser::parse(
        preprocessed.tokens,
        &mut interner,
        &preprocessed.sources,
        &mut report,
    );
    (unit, Arc::new(preprocessed.sources), report)
}
