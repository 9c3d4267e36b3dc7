//! Arithmetic, bits and comparison on scalars and vectors. Whole matrices are in `matrices`.

use super::common_type::common_scalar;
use super::{ir_op, is_bitwise, is_shift};
use crate::diag::{Diagnostic, Span};
use crate::ir::Scalar;
use crate::sema::Checker;
use crate::sema::constant::Constant;
use crate::sema::conversions::scalar_rank;
use crate::sema::operand::Operand;
use crate::sema::types::Ty;
use crate::syntax::ast::BinaryOp;

impl<'a> Checker<'a> {
    pub(super) fn scalar_binary(
        &mut self,
        op: BinaryOp,
        (left, l): (Operand<'a>, Scalar),
        (right, r): (Operand<'a>, Scalar),
        span: Span,
    ) -> Option<Operand<'a>> {
        let needs_integers = is_shift(op) || is_bitwise(op) || op == BinaryOp::Remainder;
        if needs_integers && (l.is_float() || r.is_float()) {
            return None;
        }
        let scalar = if is_shift(op) {
            l
        } else {
            common_scalar(l, r)?
        };
        let ty = Ty::scalar(scalar);
        let (left, right) = (
            self.convert_number(left, ty),
            self.convert_number(right, ty),
        );
        self.warn_division(op, scalar, &right);
        let op = ir_op(op);
        let result = if op.is_comparison() { Ty::BOOL } else { ty };
        Some(self.emit_binary(op, left, right, result, span))
    }

    fn warn_division(&mut self, op: BinaryOp, scalar: Scalar, right: &Operand<'a>) {
        let divides = matches!(op, BinaryOp::Divide | BinaryOp::Remainder);
        if divides && scalar.is_integer() && right.as_constant() == Some(&Constant::Int(0)) {
            self.fail(
                Diagnostic::warning(right.span, "this divides an integer by zero")
                    .with_hint("the result is not defined in Metal"),
            );
        }
    }

    pub(super) fn vector_binary(
        &mut self,
        op: BinaryOp,
        left: Operand<'a>,
        right: Operand<'a>,
        span: Span,
    ) -> Option<Operand<'a>> {
        let ((l, ll), (r, rl)) = (
            self.types.as_vector(left.ty)?,
            self.types.as_vector(right.ty)?,
        );
        let (scalar, len) = if ll > 1 { (l, ll) } else { (r, rl) };
        let ty = self.types.vector(scalar, len);
        let fits = |checker: &mut Self, operand: Operand<'a>| {
            if operand.ty == ty {
                return Some(operand);
            }
            let from = checker.types.as_scalar(operand.ty)?;
            // A promoted scalar (a char, say) still counts as what it was: any integer fits.
            if scalar_rank(from, scalar).is_none() || (from.is_float() && !scalar.is_float()) {
                return None;
            }
            let scalar = checker.convert_number(operand, Ty::scalar(scalar));
            Some(checker.splat(scalar, len))
        };
        let ir = ir_op(op);
        let allowed = match scalar {
            Scalar::Bool => is_bitwise(op) || matches!(op, BinaryOp::Equal | BinaryOp::NotEqual),
            _ if scalar.is_float() => !is_bitwise(op) && !is_shift(op) && op != BinaryOp::Remainder,
            _ => true,
        };
        if !allowed {
            return None;
        }
        let (left, right) = (fits(self, left)?, fits(self, right)?);
        let result = if ir.is_comparison() {
            self.types.vector(Scalar::Bool, len)
        } else {
            ty
        };
        Some(self.emit_binary(ir, left, right, result, span))
    }
}
