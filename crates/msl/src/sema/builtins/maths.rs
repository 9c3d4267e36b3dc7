//! The maths, common, integer and relational functions.

use super::Action::{Expand, Math};
use super::Lengths::Any;
use super::Of::{Bools, Ints, OutInts, OutT, T, Uint, Unsigned};
use super::Over::{All, Floats, Integers, Numbers, Words};
use super::{Call, Entry, Over, entry};
use crate::ir::{BinaryOp, MathFunction as M, Op, UnaryOp};
use crate::sema::Checker;
use crate::sema::constant::Constant;
use crate::sema::operand::Operand;
use crate::sema::types::Ty;

const fn unary(name: &'static str, function: M) -> Entry {
    entry(name, Floats, Any, &[T], T, Math(function))
}

const fn binary(name: &'static str, over: Over, function: M) -> Entry {
    entry(name, over, Any, &[T, T], T, Math(function))
}

const fn ternary(name: &'static str, over: Over, function: M) -> Entry {
    entry(name, over, Any, &[T, T, T], T, Math(function))
}

pub(super) const FLOATING: &[Entry] = &[
    unary("acos", M::Acos),
    unary("acosh", M::Acosh),
    unary("asin", M::Asin),
    unary("asinh", M::Asinh),
    unary("atan", M::Atan),
    unary("atanh", M::Atanh),
    unary("ceil", M::Ceil),
    unary("cos", M::Cos),
    unary("cosh", M::Cosh),
    unary("cospi", M::Cospi),
    unary("exp", M::Exp),
    unary("exp2", M::Exp2),
    unary("exp10", M::Exp10),
    unary("fabs", M::Fabs),
    unary("floor", M::Floor),
    unary("fract", M::Fract),
    unary("log", M::Log),
    unary("log2", M::Log2),
    unary("log10", M::Log10),
    unary("rint", M::Rint),
    unary("round", M::Round),
    unary("rsqrt", M::Rsqrt),
    unary("sin", M::Sin),
    unary("sinh", M::Sinh),
    unary("sinpi", M::Sinpi),
    unary("sqrt", M::Sqrt),
    unary("tan", M::Tan),
    unary("tanh", M::Tanh),
    unary("tanpi", M::Tanpi),
    unary("trunc", M::Trunc),
    binary("atan2", Floats, M::Atan2),
    binary("copysign", Floats, M::Copysign),
    binary("fdim", Floats, M::Fdim),
    binary("fmax", Floats, M::Fmax),
    binary("fmin", Floats, M::Fmin),
    binary("fmod", Floats, M::Fmod),
    binary("nextafter", Floats, M::Nextafter),
    binary("pow", Floats, M::Pow),
    binary("powr", Floats, M::Powr),
    ternary("fma", Floats, M::Fma),
    entry("ilogb", Floats, Any, &[T], Ints, Math(M::Ilogb)),
    entry("ldexp", Floats, Any, &[T, Ints], T, Math(M::Ldexp)),
    entry("divide", Floats, Any, &[T, T], T, Expand(divide)),
    entry("frexp", Floats, Any, &[T, OutInts], T, Expand(frexp)),
    entry("modf", Floats, Any, &[T, OutT], T, Expand(modf)),
    entry("sincos", Floats, Any, &[T, OutT], T, Expand(sincos)),
    entry("fmax3", Floats, Any, &[T, T, T], T, Expand(max3)),
    entry("fmin3", Floats, Any, &[T, T, T], T, Expand(min3)),
    entry("fmedian3", Floats, Any, &[T, T, T], T, Expand(median3)),
];

pub(super) const COMMON: &[Entry] = &[
    unary("saturate", M::Saturate),
    unary("sign", M::Sign),
    ternary("mix", Floats, M::Mix),
    ternary("smoothstep", Floats, M::Smoothstep),
    binary("step", Floats, M::Step),
    ternary("clamp", Floats, M::Fclamp),
    ternary("clamp", Integers, M::Clamp),
    binary("max", Floats, M::Fmax),
    binary("max", Integers, M::Max),
    binary("min", Floats, M::Fmin),
    binary("min", Integers, M::Min),
    entry("abs", Floats, Any, &[T], T, Math(M::Fabs)),
    entry("abs", Integers, Any, &[T], T, Math(M::Abs)),
    entry("max3", Numbers, Any, &[T, T, T], T, Expand(max3)),
    entry("min3", Numbers, Any, &[T, T, T], T, Expand(min3)),
    entry("median3", Numbers, Any, &[T, T, T], T, Expand(median3)),
];

