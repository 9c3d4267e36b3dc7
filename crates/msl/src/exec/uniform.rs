//! Which registers hold the same value in every thread of a threadgroup.
//!
//! Such a value is computed once instead of once a lane, and a branch on it is a real branch. A
//! register varies if it is computed from what varies. A variable also varies if it is assigned
//! while some threads are elsewhere *and will see the variable again*: threads that returned, or
//! left a loop after which the variable is dead, do not count.

use super::flat::{Address, Block, Compute, Flat, Indexed, Node, Reg, ScopeId};
use crate::ir::Builtin;

/// The analysis' result.
#[derive(Clone, Debug)]
pub struct Uniformity {
    /// For each register: whether lanes may differ.
    pub varying: Vec<bool>,
    /// For each scope: whether some lanes may leave it before others.
    pub divergent: Vec<bool>,
    /// Variables that one index reaches: the first, and how many.
    pub groups: Vec<(Reg, u32)>,
    /// For each register: the first and the last node that needs it, counted in source order, whole
    /// loops included where it outlives a round.
    pub lives: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
enum Construct {
    Root,
    Branch(Reg),
    Scope(ScopeId),
    Loop,
}

#[derive(Clone, Copy, Debug)]
struct BlockInfo {
    parent: usize,
    depth: u32,
    construct: Construct,
    start: u32,
    end: u32,
}

/// A use of a register.
#[derive(Clone, Copy, Debug)]
struct Reference {
    block: usize,
    position: u32,
    /// Defines the register, or sets the whole variable (not under an index).
    is_set: bool,
}

struct Analysis<'a> {
    flat: &'a Flat,
    blocks: Vec<BlockInfo>,
    /// The block of each leave, with its scope.
    leaves: Vec<(usize, ScopeId)>,
    references: Vec<Vec<Reference>>,
    groups: Vec<(Reg, u32)>,
    position: u32,
    varying: Vec<bool>,
    divergent: Vec<bool>,
    changed: bool,
}

/// Analyses a kernel.
pub fn analyze(flat: &Flat) -> Uniformity {
    let root = BlockInfo {
        parent: 0,
        depth: 0,
        construct: Construct::Root,
        start: 0,
        end: u32::MAX,
    };
    let mut analysis = Analysis {
        flat,
        blocks: vec![root],
        leaves: Vec::new(),
        references: vec![Vec::new(); flat.kinds.len()],
        groups: Vec::new(),
        position: 0,
        varying: vec![false; flat.kinds.len()],
        divergent: vec![false; flat.scopes as usize],
        changed: true,
    };
    analysis.survey(&flat.body, 0);
    analysis.groups.sort_unstable();
    analysis.groups.dedup();
    let homes: Vec<usize> = (0..flat.kinds.len())
        .map(|reg| analysis.home(reg))
        .collect();
    while std::mem::take(&mut analysis.changed) {
        let mut next = 0;
        analysis.visit(&flat.body, 0, &mut next, &homes);
        analysis.leaves_diverge();
    }
    let lives = (0..flat.kinds.len())
        .map(|reg| analysis.life(reg, homes[reg]))
        .collect();
    Uniformity {
        varying: analysis.varying,
        divergent: analysis.divergent,
        groups: analysis.groups,
        lives,
    }
}

/// Calls `visit` with every register a node itself reads.
pub fn for_each_read(node: &Node, visit: &mut dyn FnMut(Reg)) {
    let address = |a: &Address, visit: &mut dyn FnMut(Reg)| {
        a.pointer
            .into_iter()
            .chain(a.index.map(|(reg, _)| reg))
            .for_each(visit);
    };
    let group = |e: &Indexed, visit: &mut dyn FnMut(Reg)| {
        e.terms.iter().for_each(|&(reg, _)| visit(reg));
    };
    match node {
        Node::Compute { args, .. } | Node::Simd { args, .. } => args.iter().for_each(|&a| visit(a)),
        Node::Load { address: a, .. } => address(a, visit),
        Node::Store {
            values, address: a, ..
        } => {
            values.iter().for_each(|&v| visit(v));
            address(a, visit);
        }
        Node::Set { value, .. } => visit(*value),
        Node::GetIndexed { element, .. } => {
            group(element, visit);
            (element.base..element.base + element.count).for_each(visit);
        }
        Node::SetIndexed { element, value } => {
            group(element, visit);
            visit(*value);
        }
        Node::Atomic {
            args, address: a, ..
        } => {
            args.iter().for_each(|&v| visit(v));
            address(a, visit);
        }
        Node::If { condition, .. } => visit(*condition),
        Node::Scope(..) | Node::Leave(_) | Node::Loop(_) | Node::Barrier => {}
    }
}

