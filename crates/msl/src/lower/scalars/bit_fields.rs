//! `extract_bits` and `insert_bits`, as shifts. Of a field that reaches beyond the width only what
//! is inside counts.

use super::Scalars;
use crate::ir::{BinaryOp, Handle, MathFunction, Scalar, UnaryOp, Value};
use crate::lower::Result;
use crate::lower::form::{Compute, Kind, Reg};

const UINT: Kind = Kind::Scalar(Scalar::U32);

/// A field of bits: what of it is inside the width.
struct Field {
    offset: Reg,
    /// `width - count`.
    rest: Reg,
    /// Whether nothing of it is inside.
    is_empty: Reg,
}

impl Scalars<'_> {
    /// Value, offset, count.
    pub(super) fn extract_bits(
        &mut self,
        args: &[Handle<Value>],
        kinds: &[Kind],
    ) -> Result<Vec<Reg>> {
        let values = self.regs(args[0])?;
        let (offset, count) = (self.reg(args[1])?, self.reg(args[2])?);
        let pairs = values.into_iter().zip(kinds);
        pairs
            .map(|(value, &kind)| {
                let field = self.field(offset, count, kind)?;
                let up = self.binary(BinaryOp::Subtract, field.rest, field.offset)?;
                let (up, down) = (self.convert(up, kind)?, self.convert(field.rest, kind)?);
                let raised = self.binary(BinaryOp::ShiftLeft, value, up)?;
                let lowered = self.binary(BinaryOp::ShiftRight, raised, down)?;
                let none = self.literal(0, kind);
                self.compute(Compute::Select, kind, vec![field.is_empty, none, lowered])
            })
            .collect()
    }

    /// Base, inserted value, offset, count.
    pub(super) fn insert_bits(
        &mut self,
        args: &[Handle<Value>],
        kinds: &[Kind],
    ) -> Result<Vec<Reg>> {
        let (bases, inserted) = (self.regs(args[0])?, self.regs(args[1])?);
        let (offset, count) = (self.reg(args[2])?, self.reg(args[3])?);
        let all = bases.into_iter().zip(inserted).zip(kinds);
        all.map(|((base, inserted), &kind)| {
            let field = self.field(offset, count, kind)?;
            // Ones at the top, lowered without a sign: as many as the field has bits.
            let unsigned = Kind::Scalar(unsigned(kind.scalar()));
            let none = self.literal(0, unsigned);
            let zero = self.literal(0, kind);
            let ones = self.compute(Compute::Unary(UnaryOp::BitwiseNot), unsigned, vec![none])?;
            let (rest, at) = (
                self.convert(field.rest, unsigned)?,
                self.convert(field.offset, unsigned)?,
            );
            let ones = self.binary(BinaryOp::ShiftRight, ones, rest)?;
            let mask = self.binary(BinaryOp::ShiftLeft, ones, at)?;
            let mask = self.bitcast(mask, kind)?;
            let mask = self.compute(Compute::Select, kind, vec![field.is_empty, zero, mask])?;
            let at = self.convert(field.offset, kind)?;
            let moved = self.binary(BinaryOp::ShiftLeft, inserted, at)?;
            let kept = self.compute(Compute::Unary(UnaryOp::BitwiseNot), kind, vec![mask])?;
            let kept = self.binary(BinaryOp::And, base, kept)?;
            let moved = self.binary(BinaryOp::And, moved, mask)?;
            self.binary(BinaryOp::Or, kept, moved)
        })
        .collect()
    }

    fn field(&mut self, offset: Reg, count: Reg, kind: Kind) -> Result<Field> {
        let width = self.literal(u64::from(kind.scalar().bits()), UINT);
        let min = Compute::Math(MathFunction::Min);
        let offset = self.compute(min, UINT, vec![offset, width])?;
        let room = self.binary(BinaryOp::Subtract, width, offset)?;
        let count = self.compute(min, UINT, vec![count, room])?;
        let rest = self.binary(BinaryOp::Subtract, width, count)?;
        let none = self.literal(0, UINT);
        let equal = Compute::Binary(BinaryOp::Equal);
        let is_empty = self.compute(equal, Kind::Scalar(Scalar::Bool), vec![count, none])?;
        Ok(Field {
            offset,
            rest,
            is_empty,
        })
    }

    fn binary(&mut self, op: BinaryOp, a: Reg, b: Reg) -> Result<Reg> {
        self.compute(Compute::Binary(op), self.kind(a), vec![a, b])
    }
}

fn unsigned(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::I8 => Scalar::U8,
        Scalar::I16 => Scalar::U16,
        Scalar::I32 => Scalar::U32,
        Scalar::I64 => Scalar::U64,
        other => other,
    }
}
