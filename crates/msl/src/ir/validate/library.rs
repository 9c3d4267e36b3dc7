//! Operations that Metal's library brings: maths, SIMD-groups, atomics, matrices of a SIMD-group.

use super::{Check, Validator, ensure};
use crate::ir::{
    AtomicOp, Handle, MathFunction, Place, Scalar, SimdOp, SimdgroupMatrixOp, Type, Value,
};

impl Validator<'_> {
    pub(super) fn math(
        &self,
        function: MathFunction,
        args: &[Handle<Value>],
        ty: Handle<Type>,
    ) -> Check {
        use MathFunction as M;
        let name = function.name();
        let wrong = || format!("`{name}`'s types");
        ensure(args.len() == function.arity(), || {
            format!("`{name}` with {} operands", args.len())
        })?;
        let first = self.ty(args[0])?;
        let Some((scalar, len)) = self.shape(first) else {
            return Err(format!("`{name}` of a {}", self.name(first)));
        };
        let result = self.shape(ty);
        match function {
            M::Ilogb | M::FrexpExponent => ensure(
                scalar.is_float() && result == Some((Scalar::I32, len)),
                wrong,
            ),
            M::Ldexp => {
                let second = self.shape(self.ty(args[1])?);
                ensure(first == ty && second == Some((Scalar::I32, len)), wrong)
            }
            M::Isfinite | M::Isinf | M::Isnan | M::Isnormal | M::Signbit => {
                ensure(result == Some((Scalar::Bool, len)), wrong)
            }
            M::All | M::Any => ensure(
                scalar == Scalar::Bool && len > 1 && result == Some((Scalar::Bool, 1)),
                wrong,
            ),
            M::Dot => {
                self.same(&args[1..], first)?;
                ensure(result == Some((scalar, 1)) && len > 1, wrong)
            }
            M::Absdiff => {
                self.same(&args[1..], first)?;
                ensure(
                    result.is_some_and(|(s, l)| l == len && s.bits() == scalar.bits()),
                    wrong,
                )
            }
            M::ExtractBits | M::InsertBits => {
                let uints = &args[args.len() - 2..];
                for &value in uints {
                    let ty = self.ty(value)?;
                    ensure(*self.kind(ty) == Type::Scalar(Scalar::U32), wrong)?;
                }
                self.same(&args[..args.len() - 2], ty)
            }
            _ => self.same(args, ty),
        }
    }

    pub(super) fn simd(&self, op: SimdOp, args: &[Handle<Value>], ty: Handle<Type>) -> Check {
        use SimdOp as S;
        let lane = |value: Handle<Value>| -> Check {
            let ty = self.ty(value)?;
            ensure(
                matches!(self.kind(ty), Type::Scalar(Scalar::U16 | Scalar::U32)),
                || format!("a lane is a {}", self.name(ty)),
            )
        };
        let result = self.shape(ty);
        match (op, args) {
            (S::All | S::Any | S::QuadAll | S::QuadAny, [value]) => {
                self.is_bool(*value)?;
                ensure(result == Some((Scalar::Bool, 1)), || "a vote's type".into())
            }
            (S::Ballot, [value]) => {
                self.is_bool(*value)?;
                ensure(result == Some((Scalar::U64, 1)), || {
                    "a ballot's type".into()
                })
            }
            (S::ActiveThreadsMask, []) => {
                ensure(result == Some((Scalar::U64, 1)), || "a mask's type".into())
            }
            (S::IsFirst, []) => {
                ensure(result == Some((Scalar::Bool, 1)), || "a flag's type".into())
            }
            (S::ShuffleAndFillUp | S::ShuffleAndFillDown, [data, fill, distance]) => {
                self.same(&[*data, *fill], ty)?;
                lane(*distance)
            }
            (_, [data]) => self.same(&[*data], ty),
            (_, [data, other]) => {
                self.same(&[*data], ty)?;
                lane(*other)
            }
            _ => Err(format!("{op:?} with {} operands", args.len())),
        }
    }

    pub(super) fn atomic(
        &self,
        op: AtomicOp,
        place: &Place,
        args: &[Handle<Value>],
        ty: Handle<Type>,
    ) -> Check {
        let memory = self.place(place)?;
        let Type::Atomic(scalar) = *self.kind(memory) else {
            return Err(format!("an atomic operation on a {}", self.name(memory)));
        };
        let count = match op {
            AtomicOp::Load => 0,
            AtomicOp::CompareExchange => 2,
            _ => 1,
        };
        ensure(args.len() == count, || {
            format!("{op:?} with {} operands", args.len())
        })?;
        for &arg in args {
            let ty = self.ty(arg)?;
            ensure(*self.kind(ty) == Type::Scalar(scalar), || {
                format!("{op:?} of a {}", self.name(ty))
            })?;
        }
        let fits = match op {
            AtomicOp::Store => *self.kind(ty) == Type::Void,
            _ => *self.kind(ty) == Type::Scalar(scalar),
        };
        ensure(fits, || format!("{op:?} gives a {}", self.name(ty)))
    }

    pub(super) fn matrix(
        &self,
        op: SimdgroupMatrixOp,
        args: &[Handle<Value>],
        ty: Handle<Type>,
    ) -> Check {
        use SimdgroupMatrixOp as O;
        let count = match op {
            O::Fill | O::Diagonal | O::Elements => 1,
            O::Multiply | O::WithElements => 2,
            O::MultiplyAccumulate => 3,
            O::Load => 5,
            O::Store => 6,
        };
        ensure(args.len() == count, || {
            format!("matrix {op:?} with {} operands", args.len())
        })?;
        for &arg in args {
            self.ty(arg)?;
        }
        let is_matrix = |ty: Handle<Type>| matches!(self.kind(ty), Type::SimdgroupMatrix(_));
        let fits = match op {
            O::Store => *self.kind(ty) == Type::Void && is_matrix(self.ty(args[0])?),
            O::Elements => {
                is_matrix(self.ty(args[0])?) && self.shape(ty).is_some_and(|(_, len)| len == 2)
            }
            _ => is_matrix(ty),
        };
        ensure(fits, || format!("matrix {op:?}'s types"))
    }
}
