//! What each operation of a thread computes.

use super::arithmetic;
use super::memory::{How, moved, parts};
use super::thread::Thread;
use super::values::{Data, Number, Numbers};
use super::{Error, Machine, Result};
use crate::diag::Span;
use crate::ir::{
    AtomicOp, BinaryOp, Handle, Literal, MathFunction, Op, Place, Scalar, Type, Value,
};

impl Machine<'_, '_> {
    /// The value of an operation that needs no other thread.
    pub fn evaluate(
        &mut self,
        thread: &mut Thread,
        op: &Op,
        ty: Handle<Type>,
        span: Span,
    ) -> Result<Data> {
        let size = self.shapes.size(ty);
        let (scalar, count) = self.shapes.vector(ty);
        Ok(match op {
            Op::Literal(literal) => {
                let number = match *literal {
                    Literal::Bool(value) => Number::truth(value),
                    Literal::Int(value) => Number::Integer(value.into()),
                    Literal::Float(value) => Number::Float(value),
                };
                Data::of_numbers(scalar, &[number], size)
            }
            Op::FunctionConstant(handle) => {
                let constant = &self.module.function_constants[*handle];
                let Some(bytes) = self.function_constants.get(&constant.index) else {
                    return Err(Error::MissingConstant {
                        kernel: self.kernel.name.to_string(),
                        place: self.place(span),
                        name: constant.name.to_string(),
                        index: constant.index,
                    });
                };
                let mut bytes = bytes.clone();
                bytes.resize(size, 0);
                bytes.into()
            }
            Op::FunctionConstantDefined(handle) => {
                let index = self.module.function_constants[*handle].index;
                let is_defined = self.function_constants.contains_key(&index);
                vec![u8::from(is_defined)].into()
            }
            Op::Zero => Data::zero(size),
            Op::Compose(values) => {
                let mut data = Data::zero(size);
                let whole = &self.module.types[ty];
                for (index, &value) in (0..).zip(values) {
                    if let Some((offset, size)) = self.part_bytes(whole, index) {
                        data.put(offset, thread.value(value), size);
                    }
                }
                data
            }
            Op::Splat(value) => {
                let mut data = Data::zero(size);
                let step = scalar.size() as usize;
                for index in 0..count {
                    data.put(index * step, thread.value(*value), step);
                }
                data
            }
            Op::Extract(value, index) => {
                let whole = &self.module.types[self.type_of(thread, *value)];
                match self.part_bytes(whole, (*index).into()) {
                    Some((offset, part)) => thread.value(*value).part(offset..offset + part, size),
                    None => Data::zero(size),
                }
            }
            Op::Swizzle(value, components) => {
                let mut data = Data::zero(size);
                let step = scalar.size() as usize;
                for (index, &from) in components.iter().enumerate() {
                    let from = usize::from(from) * step;
                    let part = thread.value(*value).part(from..from + step, step);
                    data.put(index * step, &part, step);
                }
                data
            }
            Op::Unary(op, value) => {
                self.use_value(thread, *value, span);
                let numbers = self.numbers(thread, *value);
                let results: Numbers = numbers.iter().map(|&a| arithmetic::unary(*op, a)).collect();
                Data::of_numbers(scalar, &results, size)
            }
            Op::Binary(op, left, right) => {
                self.use_value(thread, *left, span);
                self.use_value(thread, *right, span);
                let of = self.shapes.vector(self.type_of(thread, *left)).0;
                let (a, b) = (self.numbers(thread, *left), self.numbers(thread, *right));
                self.check_operands(thread, span, (*op, of), &b);
                let results: Numbers = (a.iter().zip(b.iter()))
                    .map(|(&a, &b)| arithmetic::binary(*op, of, a, b))
                    .collect();
                Data::of_numbers(scalar, &results, size)
            }
            Op::Convert(value) => {
                self.use_value(thread, *value, span);
                let numbers = self.numbers(thread, *value);
                let results: Numbers = numbers
                    .iter()
                    .map(|&a| arithmetic::convert(a, scalar))
                    .collect();
                Data::of_numbers(scalar, &results, size)
            }
            Op::Bitcast(value) => {
                let data = thread.value(*value);
                data.part(0..data.bytes.len().min(size), size)
            }
            Op::Select {
                condition,
                accept,
                reject,
            } => {
                self.use_value(thread, *condition, span);
                let conditions = self.numbers(thread, *condition);
                let (accept, reject) = (thread.value(*accept), thread.value(*reject));
                match conditions[..] {
                    [condition] if condition.is_true() => accept.clone(),
                    [_] => reject.clone(),
                    _ => {
                        let mut data = Data::zero(size);
                        let step = scalar.size() as usize;
                        for (index, condition) in conditions.iter().enumerate() {
                            let from = if condition.is_true() { accept } else { reject };
                            let range = index * step..(index + 1) * step;
                            data.put(index * step, &from.part(range, step), step);
                        }
                        data
                    }
                }
            }
            Op::Math(function, args) => {
                for &arg in args {
                    self.use_value(thread, arg, span);
                }
                let all: Vec<_> = args.iter().map(|&arg| self.numbers(thread, arg)).collect();
                let of = args.first().map(|&arg| self.type_of(thread, arg));
                let of = of.map_or(scalar, |ty| self.shapes.vector(ty).0);
                Data::of_numbers(scalar, &mathematics(*function, of, count, &all), size)
            }
            Op::Load(place) => {
                let from = self.resolve(thread, place, (span, false));
                self.load(thread, from, (place.ty, ty), (span, How::Read))?
            }
            Op::AddressOf(place) => Data::of_pointer(self.resolve(thread, place, (span, true))),
            Op::Offset(base, by) => {
                self.use_value(thread, *base, span);
                self.use_value(thread, *by, span);
                let by = self.number(thread, *by).integer();
                let bytes = by * i128::from(self.stride(ty));
                Data::of_pointer(moved(thread.value(*base).bits(), bytes))
            }
            Op::PointerDifference(left, right) => {
                self.use_value(thread, *left, span);
                self.use_value(thread, *right, span);
                let stride = self.stride(self.type_of(thread, *left)).max(1);
                let (_, left) = parts(thread.value(*left).bits());
                let (_, right) = parts(thread.value(*right).bits());
                let count = (left - right) / i64::from(stride);
                Data::of_numbers(scalar, &[Number::Integer(count.into())], size)
            }
            Op::Atomic { op, place, args } => self.atomic(thread, *op, place, args, span)?,
            Op::SimdgroupMatrix(op, args) => self.matrix(thread, *op, args, (ty, span))?,
            // Steps of their own.
            Op::Call(..) | Op::Simd(..) => Data::default(),
        })
    }

