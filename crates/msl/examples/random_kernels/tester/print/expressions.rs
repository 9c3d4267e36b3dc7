//! Expressions and places as text. Which of them are well defined is settled where they are made.

use super::{Dialect, Parameters, Printer};
use crate::tester::program::*;

impl Printer<'_> {
    fn index(&mut self, index: &Expression, length: u8) -> String {
        match index {
            Expression::Literal(_, value) => format!("{}", *value as u64 % u64::from(length)),
            _ => format!("{} % {length}u", self.expression(index)),
        }
    }

    pub(super) fn place(&mut self, place: &Place) -> String {
        match place {
            Place::Variable(variable) => format!("v{variable}"),
            Place::Member(base, field) => format!("{}.m{field}", self.place(base)),
            Place::Element(base, index) => {
                let Type::Array(_, length) = self.program.type_of_place(base) else {
                    unreachable!("an element of what is no array");
                };
                let base = self.place(base);
                format!("{base}[{}]", self.index(index, length))
            }
            Place::Pointee(pointer, index) => {
                let Type::Pointer(_, length) = self.program.type_of(pointer) else {
                    unreachable!("the pointee of what is no pointer");
                };
                let text = match &**pointer {
                    Expression::Decay(array) => self.place(array),
                    pointer => self.expression(pointer),
                };
                match length {
                    1 => format!("(*{text})"),
                    _ => format!("{text}[{}]", self.index(index, length)),
                }
            }
            Place::Components(base, components) => {
                format!("{}.{}", self.place(base), letters(components))
            }
        }
    }

    pub(super) fn expression(&mut self, expression: &Expression) -> String {
        use Expression as E;
        match expression {
            E::Literal(scalar, value) => literal(*scalar, *value),
            E::Splat(scalar, length, value) => {
                format!("{}{length}({})", scalar.name(), self.expression(value))
            }
            E::Compose(scalar, parts) => {
                let name = format!("{}{}", scalar.name(), parts.len());
                format!("{name}({})", self.list(parts))
            }
            E::Load(place) => self.place(place),
            E::AddressOf(place) => format!("(&{})", self.place(place)),
            E::Decay(place) => self.place(place),
            E::Unary(op, operand) => {
                let text = self.expression(operand);
                let text = match op {
                    Unary::Negate => format!("(-{text})"),
                    Unary::Not => format!("(!{text})"),
                    Unary::Complement => format!("(~{text})"),
                };
                self.narrowed(expression, text)
            }
            E::Binary(op, left, right) => self.binary(expression, *op, left, right),
            E::Components(all, op, left, right) => {
                let (left, right) = (self.expression(left), self.expression(right));
                let name = if *all { "all" } else { "any" };
                format!("{name}({left} {} {right})", symbol(*op))
            }
            E::And(left, right) => {
                format!("({} && {})", self.expression(left), self.expression(right))
            }
            E::Or(left, right) => {
                format!("({} || {})", self.expression(left), self.expression(right))
            }
            E::Choose(condition, accept, reject) => format!(
                "({} ? {} : {})",
                self.expression(condition),
                self.expression(accept),
                self.expression(reject)
            ),
            E::Convert(to, operand) => {
                let is_float = self.program.type_of(operand) == FLOAT;
                let (name, text) = (self.type_name(to), self.expression(operand));
                match to {
                    Type::Scalar(scalar)
                        if self.dialect == Dialect::Cpp && is_float && scalar.is_integer() =>
                    {
                        format!("saturated<{name}>({text})")
                    }
                    _ => format!("{name}({text})"),
                }
            }
            E::Reinterpret(to, operand) => {
                format!("as_type<{}>({})", to.name(), self.expression(operand))
            }
            E::Bits(operand) => {
                self.fold(Scalar::Float);
                format!("fold({})", self.expression(operand))
            }
            E::Swizzle(base, components) => {
                format!("{}.{}", self.expression(base), letters(components))
            }
            E::Call(function, arguments) => {
                self.used.functions.insert(*function);
                let mut texts = Vec::new();
                for argument in arguments {
                    texts.push(match argument {
                        Argument::Value(value) => self.expression(value),
                        Argument::Reference(place) => self.place(place),
                    });
                }
                format!("f{function}({})", texts.join(", "))
            }
            E::Math(name, operands) => {
                let prefix = match self.dialect {
                    Dialect::Metal => "",
                    Dialect::Cpp => "metal_",
                };
                let text = format!("{prefix}{name}({})", self.list(operands));
                self.narrowed(expression, text)
            }
            E::Assign(place, value) => {
                let place = self.place(place);
                format!("({place} = {})", self.expression(value))
            }
            E::Compound(place, op, value) => {
                let floating = self.program.type_of(expression) == FLOAT;
                let (place, value) = (self.place(place), self.expression(value));
                match defined(*op) {
                    Some(name) if self.dialect == Dialect::Cpp && !floating => {
                        format!("{name}_assign({place}, {value})")
                    }
                    _ => format!("({place} {}= {value})", symbol(*op)),
                }
            }
            E::Increment(place, how) => {
                let place = self.place(place);
                match how {
                    Increment::PrefixUp => format!("(++{place})"),
                    Increment::PrefixDown => format!("(--{place})"),
                    Increment::PostfixUp => format!("({place}++)"),
                    Increment::PostfixDown => format!("({place}--)"),
                }
            }
            E::Comma(first, last) => {
                format!("({}, {})", self.expression(first), self.expression(last))
            }
            E::Lanes(name, operand) => format!("{name}({})", self.expression(operand)),
            E::Builtin(builtin) => {
                self.used.builtins.insert(*builtin);
                match builtin {
                    Builtin::Position => "i",
                    Builtin::Local => "l",
                    Builtin::Group => "g",
                    Builtin::Size => "n",
                    Builtin::Lane => "lane",
                    Builtin::SimdGroup => "s",
                }
                .to_string()
            }
            E::Shared(index) => {
                self.used.parameters.insert(Parameters::Arguments);
                format!("args[{index}]")
            }
            E::Input(scalar, index) => {
                let (name, parameter) = match scalar {
                    Scalar::Float => ("reals", Parameters::Reals),
                    _ => ("data", Parameters::Data),
                };
                self.used.parameters.insert(parameter);
                format!("{name}[{}]", self.index(index, INPUTS as u8))
            }
        }
    }

    fn list(&mut self, expressions: &[Expression]) -> String {
        let texts: Vec<String> = expressions.iter().map(|e| self.expression(e)).collect();
        texts.join(", ")
    }

    fn binary(
        &mut self,
        whole: &Expression,
        op: Binary,
        left: &Expression,
        right: &Expression,
    ) -> String {
        let floating = self.program.type_of(left) == FLOAT;
        let (left, right) = (self.expression(left), self.expression(right));
        let text = match defined(op) {
            Some(name) if self.dialect == Dialect::Cpp && !floating => {
                format!("{name}({left}, {right})")
            }
            _ => format!("({left} {} {right})", symbol(op)),
        };
        match op.is_comparison() {
            true => text,
            false => self.narrowed(whole, text),
        }
    }

    /// Arithmetic on small integers is in `int`: converted back, so that each has its own type.
    fn narrowed(&mut self, whole: &Expression, text: String) -> String {
        match self.program.type_of(whole) {
            Type::Scalar(scalar) if scalar.promotes() => format!("{}({text})", scalar.name()),
            _ => text,
        }
    }
}

