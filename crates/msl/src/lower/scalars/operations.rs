//! Operations, scalar by scalar.

use std::rc::Rc;

use super::{Leaf, Scalars};
use crate::diag::Span;
use crate::ir::{BinaryOp, FunctionConstant, Handle, MathFunction, Op, Scalar, Type, Value};
use crate::lower::constant::literal_bits;
use crate::lower::form::{Compute, Kind, Node, Reg};
use crate::lower::memory::bits_of_bytes;
use crate::lower::{Result, unsupported};

impl Scalars<'_> {
    /// The leaves of an operation's value. Those that only rearrange scalars compute nothing.
    pub(super) fn operation(&mut self, value: Handle<Value>, op: &Op) -> Result<Rc<[Leaf]>> {
        let Value { ty, span } = self.info(value);
        match op {
            Op::Load(place) => self.load(place, span),
            Op::AddressOf(place) => Ok(Rc::from([self.resolve(place, span)?])),
            Op::Offset(pointer, index) => {
                let index = self.reg(*index)?;
                let leaf = self.pointer_leaf(*pointer)?;
                let Type::Pointer { pointee, space } = self.module.types[ty] else {
                    let message = "internal: an offset of what is no pointer";
                    return Err(unsupported(span, message));
                };
                Ok(Rc::from([self.moved(leaf, index, pointee, space)?]))
            }
            Op::Bitcast(from) if self.pointee_of(ty).is_some() => {
                let pointee = self.pointee_of(ty).unwrap_or(ty);
                let leaves = self.value(*from)?;
                Ok(leaves
                    .iter()
                    .map(|leaf| self.cast(leaf.clone(), pointee))
                    .collect())
            }
            Op::Compose(parts) => {
                let mut leaves = Vec::new();
                for part in parts {
                    leaves.extend(self.value(*part)?.iter().cloned());
                }
                Ok(leaves.into())
            }
            Op::Splat(part) => {
                let leaf = self.value(*part)?;
                let count = self.layouts.count(ty);
                Ok((0..count).flat_map(|_| leaf.first().cloned()).collect())
            }
            Op::Extract(whole, index) => {
                let leaves = self.value(*whole)?;
                let no_part = || unsupported(span, "internal: a part outside its value");
                let part = self.value_part(self.info(*whole).ty, *index);
                let (_, before) = part.ok_or_else(no_part)?;
                let end = before + self.layouts.count(ty);
                let part = leaves.get(before as usize..end as usize);
                part.map(Rc::from).ok_or_else(no_part)
            }
            Op::Swizzle(whole, components) => {
                let leaves = self.value(*whole)?;
                let pick = |&c: &u8| leaves.get(c as usize).cloned();
                Ok(components.iter().filter_map(pick).collect())
            }
            _ => {
                let regs = self.computed(op, ty, span)?;
                Ok(regs.into_iter().map(Leaf::Register).collect())
            }
        }
    }

    fn pointee_of(&self, ty: Handle<Type>) -> Option<Handle<Type>> {
        match self.module.types[ty] {
            Type::Pointer { pointee, .. } => Some(pointee),
            _ => None,
        }
    }

    fn computed(&mut self, op: &Op, ty: Handle<Type>, span: Span) -> Result<Vec<Reg>> {
        let kinds = self.layouts.kinds(ty, span)?;
        match op {
            Op::Literal(literal) => {
                let kind = kinds.first().copied().unwrap_or(Kind::Scalar(Scalar::I32));
                let bits = literal_bits(*literal, kind.scalar());
                Ok(vec![self.literal(bits, kind)])
            }
            Op::Zero => Ok(kinds.iter().map(|&kind| self.literal(0, kind)).collect()),
            Op::FunctionConstant(constant) => self.function_constant(*constant, &kinds, span),
            Op::Unary(op, a) => self.by_component(Compute::Unary(*op), &kinds, &[*a]),
            Op::Binary(op, a, b) => self.by_component(Compute::Binary(*op), &kinds, &[*a, *b]),
            Op::Convert(a) => {
                let regs = self.regs(*a)?;
                let nothing = || unsupported(span, "internal: nothing to convert");
                kinds
                    .iter()
                    .enumerate()
                    .map(|(i, &kind)| {
                        let reg = regs.get(i).or(regs.first()).copied();
                        self.convert(reg.ok_or_else(nothing)?, kind)
                    })
                    .collect()
            }
            Op::Bitcast(a) => self.reinterpret(*a, &kinds, span),
            Op::Select {
                condition,
                accept,
                reject,
            } => self.by_component(Compute::Select, &kinds, &[*condition, *accept, *reject]),
            Op::Math(function @ (MathFunction::All | MathFunction::Any), args) => {
                let op = match function {
                    MathFunction::All => BinaryOp::And,
                    _ => BinaryOp::Or,
                };
                let regs = self.regs(args[0])?;
                self.reduce(op, &regs, span)
            }
            Op::Math(MathFunction::Dot, args) => {
                let (a, b) = (self.regs(args[0])?, self.regs(args[1])?);
                let mut products = Vec::new();
                for (a, b) in a.into_iter().zip(b) {
                    let op = Compute::Binary(BinaryOp::Multiply);
                    products.push(self.compute(op, self.kind(a), vec![a, b])?);
                }
                self.reduce(BinaryOp::Add, &products, span)
            }
            Op::Math(MathFunction::ExtractBits, args) => self.extract_bits(args, &kinds),
            Op::Math(MathFunction::InsertBits, args) => self.insert_bits(args, &kinds),
            Op::Math(function, args) => self.by_component(Compute::Math(*function), &kinds, args),
            Op::PointerDifference(a, b) => self.pointer_difference(*a, *b),
            Op::Simd(op, args) => {
                let args = args
                    .iter()
                    .map(|&a| self.regs(a))
                    .collect::<Result<Vec<_>>>()?;
                (0..kinds.len())
                    .map(|i| {
                        let args = args.iter().filter_map(|a| a.get(i).or(a.first()).copied());
                        let args = args.collect();
                        let dst = self.registers(kinds[i], 1, false, span)?;
                        self.emit(Node::Simd { op: *op, dst, args });
                        Ok(dst)
                    })
                    .collect()
            }
            Op::Atomic { op, place, args } => {
                let Leaf::Address(address) = self.resolve(place, span)? else {
                    let message = "atomics need device or threadgroup memory";
                    return Err(unsupported(span, message));
                };
                let Type::Atomic(element) = self.module.types[place.ty] else {
                    let message = "internal: an atomic operation on a plain place";
                    return Err(unsupported(span, message));
                };
                let args = args.iter().map(|&a| self.reg(a)).collect::<Result<_>>()?;
                let dst = kinds.first().map(|&kind| self.register(kind, false));
                self.emit(Node::Atomic {
                    op: *op,
                    dst,
                    args,
                    element,
                    address,
                    span,
                });
                Ok(dst.into_iter().collect())
            }
            Op::SimdgroupMatrix(..) => {
                let message = "the CPU does not run simdgroup matrices yet";
                Err(unsupported(span, message))
            }
            Op::Load(_)
            | Op::AddressOf(_)
            | Op::Offset(..)
            | Op::Call(..)
            | Op::Compose(_)
            | Op::Splat(_)
            | Op::Extract(..)
            | Op::Swizzle(..)
            | Op::FunctionConstantDefined(_) => {
                Err(unsupported(span, "internal: an operation on whole values"))
            }
        }
    }

    fn function_constant(
        &mut self,
        constant: Handle<FunctionConstant>,
        kinds: &[Kind],
        span: Span,
    ) -> Result<Vec<Reg>> {
        let constant = &self.module.function_constants[constant];
        let (name, index) = (&constant.name, constant.index);
        let bytes = self.constants.get(&index).ok_or_else(|| {
            let message = format!("function constant `{name}` ({index}) has no value");
            unsupported(span, message)
        })?;
        let mut rest = bytes.as_slice();
        let mut regs = Vec::new();
        for &kind in kinds {
            let size = kind.scalar().size() as usize;
            let (head, tail) = rest.split_at_checked(size).ok_or_else(|| {
                let message = format!("the value of function constant `{name}` is too short");
                unsupported(span, message)
            })?;
            rest = tail;
            regs.push(self.literal(bits_of_bytes(head, kind.scalar()), kind));
        }
        Ok(regs)
    }

    fn pointer_difference(&mut self, a: Handle<Value>, b: Handle<Value>) -> Result<Vec<Reg>> {
        let stride = match self.module.types[self.info(a).ty] {
            Type::Pointer { pointee, .. } => self.module.types.stride(pointee),
            _ => 1,
        };
        let (a, b) = (self.reg(a)?, self.reg(b)?);
        let long = Kind::Scalar(Scalar::I64);
        let (a, b) = (self.bitcast(a, long)?, self.bitcast(b, long)?);
        let bytes = self.compute(Compute::Binary(BinaryOp::Subtract), long, vec![a, b])?;
        let size = self.literal(u64::from(stride.max(1)), long);
        let op = Compute::Binary(BinaryOp::Divide);
        Ok(vec![self.compute(op, long, vec![bytes, size])?])
    }

    /// One node for each component; an operand with one component serves them all.
    fn by_component(
        &mut self,
        op: Compute,
        kinds: &[Kind],
        args: &[Handle<Value>],
    ) -> Result<Vec<Reg>> {
        let args = args
            .iter()
            .map(|&a| self.regs(a))
            .collect::<Result<Vec<_>>>()?;
        kinds
            .iter()
            .enumerate()
            .map(|(i, &kind)| {
                let args = args.iter().filter_map(|a| a.get(i).or(a.first()).copied());
                let args = args.collect();
                self.compute(op, kind, args)
            })
            .collect()
    }

    /// Registers combined from the first to the last.
    fn reduce(&mut self, op: BinaryOp, regs: &[Reg], span: Span) -> Result<Vec<Reg>> {
        let nothing = || unsupported(span, "internal: a fold of nothing");
        let (&first, rest) = regs.split_first().ok_or_else(nothing)?;
        let mut total = first;
        for &reg in rest {
            total = self.compute(Compute::Binary(op), self.kind(total), vec![total, reg])?;
        }
        Ok(vec![total])
    }
}
