//! How types lie in registers and in memory.

use half::{bf16, f16};

use super::constant::integer_bits;
use super::form::Kind;
use super::{Result, unsupported};
use crate::diag::Span;
use crate::ir::{Handle, Module, Scalar, Type};

/// The most scalars that one value may have.
const LARGEST_VALUE: usize = 1 << 16;

/// Scalars that stand at the same place of every element of the arrays around them: what a variable
/// of registers is made of.
#[derive(Clone, Debug)]
pub struct Shape {
    /// What each of them is.
    pub kind: Kind,
    /// The lengths of the arrays (and vectors, and matrices) around it, outermost first.
    pub lengths: Vec<u32>,
}

impl Shape {
    /// How many scalars there are.
    pub fn count(&self) -> u32 {
        self.lengths.iter().fold(1, |all, &n| all.saturating_mul(n))
    }

    /// How many scalars one step of an index is worth, the index being the `depth`th.
    pub fn stride(&self, depth: usize) -> u32 {
        self.lengths
            .iter()
            .skip(depth + 1)
            .fold(1, |all, &n| all.saturating_mul(n))
    }
}

/// The module's types, laid out.
#[derive(Clone, Copy)]
pub struct Layouts<'a> {
    /// Where the types are.
    pub module: &'a Module,
}

