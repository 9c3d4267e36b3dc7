//! Arithmetic on matrices, column by column. Matrices of a SIMD-group are the library's, not these.

use super::ir_op;
use crate::diag::Span;
use crate::ir::{self, MathFunction, Op, Scalar};
use crate::sema::Checker;
use crate::sema::conversions::scalar_rank;
use crate::sema::operand::Operand;
use crate::sema::types::{Kind, Ty};
use crate::syntax::ast::BinaryOp;

impl<'a> Checker<'a> {
    pub(super) fn matrix_binary(
        &mut self,
        op: BinaryOp,
        left: Operand<'a>,
        right: Operand<'a>,
        span: Span,
    ) -> Option<Operand<'a>> {
        let (l, r) = (self.types.kind(left.ty), self.types.kind(right.ty));
        match (op, l, r) {
            (BinaryOp::Add | BinaryOp::Subtract, Kind::Matrix { .. }, _) if left.ty == right.ty => {
                let ty = left.ty;
                let (left, right) = (self.parts(left), self.parts(right));
                let columns = left
                    .into_iter()
                    .zip(right)
                    .map(|(l, r)| {
                        let column = l.ty;
                        self.emit_binary(ir_op(op), l, r, column, span)
                    })
                    .collect();
                Some(self.compose(ty, columns, span))
            }
            (BinaryOp::Multiply, Kind::Matrix { scalar, .. }, Kind::Scalar(other))
                if scalar_rank(other, scalar).is_some() =>
            {
                Some(self.scale_matrix(left, right, scalar, span))
            }
            (BinaryOp::Multiply, Kind::Scalar(other), Kind::Matrix { scalar, .. })
                if scalar_rank(other, scalar).is_some() =>
            {
                Some(self.scale_matrix(right, left, scalar, span))
            }
            (
                BinaryOp::Multiply,
                Kind::Matrix {
                    scalar, columns, ..
                },
                Kind::Vector(other, len, _),
            ) if scalar == other && columns == len => {
                let columns = self.parts(left);
                Some(self.matrix_times_vector(&columns, right, span))
            }
            (
                BinaryOp::Multiply,
                Kind::Vector(other, len, _),
                Kind::Matrix {
                    scalar,
                    columns,
                    rows,
                },
            ) if scalar == other && rows == len => {
                let result = self.types.vector(scalar, columns);
                let left_value = self.value(&left);
                let ir_scalar = self.ir_type(Ty::scalar(scalar));
                let parts = self
                    .parts(right)
                    .into_iter()
                    .map(|column| {
                        let column = self.value(&column);
                        let op = Op::Math(MathFunction::Dot, vec![left_value, column]);
                        let dot = self.context.emit(op, ir_scalar, span);
                        Operand::value(Ty::scalar(scalar), dot, span)
                    })
                    .collect();
                Some(self.compose(result, parts, span))
            }
            (
                BinaryOp::Multiply,
                Kind::Matrix {
                    scalar,
                    columns,
                    rows,
                },
                Kind::Matrix {
                    scalar: other,
                    columns: right_columns,
                    rows: inner,
                },
            ) if scalar == other && columns == inner => {
                let result = self.types.intern(Kind::Matrix {
                    scalar,
                    columns: right_columns,
                    rows,
                });
                let left = self.parts(left);
                let columns = self
                    .parts(right)
                    .into_iter()
                    .map(|column| self.matrix_times_vector(&left, column, span))
                    .collect();
                Some(self.compose(result, columns, span))
            }
            _ => None,
        }
    }

    fn scale_matrix(
        &mut self,
        matrix: Operand<'a>,
        factor: Operand<'a>,
        scalar: Scalar,
        span: Span,
    ) -> Operand<'a> {
        let ty = matrix.ty;
        let factor = self.convert_number(factor, Ty::scalar(scalar));
        let Kind::Matrix { rows, .. } = self.types.kind(ty) else {
            return Operand::poison(span);
        };
        let factor = self.splat(factor, rows);
        let columns = self
            .parts(matrix)
            .into_iter()
            .map(|column| {
                let column_type = column.ty;
                self.emit_binary(
                    ir::BinaryOp::Multiply,
                    column,
                    factor.clone(),
                    column_type,
                    span,
                )
            })
            .collect();
        self.compose(ty, columns, span)
    }

    /// The columns weighted by the vector's components and added, first to last.
    fn matrix_times_vector(
        &mut self,
        columns: &[Operand<'a>],
        vector: Operand<'a>,
        span: Span,
    ) -> Operand<'a> {
        let mut sum: Option<Operand<'a>> = None;
        let weights = self.parts(vector);
        for (column, weight) in columns.iter().zip(weights) {
            let ty = column.ty;
            let rows = self.types.as_vector(ty).map_or(1, |(_, len)| len);
            let weight = self.splat(weight, rows);
            let term = self.emit_binary(ir::BinaryOp::Multiply, column.clone(), weight, ty, span);
            sum = Some(match sum {
                None => term,
                Some(sum) => self.emit_binary(ir::BinaryOp::Add, sum, term, ty, span),
            });
        }
        sum.unwrap_or_else(|| Operand::poison(span))
    }
}
