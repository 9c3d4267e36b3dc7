//! Operations that every program has: operands and results. What is the library's is in `library`.

use super::{Check, Validator, ensure};
use crate::ir::{
    BinaryOp, Handle, Literal, Op, Packing, Projection, Scalar, Struct, Type, UnaryOp, Value,
};

impl Validator<'_> {
    pub(super) fn op(&self, op: &Op, ty: Handle<Type>) -> Check {
        match op {
            Op::Literal(literal) => {
                let fits = match (self.kind(ty), literal) {
                    (Type::Scalar(Scalar::Bool), Literal::Bool(_)) => true,
                    (Type::Scalar(s), Literal::Int(_)) => s.is_integer(),
                    (Type::Scalar(s), Literal::Float(_)) => s.is_float(),
                    _ => false,
                };
                ensure(fits, || {
                    format!("a literal {literal:?} of type {}", self.name(ty))
                })
            }
            Op::FunctionConstant(handle) => {
                ensure(self.module.function_constants[*handle].ty == ty, || {
                    "a function constant's type".into()
                })
            }
            Op::FunctionConstantDefined(_) => {
                ensure(*self.kind(ty) == Type::Scalar(Scalar::Bool), || {
                    "`defined` is a bool".into()
                })
            }
            Op::Zero => ensure(*self.kind(ty) != Type::Void, || {
                "a zero of type void".into()
            }),
            Op::Compose(parts) => self.compose(parts, ty),
            Op::Splat(value) => {
                let (from, to) = (self.shape(self.ty(*value)?), self.shape(ty));
                let fits =
                    matches!((from, to), (Some((l, 1)), Some((r, len))) if l == r && len > 1);
                ensure(fits, || "a splat's types".into())
            }
            Op::Extract(value, index) => {
                let whole = self.ty(*value)?;
                let step = match self.kind(whole) {
                    Type::Struct(_) => Projection::Field(*index),
                    _ => Projection::Element(*index),
                };
                let part = self.part(whole, &step)?;
                ensure(self.value_type_is(part, ty), || {
                    format!(
                        "part {index} of a {} is not a {}",
                        self.name(whole),
                        self.name(ty)
                    )
                })
            }
            Op::Swizzle(value, components) => {
                let fits = match (self.shape(self.ty(*value)?), self.shape(ty)) {
                    (Some((l, from)), Some((r, to))) => {
                        l == r
                            && usize::from(to) == components.len()
                            && components.iter().all(|&c| c < from)
                    }
                    _ => false,
                };
                ensure(fits, || "a swizzle's types".into())
            }
            Op::Unary(op, value) => {
                self.same(&[*value], ty)?;
                let scalar = self.shape(ty).map(|(s, _)| s);
                let fits = match op {
                    UnaryOp::Negate => scalar.is_some_and(|s| s != Scalar::Bool),
                    UnaryOp::LogicalNot => scalar == Some(Scalar::Bool),
                    UnaryOp::BitwiseNot => scalar.is_some_and(Scalar::is_integer),
                };
                ensure(fits, || format!("{op:?} of a {}", self.name(ty)))
            }
            Op::Binary(op, left, right) => self.binary(*op, *left, *right, ty),
            Op::Convert(value) => {
                let fits = match (self.shape(self.ty(*value)?), self.shape(ty)) {
                    (Some((_, l)), Some((_, r))) => l == r,
                    _ => false,
                };
                ensure(fits, || "a conversion's types".into())
            }
            Op::Bitcast(value) => self.bitcast(*value, ty),
            Op::Select {
                condition,
                accept,
                reject,
            } => {
                self.same(&[*accept, *reject], ty)?;
                let fits = match (self.shape(self.ty(*condition)?), self.shape(ty)) {
                    (Some((Scalar::Bool, 1)), Some(_)) => true,
                    (Some((Scalar::Bool, l)), Some((_, r))) => l == r,
                    _ => false,
                };
                ensure(fits, || "a select's types".into())
            }
            Op::Math(function, args) => self.math(*function, args, ty),
            Op::Load(place) => {
                let memory = self.place(place)?;
                ensure(self.value_type_is(memory, ty), || {
                    format!("a load of a {} as a {}", self.name(memory), self.name(ty))
                })?;
                ensure(
                    !matches!(self.kind(memory), Type::Void | Type::Atomic(_)),
                    || "a load of void or an atomic".into(),
                )
            }
            Op::AddressOf(place) => {
                let memory = self.place(place)?;
                let fits =
                    matches!(self.kind(ty), Type::Pointer { pointee, .. } if *pointee == memory);
                ensure(fits, || {
                    format!(
                        "the address of a {} as a {}",
                        self.name(memory),
                        self.name(ty)
                    )
                })
            }
            Op::Offset(pointer, count) => {
                self.same(&[*pointer], ty)?;
                ensure(matches!(self.kind(ty), Type::Pointer { .. }), || {
                    "an offset of no pointer".into()
                })?;
                let count = self.ty(*count)?;
                let fits = matches!(
                    self.kind(count),
                    Type::Scalar(Scalar::I32 | Scalar::U32 | Scalar::I64 | Scalar::U64)
                );
                ensure(fits, || {
                    format!("a pointer moved by a {}", self.name(count))
                })
            }
            Op::PointerDifference(left, right) => {
                let (l, r) = (self.ty(*left)?, self.ty(*right)?);
                let fits = l == r && *self.kind(ty) == Type::Scalar(Scalar::I64);
                ensure(fits, || "a pointer difference's types".into())
            }
            Op::Call(callee, args) => {
                ensure(callee.index() < self.position, || {
                    "a callee comes after its caller".into()
                })?;
                let callee = &self.module.functions[*callee];
                ensure(callee.params.len() == args.len(), || {
                    format!("a call of `{}` with {} arguments", callee.name, args.len())
                })?;
                for (param, arg) in callee.params.iter().zip(args) {
                    let (wanted, given) = (callee.locals[*param].ty, self.ty(*arg)?);
                    ensure(wanted == given, || {
                        format!(
                            "`{}` is given a {} for a {}",
                            callee.name,
                            self.name(given),
                            self.name(wanted)
                        )
                    })?;
                }
                ensure(callee.result == ty, || {
                    format!("the result of `{}`", callee.name)
                })
            }
            Op::Simd(op, args) => self.simd(*op, args, ty),
            Op::Atomic { op, place, args } => self.atomic(*op, place, args, ty),
            Op::SimdgroupMatrix(op, args) => self.matrix(*op, args, ty),
        }
    }

    fn compose(&self, parts: &[Handle<Value>], ty: Handle<Type>) -> Check {
        let expected: Vec<Handle<Type>> = match self.kind(ty) {
            Type::Vector(scalar, len, _) => match self.find(Type::Scalar(*scalar)) {
                Some(scalar) => vec![scalar; usize::from(*len)],
                None => return Err("a scalar's type is unknown".into()),
            },
            Type::Matrix {
                scalar,
                columns,
                rows,
            } => match self.find(Type::Vector(*scalar, *rows, Packing::Aligned)) {
                Some(column) => vec![column; usize::from(*columns)],
                None => return Err("a column's type is unknown".into()),
            },
            Type::Array(element, len) => vec![*element; *len as usize],
            Type::Struct(of) => self.fields(*of),
            _ => return Err(format!("a {} has no parts", self.name(ty))),
        };
        ensure(expected.len() == parts.len(), || {
            format!("{} parts for a {}", parts.len(), self.name(ty))
        })?;
        for (&part, wanted) in parts.iter().zip(expected) {
            let given = self.ty(part)?;
            ensure(self.value_type_is(wanted, given), || {
                format!(
                    "a part of type {} for a {}",
                    self.name(given),
                    self.name(wanted)
                )
            })?;
        }
        Ok(())
    }

    fn fields(&self, of: Handle<Struct>) -> Vec<Handle<Type>> {
        self.module.types.structs[of]
            .fields
            .iter()
            .map(|f| f.ty)
            .collect()
    }

    fn binary(
        &self,
        op: BinaryOp,
        left: Handle<Value>,
        right: Handle<Value>,
        ty: Handle<Type>,
    ) -> Check {
        let (l, r) = (self.ty(left)?, self.ty(right)?);
        ensure(l == r, || {
            format!("{op:?} of a {} and a {}", self.name(l), self.name(r))
        })?;
        if op.is_comparison() {
            let len = match self.kind(l) {
                Type::Pointer { .. } => 1,
                _ => self.shape(l).map_or(0, |(_, len)| len),
            };
            return ensure(self.shape(ty) == Some((Scalar::Bool, len)), || {
                format!("{op:?} of {} gives a {}", self.name(l), self.name(ty))
            });
        }
        ensure(l == ty, || {
            format!("{op:?} of {} gives a {}", self.name(l), self.name(ty))
        })?;
        let Some((scalar, _)) = self.shape(l) else {
            return Err(format!("{op:?} of a {}", self.name(l)));
        };
        let fits = match op {
            BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide => {
                scalar != Scalar::Bool
            }
            BinaryOp::Remainder | BinaryOp::ShiftLeft | BinaryOp::ShiftRight => scalar.is_integer(),
            _ => !scalar.is_float(),
        };
        ensure(fits, || format!("{op:?} of a {}", self.name(l)))
    }

    fn bitcast(&self, value: Handle<Value>, ty: Handle<Type>) -> Check {
        let from = self.ty(value)?;
        let fits = match (self.kind(from), self.kind(ty)) {
            (Type::Pointer { space: l, .. }, Type::Pointer { space: r, .. }) => l == r,
            _ => match (self.shape(from), self.shape(ty)) {
                (Some((l, ll)), Some((r, rl))) => {
                    l.bits() * u32::from(ll) == r.bits() * u32::from(rl)
                }
                _ => false,
            },
        };
        ensure(fits, || {
            format!("a bitcast of a {} to a {}", self.name(from), self.name(ty))
        })
    }
}
