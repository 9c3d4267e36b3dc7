//! What of the variables in scope can be read, written or pointed at.

use super::{Generator, Mode, Visible};
use crate::tester::program::*;

/// What a place is wanted for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Read,
    Write,
    /// A reference or pointer to it: no component of a vector.
    Refer,
}

/// A way from a whole to a part.
#[derive(Clone, Copy)]
enum Step {
    Member(usize),
    Element,
    Pointee,
    /// So many components of a vector of a length.
    Components(u8, u8),
}

impl Generator {
    fn visible(&self) -> impl Iterator<Item = Visible> + '_ {
        self.scopes.iter().take(self.reach).flatten().copied()
    }

    /// A random place of the type. Without `pointers` it is found without reading a pointer.
    pub(super) fn place(
        &mut self,
        ty: &Type,
        purpose: Purpose,
        depth: u32,
        mode: Mode,
        pointers: bool,
    ) -> Option<Place> {
        let mut found: Vec<(usize, Vec<Step>)> = Vec::new();
        for visible in self.visible() {
            let may = match purpose {
                Purpose::Read if mode.uniform => visible.is_uniform,
                Purpose::Read => mode.variables || !visible.is_mutable,
                Purpose::Write | Purpose::Refer => visible.is_mutable,
            };
            let from = &self.program.variables[visible.variable];
            if may || (matches!(from, Type::Pointer(..)) && !mode.uniform && pointers) {
                let mut ways = Vec::new();
                self.ways(from, ty, purpose, &mut Vec::new(), &mut ways);
                ways.retain(|way| match way.first() {
                    // What a pointer points at may change even if the pointer does not.
                    Some(Step::Pointee) => pointers && (purpose != Purpose::Read || mode.variables),
                    _ => may,
                });
                found.extend(ways.into_iter().map(|way| (visible.variable, way)));
            }
        }
        if found.is_empty() {
            return None;
        }
        let (variable, way) = self.random.pick(&found).clone();
        let mut place = Place::Variable(variable);
        for step in way {
            place = match step {
                Step::Member(field) => Place::Member(Box::new(place), field),
                Step::Element => Place::Element(Box::new(place), Box::new(self.index(depth, mode))),
                Step::Pointee => Place::Pointee(
                    Box::new(Expression::Load(place)),
                    Box::new(self.index(depth, mode)),
                ),
                Step::Components(count, length) => {
                    let distinct = purpose != Purpose::Read;
                    Place::Components(Box::new(place), self.components(count, length, distinct))
                }
            };
        }
        Some(place)
    }

    /// All ways from a type to parts of the other.
    fn ways(
        &self,
        from: &Type,
        to: &Type,
        purpose: Purpose,
        way: &mut Vec<Step>,
        found: &mut Vec<Vec<Step>>,
    ) {
        if from == to {
            found.push(way.clone());
            return;
        }
        let mut follow = |step: Step, part: &Type| {
            way.push(step);
            self.ways(part, to, purpose, way, found);
            way.pop();
        };
        match from {
            Type::Struct(index) => {
                for (field, ty) in self.program.structs[*index].iter().enumerate() {
                    follow(Step::Member(field), ty);
                }
            }
            Type::Array(element, _) => follow(Step::Element, element),
            Type::Pointer(pointee, _) => follow(Step::Pointee, pointee),
            Type::Vector(scalar, length) if purpose != Purpose::Refer => match to {
                Type::Scalar(wanted) if wanted == scalar => {
                    follow(Step::Components(1, *length), to);
                }
                Type::Vector(wanted, count) if wanted == scalar && count < length => {
                    follow(Step::Components(*count, *length), to);
                }
                _ => {}
            },
            _ => {}
        }
    }

    pub(super) fn components(&mut self, count: u8, length: u8, distinct: bool) -> Vec<u8> {
        let mut all: Vec<u8> = (0..length).collect();
        (0..count)
            .map(|_| {
                let chosen = self.random.below(all.len());
                if distinct {
                    all.remove(chosen)
                } else {
                    all[chosen]
                }
            })
            .collect()
    }

    /// An index of an array: a literal, or a uint of any value.
    fn index(&mut self, depth: u32, mode: Mode) -> Expression {
        if depth == 0 || self.random.percent(40) {
            return Expression::Literal(Scalar::Uint, self.random.below(4) as i64);
        }
        self.expression(&UINT, depth - 1, mode.reading())
    }

    /// A pointer to what lives as long as the reach.
    pub(super) fn pointer(
        &mut self,
        pointee: &Type,
        length: u8,
        depth: u32,
        mode: Mode,
    ) -> Option<Expression> {
        let ty = Type::Pointer(Box::new(pointee.clone()), length);
        if depth > 0 && self.random.percent(15) {
            let condition = self.expression(&BOOL, depth - 1, mode);
            let accept = self.pointer(pointee, length, depth - 1, mode)?;
            let reject = self.pointer(pointee, length, depth - 1, mode)?;
            return Some(Expression::Choose(
                Box::new(condition),
                Box::new(accept),
                Box::new(reject),
            ));
        }
        if depth > 0
            && self.random.percent(20)
            && let Some(call) = self.call(&ty, depth - 1, mode)
        {
            return Some(call);
        }
        let load = self
            .place(&ty, Purpose::Read, 0, mode, false)
            .map(Expression::Load);
        let address = match length {
            1 => self
                .place(pointee, Purpose::Refer, depth, mode, mode.variables)
                .map(Expression::AddressOf),
            _ => {
                let array = Type::Array(Box::new(pointee.clone()), length);
                self.place(&array, Purpose::Refer, depth, mode, mode.variables)
                    .map(Expression::Decay)
            }
        };
        match self.random.percent(30) {
            true => load.or(address),
            false => address.or(load),
        }
    }
}
