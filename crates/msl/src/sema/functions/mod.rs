//! Functions: what is known of each, and lowering it once, when something first calls it. Which
//! function a call means is in `calls`.

mod body;
mod declare;
mod signature;

use std::collections::HashMap;
use std::rc::Rc;

use super::operand::Operand;
use super::scope::{Environment, FunctionId, NamespaceId};
use super::templates::Argument;
use super::types::{Qualified, StructId, Ty};
use super::{Checker, SharedSignature};
use crate::diag::{Diagnostic, Span};
use crate::ir::{self, AddressSpace, Handle, Op};
use crate::syntax::ast::{self, Name};

/// A function of the program, a template of them, or an instance of one.
pub(super) struct FunctionInfo<'a> {
    /// The name for messages and the IR; an instance has its arguments in it.
    pub name: Name,
    /// The declaration, or the definition once there is one.
    pub ast: &'a ast::Function,
    pub namespace: NamespaceId,
    pub owner: Option<StructId>,
    pub environment: Option<Rc<Environment<'a>>>,
    /// When it was declared.
    pub declared: usize,
    /// When it was defined: its body sees what stands before.
    pub defined: usize,
    pub is_template: bool,
    /// The template that it is an instance of.
    pub instance_of: Option<FunctionId>,
    pub signature: Option<SharedSignature>,
    pub state: State,
    /// Instances, and full specialisations, by arguments.
    pub instances: HashMap<Vec<Argument>, Option<FunctionId>>,
}

/// How far a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Declared,
    Lowering,
    Done(Handle<ir::Function>),
    Failed,
}

/// What a caller must know.
#[derive(Debug)]
pub(super) struct Signature {
    pub params: Vec<Qualified>,
    /// How many arguments must be given.
    pub required: usize,
    /// `None` for `auto`, until the body is lowered.
    pub result: Option<Qualified>,
    /// The object of a method: its space, and whether it is read only.
    pub object: Option<(AddressSpace, bool)>,
}

impl<'a> Checker<'a> {
    /// Runs `work` with names looked up where a declaration stands, writing to the current block.
    pub(super) fn in_place_of<T>(
        &mut self,
        namespace: NamespaceId,
        environment: Option<Rc<Environment<'a>>>,
        owner: Option<StructId>,
        horizon: usize,
        work: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let context = &mut self.context;
        let saved = (
            std::mem::replace(&mut context.namespace, namespace),
            std::mem::replace(&mut context.environment, environment),
            std::mem::replace(&mut context.owner, owner),
            std::mem::replace(&mut context.horizon, horizon),
            std::mem::take(&mut context.scopes),
            context.this.take(),
        );
        let result = work(self);
        let context = &mut self.context;
        (
            context.namespace,
            context.environment,
            context.owner,
            context.horizon,
            context.scopes,
            context.this,
        ) = saved;
        result
    }

    /// Runs `work` with names looked up where a function stands.
    pub(super) fn in_function_scope<T>(
        &mut self,
        id: FunctionId,
        work: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let info = &self.functions[id];
        let (namespace, environment, owner, horizon) = (
            info.namespace,
            info.environment.clone(),
            info.owner,
            info.declared.max(info.defined),
        );
        self.in_place_of(namespace, environment, owner, horizon, work)
    }

    /// Lowers a function that is neither a template nor a member of one.
    pub(super) fn lower_if_concrete(&mut self, id: FunctionId) {
        let info = &self.functions[id];
        let is_concrete = !info.is_template && info.instance_of.is_none();
        let of_template = info
            .owner
            .is_some_and(|owner| self.structs[owner].is_instance);
        if is_concrete && !of_template && info.ast.body.is_some() && info.state == State::Declared {
            self.lower_function(id, info.ast.name.span);
        }
    }

    /// The IR of a function, lowered now if it was not yet; `None` if that failed.
    pub(super) fn lower_function(
        &mut self,
        id: FunctionId,
        used: Span,
    ) -> Option<Handle<ir::Function>> {
        match self.functions[id].state {
            State::Done(handle) => return Some(handle),
            State::Failed => return None,
            State::Lowering => {
                let name = self.functions[id].name.clone();
                self.fail(
                    Diagnostic::error(
                        used,
                        format!("`{name}` calls itself, directly or through others"),
                    )
                    .with_label("recursion")
                    .with_hint("Metal has no recursion; write a loop"),
                );
                return None;
            }
            State::Declared => {}
        }
        if self.functions[id].ast.body.is_none() {
            let info = &self.functions[id];
            let error =
                Diagnostic::error(used, format!("`{}` is declared but has no body", info.name))
                    .with_related(info.ast.name.span, "declared here");
            self.fail(error);
            self.functions[id].state = State::Failed;
            return None;
        }
        self.functions[id].state = State::Lowering;
        // A body's own mistakes are reported even if the call is only tried.
        let trying = (
            std::mem::replace(&mut self.silent, false),
            std::mem::replace(&mut self.converting, false),
            self.mentions_function_constant,
        );
        let is_instance = self.functions[id].instance_of.is_some();
        if is_instance {
            let name = self.functions[id].name.clone();
            self.instances.push((used, name));
        }
        let lowered = self
            .deeper(used, |checker| checker.lower_body(id))
            .flatten();
        if is_instance {
            self.instances.pop();
        }
        (
            self.silent,
            self.converting,
            self.mentions_function_constant,
        ) = trying;
        self.functions[id].state = lowered.map_or(State::Failed, State::Done);
        lowered
    }

    /// A call to a function whose arguments are already what it takes.
    pub(super) fn emit_call(
        &mut self,
        id: FunctionId,
        values: Vec<Handle<ir::Value>>,
        span: Span,
    ) -> Operand<'a> {
        let Some(handle) = self.lower_function(id, span) else {
            return Operand::poison(span);
        };
        let result = self.functions[id].signature.as_ref().and_then(|s| s.result);
        let result = result.unwrap_or(Qualified::plain(Ty::VOID));
        let ir_type = self.passed_type(result);
        self.context.casts_away_const |= self.module.functions[handle].casts_away_const;
        let value = self.context.emit(Op::Call(handle, values), ir_type, span);
        if result.is_reference {
            let space = result.space.unwrap_or(AddressSpace::Thread);
            let lvalue = self.place_behind(value, result.ty, space, result.is_const);
            return Operand::place(result.ty, lvalue, span);
        }
        Operand::value(self.types.value_type(result.ty), value, span)
    }
}
