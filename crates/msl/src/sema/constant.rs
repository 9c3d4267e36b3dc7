//! Values known at compile time, and the arithmetic on them.
//!
//! It is the arithmetic of the IR (wrapping, saturating, one rounding), so that folding an
//! expression never changes what it computes. Maths functions are not here: their last bit is the
//! device's.

use std::rc::Rc;

use half::{bf16, f16};

use crate::ir::{self, BinaryOp, Handle, Scalar, Type, UnaryOp};

/// A value known at compile time; its type is known to whoever holds it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Constant {
    Bool(bool),
    /// Any integer, wrapped to its width and extended by its sign; also an enumerator, a flag set
    /// or a null pointer.
    Int(i64),
    /// Any floating value, already rounded to its type.
    Float(f32),
    /// The components, elements, columns or fields.
    Composite(Rc<[Self]>),
}

impl Constant {
    /// The integer, if it is one.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            Self::Bool(value) => Some(i64::from(*value)),
            _ => None,
        }
    }

    /// Whether a scalar is not zero.
    pub fn truth(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            Self::Int(value) => Some(*value != 0),
            Self::Float(value) => Some(*value != 0.0),
            Self::Composite(_) => None,
        }
    }

    /// The part at this index.
    pub fn part(&self, index: usize) -> Option<&Self> {
        match self {
            Self::Composite(parts) => parts.get(index),
            _ => None,
        }
    }

    /// The literal of a scalar.
    pub fn literal(&self) -> Option<ir::Literal> {
        match self {
            Self::Bool(value) => Some(ir::Literal::Bool(*value)),
            Self::Int(value) => Some(ir::Literal::Int(*value)),
            Self::Float(value) => Some(ir::Literal::Float(*value)),
            Self::Composite(_) => None,
        }
    }

    /// The zero of a scalar type.
    pub fn zero(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Bool => Self::Bool(false),
            _ if scalar.is_float() => Self::Float(0.0),
            _ => Self::Int(0),
        }
    }
}

/// An integer brought to the width of its type.
pub(super) fn wrap(scalar: Scalar, value: i64) -> i64 {
    match scalar {
        Scalar::I8 => i64::from(value as i8),
        Scalar::U8 => i64::from(value as u8),
        Scalar::I16 => i64::from(value as i16),
        Scalar::U16 => i64::from(value as u16),
        Scalar::I32 => i64::from(value as i32),
        Scalar::U32 => i64::from(value as u32),
        _ => value,
    }
}

/// A number rounded to a floating type.
pub(super) fn round(scalar: Scalar, value: f32) -> f32 {
    match scalar {
        Scalar::F16 => f16::from_f32(value).to_f32(),
        Scalar::Bf16 => bf16::from_f32(value).to_f32(),
        _ => value,
    }
}

/// An f64 rounded once to a floating type.
pub(super) fn round_f64(scalar: Scalar, value: f64) -> f32 {
    match scalar {
        Scalar::F16 => f16::from_f64(value).to_f32(),
        Scalar::Bf16 => bf16::from_f64(value).to_f32(),
        _ => value as f32,
    }
}

/// A float as an integer type: saturating, NaN as 0.
fn float_to_int(scalar: Scalar, value: f32) -> i64 {
    match scalar {
        Scalar::I8 => i64::from(value as i8),
        Scalar::U8 => i64::from(value as u8),
        Scalar::I16 => i64::from(value as i16),
        Scalar::U16 => i64::from(value as u16),
        Scalar::I32 => i64::from(value as i32),
        Scalar::U32 => i64::from(value as u32),
        Scalar::U64 => (value as u64) as i64,
        _ => value as i64,
    }
}

/// An integer rounded once to a floating type.
fn int_to_float(from: Scalar, to: Scalar, value: i64) -> f32 {
    // Every integer fits f64 well enough for half and bfloat; float is converted directly, because
    // going through f64 would round twice.
    match (to, from) {
        (Scalar::F32, Scalar::U64) => (value as u64) as f32,
        (Scalar::F32, _) => value as f32,
        (_, Scalar::U64) => round_f64(to, (value as u64) as f64),
        _ => round_f64(to, value as f64),
    }
}

