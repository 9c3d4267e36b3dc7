//! Vectors and matrices from their parts.

use crate::diag::{Diagnostic, Span};
use crate::ir::Scalar;
use crate::sema::Checker;
use crate::sema::constant::Constant;
use crate::sema::operand::Operand;
use crate::sema::types::{Kind, Ty};
use crate::syntax::ast::CastStyle;

impl<'a> Checker<'a> {
    pub(super) fn construct_vector(
        &mut self,
        ty: Ty,
        scalar: Scalar,
        len: u8,
        args: Vec<Operand<'a>>,
        braced: bool,
        span: Span,
    ) -> Operand<'a> {
        if let [arg] = &args[..] {
            let shape = self.types.as_vector(arg.ty);
            if matches!(shape, Some((_, from)) if from == 1 || from == len)
                || matches!(self.types.kind(arg.ty), Kind::Struct(_) | Kind::Enum(_))
            {
                return self.cast(CastStyle::C, arg.clone(), ty, span);
            }
        }
        let mut parts = Vec::new();
        for arg in args {
            if braced && !self.check_narrowing(&arg, Ty::scalar(scalar)) {
                return Operand::poison(span);
            }
            match self.types.as_vector(arg.ty) {
                Some((_, 1)) => {
                    let arg = self.rvalue(arg);
                    parts.push(self.convert_number(arg, Ty::scalar(scalar)));
                }
                // A vector of another element type must be converted by its own constructor.
                Some((from, _)) if from == scalar => parts.extend(self.parts(arg)),
                Some((_, count)) => {
                    let from = self.type_name(arg.ty);
                    let wanted = self.types.vector(scalar, count);
                    let wanted = self.type_name(wanted);
                    let whole = self.type_name(ty);
                    self.fail(
                        Diagnostic::error(
                            arg.span,
                            format!("a `{whole}` cannot take a part of type `{from}`"),
                        )
                        .with_label("another element type")
                        .with_hint(format!("convert it first: `{wanted}(..)`")),
                    );
                    return Operand::poison(span);
                }
                None => {
                    if self.implicit_rank(&arg, Ty::scalar(scalar)).is_some() {
                        parts.push(self.apply_conversion(arg, Ty::scalar(scalar)));
                        continue;
                    }
                    let (name, whole) = (self.operand_type_name(&arg), self.type_name(ty));
                    self.fail(Diagnostic::error(
                        arg.span,
                        format!("a `{whole}` cannot be made from a `{name}`"),
                    ));
                    return Operand::poison(span);
                }
            }
        }
        let fills = braced && parts.len() < usize::from(len);
        if parts.len() != usize::from(len) && !fills {
            let name = self.type_name(ty);
            let count = parts.len();
            self.fail(
                Diagnostic::error(
                    span,
                    format!("a `{name}` has {len} components, and {count} are given"),
                )
                .with_label(if count > usize::from(len) {
                    "too many"
                } else {
                    "too few"
                }),
            );
            return Operand::poison(span);
        }
        while parts.len() < usize::from(len) {
            parts.push(Operand::constant(
                Ty::scalar(scalar),
                Constant::zero(scalar),
                span,
            ));
        }
        self.compose(ty, parts, span)
    }

    pub(super) fn construct_matrix(
        &mut self,
        ty: Ty,
        args: Vec<Operand<'a>>,
        span: Span,
    ) -> Operand<'a> {
        let Kind::Matrix {
            scalar,
            columns,
            rows,
        } = self.types.kind(ty)
        else {
            return Operand::poison(span);
        };
        let column_type = self.types.vector(scalar, rows);
        if let [arg] = &args[..] {
            if self.number_shape(arg.ty).is_some_and(|(_, len)| len == 1) {
                let value = self.rvalue(arg.clone());
                let diagonal = self.convert_number(value, Ty::scalar(scalar));
                let zero = Operand::constant(Ty::scalar(scalar), Constant::zero(scalar), span);
                let made = (0..columns)
                    .map(|column| {
                        let parts = (0..rows)
                            .map(|row| {
                                if row == column {
                                    diagonal.clone()
                                } else {
                                    zero.clone()
                                }
                            })
                            .collect();
                        self.compose(column_type, parts, span)
                    })
                    .collect();
                return self.compose(ty, made, span);
            }
            if let Kind::Matrix { .. } = self.types.kind(arg.ty) {
                return self.cast(CastStyle::C, arg.clone(), ty, span);
            }
        }
        let count = args.len();
        if count == usize::from(columns)
            && count > 0
            && args.iter().all(|arg| self.types.value_is_vector(arg.ty))
        {
            let made = args
                .into_iter()
                .map(|arg| {
                    let arg = self.convert(arg, column_type, "a column");
                    self.rvalue(arg)
                })
                .collect();
            return self.compose(ty, made, span);
        }
        if count == usize::from(columns) * usize::from(rows) {
            let mut scalars = args
                .into_iter()
                .map(|arg| {
                    let arg = self.convert(arg, Ty::scalar(scalar), "an element");
                    self.rvalue(arg)
                })
                .collect::<Vec<_>>()
                .into_iter();
            let made = (0..columns)
                .map(|_| {
                    let parts = scalars.by_ref().take(usize::from(rows)).collect();
                    self.compose(column_type, parts, span)
                })
                .collect();
            return self.compose(ty, made, span);
        }
        let name = self.type_name(ty);
        let column = self.type_name(column_type);
        self.fail(
            Diagnostic::error(
                span,
                format!("a `{name}` cannot be made from these {count} values"),
            )
            .with_hint(format!(
                "give {columns} columns (`{column}`), {} scalars, or one scalar for the diagonal",
                columns * rows
            )),
        );
        Operand::poison(span)
    }
}
