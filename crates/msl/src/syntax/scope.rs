//! What the parser knows about names: whether one is a type, a template, a namespace or a value.
//!
//! That is all that C++'s grammar needs to be read. What a name means beyond that is for the type
//! checker, which has scopes of its own.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::builtin_names;
use super::token::{Interner, Symbol, word};

/// A scope's place in [`Names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScopeId(usize);

/// What sort of thing a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// A type.
    Type,
    /// A variable, function, enumerator.
    Value,
    /// A namespace.
    Namespace,
}

/// What is known of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it is.
    pub kind: NameKind,
    /// Whether `<` after it starts template arguments.
    pub is_template: bool,
    /// The scope of its members.
    pub inside: Option<ScopeId>,
}

impl Entry {
    /// A type that has no members that we know of.
    pub const TYPE: Entry = Entry {
        kind: NameKind::Type,
        is_template: false,
        inside: None,
    };
    /// A variable or function.
    pub const VALUE: Entry = Entry {
        kind: NameKind::Value,
        ..Entry::TYPE
    };

    /// The same, as a template or not.
    pub fn template(self, is_template: bool) -> Entry {
        Entry {
            is_template,
            ..self
        }
    }
}

/// Symbols are small numbers in a row: one multiplication spreads them well.
#[derive(Default)]
struct SymbolHasher(u64);

impl Hasher for SymbolHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(u32::from(byte));
        }
    }

    fn write_u32(&mut self, value: u32) {
        self.0 = (self.0 ^ u64::from(value))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(26);
    }
}

#[derive(Default)]
struct Scope {
    names: HashMap<Symbol, Entry, BuildHasherDefault<SymbolHasher>>,
    /// Scopes whose names are visible here too.
    imports: Vec<ScopeId>,
    /// Holds the parameters of a template; what is declared goes to the scope around it.
    is_template: bool,
}

/// The most scopes that one scope may import; more are not looked into.
const IMPORT_LIMIT: usize = 32;

/// The table of names.
pub struct Names {
    scopes: Vec<Scope>,
    open: Vec<ScopeId>,
}

impl Names {
    /// A table that has the built-in names and is at program scope.
    pub fn new(interner: &mut Interner) -> Self {
        let mut names = Self {
            scopes: vec![Scope::default()],
            open: vec![ScopeId(0)],
        };
        for (text, entry) in builtin_names::all() {
            let symbol = interner.intern(&text);
            names.declare(symbol, entry);
        }
        let metal = Entry {
            kind: NameKind::Namespace,
            is_template: false,
            inside: Some(ScopeId(0)),
        };
        names.declare(word::METAL, metal);
        names.open_new(false);
        names
    }

    fn add(&mut self, is_template: bool) -> ScopeId {
        self.scopes.push(Scope {
            is_template,
            ..Scope::default()
        });
        ScopeId(self.scopes.len() - 1)
    }

    /// Opens a new scope inside the current one.
    pub fn open_new(&mut self, is_template: bool) {
        let id = self.add(is_template);
        self.open.push(id);
    }

    /// Opens a scope that exists: a namespace again, or a class for a member's definition.
    pub fn open_again(&mut self, id: ScopeId) {
        self.open.push(id);
    }

    /// Leaves the current scope.
    pub fn close(&mut self) {
        self.open.pop();
    }

    /// Leaves the current scope, whose names nobody can ask for any more.
    pub fn close_and_forget(&mut self) {
        if let Some(id) = self.open.pop()
            && id.0 + 1 == self.scopes.len()
        {
            self.scopes.pop();
        }
    }

    /// The scope that declarations go to.
    fn current(&self) -> ScopeId {
        self.open
            .iter()
            .rev()
            .find(|id| {
                self.scopes
                    .get(id.0)
                    .is_some_and(|scope| !scope.is_template)
            })
            .copied()
            .unwrap_or(ScopeId(0))
    }

    /// Declares a name in the current scope.
    pub fn declare(&mut self, name: Symbol, entry: Entry) {
        let current = self.current();
        self.declare_in(current, name, entry);
    }

    fn declare_in(&mut self, id: ScopeId, name: Symbol, entry: Entry) {
        if let Some(scope) = self.scopes.get_mut(id.0) {
            scope
                .names
                .entry(name)
                .and_modify(|old| {
                    *old = Entry {
                        kind: entry.kind,
                        is_template: entry.is_template || old.is_template,
                        inside: entry.inside.or(old.inside),
                    };
                })
                .or_insert(entry);
        }
    }

    /// Declares a template's parameter.
    pub fn declare_template_param(&mut self, name: Symbol, entry: Entry) {
        if let Some(&id) = self.open.last() {
            self.declare_in(id, name, entry);
        }
    }

