//! What a program says of a function template itself: specialisations and instantiations.

use crate::diag::Diagnostic;
use crate::sema::Checker;
use crate::sema::functions::{FunctionInfo, State};
use crate::sema::scope::{Entity, FunctionId, FunctionSet};
use crate::sema::types::Qualified;
use crate::syntax::ast::{self, TemplateArg};

impl<'a> Checker<'a> {
    /// `template <> result name<args>(params) { .. }`.
    pub(in crate::sema) fn specialise_function(&mut self, mut info: FunctionInfo<'a>) {
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
    pub(in crate::sema) fn explicit_instantiation(&mut self, ast: &'a ast::Function) {
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
            let instance = instance.filter(|&id| self.takes(id, by_types));
            found.extend(instance);
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
        self.kernels.push(crate::sema::kernels::KernelRequest {
            name,
            function: instance,
            span: ast.name.span,
            attributes: &ast.attributes,
        });
    }

    /// Whether a function's parameters are of these types, `const` of values aside.
    fn takes(&self, id: FunctionId, types: Option<&[Qualified]>) -> bool {
        let (Some(types), Some(signature)) = (types, &self.functions[id].signature) else {
            return true;
        };
        let same = |(l, r): (&Qualified, &Qualified)| {
            (l.ty, l.is_reference) == (r.ty, r.is_reference)
                && (!l.is_reference || (l.space, l.is_const) == (r.space, r.is_const))
        };
        signature.params.iter().zip(types).all(same)
    }

    pub(super) fn report_instantiation(
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
}
