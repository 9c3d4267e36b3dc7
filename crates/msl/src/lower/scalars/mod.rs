//! From a typed body to the lowered form: values split into scalars, variables given registers or
//! thread memory.
//!
//! A variable lives in registers unless somebody needs its address as a number. Who does is found by
//! trying: the translation notes each variable whose address it had to ask for, and starts again
//! with those in memory. A load is a copy; so a value never changes, whatever happens to the
//! variable that it was read from.

mod bit_fields;
mod operations;
mod places;
mod reinterpret;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::constant::{fold, integer_bits};
use super::form::{Address, Block, Compute, Kind, Lowered, Node, Reg, ScopeId, Slot};
use super::memory::Layouts;
use super::typed::{self, Inlined};
use super::{FunctionConstants, Result, unsupported};
use crate::diag::Span;
use crate::ir::{BinaryOp, Binding, Handle, Kernel, Local, Module, Scalar, Type, UnaryOp, Value};
use places::Part;

/// Registers that a kernel may have.
const REGISTER_LIMIT: usize = 1 << 20;

/// Bytes of memory that a thread may have.
const THREAD_MEMORY_LIMIT: u32 = 1 << 20;

/// Scalars of a variable above which it goes to memory: rows of registers would fill the cache.
const LARGEST_IN_REGISTERS: u32 = 1024;

/// Where thread memory starts, so that no variable's address is that of the null pointer.
pub const THREAD_MEMORY_START: u32 = 16;

/// A scalar part of a value.
#[derive(Clone, Debug)]
enum Leaf {
    /// In a register that is no variable.
    Register(Reg),
    /// A pointer that has not been computed yet, because most are only loaded through.
    Address(Address),
    /// A pointer into a variable that lives in registers.
    Part(Part),
}

/// Where a variable lives.
#[derive(Clone, Debug)]
enum Home {
    /// Not seen yet.
    Unset,
    /// In registers: the first of each of its type's shapes.
    Registers(Rc<[Reg]>),
    /// In the thread's memory, from this byte.
    Memory(u32),
    /// Nowhere: it stands for these values.
    StandIn(Rc<[Leaf]>),
}

struct Scalars<'a> {
    module: &'a Module,
    layouts: Layouts<'a>,
    kernel: &'a Inlined,
    constants: &'a FunctionConstants,
    stand_ins: &'a [bool],
    in_memory: &'a HashSet<Handle<Local>>,
    /// Variables whose address was asked for.
    asked: HashSet<Handle<Local>>,
    out: Lowered,
    blocks: Vec<Block>,
    values: Vec<Option<Rc<[Leaf]>>>,
    homes: Vec<Home>,
    literals: HashMap<(u64, Kind), Reg>,
    /// What the registers of `literals` hold.
    constant_bits: HashMap<Reg, u64>,
    bases: HashMap<u16, Reg>,
    prologue: Block,
    constant_slots: HashMap<usize, u16>,
    threadgroup_slots: Vec<u16>,
}

/// Translates an inlined kernel.
pub fn translate(
    module: &Module,
    kernel: &Kernel,
    inlined: &Inlined,
    stand_ins: &[bool],
    constants: &FunctionConstants,
) -> Result<Lowered> {
    let layouts = Layouts { module };
    let mut in_memory: HashSet<Handle<Local>> = inlined
        .locals
        .iter()
        .filter(|(_, local)| {
            layouts.needs_memory(local.ty) || layouts.count(local.ty) > LARGEST_IN_REGISTERS
        })
        .map(|(handle, _)| handle)
        .collect();
    loop {
        let mut scalars = Scalars {
            module,
            layouts,
            kernel: inlined,
            constants,
            stand_ins,
            in_memory: &in_memory,
            asked: HashSet::new(),
            out: Lowered {
                scopes: inlined.scopes,
                private_size: THREAD_MEMORY_START,
                ..Lowered::default()
            },
            blocks: vec![Block::new()],
            values: vec![None; inlined.values.len()],
            homes: vec![Home::Unset; inlined.locals.len()],
            literals: HashMap::new(),
            constant_bits: HashMap::new(),
            bases: HashMap::new(),
            prologue: Block::new(),
            constant_slots: HashMap::new(),
            threadgroup_slots: Vec::new(),
        };
        scalars.arguments(kernel)?;
        scalars.block(&inlined.body)?;
        if scalars.asked.is_empty() {
            let mut lowered = scalars.out;
            lowered.body = scalars.prologue;
            lowered
                .body
                .extend(scalars.blocks.pop().unwrap_or_default());
            if lowered.private_size == THREAD_MEMORY_START {
                lowered.private_size = 0;
            }
            return Ok(lowered);
        }
        let asked = scalars.asked;
        in_memory.extend(asked);
    }
}

