//! Where registers are used: the tree of blocks, with every use of every register in it.
//!
//! Positions count nodes in source order, from 1; a node's blocks follow it.

use super::form::{Block, Lowered, Node, Reg, ScopeId};

/// The body of a kernel, numbered.
#[derive(Clone, Debug)]
pub struct Survey {
    /// The blocks, in source order; the first is the kernel's.
    pub blocks: Vec<BlockInfo>,
    /// The block of each [`Node::Leave`], with its scope.
    pub leaves: Vec<(usize, ScopeId)>,
    /// The uses of each register, in source order.
    pub references: Vec<Vec<Reference>>,
    /// Variables that one index reaches: the first, and how many.
    pub groups: Vec<(Reg, u32)>,
    position: u32,
}

/// What a block belongs to.
#[derive(Clone, Copy, Debug)]
pub enum Construct {
    /// The kernel.
    Root,
    /// A branch on this condition.
    Branch(Reg),
    /// A scope.
    Scope(ScopeId),
    /// A loop.
    Loop,
}

/// A block.
#[derive(Clone, Copy, Debug)]
pub struct BlockInfo {
    /// The block around it; its own number for the kernel's.
    pub parent: usize,
    /// How many blocks are around it.
    pub depth: u32,
    /// What it belongs to.
    pub construct: Construct,
    /// The position before its first node.
    pub start: u32,
    /// The position of its last node.
    pub end: u32,
}

/// How a register is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Read.
    Read,
    /// Defined, or set as a whole.
    Set,
    /// Perhaps set, by an index.
    SetByIndex,
}

/// A use of a register.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    /// The block of the node.
    pub block: usize,
    /// The position of the node.
    pub position: u32,
    /// How it is used.
    pub way: Use,
}

impl Survey {
    /// Numbers a kernel.
    pub fn new(lowered: &Lowered) -> Self {
        let root = BlockInfo {
            parent: 0,
            depth: 0,
            construct: Construct::Root,
            start: 0,
            end: u32::MAX,
        };
        let mut survey = Self {
            blocks: vec![root],
            leaves: Vec::new(),
            references: vec![Vec::new(); lowered.kinds.len()],
            groups: Vec::new(),
            position: 0,
        };
        survey.visit(&lowered.body, 0);
        survey.groups.sort_unstable();
        survey.groups.dedup();
        survey
    }

    fn visit(&mut self, nodes: &Block, block: usize) {
        for node in nodes {
            self.position += 1;
            let position = self.position;
            let mut refer = |reg: Reg, way: Use| {
                self.references[reg as usize].push(Reference {
                    block,
                    position,
                    way,
                });
            };
            node.for_each_read(&mut |reg| refer(reg, Use::Read));
            node.written().for_each(|reg| refer(reg, Use::Set));
            if let Some(element) = node.group() {
                if matches!(node, Node::SetIndexed { .. }) {
                    let group = element.base..element.base + element.count;
                    group.for_each(|reg| refer(reg, Use::SetByIndex));
                }
                self.groups.push((element.base, element.count));
            }
            let construct = match node {
                Node::If { condition, .. } => Construct::Branch(*condition),
                Node::Scope(id, _) => Construct::Scope(*id),
                Node::Loop(_) => Construct::Loop,
                Node::Leave(scope) => {
                    self.leaves.push((block, *scope));
                    continue;
                }
                _ => continue,
            };
            for inner in node.blocks() {
                let number = self.blocks.len();
                self.blocks.push(BlockInfo {
                    parent: block,
                    depth: self.blocks[block].depth + 1,
                    construct,
                    start: self.position,
                    end: u32::MAX,
                });
                self.visit(inner, number);
                self.blocks[number].end = self.position;
            }
        }
    }

    /// The innermost block that two blocks are in.
    pub fn common(&self, mut a: usize, mut b: usize) -> usize {
        while a != b {
            if self.blocks[a].depth >= self.blocks[b].depth {
                a = self.blocks[a].parent;
            } else {
                b = self.blocks[b].parent;
            }
        }
        a
    }

    /// Whether a block is `outer` or in it.
    pub fn is_inside(&self, block: usize, outer: usize) -> bool {
        self.common(block, outer) == outer
    }

    /// Whether there is a loop between a block and `outer`, the block itself counted.
    pub fn in_loop(&self, mut block: usize, outer: usize) -> bool {
        while block != outer && block != 0 {
            if matches!(self.blocks[block].construct, Construct::Loop) {
                return true;
            }
            block = self.blocks[block].parent;
        }
        false
    }

    /// The innermost block that all of a register's life is in: nothing of it is carried into the
    /// block, or from one of its rounds to the next.
    pub fn home(&self, reg: Reg) -> usize {
        let Some((first, rest)) = self.references[reg as usize].split_first() else {
            return 0;
        };
        let common = rest
            .iter()
            .fold(first.block, |block, r| self.common(block, r.block));
        if first.way == Use::Set && first.block == common {
            return common;
        }
        // It may carry a value from one round of a loop to the next: it lives outside of them.
        let (mut block, mut outermost) = (common, common);
        while block != 0 {
            if matches!(self.blocks[block].construct, Construct::Loop) {
                outermost = self.blocks[block].parent;
            }
            block = self.blocks[block].parent;
        }
        outermost
    }

    /// The first and the last position that need a register; a loop in its home that uses it needs
    /// it from its start to its end.
    pub fn life(&self, reg: Reg, home: usize) -> (u32, u32) {
        let (mut start, mut end) = (u32::MAX, 0);
        for reference in &self.references[reg as usize] {
            start = start.min(reference.position);
            end = end.max(reference.position);
            let mut block = reference.block;
            while block != home && block != 0 {
                let info = self.blocks[block];
                if matches!(info.construct, Construct::Loop) {
                    start = start.min(info.start);
                    end = end.max(info.end);
                }
                block = info.parent;
            }
        }
        (start, end)
    }

    /// The variables that an index reaches together with this one; it alone if none does.
    pub fn group(&self, var: Reg) -> std::ops::Range<Reg> {
        let after = self.groups.partition_point(|&(base, _)| base <= var);
        let group = after.checked_sub(1).and_then(|i| self.groups.get(i));
        match group {
            Some(&(base, count)) if var < base + count => base..base + count,
            _ => var..var + 1,
        }
    }
}