fn letters(components: &[u8]) -> String {
    components
        .iter()
        .map(|&c| char::from(b"xyzw"[usize::from(c)]))
        .collect()
}

/// The function of the C++ prelude for an operator that C++ leaves undefined for some integers.
fn defined(op: Binary) -> Option<&'static str> {
    match op {
        Binary::Divide => Some("divide"),
        Binary::Remainder => Some("remainder_of"),
        Binary::ShiftLeft => Some("shift_left"),
        Binary::ShiftRight => Some("shift_right"),
        _ => None,
    }
}

fn symbol(op: Binary) -> &'static str {
    match op {
        Binary::Add => "+",
        Binary::Subtract => "-",
        Binary::Multiply => "*",
        Binary::Divide => "/",
        Binary::Remainder => "%",
        Binary::ShiftLeft => "<<",
        Binary::ShiftRight => ">>",
        Binary::BitAnd => "&",
        Binary::BitOr => "|",
        Binary::BitXor => "^",
        Binary::Equal => "==",
        Binary::NotEqual => "!=",
        Binary::Less => "<",
        Binary::LessEqual => "<=",
        Binary::Greater => ">",
        Binary::GreaterEqual => ">=",
    }
}

fn literal(scalar: Scalar, value: i64) -> String {
    match scalar {
        Scalar::Bool => (value != 0).to_string(),
        Scalar::Int if (0..=0x7fff_ffff).contains(&value) => value.to_string(),
        Scalar::Int => format!("int({:#x}u)", value as u32),
        Scalar::Uint => format!("{}u", value as u32),
        Scalar::Long | Scalar::Ulong if (0..=0x7fff_ffff).contains(&value) => {
            format!("{}({value})", scalar.name())
        }
        Scalar::Long | Scalar::Ulong => format!("{}({:#x}ul)", scalar.name(), value as u64),
        Scalar::Char => format!("char({})", value as i8),
        Scalar::Uchar => format!("uchar({})", value as u8),
        Scalar::Short => format!("short({})", value as i16),
        Scalar::Ushort => format!("ushort({})", value as u16),
        Scalar::Half | Scalar::Bfloat | Scalar::Float => {
            let text = format!("{:?}f", value as f32 * 0.25);
            match (scalar, value < 0) {
                (Scalar::Float, false) => text,
                (Scalar::Float, true) => format!("({text})"),
                _ => format!("{}({text})", scalar.name()),
            }
        }
    }
}
