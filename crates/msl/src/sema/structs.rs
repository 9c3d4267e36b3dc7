//! Structs and enums: their members, layout, constructors and conversions.

use std::collections::HashMap;
use std::rc::Rc;

use super::Checker;
use super::constant::{Constant, wrap};
use super::conversions::Rank;
use super::operand::{Lvalue, Operand, Repr};
use super::scope::{Entity, Environment, FunctionId, FunctionSet, NamespaceId, TemplateId};
use super::templates::Argument;
use super::types::{EnumId, Kind, Qualified, StructId, Ty};
use crate::diag::{Diagnostic, Span};
use crate::ir::{self, AddressSpace, Handle, Place, PlaceBase, Projection, Scalar};
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
        self.lay_out(id, ast, span);
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
                    self.structs[id].constructors.push(function_id);
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
        });
        self.structs[id].bases.push((inner, Some(index)));
    }

    fn add_field(&mut self, id: StructId, variable: &'a ast::Variable) {
        let mut ty = self.resolve(&variable.ty);
        let problem = match self.types.kind(ty.ty) {
            Kind::Void => Some("a field cannot be `void`"),
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
            _ if ty.is_reference => Some("reference members are not supported"),
            _ => None,
        };
        if let Some(problem) = problem {
            self.fail(Diagnostic::error(variable.span, problem));
            ty = Qualified::plain(Ty::ERROR);
        }
        if ty.space.is_some() && !ty.ty.is_error() {
            self.fail(
                Diagnostic::error(variable.span, "a field has no address space of its own")
                    .with_label("it is where its object is"),
            );
        }
        let index = self.structs[id].fields.len() as u32;
        self.structs[id].fields.push(FieldInfo {
            name: variable.name.name.clone(),
            ty: ty.ty,
            is_const: ty.is_const,
            default: variable.initial.as_ref(),
        });
        self.declare_member(id, &variable.name, Entity::Field(id, index));
    }

    /// Declares a name in a struct; functions of one name join.
    pub(super) fn declare_member(&mut self, id: StructId, name: &ast::Ident, entity: Entity<'a>) {
        match (self.structs[id].names.get_mut(&name.name), entity) {
            (Some(Entity::Functions(set)), Entity::Functions(new)) => set.users.extend(new.users),
            (Some(_), _) => {
                let owner = self.structs[id].name.clone();
                self.fail(Diagnostic::error(
                    name.span,
                    format!("struct `{owner}` already has a member `{}`", name.name),
                ));
            }
            (None, entity) => {
                self.structs[id].names.insert(name.name.clone(), entity);
            }
        }
    }

    fn lay_out(&mut self, id: StructId, ast: &'a ast::Struct, span: Span) {
        let mut least_align = 1;
        for attribute in &ast.attributes {
            let name = attribute
                .name
                .name
                .trim_start_matches("gnu::")
                .trim_matches('_');
            match (name, attribute.args.first()) {
                ("aligned" | "alignas", Some(arg)) => {
                    if let Some(value) = self.constant_int(arg, "an alignment") {
                        if (1..=4096).contains(&value) && value.count_ones() == 1 {
                            least_align = value as u32;
                        } else {
                            self.fail(Diagnostic::error(
                                arg.span,
                                "an alignment is a power of two",
                            ));
                        }
                    }
                }
                ("packed", _) => self.fail(
                    Diagnostic::error(attribute.name.span, "packed structs are not supported")
                        .with_hint(
                            "use packed vectors, or order the fields so that none needs padding",
                        ),
                ),
                _ => {}
            }
        }
        let fields: Vec<_> = self.structs[id]
            .fields
            .iter()
            .map(|f| (f.name.clone(), f.ty))
            .collect();
        let mut laid = Vec::new();
        let mut size = 0u64;
        for (name, ty) in fields {
            size = size.saturating_add(self.size_of(ty));
            laid.push((name, self.ir_type(ty)));
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
        self.structs[id].ir = Some(made);
        self.structs[id].is_complete = true;
    }

    /// What a name means in a struct, its bases, or the structs around it.
    pub(super) fn find_member(&self, id: StructId, name: &str) -> Option<Entity<'a>> {
        if let Some(entity) = self.find_own_member(id, name) {
            return Some(entity);
        }
        // A nested struct sees the names of those around it, but not their fields.
        let mut outer = self.structs.get(id)?.owner;
        while let Some(around) = outer {
            let found = self.find_own_member(around, name);
            if let Some(entity) = found.filter(|entity| !matches!(entity, Entity::Field(..))) {
                return Some(entity);
            }
            outer = self.structs[around].owner;
        }
        None
    }

    /// What a name means in a struct or its bases.
    pub(super) fn find_own_member(&self, id: StructId, name: &str) -> Option<Entity<'a>> {
        let info = self.structs.get(id)?;
        let own = info.names.get(name).cloned();
        own.or_else(|| {
            info.bases
                .iter()
                .find_map(|&(base, _)| self.find_own_member(base, name))
        })
    }

    /// Whether a struct derives from another.
    pub(super) fn is_base_of(&self, base: Ty, derived: Ty) -> bool {
        let (Kind::Struct(base), Kind::Struct(derived)) =
            (self.types.kind(base), self.types.kind(derived))
        else {
            return false;
        };
        self.base_path(derived, base)
            .is_some_and(|path| !path.is_empty())
    }

    /// The fields from a struct to one of its bases; empty bases have none.
    fn base_path(&self, from: StructId, to: StructId) -> Option<Vec<(StructId, Option<u32>)>> {
        if from == to {
            return Some(Vec::new());
        }
        self.structs[from].bases.iter().find_map(|&(base, field)| {
            let mut path = self.base_path(base, to)?;
            path.insert(0, (base, field));
            Some(path)
        })
    }

    /// The base part of an object.
    pub(super) fn base_object(
        &mut self,
        object: Operand<'a>,
        base: StructId,
        span: Span,
    ) -> Operand<'a> {
        let Kind::Struct(from) = self.types.kind(object.ty) else {
            return object;
        };
        let Some(path) = self.base_path(from, base) else {
            return Operand::poison(span);
        };
        let mut object = object;
        for (base, field) in path {
            let ty = self.structs[base].ty;
            object = match field {
                Some(index) => self.part(object, Projection::Field(index), index, ty, span),
                // An empty base has no bytes: any object of its type will do.
                None => {
                    let empty = self.zero_value(ty, span);
                    self.in_memory(empty)
                }
            };
        }
        object
    }

    /// A pointer to an object as one to its base.
    pub(super) fn upcast(
        &mut self,
        pointer: Operand<'a>,
        base: Ty,
        space: AddressSpace,
        to: Ty,
    ) -> Operand<'a> {
        let span = pointer.span;
        let Kind::Struct(base) = self.types.kind(base) else {
            return Operand::poison(span);
        };
        let object = self.dereference(pointer, span);
        let part = self.base_object(object, base, span);
        if part.as_place().is_none_or(|lvalue| lvalue.space != space) {
            self.fail(Diagnostic::error(
                span,
                "a pointer to an empty base is not supported",
            ));
            return Operand::poison(span);
        }
        let pointer = self.address_of(part, span);
        Operand { ty: to, ..pointer }
    }

    /// Whether a struct has constructors of its own.
    pub(super) fn has_constructors(&self, id: StructId) -> bool {
        !self.structs[id].constructors.is_empty()
    }

    /// `S(args)` or `S{args}` with operands.
    pub(super) fn construct_struct(
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
        if self.has_constructors(id) {
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
            let types: Vec<_> = self.structs[id].fields.iter().map(|f| f.ty).collect();
            let mut parts = Vec::new();
            let mut args = args.into_iter();
            for field in types {
                parts.push(match args.next() {
                    Some(arg) => {
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
    fn default_struct(&mut self, id: StructId, span: Span) -> Operand<'a> {
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
    pub(super) fn field_default(&mut self, id: StructId, default: &'a Expr) -> Operand<'a> {
        let info = &self.structs[id];
        let (namespace, environment) = (info.namespace, info.environment.clone());
        let horizon = self.context.horizon;
        self.in_place_of(namespace, environment, Some(id), horizon, |checker| {
            checker.expression(default)
        })
    }

    /// An object made by one of the struct's constructors.
    fn call_constructor(
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

    /// The program's conversion of an operand to a type, if it has exactly one that fits.
    pub(super) fn user_conversion(
        &mut self,
        operand: &Operand<'a>,
        to: Ty,
    ) -> Option<UserConversion> {
        if self.converting || matches!(operand.repr, Repr::List(_) | Repr::Functions(_)) {
            return None;
        }
        let from = self.types.kind(operand.ty);
        if !matches!(from, Kind::Struct(_)) && !matches!(self.types.kind(to), Kind::Struct(_)) {
            return None;
        }
        self.converting = true;
        let found = self.find_user_conversion(operand, to);
        self.converting = false;
        found
    }

    fn find_user_conversion(&mut self, operand: &Operand<'a>, to: Ty) -> Option<UserConversion> {
        if let Kind::Struct(id) = self.types.kind(to) {
            let mut best: Option<(Rank, FunctionId)> = None;
            for function in self.structs[id].constructors.clone() {
                let args = std::slice::from_ref(operand);
                let concrete = if self.functions[function].is_template {
                    match self.deduce_instance(function, None, args) {
                        Some(instance) => instance,
                        None => continue,
                    }
                } else {
                    function
                };
                let Some(signature) = self.functions[concrete].signature.clone() else {
                    continue;
                };
                let takes_one = signature.required <= 1 && !signature.params.is_empty();
                let in_thread = signature
                    .object
                    .is_none_or(|(space, _)| space == AddressSpace::Thread);
                if !takes_one || !in_thread {
                    continue;
                }
                if let Some(rank) = self.passing_rank(operand, signature.params[0])
                    && best.is_none_or(|(known, _)| rank < known)
                {
                    best = Some((rank, concrete));
                }
            }
            if best.is_some() {
                return Some(UserConversion::Constructor);
            }
        }
        let Kind::Struct(id) = self.types.kind(operand.ty) else {
            return None;
        };
        let space = operand.as_place().map_or(AddressSpace::Thread, |l| l.space);
        let is_const = operand.as_place().is_some_and(|l| l.is_const);
        let mut best: Option<(Rank, FunctionId)> = None;
        for function in self.structs[id].conversions.clone() {
            let concrete = if self.functions[function].is_template {
                match self.deduce_conversion(function, to) {
                    Some(instance) => instance,
                    None => continue,
                }
            } else {
                function
            };
            let Some(signature) = self.functions[concrete].signature.clone() else {
                continue;
            };
            let Some((object_space, object_const)) = signature.object else {
                continue;
            };
            if object_space != space || (is_const && !object_const) {
                continue;
            }
            let Some(result) = signature.result else {
                continue;
            };
            let made = Operand {
                ty: result.ty,
                span: operand.span,
                repr: Repr::Constant(Constant::Bool(true)),
            };
            if let Some(rank) = self.implicit_rank(&made, to)
                && best.is_none_or(|(known, _)| rank < known)
            {
                best = Some((rank, concrete));
            }
        }
        best.map(|(_, function)| UserConversion::Operator(function))
    }

    /// Applies a conversion that was found.
    pub(super) fn apply_user_conversion(
        &mut self,
        operand: Operand<'a>,
        to: Ty,
        way: UserConversion,
    ) -> Operand<'a> {
        let span = operand.span;
        match way {
            UserConversion::Constructor => self.construct(to, vec![operand], false, span),
            UserConversion::Operator(function) => {
                let made = self.call_user(function, Some(&operand), Vec::new(), span);
                if made.is_poison() {
                    return made;
                }
                self.converting = true;
                let made = self.convert(made, to, "the conversion");
                self.converting = false;
                made
            }
        }
    }

    /// Before a constructor's body: its member initialisers and the fields' defaults.
    pub(super) fn initialise_members(&mut self, function: FunctionId) {
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
                    let args = self.arguments(args);
                    let span = args.first().map_or(span, |arg| arg.span);
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
    fn is_named(&self, id: StructId, name: &str) -> bool {
        let own = &*self.structs[id].name;
        own == name || own.split('<').next() == Some(name)
    }

    /// Declares an enum and, unless it is a class, its names around it.
    pub(super) fn declare_enum(&mut self, ast: &'a ast::Enum, owner: Option<StructId>) {
        let underlying = match &ast.underlying {
            None => Scalar::I32,
            Some(ty) => {
                let resolved = self.resolve(ty);
                match self.types.kind(resolved.ty) {
                    Kind::Scalar(scalar) if !scalar.is_float() => scalar,
                    Kind::Error => Scalar::I32,
                    _ => {
                        self.fail(Diagnostic::error(ty.span, "an enum holds integers"));
                        Scalar::I32
                    }
                }
            }
        };
        let name = ast
            .name
            .as_ref()
            .map_or_else(|| "unnamed enum".into(), |n| n.name.clone());
        let id: EnumId = self.enums.len();
        self.enums.push(EnumInfo {
            name,
            underlying,
            is_class: ast.is_class,
            values: Vec::new(),
        });
        let ty = self.types.intern(Kind::Enum(id));
        if let Some(name) = &ast.name {
            self.declare_anywhere(owner, name, Entity::Type(Qualified::plain(ty)));
        }
        let mut next = 0i64;
        self.context.scopes.push(HashMap::new());
        let mut made = Vec::new();
        for (name, value) in &ast.enumerators {
            if let Some(value) = value {
                next = self.constant_int(value, "an enumerator").unwrap_or(next);
            }
            // Values that do not fit make an unscoped enum wider, as in C++.
            if ast.underlying.is_none() && wrap(Scalar::I32, next) != next {
                let wider = if (0..=i64::from(u32::MAX)).contains(&next) {
                    Scalar::U32
                } else {
                    Scalar::I64
                };
                self.enums[id].underlying = self.enums[id].underlying.max(wider);
            }
            let value = wrap(self.enums[id].underlying, next);
            self.enums[id].values.push((name.name.clone(), value));
            let entity = Entity::Known(ty, Constant::Int(value));
            self.context.declare(name.name.clone(), entity.clone());
            made.push((name, entity));
            next = next.wrapping_add(1);
        }
        self.context.scopes.pop();
        if !ast.is_class {
            for (name, entity) in made {
                self.declare_anywhere(owner, name, entity);
            }
        }
    }

    /// `T::name`.
    pub(super) fn type_member(
        &mut self,
        ty: Ty,
        segment: &ast::PathSegment,
        next: &'a ast::PathSegment,
    ) -> Option<Entity<'a>> {
        let name = &next.ident.name;
        let found = match self.types.kind(ty) {
            Kind::Error => return None,
            Kind::Struct(id) => self.find_own_member(id, name),
            Kind::Enum(id) => {
                let value = self.enums[id].values.iter().find(|(n, _)| n == name);
                value.map(|(_, v)| Entity::Known(ty, Constant::Int(*v)))
            }
            Kind::MemFlags => super::builtins::constants::memory_flag(name)
                .map(|v| Entity::Known(Ty::MEM_FLAGS, Constant::Int(v))),
            Kind::MemoryOrder if &**name == "memory_order_relaxed" => {
                Some(Entity::Known(Ty::MEMORY_ORDER, Constant::Int(0)))
            }
            Kind::SimdVote if &**name == "vote_t" => {
                Some(Entity::Type(Qualified::plain(Ty::ULONG)))
            }
            _ => None,
        };
        if found.is_none() {
            let owner = self.type_name(ty);
            let mut error =
                Diagnostic::error(next.ident.span, format!("`{owner}` has no member `{name}`"));
            let names: Vec<&str> = match self.types.kind(ty) {
                Kind::Struct(id) => self.structs[id].names.keys().map(|n| &**n).collect(),
                Kind::Enum(id) => self.enums[id].values.iter().map(|(n, _)| &**n).collect(),
                Kind::MemFlags => super::builtins::constants::MEMORY_FLAGS
                    .iter()
                    .map(|(n, _)| *n)
                    .collect(),
                _ => Vec::new(),
            };
            let mut names = names;
            names.sort_unstable();
            if let Some(near) = super::suggest::nearest(name, names) {
                let segment = &segment.ident.name;
                error = error.with_hint(format!("did you mean `{segment}::{near}`?"));
            }
            self.fail(error);
        }
        found
    }
}
