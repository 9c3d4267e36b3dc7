//! Random types, and the helper functions that give a value of one.

use super::{Generator, Note};
use crate::tester::program::*;

impl Generator {
    pub(super) fn scalar_type(&mut self) -> Scalar {
        let narrow = self.is_full();
        match self.random.below(100) {
            0..22 => Scalar::Int,
            22..44 => Scalar::Uint,
            44..62 => Scalar::Bool,
            62..75 => Scalar::Float,
            75..80 if narrow => Scalar::Half,
            80..84 if narrow => Scalar::Bfloat,
            _ => *self.random.pick(&Scalar::INTEGERS),
        }
    }

    fn vector_type(&mut self) -> Type {
        let scalar = match self.scalar_type() {
            Scalar::Bool => Scalar::Int,
            other => other,
        };
        Type::Vector(scalar, self.random.between(2, 4) as u8)
    }

    /// A type of expressions: no array, no pointer.
    pub(super) fn value_type(&mut self) -> Type {
        match self.palette.is_empty() || self.random.percent(25) {
            true => self.any_type(),
            false => self.random.pick(&self.palette).clone(),
        }
    }

    pub(super) fn any_type(&mut self) -> Type {
        match self.random.below(10) {
            0 | 1 if self.is_full() => self.vector_type(),
            2 if !self.program.structs.is_empty() => {
                Type::Struct(self.random.below(self.program.structs.len()))
            }
            _ => Type::Scalar(self.scalar_type()),
        }
    }

    /// A type of variables: no pointer.
    pub(super) fn variable_type(&mut self) -> Type {
        match self.random.below(10) {
            0 | 1 => {
                let element = self.value_type();
                Type::Array(Box::new(element), self.random.between(2, 4) as u8)
            }
            _ => self.value_type(),
        }
    }

    pub(super) fn pointer_type(&mut self) -> Type {
        let pointee = match self.random.below(4) {
            0 => self.value_type(),
            1 => Type::Scalar(self.scalar_type()),
            _ => Type::Scalar(*self.random.pick(&[Scalar::Int, Scalar::Uint])),
        };
        Type::Pointer(Box::new(pointee), *self.random.pick(&[1, 1, 1, 2, 3]))
    }

    pub(super) fn structure(&mut self) {
        let fields = (0..self.random.between(1, 3))
            .map(|_| self.variable_type())
            .collect();
        self.program.structs.push(fields);
    }

    pub(super) fn literal(&mut self, scalar: Scalar) -> Expression {
        let value = match (scalar, self.random.below(8)) {
            (Scalar::Bool, _) => self.random.below(2) as i64,
            (scalar, 0) if scalar.is_integer() => *self.random.pick(&[
                i64::MIN,
                i64::MAX,
                0x7fff_ffff,
                0x8000_0000,
                0xffff_ffff,
                0x7fff,
                0x80,
                -1,
            ]),
            (Scalar::Float, 0) => *self.random.pick(&[1 << 40, -(1 << 62), 1 << 33, 13]),
            (_, 1) => -(self.random.below(20) as i64),
            _ => self.random.below(10) as i64,
        };
        Expression::Literal(scalar, value)
    }

    /// An initialiser of nothing but literals.
    fn constant(&mut self, ty: &Type) -> Initializer {
        match ty {
            Type::Scalar(scalar) => Initializer::Value(self.literal(*scalar)),
            Type::Vector(scalar, length) => {
                let value = Box::new(self.literal(*scalar));
                Initializer::Value(Expression::Splat(*scalar, *length, value))
            }
            Type::Array(element, length) => {
                Initializer::Braced((0..*length).map(|_| self.constant(element)).collect())
            }
            Type::Struct(index) => {
                let fields = self.program.structs[*index].clone();
                Initializer::Braced(fields.iter().map(|f| self.constant(f)).collect())
            }
            Type::Pointer(..) => unreachable!("there is no constant pointer"),
        }
    }

    fn add_helper(&mut self, function: Function) -> usize {
        self.program.functions.push(function);
        self.notes.push(Note {
            cost: 1,
            has_effects: false,
            uses_lanes: false,
        });
        self.program.functions.len() - 1
    }

    /// A call of a function without parameters that makes a value of the type.
    pub(super) fn made(&mut self, ty: &Type) -> Expression {
        let variable = self.new_variable(ty.clone());
        let body = vec![Statement::Declare(variable, self.constant(ty))];
        let function = self.add_helper(Function {
            parameters: Vec::new(),
            result: ty.clone(),
            body,
            value: Expression::Load(Place::Variable(variable)),
        });
        Expression::Call(function, Vec::new())
    }

    /// A call of the function that returns its argument.
    pub(super) fn identity(&mut self, ty: &Type, value: Expression) -> Expression {
        let is_identity = |f: &Function| {
            f.body.is_empty()
                && f.result == *ty
                && matches!(&f.parameters[..], [p] if !p.is_reference
                    && matches!(f.value, Expression::Load(Place::Variable(v)) if v == p.variable))
        };
        let known = self.program.functions.iter().position(is_identity);
        let function = known.unwrap_or_else(|| {
            let variable = self.new_variable(ty.clone());
            self.add_helper(Function {
                parameters: vec![Parameter {
                    variable,
                    is_reference: false,
                }],
                result: ty.clone(),
                body: Vec::new(),
                value: Expression::Load(Place::Variable(variable)),
            })
        });
        Expression::Call(function, vec![Argument::Value(value)])
    }
}
