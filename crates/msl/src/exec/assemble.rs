//! From a flat kernel to instructions: registers, masks, jumps.
//!
//! Every piece of code that only some lanes may run has a mask register. Masks nest; the innermost
//! is the current one. A lane that leaves a scope is taken out of all masks up to the scope's own,
//! and code whose mask has run empty is jumped over.

use std::collections::HashMap;

use super::code::{Access, Code, IndexKind, IndexedAccess};
use super::flat::{Address, Block, Compute, Flat, Indexed, Kind, Node, Reg, ScopeId};
use super::flatten::Unsupported;
use super::isa::{Isa, Lanes, Run, version};
use super::lanes::control::{
    Jump, JumpBack, JumpIfFalse, JumpIfNone, MaskAnd, MaskAndNot, MaskCopy, MaskRemove,
};
use super::lanes::{arithmetic, builtin, control, convert, maths, memory, shape, simd};
use super::machine::{Instruction, Mask, Operand};
use super::uniform::{self, Uniformity};
use crate::diag::{Sources, Span};
use crate::ir::{BinaryOp, Scalar, SimdOp};

/// Rows that hold constants are numbered from here until the frame's size is known.
const CONSTANT_ROWS: u32 = 1 << 24;

/// Assembles a kernel.
pub fn assemble(
    kernel: &str,
    flat: Flat,
    sources: &Sources,
    isa: Isa,
) -> Result<Code, Unsupported> {
    let uniformity = uniform::analyze(&flat);
    let mut assembler = Assembler {
        flat: &flat,
        uniformity: &uniformity,
        isa,
        sources,
        code: Code {
            kernel: kernel.to_string(),
            ..Code::default()
        },
        homes: vec![None; flat.kinds.len()],
        used: Vec::new(),
        temporaries: Vec::new(),
        starts: HashMap::new(),
        ends: HashMap::new(),
        literals: HashMap::new(),
        constant_rows: HashMap::new(),
        constant_words: 0,
        position: 0,
        labels: Vec::new(),
        masks: vec![(0, 0)],
        scopes: HashMap::new(),
        spans: HashMap::new(),
        loop_depth: 0,
        jumps: Vec::new(),
    };
    assembler.plan();
    let end = assembler.label();
    assembler.masks[0].1 = end;
    assembler.block(&flat.body)?;
    assembler.bind(end);
    assembler.finish();
    let mut code = assembler.code;
    code.slots = flat.slots.clone();
    code.private_size = flat.private_size;
    Ok(code)
}

type Label = usize;
type Result_<T> = Result<T, Unsupported>;

/// Registers that are placed together, one behind the other.
#[derive(Clone, Copy, Debug)]
struct Group {
    base: Reg,
    count: u32,
}

/// A scope that is open.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// The index of its own mask in the stack of masks, if lanes may leave it early.
    level: usize,
    end: Label,
    divergent: bool,
}

struct Assembler<'a> {
    flat: &'a Flat,
    uniformity: &'a Uniformity,
    isa: Isa,
    sources: &'a Sources,
    code: Code,
    homes: Vec<Option<Operand>>,
    /// Which words of the frame are taken.
    used: Vec<bool>,
    /// Words that the current node borrowed.
    temporaries: Vec<(u32, u32)>,
    starts: HashMap<u32, Vec<Group>>,
    ends: HashMap<u32, Vec<Group>>,
    literals: HashMap<Reg, u64>,
    constant_rows: HashMap<(u64, u32), Operand>,
    constant_words: u32,
    position: u32,
    labels: Vec<usize>,
    /// Masks, outermost first, and where to go when one is empty.
    masks: Vec<(Mask, Label)>,
    scopes: HashMap<ScopeId, Open>,
    spans: HashMap<(u32, u32), u32>,
    loop_depth: u32,
    /// The instructions whose `aux` is a label.
    jumps: Vec<usize>,
}

/// The outermost mask that was taken lanes from; none.
const NOBODY: usize = usize::MAX;

