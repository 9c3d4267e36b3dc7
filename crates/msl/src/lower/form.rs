//! The lowered form: no calls, no vectors, no structs.
//!
//! Every value is a virtual register that holds one scalar (or pointer) for each thread. The ways to
//! leave a piece of code (`break`, `continue`, `return`) are one: [`Node::Leave`] of a
//! [`Node::Scope`].
//!
//! Invariants: a register that is no variable is written by one node, and read only behind it in the
//! same block or in blocks inside; a variable is written by [`Node::Set`] and [`Node::SetIndexed`];
//! the registers of one [`Indexed`] group are of one kind.

use crate::diag::Span;
use crate::ir::{AtomicOp, BinaryOp, Builtin, MathFunction, Scalar, SimdOp, UnaryOp};

/// A virtual register.
pub type Reg = u32;

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A number or bool.
    Scalar(Scalar),
    /// A pointer: a tag that names a [`Slot`], and a byte offset; of thread memory, the offset alone.
    Pointer,
}

impl Kind {
    /// Lane words: 64-bit kinds take two.
    pub fn words(self) -> u32 {
        match self {
            Self::Scalar(Scalar::I64 | Scalar::U64) | Self::Pointer => 2,
            Self::Scalar(_) => 1,
        }
    }

    /// The scalar type that arithmetic on the register has.
    pub fn scalar(self) -> Scalar {
        match self {
            Self::Scalar(scalar) => scalar,
            Self::Pointer => Scalar::U64,
        }
    }
}

/// Statements in order.
pub type Block = Vec<Node>;

/// The number of a [`Node::Scope`].
pub type ScopeId = u32;

/// A byte address: `pointer + index * stride + offset`.
#[derive(Clone, Debug, PartialEq)]
pub struct Address {
    /// Where memory starts; for thread memory it may be missing and is then the thread's first byte.
    pub pointer: Option<Reg>,
    /// An integer register and the bytes one step of it is worth.
    pub index: Option<(Reg, u32)>,
    /// A constant number of bytes.
    pub offset: i64,
    /// Whether this is a thread's own memory.
    pub is_private: bool,
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Node {
    /// Computes `op` of `args` into `dst`.
    Compute {
        /// What.
        op: Compute,
        /// The result.
        dst: Reg,
        /// The operands.
        args: Vec<Reg>,
    },
    /// Reads `count` consecutive scalars into the registers from `dst` on.
    Load {
        /// The first result.
        dst: Reg,
        /// How many.
        count: u32,
        /// Their type in memory.
        element: Scalar,
        /// Whether memory holds a pointer (thread memory only).
        is_pointer: bool,
        /// Where.
        address: Address,
        /// The expression.
        span: Span,
    },
    /// Writes consecutive scalars.
    Store {
        /// What.
        values: Vec<Reg>,
        /// Their type in memory.
        element: Scalar,
        /// Where.
        address: Address,
        /// The expression.
        span: Span,
    },
    /// Assigns a variable.
    Set {
        /// The variable.
        var: Reg,
        /// Its new value.
        value: Reg,
    },
    /// Reads one of the variables `base .. base + count`.
    GetIndexed {
        /// The result.
        dst: Reg,
        /// Which.
        element: Indexed,
    },
    /// Assigns one of the variables `base .. base + count`.
    SetIndexed {
        /// Which.
        element: Indexed,
        /// Its new value.
        value: Reg,
    },
    /// An operation across the lanes of a SIMD-group.
    Simd {
        /// Which.
        op: SimdOp,
        /// The result.
        dst: Reg,
        /// The operands.
        args: Vec<Reg>,
    },
    /// An atomic operation.
    Atomic {
        /// Which.
        op: AtomicOp,
        /// The old value, where the operation has one.
        dst: Option<Reg>,
        /// The operands.
        args: Vec<Reg>,
        /// The type.
        element: Scalar,
        /// Where.
        address: Address,
        /// The expression.
        span: Span,
    },
    /// Two ways.
    If {
        /// A bool.
        condition: Reg,
        /// When true.
        accept: Block,
        /// When false.
        reject: Block,
    },
    /// Code that threads may leave early.
    Scope(ScopeId, Block),
    /// The thread goes to the end of the scope.
    Leave(ScopeId),
    /// Again and again, until no thread is left in it.
    Loop(Block),
    /// A threadgroup barrier.
    Barrier,
}

impl Node {
    /// Calls `visit` with every register that the node itself reads (not the blocks in it).
    pub fn for_each_read(&self, visit: &mut dyn FnMut(Reg)) {
        self.clone().for_each_read_mut(&mut |reg| visit(*reg));
        if let Self::GetIndexed { element, .. } = self {
            (element.base..element.base + element.count).for_each(visit);
        }
    }

