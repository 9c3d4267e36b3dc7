//! simdgroup matrices, and the functions on ordinary ones.

use super::SpecialCall;
use crate::diag::{Diagnostic, Span};
use crate::ir::{AddressSpace, Op, Scalar, SimdgroupMatrixOp};
use crate::sema::Checker;
use crate::sema::constant::Constant;
use crate::sema::operand::{Lvalue, Operand};
use crate::sema::types::{Kind, Ty};
use crate::syntax::ast::BinaryOp as AstOp;

fn matrix_of(checker: &Checker<'_>, ty: Ty) -> Option<Scalar> {
    match checker.types.kind(ty) {
        Kind::SimdgroupMatrix(scalar) => Some(scalar),
        _ => None,
    }
}

fn emit<'a>(
    checker: &mut Checker<'a>,
    op: SimdgroupMatrixOp,
    args: &[Operand<'a>],
    result: Ty,
    span: Span,
) -> Operand<'a> {
    let values = args.iter().map(|arg| checker.value(arg)).collect();
    let ir_type = checker.ir_type(result);
    let value = checker
        .context
        .emit(Op::SimdgroupMatrix(op, values), ir_type, span);
    Operand::value(result, value, span)
}

fn refuse<'a>(checker: &mut Checker<'a>, call: &SpecialCall<'a>, wanted: &str) -> Operand<'a> {
    checker.fail(
        Diagnostic::error(
            call.name_span,
            format!("these arguments do not fit `{}`", call.name),
        )
        .with_label(format!("it takes {wanted}")),
    );
    Operand::poison(call.span)
}

impl<'a> Checker<'a> {
    /// Refuses a matrix of what the devices cannot multiply, where there would be one.
    pub(in crate::sema) fn refuse_matrix(&mut self, ty: Ty, span: Span) -> bool {
        let is_wrong =
            matches!(self.types.kind(ty), Kind::SimdgroupMatrix(scalar) if !scalar.is_float());
        if is_wrong {
            let name = self.type_name(ty);
            self.fail(
                Diagnostic::error(span, format!("there is no `{name}`"))
                    .with_label("these matrices hold float, half or bfloat"),
            );
        }
        is_wrong
    }

    /// `simdgroup_float8x8(x)`: x on the diagonal.
    pub(in crate::sema) fn simdgroup_from(
        &mut self,
        scalar: Scalar,
        args: Vec<Operand<'a>>,
        span: Span,
    ) -> Operand<'a> {
        let ty = self.types.intern(Kind::SimdgroupMatrix(scalar));
        let Some(arg) = args.into_iter().next() else {
            return Operand::poison(span);
        };
        if self.refuse_matrix(ty, span) {
            return Operand::poison(span);
        }
        if arg.ty == ty {
            return self.rvalue(arg);
        }
        if self.types.as_scalar(arg.ty).is_none() {
            let name = self.type_name(ty);
            self.fail(Diagnostic::error(
                span,
                format!("a `{name}` is made from one scalar"),
            ));
            return Operand::poison(span);
        }
        let arg = self.rvalue(arg);
        let arg = self.convert_number(arg, Ty::scalar(scalar));
        emit(self, SimdgroupMatrixOp::Diagonal, &[arg], ty, span)
    }

    /// `a * b` of simdgroup matrices.
    pub(in crate::sema) fn simdgroup_multiply(
        &mut self,
        left: Operand<'a>,
        right: Operand<'a>,
        span: Span,
    ) -> Operand<'a> {
        let ty = left.ty;
        emit(self, SimdgroupMatrixOp::Multiply, &[left, right], ty, span)
    }
}

/// `make_filled_simdgroup_matrix<T, 8, 8>(x)`.
pub(super) fn make_filled<'a>(
    checker: &mut Checker<'a>,
    call: &SpecialCall<'a>,
    args: Vec<Operand<'a>>,
) -> Operand<'a> {
    let wanted = "the matrix's type and the value, `make_filled_simdgroup_matrix<float, 8>(x)`";
    let (Some([target, ..]), [arg]) = (call.explicit, &args[..]) else {
        return refuse(checker, call, wanted);
    };
    let Some(element) = checker.type_argument(target) else {
        return Operand::poison(call.span);
    };
    let Some(scalar) = checker.types.as_scalar(element.ty).filter(|s| s.is_float()) else {
        return refuse(checker, call, wanted);
    };
    let ty = checker.types.intern(Kind::SimdgroupMatrix(scalar));
    let value = checker.convert(arg.clone(), element.ty, "an element");
    let value = checker.rvalue(value);
    if value.is_poison() {
        return value;
    }
    emit(checker, SimdgroupMatrixOp::Fill, &[value], ty, call.span)
}

