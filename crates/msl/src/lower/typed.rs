//! A kernel with its calls inlined, still typed: what stands between the IR and the lowered form.
//!
//! Operations, places and types are the IR's. Of control flow there are only ways that nest: what
//! left a function, a loop or a switch early is a [`Node::Leave`].

use crate::diag::Span;
use crate::ir::{Arena, Handle, Local, Op, Place, PlaceBase, Projection, Value};

pub use super::form::ScopeId;

/// Statements in order.
pub type Block = Vec<Node>;

/// A statement.
#[derive(Clone, Debug)]
pub enum Node {
    /// Computes a value. Never a call.
    Let(Handle<Value>, Op),
    /// Writes a place.
    Store {
        /// Where to.
        place: Place,
        /// What.
        value: Handle<Value>,
        /// The assignment.
        span: Span,
    },
    /// Two ways.
    If {
        /// A bool.
        condition: Handle<Value>,
        /// When true.
        accept: Block,
        /// When false.
        reject: Block,
    },
    /// As [`crate::ir::Statement::Switch`]; `leave` is where its breaks go.
    Switch {
        /// An integer.
        selector: Handle<Value>,
        /// The arms in source order.
        arms: Vec<Arm>,
        /// The scope around it.
        leave: ScopeId,
    },
    /// As [`crate::ir::Statement::Loop`].
    Loop(Box<Loop>),
    /// Code that threads may leave early.
    Scope(ScopeId, Block),
    /// The thread goes to the end of the scope.
    Leave(ScopeId),
    /// A threadgroup barrier.
    Barrier,
}

/// An arm of a switch.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The values that lead here.
    pub values: Vec<i64>,
    /// Whether all other values do.
    pub is_default: bool,
    /// The code.
    pub body: Block,
}

/// A loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Computes the condition.
    pub header: Block,
    /// A bool.
    pub condition: Handle<Value>,
    /// The body.
    pub body: Block,
    /// What follows each round.
    pub step: Block,
    /// Whether the first round is tested.
    pub test_first: bool,
    /// The scope around the loop, which `break` leaves.
    pub leave: ScopeId,
    /// The scope around the body, which `continue` leaves.
    pub next: ScopeId,
}

/// An inlined kernel.
#[derive(Clone, Debug, Default)]
pub struct Inlined {
    /// Its variables and those of all calls.
    pub locals: Arena<Local>,
    /// The type and place of every value.
    pub values: Arena<Value>,
    /// Threadgroup variables of the kernel and what it calls.
    pub threadgroup: Arena<Local>,
    /// The values of the kernel's parameters, in order.
    pub inputs: Vec<Handle<Value>>,
    /// The code.
    pub body: Block,
    /// How many scopes there are.
    pub scopes: u32,
}

impl Node {
    /// The blocks in the node, in the order in which they are run.
    pub fn blocks(&self) -> Vec<&Block> {
        match self {
            Self::If { accept, reject, .. } => vec![accept, reject],
            Self::Switch { arms, .. } => arms.iter().map(|arm| &arm.body).collect(),
            Self::Loop(l) if l.test_first => vec![&l.header, &l.body, &l.step],
            Self::Loop(l) => vec![&l.body, &l.step, &l.header],
            Self::Scope(_, body) => vec![body],
            Self::Let(..) | Self::Store { .. } | Self::Leave(_) | Self::Barrier => Vec::new(),
        }
    }

    /// The place that the node itself reads, writes or points at.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::Let(_, Op::Load(place) | Op::AddressOf(place) | Op::Atomic { place, .. })
            | Self::Store { place, .. } => Some(place),
            _ => None,
        }
    }
}

/// Calls `visit` with every value that a place is reached by.
pub fn for_each_in_place(place: &mut Place, visit: &mut dyn FnMut(&mut Handle<Value>)) {
    if let PlaceBase::Pointer(pointer) = &mut place.base {
        visit(pointer);
    }
    for projection in &mut place.path {
        if let Projection::Index(index) = projection {
            visit(index);
        }
    }
}

/// Calls `visit` with every operand of an operation.
pub fn for_each_operand(op: &mut Op, visit: &mut dyn FnMut(&mut Handle<Value>)) {
    match op {
        Op::Literal(_) | Op::FunctionConstant(_) | Op::FunctionConstantDefined(_) | Op::Zero => {}
        Op::Splat(a)
        | Op::Extract(a, _)
        | Op::Swizzle(a, _)
        | Op::Unary(_, a)
        | Op::Convert(a)
        | Op::Bitcast(a) => visit(a),
        Op::Binary(_, a, b) | Op::Offset(a, b) | Op::PointerDifference(a, b) => {
            visit(a);
            visit(b);
        }
        Op::Select {
            condition,
            accept,
            reject,
        } => [condition, accept, reject].into_iter().for_each(visit),
        Op::Compose(args)
        | Op::Math(_, args)
        | Op::Call(_, args)
        | Op::Simd(_, args)
        | Op::SimdgroupMatrix(_, args) => args.iter_mut().for_each(visit),
        Op::Load(place) | Op::AddressOf(place) => for_each_in_place(place, visit),
        Op::Atomic { place, args, .. } => {
            for_each_in_place(place, visit);
            args.iter_mut().for_each(visit);
        }
    }
}
