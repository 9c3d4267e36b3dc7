//! Operations across the lanes of a SIMD-group or quad.

use super::{LibraryCall, Special};
use crate::ir::{Op, Scalar, SimdOp};
use crate::sema::Checker;
use crate::sema::operand::Operand;
use crate::sema::types::Ty;

/// The code of a function.
pub(super) fn find(name: &str) -> Option<Special> {
    operation(name).map(|_| call as Special)
}

fn operation(name: &str) -> Option<SimdOp> {
    Some(match name {
        "simd_sum" => SimdOp::Sum,
        "simd_product" => SimdOp::Product,
        "simd_min" => SimdOp::Min,
        "simd_max" => SimdOp::Max,
        "simd_and" => SimdOp::And,
        "simd_or" => SimdOp::Or,
        "simd_xor" => SimdOp::Xor,
        "simd_prefix_inclusive_sum" => SimdOp::PrefixInclusiveSum,
        "simd_prefix_exclusive_sum" => SimdOp::PrefixExclusiveSum,
        "simd_prefix_inclusive_product" => SimdOp::PrefixInclusiveProduct,
        "simd_prefix_exclusive_product" => SimdOp::PrefixExclusiveProduct,
        "simd_broadcast" => SimdOp::Broadcast,
        "simd_broadcast_first" => SimdOp::BroadcastFirst,
        "simd_shuffle" => SimdOp::Shuffle,
        "simd_shuffle_xor" => SimdOp::ShuffleXor,
        "simd_shuffle_up" => SimdOp::ShuffleUp,
        "simd_shuffle_down" => SimdOp::ShuffleDown,
        "simd_shuffle_rotate_up" => SimdOp::ShuffleRotateUp,
        "simd_shuffle_rotate_down" => SimdOp::ShuffleRotateDown,
        "simd_shuffle_and_fill_up" => SimdOp::ShuffleAndFillUp,
        "simd_shuffle_and_fill_down" => SimdOp::ShuffleAndFillDown,
        "simd_all" => SimdOp::All,
        "simd_any" => SimdOp::Any,
        "simd_ballot" => SimdOp::Ballot,
        "simd_active_threads_mask" => SimdOp::ActiveThreadsMask,
        "simd_is_first" => SimdOp::IsFirst,
        "quad_sum" => SimdOp::QuadSum,
        "quad_product" => SimdOp::QuadProduct,
        "quad_min" => SimdOp::QuadMin,
        "quad_max" => SimdOp::QuadMax,
        "quad_and" => SimdOp::QuadAnd,
        "quad_or" => SimdOp::QuadOr,
        "quad_xor" => SimdOp::QuadXor,
        "quad_broadcast" => SimdOp::QuadBroadcast,
        "quad_shuffle" => SimdOp::QuadShuffle,
        "quad_shuffle_xor" => SimdOp::QuadShuffleXor,
        "quad_shuffle_up" => SimdOp::QuadShuffleUp,
        "quad_shuffle_down" => SimdOp::QuadShuffleDown,
        "quad_all" => SimdOp::QuadAll,
        "quad_any" => SimdOp::QuadAny,
        _ => return None,
    })
}

fn call<'a>(
    checker: &mut Checker<'a>,
    call: &LibraryCall<'a>,
    args: Vec<Operand<'a>>,
) -> Operand<'a> {
    let span = call.span;
    let Some(op) = operation(&call.name) else {
        return Operand::poison(span);
    };
    // How many operands are data, and how many name a lane or distance.
    let (data, lanes) = match op {
        SimdOp::ActiveThreadsMask | SimdOp::IsFirst => (0, 0),
        SimdOp::ShuffleAndFillUp | SimdOp::ShuffleAndFillDown => (2, 1),
        SimdOp::Broadcast
        | SimdOp::Shuffle
        | SimdOp::ShuffleXor
        | SimdOp::ShuffleUp
        | SimdOp::ShuffleDown
        | SimdOp::ShuffleRotateUp
        | SimdOp::ShuffleRotateDown
        | SimdOp::QuadBroadcast
        | SimdOp::QuadShuffle
        | SimdOp::QuadShuffleXor
        | SimdOp::QuadShuffleUp
        | SimdOp::QuadShuffleDown => (1, 1),
        _ => (1, 0),
    };
    if !checker.count_is(call, &args, data + lanes) {
        return Operand::poison(span);
    }
    let is_vote = matches!(
        op,
        SimdOp::All | SimdOp::Any | SimdOp::QuadAll | SimdOp::QuadAny | SimdOp::Ballot
    );
    let ty = match data {
        0 => Ty::BOOL,
        _ if is_vote => Ty::BOOL,
        _ => match checker.joint_type(call, &args[..data], false) {
            Some(ty) => ty,
            None => return Operand::poison(span),
        },
    };
    let is_bitwise = matches!(
        op,
        SimdOp::And | SimdOp::Or | SimdOp::Xor | SimdOp::QuadAnd | SimdOp::QuadOr | SimdOp::QuadXor
    );
    if is_bitwise
        && checker
            .types
            .as_vector(ty)
            .is_some_and(|(s, _)| s.is_float())
    {
        checker.no_version(call, &args);
        return Operand::poison(span);
    }
    let mut values = Vec::new();
    for (i, arg) in args.iter().enumerate() {
        let wanted = if i < data {
            ty
        } else {
            Ty::scalar(Scalar::U16)
        };
        let Some(value) = checker.argument(arg, wanted) else {
            return Operand::poison(span);
        };
        values.push(value);
    }
    let result = match op {
        SimdOp::Ballot | SimdOp::ActiveThreadsMask => Ty::SIMD_VOTE,
        SimdOp::IsFirst => Ty::BOOL,
        _ => ty,
    };
    checker.emit_value(Op::Simd(op, values), result, span)
}
