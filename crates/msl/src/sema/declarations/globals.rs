//! Program-scope variables and static members: their types, their initialisers, and what they come
//! to in an expression. Local variables are in `statements`.

use std::rc::Rc;

use crate::diag::{Diagnostic, Span};
use crate::ir::{self, AddressSpace, Handle, Op};
use crate::sema::Checker;
use crate::sema::constant::Constant;
use crate::sema::operand::Operand;
use crate::sema::scope::{Entity, Environment, GlobalId, NamespaceId};
use crate::sema::types::{Kind, Qualified, StructId, Ty};
use crate::syntax::ast::{self, Expr, ExprKind, Name};

/// A program-scope variable, or a static member.
pub(in crate::sema) struct Global<'a> {
    pub name: Name,
    pub ty: Ty,
    pub namespace: NamespaceId,
    pub environment: Option<Rc<Environment<'a>>>,
    pub owner: Option<StructId>,
    pub horizon: usize,
    /// The alignment that the program asks for, or 0.
    pub align: u32,
    pub state: GlobalState<'a>,
    /// Where it lives, once something needs its address.
    pub data: Option<Handle<ir::ConstantData>>,
}

/// What is known of a program-scope variable's value.
#[derive(Clone)]
pub(in crate::sema) enum GlobalState<'a> {
    Known(Constant),
    FunctionConstant(Handle<ir::FunctionConstant>),
    /// Computed from function constants, wherever it is used.
    Derived(&'a Expr),
    Failed,
}

impl<'a> Checker<'a> {
    /// A variable at program scope.
    pub(super) fn declare_global(
        &mut self,
        variable: &'a ast::Variable,
        owner: Option<StructId>,
        environment: Option<Rc<Environment<'a>>>,
    ) {
        if variable.specialization.is_some() || variable.template.is_some() {
            self.declare_variable_template(variable, owner, environment);
            return;
        }
        let entity = match self.make_global(variable, owner, environment, self.namespace) {
            Some(id) => Entity::Global(id),
            None => Entity::Poison,
        };
        match owner {
            Some(owner) => self.declare_member(owner, &variable.name, entity),
            None => self.declare_in_namespace(self.namespace, &variable.name, entity),
        }
    }

    /// A `static` member.
    pub(in crate::sema) fn declare_static_member(
        &mut self,
        id: StructId,
        variable: &'a ast::Variable,
        environment: Option<Rc<Environment<'a>>>,
    ) {
        self.declare_global(variable, Some(id), environment);
    }

    pub(in crate::sema) fn make_global(
        &mut self,
        variable: &'a ast::Variable,
        owner: Option<StructId>,
        environment: Option<Rc<Environment<'a>>>,
        namespace: NamespaceId,
    ) -> Option<GlobalId> {
        let index = variable
            .attributes
            .iter()
            .find(|a| &*a.name.name == "function_constant");
        let declared = match (&variable.initial, Self::mentions_auto(&variable.ty)) {
            (Some(initial), true) => {
                let (operand, _) = self.in_block(|checker| checker.expression(initial));
                if operand.is_poison() {
                    return None;
                }
                self.resolve_auto(&variable.ty, &operand)
            }
            _ => self.resolve(&variable.ty),
        };
        if declared.ty.is_error() {
            return None;
        }
        if !self.check_global_space(variable, declared) {
            return None;
        }
        let align = self.alignment_of(&variable.attributes, declared.ty);
        self.sequence += 1;
        let horizon = self.sequence;
        let id = self.globals.len();
        self.globals.push(Global {
            name: variable.name.name.clone(),
            ty: declared.ty,
            namespace,
            environment,
            owner,
            horizon,
            state: GlobalState::Failed,
            align,
            data: None,
        });
        if let Some(attribute) = index {
            self.function_constant(id, variable, attribute);
            return Some(id);
        }
        let Some(initial) = &variable.initial else {
            self.fail(
                Diagnostic::error(
                    variable.span,
                    format!("`{}` needs a value", variable.name.name),
                )
                .with_label("a constant that is never given one"),
            );
            return None;
        };
        self.initialise_global(id, initial);
        Some(id)
    }

    fn check_global_space(&mut self, variable: &'a ast::Variable, declared: Qualified) -> bool {
        let name = &variable.name.name;
        let hint = if variable.is_constexpr || declared.is_const {
            format!("declare it `constant`: `constant constexpr .. {name}`")
        } else {
            format!("declare it `constant`, or make `{name}` a local variable of the kernel")
        };
        let problem = match declared.space {
            Some(AddressSpace::Constant) => None,
            Some(AddressSpace::Threadgroup) => Some((
                "a threadgroup variable belongs in a kernel".to_string(),
                "declare it inside the kernel".to_string(),
            )),
            _ => Some((
                format!("program-scope variable `{name}` must be in the constant address space"),
                hint,
            )),
        };
        if let Some((message, hint)) = problem {
            self.fail(
                Diagnostic::error(variable.name.span, message)
                    .with_label("Metal has no writable program-scope variables")
                    .with_hint(hint),
            );
            return false;
        }
        true
    }

