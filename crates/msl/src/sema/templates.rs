//! Templates: binding their parameters, deducing arguments, making instances.
//!
//! An instance is the template's tree lowered again with its parameters bound in an
//! [`Environment`]; instances are kept by their arguments. Whether arguments can be deduced is
//! tried silently, so that a template that does not fit is just not a candidate.

use std::collections::HashMap;
use std::rc::Rc;

use super::Checker;
use super::constant::Constant;
use super::functions::{FunctionInfo, State};
use super::operand::{Operand, Repr};
use super::scope::{Entity, Environment, FunctionId, FunctionSet, NamespaceId, TemplateId};
use super::types::{Kind, Qualified, StructId, Ty};
use crate::diag::{Diagnostic, Span};
use crate::ir::{AddressSpace, Packing};
use crate::syntax::ast::{
    self, Expr, ExprKind, Name, PathSegment, TemplateArg, TemplateParam, TemplateParamKind,
    TypeExpr, TypeExprKind,
};

/// The most instances of one compilation.
const INSTANCE_LIMIT: usize = 10_000;
/// The deepest chain of instances that ask for each other.
const INSTANCE_DEPTH: usize = 64;

/// A template argument.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Argument {
    Type(Qualified),
    Value(Ty, i64),
    Function(FunctionId),
    Template(TemplateId),
    Pack(Vec<Self>),
}

/// A struct, alias or variable template.
pub(super) struct Template<'a> {
    pub name: Name,
    pub kind: TemplateKind<'a>,
    pub params: &'a ast::Template,
    pub namespace: NamespaceId,
    pub environment: Option<Rc<Environment<'a>>>,
    pub owner: Option<StructId>,
    pub instances: HashMap<Vec<Argument>, Option<Entity<'a>>>,
    /// Specialisations, full and partial: their parameters, patterns and bodies.
    pub special: Vec<Specialisation<'a>>,
}

