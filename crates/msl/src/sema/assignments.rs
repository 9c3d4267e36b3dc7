//! Expressions that write: `=`, `+=` and its kind, `++`, `--`.

use super::Checker;
use super::constant::Constant;
use super::operand::{Lvalue, Operand, Repr};
use super::operators::symbol;
use super::types::{Kind, Ty};
use crate::diag::{Diagnostic, Span};
use crate::ir::{Handle, Op, Projection, SimdgroupMatrixOp, Statement, Value};
use crate::syntax::ast::{BinaryOp, Expr};

impl<'a> Checker<'a> {
    /// `left = right` and `left op= right`.
    pub(super) fn assign(
        &mut self,
        op: Option<BinaryOp>,
        left: &'a Expr,
        right: &'a Expr,
        span: Span,
    ) -> Operand<'a> {
        let target = self.expression(left);
        let source = self.expression(right);
        if target.is_poison() || source.is_poison() {
            return Operand::poison(span);
        }
        if let Kind::Struct(_) = self.types.kind(target.ty) {
            let name = format!("operator{}=", op.map_or("", symbol));
            if let Some(result) = self.operator_call(&name, &[target.clone(), source.clone()], span)
            {
                return result;
            }
        }
        if let (Kind::SimdgroupMatrix(_), Repr::Value(_)) =
            (self.types.kind(target.ty), &target.repr)
        {
            self.fail(Diagnostic::error(
                target.span,
                "this matrix is a value, not a variable",
            ));
            return Operand::poison(span);
        }
        if !self.check_writable(&target, "an assignment") {
            return Operand::poison(span);
        }
        if let Kind::Array(..) = self.types.kind(target.ty) {
            self.fail(
                Diagnostic::error(span, "arrays cannot be assigned as a whole")
                    .with_hint("copy the elements in a loop"),
            );
            return Operand::poison(span);
        }
        if let Kind::Atomic(_) = self.types.kind(target.ty) {
            self.fail(
                Diagnostic::error(span, "an atomic cannot be assigned")
                    .with_hint("use `atomic_store_explicit(&x, value, memory_order_relaxed)`"),
            );
            return Operand::poison(span);
        }
        let value = match op {
            None => source,
            Some(op) => {
                let current = self.rvalue(target.clone());
                match self.compound(op, current, source, span) {
                    Some(value) => value,
                    None => return Operand::poison(span),
                }
            }
        };
        let value = match op {
            // `x op= y` converts back as a cast would, but only where assignment would too.
            Some(_) => self.convert(Operand { span, ..value }, target.ty, "the left side"),
            None => self.convert(value, target.ty, "the left side"),
        };
        if value.is_poison() {
            return Operand::poison(span);
        }
        self.store(&target, &value, span);
        Operand { span, ..target }
    }

    fn compound(
        &mut self,
        op: BinaryOp,
        current: Operand<'a>,
        source: Operand<'a>,
        span: Span,
    ) -> Option<Operand<'a>> {
        let value = self.binary_operands(op, current, source, span);
        (!value.is_poison()).then_some(value)
    }

    /// Writes a value of the place's type.
    pub(super) fn store(&mut self, target: &Operand<'a>, value: &Operand<'a>, span: Span) {
        let Repr::Place(lvalue) = &target.repr else {
            return;
        };
        let lvalue: Lvalue = (**lvalue).clone();
        let value_operand = self.rvalue(value.clone());
        let value = self.value(&value_operand);
        if lvalue.elements.is_some() {
            self.store_elements(&lvalue, value, span);
            return;
        }
        let Some(swizzle) = &lvalue.swizzle else {
            self.context.push(Statement::Store {
                place: lvalue.place,
                value,
                span,
            });
            return;
        };
        let Some((scalar, _)) = self.types.as_vector(lvalue.ty) else {
            return;
        };
        let ir_type = self.ir_type(Ty::scalar(scalar));
        for (index, &component) in swizzle.iter().enumerate() {
            let part = self
                .context
                .emit(Op::Extract(value, index as u32), ir_type, span);
            let mut place = lvalue.place.clone();
            place.path.push(Projection::Element(u32::from(component)));
            place.ty = ir_type;
            self.context.push(Statement::Store {
                place,
                value: part,
                span,
            });
        }
    }

    /// Writes a thread's elements of a simdgroup matrix, or one of them.
    fn store_elements(&mut self, lvalue: &Lvalue, value: Handle<Value>, span: Span) {
        let (Some(matrix), Some((scalar, _))) = (lvalue.elements, self.types.as_vector(lvalue.ty))
        else {
            return;
        };
        let (pair, element) = (self.ir_type(lvalue.ty), self.ir_type(Ty::scalar(scalar)));
        let elements = match &lvalue.swizzle {
            None => value,
            Some(swizzle) => {
                let before = self.load(lvalue, span);
                let mut parts: Vec<_> = (0..2)
                    .map(|index| self.context.emit(Op::Extract(before, index), element, span))
                    .collect();
                for (index, &component) in swizzle.iter().enumerate() {
                    let part = match swizzle.len() {
                        1 => value,
                        _ => self
                            .context
                            .emit(Op::Extract(value, index as u32), element, span),
                    };
                    if let Some(slot) = parts.get_mut(usize::from(component)) {
                        *slot = part;
                    }
                }
                self.context.emit(Op::Compose(parts), pair, span)
            }
        };
        let ir_type = self.ir_type(matrix);
        let current = self
            .context
            .emit(Op::Load(lvalue.place.clone()), ir_type, span);
        let op = Op::SimdgroupMatrix(SimdgroupMatrixOp::WithElements, vec![current, elements]);
        let changed = self.context.emit(op, ir_type, span);
        self.context.push(Statement::Store {
            place: lvalue.place.clone(),
            value: changed,
            span,
        });
    }

    /// `++x`, `x++`, `--x`, `x--`.
    pub(super) fn increment(
        &mut self,
        op: BinaryOp,
        is_post: bool,
        target: Operand<'a>,
        span: Span,
    ) -> Operand<'a> {
        let sign = if op == BinaryOp::Add { "++" } else { "--" };
        if let Kind::Struct(_) = self.types.kind(target.ty) {
            let mut arguments = vec![target.clone()];
            if is_post {
                arguments.push(Operand::constant(Ty::INT, Constant::Int(0), span));
            }
            if let Some(result) = self.operator_call(&format!("operator{sign}"), &arguments, span) {
                return result;
            }
        }
        if !self.check_writable(&target, &format!("`{sign}`")) {
            return Operand::poison(span);
        }
        let countable = match self.types.kind(target.ty) {
            Kind::Pointer { .. } => true,
            _ => self
                .types
                .as_vector(target.ty)
                .is_some_and(|(scalar, _)| scalar != crate::ir::Scalar::Bool),
        };
        if !countable {
            let name = self.type_name(target.ty);
            self.fail(Diagnostic::error(
                span,
                format!("`{sign}` does not apply to a `{name}`"),
            ));
            return Operand::poison(span);
        }
        let before = self.rvalue(target.clone());
        let one = match self.types.as_vector(before.ty) {
            Some((scalar, _)) if scalar.is_float() => {
                Operand::constant(Ty::scalar(scalar), Constant::Float(1.0), span)
            }
            _ => Operand::constant(Ty::INT, Constant::Int(1), span),
        };
        let after = self.binary_operands(op, before.clone(), one, span);
        if after.is_poison() {
            return Operand::poison(span);
        }
        let after = self.apply_conversion(after, target.ty);
        self.store(&target, &after, span);
        if is_post {
            Operand { span, ..before }
        } else {
            Operand { span, ..target }
        }
    }
}
