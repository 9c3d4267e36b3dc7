//! Calls: which function is meant. The library's functions are described in `builtins`, and
//! templates deduce their arguments in `templates`.

mod arguments;
mod candidates;
mod messages;
mod overloaded_operators;

use super::Checker;
use super::builtins::{self, LibraryCandidate};
use super::conversions::Rank;
use super::operand::{Operand, Repr};
use super::scope::{Entity, FunctionId, FunctionSet};
use super::types::Kind;
use crate::diag::{Diagnostic, Span};
use crate::syntax::ast::{Expr, ExprKind};

/// A function that a call could mean, with how well each argument fits.
struct Candidate {
    what: Target,
    ranks: Vec<Rank>,
    is_template: bool,
}

/// What a candidate is.
#[derive(Clone)]
enum Target {
    User(FunctionId),
    Library(LibraryCandidate),
}

impl Candidate {
    /// Whether this fits better than the other: nowhere worse, and somewhere better.
    fn beats(&self, other: &Self) -> bool {
        let pairs = || self.ranks.iter().zip(&other.ranks);
        if pairs().any(|(l, r)| l > r) {
            return false;
        }
        pairs().any(|(l, r)| l < r) || (!self.is_template && other.is_template)
    }
}

impl<'a> Checker<'a> {
    /// `callee(args)`.
    pub(super) fn call(&mut self, callee: &'a Expr, args: &'a [Expr], span: Span) -> Operand<'a> {
        if let ExprKind::Path(path) = &callee.kind {
            if let Some(last) = path.segments.last()
                && &*last.ident.name == "is_function_constant_defined"
            {
                return self.function_constant_defined(args, span);
            }
            let Some(entity) = self.resolve_path(path) else {
                // Still look for mistakes in the arguments.
                self.arguments(args);
                return Operand::poison(span);
            };
            if let Entity::Type(ty) = entity {
                let args = self.arguments(args);
                return self.construct(ty.ty, args, false, span);
            }
            let callee = self.entity_operand(entity, callee.span);
            return self.call_operand(callee, args, span);
        }
        let callee = self.expression(callee);
        self.call_operand(callee, args, span)
    }

    fn call_operand(&mut self, callee: Operand<'a>, args: &'a [Expr], span: Span) -> Operand<'a> {
        let args = self.arguments(args);
        if callee.is_poison() {
            return Operand::poison(span);
        }
        match (&callee.repr, self.types.kind(callee.ty)) {
            (Repr::Functions(set), _) => self.call_set(set, args, callee.span, span),
            (_, Kind::Callable(index)) => match self.callables.get(index) {
                Some(&id) => {
                    let set = FunctionSet {
                        name: self.functions[id].name.clone(),
                        users: vec![id],
                        library: false,
                        explicit: None,
                        object: None,
                    };
                    self.call_set(&set, args, callee.span, span)
                }
                None => Operand::poison(span),
            },
            (_, Kind::Struct(_)) => {
                let mut all = vec![callee.clone()];
                all.extend(args);
                match self.operator_call("operator()", &all, span) {
                    Some(result) => result,
                    None => {
                        let name = self.type_name(callee.ty);
                        self.fail(Diagnostic::error(
                            callee.span,
                            format!("a `{name}` cannot be called: it has no `operator()`"),
                        ));
                        Operand::poison(span)
                    }
                }
            }
            _ => {
                let name = self.operand_type_name(&callee);
                self.fail(
                    Diagnostic::error(callee.span, format!("a `{name}` cannot be called"))
                        .with_label("not a function"),
                );
                Operand::poison(span)
            }
        }
    }

    /// Calls the function of a set that fits the arguments best.
    pub(super) fn call_set(
        &mut self,
        set: &FunctionSet<'a>,
        args: Vec<Operand<'a>>,
        name_span: Span,
        span: Span,
    ) -> Operand<'a> {
        if args.iter().any(Operand::is_poison) {
            return Operand::poison(span);
        }
        if set.library && set.object.is_some() {
            return self.library_method(set, args, span);
        }
        // A function of `numeric_limits` is its value, waiting for the call.
        if let (Some(object), [], []) = (&set.object, &set.users[..], &args[..]) {
            return Operand {
                span,
                ..(**object).clone()
            };
        }
        let mut candidates = self.user_candidates(set, &args);
        if set.library {
            if candidates.is_empty()
                && let Some(special) = builtins::special(&set.name)
            {
                let call = builtins::SpecialCall {
                    name: set.name.clone(),
                    explicit: set.explicit,
                    name_span,
                    span,
                };
                return special(self, &call, args);
            }
            candidates.extend(self.library_candidates(set, &args));
        }
        let best: Vec<usize> = (0..candidates.len())
            .filter(|&index| {
                !candidates
                    .iter()
                    .enumerate()
                    .any(|(other, candidate)| other != index && candidate.beats(&candidates[index]))
            })
            .collect();
        match best[..] {
            [] => {
                self.report_no_candidate(set, &args, name_span);
                Operand::poison(span)
            }
            [one] => {
                let target = candidates.swap_remove(one).what;
                self.call_target(target, set, args, span)
            }
            _ => {
                let targets: Vec<_> = best.iter().map(|&i| candidates[i].what.clone()).collect();
                if let Some(id) = self.most_specialised(
                    &targets
                        .iter()
                        .filter_map(|t| match t {
                            Target::User(id) => Some(*id),
                            Target::Library(_) => None,
                        })
                        .collect::<Vec<_>>(),
                    targets.len(),
                ) {
                    return self.call_target(Target::User(id), set, args, span);
                }
                self.report_ambiguous(set, &args, &targets, name_span);
                Operand::poison(span)
            }
        }
    }

    fn call_target(
        &mut self,
        target: Target,
        set: &FunctionSet<'a>,
        args: Vec<Operand<'a>>,
        span: Span,
    ) -> Operand<'a> {
        match target {
            Target::User(id) => self.call_user(id, set.object.as_deref(), args, span),
            Target::Library(candidate) => self.call_library(&candidate, args, span),
        }
    }
}
