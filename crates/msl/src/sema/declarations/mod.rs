//! Items in order: what each declares, and where it may stand. Functions, structs and templates
//! have modules of their own; program-scope variables are in `globals`.

mod constant_data;
mod function_constants;
mod globals;

use std::rc::Rc;

use super::Checker;
use super::scope::{Entity, Environment, NamespaceId};
use super::types::{Kind, StructId, Ty};
use crate::diag::Diagnostic;
use crate::syntax::ast::{self, Expr, Item, ItemKind, Name};

pub(super) use function_constants::ConstantSource;
pub(super) use globals::Global;

impl<'a> Checker<'a> {
    /// Declares items in order.
    pub(super) fn items(&mut self, items: &'a [Item]) {
        for item in items {
            self.deeper(item.span, |checker| checker.item(item));
        }
    }

    fn item(&mut self, item: &'a Item) {
        self.context.namespace = self.namespace;
        self.context.horizon = usize::MAX;
        match &item.kind {
            ItemKind::Function(function) => {
                let id = self.declare_function(function, None, None);
                if function.is_kernel {
                    self.request_kernel(function, id);
                }
            }
            ItemKind::Variable(variable) => self.declare_global(variable, None, None),
            ItemKind::Struct(ast) => {
                self.declare_struct(ast, item.span, None, None);
            }
            ItemKind::Namespace(name, items) => self.namespace_item(name.as_ref(), items),
            ItemKind::UsingNamespace(path) => {
                if let Some(used) = self.resolve_namespace(path) {
                    self.sequence += 1;
                    let since = self.sequence;
                    self.namespaces[self.namespace].using.push((used, since));
                }
            }
            ItemKind::Instantiation(function) => self.explicit_instantiation(function),
            _ => self.local_or_member_item(item, None, None),
        }
        self.context.block.clear();
    }

    /// Items that can also stand in functions and structs.
    pub(super) fn local_or_member_item(
        &mut self,
        item: &'a Item,
        owner: Option<StructId>,
        environment: Option<Rc<Environment<'a>>>,
    ) {
        match &item.kind {
            ItemKind::Enum(ast) => self.declare_enum(ast, owner),
            ItemKind::Alias { name, ty, template } => {
                if template.is_some() {
                    self.declare_alias_template(name, ty, template.as_ref(), owner, environment);
                    return;
                }
                let ty = self.resolve(ty);
                let entity = if ty.ty.is_error() {
                    Entity::Poison
                } else {
                    Entity::Type(ty)
                };
                if let Kind::Struct(id) = self.types.kind(ty.ty)
                    && &*self.structs[id].name == "unnamed struct"
                {
                    self.structs[id].name = name.name.clone();
                    if let Some(ir) = self.structs[id].ir {
                        self.module.types.structs[ir].name = name.name.clone();
                    }
                }
                self.declare_anywhere(owner, name, entity);
            }
            ItemKind::StaticAssert(condition, message) => {
                self.static_assert(condition, message.as_ref())
            }
            ItemKind::UsingName(path) => {
                if let (Some(entity), Some(last)) = (self.resolve_path(path), path.segments.last())
                {
                    let shadows = owner.is_none() && self.context.in_function;
                    if shadows {
                        self.context.declare(last.ident.name.clone(), entity);
                    } else {
                        self.declare_anywhere(owner, &last.ident, entity);
                    }
                }
            }
            ItemKind::UsingNamespace(path) => {
                // In a function: as if it stood in the namespace around it.
                if let Some(used) = self.resolve_namespace(path) {
                    let namespace = self.context.namespace;
                    if !self.namespaces[namespace]
                        .using
                        .iter()
                        .any(|&(known, _)| known == used)
                    {
                        self.namespaces[namespace].using.push((used, 0));
                    }
                }
            }
            ItemKind::Struct(ast) => {
                let environment = environment.or_else(|| self.context.environment.clone());
                self.declare_struct(ast, item.span, owner, environment);
            }
            ItemKind::Function(function) => self.fail(
                Diagnostic::error(function.name.span, "a function cannot be declared here")
                    .with_hint("move it to program scope"),
            ),
            ItemKind::Variable(variable) => {
                if owner.is_none() {
                    self.fail(Diagnostic::error(
                        variable.span,
                        "a variable cannot be declared here",
                    ));
                }
            }
            ItemKind::Namespace(..) => {
                self.fail(Diagnostic::error(
                    item.span,
                    "a namespace can only stand at program scope",
                ));
            }
            ItemKind::Instantiation(_) => {
                self.fail(Diagnostic::error(
                    item.span,
                    "an instantiation can only stand at program scope",
                ));
            }
            ItemKind::Empty => {}
        }
    }

    fn namespace_item(&mut self, name: Option<&'a ast::Ident>, items: &'a [Item]) {
        let outer = self.namespace;
        let id = match name {
            // An unnamed namespace: its names are visible around it.
            None => outer,
            Some(name) => match self.namespaces[outer].names.get(&name.name) {
                Some((Entity::Namespace(id), _)) => *id,
                Some(_) => {
                    self.fail(Diagnostic::error(
                        name.span,
                        format!("`{}` is already declared as something else", name.name),
                    ));
                    return;
                }
                None => {
                    let id = self.namespaces.len();
                    self.namespaces.push(super::Namespace {
                        parent: Some(outer),
                        ..super::Namespace::default()
                    });
                    self.declare_in_namespace(outer, name, Entity::Namespace(id));
                    id
                }
            },
        };
        self.namespace = id;
        self.items(items);
        self.namespace = outer;
        self.context.namespace = outer;
    }

    fn resolve_namespace(&mut self, path: &'a ast::Path) -> Option<NamespaceId> {
        match self.resolve_path(path)? {
            Entity::Namespace(id) => Some(id),
            _ => {
                self.fail(Diagnostic::error(path.span, "this is not a namespace"));
                None
            }
        }
    }

    fn static_assert(&mut self, condition: &'a Expr, message: Option<&Name>) {
        let Some(value) = self.constant_value(condition, Ty::BOOL, "an assertion") else {
            return;
        };
        if value.truth() == Some(false) {
            let text = message.map_or_else(
                || "this assertion does not hold".to_string(),
                |m| format!("assertion failed: {m}"),
            );
            self.fail(Diagnostic::error(condition.span, text).with_label("this is false"));
        }
    }
}
