//! Explicit conversions.

use crate::diag::{Diagnostic, Span};
use crate::ir::AddressSpace;
use crate::sema::Checker;
use crate::sema::constant::Constant;
use crate::sema::operand::{Operand, Repr};
use crate::sema::types::{Kind, Qualified, Ty};
use crate::syntax::ast::{CastStyle, Expr, TypeExpr};

impl<'a> Checker<'a> {
    pub(super) fn cast_expression(
        &mut self,
        style: CastStyle,
        ty: &'a TypeExpr,
        inner: &'a Expr,
        span: Span,
    ) -> Operand<'a> {
        let target = self.resolve(ty);
        let operand = self.expression(inner);
        if target.ty.is_error() || operand.is_poison() {
            return Operand::poison(span);
        }
        if target.is_reference {
            return self.cast_reference(style, operand, target, span);
        }
        let mut result = self.cast(style, operand, target.ty, span);
        result.span = span;
        result
    }

    /// `(space T &)place`: the same memory seen as another type.
    pub(super) fn cast_reference(
        &mut self,
        style: CastStyle,
        operand: Operand<'a>,
        target: Qualified,
        span: Span,
    ) -> Operand<'a> {
        if operand.ty == target.ty
            && let Some(lvalue) = operand.as_place().filter(|l| l.swizzle.is_none())
            && target.space.is_none_or(|space| space == lvalue.space)
        {
            self.context.casts_away_const |=
                lvalue.is_const && !target.is_const && lvalue.space == AddressSpace::Device;
            let lvalue = crate::sema::operand::Lvalue {
                is_const: target.is_const,
                ..lvalue.clone()
            };
            return Operand::place(target.ty, lvalue, span);
        }
        let Some(lvalue) = operand.as_place().filter(|l| l.is_plain()).cloned() else {
            self.fail(Diagnostic::error(
                span,
                "only something in memory can be seen as a reference",
            ));
            return Operand::poison(span);
        };
        let space = target.space.unwrap_or(lvalue.space);
        let pointer = self.address_of(operand, span);
        let to = self.types.pointer(space, target.ty, target.is_const);
        let pointer = self.cast(style, pointer, to, span);
        self.dereference(pointer, span)
    }

    /// An explicit conversion.
    pub(in crate::sema) fn cast(
        &mut self,
        style: CastStyle,
        operand: Operand<'a>,
        to: Ty,
        span: Span,
    ) -> Operand<'a> {
        if operand.is_poison() || to.is_error() {
            return Operand::poison(span);
        }
        if to == Ty::VOID {
            return Operand {
                ty: Ty::VOID,
                span,
                repr: Repr::Constant(Constant::Int(0)),
            };
        }
        let from = operand.ty;
        let kinds = (self.types.kind(from), self.types.kind(to));
        if style == CastStyle::Reinterpret
            && !matches!(
                kinds,
                (Kind::Pointer { .. } | Kind::Array(..), Kind::Pointer { .. })
            )
        {
            let (from, to) = (self.type_name(from), self.type_name(to));
            self.fail(
                Diagnostic::error(
                    span,
                    format!("a `{from}` cannot be reinterpreted as `{to}`"),
                )
                .with_hint(format!(
                    "`as_type<{to}>(..)` keeps the bits, `{to}(..)` converts"
                )),
            );
            return Operand::poison(span);
        }
        if self.implicit_rank(&operand, to).is_some() {
            return self.apply_conversion(operand, to);
        }
        if let (
            Kind::Pointer { is_const: true, .. },
            Kind::Pointer {
                space: AddressSpace::Device,
                is_const: false,
                ..
            },
        ) = kinds
        {
            self.context.casts_away_const = true;
        }
        match kinds {
            (Kind::Scalar(_) | Kind::Enum(_), Kind::Scalar(_) | Kind::Enum(_)) => {
                let operand = self.rvalue(operand);
                self.convert_number(operand, to)
            }
            (Kind::Vector(_, l, _), Kind::Vector(_, r, _)) if l == r => {
                let to = self.types.value_type(to);
                let operand = self.rvalue(operand);
                self.convert_number(operand, to)
            }
            (Kind::Scalar(_), Kind::Vector(scalar, len, _)) => {
                let operand = self.rvalue(operand);
                let scalar = self.convert_number(operand, Ty::scalar(scalar));
                self.splat(scalar, len)
            }
            (
                Kind::Matrix {
                    columns: lc,
                    rows: lr,
                    ..
                },
                Kind::Matrix { columns, rows, .. },
            ) if lc == columns && lr == rows => self.convert_matrix(operand, to, span),
            (Kind::Array(..), Kind::Pointer { .. }) => {
                let pointer = self.decay(operand);
                self.cast(style, pointer, to, span)
            }
            (Kind::Pointer { space: l, .. }, Kind::Pointer { space: r, .. })
                if l == r && style != CastStyle::Static =>
            {
                if self.ir_type(from) == self.ir_type(to) {
                    let operand = self.rvalue(operand);
                    return Operand { ty: to, ..operand };
                }
                let operand = self.rvalue(operand);
                self.reinterpret(operand, to)
            }
            (
                Kind::Pointer {
                    space: l,
                    pointee: Ty::VOID,
                    ..
                },
                Kind::Pointer { space: r, .. },
            ) if l == r => {
                let operand = self.rvalue(operand);
                self.reinterpret(operand, to)
            }
            (Kind::SimdVote, Kind::Scalar(_)) => {
                let operand = self.rvalue(operand);
                self.convert_number(operand, to)
            }
            (_, Kind::Struct(_) | Kind::SimdgroupMatrix(_) | Kind::SimdVote) => {
                self.construct(to, vec![operand], false, span)
            }
            _ => {
                self.report_no_cast(&operand, to, span);
                Operand::poison(span)
            }
        }
    }

    pub(super) fn report_no_cast(&mut self, operand: &Operand<'a>, to: Ty, span: Span) {
        let (from, target) = (self.operand_type_name(operand), self.type_name(to));
        let error = Diagnostic::error(span, format!("a `{from}` cannot be cast to `{target}`"));
        let hint = match (self.types.kind(operand.ty), self.types.kind(to)) {
            (Kind::Pointer { space: l, .. }, Kind::Pointer { space: r, .. }) if l != r => {
                Some("pointers cannot change their address space".to_string())
            }
            (Kind::Pointer { .. }, Kind::Pointer { .. }) => {
                Some(format!("use `reinterpret_cast<{target}>(..)`"))
            }
            (Kind::Pointer { .. }, Kind::Scalar(_)) | (Kind::Scalar(_), Kind::Pointer { .. }) => {
                Some("pointers as integers are not supported".to_string())
            }
            (Kind::Vector(..), Kind::Vector(..) | Kind::Scalar(_)) => {
                Some("take the components you mean, such as `.x` or `.xy`".to_string())
            }
            _ => None,
        };
        self.fail(match hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        });
    }

    /// A matrix with its elements converted.
    pub(super) fn convert_matrix(
        &mut self,
        operand: Operand<'a>,
        to: Ty,
        span: Span,
    ) -> Operand<'a> {
        let columns = self.parts(operand);
        let types = self.part_types(to, columns.len());
        let columns = columns
            .into_iter()
            .zip(types)
            .map(|(column, ty)| self.convert_number(column, ty))
            .collect();
        self.compose(to, columns, span)
    }
}