impl Assembler<'_> {
    // ---- registers ----

    /// Decides where every register starts and ends.
    fn plan(&mut self) {
        let count = self.flat.kinds.len();
        let mut grouped = vec![false; count];
        let mut groups: Vec<Group> = Vec::new();
        for &(base, count) in &self.uniformity.groups {
            groups.push(Group { base, count });
        }
        collect_loads(&self.flat.body, &mut groups);
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
            let lives = regs.map(|reg| self.uniformity.lives[reg as usize]);
            let (start, end) = lives.fold((u32::MAX, 0), |(s, e), (start, end)| {
                (s.min(start), e.max(end))
            });
            if start <= end {
                self.starts.entry(start).or_default().push(group);
                self.ends.entry(end).or_default().push(group);
            }
        }
    }

    fn kind(&self, reg: Reg) -> Kind {
        self.flat.kinds[reg as usize]
    }

    fn take(&mut self, words: u32) -> u32 {
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

    fn release(&mut self, start: u32, words: u32) {
        self.used[start as usize..(start + words) as usize].fill(false);
    }

    fn begin(&mut self, position: u32) {
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

    fn finish_node(&mut self, position: u32) {
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

    fn operand(&self, reg: Reg) -> Operand {
        self.homes[reg as usize].unwrap_or(Operand::uniform(0))
    }

    /// The register as a row, made from a uniform one if need be.
    fn row(&mut self, reg: Reg) -> Operand {
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

    fn constant_row(&mut self, bits: u64, words: u32) -> Operand {
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
    fn finish(&mut self) {
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

    // ---- instructions ----

    fn push(&mut self, instruction: Instruction) {
        if !instruction.dst.is_uniform() {
            self.code.weight += 1 << (4 * self.loop_depth.min(6));
        }
        self.code.instructions.push(instruction);
    }

    fn mask(&self) -> Mask {
        self.masks[self.masks.len() - 1].0
    }

    fn emit(&mut self, run: Run, dst: Operand, args: &[Operand], aux: u32) {
        let first = args.first().copied().unwrap_or(dst);
        let args = std::array::from_fn(|i| args.get(i).copied().unwrap_or(first));
        self.push(Instruction {
            run,
            dst,
            args,
            mask: self.mask(),
            aux,
        });
    }

    /// An instruction that steers.
    fn control<L: Lanes>(&mut self, args: &[Operand], mask: Mask, aux: u32) {
        let none = Operand::uniform(0);
        let args = std::array::from_fn(|i| args.get(i).copied().unwrap_or(none));
        let run = version::<L>(self.isa);
        self.code.instructions.push(Instruction {
            run,
            dst: none,
            args,
            mask,
            aux,
        });
    }

    fn jump<L: Lanes>(&mut self, args: &[Operand], mask: Mask, to: Label) {
        self.jumps.push(self.code.instructions.len());
        self.control::<L>(args, mask, to as u32);
    }

    fn label(&mut self) -> Label {
        self.labels.push(usize::MAX);
        self.labels.len() - 1
    }

    fn bind(&mut self, label: Label) {
        self.labels[label] = self.code.instructions.len();
    }

    fn place(&mut self, span: Span) -> u32 {
        if let Some(&place) = self.spans.get(&(span.start, span.end)) {
            return place;
        }
        let text = self
            .sources
            .place(span)
            .map_or_else(String::new, |(source, line, column)| {
                format!("{}:{line}:{column}", source.name())
            });
        self.code.places.push(text);
        let place = self.code.places.len() as u32 - 1;
        self.spans.insert((span.start, span.end), place);
        place
    }

    // ---- structure ----

    /// Assembles a block; returns the outermost mask whose lanes may have left.
    fn block(&mut self, block: &Block) -> Result_<usize> {
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
    fn skip(&mut self, node: &Node) {
        self.position += 1;
        let position = self.position;
        self.begin(position);
        match node {
            Node::If { accept, reject, .. } => {
                accept.iter().chain(reject).for_each(|node| self.skip(node));
            }
            Node::Scope(_, body) | Node::Loop(body) => body.iter().for_each(|node| self.skip(node)),
            _ => {}
        }
        self.finish_node(position);
    }

    fn node(&mut self, node: &Node) -> Result_<usize> {
        self.position += 1;
        let position = self.position;
        self.begin(position);
        match node {
            Node::If {
                condition,
                accept,
                reject,
            } => {
                self.finish_node(position);
                return self.branch(*condition, accept, reject);
            }
            Node::Scope(id, body) => {
                self.finish_node(position);
                return self.scope(*id, body);
            }
            Node::Loop(body) => {
                self.finish_node(position);
                let start = self.label();
                self.bind(start);
                self.loop_depth += 1;
                let left = self.block(body)?;
                self.loop_depth -= 1;
                self.jump::<JumpBack>(&[], 0, start);
                return Ok(left);
            }
            Node::Leave(scope) => {
                self.finish_node(position);
                return Ok(self.leave(*scope));
            }
            Node::Compute { op, dst, args } => self.compute(*op, *dst, args)?,
            Node::Set { var, value } => {
                let run = control::assign(self.kind(*var).words(), self.isa);
                self.emit(run, self.operand(*var), &[self.operand(*value)], 0);
            }
            Node::GetIndexed { dst, element } => {
                let aux = self.indexed(element);
                let run = control::get_indexed(self.kind(*dst).words(), self.isa);
                self.emit(run, self.operand(*dst), &[], aux);
            }
            Node::SetIndexed { element, value } => {
                let aux = self.indexed(element);
                let run = control::set_indexed(self.kind(*value).words(), self.isa);
                let value = self.operand(*value);
                self.emit(run, self.operand(element.base), &[value], aux);
            }
            Node::Load {
                dst,
                count,
                element,
                is_pointer,
                address,
                span,
            } => {
                let access = self.access(address, *count, element.size(), *span)?;
                let isa = self.isa;
                let run = memory::load(*element, *is_pointer, *count, address.is_private, isa);
                self.code.accesses.push(access);
                let aux = self.code.accesses.len() as u32 - 1;
                self.emit(run, self.operand(*dst), &[], aux);
            }
            Node::Store {
                values,
                element,
                address,
                span,
            } => {
                let count = values.len() as u32;
                let mut access = self.access(address, count, element.size(), *span)?;
                for (to, value) in access.registers.iter_mut().zip(values) {
                    *to = self.homes[*value as usize].unwrap_or(Operand::uniform(0));
                }
                let run = memory::store(*element, false, count, address.is_private, self.isa);
                self.code.accesses.push(access);
                let aux = (self.code.accesses.len() as u32 - 1) | memory::STORE;
                self.emit(run, Operand::lanes(0), &[], aux);
            }
            Node::Simd { op, dst, args } => self.simd(*op, *dst, args)?,
            Node::Atomic {
                op,
                dst,
                args,
                element,
                address,
                span,
            } => {
                if element.size() != 4 && *element != Scalar::Bool {
                    let message =
                        format!("the CPU does not run atomics of `{}` yet", element.name());
                    return Err(Unsupported {
                        message,
                        span: *span,
                    });
                }
                let mut access = self.access(address, 1, 4, *span)?;
                for (to, arg) in access.registers.iter_mut().zip(args) {
                    *to = self.homes[*arg as usize].unwrap_or(Operand::uniform(0));
                }
                access.registers[3] = match element {
                    Scalar::I32 => memory::atomic_sort::SIGNED,
                    Scalar::F32 => memory::atomic_sort::FLOAT,
                    _ => memory::atomic_sort::UNSIGNED,
                };
                access.atomic = Some(*op);
                self.code.accesses.push(access);
                let aux = self.code.accesses.len() as u32 - 1;
                let to = dst.map_or(Operand::lanes(0), |dst| self.operand(dst));
                self.emit(memory::atomic(self.isa), to, &[], aux);
            }
            Node::Barrier => {}
        }
        self.finish_node(position);
        Ok(NOBODY)
    }

    fn branch(&mut self, condition: Reg, accept: &Block, reject: &Block) -> Result_<usize> {
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
        let mask = self.new_mask();
        let mut left = NOBODY;
        for (block, is_accept) in [(accept, true), (reject, false)] {
            if block.is_empty() {
                continue;
            }
            let end = self.label();
            match is_accept {
                true => self.control::<MaskAnd>(&[operand], current, mask),
                false => self.control::<MaskAndNot>(&[operand], current, mask),
            }
            self.jump::<JumpIfNone>(&[], mask, end);
            self.masks.push((mask, end));
            left = left.min(self.block(block)?);
            self.masks.pop();
            self.bind(end);
        }
        Ok(left)
    }

    fn new_mask(&mut self) -> Mask {
        let mask = self.masks.len() as Mask;
        self.code.masks = self.code.masks.max(mask);
        mask
    }

    fn scope(&mut self, id: ScopeId, body: &Block) -> Result_<usize> {
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
        }
        self.scopes.remove(&id);
        self.bind(end);
        // Lanes that only left this scope are back.
        Ok(if left >= level { NOBODY } else { left })
    }

    fn leave(&mut self, scope: ScopeId) -> usize {
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

    // ---- operations ----

    fn compute(&mut self, op: Compute, dst: Reg, args: &[Reg]) -> Result_<()> {
        let isa = self.isa;
        let to = self.operand(dst);
        let (kind, from) = (
            self.kind(dst),
            args.first().map_or(self.kind(dst), |&a| self.kind(a)),
        );
        let scalar = from.scalar();
        let fail = |what: String| Unsupported {
            message: what,
            span: Span::default(),
        };
        let run = match op {
            Compute::Constant(bits) => {
                self.literals.insert(dst, bits);
                self.code.constants.push((to, bits, kind.words()));
                return Ok(());
            }
            Compute::Base(tag) => {
                self.code.constants.push((to, memory::base_pointer(tag), 2));
                return Ok(());
            }
            Compute::Builtin(what, component) => {
                let aux = self.code.builtins.len() as u32;
                self.code.builtins.push((what, component));
                self.emit(version::<builtin::ReadBuiltin>(isa), to, &[], aux);
                return Ok(());
            }
            Compute::Copy => Some(convert::copy(kind, isa)),
            Compute::Unary(op) => arithmetic::unary(op, scalar, isa),
            Compute::Convert => Some(convert::convert(scalar, kind.scalar(), isa)),
            Compute::Bitcast => convert::bitcast(scalar, kind.scalar(), isa),
            Compute::Part(part) => Some(convert::part(part == 1, isa)),
            Compute::Binary(op) => arithmetic::binary(op, scalar, self.shape(dst, args), isa),
            Compute::Join => Some(convert::join(self.shape(dst, args), isa)),
            Compute::Math(function) => {
                let shape = if args.len() == 2 {
                    self.shape(dst, args)
                } else {
                    shape::BOTH
                };
                maths::math(function, scalar, shape, isa)
            }
            Compute::Select => Some(control::select(kind.words(), isa)),
            Compute::Offset(stride) => {
                let index = index_kind(self.kind(args[1]));
                let run = memory::move_pointer(index, self.shape(dst, args), isa);
                let operands = [self.operand(args[0]), self.operand(args[1])];
                self.emit(run, to, &operands, stride);
                return Ok(());
            }
            Compute::OffsetConstant(bytes) => {
                let number = Operand::uniform(self.code.uniforms);
                self.code.uniforms += 1;
                self.code.constants.push((number, bytes as u64, 2));
                let shape = if to.is_uniform() {
                    shape::BOTH
                } else {
                    shape::FIRST
                };
                let run = arithmetic::binary(BinaryOp::Add, Scalar::U64, shape, isa);
                let run = run.ok_or_else(|| fail("internal: no pointer arithmetic".to_string()))?;
                self.emit(run, to, &[self.operand(args[0]), number], 0);
                return Ok(());
            }
        };
        let run = run.ok_or_else(|| {
            fail(format!(
                "the CPU does not run {op:?} of {} yet",
                scalar.name()
            ))
        })?;
        let as_rows = args.len() == 3 && !to.is_uniform();
        let operands: Vec<_> = args
            .iter()
            .map(|&arg| {
                if as_rows {
                    self.row(arg)
                } else {
                    self.operand(arg)
                }
            })
            .collect();
        self.emit(run, to, &operands, 0);
        Ok(())
    }

    /// Which operands of a binary operation are rows.
    fn shape(&self, dst: Reg, args: &[Reg]) -> u8 {
        let uniform = |i: usize| {
            args.get(i)
                .is_some_and(|&arg| self.operand(arg).is_uniform())
        };
        match (self.operand(dst).is_uniform(), uniform(0), uniform(1)) {
            (true, ..) | (_, false, false) => shape::BOTH,
            (_, _, true) => shape::FIRST,
            (_, true, false) => shape::SECOND,
        }
    }

    fn simd(&mut self, op: SimdOp, dst: Reg, args: &[Reg]) -> Result_<()> {
        let scalar = args
            .first()
            .map_or(Scalar::Bool, |&arg| self.kind(arg).scalar());
        let run = simd::simd(op, scalar, self.isa).ok_or_else(|| Unsupported {
            message: format!("the CPU does not run {op:?} of {} yet", scalar.name()),
            span: Span::default(),
        })?;
        let mut operands: Vec<_> = args.iter().map(|&arg| self.row(arg)).collect();
        if operands.is_empty() {
            operands.push(self.constant_row(u64::from(u32::MAX), 1));
        }
        self.emit(run, self.operand(dst), &operands, 0);
        Ok(())
    }

    fn access(&mut self, address: &Address, count: u32, size: u32, span: Span) -> Result_<Access> {
        let mut pointer = address.pointer.map(|reg| self.operand(reg));
        let mut index = address
            .index
            .map(|(reg, _)| (self.operand(reg), index_kind(self.kind(reg))));
        let stride = address.index.map_or(count * size, |(_, stride)| stride);
        if let (Some(base), Some((by, kind)), false) = (pointer, index, address.is_private)
            && !base.is_uniform()
        {
            // A pointer that varies is moved first, so that only one register varies.
            let start = self.take(2);
            self.temporaries.push((start, 2));
            let dst = Operand::lanes(start);
            let shape = if by.is_uniform() {
                shape::FIRST
            } else {
                shape::BOTH
            };
            let run = memory::move_pointer(kind, shape, self.isa);
            self.emit(run, dst, &[base, by], stride);
            (pointer, index) = (Some(dst), None);
        }
        let place = self.place(span);
        Ok(Access {
            pointer,
            index,
            stride,
            offset: address.offset,
            count,
            size,
            registers: [Operand::uniform(0); 4],
            place,
            atomic: None,
        })
    }

    fn indexed(&mut self, element: &Indexed) -> u32 {
        let base = self.operand(element.base);
        let words = if base.is_uniform() {
            1
        } else {
            self.kind(element.base).words()
        };
        let terms = element
            .terms
            .iter()
            .map(|&(reg, worth)| (self.operand(reg), index_kind(self.kind(reg)), worth))
            .collect();
        let place = self.place(element.span);
        let (count, offset) = (element.count, element.offset);
        self.code.indexed.push(IndexedAccess {
            base,
            count,
            words,
            offset,
            terms,
            place,
        });
        self.code.indexed.len() as u32 - 1
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
            Node::If { accept, reject, .. } => {
                collect_loads(accept, groups);
                collect_loads(reject, groups);
            }
            Node::Scope(_, body) | Node::Loop(body) => collect_loads(body, groups),
            _ => {}
        }
    }
}

fn index_kind(kind: Kind) -> IndexKind {
    match kind.scalar() {
        Scalar::I64 | Scalar::U64 => IndexKind::Wide,
        Scalar::I8 | Scalar::I16 | Scalar::I32 => IndexKind::Signed32,
        _ => IndexKind::Unsigned32,
    }
}