    /// Declares a namespace, class or enum in the current scope, and gives the scope of its
    /// members, which is the earlier one if it was declared before.
    pub fn declare_with_members(
        &mut self,
        name: Symbol,
        kind: NameKind,
        is_template: bool,
    ) -> ScopeId {
        let current = self.current();
        let in_scope = |id: usize| {
            let entry = self.scopes.get(id)?.names.get(&name)?;
            entry.inside
        };
        // A program may add to `metal`, which is built in.
        let built_in = self.open.get(1) == Some(&current) && kind == NameKind::Namespace;
        let known = in_scope(current.0).or_else(|| in_scope(0).filter(|_| built_in));
        let inside = known.unwrap_or_else(|| self.add(false));
        let entry = Entry {
            kind,
            is_template,
            inside: Some(inside),
        };
        self.declare_in(current, name, entry);
        inside
    }

    /// A scope for the members of something without a name.
    pub fn nameless(&mut self) -> ScopeId {
        self.add(false)
    }

    /// Declares a name in a given scope.
    pub fn declare_member(&mut self, scope: ScopeId, name: Symbol, entry: Entry) {
        self.declare_in(scope, name, entry);
    }

    /// Makes the names of a scope visible in the current one.
    pub fn import(&mut self, from: ScopeId) {
        let current = self.current();
        self.import_into(current, from);
    }

    /// Makes the names of a scope visible in another.
    pub fn import_into(&mut self, to: ScopeId, from: ScopeId) {
        // The built-in names are visible everywhere.
        if from.0 == 0 || from == to {
            return;
        }
        if let Some(scope) = self.scopes.get_mut(to.0)
            && scope.imports.len() < IMPORT_LIMIT
            && !scope.imports.contains(&from)
        {
            scope.imports.push(from);
        }
    }

    /// What an unqualified name is here.
    pub fn find(&self, name: Symbol) -> Option<Entry> {
        self.open
            .iter()
            .rev()
            .find_map(|&id| self.find_inside(id, name))
    }

    /// What a name is after `::` alone.
    pub fn find_global(&self, name: Symbol) -> Option<Entry> {
        let global = self.open.get(1).copied()?;
        self.find_inside(global, name)
            .or_else(|| self.find_inside(ScopeId(0), name))
    }

    /// What a name is in a class or namespace.
    pub fn find_inside(&self, id: ScopeId, name: Symbol) -> Option<Entry> {
        let scope = self.scopes.get(id.0)?;
        scope.names.get(&name).copied().or_else(|| {
            scope.imports.iter().find_map(|import| {
                let imported = self.scopes.get(import.0)?;
                imported.names.get(&name).copied()
            })
        })
    }

    /// The number of open scopes, to come back to after an error.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// Leaves scopes until this many are open.
    pub fn close_to(&mut self, depth: usize) {
        self.open.truncate(depth);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_names_hide_outer_ones() {
        let mut interner = Interner::new();
        let mut names = Names::new(&mut interner);
        let float2 = interner.intern("float2");
        let array = interner.intern("array");
        assert_eq!(names.find(float2), Some(Entry::TYPE));
        assert!(names.find(array).is_some_and(|e| e.is_template));
        names.open_new(false);
        names.declare(array, Entry::VALUE);
        assert_eq!(names.find(array), Some(Entry::VALUE));
        names.close_and_forget();
        assert!(names.find(array).is_some_and(|e| e.kind == NameKind::Type));
    }

    #[test]
    fn template_scopes_hold_parameters_only() {
        let mut interner = Interner::new();
        let mut names = Names::new(&mut interner);
        let (t, f) = (interner.intern("T"), interner.intern("f"));
        names.open_new(true);
        names.declare_template_param(t, Entry::TYPE);
        names.declare(f, Entry::VALUE.template(true));
        assert_eq!(names.find(t), Some(Entry::TYPE));
        names.close();
        assert_eq!(names.find(t), None);
        assert!(names.find(f).is_some_and(|e| e.is_template));
    }

    #[test]
    fn namespaces_are_one_scope_when_reopened() {
        let mut interner = Interner::new();
        let mut names = Names::new(&mut interner);
        let (outer, inner) = (interner.intern("outer"), interner.intern("inner"));
        let first = names.declare_with_members(outer, NameKind::Namespace, false);
        names.declare_member(first, inner, Entry::TYPE);
        assert_eq!(
            names.declare_with_members(outer, NameKind::Namespace, false),
            first
        );
        assert_eq!(names.find(inner), None);
        names.import(first);
        assert_eq!(names.find(inner), Some(Entry::TYPE));
    }
}