pub(super) const INTEGER: &[Entry] = &[
    entry(
        "absdiff",
        Integers,
        Any,
        &[T, T],
        Unsigned,
        Math(M::Absdiff),
    ),
    binary("addsat", Integers, M::Addsat),
    binary("subsat", Integers, M::Subsat),
    entry("clz", Integers, Any, &[T], T, Math(M::Clz)),
    entry("ctz", Integers, Any, &[T], T, Math(M::Ctz)),
    binary("hadd", Integers, M::Hadd),
    binary("rhadd", Integers, M::Rhadd),
    ternary("mad24", Words, M::Mad24),
    ternary("madhi", Integers, M::Madhi),
    ternary("madsat", Integers, M::Madsat),
    binary("mul24", Words, M::Mul24),
    binary("mulhi", Integers, M::Mulhi),
    entry("popcount", Integers, Any, &[T], T, Math(M::Popcount)),
    entry("reverse_bits", Integers, Any, &[T], T, Math(M::ReverseBits)),
    binary("rotate", Integers, M::Rotate),
    entry(
        "extract_bits",
        Integers,
        Any,
        &[T, Uint, Uint],
        T,
        Math(M::ExtractBits),
    ),
    entry(
        "insert_bits",
        Integers,
        Any,
        &[T, T, Uint, Uint],
        T,
        Math(M::InsertBits),
    ),
];

pub(super) const RELATIONAL: &[Entry] = &[
    entry("isfinite", Floats, Any, &[T], Bools, Math(M::Isfinite)),
    entry("isinf", Floats, Any, &[T], Bools, Math(M::Isinf)),
    entry("isnan", Floats, Any, &[T], Bools, Math(M::Isnan)),
    entry("isnormal", Floats, Any, &[T], Bools, Math(M::Isnormal)),
    entry("signbit", Floats, Any, &[T], Bools, Math(M::Signbit)),
    entry("isordered", Floats, Any, &[T, T], Bools, Expand(is_ordered)),
    entry(
        "isunordered",
        Floats,
        Any,
        &[T, T],
        Bools,
        Expand(is_unordered),
    ),
    entry("all", Over::Bool, Any, &[T], super::Of::Bool, Expand(all)),
    entry("any", Over::Bool, Any, &[T], super::Of::Bool, Expand(any)),
    entry("select", All, Any, &[T, T, Bools], T, Expand(select)),
];

fn is_floating(checker: &Checker<'_>, ty: Ty) -> bool {
    checker
        .types
        .as_vector(ty)
        .is_some_and(|(scalar, _)| scalar.is_float())
}

fn largest<'a>(
    checker: &mut Checker<'a>,
    l: &Operand<'a>,
    r: &Operand<'a>,
    call: &Call<'a>,
) -> Operand<'a> {
    let function = if is_floating(checker, call.result) {
        M::Fmax
    } else {
        M::Max
    };
    checker.math(function, &[l.clone(), r.clone()], call.result, call.span)
}

fn smallest<'a>(
    checker: &mut Checker<'a>,
    l: &Operand<'a>,
    r: &Operand<'a>,
    call: &Call<'a>,
) -> Operand<'a> {
    let function = if is_floating(checker, call.result) {
        M::Fmin
    } else {
        M::Min
    };
    checker.math(function, &[l.clone(), r.clone()], call.result, call.span)
}

fn max3<'a>(checker: &mut Checker<'a>, call: &Call<'a>) -> Operand<'a> {
    let first = largest(checker, &call.args[0], &call.args[1], call);
    largest(checker, &first, &call.args[2], call)
}

fn min3<'a>(checker: &mut Checker<'a>, call: &Call<'a>) -> Operand<'a> {
    let first = smallest(checker, &call.args[0], &call.args[1], call);
    smallest(checker, &first, &call.args[2], call)
}

/// max(min(x, y), min(max(x, y), z)).
fn median3<'a>(checker: &mut Checker<'a>, call: &Call<'a>) -> Operand<'a> {
    let low = smallest(checker, &call.args[0], &call.args[1], call);
    let high = largest(checker, &call.args[0], &call.args[1], call);
    let rest = smallest(checker, &high, &call.args[2], call);
    largest(checker, &low, &rest, call)
}

