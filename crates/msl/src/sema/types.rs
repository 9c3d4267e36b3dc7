//! The types of the language as the checker sees them.
//!
//! Richer than [`ir::Type`]: pointers know whether they may write, enums are not integers, and the
//! library's small types (barrier flags, votes) have kinds of their own. What the back ends need is
//! made from these by [`Checker::ir_type`](super::Checker::ir_type).

use std::collections::HashMap;

use crate::ir::{AddressSpace, Packing, Scalar};

/// A type; equal types have equal handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Ty(u32);

/// The index of a struct in the checker's list.
pub(super) type StructId = usize;
/// The index of an enum in the checker's list.
pub(super) type EnumId = usize;

/// What a type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// Something already reported; it goes with everything.
    Error,
    Void,
    Scalar(Scalar),
    Vector(Scalar, u8, Packing),
    Matrix {
        scalar: Scalar,
        columns: u8,
        rows: u8,
    },
    Array(Ty, u32),
    /// `T[]` before its initialiser gives the length.
    UnsizedArray(Ty),
    Struct(StructId),
    Enum(EnumId),
    Pointer {
        space: AddressSpace,
        pointee: Ty,
        is_const: bool,
    },
    Atomic(Scalar),
    SimdgroupMatrix(Scalar),
    Nullptr,
    /// `metal::mem_flags`
    MemFlags,
    /// `metal::memory_order`
    MemoryOrder,
    /// `metal::simd_vote`
    SimdVote,
    /// A function known at compile time: an index into the checker's list of them.
    Callable(usize),
    /// The type of functions: an index into the checker's list of their parameters and results.
    Function(usize),
}

/// A type with what a declaration says about the object of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Qualified {
    pub ty: Ty,
    pub is_const: bool,
    pub space: Option<AddressSpace>,
    pub is_reference: bool,
}

impl Qualified {
    /// A plain, writable value of this type.
    pub const fn plain(ty: Ty) -> Self {
        Self {
            ty,
            is_const: false,
            space: None,
            is_reference: false,
        }
    }
}

/// All types of a compilation.
pub(super) struct TypeTable {
    kinds: Vec<Kind>,
    known: HashMap<Kind, Ty>,
}

impl Ty {
    pub const ERROR: Self = Self(0);
    pub const VOID: Self = Self(1);
    pub const BOOL: Self = Self::scalar(Scalar::Bool);
    pub const INT: Self = Self::scalar(Scalar::I32);
    pub const UINT: Self = Self::scalar(Scalar::U32);
    pub const LONG: Self = Self::scalar(Scalar::I64);
    pub const ULONG: Self = Self::scalar(Scalar::U64);
    pub const FLOAT: Self = Self::scalar(Scalar::F32);
    pub const NULLPTR: Self = Self(14);
    pub const MEM_FLAGS: Self = Self(15);
    pub const MEMORY_ORDER: Self = Self(16);
    pub const SIMD_VOTE: Self = Self(17);

    /// The type of a scalar.
    pub const fn scalar(scalar: Scalar) -> Self {
        Self(2 + scalar as u32)
    }

    /// Whether this stands for something already reported.
    pub fn is_error(self) -> bool {
        self == Self::ERROR
    }
}

impl TypeTable {
    /// The table with the types that have a fixed handle.
    pub fn new() -> Self {
        let mut table = Self {
            kinds: Vec::new(),
            known: HashMap::new(),
        };
        table.intern(Kind::Error);
        table.intern(Kind::Void);
        for scalar in Scalar::ALL {
            table.intern(Kind::Scalar(scalar));
        }
        for kind in [
            Kind::Nullptr,
            Kind::MemFlags,
            Kind::MemoryOrder,
            Kind::SimdVote,
        ] {
            table.intern(kind);
        }
        table
    }

    /// The handle of a type.
    pub fn intern(&mut self, kind: Kind) -> Ty {
        if let Some(&ty) = self.known.get(&kind) {
            return ty;
        }
        let ty = Ty(self.kinds.len() as u32);
        self.kinds.push(kind);
        self.known.insert(kind, ty);
        ty
    }

    /// What a type is.
    pub fn kind(&self, ty: Ty) -> Kind {
        self.kinds
            .get(ty.0 as usize)
            .copied()
            .unwrap_or(Kind::Error)
    }

    /// The vector of this many scalars, or the scalar itself for one.
    pub fn vector(&mut self, scalar: Scalar, len: u8) -> Ty {
        match len {
            1 => Ty::scalar(scalar),
            _ => self.intern(Kind::Vector(scalar, len, Packing::Aligned)),
        }
    }

    /// A pointer type.
    pub fn pointer(&mut self, space: AddressSpace, pointee: Ty, is_const: bool) -> Ty {
        self.intern(Kind::Pointer {
            space,
            pointee,
            is_const,
        })
    }

