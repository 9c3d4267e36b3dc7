//! Functions that are made of several operations.

use super::{LibraryCall, Special};
use crate::diag::Diagnostic;
use crate::ir::{self, BinaryOp, MathFunction, Op, Scalar};
use crate::sema::Checker;
use crate::sema::operand::Operand;
use crate::sema::types::{Kind, Ty};
use crate::syntax::ast::TemplateArg;

/// Their names.
pub(super) const NAMES: &[&str] = &[
    "all",
    "any",
    "as_type",
    "cross",
    "distance",
    "distance_squared",
    "dot",
    "frexp",
    "ldexp",
    "length",
    "length_squared",
    "max3",
    "median3",
    "min3",
    "modf",
    "normalize",
    "select",
    "sincos",
];

/// The code of a function.
pub(super) fn find(name: &str) -> Option<Special> {
    Some(match name {
        "all" | "any" => vote,
        "as_type" => as_type,
        "cross" => cross,
        "dot" | "length" | "length_squared" | "distance" | "distance_squared" | "normalize" => {
            geometric
        }
        "frexp" | "modf" | "sincos" => with_output,
        "ldexp" => ldexp,
        "min3" | "max3" | "median3" => of_three,
        "select" => select,
        _ => return None,
    })
}

fn vote<'a>(
    checker: &mut Checker<'a>,
    call: &LibraryCall<'a>,
    args: Vec<Operand<'a>>,
) -> Operand<'a> {
    if !checker.count_is(call, &args, 1) {
        return Operand::poison(call.span);
    }
    let len = checker.number_shape(args[0].ty).map_or(1, |(_, len)| len);
    if len == 1 {
        return checker.condition(args[0].clone());
    }
    let ty = checker.types.vector(Scalar::Bool, len);
    let Some(value) = checker.argument(&args[0], ty) else {
        return Operand::poison(call.span);
    };
    let f = if &*call.name == "all" {
        MathFunction::All
    } else {
        MathFunction::Any
    };
    checker.emit_value(Op::Math(f, vec![value]), Ty::BOOL, call.span)
}

fn as_type<'a>(
    checker: &mut Checker<'a>,
    call: &LibraryCall<'a>,
    args: Vec<Operand<'a>>,
) -> Operand<'a> {
    let Some([TemplateArg::Type(target)]) = call.explicit else {
        checker.fail(
            Diagnostic::error(
                call.name_span,
                "`as_type` needs the type that the bits are seen as",
            )
            .with_hint("write `as_type<uint>(x)`"),
        );
        return Operand::poison(call.span);
    };
    let target = checker.resolve(target);
    if !checker.count_is(call, &args, 1) || target.ty.is_error() {
        return Operand::poison(call.span);
    }
    let from = checker.rvalue(args[0].clone());
    let bytes = |shape: Option<(Scalar, u8)>| {
        shape.map(|(s, len)| s.size() * u32::from(len).next_power_of_two())
    };
    let sizes = (
        bytes(checker.number_shape(from.ty)),
        bytes(checker.number_shape(target.ty)),
    );
    match sizes {
        (Some(l), Some(r)) if l == r => {
            let value = checker.value(&from);
            checker.emit_value(Op::Bitcast(value), target.ty, call.span)
        }
        _ => {
            let (from, to) = (checker.type_name(from.ty), checker.type_name(target.ty));
            checker.fail(
                Diagnostic::error(
                    call.span,
                    format!("`{from}` and `{to}` do not have the same size"),
                )
                .with_hint("`as_type` keeps all bits, so the sizes must agree"),
            );
            Operand::poison(call.span)
        }
    }
}

