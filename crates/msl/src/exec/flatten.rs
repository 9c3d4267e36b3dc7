//! From the IR of a kernel to its flat form: inlining, splitting into scalars, naming memory.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use half::{bf16, f16};

use super::flat::{Address, Compute, Flat, Indexed, Kind, Node, Reg, ScopeId, Slot};
use super::locals::{Facts, analyze};
use crate::diag::Span;
use crate::ir::{
    AddressSpace, BinaryOp, Binding, Function, Handle, Kernel, Literal, Local, MathFunction,
    Module, Op, Place, PlaceBase, Projection, Scalar, SimdOp, Statement, Type, Value,
};

/// Values of function constants by index, as the bytes that memory would hold.
pub type FunctionConstants = BTreeMap<u32, Vec<u8>>;

/// What cannot be flattened, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What.
    pub message: String,
    /// Where.
    pub span: Span,
}

type Result<T> = std::result::Result<T, Unsupported>;

/// The most registers a kernel may need; beyond it, arrays are absurdly large.
const REGISTER_LIMIT: usize = 1 << 16;

/// A scalar part of a value.
#[derive(Clone, Debug)]
enum Leaf {
    /// In a register.
    Register(Reg),
    /// A pointer that has not been computed yet, because most are only loaded through.
    Address(Address),
    /// A pointer to variables of this or a calling function.
    Variables(Variables),
}

/// Variables in a row that a thread pointer points at.
#[derive(Clone, Debug)]
struct Variables {
    /// All variables of the local.
    base: Reg,
    count: u32,
    /// Which of them: constant and computed parts of the index.
    offset: u32,
    terms: Vec<(Reg, u32)>,
}

/// Where a local variable of an inlined function lives.
#[derive(Clone, Debug)]
enum Home {
    /// Not seen yet.
    Unset,
    /// In variables in a row.
    Variables(Reg, u32),
    /// In the thread's memory, from this byte.
    Memory(u32),
    /// Nowhere: it stands for these values.
    Bound(Rc<[Leaf]>),
}

/// One inlined call.
struct Frame<'a> {
    function: &'a Function,
    facts: &'a Facts,
    values: HashMap<Handle<Value>, Rc<[Leaf]>>,
    homes: Vec<Home>,
    position: u32,
    /// Where a `return` goes, and the variables it sets.
    exit: ScopeId,
    result: Vec<Reg>,
    /// The value of a single `return` at the end.
    returned: Option<Rc<[Leaf]>>,
    single_return: bool,
    /// Scopes that `break` and `continue` leave.
    breaks: Vec<ScopeId>,
    continues: Vec<ScopeId>,
}

struct Flattener<'a> {
    module: &'a Module,
    facts: &'a [Facts],
    constants: &'a FunctionConstants,
    flat: Flat,
    blocks: Vec<Vec<Node>>,
    literals: HashMap<(u64, Kind), Reg>,
    prologue: Vec<Node>,
    constant_slots: HashMap<usize, u16>,
    threadgroup_slots: Vec<u16>,
    frames: Vec<Frame<'a>>,
}

/// Flattens a kernel.
pub fn flatten(module: &Module, kernel: &Kernel, constants: &FunctionConstants) -> Result<Flat> {
    let facts = analyze(module);
    let mut flattener = Flattener {
        module,
        facts: &facts,
        constants,
        flat: Flat::default(),
        blocks: vec![Vec::new()],
        literals: HashMap::new(),
        prologue: Vec::new(),
        constant_slots: HashMap::new(),
        threadgroup_slots: Vec::new(),
        frames: Vec::new(),
    };
    flattener.kernel(kernel)?;
    let body = flattener.blocks.pop().unwrap_or_default();
    let mut flat = flattener.flat;
    flat.body = flattener.prologue;
    flat.body.extend(body);
    Ok(flat)
}

impl<'a> Flattener<'a> {
    fn kernel(&mut self, kernel: &Kernel) -> Result<()> {
        let module = self.module;
        let function = &module.functions[kernel.function];
        let mut args = Vec::new();
        for (argument, param) in kernel.arguments.iter().zip(&function.params) {
            let name = argument.name.to_string();
            let leaves = match &argument.binding {
                Binding::Buffer {
                    index, writable, ..
                } => {
                    vec![self.slot(Slot::Buffer {
                        index: *index,
                        writable: *writable,
                        name,
                    })]
                }
                Binding::Threadgroup { index, .. } => {
                    vec![self.slot(Slot::ThreadgroupArgument {
                        index: *index,
                        name,
                    })]
                }
                Binding::Builtin(builtin) => {
                    let (scalar, len) = self.vector(function.locals[*param].ty, argument.span)?;
                    (0..len)
                        .map(|component| {
                            let op = Compute::Builtin(*builtin, component);
                            let reg = self.compute(op, Kind::Scalar(Scalar::U32), vec![])?;
                            self.convert(reg, Kind::Scalar(scalar)).map(Leaf::Register)
                        })
                        .collect::<Result<_>>()?
                }
            };
            args.push(Rc::from(leaves));
        }
        for (_, variable) in function.threadgroup.iter() {
            let slot = Slot::Threadgroup {
                size: module.types.layout(variable.ty).0,
                name: variable.name.to_string(),
            };
            self.flat.slots.push(slot);
            self.threadgroup_slots.push(self.flat.slots.len() as u16);
        }
        self.call(kernel.function, args)?;
        Ok(())
    }

    fn slot(&mut self, slot: Slot) -> Leaf {
        self.flat.slots.push(slot);
        Leaf::Register(self.base(self.flat.slots.len() as u16))
    }

    /// The pointer to the start of a slot, made once at the kernel's start.
    fn base(&mut self, tag: u16) -> Reg {
        let key = (u64::from(tag), Kind::Pointer);
        if let Some(&reg) = self.literals.get(&key) {
            return reg;
        }
        let reg = self.register(Kind::Pointer, false);
        self.literals.insert(key, reg);
        let op = Compute::Base(tag);
        self.prologue.push(Node::Compute {
            op,
            dst: reg,
            args: Vec::new(),
        });
        reg
    }

    // ---- registers and nodes ----

    fn register(&mut self, kind: Kind, is_variable: bool) -> Reg {
        self.flat.kinds.push(kind);
        self.flat.is_variable.push(is_variable);
        self.flat.kinds.len() as Reg - 1
    }

    fn registers(&mut self, kinds: &[Kind], is_variable: bool, span: Span) -> Result<Reg> {
        let first = self.flat.kinds.len();
        if first + kinds.len() > REGISTER_LIMIT {
            return Err(unsupported(
                span,
                "the kernel's local variables are too large",
            ));
        }
        for &kind in kinds {
            self.register(kind, is_variable);
        }
        Ok(first as Reg)
    }

