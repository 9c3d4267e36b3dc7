//! Tests of the whole front end: trees, diagnostics, and texts of any kind.

mod any_text;
mod corpus;
mod diagnostics;
mod preprocessing;
mod show;
mod trees;
