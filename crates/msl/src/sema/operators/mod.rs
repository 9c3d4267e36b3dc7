//! Operators on values: which kind of operation `left op right` is, and the IR that one operation
//! becomes. What each kind means is in the modules of this folder; what the program defines for its
//! own structs is in `calls`.

mod common_type;
mod matrices;
mod numbers;
mod pointers;
mod unary;

use super::Checker;
use super::constant;
use super::operand::{Operand, Repr};
use super::types::{Kind, Ty};
use crate::diag::{Diagnostic, Span};
use crate::ir::{self, Op, Scalar};
use crate::syntax::ast::{BinaryOp, Expr};

/// The operator as written.
pub(super) const fn symbol(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::Remainder => "%",
        BinaryOp::ShiftLeft => "<<",
        BinaryOp::ShiftRight => ">>",
        BinaryOp::BitwiseAnd => "&",
        BinaryOp::BitwiseOr => "|",
        BinaryOp::BitwiseXor => "^",
        BinaryOp::LogicalAnd => "&&",
        BinaryOp::LogicalOr => "||",
        BinaryOp::Equal => "==",
        BinaryOp::NotEqual => "!=",
        BinaryOp::Less => "<",
        BinaryOp::LessEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterEqual => ">=",
    }
}

/// The IR's operator; the logical ones are control flow there.
const fn ir_op(op: BinaryOp) -> ir::BinaryOp {
    match op {
        BinaryOp::Add => ir::BinaryOp::Add,
        BinaryOp::Subtract => ir::BinaryOp::Subtract,
        BinaryOp::Multiply => ir::BinaryOp::Multiply,
        BinaryOp::Divide => ir::BinaryOp::Divide,
        BinaryOp::Remainder => ir::BinaryOp::Remainder,
        BinaryOp::ShiftLeft => ir::BinaryOp::ShiftLeft,
        BinaryOp::ShiftRight => ir::BinaryOp::ShiftRight,
        BinaryOp::BitwiseAnd | BinaryOp::LogicalAnd => ir::BinaryOp::And,
        BinaryOp::BitwiseOr | BinaryOp::LogicalOr => ir::BinaryOp::Or,
        BinaryOp::BitwiseXor => ir::BinaryOp::Xor,
        BinaryOp::Equal => ir::BinaryOp::Equal,
        BinaryOp::NotEqual => ir::BinaryOp::NotEqual,
        BinaryOp::Less => ir::BinaryOp::Less,
        BinaryOp::LessEqual => ir::BinaryOp::LessEqual,
        BinaryOp::Greater => ir::BinaryOp::Greater,
        BinaryOp::GreaterEqual => ir::BinaryOp::GreaterEqual,
    }
}

const fn is_bitwise(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::BitwiseAnd | BinaryOp::BitwiseOr | BinaryOp::BitwiseXor
    )
}

const fn is_shift(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::ShiftLeft | BinaryOp::ShiftRight)
}

