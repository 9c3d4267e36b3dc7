//! Loops of few rounds with a constant counter, written out.
//!
//! What the counter indexes then has constant indices: a small array becomes registers. Only loops
//! whose counter is an integer variable that nothing but the loop's own step writes are written out,
//! and only while the kernel stays small.

use std::collections::{HashMap, HashSet};

use super::constant::{Known, integer_bits, integer_value, scalar_of};
use super::typed::{Block, Inlined, Loop, Node, for_each_in_place, for_each_operand};
use crate::ir::{
    AddressSpace, Handle, Literal, Local, Op, Place, PlaceBase, Scalar, Type, Types, Value,
};

/// Rounds that a loop may have.
const MOST_ROUNDS: usize = 32;

/// Nodes that a loop may become, if its counter is an index into a variable.
const LARGEST_INDEXED: usize = 2048;

/// Nodes that any other loop may become.
const LARGEST: usize = 192;

/// Nodes that all loops of a kernel may become.
const LARGEST_KERNEL: usize = 1 << 14;

/// Writes out the short loops of a kernel.
pub fn unroll(kernel: &mut Inlined, types: &Types) {
    let mut uses = Uses::default();
    uses.count(&kernel.body);
    let body = std::mem::take(&mut kernel.body);
    let mut unroller = Unroller {
        kernel,
        types,
        uses,
        known: Known::default(),
        budget: LARGEST_KERNEL,
    };
    let body = unroller.block(body);
    kernel.body = body;
}

/// How often variables are used, and in which ways.
#[derive(Default)]
struct Uses {
    references: HashMap<Handle<Local>, usize>,
    addressed: HashSet<Handle<Local>>,
}

impl Uses {
    fn count(&mut self, block: &[Node]) {
        for node in block {
            if let Some(place) = node.place()
                && let PlaceBase::Local(local) = place.base
            {
                *self.references.entry(local).or_default() += 1;
                if !matches!(node, Node::Let(_, Op::Load(_)) | Node::Store { .. }) {
                    self.addressed.insert(local);
                }
            }
            node.blocks().into_iter().for_each(|b| self.count(b));
        }
    }
}

impl Uses {
    /// Variables that stand for others in a copy of code are used as those are.
    fn copy(&mut self, copied: &HashMap<Handle<Local>, Handle<Local>>) {
        for (old, new) in copied {
            if let Some(&count) = self.references.get(old) {
                self.references.insert(*new, count);
            }
            if self.addressed.contains(old) {
                self.addressed.insert(*new);
            }
        }
    }
}

struct Unroller<'a> {
    kernel: &'a mut Inlined,
    types: &'a Types,
    uses: Uses,
    known: Known,
    budget: usize,
}

/// A counter's run: its variable and what it is in each round, and after the last.
struct Rounds {
    counter: Handle<Local>,
    values: Vec<i64>,
    end: i64,
}

