//! The type in which two operands meet: integer promotion, and what the arms of `?:` have in common.
//! Converting to it is the work of `conversions`.

use crate::ir::Scalar;
use crate::sema::Checker;
use crate::sema::conversions::scalar_rank;
use crate::sema::operand::{Operand, Repr};
use crate::sema::types::{Kind, Ty};

/// What small integers become before arithmetic.
fn promote(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::Bool | Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16 => Scalar::I32,
        _ => scalar,
    }
}

/// The type in which two scalars are computed; `None` where one must be cast.
pub(super) fn common_scalar(left: Scalar, right: Scalar) -> Option<Scalar> {
    let (left, right) = (promote(left), promote(right));
    match (left.is_float(), right.is_float()) {
        (false, false) => Some(left.max(right)),
        (true, false) => scalar_rank(right, left).map(|_| left),
        (false, true) => scalar_rank(left, right).map(|_| right),
        (true, true) if left == right => Some(left),
        (true, true) => (left == Scalar::F32 || right == Scalar::F32).then_some(Scalar::F32),
    }
}

impl<'a> Checker<'a> {
    /// A scalar after integer promotion; anything else as it is. Loads.
    pub(in crate::sema) fn promoted(&mut self, operand: Operand<'a>) -> Operand<'a> {
        let operand = self.decayed(operand);
        match self.types.kind(operand.ty) {
            Kind::Scalar(scalar) => {
                let ty = Ty::scalar(promote(scalar));
                self.convert_number(operand, ty)
            }
            Kind::Enum(id) if !self.enums[id].is_class => {
                let ty = Ty::scalar(promote(self.enums[id].underlying));
                self.convert_number(operand, ty)
            }
            _ => operand,
        }
    }

    /// The type that two alternatives have in common.
    pub(in crate::sema) fn common_type(
        &mut self,
        left: &Operand<'a>,
        right: &Operand<'a>,
    ) -> Option<Ty> {
        let decayed = |checker: &mut Self, operand: &Operand<'a>| match (
            checker.types.kind(operand.ty),
            operand.as_place(),
        ) {
            (Kind::Array(element, _), Some(lvalue)) => {
                let (space, is_const) = (lvalue.space, lvalue.is_const);
                checker.types.pointer(space, element, is_const)
            }
            _ => checker.types.value_type(operand.ty),
        };
        if let (Repr::List(_), _)
        | (_, Repr::List(_))
        | (Repr::Functions(_), _)
        | (_, Repr::Functions(_)) = (&left.repr, &right.repr)
        {
            return None;
        }
        let (l, r) = (decayed(self, left), decayed(self, right));
        if l == r {
            return Some(l);
        }
        match (self.types.kind(l), self.types.kind(r)) {
            (Kind::Scalar(a), Kind::Scalar(b)) => common_scalar(a, b).map(Ty::scalar),
            (Kind::Enum(_), Kind::Scalar(_) | Kind::Enum(_)) | (Kind::Scalar(_), Kind::Enum(_)) => {
                let number = |checker: &Self, ty| match checker.types.kind(ty) {
                    Kind::Enum(id) if !checker.enums[id].is_class => {
                        Some(checker.enums[id].underlying)
                    }
                    Kind::Scalar(scalar) => Some(scalar),
                    _ => None,
                };
                let (a, b) = (number(self, l)?, number(self, r)?);
                common_scalar(a, b).map(Ty::scalar)
            }
            (
                Kind::Pointer {
                    space: ls,
                    pointee: lp,
                    is_const: lc,
                },
                Kind::Pointer {
                    space: rs,
                    pointee: rp,
                    is_const: rc,
                },
            ) if ls == rs => {
                let pointee = match (lp, rp) {
                    _ if lp == rp => lp,
                    (Ty::VOID, _) | (_, Ty::VOID) => Ty::VOID,
                    _ => return None,
                };
                Some(self.types.pointer(ls, pointee, lc || rc))
            }
            (Kind::Pointer { .. }, _) if self.implicit_rank(right, l).is_some() => Some(l),
            (_, Kind::Pointer { .. }) if self.implicit_rank(left, r).is_some() => Some(r),
            (Kind::Vector(..), Kind::Scalar(_)) => self.implicit_rank(right, l).map(|_| l),
            (Kind::Scalar(_), Kind::Vector(..)) => self.implicit_rank(left, r).map(|_| r),
            (Kind::Struct(_), _) if self.implicit_rank(right, l).is_some() => Some(l),
            (_, Kind::Struct(_)) if self.implicit_rank(left, r).is_some() => Some(r),
            _ => None,
        }
    }
}
