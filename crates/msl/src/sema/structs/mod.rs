//! Structs and enums: their members, layout, constructors and conversions.

mod alignment;
mod construct;
mod conversions;
mod members;

use std::collections::HashMap;
use std::rc::Rc;

use super::Checker;
use super::scope::{Entity, Environment, FunctionId, NamespaceId, TemplateId};
use super::templates::Argument;
use super::types::{Kind, Qualified, StructId, Ty};
use crate::diag::{Diagnostic, Span};
use crate::ir::{self, AddressSpace, Handle, Scalar};
use crate::syntax::ast::{self, Expr, ItemKind, Name};

/// A struct, class or union.
pub(super) struct StructInfo<'a> {
    pub name: Name,
    pub ty: Ty,
    pub namespace: NamespaceId,
    /// The template parameters around it.
    pub environment: Option<Rc<Environment<'a>>>,
    /// The struct that it is declared in.
    pub owner: Option<StructId>,
    pub fields: Vec<FieldInfo<'a>>,
    pub names: HashMap<Name, Entity<'a>>,
    /// Each base, with the field that holds it if it has fields.
    pub bases: Vec<(StructId, Option<u32>)>,
    pub constructors: Vec<FunctionId>,
    /// Whether it has `S() = default` beside them.
    pub default_is_given: bool,
    pub conversions: Vec<FunctionId>,
    pub ir: Option<Handle<ir::Struct>>,
    pub is_union: bool,
    /// Whether its members are known.
    pub is_complete: bool,
    pub template: Option<TemplateId>,
    /// What it is an instance with.
    pub arguments: Vec<Argument>,
    /// Whether it is an instance of a template, so that unused members stay unlowered.
    pub is_instance: bool,
}

/// A field.
pub(super) struct FieldInfo<'a> {
    pub name: Name,
    pub ty: Ty,
    pub is_const: bool,
    pub default: Option<&'a Expr>,
    /// Whether `ty` is a pointer that stands for a reference.
    pub is_reference: bool,
    /// The alignment that the program asks for; 0 if it leaves it to the type.
    pub align: u32,
}

/// An enumeration.
pub(super) struct EnumInfo {
    pub name: Name,
    pub underlying: Scalar,
    pub is_class: bool,
    pub values: Vec<(Name, i64)>,
}

/// A conversion that the program defines.
#[derive(Clone, Copy)]
pub(super) enum UserConversion {
    Constructor,
    Operator(FunctionId),
}

impl<'a> Checker<'a> {
    /// A struct without members yet.
    pub(super) fn new_struct(
        &mut self,
        name: Name,
        environment: Option<Rc<Environment<'a>>>,
        owner: Option<StructId>,
    ) -> StructId {
        let id = self.structs.len();
        let ty = self.types.intern(Kind::Struct(id));
        let is_instance = owner.is_some_and(|owner| self.structs[owner].is_instance);
        self.structs.push(StructInfo {
            name,
            ty,
            namespace: self.namespace,
            environment,
            owner,
            fields: Vec::new(),
            names: HashMap::new(),
            bases: Vec::new(),
            constructors: Vec::new(),
            default_is_given: false,
            conversions: Vec::new(),
            ir: None,
            is_union: false,
            is_complete: false,
            template: None,
            arguments: Vec::new(),
            is_instance,
        });
        id
    }

    /// Declares and, unless it is only announced, defines a struct.
    pub(super) fn declare_struct(
        &mut self,
        ast: &'a ast::Struct,
        span: Span,
        owner: Option<StructId>,
        environment: Option<Rc<Environment<'a>>>,
    ) -> Option<StructId> {
        if ast.template.is_some() {
            self.declare_struct_template(ast, span, owner, environment);
            return None;
        }
        let name = ast
            .name
            .as_ref()
            .map_or_else(|| "unnamed struct".into(), |n| n.name.clone());
        let known = ast.name.as_ref().and_then(|n| {
            let entity = match owner {
                _ if self.context.in_function => self.context.scopes.last()?.get(&n.name),
                None => self.namespaces[self.namespace]
                    .names
                    .get(&n.name)
                    .map(|(e, _)| e),
                Some(owner) => self.structs[owner].names.get(&n.name),
            };
            match entity {
                Some(Entity::Type(ty)) => match self.types.kind(ty.ty) {
                    Kind::Struct(id) if !self.structs[id].is_complete => Some(id),
                    _ => None,
                },
                _ => None,
            }
        });
        let id = match known {
            Some(id) => id,
            None => {
                let id = self.new_struct(name, environment, owner);
                if let Some(name) = &ast.name {
                    let entity = Entity::Type(Qualified::plain(self.structs[id].ty));
                    self.declare_anywhere(owner, name, entity);
                }
                id
            }
        };
        if !ast.is_forward {
            self.define_struct(id, ast, span);
        }
        Some(id)
    }

