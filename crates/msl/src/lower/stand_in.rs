//! Variables that stand for one value: assigned as a whole, once, before everything that reads them.
//!
//! They need no memory and no registers of their own, and pointers kept in them stay known places.

use super::typed::{Block, Inlined, Node};
use crate::ir::{Handle, Local, Op, PlaceBase, Projection};

/// Whether each variable stands for the value that it is assigned.
pub fn stand_ins(kernel: &Inlined) -> Vec<bool> {
    let mut survey = Survey {
        found: vec![Found::default(); kernel.locals.len()],
        open: Vec::new(),
        blocks: 0,
    };
    survey.block(&kernel.body);
    survey.found.iter().map(|found| found.is_one()).collect()
}

#[derive(Clone, Debug, Default)]
struct Found {
    /// The block of the one assignment.
    block: Option<u32>,
    /// Whether something else happens to the variable.
    is_other: bool,
}

impl Found {
    fn is_one(&self) -> bool {
        self.block.is_some() && !self.is_other
    }
}

struct Survey {
    found: Vec<Found>,
    /// The blocks that are open, by number.
    open: Vec<u32>,
    blocks: u32,
}

impl Survey {
    fn block(&mut self, block: &Block) {
        self.blocks += 1;
        self.open.push(self.blocks);
        for node in block {
            if let Some(place) = node.place()
                && let PlaceBase::Local(local) = place.base
            {
                let computed = |p: &Projection| matches!(p, Projection::Index(_));
                match node {
                    Node::Store { .. } if place.path.is_empty() => self.assigned(local),
                    Node::Let(_, Op::Load(_)) if !place.path.iter().any(computed) => {
                        self.read(local);
                    }
                    _ => self.found[local.index()].is_other = true,
                }
            }
            for inner in node.blocks() {
                self.block(inner);
            }
        }
        self.open.pop();
    }

    fn assigned(&mut self, local: Handle<Local>) {
        let here = self.open.last().copied();
        let found = &mut self.found[local.index()];
        found.is_other |= found.block.is_some();
        found.block = here;
    }

    /// A read is behind the assignment if that was met before, in a block that is still open.
    fn read(&mut self, local: Handle<Local>) {
        let found = &mut self.found[local.index()];
        found.is_other |= !found.block.is_some_and(|block| self.open.contains(&block));
    }
}