impl<'a> Scalars<'a> {
    fn arguments(&mut self, kernel: &Kernel) -> Result<()> {
        for (argument, &input) in kernel.arguments.iter().zip(&self.kernel.inputs) {
            let name = argument.name.to_string();
            let leaves = match &argument.binding {
                Binding::Buffer {
                    index, writable, ..
                } => {
                    let (index, writable) = (*index, *writable);
                    let slot = Slot::Buffer {
                        index,
                        writable,
                        name,
                    };
                    vec![Leaf::Register(self.slot(slot))]
                }
                Binding::Threadgroup { index, .. } => {
                    let index = *index;
                    let slot = Slot::ThreadgroupArgument { index, name };
                    vec![Leaf::Register(self.slot(slot))]
                }
                Binding::Builtin(builtin) => {
                    let ty = self.kernel.values[input].ty;
                    let (scalar, len) = self.vector(ty, argument.span)?;
                    (0..len)
                        .map(|component| {
                            let op = Compute::Builtin(*builtin, component);
                            let reg = self.compute(op, Kind::Scalar(Scalar::U32), vec![])?;
                            self.convert(reg, Kind::Scalar(scalar)).map(Leaf::Register)
                        })
                        .collect::<Result<_>>()?
                }
            };
            self.values[input.index()] = Some(leaves.into());
        }
        for (_, variable) in self.kernel.threadgroup.iter() {
            let slot = Slot::Threadgroup {
                size: self.module.types.layout(variable.ty).0,
                name: variable.name.to_string(),
            };
            let tag = self.new_tag(slot);
            self.threadgroup_slots.push(tag);
        }
        Ok(())
    }

    fn new_tag(&mut self, slot: Slot) -> u16 {
        self.out.slots.push(slot);
        self.out.slots.len() as u16
    }

    fn slot(&mut self, slot: Slot) -> Reg {
        let tag = self.new_tag(slot);
        self.base(tag)
    }

    /// The pointer to the start of a slot, made once at the kernel's start.
    fn base(&mut self, tag: u16) -> Reg {
        if let Some(&reg) = self.bases.get(&tag) {
            return reg;
        }
        let reg = self.register(Kind::Pointer, false);
        self.bases.insert(tag, reg);
        self.prologue.push(Node::Compute {
            op: Compute::Base(tag),
            dst: reg,
            args: Vec::new(),
        });
        reg
    }

    // ---- registers and nodes ----

    fn register(&mut self, kind: Kind, is_variable: bool) -> Reg {
        self.out.kinds.push(kind);
        self.out.is_variable.push(is_variable);
        self.out.kinds.len() as Reg - 1
    }

    /// Registers of one kind in a row.
    fn registers(&mut self, kind: Kind, count: u32, is_variable: bool, span: Span) -> Result<Reg> {
        let first = self.out.kinds.len();
        let end = first + count as usize;
        if end > REGISTER_LIMIT {
            let message = "the kernel is too large once its calls are inlined";
            return Err(unsupported(span, message));
        }
        self.out.kinds.resize(end, kind);
        self.out.is_variable.resize(end, is_variable);
        Ok(first as Reg)
    }

    fn kind(&self, reg: Reg) -> Kind {
        self.out.kinds[reg as usize]
    }

    fn emit(&mut self, node: Node) {
        if let Some(block) = self.blocks.last_mut() {
            block.push(node);
        }
    }

    fn compute(&mut self, op: Compute, kind: Kind, args: Vec<Reg>) -> Result<Reg> {
        if let Some(reg) = self.folded(op, kind, &args) {
            return Ok(reg);
        }
        let dst = self.registers(kind, 1, false, Span::default())?;
        self.emit(Node::Compute { op, dst, args });
        Ok(dst)
    }

    /// The register that an operation's result already has, if it is known.
    fn folded(&mut self, op: Compute, kind: Kind, args: &[Reg]) -> Option<Reg> {
        let bits = |this: &Self, arg: &Reg| this.constant_bits.get(arg).copied();
        if let (Compute::Select, [condition, accept, reject]) = (op, args) {
            let condition = bits(self, condition)?;
            return Some(if condition != 0 { *accept } else { *reject });
        }
        let Kind::Scalar(to) = kind else {
            return None;
        };
        let from = args.first().map(|&arg| self.kind(arg).scalar())?;
        let known: Vec<u64> = args
            .iter()
            .map(|arg| bits(self, arg))
            .collect::<Option<_>>()?;
        let result = fold(op, from, to, &known)?;
        Some(self.literal(result, kind))
    }

