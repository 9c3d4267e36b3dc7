//! The atomic functions. All are relaxed: Metal's kernels have no other order.

use super::SpecialCall;
use crate::diag::Diagnostic;
use crate::ir::{self, AddressSpace, AtomicOp, BinaryOp, Op, Place, Scalar, Statement};
use crate::sema::Checker;
use crate::sema::constant::Constant;
use crate::sema::operand::Operand;
use crate::sema::types::{Kind, Ty, space_name};

/// The operation of a read-modify-write function.
pub(super) fn operation(name: &str) -> Option<AtomicOp> {
    Some(match name {
        "atomic_exchange_explicit" => AtomicOp::Exchange,
        "atomic_fetch_add_explicit" => AtomicOp::Add,
        "atomic_fetch_sub_explicit" => AtomicOp::Subtract,
        "atomic_fetch_min_explicit" => AtomicOp::Min,
        "atomic_fetch_max_explicit" => AtomicOp::Max,
        "atomic_fetch_and_explicit" => AtomicOp::And,
        "atomic_fetch_or_explicit" => AtomicOp::Or,
        "atomic_fetch_xor_explicit" => AtomicOp::Xor,
        _ => return None,
    })
}

/// Whether an operation exists for a type.
fn exists(op: AtomicOp, scalar: Scalar) -> bool {
    match op {
        AtomicOp::Load | AtomicOp::Store | AtomicOp::Exchange | AtomicOp::CompareExchange => {
            scalar != Scalar::U64
        }
        AtomicOp::Add | AtomicOp::Subtract => {
            matches!(scalar, Scalar::I32 | Scalar::U32 | Scalar::F32)
        }
        // 64-bit atomics only have minimum and maximum.
        AtomicOp::Min | AtomicOp::Max => matches!(scalar, Scalar::I32 | Scalar::U32 | Scalar::U64),
        AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => matches!(scalar, Scalar::I32 | Scalar::U32),
    }
}

/// The atomic that the first argument points at.
fn target<'a>(
    checker: &mut Checker<'a>,
    call: &SpecialCall<'a>,
    args: &[Operand<'a>],
    op: AtomicOp,
    count: usize,
) -> Option<(Place, Scalar)> {
    let name = &call.name;
    if args.len() != count {
        checker.fail(Diagnostic::error(
            call.name_span,
            format!("`{name}` takes {count} arguments, not {}", args.len()),
        ));
        return None;
    }
    let pointer = checker.decayed(args[0].clone());
    let Kind::Pointer {
        space,
        pointee,
        is_const,
    } = checker.types.kind(pointer.ty)
    else {
        let given = checker.operand_type_name(&args[0]);
        checker.fail(
            Diagnostic::error(
                args[0].span,
                format!("`{name}` takes a pointer to an atomic, not a `{given}`"),
            )
            .with_hint("write `&x`"),
        );
        return None;
    };
    let Kind::Atomic(scalar) = checker.types.kind(pointee) else {
        let given = checker.type_name(pointee);
        checker.fail(
            Diagnostic::error(args[0].span, format!("a `{given}` is not atomic"))
                .with_label(format!("`{name}` takes a pointer to an atomic"))
                .with_hint("declare the buffer as `device atomic_uint *`, or cast the pointer"),
        );
        return None;
    };
    if !matches!(space, AddressSpace::Device | AddressSpace::Threadgroup) {
        checker.fail(Diagnostic::error(
            args[0].span,
            format!(
                "atomics are in device or threadgroup memory, not in `{}`",
                space_name(space)
            ),
        ));
        return None;
    }
    if is_const && op != AtomicOp::Load {
        checker.fail(
            Diagnostic::error(
                args[0].span,
                format!("`{name}` would change something `const`"),
            )
            .with_label("declared const"),
        );
        return None;
    }
    if !exists(op, scalar) {
        let given = checker.type_name(pointee);
        checker.fail(Diagnostic::error(
            call.name_span,
            format!("there is no `{name}` for `{given}`"),
        ));
        return None;
    }
    if scalar == Scalar::F32 && space == AddressSpace::Threadgroup {
        checker.fail(
            Diagnostic::error(args[0].span, "float atomics only work in device memory")
                .with_label("this is in threadgroup memory"),
        );
        return None;
    }
    let base = checker.value(&pointer);
    Some((
        Place {
            base: ir::PlaceBase::Pointer(base),
            path: Vec::new(),
            ty: checker.ir_type(pointee),
        },
        scalar,
    ))
}

/// Checks the memory order arguments.
fn orders<'a>(checker: &mut Checker<'a>, orders: &[Operand<'a>]) -> bool {
    for order in orders {
        if checker.types.kind(order.ty) != Kind::MemoryOrder {
            let given = checker.operand_type_name(order);
            checker.fail(
                Diagnostic::error(
                    order.span,
                    format!("a memory order is needed here, not a `{given}`"),
                )
                .with_hint("write `memory_order_relaxed`"),
            );
            return false;
        }
    }
    true
}

fn emit<'a>(
    checker: &mut Checker<'a>,
    call: &SpecialCall<'a>,
    (op, place, result): (AtomicOp, Place, Ty),
    args: &[Operand<'a>],
) -> Operand<'a> {
    let args = args.iter().map(|arg| checker.value(arg)).collect();
    let ir_type = checker.ir_type(result);
    let value = checker
        .context
        .emit(Op::Atomic { op, place, args }, ir_type, call.span);
    Operand::value(result, value, call.span)
}

