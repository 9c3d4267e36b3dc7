//! Instructions of single nodes: computations and accesses to memory.

use super::{Assembler, Result};
use crate::diag::Span;
use crate::exec::code::{Access, IndexKind, IndexedAccess};
use crate::exec::isa::version;
use crate::exec::lanes::{arithmetic, builtin, control, convert, maths, memory, shape, simd};
use crate::exec::machine::Operand;
use crate::ir::{BinaryOp, Scalar, SimdOp};
use crate::lower::Unsupported;
use crate::lower::form::{Address, Compute, Indexed, Kind, Reg};

impl Assembler<'_> {
    pub(super) fn compute(&mut self, op: Compute, dst: Reg, args: &[Reg]) -> Result<()> {
        let isa = self.isa;
        let to = self.operand(dst);
        let (kind, from) = (
            self.kind(dst),
            args.first().map_or(self.kind(dst), |&a| self.kind(a)),
        );
        let scalar = from.scalar();
        let fail = |what: String| Unsupported {
            message: what,
            span: Span::default(),
        };
        let run = match op {
            Compute::Constant(bits) => {
                self.literals.insert(dst, bits);
                self.code.constants.push((to, bits, kind.words()));
                return Ok(());
            }
            Compute::Base(tag) => {
                self.code.constants.push((to, memory::base_pointer(tag), 2));
                return Ok(());
            }
            Compute::Builtin(what, component) => {
                let aux = self.code.builtins.len() as u32;
                self.code.builtins.push((what, component));
                self.emit(version::<builtin::ReadBuiltin>(isa), to, &[], aux);
                return Ok(());
            }
            Compute::Copy => Some(convert::copy(kind, isa)),
            Compute::Unary(op) => arithmetic::unary(op, scalar, isa),
            Compute::Convert => Some(convert::convert(scalar, kind.scalar(), isa)),
            Compute::Bitcast => convert::bitcast(scalar, kind.scalar(), isa),
            Compute::Part(part) => Some(convert::part(part == 1, isa)),
            Compute::Binary(op) => arithmetic::binary(op, scalar, self.shape(dst, args), isa),
            Compute::Join => Some(convert::join(self.shape(dst, args), isa)),
            Compute::Math(function) => {
                let shape = if args.len() == 2 {
                    self.shape(dst, args)
                } else {
                    shape::BOTH
                };
                maths::math(function, scalar, shape, isa)
            }
            Compute::Select => Some(control::select(kind.words(), isa)),
            Compute::Offset(stride) => {
                let index = index_kind(self.kind(args[1]));
                let run = memory::move_pointer(index, self.shape(dst, args), isa);
                let operands = [self.operand(args[0]), self.operand(args[1])];
                self.emit(run, to, &operands, stride);
                return Ok(());
            }
            Compute::OffsetConstant(bytes) => {
                let number = Operand::uniform(self.code.uniforms);
                self.code.uniforms += 1;
                self.code.constants.push((number, bytes as u64, 2));
                let shape = if to.is_uniform() {
                    shape::BOTH
                } else {
                    shape::FIRST
                };
                let run = arithmetic::binary(BinaryOp::Add, Scalar::U64, shape, isa);
                let run = run.ok_or_else(|| fail("internal: no pointer arithmetic".to_string()))?;
                self.emit(run, to, &[self.operand(args[0]), number], 0);
                return Ok(());
            }
        };
        let run = run.ok_or_else(|| {
            fail(format!(
                "the CPU does not run {op:?} of {} yet",
                scalar.name()
            ))
        })?;
        let as_rows = args.len() == 3 && !to.is_uniform();
        let operands: Vec<_> = args
            .iter()
            .map(|&arg| {
                if as_rows {
                    self.row(arg)
                } else {
                    self.operand(arg)
                }
            })
            .collect();
        self.emit(run, to, &operands, 0);
        Ok(())
    }

    /// Which operands of a binary operation are rows.
    pub(super) fn shape(&self, dst: Reg, args: &[Reg]) -> u8 {
        let uniform = |i: usize| {
            args.get(i)
                .is_some_and(|&arg| self.operand(arg).is_uniform())
        };
        match (self.operand(dst).is_uniform(), uniform(0), uniform(1)) {
            (true, ..) | (_, false, false) => shape::BOTH,
            (_, _, true) => shape::FIRST,
            (_, true, false) => shape::SECOND,
        }
    }

    pub(super) fn simd(&mut self, op: SimdOp, dst: Reg, args: &[Reg]) -> Result<()> {
        let scalar = args
            .first()
            .map_or(Scalar::Bool, |&arg| self.kind(arg).scalar());
        let run = simd::simd(op, scalar, self.isa).ok_or_else(|| Unsupported {
            message: format!("the CPU does not run {op:?} of {} yet", scalar.name()),
            span: Span::default(),
        })?;
        let mut operands: Vec<_> = args.iter().map(|&arg| self.row(arg)).collect();
        if operands.is_empty() {
            operands.push(self.constant_row(u64::from(u32::MAX), 1));
        }
        self.emit(run, self.operand(dst), &operands, 0);
        Ok(())
    }

    pub(super) fn access(
        &mut self,
        address: &Address,
        count: u32,
        size: u32,
        span: Span,
    ) -> Result<Access> {
        let mut pointer = address.pointer.map(|reg| self.operand(reg));
        let mut index = address
            .index
            .map(|(reg, _)| (self.operand(reg), index_kind(self.kind(reg))));
        let stride = address.index.map_or(count * size, |(_, stride)| stride);
        if let (Some(base), Some((by, kind)), false) = (pointer, index, address.is_private)
            && !base.is_uniform()
        {
            // A pointer that varies is moved first, so that only one register varies.
            let start = self.take(2);
            self.temporaries.push((start, 2));
            let dst = Operand::lanes(start);
            let shape = if by.is_uniform() {
                shape::FIRST
            } else {
                shape::BOTH
            };
            let run = memory::move_pointer(kind, shape, self.isa);
            self.emit(run, dst, &[base, by], stride);
            (pointer, index) = (Some(dst), None);
        }
        let place = self.place(span);
        Ok(Access {
            pointer,
            index,
            counts_up: address
                .index
                .is_some_and(|(reg, _)| self.counts_up[reg as usize]),
            stride,
            offset: address.offset,
            count,
            size,
            registers: [Operand::uniform(0); 4],
            place,
            atomic: None,
        })
    }

    pub(super) fn indexed(&mut self, element: &Indexed) -> u32 {
        let base = self.operand(element.base);
        let words = if base.is_uniform() {
            1
        } else {
            self.kind(element.base).words()
        };
        let terms = element
            .terms
            .iter()
            .map(|&(reg, worth)| (self.operand(reg), index_kind(self.kind(reg)), worth))
            .collect();
        let place = self.place(element.span);
        let (count, offset) = (element.count, element.offset);
        self.code.indexed.push(IndexedAccess {
            base,
            count,
            words,
            offset,
            terms,
            place,
        });
        self.code.indexed.len() as u32 - 1
    }
}

fn index_kind(kind: Kind) -> IndexKind {
    match kind.scalar() {
        Scalar::I64 | Scalar::U64 => IndexKind::Wide,
        Scalar::I8 | Scalar::I16 | Scalar::I32 => IndexKind::Signed32,
        _ => IndexKind::Unsigned32,
    }
}
