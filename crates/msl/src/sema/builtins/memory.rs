//! Barriers and atomics.

use super::{LibraryCall, Special};
use crate::diag::Diagnostic;
use crate::ir::{AtomicOp, BarrierScope, BinaryOp, Op, Scalar, Statement};
use crate::sema::Checker;
use crate::sema::constant::Constant;
use crate::sema::operand::Operand;
use crate::sema::types::{Kind, Ty};

/// Their names.
pub(super) const NAMES: &[&str] = &[
    "threadgroup_barrier",
    "simdgroup_barrier",
    "atomic_load_explicit",
    "atomic_store_explicit",
    "atomic_exchange_explicit",
    "atomic_compare_exchange_weak_explicit",
    "atomic_fetch_add_explicit",
    "atomic_fetch_sub_explicit",
    "atomic_fetch_min_explicit",
    "atomic_fetch_max_explicit",
    "atomic_fetch_and_explicit",
    "atomic_fetch_or_explicit",
    "atomic_fetch_xor_explicit",
];

/// The code of a function.
pub(super) fn find(name: &str) -> Option<Special> {
    match name {
        "threadgroup_barrier" | "simdgroup_barrier" => Some(barrier),
        "atomic_compare_exchange_weak_explicit" => Some(compare_exchange),
        _ => NAMES.contains(&name).then_some(atomic as Special),
    }
}

fn barrier<'a>(
    checker: &mut Checker<'a>,
    call: &LibraryCall<'a>,
    args: Vec<Operand<'a>>,
) -> Operand<'a> {
    let flags = match args.first() {
        Some(arg) if arg.ty == Ty::MEM_FLAGS => arg.as_constant().and_then(Constant::as_int),
        _ => None,
    };
    let Some(flags) = flags.filter(|_| args.len() <= 2) else {
        checker.fail(
            Diagnostic::error(
                call.name_span,
                format!("`{}` needs the memory that it orders", call.name),
            )
            .with_hint("write `threadgroup_barrier(mem_flags::mem_threadgroup)`"),
        );
        return Operand::poison(call.span);
    };
    let scope = if call.name.starts_with("simd") {
        BarrierScope::Simdgroup
    } else {
        BarrierScope::Threadgroup
    };
    let (device, threadgroup) = (flags & 1 != 0, flags & 2 != 0);
    checker.context.push(Statement::Barrier {
        scope,
        device,
        threadgroup,
        span: call.span,
    });
    Checker::nothing(call.span)
}

/// The place that an atomic's pointer argument points at, and its scalar.
fn target<'a>(
    checker: &mut Checker<'a>,
    call: &LibraryCall<'a>,
    args: &[Operand<'a>],
) -> Option<(crate::ir::Place, Scalar)> {
    let pointer = args.first()?;
    let decayed = checker.decay(pointer.clone());
    let place = match checker.types.kind(decayed.ty) {
        Kind::Pointer { .. } => checker.dereference(decayed, call.span),
        _ => Operand::poison(call.span),
    };
    if let (Some(lvalue), Kind::Atomic(scalar)) = (place.as_place(), checker.types.kind(place.ty)) {
        return Some((lvalue.place.clone(), scalar));
    }
    let found = checker.operand_type_name(pointer);
    checker.fail(
        Diagnostic::error(
            pointer.span,
            format!("`{}` needs a pointer to an atomic", call.name),
        )
        .with_label(format!("this is `{found}`"))
        .with_hint(
            "declare the memory as `device atomic_uint *`, `threadgroup atomic_int *` or the like",
        ),
    );
    None
}

/// Reports a memory order that is not relaxed.
fn is_relaxed<'a>(
    checker: &mut Checker<'a>,
    call: &LibraryCall<'a>,
    orders: &[Operand<'a>],
) -> bool {
    let good = orders.iter().all(|order| order.ty == Ty::MEMORY_ORDER);
    if !good {
        checker.fail(
            Diagnostic::error(
                call.name_span,
                format!("`{}` needs a memory order", call.name),
            )
            .with_hint("Metal's kernels have `memory_order_relaxed`"),
        );
    }
    good
}

fn atomic<'a>(
    checker: &mut Checker<'a>,
    call: &LibraryCall<'a>,
    args: Vec<Operand<'a>>,
) -> Operand<'a> {
    let span = call.span;
    let op = match &*call.name {
        "atomic_load_explicit" => AtomicOp::Load,
        "atomic_store_explicit" => AtomicOp::Store,
        "atomic_exchange_explicit" => AtomicOp::Exchange,
        "atomic_fetch_add_explicit" => AtomicOp::Add,
        "atomic_fetch_sub_explicit" => AtomicOp::Subtract,
        "atomic_fetch_min_explicit" => AtomicOp::Min,
        "atomic_fetch_max_explicit" => AtomicOp::Max,
        "atomic_fetch_and_explicit" => AtomicOp::And,
        "atomic_fetch_or_explicit" => AtomicOp::Or,
        _ => AtomicOp::Xor,
    };
    let operands = usize::from(op != AtomicOp::Load);
    if !checker.count_is(call, &args, 2 + operands)
        || !is_relaxed(checker, call, &args[1 + operands..])
    {
        return Operand::poison(span);
    }
    let Some((place, scalar)) = target(checker, call, &args) else {
        return Operand::poison(span);
    };
    let ty = Ty::scalar(scalar);
    let mut values = Vec::new();
    for arg in &args[1..1 + operands] {
        let Some(value) = checker.argument(arg, ty) else {
            return Operand::poison(span);
        };
        values.push(value);
    }
    let op_value = Op::Atomic {
        op,
        place,
        args: values,
    };
    if op == AtomicOp::Store {
        checker.emit_value(op_value, Ty::VOID, span);
        return Checker::nothing(span);
    }
    checker.emit_value(op_value, ty, span)
}

/// Gives whether the exchange took place; if not, `expected` gets the value found.
fn compare_exchange<'a>(
    checker: &mut Checker<'a>,
    call: &LibraryCall<'a>,
    args: Vec<Operand<'a>>,
) -> Operand<'a> {
    let span = call.span;
    if !checker.count_is(call, &args, 5) || !is_relaxed(checker, call, &args[3..]) {
        return Operand::poison(span);
    }
    let Some((place, scalar)) = target(checker, call, &args) else {
        return Operand::poison(span);
    };
    let ty = Ty::scalar(scalar);
    let expected_pointer = checker.rvalue(args[1].clone());
    let expected_place = checker.dereference(expected_pointer, span);
    let (Some(expected), Some(desired)) = (
        checker.argument(&expected_place, ty),
        checker.argument(&args[2], ty),
    ) else {
        return Operand::poison(span);
    };
    let old = checker.emit_value(
        Op::Atomic {
            op: AtomicOp::CompareExchange,
            place,
            args: vec![expected, desired],
        },
        ty,
        span,
    );
    checker.store(&expected_place, &old, span);
    let old = checker.value(&old);
    checker.emit_value(Op::Binary(BinaryOp::Equal, old, expected), Ty::BOOL, span)
}
