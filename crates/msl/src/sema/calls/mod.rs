//! Calls: which function is meant, and how its arguments are passed.

use super::Checker;
use super::builtins::{self, LibraryCandidate};
use super::conversions::Rank;
use super::operand::{Operand, Repr};
use super::scope::{Entity, FunctionId, FunctionSet};
use super::types::{Kind, Qualified, space_name};
use crate::diag::{Diagnostic, Span};
use crate::ir::{AddressSpace, Handle, Value};
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

    fn user_candidates(&mut self, set: &FunctionSet<'a>, args: &[Operand<'a>]) -> Vec<Candidate> {
        let mut candidates: Vec<Candidate> = Vec::new();
        // Methods rank their object too; static ones beside them fit any.
        let has_methods = set.users.iter().any(|&id| {
            let info = &self.functions[id];
            info.owner.is_some() && !info.ast.is_static
        });
        for &id in &set.users {
            let is_template = self.functions[id].is_template;
            let concrete = if is_template {
                match self.deduce_instance(id, set.explicit, args) {
                    Some(instance) => instance,
                    None => continue,
                }
            } else if set.explicit.is_some() {
                continue;
            } else {
                id
            };
            let Some(signature) = self.functions[concrete].signature.clone() else {
                continue;
            };
            if args.len() < signature.required || args.len() > signature.params.len() {
                continue;
            }
            let mut ranks = Vec::new();
            if let Some((space, is_const)) = signature.object {
                let Some(rank) = self.object_rank(set, space, is_const) else {
                    continue;
                };
                ranks.push(rank);
            } else if has_methods {
                ranks.push(Rank::Exact);
            }
            let fits = args.iter().zip(&signature.params).all(|(arg, &param)| {
                match self.passing_rank(arg, param) {
                    Some(rank) => {
                        ranks.push(rank);
                        true
                    }
                    None => false,
                }
            });
            if fits {
                candidates.push(Candidate {
                    what: Target::User(concrete),
                    ranks,
                    is_template,
                });
            }
        }
        candidates
    }

    /// How well a method's object fits it.
    fn object_rank(
        &self,
        set: &FunctionSet<'a>,
        space: AddressSpace,
        is_const: bool,
    ) -> Option<Rank> {
        let object = match &set.object {
            Some(object) => object.as_place(),
            None => self.context.this.as_ref(),
        };
        match object {
            Some(lvalue) => {
                let fits = lvalue.space == space && (is_const || !lvalue.is_const);
                fits.then_some(if is_const == lvalue.is_const {
                    Rank::Exact
                } else {
                    Rank::Promotion
                })
            }
            // A value gets a variable of its own.
            None if set.object.is_some() => (space == AddressSpace::Thread).then_some(Rank::Exact),
            None => None,
        }
    }

    fn library_candidates(
        &mut self,
        set: &FunctionSet<'a>,
        args: &[Operand<'a>],
    ) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        for candidate in builtins::candidates(self, &set.name, args) {
            let mut ranks = Vec::new();
            let fits =
                args.iter().zip(&candidate.params).all(|(arg, &param)| {
                    match builtins::rank(self, arg, param) {
                        Some(rank) => {
                            ranks.push(rank);
                            true
                        }
                        None => false,
                    }
                });
            if fits {
                candidates.push(Candidate {
                    what: Target::Library(candidate),
                    ranks,
                    is_template: false,
                });
            }
        }
        candidates
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

    /// Calls a function of the program with arguments that fit it.
    pub(super) fn call_user(
        &mut self,
        id: FunctionId,
        object: Option<&Operand<'a>>,
        args: Vec<Operand<'a>>,
        span: Span,
    ) -> Operand<'a> {
        if self.functions[id].ast.is_kernel {
            self.fail(
                Diagnostic::error(span, "a kernel cannot be called")
                    .with_hint("move the shared code to a function that both use"),
            );
            return Operand::poison(span);
        }
        let Some(signature) = self.functions[id].signature.clone() else {
            return Operand::poison(span);
        };
        let mut values = Vec::new();
        if signature.object.is_some() {
            let object = match (object, self.context.this.clone()) {
                (Some(object), _) => object.clone(),
                (None, Some(this)) => Operand::place(this.ty, this, span),
                (None, None) => return Operand::poison(span),
            };
            let owner = self.functions[id].owner;
            let object = self.in_memory(object);
            let object = match (self.types.kind(object.ty), owner) {
                (Kind::Struct(of), Some(owner)) if of != owner => {
                    self.base_object(object, owner, span)
                }
                _ => object,
            };
            let pointer = self.address_of(object, span);
            values.push(self.value(&pointer));
        }
        let given = args.len();
        for (arg, &param) in args.into_iter().zip(&signature.params) {
            match self.pass(arg, param) {
                Some(value) => values.push(value),
                None => return Operand::poison(span),
            }
        }
        for index in given..signature.params.len() {
            let Some(default) = self.functions[id]
                .ast
                .params
                .get(index)
                .and_then(|p| p.default.as_ref())
            else {
                return Operand::poison(span);
            };
            let default = self.in_function_scope(id, |checker| checker.expression(default));
            match self.pass(default, signature.params[index]) {
                Some(value) => values.push(value),
                None => return Operand::poison(span),
            }
        }
        self.emit_call(id, values, span)
    }

    /// An argument as the parameter takes it: converted, or as a pointer for a reference.
    fn pass(&mut self, arg: Operand<'a>, param: Qualified) -> Option<Handle<Value>> {
        if !param.is_reference {
            let arg = self.convert(arg, param.ty, "the parameter");
            let arg = self.rvalue(arg);
            return (!arg.is_poison()).then(|| self.value(&arg));
        }
        let space = param.space.unwrap_or(AddressSpace::Thread);
        let binds = arg.as_place().is_some_and(|lvalue| {
            lvalue.is_plain()
                && lvalue.space == space
                && (param.is_const || !lvalue.is_const)
                && !self.is_vector_part(lvalue)
        });
        let related = arg.ty == param.ty || self.is_base_of(param.ty, arg.ty);
        let arg = if binds && related {
            arg
        } else if let (AddressSpace::Constant, Some(value)) = (space, arg.as_constant()) {
            let value = value.clone();
            self.constant_place(param.ty, value, arg.span)
        } else {
            let part = arg
                .as_place()
                .is_some_and(|l| l.swizzle.is_some() || self.is_vector_part(l));
            if part && !param.is_const {
                self.fail(
                    Diagnostic::error(
                        arg.span,
                        "a component of a vector cannot be passed by reference",
                    )
                    .with_hint("copy it to a variable, and back after the call"),
                );
                return None;
            }
            let arg = self.convert(arg, param.ty, "the parameter");
            let arg = self.rvalue(arg);
            self.in_memory(arg)
        };
        let span = arg.span;
        let arg = match (self.types.kind(arg.ty), self.types.kind(param.ty)) {
            (Kind::Struct(of), Kind::Struct(base)) if of != base => {
                self.base_object(arg, base, span)
            }
            _ => arg,
        };
        let pointer = self.address_of(arg, span);
        (!pointer.is_poison()).then(|| self.value(&pointer))
    }

    /// An overloaded operator; `None` if no overload is meant.
    pub(super) fn operator_call(
        &mut self,
        name: &str,
        operands: &[Operand<'a>],
        span: Span,
    ) -> Option<Operand<'a>> {
        let name = Self::name_of(name);
        let mut best: Option<Operand<'a>> = None;
        if let Some((object, rest)) = operands.split_first()
            && let Kind::Struct(id) = self.types.kind(object.ty)
            && let Some(Entity::Functions(set)) = self.find_own_member(id, &name)
        {
            let set = FunctionSet {
                object: Some(Box::new(object.clone())),
                ..set
            };
            let rest = rest.to_vec();
            if !self.user_candidates(&set, &rest).is_empty() {
                best = Some(self.call_set(&set, rest, span, span));
            }
        }
        if best.is_some() {
            return best;
        }
        let free = self.find_operator(&name, operands)?;
        let this = self.context.this.take();
        let fits = !self.user_candidates(&free, operands).is_empty();
        let result = fits.then(|| self.call_set(&free, operands.to_vec(), span, span));
        self.context.this = this;
        result
    }

    /// The free operators of a name, here and in the operands' namespaces.
    fn find_operator(
        &mut self,
        name: &crate::syntax::ast::Name,
        operands: &[Operand<'a>],
    ) -> Option<FunctionSet<'a>> {
        let horizon = self.context.horizon;
        let mut namespaces = Vec::new();
        let mut level = Some(self.context.namespace);
        while let Some(namespace) = level {
            namespaces.push(namespace);
            level = self.namespaces[namespace].parent;
        }
        for operand in operands {
            if let Kind::Struct(id) = self.types.kind(operand.ty) {
                namespaces.push(self.structs[id].namespace);
            }
        }
        let mut found: Option<FunctionSet<'a>> = None;
        for namespace in namespaces {
            if let Some(Entity::Functions(set)) = self.find_in_namespace(namespace, name, horizon) {
                match &mut found {
                    None => found = Some(set),
                    Some(known) => {
                        for id in set.users {
                            if !known.users.contains(&id) {
                                known.users.push(id);
                            }
                        }
                    }
                }
            }
        }
        found
    }

    fn argument_list(&self, args: &[Operand<'a>]) -> String {
        let names: Vec<String> = args.iter().map(|arg| self.operand_type_name(arg)).collect();
        names.join(", ")
    }

    /// A function's head, for messages.
    pub(super) fn describe(&self, id: FunctionId) -> String {
        let info = &self.functions[id];
        let Some(signature) = &info.signature else {
            return format!("{}<..>(..)", info.name);
        };
        let params: Vec<String> = signature
            .params
            .iter()
            .map(|p| self.describe_param(*p))
            .collect();
        format!("{}({})", info.name, params.join(", "))
    }

    fn describe_param(&self, param: Qualified) -> String {
        let name = self.type_name(param.ty);
        if !param.is_reference {
            return name;
        }
        let space = param.space.map_or("thread", space_name);
        let constness = if param.is_const && param.space != Some(AddressSpace::Constant) {
            "const "
        } else {
            ""
        };
        format!("{constness}{space} {name} &")
    }

    fn report_ambiguous(
        &mut self,
        set: &FunctionSet<'a>,
        args: &[Operand<'a>],
        targets: &[Target],
        name_span: Span,
    ) {
        let list = self.argument_list(args);
        let mut fits: Vec<String> = targets
            .iter()
            .map(|target| match target {
                Target::User(id) => self.describe(*id),
                Target::Library(candidate) => {
                    let params: Vec<_> = candidate
                        .params
                        .iter()
                        .map(|p| self.describe_param(p.ty))
                        .collect();
                    format!("{}({})", set.name, params.join(", "))
                }
            })
            .collect();
        fits.dedup();
        let more = fits.len().saturating_sub(3);
        fits.truncate(3);
        let mut shown: Vec<String> = fits.into_iter().map(|f| format!("`{f}`")).collect();
        if more > 0 {
            shown.push(format!("{more} more"));
        }
        self.fail(
            Diagnostic::error(
                name_span,
                format!("`{}({list})` could mean several functions", set.name),
            )
            .with_label(format!("{} fit equally well", shown.join(", ")))
            .with_hint("cast the arguments to one type"),
        );
    }

    fn report_no_candidate(
        &mut self,
        set: &FunctionSet<'a>,
        args: &[Operand<'a>],
        name_span: Span,
    ) {
        let name = &set.name;
        if set.library && set.users.is_empty() {
            let error = builtins::explain_mismatch(self, name, args, name_span);
            self.fail(error);
            return;
        }
        let concrete: Vec<FunctionId> = set.users.clone();
        if let ([only], false) = (&concrete[..], set.library) {
            self.report_single(*only, set, args, name_span);
            return;
        }
        let list = self.argument_list(args);
        let mut error = Diagnostic::error(name_span, format!("no `{name}` takes ({list})"))
            .with_label("none of its versions fits");
        for &id in concrete.iter().take(4) {
            error = error.with_related(
                self.functions[id].ast.name.span,
                format!("this one is `{}`", self.describe(id)),
            );
        }
        self.fail(error);
    }

    fn report_single(
        &mut self,
        id: FunctionId,
        set: &FunctionSet<'a>,
        args: &[Operand<'a>],
        name_span: Span,
    ) {
        let name = set.name.clone();
        let declared = self.functions[id].ast.name.span;
        let (signature, id) = match self.functions[id].signature.clone() {
            Some(signature) => (signature, id),
            None => match self.deduce_instance(id, set.explicit, args) {
                Some(instance) => match self.functions[instance].signature.clone() {
                    Some(signature) => (signature, instance),
                    None => return,
                },
                None => {
                    let why = self.explain_deduction(id, set.explicit, args);
                    self.fail(
                        Diagnostic::error(
                            name_span,
                            format!("the arguments do not fit the template `{name}`"),
                        )
                        .with_label(why)
                        .with_related(declared, "declared here")
                        .with_hint(format!(
                            "cast the arguments, or say what it is an instance of: `{name}<..>(..)`"
                        )),
                    );
                    return;
                }
            },
        };
        let (least, most) = (signature.required, signature.params.len());
        if args.len() < least || args.len() > most {
            let wanted = match (least, most) {
                (l, m) if l == m => format!("{l}"),
                (l, m) => format!("{l} to {m}"),
            };
            let plural = if least == 1 && most == 1 { "" } else { "s" };
            self.fail(
                Diagnostic::error(
                    name_span,
                    format!(
                        "`{name}` takes {wanted} argument{plural}, not {}",
                        args.len()
                    ),
                )
                .with_related(declared, "declared here"),
            );
            return;
        }
        if let Some((space, is_const)) = signature.object
            && self.object_rank(set, space, is_const).is_none()
        {
            self.report_object(set, &name, space, name_span, declared);
            return;
        }
        for (arg, &param) in args.iter().zip(&signature.params) {
            if self.passing_rank(arg, param).is_some() {
                continue;
            }
            if !param.is_reference {
                self.convert(arg.clone(), param.ty, &format!("a parameter of `{name}`"));
                return;
            }
            let wanted = self.describe_param(param);
            let given = self.operand_type_name(arg);
            let mut error =
                Diagnostic::error(arg.span, format!("`{name}` needs a `{wanted}` here"))
                    .with_related(declared, "declared here");
            error = match arg.as_place() {
                None => error.with_label(format!(
                    "this `{given}` is a value, not something in memory"
                )),
                Some(lvalue) if lvalue.swizzle.is_some() => error
                    .with_label("several components of a vector")
                    .with_hint("copy them to a variable, and back after the call"),
                Some(lvalue) if lvalue.space != param.space.unwrap_or(AddressSpace::Thread) => {
                    error.with_label(format!("this is in `{}` memory", space_name(lvalue.space)))
                }
                Some(lvalue) if lvalue.is_const && !param.is_const => {
                    error.with_label("this is const")
                }
                Some(_) => error.with_label(format!("this is `{given}`")),
            };
            self.fail(error);
            return;
        }
        let described = self.describe(id);
        self.fail(Diagnostic::error(
            name_span,
            format!("the arguments do not fit `{described}`"),
        ));
    }

    fn report_object(
        &mut self,
        set: &FunctionSet<'a>,
        name: &str,
        space: AddressSpace,
        name_span: Span,
        declared: Span,
    ) {
        let object = match &set.object {
            Some(object) => object.as_place(),
            None => self.context.this.as_ref(),
        };
        let error = match object {
            None => Diagnostic::error(
                name_span,
                format!("`{name}` needs an object to be called on"),
            ),
            Some(lvalue) if lvalue.space != space => {
                let there = space_name(lvalue.space);
                Diagnostic::error(
                    name_span,
                    format!(
                        "`{name}` works on objects in `{}` memory",
                        space_name(space)
                    ),
                )
                .with_label(format!("this object is in `{there}` memory"))
                .with_hint(format!(
                    "copy the object to a variable, or add a version of the method marked `{there}`"
                ))
            }
            Some(_) => Diagnostic::error(
                name_span,
                format!("`{name}` may change its object, and this one is const"),
            )
            .with_hint("mark the method `const` if it does not"),
        };
        self.fail(error.with_related(declared, "declared here"));
    }
}