/// What a template makes.
#[derive(Clone, Copy)]
pub(super) enum TemplateKind<'a> {
    Struct(&'a ast::Struct),
    Alias(&'a TypeExpr),
    Variable(&'a ast::Variable),
}

/// A specialisation of a template.
#[derive(Clone, Copy)]
pub(super) struct Specialisation<'a> {
    pub params: &'a ast::Template,
    pub patterns: &'a [TemplateArg],
    pub kind: TemplateKind<'a>,
}

/// Arguments found so far, by parameter name.
type Bindings = HashMap<Name, Argument>;

/// The parameter's name; unnamed ones get a name that no program can write.
fn param_name(param: &TemplateParam, index: usize) -> Name {
    param
        .name
        .as_ref()
        .map_or_else(|| Name::from(format!("<{index}>")), |n| n.name.clone())
}

/// The single name that a type expression is, without arguments.
fn bare_name(ty: &TypeExpr) -> Option<&Name> {
    match &ty.kind {
        TypeExprKind::Path(path) => match &path.segments[..] {
            [PathSegment { ident, args: None }] => Some(&ident.name),
            _ => None,
        },
        _ => None,
    }
}

impl<'a> Checker<'a> {
    /// Runs `work` without reporting; `None` if it would have reported an error.
    pub(super) fn silently<T>(&mut self, work: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let outer = (self.silent, self.silent_errors);
        self.silent = true;
        self.silent_errors = 0;
        let result = work(self);
        let failed = self.silent_errors > 0;
        (self.silent, self.silent_errors) = outer;
        if failed { None } else { result }
    }

    /// An argument as the name of its parameter stands for it.
    fn argument_entity(&self, argument: &Argument) -> Entity<'a> {
        match argument {
            Argument::Type(ty) => Entity::Type(*ty),
            Argument::Value(ty, value) => {
                let constant = match self.types.kind(*ty) {
                    Kind::Scalar(crate::ir::Scalar::Bool) => Constant::Bool(*value != 0),
                    _ => Constant::Int(*value),
                };
                Entity::Known(*ty, constant)
            }
            Argument::Function(id) => Entity::Functions(FunctionSet {
                name: self.functions[*id].name.clone(),
                users: vec![*id],
                library: false,
                explicit: None,
                object: None,
            }),
            Argument::Template(id) => Entity::Template(*id),
            Argument::Pack(list) => {
                Entity::Pack(list.iter().map(|a| self.argument_entity(a)).collect())
            }
        }
    }

    fn environment_of(
        &self,
        params: &'a ast::Template,
        bindings: &Bindings,
        parent: Option<Rc<Environment<'a>>>,
    ) -> Rc<Environment<'a>> {
        let names = params
            .params
            .iter()
            .enumerate()
            .filter_map(|(index, param)| {
                let name = param_name(param, index);
                let entity = self.argument_entity(bindings.get(&name)?);
                Some((name, entity))
            })
            .collect();
        Rc::new(Environment { parent, names })
    }

    /// The arguments in parameter order, once all are bound.
    fn ordered(params: &ast::Template, bindings: &Bindings) -> Option<Vec<Argument>> {
        params
            .params
            .iter()
            .enumerate()
            .map(|(index, param)| bindings.get(&param_name(param, index)).cloned())
            .collect()
    }

    /// One written argument for a parameter; types of value parameters may use earlier ones.
    fn resolve_argument(
        &mut self,
        param: &'a TemplateParam,
        arg: &'a TemplateArg,
        value_type: Option<ValueKind>,
    ) -> Option<Argument> {
        match &param.kind {
            TemplateParamKind::Type(_) => self.type_argument(arg).map(Argument::Type),
            TemplateParamKind::Template(_) => {
                let path = match arg {
                    TemplateArg::Type(TypeExpr {
                        kind: TypeExprKind::Path(path),
                        ..
                    })
                    | TemplateArg::Expr(Expr {
                        kind: ExprKind::Path(path),
                        ..
                    }) => path,
                    _ => return None,
                };
                let name = &path.segments.last()?.ident.name;
                match self.find(name) {
                    Some(Entity::Template(id)) => Some(Argument::Template(id)),
                    _ => {
                        self.fail(Diagnostic::error(
                            path.span,
                            format!("`{name}` is not a template"),
                        ));
                        None
                    }
                }
            }
            TemplateParamKind::Value(..) => match value_type? {
                ValueKind::Function(params) => self.function_argument(arg, params.as_deref()),
                ValueKind::Value(ty) => self.value_argument(arg, ty),
            },
        }
    }

    /// A template argument that must be a type.
    pub(super) fn type_argument(&mut self, arg: &'a TemplateArg) -> Option<Qualified> {
        let ty = match arg {
            TemplateArg::Type(ty) => self.resolve(ty),
            TemplateArg::Expr(expr) => {
                let ExprKind::Path(path) = &expr.kind else {
                    self.fail(Diagnostic::error(
                        expr.span,
                        "this template argument must be a type",
                    ));
                    return None;
                };
                match self.resolve_path(path)? {
                    Entity::Type(ty) => ty,
                    _ => {
                        self.fail(Diagnostic::error(
                            expr.span,
                            "this template argument must be a type",
                        ));
                        return None;
                    }
                }
            }
        };
        (!ty.ty.is_error()).then_some(ty)
    }

    fn argument_span(arg: &TemplateArg) -> Span {
        match arg {
            TemplateArg::Type(ty) => ty.span,
            TemplateArg::Expr(expr) => expr.span,
        }
    }

    /// A template argument that must be a value; `None` as its type takes the value's own.
    pub(super) fn value_argument(
        &mut self,
        arg: &'a TemplateArg,
        ty: Option<Ty>,
    ) -> Option<Argument> {
        let span = Self::argument_span(arg);
        let mark = (self.context.locals.len(), self.context.values.len());
        let (operand, block) = self.in_block(|checker| {
            let operand = match arg {
                TemplateArg::Expr(expr) => checker.expression(expr),
                // The parser may take the name of a value for a type.
                TemplateArg::Type(TypeExpr {
                    kind: TypeExprKind::Path(path),
                    ..
                }) => match checker.resolve_path(path) {
                    Some(entity) => checker.entity_operand(entity, span),
                    None => Operand::poison(span),
                },
                TemplateArg::Type(_) => {
                    checker.fail(Diagnostic::error(
                        span,
                        "this template argument must be a value",
                    ));
                    Operand::poison(span)
                }
            };
            let operand = match ty {
                Some(ty) => checker.convert(operand, ty, "a template parameter"),
                None => operand,
            };
            checker.rvalue(operand)
        });
        if let (Repr::Functions(set), None) = (&operand.repr, ty)
            && let [id] = set.users[..]
        {
            return Some(Argument::Function(id));
        }
        let ty = operand.ty;
        let value = self.constant_of(&operand, block, mark, "a template argument")?;
        match value.as_int() {
            Some(value) => Some(Argument::Value(ty, value)),
            None => {
                self.fail(Diagnostic::error(
                    span,
                    "a template argument must be an integer, bool or enumerator",
                ));
                None
            }
        }
    }

    /// A function as an argument, chosen by the parameter types if it has several versions.
    fn function_argument(
        &mut self,
        arg: &'a TemplateArg,
        params: Option<&[Qualified]>,
    ) -> Option<Argument> {
        let span = Self::argument_span(arg);
        let path = match arg {
            TemplateArg::Expr(Expr {
                kind: ExprKind::Path(path),
                ..
            })
            | TemplateArg::Type(TypeExpr {
                kind: TypeExprKind::Path(path),
                ..
            }) => path,
            TemplateArg::Expr(Expr {
                kind: ExprKind::Unary(ast::UnaryOp::AddressOf, inner),
                ..
            }) => match &inner.kind {
                ExprKind::Path(path) => path,
                _ => return None,
            },
            _ => {
                self.fail(Diagnostic::error(
                    span,
                    "this template argument must be a function",
                ));
                return None;
            }
        };
        let Entity::Functions(set) = self.resolve_path(path)? else {
            self.fail(Diagnostic::error(
                span,
                "this template argument must be a function",
            ));
            return None;
        };
        let mut found = Vec::new();
        for &id in &set.users {
            let concrete = if self.functions[id].is_template {
                match self.deduce_from_types(id, set.explicit, params) {
                    Some(id) => id,
                    None => continue,
                }
            } else {
                id
            };
            let fits = match (params, &self.functions[concrete].signature) {
                (Some(params), Some(signature)) => signature.params == params,
                _ => true,
            };
            if fits {
                found.push(concrete);
            }
        }
        match found[..] {
            [id] => Some(Argument::Function(id)),
            [] => {
                self.fail(Diagnostic::error(
                    span,
                    format!(
                        "no version of `{}` has the parameters that the template asks for",
                        set.name
                    ),
                ));
                None
            }
            _ => {
                self.fail(Diagnostic::error(
                    span,
                    format!("`{}` could mean several functions", set.name),
                ));
                None
            }
        }
    }

    /// What kind of value a value parameter takes, in the environment of the earlier ones.
    fn value_kind(&mut self, ty: &'a TypeExpr) -> Option<ValueKind> {
        if let TypeExprKind::Qualified { inner, .. } = &ty.kind {
            return self.value_kind(inner);
        }
        if let TypeExprKind::Pointer(to) | TypeExprKind::Reference(to) = &ty.kind
            && let TypeExprKind::Function(_, params) = &Self::unqualified(to).kind
        {
            let mut types = Vec::new();
            for param in params {
                let ty = self.resolve(param);
                if ty.ty.is_error() {
                    return None;
                }
                types.push(Qualified {
                    is_const: ty.is_reference && ty.is_const,
                    ..ty
                });
            }
            return Some(ValueKind::Function(Some(types)));
        }
        if Self::mentions_auto(ty) {
            return Some(ValueKind::Value(None));
        }
        let resolved = self.resolve(ty);
        match self.types.kind(resolved.ty) {
            Kind::Error => None,
            Kind::Callable(_) => Some(ValueKind::Function(None)),
            _ => Some(ValueKind::Value(Some(resolved.ty))),
        }
    }

    /// Binds written arguments to parameters, from the first on; `None` if one does not fit.
    fn bind_written(
        &mut self,
        params: &'a ast::Template,
        args: &'a [TemplateArg],
        place: &TemplatePlace<'a>,
        bindings: &mut Bindings,
    ) -> Option<()> {
        let mut rest = args;
        for (index, param) in params.params.iter().enumerate() {
            if rest.is_empty() {
                break;
            }
            let kind = self.kind_of_param(params, param, place, bindings)?;
            if param.is_pack {
                let list: Option<Vec<_>> = rest
                    .iter()
                    .map(|arg| self.resolve_argument(param, arg, kind.clone()))
                    .collect();
                bindings.insert(param_name(param, index), Argument::Pack(list?));
                return Some(());
            }
            let (arg, others) = rest.split_first()?;
            rest = others;
            let argument = self.resolve_argument(param, arg, kind)?;
            bindings.insert(param_name(param, index), argument);
        }
        if let Some(extra) = rest.first() {
            self.fail(Diagnostic::error(
                Self::argument_span(extra),
                "there are too many template arguments",
            ));
            return None;
        }
        Some(())
    }

    /// The kind of a value parameter; `Some(None)` for the others.
    fn kind_of_param(
        &mut self,
        params: &'a ast::Template,
        param: &'a TemplateParam,
        place: &TemplatePlace<'a>,
        bindings: &Bindings,
    ) -> Option<Option<ValueKind>> {
        let TemplateParamKind::Value(ty, _) = &param.kind else {
            return Some(None);
        };
        let environment = self.environment_of(params, bindings, place.environment.clone());
        self.in_template(place, environment, |checker| checker.value_kind(ty))
            .map(Some)
    }

    fn in_template<T>(
        &mut self,
        place: &TemplatePlace<'a>,
        environment: Rc<Environment<'a>>,
        work: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.in_place_of(
            place.namespace,
            Some(environment),
            place.owner,
            place.horizon,
            work,
        )
    }

    /// Gives the parameters that are still open their defaults.
    fn bind_defaults(
        &mut self,
        params: &'a ast::Template,
        place: &TemplatePlace<'a>,
        bindings: &mut Bindings,
    ) -> Option<()> {
        for (index, param) in params.params.iter().enumerate() {
            let name = param_name(param, index);
            if bindings.contains_key(&name) {
                continue;
            }
            if param.is_pack {
                bindings.insert(name, Argument::Pack(Vec::new()));
                continue;
            }
            let kind = self.kind_of_param(params, param, place, bindings)?;
            let environment = self.environment_of(params, bindings, place.environment.clone());
            let argument = self.in_template(place, environment, |checker| match &param.kind {
                TemplateParamKind::Type(Some(default)) => {
                    let ty = checker.resolve(default);
                    (!ty.ty.is_error()).then_some(Argument::Type(ty))
                }
                TemplateParamKind::Value(_, Some(default)) => {
                    checker.default_value_argument(default, kind)
                }
                _ => None,
            })?;
            bindings.insert(name, argument);
        }
        Some(())
    }

    fn default_value_argument(
        &mut self,
        default: &'a Expr,
        kind: Option<ValueKind>,
    ) -> Option<Argument> {
        let ty = match kind? {
            ValueKind::Value(ty) => ty,
            ValueKind::Function(_) => None,
        };
        let mark = (self.context.locals.len(), self.context.values.len());
        let (operand, block) = self.in_block(|checker| {
            let operand = checker.expression(default);
            let operand = match ty {
                Some(ty) => checker.convert(operand, ty, "a template parameter"),
                None => operand,
            };
            checker.rvalue(operand)
        });
        if let Repr::Functions(set) = &operand.repr
            && let [id] = set.users[..]
        {
            return Some(Argument::Function(id));
        }
        let ty = operand.ty;
        let value = self.constant_of(&operand, block, mark, "a template argument")?;
        value.as_int().map(|value| Argument::Value(ty, value))
    }

    /// Where a function template's names are looked up.
    fn function_place(&self, id: FunctionId) -> TemplatePlace<'a> {
        let info = &self.functions[id];
        TemplatePlace {
            namespace: info.namespace,
            environment: info.environment.clone(),
            owner: info.owner,
            horizon: info.declared.max(info.defined),
        }
    }

    /// The instance of a function template that a call's arguments ask for, if they fit.
    pub(super) fn deduce_instance(
        &mut self,
        id: FunctionId,
        explicit: Option<&'a [TemplateArg]>,
        args: &[Operand<'a>],
    ) -> Option<FunctionId> {
        let info = &self.functions[id];
        let ast = info.ast;
        let takes_pack = ast.params.last().is_some_and(|p| p.is_pack);
        if args.len() > ast.params.len() && !takes_pack {
            return None;
        }
        let given = ast
            .params
            .iter()
            .take_while(|p| p.default.is_none() && !p.is_pack)
            .count();
        if args.len() < given {
            return None;
        }
        self.instance_from(id, explicit, |checker, deduction, bindings| {
            for (index, arg) in args.iter().enumerate() {
                let param = ast.params.get(index).or(ast.params.last())?;
                if param.is_pack {
                    return checker.deduce_pack(deduction, param, &args[index..], bindings);
                }
                checker.deduce_operand(deduction, &param.ty, arg, bindings)?;
            }
            Some(())
        })
    }

    /// The instance that parameter types ask for: for function arguments and instantiations.
    pub(super) fn deduce_from_types(
        &mut self,
        id: FunctionId,
        explicit: Option<&'a [TemplateArg]>,
        types: Option<&[Qualified]>,
    ) -> Option<FunctionId> {
        let ast = self.functions[id].ast;
        if types.is_some_and(|types| types.len() != ast.params.len()) {
            return None;
        }
        self.instance_from(id, explicit, |checker, deduction, bindings| {
            for (param, ty) in ast.params.iter().zip(types.unwrap_or(&[])) {
                checker.deduce(deduction, &param.ty, *ty, bindings)?;
            }
            Some(())
        })
    }

    /// The instance of a conversion operator template that gives a type.
    pub(super) fn deduce_conversion(&mut self, id: FunctionId, to: Ty) -> Option<FunctionId> {
        let result = self.functions[id].ast.result.as_ref()?;
        self.instance_from(id, None, |checker, deduction, bindings| {
            checker.deduce(deduction, result, Qualified::plain(to), bindings)
        })
    }

    /// The instance of a function template with the arguments written, those that `deduce` finds,
    /// and defaults for the rest.
    fn instance_from(
        &mut self,
        id: FunctionId,
        explicit: Option<&'a [TemplateArg]>,
        deduce: impl FnOnce(&mut Self, &Deduction<'a, '_>, &mut Bindings) -> Option<()>,
    ) -> Option<FunctionId> {
        let params = self.functions[id].ast.template.as_ref()?;
        let found = self.silently(|checker| {
            let place = checker.function_place(id);
            let mut bindings = Bindings::new();
            if let Some(explicit) = explicit {
                checker.bind_written(params, explicit, &place, &mut bindings)?;
            }
            let fixed = bindings.clone();
            let deduction = Deduction {
                params,
                fixed: &fixed,
            };
            deduce(checker, &deduction, &mut bindings)?;
            checker.bind_defaults(params, &place, &mut bindings)?;
            Self::ordered(params, &bindings)
        })?;
        self.function_instance(id, found)
    }

    fn deduce_pack(
        &mut self,
        deduction: &Deduction<'a, '_>,
        param: &'a ast::Param,
        args: &[Operand<'a>],
        bindings: &mut Bindings,
    ) -> Option<()> {
        let inner = match &param.ty.kind {
            TypeExprKind::Expansion(inner) => inner,
            _ => &param.ty,
        };
        let names: Vec<(Name, usize)> = deduction
            .params
            .params
            .iter()
            .enumerate()
            .filter(|(_, p)| p.is_pack)
            .map(|(index, p)| (param_name(p, index), index))
            .collect();
        let mut lists: HashMap<Name, Vec<Argument>> = HashMap::new();
        for arg in args {
            let mut one = bindings.clone();
            for (name, _) in &names {
                one.remove(name);
            }
            let empty = Bindings::new();
            let open = Deduction {
                params: deduction.params,
                fixed: &empty,
            };
            self.deduce_operand(&open, inner, arg, &mut one)?;
            for (name, _) in &names {
                if let Some(argument) = one.remove(name) {
                    lists.entry(name.clone()).or_default().push(argument);
                }
            }
        }
        for (name, list) in lists {
            bindings.insert(name, Argument::Pack(list));
        }
        Some(())
    }

    /// Deduces from an argument of a call.
    fn deduce_operand(
        &mut self,
        deduction: &Deduction<'a, '_>,
        pattern: &'a TypeExpr,
        arg: &Operand<'a>,
        bindings: &mut Bindings,
    ) -> Option<()> {
        match &arg.repr {
            Repr::List(_) | Repr::Poison => return Some(()),
            Repr::Functions(set) => {
                let [id] = set.users[..] else {
                    return None;
                };
                if self.functions[id].is_template {
                    return None;
                }
                let ty = self.callable_type(id);
                return self.deduce(deduction, pattern, Qualified::plain(ty), bindings);
            }
            _ => {}
        }
        let by_reference = matches!(Self::unqualified(pattern).kind, TypeExprKind::Reference(_));
        let ty = if by_reference {
            match arg.as_place() {
                Some(lvalue) => Qualified {
                    ty: arg.ty,
                    is_const: lvalue.is_const,
                    space: Some(lvalue.space),
                    is_reference: false,
                },
                None => Qualified {
                    space: Some(AddressSpace::Thread),
                    ..Qualified::plain(arg.ty)
                },
            }
        } else {
            match (self.types.kind(arg.ty), arg.as_place()) {
                (Kind::Array(element, _), Some(lvalue)) => {
                    let (space, is_const) = (lvalue.space, lvalue.is_const);
                    Qualified::plain(self.types.pointer(space, element, is_const))
                }
                _ => Qualified::plain(self.types.value_type(arg.ty)),
            }
        };
        self.deduce(deduction, pattern, ty, bindings)
    }

    /// The type of a function as a value.
    pub(super) fn callable_type(&mut self, id: FunctionId) -> Ty {
        let index = match self.callables.iter().position(|&known| known == id) {
            Some(index) => index,
            None => {
                self.callables.push(id);
                self.callables.len() - 1
            }
        };
        self.types.intern(Kind::Callable(index))
    }

    /// Matches a pattern against a type; `None` if they cannot agree.
    fn deduce(
        &mut self,
        deduction: &Deduction<'a, '_>,
        pattern: &'a TypeExpr,
        ty: Qualified,
        bindings: &mut Bindings,
    ) -> Option<()> {
        match &pattern.kind {
            TypeExprKind::Path(path) => {
                if let Some(name) = bare_name(pattern)
                    && deduction.is_open(name)
                {
                    return deduction.bind(name, Argument::Type(ty), bindings);
                }
                let segment = path.segments.last()?;
                match &segment.args {
                    Some(args) => self.deduce_arguments(deduction, segment, args, ty, bindings),
                    None => Some(()),
                }
            }
            TypeExprKind::Qualified {
                inner,
                is_const,
                space,
                ..
            } => {
                if let (Some(wanted), Some(given)) = (space, ty.space)
                    && *wanted != given
                {
                    return None;
                }
                let constant = *space == Some(AddressSpace::Constant);
                let ty = Qualified {
                    is_const: ty.is_const && !is_const && !constant,
                    space: if space.is_some() { None } else { ty.space },
                    ..ty
                };
                self.deduce(deduction, inner, ty, bindings)
            }
            TypeExprKind::Pointer(inner) => {
                let Kind::Pointer {
                    space,
                    pointee,
                    is_const,
                } = self.types.kind(ty.ty)
                else {
                    return None;
                };
                let pointee = Qualified {
                    ty: pointee,
                    is_const,
                    space: Some(space),
                    is_reference: false,
                };
                self.deduce(deduction, inner, pointee, bindings)
            }
            TypeExprKind::Reference(inner) => {
                let ty = Qualified {
                    is_reference: false,
                    ..ty
                };
                self.deduce(deduction, inner, ty, bindings)
            }
            TypeExprKind::Array(inner, length) => {
                let (element, len) = match self.types.kind(ty.ty) {
                    Kind::Array(element, len) => (element, len),
                    // An array parameter of a function is a pointer.
                    Kind::Pointer { pointee, .. } => {
                        let element = Qualified { ty: pointee, ..ty };
                        return self.deduce(deduction, inner, element, bindings);
                    }
                    _ => return None,
                };
                if let Some(length) = length {
                    self.deduce_value(
                        deduction,
                        length,
                        Argument::Value(Ty::ULONG, i64::from(len)),
                        bindings,
                    )?;
                }
                self.deduce(deduction, inner, Qualified { ty: element, ..ty }, bindings)
            }
            TypeExprKind::Expansion(inner) => self.deduce(deduction, inner, ty, bindings),
            TypeExprKind::Auto | TypeExprKind::Decltype(_) | TypeExprKind::Function(..) => Some(()),
        }
    }

    /// Matches an expression in a pattern: only a bare parameter name takes the value.
    fn deduce_value(
        &mut self,
        deduction: &Deduction<'a, '_>,
        pattern: &'a Expr,
        value: Argument,
        bindings: &mut Bindings,
    ) -> Option<()> {
        if let ExprKind::Path(path) = &pattern.kind
            && let [PathSegment { ident, args: None }] = &path.segments[..]
            && deduction.is_open(&ident.name)
        {
            return deduction.bind(&ident.name, value, bindings);
        }
        Some(())
    }

    /// Matches `name<patterns>` against a type.
    fn deduce_arguments(
        &mut self,
        deduction: &Deduction<'a, '_>,
        segment: &'a PathSegment,
        patterns: &'a [TemplateArg],
        ty: Qualified,
        bindings: &mut Bindings,
    ) -> Option<()> {
        let scalar = |scalar| Argument::Type(Qualified::plain(Ty::scalar(scalar)));
        let int = |value: u8| Argument::Value(Ty::INT, i64::from(value));
        let arguments = match (&*segment.ident.name, self.types.kind(ty.ty)) {
            ("vec", Kind::Vector(element, len, Packing::Aligned))
            | ("packed_vec", Kind::Vector(element, len, Packing::Packed)) => {
                vec![scalar(element), int(len)]
            }
            (
                "matrix",
                Kind::Matrix {
                    scalar: element,
                    columns,
                    rows,
                },
            ) => vec![scalar(element), int(columns), int(rows)],
            ("simdgroup_matrix", Kind::SimdgroupMatrix(element)) => {
                vec![scalar(element), int(8), int(8)]
            }
            ("atomic" | "_atomic", Kind::Atomic(element)) => vec![scalar(element)],
            (_, Kind::Struct(id)) => {
                let template = self.structs[id].template?;
                let name = &segment.ident.name;
                if let (true, Some(argument)) =
                    (deduction.is_open(name), Some(Argument::Template(template)))
                {
                    deduction.bind(name, argument, bindings)?;
                } else if *self.templates[template].name != **name {
                    // An alias template: its arguments cannot be seen through.
                    return match self.find(name) {
                        Some(Entity::Template(id))
                            if matches!(self.templates[id].kind, TemplateKind::Alias(_)) =>
                        {
                            Some(())
                        }
                        _ => None,
                    };
                }
                self.structs[id].arguments.clone()
            }
            ("vec" | "packed_vec" | "matrix" | "simdgroup_matrix" | "atomic" | "_atomic", _) => {
                return None;
            }
            _ => return Some(()),
        };
        for (index, pattern) in patterns.iter().enumerate() {
            if let TemplateArg::Type(TypeExpr {
                kind: TypeExprKind::Expansion(inner),
                ..
            }) = pattern
            {
                if let Some(name) = bare_name(inner) {
                    let rest = match arguments.get(index) {
                        Some(Argument::Pack(list)) => list.clone(),
                        _ => arguments[index.min(arguments.len())..].to_vec(),
                    };
                    return deduction.bind(name, Argument::Pack(rest), bindings);
                }
                return Some(());
            }
            let argument = arguments.get(index)?;
            self.match_argument(deduction, pattern, argument, bindings)?;
        }
        Some(())
    }

    /// Matches one template argument of a pattern; parts without open parameters must be equal.
    fn match_argument(
        &mut self,
        deduction: &Deduction<'a, '_>,
        pattern: &'a TemplateArg,
        argument: &Argument,
        bindings: &mut Bindings,
    ) -> Option<()> {
        match (pattern, argument) {
            (TemplateArg::Type(pattern), Argument::Type(ty)) => {
                self.deduce(deduction, pattern, *ty, bindings)?;
                if !deduction.mentions(pattern) {
                    let resolved = self.resolve(pattern);
                    return (resolved.ty == ty.ty).then_some(());
                }
                Some(())
            }
            (TemplateArg::Expr(expr), Argument::Type(ty)) => match &expr.kind {
                ExprKind::Path(path) => {
                    let name = &path.segments.last()?.ident.name;
                    if path.segments.len() == 1 && deduction.is_open(name) {
                        return deduction.bind(name, Argument::Type(*ty), bindings);
                    }
                    let found = self.type_argument(pattern)?;
                    (found.ty == ty.ty).then_some(())
                }
                _ => None,
            },
            (TemplateArg::Type(pattern), Argument::Template(_)) => {
                let name = bare_name(pattern)?;
                deduction.is_open(name).then_some(())?;
                deduction.bind(name, argument.clone(), bindings)
            }
            (TemplateArg::Expr(expr), argument) => {
                if let ExprKind::Path(path) = &expr.kind
                    && let [PathSegment { ident, args: None }] = &path.segments[..]
                    && deduction.is_open(&ident.name)
                {
                    return deduction.bind(&ident.name, argument.clone(), bindings);
                }
                let Argument::Value(ty, value) = argument else {
                    return None;
                };
                let known = self.value_argument(pattern, Some(*ty))?;
                (known == Argument::Value(*ty, *value)).then_some(())
            }
            (TemplateArg::Type(pattern), Argument::Value(..)) => {
                let name = bare_name(pattern)?;
                deduction.is_open(name).then_some(())?;
                deduction.bind(name, argument.clone(), bindings)
            }
            _ => None,
        }
    }

    /// Counts an instance; `false` once there are too many.
    fn count_instance(&mut self, span: Span) -> bool {
        self.instance_count += 1;
        if self.instance_count > INSTANCE_LIMIT {
            if self.instance_count == INSTANCE_LIMIT + 1 {
                self.report.push(
                    Diagnostic::error(
                        span,
                        format!("the templates make more than {INSTANCE_LIMIT} instances"),
                    )
                    .with_hint("does a template ask for ever new instances of itself?"),
                );
            }
            return false;
        }
        if self.instances.len() >= INSTANCE_DEPTH {
            if !self.too_deep {
                self.too_deep = true;
                self.report.push(
                    Diagnostic::error(
                        span,
                        format!("templates ask for each other more than {INSTANCE_DEPTH} deep"),
                    )
                    .with_hint("does the recursion of a template ever end?"),
                );
            }
            return false;
        }
        true
    }

    /// The text of a list of arguments, `<float, 4>`.
    fn argument_text(&self, arguments: &[Argument]) -> String {
        let one = |argument: &Argument| match argument {
            Argument::Type(ty) => {
                let space = ty.space.map_or(String::new(), |s| {
                    format!("{} ", super::types::space_name(s))
                });
                let constness = if ty.is_const && ty.space != Some(AddressSpace::Constant) {
                    "const "
                } else {
                    ""
                };
                format!(
                    "{constness}{space}{}{}",
                    self.type_name(ty.ty),
                    if ty.is_reference { " &" } else { "" }
                )
            }
            Argument::Value(ty, value) => match self.types.kind(*ty) {
                Kind::Scalar(crate::ir::Scalar::Bool) => (*value != 0).to_string(),
                _ => value.to_string(),
            },
            Argument::Function(id) => self.functions[*id].name.to_string(),
            Argument::Template(id) => self.templates[*id].name.to_string(),
            Argument::Pack(list) => {
                let text = self.argument_text(list);
                text.get(1..text.len().saturating_sub(1))
                    .unwrap_or("")
                    .to_string()
            }
        };
        let list: Vec<String> = arguments.iter().map(one).collect();
        format!("<{}>", list.join(", "))
    }

    /// The instance of a function template for these arguments.
    fn function_instance(
        &mut self,
        id: FunctionId,
        arguments: Vec<Argument>,
    ) -> Option<FunctionId> {
        if let Some(known) = self.functions[id].instances.get(&arguments) {
            return *known;
        }
        let span = self.functions[id].ast.name.span;
        if !self.count_instance(span) {
            return None;
        }
        let ast = self.functions[id].ast;
        let params = ast.template.as_ref()?;
        let bindings: Bindings = params
            .params
            .iter()
            .enumerate()
            .zip(&arguments)
            .map(|((index, param), argument)| (param_name(param, index), argument.clone()))
            .collect();
        let info = &self.functions[id];
        let environment = self.environment_of(params, &bindings, info.environment.clone());
        let text = self.argument_text(&arguments);
        let instance = FunctionInfo {
            name: Self::name_of(format!("{}{text}", info.ast.name.name)),
            ast,
            namespace: info.namespace,
            owner: info.owner,
            environment: Some(environment),
            declared: info.declared,
            defined: info.defined,
            is_template: false,
            instance_of: Some(id),
            signature: None,
            state: State::Declared,
            instances: HashMap::new(),
        };
        let new = self.functions.len();
        self.functions.push(instance);
        // An unfinished entry ends a signature that asks for itself.
        self.functions[id].instances.insert(arguments.clone(), None);
        let made = self.silently(|checker| {
            checker.in_function_scope(new, |checker| checker.complete_signature(new));
            Some(())
        });
        let result = made.map(|()| new);
        self.functions[id].instances.insert(arguments, result);
        result
    }

    /// The most specialised of several instances that fit equally well.
    pub(super) fn most_specialised(&self, ids: &[FunctionId], among: usize) -> Option<FunctionId> {
        if ids.len() != among {
            return None;
        }
        let score = |id: &FunctionId| {
            let info = &self.functions[*id];
            let open: Vec<&str> = info
                .ast
                .template
                .iter()
                .flat_map(|t| &t.params)
                .filter_map(|p| p.name.as_ref().map(|n| &*n.name))
                .collect();
            let packs = info.ast.params.iter().filter(|p| p.is_pack).count() as i64;
            info.ast
                .params
                .iter()
                .map(|p| specificity(&p.ty, &open))
                .sum::<i64>()
                - 1000 * packs
        };
        let best = ids.iter().map(score).max()?;
        let mut top = ids.iter().filter(|id| score(id) == best);
        match (top.next(), top.next()) {
            (Some(id), None) => Some(*id),
            _ => None,
        }
    }

    /// Why a template does not fit, for a message.
    pub(super) fn explain_deduction(
        &mut self,
        id: FunctionId,
        explicit: Option<&'a [TemplateArg]>,
        args: &[Operand<'a>],
    ) -> String {
        let ast = self.functions[id].ast;
        if args.len() > ast.params.len() && !ast.params.last().is_some_and(|p| p.is_pack) {
            return format!(
                "it takes {} arguments, not {}",
                ast.params.len(),
                args.len()
            );
        }
        let required = ast
            .params
            .iter()
            .take_while(|p| p.default.is_none() && !p.is_pack)
            .count();
        if args.len() < required {
            return format!("it takes {required} arguments, not {}", args.len());
        }
        let Some(params) = ast.template.as_ref() else {
            return "none fits".to_string();
        };
        let place = self.function_place(id);
        let mut bindings = Bindings::new();
        if let Some(explicit) = explicit
            && self
                .silently(|checker| checker.bind_written(params, explicit, &place, &mut bindings))
                .is_none()
        {
            return "its template arguments do not fit".to_string();
        }
        let fixed = bindings.clone();
        let deduction = Deduction {
            params,
            fixed: &fixed,
        };
        for (index, (param, arg)) in ast.params.iter().zip(args).enumerate() {
            let fits = self.silently(|checker| {
                checker.deduce_operand(&deduction, &param.ty, arg, &mut bindings)
            });
            if fits.is_none() {
                let given = self.operand_type_name(arg);
                return format!("argument {} (`{given}`) does not match", index + 1);
            }
        }
        for (index, param) in params.params.iter().enumerate() {
            let name = param_name(param, index);
            let has_default = matches!(
                param.kind,
                TemplateParamKind::Type(Some(_)) | TemplateParamKind::Value(_, Some(_))
            );
            if !bindings.contains_key(&name) && !has_default && !param.is_pack {
                return format!("nothing says what `{name}` is");
            }
        }
        "these arguments are excluded".to_string()
    }

    /// `template <> result name<args>(params) { .. }`.
    pub(super) fn specialise_function(&mut self, mut info: FunctionInfo<'a>) {
        let ast = info.ast;
        let known = match info.owner {
            None => self.namespaces[info.namespace]
                .names
                .get(&ast.name.name)
                .map(|(e, _)| e.clone()),
            Some(owner) => self.structs[owner].names.get(&ast.name.name).cloned(),
        };
        let templates: Vec<FunctionId> = match known {
            Some(Entity::Functions(set)) => set
                .users
                .into_iter()
                .filter(|&id| self.functions[id].is_template)
                .collect(),
            _ => Vec::new(),
        };
        let types: Vec<Qualified> = {
            let (namespace, environment, owner, horizon) = (
                info.namespace,
                info.environment.clone(),
                info.owner,
                self.sequence,
            );
            self.in_place_of(namespace, environment, owner, horizon, |checker| {
                ast.params.iter().map(|p| checker.resolve(&p.ty)).collect()
            })
        };
        if types.iter().any(|t| t.ty.is_error()) {
            return;
        }
        let explicit = ast.specialization.as_deref();
        for id in templates {
            if let Some(instance) = self.deduce_from_types(id, explicit, Some(&types)) {
                let arguments = self.functions[id]
                    .instances
                    .iter()
                    .find(|(_, known)| **known == Some(instance))
                    .map(|(arguments, _)| arguments.clone());
                if self.functions[instance].state != State::Declared {
                    self.fail(Diagnostic::error(
                        ast.name.span,
                        format!(
                            "`{}` was used before this specialisation of it",
                            self.functions[instance].name
                        ),
                    ));
                    return;
                }
                info.name = self.functions[instance].name.clone();
                info.instance_of = None;
                let new = self.functions.len();
                self.functions.push(info);
                self.in_function_scope(new, |checker| checker.complete_signature(new));
                if let Some(arguments) = arguments {
                    self.functions[id].instances.insert(arguments, Some(new));
                }
                return;
            }
        }
        self.fail(Diagnostic::error(
            ast.name.span,
            format!(
                "there is no template `{}` that this could be a specialisation of",
                ast.name.name
            ),
        ));
    }

    /// `template [[host_name("x")]] kernel void name<args>(params);`
    pub(super) fn explicit_instantiation(&mut self, ast: &'a ast::Function) {
        let name = &ast.name.name;
        let found = match &ast.owner {
            Some(path) => match self.resolve_path(path) {
                Some(Entity::Namespace(namespace)) => self.namespaces[namespace]
                    .names
                    .get(name)
                    .map(|(e, _)| e.clone()),
                _ => None,
            },
            None => self.find(name),
        };
        let Some(Entity::Functions(set)) = found else {
            match found {
                None => self.report_unknown(name, ast.name.span),
                Some(_) => self.fail(Diagnostic::error(
                    ast.name.span,
                    format!("`{name}` is not a function template"),
                )),
            }
            return;
        };
        let explicit = ast.specialization.as_deref();
        let types = self.silently(|checker| {
            let types: Vec<_> = ast.params.iter().map(|p| checker.resolve(&p.ty)).collect();
            Some(types)
        });
        let mut found = Vec::new();
        for &id in &set.users {
            // A declaration through a function type, `kernel decltype(f<float>) f<float>`, has no
            // parameters of its own.
            let through_type = ast.params.is_empty() && explicit.is_some();
            let same_count = self.functions[id].ast.params.len() == ast.params.len();
            if !self.functions[id].is_template || !(same_count || through_type) {
                continue;
            }
            let by_types = if through_type { None } else { types.as_deref() };
            let instance = self
                .deduce_from_types(id, explicit, by_types)
                .or_else(|| self.deduce_from_types(id, explicit, None));
            if let Some(instance) = instance {
                found.push(instance);
            }
        }
        let Some(&instance) = found.first() else {
            self.report_instantiation(ast, &set, explicit, types.as_deref());
            return;
        };
        let template = self.functions[instance]
            .instance_of
            .map_or(instance, |id| id);
        if !self.functions[template].ast.is_kernel && !ast.is_kernel {
            return;
        }
        if !self.functions[instance].ast.is_kernel {
            self.fail(Diagnostic::error(
                ast.name.span,
                format!("`{name}` is not a kernel"),
            ));
            return;
        }
        let host_name = self.host_name(&ast.attributes);
        let name = host_name.unwrap_or_else(|| self.functions[instance].name.clone());
        self.kernels.push(super::kernels::KernelRequest {
            name,
            function: instance,
            span: ast.name.span,
            attributes: &ast.attributes,
        });
    }

    fn report_instantiation(
        &mut self,
        ast: &'a ast::Function,
        set: &FunctionSet<'a>,
        explicit: Option<&'a [TemplateArg]>,
        types: Option<&[Qualified]>,
    ) {
        let before = self.report.list().len();
        // The arguments themselves may be wrong: say so where they are.
        for arg in explicit.unwrap_or(&[]) {
            match arg {
                TemplateArg::Type(ty) => {
                    self.resolve(ty);
                }
                TemplateArg::Expr(expr) => {
                    self.in_block(|checker| checker.expression(expr));
                }
            }
        }
        if types.is_none() && self.report.list().len() == before {
            for param in &ast.params {
                self.resolve(&param.ty);
            }
        }
        if self.report.list().len() > before {
            return;
        }
        let counts: Vec<usize> = set
            .users
            .iter()
            .map(|&id| self.functions[id].ast.params.len())
            .collect();
        let mut error = Diagnostic::error(
            ast.name.span,
            format!(
                "the template `{}` cannot be instantiated like this",
                ast.name.name
            ),
        );
        if !counts.contains(&ast.params.len()) {
            error = error.with_label(format!(
                "it has {} parameters, not {}",
                counts.first().copied().unwrap_or(0),
                ast.params.len()
            ));
        } else {
            error = error.with_label("its arguments do not fit");
        }
        if let Some(&id) = set.users.first() {
            error = error.with_related(self.functions[id].ast.name.span, "declared here");
        }
        self.fail(error);
    }

    fn add_template(
        &mut self,
        template: Template<'a>,
        name: &'a ast::Ident,
        owner: Option<StructId>,
    ) {
        let id = self.templates.len();
        self.templates.push(template);
        self.declare_anywhere(owner, name, Entity::Template(id));
    }

    /// The template that a specialisation is of.
    fn known_template(&mut self, name: &ast::Ident, owner: Option<StructId>) -> Option<TemplateId> {
        let known = match owner {
            Some(owner) => self.structs[owner].names.get(&name.name).cloned(),
            None => self.find(&name.name),
        };
        match known {
            Some(Entity::Template(id)) => Some(id),
            _ => None,
        }
    }

    /// `template <..> struct name`, or a specialisation of it.
    pub(super) fn declare_struct_template(
        &mut self,
        ast: &'a ast::Struct,
        span: Span,
        owner: Option<StructId>,
        environment: Option<Rc<Environment<'a>>>,
    ) {
        let (Some(name), Some(params)) = (&ast.name, &ast.template) else {
            self.fail(Diagnostic::error(span, "a template needs a name"));
            return;
        };
        let kind = TemplateKind::Struct(ast);
        if let Some(patterns) = &ast.specialization {
            self.add_specialisation(name, owner, params, patterns, kind);
            return;
        }
        if let Some(id) = self.known_template(name, owner)
            && let TemplateKind::Struct(known) = self.templates[id].kind
        {
            if known.is_forward && !ast.is_forward {
                self.templates[id].kind = kind;
                self.templates[id].params = params;
            } else if !ast.is_forward {
                self.fail(Diagnostic::error(
                    name.span,
                    format!("template `{}` is already defined", name.name),
                ));
            }
            return;
        }
        self.add_template(
            Template {
                name: name.name.clone(),
                kind,
                params,
                namespace: self.namespace,
                environment,
                owner,
                instances: HashMap::new(),
                special: Vec::new(),
            },
            name,
            owner,
        );
    }

    fn add_specialisation(
        &mut self,
        name: &ast::Ident,
        owner: Option<StructId>,
        params: &'a ast::Template,
        patterns: &'a [TemplateArg],
        kind: TemplateKind<'a>,
    ) {
        match self.known_template(name, owner) {
            Some(id) => self.templates[id].special.push(Specialisation {
                params,
                patterns,
                kind,
            }),
            None => self.fail(Diagnostic::error(
                name.span,
                format!("there is no template `{}` to specialise", name.name),
            )),
        }
    }

    /// `template <..> using name = type;`
    pub(super) fn declare_alias_template(
        &mut self,
        name: &'a ast::Ident,
        ty: &'a TypeExpr,
        params: Option<&'a ast::Template>,
        owner: Option<StructId>,
        environment: Option<Rc<Environment<'a>>>,
    ) {
        let Some(params) = params else {
            return;
        };
        self.add_template(
            Template {
                name: name.name.clone(),
                kind: TemplateKind::Alias(ty),
                params,
                namespace: self.namespace,
                environment,
                owner,
                instances: HashMap::new(),
                special: Vec::new(),
            },
            name,
            owner,
        );
    }

    /// `template <..> constant T name = value;`, or a specialisation of it.
    pub(super) fn declare_variable_template(
        &mut self,
        variable: &'a ast::Variable,
        owner: Option<StructId>,
        environment: Option<Rc<Environment<'a>>>,
    ) {
        let Some(params) = &variable.template else {
            self.fail(Diagnostic::error(
                variable.span,
                "a specialisation starts with `template <>`",
            ));
            return;
        };
        let kind = TemplateKind::Variable(variable);
        if let Some(patterns) = &variable.specialization {
            self.add_specialisation(&variable.name, owner, params, patterns, kind);
            return;
        }
        self.add_template(
            Template {
                name: variable.name.name.clone(),
                kind,
                params,
                namespace: self.namespace,
                environment,
                owner,
                instances: HashMap::new(),
                special: Vec::new(),
            },
            &variable.name,
            owner,
        );
    }

    /// `name<args>` of a struct, alias or variable template.
    pub(super) fn instantiate_named(
        &mut self,
        id: TemplateId,
        args: &'a [TemplateArg],
        span: Span,
    ) -> Option<Entity<'a>> {
        let template = &self.templates[id];
        let (params, name) = (template.params, template.name.clone());
        let place = TemplatePlace {
            namespace: template.namespace,
            environment: template.environment.clone(),
            owner: template.owner,
            horizon: self.sequence,
        };
        let mut bindings = Bindings::new();
        let written = self.expand_arguments(args);
        let errors = self.error_count();
        let bound = match written {
            Some(arguments) => self.bind_resolved(params, arguments, &mut bindings),
            None => self.bind_written(params, args, &place, &mut bindings),
        };
        bound?;
        if self.bind_defaults(params, &place, &mut bindings).is_none() {
            if self.error_count() == errors {
                let needed = params.params.len();
                self.fail(
                    Diagnostic::error(span, format!("template `{name}` needs more arguments"))
                        .with_label(format!(
                            "it has {needed} parameters, and {} arguments are given",
                            args.len()
                        )),
                );
            }
            return None;
        }
        let arguments = Self::ordered(params, &bindings)?;
        self.instantiate(id, arguments, span)
    }

    /// Errors so far, silent ones included.
    pub(super) fn error_count(&self) -> usize {
        self.report.list().len() + self.silent_errors
    }

    /// The arguments with packs expanded, if there is a pack among them.
    fn expand_arguments(&mut self, args: &'a [TemplateArg]) -> Option<Vec<Argument>> {
        let has_pack = args.iter().any(|arg| match arg {
            TemplateArg::Type(ty) => matches!(ty.kind, TypeExprKind::Expansion(_)),
            TemplateArg::Expr(expr) => matches!(expr.kind, ExprKind::Expansion(_)),
        });
        if !has_pack {
            return None;
        }
        let mut arguments = Vec::new();
        for arg in args {
            match arg {
                TemplateArg::Type(TypeExpr {
                    kind: TypeExprKind::Expansion(inner),
                    ..
                }) => {
                    for ty in self.expand_type(inner) {
                        arguments.push(Argument::Type(ty));
                    }
                }
                TemplateArg::Expr(Expr {
                    kind: ExprKind::Expansion(inner),
                    ..
                }) => {
                    for operand in self.expand(inner) {
                        if let Some(value) = operand.as_constant().and_then(Constant::as_int) {
                            arguments.push(Argument::Value(operand.ty, value));
                        }
                    }
                }
                TemplateArg::Type(ty) => arguments.push(Argument::Type(self.resolve(ty))),
                TemplateArg::Expr(_) => arguments.extend(self.value_argument(arg, None)),
            }
        }
        Some(arguments)
    }

    fn bind_resolved(
        &mut self,
        params: &'a ast::Template,
        arguments: Vec<Argument>,
        bindings: &mut Bindings,
    ) -> Option<()> {
        let mut rest = arguments.into_iter();
        for (index, param) in params.params.iter().enumerate() {
            let name = param_name(param, index);
            if param.is_pack {
                bindings.insert(name, Argument::Pack(rest.by_ref().collect()));
            } else if let Some(argument) = rest.next() {
                bindings.insert(name, argument);
            }
        }
        Some(())
    }

    /// The instance of a template for these arguments.
    pub(super) fn instantiate(
        &mut self,
        id: TemplateId,
        arguments: Vec<Argument>,
        span: Span,
    ) -> Option<Entity<'a>> {
        if let Some(known) = self.templates[id].instances.get(&arguments) {
            if known.is_none() {
                self.silent_errors += usize::from(self.silent);
            }
            return known.clone();
        }
        if !self.count_instance(span) {
            self.silent_errors += usize::from(self.silent);
            return None;
        }
        let (params, kind, bindings) = self.chosen_body(id, &arguments)?;
        let template = &self.templates[id];
        let (namespace, owner, parent, name) = (
            template.namespace,
            template.owner,
            template.environment.clone(),
            template.name.clone(),
        );
        let environment = self.environment_of(params, &bindings, parent);
        let text = self.argument_text(&arguments);
        let full_name = Self::name_of(format!("{name}{text}"));
        self.instances.push((span, full_name.clone()));
        let horizon = self.sequence;
        let made = match kind {
            TemplateKind::Struct(ast) if ast.is_forward => {
                self.fail(Diagnostic::error(
                    span,
                    format!("template `{name}` is declared but not defined"),
                ));
                None
            }
            TemplateKind::Struct(ast) => {
                let outer = std::mem::replace(&mut self.namespace, namespace);
                let made = self.new_struct(full_name, Some(environment), owner);
                let info = &mut self.structs[made];
                info.template = Some(id);
                info.arguments = arguments.clone();
                info.is_instance = true;
                let entity = Entity::Type(Qualified::plain(info.ty));
                self.templates[id]
                    .instances
                    .insert(arguments.clone(), Some(entity.clone()));
                // A struct's own mistakes are reported even if it is only tried.
                let silent = std::mem::replace(&mut self.silent, false);
                self.define_struct(made, ast, span);
                self.silent = silent;
                self.namespace = outer;
                Some(entity)
            }
            TemplateKind::Alias(ty) => {
                self.in_place_of(namespace, Some(environment), owner, horizon, |checker| {
                    let ty = checker.resolve(ty);
                    (!ty.ty.is_error()).then_some(Entity::Type(ty))
                })
            }
            TemplateKind::Variable(variable) => {
                let env = Some(environment);
                let global = self.in_place_of(namespace, env.clone(), owner, horizon, |checker| {
                    checker.make_global(variable, owner, env, namespace)
                });
                global.map(Entity::Global)
            }
        };
        self.instances.pop();
        self.templates[id].instances.insert(arguments, made.clone());
        made
    }

    /// The specialisation that fits the arguments best, else the template itself.
    fn chosen_body(
        &mut self,
        id: TemplateId,
        arguments: &[Argument],
    ) -> Option<(&'a ast::Template, TemplateKind<'a>, Bindings)> {
        let mut best: Option<(i64, Specialisation<'a>, Bindings)> = None;
        for special in self.templates[id].special.clone() {
            let fitted = self.silently(|checker| {
                let fixed = Bindings::new();
                let deduction = Deduction {
                    params: special.params,
                    fixed: &fixed,
                };
                let mut bindings = Bindings::new();
                let template = &checker.templates[id];
                let (namespace, environment, owner, horizon) = (
                    template.namespace,
                    template.environment.clone(),
                    template.owner,
                    checker.sequence,
                );
                checker.in_place_of(namespace, environment, owner, horizon, |checker| {
                    checker.match_patterns(&deduction, special.patterns, arguments, &mut bindings)
                })?;
                Self::ordered(special.params, &bindings)?;
                Some(bindings)
            });
            if let Some(bindings) = fitted {
                let open: Vec<&str> = special
                    .params
                    .params
                    .iter()
                    .filter_map(|p| p.name.as_ref().map(|n| &*n.name))
                    .collect();
                let score = special
                    .patterns
                    .iter()
                    .map(|p| match p {
                        TemplateArg::Type(ty) => specificity(ty, &open),
                        TemplateArg::Expr(Expr {
                            kind: ExprKind::Path(path),
                            ..
                        }) if path.segments.len() == 1
                            && open.contains(&&*path.segments[0].ident.name) =>
                        {
                            0
                        }
                        TemplateArg::Expr(_) => 10,
                    })
                    .sum::<i64>();
                if best.as_ref().is_none_or(|(known, ..)| score > *known) {
                    best = Some((score, special, bindings));
                }
            }
        }
        if let Some((_, special, bindings)) = best {
            return Some((special.params, special.kind, bindings));
        }
        let template = &self.templates[id];
        let bindings = template
            .params
            .params
            .iter()
            .enumerate()
            .zip(arguments)
            .map(|((index, param), argument)| (param_name(param, index), argument.clone()))
            .collect();
        Some((template.params, template.kind, bindings))
    }

    fn match_patterns(
        &mut self,
        deduction: &Deduction<'a, '_>,
        patterns: &'a [TemplateArg],
        arguments: &[Argument],
        bindings: &mut Bindings,
    ) -> Option<()> {
        let mut flat = Vec::new();
        for argument in arguments {
            match argument {
                Argument::Pack(list) => flat.extend(list.iter().cloned()),
                argument => flat.push(argument.clone()),
            }
        }
        let mut rest = flat.into_iter();
        for pattern in patterns {
            let expansion = match pattern {
                TemplateArg::Type(TypeExpr {
                    kind: TypeExprKind::Expansion(inner),
                    ..
                }) => bare_name(inner).cloned(),
                TemplateArg::Expr(Expr {
                    kind: ExprKind::Expansion(inner),
                    ..
                }) => match &inner.kind {
                    ExprKind::Path(path) => path.segments.last().map(|s| s.ident.name.clone()),
                    _ => None,
                },
                _ => None,
            };
            if let Some(name) = expansion {
                return deduction.bind(&name, Argument::Pack(rest.collect()), bindings);
            }
            let argument = rest.next()?;
            self.match_argument(deduction, pattern, &argument, bindings)?;
        }
        rest.next().is_none().then_some(())
    }
}

/// What a value parameter takes.
#[derive(Clone)]
enum ValueKind {
    /// A function with these parameters, if they are known.
    Function(Option<Vec<Qualified>>),
    /// A value of this type, or of any.
    Value(Option<Ty>),
}

/// Where a template's own names are looked up.
struct TemplatePlace<'a> {
    namespace: NamespaceId,
    environment: Option<Rc<Environment<'a>>>,
    owner: Option<StructId>,
    horizon: usize,
}

