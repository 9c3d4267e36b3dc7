//! What operations on constants give: integers and bools, which sizes, indices and conditions are.
//!
//! Constants are bits as registers hold them: a bool is all ones or zero, an integer of up to 32
//! bits its value in 32, a half or bfloat the float that it equals.

use std::collections::HashMap;

use super::form::Compute;
use crate::ir::{Handle, Literal, Op, Scalar, Types, UnaryOp, Value};

/// An integer as the bits of a register of its type.
pub fn integer_bits(value: i64, scalar: Scalar) -> u64 {
    match scalar {
        Scalar::Bool => u64::from(if value != 0 { u32::MAX } else { 0 }),
        Scalar::I8 => u64::from(value as i8 as i32 as u32),
        Scalar::U8 => u64::from(value as u8),
        Scalar::I16 => u64::from(value as i16 as i32 as u32),
        Scalar::U16 => u64::from(value as u16),
        Scalar::I32 | Scalar::U32 => u64::from(value as u32),
        Scalar::I64 | Scalar::U64 => value as u64,
        Scalar::F16 | Scalar::Bf16 | Scalar::F32 => u64::from((value as f32).to_bits()),
    }
}

/// A literal as the bits of a register of its type.
pub fn literal_bits(literal: Literal, scalar: Scalar) -> u64 {
    match literal {
        Literal::Bool(b) => integer_bits(i64::from(b), scalar),
        Literal::Int(value) => integer_bits(value, scalar),
        Literal::Float(value) => u64::from(value.to_bits()),
    }
}

/// The value of an integer's or bool's bits (of a ulong, the same 64 bits).
pub fn integer_value(bits: u64, scalar: Scalar) -> Option<i64> {
    match scalar {
        Scalar::Bool => Some(i64::from(bits != 0)),
        Scalar::I8 | Scalar::I16 | Scalar::I32 => Some(i64::from(bits as u32 as i32)),
        Scalar::U8 | Scalar::U16 | Scalar::U32 => Some(i64::from(bits as u32)),
        Scalar::I64 | Scalar::U64 => Some(bits as i64),
        Scalar::F16 | Scalar::Bf16 | Scalar::F32 => None,
    }
}

/// The bits that an operation on constants of type `from` gives in type `to`, if it is known here.
pub fn fold(op: Compute, from: Scalar, to: Scalar, args: &[u64]) -> Option<u64> {
    match (op, args) {
        (Compute::Copy, [a]) => Some(*a),
        (Compute::Select, [condition, accept, reject]) => {
            Some(if *condition != 0 { *accept } else { *reject })
        }
        (Compute::Unary(op), [a]) => {
            let a = integer_value(*a, from)?;
            let result = match op {
                UnaryOp::Negate => a.wrapping_neg(),
                UnaryOp::BitwiseNot => !a,
                UnaryOp::LogicalNot => i64::from(a == 0),
            };
            Some(integer_bits(result, to))
        }
        (Compute::Binary(op), [a, b]) => {
            let (a, b) = (integer_value(*a, from)?, integer_value(*b, from)?);
            Some(integer_bits(op.of_integers(from, a, b), to))
        }
        (Compute::Convert, [a]) => {
            let a = integer_value(*a, from)?;
            match to {
                // Above 2^53 of 64 bits `as f32` would still be right, but it is not worth a proof.
                Scalar::F32 if a.unsigned_abs() < 1 << 24 => Some(u64::from((a as f32).to_bits())),
                _ if to.is_float() => None,
                _ => Some(integer_bits(a, to)),
            }
        }
        _ => None,
    }
}

/// Values of a typed kernel that are known.
#[derive(Clone, Debug, Default)]
pub struct Known {
    bits: HashMap<Handle<Value>, u64>,
}

impl Known {
    /// The bits of a scalar value.
    pub fn get(&self, value: Handle<Value>) -> Option<u64> {
        self.bits.get(&value).copied()
    }

    /// Says what a value is.
    pub fn insert(&mut self, value: Handle<Value>, bits: u64) {
        self.bits.insert(value, bits);
    }

    /// The value is not known any more.
    pub fn forget(&mut self, value: Handle<Value>) {
        self.bits.remove(&value);
    }

    /// Notes the value of an operation, if its operands are known. `ty` gives a value's scalar type.
    pub fn learn(
        &mut self,
        value: Handle<Value>,
        op: &Op,
        ty: &impl Fn(Handle<Value>) -> Option<Scalar>,
    ) {
        let Some(to) = ty(value) else { return };
        let apply = |compute: Compute, args: &[Handle<Value>]| {
            let bits: Vec<u64> = args.iter().map(|&a| self.get(a)).collect::<Option<_>>()?;
            fold(compute, args.first().and_then(|&a| ty(a))?, to, &bits)
        };
        let bits = match op {
            Op::Literal(literal) => Some(literal_bits(*literal, to)),
            Op::Zero => Some(0),
            Op::Unary(op, a) => apply(Compute::Unary(*op), &[*a]),
            Op::Binary(op, a, b) => apply(Compute::Binary(*op), &[*a, *b]),
            Op::Convert(a) => apply(Compute::Convert, &[*a]),
            Op::Select {
                condition,
                accept,
                reject,
            } => apply(Compute::Select, &[*condition, *accept, *reject]),
            _ => None,
        };
        match bits {
            Some(bits) => self.insert(value, bits),
            None => self.forget(value),
        }
    }
}

/// The scalar type of a value, if it is a scalar.
pub fn scalar_of(types: &Types, value: &Value) -> Option<Scalar> {
    match types[value.ty] {
        crate::ir::Type::Scalar(scalar) => Some(scalar),
        _ => None,
    }
}
