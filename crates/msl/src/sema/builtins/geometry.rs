//! The geometric functions, written out in simpler operations in one fixed order.

use super::Action::Expand;
use super::Lengths::{Three, Vectors};
use super::Of::{Element, T};
use super::Over::Floats;
use super::{Call, Entry, entry};
use crate::ir::{BinaryOp, MathFunction as M, Op, UnaryOp};
use crate::sema::Checker;
use crate::sema::constant::Constant;
use crate::sema::operand::Operand;
use crate::sema::types::Ty;

pub(super) const TABLE: &[Entry] = &[
    entry("cross", Floats, Three, &[T, T], T, Expand(cross)),
    entry(
        "distance",
        Floats,
        Vectors,
        &[T, T],
        Element,
        Expand(distance),
    ),
    entry(
        "distance_squared",
        Floats,
        Vectors,
        &[T, T],
        Element,
        Expand(distance_squared),
    ),
    entry("dot", Floats, Vectors, &[T, T], Element, Expand(dot)),
    entry(
        "faceforward",
        Floats,
        Vectors,
        &[T, T, T],
        T,
        Expand(faceforward),
    ),
    entry("length", Floats, Vectors, &[T], Element, Expand(length)),
    entry(
        "length_squared",
        Floats,
        Vectors,
        &[T],
        Element,
        Expand(length_squared),
    ),
    entry("normalize", Floats, Vectors, &[T], T, Expand(normalize)),
    entry("reflect", Floats, Vectors, &[T, T], T, Expand(reflect)),
    entry(
        "refract",
        Floats,
        Vectors,
        &[T, T, Element],
        T,
        Expand(refract),
    ),
];

fn dot_of<'a>(
    checker: &mut Checker<'a>,
    l: &Operand<'a>,
    r: &Operand<'a>,
    call: &Call<'a>,
) -> Operand<'a> {
    let element = element(checker, l.ty);
    checker.math(M::Dot, &[l.clone(), r.clone()], element, call.span)
}

fn element(checker: &Checker<'_>, ty: Ty) -> Ty {
    checker
        .types
        .as_vector(ty)
        .map_or(ty, |(scalar, _)| Ty::scalar(scalar))
}

/// A number of the elements' type.
fn number<'a>(checker: &Checker<'a>, value: f32, call: &Call<'a>) -> Operand<'a> {
    Operand::constant(
        element(checker, call.result),
        Constant::Float(value),
        call.span,
    )
}

fn op<'a>(
    checker: &mut Checker<'a>,
    op: BinaryOp,
    l: Operand<'a>,
    r: Operand<'a>,
    call: &Call<'a>,
) -> Operand<'a> {
    let ty = l.ty;
    checker.emit_binary(op, l, r, ty, call.span)
}

/// A scalar times a vector.
fn scaled<'a>(
    checker: &mut Checker<'a>,
    factor: Operand<'a>,
    vector: &Operand<'a>,
    call: &Call<'a>,
) -> Operand<'a> {
    let len = checker.types.as_vector(vector.ty).map_or(1, |(_, len)| len);
    let factor = checker.splat(factor, len);
    op(checker, BinaryOp::Multiply, factor, vector.clone(), call)
}

fn dot<'a>(checker: &mut Checker<'a>, call: &Call<'a>) -> Operand<'a> {
    dot_of(checker, &call.args[0], &call.args[1], call)
}

fn length_squared<'a>(checker: &mut Checker<'a>, call: &Call<'a>) -> Operand<'a> {
    dot_of(checker, &call.args[0], &call.args[0], call)
}

fn length_of<'a>(checker: &mut Checker<'a>, vector: &Operand<'a>, call: &Call<'a>) -> Operand<'a> {
    let squared = dot_of(checker, vector, vector, call);
    let ty = squared.ty;
    checker.math(M::Sqrt, &[squared], ty, call.span)
}

fn length<'a>(checker: &mut Checker<'a>, call: &Call<'a>) -> Operand<'a> {
    length_of(checker, &call.args[0], call)
}

fn difference<'a>(checker: &mut Checker<'a>, call: &Call<'a>) -> Operand<'a> {
    op(
        checker,
        BinaryOp::Subtract,
        call.args[0].clone(),
        call.args[1].clone(),
        call,
    )
}

fn distance<'a>(checker: &mut Checker<'a>, call: &Call<'a>) -> Operand<'a> {
    let difference = difference(checker, call);
    length_of(checker, &difference, call)
}

fn distance_squared<'a>(checker: &mut Checker<'a>, call: &Call<'a>) -> Operand<'a> {
    let difference = difference(checker, call);
    dot_of(checker, &difference, &difference, call)
}

