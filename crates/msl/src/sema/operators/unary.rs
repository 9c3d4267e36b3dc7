//! Operators with one operand. Those that change a place are in `assignments`.

use crate::diag::{Diagnostic, Span};
use crate::ir::{self, Scalar};
use crate::sema::Checker;
use crate::sema::operand::Operand;
use crate::sema::types::Kind;
use crate::syntax::ast::{BinaryOp, Expr, UnaryOp};

impl<'a> Checker<'a> {
    /// A unary operator.
    pub(in crate::sema) fn unary(
        &mut self,
        op: UnaryOp,
        inner: &'a Expr,
        span: Span,
    ) -> Operand<'a> {
        if let Some(result) = self.unary_place(op, inner, span) {
            return result;
        }
        let operand = self.expression(inner);
        if operand.is_poison() {
            return Operand::poison(span);
        }
        let is_struct = matches!(self.types.kind(operand.ty), Kind::Struct(_));
        let step = match op {
            UnaryOp::PreIncrement => Some((BinaryOp::Add, false)),
            UnaryOp::PreDecrement => Some((BinaryOp::Subtract, false)),
            UnaryOp::PostIncrement => Some((BinaryOp::Add, true)),
            UnaryOp::PostDecrement => Some((BinaryOp::Subtract, true)),
            _ => None,
        };
        if let Some((step, is_post)) = step {
            return self.increment(step, is_post, operand, span);
        }
        if is_struct {
            let name = match op {
                UnaryOp::Plus => "operator+",
                UnaryOp::Negate => "operator-",
                UnaryOp::LogicalNot => "operator!",
                _ => "operator~",
            };
            if let Some(result) = self.operator_call(name, std::slice::from_ref(&operand), span) {
                return result;
            }
        }
        match op {
            UnaryOp::LogicalNot => self.logical_not(operand, span),
            UnaryOp::BitwiseNot => self.signed(ir::UnaryOp::BitwiseNot, operand, span),
            UnaryOp::Negate => self.signed(ir::UnaryOp::Negate, operand, span),
            _ => {
                let operand = self.promoted(operand);
                if self.number_shape(operand.ty).is_none()
                    && !matches!(
                        self.types.kind(operand.ty),
                        Kind::Pointer { .. } | Kind::Matrix { .. }
                    )
                {
                    self.report_unary("+", &operand, span);
                    return Operand::poison(span);
                }
                Operand { span, ..operand }
            }
        }
    }

    fn report_unary(&mut self, symbol: &str, operand: &Operand<'a>, span: Span) {
        let name = self.operand_type_name(operand);
        self.fail(Diagnostic::error(
            span,
            format!("`{symbol}` does not apply to a `{name}`"),
        ));
    }

    fn logical_not(&mut self, operand: Operand<'a>, span: Span) -> Operand<'a> {
        let operand = match self.types.kind(operand.ty) {
            Kind::Vector(Scalar::Bool, ..) => self.rvalue(operand),
            Kind::Vector(..) => {
                self.report_unary("!", &operand, span);
                return Operand::poison(span);
            }
            _ => self.condition(operand),
        };
        self.emit_unary(ir::UnaryOp::LogicalNot, operand, span)
    }

    /// `-x` and `~x`.
    fn signed(&mut self, op: ir::UnaryOp, operand: Operand<'a>, span: Span) -> Operand<'a> {
        let operand = self.promoted(operand);
        if operand.is_poison() {
            return operand;
        }
        let is_negate = op == ir::UnaryOp::Negate;
        if let (true, Kind::Matrix { .. }) = (is_negate, self.types.kind(operand.ty)) {
            let ty = operand.ty;
            let columns = self.parts(operand);
            let columns = columns
                .into_iter()
                .map(|column| self.emit_unary(op, column, span))
                .collect();
            return self.compose(ty, columns, span);
        }
        match self.types.as_vector(operand.ty) {
            Some((Scalar::Bool, _)) | None => {}
            Some((scalar, _)) if !is_negate && scalar.is_float() => {}
            Some(_) => return self.emit_unary(op, operand, span),
        }
        self.report_unary(if is_negate { "-" } else { "~" }, &operand, span);
        Operand::poison(span)
    }
}
