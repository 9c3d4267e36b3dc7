//! Objects of structs: constructors, defaults, and the start of a constructor.

use super::UserConversion;
use crate::diag::{Diagnostic, Span};
use crate::ir::{AddressSpace, Place, PlaceBase, Projection};
use crate::sema::Checker;
use crate::sema::operand::{Lvalue, Operand, Repr};
use crate::sema::scope::{FunctionId, FunctionSet};
use crate::sema::types::{Kind, StructId};
use crate::syntax::ast::Expr;

impl<'a> Checker<'a> {
    /// Whether a struct has constructors of its own.
    pub(in crate::sema) fn has_constructors(&self, id: StructId) -> bool {
        !self.structs[id].constructors.is_empty()
    }

    /// `S(args)` or `S{args}` with operands.
    pub(in crate::sema) fn construct_struct(
        &mut self,
        id: StructId,
        args: Vec<Operand<'a>>,
        braced: bool,
        span: Span,
    ) -> Operand<'a> {
        let ty = self.structs[id].ty;
        if args.iter().any(Operand::is_poison) {
            return Operand::poison(span);
        }
        if !self.structs[id].is_complete {
            let name = self.structs[id].name.clone();
            self.fail(Diagnostic::error(
                span,
                format!("struct `{name}` is declared but not defined"),
            ));
            return Operand::poison(span);
        }
        if let [arg] = &args[..] {
            if let Repr::List(items) = arg.repr {
                return self.initialise_from_list(items, ty, span);
            }
            if arg.ty == ty {
                return Operand {
                    span,
                    ..self.rvalue(arg.clone())
                };
            }
            if self.is_base_of(ty, arg.ty) {
                let part = self.base_object(arg.clone(), id, span);
                return self.rvalue(part);
            }
        }
        let defaults = args.is_empty() && self.structs[id].default_is_given;
        if self.has_constructors(id) && !defaults {
            return self.call_constructor(id, args, span);
        }
        if let [arg] = &args[..]
            && let Some(way @ UserConversion::Operator(_)) = self.user_conversion(arg, ty)
        {
            return self.apply_user_conversion(arg.clone(), ty, way);
        }
        if args.is_empty() {
            return self.default_struct(id, span);
        }
        if braced && args.len() <= self.structs[id].fields.len() {
            let types: Vec<_> = self.structs[id]
                .fields
                .iter()
                .map(|f| (f.ty, f.is_reference))
                .collect();
            let mut parts = Vec::new();
            let mut args = args.into_iter();
            for (field, is_reference) in types {
                parts.push(match args.next() {
                    Some(arg) => {
                        let arg = if is_reference {
                            self.address_of(arg, span)
                        } else {
                            arg
                        };
                        if !self.check_narrowing(&arg, field) {
                            return Operand::poison(span);
                        }
                        let part = self.convert(arg, field, "a field");
                        self.rvalue(part)
                    }
                    None => self.default_value(field, span),
                });
            }
            return self.compose(ty, parts, span);
        }
        let name = self.structs[id].name.clone();
        let error = if braced {
            Diagnostic::error(span, format!("too many values for struct `{name}`"))
        } else {
            Diagnostic::error(span, format!("struct `{name}` has no constructor"))
                .with_hint(format!("use braces: `{name}{{..}}`"))
        };
        self.fail(error);
        Operand::poison(span)
    }

    /// A struct without constructors from nothing: its defaults, zero elsewhere.
    pub(super) fn default_struct(&mut self, id: StructId, span: Span) -> Operand<'a> {
        let ty = self.structs[id].ty;
        if self.structs[id].is_union {
            return self.zero_value(ty, span);
        }
        let fields: Vec<_> = self.structs[id]
            .fields
            .iter()
            .map(|f| (f.ty, f.default))
            .collect();
        let parts = fields
            .into_iter()
            .map(|(field, default)| match default {
                Some(default) => {
                    let value = self.field_default(id, default);
                    let value = self.convert(value, field, "a field");
                    self.rvalue(value)
                }
                None => self.default_value(field, span),
            })
            .collect();
        self.compose(ty, parts, span)
    }

    /// The value of a field's default initialiser, with names seen from the struct.
    pub(in crate::sema) fn field_default(
        &mut self,
        id: StructId,
        default: &'a Expr,
    ) -> Operand<'a> {
        let info = &self.structs[id];
        let (namespace, environment) = (info.namespace, info.environment.clone());
        let horizon = self.context.horizon;
        self.in_place_of(namespace, environment, Some(id), horizon, |checker| {
            checker.expression(default)
        })
    }

    /// An object made by one of the struct's constructors.
    pub(super) fn call_constructor(
        &mut self,
        id: StructId,
        args: Vec<Operand<'a>>,
        span: Span,
    ) -> Operand<'a> {
        let ty = self.structs[id].ty;
        let ir_type = self.ir_type(ty);
        let name = self.structs[id].name.clone();
        let local = self.context.local("object".into(), ir_type, span);
        let lvalue = Lvalue {
            place: Place {
                base: PlaceBase::Local(local),
                path: Vec::new(),
                ty: ir_type,
            },
            ty,
            space: AddressSpace::Thread,
            is_const: false,
            swizzle: None,
            elements: None,
            known: None,
            is_temporary: true,
        };
        let object = Operand::place(ty, lvalue, span);
        let set = FunctionSet {
            name,
            users: self.structs[id].constructors.clone(),
            library: false,
            explicit: None,
            object: Some(Box::new(object.clone())),
        };
        let made = self.call_set(&set, args, span, span);
        if made.is_poison() { made } else { object }
    }

    /// Before a constructor's body: its member initialisers and the fields' defaults.
    pub(in crate::sema) fn initialise_members(&mut self, function: FunctionId) {
        let ast = self.functions[function].ast;
        let Some(id) = self.functions[function].owner else {
            return;
        };
        if ast.result.is_some() || ast.name.name.starts_with("operator") {
            return;
        }
        let Some(this) = self.context.this.clone() else {
            return;
        };
        let span = ast.name.span;
        let this = Operand::place(this.ty, this, span);
        for (name, _) in &ast.member_initials {
            let is_field = self.structs[id].fields.iter().any(|f| f.name == name.name);
            let is_base = self.structs[id]
                .bases
                .iter()
                .any(|&(base, _)| self.is_named(base, &name.name));
            if !is_field && !is_base && *name.name != *self.structs[id].name {
                let owner = self.structs[id].name.clone();
                self.fail(Diagnostic::error(
                    name.span,
                    format!("struct `{owner}` has no member `{}`", name.name),
                ));
            }
        }
        if let Some((name, args)) = ast
            .member_initials
            .iter()
            .find(|(n, _)| self.is_named(id, &n.name))
        {
            let args = self.arguments(args);
            let value = self.construct_struct(id, args, false, name.span);
            if !value.is_poison() {
                self.store(&this, &value, name.span);
            }
            return;
        }
        let fields: Vec<_> = self.structs[id]
            .fields
            .iter()
            .map(|f| (f.name.clone(), f.ty, f.default))
            .collect();
        for (index, (name, ty, default)) in fields.into_iter().enumerate() {
            let base = self.structs[id]
                .bases
                .iter()
                .find(|(_, field)| *field == Some(index as u32))
                .map(|&(base, _)| base);
            let given = ast.member_initials.iter().find(|(n, _)| match base {
                Some(base) => self.is_named(base, &n.name),
                None => n.name == name,
            });
            let value = match (given, default) {
                (Some((_, args)), _) => {
                    let mut args = self.arguments(args);
                    let span = args.first().map_or(span, |arg| arg.span);
                    if self.structs[id].fields[index].is_reference {
                        args = args
                            .into_iter()
                            .map(|arg| self.address_of(arg, span))
                            .collect();
                    }
                    Some(self.construct(ty, args, false, span))
                }
                (None, Some(default)) => {
                    let value = self.field_default(id, default);
                    Some(self.convert(value, ty, "a field"))
                }
                (None, None) => match self.types.kind(ty) {
                    Kind::Struct(of) if self.has_constructors(of) => {
                        Some(self.construct_struct(of, Vec::new(), false, span))
                    }
                    _ => None,
                },
            };
            if let Some(value) = value.filter(|value| !value.is_poison()) {
                let field = self.part(
                    this.clone(),
                    Projection::Field(index as u32),
                    index as u32,
                    ty,
                    span,
                );
                self.store(&field, &value, span);
            }
        }
    }

    /// Whether a struct, or the template that it is an instance of, has this name.
    pub(super) fn is_named(&self, id: StructId, name: &str) -> bool {
        let own = &*self.structs[id].name;
        own == name || own.split('<').next() == Some(name)
    }
}
