//! Statements.

use super::Checker;
use super::context::{Breakable, ResultType};
use super::operand::{Lvalue, Operand};
use super::scope::Entity;
use super::types::{Kind, Qualified, Ty};
use crate::diag::{Diagnostic, Span};
use crate::ir::{self, AddressSpace, Literal, Op, Place, PlaceBase, Statement};
use crate::syntax::ast::{self, Expr, Stmt, StmtKind, Variable};

impl<'a> Checker<'a> {
    /// The statements of a block, in the scope at hand.
    pub(super) fn block(&mut self, block: &'a ast::Block) {
        for statement in &block.statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'a Stmt) {
        self.deeper(statement.span, |checker| checker.statement_inner(statement));
    }

    fn statement_inner(&mut self, statement: &'a Stmt) {
        let span = statement.span;
        match &statement.kind {
            StmtKind::Empty => {}
            StmtKind::Expr(expr) => self.discarded(expr),
            StmtKind::Variables(variables) => variables.iter().for_each(|v| self.variable(v)),
            StmtKind::Item(item) => self.local_or_member_item(item, None, None),
            StmtKind::Block(block) => self.in_scope(|checker| checker.block(block)),
            StmtKind::If {
                is_constexpr,
                condition,
                accept,
                reject,
            } => {
                self.if_statement(*is_constexpr, condition, accept, reject.as_deref());
            }
            StmtKind::For {
                initial,
                condition,
                step,
                body,
            } => self.in_scope(|checker| {
                if let Some(initial) = initial {
                    checker.statement(initial);
                }
                checker.loop_statement(condition.as_ref(), body, step.as_ref(), true, span);
            }),
            StmtKind::While(condition, body) => {
                self.loop_statement(Some(condition), body, None, true, span)
            }
            StmtKind::DoWhile(body, condition) => {
                self.loop_statement(Some(condition), body, None, false, span)
            }
            StmtKind::Switch { selector, arms } => self.switch(selector, arms),
            StmtKind::Break if self.context.breakables.is_empty() => {
                self.fail(Diagnostic::error(
                    span,
                    "`break` outside of a loop or switch",
                ));
            }
            StmtKind::Break => self.context.push(Statement::Break(span)),
            StmtKind::Continue if !self.context.in_loop() => {
                self.fail(Diagnostic::error(span, "`continue` outside of a loop"));
            }
            StmtKind::Continue => self.context.push(Statement::Continue(span)),
            StmtKind::Return(value) => self.return_statement(value.as_ref(), span),
            _ => self.fail(Diagnostic::error(
                span,
                "this statement is not supported yet",
            )),
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
        let value = self.value(&operand);
        let ((), accept) =
            self.in_block(|checker| checker.in_scope(|checker| checker.statement(accept)));
        let ((), reject) = self.in_block(|checker| {
            if let Some(reject) = reject {
                checker.in_scope(|checker| checker.statement(reject));
            }
        });
        if !operand.is_poison() {
            self.context.push(Statement::If {
                condition: value,
                accept,
                reject,
                span: condition.span,
            });
        }
    }

    fn loop_statement(
        &mut self,
        condition: Option<&'a Expr>,
        body: &'a Stmt,
        step: Option<&'a Expr>,
        test_first: bool,
        span: Span,
    ) {
        let (condition, header) = self.in_block(|checker| match condition {
            Some(condition) => {
                let operand = checker.expression(condition);
                let operand = checker.condition(operand);
                checker.value(&operand)
            }
            None => {
                let ty = checker.ir_type(Ty::BOOL);
                checker
                    .context
                    .emit(Op::Literal(Literal::Bool(true)), ty, span)
            }
        });
        self.context.breakables.push(Breakable::Loop);
        let ((), body) =
            self.in_block(|checker| checker.in_scope(|checker| checker.statement(body)));
        self.context.breakables.pop();
        let ((), step) = self.in_block(|checker| {
            if let Some(step) = step {
                checker.discarded(step);
            }
        });
        self.context.push(Statement::Loop {
            header,
            condition,
            body,
            step,
            test_first,
            span,
        });
    }

    fn switch(&mut self, selector: &'a Expr, arms: &'a [ast::SwitchArm]) {
        let operand = self.expression(selector);
        let operand = self.promoted(operand);
        let is_integer = match self.types.kind(operand.ty) {
            Kind::Scalar(scalar) => !scalar.is_float(),
            Kind::Enum(_) => true,
            _ => false,
        };
        if !is_integer && !operand.is_poison() {
            let name = self.type_name(operand.ty);
            self.fail(
                Diagnostic::error(selector.span, format!("a `{name}` cannot be switched on"))
                    .with_label("not an integer"),
            );
        }
        let value = self.value(&operand);
        let mut seen = Vec::new();
        let mut default_seen = false;
        let mut made = Vec::new();
        self.context.breakables.push(Breakable::Switch);
        self.in_scope(|checker| {
            for arm in arms {
                let mut values = Vec::new();
                let mut is_default = false;
                for label in &arm.labels {
                    let Some(label) = label else {
                        if std::mem::replace(&mut default_seen, true) {
                            checker.fail(Diagnostic::error(arm.span, "a second `default`"));
                        }
                        is_default = true;
                        continue;
                    };
                    if let Some(value) = checker.constant_int(label, "a case label") {
                        if seen.contains(&value) {
                            checker.fail(Diagnostic::error(
                                label.span,
                                format!("a second `case {value}`"),
                            ));
                        }
                        seen.push(value);
                        values.push(value);
                    }
                }
                let ((), body) =
                    checker.in_block(|checker| arm.body.iter().for_each(|s| checker.statement(s)));
                made.push(ir::SwitchArm {
                    values,
                    is_default,
                    body,
                });
            }
        });
        self.context.breakables.pop();
        if is_integer {
            self.context.push(Statement::Switch {
                selector: value,
                arms: made,
                span: selector.span,
            });
        }
    }

    fn return_statement(&mut self, value: Option<&'a Expr>, span: Span) {
        let operand = value.map(|value| {
            let declared = match self.context.result {
                ResultType::Known(result) => Some(result),
                ResultType::Deduced(result) => result,
            };
            match (&value.kind, declared) {
                (ast::ExprKind::InitList(items), Some(result)) => {
                    self.initialise_from_list(items, result.ty, value.span)
                }
                _ => self.expression(value),
            }
        });
        let result = match (self.context.result, &operand) {
            (ResultType::Known(result) | ResultType::Deduced(Some(result)), _) => result,
            (ResultType::Deduced(None), Some(operand)) => {
                let ty = self.rvalue(operand.clone()).ty;
                let result = Qualified::plain(ty);
                self.context.result = ResultType::Deduced(Some(result));
                result
            }
            (ResultType::Deduced(None), None) => Qualified::plain(Ty::VOID),
        };
        let Some(operand) = operand else {
            if result.ty != Ty::VOID && !result.ty.is_error() {
                let name = self.type_name(result.ty);
                self.fail(
                    Diagnostic::error(span, format!("this function returns `{name}`"))
                        .with_hint("return a value"),
                );
            }
            self.context.push(Statement::Return(None, span));
            return;
        };
        if operand.is_poison() || result.ty.is_error() {
            return;
        }
        if result.ty == Ty::VOID {
            if operand.ty != Ty::VOID {
                self.fail(
                    Diagnostic::error(operand.span, "this function returns nothing")
                        .with_label("so it cannot return this"),
                );
            }
            self.context.push(Statement::Return(None, span));
            return;
        }
        if result.is_reference {
            let pointer = self.address_of(operand, span);
            if !pointer.is_poison() {
                let value = self.value(&pointer);
                self.context.push(Statement::Return(Some(value), span));
            }
            return;
        }
        let operand = self.convert(operand, result.ty, "the result");
        let operand = self.rvalue(operand);
        if !operand.is_poison() {
            let value = self.value(&operand);
            self.context.push(Statement::Return(Some(value), span));
        }
    }

    /// A local variable.
    fn variable(&mut self, variable: &'a Variable) {
        let name = &variable.name.name;
        let entity = self.variable_entity(variable);
        if self.context.declare(name.clone(), entity).is_some() {
            let message = format!("`{name}` is already declared in this block");
            self.fail(
                Diagnostic::error(variable.name.span, message).with_label("declared again here"),
            );
        }
    }

    fn variable_entity(&mut self, variable: &'a Variable) -> Entity<'a> {
        let span = variable.name.span;
        let (declared, deduced) = if Self::mentions_auto(&variable.ty) {
            let Some(initial) = &variable.initial else {
                self.fail(Diagnostic::error(
                    span,
                    "`auto` needs an initialiser to take its type from",
                ));
                return Entity::Poison;
            };
            let operand = self.expression(initial);
            if operand.is_poison() {
                return Entity::Poison;
            }
            (self.resolve_auto(&variable.ty, &operand), Some(operand))
        } else {
            (self.resolve(&variable.ty), None)
        };
        if declared.ty.is_error() {
            if let (Some(initial), None) = (&variable.initial, &deduced) {
                // Still look for mistakes in it.
                if !matches!(
                    initial.kind,
                    ast::ExprKind::InitList(_) | ast::ExprKind::Construct { .. }
                ) {
                    self.expression(initial);
                }
            }
            return Entity::Poison;
        }
        if declared.ty == Ty::VOID {
            self.fail(Diagnostic::error(span, "a variable cannot be `void`"));
            return Entity::Poison;
        }
        if declared.is_reference {
            return self.reference_variable(variable, declared, deduced);
        }
        match declared.space {
            Some(AddressSpace::Threadgroup) => {
                return self.threadgroup_variable(variable, declared);
            }
            Some(AddressSpace::Device) => {
                self.fail(
                    Diagnostic::error(span, "a local variable cannot be in device memory")
                        .with_hint("`device` is for what pointers and references point at"),
                );
                return Entity::Poison;
            }
            Some(AddressSpace::Constant) if !variable.is_constexpr => {
                self.fail(
                    Diagnostic::error(span, "a local variable cannot be in constant memory")
                        .with_hint("declare it `const`, or `constant` at program scope"),
                );
                return Entity::Poison;
            }
            _ => {}
        }
        if variable.is_static && !variable.is_constexpr {
            self.fail(Diagnostic::error(
                span,
                "Metal has no static local variables",
            ));
            return Entity::Poison;
        }
        if let Kind::Atomic(_) = self.types.kind(declared.ty) {
            self.fail(Diagnostic::error(
                span,
                "an atomic must be in device or threadgroup memory",
            ));
            return Entity::Poison;
        }
        self.thread_variable(variable, declared, deduced)
    }

    fn thread_variable(
        &mut self,
        variable: &'a Variable,
        declared: Qualified,
        deduced: Option<Operand<'a>>,
    ) -> Entity<'a> {
        let span = variable.name.span;
        let initial = match (deduced, &variable.initial) {
            (Some(operand), _) => Some(self.rvalue(operand)),
            (None, Some(initial)) => {
                let value = self.initial_value(initial, declared.ty);
                Some(self.rvalue(value))
            }
            (None, None) => match self.types.kind(declared.ty) {
                Kind::Struct(id) if self.has_constructors(id) => {
                    Some(self.default_value(declared.ty, span))
                }
                _ => None,
            },
        };
        let mut ty = self.types.value_type(declared.ty);
        if let Some(initial) = &initial {
            if initial.is_poison() {
                return Entity::Poison;
            }
            if let Kind::UnsizedArray(_) = self.types.kind(ty) {
                ty = initial.ty;
            }
        }
        let is_const = declared.is_const || variable.is_constexpr;
        let known = initial
            .as_ref()
            .filter(|_| is_const)
            .and_then(|i| i.as_constant().cloned());
        if variable.is_constexpr && known.is_none() && !self.mentions_function_constant {
            let place = variable.initial.as_ref().map_or(span, |i| i.span);
            self.fail(Diagnostic::error(
                place,
                "the value of a `constexpr` must be known at compile time",
            ));
            return Entity::Poison;
        }
        if let (Some(value), false) = (
            &known,
            matches!(self.types.kind(ty), Kind::Array(..) | Kind::Struct(_)),
        ) && variable.is_constexpr
        {
            return Entity::Known(ty, value.clone());
        }
        let ir_type = self.ir_type(ty);
        let local = self
            .context
            .local(variable.name.name.clone(), ir_type, span);
        let place = Place {
            base: PlaceBase::Local(local),
            path: Vec::new(),
            ty: ir_type,
        };
        if let Some(initial) = initial {
            let value = self.value(&initial);
            self.context.push(Statement::Store {
                place: place.clone(),
                value,
                span: variable.span,
            });
        }
        Entity::Local(Lvalue {
            place,
            ty,
            space: AddressSpace::Thread,
            is_const,
            swizzle: None,
            known,
            is_temporary: false,
        })
    }

    fn reference_variable(
        &mut self,
        variable: &'a Variable,
        declared: Qualified,
        deduced: Option<Operand<'a>>,
    ) -> Entity<'a> {
        let span = variable.name.span;
        let operand = match (deduced, &variable.initial) {
            (Some(operand), _) => operand,
            (None, Some(initial)) => self.expression(initial),
            (None, None) => {
                self.fail(Diagnostic::error(
                    span,
                    "a reference needs something to refer to",
                ));
                return Entity::Poison;
            }
        };
        if operand.is_poison() {
            return Entity::Poison;
        }
        let operand = if operand.as_place().is_none() && declared.is_const {
            self.in_memory(operand)
        } else {
            operand
        };
        let Some(lvalue) = operand.as_place().filter(|l| l.swizzle.is_none()).cloned() else {
            self.fail(
                Diagnostic::error(operand.span, "a reference needs something in memory")
                    .with_label("this is a value"),
            );
            return Entity::Poison;
        };
        let space = declared.space.unwrap_or(AddressSpace::Thread);
        if operand.ty != declared.ty
            || lvalue.space != space
            || (lvalue.is_const && !declared.is_const)
        {
            let (from, to) = (self.type_name(operand.ty), self.type_name(declared.ty));
            let (there, here) = (
                super::types::space_name(lvalue.space),
                super::types::space_name(space),
            );
            let constness = if lvalue.is_const { "const " } else { "" };
            self.fail(Diagnostic::error(
                operand.span,
                format!("a `{here} {to} &` cannot refer to a `{constness}{there} {from}`"),
            ));
            return Entity::Poison;
        }
        // What the way to the place is computed from must not change afterwards.
        let is_const = declared.is_const || lvalue.is_const;
        Entity::Local(Lvalue {
            is_const,
            is_temporary: false,
            ..lvalue
        })
    }

