//! Which specialisation of a template fits its arguments best.

use super::deduce::Deduction;
use super::{
    Argument, Bindings, Specialisation, TemplateKind, TemplatePlace, bare_name, param_name,
};
use crate::sema::Checker;
use crate::sema::scope::TemplateId;
use crate::syntax::ast::{self, Expr, ExprKind, PathSegment, TemplateArg, TypeExpr, TypeExprKind};

impl<'a> Checker<'a> {
    /// The specialisation that fits the arguments best, else the template itself.
    pub(super) fn chosen_body(
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
                let around = environment.clone();
                let place = TemplatePlace {
                    namespace,
                    environment: around.clone(),
                    owner,
                    horizon,
                };
                let arguments = checker.without_defaults(id, &place, special, arguments)?;
                checker.in_place_of(namespace, environment, owner, horizon, |checker| {
                    checker.match_patterns(&deduction, special.patterns, arguments, &mut bindings)
                })?;
                Self::ordered(special.params, &bindings)?;
                // What could not be deduced from, such as `enable_if_t<..>`, must now agree.
                let bound = Some(checker.environment_of(special.params, &bindings, around));
                let agrees = checker.in_place_of(namespace, bound, owner, horizon, |checker| {
                    checker.patterns_agree(special.patterns, arguments)
                });
                agrees.then_some(bindings)
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
                // One without parameters is for these arguments alone.
                let score = if open.is_empty() { i64::MAX } else { score };
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

    /// The arguments that a specialisation has patterns for, if the rest are the template's
    /// defaults: `template <typename T, typename U = void>` may be specialised as `name<int>`.
    pub(super) fn without_defaults<'b>(
        &mut self,
        id: TemplateId,
        place: &TemplatePlace<'a>,
        special: Specialisation<'a>,
        arguments: &'b [Argument],
    ) -> Option<&'b [Argument]> {
        let params = self.templates[id].params;
        let has_pack = params.params.iter().any(|p| p.is_pack);
        let Some((written, _)) = arguments.split_at_checked(special.patterns.len()) else {
            return Some(arguments);
        };
        if has_pack || written.len() == arguments.len() {
            return Some(arguments);
        }
        let mut bindings: Bindings = params
            .params
            .iter()
            .enumerate()
            .zip(written)
            .map(|((index, param), argument)| (param_name(param, index), argument.clone()))
            .collect();
        self.bind_defaults(params, place, &mut bindings)?;
        let full = Self::ordered(params, &bindings)?;
        (full == arguments).then_some(written)
    }

    /// Whether patterns whose parameters are all bound come to the arguments.
    pub(super) fn patterns_agree(
        &mut self,
        patterns: &'a [TemplateArg],
        arguments: &[Argument],
    ) -> bool {
        let is_expansion = |pattern: &TemplateArg| match pattern {
            TemplateArg::Type(ty) => matches!(ty.kind, TypeExprKind::Expansion(_)),
            TemplateArg::Expr(expr) => matches!(expr.kind, ExprKind::Expansion(_)),
        };
        // A pack was taken whole, and stands last.
        let mut pairs = patterns
            .iter()
            .zip(arguments)
            .take_while(|(pattern, _)| !is_expansion(pattern));
        pairs.all(|(pattern, argument)| match (pattern, argument) {
            (_, Argument::Type(ty)) => self.type_argument(pattern) == Some(*ty),
            (_, Argument::Value(ty, value)) => {
                let known = self.value_argument(pattern, Some(*ty));
                known == Some(Argument::Value(*ty, *value))
            }
            _ => true,
        })
    }

    pub(super) fn match_patterns(
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

/// How much of a pattern is fixed: what is fixed more is more specialised.
pub(super) fn specificity(ty: &TypeExpr, open: &[&str]) -> i64 {
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
