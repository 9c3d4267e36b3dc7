//! Random expressions of a wanted type.

use super::places::Purpose;
use super::{Generator, Mode};
use crate::tester::program::*;

/// The most steps that one call may take, with all rounds of the loops around it.
const CALL_COST: u64 = 3000;

impl Generator {
    pub(super) fn expression(&mut self, ty: &Type, depth: u32, mode: Mode) -> Expression {
        if depth == 0 {
            return self.leaf(ty, mode);
        }
        if self.random.percent(12)
            && let Some(call) = self.call(ty, depth - 1, mode)
        {
            return call;
        }
        if mode.effects
            && self.random.percent(12)
            && let Some(effect) = self.effect(ty, depth - 1, mode)
        {
            return effect;
        }
        if self.random.percent(8) {
            let condition = Box::new(self.expression(&BOOL, depth - 1, mode));
            let accept = Box::new(self.expression(ty, depth - 1, mode));
            let reject = Box::new(self.expression(ty, depth - 1, mode));
            return Expression::Choose(condition, accept, reject);
        }
        if self.random.percent(6) {
            let value = self.expression(ty, depth - 1, mode);
            return self.identity(ty, value);
        }
        match ty {
            Type::Scalar(Scalar::Bool) => self.condition(depth - 1, mode),
            Type::Scalar(scalar) => self.number(*scalar, depth - 1, mode),
            Type::Vector(scalar, length) => self.vector(*scalar, *length, depth - 1, mode),
            _ => self.leaf(ty, mode),
        }
    }

    fn leaf(&mut self, ty: &Type, mode: Mode) -> Expression {
        if self.random.percent(85)
            && let Some(place) = self.place(ty, Purpose::Read, 0, mode, true)
        {
            return Expression::Load(place);
        }
        match ty {
            Type::Scalar(scalar) => self.scalar_leaf(*scalar, mode),
            Type::Vector(scalar, length) => {
                let value = Box::new(self.scalar_leaf(*scalar, mode));
                Expression::Splat(*scalar, *length, value)
            }
            _ => match self.place(ty, Purpose::Read, 0, mode, true) {
                Some(place) => Expression::Load(place),
                None => self.made(ty),
            },
        }
    }

    fn scalar_leaf(&mut self, scalar: Scalar, mode: Mode) -> Expression {
        let in_kernel = self.result.is_none();
        if !in_kernel || self.random.percent(35) {
            return self.literal(scalar);
        }
        let told = match (mode.uniform, self.random.below(10)) {
            (false, 0..4) => Expression::Builtin(Builtin::Position),
            (false, 4) => Expression::Builtin(Builtin::Local),
            (false, 5) if self.is_full() => Expression::Builtin(Builtin::Lane),
            (_, 6) => Expression::Builtin(Builtin::Group),
            (_, 7) => Expression::Builtin(Builtin::Size),
            _ => Expression::Shared(self.random.below(ARGUMENTS)),
        };
        let wants_input = matches!(scalar, Scalar::Uint | Scalar::Float);
        match scalar {
            _ if wants_input && self.random.percent(30) => {
                Expression::Input(scalar, Box::new(told))
            }
            Scalar::Uint => told,
            Scalar::Bool => {
                let one = Box::new(Expression::Literal(Scalar::Uint, 1));
                let low = Expression::Binary(Binary::BitAnd, Box::new(told), one.clone());
                Expression::Binary(Binary::Equal, Box::new(low), one)
            }
            _ => self.converted(scalar, told),
        }
    }

    fn converted(&mut self, to: Scalar, value: Expression) -> Expression {
        let value = match to {
            Scalar::Bfloat => Expression::Convert(FLOAT, Box::new(value)),
            _ => value,
        };
        Expression::Convert(Type::Scalar(to), Box::new(value))
    }

    /// Modes for two operands whose order of evaluation the language may leave open.
    fn pair(&mut self, mode: Mode) -> (Mode, Mode) {
        if !mode.effects || self.is_full() {
            return (mode, mode);
        }
        match self.random.below(4) {
            0 => (mode, mode.fixed()),
            1 => (mode.fixed(), mode),
            _ => (mode.reading(), mode.reading()),
        }
    }

