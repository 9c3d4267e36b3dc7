//! Values as bytes laid out as memory, and the numbers in them.

use std::cell::RefCell;
use std::ops::{Deref, Range};
use std::rc::Rc;

use crate::ir::{Handle, Scalar, Type, Types};

/// Where bytes that nothing wrote come from: an entry of the checker's table; 0 is defined bytes.
pub type Origin = u32;

/// A value: its bytes as [`Types::layout`] lays them out, padding zero.
#[derive(Clone, Debug, Default)]
pub struct Data {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// For each byte where it comes from if nothing wrote it; empty if all are defined.
    pub undefined: Vec<Origin>,
}

impl From<Vec<u8>> for Data {
    fn from(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            undefined: Vec::new(),
        }
    }
}

impl Data {
    /// `size` zero bytes.
    pub fn zero(size: usize) -> Self {
        vec![0; size].into()
    }

    /// The bytes of `range`, with zeros up to `size` (a packed vector becomes a plain one).
    pub fn part(&self, range: Range<usize>, size: usize) -> Self {
        let mut bytes = self.bytes[range.clone()].to_vec();
        bytes.resize(size, 0);
        let mut undefined = Vec::new();
        if !self.undefined.is_empty() && self.undefined[range.clone()].iter().any(|&o| o != 0) {
            undefined = self.undefined[range].to_vec();
            undefined.resize(size, 0);
        }
        Self { bytes, undefined }
    }

    /// Overwrites `size` bytes from `at` on with the first ones of `part`.
    pub fn put(&mut self, at: usize, part: &Self, size: usize) {
        let size = size.min(part.bytes.len());
        self.bytes[at..at + size].copy_from_slice(&part.bytes[..size]);
        if !part.undefined.is_empty() {
            self.undefined.resize(self.bytes.len(), 0);
            self.undefined[at..at + size].copy_from_slice(&part.undefined[..size]);
        }
    }

    /// The numbers of a scalar or vector, in order.
    pub fn numbers(&self, scalar: Scalar, count: usize) -> Numbers {
        let size = scalar.size() as usize;
        let scalars = self.bytes.chunks_exact(size).take(count);
        scalars.map(|bytes| Number::read(scalar, bytes)).collect()
    }

    /// The only number of a scalar.
    pub fn number(&self, scalar: Scalar) -> Number {
        Number::read(scalar, &self.bytes)
    }

    /// A scalar or vector of `size` bytes with these numbers.
    pub fn of_numbers(scalar: Scalar, numbers: &[Number], size: usize) -> Self {
        let mut bytes = vec![0; size];
        let step = scalar.size() as usize;
        for (bytes, number) in bytes.chunks_mut(step).zip(numbers) {
            bytes.copy_from_slice(&number.bits(scalar).to_le_bytes()[..step]);
        }
        bytes.into()
    }

    /// A pointer.
    pub fn of_pointer(pointer: u64) -> Self {
        pointer.to_le_bytes().to_vec().into()
    }

    /// The bytes of a pointer or of a scalar of up to 8 bytes.
    pub fn bits(&self) -> u64 {
        low_bits(&self.bytes)
    }
}

fn low_bits(bytes: &[u8]) -> u64 {
    let mut all = [0; 8];
    let len = bytes.len().min(8);
    all[..len].copy_from_slice(&bytes[..len]);
    u64::from_le_bytes(all)
}

/// A number of any scalar type. Wide enough that integer arithmetic needs no care for overflow;
/// writing it wraps to the type. A bool is 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer or bool.
    Integer(i128),
    /// A half, bfloat or float.
    Float(f32),
}

impl Number {
    /// The number that the first bytes are.
    pub fn read(scalar: Scalar, bytes: &[u8]) -> Self {
        Self::of_bits(scalar, low_bits(&bytes[..scalar.size() as usize]))
    }