    fn initialise_global(&mut self, id: GlobalId, initial: &'a Expr) {
        let global = &self.globals[id];
        let (namespace, environment, owner, horizon, ty) = (
            global.namespace,
            global.environment.clone(),
            global.owner,
            global.horizon,
            global.ty,
        );
        let mentions = self.mentions_function_constant;
        self.mentions_function_constant = false;
        let outcome = self.in_place_of(namespace, environment, owner, horizon, |checker| {
            checker.evaluate_initial(initial, ty)
        });
        let derived = std::mem::replace(&mut self.mentions_function_constant, mentions);
        self.globals[id].state = match outcome {
            Some((ty, value)) => {
                self.globals[id].ty = ty;
                GlobalState::Known(value)
            }
            None if derived => GlobalState::Derived(initial),
            None => GlobalState::Failed,
        };
    }

    /// An initialiser evaluated; the type may get its length from it.
    fn evaluate_initial(&mut self, initial: &'a Expr, ty: Ty) -> Option<(Ty, Constant)> {
        let mark = (self.context.locals.len(), self.context.values.len());
        let (operand, block) = self.in_block(|checker| {
            let operand = checker.initial_value(initial, ty);
            checker.rvalue(operand)
        });
        if operand.is_poison() {
            return None;
        }
        let ty = operand.ty;
        if let Some(value) = operand.as_constant() {
            return Some((ty, value.clone()));
        }
        if self.mentions_function_constant {
            return None;
        }
        let value = self.run_constant(
            &operand,
            block,
            mark,
            "the value of a program-scope constant",
        )?;
        Some((ty, value))
    }

    /// The value that a variable of this type gets from its initialiser.
    pub(in crate::sema) fn initial_value(&mut self, initial: &'a Expr, ty: Ty) -> Operand<'a> {
        if let Kind::UnsizedArray(element) = self.types.kind(ty) {
            let ExprKind::InitList(items) = &initial.kind else {
                self.fail(Diagnostic::error(
                    initial.span,
                    "an array without a length needs a braced initialiser",
                ));
                return Operand::poison(initial.span);
            };
            let len = self.list_length(items, element);
            if len == 0 {
                self.fail(Diagnostic::error(
                    initial.span,
                    "an array cannot have 0 elements",
                ));
                return Operand::poison(initial.span);
            }
            let ty = self.types.intern(Kind::Array(element, len));
            return self.initialise_from_list(items, ty, initial.span);
        }
        match &initial.kind {
            ExprKind::InitList(items) => self.initialise_from_list(items, ty, initial.span),
            _ => {
                let value = self.expression(initial);
                if let (Kind::Array(..), false) = (self.types.kind(ty), value.is_poison()) {
                    if value.ty == ty && value.as_place().is_none() {
                        return value;
                    }
                    self.fail(
                        Diagnostic::error(initial.span, "an array needs a braced initialiser")
                            .with_hint("write `{..}`"),
                    );
                    return Operand::poison(initial.span);
                }
                self.convert(value, ty, "a variable")
            }
        }
    }

    /// How many elements a list has for an array without a length.
    fn list_length(&mut self, items: &'a [(Option<ast::Ident>, Expr)], element: Ty) -> u32 {
        let nested = items.iter().any(|(_, item)| {
            matches!(
                item.kind,
                ExprKind::InitList(_) | ExprKind::Construct { .. }
            )
        });
        match self.types.kind(element) {
            // `{1, 2, 3, 4}` for rows of two: the inner braces are left out.
            Kind::Array(_, len) if !nested && len > 0 => (items.len() as u32).div_ceil(len),
            _ => items.len() as u32,
        }
    }

    /// What a program-scope variable comes to in an expression.
    pub(in crate::sema) fn global_operand(&mut self, id: GlobalId, span: Span) -> Operand<'a> {
        let ty = self.globals[id].ty;
        match self.globals[id].state.clone() {
            GlobalState::Failed => Operand::poison(span),
            GlobalState::Known(value) => {
                let is_small = !matches!(self.types.kind(ty), Kind::Array(..) | Kind::Struct(_));
                if is_small {
                    return Operand::constant(ty, value, span);
                }
                let data = self.constant_data(id, &value);
                self.data_place(data, ty, value, span)
            }
            GlobalState::FunctionConstant(handle) => {
                self.mentions_function_constant = true;
                let ir_type = self.ir_type(ty);
                let value = self
                    .context
                    .emit(Op::FunctionConstant(handle), ir_type, span);
                Operand::value(ty, value, span)
            }
            GlobalState::Derived(initial) => {
                let global = &self.globals[id];
                let (namespace, environment, owner, horizon) = (
                    global.namespace,
                    global.environment.clone(),
                    global.owner,
                    global.horizon,
                );
                let value = self.in_place_of(namespace, environment, owner, horizon, |checker| {
                    checker.initial_value(initial, ty)
                });
                let value = self.rvalue(value);
                Operand { span, ..value }
            }
        }
    }
}
