//! What a function does with its variables, found before it is flattened.
//!
//! A local whose address never escapes becomes registers; the others live in the thread's own
//! memory. A load of a register variable needs no copy if nothing writes the variable before the
//! loaded value's last use. Positions count statements in source order: a statement's reads are at
//! `2 n`, a store's effect at `2 n + 1`, and a call's effects at `2 n`, amid its reads.

use std::collections::HashMap;

use crate::ir::{
    AddressSpace, Block, Function, Handle, Local, Module, Op, Place, PlaceBase, Projection,
    Statement, Type, Value,
};

/// What flattening needs to know of a function.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// For each local: whether it must live in memory.
    pub in_memory: Vec<bool>,
    /// For each local: a pointer that is set once and then stands for its place.
    pub is_binding: Vec<bool>,
    /// For each local: where it may be written.
    pub writes: Vec<Vec<u32>>,
    /// Where calls and stores through thread pointers are.
    pub indirect_writes: Vec<u32>,
    /// For each value: the position of its last use, loops counted in; `u32::MAX` if it is returned.
    pub last_use: Vec<u32>,
}

impl Facts {
    /// Whether the local may be written at a position in `(after, until]`.
    pub fn written_between(&self, local: Handle<Local>, after: u32, until: u32) -> bool {
        self.writes[local.index()]
            .iter()
            .any(|&w| after < w && w <= until)
    }

    /// Whether what a thread pointer reaches may be written at a position in `(after, until]`.
    pub fn written_through_pointer(&self, after: u32, until: u32) -> bool {
        until == u32::MAX
            || self
                .indirect_writes
                .iter()
                .any(|&w| after < w && w <= until)
    }

    /// Whether the local is never written after its start.
    pub fn is_constant(&self, local: Handle<Local>) -> bool {
        self.writes[local.index()].is_empty() && !self.in_memory[local.index()]
    }
}

/// Facts of every function of a module, callees first.
pub fn analyze(module: &Module) -> Vec<Facts> {
    let mut all: Vec<Facts> = Vec::with_capacity(module.functions.len());
    for (_, function) in module.functions.iter() {
        let facts = Analyzer::new(module, function, &all).run();
        all.push(facts);
    }
    all
}

struct Analyzer<'a> {
    module: &'a Module,
    function: &'a Function,
    callees: &'a [Facts],
    facts: Facts,
    position: u32,
    /// The local that a thread pointer points into.
    roots: HashMap<Handle<Value>, Handle<Local>>,
    /// The parameter that a thread pointer was made from.
    sources: HashMap<Handle<Value>, Handle<Local>>,
    /// The local that a binding pointer variable points into.
    bound: HashMap<Handle<Local>, Handle<Local>>,
    /// Locals whose address is taken at all: calls and stores through pointers may write them.
    addressed: Vec<bool>,
    /// Enclosing loops, by number.
    loops: Vec<usize>,
    loop_ends: Vec<u32>,
    /// The loops around each value's definition.
    depth: Vec<usize>,
    /// Uses inside loops that the value is defined outside of.
    carried: Vec<(Handle<Value>, usize)>,
    /// Values that only rename their operands, in order of definition.
    renames: Vec<(Handle<Value>, Vec<Handle<Value>>)>,
    store_counts: Vec<u32>,
}

impl<'a> Analyzer<'a> {
    fn new(module: &'a Module, function: &'a Function, callees: &'a [Facts]) -> Self {
        let (locals, values) = (function.locals.len(), function.values.len());
        let mut store_counts = vec![0; locals];
        count_stores(&function.body, &mut store_counts);
        let is_thread_pointer = |l: &Local| {
            matches!(
                module.types[l.ty],
                Type::Pointer {
                    space: AddressSpace::Thread,
                    ..
                }
            )
        };
        let is_binding = function
            .locals
            .iter()
            .map(|(handle, local)| {
                let most = u32::from(!function.params.contains(&handle));
                is_thread_pointer(local) && store_counts[handle.index()] <= most
            })
            .collect();
        let in_memory = function
            .locals
            .iter()
            .map(|(_, l)| needs_memory(module, l.ty))
            .collect();
        Self {
            module,
            function,
            callees,
            facts: Facts {
                in_memory,
                is_binding,
                writes: vec![Vec::new(); locals],
                indirect_writes: Vec::new(),
                last_use: vec![0; values],
            },
            position: 0,
            roots: HashMap::new(),
            sources: HashMap::new(),
            bound: HashMap::new(),
            addressed: vec![false; locals],
            loops: Vec::new(),
            loop_ends: Vec::new(),
            depth: vec![0; values],
            carried: Vec::new(),
            renames: Vec::new(),
            store_counts,
        }
    }

