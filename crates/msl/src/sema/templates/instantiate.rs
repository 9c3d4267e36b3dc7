//! Templates of structs, aliases and variables, and their instances.

use std::collections::HashMap;
use std::rc::Rc;

use super::{Argument, Bindings, Specialisation, Template, TemplateKind, TemplatePlace};
use crate::diag::{Diagnostic, Span};
use crate::sema::Checker;
use crate::sema::scope::{Entity, Environment, TemplateId};
use crate::sema::types::{Qualified, StructId};
use crate::syntax::ast::{self, TemplateArg, TypeExpr};

impl<'a> Checker<'a> {
    pub(super) fn add_template(
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
    pub(super) fn known_template(
        &mut self,
        name: &ast::Ident,
        owner: Option<StructId>,
    ) -> Option<TemplateId> {
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
    pub(in crate::sema) fn declare_struct_template(
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

    pub(super) fn add_specialisation(
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
    pub(in crate::sema) fn declare_alias_template(
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
    pub(in crate::sema) fn declare_variable_template(
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
    pub(in crate::sema) fn instantiate_named(
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
                            "it has {needed} parameters; arguments given: {}",
                            args.len()
                        )),
                );
            }
            return None;
        }
        let arguments = Self::ordered(params, &bindings)?;
        self.instantiate(id, arguments, span)
    }

    /// The instance of a template for these arguments.
    pub(in crate::sema) fn instantiate(
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
}