impl Unroller<'_> {
    fn scalar(&self, value: Handle<Value>) -> Option<Scalar> {
        scalar_of(self.types, &self.kernel.values[value])
    }

    fn learn(&mut self, value: Handle<Value>, op: &Op) {
        let (values, types) = (&self.kernel.values, self.types);
        self.known
            .learn(value, op, &|v| scalar_of(types, &values[v]));
    }

    fn block(&mut self, block: Block) -> Block {
        let mut out: Block = Vec::with_capacity(block.len());
        for node in block {
            match node {
                Node::Let(value, op) => {
                    self.learn(value, &op);
                    out.push(Node::Let(value, op));
                }
                Node::If {
                    condition,
                    accept,
                    reject,
                } => match self.known.get(condition) {
                    Some(bits) => out.extend(self.block(if bits != 0 { accept } else { reject })),
                    None => {
                        let (accept, reject) = (self.block(accept), self.block(reject));
                        out.push(Node::If {
                            condition,
                            accept,
                            reject,
                        });
                    }
                },
                Node::Switch {
                    selector,
                    mut arms,
                    leave,
                } => {
                    for arm in &mut arms {
                        arm.body = self.block(std::mem::take(&mut arm.body));
                    }
                    out.push(Node::Switch {
                        selector,
                        arms,
                        leave,
                    });
                }
                Node::Scope(id, body) => {
                    let body = self.block(body);
                    out.push(Node::Scope(id, body));
                }
                Node::Loop(inner) => match self.rounds(&inner, &out) {
                    Some(rounds) => {
                        let written = self.write_out(&inner, &rounds);
                        let written = self.block(written);
                        out.push(Node::Scope(inner.leave, written));
                    }
                    None => {
                        let mut inner = inner;
                        for part in [&mut inner.header, &mut inner.body, &mut inner.step] {
                            *part = self.block(std::mem::take(part));
                        }
                        out.push(Node::Loop(inner));
                    }
                },
                other => out.push(other),
            }
            if matches!(out.last(), Some(Node::Leave(_))) {
                break;
            }
        }
        out
    }

    /// The rounds of a loop, if it is one to be written out; `before` is what precedes it.
    fn rounds(&mut self, inner: &Loop, before: &Block) -> Option<Rounds> {
        let Some((
            Place {
                base: PlaceBase::Local(counter),
                path,
                ..
            },
            _,
        )) = only_store(&inner.step)
        else {
            return None;
        };
        let counter = *counter;
        if !path.is_empty()
            || self.uses.addressed.contains(&counter)
            || stores(&inner.body, counter)
            || stores(&inner.header, counter)
        {
            return None;
        }
        let start = before.iter().rev().find_map(|node| match node {
            Node::Store { place, value, .. } if place.base == PlaceBase::Local(counter) => {
                Some(place.path.is_empty().then_some(*value))
            }
            // The counter may change in here.
            Node::If { .. } | Node::Switch { .. } | Node::Loop(_) | Node::Scope(..) => Some(None),
            _ => None,
        })??;
        let scalar = self.scalar(start)?;
        let mut at = integer_value(self.known.get(start)?, scalar)?;
        let (mut values, mut first) = (Vec::new(), true);
        let ends = loop {
            if !first || inner.test_first {
                self.evaluate(&inner.header, counter, at);
                match self.known.get(inner.condition) {
                    Some(0) => break true,
                    Some(_) => {}
                    None => break false,
                }
            }
            first = false;
            values.push(at);
            let next = self.evaluate(&inner.step, counter, at);
            let next = next.and_then(|next| integer_value(self.known.get(next)?, scalar));
            match next {
                Some(next) if values.len() <= MOST_ROUNDS => at = next,
                _ => break false,
            }
        };
        for node in inner.header.iter().chain(&inner.step) {
            if let Node::Let(value, _) = node {
                self.known.forget(*value);
            }
        }
        if !ends {
            return None;
        }
        let size = size(&inner.body) * values.len();
        let largest = match self.indexes(&inner.body, counter, &mut HashSet::new()) {
            true => LARGEST_INDEXED,
            false => LARGEST,
        };
        if size > largest || size > self.budget {
            return None;
        }
        self.budget -= size;
        Some(Rounds {
            counter,
            values,
            end: at,
        })
    }

    /// Learns what code computes with the counter at a value; gives what it stores in the counter.
    fn evaluate(
        &mut self,
        block: &Block,
        counter: Handle<Local>,
        at: i64,
    ) -> Option<Handle<Value>> {
        let mut stored = None;
        for node in block {
            match node {
                Node::Let(value, Op::Load(place)) if is_whole(place, counter) => {
                    let bits = self.scalar(*value).map(|scalar| integer_bits(at, scalar));
                    bits.into_iter()
                        .for_each(|bits| self.known.insert(*value, bits));
                }
                Node::Let(value, op) => self.learn(*value, op),
                Node::Store { value, .. } => stored = Some(*value),
                _ => {}
            }
        }
        stored
    }

    /// Whether an index into a variable is made of the counter; `made` is what is made of it.
    fn indexes(
        &self,
        block: &Block,
        counter: Handle<Local>,
        made: &mut HashSet<Handle<Value>>,
    ) -> bool {
        block.iter().any(|node| {
            let mut found = false;
            if let Some(place) = node.place() {
                let into_variable = match place.base {
                    PlaceBase::Local(_) => true,
                    PlaceBase::Pointer(pointer) => matches!(
                        self.types[self.kernel.values[pointer].ty],
                        Type::Pointer {
                            space: AddressSpace::Thread,
                            ..
                        }
                    ),
                    _ => false,
                };
                for_each_in_place(&mut place.clone(), &mut |v| {
                    found |= into_variable && made.contains(v);
                });
            }
            if let Node::Let(value, op) = node {
                let mut uses = matches!(op, Op::Load(place) if is_whole(place, counter));
                for_each_operand(&mut op.clone(), &mut |v| uses |= made.contains(v));
                if uses {
                    made.insert(*value);
                }
            }
            let inner = node.blocks();
            found || inner.into_iter().any(|b| self.indexes(b, counter, made))
        })
    }

    /// The rounds one behind the other.
    fn write_out(&mut self, inner: &Loop, rounds: &Rounds) -> Block {
        let own = own_locals(&inner.body, &self.uses);
        let mut out = Block::new();
        for &value in &rounds.values {
            self.set_counter(rounds.counter, value, &mut out);
            let mut copy = Copier {
                kernel: self.kernel,
                values: HashMap::new(),
                scopes: HashMap::new(),
                locals: HashMap::new(),
                own: &own,
                counter: (rounds.counter, value),
            };
            let next = copy.scope(inner.next);
            let body = copy.block(&inner.body);
            let copied = copy.locals;
            self.uses.copy(&copied);
            out.push(Node::Scope(next, body));
        }
        self.set_counter(rounds.counter, rounds.end, &mut out);
        out
    }

    fn set_counter(&mut self, counter: Handle<Local>, value: i64, out: &mut Block) {
        let Local { ty, span, .. } = self.kernel.locals[counter];
        let literal = self.kernel.values.push(Value { ty, span });
        out.push(Node::Let(literal, Op::Literal(Literal::Int(value))));
        let place = Place {
            base: PlaceBase::Local(counter),
            path: Vec::new(),
            ty,
        };
        out.push(Node::Store {
            place,
            value: literal,
            span,
        });
    }
}