    /// The number that low bits are.
    pub fn of_bits(scalar: Scalar, bits: u64) -> Self {
        match scalar {
            Scalar::Bool => Self::truth(bits as u8 != 0),
            Scalar::I8 => Self::Integer((bits as i8).into()),
            Scalar::I16 => Self::Integer((bits as i16).into()),
            Scalar::I32 => Self::Integer((bits as i32).into()),
            Scalar::I64 => Self::Integer((bits as i64).into()),
            Scalar::U8 => Self::Integer((bits as u8).into()),
            Scalar::U16 => Self::Integer((bits as u16).into()),
            Scalar::U32 => Self::Integer((bits as u32).into()),
            Scalar::U64 => Self::Integer(bits.into()),
            Scalar::F16 => Self::Float(half::f16::from_bits(bits as u16).to_f32()),
            Scalar::Bf16 => Self::Float(half::bf16::from_bits(bits as u16).to_f32()),
            Scalar::F32 => Self::Float(f32::from_bits(bits as u32)),
        }
    }

    /// The bits of the number as this type, in the low ones of the result: integers wrap, floats
    /// round to nearest even.
    pub fn bits(self, scalar: Scalar) -> u64 {
        match scalar {
            Scalar::Bool => u64::from(self.integer() != 0),
            Scalar::F16 => half::f16::from_f32(self.float()).to_bits().into(),
            Scalar::Bf16 => half::bf16::from_f32(self.float()).to_bits().into(),
            Scalar::F32 => self.float().to_bits().into(),
            _ => self.integer() as u64,
        }
    }

    /// The number as this type holds it.
    pub fn rounded(self, scalar: Scalar) -> Self {
        Self::of_bits(scalar, self.bits(scalar))
    }

    /// A bool.
    pub fn truth(holds: bool) -> Self {
        Self::Integer(holds.into())
    }

    /// An integer's value; the types say that it is one.
    pub fn integer(self) -> i128 {
        match self {
            Self::Integer(value) => value,
            Self::Float(value) => value as i128,
        }
    }

    /// A float's value; the types say that it is one.
    pub fn float(self) -> f32 {
        match self {
            Self::Integer(value) => value as f32,
            Self::Float(value) => value,
        }
    }

    /// Whether a bool is true.
    pub fn is_true(self) -> bool {
        self.integer() != 0
    }
}

/// The numbers of a scalar or vector.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    all: [Number; 4],
    len: usize,
}

impl FromIterator<Number> for Numbers {
    fn from_iter<T: IntoIterator<Item = Number>>(numbers: T) -> Self {
        let (mut all, mut len) = ([Number::Integer(0); 4], 0);
        for (slot, number) in all.iter_mut().zip(numbers) {
            *slot = number;
            len += 1;
        }
        Self { all, len }
    }
}

impl Deref for Numbers {
    type Target = [Number];

    fn deref(&self) -> &[Number] {
        &self.all[..self.len]
    }
}

/// The least and the greatest integer of a type.
pub fn limits(scalar: Scalar) -> (i128, i128) {
    match (scalar, scalar.bits()) {
        (Scalar::Bool, _) => (0, 1),
        (_, bits) if scalar.is_signed() => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        (_, bits) => (0, (1 << bits) - 1),
    }
}

/// A part of a whole.
#[derive(Clone, Debug)]
pub struct Part {
    /// Bytes from the start of the whole.
    pub offset: i128,
    /// What it is.
    pub ty: Type,
    /// How many such parts the whole has.
    pub count: u32,
}

/// Bytes that hold data.
type Ranges = Rc<[Range<usize>]>;

/// How types lie in memory.
pub struct Shapes<'m> {
    /// The types.
    pub types: &'m Types,
    /// Of each type, once they are known.
    ranges: RefCell<Vec<Option<Ranges>>>,
}

impl<'m> Shapes<'m> {
    /// For the types of a module.
    pub fn new(types: &'m Types) -> Self {
        let ranges = RefCell::default();
        Self { types, ranges }
    }

    /// Bytes of a value or of memory of this type.
    pub fn size(&self, ty: Handle<Type>) -> usize {
        self.types.layout(ty).0 as usize
    }

