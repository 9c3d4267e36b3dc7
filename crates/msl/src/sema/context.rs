//! The function that is being lowered: its variables, the block that is being written, and the
//! names that its body can see.

use std::collections::HashMap;
use std::rc::Rc;

use super::operand::Lvalue;
use super::scope::{Entity, Environment, NamespaceId};
use super::types::{Qualified, StructId};
use crate::diag::Span;
use crate::ir::{self, Arena, Block, Handle, Local, Op, Statement, Value};
use crate::syntax::ast::Name;

/// What `break` and `continue` inside it mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Breakable {
    Loop,
    Switch,
}

/// What a function returns.
#[derive(Clone, Copy, Debug)]
pub(super) enum ResultType {
    /// As declared.
    Known(Qualified),
    /// `auto`, with what the first `return` made of it.
    Deduced(Option<Qualified>),
}

/// A place in a pack expansion, and the length of the packs met there.
#[derive(Clone, Copy, Debug)]
pub(super) struct PackPosition {
    pub index: usize,
    pub len: Option<usize>,
}

/// The function that is being lowered.
pub(super) struct Context<'a> {
    pub locals: Arena<Local>,
    pub values: Arena<Value>,
    pub threadgroup: Arena<Local>,
    /// The block that statements go to.
    pub block: Block,
    /// Names of the blocks around, innermost last.
    pub scopes: Vec<HashMap<Name, Entity<'a>>>,
    /// Template parameters.
    pub environment: Option<Rc<Environment<'a>>>,
    /// The struct whose member this is.
    pub owner: Option<StructId>,
    /// The object of a method.
    pub this: Option<Lvalue>,
    pub namespace: NamespaceId,
    /// Only what was declared before this is visible.
    pub horizon: usize,
    pub result: ResultType,
    pub breakables: Vec<Breakable>,
    pub is_kernel: bool,
    /// See [`crate::ir::Function::casts_away_const`].
    pub casts_away_const: bool,
    /// Whether a function's body is lowered, not an expression of program scope.
    pub in_function: bool,
    pub statements: usize,
    /// The element of parameter packs that is being expanded.
    pub pack: Option<PackPosition>,
    /// What `auto` stands for while a type is resolved.
    pub auto: Option<Qualified>,
}

impl<'a> Context<'a> {
    /// The most statements and values one function may have.
    pub const STATEMENT_LIMIT: usize = 1_000_000;

    /// A context for expressions outside functions.
    pub fn new(namespace: NamespaceId, horizon: usize) -> Self {
        Self {
            locals: Arena::default(),
            values: Arena::default(),
            threadgroup: Arena::default(),
            block: Block::new(),
            scopes: Vec::new(),
            environment: None,
            owner: None,
            this: None,
            namespace,
            horizon,
            result: ResultType::Known(Qualified::plain(super::types::Ty::VOID)),
            breakables: Vec::new(),
            is_kernel: false,
            casts_away_const: false,
            in_function: false,
            statements: 0,
            pack: None,
            auto: None,
        }
    }

    /// Appends a statement.
    pub fn push(&mut self, statement: Statement) {
        self.statements += 1;
        if self.statements <= Self::STATEMENT_LIMIT {
            self.block.push(statement);
        }
    }

    /// Computes a value.
    pub fn emit(&mut self, op: Op, ty: Handle<ir::Type>, span: Span) -> Handle<Value> {
        let value = self.values.push(Value { ty, span });
        self.push(Statement::Let(value, op));
        value
    }

    /// Adds a variable.
    pub fn local(&mut self, name: Name, ty: Handle<ir::Type>, span: Span) -> Handle<Local> {
        self.locals.push(Local { name, ty, span })
    }

    /// Declares a name in the innermost scope; gives back what it meant there before.
    pub fn declare(&mut self, name: Name, entity: Entity<'a>) -> Option<Entity<'a>> {
        match self.scopes.last_mut() {
            Some(scope) => scope.insert(name, entity),
            None => None,
        }
    }

    /// Whether `continue` has a loop to go on with.
    pub fn in_loop(&self) -> bool {
        self.breakables.contains(&Breakable::Loop)
    }
}
