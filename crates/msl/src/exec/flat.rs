//! A kernel as the executor sees it: no calls, no vectors, no structs.
//!
//! Every value is a virtual register that holds one scalar (or pointer) for each thread. Calls are
//! inlined, composite values split into their scalars, and the ways to leave a piece of code
//! (`break`, `continue`, `return`) are one: [`Node::Leave`] of a [`Node::Scope`].

use crate::diag::Span;
use crate::ir::{AtomicOp, BinaryOp, Builtin, MathFunction, Scalar, SimdOp, UnaryOp};

/// A virtual register. Registers are written once, by the node that defines them, except variables,
/// which [`Node::Set`] and [`Node::SetIndexed`] write.
pub type Reg = u32;

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A number or bool.
    Scalar(Scalar),
    /// A tagged pointer, see [`crate::exec::memory`].
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

/// One of several variables in a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Indexed {
    /// The first.
    pub base: Reg,
    /// How many there are.
    pub count: u32,
    /// A constant part of the index.
    pub offset: u32,
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

/// A flattened kernel.
#[derive(Clone, Debug, Default)]
pub struct Flat {
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
