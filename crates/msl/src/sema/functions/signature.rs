//! The types in a function's head: its parameters, its result and its object.

use std::rc::Rc;

use super::Signature;
use crate::diag::Diagnostic;
use crate::ir::{self, AddressSpace, Handle};
use crate::sema::Checker;
use crate::sema::scope::FunctionId;
use crate::sema::types::{Kind, Qualified, Ty};
use crate::syntax::ast;

impl<'a> Checker<'a> {
    /// Resolves the types in a function's head; the context stands at the function.
    pub(in crate::sema) fn complete_signature(&mut self, id: FunctionId) {
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
}
