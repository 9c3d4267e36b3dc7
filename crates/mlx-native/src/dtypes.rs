//! The number types that buffers hold, and the Rust types that match them.

use std::any::TypeId;
use std::fmt;

use bytemuck::Pod;
use half::{bf16, f16};

/// What a buffer's elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum DType {
    F32,
    F16,
    BF16,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    /// One byte each, 0 or 1. On the host it is seen as `u8`, as a kernel may leave other bytes.
    Bool,
}

impl DType {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::F32,
        Self::F16,
        Self::BF16,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::Bool,
    ];

    /// Bytes of one element.
    ///
    /// ```
    /// assert_eq!(mlx_native::DType::BF16.size_of(), 2);
    /// ```
    pub const fn size_of(self) -> usize {
        match self {
            Self::I8 | Self::U8 | Self::Bool => 1,
            Self::F16 | Self::BF16 | Self::I16 | Self::U16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::I64 | Self::U64 => 8,
        }
    }

    /// The short name, as `Display` prints it: `f32`, `bf16`, `u8`, `bool`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::BF16 => "bf16",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::Bool => "bool",
        }
    }

    /// Whether the host sees this type as `T`: each type as the Rust type of its name, except
    /// `Bool`, which is seen as `u8`.
    ///
    /// ```
    /// use mlx_native::DType;
    /// assert!(DType::F16.matches::<half::f16>() && DType::Bool.matches::<u8>());
    /// assert!(!DType::F32.matches::<u32>());
    /// ```
    pub fn matches<T: 'static>(self) -> bool {
        let wanted = match self {
            Self::F32 => TypeId::of::<f32>(),
            Self::F16 => TypeId::of::<f16>(),
            Self::BF16 => TypeId::of::<bf16>(),
            Self::I8 => TypeId::of::<i8>(),
            Self::I16 => TypeId::of::<i16>(),
            Self::I32 => TypeId::of::<i32>(),
            Self::I64 => TypeId::of::<i64>(),
            Self::U8 | Self::Bool => TypeId::of::<u8>(),
            Self::U16 => TypeId::of::<u16>(),
            Self::U32 => TypeId::of::<u32>(),
            Self::U64 => TypeId::of::<u64>(),
        };
        wanted == TypeId::of::<T>()
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A Rust type with a [`DType`] of its own, for code that is generic over it.
pub trait Element: Pod + Send + Sync {
    /// The matching dtype; that of `u8` is [`DType::U8`].
    const DTYPE: DType;
}

macro_rules! elements {
    ($($ty:ty => $dtype:ident,)*) => {
        $(impl Element for $ty {
            const DTYPE: DType = DType::$dtype;
        })*
    };
}

elements! {
    f32 => F32, f16 => F16, bf16 => BF16,
    i8 => I8, i16 => I16, i32 => I32, i64 => I64,
    u8 => U8, u16 => U16, u32 => U32, u64 => U64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Element>() {
        assert_eq!(T::DTYPE.size_of(), size_of::<T>());
        let matching: Vec<_> = DType::ALL.iter().filter(|d| d.matches::<T>()).collect();
        assert!(matching.contains(&&T::DTYPE));
        assert_eq!(matching.len(), if T::DTYPE == DType::U8 { 2 } else { 1 });
    }

    #[test]
    fn every_element_type_matches_its_dtype_only() {
        check::<f32>();
        check::<f16>();
        check::<bf16>();
        check::<i8>();
        check::<i16>();
        check::<i32>();
        check::<i64>();
        check::<u8>();
        check::<u16>();
        check::<u32>();
        check::<u64>();
    }

    #[test]
    fn names_are_distinct() {
        let names: std::collections::HashSet<_> = DType::ALL.iter().map(|d| d.name()).collect();
        assert_eq!(names.len(), DType::ALL.len());
        assert_eq!(format!("{:>5}", DType::F32), "  f32");
    }
}