    fn emit(&mut self, node: Node) {
        if let Some(block) = self.blocks.last_mut() {
            block.push(node);
        }
    }

    fn compute(&mut self, op: Compute, kind: Kind, args: Vec<Reg>) -> Result<Reg> {
        let dst = self.register(kind, false);
        if self.flat.kinds.len() > REGISTER_LIMIT * 4 {
            let span = self
                .frames
                .last()
                .map_or(Span::default(), |f| f.function.span);
            return Err(unsupported(
                span,
                "the kernel is too large once its calls are inlined",
            ));
        }
        self.emit(Node::Compute { op, dst, args });
        Ok(dst)
    }

    /// A constant's register, shared by all its uses.
    fn literal(&mut self, bits: u64, kind: Kind) -> Reg {
        if let Some(&reg) = self.literals.get(&(bits, kind)) {
            return reg;
        }
        let reg = self.register(kind, false);
        self.literals.insert((bits, kind), reg);
        let op = Compute::Constant(bits);
        self.prologue.push(Node::Compute {
            op,
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

    fn kind(&self, reg: Reg) -> Kind {
        self.flat.kinds[reg as usize]
    }

    fn nested(&mut self, body: impl FnOnce(&mut Self) -> Result<()>) -> Result<Vec<Node>> {
        self.blocks.push(Vec::new());
        let done = body(self);
        let block = self.blocks.pop().unwrap_or_default();
        done.map(|()| block)
    }

    fn scope(&mut self) -> ScopeId {
        self.flat.scopes += 1;
        self.flat.scopes - 1
    }

    // ---- types ----

    fn vector(&self, ty: Handle<Type>, span: Span) -> Result<(Scalar, u8)> {
        self.module.types.as_vector(ty).ok_or_else(|| {
            unsupported(
                span,
                format!("`{}` is no number or vector", self.module.types.name(ty)),
            )
        })
    }

    /// The scalars that a type is made of.
    fn kinds(&self, ty: Handle<Type>, span: Span) -> Result<Vec<Kind>> {
        let mut kinds = Vec::new();
        self.add_kinds(ty, span, &mut kinds)?;
        Ok(kinds)
    }

    fn add_kinds(&self, ty: Handle<Type>, span: Span, kinds: &mut Vec<Kind>) -> Result<()> {
        let types = &self.module.types;
        match types[ty] {
            Type::Void => {}
            Type::Scalar(s) => kinds.push(Kind::Scalar(s)),
            Type::Vector(s, len, _) => kinds.extend((0..len).map(|_| Kind::Scalar(s))),
            Type::Matrix {
                scalar,
                columns,
                rows,
            } => {
                kinds.extend((0..columns * rows).map(|_| Kind::Scalar(scalar)));
            }
            Type::Array(element, len) => {
                let start = kinds.len();
                if len > 0 {
                    self.add_kinds(element, span, kinds)?;
                }
                let one = kinds[start..].to_vec();
                if one.len().saturating_mul(len as usize) > REGISTER_LIMIT {
                    return Err(unsupported(span, "the array is too large for a thread"));
                }
                for _ in 1..len {
                    kinds.extend_from_slice(&one);
                }
            }
            Type::Struct(s) => {
                for field in &types.structs[s].fields {
                    self.add_kinds(field.ty, span, kinds)?;
                }
            }
            Type::Pointer { .. } => kinds.push(Kind::Pointer),
            Type::Atomic(_) | Type::SimdgroupMatrix(_) => {
                let name = types.name(ty);
                return Err(unsupported(
                    span,
                    format!("the CPU does not run `{name}` yet"),
                ));
            }
        }
        Ok(())
    }

    /// How many scalars a type is made of.
    fn leaf_count(&self, ty: Handle<Type>) -> u32 {
        let types = &self.module.types;
        match types[ty] {
            Type::Void => 0,
            Type::Scalar(_) | Type::Pointer { .. } | Type::Atomic(_) => 1,
            Type::Vector(_, len, _) => u32::from(len),
            Type::Matrix { columns, rows, .. } => u32::from(columns) * u32::from(rows),
            Type::Array(element, len) => self.leaf_count(element).saturating_mul(len),
            Type::Struct(s) => types.structs[s]
                .fields
                .iter()
                .map(|f| self.leaf_count(f.ty))
                .sum(),
            Type::SimdgroupMatrix(_) => 2,
        }
    }

    /// The part of a type at a constant position: its type, and how many scalars come before it.
    fn part(&self, ty: Handle<Type>, index: u32) -> Option<(Handle<Type>, u32)> {
        let types = &self.module.types;
        match types[ty] {
            Type::Struct(s) => {
                let fields = &types.structs[s].fields;
                let before = fields
                    .iter()
                    .take(index as usize)
                    .map(|f| self.leaf_count(f.ty))
                    .sum();
                fields.get(index as usize).map(|f| (f.ty, before))
            }
            Type::Array(element, _) => {
                Some((element, self.leaf_count(element).saturating_mul(index)))
            }
            // The part's type is not interned for these; only the count matters to callers.
            Type::Vector(..) => Some((ty, index)),
            Type::Matrix { rows, .. } => Some((ty, u32::from(rows) * index)),
            _ => None,
        }
    }

    /// The scalars of a type in memory: byte offset, type, and whether it is a pointer.
    fn memory_leaves(
        &self,
        ty: Handle<Type>,
        at: u32,
        span: Span,
        out: &mut Vec<(u32, Kind)>,
    ) -> Result<()> {
        let types = &self.module.types;
        match types[ty] {
            Type::Matrix {
                scalar,
                columns,
                rows,
            } => {
                let column = scalar.size() * u32::from(rows).next_power_of_two();
                for c in 0..u32::from(columns) {
                    for r in 0..u32::from(rows) {
                        out.push((at + c * column + r * scalar.size(), Kind::Scalar(scalar)));
                    }
                }
            }
            Type::Array(element, len) => {
                let stride = types.stride(element);
                for i in 0..len {
                    self.memory_leaves(element, at + i * stride, span, out)?;
                    if out.len() > REGISTER_LIMIT {
                        return Err(unsupported(span, "the array is too large to be a value"));
                    }
                }
            }
            Type::Struct(s) => {
                for field in &types.structs[s].fields {
                    self.memory_leaves(field.ty, at + field.offset, span, out)?;
                }
            }
            _ => {
                for (i, kind) in (0..).zip(self.kinds(ty, span)?) {
                    out.push((at + i * kind.scalar().size(), kind));
                }
            }
        }
        Ok(())
    }

    // ---- frames ----

    fn frame(&mut self) -> &mut Frame<'a> {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn value(&self, value: Handle<Value>) -> Result<Rc<[Leaf]>> {
        let frame = &self.frames[self.frames.len() - 1];
        frame.values.get(&value).cloned().ok_or_else(|| {
            unsupported(
                frame.function.values[value].span,
                "internal: a value is used before it is made",
            )
        })
    }

    /// The registers of a value; pointers not computed yet are.
    fn regs(&mut self, value: Handle<Value>) -> Result<Vec<Reg>> {
        let span = self.frame().function.values[value].span;
        let leaves = self.value(value)?;
        leaves
            .iter()
            .map(|leaf| self.leaf_reg(leaf, span))
            .collect()
    }

    fn reg(&mut self, value: Handle<Value>) -> Result<Reg> {
        let span = self.frame().function.values[value].span;
        let regs = self.regs(value)?;
        regs.first()
            .copied()
            .ok_or_else(|| unsupported(span, "internal: a value without parts"))
    }

    fn leaf_reg(&mut self, leaf: &Leaf, span: Span) -> Result<Reg> {
        match leaf {
            Leaf::Register(reg) => Ok(*reg),
            Leaf::Address(address) => self.pointer(address),
            Leaf::Variables(_) => Err(unsupported(
                span,
                "internal: the address of a variable that was taken for a register",
            )),
        }
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

    fn call(&mut self, callee: Handle<Function>, args: Vec<Rc<[Leaf]>>) -> Result<Rc<[Leaf]>> {
        let module = self.module;
        let function = &module.functions[callee];
        let facts = &self.facts[callee.index()];
        if self.frames.len() > 200 {
            return Err(unsupported(function.span, "calls are nested too deeply"));
        }
        let single_return = match function.body.split_last() {
            Some((_, rest)) => {
                !rest.iter().any(returns) && !function.body.last().is_some_and(inner_returns)
            }
            None => true,
        };
        let mut result = Vec::new();
        if !single_return {
            let kinds = self.kinds(function.result, function.span)?;
            let first = self.registers(&kinds, true, function.span)?;
            result = (first..first + kinds.len() as Reg).collect();
        }
        let exit = self.scope();
        self.frames.push(Frame {
            function,
            facts,
            values: HashMap::new(),
            homes: vec![Home::Unset; function.locals.len()],
            position: 0,
            exit,
            result: result.clone(),
            returned: None,
            single_return,
            breaks: Vec::new(),
            continues: Vec::new(),
        });
        for (param, leaves) in function.params.iter().zip(args) {
            let bound = facts.is_constant(*param) || facts.is_binding[param.index()];
            if bound {
                self.frame().homes[param.index()] = Home::Bound(leaves);
            } else {
                let span = function.locals[*param].span;
                let place = Place {
                    base: PlaceBase::Local(*param),
                    path: Vec::new(),
                    ty: function.locals[*param].ty,
                };
                let regs = leaves
                    .iter()
                    .map(|l| self.leaf_reg(l, span))
                    .collect::<Result<Vec<_>>>()?;
                self.store(&place, &regs, span)?;
            }
        }
        let body = self.nested(|this| this.block(&function.body))?;
        let frame = self.frames.pop();
        if single_return {
            // Nothing leaves the scope early, so its code can stand here.
            body.into_iter().for_each(|node| self.emit(node));
            return Ok(frame
                .and_then(|f| f.returned)
                .unwrap_or_else(|| Rc::from([])));
        }
        self.emit(Node::Scope(exit, body));
        Ok(result.into_iter().map(Leaf::Register).collect())
    }

    // ---- statements ----

    fn block(&mut self, block: &'a [Statement]) -> Result<()> {
        block
            .iter()
            .try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &'a Statement) -> Result<()> {
        self.frame().position += 2;
        match statement {
            Statement::Let(value, op) => {
                let leaves = self.op(*value, op)?;
                self.frame().values.insert(*value, leaves);
            }
            Statement::Store { place, value, span } => {
                if let (PlaceBase::Local(local), true) = (place.base, place.path.is_empty())
                    && self.frame().facts.is_binding[local.index()]
                {
                    let leaves = self.value(*value)?;
                    let kept = leaves.iter().map(|l| self.keep(l)).collect::<Result<_>>()?;
                    self.frame().homes[local.index()] = Home::Bound(kept);
                    return Ok(());
                }
                let regs = self.regs(*value)?;
                self.store(place, &regs, *span)?;
            }
            Statement::If {
                condition,
                accept,
                reject,
                ..
            } => {
                let condition = self.reg(*condition)?;
                let accept = self.nested(|this| this.block(accept))?;
                let reject = self.nested(|this| this.block(reject))?;
                self.emit(Node::If {
                    condition,
                    accept,
                    reject,
                });
            }
            Statement::Loop {
                header,
                condition,
                body,
                step,
                test_first,
                ..
            } => {
                let (leave, next) = (self.scope(), self.scope());
                let round = self.nested(|this| {
                    let test = this.nested(|this| {
                        this.block(header)?;
                        let condition = this.reg(*condition)?;
                        let reject = vec![Node::Leave(leave)];
                        this.emit(Node::If {
                            condition,
                            accept: Vec::new(),
                            reject,
                        });
                        Ok(())
                    })?;
                    this.frame().breaks.push(leave);
                    this.frame().continues.push(next);
                    let body = this.nested(|this| this.block(body))?;
                    this.frame().breaks.pop();
                    this.frame().continues.pop();
                    let step = this.nested(|this| this.block(step))?;
                    this.frame().position += 2;
                    let (first, last) = match test_first {
                        true => (test, Vec::new()),
                        false => (Vec::new(), test),
                    };
                    first.into_iter().for_each(|node| this.emit(node));
                    this.emit(Node::Scope(next, body));
                    step.into_iter()
                        .chain(last)
                        .for_each(|node| this.emit(node));
                    Ok(())
                })?;
                self.emit(Node::Scope(leave, vec![Node::Loop(round)]));
            }
            Statement::Switch { selector, arms, .. } => self.switch(*selector, arms)?,
            Statement::Break(span) => {
                let scope = self.frame().breaks.last().copied();
                self.leave(scope, *span)?;
            }
            Statement::Continue(span) => {
                let scope = self.frame().continues.last().copied();
                self.leave(scope, *span)?;
            }
            Statement::Return(value, span) => {
                if self.frame().single_return {
                    if let Some(value) = value {
                        let leaves = self.value(*value)?;
                        self.frame().returned = Some(leaves);
                    }
                    return Ok(());
                }
                if let Some(value) = value {
                    let regs = self.regs(*value)?;
                    let result = self.frame().result.clone();
                    for (var, value) in result.into_iter().zip(regs) {
                        self.emit(Node::Set { var, value });
                    }
                }
                let exit = self.frame().exit;
                self.leave(Some(exit), *span)?;
            }
            Statement::Barrier { scope, .. } => {
                if *scope == crate::ir::BarrierScope::Threadgroup {
                    self.emit(Node::Barrier);
                }
            }
        }
        Ok(())
    }

    fn leave(&mut self, scope: Option<ScopeId>, span: Span) -> Result<()> {
        let scope = scope.ok_or_else(|| unsupported(span, "internal: nothing here to leave"))?;
        self.emit(Node::Leave(scope));
        Ok(())
    }

    /// A switch becomes a scope of ifs; a variable remembers that an earlier arm fell through.
    fn switch(&mut self, selector: Handle<Value>, arms: &'a [crate::ir::SwitchArm]) -> Result<()> {
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
                any = if any == no {
                    equal
                } else {
                    self.or(any, equal)?
                };
            }
            matches.push(any);
        }
        let leave = self.scope();
        let body = self.nested(|this| {
            for (arm, &matched) in arms.iter().zip(&matches) {
                let mut enter = matched;
                if arm.is_default {
                    for &other in &matches {
                        if other != no {
                            let op = Compute::Unary(crate::ir::UnaryOp::LogicalNot);
                            let not = this.compute(op, boolean, vec![other])?;
                            enter = match enter == matched {
                                true => not,
                                false => this.compute(
                                    Compute::Binary(BinaryOp::And),
                                    boolean,
                                    vec![enter, not],
                                )?,
                            };
                        }
                    }
                    enter = match enter == matched && matched == no {
                        true => yes,
                        false if matched != no => this.or(enter, matched)?,
                        false => enter,
                    };
                }
                let condition = this.or(enter, fell)?;
                this.frame().breaks.push(leave);
                let accept = this.nested(|this| {
                    this.emit(Node::Set {
                        var: fell,
                        value: yes,
                    });
                    this.block(&arm.body)
                })?;
                this.frame().breaks.pop();
                this.emit(Node::If {
                    condition,
                    accept,
                    reject: Vec::new(),
                });
            }
            Ok(())
        })?;
        self.emit(Node::Scope(leave, body));
        Ok(())
    }

    fn or(&mut self, a: Reg, b: Reg) -> Result<Reg> {
        self.compute(
            Compute::Binary(BinaryOp::Or),
            Kind::Scalar(Scalar::Bool),
            vec![a, b],
        )
    }

    /// A pointer that goes on meaning the same when variables change.
    fn keep(&mut self, leaf: &Leaf) -> Result<Leaf> {
        let mut leaf = leaf.clone();
        let made_from: Vec<&mut Reg> = match &mut leaf {
            Leaf::Register(reg) => vec![reg],
            Leaf::Address(address) => {
                let index = address.index.as_mut().map(|(reg, _)| reg);
                address.pointer.as_mut().into_iter().chain(index).collect()
            }
            Leaf::Variables(variables) => variables.terms.iter_mut().map(|(reg, _)| reg).collect(),
        };
        for reg in made_from {
            if self.flat.is_variable[*reg as usize] {
                *reg = self.compute(Compute::Copy, self.kind(*reg), vec![*reg])?;
            }
        }
        Ok(leaf)
    }

    // ---- places ----

    /// What a place is: variables, or an address in memory, or a value that a local stands for.
    fn resolve(&mut self, place: &Place, span: Span) -> Result<Leaf> {
        let module = self.module;
        let (mut leaf, mut ty) = match place.base {
            PlaceBase::Local(local) => {
                let ty = self.frame().function.locals[local].ty;
                (self.home(local)?, ty)
            }
            PlaceBase::Threadgroup(variable) => {
                let tag = self.threadgroup_slots.get(variable.index()).copied();
                let tag = tag
                    .ok_or_else(|| unsupported(span, "threadgroup variables belong to kernels"))?;
                let pointer = Some(self.base(tag));
                let ty = self.frame().function.threadgroup[variable].ty;
                (
                    Leaf::Address(Address {
                        pointer,
                        index: None,
                        offset: 0,
                        is_private: false,
                    }),
                    ty,
                )
            }
            PlaceBase::Constant(constant) => {
                let data = &module.constants[constant];
                let tag = match self.constant_slots.get(&constant.index()) {
                    Some(&tag) => tag,
                    None => {
                        let name = data.name.to_string();
                        self.flat.slots.push(Slot::Constant {
                            bytes: data.bytes.clone(),
                            name,
                        });
                        let tag = self.flat.slots.len() as u16;
                        self.constant_slots.insert(constant.index(), tag);
                        tag
                    }
                };
                let pointer = Some(self.base(tag));
                (
                    Leaf::Address(Address {
                        pointer,
                        index: None,
                        offset: 0,
                        is_private: false,
                    }),
                    data.ty,
                )
            }
            PlaceBase::Pointer(pointer) => {
                let pointer_ty = self.frame().function.values[pointer].ty;
                let Type::Pointer { space, pointee } = module.types[pointer_ty] else {
                    return Err(unsupported(
                        span,
                        "internal: a place behind what is no pointer",
                    ));
                };
                let leaf = match self.value(pointer)?.first() {
                    Some(Leaf::Register(reg)) => Leaf::Address(Address {
                        pointer: Some(*reg),
                        index: None,
                        offset: 0,
                        is_private: space == AddressSpace::Thread,
                    }),
                    Some(other) => other.clone(),
                    None => return Err(unsupported(span, "internal: a pointer without a value")),
                };
                (leaf, pointee)
            }
        };
        for projection in &place.path {
            leaf = self.project(leaf, &mut ty, projection, span)?;
        }
        Ok(leaf)
    }

    /// The part of a place, and its type (for a vector's or matrix's part, a stand-in of its size).
    fn project(
        &mut self,
        leaf: Leaf,
        ty: &mut Handle<Type>,
        projection: &Projection,
        span: Span,
    ) -> Result<Leaf> {
        let module = self.module;
        let index = match projection {
            Projection::Field(i) | Projection::Element(i) => Ok(*i),
            Projection::Index(value) => Err(self.reg(*value)?),
        };
        let no_part = || {
            unsupported(
                span,
                format!("internal: `{}` has no such part", module.types.name(*ty)),
            )
        };
        // The type of a part, and the bytes from one part to the next.
        let (part, stride) = match module.types[*ty] {
            Type::Array(element, _) => (Part::Type(element), module.types.stride(element)),
            Type::Vector(s, ..) => (
                Part::Type(self.scalar_type(s).ok_or_else(no_part)?),
                s.size(),
            ),
            Type::Matrix { scalar, rows, .. } => {
                let bytes = scalar.size() * u32::from(rows).next_power_of_two();
                (
                    Part::Type(self.column_type(scalar, rows).ok_or_else(no_part)?),
                    bytes,
                )
            }
            Type::Struct(s) => (Part::Fields(s), 0),
            _ => return Err(no_part()),
        };
        let (part_ty, byte_offset) = match (&part, index) {
            (Part::Type(part), Ok(i)) => (*part, i64::from(i) * i64::from(stride)),
            (Part::Type(part), Err(_)) => (*part, 0),
            (Part::Fields(s), Ok(i)) => {
                let field = module.types.structs[*s]
                    .fields
                    .get(i as usize)
                    .ok_or_else(no_part)?;
                (field.ty, i64::from(field.offset))
            }
            (Part::Fields(_), Err(_)) => return Err(no_part()),
        };
        let result = match leaf {
            Leaf::Variables(mut variables) => {
                match index {
                    Ok(i) => {
                        let (_, before) = self.part(*ty, i).ok_or_else(no_part)?;
                        variables.offset += before;
                    }
                    Err(reg) => variables.terms.push((reg, self.leaf_count(part_ty))),
                }
                Leaf::Variables(variables)
            }
            Leaf::Address(address) => Leaf::Address(match index {
                Ok(_) => Address {
                    offset: address.offset + byte_offset,
                    ..address
                },
                Err(reg) => self.indexed(address, reg, stride)?,
            }),
            Leaf::Register(_) => return Err(no_part()),
        };
        *ty = part_ty;
        Ok(result)
    }

    fn scalar_type(&self, scalar: Scalar) -> Option<Handle<Type>> {
        self.module.types.find(&Type::Scalar(scalar))
    }

    fn column_type(&self, scalar: Scalar, rows: u8) -> Option<Handle<Type>> {
        self.module
            .types
            .find(&Type::Vector(scalar, rows, crate::ir::Packing::Aligned))
    }

    /// An address moved by a computed index; one that has an index already is computed first.
    fn indexed(&mut self, address: Address, index: Reg, stride: u32) -> Result<Address> {
        if address.index.is_none() {
            return Ok(Address {
                index: Some((index, stride)),
                ..address
            });
        }
        let base = Address {
            offset: 0,
            ..address.clone()
        };
        let pointer = Some(self.pointer(&base)?);
        Ok(Address {
            pointer,
            index: Some((index, stride)),
            ..address
        })
    }

    fn home(&mut self, local: Handle<Local>) -> Result<Leaf> {
        let function = self.frame().function;
        let local_info = &function.locals[local];
        if let Home::Unset = self.frame().homes[local.index()] {
            let home = if self.frame().facts.in_memory[local.index()] {
                let (size, align) = self.module.types.layout(local_info.ty);
                let offset = self.flat.private_size.next_multiple_of(align.max(4));
                self.flat.private_size = offset.saturating_add(size);
                if self.flat.private_size > 1 << 20 {
                    return Err(unsupported(
                        local_info.span,
                        "the thread's memory is too large",
                    ));
                }
                Home::Memory(offset)
            } else {
                let kinds = self.kinds(local_info.ty, local_info.span)?;
                let first = self.registers(&kinds, true, local_info.span)?;
                Home::Variables(first, kinds.len() as u32)
            };
            self.frame().homes[local.index()] = home;
        }
        Ok(match &self.frame().homes[local.index()] {
            Home::Variables(base, count) => Leaf::Variables(Variables {
                base: *base,
                count: *count,
                offset: 0,
                terms: Vec::new(),
            }),
            Home::Memory(offset) => Leaf::Address(Address {
                pointer: None,
                index: None,
                offset: i64::from(*offset),
                is_private: true,
            }),
            Home::Unset | Home::Bound(_) => {
                return Err(unsupported(
                    local_info.span,
                    "internal: a variable without a home",
                ));
            }
        })
    }

    fn load(&mut self, value: Handle<Value>, place: &Place) -> Result<Rc<[Leaf]>> {
        let frame = &self.frames[self.frames.len() - 1];
        let span = frame.function.values[value].span;
        let (position, last_use) = (frame.position, frame.facts.last_use[value.index()]);
        if let PlaceBase::Local(local) = place.base
            && let Home::Bound(leaves) = &frame.homes[local.index()]
        {
            let leaves = leaves.clone();
            let ty = frame.function.locals[local].ty;
            return self.part_of_value(leaves, ty, &place.path, span);
        }
        let changes = match place.base {
            PlaceBase::Local(local) => frame.facts.written_between(local, position, last_use),
            PlaceBase::Pointer(_) => {
                frame.facts.written_through_pointer(position, last_use)
                    || frame
                        .facts
                        .writes
                        .iter()
                        .flatten()
                        .any(|&w| position < w && w <= last_use)
            }
            _ => false,
        };
        match self.resolve(place, span)? {
            Leaf::Variables(variables) => {
                let count = self.leaf_count(place.ty);
                let mut leaves = Vec::with_capacity(count as usize);
                for i in 0..count {
                    let element = Indexed {
                        base: variables.base,
                        count: variables.count,
                        offset: variables.offset + i,
                        terms: variables.terms.clone(),
                        span,
                    };
                    let var = variables.base + variables.offset + i;
                    let reg = if !element.terms.is_empty() {
                        let kind = self.kind(var.min(variables.base + variables.count - 1));
                        let dst = self.register(kind, false);
                        self.emit(Node::GetIndexed { dst, element });
                        dst
                    } else if changes {
                        self.compute(Compute::Copy, self.kind(var), vec![var])?
                    } else {
                        var
                    };
                    leaves.push(Leaf::Register(reg));
                }
                Ok(leaves.into())
            }
            Leaf::Address(address) => self.load_memory(place.ty, &address, span),
            Leaf::Register(_) => Err(unsupported(span, "internal: a load of a register")),
        }
    }

    /// The part of a value that a path of constant and computed steps reaches.
    fn part_of_value(
        &mut self,
        leaves: Rc<[Leaf]>,
        ty: Handle<Type>,
        path: &[Projection],
        span: Span,
    ) -> Result<Rc<[Leaf]>> {
        if path.is_empty() {
            return Ok(leaves);
        }
        // A computed index needs variables in a row.
        let regs = leaves
            .iter()
            .map(|l| self.leaf_reg(l, span))
            .collect::<Result<Vec<_>>>()?;
        let kinds: Vec<_> = regs.iter().map(|&r| self.kind(r)).collect();
        if path.iter().any(|p| matches!(p, Projection::Index(_))) {
            let base = self.registers(&kinds, true, span)?;
            for (var, value) in (base..).zip(regs) {
                self.emit(Node::Set { var, value });
            }
            let count = kinds.len() as u32;
            let mut leaf = Leaf::Variables(Variables {
                base,
                count,
                offset: 0,
                terms: Vec::new(),
            });
            let mut ty = ty;
            for projection in path {
                leaf = self.project(leaf, &mut ty, projection, span)?;
            }
            let Leaf::Variables(variables) = leaf else {
                return Err(unsupported(span, "internal: a part that is no variable"));
            };
            return (0..self.leaf_count(ty))
                .map(|i| {
                    let offset = variables.offset + i;
                    let terms = variables.terms.clone();
                    let dst =
                        self.register(self.kind((base + offset).min(base + count - 1)), false);
                    let element = Indexed {
                        base,
                        count,
                        offset,
                        terms,
                        span,
                    };
                    self.emit(Node::GetIndexed { dst, element });
                    Ok(Leaf::Register(dst))
                })
                .collect();
        }
        let mut leaf = Leaf::Variables(Variables {
            base: 0,
            count: regs.len() as u32,
            offset: 0,
            terms: Vec::new(),
        });
        let mut ty = ty;
        for projection in path {
            leaf = self.project(leaf, &mut ty, projection, span)?;
        }
        let Leaf::Variables(Variables { offset, .. }) = leaf else {
            return Err(unsupported(span, "internal: a part that is no variable"));
        };
        let end = offset + self.leaf_count(ty);
        leaves
            .get(offset as usize..end as usize)
            .map(Rc::from)
            .ok_or_else(|| unsupported(span, "internal: a part outside its value"))
    }

    fn load_memory(
        &mut self,
        ty: Handle<Type>,
        address: &Address,
        span: Span,
    ) -> Result<Rc<[Leaf]>> {
        let mut leaves = Vec::new();
        self.memory_leaves(ty, 0, span, &mut leaves)?;
        let mut result = Vec::with_capacity(leaves.len());
        for run in runs(&leaves) {
            let (offset, kind) = run[0];
            let kinds = vec![kind; run.len()];
            let dst = self.registers(&kinds, false, span)?;
            self.emit(Node::Load {
                dst,
                count: run.len() as u32,
                element: kind.scalar(),
                is_pointer: kind == Kind::Pointer,
                address: Address {
                    offset: address.offset + i64::from(offset),
                    ..address.clone()
                },
                span,
            });
            result.extend((dst..dst + run.len() as Reg).map(Leaf::Register));
        }
        Ok(result.into())
    }

    fn store(&mut self, place: &Place, regs: &[Reg], span: Span) -> Result<()> {
        match self.resolve(place, span)? {
            Leaf::Variables(variables) => {
                let first = variables.base + variables.offset;
                let targets = variables.base..variables.base + variables.count;
                let mut values = regs.to_vec();
                if values.len() > 1 || !variables.terms.is_empty() {
                    // A source that is itself one of the targets must be read before it changes.
                    for value in &mut values {
                        if targets.contains(value) {
                            *value =
                                self.compute(Compute::Copy, self.kind(*value), vec![*value])?;
                        }
                    }
                }
                for (i, value) in (0..).zip(values) {
                    if variables.terms.is_empty() {
                        self.emit(Node::Set {
                            var: first + i,
                            value,
                        });
                    } else {
                        let element = Indexed {
                            base: variables.base,
                            count: variables.count,
                            offset: variables.offset + i,
                            terms: variables.terms.clone(),
                            span,
                        };
                        self.emit(Node::SetIndexed { element, value });
                    }
                }
                Ok(())
            }
            Leaf::Address(address) => {
                let mut leaves = Vec::new();
                self.memory_leaves(place.ty, 0, span, &mut leaves)?;
                let mut rest = regs;
                for run in runs(&leaves) {
                    let (offset, kind) = run[0];
                    let Some((values, tail)) = rest.split_at_checked(run.len()) else {
                        return Err(unsupported(span, "internal: a store of too few parts"));
                    };
                    rest = tail;
                    self.emit(Node::Store {
                        values: values.to_vec(),
                        element: kind.scalar(),
                        address: Address {
                            offset: address.offset + i64::from(offset),
                            ..address.clone()
                        },
                        span,
                    });
                }
                Ok(())
            }
            Leaf::Register(_) => Err(unsupported(span, "internal: a store to a register")),
        }
    }

    // ---- operations ----

    fn op(&mut self, value: Handle<Value>, op: &'a Op) -> Result<Rc<[Leaf]>> {
        let Value { ty, span } = self.frame().function.values[value];
        match op {
            Op::Load(place) => self.load(value, place),
            Op::AddressOf(place) => {
                if let PlaceBase::Local(local) = place.base
                    && let Home::Bound(leaves) = &self.frame().homes[local.index()]
                {
                    // Taking the address of what has none: give it variables.
                    let leaves = leaves.clone();
                    let regs = leaves
                        .iter()
                        .map(|l| self.leaf_reg(l, span))
                        .collect::<Result<Vec<_>>>()?;
                    self.frame().homes[local.index()] = Home::Unset;
                    let whole = Place {
                        base: place.base,
                        path: Vec::new(),
                        ty: self.frame().function.locals[local].ty,
                    };
                    self.store(&whole, &regs, span)?;
                }
                Ok(Rc::from([self.resolve(place, span)?]))
            }
            Op::Offset(pointer, index) => {
                let index = self.reg(*index)?;
                let leaf = self.value(*pointer)?.first().cloned();
                let Type::Pointer { pointee, space } = self.module.types[ty] else {
                    return Err(unsupported(
                        span,
                        "internal: an offset of what is no pointer",
                    ));
                };
                let stride = self.module.types.stride(pointee);
                Ok(Rc::from([match leaf {
                    Some(Leaf::Variables(mut variables)) => {
                        variables.terms.push((index, self.leaf_count(pointee)));
                        Leaf::Variables(variables)
                    }
                    Some(Leaf::Address(address)) => {
                        Leaf::Address(self.indexed(address, index, stride)?)
                    }
                    Some(Leaf::Register(reg)) => Leaf::Address(Address {
                        pointer: Some(reg),
                        index: Some((index, stride)),
                        offset: 0,
                        is_private: space == AddressSpace::Thread,
                    }),
                    None => return Err(unsupported(span, "internal: a pointer without a value")),
                }]))
            }
            Op::Call(callee, args) => {
                let args = args
                    .iter()
                    .map(|&arg| self.value(arg))
                    .collect::<Result<Vec<_>>>()?;
                self.call(*callee, args)
            }
            Op::Compose(parts) => {
                let mut leaves = Vec::new();
                for part in parts {
                    leaves.extend(self.value(*part)?.iter().cloned());
                }
                Ok(leaves.into())
            }
            Op::Splat(part) => {
                let leaf = self.value(*part)?;
                let count = self.leaf_count(ty);
                Ok((0..count).flat_map(|_| leaf.first().cloned()).collect())
            }
            Op::Extract(whole, index) => {
                let whole_ty = self.frame().function.values[*whole].ty;
                let leaves = self.value(*whole)?;
                let no_part = || unsupported(span, "internal: a part outside its value");
                let (_, before) = self.part(whole_ty, *index).ok_or_else(no_part)?;
                let end = before + self.leaf_count(ty);
                leaves
                    .get(before as usize..end as usize)
                    .map(Rc::from)
                    .ok_or_else(no_part)
            }
            Op::Swizzle(whole, components) => {
                let leaves = self.value(*whole)?;
                Ok(components
                    .iter()
                    .filter_map(|&c| leaves.get(c as usize).cloned())
                    .collect())
            }
            Op::Bitcast(from) if matches!(self.module.types[ty], Type::Pointer { .. }) => {
                self.value(*from)
            }
            _ => {
                let regs = self.scalar_op(op, ty, span)?;
                Ok(regs.into_iter().map(Leaf::Register).collect())
            }
        }
    }

    /// Operations that work scalar by scalar.
    fn scalar_op(&mut self, op: &Op, ty: Handle<Type>, span: Span) -> Result<Vec<Reg>> {
        let kinds = self.kinds(ty, span)?;
        match op {
            Op::Literal(literal) => {
                let kind = kinds.first().copied().unwrap_or(Kind::Scalar(Scalar::I32));
                Ok(vec![
                    self.literal(literal_bits(*literal, kind.scalar()), kind),
                ])
            }
            Op::Zero => Ok(kinds.iter().map(|&kind| self.literal(0, kind)).collect()),
            Op::FunctionConstant(handle) => {
                let constant = &self.module.function_constants[*handle];
                let bytes = self.constants.get(&constant.index).ok_or_else(|| {
                    let (name, index) = (&constant.name, constant.index);
                    unsupported(
                        span,
                        format!("function constant `{name}` ({index}) has no value"),
                    )
                })?;
                let mut regs = Vec::new();
                let mut rest = bytes.as_slice();
                for &kind in &kinds {
                    let size = kind.scalar().size() as usize;
                    let Some((head, tail)) = rest.split_at_checked(size) else {
                        return Err(unsupported(
                            span,
                            format!(
                                "the value of function constant `{}` is too short",
                                constant.name
                            ),
                        ));
                    };
                    rest = tail;
                    regs.push(self.literal(bits_of_bytes(head, kind.scalar()), kind));
                }
                Ok(regs)
            }
            Op::FunctionConstantDefined(handle) => {
                let given = self
                    .constants
                    .contains_key(&self.module.function_constants[*handle].index);
                let bits = if given { u64::from(u32::MAX) } else { 0 };
                Ok(vec![self.literal(bits, Kind::Scalar(Scalar::Bool))])
            }
            Op::Unary(op, a) => self.by_component(Compute::Unary(*op), &kinds, &[*a]),
            Op::Binary(op, a, b) => self.by_component(Compute::Binary(*op), &kinds, &[*a, *b]),
            Op::Convert(a) => {
                let regs = self.regs(*a)?;
                kinds
                    .iter()
                    .enumerate()
                    .map(|(i, &kind)| {
                        let reg = regs.get(i).or(regs.first()).copied();
                        let reg =
                            reg.ok_or_else(|| unsupported(span, "internal: nothing to convert"))?;
                        self.convert(reg, kind)
                    })
                    .collect()
            }
            Op::Bitcast(a) => self.bitcast_value(*a, &kinds, span),
            Op::Select {
                condition,
                accept,
                reject,
            } => self.by_component(Compute::Select, &kinds, &[*condition, *accept, *reject]),
            Op::Math(function @ (MathFunction::All | MathFunction::Any), args) => {
                let op = if *function == MathFunction::All {
                    BinaryOp::And
                } else {
                    BinaryOp::Or
                };
                let regs = self.regs(args[0])?;
                self.fold(Compute::Binary(op), &regs, span)
            }
            Op::Math(MathFunction::Dot, args) => {
                let (a, b) = (self.regs(args[0])?, self.regs(args[1])?);
                let mut products = Vec::new();
                for (a, b) in a.into_iter().zip(b) {
                    let op = Compute::Binary(BinaryOp::Multiply);
                    products.push(self.compute(op, self.kind(a), vec![a, b])?);
                }
                self.fold(Compute::Binary(BinaryOp::Add), &products, span)
            }
            Op::Math(function, args) => self.by_component(Compute::Math(*function), &kinds, args),
            Op::PointerDifference(a, b) => {
                let pointee = match self.module.types[self.frame().function.values[*a].ty] {
                    Type::Pointer { pointee, .. } => self.module.types.stride(pointee),
                    _ => 1,
                };
                let (a, b) = (self.reg(*a)?, self.reg(*b)?);
                let long = Kind::Scalar(Scalar::I64);
                let (a, b) = (self.bitcast(a, long)?, self.bitcast(b, long)?);
                let bytes = self.compute(Compute::Binary(BinaryOp::Subtract), long, vec![a, b])?;
                let size = self.literal(u64::from(pointee.max(1)), long);
                Ok(vec![self.compute(
                    Compute::Binary(BinaryOp::Divide),
                    long,
                    vec![bytes, size],
                )?])
            }
            Op::Simd(op, args) => {
                let args = args
                    .iter()
                    .map(|&a| self.regs(a))
                    .collect::<Result<Vec<_>>>()?;
                (0..kinds.len())
                    .map(|i| {
                        let args = args.iter().filter_map(|a| a.get(i).or(a.first()).copied());
                        let args = args.collect();
                        self.simd(*op, kinds[i], args)
                    })
                    .collect()
            }
            Op::Atomic {
                op, place, args, ..
            } => {
                let Leaf::Address(address) = self.resolve(place, span)? else {
                    return Err(unsupported(
                        span,
                        "atomics need device or threadgroup memory",
                    ));
                };
                let Type::Atomic(element) = self.module.types[place.ty] else {
                    return Err(unsupported(
                        span,
                        "internal: an atomic operation on a plain place",
                    ));
                };
                let args = args
                    .iter()
                    .map(|&a| self.reg(a))
                    .collect::<Result<Vec<_>>>()?;
                let dst = kinds.first().map(|&kind| self.register(kind, false));
                self.emit(Node::Atomic {
                    op: *op,
                    dst,
                    args,
                    element,
                    address,
                    span,
                });
                Ok(dst.into_iter().collect())
            }
            Op::SimdgroupMatrix(..) => Err(unsupported(
                span,
                "the CPU does not run simdgroup matrices yet",
            )),
            Op::Load(_)
            | Op::AddressOf(_)
            | Op::Offset(..)
            | Op::Call(..)
            | Op::Compose(_)
            | Op::Splat(_)
            | Op::Extract(..)
            | Op::Swizzle(..) => Err(unsupported(span, "internal: an operation on whole values")),
        }
    }

    fn simd(&mut self, op: SimdOp, kind: Kind, args: Vec<Reg>) -> Result<Reg> {
        let dst = self.register(kind, false);
        self.emit(Node::Simd { op, dst, args });
        Ok(dst)
    }

    /// One node for each component; an operand with one component serves them all.
    fn by_component(
        &mut self,
        op: Compute,
        kinds: &[Kind],
        args: &[Handle<Value>],
    ) -> Result<Vec<Reg>> {
        let args = args
            .iter()
            .map(|&a| self.regs(a))
            .collect::<Result<Vec<_>>>()?;
        kinds
            .iter()
            .enumerate()
            .map(|(i, &kind)| {
                let args = args
                    .iter()
                    .filter_map(|a| a.get(i).or(a.first()).copied())
                    .collect();
                self.compute(op, kind, args)
            })
            .collect()
    }

    fn fold(&mut self, op: Compute, regs: &[Reg], span: Span) -> Result<Vec<Reg>> {
        let (&first, rest) = regs
            .split_first()
            .ok_or_else(|| unsupported(span, "internal: a fold of nothing"))?;
        let mut total = first;
        for &reg in rest {
            total = self.compute(op, self.kind(total), vec![total, reg])?;
        }
        Ok(vec![total])
    }

    /// `as_type`: through 32-bit words where the components differ in size.
    fn bitcast_value(
        &mut self,
        from: Handle<Value>,
        kinds: &[Kind],
        span: Span,
    ) -> Result<Vec<Reg>> {
        let regs = self.regs(from)?;
        let size = |kind: Kind| kind.scalar().size();
        let (Some(&first), Some(&to)) = (regs.first(), kinds.first()) else {
            return Err(unsupported(span, "internal: a cast of nothing"));
        };
        let source = self.kind(first);
        if regs.len() == kinds.len() && size(source) == size(to) {
            return regs
                .iter()
                .zip(kinds)
                .map(|(&r, &k)| self.bitcast(r, k))
                .collect();
        }
        let word = Kind::Scalar(Scalar::U32);
        let unsigned = |bytes: u32| match bytes {
            1 => Kind::Scalar(Scalar::U8),
            2 => Kind::Scalar(Scalar::U16),
            4 => word,
            _ => Kind::Scalar(Scalar::U64),
        };
        let mut words = Vec::new();
        match size(source) {
            8 => {
                for &reg in &regs {
                    words.push(self.compute(Compute::Part(0), word, vec![reg])?);
                    words.push(self.compute(Compute::Part(1), word, vec![reg])?);
                }
            }
            bytes => {
                let per_word = (4 / bytes).max(1) as usize;
                for group in regs.chunks(per_word) {
                    let mut total = None;
                    for (i, &reg) in (0..).zip(group) {
                        let bits = self.bitcast(reg, unsigned(bytes))?;
                        let bits = self.convert(bits, word)?;
                        let count = self.literal(u64::from(i * bytes * 8), word);
                        let op = Compute::Binary(BinaryOp::ShiftLeft);
                        let bits = match i {
                            0 => bits,
                            _ => self.compute(op, word, vec![bits, count])?,
                        };
                        total = Some(match total {
                            None => bits,
                            Some(t) => {
                                self.compute(Compute::Binary(BinaryOp::Or), word, vec![t, bits])?
                            }
                        });
                    }
                    words.extend(total);
                }
            }
        }
        let mut result = Vec::new();
        for (i, &kind) in (0..).zip(kinds) {
            let bytes = size(kind);
            let at = |n: u32| {
                words
                    .get(n as usize)
                    .copied()
                    .ok_or_else(|| unsupported(span, "internal: a cast between sizes"))
            };
            let reg = if bytes == 8 {
                let (low, high) = (at(i * 2)?, at(i * 2 + 1)?);
                let long = self.compute(Compute::Join, unsigned(8), vec![low, high])?;
                self.bitcast(long, kind)?
            } else {
                let (at_word, shift) = (at(i * bytes / 4)?, i * bytes % 4 * 8);
                let op = Compute::Binary(BinaryOp::ShiftRight);
                let bits = match shift {
                    0 => at_word,
                    _ => {
                        let count = self.literal(u64::from(shift), word);
                        self.compute(op, word, vec![at_word, count])?
                    }
                };
                let bits = self.convert(bits, unsigned(bytes))?;
                self.bitcast(bits, kind)?
            };
            result.push(reg);
        }
        Ok(result)
    }
}

enum Part {
    Type(Handle<Type>),
    Fields(Handle<crate::ir::Struct>),
}

fn unsupported(span: Span, message: impl Into<String>) -> Unsupported {
    Unsupported {
        message: message.into(),
        span,
    }
}

/// Runs of up to four scalars of one kind that stand side by side in memory.
fn runs(leaves: &[(u32, Kind)]) -> impl Iterator<Item = &[(u32, Kind)]> {
    leaves
        .chunk_by(|a, b| a.1 == b.1 && b.0 == a.0 + a.1.scalar().size())
        .flat_map(|run| run.chunks(4))
}

/// Whether a statement is or holds a `return`.
fn returns(statement: &Statement) -> bool {
    matches!(statement, Statement::Return(..)) || inner_returns(statement)
}

/// Whether a statement holds a `return` inside.
fn inner_returns(statement: &Statement) -> bool {
    match statement {
        Statement::If { accept, reject, .. } => accept.iter().chain(reject).any(returns),
        Statement::Loop {
            header, body, step, ..
        } => header.iter().chain(body).chain(step).any(returns),
        Statement::Switch { arms, .. } => arms.iter().any(|arm| arm.body.iter().any(returns)),
        _ => false,
    }
}

/// An integer as the bits of a register of its type.
fn integer_bits(value: i64, scalar: Scalar) -> u64 {
    match scalar {
        Scalar::Bool => u64::from(if value != 0 { u32::MAX } else { 0 }),
        Scalar::I8 => u64::from(value as i8 as i32 as u32),
        Scalar::U8 => u64::from(value as u8),
        Scalar::I16 => u64::from(value as i16 as i32 as u32),
        Scalar::U16 => u64::from(value as u16),
        Scalar::I32 | Scalar::U32 => u64::from(value as u32),
        Scalar::I64 | Scalar::U64 => value as u64,
        Scalar::F16 | Scalar::Bf16 | Scalar::F32 => u64::from((value as f32).to_bits()),
    }
}

fn literal_bits(literal: Literal, scalar: Scalar) -> u64 {
    match literal {
        Literal::Bool(b) => integer_bits(i64::from(b), scalar),
        Literal::Int(value) => integer_bits(value, scalar),
        Literal::Float(value) => u64::from(value.to_bits()),
    }
}

/// A scalar in memory as the bits of a register.
fn bits_of_bytes(bytes: &[u8], scalar: Scalar) -> u64 {
    let mut all = [0; 8];
    for (to, from) in all.iter_mut().zip(bytes) {
        *to = *from;
    }
    let raw = u64::from_le_bytes(all);
    match scalar {
        Scalar::F16 => u64::from(f16::from_bits(raw as u16).to_f32().to_bits()),
        Scalar::Bf16 => u64::from(bf16::from_bits(raw as u16).to_f32().to_bits()),
        Scalar::F32 => raw,
        _ => integer_bits(raw as i64, scalar),
    }
}