    /// A constant's register, shared by all its uses.
    fn literal(&mut self, bits: u64, kind: Kind) -> Reg {
        if let Some(&reg) = self.literals.get(&(bits, kind)) {
            return reg;
        }
        let reg = self.register(kind, false);
        self.literals.insert((bits, kind), reg);
        self.constant_bits.insert(reg, bits);
        self.prologue.push(Node::Compute {
            op: Compute::Constant(bits),
            dst: reg,
            args: Vec::new(),
        });
        reg
    }

    fn convert(&mut self, reg: Reg, kind: Kind) -> Result<Reg> {
        if self.kind(reg) == kind {
            return Ok(reg);
        }
        self.compute(Compute::Convert, kind, vec![reg])
    }

    fn bitcast(&mut self, reg: Reg, kind: Kind) -> Result<Reg> {
        if self.kind(reg) == kind {
            return Ok(reg);
        }
        self.compute(Compute::Bitcast, kind, vec![reg])
    }

    fn nested(&mut self, body: impl FnOnce(&mut Self) -> Result<()>) -> Result<Block> {
        self.blocks.push(Block::new());
        let done = body(self);
        let block = self.blocks.pop().unwrap_or_default();
        done.map(|()| block)
    }

    // ---- values ----

    fn vector(&self, ty: Handle<Type>, span: Span) -> Result<(Scalar, u8)> {
        self.module.types.as_vector(ty).ok_or_else(|| {
            let name = self.module.types.name(ty);
            unsupported(span, format!("`{name}` is no number or vector"))
        })
    }

    fn info(&self, value: Handle<Value>) -> Value {
        self.kernel.values[value]
    }

    fn value(&self, value: Handle<Value>) -> Result<Rc<[Leaf]>> {
        let known = self.values.get(value.index()).cloned().flatten();
        known.ok_or_else(|| {
            let span = self.info(value).span;
            unsupported(span, "internal: a value is used before it is made")
        })
    }

    /// The only leaf of a pointer's value.
    fn pointer_leaf(&self, value: Handle<Value>) -> Result<Leaf> {
        self.value(value)?.first().cloned().ok_or_else(|| {
            let span = self.info(value).span;
            unsupported(span, "internal: a pointer without a value")
        })
    }

    /// The registers of a value; pointers not computed yet are.
    fn regs(&mut self, value: Handle<Value>) -> Result<Vec<Reg>> {
        let leaves = self.value(value)?;
        leaves.iter().map(|leaf| self.leaf_reg(leaf)).collect()
    }

    fn reg(&mut self, value: Handle<Value>) -> Result<Reg> {
        let regs = self.regs(value)?;
        regs.first().copied().ok_or_else(|| {
            let span = self.info(value).span;
            unsupported(span, "internal: a value without parts")
        })
    }

    fn leaf_reg(&mut self, leaf: &Leaf) -> Result<Reg> {
        match leaf {
            Leaf::Register(reg) => Ok(*reg),
            Leaf::Address(address) => self.pointer(address),
            Leaf::Part(part) => Ok(self.ask(part.local)),
        }
    }

    /// Asks for the address of a variable: the next translation has it in memory, and this one goes
    /// on with any pointer.
    fn ask(&mut self, local: Handle<Local>) -> Reg {
        self.asked.insert(local);
        self.literal(0, Kind::Pointer)
    }

    /// Computes an address.
    fn pointer(&mut self, address: &Address) -> Result<Reg> {
        let mut pointer = match address.pointer {
            Some(pointer) => pointer,
            None => self.literal(0, Kind::Pointer),
        };
        if let Some((index, stride)) = address.index {
            let op = Compute::Offset(stride);
            pointer = self.compute(op, Kind::Pointer, vec![pointer, index])?;
        }
        if address.offset != 0 {
            let op = Compute::OffsetConstant(address.offset);
            pointer = self.compute(op, Kind::Pointer, vec![pointer])?;
        }
        Ok(pointer)
    }

    // ---- statements ----

