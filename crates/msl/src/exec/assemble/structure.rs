//! Blocks, branches, scopes and loops: masks and jumps.

use std::collections::HashMap;

use super::{Assembler, Open, Result};
use crate::exec::lanes::control::{
    Jump, JumpIfFalse, JumpIfNone, MaskAnd, MaskAndNot, MaskCopy, MaskRemove,
};
use crate::exec::machine::Mask;
use crate::lower::form::{Block, Node, Reg, ScopeId};

/// The outermost mask that was taken lanes from; none.
pub(super) const NOBODY: usize = usize::MAX;

impl Assembler<'_> {
    /// Assembles a block; returns the outermost mask whose lanes may have left.
    pub(super) fn block(&mut self, block: &Block) -> Result<usize> {
        let mut left = NOBODY;
        for (i, node) in block.iter().enumerate() {
            let inner = self.node(node)?;
            left = left.min(inner);
            if matches!(node, Node::Leave(_)) {
                // What follows is never reached.
                block[i + 1..].iter().for_each(|node| self.skip(node));
                break;
            }
            let top = self.masks.len() - 1;
            if inner <= top {
                let (mask, end) = self.masks[top];
                self.jump::<JumpIfNone>(&[], mask, end);
            }
        }
        Ok(left)
    }

    /// Counts the nodes of code that is not assembled.
    pub(super) fn skip(&mut self, node: &Node) {
        self.position += 1;
        let position = self.position;
        self.begin(position);
        for inner in node.blocks() {
            inner.iter().for_each(|node| self.skip(node));
        }
        self.finish_node(position);
    }

    pub(super) fn branch(
        &mut self,
        condition: Reg,
        accept: &Block,
        reject: &Block,
    ) -> Result<usize> {
        let operand = self.operand(condition);
        if operand.is_uniform() {
            let (other, end) = (self.label(), self.label());
            self.jump::<JumpIfFalse>(&[operand], 0, other);
            let mut left = self.block(accept)?;
            if !reject.is_empty() {
                self.jump::<Jump>(&[], 0, end);
            }
            self.bind(other);
            left = left.min(self.block(reject)?);
            self.bind(end);
            return Ok(left);
        }
        let top = self.masks.len() - 1;
        let (current, current_end) = self.masks[top];
        // Leaving the scope whose mask is the current one needs no mask of its own.
        let leaves_top = |scopes: &HashMap<ScopeId, Open>, block: &Block| match block.as_slice() {
            [Node::Leave(scope)] => scopes
                .get(scope)
                .is_some_and(|s| s.divergent && s.level == top),
            _ => false,
        };
        if accept.is_empty() && leaves_top(&self.scopes, reject) {
            reject.iter().for_each(|node| self.skip(node));
            self.control::<MaskAnd>(&[operand], current, current);
            self.jump::<JumpIfNone>(&[], current, current_end);
            return Ok(top);
        }
        if reject.is_empty() && leaves_top(&self.scopes, accept) {
            accept.iter().for_each(|node| self.skip(node));
            self.control::<MaskAndNot>(&[operand], current, current);
            self.jump::<JumpIfNone>(&[], current, current_end);
            return Ok(top);
        }
        // Both masks are made before either branch runs, which may change what the condition is.
        let taken = self.masks_taken;
        let mut masked = Vec::new();
        for (block, is_accept) in [(accept, true), (reject, false)] {
            if block.is_empty() {
                continue;
            }
            let mask = self.new_mask();
            match is_accept {
                true => self.control::<MaskAnd>(&[operand], current, mask),
                false => self.control::<MaskAndNot>(&[operand], current, mask),
            }
            masked.push((block, mask));
        }
        let mut left = NOBODY;
        for (block, mask) in masked {
            let end = self.label();
            self.jump::<JumpIfNone>(&[], mask, end);
            self.masks.push((mask, end));
            left = left.min(self.block(block)?);
            self.masks.pop();
            self.bind(end);
        }
        self.masks_taken = taken;
        Ok(left)
    }

    fn new_mask(&mut self) -> Mask {
        self.masks_taken += 1;
        self.code.masks = self.code.masks.max(self.masks_taken);
        self.masks_taken
    }

    pub(super) fn scope(&mut self, id: ScopeId, body: &Block) -> Result<usize> {
        let end = self.label();
        let divergent = self.uniformity.divergent[id as usize];
        let level = self.masks.len();
        self.scopes.insert(
            id,
            Open {
                level,
                end,
                divergent,
            },
        );
        if divergent {
            let (mask, current) = (self.new_mask(), self.mask());
            self.control::<MaskCopy>(&[], current, mask);
            self.masks.push((mask, end));
        }
        let left = self.block(body)?;
        if divergent {
            self.masks.pop();
            self.masks_taken -= 1;
        }
        self.scopes.remove(&id);
        self.bind(end);
        // Lanes that only left this scope are back.
        Ok(if left >= level { NOBODY } else { left })
    }

    pub(super) fn leave(&mut self, scope: ScopeId) -> usize {
        let Some(open) = self.scopes.get(&scope).copied() else {
            return NOBODY;
        };
        if !open.divergent {
            self.jump::<Jump>(&[], 0, open.end);
            return NOBODY;
        }
        let top = self.masks.len() - 1;
        let (current, end) = self.masks[top];
        for level in open.level..top {
            let mask = self.masks[level].0;
            self.control::<MaskRemove>(&[], current, mask);
        }
        self.control::<MaskRemove>(&[], current, current);
        self.jump::<Jump>(&[], 0, end);
        open.level
    }
}
