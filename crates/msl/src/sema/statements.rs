//! Statements and local variables.

use std::collections::HashSet;

use super::Checker;
use super::constant::Constant;
use super::context::{Breakable, ResultType};
use super::operand::{Lvalue, Operand, Repr};
use super::scope::Entity;
use super::types::{Kind, Qualified, Ty, space_name};
use crate::diag::{Diagnostic, Span};
use crate::ir::{
    self, AddressSpace, BinaryOp, Block, Local, Op, Place, PlaceBase, Projection, Scalar, Statement,
};
use crate::syntax::ast::{self, Expr, ExprKind, Stmt, StmtKind, Variable};

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

    /// A local variable.
    fn local_variable(&mut self, variable: &'a Variable) {
        let name = &variable.name;
        if variable.is_extern || variable.template.is_some() {
            self.fail(Diagnostic::error(
                variable.span,
                "this cannot be declared in a function",
            ));
            self.poison_variable(name);
            return;
        }
        let uses_auto = Self::mentions_auto(&variable.ty);
        let (declared, auto_value) = match (&variable.initial, uses_auto) {
            (Some(initial), true) => {
                let value = match &initial.kind {
                    ExprKind::Construct { ty, args, .. }
                        if Self::mentions_auto(ty) && args.len() == 1 =>
                    {
                        self.expression(&args[0])
                    }
                    ExprKind::InitList(items) if items.len() == 1 => self.expression(&items[0].1),
                    _ => self.expression(initial),
                };
                if value.is_poison() {
                    self.poison_variable(name);
                    return;
                }
                if let Repr::List(_) = value.repr {
                    self.fail(Diagnostic::error(
                        initial.span,
                        "`auto` takes no type from a list",
                    ));
                    self.poison_variable(name);
                    return;
                }
                if let Repr::Functions(set) = &value.repr {
                    let text = format!("`auto` takes no type from function `{}`", set.name);
                    self.fail(Diagnostic::error(initial.span, text));
                    self.poison_variable(name);
                    return;
                }
                (self.resolve_auto(&variable.ty, &value), Some(value))
            }
            _ => (self.resolve(&variable.ty), None),
        };
        if declared.ty.is_error() {
            // The initialiser may hold mistakes of its own.
            if let (Some(initial), None) = (&variable.initial, auto_value) {
                self.expression(initial);
            }
            self.poison_variable(name);
            return;
        }
        if declared.ty == Ty::VOID {
            self.fail(Diagnostic::error(
                variable.span,
                "a variable cannot be `void`",
            ));
            self.poison_variable(name);
            return;
        }
        match declared.space {
            Some(AddressSpace::Threadgroup) if !declared.is_reference => {
                self.threadgroup_variable(variable, declared);
                return;
            }
            Some(AddressSpace::Constant) if !declared.is_reference => {
                self.local_constant(variable, declared);
                return;
            }
            Some(AddressSpace::Device) if !declared.is_reference => {
                self.fail(
                    Diagnostic::error(
                        variable.span,
                        "a local variable cannot be in `device` memory",
                    )
                    .with_hint(
                        "device memory comes from buffers; declare a pointer or a thread variable",
                    ),
                );
                self.poison_variable(name);
                return;
            }
            _ => {}
        }
        if variable.is_static {
            self.fail(
                Diagnostic::error(variable.span, "a local variable cannot be `static`")
                    .with_hint("use `constexpr`, or a `constant` at program scope"),
            );
            self.poison_variable(name);
            return;
        }
        if declared.is_reference {
            self.bind_variable(variable, declared, auto_value);
            return;
        }
        let value = match (auto_value, &variable.initial) {
            (Some(value), _) => Some(value),
            (None, Some(initial)) if variable.is_constexpr => {
                self.constexpr_variable(variable, declared, initial);
                return;
            }
            (None, Some(initial)) => Some(self.initial_value(initial, declared.ty)),
            (None, None) => None,
        };
        if variable.is_constexpr {
            if let Some(value) = value {
                let mark = (self.context.locals.len(), self.context.values.len());
                let value = self.rvalue(value);
                match self.constant_of(&value, Block::new(), mark, "a constexpr variable") {
                    Some(known) => self.declare_known(variable, declared.ty, known),
                    None => self.poison_variable(name),
                }
            }
            return;
        }
        self.bind_variable(variable, declared, value);
    }

    fn poison_variable(&mut self, name: &ast::Ident) {
        self.context.declare(name.name.clone(), Entity::Poison);
    }

    fn declare_local(&mut self, name: &ast::Ident, entity: Entity<'a>) {
        if let Some(Entity::Local(_) | Entity::Known(..) | Entity::Type(_)) =
            self.context.declare(name.name.clone(), entity)
        {
            self.fail(
                Diagnostic::error(
                    name.span,
                    format!("`{}` is already declared in this block", name.name),
                )
                .with_label("declared again"),
            );
        }
    }

    /// Gives a variable its name, place and first value.
    fn bind_variable(
        &mut self,
        variable: &'a Variable,
        declared: Qualified,
        value: Option<Operand<'a>>,
    ) {
        let name = &variable.name;
        if declared.is_reference {
            match self.reference_target(variable, declared, value) {
                Some(lvalue) => self.declare_local(name, Entity::Local(lvalue)),
                None => self.poison_variable(name),
            }
            return;
        }
        let span = name.span;
        let value = match value {
            Some(value) => {
                let value = match self.types.kind(declared.ty) {
                    // Its own length became the variable's.
                    Kind::UnsizedArray(_) => value,
                    _ => self.convert(value, declared.ty, "a variable"),
                };
                if value.is_poison() {
                    self.poison_variable(name);
                    return;
                }
                Some(value)
            }
            None => self.implicit_value(variable, declared),
        };
        let ty = match (&value, self.types.kind(declared.ty)) {
            (Some(value), Kind::UnsizedArray(_)) => value.ty,
            (None, Kind::UnsizedArray(_)) => {
                self.fail(Diagnostic::error(
                    variable.span,
                    "an array needs a length or an initialiser",
                ));
                self.poison_variable(name);
                return;
            }
            _ => declared.ty,
        };
        if let Kind::Atomic(_) = self.types.kind(ty) {
            self.fail(
                Diagnostic::error(
                    variable.span,
                    "an atomic must be in device or threadgroup memory",
                )
                .with_hint("declare it `threadgroup`"),
            );
            self.poison_variable(name);
            return;
        }
        let known = value
            .as_ref()
            .filter(|_| declared.is_const)
            .and_then(|v| v.as_constant().cloned());
        // An object just made for this variable becomes it.
        let made = value
            .as_ref()
            .and_then(Operand::as_place)
            .and_then(|lvalue| match lvalue.place.base {
                PlaceBase::Local(local)
                    if lvalue.is_temporary && lvalue.place.path.is_empty() && lvalue.ty == ty =>
                {
                    Some(local)
                }
                _ => None,
            });
        let ir_type = self.ir_type(ty);
        let local = match made {
            Some(local) => {
                self.context.locals[local] = Local {
                    name: name.name.clone(),
                    ty: ir_type,
                    span,
                };
                local
            }
            None => self.context.local(name.name.clone(), ir_type, span),
        };
        let place = Place {
            base: PlaceBase::Local(local),
            path: Vec::new(),
            ty: ir_type,
        };
        if let (Some(value), None) = (&value, made) {
            let value = self.rvalue(value.clone());
            let value = self.value(&value);
            self.context.push(Statement::Store {
                place: place.clone(),
                value,
                span: variable.span,
            });
        }
        let lvalue = Lvalue {
            place,
            ty,
            space: AddressSpace::Thread,
            is_const: declared.is_const,
            swizzle: None,
            elements: None,
            known,
            is_temporary: false,
        };
        self.declare_local(name, Entity::Local(lvalue));
    }

    /// What a variable without an initialiser holds, if its type says so.
    fn implicit_value(
        &mut self,
        variable: &'a Variable,
        declared: Qualified,
    ) -> Option<Operand<'a>> {
        if let Kind::Struct(id) = self.types.kind(declared.ty) {
            if !self.structs[id].is_complete {
                let name = self.structs[id].name.clone();
                self.fail(Diagnostic::error(
                    variable.span,
                    format!("struct `{name}` is declared but not defined"),
                ));
                return None;
            }
            let has_defaults = self.structs[id].fields.iter().any(|f| f.default.is_some());
            if self.has_constructors(id) || has_defaults {
                return Some(self.construct_struct(id, Vec::new(), false, variable.name.span));
            }
        }
        if let Kind::Array(element, len) = self.types.kind(declared.ty)
            && let Kind::Struct(id) = self.types.kind(element)
            && (self.has_constructors(id)
                || self.structs[id].fields.iter().any(|f| f.default.is_some()))
            && len <= 4096
        {
            let one = self.construct_struct(id, Vec::new(), false, variable.name.span);
            let one = self.rvalue(one);
            let all = vec![one; len as usize];
            return Some(self.compose(declared.ty, all, variable.name.span));
        }
        if declared.is_const {
            self.fail(Diagnostic::error(
                variable.span,
                format!("`{}` is const, so it needs a value now", variable.name.name),
            ));
        }
        None
    }

    /// What a reference refers to.
    fn reference_target(
        &mut self,
        variable: &'a Variable,
        declared: Qualified,
        value: Option<Operand<'a>>,
    ) -> Option<Lvalue> {
        let value = match (value, &variable.initial) {
            (Some(value), _) => value,
            (None, Some(initial)) => match &initial.kind {
                ExprKind::InitList(items) if items.len() == 1 => self.expression(&items[0].1),
                ExprKind::Construct {
                    args,
                    braced: false,
                    ..
                } if args.len() == 1 => self.expression(&args[0]),
                _ => self.expression(initial),
            },
            (None, None) => {
                self.fail(
                    Diagnostic::error(
                        variable.span,
                        format!("reference `{}` refers to nothing", variable.name.name),
                    )
                    .with_hint("a reference needs an initialiser"),
                );
                return None;
            }
        };
        if value.is_poison() {
            return None;
        }
        let Some(space) = declared.space else {
            let name = self.type_name(declared.ty);
            self.fail(
                Diagnostic::error(
                    variable.ty.span,
                    "a reference must say which address space it refers to",
                )
                .with_label("no address space")
                .with_hint(format!(
                    "write `thread {name} &`, `device {name} &` or another address space"
                )),
            );
            return None;
        };
        let target = Qualified {
            space: Some(space),
            ..declared
        };
        if let Some(lvalue) = value.as_place()
            && lvalue.swizzle.is_none()
            && value.ty == declared.ty
            && lvalue.space == space
            && (declared.is_const || (!lvalue.is_const && !lvalue.is_temporary))
        {
            let mut lvalue = lvalue.clone();
            lvalue.is_const |= declared.is_const;
            lvalue.is_temporary = false;
            return Some(lvalue);
        }
        if self.passing_rank(&value, target).is_some() && declared.is_const {
            let value = self.convert(value, declared.ty, "a reference");
            let value = self.rvalue(value);
            let value = self.in_memory(value);
            let mut lvalue = value.as_place()?.clone();
            lvalue.is_const = true;
            lvalue.is_temporary = false;
            return Some(lvalue);
        }
        let (wanted, given) = (self.type_name(declared.ty), self.operand_type_name(&value));
        let error = Diagnostic::error(
            value.span,
            format!("a `{} {wanted} &` cannot refer to this", space_name(space)),
        );
        let error = match value.as_place() {
            None => error.with_label(format!(
                "this `{given}` is a value, not something in memory"
            )),
            Some(lvalue) if !lvalue.is_plain() => {
                error.with_label("several components of a vector")
            }
            Some(lvalue) if lvalue.space != space => {
                error.with_label(format!("this is in `{}` memory", space_name(lvalue.space)))
            }
            Some(lvalue) if lvalue.is_const && !declared.is_const => error
                .with_label("this is const")
                .with_hint("make the reference const"),
            Some(_) => error.with_label(format!("this is `{given}`")),
        };
        self.fail(error);
        None
    }

    fn threadgroup_variable(&mut self, variable: &'a Variable, declared: Qualified) {
        let name = &variable.name;
        if !self.context.is_kernel {
            self.fail(
                Diagnostic::error(
                    variable.span,
                    "a threadgroup variable can only be declared in a kernel",
                )
                .with_hint("declare it in the kernel and pass a `threadgroup` pointer"),
            );
            self.poison_variable(name);
            return;
        }
        if let Some(initial) = &variable.initial {
            self.fail(
                Diagnostic::error(
                    initial.span,
                    "a threadgroup variable cannot have an initialiser",
                )
                .with_label("all threads would write it")
                .with_hint("let one thread write it, then call `threadgroup_barrier`"),
            );
        }
        if let Kind::UnsizedArray(_) = self.types.kind(declared.ty) {
            self.fail(Diagnostic::error(
                variable.span,
                "a threadgroup array needs a length",
            ));
            self.poison_variable(name);
            return;
        }
        let ir_type = self.ir_type(declared.ty);
        let local = self.context.threadgroup.push(Local {
            name: name.name.clone(),
            ty: ir_type,
            span: name.span,
        });
        let lvalue = Lvalue {
            place: Place {
                base: PlaceBase::Threadgroup(local),
                path: Vec::new(),
                ty: ir_type,
            },
            ty: declared.ty,
            space: AddressSpace::Threadgroup,
            is_const: declared.is_const,
            swizzle: None,
            elements: None,
            known: None,
            is_temporary: false,
        };
        self.declare_local(name, Entity::Local(lvalue));
    }

    /// A `constant` in a function: a program-scope constant that only the block sees.
    fn local_constant(&mut self, variable: &'a Variable, declared: Qualified) {
        let name = &variable.name;
        let Some(initial) = &variable.initial else {
            self.fail(Diagnostic::error(
                variable.span,
                format!("`{}` needs a value", name.name),
            ));
            self.poison_variable(name);
            return;
        };
        match self.evaluated(initial, declared.ty) {
            Some((ty, known)) => {
                let is_small = !matches!(self.types.kind(ty), Kind::Array(..) | Kind::Struct(_));
                if is_small {
                    self.declare_local(name, Entity::Known(ty, known));
                    return;
                }
                let data = self.store_constant(name.name.clone(), ty, &known);
                let lvalue = self.constant_lvalue(data, ty, known);
                self.declare_local(name, Entity::Local(lvalue));
            }
            None => self.poison_variable(name),
        }
    }

    fn constexpr_variable(
        &mut self,
        variable: &'a Variable,
        declared: Qualified,
        initial: &'a Expr,
    ) {
        match self.evaluated(initial, declared.ty) {
            Some((ty, known)) => self.declare_known(variable, ty, known),
            None => self.poison_variable(&variable.name),
        }
    }

    /// An initialiser's value at compile time; reports if it has none.
    fn evaluated(&mut self, initial: &'a Expr, ty: Ty) -> Option<(Ty, Constant)> {
        let mark = (self.context.locals.len(), self.context.values.len());
        let (operand, block) = self.in_block(|checker| {
            let operand = checker.initial_value(initial, ty);
            checker.rvalue(operand)
        });
        let ty = operand.ty;
        let value = self.constant_of(&operand, block, mark, "a constexpr variable")?;
        Some((ty, value))
    }

    /// A constexpr variable: a name for a value, or a const variable if it has parts.
    fn declare_known(&mut self, variable: &'a Variable, ty: Ty, known: Constant) {
        let is_small = !matches!(self.types.kind(ty), Kind::Array(..) | Kind::Struct(_));
        if is_small {
            self.declare_local(&variable.name, Entity::Known(ty, known));
            return;
        }
        let value = Operand::constant(ty, known, variable.span);
        let declared = Qualified {
            is_const: true,
            ..Qualified::plain(ty)
        };
        self.bind_variable(variable, declared, Some(value));
    }
}