    /// Declares a name where the program is: a function's block, a struct, a namespace.
    pub(super) fn declare_anywhere(
        &mut self,
        owner: Option<StructId>,
        name: &ast::Ident,
        entity: Entity<'a>,
    ) {
        match owner {
            Some(owner) => self.declare_member(owner, name, entity),
            None if self.context.in_function => {
                if self.context.declare(name.name.clone(), entity).is_some() {
                    self.fail(Diagnostic::error(
                        name.span,
                        format!("`{}` is already declared in this block", name.name),
                    ));
                }
            }
            None => self.declare_in_namespace(self.namespace, name, entity),
        }
    }

    /// Gives a struct its members.
    pub(super) fn define_struct(&mut self, id: StructId, ast: &'a ast::Struct, span: Span) {
        let info = &mut self.structs[id];
        info.is_union = ast.is_union;
        let (namespace, environment) = (info.namespace, info.environment.clone());
        let mut least_align = 0;
        let outer_namespace = std::mem::replace(&mut self.namespace, namespace);
        let horizon = self.sequence.max(self.context.horizon.min(self.sequence));
        let scopes = if self.context.in_function {
            std::mem::take(&mut self.context.scopes)
        } else {
            Vec::new()
        };
        let local_scopes = scopes.clone();
        let in_function = std::mem::replace(&mut self.context.in_function, false);
        self.in_place_of(
            namespace,
            environment.clone(),
            Some(id),
            horizon,
            |checker| {
                // A struct in a function sees the function's types and constants.
                checker.context.scopes = local_scopes;
                least_align = checker.alignment(&ast.attributes);
                for base in &ast.bases {
                    checker.add_base(id, base);
                }
                for item in &ast.members {
                    checker.member_item(id, item, environment.clone());
                }
            },
        );
        self.context.in_function = in_function;
        if in_function {
            self.context.scopes = scopes;
        }
        self.namespace = outer_namespace;
        self.lay_out(id, least_align, ast, span);
    }

    fn add_base(&mut self, id: StructId, base: &'a ast::TypeExpr) {
        let ty = self.resolve(base);
        let Kind::Struct(base_id) = self.types.kind(ty.ty) else {
            if !ty.ty.is_error() {
                let name = self.type_name(ty.ty);
                self.fail(Diagnostic::error(
                    base.span,
                    format!("`{name}` cannot be a base: it is not a struct"),
                ));
            }
            return;
        };
        if !self.structs[base_id].is_complete {
            self.fail(Diagnostic::error(base.span, "a base must be defined first"));
            return;
        }
        let field = (!self.structs[base_id].fields.is_empty()).then(|| {
            let index = self.structs[id].fields.len() as u32;
            self.structs[id].fields.push(FieldInfo {
                name: Self::name_of(format!("base{index}")),
                ty: ty.ty,
                is_const: false,
                default: None,
                is_reference: false,
                align: 0,
            });
            index
        });
        self.structs[id].bases.push((base_id, field));
    }

    fn member_item(
        &mut self,
        id: StructId,
        item: &'a ast::Item,
        environment: Option<Rc<Environment<'a>>>,
    ) {
        match &item.kind {
            ItemKind::Variable(variable) if variable.is_static => {
                self.declare_static_member(id, variable, environment);
            }
            ItemKind::Variable(variable) => self.add_field(id, variable),
            ItemKind::Function(function) => {
                if function.name.name.starts_with('~') {
                    self.fail(Diagnostic::error(
                        function.name.span,
                        "Metal has no destructors",
                    ));
                    return;
                }
                let Some(function_id) = self.declare_function(function, Some(id), environment)
                else {
                    return;
                };
                if Self::is_constructor(function) {
                    // `S() = default` leaves an aggregate one.
                    if function.is_defaulted {
                        self.structs[id].default_is_given |= function.params.is_empty();
                    } else {
                        self.structs[id].constructors.push(function_id);
                    }
                } else if function.name.name.starts_with("operator ")
                    && function
                        .name
                        .name
                        .chars()
                        .nth(9)
                        .is_some_and(|c| c.is_alphabetic() || c == '_')
                {
                    self.structs[id].conversions.push(function_id);
                }
            }
            ItemKind::Struct(inner) => {
                let made = self.declare_struct(inner, item.span, Some(id), environment);
                // An unnamed struct or union lends its fields to the one around it.
                if let (None, Some(inner_id)) = (&inner.name, made) {
                    self.add_anonymous(id, inner_id);
                }
            }
            ItemKind::Empty => {}
            _ => self.local_or_member_item(item, Some(id), environment),
        }
    }

