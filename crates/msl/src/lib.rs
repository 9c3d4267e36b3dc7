//! A compiler for the compute subset of the Metal Shading Language.

pub mod diag;
pub mod math;
pub mod syntax;
