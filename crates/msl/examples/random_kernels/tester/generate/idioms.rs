//! Small groups of statements that compilers tend to get wrong: a branch that changes its own
//! condition, a value kept while its variable changes, references, and pointers that move.

use super::places::Purpose;
use super::statements::Site;
use super::{Generator, Mode};
use crate::tester::program::*;

impl Generator {
    /// A branch that changes its own condition.
    pub(super) fn flag(&mut self, site: Site) -> Option<Statement> {
        let flag = self.place(&BOOL, Purpose::Write, 1, Mode::READ, true)?;
        let change = |this: &mut Self| {
            let value = match this.random.percent(50) {
                true => this.literal(Scalar::Bool),
                false => this.expression(&BOOL, 2, Mode::READ),
            };
            Statement::Evaluate(Expression::Assign(flag.clone(), Box::new(value)))
        };
        let mut accept = vec![change(self)];
        accept.extend(self.block(site.nested(false)));
        let mut reject = match self.random.percent(70) {
            true => self.block(site.nested(false)),
            false => Vec::new(),
        };
        if self.random.percent(40) {
            reject.insert(0, change(self));
        }
        Some(Statement::If(Expression::Load(flag), accept, reject))
    }

    /// Keeps a value, through a function that only returns it or without, and changes the variable.
    pub(super) fn saved(&mut self, block: &mut Block) {
        let ty = self.known_type();
        let Some(place) = self.place(&ty, Purpose::Write, 1, Mode::READ, true) else {
            return;
        };
        let mut old = Expression::Load(place.clone());
        if self.random.percent(60) {
            old = self.identity(&ty, old);
        }
        let value = self.expression(&ty, 2, Mode::READ);
        let change = Expression::Assign(place, Box::new(value));
        let braces = matches!(ty, Type::Scalar(_)) && self.random.percent(40);
        let (variable, initializer) = match braces {
            true => {
                let array = Type::Array(Box::new(ty), 2);
                let parts = vec![Initializer::Value(old), Initializer::Value(change.clone())];
                (self.new_variable(array), Initializer::Braced(parts))
            }
            false => (self.new_variable(ty), Initializer::Value(old)),
        };
        block.push(Statement::Declare(variable, initializer));
        if !braces {
            block.push(Statement::Evaluate(change));
        }
        self.show(variable, true, false);
    }

    /// A variable or pointer that a loop sets after the place where its next round uses it.
    pub(super) fn late(&mut self, site: Site) -> Option<Statement> {
        let pointee = self.known_type();
        let (ty, value) = match self.random.percent(50) {
            true => (
                Type::Pointer(Box::new(pointee.clone()), 1),
                self.pointer(&pointee, 1, 2, Mode::READ)?,
            ),
            false => (pointee.clone(), self.expression(&pointee, 2, Mode::ALL)),
        };
        let rounds = self.random.between(2, 3);
        let together = site.uniform && self.random.percent(60);
        let (variable, counter) = (self.new_variable(ty.clone()), self.new_variable(UINT));
        self.rounds *= rounds as u64;
        self.scopes.push(Vec::new());
        self.show(variable, false, false);
        self.show(counter, false, together);
        let here = Place::Variable(variable);
        let mut before = Vec::new();
        if let Type::Pointer(..) = ty {
            let first = Box::new(Expression::Literal(Scalar::Uint, 0));
            let there = Place::Pointee(Box::new(Expression::Load(here)), first);
            let value = Box::new(self.expression(&pointee, 2, Mode::READ));
            before.push(Statement::Evaluate(Expression::Assign(there, value)));
        } else if let Some(into) = self.place(&ty, Purpose::Write, 1, Mode::READ, true) {
            let value = Box::new(Expression::Load(here));
            before.push(Statement::Evaluate(Expression::Assign(into, value)));
        }
        let inside = site.inside_loop(together);
        if self.random.percent(50) {
            before.extend(self.block(inside.nested(true)));
        }
        let after = match self.random.percent(50) {
            true => self.block(inside),
            false => Vec::new(),
        };
        self.scopes.pop();
        self.rounds /= rounds as u64;
        Some(Statement::Late(Late {
            variable,
            counter,
            rounds: rounds as u8,
            before,
            value,
            after,
        }))
    }

    pub(super) fn reference(&mut self) -> Option<Statement> {
        let ty = match self.random.percent(25) {
            true => self.variable_type(),
            false => self.known_type(),
        };
        let place = self.place(&ty, Purpose::Refer, 2, Mode::READ, true)?;
        let variable = self.new_variable(ty);
        self.show(variable, true, false);
        Some(Statement::Refer(variable, place))
    }

    pub(super) fn new_pointer(&mut self) -> Option<Statement> {
        let (pointee, length) = match self.random.percent(30) {
            true => match self.pointer_type() {
                Type::Pointer(pointee, length) => (*pointee, length),
                _ => return None,
            },
            false => (self.known_type(), 1),
        };
        let pointer = self.pointer(&pointee, length, 2, Mode::READ)?;
        let variable = self.new_variable(Type::Pointer(Box::new(pointee), length));
        self.show(variable, true, false);
        Some(Statement::Declare(variable, Initializer::Value(pointer)))
    }

    /// Lets a pointer point at something else that lives as long as it.
    pub(super) fn moved_pointer(&mut self) -> Option<Statement> {
        let mut pointers = Vec::new();
        for (depth, scope) in self.scopes.iter().enumerate() {
            for visible in scope {
                if let Type::Pointer(pointee, length) = &self.program.variables[visible.variable]
                    && visible.is_mutable
                {
                    pointers.push((depth, visible.variable, (**pointee).clone(), *length));
                }
            }
        }
        if pointers.is_empty() {
            return self.new_pointer();
        }
        let (depth, variable, pointee, length) = self.random.pick(&pointers).clone();
        self.reach = depth + 1;
        let pointer = self.pointer(&pointee, length, 2, Mode::READ);
        self.reach = usize::MAX;
        let target = Place::Variable(variable);
        pointer.map(|p| Statement::Evaluate(Expression::Assign(target, Box::new(p))))
    }
}
