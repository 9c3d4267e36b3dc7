//! Statements and local variables.

mod variables;

use std::collections::HashSet;

use super::Checker;
use super::constant::Constant;
use super::context::{Breakable, ResultType};
use super::operand::{Operand, Repr};
use super::types::{Kind, Qualified, Ty, space_name};
use crate::diag::{Diagnostic, Span};
use crate::ir::{
    self, AddressSpace, BinaryOp, Block, Op, Place, PlaceBase, Projection, Scalar, Statement,
};
use crate::syntax::ast::{self, Expr, Stmt, StmtKind, Variable};

impl<'a> Checker<'a> {
    /// The statements of a block, in the scope that the caller opened.
    pub(super) fn block(&mut self, block: &'a ast::Block) {
        self.statements(&block.statements);
    }

    fn statements(&mut self, statements: &'a [Stmt]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    /// A statement in a scope and IR block of its own.
    fn nested(&mut self, statement: &'a Stmt) -> Block {
        let ((), block) =
            self.in_block(|checker| checker.in_scope(|checker| checker.statement(statement)));
        block
    }

    /// One statement.
    pub(super) fn statement(&mut self, statement: &'a Stmt) {
        self.deeper(statement.span, |checker| checker.statement_inner(statement));
    }

    fn statement_inner(&mut self, statement: &'a Stmt) {
        let span = statement.span;
        match &statement.kind {
            StmtKind::Empty => {}
            StmtKind::Expr(expr) => self.discarded(expr),
            StmtKind::Variables(variables) => {
                for variable in variables {
                    self.local_variable(variable);
                }
            }
            StmtKind::Item(item) => self.local_or_member_item(item, None, None),
            StmtKind::Block(block) => self.in_scope(|checker| checker.block(block)),
            StmtKind::If {
                is_constexpr,
                condition,
                accept,
                reject,
            } => self.if_statement(*is_constexpr, condition, accept, reject.as_deref()),
            StmtKind::For {
                initial,
                condition,
                step,
                body,
            } => self.in_scope(|checker| {
                if let Some(initial) = initial {
                    checker.statement(initial);
                }
                checker.loop_statement(condition.as_ref(), step.as_ref(), body, true, span);
            }),
            StmtKind::RangeFor {
                variable,
                range,
                body,
            } => self.in_scope(|checker| checker.range_for(variable, range, body, span)),
            StmtKind::While(condition, body) => {
                self.in_scope(|checker| {
                    checker.loop_statement(Some(condition), None, body, true, span)
                });
            }
            StmtKind::DoWhile(body, condition) => {
                self.in_scope(|checker| {
                    checker.loop_statement(Some(condition), None, body, false, span)
                });
            }
            StmtKind::Switch { selector, arms } => self.switch(selector, arms),
            StmtKind::Break => {
                if self.context.breakables.is_empty() {
                    self.fail(
                        Diagnostic::error(span, "there is nothing to break out of")
                            .with_label("not in a loop or switch"),
                    );
                } else {
                    self.context.push(Statement::Break(span));
                }
            }
            StmtKind::Continue => {
                if self.context.in_loop() {
                    self.context.push(Statement::Continue(span));
                } else {
                    self.fail(
                        Diagnostic::error(span, "there is no loop to continue")
                            .with_label("not in a loop"),
                    );
                }
            }
            StmtKind::Return(value) => self.return_statement(value.as_ref(), span),
        }
    }

    fn if_statement(
        &mut self,
        is_constexpr: bool,
        condition: &'a Expr,
        accept: &'a Stmt,
        reject: Option<&'a Stmt>,
    ) {
        if is_constexpr {
            let Some(value) =
                self.constant_value(condition, Ty::BOOL, "the condition of `if constexpr`")
            else {
                return;
            };
            // The branch not taken is not looked into: it may not even make sense here.
            let taken = if value.truth() == Some(true) {
                Some(accept)
            } else {
                reject
            };
            if let Some(taken) = taken {
                self.in_scope(|checker| checker.statement(taken));
            }
            return;
        }
        let operand = self.expression(condition);
        let operand = self.condition(operand);
        let accept = self.nested(accept);
        let reject = reject.map(|reject| self.nested(reject)).unwrap_or_default();
        if let Some(truth) = operand.as_constant().and_then(Constant::truth) {
            self.append(if truth { accept } else { reject });
            return;
        }
        let value = self.value(&operand);
        self.context.push(Statement::If {
            condition: value,
            accept,
            reject,
            span: condition.span,
        });
    }

    fn loop_statement(
        &mut self,
        condition: Option<&'a Expr>,
        step: Option<&'a Expr>,
        body: &'a Stmt,
        test_first: bool,
        span: Span,
    ) {
        let (tested, header) = self.in_block(|checker| {
            let operand = match condition {
                Some(condition) => {
                    let operand = checker.expression(condition);
                    checker.condition(operand)
                }
                None => Operand::constant(Ty::BOOL, Constant::Bool(true), span),
            };
            checker.value(&operand)
        });
        self.context.breakables.push(Breakable::Loop);
        let body = self.nested(body);
        self.context.breakables.pop();
        let ((), step) = self.in_block(|checker| {
            if let Some(step) = step {
                checker.discarded(step);
            }
        });
        self.context.push(Statement::Loop {
            header,
            condition: tested,
            body,
            step,
            test_first,
            span: condition.map_or(span, |c| c.span),
        });
    }

    /// `for (T x : array) body`, by an index that nobody sees.
    fn range_for(&mut self, variable: &'a Variable, range: &'a Expr, body: &'a Stmt, span: Span) {
        let range = self.expression(range);
        if range.is_poison() {
            return;
        }
        let range = self.in_memory(range);
        let (Kind::Array(element, len), Some(lvalue)) =
            (self.types.kind(range.ty), range.as_place().cloned())
        else {
            let name = self.operand_type_name(&range);
            self.fail(Diagnostic::error(
                range.span,
                format!("a loop over a range needs an array, and this is `{name}`"),
            ));
            return;
        };
        let uint = self.ir_type(Ty::UINT);
        let index = self.context.local("index".into(), uint, span);
        let place = Place {
            base: PlaceBase::Local(index),
            path: Vec::new(),
            ty: uint,
        };
        let literal = |checker: &mut Self, value: i64| {
            checker
                .context
                .emit(Op::Literal(ir::Literal::Int(value)), uint, span)
        };
        let zero = literal(self, 0);
        self.context.push(Statement::Store {
            place: place.clone(),
            value: zero,
            span,
        });
        let (tested, header) = self.in_block(|checker| {
            let current = checker.context.emit(Op::Load(place.clone()), uint, span);
            let end = literal(checker, i64::from(len));
            let ty = checker.ir_type(Ty::BOOL);
            checker
                .context
                .emit(Op::Binary(BinaryOp::Less, current, end), ty, span)
        });
        self.context.breakables.push(Breakable::Loop);
        let ((), body) = self.in_block(|checker| {
            checker.in_scope(|checker| {
                let current = checker.context.emit(Op::Load(place.clone()), uint, span);
                let mut lvalue = lvalue;
                lvalue.known = None;
                lvalue.place.path.push(Projection::Index(current));
                lvalue.place.ty = checker.ir_type(element);
                lvalue.ty = element;
                let value = Operand::place(element, lvalue, variable.span);
                let declared = checker.resolve_auto(&variable.ty, &value);
                checker.bind_variable(variable, declared, Some(value));
                checker.statement(body);
            });
        });
        self.context.breakables.pop();
        let ((), step) = self.in_block(|checker| {
            let current = checker.context.emit(Op::Load(place.clone()), uint, span);
            let one = literal(checker, 1);
            let next = checker
                .context
                .emit(Op::Binary(BinaryOp::Add, current, one), uint, span);
            checker.context.push(Statement::Store {
                place: place.clone(),
                value: next,
                span,
            });
        });
        self.context.push(Statement::Loop {
            header,
            condition: tested,
            body,
            step,
            test_first: true,
            span,
        });
    }

    fn switch(&mut self, selector: &'a Expr, arms: &'a [ast::SwitchArm]) {
        let operand = self.expression(selector);
        let operand = self.promoted(operand);
        let scalar = match self.types.kind(operand.ty) {
            Kind::Scalar(scalar) if scalar.is_integer() => scalar,
            Kind::Enum(id) => self.enums[id].underlying,
            Kind::Error => Scalar::I64,
            _ => {
                let name = self.operand_type_name(&operand);
                self.fail(
                    Diagnostic::error(selector.span, "a switch chooses by an integer")
                        .with_label(format!("this is `{name}`")),
                );
                Scalar::I64
            }
        };
        let value = self.value(&operand);
        let mut seen: HashSet<Option<i64>> = HashSet::new();
        self.context.breakables.push(Breakable::Switch);
        let lowered = self.in_scope(|checker| {
            let mut lowered = Vec::new();
            for arm in arms {
                let mut values = Vec::new();
                let mut is_default = false;
                for label in &arm.labels {
                    let value = match label {
                        None => {
                            is_default = true;
                            None
                        }
                        Some(expr) => match checker.constant_int(expr, "a case") {
                            Some(value) => Some(super::constant::wrap(scalar, value)),
                            None => continue,
                        },
                    };
                    if !seen.insert(value) {
                        let span = label.as_ref().map_or(arm.span, |l| l.span);
                        let what = value.map_or("default".to_string(), |v| format!("case {v}"));
                        checker.fail(Diagnostic::error(
                            span,
                            format!("this switch already has `{what}`"),
                        ));
                        continue;
                    }
                    values.extend(value);
                }
                let ((), body) = checker.in_block(|checker| checker.statements(&arm.body));
                lowered.push(ir::SwitchArm {
                    values,
                    is_default,
                    body,
                });
            }
            lowered
        });
        self.context.breakables.pop();
        self.context.push(Statement::Switch {
            selector: value,
            arms: lowered,
            span: selector.span,
        });
    }

    fn return_statement(&mut self, value: Option<&'a Expr>, span: Span) {
        let result = match self.context.result {
            ResultType::Known(result) => result,
            ResultType::Deduced(known) => {
                let operand = match value {
                    Some(value) => self.expression(value),
                    None => Operand::constant(Ty::VOID, Constant::Int(0), span),
                };
                self.deduced_return(operand, known, value.is_some(), span);
                return;
            }
        };
        match value {
            None => {
                if result.ty != Ty::VOID && !result.ty.is_error() {
                    let name = self.type_name(result.ty);
                    self.fail(Diagnostic::error(
                        span,
                        format!("this function must return a `{name}`"),
                    ));
                }
                self.context.push(Statement::Return(None, span));
            }
            Some(value) => {
                let operand = self.expression(value);
                self.finish_return(operand, result, span);
            }
        }
    }

    fn deduced_return(
        &mut self,
        operand: Operand<'a>,
        known: Option<Qualified>,
        has_value: bool,
        span: Span,
    ) {
        if operand.is_poison() {
            self.context.result = ResultType::Deduced(Some(Qualified::plain(Ty::ERROR)));
            return;
        }
        let operand = self.decayed(operand);
        let this = Qualified::plain(operand.ty);
        if let Some(known) = known
            && known != this
            && !known.ty.is_error()
        {
            let (l, r) = (self.type_name(known.ty), self.type_name(this.ty));
            self.fail(
                Diagnostic::error(
                    span,
                    format!("`auto` was `{l}` at an earlier return, and is `{r}` here"),
                )
                .with_hint("write the result type"),
            );
            return;
        }
        self.context.result = ResultType::Deduced(Some(this));
        let value = (has_value && operand.ty != Ty::VOID).then(|| self.value(&operand));
        self.context.push(Statement::Return(value, span));
    }

    fn finish_return(&mut self, operand: Operand<'a>, result: Qualified, span: Span) {
        if operand.is_poison() || result.ty.is_error() {
            return;
        }
        if result.ty == Ty::VOID {
            if operand.ty != Ty::VOID || matches!(operand.repr, Repr::List(_)) {
                self.fail(
                    Diagnostic::error(operand.span, "this function returns nothing (`void`)")
                        .with_label("so it cannot return a value"),
                );
            }
            self.context.push(Statement::Return(None, span));
            return;
        }
        if result.is_reference {
            let space = result.space.unwrap_or(AddressSpace::Thread);
            let fits = operand.as_place().is_some_and(|lvalue| {
                lvalue.space == space
                    && !lvalue.is_temporary
                    && (result.is_const || !lvalue.is_const)
            }) && operand.ty == result.ty;
            if !fits {
                let (name, given) = (self.type_name(result.ty), self.operand_type_name(&operand));
                let space = space_name(space);
                self.fail(
                    Diagnostic::error(
                        operand.span,
                        format!("the result is a `{space} {name} &`, which cannot refer to this"),
                    )
                    .with_label(format!("this is `{given}`")),
                );
                return;
            }
            let pointer = self.address_of(operand, span);
            let value = self.value(&pointer);
            self.context.push(Statement::Return(Some(value), span));
            return;
        }
        let operand = self.convert(operand, result.ty, "the result");
        let operand = self.rvalue(operand);
        if operand.is_poison() {
            return;
        }
        let value = self.value(&operand);
        self.context.push(Statement::Return(Some(value), span));
    }
}