fn geometric<'a>(
    checker: &mut Checker<'a>,
    call: &LibraryCall<'a>,
    args: Vec<Operand<'a>>,
) -> Operand<'a> {
    let span = call.span;
    let two = matches!(&*call.name, "dot" | "distance" | "distance_squared");
    if !checker.count_is(call, &args, 1 + usize::from(two)) {
        return Operand::poison(span);
    }
    let Some(ty) = checker.joint_type(call, &args, true) else {
        return Operand::poison(span);
    };
    let (scalar, _) = checker.types.as_vector(ty).unwrap_or((Scalar::F32, 1));
    let scalar = Ty::scalar(scalar);
    let mut values = Vec::new();
    for arg in &args {
        let Some(value) = checker.argument(arg, ty) else {
            return Operand::poison(span);
        };
        values.push(value);
    }
    let whole = checker.ir_type(ty);
    let (mut a, mut b) = (values[0], values[values.len() - 1]);
    if call.name.starts_with("distance") {
        a = checker
            .context
            .emit(Op::Binary(BinaryOp::Subtract, a, b), whole, span);
        b = a;
    }
    let is_vector = checker.types.value_is_vector(ty);
    let op = if is_vector {
        Op::Math(MathFunction::Dot, vec![a, b])
    } else {
        Op::Binary(BinaryOp::Multiply, a, b)
    };
    let product = checker.emit_value(op, scalar, span);
    if matches!(&*call.name, "dot" | "length_squared" | "distance_squared") {
        return product;
    }
    let squared = checker.value(&product);
    if &*call.name != "normalize" {
        return checker.emit_value(Op::Math(MathFunction::Sqrt, vec![squared]), scalar, span);
    }
    let inverse = checker.emit_value(Op::Math(MathFunction::Rsqrt, vec![squared]), scalar, span);
    let mut factor = checker.value(&inverse);
    if is_vector {
        factor = checker.context.emit(Op::Splat(factor), whole, span);
    }
    checker.emit_value(Op::Binary(BinaryOp::Multiply, a, factor), ty, span)
}

fn cross<'a>(
    checker: &mut Checker<'a>,
    call: &LibraryCall<'a>,
    args: Vec<Operand<'a>>,
) -> Operand<'a> {
    let span = call.span;
    if !checker.count_is(call, &args, 2) {
        return Operand::poison(span);
    }
    let Some(ty) = checker.joint_type(call, &args, true) else {
        return Operand::poison(span);
    };
    if !matches!(checker.types.kind(ty), Kind::Vector(_, 3, _)) {
        checker.no_version(call, &args);
        return Operand::poison(span);
    }
    let (Some(a), Some(b)) = (
        checker.argument(&args[0], ty),
        checker.argument(&args[1], ty),
    ) else {
        return Operand::poison(span);
    };
    let whole = checker.ir_type(ty);
    let mut term = |x: [u8; 3], y: [u8; 3]| {
        let left = checker
            .context
            .emit(Op::Swizzle(a, x.to_vec()), whole, span);
        let right = checker
            .context
            .emit(Op::Swizzle(b, y.to_vec()), whole, span);
        checker
            .context
            .emit(Op::Binary(BinaryOp::Multiply, left, right), whole, span)
    };
    let (first, second) = (term([1, 2, 0], [2, 0, 1]), term([2, 0, 1], [1, 2, 0]));
    checker.emit_value(Op::Binary(BinaryOp::Subtract, first, second), ty, span)
}

/// `sincos(x, c)`, `modf(x, whole)`, `frexp(x, exponent)`: a second result through a reference.
fn with_output<'a>(
    checker: &mut Checker<'a>,
    call: &LibraryCall<'a>,
    args: Vec<Operand<'a>>,
) -> Operand<'a> {
    let span = call.span;
    if !checker.count_is(call, &args, 2) {
        return Operand::poison(span);
    }
    let Some(ty) = checker.joint_type(call, &args[..1], true) else {
        return Operand::poison(span);
    };
    let len = checker.types.as_vector(ty).map_or(1, |(_, len)| len);
    let Some(x) = checker.argument(&args[0], ty) else {
        return Operand::poison(span);
    };
    let math = |f| Op::Math(f, vec![x]);
    let (result, second, second_type) = match &*call.name {
        "sincos" => (math(MathFunction::Sin), math(MathFunction::Cos), ty),
        "modf" => (math(MathFunction::Fract), math(MathFunction::Trunc), ty),
        _ => (
            math(MathFunction::FrexpFraction),
            math(MathFunction::FrexpExponent),
            checker.types.vector(Scalar::I32, len),
        ),
    };
    if args[1].as_place().is_none() || args[1].ty != second_type {
        let wanted = checker.type_name(second_type);
        checker.fail(Diagnostic::error(
            args[1].span,
            format!(
                "`{}` puts its second result in a `thread {wanted} &`",
                call.name
            ),
        ));
        return Operand::poison(span);
    }
    let second = checker.emit_value(second, second_type, span);
    let result = if &*call.name == "modf" {
        // x - trunc(x) keeps the sign, which fract does not.
        let whole = checker.value(&second);
        checker.emit_value(Op::Binary(BinaryOp::Subtract, x, whole), ty, span)
    } else {
        checker.emit_value(result, ty, span)
    };
    if checker.check_writable(&args[1], "assigned") {
        checker.store(&args[1], &second, span);
    }
    result
}