/// Conversion between scalar types; component by component for composites.
pub(super) fn convert(from: Scalar, to: Scalar, value: &Constant) -> Constant {
    match value {
        Constant::Composite(parts) => {
            Constant::Composite(parts.iter().map(|part| convert(from, to, part)).collect())
        }
        _ if to == Scalar::Bool => Constant::Bool(value.truth().unwrap_or(false)),
        Constant::Float(number) if to.is_float() => Constant::Float(round(to, *number)),
        Constant::Float(number) => Constant::Int(float_to_int(to, *number)),
        Constant::Bool(_) | Constant::Int(_) => {
            let number = value.as_int().unwrap_or(0);
            if to.is_float() {
                Constant::Float(int_to_float(from, to, number))
            } else {
                Constant::Int(wrap(to, number))
            }
        }
    }
}

/// The result of a unary operator.
pub(super) fn unary(op: UnaryOp, scalar: Scalar, value: &Constant) -> Option<Constant> {
    Some(match (op, value) {
        (_, Constant::Composite(parts)) => Constant::Composite(
            parts
                .iter()
                .map(|part| unary(op, scalar, part))
                .collect::<Option<_>>()?,
        ),
        (UnaryOp::Negate, Constant::Int(v)) => Constant::Int(wrap(scalar, v.wrapping_neg())),
        (UnaryOp::Negate, Constant::Float(v)) => Constant::Float(-v),
        (UnaryOp::LogicalNot, Constant::Bool(v)) => Constant::Bool(!v),
        (UnaryOp::BitwiseNot, Constant::Int(v)) => Constant::Int(wrap(scalar, !v)),
        _ => return None,
    })
}

/// The result of a binary operator on two values of one type.
pub(super) fn binary(
    op: BinaryOp,
    scalar: Scalar,
    left: &Constant,
    right: &Constant,
) -> Option<Constant> {
    match (left, right) {
        (Constant::Composite(l), Constant::Composite(r)) if l.len() == r.len() => {
            let parts: Option<Rc<[_]>> = l
                .iter()
                .zip(r.iter())
                .map(|(l, r)| binary(op, scalar, l, r))
                .collect();
            Some(Constant::Composite(parts?))
        }
        (Constant::Float(l), Constant::Float(r)) => float_binary(op, scalar, *l, *r),
        (Constant::Bool(l), Constant::Bool(r)) => bool_binary(op, *l, *r),
        (Constant::Int(l), Constant::Int(r)) => Some(int_binary(op, scalar, *l, *r)),
        _ => None,
    }
}

fn float_binary(op: BinaryOp, scalar: Scalar, l: f32, r: f32) -> Option<Constant> {
    let number = |value: f32| Some(Constant::Float(round(scalar, value)));
    let truth = |value: bool| Some(Constant::Bool(value));
    match op {
        BinaryOp::Add => number(l + r),
        BinaryOp::Subtract => number(l - r),
        BinaryOp::Multiply => number(l * r),
        BinaryOp::Divide => number(l / r),
        BinaryOp::Equal => truth(l == r),
        BinaryOp::NotEqual => truth(l != r),
        BinaryOp::Less => truth(l < r),
        BinaryOp::LessEqual => truth(l <= r),
        BinaryOp::Greater => truth(l > r),
        BinaryOp::GreaterEqual => truth(l >= r),
        _ => None,
    }
}

fn bool_binary(op: BinaryOp, l: bool, r: bool) -> Option<Constant> {
    Some(Constant::Bool(match op {
        BinaryOp::And => l & r,
        BinaryOp::Or => l | r,
        BinaryOp::Xor | BinaryOp::NotEqual => l != r,
        BinaryOp::Equal => l == r,
        _ => return None,
    }))
}

fn int_binary(op: BinaryOp, scalar: Scalar, l: i64, r: i64) -> Constant {
    let value = op.of_integers(scalar, l, r);
    match op.is_comparison() {
        true => Constant::Bool(value != 0),
        false => Constant::Int(wrap(scalar, value)),
    }
}