    /// Bytes between the pointees of a pointer type.
    fn stride(&self, ty: Handle<Type>) -> u32 {
        match self.module.types[ty] {
            Type::Pointer { pointee, .. } => self.module.types.stride(pointee),
            _ => 1,
        }
    }

    /// Offset and size of a part of a value.
    fn part_bytes(&self, whole: &Type, index: i128) -> Option<(usize, usize)> {
        let size = match *whole {
            Type::Struct(of) => {
                let fields = &self.module.types.structs[of].fields;
                self.shapes.size(fields.get(index as usize)?.ty)
            }
            Type::Array(element, _) => self.shapes.size(element),
            Type::Vector(scalar, ..) => scalar.size() as usize,
            Type::Matrix { scalar, rows, .. } => {
                scalar.size() as usize * usize::from(rows).next_power_of_two()
            }
            _ => return None,
        };
        Some((self.shapes.part(whole, index)?.offset as usize, size))
    }

    fn atomic(
        &mut self,
        thread: &mut Thread,
        op: AtomicOp,
        place: &Place,
        args: &[Handle<Value>],
        span: Span,
    ) -> Result<Data> {
        for &arg in args {
            self.use_value(thread, arg, span);
        }
        let at = self.resolve(thread, place, (span, false));
        let scalar = self.shapes.vector(place.ty).0;
        let arg = |index: usize| thread.value(args[index]);
        let write = (span, How::AtomicWrite);
        if op == AtomicOp::Store {
            self.store(thread, at, place.ty, arg(0), write)?;
            return Ok(Data::default());
        }
        let types = (place.ty, place.ty);
        let old = self.load(thread, at, types, (span, How::AtomicRead))?;
        self.use_data(thread, &old, place.ty, span);
        let new = match op {
            AtomicOp::Load | AtomicOp::Store => return Ok(old),
            AtomicOp::Exchange => arg(0).clone(),
            AtomicOp::CompareExchange if old.bytes == arg(0).bytes => arg(1).clone(),
            AtomicOp::CompareExchange => old.clone(),
            _ => {
                let number = modified(op, scalar, old.number(scalar), arg(0).number(scalar));
                Data::of_numbers(scalar, &[number], old.bytes.len())
            }
        };
        self.store(thread, at, place.ty, &new, write)?;
        Ok(old.bytes.into())
    }
}

/// What an atomic operation makes of what was there and its operand.
fn modified(op: AtomicOp, scalar: Scalar, old: Number, by: Number) -> Number {
    let binary = match op {
        AtomicOp::Add => BinaryOp::Add,
        AtomicOp::Subtract => BinaryOp::Subtract,
        AtomicOp::And => BinaryOp::And,
        AtomicOp::Or => BinaryOp::Or,
        AtomicOp::Xor => BinaryOp::Xor,
        AtomicOp::Min if old.integer() < by.integer() => return old,
        AtomicOp::Max if old.integer() > by.integer() => return old,
        _ => return by,
    };
    arithmetic::binary(binary, scalar, old, by)
}

/// A maths function of scalars or vectors.
fn mathematics(function: MathFunction, scalar: Scalar, count: usize, args: &[Numbers]) -> Numbers {
    use BinaryOp::{Add, Multiply};
    let one = |number| std::iter::once(number).collect();
    match (function, args) {
        (MathFunction::All, [all]) => one(Number::truth(all.iter().all(|n| n.is_true()))),
        (MathFunction::Any, [all]) => one(Number::truth(all.iter().any(|n| n.is_true()))),
        (MathFunction::Dot, [left, right]) => {
            // From the first component on, each product and sum rounded.
            let products = left.iter().zip(right.iter()).map(|(&left, &right)| {
                arithmetic::binary(Multiply, scalar, left, right).rounded(scalar)
            });
            let sum = products.reduce(|sum, product| {
                arithmetic::binary(Add, scalar, sum, product).rounded(scalar)
            });
            sum.into_iter().collect()
        }
        _ => (0..count)
            .map(|index| {
                // The place and length of a bit field are scalars for all components.
                let of_component = |arg: &Numbers| arg.get(index).or(arg.first()).copied();
                let args: Vec<Number> = args.iter().filter_map(of_component).collect();
                arithmetic::function(function, scalar, &args)
            })
            .collect(),
    }
}