/// Pointer, elements per row, origin and transposition, as the IR takes them.
fn memory_args<'a>(
    checker: &mut Checker<'a>,
    call: &SpecialCall<'a>,
    args: &[Operand<'a>],
    scalar: Scalar,
    writes: bool,
) -> Option<Vec<Operand<'a>>> {
    let span = call.span;
    let pointer = checker.decayed(args[0].clone());
    let Kind::Pointer {
        space,
        pointee,
        is_const,
    } = checker.types.kind(pointer.ty)
    else {
        refuse(checker, call, "a pointer to the elements");
        return None;
    };
    let fits = pointee == Ty::scalar(scalar)
        && matches!(
            space,
            AddressSpace::Device | AddressSpace::Threadgroup | AddressSpace::Constant
        )
        && !(writes && (is_const || space == AddressSpace::Constant));
    if !fits {
        let (given, element) = (checker.type_name(pointer.ty), scalar.name());
        checker.fail(
            Diagnostic::error(
                args[0].span,
                format!("a `{given}` does not fit a matrix of `{element}`"),
            )
            .with_label(format!(
                "`{}` works on device and threadgroup memory of `{element}`",
                call.name
            )),
        );
        return None;
    }
    if args.len() > 4 {
        refuse(
            checker,
            call,
            "at most a pointer, the row length, the origin and whether to transpose",
        );
        return None;
    }
    let length = match args.get(1) {
        Some(arg) => {
            let arg = checker.convert(arg.clone(), Ty::ULONG, "the row length");
            checker.rvalue(arg)
        }
        None => Operand::constant(Ty::ULONG, Constant::Int(8), span),
    };
    let zero = || Operand::constant(Ty::LONG, Constant::Int(0), span);
    let (column, row) = match args.get(2) {
        None => (zero(), zero()),
        Some(arg) if matches!(arg.as_constant(), Some(Constant::Int(0))) => (zero(), zero()),
        Some(arg) => {
            let mut parts = if checker.types.value_is_vector(arg.ty) {
                checker.parts(arg.clone())
            } else {
                Vec::new()
            };
            if parts.len() != 2 {
                refuse(checker, call, "the origin as a `ulong2`");
                return None;
            }
            let row = parts.pop()?;
            let column = parts.pop()?;
            (
                checker.convert_number(column, Ty::LONG),
                checker.convert_number(row, Ty::LONG),
            )
        }
    };
    let transpose = match args.get(3) {
        Some(arg) => {
            let arg = checker.condition(arg.clone());
            checker.rvalue(arg)
        }
        None => Operand::constant(Ty::BOOL, Constant::Bool(false), span),
    };
    let all = vec![pointer, length, column, row, transpose];
    (!all.iter().any(Operand::is_poison)).then_some(all)
}

/// `simdgroup_load(m, pointer, row_length, origin, transpose)`.
pub(super) fn load<'a>(
    checker: &mut Checker<'a>,
    call: &SpecialCall<'a>,
    args: Vec<Operand<'a>>,
) -> Operand<'a> {
    let span = call.span;
    let Some((target, rest)) = args.split_first() else {
        return refuse(checker, call, "a matrix and a pointer");
    };
    let Some(scalar) = matrix_of(checker, target.ty) else {
        return refuse(checker, call, "a matrix first");
    };
    if rest.is_empty() {
        return refuse(checker, call, "a pointer to the elements");
    }
    if !checker.check_writable(target, "`simdgroup_load`") {
        return Operand::poison(span);
    }
    let Some(all) = memory_args(checker, call, rest, scalar, false) else {
        return Operand::poison(span);
    };
    let loaded = emit(checker, SimdgroupMatrixOp::Load, &all, target.ty, span);
    checker.store(target, &loaded, span);
    Operand::constant(Ty::VOID, Constant::Int(0), span)
}

/// `simdgroup_store(m, pointer, row_length, origin, transpose)`.
pub(super) fn store<'a>(
    checker: &mut Checker<'a>,
    call: &SpecialCall<'a>,
    args: Vec<Operand<'a>>,
) -> Operand<'a> {
    let span = call.span;
    let Some((matrix, rest)) = args.split_first() else {
        return refuse(checker, call, "a matrix and a pointer");
    };
    let Some(scalar) = matrix_of(checker, matrix.ty) else {
        return refuse(checker, call, "a matrix first");
    };
    if rest.is_empty() {
        return refuse(checker, call, "a pointer to the elements");
    }
    let matrix = checker.rvalue(matrix.clone());
    let Some(mut all) = memory_args(checker, call, rest, scalar, true) else {
        return Operand::poison(span);
    };
    all.insert(0, matrix);
    emit(checker, SimdgroupMatrixOp::Store, &all, Ty::VOID, span)
}

/// `simdgroup_multiply(d, a, b)`.
pub(super) fn multiply<'a>(
    checker: &mut Checker<'a>,
    call: &SpecialCall<'a>,
    args: Vec<Operand<'a>>,
) -> Operand<'a> {
    product(checker, call, args, SimdgroupMatrixOp::Multiply, 3)
}

/// `simdgroup_multiply_accumulate(d, a, b, c)`: d = a * b + c.
pub(super) fn multiply_accumulate<'a>(
    checker: &mut Checker<'a>,
    call: &SpecialCall<'a>,
    args: Vec<Operand<'a>>,
) -> Operand<'a> {
    product(
        checker,
        call,
        args,
        SimdgroupMatrixOp::MultiplyAccumulate,
        4,
    )
}