/// The bytes of a scalar in memory.
fn scalar_bytes(scalar: Scalar, value: &Constant) -> Vec<u8> {
    match (scalar, value) {
        (Scalar::F32, Constant::Float(v)) => v.to_le_bytes().to_vec(),
        (Scalar::F16, Constant::Float(v)) => f16::from_f32(*v).to_le_bytes().to_vec(),
        (Scalar::Bf16, Constant::Float(v)) => bf16::from_f32(*v).to_le_bytes().to_vec(),
        _ => {
            let bytes = value.as_int().unwrap_or(0).to_le_bytes();
            bytes[..scalar.size() as usize].to_vec()
        }
    }
}

/// Writes a value as memory lays it out; `out` is as long as the type.
pub(super) fn write_bytes(types: &ir::Types, ty: Handle<Type>, value: &Constant, out: &mut [u8]) {
    let mut part = |index: usize, at: u32, ty: Handle<Type>| {
        let end = at as usize + types.layout(ty).0 as usize;
        if let (Some(part), Some(out)) = (value.part(index), out.get_mut(at as usize..end)) {
            write_bytes(types, ty, part, out);
        }
    };
    match types[ty] {
        Type::Scalar(scalar) | Type::Atomic(scalar) => {
            let bytes = scalar_bytes(scalar, value);
            if let Some(out) = out.get_mut(..bytes.len()) {
                out.copy_from_slice(&bytes);
            }
        }
        Type::Vector(scalar, len, _) => {
            let size = scalar.size() as usize;
            for index in 0..len as usize {
                if let (Some(part), Some(out)) = (
                    value.part(index),
                    out.get_mut(index * size..(index + 1) * size),
                ) {
                    out.copy_from_slice(&scalar_bytes(scalar, part));
                }
            }
        }
        Type::Matrix {
            scalar,
            columns,
            rows,
        } => {
            let stride = scalar.size() as usize * (rows as usize).next_power_of_two();
            for column in 0..columns as usize {
                for row in 0..rows as usize {
                    let at = column * stride + row * scalar.size() as usize;
                    let part = value.part(column).and_then(|c| c.part(row));
                    let out = out.get_mut(at..at + scalar.size() as usize);
                    if let (Some(part), Some(out)) = (part, out) {
                        out.copy_from_slice(&scalar_bytes(scalar, part));
                    }
                }
            }
        }
        Type::Array(element, len) => {
            let stride = types.stride(element);
            for index in 0..len {
                part(index as usize, index.saturating_mul(stride), element);
            }
        }
        Type::Struct(of) => {
            let fields: Vec<_> = types.structs[of]
                .fields
                .iter()
                .map(|f| (f.offset, f.ty))
                .collect();
            for (index, (offset, ty)) in fields.into_iter().enumerate() {
                part(index, offset, ty);
            }
        }
        Type::Void | Type::Pointer { .. } | Type::SimdgroupMatrix(_) => {}
    }
}

/// A scalar or vector read from memory; other types are not read at compile time.
pub(super) fn read_bytes(types: &ir::Types, ty: Handle<Type>, bytes: &[u8]) -> Option<Constant> {
    let (scalar, len) = types.as_vector(ty)?;
    let size = scalar.size() as usize;
    let mut parts = (0..usize::from(len))
        .map(|index| {
            Some(read_scalar(
                scalar,
                bytes.get(index * size..(index + 1) * size)?,
            ))
        })
        .collect::<Option<Vec<_>>>()?;
    match len {
        1 => parts.pop(),
        _ => Some(Constant::Composite(parts.into())),
    }
}

fn read_scalar(scalar: Scalar, bytes: &[u8]) -> Constant {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(wide);
    match scalar {
        Scalar::Bool => Constant::Bool(bits != 0),
        Scalar::F16 => Constant::Float(f16::from_bits(bits as u16).to_f32()),
        Scalar::Bf16 => Constant::Float(bf16::from_bits(bits as u16).to_f32()),
        Scalar::F32 => Constant::Float(f32::from_bits(bits as u32)),
        _ => Constant::Int(wrap(scalar, bits as i64)),
    }
}
