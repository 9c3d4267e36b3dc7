//! Declaring functions, and finding that two declarations are of one. Nothing is lowered here.

use std::collections::HashMap;
use std::rc::Rc;

use super::{FunctionInfo, State};
use crate::diag::Diagnostic;
use crate::sema::Checker;
use crate::sema::scope::{Entity, Environment, FunctionId, FunctionSet};
use crate::sema::types::StructId;
use crate::syntax::ast::{self, Name};

impl<'a> Checker<'a> {
    /// Declares a function, or gives a declared one its body.
    pub(in crate::sema) fn declare_function(
        &mut self,
        ast: &'a ast::Function,
        owner: Option<StructId>,
        environment: Option<Rc<Environment<'a>>>,
    ) -> Option<FunctionId> {
        self.sequence += 1;
        let full_specialisation = ast.template.as_ref().is_some_and(|t| t.params.is_empty());
        let is_template = ast.template.as_ref().is_some_and(|t| !t.params.is_empty());
        let info = FunctionInfo {
            name: ast.name.name.clone(),
            ast,
            namespace: self.namespace,
            owner,
            environment,
            declared: self.sequence,
            defined: self.sequence,
            is_template,
            instance_of: None,
            signature: None,
            state: State::Declared,
            instances: HashMap::new(),
        };
        if full_specialisation {
            self.specialise_function(info);
            return None;
        }
        let id = self.functions.len();
        self.functions.push(info);
        if !is_template {
            self.in_function_scope(id, |checker| checker.complete_signature(id));
        }
        if let Some(known) = self.known_declaration(id) {
            return self.merge_declaration(known, id);
        }
        let set = FunctionSet {
            name: ast.name.name.clone(),
            users: vec![id],
            library: false,
            explicit: None,
            object: None,
        };
        let name = ast::Ident {
            name: Self::declared_name(ast),
            ..ast.name.clone()
        };
        match owner {
            None => self.declare_in_namespace(self.namespace, &name, Entity::Functions(set)),
            Some(owner) => self.declare_member(owner, &name, Entity::Functions(set)),
        }
        Some(id)
    }

    /// Whether a member function is a constructor.
    pub(in crate::sema) fn is_constructor(ast: &ast::Function) -> bool {
        ast.result.is_none() && !ast.name.name.starts_with("operator")
    }

    /// The name that a function is found by. A constructor has one that no program can write: the
    /// struct's name in the struct means the struct.
    fn declared_name(ast: &ast::Function) -> Name {
        match Self::is_constructor(ast) {
            true => Self::name_of(format!("constructor {}", ast.name.name)),
            false => ast.name.name.clone(),
        }
    }

    /// The earlier declaration of the same function.
    fn known_declaration(&self, id: FunctionId) -> Option<FunctionId> {
        let info = &self.functions[id];
        let name = &Self::declared_name(info.ast);
        let known = match info.owner {
            None => self.namespaces[info.namespace]
                .names
                .get(name)
                .map(|(entity, _)| entity),
            Some(owner) => self.structs[owner].names.get(name),
        };
        let Some(Entity::Functions(set)) = known else {
            return None;
        };
        set.users.iter().copied().find(|&other| {
            let other = &self.functions[other];
            if other.is_template != info.is_template {
                return false;
            }
            match (&other.signature, &info.signature) {
                (Some(l), Some(r)) => l.params == r.params && l.object == r.object,
                (None, None) => {
                    let params = |f: &FunctionInfo<'_>| {
                        f.ast.template.as_ref().map_or(0, |t| t.params.len())
                    };
                    other.ast.body.is_none() != info.ast.body.is_none()
                        && params(other) == params(info)
                        && other.ast.params.len() == info.ast.params.len()
                }
                _ => false,
            }
        })
    }

    fn merge_declaration(&mut self, known: FunctionId, id: FunctionId) -> Option<FunctionId> {
        let Some(new) = self.functions.pop() else {
            return Some(id);
        };
        let old = &self.functions[known];
        if old.ast.body.is_some() && new.ast.body.is_some() {
            let error = Diagnostic::error(
                new.ast.name.span,
                format!("`{}` is already defined with these parameters", new.name),
            )
            .with_label("defined again")
            .with_related(old.ast.name.span, "first defined here");
            self.fail(error);
            return Some(known);
        }
        if let (Some(l), Some(r)) = (&old.signature, &new.signature)
            && l.result != r.result
        {
            let error = Diagnostic::error(
                new.ast.name.span,
                format!("`{}` was declared with another result type", new.name),
            )
            .with_related(old.ast.name.span, "declared here");
            self.fail(error);
            return Some(known);
        }
        if new.ast.body.is_some() {
            let required = old.signature.as_ref().map_or(0, |s| s.required);
            let new_required = new.signature.as_ref().map_or(0, |s| s.required);
            let info = &mut self.functions[known];
            info.defined = new.defined;
            // Default arguments stand in the first declaration: keep its parameters for them.
            if required >= new_required || info.ast.params.iter().all(|p| p.default.is_none()) {
                info.signature = new.signature;
            }
            info.ast = new.ast;
        }
        Some(known)
    }
}
