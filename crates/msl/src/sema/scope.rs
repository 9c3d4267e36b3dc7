//! Names: what they can stand for, and how they are found.

use std::collections::HashMap;
use std::rc::Rc;

use super::Checker;
use super::builtins;
use super::constant::Constant;
use super::operand::{Lvalue, Operand};
use super::types::{Qualified, StructId, Ty, keyword_type};
use crate::diag::{Diagnostic, Span};
use crate::syntax::ast::{self, Name, TemplateArg};

/// The index of a namespace.
pub(super) type NamespaceId = usize;
/// The index of a function.
pub(super) type FunctionId = usize;
/// The index of a program-scope variable.
pub(super) type GlobalId = usize;
/// The index of a struct, alias or variable template.
pub(super) type TemplateId = usize;

/// The program's outermost scope.
pub(super) const GLOBAL: NamespaceId = 0;
/// `metal`
pub(super) const METAL: NamespaceId = 1;
/// `metal::precise`
pub(super) const PRECISE: NamespaceId = 2;
/// `metal::fast`
pub(super) const FAST: NamespaceId = 3;

/// What a name stands for.
#[derive(Clone)]
pub(super) enum Entity<'a> {
    /// A variable of a function.
    Local(Lvalue),
    /// A value known at compile time.
    Known(Ty, Constant),
    Type(Qualified),
    Global(GlobalId),
    Functions(FunctionSet<'a>),
    /// A struct, alias or variable template.
    Template(TemplateId),
    /// A template of the library: `vec`, `numeric_limits`, `is_same`.
    LibraryTemplate(&'static str),
    Namespace(NamespaceId),
    /// A parameter pack: what each of its elements stands for.
    Pack(Rc<[Self]>),
    /// A field of the struct that it was looked up in.
    Field(StructId, u32),
    /// Declared, but wrong; already reported.
    Poison,
}

/// Functions that one name stands for.
#[derive(Clone)]
pub(super) struct FunctionSet<'a> {
    pub name: Name,
    /// Those of the program.
    pub users: Vec<FunctionId>,
    /// Whether the library's functions of this name are among them.
    pub library: bool,
    /// `<...>` after the name.
    pub explicit: Option<&'a [ast::TemplateArg]>,
    /// The object, for methods.
    pub object: Option<Box<Operand<'a>>>,
}

/// Template parameters and what they stand for.
pub(super) struct Environment<'a> {
    pub parent: Option<Rc<Self>>,
    pub names: HashMap<Name, Entity<'a>>,
}

impl<'a> Environment<'a> {
    fn find(&self, name: &str) -> Option<&Entity<'a>> {
        let mut level = self;
        loop {
            if let Some(entity) = level.names.get(name) {
                return Some(entity);
            }
            level = level.parent.as_deref()?;
        }
    }
}

/// A namespace.
#[derive(Default)]
pub(super) struct Namespace<'a> {
    pub parent: Option<NamespaceId>,
    /// Its names and when they were declared.
    pub names: HashMap<Name, (Entity<'a>, usize)>,
    /// `using namespace`, and when.
    pub using: Vec<(NamespaceId, usize)>,
}