fn normalize<'a>(checker: &mut Checker<'a>, call: &Call<'a>) -> Operand<'a> {
    let vector = &call.args[0];
    let length = length_of(checker, vector, call);
    let len = checker.types.as_vector(vector.ty).map_or(1, |(_, len)| len);
    let length = checker.splat(length, len);
    op(checker, BinaryOp::Divide, vector.clone(), length, call)
}

/// a.yzx * b.zxy - a.zxy * b.yzx
fn cross<'a>(checker: &mut Checker<'a>, call: &Call<'a>) -> Operand<'a> {
    let turned = |checker: &mut Checker<'a>, arg: &Operand<'a>, components: [u8; 3]| {
        let value = checker.value(arg);
        let ir_type = checker.ir_type(call.result);
        let op = Op::Swizzle(value, components.to_vec());
        Operand::value(
            call.result,
            checker.context.emit(op, ir_type, call.span),
            call.span,
        )
    };
    let (a, b) = (&call.args[0], &call.args[1]);
    let (a_yzx, b_zxy) = (turned(checker, a, [1, 2, 0]), turned(checker, b, [2, 0, 1]));
    let (a_zxy, b_yzx) = (turned(checker, a, [2, 0, 1]), turned(checker, b, [1, 2, 0]));
    let first = op(checker, BinaryOp::Multiply, a_yzx, b_zxy, call);
    let second = op(checker, BinaryOp::Multiply, a_zxy, b_yzx, call);
    op(checker, BinaryOp::Subtract, first, second, call)
}

/// i - 2 * dot(n, i) * n
fn reflect<'a>(checker: &mut Checker<'a>, call: &Call<'a>) -> Operand<'a> {
    let (i, n) = (&call.args[0], &call.args[1]);
    let projection = dot_of(checker, n, i, call);
    let two = number(checker, 2.0, call);
    let factor = op(checker, BinaryOp::Multiply, two, projection, call);
    let part = scaled(checker, factor, n, call);
    op(checker, BinaryOp::Subtract, i.clone(), part, call)
}

/// eta * i - (eta * dot(n, i) + sqrt(k)) * n, or zero where k = 1 - eta^2 * (1 - dot(n, i)^2) < 0.
fn refract<'a>(checker: &mut Checker<'a>, call: &Call<'a>) -> Operand<'a> {
    let (i, n, eta) = (&call.args[0], &call.args[1], call.args[2].clone());
    let projection = dot_of(checker, n, i, call);
    let one = number(checker, 1.0, call);
    let square = op(
        checker,
        BinaryOp::Multiply,
        projection.clone(),
        projection.clone(),
        call,
    );
    let rest = op(checker, BinaryOp::Subtract, one.clone(), square, call);
    let eta_square = op(checker, BinaryOp::Multiply, eta.clone(), eta.clone(), call);
    let product = op(checker, BinaryOp::Multiply, eta_square, rest, call);
    let k = op(checker, BinaryOp::Subtract, one, product, call);
    let scalar = k.ty;
    let root = checker.math(M::Sqrt, std::slice::from_ref(&k), scalar, call.span);
    let along = op(checker, BinaryOp::Multiply, eta.clone(), projection, call);
    let factor = op(checker, BinaryOp::Add, along, root, call);
    let first = scaled(checker, eta, i, call);
    let second = scaled(checker, factor, n, call);
    let bent = op(checker, BinaryOp::Subtract, first, second, call);
    let zero = number(checker, 0.0, call);
    let total = checker.emit_binary(BinaryOp::Less, k, zero, Ty::BOOL, call.span);
    let nothing = checker.zero_value(call.result, call.span);
    select(checker, total, nothing, bent, call)
}

/// dot(nref, i) < 0 ? n : -n
fn faceforward<'a>(checker: &mut Checker<'a>, call: &Call<'a>) -> Operand<'a> {
    let (n, i, reference) = (call.args[0].clone(), &call.args[1], &call.args[2]);
    let projection = dot_of(checker, reference, i, call);
    let zero = number(checker, 0.0, call);
    let against = checker.emit_binary(BinaryOp::Less, projection, zero, Ty::BOOL, call.span);
    let back = checker.emit_unary(UnaryOp::Negate, n.clone(), call.span);
    select(checker, against, n, back, call)
}

fn select<'a>(
    checker: &mut Checker<'a>,
    condition: Operand<'a>,
    accept: Operand<'a>,
    reject: Operand<'a>,
    call: &Call<'a>,
) -> Operand<'a> {
    let op = Op::Select {
        condition: checker.value(&condition),
        accept: checker.value(&accept),
        reject: checker.value(&reject),
    };
    let ir_type = checker.ir_type(call.result);
    Operand::value(
        call.result,
        checker.context.emit(op, ir_type, call.span),
        call.span,
    )
}