    fn operands(
        &mut self,
        ty: &Type,
        depth: u32,
        mode: Mode,
    ) -> (Box<Expression>, Box<Expression>) {
        let (left, right) = self.pair(mode);
        let left = self.expression(ty, depth, left);
        let right = self.expression(ty, depth, right);
        (Box::new(left), Box::new(right))
    }

    fn condition(&mut self, depth: u32, mode: Mode) -> Expression {
        let both = |this: &mut Self| {
            let left = Box::new(this.expression(&BOOL, depth, mode));
            (left, Box::new(this.expression(&BOOL, depth, mode)))
        };
        match self.random.below(20) {
            0..3 => {
                let (left, right) = both(self);
                Expression::And(left, right)
            }
            3..6 => {
                let (left, right) = both(self);
                Expression::Or(left, right)
            }
            6..8 => {
                let operand = self.expression(&BOOL, depth, mode);
                Expression::Unary(Unary::Not, Box::new(operand))
            }
            8..10 if self.is_full() && !mode.uniform => {
                self.uses_lanes = true;
                let operand = self.expression(&BOOL, depth, mode);
                let name = self.random.pick(&["simd_any", "simd_all"]);
                Expression::Lanes(name, Box::new(operand))
            }
            10 if self.is_full() => {
                let scalar = *self
                    .random
                    .pick(&[Scalar::Int, Scalar::Float, Scalar::Uchar]);
                let ty = Type::Vector(scalar, self.random.between(2, 4) as u8);
                let (left, right) = self.operands(&ty, depth, mode);
                let op = *self.random.pick(&Binary::COMPARISONS);
                Expression::Components(self.random.percent(50), op, left, right)
            }
            11..13 => self.leaf(&BOOL, mode),
            _ => {
                let scalar = loop {
                    let scalar = self.scalar_type();
                    if scalar != Scalar::Bool {
                        break scalar;
                    }
                };
                let (left, right) = self.operands(&Type::Scalar(scalar), depth, mode);
                Expression::Binary(*self.random.pick(&Binary::COMPARISONS), left, right)
            }
        }
    }

    fn number(&mut self, scalar: Scalar, depth: u32, mode: Mode) -> Expression {
        let ty = Type::Scalar(scalar);
        match self.random.below(20) {
            0..8 => self.arithmetic(&ty, scalar, depth, mode),
            8 => {
                let op = match scalar.is_integer() && self.random.percent(50) {
                    true => Unary::Complement,
                    false => Unary::Negate,
                };
                Expression::Unary(op, Box::new(self.expression(&ty, depth, mode)))
            }
            9..12 => {
                let from = match scalar {
                    Scalar::Bfloat => Scalar::Float,
                    _ => loop {
                        // A bfloat becomes nothing else than float.
                        let from = self.scalar_type();
                        if from != scalar && (from != Scalar::Bfloat || scalar == Scalar::Float) {
                            break from;
                        }
                    },
                };
                let operand = self.expression(&Type::Scalar(from), depth, mode);
                Expression::Convert(ty, Box::new(operand))
            }
            12 | 13 => self.library(&ty, scalar, depth, mode),
            14 => match scalar {
                Scalar::Uint if self.random.percent(60) => {
                    let operand = self.expression(&FLOAT, depth, mode);
                    Expression::Bits(Box::new(operand))
                }
                Scalar::Int => self.reinterpreted(scalar, Scalar::Uint, depth, mode),
                Scalar::Uint => self.reinterpreted(scalar, Scalar::Int, depth, mode),
                Scalar::Float => self.reinterpreted(scalar, Scalar::Uint, depth, mode),
                _ => self.leaf(&ty, mode),
            },
            15 | 16 if self.is_full() && !mode.uniform && scalar.is_integer() => {
                self.across_lanes(scalar, depth, mode)
            }
            17 if matches!(scalar, Scalar::Uint | Scalar::Float) && self.result.is_none() => {
                let index = self.expression(&UINT, depth, mode);
                Expression::Input(scalar, Box::new(index))
            }
            _ => self.leaf(&ty, mode),
        }
    }

    fn reinterpreted(&mut self, to: Scalar, from: Scalar, depth: u32, mode: Mode) -> Expression {
        let operand = self.expression(&Type::Scalar(from), depth, mode);
        Expression::Reinterpret(to, Box::new(operand))
    }

