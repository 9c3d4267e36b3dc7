//! The types that values and memory have, and how memory lays them out.

use crate::ir::{Arena, Handle};
use crate::syntax::ast::Name;

pub use crate::syntax::ast::AddressSpace;

/// A number type, or bool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Scalar {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    Bf16,
    F32,
}

impl Scalar {
    /// Bytes in memory.
    pub const fn size(self) -> u32 {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 => 8,
        }
    }

    /// Bits in memory.
    pub const fn bits(self) -> u32 {
        self.size() * 8
    }

    /// half, bfloat or float.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::F32)
    }

    /// An integer type; bool is none.
    pub const fn is_integer(self) -> bool {
        !self.is_float() && !matches!(self, Self::Bool)
    }

    /// A signed integer or a floating type.
    pub const fn is_signed(self) -> bool {
        self.is_float() || matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// The name in the Metal Shading Language.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "char",
            Self::U8 => "uchar",
            Self::I16 => "short",
            Self::U16 => "ushort",
            Self::I32 => "int",
            Self::U32 => "uint",
            Self::I64 => "long",
            Self::U64 => "ulong",
            Self::F16 => "half",
            Self::Bf16 => "bfloat",
            Self::F32 => "float",
        }
    }

    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Bool,
        Self::I8,
        Self::U8,
        Self::I16,
        Self::U16,
        Self::I32,
        Self::U32,
        Self::I64,
        Self::U64,
        Self::F16,
        Self::Bf16,
        Self::F32,
    ];
}

/// A type. Equal types have equal handles: [`Types`] interns them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// No value.
    Void,
    /// A number or bool.
    Scalar(Scalar),
    /// 2 to 4 numbers. A packed vector is aligned as its scalar and has no padding; only memory has
    /// that type: loading one gives, and storing one takes, the plain vector.
    Vector(Scalar, u8, Packing),
    /// `columns` vectors of `rows` floats.
    Matrix {
        /// The element type, a floating one.
        scalar: Scalar,
        /// How many columns.
        columns: u8,
        /// The length of a column.
        rows: u8,
    },
    /// `length` values of one type.
    Array(Handle<Type>, u32),
    /// A struct.
    Struct(Handle<Struct>),
    /// A pointer, or a reference as a function sees it.
    Pointer {
        /// Where it points.
        space: AddressSpace,
        /// At what.
        pointee: Handle<Type>,
    },
    /// An atomic integer or float, in memory only.
    Atomic(Scalar),
    /// An 8x8 matrix held by a SIMD-group together.
    SimdgroupMatrix(Scalar),
}

/// Whether a vector in memory is padded to its alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Packing {
    Aligned,
    Packed,
}

/// A struct's shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Struct {
    /// Its name, for messages and for the text back ends.
    pub name: Name,
    /// Its fields in order. All fields of a union have offset 0.
    pub fields: Vec<Field>,
    /// Bytes, padding included.
    pub size: u32,
    /// The alignment in bytes, a power of two.
    pub align: u32,
    /// Whether the fields share their bytes.
    pub is_union: bool,
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Handle<Type>,
    /// Bytes from the start of the struct.
    pub offset: u32,
}

/// All types of a module.
#[derive(Clone, Debug, Default)]
pub struct Types {
    types: Arena<Type>,
    known: std::collections::HashMap<Type, Handle<Type>>,
    /// The structs.
    pub structs: Arena<Struct>,
}

impl Types {
    /// The handle of a type.
    pub fn intern(&mut self, ty: Type) -> Handle<Type> {
        if let Some(&handle) = self.known.get(&ty) {
            return handle;
        }
        let handle = self.types.push(ty.clone());
        self.known.insert(ty, handle);
        handle
    }

    /// The handle of a type that is already there.
    pub fn find(&self, ty: &Type) -> Option<Handle<Type>> {
        self.known.get(ty).copied()
    }

    /// The handle of a scalar type.
    pub fn scalar(&mut self, scalar: Scalar) -> Handle<Type> {
        self.intern(Type::Scalar(scalar))
    }

    /// The handle of a vector type; of the scalar if `len` is 1.
    pub fn vector(&mut self, scalar: Scalar, len: u8) -> Handle<Type> {
        match len {
            1 => self.scalar(scalar),
            _ => self.intern(Type::Vector(scalar, len, Packing::Aligned)),
        }
    }

