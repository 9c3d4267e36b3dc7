//! Template arguments from types: patterns with open parameters matched against what is given.

use std::collections::HashMap;

use super::{Argument, Bindings, TemplateKind, bare_name, param_name};
use crate::ir::{AddressSpace, Packing};
use crate::sema::Checker;
use crate::sema::operand::{Operand, Repr};
use crate::sema::scope::{Entity, FunctionId, TemplateId};
use crate::sema::types::{Kind, Qualified, Ty};
use crate::syntax::ast::{
    self, Expr, ExprKind, Name, PathSegment, TemplateArg, TypeExpr, TypeExprKind,
};

impl<'a> Checker<'a> {
    pub(super) fn deduce_pack(
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
    pub(super) fn deduce_operand(
        &mut self,
        deduction: &Deduction<'a, '_>,
        pattern: &'a TypeExpr,
        arg: &Operand<'a>,
        bindings: &mut Bindings,
    ) -> Option<()> {
        // Nothing to deduce: whatever converts fits.
        if !deduction.mentions(pattern) {
            return Some(());
        }
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
    pub(in crate::sema) fn callable_type(&mut self, id: FunctionId) -> Ty {
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
    pub(super) fn deduce(
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
    pub(super) fn deduce_value(
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
    pub(super) fn deduce_arguments(
        &mut self,
        deduction: &Deduction<'a, '_>,
        segment: &'a PathSegment,
        patterns: &'a [TemplateArg],
        ty: Qualified,
        bindings: &mut Bindings,
    ) -> Option<()> {
        if let Some(Entity::Template(alias)) = self.find(&segment.ident.name)
            && let TemplateKind::Alias(target) = self.templates[alias].kind
        {
            return self.deduce_alias(deduction, (alias, target), patterns, ty, bindings);
        }
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
                    return None;
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

    /// Matches `alias<patterns>` against a type: what the alias stands for says its arguments.
    pub(super) fn deduce_alias(
        &mut self,
        deduction: &Deduction<'a, '_>,
        (alias, target): (TemplateId, &'a TypeExpr),
        patterns: &'a [TemplateArg],
        ty: Qualified,
        bindings: &mut Bindings,
    ) -> Option<()> {
        let template = &self.templates[alias];
        let params = template.params;
        let (namespace, environment, owner) = (
            template.namespace,
            template.environment.clone(),
            template.owner,
        );
        let (horizon, fixed, mut found) = (self.sequence, Bindings::new(), Bindings::new());
        let open = Deduction {
            params,
            fixed: &fixed,
        };
        self.in_place_of(namespace, environment, owner, horizon, |checker| {
            checker.deduce(&open, target, ty, &mut found)
        })?;
        for ((index, param), pattern) in params.params.iter().enumerate().zip(patterns) {
            if let Some(argument) = found.get(&param_name(param, index)) {
                self.match_argument(deduction, pattern, argument, bindings)?;
            }
        }
        Some(())
    }

    /// Matches one template argument of a pattern; parts without open parameters must be equal.
    pub(super) fn match_argument(
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
}

/// The parameters that a match may bind.
pub(super) struct Deduction<'a, 'b> {
    pub(super) params: &'a ast::Template,
    /// Given explicitly: matched types need not agree with these.
    pub(super) fixed: &'b Bindings,
}

impl Deduction<'_, '_> {
    pub(super) fn is_open(&self, name: &str) -> bool {
        self.params
            .params
            .iter()
            .any(|p| p.name.as_ref().is_some_and(|n| *n.name == *name))
    }

    pub(super) fn in_path(&self, path: &ast::Path) -> bool {
        path.segments.iter().any(|segment| {
            self.is_open(&segment.ident.name)
                || segment.args.iter().flatten().any(|arg| match arg {
                    TemplateArg::Type(ty) => self.mentions(ty),
                    TemplateArg::Expr(expr) => match &expr.kind {
                        ExprKind::Path(path) => self.in_path(path),
                        // Computed arguments are compared after the others are bound.
                        _ => true,
                    },
                })
        })
    }

    /// Whether a type expression has one of the parameters in it.
    pub(super) fn mentions(&self, ty: &TypeExpr) -> bool {
        match &ty.kind {
            TypeExprKind::Path(path) => self.in_path(path),
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
    pub(super) fn bind(
        &self,
        name: &Name,
        argument: Argument,
        bindings: &mut Bindings,
    ) -> Option<()> {
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