    /// The scalar and length of a scalar or vector; of a simdgroup matrix, a thread's elements.
    pub fn vector(&self, ty: Handle<Type>) -> (Scalar, usize) {
        match self.types[ty] {
            Type::Scalar(scalar) | Type::Atomic(scalar) => (scalar, 1),
            Type::Vector(scalar, len, _) => (scalar, len.into()),
            Type::SimdgroupMatrix(scalar) => (scalar, 2),
            // A pointer, which is only compared.
            _ => (Scalar::U64, 1),
        }
    }

    /// A part of a struct, array, vector or matrix. The index of a vector, matrix or array may be
    /// out of range: the place is then computed as if it were not.
    pub fn part(&self, whole: &Type, index: i128) -> Option<Part> {
        let part = |offset, ty, count| Some(Part { offset, ty, count });
        match *whole {
            Type::Struct(of) => {
                let fields = &self.types.structs[of].fields;
                let field = fields.get(usize::try_from(index).ok()?)?;
                let ty = self.types[field.ty].clone();
                part(field.offset.into(), ty, fields.len() as u32)
            }
            Type::Array(element, len) => {
                let offset = index.wrapping_mul(self.types.stride(element).into());
                part(offset, self.types[element].clone(), len)
            }
            Type::Vector(scalar, len, _) => {
                let offset = index.wrapping_mul(scalar.size().into());
                part(offset, Type::Scalar(scalar), len.into())
            }
            Type::Matrix {
                scalar,
                columns,
                rows,
            } => {
                let column = scalar.size() * u32::from(rows).next_power_of_two();
                let ty = Type::Vector(scalar, rows, crate::ir::Packing::Aligned);
                part(index.wrapping_mul(column.into()), ty, columns.into())
            }
            _ => None,
        }
    }

    /// The bytes that hold data, without padding, in order and joined where they touch.
    pub fn data(&self, ty: Handle<Type>) -> Ranges {
        if let Some(Some(known)) = self.ranges.borrow().get(ty.index()) {
            return known.clone();
        }
        let mut all = Vec::new();
        self.add_data(&self.types[ty], 0, &mut all);
        let all: Ranges = all.into();
        let mut ranges = self.ranges.borrow_mut();
        if ranges.len() <= ty.index() {
            ranges.resize(ty.index() + 1, None);
        }
        ranges[ty.index()] = Some(all.clone());
        all
    }

    fn add_data(&self, ty: &Type, at: usize, all: &mut Vec<Range<usize>>) {
        let mut add = |size: u32| {
            let end = at + size as usize;
            match all.last_mut() {
                Some(last) if last.end == at => last.end = end,
                _ if size > 0 => all.push(at..end),
                _ => {}
            }
        };
        match *ty {
            Type::Void => {}
            Type::Scalar(scalar) | Type::Atomic(scalar) => add(scalar.size()),
            Type::Vector(scalar, len, _) => add(scalar.size() * u32::from(len)),
            Type::SimdgroupMatrix(scalar) => add(scalar.size() * 2),
            Type::Pointer { .. } => add(8),
            // Which field holds data is not known.
            Type::Struct(of) if self.types.structs[of].is_union => {
                add(self.types.structs[of].size);
            }
            Type::Struct(of) => {
                for field in &self.types.structs[of].fields {
                    self.add_data(&self.types[field.ty], at + field.offset as usize, all);
                }
            }
            Type::Array(element, len) => {
                let (size, _) = self.types.layout(element);
                let stride = self.types.stride(element) as usize;
                if matches!(self.types[element], Type::Scalar(_)) {
                    return add(size.saturating_mul(len));
                }
                for index in 0..len as usize {
                    self.add_data(&self.types[element], at + index * stride, all);
                }
            }
            Type::Matrix { columns, .. } => {
                for column in 0..columns {
                    if let Some(part) = self.part(ty, column.into()) {
                        self.add_data(&part.ty, at + part.offset as usize, all);
                    }
                }
            }
        }
    }
}
