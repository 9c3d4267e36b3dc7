//! Operations across the lanes of a SIMD-group or quad.
//!
//! A reduction combines the lower half of the lanes with the upper half, then the lower half of
//! what is left with its upper half, and so on; lanes that take no part count as the neutral
//! element. A prefix operation goes through the active lanes in order. Both round at every step.

use super::SIMD_WIDTH;
use super::arithmetic::binary;
use super::values::{Number, limits};
use crate::ir::{BinaryOp, Scalar, SimdOp};
use crate::math;

/// Lanes of a quad.
const QUAD_WIDTH: usize = 4;

/// A number for each active lane.
pub type Lanes = [Option<Number>; SIMD_WIDTH];

/// How lanes combine.
#[derive(Clone, Copy)]
enum Combination {
    Operator(BinaryOp),
    Min,
    Max,
}

impl Combination {
    fn neutral(self, scalar: Scalar) -> Number {
        let (least, greatest) = limits(scalar);
        let number = |integer, float| match scalar.is_float() {
            true => Number::Float(float),
            false => Number::Integer(integer),
        };
        match self {
            Self::Operator(BinaryOp::Multiply) => number(1, 1.0),
            Self::Operator(BinaryOp::And) => Number::Integer(-1).rounded(scalar),
            Self::Operator(_) => number(0, 0.0),
            Self::Min => number(greatest, f32::INFINITY),
            Self::Max => number(least, f32::NEG_INFINITY),
        }
    }

    fn of(self, scalar: Scalar, a: Number, b: Number) -> Number {
        use Number::{Float, Integer};
        let result = match (self, a, b) {
            (Self::Operator(op), a, b) => binary(op, scalar, a, b),
            (Self::Min, Float(a), Float(b)) => Float(math::fmin(a, b)),
            (Self::Max, Float(a), Float(b)) => Float(math::fmax(a, b)),
            (Self::Min, a, b) => Integer(a.integer().min(b.integer())),
            (Self::Max, a, b) => Integer(a.integer().max(b.integer())),
        };
        result.rounded(scalar)
    }
}

/// How an operation works.
enum Family {
    Reduce(Combination, usize),
    Scan(Combination, bool),
    Shuffle(Route, usize),
    Fill { up: bool },
    First,
    Vote { all: bool, width: usize },
    Ballot,
    IsFirst,
}

/// Which lane a lane reads from.
#[derive(Clone, Copy)]
enum Route {
    Lane,
    Xor,
    Up,
    Down,
    RotateUp,
    RotateDown,
}

impl Route {
    /// The lane; none if there is no such lane, then a lane keeps its own data. Moving up or down
    /// leaves the lanes at the end as they are; naming a lane that does not exist is a mistake.
    fn source(self, lane: usize, operand: usize, width: usize) -> Option<usize> {
        match self {
            Self::Lane => Some(operand),
            Self::Xor => Some(lane ^ operand),
            Self::Up => return lane.checked_sub(operand),
            Self::Down => lane.checked_add(operand),
            Self::RotateUp => Some((lane + width - operand % width) % width),
            Self::RotateDown => Some((lane + operand) % width),
        }
        .filter(|&source| source < width)
    }

    fn must_exist(self) -> bool {
        matches!(self, Self::Lane | Self::Xor)
    }
}

fn family(op: SimdOp) -> Family {
    use BinaryOp::{Add, And, Multiply, Or, Xor};
    use Combination::{Max, Min, Operator};
    const SIMD: usize = SIMD_WIDTH;
    const QUAD: usize = QUAD_WIDTH;
    match op {
        SimdOp::Sum => Family::Reduce(Operator(Add), SIMD),
        SimdOp::Product => Family::Reduce(Operator(Multiply), SIMD),
        SimdOp::Min => Family::Reduce(Min, SIMD),
        SimdOp::Max => Family::Reduce(Max, SIMD),
        SimdOp::And => Family::Reduce(Operator(And), SIMD),
        SimdOp::Or => Family::Reduce(Operator(Or), SIMD),
        SimdOp::Xor => Family::Reduce(Operator(Xor), SIMD),
        SimdOp::QuadSum => Family::Reduce(Operator(Add), QUAD),
        SimdOp::QuadProduct => Family::Reduce(Operator(Multiply), QUAD),
        SimdOp::QuadMin => Family::Reduce(Min, QUAD),
        SimdOp::QuadMax => Family::Reduce(Max, QUAD),
        SimdOp::QuadAnd => Family::Reduce(Operator(And), QUAD),
        SimdOp::QuadOr => Family::Reduce(Operator(Or), QUAD),
        SimdOp::QuadXor => Family::Reduce(Operator(Xor), QUAD),
        SimdOp::PrefixInclusiveSum => Family::Scan(Operator(Add), true),
        SimdOp::PrefixExclusiveSum => Family::Scan(Operator(Add), false),
        SimdOp::PrefixInclusiveProduct => Family::Scan(Operator(Multiply), true),
        SimdOp::PrefixExclusiveProduct => Family::Scan(Operator(Multiply), false),
        SimdOp::Broadcast | SimdOp::Shuffle => Family::Shuffle(Route::Lane, SIMD),
        SimdOp::ShuffleXor => Family::Shuffle(Route::Xor, SIMD),
        SimdOp::ShuffleUp => Family::Shuffle(Route::Up, SIMD),
        SimdOp::ShuffleDown => Family::Shuffle(Route::Down, SIMD),
        SimdOp::ShuffleRotateUp => Family::Shuffle(Route::RotateUp, SIMD),
        SimdOp::ShuffleRotateDown => Family::Shuffle(Route::RotateDown, SIMD),
        SimdOp::QuadBroadcast | SimdOp::QuadShuffle => Family::Shuffle(Route::Lane, QUAD),
        SimdOp::QuadShuffleXor => Family::Shuffle(Route::Xor, QUAD),
        SimdOp::QuadShuffleUp => Family::Shuffle(Route::Up, QUAD),
        SimdOp::QuadShuffleDown => Family::Shuffle(Route::Down, QUAD),
        SimdOp::ShuffleAndFillUp => Family::Fill { up: true },
        SimdOp::ShuffleAndFillDown => Family::Fill { up: false },
        SimdOp::BroadcastFirst => Family::First,
        SimdOp::All => vote(true, SIMD),
        SimdOp::Any => vote(false, SIMD),
        SimdOp::QuadAll => vote(true, QUAD),
        SimdOp::QuadAny => vote(false, QUAD),
        SimdOp::Ballot | SimdOp::ActiveThreadsMask => Family::Ballot,
        SimdOp::IsFirst => Family::IsFirst,
    }
}