/// The parameters that a match may bind.
struct Deduction<'a, 'b> {
    params: &'a ast::Template,
    /// Given explicitly: matched types need not agree with these.
    fixed: &'b Bindings,
}

impl Deduction<'_, '_> {
    fn is_open(&self, name: &str) -> bool {
        self.params
            .params
            .iter()
            .any(|p| p.name.as_ref().is_some_and(|n| *n.name == *name))
    }

    /// Whether a type expression has one of the parameters in it.
    fn mentions(&self, ty: &TypeExpr) -> bool {
        match &ty.kind {
            TypeExprKind::Path(path) => path.segments.iter().any(|segment| {
                self.is_open(&segment.ident.name)
                    || segment.args.iter().flatten().any(|arg| match arg {
                        TemplateArg::Type(ty) => self.mentions(ty),
                        TemplateArg::Expr(expr) => match &expr.kind {
                            ExprKind::Path(path) => {
                                path.segments.iter().any(|s| self.is_open(&s.ident.name))
                            }
                            // Computed arguments are compared after the others are bound.
                            _ => true,
                        },
                    })
            }),
            TypeExprKind::Pointer(inner)
            | TypeExprKind::Reference(inner)
            | TypeExprKind::Array(inner, _)
            | TypeExprKind::Expansion(inner)
            | TypeExprKind::Qualified { inner, .. } => self.mentions(inner),
            TypeExprKind::Decltype(_) | TypeExprKind::Function(..) => true,
            TypeExprKind::Auto => false,
        }
    }