impl Layouts<'_> {
    /// The kinds of the scalars that a value is made of, in order.
    pub fn kinds(self, ty: Handle<Type>, span: Span) -> Result<Vec<Kind>> {
        let leaves = self.in_memory(ty, span)?;
        Ok(leaves.into_iter().map(|(_, kind)| kind).collect())
    }

    /// The scalars that a value is made of, in order, and where each is in memory.
    pub fn in_memory(self, ty: Handle<Type>, span: Span) -> Result<Vec<(u32, Kind)>> {
        let mut leaves = Vec::new();
        self.add(ty, 0, span, &mut leaves)?;
        Ok(leaves)
    }

    fn add(self, ty: Handle<Type>, at: u32, span: Span, out: &mut Vec<(u32, Kind)>) -> Result<()> {
        let types = &self.module.types;
        let vector = |at: u32, scalar: Scalar, len: u8, out: &mut Vec<(u32, Kind)>| {
            out.extend((0..u32::from(len)).map(|i| (at + i * scalar.size(), Kind::Scalar(scalar))));
        };
        match types[ty] {
            Type::Void => {}
            Type::Scalar(scalar) => vector(at, scalar, 1, out),
            Type::Vector(scalar, len, _) => vector(at, scalar, len, out),
            Type::Matrix {
                scalar,
                columns,
                rows,
            } => {
                let column = scalar.size() * u32::from(rows).next_power_of_two();
                for c in 0..u32::from(columns) {
                    vector(at + c * column, scalar, rows, out);
                }
            }
            Type::Array(element, len) => {
                let stride = types.stride(element);
                for i in 0..len {
                    self.add(element, at + i * stride, span, out)?;
                    if out.len() > LARGEST_VALUE {
                        return Err(unsupported(span, "the array is too large to be a value"));
                    }
                }
            }
            Type::Struct(s) => {
                for field in &types.structs[s].fields {
                    self.add(field.ty, at + field.offset, span, out)?;
                }
            }
            Type::Pointer { .. } => out.push((at, Kind::Pointer)),
            Type::Atomic(_) | Type::SimdgroupMatrix(_) => {
                let name = types.name(ty);
                let message = format!("the CPU does not run `{name}` yet");
                return Err(unsupported(span, message));
            }
        }
        Ok(())
    }

    /// How many scalars a type is made of.
    pub fn count(self, ty: Handle<Type>) -> u32 {
        let types = &self.module.types;
        match types[ty] {
            Type::Void => 0,
            Type::Scalar(_) | Type::Pointer { .. } | Type::Atomic(_) => 1,
            Type::Vector(_, len, _) => u32::from(len),
            Type::Matrix { columns, rows, .. } => u32::from(columns) * u32::from(rows),
            Type::Array(element, len) => self.count(element).saturating_mul(len),
            Type::Struct(s) => types.structs[s]
                .fields
                .iter()
                .fold(0, |all, f| all.saturating_add(self.count(f.ty))),
            Type::SimdgroupMatrix(_) => 2,
        }
    }

    /// How many scalars of a struct's value come before a field.
    pub fn before_field(self, s: Handle<crate::ir::Struct>, field: u32) -> u32 {
        let fields = &self.module.types.structs[s].fields;
        let before = fields.iter().take(field as usize);
        before.map(|f| self.count(f.ty)).sum()
    }

    /// Whether parts of the type share bytes, so that it cannot be split into registers.
    pub fn needs_memory(self, ty: Handle<Type>) -> bool {
        match self.module.types[ty] {
            Type::Struct(s) => {
                let s = &self.module.types.structs[s];
                s.is_union || s.fields.iter().any(|f| self.needs_memory(f.ty))
            }
            Type::Array(element, _) => self.needs_memory(element),
            Type::Atomic(_) => true,
            _ => false,
        }
    }

    /// The shapes of a variable's registers.
    pub fn shapes(self, ty: Handle<Type>) -> Vec<Shape> {
        let mut shapes = Vec::new();
        self.add_shapes(ty, &mut Vec::new(), &mut shapes);
        shapes
    }

    fn add_shapes(self, ty: Handle<Type>, lengths: &mut Vec<u32>, out: &mut Vec<Shape>) {
        let mut scalar = |kind: Kind, inner: &[u32]| {
            let lengths = lengths.iter().chain(inner).copied().collect();
            out.push(Shape { kind, lengths });
        };
        match self.module.types[ty] {
            Type::Void => {}
            Type::Scalar(s) | Type::Atomic(s) | Type::SimdgroupMatrix(s) => {
                scalar(Kind::Scalar(s), &[]);
            }
            Type::Pointer { .. } => scalar(Kind::Pointer, &[]),
            Type::Vector(s, len, _) => scalar(Kind::Scalar(s), &[u32::from(len)]),
            Type::Matrix {
                scalar: s,
                columns,
                rows,
            } => scalar(Kind::Scalar(s), &[u32::from(columns), u32::from(rows)]),
            Type::Array(element, len) => {
                lengths.push(len);
                self.add_shapes(element, lengths, out);
                lengths.pop();
            }
            Type::Struct(s) => {
                for field in &self.module.types.structs[s].fields {
                    self.add_shapes(field.ty, lengths, out);
                }
            }
        }
    }

    /// How many shapes a type has.
    pub fn shape_count(self, ty: Handle<Type>) -> usize {
        match self.module.types[ty] {
            Type::Void => 0,
            Type::Array(element, _) => self.shape_count(element),
            Type::Struct(s) => self.module.types.structs[s]
                .fields
                .iter()
                .map(|f| self.shape_count(f.ty))
                .sum(),
            _ => 1,
        }
    }

    /// For each scalar of a value, in order: its shape, and its number among the shape's scalars.
    pub fn order(self, ty: Handle<Type>) -> Vec<(usize, u32)> {
        let types = &self.module.types;
        match types[ty] {
            Type::Array(element, len) => {
                let inner = self.order(element);
                let shapes = self.shapes(element);
                (0..len)
                    .flat_map(|i| {
                        let at =
                            |&(shape, row): &(usize, u32)| (shape, i * shapes[shape].count() + row);
                        inner.iter().map(at).collect::<Vec<_>>()
                    })
                    .collect()
            }
            Type::Struct(s) => {
                let (mut first, mut all) = (0, Vec::new());
                for field in &types.structs[s].fields {
                    let inner = self.order(field.ty);
                    all.extend(inner.iter().map(|&(shape, row)| (first + shape, row)));
                    first += self.shape_count(field.ty);
                }
                all
            }
            _ => (0..self.count(ty)).map(|row| (0, row)).collect(),
        }
    }
}

/// Runs of up to four scalars of one kind that stand side by side in memory.
pub fn runs(leaves: &[(u32, Kind)]) -> impl Iterator<Item = &[(u32, Kind)]> {
    leaves
        .chunk_by(|a, b| a.1 == b.1 && b.0 == a.0 + a.1.scalar().size())
        .flat_map(|run| run.chunks(4))
}

/// A scalar in memory as the bits of a register.
pub fn bits_of_bytes(bytes: &[u8], scalar: Scalar) -> u64 {
    let mut all = [0; 8];
    for (to, from) in all.iter_mut().zip(bytes).take(scalar.size() as usize) {
        *to = *from;
    }
    let raw = u64::from_le_bytes(all);
    match scalar {
        Scalar::F16 => u64::from(f16::from_bits(raw as u16).to_f32().to_bits()),
        Scalar::Bf16 => u64::from(bf16::from_bits(raw as u16).to_f32().to_bits()),
        Scalar::F32 => u64::from(raw as u32),
        _ => integer_bits(raw as i64, scalar),
    }
}