    /// Calls `visit` with every operand of the node itself, to be replaced. The variables that an
    /// index reaches are not among them: they are named by the group.
    pub fn for_each_read_mut(&mut self, visit: &mut dyn FnMut(&mut Reg)) {
        fn address(a: &mut Address, visit: &mut dyn FnMut(&mut Reg)) {
            a.pointer.iter_mut().for_each(&mut *visit);
            a.index.iter_mut().for_each(|(reg, _)| visit(reg));
        }
        match self {
            Self::Compute { args, .. } | Self::Simd { args, .. } => args.iter_mut().for_each(visit),
            Self::Load { address: a, .. } => address(a, visit),
            Self::Store {
                values, address: a, ..
            } => {
                values.iter_mut().for_each(&mut *visit);
                address(a, visit);
            }
            Self::Set { value, .. } => visit(value),
            Self::GetIndexed { element, .. } => {
                element.terms.iter_mut().for_each(|(reg, _)| visit(reg));
            }
            Self::SetIndexed { element, value } => {
                element.terms.iter_mut().for_each(|(reg, _)| visit(reg));
                visit(value);
            }
            Self::Atomic {
                args, address: a, ..
            } => {
                args.iter_mut().for_each(&mut *visit);
                address(a, visit);
            }
            Self::If { condition, .. } => visit(condition),
            Self::Scope(..) | Self::Leave(_) | Self::Loop(_) | Self::Barrier => {}
        }
    }

    /// The registers that the node defines or sets as a whole.
    pub fn written(&self) -> std::ops::Range<Reg> {
        match self {
            Self::Compute { dst, .. }
            | Self::Simd { dst, .. }
            | Self::GetIndexed { dst, .. }
            | Self::Atomic { dst: Some(dst), .. }
            | Self::Set { var: dst, .. } => *dst..dst + 1,
            Self::Load { dst, count, .. } => *dst..dst + count,
            _ => 0..0,
        }
    }

    /// The variables that one index of the node reaches.
    pub fn group(&self) -> Option<&Indexed> {
        match self {
            Self::GetIndexed { element, .. } | Self::SetIndexed { element, .. } => Some(element),
            _ => None,
        }
    }

    /// The blocks in the node.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        let (first, second) = match self {
            Self::If { accept, reject, .. } => (Some(accept), Some(reject)),
            Self::Scope(_, body) | Self::Loop(body) => (Some(body), None),
            _ => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// The blocks in the node.
    pub fn blocks_mut(&mut self) -> impl Iterator<Item = &mut Block> {
        let (first, second) = match self {
            Self::If { accept, reject, .. } => (Some(accept), Some(reject)),
            Self::Scope(_, body) | Self::Loop(body) => (Some(body), None),
            _ => (None, None),
        };
        first.into_iter().chain(second)
    }
}

/// One of several variables in a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Indexed {
    /// The first.
    pub base: Reg,
    /// How many there are.
    pub count: u32,
    /// A constant part of the index.
    pub offset: i64,
    /// Integer registers, each worth a number of variables.
    pub terms: Vec<(Reg, u32)>,
    /// The expression.
    pub span: Span,
}

/// A computation on scalars. The type of its operands is that of its first argument's register
/// unless it says otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compute {
    /// A constant: the bits of a register that holds it.
    Constant(u64),
    /// A copy.
    Copy,
    /// One operand.
    Unary(UnaryOp),
    /// Two operands.
    Binary(BinaryOp),
    /// Conversion between the operand's and the result's kind.
    Convert,
    /// The same bits as another kind of the same size.
    Bitcast,
    /// Condition, accept, reject.
    Select,
    /// Maths.
    Math(MathFunction),
    /// Pointer, index: the pointer moved by `index * stride` bytes.
    Offset(u32),
    /// Pointer: moved by a constant number of bytes.
    OffsetConstant(i64),
    /// Two 32-bit parts (low, high) of a 64-bit register.
    Join,
    /// The low (0) or high (1) 32 bits of a 64-bit register.
    Part(u8),
    /// A component of the thread's place, as u32.
    Builtin(Builtin, u8),
    /// The pointer to a buffer, threadgroup variable or constant: its tag.
    Base(u16),
}

/// Memory that a pointer's tag names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The buffer at this index.
    Buffer {
        /// `[[buffer(index)]]`
        index: u32,
        /// Whether the kernel may write it.
        writable: bool,
        /// The argument's name.
        name: String,
    },
    /// Threadgroup memory whose length the dispatch gives.
    ThreadgroupArgument {
        /// `[[threadgroup(index)]]`
        index: u32,
        /// The argument's name.
        name: String,
    },
    /// A threadgroup variable.
    Threadgroup {
        /// Bytes.
        size: u32,
        /// The variable's name.
        name: String,
    },
    /// A program-scope constant.
    Constant {
        /// Its bytes.
        bytes: Vec<u8>,
        /// Its name.
        name: String,
    },
}

impl Slot {
    /// What the kernel's author calls it.
    pub fn name(&self) -> &str {
        match self {
            Self::Buffer { name, .. }
            | Self::ThreadgroupArgument { name, .. }
            | Self::Threadgroup { name, .. }
            | Self::Constant { name, .. } => name,
        }
    }
}

/// A kernel, lowered.
#[derive(Clone, Debug, Default)]
pub struct Lowered {
    /// What each register holds.
    pub kinds: Vec<Kind>,
    /// Whether each register is a variable.
    pub is_variable: Vec<bool>,
    /// The code.
    pub body: Block,
    /// The memories; a pointer's tag is one more than the index here.
    pub slots: Vec<Slot>,
    /// How many scopes there are.
    pub scopes: u32,
    /// Bytes of a thread's own memory.
    pub private_size: u32,
}