    fn threadgroup_variable(&mut self, variable: &'a Variable, declared: Qualified) -> Entity<'a> {
        let span = variable.name.span;
        if !self.context.is_kernel {
            self.fail(
                Diagnostic::error(span, "a threadgroup variable must be declared in a kernel")
                    .with_hint("declare it in the kernel and pass a pointer"),
            );
            return Entity::Poison;
        }
        if let Some(initial) = &variable.initial {
            self.fail(
                Diagnostic::error(
                    initial.span,
                    "a threadgroup variable cannot have an initialiser",
                )
                .with_hint("assign it, and put a `threadgroup_barrier` behind"),
            );
            return Entity::Poison;
        }
        if let Kind::UnsizedArray(_) = self.types.kind(declared.ty) {
            self.fail(Diagnostic::error(
                span,
                "a threadgroup array needs a length",
            ));
            return Entity::Poison;
        }
        let ir_type = self.ir_type(declared.ty);
        let name = variable.name.name.clone();
        let handle = self.context.threadgroup.push(ir::Local {
            name,
            ty: ir_type,
            span,
        });
        let place = Place {
            base: PlaceBase::Threadgroup(handle),
            path: Vec::new(),
            ty: ir_type,
        };
        Entity::Local(Lvalue {
            place,
            ty: declared.ty,
            space: AddressSpace::Threadgroup,
            is_const: declared.is_const,
            swizzle: None,
            known: None,
            is_temporary: false,
        })
    }
}