    /// The handle of a pointer type.
    pub fn pointer(&mut self, space: AddressSpace, pointee: Handle<Type>) -> Handle<Type> {
        self.intern(Type::Pointer { space, pointee })
    }

    /// Lays fields out in order and adds the struct. Each field, and the struct, has at least the
    /// alignment given with it. Types without a size count as empty.
    pub fn add_struct(
        &mut self,
        name: Name,
        fields: Vec<(Name, Handle<Type>, u32)>,
        is_union: bool,
        least_align: u32,
    ) -> Handle<Struct> {
        let (mut end, mut align) = (0u32, least_align.max(1));
        let mut size = 0;
        let fields = fields
            .into_iter()
            .map(|(name, ty, least_align)| {
                let (field_size, field_align) = self.layout(ty);
                let field_align = field_align.max(least_align);
                align = align.max(field_align);
                let offset = if is_union {
                    0
                } else {
                    end.next_multiple_of(field_align)
                };
                end = offset.saturating_add(field_size);
                size = size.max(end);
                Field { name, ty, offset }
            })
            .collect();
        let size = size.max(1).next_multiple_of(align);
        self.structs.push(Struct {
            name,
            fields,
            size,
            align,
            is_union,
        })
    }

    /// Size and alignment in bytes, by Metal's rules: a 3-vector takes the room of a 4-vector.
    pub fn layout(&self, ty: Handle<Type>) -> (u32, u32) {
        match self[ty] {
            Type::Void => (0, 1),
            Type::Scalar(s) | Type::Atomic(s) => (s.size(), s.size()),
            Type::Vector(s, len, Packing::Packed) => (s.size() * u32::from(len), s.size()),
            Type::Vector(s, len, Packing::Aligned) => {
                let size = s.size() * u32::from(len).next_power_of_two();
                (size, size)
            }
            Type::Matrix {
                scalar,
                columns,
                rows,
            } => {
                let column = scalar.size() * u32::from(rows).next_power_of_two();
                (column * u32::from(columns), column)
            }
            Type::Array(element, len) => {
                let (size, align) = self.layout(element);
                (size.saturating_mul(len), align)
            }
            Type::Struct(s) => (self.structs[s].size, self.structs[s].align),
            Type::Pointer { .. } => (8, 8),
            Type::SimdgroupMatrix(s) => (s.size() * 2, s.size() * 2),
        }
    }

    /// Bytes from one element of an array of this type to the next.
    pub fn stride(&self, ty: Handle<Type>) -> u32 {
        let (size, align) = self.layout(ty);
        size.next_multiple_of(align)
    }

    /// The scalar and length of a scalar (1) or vector type.
    pub fn as_vector(&self, ty: Handle<Type>) -> Option<(Scalar, u8)> {
        match self[ty] {
            Type::Scalar(s) => Some((s, 1)),
            Type::Vector(s, len, _) => Some((s, len)),
            _ => None,
        }
    }

    /// The type as the language spells it.
    pub fn name(&self, ty: Handle<Type>) -> String {
        match self[ty] {
            Type::Void => "void".into(),
            Type::Scalar(s) => s.name().into(),
            Type::Vector(s, n, Packing::Aligned) => format!("{}{n}", s.name()),
            Type::Vector(s, n, Packing::Packed) => format!("packed_{}{n}", s.name()),
            Type::Matrix {
                scalar,
                columns,
                rows,
            } => format!("{}{columns}x{rows}", scalar.name()),
            Type::Array(element, len) => format!("{}[{len}]", self.name(element)),
            Type::Struct(s) => self.structs[s].name.to_string(),
            Type::Pointer { space, pointee } => {
                let space = match space {
                    AddressSpace::Device => "device",
                    AddressSpace::Constant => "constant",
                    AddressSpace::Threadgroup => "threadgroup",
                    AddressSpace::Thread => "thread",
                };
                format!("{space} {} *", self.name(pointee))
            }
            Type::Atomic(s) => format!("atomic_{}", s.name()),
            Type::SimdgroupMatrix(s) => format!("simdgroup_{}8x8", s.name()),
        }
    }
}

impl std::ops::Index<Handle<Type>> for Types {
    type Output = Type;

    fn index(&self, handle: Handle<Type>) -> &Type {
        &self.types[handle]
    }
}
