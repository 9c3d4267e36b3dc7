//! From text to tree: the preprocessor makes tokens, the parser makes the tree.

pub mod ast;
