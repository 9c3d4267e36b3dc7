//! Which registers hold the same value in every thread of a threadgroup.
//!
//! Such a value is computed once instead of once a lane, and a branch on it is a real branch. A
//! register varies if it is computed from what varies. A variable also varies if it is assigned
//! while some threads are elsewhere *and will see the variable again*: threads that returned, or
//! left a loop after which the variable is dead, do not count.

use super::form::{Block, Compute, Lowered, Node, Reg};
use super::survey::{Construct, Survey, Use};
use crate::ir::Builtin;

/// The analysis' result.
#[derive(Clone, Debug)]
pub struct Uniformity {
    /// For each register: whether threads may differ.
    pub varying: Vec<bool>,
    /// For each scope: whether some threads may leave it before others.
    pub divergent: Vec<bool>,
}

struct Analysis<'a> {
    survey: &'a Survey,
    /// For each register, [`Survey::home`].
    homes: Vec<usize>,
    /// For each register, the last position that reads it.
    last_reads: Vec<u32>,
    varying: Vec<bool>,
    divergent: Vec<bool>,
    changed: bool,
}

/// Analyses a kernel.
pub fn analyze(lowered: &Lowered, survey: &Survey) -> Uniformity {
    let count = lowered.kinds.len();
    let last_read = |reg: usize| {
        let reads = survey.references[reg].iter();
        let reads = reads.filter(|r| r.way == Use::Read);
        reads.map(|r| r.position).max().unwrap_or(0)
    };
    let mut analysis = Analysis {
        survey,
        homes: (0..count).map(|reg| survey.home(reg as Reg)).collect(),
        last_reads: (0..count).map(last_read).collect(),
        varying: vec![false; count],
        divergent: vec![false; lowered.scopes as usize],
        changed: true,
    };
    while std::mem::take(&mut analysis.changed) {
        analysis.visit(&lowered.body, 0, &mut 0);
        analysis.groups_agree();
        analysis.leaves_diverge();
    }
    Uniformity {
        varying: analysis.varying,
        divergent: analysis.divergent,
    }
}

impl Analysis<'_> {
    fn mark(&mut self, reg: Reg) {
        let varying = &mut self.varying[reg as usize];
        self.changed |= !*varying;
        *varying = true;
    }

    /// Propagates once; blocks are met in the order in which the survey numbered them.
    fn visit(&mut self, nodes: &Block, block: usize, next: &mut usize) {
        for node in nodes {
            let mut varies = false;
            node.for_each_read(&mut |reg| varies |= self.varying[reg as usize]);
            varies |= match node {
                Node::Compute {
                    op: Compute::Builtin(builtin, _),
                    ..
                } => differs(*builtin),
                Node::Load { address, .. } => address.is_private,
                Node::Simd { .. } | Node::Atomic { .. } => true,
                Node::Set { var, .. } => self.misses_threads(*var, block),
                _ => false,
            };
            if varies {
                node.written().for_each(|reg| self.mark(reg));
            }
            if let Node::SetIndexed { element, .. } = node
                && (varies || self.misses_threads(element.base, block))
            {
                self.mark(element.base);
            }
            for inner in node.blocks() {
                *next += 1;
                self.visit(inner, *next, next);
            }
        }
    }

    /// Variables that one index reaches are of one sort.
    fn groups_agree(&mut self) {
        for &(base, count) in &self.survey.groups {
            if (base..base + count).any(|reg| self.varying[reg as usize]) {
                (base..base + count).for_each(|reg| self.mark(reg));
            }
        }
    }

    /// Whether an assignment in `block` may miss threads that see the variable again. Of a group the
    /// first variable stands for all.
    fn misses_threads(&self, var: Reg, mut block: usize) -> bool {
        let home = self.group_home(var);
        let last = self.group_last_read(var);
        while block != home && block != 0 {
            let info = self.survey.blocks[block];
            let misses = match info.construct {
                Construct::Branch(condition) => self.varying[condition as usize],
                Construct::Scope(id) => {
                    self.divergent[id as usize]
                        && (last > info.end || self.survey.in_loop(info.parent, home))
                }
                Construct::Loop | Construct::Root => false,
            };
            if misses {
                return true;
            }
            block = info.parent;
        }
        false
    }

    fn group_home(&self, var: Reg) -> usize {
        let mut homes = self.survey.group(var).map(|reg| self.homes[reg as usize]);
        let first = homes.next().unwrap_or(0);
        homes.fold(first, |a, b| self.survey.common(a, b))
    }

    fn group_last_read(&self, var: Reg) -> u32 {
        let reads = self
            .survey
            .group(var)
            .map(|reg| self.last_reads[reg as usize]);
        reads.max().unwrap_or(0)
    }

    /// A scope diverges if a branch or another scope on the way to one of its exits does.
    fn leaves_diverge(&mut self) {
        for &(start, scope) in &self.survey.leaves {
            let mut block = start;
            while block != 0 {
                let info = self.survey.blocks[block];
                let diverges = match info.construct {
                    Construct::Scope(id) if id == scope => break,
                    Construct::Scope(id) => self.divergent[id as usize],
                    Construct::Branch(condition) => self.varying[condition as usize],
                    Construct::Loop | Construct::Root => false,
                };
                if diverges {
                    self.changed |= !self.divergent[scope as usize];
                    self.divergent[scope as usize] = true;
                }
                block = info.parent;
            }
        }
    }
}

/// Whether what the dispatch tells a thread differs between threads of a threadgroup.
fn differs(builtin: Builtin) -> bool {
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
