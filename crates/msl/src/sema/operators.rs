//! Operators on values: arithmetic, comparison, bits, pointers, matrices.

use super::Checker;
use super::constant::{self, Constant};
use super::conversions::scalar_rank;
use super::operand::{Operand, Repr};
use super::types::{Kind, Ty};
use crate::diag::{Diagnostic, Span};
use crate::ir::{self, MathFunction, Op, Scalar};
use crate::syntax::ast::{BinaryOp, Expr, UnaryOp};

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

/// What small integers become before arithmetic.
pub(super) fn promote(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::Bool | Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16 => Scalar::I32,
        _ => scalar,
    }
}

/// The type in which two scalars are computed; `None` where one must be cast.
pub(super) fn common_scalar(left: Scalar, right: Scalar) -> Option<Scalar> {
    let (left, right) = (promote(left), promote(right));
    match (left.is_float(), right.is_float()) {
        (false, false) => Some(left.max(right)),
        (true, false) => scalar_rank(right, left).map(|_| left),
        (false, true) => scalar_rank(left, right).map(|_| right),
        (true, true) if left == right => Some(left),
        (true, true) => (left == Scalar::F32 || right == Scalar::F32).then_some(Scalar::F32),
    }
}

impl<'a> Checker<'a> {
    /// A unary operator.
    pub(super) fn unary(&mut self, op: UnaryOp, inner: &'a Expr, span: Span) -> Operand<'a> {
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

    /// A scalar after integer promotion; anything else as it is. Loads.
    pub(super) fn promoted(&mut self, operand: Operand<'a>) -> Operand<'a> {
        let operand = self.decayed(operand);
        match self.types.kind(operand.ty) {
            Kind::Scalar(scalar) => {
                let ty = Ty::scalar(promote(scalar));
                self.convert_number(operand, ty)
            }
            Kind::Enum(id) if !self.enums[id].is_class => {
                let ty = Ty::scalar(promote(self.enums[id].underlying));
                self.convert_number(operand, ty)
            }
            _ => operand,
        }
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

    fn scalar_binary(
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

    fn vector_binary(
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

    fn pointer_binary(
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
    pub(super) fn offset(
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

    /// The type that two alternatives have in common.
    pub(super) fn common_type(&mut self, left: &Operand<'a>, right: &Operand<'a>) -> Option<Ty> {
        let decayed = |checker: &mut Self, operand: &Operand<'a>| match (
            checker.types.kind(operand.ty),
            operand.as_place(),
        ) {
            (Kind::Array(element, _), Some(lvalue)) => {
                let (space, is_const) = (lvalue.space, lvalue.is_const);
                checker.types.pointer(space, element, is_const)
            }
            _ => checker.types.value_type(operand.ty),
        };
        if let (Repr::List(_), _)
        | (_, Repr::List(_))
        | (Repr::Functions(_), _)
        | (_, Repr::Functions(_)) = (&left.repr, &right.repr)
        {
            return None;
        }
        let (l, r) = (decayed(self, left), decayed(self, right));
        if l == r {
            return Some(l);
        }
        match (self.types.kind(l), self.types.kind(r)) {
            (Kind::Scalar(a), Kind::Scalar(b)) => common_scalar(a, b).map(Ty::scalar),
            (Kind::Enum(_), Kind::Scalar(_) | Kind::Enum(_)) | (Kind::Scalar(_), Kind::Enum(_)) => {
                let number = |checker: &Self, ty| match checker.types.kind(ty) {
                    Kind::Enum(id) if !checker.enums[id].is_class => {
                        Some(checker.enums[id].underlying)
                    }
                    Kind::Scalar(scalar) => Some(scalar),
                    _ => None,
                };
                let (a, b) = (number(self, l)?, number(self, r)?);
                common_scalar(a, b).map(Ty::scalar)
            }
            (
                Kind::Pointer {
                    space: ls,
                    pointee: lp,
                    is_const: lc,
                },
                Kind::Pointer {
                    space: rs,
                    pointee: rp,
                    is_const: rc,
                },
            ) if ls == rs => {
                let pointee = match (lp, rp) {
                    _ if lp == rp => lp,
                    (Ty::VOID, _) | (_, Ty::VOID) => Ty::VOID,
                    _ => return None,
                };
                Some(self.types.pointer(ls, pointee, lc || rc))
            }
            (Kind::Pointer { .. }, _) if self.implicit_rank(right, l).is_some() => Some(l),
            (_, Kind::Pointer { .. }) if self.implicit_rank(left, r).is_some() => Some(r),
            (Kind::Vector(..), Kind::Scalar(_)) => self.implicit_rank(right, l).map(|_| l),
            (Kind::Scalar(_), Kind::Vector(..)) => self.implicit_rank(left, r).map(|_| r),
            (Kind::Struct(_), _) if self.implicit_rank(right, l).is_some() => Some(l),
            (_, Kind::Struct(_)) if self.implicit_rank(left, r).is_some() => Some(r),
            _ => None,
        }
    }

    fn matrix_binary(
        &mut self,
        op: BinaryOp,
        left: Operand<'a>,
        right: Operand<'a>,
        span: Span,
    ) -> Option<Operand<'a>> {
        let (l, r) = (self.types.kind(left.ty), self.types.kind(right.ty));
        match (op, l, r) {
            (BinaryOp::Add | BinaryOp::Subtract, Kind::Matrix { .. }, _) if left.ty == right.ty => {
                let ty = left.ty;
                let (left, right) = (self.parts(left), self.parts(right));
                let columns = left
                    .into_iter()
                    .zip(right)
                    .map(|(l, r)| {
                        let column = l.ty;
                        self.emit_binary(ir_op(op), l, r, column, span)
                    })
                    .collect();
                Some(self.compose(ty, columns, span))
            }
            (BinaryOp::Multiply, Kind::Matrix { scalar, .. }, Kind::Scalar(other))
                if scalar_rank(other, scalar).is_some() =>
            {
                Some(self.scale_matrix(left, right, scalar, span))
            }
            (BinaryOp::Multiply, Kind::Scalar(other), Kind::Matrix { scalar, .. })
                if scalar_rank(other, scalar).is_some() =>
            {
                Some(self.scale_matrix(right, left, scalar, span))
            }
            (
                BinaryOp::Multiply,
                Kind::Matrix {
                    scalar, columns, ..
                },
                Kind::Vector(other, len, _),
            ) if scalar == other && columns == len => {
                let columns = self.parts(left);
                Some(self.matrix_times_vector(&columns, right, span))
            }
            (
                BinaryOp::Multiply,
                Kind::Vector(other, len, _),
                Kind::Matrix {
                    scalar,
                    columns,
                    rows,
                },
            ) if scalar == other && rows == len => {
                let result = self.types.vector(scalar, columns);
                let left_value = self.value(&left);
                let ir_scalar = self.ir_type(Ty::scalar(scalar));
                let parts = self
                    .parts(right)
                    .into_iter()
                    .map(|column| {
                        let column = self.value(&column);
                        let op = Op::Math(MathFunction::Dot, vec![left_value, column]);
                        let dot = self.context.emit(op, ir_scalar, span);
                        Operand::value(Ty::scalar(scalar), dot, span)
                    })
                    .collect();
                Some(self.compose(result, parts, span))
            }
            (
                BinaryOp::Multiply,
                Kind::Matrix {
                    scalar,
                    columns,
                    rows,
                },
                Kind::Matrix {
                    scalar: other,
                    columns: right_columns,
                    rows: inner,
                },
            ) if scalar == other && columns == inner => {
                let result = self.types.intern(Kind::Matrix {
                    scalar,
                    columns: right_columns,
                    rows,
                });
                let left = self.parts(left);
                let columns = self
                    .parts(right)
                    .into_iter()
                    .map(|column| self.matrix_times_vector(&left, column, span))
                    .collect();
                Some(self.compose(result, columns, span))
            }
            _ => None,
        }
    }

    fn scale_matrix(
        &mut self,
        matrix: Operand<'a>,
        factor: Operand<'a>,
        scalar: Scalar,
        span: Span,
    ) -> Operand<'a> {
        let ty = matrix.ty;
        let factor = self.convert_number(factor, Ty::scalar(scalar));
        let Kind::Matrix { rows, .. } = self.types.kind(ty) else {
            return Operand::poison(span);
        };
        let factor = self.splat(factor, rows);
        let columns = self
            .parts(matrix)
            .into_iter()
            .map(|column| {
                let column_type = column.ty;
                self.emit_binary(
                    ir::BinaryOp::Multiply,
                    column,
                    factor.clone(),
                    column_type,
                    span,
                )
            })
            .collect();
        self.compose(ty, columns, span)
    }

    /// The columns weighted by the vector's components and added, first to last.
    fn matrix_times_vector(
        &mut self,
        columns: &[Operand<'a>],
        vector: Operand<'a>,
        span: Span,
    ) -> Operand<'a> {
        let mut sum: Option<Operand<'a>> = None;
        let weights = self.parts(vector);
        for (column, weight) in columns.iter().zip(weights) {
            let ty = column.ty;
            let rows = self.types.as_vector(ty).map_or(1, |(_, len)| len);
            let weight = self.splat(weight, rows);
            let term = self.emit_binary(ir::BinaryOp::Multiply, column.clone(), weight, ty, span);
            sum = Some(match sum {
                None => term,
                Some(sum) => self.emit_binary(ir::BinaryOp::Add, sum, term, ty, span),
            });
        }
        sum.unwrap_or_else(|| Operand::poison(span))
    }
}