/// An operand converted to the atomic's type.
fn operand<'a>(
    checker: &mut Checker<'a>,
    arg: &Operand<'a>,
    scalar: Scalar,
) -> Option<Operand<'a>> {
    let arg = checker.convert(arg.clone(), Ty::scalar(scalar), "the atomic's operand");
    let arg = checker.rvalue(arg);
    (!arg.is_poison()).then_some(arg)
}

pub(super) fn load<'a>(
    checker: &mut Checker<'a>,
    call: &SpecialCall<'a>,
    args: Vec<Operand<'a>>,
) -> Operand<'a> {
    let found = target(checker, call, &args, AtomicOp::Load, 2);
    match found {
        Some((place, scalar)) if orders(checker, &args[1..]) => emit(
            checker,
            call,
            (AtomicOp::Load, place, Ty::scalar(scalar)),
            &[],
        ),
        _ => Operand::poison(call.span),
    }
}

pub(super) fn store<'a>(
    checker: &mut Checker<'a>,
    call: &SpecialCall<'a>,
    args: Vec<Operand<'a>>,
) -> Operand<'a> {
    let Some((place, scalar)) = target(checker, call, &args, AtomicOp::Store, 3) else {
        return Operand::poison(call.span);
    };
    let value = operand(checker, &args[1], scalar);
    match value {
        Some(value) if orders(checker, &args[2..]) => {
            emit(checker, call, (AtomicOp::Store, place, Ty::VOID), &[value])
        }
        _ => Operand::poison(call.span),
    }
}

pub(super) fn modify<'a>(
    checker: &mut Checker<'a>,
    call: &SpecialCall<'a>,
    args: Vec<Operand<'a>>,
) -> Operand<'a> {
    let Some(op) = operation(&call.name) else {
        return Operand::poison(call.span);
    };
    let Some((place, scalar)) = target(checker, call, &args, op, 3) else {
        return Operand::poison(call.span);
    };
    let value = operand(checker, &args[1], scalar);
    match value {
        Some(value) if orders(checker, &args[2..]) => {
            emit(checker, call, (op, place, Ty::scalar(scalar)), &[value])
        }
        _ => Operand::poison(call.span),
    }
}

/// Gives whether the exchange took place; if not, `*expected` becomes the value that was there.
pub(super) fn compare_exchange<'a>(
    checker: &mut Checker<'a>,
    call: &SpecialCall<'a>,
    args: Vec<Operand<'a>>,
) -> Operand<'a> {
    let span = call.span;
    let Some((place, scalar)) = target(checker, call, &args, AtomicOp::CompareExchange, 5) else {
        return Operand::poison(span);
    };
    let ty = Ty::scalar(scalar);
    let pointer = checker.decayed(args[1].clone());
    let fits = matches!(
        checker.types.kind(pointer.ty),
        Kind::Pointer { space: AddressSpace::Thread, pointee, is_const: false } if pointee == ty
    );
    if !fits {
        let (wanted, given) = (checker.type_name(ty), checker.operand_type_name(&args[1]));
        checker.fail(
            Diagnostic::error(
                args[1].span,
                format!("the expected value is a `thread {wanted} *`, not a `{given}`"),
            )
            .with_hint("pass the address of a local variable"),
        );
        return Operand::poison(span);
    }
    let Some(desired) = operand(checker, &args[2], scalar) else {
        return Operand::poison(span);
    };
    if !orders(checker, &args[3..]) {
        return Operand::poison(span);
    }
    let expected_place = checker.dereference(pointer, args[1].span);
    let expected = checker.rvalue(expected_place.clone());
    let old = emit(
        checker,
        call,
        (AtomicOp::CompareExchange, place, ty),
        &[expected.clone(), desired],
    );
    // Bits are compared: a float NaN equals itself here.
    let equal = |checker: &mut Checker<'a>, l: Operand<'a>, r: Operand<'a>| {
        let bits = |checker: &mut Checker<'a>, operand: Operand<'a>| {
            if scalar != Scalar::F32 {
                return operand;
            }
            let value = checker.value(&operand);
            let uint = checker.ir_type(Ty::UINT);
            Operand::value(
                Ty::UINT,
                checker.context.emit(Op::Bitcast(value), uint, span),
                span,
            )
        };
        let (l, r) = (bits(checker, l), bits(checker, r));
        checker.emit_binary(BinaryOp::Equal, l, r, Ty::BOOL, span)
    };
    let success = equal(checker, old.clone(), expected);
    let condition = checker.value(&success);
    let ((), reject) = checker.in_block(|checker| checker.store(&expected_place, &old, span));
    checker.context.push(Statement::If {
        condition,
        accept: Vec::new(),
        reject,
        span,
    });
    success
}

/// `atomic_thread_fence`: doubtful semantics, so refused.
pub(super) fn fence<'a>(
    checker: &mut Checker<'a>,
    call: &SpecialCall<'a>,
    _: Vec<Operand<'a>>,
) -> Operand<'a> {
    checker.fail(
        Diagnostic::error(call.name_span, "`atomic_thread_fence` is not supported")
            .with_hint("use `threadgroup_barrier` between the threads of a threadgroup"),
    );
    Operand::constant(Ty::VOID, Constant::Int(0), call.span)
}
