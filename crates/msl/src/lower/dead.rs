//! What nobody needs is left out: values that lead to no store, no atomic and no decision, and
//! branches without code. A load is left out too: whether it would have been out of bounds does not
//! matter to anyone.

use super::form::{Block, Lowered, Node, Reg};

/// Leaves out what is not needed.
pub fn remove(lowered: &mut Lowered) {
    loop {
        let needed = needed(lowered);
        if !sweep(&mut lowered.body, &needed) {
            return;
        }
    }
}

/// For each register: whether something that has an effect depends on it.
fn needed(lowered: &Lowered) -> Vec<bool> {
    let count = lowered.kinds.len();
    // What each register is made of.
    let mut inputs: Vec<Vec<Reg>> = vec![Vec::new(); count];
    let mut work: Vec<Reg> = Vec::new();
    survey(&lowered.body, &mut inputs, &mut work);
    let mut needed = vec![false; count];
    while let Some(reg) = work.pop() {
        if !std::mem::replace(&mut needed[reg as usize], true) {
            work.extend_from_slice(&inputs[reg as usize]);
        }
    }
    needed
}

fn survey(block: &Block, inputs: &mut [Vec<Reg>], roots: &mut Vec<Reg>) {
    for node in block {
        let mut reads = Vec::new();
        node.for_each_read(&mut |reg| reads.push(reg));
        match node {
            Node::Store { .. } | Node::Atomic { .. } | Node::If { .. } => roots.extend(reads),
            Node::SetIndexed { element, .. } => {
                // One stands for all of the group: whoever reads by an index reads them all.
                for reg in element.base..element.base + element.count {
                    inputs[reg as usize].extend_from_slice(&reads);
                }
            }
            _ => {
                for reg in node.written() {
                    inputs[reg as usize].extend_from_slice(&reads);
                }
            }
        }
        node.blocks().for_each(|b| survey(b, inputs, roots));
    }
}

/// Takes nodes away; says whether it did.
fn sweep(block: &mut Block, needed: &[bool]) -> bool {
    let before = block.len();
    let mut changed = false;
    for node in block.iter_mut() {
        for inner in node.blocks_mut() {
            changed |= sweep(inner, needed);
        }
    }
    block.retain(|node| match node {
        Node::Store { .. }
        | Node::Atomic { .. }
        | Node::Leave(_)
        | Node::Loop(_)
        | Node::Barrier => true,
        Node::If { .. } | Node::Scope(..) => node.blocks().any(|inner| !inner.is_empty()),
        Node::SetIndexed { element, .. } => {
            (element.base..element.base + element.count).any(|reg| needed[reg as usize])
        }
        _ => node.written().any(|reg| needed[reg as usize]),
    });
    changed || block.len() != before
}
