//! Lowering the body of a function or kernel, whose parameters become variables. The statements
//! themselves are in `statements`.

use std::collections::HashMap;
use std::rc::Rc;

use super::Signature;
use crate::diag::{Diagnostic, Span};
use crate::ir::{self, AddressSpace, Handle, Op, Place, PlaceBase, Statement};
use crate::sema::Checker;
use crate::sema::context::{Context, ResultType};
use crate::sema::operand::Lvalue;
use crate::sema::scope::{Entity, FunctionId};
use crate::sema::types::{Qualified, Ty};
use crate::syntax::ast::{self, Name};

impl<'a> Checker<'a> {
    pub(super) fn lower_body(&mut self, id: FunctionId) -> Option<Handle<ir::Function>> {
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
            self.place_behind(pointer, ty.ty, space, ty.is_const)
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
}

/// Whether the end of a block can be reached.
fn falls_through(block: &ir::Block) -> bool {
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
