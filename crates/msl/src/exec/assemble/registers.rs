//! Which row of the frame every register has, and when.

use super::{Assembler, CONSTANT_ROWS, Group};
use crate::exec::lanes::control;
use crate::exec::machine::{Instruction, Operand};
use crate::lower::form::{Block, Kind, Node, Reg};
use crate::lower::survey::Survey;

impl Assembler<'_> {
    /// Decides where every register starts and ends.
    pub(super) fn plan(&mut self, survey: &Survey) {
        let count = self.lowered.kinds.len();
        let mut grouped = vec![false; count];
        let mut groups: Vec<Group> = Vec::new();
        for &(base, count) in &survey.groups {
            groups.push(Group { base, count });
        }
        collect_loads(&self.lowered.body, &mut groups);
        for group in &groups {
            for reg in group.base..group.base + group.count {
                grouped[reg as usize] = true;
            }
        }
        groups.extend(
            (0..count as Reg)
                .filter(|&r| !grouped[r as usize])
                .map(|base| Group { base, count: 1 }),
        );
        for group in groups {
            let regs = group.base..group.base + group.count;
            if !self.uniformity.varying[group.base as usize] {
                for reg in regs {
                    self.homes[reg as usize] = Some(Operand::uniform(self.code.uniforms));
                    self.code.uniforms += 1;
                }
                continue;
            }
            let lives = regs.map(|reg| survey.life(reg, survey.home(reg)));
            let (start, end) = lives.fold((u32::MAX, 0), |(s, e), (start, end)| {
                (s.min(start), e.max(end))
            });
            if start <= end {
                self.starts.entry(start).or_default().push(group);
                self.ends.entry(end).or_default().push(group);
            }
        }
    }

    pub(super) fn kind(&self, reg: Reg) -> Kind {
        self.lowered.kinds[reg as usize]
    }

    pub(super) fn take(&mut self, words: u32) -> u32 {
        let words = words as usize;
        let mut free = 0;
        for at in 0..self.used.len() {
            free = if self.used[at] { 0 } else { free + 1 };
            if free == words {
                let start = at + 1 - words;
                self.used[start..=at].fill(true);
                return start as u32;
            }
        }
        let start = self.used.len() - free;
        self.used.resize(start + words, true);
        self.used[start..].fill(true);
        start as u32
    }

    pub(super) fn release(&mut self, start: u32, words: u32) {
        self.used[start as usize..(start + words) as usize].fill(false);
    }

    pub(super) fn begin(&mut self, position: u32) {
        for group in self.starts.remove(&position).unwrap_or_default() {
            let words = self.kind(group.base).words();
            let regs = group.base..group.base + group.count;
            let total: u32 = regs.clone().map(|r| self.kind(r).words()).sum();
            let start = self.take(total);
            for (i, reg) in (0..).zip(regs) {
                self.homes[reg as usize] = Some(Operand::lanes(start + i * words));
            }
        }
    }

    pub(super) fn finish_node(&mut self, position: u32) {
        for (start, words) in std::mem::take(&mut self.temporaries) {
            self.release(start, words);
        }
        for group in self.ends.remove(&position).unwrap_or_default() {
            let regs = group.base..group.base + group.count;
            let total: u32 = regs.map(|r| self.kind(r).words()).sum();
            if let Some(start) = self.homes[group.base as usize].and_then(Operand::word) {
                self.release(start, total);
            }
        }
    }

    pub(super) fn operand(&self, reg: Reg) -> Operand {
        self.homes[reg as usize].unwrap_or(Operand::uniform(0))
    }

    /// The register as a row, made from a uniform one if need be.
    pub(super) fn row(&mut self, reg: Reg) -> Operand {
        let operand = self.operand(reg);
        if !operand.is_uniform() {
            return operand;
        }
        let words = self.kind(reg).words();
        if let Some(&bits) = self.literals.get(&reg) {
            return self.constant_row(bits, words);
        }
        let start = self.take(words);
        self.temporaries.push((start, words));
        let dst = Operand::lanes(start);
        let run = control::splat(words, self.isa);
        self.push(Instruction {
            run,
            dst,
            args: [operand; 3],
            mask: 0,
            aux: 0,
        });
        dst
    }

    pub(super) fn constant_row(&mut self, bits: u64, words: u32) -> Operand {
        if let Some(&row) = self.constant_rows.get(&(bits, words)) {
            return row;
        }
        let row = Operand::lanes(CONSTANT_ROWS + self.constant_words);
        self.constant_words += words;
        self.constant_rows.insert((bits, words), row);
        self.code.constants.push((row, bits, words));
        row
    }

    /// Moves constant rows behind the others, now that their number is known, and jumps to where
    /// their labels are.
    pub(super) fn finish(&mut self) {
        let frame = self.used.len() as u32;
        let fix = |operand: &mut Operand| {
            if let Some(word) = operand.word().filter(|&w| w >= CONSTANT_ROWS) {
                *operand = Operand::lanes(word - CONSTANT_ROWS + frame);
            }
        };
        for instruction in &mut self.code.instructions {
            fix(&mut instruction.dst);
            instruction.args.iter_mut().for_each(fix);
        }
        for &jump in &self.jumps {
            let instruction = &mut self.code.instructions[jump];
            instruction.aux = self.labels[instruction.aux as usize] as u32;
        }
        for access in &mut self.code.accesses {
            if access.atomic.is_some() {
                access.registers[..3].iter_mut().for_each(fix);
            } else {
                access.registers.iter_mut().for_each(fix);
            }
            access.pointer.iter_mut().for_each(fix);
            access
                .index
                .iter_mut()
                .for_each(|(operand, _)| fix(operand));
        }
        for access in &mut self.code.indexed {
            access
                .terms
                .iter_mut()
                .for_each(|(operand, ..)| fix(operand));
        }
        self.code
            .constants
            .iter_mut()
            .for_each(|(operand, ..)| fix(operand));
        self.code.frame_words = frame + self.constant_words;
    }
}

/// Loads of several scalars have their results side by side.
fn collect_loads(block: &Block, groups: &mut Vec<Group>) {
    for node in block {
        match node {
            Node::Load { dst, count, .. } if *count > 1 => {
                groups.push(Group {
                    base: *dst,
                    count: *count,
                });
            }
            _ => node.blocks().for_each(|inner| collect_loads(inner, groups)),
        }
    }
}