impl Analysis<'_> {
    fn open(&mut self, parent: usize, construct: Construct) -> usize {
        let depth = self.blocks[parent].depth + 1;
        let start = self.position;
        self.blocks.push(BlockInfo {
            parent,
            depth,
            construct,
            start,
            end: u32::MAX,
        });
        self.blocks.len() - 1
    }

    /// Numbers blocks and notes where variables are used.
    fn survey(&mut self, nodes: &Block, block: usize) {
        for node in nodes {
            self.position += 1;
            let position = self.position;
            let mut reads = Vec::new();
            for_each_read(node, &mut |reg| reads.push(reg));
            for reg in reads {
                self.refer(
                    reg,
                    Reference {
                        block,
                        position,
                        is_set: false,
                    },
                );
            }
            match node {
                Node::Set { var: dst, .. }
                | Node::Compute { dst, .. }
                | Node::Simd { dst, .. }
                | Node::Atomic { dst: Some(dst), .. } => {
                    self.refer(
                        *dst,
                        Reference {
                            block,
                            position,
                            is_set: true,
                        },
                    );
                }
                Node::Load { dst, count, .. } => {
                    for reg in *dst..dst + count {
                        self.refer(
                            reg,
                            Reference {
                                block,
                                position,
                                is_set: true,
                            },
                        );
                    }
                }
                Node::GetIndexed { dst, element } => {
                    self.groups.push((element.base, element.count));
                    self.refer(
                        *dst,
                        Reference {
                            block,
                            position,
                            is_set: true,
                        },
                    );
                }
                Node::SetIndexed { element, .. } => {
                    self.groups.push((element.base, element.count));
                    for reg in element.base..element.base + element.count {
                        self.refer(
                            reg,
                            Reference {
                                block,
                                position,
                                is_set: false,
                            },
                        );
                    }
                }
                Node::If {
                    condition,
                    accept,
                    reject,
                } => {
                    for branch in [accept, reject] {
                        let inner = self.open(block, Construct::Branch(*condition));
                        self.survey(branch, inner);
                        self.blocks[inner].end = self.position;
                        // The second branch needs the condition once more.
                        let position = self.position;
                        self.refer(
                            *condition,
                            Reference {
                                block,
                                position,
                                is_set: false,
                            },
                        );
                    }
                }
                Node::Scope(id, body) => {
                    let inner = self.open(block, Construct::Scope(*id));
                    self.survey(body, inner);
                    self.blocks[inner].end = self.position;
                }
                Node::Loop(body) => {
                    let inner = self.open(block, Construct::Loop);
                    self.survey(body, inner);
                    self.blocks[inner].end = self.position;
                }
                Node::Leave(scope) => self.leaves.push((block, *scope)),
                _ => {}
            }
        }
    }

    fn refer(&mut self, reg: Reg, reference: Reference) {
        self.references[reg as usize].push(reference);
    }

    /// From the first to the last node that needs a register.
    fn life(&self, reg: usize, home: usize) -> (u32, u32) {
        let (mut start, mut end) = (u32::MAX, 0);
        for reference in &self.references[reg] {
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

    /// The innermost block that a variable's whole life is in.
    fn home(&self, reg: usize) -> usize {
        let Some((first, rest)) = self.references[reg].split_first() else {
            return 0;
        };
        let home = rest
            .iter()
            .fold(first.block, |block, r| self.common(block, r.block));
        if !self.flat.is_variable[reg] {
            return first.block;
        }
        if first.is_set && first.block == home {
            return home;
        }
        // It may carry a value from one round of a loop to the next: it lives outside of them.
        let (mut block, mut outermost) = (home, home);
        while block != 0 {
            if matches!(self.blocks[block].construct, Construct::Loop) {
                outermost = self.blocks[block].parent;
            }
            block = self.blocks[block].parent;
        }
        outermost
    }

    fn common(&self, mut a: usize, mut b: usize) -> usize {
        while a != b {
            if self.blocks[a].depth >= self.blocks[b].depth {
                a = self.blocks[a].parent;
            } else {
                b = self.blocks[b].parent;
            }
        }
        a
    }

    fn mark(&mut self, reg: Reg) {
        let varying = &mut self.varying[reg as usize];
        self.changed |= !*varying;
        *varying = true;
    }

    /// Propagates once; blocks are met in the order that `survey` numbered them.
    fn visit(&mut self, nodes: &Block, block: usize, next: &mut usize, homes: &[usize]) {
        for node in nodes {
            let mut any = false;
            for_each_read(node, &mut |reg| any |= self.varying[reg as usize]);
            match node {
                Node::Compute { op, dst, .. } => {
                    let inherent = matches!(op, Compute::Builtin(builtin, _) if varies(*builtin));
                    if any || inherent {
                        self.mark(*dst);
                    }
                }
                Node::Load {
                    dst,
                    count,
                    address,
                    ..
                } => {
                    if any || address.is_private {
                        (*dst..dst + count).for_each(|reg| self.mark(reg));
                    }
                }
                Node::Simd { dst, .. } => self.mark(*dst),
                Node::Atomic { dst, .. } => dst.iter().for_each(|&reg| self.mark(reg)),
                Node::Set { var, .. } => {
                    if any || self.diverges(*var, block, homes) {
                        self.mark(*var);
                    }
                }
                Node::GetIndexed { dst, .. } => {
                    if any {
                        self.mark(*dst);
                    }
                }
                Node::SetIndexed { element, .. } => {
                    if any || self.diverges(element.base, block, homes) {
                        self.mark(element.base);
                    }
                }
                Node::If { accept, reject, .. } => {
                    for branch in [accept, reject] {
                        *next += 1;
                        self.visit(branch, *next, next, homes);
                    }
                }
                Node::Scope(_, body) | Node::Loop(body) => {
                    *next += 1;
                    self.visit(body, *next, next, homes);
                }
                Node::Store { .. } | Node::Leave(_) | Node::Barrier => {}
            }
        }
        if block == 0 {
            // Variables that one index reaches are of one sort.
            for (base, count) in self.groups.clone() {
                if (base..base + count).any(|reg| self.varying[reg as usize]) {
                    (base..base + count).for_each(|reg| self.mark(reg));
                }
            }
        }
    }

    /// Whether an assignment in `block` may miss threads that see the variable again.
    fn diverges(&self, var: Reg, mut block: usize, homes: &[usize]) -> bool {
        let home = homes[var as usize];
        let last = self.references[var as usize]
            .iter()
            .map(|r| r.position)
            .max()
            .unwrap_or(0);
        while block != home && block != 0 {
            let info = self.blocks[block];
            let diverges = match info.construct {
                Construct::Branch(condition) => self.varying[condition as usize],
                Construct::Scope(id) => {
                    self.divergent[id as usize]
                        && (last > info.end || self.in_loop(info.parent, home))
                }
                Construct::Loop | Construct::Root => false,
            };
            if diverges {
                return true;
            }
            block = info.parent;
        }
        false
    }

    fn in_loop(&self, mut block: usize, home: usize) -> bool {
        while block != home && block != 0 {
            if matches!(self.blocks[block].construct, Construct::Loop) {
                return true;
            }
            block = self.blocks[block].parent;
        }
        false
    }

    fn leaves_diverge(&mut self) {
        for &(start, scope) in &self.leaves {
            let mut block = start;
            while block != 0 {
                let info = self.blocks[block];
                match info.construct {
                    Construct::Scope(id) if id == scope => break,
                    Construct::Scope(id) if self.divergent[id as usize] => {
                        self.changed |= !self.divergent[scope as usize];
                        self.divergent[scope as usize] = true;
                    }
                    Construct::Branch(condition) if self.varying[condition as usize] => {
                        self.changed |= !self.divergent[scope as usize];
                        self.divergent[scope as usize] = true;
                    }
                    _ => {}
                }
                block = info.parent;
            }
        }
    }
}

fn varies(builtin: Builtin) -> bool {
    use Builtin::*;
    matches!(
        builtin,
        ThreadPositionInGrid
            | ThreadPositionInThreadgroup
            | ThreadIndexInThreadgroup
            | ThreadIndexInSimdgroup
            | ThreadIndexInQuadgroup
            | SimdgroupIndexInThreadgroup
            | QuadgroupIndexInThreadgroup
    )
}