/// Copies code with new names for what it defines.
struct Copier<'a> {
    kernel: &'a mut Inlined,
    values: HashMap<Handle<Value>, Handle<Value>>,
    scopes: HashMap<u32, u32>,
    locals: HashMap<Handle<Local>, Handle<Local>>,
    /// Variables that every round has anew.
    own: &'a HashSet<Handle<Local>>,
    counter: (Handle<Local>, i64),
}

impl Copier<'_> {
    fn scope(&mut self, scope: u32) -> u32 {
        let new = self.kernel.scopes;
        self.kernel.scopes += 1;
        self.scopes.insert(scope, new);
        new
    }

    fn mapped(&self, value: Handle<Value>) -> Handle<Value> {
        self.values.get(&value).copied().unwrap_or(value)
    }

    fn rebase(&mut self, place: &mut Place) {
        if let PlaceBase::Local(local) = place.base
            && self.own.contains(&local)
        {
            let locals = &mut self.kernel.locals;
            let new = self
                .locals
                .entry(local)
                .or_insert_with(|| locals.push(locals[local].clone()));
            place.base = PlaceBase::Local(*new);
        }
    }

    fn block(&mut self, block: &Block) -> Block {
        block.iter().map(|node| self.node(node)).collect()
    }

    fn node(&mut self, node: &Node) -> Node {
        match node {
            Node::Let(value, op) => {
                let info = self.kernel.values[*value];
                let new = self.kernel.values.push(info);
                let mut op = match op {
                    Op::Load(place) if is_whole(place, self.counter.0) => {
                        Op::Literal(Literal::Int(self.counter.1))
                    }
                    _ => op.clone(),
                };
                if let Op::Load(place) | Op::AddressOf(place) | Op::Atomic { place, .. } = &mut op {
                    self.rebase(place);
                }
                for_each_operand(&mut op, &mut |v| *v = self.mapped(*v));
                self.values.insert(*value, new);
                Node::Let(new, op)
            }
            Node::Store { place, value, span } => {
                let mut place = place.clone();
                self.rebase(&mut place);
                for_each_in_place(&mut place, &mut |v| *v = self.mapped(*v));
                Node::Store {
                    place,
                    value: self.mapped(*value),
                    span: *span,
                }
            }
            Node::If {
                condition,
                accept,
                reject,
            } => Node::If {
                condition: self.mapped(*condition),
                accept: self.block(accept),
                reject: self.block(reject),
            },
            Node::Switch {
                selector,
                arms,
                leave,
            } => {
                let leave = self.scope(*leave);
                let mut arms = arms.clone();
                for arm in &mut arms {
                    arm.body = self.block(&arm.body);
                }
                Node::Switch {
                    selector: self.mapped(*selector),
                    arms,
                    leave,
                }
            }
            Node::Loop(inner) => {
                let (leave, next) = (self.scope(inner.leave), self.scope(inner.next));
                let header = self.block(&inner.header);
                Node::Loop(Box::new(Loop {
                    header,
                    condition: self.mapped(inner.condition),
                    body: self.block(&inner.body),
                    step: self.block(&inner.step),
                    test_first: inner.test_first,
                    leave,
                    next,
                }))
            }
            Node::Scope(id, body) => {
                let id = self.scope(*id);
                Node::Scope(id, self.block(body))
            }
            Node::Leave(scope) => Node::Leave(self.scopes.get(scope).copied().unwrap_or(*scope)),
            Node::Barrier => Node::Barrier,
        }
    }
}