    fn block(&mut self, block: &'a typed::Block) -> Result<()> {
        block.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &'a typed::Node) -> Result<()> {
        match node {
            typed::Node::Let(value, op) => {
                let leaves = self.operation(*value, op)?;
                self.values[value.index()] = Some(leaves);
            }
            typed::Node::Store { place, value, span } => {
                if let crate::ir::PlaceBase::Local(local) = place.base
                    && self.stand_ins[local.index()]
                {
                    let leaves = self.value(*value)?;
                    self.homes[local.index()] = Home::StandIn(leaves);
                    return Ok(());
                }
                let regs = self.regs(*value)?;
                self.store(place, &regs, *span)?;
            }
            typed::Node::If {
                condition,
                accept,
                reject,
            } => {
                let condition = self.reg(*condition)?;
                if let Some(&bits) = self.constant_bits.get(&condition) {
                    return self.block(if bits != 0 { accept } else { reject });
                }
                let accept = self.nested(|this| this.block(accept))?;
                let reject = self.nested(|this| this.block(reject))?;
                self.emit(Node::If {
                    condition,
                    accept,
                    reject,
                });
            }
            typed::Node::Loop(inner) => self.rounds(inner)?,
            typed::Node::Switch {
                selector,
                arms,
                leave,
            } => self.switch(*selector, arms, *leave)?,
            typed::Node::Scope(id, body) => {
                let body = self.nested(|this| this.block(body))?;
                self.emit(Node::Scope(*id, body));
            }
            typed::Node::Leave(scope) => self.emit(Node::Leave(*scope)),
            typed::Node::Barrier => self.emit(Node::Barrier),
        }
        Ok(())
    }

    fn rounds(&mut self, inner: &'a typed::Loop) -> Result<()> {
        let test = |this: &mut Self| {
            this.block(&inner.header)?;
            let condition = this.reg(inner.condition)?;
            match this.constant_bits.get(&condition) {
                Some(0) => this.emit(Node::Leave(inner.leave)),
                Some(_) => {}
                None => this.emit(Node::If {
                    condition,
                    accept: Block::new(),
                    reject: vec![Node::Leave(inner.leave)],
                }),
            }
            Ok(())
        };
        let round = self.nested(|this| {
            if inner.test_first {
                test(this)?;
            }
            let body = this.nested(|this| this.block(&inner.body))?;
            this.emit(Node::Scope(inner.next, body));
            this.block(&inner.step)?;
            if !inner.test_first {
                test(this)?;
            }
            Ok(())
        })?;
        self.emit(Node::Scope(inner.leave, vec![Node::Loop(round)]));
        Ok(())
    }

    /// A switch becomes a scope of ifs; a variable remembers that an earlier arm fell through.
    fn switch(
        &mut self,
        selector: Handle<Value>,
        arms: &'a [typed::Arm],
        leave: ScopeId,
    ) -> Result<()> {
        let selector = self.reg(selector)?;
        let boolean = Kind::Scalar(Scalar::Bool);
        let (yes, no) = (
            self.literal(u64::from(u32::MAX), boolean),
            self.literal(0, boolean),
        );
        let fell = self.register(boolean, true);
        self.emit(Node::Set {
            var: fell,
            value: no,
        });
        let mut matches = Vec::new();
        for arm in arms {
            let mut any = no;
            for &value in &arm.values {
                let bits = integer_bits(value, self.kind(selector).scalar());
                let label = self.literal(bits, self.kind(selector));
                let op = Compute::Binary(BinaryOp::Equal);
                let equal = self.compute(op, boolean, vec![selector, label])?;
                any = self.either(any, equal)?;
            }
            matches.push(any);
        }
        // The default arm is for what matches no arm at all, wherever it stands.
        let mut matched = no;
        for &other in &matches {
            matched = self.either(matched, other)?;
        }
        let unmatched = Compute::Unary(UnaryOp::LogicalNot);
        let unmatched = self.compute(unmatched, boolean, vec![matched])?;
        let body = self.nested(|this| {
            for (arm, &matched) in arms.iter().zip(&matches) {
                let enter = match arm.is_default {
                    true => this.either(matched, unmatched)?,
                    false => matched,
                };
                let before = this.compute(Compute::Copy, boolean, vec![fell])?;
                let condition = this.either(enter, before)?;
                let accept = this.nested(|this| {
                    this.emit(Node::Set {
                        var: fell,
                        value: yes,
                    });
                    this.block(&arm.body)
                })?;
                this.emit(Node::If {
                    condition,
                    accept,
                    reject: Block::new(),
                });
            }
            Ok(())
        })?;
        self.emit(Node::Scope(leave, body));
        Ok(())
    }

    /// `a || b` of two bools.
    fn either(&mut self, a: Reg, b: Reg) -> Result<Reg> {
        match (self.constant_bits.get(&a), self.constant_bits.get(&b)) {
            (Some(0), _) => Ok(b),
            (_, Some(0)) => Ok(a),
            _ => {
                let boolean = Kind::Scalar(Scalar::Bool);
                self.compute(Compute::Binary(BinaryOp::Or), boolean, vec![a, b])
            }
        }
    }
}