    fn add_anonymous(&mut self, id: StructId, inner: StructId) {
        let index = self.structs[id].fields.len() as u32;
        let ty = self.structs[inner].ty;
        self.structs[id].fields.push(FieldInfo {
            name: Self::name_of(format!("unnamed{index}")),
            ty,
            is_const: false,
            default: None,
            is_reference: false,
            align: 0,
        });
        self.structs[id].bases.push((inner, Some(index)));
    }

    fn add_field(&mut self, id: StructId, variable: &'a ast::Variable) {
        let mut ty = self.resolve(&variable.ty);
        let problem = match self.types.kind(ty.ty) {
            Kind::Void => Some("a field cannot be `void`"),
            Kind::Function(_) => Some("a field cannot be a function type"),
            Kind::UnsizedArray(_) => Some("an array in a struct needs a length"),
            Kind::Struct(of) if !self.structs[of].is_complete => {
                Some("this struct is not defined yet")
            }
            Kind::Pointer { pointee, .. } => match self.types.kind(pointee) {
                Kind::Struct(of) if !self.structs[of].is_complete => {
                    Some("pointers to a struct inside itself are not supported")
                }
                _ => None,
            },
            _ if ty.is_reference && ty.space.is_none() => {
                Some("a reference must say which address space it refers to")
            }
            _ => None,
        };
        if self.refuse_matrix(ty.ty, variable.span) {
            ty = Qualified::plain(Ty::ERROR);
        }
        if let Some(problem) = problem {
            self.fail(Diagnostic::error(variable.span, problem));
            ty = Qualified::plain(Ty::ERROR);
        }
        let is_reference = ty.is_reference && !ty.ty.is_error();
        if let (true, Some(space)) = (is_reference, ty.space) {
            let is_const = ty.is_const || space == AddressSpace::Constant;
            ty = Qualified::plain(self.types.pointer(space, ty.ty, is_const));
        }
        if ty.space.is_some() && !ty.ty.is_error() {
            self.fail(
                Diagnostic::error(variable.span, "a field has no address space of its own")
                    .with_label("it is where its object is"),
            );
        }
        let align = self.alignment_of(&variable.attributes, ty.ty);
        self.refuse_function_constant(variable, "a field");
        let index = self.structs[id].fields.len() as u32;
        self.structs[id].fields.push(FieldInfo {
            name: variable.name.name.clone(),
            ty: ty.ty,
            is_const: ty.is_const,
            default: variable.initial.as_ref(),
            is_reference,
            align,
        });
        self.declare_member(id, &variable.name, Entity::Field(id, index));
    }

    fn lay_out(&mut self, id: StructId, least_align: u32, ast: &'a ast::Struct, span: Span) {
        let fields: Vec<_> = self.structs[id]
            .fields
            .iter()
            .map(|f| (f.name.clone(), f.ty, f.align))
            .collect();
        let mut laid = Vec::new();
        let mut size = 0u64;
        for (name, ty, align) in fields {
            size = size.saturating_add(self.size_of(ty).max(u64::from(align)));
            laid.push((name, self.ir_type(ty), align));
        }
        if size > Self::SIZE_LIMIT {
            self.fail(Diagnostic::error(
                span,
                "this struct is larger than the limit of 1 GiB",
            ));
            laid.clear();
        }
        let (name, is_union) = (self.structs[id].name.clone(), self.structs[id].is_union);
        let made = self
            .module
            .types
            .add_struct(name, laid, is_union, least_align);
        if least_align > 0 && self.module.types.structs[made].align > least_align {
            let natural = self.module.types.structs[made].align;
            self.refuse_lower_alignment(&ast.attributes, least_align, natural);
        }
        self.structs[id].ir = Some(made);
        self.structs[id].is_complete = true;
    }
}
