//! Random kernels, each with exactly one right result, to compare back ends with.
//!
//! `generate` makes a tree from a seed, `print` makes it text, `judge` runs it and compares with a
//! reference, and `shrink` makes a kernel small that shows a difference.

pub mod cpp;
pub mod generate;
pub mod interpreter;
pub mod judge;
pub mod print;
pub mod program;
pub mod random;
pub mod report;
pub mod shrink;
pub mod visit;
