//! From a lowered kernel to instructions: registers, masks, jumps.
//!
//! Every piece of code that only some lanes may run has a mask register. Masks nest; the innermost
//! is the current one. A lane that leaves a scope is taken out of all masks up to the scope's own,
//! and code whose mask has run empty is jumped over.

mod operations;
mod registers;
mod structure;

use std::collections::HashMap;

use super::code::Code;
use super::isa::{Isa, Lanes, Run, version};
use super::lanes::control::JumpBack;
use super::lanes::{control, memory};
use super::machine::{Instruction, Mask, Operand};
use crate::diag::{Sources, Span};
use crate::ir::Scalar;
use crate::lower::Unsupported;
use crate::lower::consecutive;
use crate::lower::form::{Lowered, Node, Reg, ScopeId};
use crate::lower::survey::Survey;
use crate::lower::uniform::{self, Uniformity};
use structure::NOBODY;

/// Rows that hold constants are numbered from here until the frame's size is known.
const CONSTANT_ROWS: u32 = 1 << 24;

/// Assembles a kernel.
pub fn assemble(kernel: &str, lowered: Lowered, sources: &Sources, isa: Isa) -> Result<Code> {
    let survey = Survey::new(&lowered);
    let uniformity = uniform::analyze(&lowered, &survey);
    let counts_up = consecutive::analyze(&lowered, &uniformity);
    let mut assembler = Assembler {
        lowered: &lowered,
        counts_up: &counts_up,
        uniformity: &uniformity,
        isa,
        sources,
        code: Code {
            kernel: kernel.to_string(),
            ..Code::default()
        },
        homes: vec![None; lowered.kinds.len()],
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
        masks_taken: 0,
        scopes: HashMap::new(),
        spans: HashMap::new(),
        loop_depth: 0,
        jumps: Vec::new(),
    };
    assembler.plan(&survey);
    let end = assembler.label();
    assembler.masks[0].1 = end;
    assembler.block(&lowered.body)?;
    assembler.bind(end);
    assembler.finish();
    let mut code = assembler.code;
    code.slots = lowered.slots.clone();
    code.private_size = lowered.private_size;
    Ok(code)
}

type Label = usize;
type Result<T> = std::result::Result<T, Unsupported>;

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
    lowered: &'a Lowered,
    uniformity: &'a Uniformity,
    counts_up: &'a [bool],
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
    /// Masks that hold something, besides mask 0.
    masks_taken: Mask,
    scopes: HashMap<ScopeId, Open>,
    spans: HashMap<(u32, u32), u32>,
    loop_depth: u32,
    /// The instructions whose `aux` is a label.
    jumps: Vec<usize>,
}

impl Assembler<'_> {
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

    fn node(&mut self, node: &Node) -> Result<usize> {
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
}
