//! Parameter packs: what a pattern with `...` expands to.

use super::Checker;
use super::context::PackPosition;
use super::operand::Operand;
use super::types::Qualified;
use crate::diag::{Diagnostic, Span};
use crate::syntax::ast::{Expr, TypeExpr};

/// The most elements of an expansion.
const ELEMENT_LIMIT: usize = 1024;

impl<'a> Checker<'a> {
    /// The pattern once for each element of the packs in it.
    fn expand_with<T>(&mut self, span: Span, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let outer = self.context.pack.take();
        // A first look only finds out how long the packs are.
        self.context.pack = Some(PackPosition {
            index: 0,
            len: None,
        });
        self.silently(|checker| {
            checker.in_block(|checker| one(checker));
            Some(())
        });
        let len = self.context.pack.and_then(|position| position.len);
        let mut made = Vec::new();
        match len {
            None => self.fail(Diagnostic::error(
                span,
                "there is no parameter pack to expand here",
            )),
            Some(len) if len > ELEMENT_LIMIT => {
                self.fail(Diagnostic::error(span, "this pack is too long"))
            }
            Some(len) => {
                for index in 0..len {
                    self.context.pack = Some(PackPosition { index, len: None });
                    made.push(one(self));
                }
            }
        }
        self.context.pack = outer;
        made
    }

    /// `pattern...` of expressions.
    pub(super) fn expand(&mut self, pattern: &'a Expr) -> Vec<Operand<'a>> {
        self.expand_with(pattern.span, |checker| checker.expression(pattern))
    }

    /// `pattern...` of types.
    pub(super) fn expand_type(&mut self, pattern: &'a TypeExpr) -> Vec<Qualified> {
        self.expand_with(pattern.span, |checker| checker.resolve(pattern))
    }
}
