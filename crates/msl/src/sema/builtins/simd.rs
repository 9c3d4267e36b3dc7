//! Functions across the lanes of a SIMD-group or quad, and the votes that some of them give.

use super::Action::{Expand, Simd};
use super::Lengths::{Any, Scalars};
use super::Of::{self, T, Ushort, Vote};
use super::Over::{self, LaneIntegers, LaneNumbers};
use super::{Call, Entry, entry};
use crate::diag::{Diagnostic, Span};
use crate::ir::{BinaryOp, Op, SimdOp as S};
use crate::sema::Checker;
use crate::sema::constant::Constant;
use crate::sema::operand::Operand;
use crate::sema::types::Ty;

const fn reduce(name: &'static str, over: Over, op: S) -> Entry {
    entry(name, over, Any, &[T], T, Simd(op))
}

const fn shuffle(name: &'static str, op: S) -> Entry {
    entry(name, LaneNumbers, Any, &[T, Ushort], T, Simd(op))
}

pub(super) const TABLE: &[Entry] = &[
    reduce("simd_sum", LaneNumbers, S::Sum),
    reduce("simd_product", LaneNumbers, S::Product),
    reduce("simd_min", LaneNumbers, S::Min),
    reduce("simd_max", LaneNumbers, S::Max),
    reduce("simd_and", LaneIntegers, S::And),
    reduce("simd_or", LaneIntegers, S::Or),
    reduce("simd_xor", LaneIntegers, S::Xor),
    reduce(
        "simd_prefix_inclusive_sum",
        LaneNumbers,
        S::PrefixInclusiveSum,
    ),
    reduce(
        "simd_prefix_exclusive_sum",
        LaneNumbers,
        S::PrefixExclusiveSum,
    ),
    reduce(
        "simd_prefix_inclusive_product",
        LaneNumbers,
        S::PrefixInclusiveProduct,
    ),
    reduce(
        "simd_prefix_exclusive_product",
        LaneNumbers,
        S::PrefixExclusiveProduct,
    ),
    reduce("simd_broadcast_first", LaneNumbers, S::BroadcastFirst),
    shuffle("simd_broadcast", S::Broadcast),
    shuffle("simd_shuffle", S::Shuffle),
    shuffle("simd_shuffle_xor", S::ShuffleXor),
    shuffle("simd_shuffle_up", S::ShuffleUp),
    shuffle("simd_shuffle_down", S::ShuffleDown),
    shuffle("simd_shuffle_rotate_up", S::ShuffleRotateUp),
    shuffle("simd_shuffle_rotate_down", S::ShuffleRotateDown),
    entry(
        "simd_shuffle_and_fill_up",
        LaneNumbers,
        Any,
        &[T, T, Ushort],
        T,
        Simd(S::ShuffleAndFillUp),
    ),
    entry(
        "simd_shuffle_and_fill_down",
        LaneNumbers,
        Any,
        &[T, T, Ushort],
        T,
        Simd(S::ShuffleAndFillDown),
    ),
    entry(
        "simd_all",
        Over::None,
        Scalars,
        &[Of::Bool],
        Of::Bool,
        Simd(S::All),
    ),
    entry(
        "simd_any",
        Over::None,
        Scalars,
        &[Of::Bool],
        Of::Bool,
        Simd(S::Any),
    ),
    entry(
        "simd_ballot",
        Over::None,
        Scalars,
        &[Of::Bool],
        Vote,
        Simd(S::Ballot),
    ),
    entry(
        "simd_active_threads_mask",
        Over::None,
        Scalars,
        &[],
        Vote,
        Simd(S::ActiveThreadsMask),
    ),
    entry(
        "simd_is_first",
        Over::None,
        Scalars,
        &[],
        Of::Bool,
        Simd(S::IsFirst),
    ),
    entry(
        "simd_is_helper_thread",
        Over::None,
        Scalars,
        &[],
        Of::Bool,
        Expand(no_helper),
    ),
    reduce("quad_sum", LaneNumbers, S::QuadSum),
    reduce("quad_product", LaneNumbers, S::QuadProduct),
    reduce("quad_min", LaneNumbers, S::QuadMin),
    reduce("quad_max", LaneNumbers, S::QuadMax),
    reduce("quad_and", LaneIntegers, S::QuadAnd),
    reduce("quad_or", LaneIntegers, S::QuadOr),
    reduce("quad_xor", LaneIntegers, S::QuadXor),
    shuffle("quad_broadcast", S::QuadBroadcast),
    shuffle("quad_shuffle", S::QuadShuffle),
    shuffle("quad_shuffle_xor", S::QuadShuffleXor),
    shuffle("quad_shuffle_up", S::QuadShuffleUp),
    shuffle("quad_shuffle_down", S::QuadShuffleDown),
    entry(
        "quad_all",
        Over::None,
        Scalars,
        &[Of::Bool],
        Of::Bool,
        Simd(S::QuadAll),
    ),
    entry(
        "quad_any",
        Over::None,
        Scalars,
        &[Of::Bool],
        Of::Bool,
        Simd(S::QuadAny),
    ),
];

/// Helper threads only exist in fragment functions.
fn no_helper<'a>(_: &mut Checker<'a>, call: &Call<'a>) -> Operand<'a> {
    Operand::constant(Ty::BOOL, Constant::Bool(false), call.span)
}

/// `vote.all()`, `vote.any()`, and the bits, `(simd_vote::vote_t)vote`.
pub(super) fn vote_method<'a>(
    checker: &mut Checker<'a>,
    name: &str,
    vote: Operand<'a>,
    args: &[Operand<'a>],
    span: Span,
) -> Operand<'a> {
    let vote = checker.rvalue(vote);
    let bits = checker.value(&vote);
    let bits = Operand::value(Ty::ULONG, bits, span);
    match (name, args) {
        ("any", []) => {
            let zero = Operand::constant(Ty::ULONG, Constant::Int(0), span);
            checker.emit_binary(BinaryOp::NotEqual, bits, zero, Ty::BOOL, span)
        }
        ("all", []) => {
            // Every active lane voted yes.
            let ty = checker.ir_type(Ty::ULONG);
            let active = checker
                .context
                .emit(Op::Simd(S::ActiveThreadsMask, Vec::new()), ty, span);
            let active = Operand::value(Ty::ULONG, active, span);
            checker.emit_binary(BinaryOp::Equal, bits, active, Ty::BOOL, span)
        }
        _ => {
            checker.fail(
                Diagnostic::error(
                    span,
                    format!("a `simd_vote` has no method `{name}` with these arguments"),
                )
                .with_hint("it has `all()` and `any()`; its bits are `(simd_vote::vote_t)vote`"),
            );
            Operand::poison(span)
        }
    }
}