impl<'a> Checker<'a> {
    /// `left op right`.
    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        left: &'a Expr,
        right: &'a Expr,
        span: Span,
    ) -> Operand<'a> {
        let left = self.expression(left);
        let is_struct = matches!(self.types.kind(left.ty), Kind::Struct(_));
        if let (BinaryOp::LogicalAnd | BinaryOp::LogicalOr, false) = (op, is_struct) {
            return self.logical(op == BinaryOp::LogicalAnd, left, right, span);
        }
        // The left value is read before the right side may change it.
        let left = match self.types.kind(left.ty) {
            Kind::Struct(_) | Kind::Array(..) => left,
            _ => self.rvalue(left),
        };
        let right = self.expression(right);
        self.binary_operands(op, left, right, span)
    }

    /// `left op right` of operands.
    pub(super) fn binary_operands(
        &mut self,
        op: BinaryOp,
        left: Operand<'a>,
        right: Operand<'a>,
        span: Span,
    ) -> Operand<'a> {
        if left.is_poison() || right.is_poison() {
            return Operand::poison(span);
        }
        let has_members =
            |checker: &Self, ty| matches!(checker.types.kind(ty), Kind::Struct(_) | Kind::Enum(_));
        if has_members(self, left.ty) || has_members(self, right.ty) {
            let name = format!("operator{}", symbol(op));
            if let Some(result) = self.operator_call(&name, &[left.clone(), right.clone()], span) {
                return result;
            }
        }
        let (left, right) = (self.promoted(left), self.promoted(right));
        if left.is_poison() || right.is_poison() {
            return Operand::poison(span);
        }
        let result = match (self.types.kind(left.ty), self.types.kind(right.ty)) {
            (Kind::Scalar(l), Kind::Scalar(r)) => {
                self.scalar_binary(op, (left.clone(), l), (right.clone(), r), span)
            }
            (Kind::Vector(..), Kind::Vector(..) | Kind::Scalar(_))
            | (Kind::Scalar(_), Kind::Vector(..)) => {
                self.vector_binary(op, left.clone(), right.clone(), span)
            }
            (Kind::Matrix { .. }, _) | (_, Kind::Matrix { .. }) => {
                self.matrix_binary(op, left.clone(), right.clone(), span)
            }
            (Kind::Pointer { .. } | Kind::Nullptr, _) | (_, Kind::Pointer { .. }) => {
                self.pointer_binary(op, left.clone(), right.clone(), span)
            }
            (Kind::Enum(l), Kind::Enum(r)) if l == r && ir_op(op).is_comparison() => {
                Some(self.emit_binary(ir_op(op), left.clone(), right.clone(), Ty::BOOL, span))
            }
            (Kind::MemFlags, Kind::MemFlags) if is_bitwise(op) => {
                Some(self.emit_binary(ir_op(op), left.clone(), right.clone(), Ty::MEM_FLAGS, span))
            }
            (Kind::SimdgroupMatrix(l), Kind::SimdgroupMatrix(r))
                if l == r && op == BinaryOp::Multiply =>
            {
                Some(self.simdgroup_multiply(left.clone(), right.clone(), span))
            }
            _ => None,
        };
        result.unwrap_or_else(|| {
            self.report_binary(op, &left, &right, span);
            Operand::poison(span)
        })
    }

    fn report_binary(&mut self, op: BinaryOp, left: &Operand<'a>, right: &Operand<'a>, span: Span) {
        let (l, r) = (self.operand_type_name(left), self.operand_type_name(right));
        let sign = symbol(op);
        let mut error =
            Diagnostic::error(span, format!("`{sign}` does not apply to `{l}` and `{r}`"));
        let shapes = (
            self.types.as_vector(left.ty),
            self.types.as_vector(right.ty),
        );
        let hint = match shapes {
            (Some((Scalar::F32 | Scalar::F16 | Scalar::Bf16, _)), _)
            | (_, Some((Scalar::F32 | Scalar::F16 | Scalar::Bf16, _)))
                if op == BinaryOp::Remainder =>
            {
                Some("the remainder of floating numbers is `fmod(x, y)`".to_string())
            }
            (Some((l, _)), Some((r, _)))
                if (l.is_float() || r.is_float()) && (is_bitwise(op) || is_shift(op)) =>
            {
                Some(
                    "bit operators need integers; `as_type<uint>(x)` gives a float's bits"
                        .to_string(),
                )
            }
            (Some((Scalar::Bf16, _)), Some((other, _)))
            | (Some((other, _)), Some((Scalar::Bf16, _)))
                if other == Scalar::F16 =>
            {
                Some("half and bfloat do not mix; cast both to float".to_string())
            }
            (Some((_, ll)), Some((_, rl))) if ll > 1 && rl > 1 && ll == rl => Some(format!(
                "vectors of different element types do not mix; cast one, such as `{l}(..)`"
            )),
            (Some((_, ll)), Some((_, rl))) if ll > 1 && rl > 1 => {
                Some("both vectors must have the same number of components".to_string())
            }
            (Some((_, 1)), Some((_, len))) | (Some((_, len)), Some((_, 1))) if len > 1 => {
                Some("cast the scalar to the vector's element type".to_string())
            }
            _ => None,
        };
        if let Repr::Functions(set) = &left.repr {
            error = error.with_hint(format!("call it: `{}(..)`", set.name));
        } else if let Some(hint) = hint {
            error = error.with_hint(hint);
        }
        self.fail(error);
    }

    /// One operand, folded if it is known.
    pub(super) fn emit_unary(
        &mut self,
        op: ir::UnaryOp,
        operand: Operand<'a>,
        span: Span,
    ) -> Operand<'a> {
        if operand.is_poison() {
            return operand;
        }
        let ty = operand.ty;
        if let (Some(value), Some((scalar, _))) = (operand.as_constant(), self.number_shape(ty))
            && let Some(folded) = constant::unary(op, scalar, value)
        {
            return Operand::constant(ty, folded, span);
        }
        let value = self.value(&operand);
        let ir_type = self.ir_type(ty);
        Operand::value(
            ty,
            self.context.emit(Op::Unary(op, value), ir_type, span),
            span,
        )
    }

    /// Two operands of one type, folded if they are known.
    pub(super) fn emit_binary(
        &mut self,
        op: ir::BinaryOp,
        left: Operand<'a>,
        right: Operand<'a>,
        result: Ty,
        span: Span,
    ) -> Operand<'a> {
        if left.is_poison() || right.is_poison() {
            return Operand::poison(span);
        }
        if let (Some(l), Some(r), Some((scalar, _))) = (
            left.as_constant(),
            right.as_constant(),
            self.number_shape(left.ty),
        ) && let Some(folded) = constant::binary(op, scalar, l, r)
        {
            return Operand::constant(result, folded, span);
        }
        let (l, r) = (self.value(&left), self.value(&right));
        let ir_type = self.ir_type(result);
        Operand::value(
            result,
            self.context.emit(Op::Binary(op, l, r), ir_type, span),
            span,
        )
    }
}
