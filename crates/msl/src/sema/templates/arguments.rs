//! Template arguments as written: types, values and functions, bound to parameters.

use super::{Argument, Bindings, TemplatePlace, ValueKind, param_name};
use crate::diag::{Diagnostic, Span};
use crate::sema::Checker;
use crate::sema::constant::Constant;
use crate::sema::operand::{Operand, Repr};
use crate::sema::scope::{Entity, FunctionId, FunctionSet};
use crate::sema::types::{Kind, Qualified, Ty};
use crate::syntax::ast::{
    self, Expr, ExprKind, TemplateArg, TemplateParam, TemplateParamKind, TypeExpr, TypeExprKind,
};

impl<'a> Checker<'a> {
    /// One written argument for a parameter; types of value parameters may use earlier ones.
    pub(super) fn resolve_argument(
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
    pub(in crate::sema) fn type_argument(&mut self, arg: &'a TemplateArg) -> Option<Qualified> {
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

    pub(super) fn argument_span(arg: &TemplateArg) -> Span {
        match arg {
            TemplateArg::Type(ty) => ty.span,
            TemplateArg::Expr(expr) => expr.span,
        }
    }

    /// A template argument that must be a value; `None` as its type takes the value's own.
    pub(in crate::sema) fn value_argument(
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
    pub(super) fn function_argument(
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
        let found = self.versions(&set, params);
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

    /// The functions that a name with its template arguments means, with these parameters if known.
    pub(in crate::sema) fn versions(
        &mut self,
        set: &FunctionSet<'a>,
        params: Option<&[Qualified]>,
    ) -> Vec<FunctionId> {
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
        found
    }

    /// What kind of value a value parameter takes, in the environment of the earlier ones.
    pub(super) fn value_kind(&mut self, ty: &'a TypeExpr) -> Option<ValueKind> {
        if let TypeExprKind::Qualified { inner, .. } = &ty.kind {
            return self.value_kind(inner);
        }
        if let TypeExprKind::Pointer(to) | TypeExprKind::Reference(to) = &ty.kind
            && let TypeExprKind::Function(_, params) = &Self::unqualified(to).kind
        {
            let types = self.function_parameters(params)?;
            return Some(ValueKind::Function(Some(types)));
        }
        if Self::mentions_auto(ty) {
            return Some(ValueKind::Value(None));
        }
        let resolved = self.resolve(ty);
        match self.types.kind(resolved.ty) {
            Kind::Error => None,
            Kind::Callable(_) => Some(ValueKind::Function(None)),
            Kind::Function(index) => {
                let params = self.function_types.get(index).map(|(_, p)| p.clone());
                Some(ValueKind::Function(params))
            }
            _ => Some(ValueKind::Value(Some(resolved.ty))),
        }
    }

    /// Binds written arguments to parameters, from the first on; `None` if one does not fit.
    pub(super) fn bind_written(
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
    pub(super) fn kind_of_param(
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

    /// Gives the parameters that are still open their defaults.
    pub(super) fn bind_defaults(
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

    pub(super) fn default_value_argument(
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

    /// The arguments with packs expanded, if there is a pack among them.
    pub(super) fn expand_arguments(&mut self, args: &'a [TemplateArg]) -> Option<Vec<Argument>> {
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

    pub(super) fn bind_resolved(
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
}
