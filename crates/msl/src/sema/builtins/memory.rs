//! `as_type` and the barriers.

use super::SpecialCall;
use crate::diag::Diagnostic;
use crate::ir::{BarrierScope, Op, Scalar, Statement};
use crate::sema::Checker;
use crate::sema::constant::Constant;
use crate::sema::operand::Operand;
use crate::sema::types::{Kind, Ty};

/// `as_type<T>(x)`: the same bits.
pub(super) fn as_type<'a>(
    checker: &mut Checker<'a>,
    call: &SpecialCall<'a>,
    args: Vec<Operand<'a>>,
) -> Operand<'a> {
    let span = call.span;
    let (Some([target]), [arg]) = (call.explicit, &args[..]) else {
        checker.fail(
            Diagnostic::error(call.name_span, "`as_type` takes one type and one value")
                .with_hint("write `as_type<uint>(x)`"),
        );
        return Operand::poison(span);
    };
    let Some(to) = checker.type_argument(target) else {
        return Operand::poison(span);
    };
    let arg = checker.rvalue(arg.clone());
    let to = checker.types.value_type(to.ty);
    let bits = |checker: &Checker<'a>, ty: Ty| {
        checker
            .types
            .as_vector(ty)
            .filter(|(scalar, _)| *scalar != Scalar::Bool)
            .map(|(scalar, len)| scalar.bits() * u32::from(len))
    };
    let (from_bits, to_bits) = (bits(checker, arg.ty), bits(checker, to));
    if from_bits.is_none() || from_bits != to_bits {
        let (from, target) = (checker.operand_type_name(&arg), checker.type_name(to));
        let label = match (from_bits, to_bits) {
            (Some(l), Some(r)) => format!("{l} bits are not {r} bits"),
            _ => "only numbers and vectors of them".to_string(),
        };
        checker.fail(
            Diagnostic::error(
                span,
                format!("a `{from}` does not have the size of a `{target}`"),
            )
            .with_label(label),
        );
        return Operand::poison(span);
    }
    if arg.ty == to {
        return Operand { span, ..arg };
    }
    let value = checker.value(&arg);
    let ir_type = checker.ir_type(to);
    Operand::value(
        to,
        checker.context.emit(Op::Bitcast(value), ir_type, span),
        span,
    )
}

/// `threadgroup_barrier(flags)` and `simdgroup_barrier(flags)`.
pub(super) fn barrier<'a>(
    checker: &mut Checker<'a>,
    call: &SpecialCall<'a>,
    args: Vec<Operand<'a>>,
) -> Operand<'a> {
    let span = call.span;
    let name = &call.name;
    let flags = match &args[..] {
        [arg] if checker.types.kind(arg.ty) == Kind::MemFlags => {
            arg.as_constant().and_then(Constant::as_int)
        }
        _ => {
            checker.fail(
                Diagnostic::error(
                    call.name_span,
                    format!("`{name}` takes the memory that it orders"),
                )
                .with_hint(format!("write `{name}(mem_flags::mem_threadgroup)`")),
            );
            return Operand::poison(span);
        }
    };
    let Some(flags) = flags else {
        checker.fail(Diagnostic::error(
            span,
            "the flags of a barrier must be known when the kernel is compiled",
        ));
        return Operand::poison(span);
    };
    let scope = match &**name {
        "threadgroup_barrier" => BarrierScope::Threadgroup,
        _ => BarrierScope::Simdgroup,
    };
    checker.context.push(Statement::Barrier {
        scope,
        device: flags & super::constants::MEM_DEVICE != 0,
        threadgroup: flags & super::constants::MEM_THREADGROUP != 0,
        span,
    });
    Operand::constant(Ty::VOID, Constant::Int(0), span)
}
