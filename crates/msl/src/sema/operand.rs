//! What an expression comes to: a constant, a value, a place, a set of functions, a braced list.
//!
//! Constants and places stay as they are for as long as possible. A constant becomes an IR literal,
//! and a place a load, only when a computation needs the value.

use super::constant::Constant;
use super::scope::FunctionSet;
use super::types::Ty;
use crate::diag::Span;
use crate::ir::{AddressSpace, Handle, Place, Value};
use crate::syntax::ast::{Expr, Ident};

/// The result of an expression.
#[derive(Clone)]
pub(super) struct Operand<'a> {
    pub ty: Ty,
    pub span: Span,
    pub repr: Repr<'a>,
}

/// How an operand is held.
#[derive(Clone)]
pub(super) enum Repr<'a> {
    /// Already reported.
    Poison,
    /// Known at compile time.
    Constant(Constant),
    /// Computed.
    Value(Handle<Value>),
    /// In memory.
    Place(Box<Lvalue>),
    /// The name of functions.
    Functions(Box<FunctionSet<'a>>),
    /// `{a, b}`; it has no type of its own.
    List(&'a [(Option<Ident>, Expr)]),
}

/// A place with what the language says about it.
#[derive(Clone)]
pub(super) struct Lvalue {
    pub place: Place,
    /// The type of the whole place, before a swizzle.
    pub ty: Ty,
    pub space: AddressSpace,
    pub is_const: bool,
    /// The components that a multi-component swizzle of the place names.
    pub swizzle: Option<Vec<u8>>,
    /// The place is a simdgroup matrix of this type, and meant are this thread's two elements.
    pub elements: Option<Ty>,
    /// The value, if the place can only ever hold this one.
    pub known: Option<Constant>,
    /// Whether it only exists for this expression, so that writable references must not bind to it.
    pub is_temporary: bool,
}

impl Lvalue {
    /// Whether it is the whole place, which can be pointed at.
    pub fn is_plain(&self) -> bool {
        self.swizzle.is_none() && self.elements.is_none()
    }
}

impl<'a> Operand<'a> {
    /// An operand that silences follow-up errors.
    pub fn poison(span: Span) -> Self {
        Self {
            ty: Ty::ERROR,
            span,
            repr: Repr::Poison,
        }
    }

    /// A computed value.
    pub fn value(ty: Ty, value: Handle<Value>, span: Span) -> Self {
        Self {
            ty,
            span,
            repr: Repr::Value(value),
        }
    }

    /// A compile-time value.
    pub fn constant(ty: Ty, constant: Constant, span: Span) -> Self {
        Self {
            ty,
            span,
            repr: Repr::Constant(constant),
        }
    }

    /// A place.
    pub fn place(ty: Ty, lvalue: Lvalue, span: Span) -> Self {
        Self {
            ty,
            span,
            repr: Repr::Place(Box::new(lvalue)),
        }
    }

    /// Whether an error has been reported for it.
    pub fn is_poison(&self) -> bool {
        matches!(self.repr, Repr::Poison) || self.ty.is_error()
    }

    /// The place, if it is one.
    pub fn as_place(&self) -> Option<&Lvalue> {
        match &self.repr {
            Repr::Place(lvalue) => Some(lvalue),
            _ => None,
        }
    }

    /// The value, if it is known at compile time.
    pub fn as_constant(&self) -> Option<&Constant> {
        match &self.repr {
            Repr::Constant(constant) => Some(constant),
            Repr::Place(lvalue) if lvalue.is_plain() => lvalue.known.as_ref(),
            _ => None,
        }
    }
}