fn vote(all: bool, width: usize) -> Family {
    Family::Vote { all, width }
}

/// Whether an operation only moves data, whose bits then stay as they are.
pub fn moves_data(op: SimdOp) -> bool {
    matches!(
        family(op),
        Family::Shuffle(..) | Family::Fill { .. } | Family::First
    )
}

/// What an operation gives.
pub struct Across {
    /// To each active lane.
    pub results: [Number; SIMD_WIDTH],
    /// Lanes that read from one that is not active, and which.
    pub strays: Vec<(usize, usize)>,
}

/// One component of an operation. `args` has a number for each operand in each active lane, all
/// operands' if there are none: true for each lane that takes part.
pub fn across(op: SimdOp, scalar: Scalar, args: &[Lanes]) -> Across {
    let first = args.first().copied().unwrap_or([None; SIMD_WIDTH]);
    let operand = |index: usize, lane: usize| {
        let arg = args.get(index).and_then(|lanes| lanes[lane]);
        arg.map_or(0, |number| number.integer() as usize)
    };
    let zero = Number::Integer(0);
    let mut results = [zero; SIMD_WIDTH];
    let mut strays = Vec::new();
    let mut read = |lane: usize, from: usize, lanes: &Lanes| {
        if first[lane].is_some() && lanes[from].is_none() {
            strays.push((lane, from));
        }
        // What an inactive lane has is not specified.
        lanes[from].unwrap_or(zero)
    };
    match family(op) {
        Family::Reduce(combination, width) => {
            let all = first.map(|lane| lane.unwrap_or(combination.neutral(scalar)));
            for (group, results) in all.chunks(width).zip(results.chunks_mut(width)) {
                let mut group = group.to_vec();
                while group.len() > 1 {
                    let (low, high) = group.split_at(group.len() / 2);
                    let pairs = low.iter().zip(high);
                    group = pairs
                        .map(|(&low, &high)| combination.of(scalar, low, high))
                        .collect();
                }
                results.fill(group[0]);
            }
        }
        Family::Scan(combination, inclusive) => {
            let mut total = combination.neutral(scalar);
            for (lane, result) in first.iter().zip(&mut results) {
                let before = total;
                if let Some(number) = *lane {
                    total = combination.of(scalar, total, number);
                }
                *result = if inclusive { total } else { before };
            }
        }
        Family::Shuffle(route, width) => {
            for (lane, result) in results.iter_mut().enumerate() {
                let (start, own) = (lane / width * width, lane % width);
                let by = operand(1, lane);
                *result = match route.source(own, by, width) {
                    Some(from) => read(lane, start + from, &first),
                    None => first[lane].unwrap_or(zero),
                };
            }
            if route.must_exist() {
                let lanes = (0..SIMD_WIDTH).filter(|&lane| first[lane].is_some());
                let missing = lanes.map(|lane| (lane, operand(1, lane)));
                strays.extend(
                    missing.filter(|&(lane, by)| route.source(lane % width, by, width).is_none()),
                );
            }
        }
        Family::Fill { up } => {
            let filling = args.get(1).copied().unwrap_or(first);
            for (lane, result) in results.iter_mut().enumerate() {
                let by = operand(2, lane) % SIMD_WIDTH;
                let (from, wraps) = match up {
                    true => (lane + SIMD_WIDTH - by, lane < by),
                    false => (lane + by, lane + by >= SIMD_WIDTH),
                };
                let data = if wraps { &filling } else { &first };
                *result = read(lane, from % SIMD_WIDTH, data);
            }
        }
        Family::First => {
            let number = first.iter().flatten().next();
            results.fill(number.copied().unwrap_or(zero));
        }
        Family::Vote { all, width } => {
            for (group, results) in first.chunks(width).zip(results.chunks_mut(width)) {
                let mut active = group.iter().flatten();
                let holds = match all {
                    true => active.all(|number| number.is_true()),
                    false => active.any(|number| number.is_true()),
                };
                results.fill(Number::truth(holds));
            }
        }
        Family::Ballot => {
            let is_set = |lane: &usize| first[*lane].is_some_and(Number::is_true);
            let bits = (0..SIMD_WIDTH).filter(is_set);
            results.fill(Number::Integer(bits.fold(0, |bits, lane| bits | 1 << lane)));
        }
        Family::IsFirst => {
            let first = first.iter().position(Option::is_some);
            results = std::array::from_fn(|lane| Number::truth(Some(lane) == first));
        }
    }
    Across { results, strays }
}