    /// Binds a parameter, or checks that it already has this argument.
    fn bind(&self, name: &Name, argument: Argument, bindings: &mut Bindings) -> Option<()> {
        match bindings.get(name) {
            None => {
                bindings.insert(name.clone(), argument);
                Some(())
            }
            Some(_) if self.fixed.contains_key(name) => Some(()),
            Some(Argument::Value(_, known)) => match argument {
                Argument::Value(_, value) if value == *known => Some(()),
                _ => None,
            },
            Some(known) => (*known == argument).then_some(()),
        }
    }
}

/// How much of a pattern is fixed: what is fixed more is more specialised.
fn specificity(ty: &TypeExpr, open: &[&str]) -> i64 {
    match &ty.kind {
        TypeExprKind::Path(path) => match &path.segments[..] {
            [PathSegment { ident, args: None }] if open.contains(&&*ident.name) => 0,
            segments => {
                let args = segments.iter().flat_map(|s| s.args.iter().flatten());
                let inner: i64 = args
                    .map(|arg| match arg {
                        TemplateArg::Type(ty) => specificity(ty, open),
                        TemplateArg::Expr(_) => 1,
                    })
                    .sum();
                10 + inner
            }
        },
        TypeExprKind::Pointer(inner) => 5 + specificity(inner, open),
        TypeExprKind::Array(inner, _) => 5 + specificity(inner, open),
        TypeExprKind::Reference(inner) | TypeExprKind::Expansion(inner) => specificity(inner, open),
        TypeExprKind::Qualified {
            inner,
            is_const,
            space,
            ..
        } => i64::from(*is_const) + i64::from(space.is_some()) + specificity(inner, open),
        TypeExprKind::Auto => 0,
        TypeExprKind::Decltype(_) | TypeExprKind::Function(..) => 1,
    }
}