impl<'a> Checker<'a> {
    /// What a name means here, if anything.
    pub(super) fn find(&mut self, name: &Name) -> Option<Entity<'a>> {
        match self.find_any(name) {
            Some(Entity::Pack(list)) if self.context.pack.is_some() => {
                let position = self.context.pack.as_mut()?;
                position.len = Some(list.len());
                list.get(position.index).cloned().or(Some(Entity::Poison))
            }
            found => found,
        }
    }

    fn find_any(&mut self, name: &Name) -> Option<Entity<'a>> {
        if let Some(entity) = self
            .context
            .scopes
            .iter()
            .rev()
            .find_map(|scope| scope.get(name))
        {
            return Some(entity.clone());
        }
        if let Some(entity) = self.context.environment.as_ref().and_then(|e| e.find(name)) {
            return Some(entity.clone());
        }
        if let Some(owner) = self.context.owner
            && let Some(entity) = self.find_member(owner, name)
        {
            return Some(entity);
        }
        if let Some(ty) = keyword_type(name) {
            return Some(Entity::Type(Qualified::plain(ty)));
        }
        let horizon = self.context.horizon;
        let mut level = Some(self.context.namespace);
        while let Some(namespace) = level {
            if let Some(entity) = self.find_in_namespace(namespace, name, horizon) {
                return Some(entity);
            }
            level = self.namespaces[namespace].parent;
        }
        // Macros of the standard library in Metal, so they are visible without its namespace.
        builtins::constants::find(name).map(|(ty, value)| Entity::Known(ty, value))
    }

    /// What a name means in a namespace and in those it uses.
    pub(super) fn find_in_namespace(
        &mut self,
        namespace: NamespaceId,
        name: &Name,
        horizon: usize,
    ) -> Option<Entity<'a>> {
        let mut found = self.find_directly(namespace, name, horizon);
        let using: Vec<_> = self.namespaces[namespace]
            .using
            .iter()
            .filter(|&&(_, since)| since <= horizon)
            .map(|&(used, _)| used)
            .collect();
        for used in using {
            match (&mut found, self.find_directly(used, name, horizon)) {
                (None, other) => found = other,
                (Some(Entity::Functions(set)), Some(Entity::Functions(other))) => {
                    set.library |= other.library;
                    set.users.extend(other.users);
                }
                (Some(_), _) => {}
            }
        }
        found
    }

    fn find_directly(
        &mut self,
        namespace: NamespaceId,
        name: &Name,
        horizon: usize,
    ) -> Option<Entity<'a>> {
        let own = match self.namespaces[namespace].names.get(name) {
            Some((Entity::Functions(set), _)) => {
                let users: Vec<_> = set
                    .users
                    .iter()
                    .copied()
                    .filter(|&id| self.functions[id].declared <= horizon)
                    .collect();
                (!users.is_empty()).then(|| {
                    Entity::Functions(FunctionSet {
                        users,
                        ..set.clone()
                    })
                })
            }
            Some((entity, declared)) if *declared <= horizon => Some(entity.clone()),
            _ => None,
        };
        if !matches!(namespace, METAL | PRECISE | FAST) {
            return own;
        }
        match (own, self.find_in_library(namespace, name)) {
            (Some(Entity::Functions(mut set)), Some(Entity::Functions(_))) => {
                set.library = true;
                Some(Entity::Functions(set))
            }
            (Some(own), _) => Some(own),
            (None, library) => library,
        }
    }

    /// What the standard library means by a name.
    fn find_in_library(&mut self, namespace: NamespaceId, name: &Name) -> Option<Entity<'a>> {
        if builtins::is_function(name) {
            return Some(Entity::Functions(FunctionSet {
                name: name.clone(),
                users: Vec::new(),
                library: true,
                explicit: None,
                object: None,
            }));
        }
        if namespace != METAL {
            return None;
        }
        if let Some(ty) = self.library_type(name) {
            return Some(Entity::Type(Qualified::plain(ty)));
        }
        if let Some((ty, value)) = builtins::constants::find_in_metal(name) {
            return Some(Entity::Known(ty, value));
        }
        builtins::traits::find(name).map(Entity::LibraryTemplate)
    }

    /// The library's type of a name.
    pub(super) fn library_type(&mut self, name: &str) -> Option<Ty> {
        keyword_type(name).or_else(|| super::types::library_type(&mut self.types, name))
    }

    /// What a path stands for; `None` if it was reported.
    pub(super) fn resolve_path(&mut self, path: &'a ast::Path) -> Option<Entity<'a>> {
        let (mut first, mut rest) = path.segments.split_first()?;
        let mut entity = if first.ident.name.is_empty() {
            Entity::Namespace(GLOBAL)
        } else if let ("decltype", Some([TemplateArg::Expr(expr)])) =
            (&*first.ident.name, first.args.as_deref())
        {
            let (next, more) = rest.split_first()?;
            let ty = self.decltype(expr);
            (first, rest) = (next, more);
            self.type_member(ty.ty, first, first)?
        } else {
            match self.find(&first.ident.name) {
                Some(entity) => entity,
                None => {
                    self.report_unknown(&first.ident.name, first.ident.span);
                    return None;
                }
            }
        };
        if rest.is_empty()
            && let Entity::Functions(set) = &mut entity
        {
            set.explicit = first.args.as_deref();
            return Some(entity);
        }
        let mut segment = first;
        for next in rest {
            entity = self.resolve_member(entity, segment, next)?;
            segment = next;
        }
        if let (Entity::Functions(set), Some(args)) = (&mut entity, &segment.args) {
            set.explicit = Some(args);
            return Some(entity);
        }
        self.apply_arguments(entity, segment)
    }

    /// A template with its arguments, or what needs none.
    fn apply_arguments(
        &mut self,
        entity: Entity<'a>,
        segment: &'a ast::PathSegment,
    ) -> Option<Entity<'a>> {
        match (entity, &segment.args) {
            (Entity::Template(id), Some(args)) => {
                self.instantiate_named(id, args, segment.ident.span)
            }
            (Entity::LibraryTemplate(name), Some(args)) => {
                self.library_template(name, args, None, segment.ident.span)
            }
            (Entity::Template(id), None) => {
                // Inside a class template its own name means the instance at hand.
                if let Some(owner) = self.context.owner
                    && self.structs[owner].template == Some(id)
                {
                    return Some(Entity::Type(Qualified::plain(self.structs[owner].ty)));
                }
                self.instantiate_named(id, &[], segment.ident.span)
            }
            (Entity::LibraryTemplate(name), None) => {
                self.fail(
                    Diagnostic::error(
                        segment.ident.span,
                        format!("`{name}` is a template and needs arguments"),
                    )
                    .with_hint(format!("write `{name}<...>`")),
                );
                None
            }
            (entity, None) => Some(entity),
            (Entity::Poison, _) => None,
            (_, Some(_)) => {
                self.fail(Diagnostic::error(
                    segment.ident.span,
                    format!("`{}` is not a template", segment.ident.name),
                ));
                None
            }
        }
    }

    /// `entity::next`.
    fn resolve_member(
        &mut self,
        entity: Entity<'a>,
        segment: &'a ast::PathSegment,
        next: &'a ast::PathSegment,
    ) -> Option<Entity<'a>> {
        let name = &next.ident.name;
        if let (Entity::LibraryTemplate(template), Some(args)) = (&entity, &segment.args) {
            return self.library_template(template, args, Some(next), segment.ident.span);
        }
        match self.apply_arguments(entity, segment)? {
            Entity::Namespace(namespace) => {
                let horizon = self.context.horizon;
                if let Some(entity) = self.find_in_namespace(namespace, name, horizon) {
                    return Some(entity);
                }
                let owner = segment.ident.name.clone();
                self.report_missing_in_namespace(namespace, &owner, next);
                None
            }
            Entity::Type(ty) => self.type_member(ty.ty, segment, next),
            Entity::Poison => None,
            _ => {
                self.fail(
                    Diagnostic::error(
                        segment.ident.span,
                        format!("`{}` is not a namespace or type", segment.ident.name),
                    )
                    .with_label("so nothing can follow it with `::`"),
                );
                None
            }
        }
    }

    fn report_missing_in_namespace(
        &mut self,
        namespace: NamespaceId,
        owner: &Name,
        next: &ast::PathSegment,
    ) {
        let name = &next.ident.name;
        let mut error = Diagnostic::error(
            next.ident.span,
            format!("`{owner}` has nothing named `{name}`"),
        );
        let library = matches!(namespace, METAL | PRECISE | FAST);
        if library && let Some(hint) = builtins::missing_hint(name) {
            error = error.with_hint(hint);
        } else {
            let own: Vec<Name> = self.namespaces[namespace].names.keys().cloned().collect();
            let mut names: Vec<&str> = own.iter().map(|n| &**n).collect();
            if library {
                names.extend(builtins::function_names());
            }
            names.sort_unstable();
            if let Some(near) = super::suggest::nearest(name, names) {
                error = error.with_hint(format!("did you mean `{owner}::{near}`?"));
            }
        }
        self.fail(error);
    }

    /// Reports a name that means nothing here, with what may have been meant.
    pub(super) fn report_unknown(&mut self, name: &Name, span: Span) {
        let error = Diagnostic::error(span, format!("`{name}` is not declared here"))
            .with_label("unknown name");
        let in_library = [METAL, PRECISE]
            .into_iter()
            .any(|namespace| self.find_in_library(namespace, name).is_some());
        let hint = if in_library {
            Some(format!(
                "it is in the `metal` namespace: add `using namespace metal;` or write `metal::{name}`"
            ))
        } else if let Some(hint) = builtins::missing_hint(name) {
            Some(hint)
        } else if self.is_declared_later(name) {
            Some("it is declared further down; move or declare it before its use".to_string())
        } else {
            self.nearest_visible(name)
                .map(|near| format!("did you mean `{near}`?"))
        };
        self.fail(match hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        });
    }

    fn is_declared_later(&self, name: &Name) -> bool {
        self.namespaces[self.context.namespace]
            .names
            .contains_key(name)
            || self.namespaces[GLOBAL].names.contains_key(name)
    }

    /// The visible name nearest to a misspelled one.
    fn nearest_visible(&self, name: &str) -> Option<String> {
        let mut known: Vec<Name> = Vec::new();
        for scope in &self.context.scopes {
            known.extend(scope.keys().cloned());
        }
        let mut environment = self.context.environment.as_deref();
        while let Some(level) = environment {
            known.extend(level.names.keys().cloned());
            environment = level.parent.as_deref();
        }
        let mut level = Some(self.context.namespace);
        let mut uses_library = false;
        while let Some(namespace) = level {
            known.extend(self.namespaces[namespace].names.keys().cloned());
            uses_library |= self.namespaces[namespace]
                .using
                .iter()
                .any(|&(used, _)| used == METAL);
            level = self.namespaces[namespace].parent;
        }
        let mut names: Vec<&str> = known.iter().map(|n| &**n).collect();
        if uses_library {
            names.extend(builtins::function_names());
        }
        names.extend([
            "bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half",
            "bfloat", "float", "true", "false",
        ]);
        names.sort_unstable();
        super::suggest::nearest(name, names).map(str::to_string)
    }

    /// Declares a name in a namespace; functions of one name join.
    pub(super) fn declare_in_namespace(
        &mut self,
        namespace: NamespaceId,
        name: &ast::Ident,
        entity: Entity<'a>,
    ) {
        self.sequence += 1;
        let declared = self.sequence;
        let names = &mut self.namespaces[namespace].names;
        match (names.get_mut(&name.name), entity) {
            (Some((Entity::Functions(set), _)), Entity::Functions(new)) => {
                set.users.extend(new.users);
            }
            (Some((Entity::Poison, _)), _) => {}
            (Some((known, _)), new) => {
                let same = match (&*known, &new) {
                    (Entity::Type(l), Entity::Type(r)) => l == r,
                    (_, Entity::Poison) => true,
                    _ => false,
                };
                if !same {
                    self.fail(
                        Diagnostic::error(
                            name.span,
                            format!("`{}` is already declared as something else", name.name),
                        )
                        .with_label("declared again here"),
                    );
                }
            }
            (None, new) => {
                names.insert(name.name.clone(), (new, declared));
            }
        }
    }
}
