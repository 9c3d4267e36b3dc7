//! `as_type`: the same bits as scalars of other types, through 32-bit words where sizes differ.

use super::Scalars;
use crate::diag::Span;
use crate::ir::{BinaryOp, Handle, Scalar, Value};
use crate::lower::form::{Compute, Kind, Reg};
use crate::lower::{Result, unsupported};

const WORD: Kind = Kind::Scalar(Scalar::U32);

fn size(kind: Kind) -> u32 {
    kind.scalar().size()
}

/// The unsigned integer of this many bytes.
fn unsigned(bytes: u32) -> Kind {
    Kind::Scalar(match bytes {
        1 => Scalar::U8,
        2 => Scalar::U16,
        4 => Scalar::U32,
        _ => Scalar::U64,
    })
}

impl Scalars<'_> {
    /// The bits of a value as scalars of other kinds.
    pub(super) fn reinterpret(
        &mut self,
        from: Handle<Value>,
        kinds: &[Kind],
        span: Span,
    ) -> Result<Vec<Reg>> {
        let regs = self.regs(from)?;
        let (Some(&first), Some(&to)) = (regs.first(), kinds.first()) else {
            return Err(unsupported(span, "internal: a cast of nothing"));
        };
        let source = self.kind(first);
        if regs.len() == kinds.len() && size(source) == size(to) {
            let pairs = regs.iter().zip(kinds);
            return pairs.map(|(&r, &k)| self.bitcast(r, k)).collect();
        }
        let words = self.pack(&regs, size(source))?;
        (0..)
            .zip(kinds)
            .map(|(i, &kind)| self.unpack(&words, i, kind, span))
            .collect()
    }

    /// Scalars of one size, packed into words.
    fn pack(&mut self, regs: &[Reg], bytes: u32) -> Result<Vec<Reg>> {
        let mut words = Vec::new();
        if bytes == 8 {
            for &reg in regs {
                words.push(self.compute(Compute::Part(0), WORD, vec![reg])?);
                words.push(self.compute(Compute::Part(1), WORD, vec![reg])?);
            }
            return Ok(words);
        }
        for group in regs.chunks((4 / bytes).max(1) as usize) {
            let mut total = None;
            for (i, &reg) in (0..).zip(group) {
                let bits = self.bitcast(reg, unsigned(bytes))?;
                let bits = self.convert(bits, WORD)?;
                let shift = Compute::Binary(BinaryOp::ShiftLeft);
                let bits = self.shifted(shift, bits, i * bytes * 8)?;
                total = Some(match total {
                    None => bits,
                    Some(t) => self.compute(Compute::Binary(BinaryOp::Or), WORD, vec![t, bits])?,
                });
            }
            words.extend(total);
        }
        Ok(words)
    }

    /// The `i`th scalar of a kind that words hold.
    fn unpack(&mut self, words: &[Reg], i: u32, kind: Kind, span: Span) -> Result<Reg> {
        let bytes = size(kind);
        let at = |n: u32| {
            let word = words.get(n as usize).copied();
            word.ok_or_else(|| unsupported(span, "internal: a cast between sizes"))
        };
        if bytes == 8 {
            let (low, high) = (at(i * 2)?, at(i * 2 + 1)?);
            let long = self.compute(Compute::Join, unsigned(8), vec![low, high])?;
            return self.bitcast(long, kind);
        }
        let word = at(i * bytes / 4)?;
        let shift = Compute::Binary(BinaryOp::ShiftRight);
        let bits = self.shifted(shift, word, i * bytes % 4 * 8)?;
        let bits = self.convert(bits, unsigned(bytes))?;
        self.bitcast(bits, kind)
    }

    fn shifted(&mut self, op: Compute, word: Reg, count: u32) -> Result<Reg> {
        if count == 0 {
            return Ok(word);
        }
        let count = self.literal(u64::from(count), WORD);
        self.compute(op, WORD, vec![word, count])
    }
}