fn is_whole(place: &Place, local: Handle<Local>) -> bool {
    place.base == PlaceBase::Local(local) && place.path.is_empty()
}

/// The only store of a block without blocks in it.
fn only_store(block: &Block) -> Option<(&Place, Handle<Value>)> {
    let mut found = None;
    for node in block {
        match node {
            Node::Store { place, value, .. } if found.is_none() => found = Some((place, *value)),
            Node::Let(..) => {}
            _ => return None,
        }
    }
    found
}

/// Whether code writes a variable.
fn stores(block: &Block, local: Handle<Local>) -> bool {
    block.iter().any(|node| {
        let writes =
            matches!(node, Node::Store { place, .. } if place.base == PlaceBase::Local(local));
        writes || node.blocks().into_iter().any(|b| stores(b, local))
    })
}

/// How many nodes there are.
fn size(block: &Block) -> usize {
    let inner = |node: &Node| node.blocks().into_iter().map(size).sum::<usize>();
    block.iter().map(|node| 1 + inner(node)).sum()
}

/// Variables of a loop's body that no round has from the one before: all their uses are in it, and
/// the first is an assignment that no thread can miss.
fn own_locals(body: &Block, uses: &Uses) -> HashSet<Handle<Local>> {
    let mut inside = Uses::default();
    inside.count(body);
    let mut seen = HashSet::new();
    let mut own = HashSet::new();
    for node in body {
        if let Node::Store { place, .. } = node
            && let PlaceBase::Local(local) = place.base
            && place.path.is_empty()
            && !seen.contains(&local)
            && uses.references.get(&local) == inside.references.get(&local)
        {
            own.insert(local);
        }
        let mut here = Uses::default();
        here.count(std::slice::from_ref(node));
        seen.extend(here.references.into_keys());
    }
    own
}
