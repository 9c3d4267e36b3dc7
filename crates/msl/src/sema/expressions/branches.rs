//! Conditional and logical operators: only one side is computed.

use super::is_speculative;
use crate::diag::{Diagnostic, Span};
use crate::ir::{self, Block, Op, PlaceBase, Scalar, Statement};
use crate::sema::Checker;
use crate::sema::constant::Constant;
use crate::sema::operand::Operand;
use crate::sema::types::{Kind, Ty};
use crate::syntax::ast::Expr;

impl<'a> Checker<'a> {
    /// `condition ? accept : reject`.
    pub(super) fn conditional(
        &mut self,
        condition: &'a Expr,
        accept: &'a Expr,
        reject: &'a Expr,
        span: Span,
    ) -> Operand<'a> {
        let condition = self.expression(condition);
        if let Kind::Vector(..) = self.types.kind(condition.ty) {
            self.fail(
                Diagnostic::error(condition.span, "the condition of `?:` must be one bool")
                    .with_label("this is a vector")
                    .with_hint("choose by component with `select(reject, accept, condition)`"),
            );
            return Operand::poison(span);
        }
        let condition = self.condition(condition);
        let (mut left, mut left_block) = self.in_block(|checker| checker.expression(accept));
        let (mut right, mut right_block) = self.in_block(|checker| checker.expression(reject));
        if left.is_poison() || right.is_poison() || condition.is_poison() {
            return Operand::poison(span);
        }
        let Some(ty) = self.common_type(&left, &right) else {
            let (l, r) = (
                self.operand_type_name(&left),
                self.operand_type_name(&right),
            );
            self.fail(
                Diagnostic::error(
                    span,
                    format!("`?:` must choose between values of one type, not `{l}` and `{r}`"),
                )
                .with_hint("cast one of them"),
            );
            return Operand::poison(span);
        };
        if ty == Ty::VOID {
            let value = self.value(&condition);
            self.context.push(Statement::If {
                condition: value,
                accept: left_block,
                reject: right_block,
                span,
            });
            return Operand::constant(Ty::VOID, Constant::Int(0), span);
        }
        (left, left_block) = self.in_given_block(left_block, |checker| {
            let left = checker.convert(left, ty, "the result of `?:`");
            checker.rvalue(left)
        });
        (right, right_block) = self.in_given_block(right_block, |checker| {
            let right = checker.convert(right, ty, "the result of `?:`");
            checker.rvalue(right)
        });
        if let Some(truth) = condition.as_constant().and_then(Constant::truth) {
            let (operand, block) = if truth {
                (left, left_block)
            } else {
                (right, right_block)
            };
            self.append(block);
            return Operand { span, ..operand };
        }
        let condition = self.value(&condition);
        let selectable = self.number_shape(ty).is_some();
        if selectable && is_speculative(&left_block) && is_speculative(&right_block) {
            self.append(left_block);
            self.append(right_block);
            let (accept, reject) = (self.value(&left), self.value(&right));
            let ir_type = self.ir_type(ty);
            let op = Op::Select {
                condition,
                accept,
                reject,
            };
            return Operand::value(ty, self.context.emit(op, ir_type, span), span);
        }
        self.branches_to_value(
            ty,
            condition,
            (left, left_block),
            (right, right_block),
            span,
        )
    }

    /// An if whose branches each give a value, through a variable.
    pub(super) fn branches_to_value(
        &mut self,
        ty: Ty,
        condition: ir::Handle<ir::Value>,
        accept: (Operand<'a>, Block),
        reject: (Operand<'a>, Block),
        span: Span,
    ) -> Operand<'a> {
        let ir_type = self.ir_type(ty);
        let local = self.context.local("chosen".into(), ir_type, span);
        let place = ir::Place {
            base: PlaceBase::Local(local),
            path: Vec::new(),
            ty: ir_type,
        };
        let mut branch = |(operand, block): (Operand<'a>, Block)| {
            let ((), block) = self.in_given_block(block, |checker| {
                let value = checker.value(&operand);
                checker.context.push(Statement::Store {
                    place: place.clone(),
                    value,
                    span,
                });
            });
            block
        };
        let (accept, reject) = (branch(accept), branch(reject));
        self.context.push(Statement::If {
            condition,
            accept,
            reject,
            span,
        });
        Operand::value(ty, self.context.emit(Op::Load(place), ir_type, span), span)
    }

    /// `left && right` and `left || right`.
    pub(in crate::sema) fn logical(
        &mut self,
        is_and: bool,
        left: Operand<'a>,
        right: &'a Expr,
        span: Span,
    ) -> Operand<'a> {
        let bool_vector = |checker: &Self, ty| match checker.types.kind(ty) {
            Kind::Vector(Scalar::Bool, len, _) => Some(len),
            _ => None,
        };
        if let Some(len) = bool_vector(self, left.ty) {
            let left = self.rvalue(left);
            let right = self.expression(right);
            if bool_vector(self, right.ty) != Some(len) && !right.is_poison() {
                let name = self.type_name(right.ty);
                self.fail(Diagnostic::error(
                    right.span,
                    format!("the other side is a `bool{len}`, and this is `{name}`"),
                ));
                return Operand::poison(span);
            }
            let right = self.rvalue(right);
            let op = if is_and {
                ir::BinaryOp::And
            } else {
                ir::BinaryOp::Or
            };
            let ty = left.ty;
            return self.emit_binary(op, left, right, ty, span);
        }
        let left = self.condition(left);
        let (right, block) = self.in_block(|checker| {
            let right = checker.expression(right);
            let right = checker.condition(right);
            checker.rvalue(right)
        });
        if left.is_poison() || right.is_poison() {
            return Operand::poison(span);
        }
        if let Some(known) = left.as_constant().and_then(Constant::truth) {
            if known != is_and {
                return Operand::constant(Ty::BOOL, Constant::Bool(known), span);
            }
            self.append(block);
            return Operand { span, ..right };
        }
        if is_speculative(&block) {
            self.append(block);
            if let Some(known) = right.as_constant().and_then(Constant::truth)
                && known == is_and
            {
                return Operand { span, ..left };
            }
            let op = if is_and {
                ir::BinaryOp::And
            } else {
                ir::BinaryOp::Or
            };
            return self.emit_binary(op, left, right, Ty::BOOL, span);
        }
        let condition = self.value(&left);
        let short = Operand::constant(Ty::BOOL, Constant::Bool(!is_and), span);
        let (accept, reject) = if is_and {
            ((right, block), (short, Block::new()))
        } else {
            ((short, Block::new()), (right, block))
        };
        self.branches_to_value(Ty::BOOL, condition, accept, reject, span)
    }

    /// Runs `work` writing at the end of `block`.
    pub(in crate::sema) fn in_given_block<T>(
        &mut self,
        block: Block,
        work: impl FnOnce(&mut Self) -> T,
    ) -> (T, Block) {
        let outer = std::mem::replace(&mut self.context.block, block);
        let result = work(self);
        let block = std::mem::replace(&mut self.context.block, outer);
        (result, block)
    }

    /// Adds a finished block to the current one.
    pub(in crate::sema) fn append(&mut self, block: Block) {
        self.context.block.extend(block);
    }
}
