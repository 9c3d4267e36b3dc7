//! Which registers count up by one from thread to thread, where a threadgroup is a row of threads:
//! the thread's index plus what is the same in all threads. An address made of one is that of a
//! row of memory, and nobody has to look at every thread's.

use super::form::{Block, Compute, Kind, Lowered, Node, Reg};
use super::uniform::Uniformity;
use crate::ir::{BinaryOp, Builtin, Scalar};

/// For each register: whether it counts up, modulo 2 to the power of its bits (32 or 64). A sum that
/// was widened counts up only while the narrow one did not wrap.
pub fn analyze(lowered: &Lowered, uniformity: &Uniformity) -> Vec<bool> {
    let mut counts = vec![false; lowered.kinds.len()];
    visit(lowered, &lowered.body, uniformity, &mut counts);
    counts
}

fn visit(lowered: &Lowered, block: &Block, uniformity: &Uniformity, counts: &mut [bool]) {
    let is_uniform = |reg: Reg| !uniformity.varying[reg as usize];
    for node in block {
        if let Node::Compute { op, dst, args } = node {
            let is_index = |reg: Reg| {
                matches!(
                    lowered.kinds[reg as usize],
                    Kind::Scalar(Scalar::I32 | Scalar::U32 | Scalar::I64 | Scalar::U64)
                )
            };
            let counts_up = |reg: Reg| counts[reg as usize];
            counts[*dst as usize] = is_index(*dst)
                && match (op, args.as_slice()) {
                    (Compute::Builtin(builtin, 0), _) => matches!(
                        builtin,
                        Builtin::ThreadPositionInGrid
                            | Builtin::ThreadPositionInThreadgroup
                            | Builtin::ThreadIndexInThreadgroup
                    ),
                    (Compute::Convert | Compute::Bitcast, [a]) => counts_up(*a),
                    (Compute::Binary(BinaryOp::Add), [a, b]) => {
                        (counts_up(*a) && is_uniform(*b)) || (is_uniform(*a) && counts_up(*b))
                    }
                    (Compute::Binary(BinaryOp::Subtract), [a, b]) => {
                        counts_up(*a) && is_uniform(*b)
                    }
                    _ => false,
                };
        }
        for inner in node.blocks() {
            visit(lowered, inner, uniformity, counts);
        }
    }
}