fn divide<'a>(checker: &mut Checker<'a>, call: &Call<'a>) -> Operand<'a> {
    checker.emit_binary(
        BinaryOp::Divide,
        call.args[0].clone(),
        call.args[1].clone(),
        call.result,
        call.span,
    )
}

fn frexp<'a>(checker: &mut Checker<'a>, call: &Call<'a>) -> Operand<'a> {
    let value = &call.args[..1];
    let exponent = checker.math(M::FrexpExponent, value, call.args[1].ty, call.span);
    let fraction = checker.math(M::FrexpFraction, value, call.result, call.span);
    checker.store(&call.args[1], &exponent, call.span);
    fraction
}

/// The whole part is written; the fraction, with the sign of the argument, is the result.
fn modf<'a>(checker: &mut Checker<'a>, call: &Call<'a>) -> Operand<'a> {
    let value = call.args[0].clone();
    let whole = checker.math(
        M::Trunc,
        std::slice::from_ref(&value),
        call.result,
        call.span,
    );
    let difference = checker.emit_binary(
        BinaryOp::Subtract,
        value.clone(),
        whole.clone(),
        call.result,
        call.span,
    );
    // Infinity less itself is NaN, but the fraction of an infinity is zero.
    let len = checker
        .types
        .as_vector(call.result)
        .map_or(1, |(_, len)| len);
    let bools = checker.types.vector(crate::ir::Scalar::Bool, len);
    let infinite = checker.math(M::Isinf, std::slice::from_ref(&value), bools, call.span);
    let zero = checker.zero_value(call.result, call.span);
    let fraction = choose(checker, &difference, &zero, &infinite, call);
    let fraction = checker.math(M::Copysign, &[fraction, value], call.result, call.span);
    checker.store(&call.args[1], &whole, call.span);
    fraction
}

fn sincos<'a>(checker: &mut Checker<'a>, call: &Call<'a>) -> Operand<'a> {
    let value = &call.args[..1];
    let sin = checker.math(M::Sin, value, call.result, call.span);
    let cos = checker.math(M::Cos, value, call.result, call.span);
    checker.store(&call.args[1], &cos, call.span);
    sin
}

/// A value equals itself unless it is NaN.
fn is_ordered<'a>(checker: &mut Checker<'a>, call: &Call<'a>) -> Operand<'a> {
    let equal_self = |checker: &mut Checker<'a>, arg: &Operand<'a>| {
        checker.emit_binary(
            BinaryOp::Equal,
            arg.clone(),
            arg.clone(),
            call.result,
            call.span,
        )
    };
    let l = equal_self(checker, &call.args[0]);
    let r = equal_self(checker, &call.args[1]);
    checker.emit_binary(BinaryOp::And, l, r, call.result, call.span)
}

fn is_unordered<'a>(checker: &mut Checker<'a>, call: &Call<'a>) -> Operand<'a> {
    let ordered = is_ordered(checker, call);
    checker.emit_unary(UnaryOp::LogicalNot, ordered, call.span)
}

fn all<'a>(checker: &mut Checker<'a>, call: &Call<'a>) -> Operand<'a> {
    match call.args[0].ty {
        Ty::BOOL => call.args[0].clone(),
        _ => checker.math(M::All, &call.args, call.result, call.span),
    }
}

fn any<'a>(checker: &mut Checker<'a>, call: &Call<'a>) -> Operand<'a> {
    match call.args[0].ty {
        Ty::BOOL => call.args[0].clone(),
        _ => checker.math(M::Any, &call.args, call.result, call.span),
    }
}

fn choose<'a>(
    checker: &mut Checker<'a>,
    reject: &Operand<'a>,
    accept: &Operand<'a>,
    condition: &Operand<'a>,
    call: &Call<'a>,
) -> Operand<'a> {
    if let Some(Constant::Bool(truth)) = condition.as_constant() {
        return if *truth {
            accept.clone()
        } else {
            reject.clone()
        };
    }
    let op = Op::Select {
        condition: checker.value(condition),
        accept: checker.value(accept),
        reject: checker.value(reject),
    };
    let ir_type = checker.ir_type(call.result);
    Operand::value(
        call.result,
        checker.context.emit(op, ir_type, call.span),
        call.span,
    )
}

/// `select(a, b, c)` is `c ? b : a`.
fn select<'a>(checker: &mut Checker<'a>, call: &Call<'a>) -> Operand<'a> {
    choose(checker, &call.args[0], &call.args[1], &call.args[2], call)
}