    fn run(mut self) -> Facts {
        self.block(&self.function.body);
        for &(value, in_loop) in &self.carried {
            let last = &mut self.facts.last_use[value.index()];
            *last = (*last).max(self.loop_ends[in_loop]);
        }
        for (value, operands) in self.renames.iter().rev() {
            let last = self.facts.last_use[value.index()];
            for operand in operands {
                let other = &mut self.facts.last_use[operand.index()];
                *other = (*other).max(last);
            }
        }
        for (local, addressed) in self.addressed.iter().enumerate() {
            if *addressed {
                self.facts.writes[local].extend_from_slice(&self.facts.indirect_writes);
            }
            self.facts.is_binding[local] &= !addressed;
        }
        self.facts
    }

    fn block(&mut self, block: &Block) {
        for statement in block {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        self.position += 2;
        match statement {
            Statement::Let(value, op) => self.define(*value, op),
            Statement::Store { place, value, .. } => {
                self.place(place);
                self.read(*value);
                match place.base {
                    PlaceBase::Local(local) => {
                        self.facts.writes[local.index()].push(self.position + 1);
                        match self.roots.get(value).copied() {
                            Some(root) if self.binds(local) => {
                                self.bound.insert(local, root);
                            }
                            _ => self.escape(*value),
                        }
                    }
                    PlaceBase::Pointer(_) => {
                        self.facts.indirect_writes.push(self.position + 1);
                        self.escape(*value);
                    }
                    _ => self.escape(*value),
                }
            }
            Statement::If {
                condition,
                accept,
                reject,
                ..
            } => {
                self.read(*condition);
                self.block(accept);
                self.block(reject);
            }
            Statement::Loop {
                header,
                condition,
                body,
                step,
                ..
            } => {
                self.loops.push(self.loop_ends.len());
                self.loop_ends.push(0);
                self.block(header);
                self.read(*condition);
                self.block(body);
                self.block(step);
                self.position += 2;
                if let Some(number) = self.loops.pop() {
                    self.loop_ends[number] = self.position;
                }
            }
            Statement::Switch { selector, arms, .. } => {
                self.read(*selector);
                for arm in arms {
                    self.block(&arm.body);
                }
            }
            Statement::Return(Some(value), _) => {
                self.read(*value);
                // The caller goes on using what is returned, and knows what it gave.
                self.facts.last_use[value.index()] = u32::MAX;
                self.leave(*value);
            }
            Statement::Return(None, _)
            | Statement::Break(_)
            | Statement::Continue(_)
            | Statement::Barrier { .. } => {}
        }
    }

    fn binds(&self, local: Handle<Local>) -> bool {
        self.facts.is_binding[local.index()] && self.store_counts[local.index()] == 1
    }

    fn define(&mut self, value: Handle<Value>, op: &Op) {
        self.depth[value.index()] = self.loops.len();
        for_each_operand(op, &mut |operand| self.read(operand));
        match op {
            Op::Load(place) => {
                if let (PlaceBase::Local(local), true) = (place.base, place.path.is_empty())
                    && let Some(&root) = self.bound.get(&local)
                {
                    self.roots.insert(value, root);
                }
                if let (PlaceBase::Local(local), true) = (place.base, place.path.is_empty())
                    && self.function.params.contains(&local)
                {
                    self.sources.insert(value, local);
                }
            }
            Op::AddressOf(place) => {
                let root = match place.base {
                    PlaceBase::Local(local) => Some(local),
                    PlaceBase::Pointer(pointer) => self.roots.get(&pointer).copied(),
                    _ => None,
                };
                if let Some(root) = root {
                    self.addressed[root.index()] = true;
                    self.roots.insert(value, root);
                }
                if let PlaceBase::Pointer(pointer) = place.base {
                    self.follow(value, pointer);
                }
                self.renames.push((value, operands(op)));
            }
            Op::Offset(pointer, _) => {
                if let Some(&root) = self.roots.get(pointer) {
                    self.roots.insert(value, root);
                }
                self.follow(value, *pointer);
                self.renames.push((value, operands(op)));
            }
            Op::Extract(..) | Op::Swizzle(..) | Op::Compose(_) | Op::Splat(_) => {
                operands(op).iter().for_each(|&v| self.escape(v));
                self.renames.push((value, operands(op)));
            }
            Op::Call(callee, args) => {
                self.facts.indirect_writes.push(self.position);
                let target = &self.module.functions[*callee];
                for (arg, param) in args.iter().zip(&target.params) {
                    let symbolic = self
                        .callees
                        .get(callee.index())
                        .is_some_and(|f| f.is_binding[param.index()] && f.is_constant(*param));
                    if !symbolic {
                        self.escape(*arg);
                    }
                }
            }
            Op::Atomic { args, .. } => {
                self.facts.indirect_writes.push(self.position + 1);
                args.iter().for_each(|&v| self.escape(v));
            }
            Op::SimdgroupMatrix(_, args) => {
                self.facts.indirect_writes.push(self.position + 1);
                args.iter().for_each(|&v| self.escape(v));
            }
            _ => operands(op).iter().for_each(|&v| self.escape(v)),
        }
    }

    fn place(&mut self, place: &Place) {
        for_each_place_operand(place, &mut |operand| self.read(operand));
    }

    fn read(&mut self, value: Handle<Value>) {
        let last = &mut self.facts.last_use[value.index()];
        *last = (*last).max(self.position);
        if let Some(&outermost) = self.loops.get(self.depth[value.index()]) {
            self.carried.push((value, outermost));
        }
    }

    /// The value points into what the pointer points into.
    fn follow(&mut self, value: Handle<Value>, pointer: Handle<Value>) {
        if let Some(&source) = self.sources.get(&pointer) {
            self.sources.insert(value, source);
        }
    }

    /// The pointer goes where its place is not known any more: what it points into needs an address.
    fn escape(&mut self, value: Handle<Value>) {
        if let Some(&source) = self.sources.get(&value) {
            self.facts.is_binding[source.index()] = false;
        }
        self.leave(value);
    }

    fn leave(&mut self, value: Handle<Value>) {
        if let Some(&root) = self.roots.get(&value) {
            self.facts.in_memory[root.index()] = true;
        }
    }
}

/// Whether values of this type overlap or are shared, so that they cannot be split into registers.
fn needs_memory(module: &Module, ty: Handle<Type>) -> bool {
    match module.types[ty] {
        Type::Struct(s) => {
            let s = &module.types.structs[s];
            s.is_union || s.fields.iter().any(|f| needs_memory(module, f.ty))
        }
        Type::Array(element, _) => needs_memory(module, element),
        Type::Atomic(_) => true,
        _ => false,
    }
}

fn count_stores(block: &Block, counts: &mut [u32]) {
    for statement in block {
        match statement {
            Statement::Store { place, .. } => {
                if let PlaceBase::Local(local) = place.base {
                    counts[local.index()] += 1;
                }
            }
            Statement::If { accept, reject, .. } => {
                count_stores(accept, counts);
                count_stores(reject, counts);
            }
            Statement::Loop {
                header, body, step, ..
            } => {
                for part in [header, body, step] {
                    count_stores(part, counts);
                }
            }
            Statement::Switch { arms, .. } => {
                arms.iter().for_each(|arm| count_stores(&arm.body, counts));
            }
            _ => {}
        }
    }
}

fn for_each_place_operand(place: &Place, visit: &mut dyn FnMut(Handle<Value>)) {
    if let PlaceBase::Pointer(pointer) = place.base {
        visit(pointer);
    }
    for projection in &place.path {
        if let Projection::Index(index) = projection {
            visit(*index);
        }
    }
}

fn operands(op: &Op) -> Vec<Handle<Value>> {
    let mut all = Vec::new();
    for_each_operand(op, &mut |v| all.push(v));
    all
}

fn for_each_operand(op: &Op, visit: &mut dyn FnMut(Handle<Value>)) {
    match op {
        Op::Literal(_) | Op::FunctionConstant(_) | Op::FunctionConstantDefined(_) | Op::Zero => {}
        Op::Splat(a)
        | Op::Extract(a, _)
        | Op::Swizzle(a, _)
        | Op::Unary(_, a)
        | Op::Convert(a)
        | Op::Bitcast(a) => visit(*a),
        Op::Binary(_, a, b) | Op::Offset(a, b) | Op::PointerDifference(a, b) => {
            visit(*a);
            visit(*b);
        }
        Op::Select {
            condition,
            accept,
            reject,
        } => {
            [condition, accept, reject]
                .into_iter()
                .for_each(|v| visit(*v));
        }
        Op::Compose(args)
        | Op::Math(_, args)
        | Op::Call(_, args)
        | Op::Simd(_, args)
        | Op::SimdgroupMatrix(_, args) => args.iter().for_each(|v| visit(*v)),
        Op::Load(place) | Op::AddressOf(place) => for_each_place_operand(place, visit),
        Op::Atomic { place, args, .. } => {
            for_each_place_operand(place, visit);
            args.iter().for_each(|v| visit(*v));
        }
    }
}
