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
    let mut survey = Survey {
        inputs: vec![Vec::new(); count],
        roots: Vec::new(),
        conditions: Vec::new(),
    };
    survey.block(&lowered.body);
    let (inputs, mut work) = (survey.inputs, survey.roots);
    let mut needed = vec![false; count];
    while let Some(reg) = work.pop() {
        if !std::mem::replace(&mut needed[reg as usize], true) {
            work.extend_from_slice(&inputs[reg as usize]);
        }
    }
    needed
}

struct Survey {
    /// What each register is made of.
    inputs: Vec<Vec<Reg>>,
    /// What effects are made of.
    roots: Vec<Reg>,
    /// The conditions of the branches that are open.
    conditions: Vec<Reg>,
}

impl Survey {
    fn block(&mut self, block: &Block) {
        for node in block {
            let mut reads = Vec::new();
            node.for_each_read(&mut |reg| reads.push(reg));
            match node {
                Node::Store { .. }
                | Node::Atomic { .. }
                | Node::Leave(_)
                | Node::Loop(_)
                | Node::Barrier => {
                    self.roots.extend(reads);
                    self.roots.extend_from_slice(&self.conditions);
                }
                // What a variable is depends on whether it is set.
                Node::Set { var, .. } => self.depends(*var..*var + 1, &reads),
                Node::SetIndexed { element, .. } => {
                    self.depends(element.base..element.base + element.count, &reads);
                }
                _ => {
                    for reg in node.written() {
                        self.inputs[reg as usize].extend_from_slice(&reads);
                    }
                }
            }
            if let Node::If { condition, .. } = node {
                self.conditions.push(*condition);
            }
            node.blocks().for_each(|inner| self.block(inner));
            if let Node::If { .. } = node {
                self.conditions.pop();
            }
        }
    }

    fn depends(&mut self, variables: std::ops::Range<Reg>, reads: &[Reg]) {
        for var in variables {
            let inputs = &mut self.inputs[var as usize];
            inputs.extend_from_slice(reads);
            inputs.extend_from_slice(&self.conditions);
        }
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
