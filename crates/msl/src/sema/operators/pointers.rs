//! Arithmetic and comparison of pointers. Reaching what they point at is in `expressions`.

use super::ir_op;
use crate::diag::{Diagnostic, Span};
use crate::ir::{self, Op, Scalar};
use crate::sema::Checker;
use crate::sema::constant::Constant;
use crate::sema::operand::Operand;
use crate::sema::types::{Kind, Ty};
use crate::syntax::ast::BinaryOp;

impl<'a> Checker<'a> {
    pub(super) fn pointer_binary(
        &mut self,
        op: BinaryOp,
        left: Operand<'a>,
        right: Operand<'a>,
        span: Span,
    ) -> Option<Operand<'a>> {
        let is_integer = |checker: &Self, operand: &Operand<'a>| {
            checker
                .types
                .as_scalar(operand.ty)
                .is_some_and(Scalar::is_integer)
        };
        let is_pointer = |checker: &Self, operand: &Operand<'a>| {
            matches!(checker.types.kind(operand.ty), Kind::Pointer { .. })
        };
        match op {
            BinaryOp::Add if is_pointer(self, &left) && is_integer(self, &right) => {
                Some(self.offset(left, right, span))
            }
            BinaryOp::Add if is_integer(self, &left) && is_pointer(self, &right) => {
                Some(self.offset(right, left, span))
            }
            BinaryOp::Subtract if is_pointer(self, &left) && is_integer(self, &right) => {
                // An unsigned count must not wrap at its own width.
                let wide = match self.types.as_scalar(right.ty) {
                    Some(Scalar::U32) => self.convert_number(right, Ty::LONG),
                    _ => right,
                };
                let back = self.emit_unary(ir::UnaryOp::Negate, wide, span);
                Some(self.offset(left, back, span))
            }
            _ => {
                let comparison = ir_op(op).is_comparison();
                if !comparison && op != BinaryOp::Subtract {
                    return None;
                }
                let common = self.common_type(&left, &right)?;
                let Kind::Pointer { pointee, .. } = self.types.kind(common) else {
                    return None;
                };
                let left = self.apply_conversion(left, common);
                let right = self.apply_conversion(right, common);
                if comparison {
                    let (l, r) = (self.value(&left), self.value(&right));
                    let ty = self.ir_type(Ty::BOOL);
                    let value = self.context.emit(Op::Binary(ir_op(op), l, r), ty, span);
                    return Some(Operand::value(Ty::BOOL, value, span));
                }
                if pointee == Ty::VOID {
                    return None;
                }
                let (l, r) = (self.value(&left), self.value(&right));
                let ty = self.ir_type(Ty::LONG);
                let value = self.context.emit(Op::PointerDifference(l, r), ty, span);
                Some(Operand::value(Ty::LONG, value, span))
            }
        }
    }

    /// A pointer moved by a number of pointees.
    pub(in crate::sema) fn offset(
        &mut self,
        pointer: Operand<'a>,
        count: Operand<'a>,
        span: Span,
    ) -> Operand<'a> {
        if pointer.is_poison() || count.is_poison() {
            return Operand::poison(span);
        }
        let ty = pointer.ty;
        if let Kind::Pointer {
            pointee: Ty::VOID, ..
        } = self.types.kind(ty)
        {
            self.fail(
                Diagnostic::error(
                    span,
                    "a `void *` cannot be moved: its elements have no size",
                )
                .with_hint("cast it to a pointer to `uchar` or to the element type first"),
            );
            return Operand::poison(span);
        }
        if count.as_constant().and_then(Constant::as_int) == Some(0) {
            return Operand {
                span,
                ..self.rvalue(pointer)
            };
        }
        let count = self.promoted(count);
        let (pointer, count) = (self.value(&pointer), self.value(&count));
        let ir_type = self.ir_type(ty);
        Operand::value(
            ty,
            self.context.emit(Op::Offset(pointer, count), ir_type, span),
            span,
        )
    }
}