fn ldexp<'a>(
    checker: &mut Checker<'a>,
    call: &LibraryCall<'a>,
    args: Vec<Operand<'a>>,
) -> Operand<'a> {
    if !checker.count_is(call, &args, 2) {
        return Operand::poison(call.span);
    }
    let Some(ty) = checker.joint_type(call, &args[..1], true) else {
        return Operand::poison(call.span);
    };
    let len = checker.types.as_vector(ty).map_or(1, |(_, len)| len);
    let int = checker.types.vector(Scalar::I32, len);
    let (Some(x), Some(n)) = (
        checker.argument(&args[0], ty),
        checker.argument(&args[1], int),
    ) else {
        return Operand::poison(call.span);
    };
    checker.emit_value(Op::Math(MathFunction::Ldexp, vec![x, n]), ty, call.span)
}

fn of_three<'a>(
    checker: &mut Checker<'a>,
    call: &LibraryCall<'a>,
    args: Vec<Operand<'a>>,
) -> Operand<'a> {
    let span = call.span;
    if !checker.count_is(call, &args, 3) {
        return Operand::poison(span);
    }
    let Some(ty) = checker.joint_type(call, &args, false) else {
        return Operand::poison(span);
    };
    let float = checker
        .types
        .as_vector(ty)
        .is_some_and(|(s, _)| s.is_float());
    let (min, max) = if float {
        (MathFunction::Fmin, MathFunction::Fmax)
    } else {
        (MathFunction::Min, MathFunction::Max)
    };
    let mut values = Vec::new();
    for arg in &args {
        let Some(value) = checker.argument(arg, ty) else {
            return Operand::poison(span);
        };
        values.push(value);
    }
    let whole = checker.ir_type(ty);
    let mut emit = |f, a, b| checker.context.emit(Op::Math(f, vec![a, b]), whole, span);
    let (a, b, c) = (values[0], values[1], values[2]);
    let value = match &*call.name {
        "min3" => {
            let ab = emit(min, a, b);
            emit(min, ab, c)
        }
        "max3" => {
            let ab = emit(max, a, b);
            emit(max, ab, c)
        }
        _ => {
            let (low, high) = (emit(min, a, b), emit(max, a, b));
            let capped = emit(min, high, c);
            emit(max, low, capped)
        }
    };
    Operand::value(ty, value, span)
}

/// `select(a, b, c)` is `c ? b : a`, by component.
fn select<'a>(
    checker: &mut Checker<'a>,
    call: &LibraryCall<'a>,
    args: Vec<Operand<'a>>,
) -> Operand<'a> {
    let span = call.span;
    if !checker.count_is(call, &args, 3) {
        return Operand::poison(span);
    }
    let Some(ty) = checker.joint_type(call, &args[..2], false) else {
        return Operand::poison(span);
    };
    let len = checker.types.as_vector(ty).map_or(1, |(_, len)| len);
    let bools = checker.types.vector(Scalar::Bool, len);
    let values = (
        checker.argument(&args[0], ty),
        checker.argument(&args[1], ty),
        checker.argument(&args[2], bools),
    );
    let (Some(reject), Some(accept), Some(condition)) = values else {
        return Operand::poison(span);
    };
    checker.emit_value(
        ir::Op::Select {
            condition,
            accept,
            reject,
        },
        ty,
        span,
    )
}