    /// Sums of floats would hang on the order of the lanes: integers only.
    fn across_lanes(&mut self, scalar: Scalar, depth: u32, mode: Mode) -> Expression {
        // The language has none of these for 64 bits.
        if matches!(scalar, Scalar::Long | Scalar::Ulong) {
            return self.leaf(&Type::Scalar(scalar), mode);
        }
        self.uses_lanes = true;
        if scalar == Scalar::Uint && self.random.percent(20) {
            let operand = self.expression(&BOOL, depth, mode);
            return Expression::Ballot(Box::new(operand));
        }
        let name = self.random.pick(&[
            "simd_sum",
            "simd_min",
            "simd_max",
            "simd_and",
            "simd_or",
            "simd_xor",
            "simd_prefix_inclusive_sum",
            "simd_prefix_exclusive_sum",
            "simd_broadcast_first",
        ]);
        let operand = self.expression(&Type::Scalar(scalar), depth, mode);
        Expression::Lanes(name, Box::new(operand))
    }

    fn arithmetic(&mut self, ty: &Type, scalar: Scalar, depth: u32, mode: Mode) -> Expression {
        let op = self.operator(scalar);
        let (left, right) = self.operands(ty, depth, mode);
        Expression::Binary(op, left, right)
    }

    fn operator(&mut self, scalar: Scalar) -> Binary {
        match scalar.is_floating() {
            true => *self.random.pick(&Binary::FLOATING),
            false => *self.random.pick(&Binary::INTEGER),
        }
    }

    fn library(&mut self, ty: &Type, scalar: Scalar, depth: u32, mode: Mode) -> Expression {
        if scalar == Scalar::Bfloat {
            // The library computes in float.
            return self.leaf(ty, mode);
        }
        let full = self.is_full();
        let (name, arity): (&'static str, usize) = match (scalar.is_floating(), full) {
            (true, false) => {
                *self
                    .random
                    .pick(&[("fabs", 1), ("floor", 1), ("sqrt", 1), ("fma", 3)])
            }
            (true, true) => *self.random.pick(&[
                ("fabs", 1),
                ("floor", 1),
                ("sqrt", 1),
                ("fma", 3),
                ("fmin", 2),
                ("fmax", 2),
                ("exp", 1),
                ("log", 1),
                ("sin", 1),
            ]),
            (false, false) => *self.random.pick(&[("min", 2), ("max", 2), ("popcount", 1)]),
            (false, true) => *self.random.pick(&[
                ("min", 2),
                ("max", 2),
                ("popcount", 1),
                ("clz", 1),
                ("reverse_bits", 1),
                ("addsat", 2),
                ("subsat", 2),
                ("mulhi", 2),
                ("hadd", 2),
                ("rotate", 2),
            ]),
        };
        // With effects in one operand at most, the others fixed.
        let chosen = match mode.effects && self.random.percent(40) {
            true => Some(self.random.below(arity)),
            false => None,
        };
        let operands = (0..arity)
            .map(|index| {
                let mode = self.among(mode, chosen, index);
                self.expression(ty, depth, mode)
            })
            .collect();
        Expression::Math(name, operands)
    }

    /// The mode of one of several operands, of which `chosen` may have effects.
    fn among(&self, mode: Mode, chosen: Option<usize>, index: usize) -> Mode {
        match chosen {
            _ if self.is_full() => mode,
            None => mode.reading(),
            Some(chosen) if chosen == index => mode,
            Some(_) => mode.fixed(),
        }
    }

