//! Templates: binding their parameters, deducing arguments, making instances.
//!
//! An instance is the template's tree lowered again with its parameters bound in an
//! [`Environment`]; instances are kept by their arguments. Whether arguments can be deduced is
//! tried silently, so that a template that does not fit is just not a candidate.

mod arguments;
mod deduce;
mod explicit;
mod functions;
mod instantiate;
mod specialise;

use std::collections::HashMap;
use std::rc::Rc;

use super::Checker;
use super::constant::Constant;
use super::scope::{Entity, Environment, FunctionId, FunctionSet, NamespaceId, TemplateId};
use super::types::{Kind, Qualified, StructId, Ty};
use crate::diag::{Diagnostic, Span};
use crate::ir::AddressSpace;
use crate::syntax::ast::{
    self, Name, PathSegment, TemplateArg, TemplateParam, TypeExpr, TypeExprKind,
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
                    format!("{} ", crate::sema::types::space_name(s))
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

    /// Errors so far, silent ones included.
    pub(super) fn error_count(&self) -> usize {
        self.report.list().len() + self.silent_errors
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