    /// The scalar and length of a scalar (1) or vector.
    pub fn as_vector(&self, ty: Ty) -> Option<(Scalar, u8)> {
        match self.kind(ty) {
            Kind::Scalar(scalar) => Some((scalar, 1)),
            Kind::Vector(scalar, len, _) => Some((scalar, len)),
            _ => None,
        }
    }

    /// The scalar, if it is one.
    pub fn as_scalar(&self, ty: Ty) -> Option<Scalar> {
        match self.kind(ty) {
            Kind::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// Whether it is a vector of at least two components.
    pub fn value_is_vector(&self, ty: Ty) -> bool {
        matches!(self.kind(ty), Kind::Vector(..))
    }

    /// The type that a value has once it is loaded: packed vectors unpack.
    pub fn value_type(&mut self, ty: Ty) -> Ty {
        match self.kind(ty) {
            Kind::Vector(scalar, len, Packing::Packed) => self.vector(scalar, len),
            _ => ty,
        }
    }
}

/// The keyword of an address space.
pub(super) fn space_name(space: AddressSpace) -> &'static str {
    match space {
        AddressSpace::Device => "device",
        AddressSpace::Constant => "constant",
        AddressSpace::Threadgroup => "threadgroup",
        AddressSpace::Thread => "thread",
    }
}

/// The type of a built-in name that needs no namespace.
pub(super) fn keyword_type(name: &str) -> Option<Ty> {
    let scalar = match name {
        "void" => return Some(Ty::VOID),
        "bool" => Scalar::Bool,
        "char" | "int8_t" => Scalar::I8,
        "uchar" | "uint8_t" => Scalar::U8,
        "short" | "int16_t" => Scalar::I16,
        "ushort" | "uint16_t" => Scalar::U16,
        "int" | "int32_t" => Scalar::I32,
        "uint" | "uint32_t" => Scalar::U32,
        "long" | "int64_t" | "ptrdiff_t" | "intptr_t" => Scalar::I64,
        "ulong" | "uint64_t" | "size_t" | "uintptr_t" => Scalar::U64,
        "half" => Scalar::F16,
        "bfloat" => Scalar::Bf16,
        "float" => Scalar::F32,
        _ => return None,
    };
    Some(Ty::scalar(scalar))
}

/// The scalar that starts a name such as `float3x3`, and the rest of the name.
fn leading_scalar(name: &str) -> Option<(Scalar, &str)> {
    Scalar::ALL.iter().find_map(|&scalar| {
        let rest = name.strip_prefix(scalar.name())?;
        rest.starts_with(|c: char| c.is_ascii_digit())
            .then_some((scalar, rest))
    })
}

/// The type of a name of the `metal` namespace that takes no arguments.
pub(super) fn library_type(table: &mut TypeTable, name: &str) -> Option<Ty> {
    let digit = |c: Option<&u8>| c.filter(|c| (b'2'..=b'4').contains(c)).map(|c| c - b'0');
    match name {
        "mem_flags" => return Some(Ty::MEM_FLAGS),
        "memory_order" => return Some(Ty::MEMORY_ORDER),
        "simd_vote" => return Some(Ty::SIMD_VOTE),
        _ => {}
    }
    if let Some(rest) = name.strip_prefix("atomic_") {
        let scalar = match rest {
            "int" => Scalar::I32,
            "uint" => Scalar::U32,
            "bool" => Scalar::Bool,
            "ulong" => Scalar::U64,
            "float" => Scalar::F32,
            _ => return None,
        };
        return Some(table.intern(Kind::Atomic(scalar)));
    }
    if let Some(rest) = name.strip_prefix("simdgroup_") {
        let scalar = rest.strip_suffix("8x8")?;
        let scalar = match scalar {
            "float" => Scalar::F32,
            "half" => Scalar::F16,
            "bfloat" => Scalar::Bf16,
            _ => return None,
        };
        return Some(table.intern(Kind::SimdgroupMatrix(scalar)));
    }
    let (packing, plain) = match name.strip_prefix("packed_") {
        Some(rest) => (Packing::Packed, rest),
        None => (Packing::Aligned, name),
    };
    let (scalar, rest) = leading_scalar(plain)?;
    match rest.as_bytes() {
        [len] => {
            let len = digit(Some(len))?;
            Some(table.intern(Kind::Vector(scalar, len, packing)))
        }
        [columns, b'x', rows]
            if packing == Packing::Aligned && matches!(scalar, Scalar::F16 | Scalar::F32) =>
        {
            let (columns, rows) = (digit(Some(columns))?, digit(Some(rows))?);
            Some(table.intern(Kind::Matrix {
                scalar,
                columns,
                rows,
            }))
        }
        _ => None,
    }
}