    fn vector(&mut self, scalar: Scalar, length: u8, depth: u32, mode: Mode) -> Expression {
        let ty = Type::Vector(scalar, length);
        match self.random.below(12) {
            0..4 => self.arithmetic(&ty, scalar, depth, mode),
            4 => {
                let value = self.expression(&Type::Scalar(scalar), depth, mode);
                Expression::Splat(scalar, length, Box::new(value))
            }
            5 | 6 => {
                let parts = (0..length)
                    .map(|_| self.expression(&Type::Scalar(scalar), depth, mode))
                    .collect();
                Expression::Compose(scalar, parts)
            }
            7 => {
                let from = self.random.between(2, 4) as u8;
                let base = self.expression(&Type::Vector(scalar, from), depth, mode);
                let components = self.components(length, from, false);
                Expression::Swizzle(Box::new(base), components)
            }
            8 => {
                let from = match scalar {
                    Scalar::Float => Scalar::Int,
                    _ => Scalar::Float,
                };
                let operand = self.expression(&Type::Vector(from, length), depth, mode);
                Expression::Convert(ty, Box::new(operand))
            }
            9 => self.library(&ty, scalar, depth, mode),
            10 => {
                let operand = self.expression(&ty, depth, mode);
                Expression::Unary(Unary::Negate, Box::new(operand))
            }
            _ => self.leaf(&ty, mode),
        }
    }

    /// An expression that writes something.
    pub(super) fn effect(&mut self, ty: &Type, depth: u32, mode: Mode) -> Option<Expression> {
        if self.random.percent(20) {
            let other = Type::Scalar(self.scalar_type());
            let first = self.effect(&other, depth.saturating_sub(1), mode)?;
            let last = self.expression(ty, depth, mode);
            return Some(Expression::Comma(Box::new(first), Box::new(last)));
        }
        // Where the order of value and place is open, one of them is fixed.
        let (of_place, of_value) = match self.is_full() || self.random.percent(50) {
            true => (mode.reading(), mode.reading()),
            false => (mode.fixed(), mode),
        };
        let pointers = of_place.variables;
        let place = self.place(ty, Purpose::Write, depth.min(1), of_place, pointers)?;
        let Type::Scalar(scalar) = ty else {
            let value = self.expression(ty, depth, of_value);
            return Some(Expression::Assign(place, Box::new(value)));
        };
        Some(match self.random.below(8) {
            0..2 if scalar.is_integer() => {
                let how = [
                    Increment::PrefixUp,
                    Increment::PrefixDown,
                    Increment::PostfixUp,
                    Increment::PostfixDown,
                ];
                Expression::Increment(place, *self.random.pick(&how))
            }
            2..4 if *scalar != Scalar::Bool => {
                let op = self.operator(*scalar);
                let of_value = if self.is_full() { mode } else { mode.reading() };
                let value = self.expression(ty, depth, of_value);
                Expression::Compound(place, op, Box::new(value))
            }
            4 => {
                let same = Expression::Load(place.clone());
                Expression::Assign(place, Box::new(same))
            }
            _ => {
                let value = self.expression(ty, depth, of_value);
                Expression::Assign(place, Box::new(value))
            }
        })
    }

    /// A call of one of the functions with this result.
    pub(super) fn call(&mut self, ty: &Type, depth: u32, mode: Mode) -> Option<Expression> {
        let rounds = self.rounds;
        let fits = |(index, function): &(usize, &Function)| {
            let note = &self.notes[*index];
            function.result == *ty
                && !function.parameters.is_empty()
                && (mode.effects || !note.has_effects)
                && !(mode.uniform && note.uses_lanes)
                && note.cost * rounds <= CALL_COST
        };
        let all = self.program.functions.iter().enumerate().filter(fits);
        let all: Vec<usize> = all.map(|(index, _)| index).collect();
        if all.is_empty() {
            return None;
        }
        let function = *self.random.pick(&all);
        let parameters = self.program.functions[function].parameters.clone();
        let chosen = match mode.effects && self.random.percent(40) {
            true => Some(self.random.below(parameters.len())),
            false => None,
        };
        let mut arguments = Vec::new();
        for (index, parameter) in parameters.iter().enumerate() {
            let mode = self.among(mode, chosen, index);
            let ty = self.program.variables[parameter.variable].clone();
            arguments.push(match &ty {
                _ if parameter.is_reference => {
                    let mode = mode.reading();
                    Argument::Reference(self.place(&ty, Purpose::Refer, 1, mode, mode.variables)?)
                }
                Type::Pointer(pointee, length) => {
                    Argument::Value(self.pointer(pointee, *length, depth.min(1), mode)?)
                }
                _ => Argument::Value(self.expression(&ty, depth, mode)),
            });
        }
        self.uses_lanes |= self.notes[function].uses_lanes;
        self.cost += self.notes[function].cost * rounds;
        Some(Expression::Call(function, arguments))
    }
}
