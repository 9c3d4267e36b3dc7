//! Functions: their signatures, and lowering a body to IR once its callees are lowered.

use std::collections::HashMap;
use std::rc::Rc;

use super::context::{Context, ResultType};
use super::operand::{Lvalue, Operand};
use super::scope::{Entity, Environment, FunctionId, FunctionSet, NamespaceId};
use super::templates::Argument;
use super::types::{Kind, Qualified, StructId, Ty};
use super::{Checker, SharedSignature};
use crate::diag::{Diagnostic, Span};
use crate::ir::{self, AddressSpace, Handle, Op, Place, PlaceBase, Statement};
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

    /// Declares a function, or gives a declared one its body.
    pub(super) fn declare_function(
        &mut self,
        ast: &'a ast::Function,
        owner: Option<StructId>,
        environment: Option<Rc<Environment<'a>>>,
    ) -> Option<FunctionId> {
        self.sequence += 1;
        let full_specialisation = ast.template.as_ref().is_some_and(|t| t.params.is_empty());
        let is_template = ast.template.as_ref().is_some_and(|t| !t.params.is_empty());
        let info = FunctionInfo {
            name: ast.name.name.clone(),
            ast,
            namespace: self.namespace,
            owner,
            environment,
            declared: self.sequence,
            defined: self.sequence,
            is_template,
            instance_of: None,
            signature: None,
            state: State::Declared,
            instances: HashMap::new(),
        };
        if full_specialisation {
            self.specialise_function(info);
            return None;
        }
        let id = self.functions.len();
        self.functions.push(info);
        if !is_template {
            self.in_function_scope(id, |checker| checker.complete_signature(id));
        }
        if let Some(known) = self.known_declaration(id) {
            return self.merge_declaration(known, id);
        }
        let set = FunctionSet {
            name: ast.name.name.clone(),
            users: vec![id],
            library: false,
            explicit: None,
            object: None,
        };
        let name = ast::Ident {
            name: Self::declared_name(ast),
            ..ast.name.clone()
        };
        match owner {
            None => self.declare_in_namespace(self.namespace, &name, Entity::Functions(set)),
            Some(owner) => self.declare_member(owner, &name, Entity::Functions(set)),
        }
        Some(id)
    }

    /// Whether a member function is a constructor.
    pub(super) fn is_constructor(ast: &ast::Function) -> bool {
        ast.result.is_none() && !ast.name.name.starts_with("operator")
    }

    /// The name that a function is found by. A constructor has one that no program can write: the
    /// struct's name in the struct means the struct.
    fn declared_name(ast: &ast::Function) -> Name {
        match Self::is_constructor(ast) {
            true => Self::name_of(format!("constructor {}", ast.name.name)),
            false => ast.name.name.clone(),
        }
    }

    /// The earlier declaration of the same function.
    fn known_declaration(&self, id: FunctionId) -> Option<FunctionId> {
        let info = &self.functions[id];
        let name = &Self::declared_name(info.ast);
        let known = match info.owner {
            None => self.namespaces[info.namespace]
                .names
                .get(name)
                .map(|(entity, _)| entity),
            Some(owner) => self.structs[owner].names.get(name),
        };
        let Some(Entity::Functions(set)) = known else {
            return None;
        };
        set.users.iter().copied().find(|&other| {
            let other = &self.functions[other];
            if other.is_template != info.is_template {
                return false;
            }
            match (&other.signature, &info.signature) {
                (Some(l), Some(r)) => l.params == r.params && l.object == r.object,
                (None, None) => {
                    let params = |f: &FunctionInfo<'_>| {
                        f.ast.template.as_ref().map_or(0, |t| t.params.len())
                    };
                    other.ast.body.is_none() != info.ast.body.is_none()
                        && params(other) == params(info)
                        && other.ast.params.len() == info.ast.params.len()
                }
                _ => false,
            }
        })
    }

    fn merge_declaration(&mut self, known: FunctionId, id: FunctionId) -> Option<FunctionId> {
        let Some(new) = self.functions.pop() else {
            return Some(id);
        };
        let old = &self.functions[known];
        if old.ast.body.is_some() && new.ast.body.is_some() {
            let error = Diagnostic::error(
                new.ast.name.span,
                format!("`{}` is already defined with these parameters", new.name),
            )
            .with_label("defined again")
            .with_related(old.ast.name.span, "first defined here");
            self.fail(error);
            return Some(known);
        }
        if let (Some(l), Some(r)) = (&old.signature, &new.signature)
            && l.result != r.result
        {
            let error = Diagnostic::error(
                new.ast.name.span,
                format!("`{}` was declared with another result type", new.name),
            )
            .with_related(old.ast.name.span, "declared here");
            self.fail(error);
            return Some(known);
        }
        if new.ast.body.is_some() {
            let required = old.signature.as_ref().map_or(0, |s| s.required);
            let new_required = new.signature.as_ref().map_or(0, |s| s.required);
            let info = &mut self.functions[known];
            info.defined = new.defined;
            // Default arguments stand in the first declaration: keep its parameters for them.
            if required >= new_required || info.ast.params.iter().all(|p| p.default.is_none()) {
                info.signature = new.signature;
            }
            info.ast = new.ast;
        }
        Some(known)
    }

    /// Resolves the types in a function's head; the context stands at the function.
    pub(super) fn complete_signature(&mut self, id: FunctionId) {
        let ast = self.functions[id].ast;
        let owner = self.functions[id].owner;
        let mut params = Vec::new();
        for param in &ast.params {
            if param.is_pack {
                let pattern = match &param.ty.kind {
                    ast::TypeExprKind::Expansion(inner) => inner,
                    _ => &param.ty,
                };
                for ty in self.expand_type(pattern) {
                    params.push(self.parameter_type(ty, param));
                }
                continue;
            }
            let mut ty = self.resolve(&param.ty);
            if ty.ty == Ty::VOID && !ty.is_reference {
                self.fail(Diagnostic::error(
                    param.span,
                    "a parameter cannot be `void`",
                ));
                ty = Qualified::plain(Ty::ERROR);
            }
            if self.refuse_function_type(ty.ty, param.span) {
                ty = Qualified::plain(Ty::ERROR);
            }
            if !ast.is_kernel {
                ty = self.parameter_type(ty, param);
            }
            params.push(ty);
        }
        let required = ast
            .params
            .iter()
            .rposition(|p| p.default.is_none() && !p.is_pack)
            .map_or(0, |at| at + 1);
        let packed = params.len() - ast.params.iter().filter(|p| !p.is_pack).count();
        let required = if packed > 0 {
            required + packed
        } else {
            required
        };
        let is_constructor = ast.result.is_none() && owner.is_some();
        let result = match &ast.result {
            Some(ty) if Self::mentions_auto(ty) => None,
            Some(ty) => Some(self.result_type(ty)),
            None => Some(Qualified::plain(Ty::VOID)),
        };
        let object = (owner.is_some() && !ast.is_static).then(|| {
            let space = ast.object_space.unwrap_or(AddressSpace::Thread);
            (space, ast.is_const && !is_constructor)
        });
        self.functions[id].signature = Some(Rc::new(Signature {
            params,
            required,
            result,
            object,
        }));
    }

    /// A parameter's type as the function sees it: arrays are pointers, references need a space.
    fn parameter_type(&mut self, ty: Qualified, param: &ast::Param) -> Qualified {
        if ty.ty.is_error() {
            return ty;
        }
        if ty.is_reference {
            if ty.space.is_none() {
                let name = self.type_name(ty.ty);
                self.fail(
                    Diagnostic::error(param.ty.span, "a reference must say which address space it refers to")
                        .with_label("no address space")
                        .with_hint(format!(
                            "write `thread {name} &`, `device {name} &`, `threadgroup {name} &` or `constant {name} &`"
                        )),
                );
                return Qualified::plain(Ty::ERROR);
            }
            return ty;
        }
        match self.types.kind(ty.ty) {
            Kind::Array(element, _) | Kind::UnsizedArray(element) => {
                let space = ty.space.unwrap_or(AddressSpace::Thread);
                Qualified::plain(self.types.pointer(space, element, ty.is_const))
            }
            Kind::Atomic(_) => {
                self.fail(
                    Diagnostic::error(param.ty.span, "an atomic cannot be passed by value")
                        .with_hint("pass a pointer: `device atomic_uint *`"),
                );
                Qualified::plain(Ty::ERROR)
            }
            _ => match ty.space {
                Some(AddressSpace::Thread) | None => Qualified { space: None, ..ty },
                // `constant T x` as a by-value parameter: a copy is a copy.
                Some(_) => {
                    self.fail(
                        Diagnostic::error(
                            param.ty.span,
                            "a parameter passed by value is in thread memory",
                        )
                        .with_hint("drop the address space, or pass a pointer or reference"),
                    );
                    Qualified { space: None, ..ty }
                }
            },
        }
    }

    fn result_type(&mut self, ty: &'a ast::TypeExpr) -> Qualified {
        let result = self.resolve(ty);
        if let (Kind::Array(..), false) = (self.types.kind(result.ty), result.is_reference) {
            self.fail(Diagnostic::error(
                ty.span,
                "a function cannot return an array",
            ));
            return Qualified::plain(Ty::ERROR);
        }
        if result.is_reference && result.space.is_none() && !result.ty.is_error() {
            let name = self.type_name(result.ty);
            self.fail(
                Diagnostic::error(
                    ty.span,
                    "a reference must say which address space it refers to",
                )
                .with_hint(format!("write `thread {name} &` or another address space")),
            );
            return Qualified::plain(Ty::ERROR);
        }
        result
    }

    /// The IR's type of a parameter or result.
    pub(super) fn passed_type(&mut self, ty: Qualified) -> Handle<ir::Type> {
        if ty.is_reference {
            let pointee = self.ir_type(ty.ty);
            let space = ty.space.unwrap_or(AddressSpace::Thread);
            return self.module.types.pointer(space, pointee);
        }
        let ty = self.types.value_type(ty.ty);
        self.ir_type(ty)
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

    fn lower_body(&mut self, id: FunctionId) -> Option<Handle<ir::Function>> {
        let info = &self.functions[id];
        let (ast, signature) = (info.ast, info.signature.clone()?);
        let body = ast.body.as_ref()?;
        let mut context = Context::new(info.namespace, info.defined);
        context.environment = info.environment.clone();
        context.owner = info.owner;
        context.is_kernel = ast.is_kernel;
        context.in_function = true;
        context.result = match signature.result {
            Some(result) => ResultType::Known(result),
            None => ResultType::Deduced(None),
        };
        context.scopes.push(HashMap::new());
        let name = self.ir_name(id);
        let (params, mut context) = self.with_context(context, |checker| {
            let params = checker.declare_params(id, &signature);
            checker.initialise_members(id);
            checker.in_scope(|checker| checker.block(body));
            checker.check_ending(id, body);
            params
        });
        if context.statements > Context::STATEMENT_LIMIT {
            self.fail(
                Diagnostic::error(
                    ast.name.span,
                    format!(
                        "`{}` is too large: over a million operations",
                        ast.name.name
                    ),
                )
                .with_hint("use loops, or split it into functions"),
            );
            return None;
        }
        let result = match context.result {
            ResultType::Known(result) => result,
            ResultType::Deduced(result) => result.unwrap_or(Qualified::plain(Ty::VOID)),
        };
        if signature.result.is_none() {
            self.functions[id].signature = Some(Rc::new(Signature {
                params: signature.params.clone(),
                required: signature.required,
                result: Some(result),
                object: signature.object,
            }));
        }
        let result = self.passed_type(result);
        Some(self.module.functions.push(ir::Function {
            name,
            params,
            result,
            locals: std::mem::take(&mut context.locals),
            values: std::mem::take(&mut context.values),
            threadgroup: std::mem::take(&mut context.threadgroup),
            body: std::mem::take(&mut context.block),
            casts_away_const: context.casts_away_const,
            span: ast.name.span,
        }))
    }

    /// The name with the struct that it belongs to.
    fn ir_name(&self, id: FunctionId) -> Name {
        let info = &self.functions[id];
        match info.owner {
            Some(owner) => Self::name_of(format!("{}::{}", self.structs[owner].name, info.name)),
            None => info.name.clone(),
        }
    }

    /// Makes the parameters and their names.
    fn declare_params(&mut self, id: FunctionId, signature: &Signature) -> Vec<Handle<ir::Local>> {
        let ast = self.functions[id].ast;
        let mut params = Vec::new();
        if let (Some((space, is_const)), Some(owner)) = (signature.object, self.functions[id].owner)
        {
            let ty = self.structs[owner].ty;
            let object = Qualified {
                ty,
                is_const,
                space: Some(space),
                is_reference: true,
            };
            let (local, lvalue) = self.declare_param("this".into(), object, ast.name.span);
            self.context.this = Some(lvalue);
            params.push(local);
        }
        let mut types = signature.params.iter().copied();
        for param in &ast.params {
            if param.is_pack {
                self.declare_pack(param, types.by_ref(), &mut params);
                continue;
            }
            let Some(ty) = types.next() else {
                break;
            };
            let name = param
                .name
                .as_ref()
                .map_or_else(|| "unnamed".into(), |n| n.name.clone());
            let span = param.name.as_ref().map_or(param.span, |n| n.span);
            let (local, lvalue) = self.declare_param(name.clone(), ty, span);
            params.push(local);
            if param.name.is_none() {
                continue;
            }
            let entity = if ty.ty.is_error() {
                Entity::Poison
            } else {
                Entity::Local(lvalue)
            };
            if self.context.declare(name.clone(), entity).is_some() {
                self.fail(Diagnostic::error(
                    span,
                    format!("two parameters are named `{name}`"),
                ));
            }
        }
        params
    }

    /// The parameters that a pack stands for, under one name.
    fn declare_pack(
        &mut self,
        param: &'a ast::Param,
        types: impl Iterator<Item = Qualified>,
        params: &mut Vec<Handle<ir::Local>>,
    ) {
        let name = param
            .name
            .as_ref()
            .map_or_else(|| "unnamed".into(), |n| n.name.clone());
        let mut entities = Vec::new();
        for (index, ty) in types.enumerate() {
            let (local, lvalue) =
                self.declare_param(Self::name_of(format!("{name}{index}")), ty, param.span);
            params.push(local);
            entities.push(if ty.ty.is_error() {
                Entity::Poison
            } else {
                Entity::Local(lvalue)
            });
        }
        self.context.declare(name, Entity::Pack(entities.into()));
    }

    fn declare_param(
        &mut self,
        name: Name,
        ty: Qualified,
        span: Span,
    ) -> (Handle<ir::Local>, Lvalue) {
        let ir_type = self.passed_type(ty);
        let local = self.context.local(name, ir_type, span);
        let place = Place {
            base: PlaceBase::Local(local),
            path: Vec::new(),
            ty: ir_type,
        };
        let lvalue = if ty.is_reference {
            // A reference never changes what it refers to: its pointer is read once.
            let pointer = self.context.emit(Op::Load(place), ir_type, span);
            let space = ty.space.unwrap_or(AddressSpace::Thread);
            Lvalue {
                place: Place {
                    base: PlaceBase::Pointer(pointer),
                    path: Vec::new(),
                    ty: self.ir_type(ty.ty),
                },
                ty: ty.ty,
                space,
                is_const: ty.is_const || space == AddressSpace::Constant,
                swizzle: None,
                elements: None,
                known: None,
                is_temporary: false,
            }
        } else {
            Lvalue {
                place,
                ty: self.types.value_type(ty.ty),
                space: AddressSpace::Thread,
                is_const: ty.is_const,
                swizzle: None,
                elements: None,
                known: None,
                is_temporary: false,
            }
        };
        (local, lvalue)
    }

    /// Reports a function that may end without returning its value.
    fn check_ending(&mut self, id: FunctionId, body: &ast::Block) {
        let result = match self.context.result {
            ResultType::Known(result) => result,
            ResultType::Deduced(_) => return,
        };
        // A return that was wrong left nothing behind.
        let is_unsure = result.ty.is_error() || self.report.has_errors();
        if result.ty == Ty::VOID || is_unsure || !falls_through(&self.context.block) {
            return;
        }
        let name = self.functions[id].name.clone();
        let ty = self.type_name(result.ty);
        let end = Span::new(body.span.end.saturating_sub(1), body.span.end);
        self.fail(
            Diagnostic::warning(
                end,
                format!("`{name}` can end without returning its `{ty}`"),
            )
            .with_label("the end is reached here")
            .with_hint("return a value on every path"),
        );
        // Whatever the caller gets is not defined; every back end gives zero.
        let ir_type = self.passed_type(result);
        let zero = self.context.emit(Op::Zero, ir_type, end);
        self.context.push(Statement::Return(Some(zero), end));
    }

    /// A call to a function whose arguments are already what it takes.
    pub(super) fn emit_call(
        &mut self,
        id: FunctionId,
        values: Vec<Handle<ir::Value>>,
        span: Span,
    ) -> Operand<'a> {
        let Some(handle) = self.lower_function(id, span) else {
            let result = self.functions[id].signature.as_ref().and_then(|s| s.result);
            return match result {
                Some(result) if !result.is_reference && result.ty != Ty::VOID => {
                    Operand::poison(span)
                }
                _ => Operand::poison(span),
            };
        };
        let result = self.functions[id].signature.as_ref().and_then(|s| s.result);
        let result = result.unwrap_or(Qualified::plain(Ty::VOID));
        let ir_type = self.passed_type(result);
        self.context.casts_away_const |= self.module.functions[handle].casts_away_const;
        let value = self.context.emit(Op::Call(handle, values), ir_type, span);
        if result.is_reference {
            let space = result.space.unwrap_or(AddressSpace::Thread);
            let lvalue = Lvalue {
                place: Place {
                    base: PlaceBase::Pointer(value),
                    path: Vec::new(),
                    ty: self.ir_type(result.ty),
                },
                ty: result.ty,
                space,
                is_const: result.is_const || space == AddressSpace::Constant,
                swizzle: None,
                elements: None,
                known: None,
                is_temporary: false,
            };
            return Operand::place(result.ty, lvalue, span);
        }
        Operand::value(self.types.value_type(result.ty), value, span)
    }
}

/// Whether the end of a block can be reached.
pub(super) fn falls_through(block: &ir::Block) -> bool {
    !block.iter().any(|statement| match statement {
        Statement::Return(..) | Statement::Break(_) | Statement::Continue(_) => true,
        Statement::If { accept, reject, .. } => !falls_through(accept) && !falls_through(reject),
        Statement::Switch { arms, .. } => {
            let has_default = arms.iter().any(|arm| arm.is_default);
            has_default
                && arms.iter().all(|arm| !breaks(&arm.body))
                && arms.last().is_some_and(|arm| !falls_through(&arm.body))
        }
        Statement::Loop {
            header,
            condition,
            body,
            ..
        } => {
            let endless = header.iter().any(|statement| {
                matches!(statement, Statement::Let(value, Op::Literal(ir::Literal::Bool(true))) if value == condition)
            });
            endless && !breaks(body)
        }
        _ => false,
    })
}

/// Whether a block has a `break` that leaves what it is the body of.
fn breaks(block: &ir::Block) -> bool {
    block.iter().any(|statement| match statement {
        Statement::Break(_) => true,
        Statement::If { accept, reject, .. } => breaks(accept) || breaks(reject),
        _ => false,
    })
}