fn product<'a>(
    checker: &mut Checker<'a>,
    call: &SpecialCall<'a>,
    args: Vec<Operand<'a>>,
    op: SimdgroupMatrixOp,
    count: usize,
) -> Operand<'a> {
    let span = call.span;
    let all_matrices = args.iter().all(|arg| matrix_of(checker, arg.ty).is_some());
    // The result and what is added are of one type; the factors may be narrower.
    let fits = args.len() == count && all_matrices && (count == 3 || args[0].ty == args[3].ty);
    if !fits {
        return refuse(checker, call, "the result and the matrices, 8 by 8 each");
    }
    if !checker.check_writable(&args[0], &format!("`{}`", call.name)) {
        return Operand::poison(span);
    }
    let values: Vec<_> = args[1..]
        .iter()
        .map(|arg| checker.rvalue(arg.clone()))
        .collect();
    let result = emit(checker, op, &values, args[0].ty, span);
    checker.store(&args[0], &result, span);
    Operand::constant(Ty::VOID, Constant::Int(0), span)
}

/// `m.thread_elements()`: this thread's two elements, as a vector that can be written.
pub(super) fn thread_elements<'a>(
    checker: &mut Checker<'a>,
    matrix: Operand<'a>,
    span: Span,
) -> Operand<'a> {
    let Some(scalar) = matrix_of(checker, matrix.ty) else {
        return Operand::poison(span);
    };
    let ty = checker.types.vector(scalar, 2);
    if let Some(lvalue) = matrix.as_place()
        && !lvalue.is_temporary
    {
        let lvalue = Lvalue {
            elements: Some(matrix.ty),
            ty,
            ..lvalue.clone()
        };
        return Operand::place(ty, lvalue, span);
    }
    let matrix = checker.rvalue(matrix);
    emit(checker, SimdgroupMatrixOp::Elements, &[matrix], ty, span)
}

/// `transpose(m)` of an ordinary matrix.
pub(super) fn transpose<'a>(
    checker: &mut Checker<'a>,
    call: &SpecialCall<'a>,
    args: Vec<Operand<'a>>,
) -> Operand<'a> {
    let span = call.span;
    let [matrix] = &args[..] else {
        return refuse(checker, call, "one matrix");
    };
    let Kind::Matrix {
        scalar,
        columns,
        rows,
    } = checker.types.kind(matrix.ty)
    else {
        return refuse(checker, call, "one matrix");
    };
    let result = checker.types.intern(Kind::Matrix {
        scalar,
        columns: rows,
        rows: columns,
    });
    let column_type = checker.types.vector(scalar, columns);
    let old: Vec<Vec<_>> = checker
        .parts(matrix.clone())
        .into_iter()
        .map(|c| checker.parts(c))
        .collect();
    let made = (0..usize::from(rows))
        .map(|row| {
            let parts = old
                .iter()
                .filter_map(|column| column.get(row).cloned())
                .collect();
            checker.compose(column_type, parts, span)
        })
        .collect();
    checker.compose(result, made, span)
}

/// `determinant(m)` by the first row.
pub(super) fn determinant<'a>(
    checker: &mut Checker<'a>,
    call: &SpecialCall<'a>,
    args: Vec<Operand<'a>>,
) -> Operand<'a> {
    let [matrix] = &args[..] else {
        return refuse(checker, call, "one square matrix");
    };
    match checker.types.kind(matrix.ty) {
        Kind::Matrix { columns, rows, .. } if columns == rows => {}
        _ => return refuse(checker, call, "one square matrix"),
    }
    let columns: Vec<Vec<_>> = checker
        .parts(matrix.clone())
        .into_iter()
        .map(|c| checker.parts(c))
        .collect();
    let refs: Vec<&[Operand<'a>]> = columns.iter().map(|c| &c[..]).collect();
    minor(checker, &refs, call.span)
}

/// The determinant of columns, developed along their first elements.
fn minor<'a>(checker: &mut Checker<'a>, columns: &[&[Operand<'a>]], span: Span) -> Operand<'a> {
    if let [only] = columns {
        return only
            .first()
            .cloned()
            .unwrap_or_else(|| Operand::poison(span));
    }
    let mut sum: Option<Operand<'a>> = None;
    for (index, column) in columns.iter().enumerate() {
        let Some((head, _)) = column.split_first() else {
            return Operand::poison(span);
        };
        let rest: Vec<&[Operand<'a>]> = columns
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != index)
            .map(|(_, c)| c.get(1..).unwrap_or(&[]))
            .collect();
        let inner = minor(checker, &rest, span);
        let term = checker.binary_operands(AstOp::Multiply, head.clone(), inner, span);
        let op = if index % 2 == 0 {
            AstOp::Add
        } else {
            AstOp::Subtract
        };
        sum = Some(match sum {
            None => term,
            Some(sum) => checker.binary_operands(op, sum, term, span),
        });
    }
    sum.unwrap_or_else(|| Operand::poison(span))
}
