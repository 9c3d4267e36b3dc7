//! A program for the executor: instructions and the tables they refer to.

use super::machine::{Instruction, Operand};
use crate::ir::{AtomicOp, Builtin};
use crate::lower::form::Slot;

/// A kernel, assembled for this processor.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// The kernel's name.
    pub kernel: String,
    /// The instructions; the program ends behind the last.
    pub instructions: Vec<Instruction>,
    /// 32-bit rows in the frame.
    pub frame_words: u32,
    /// Uniform registers.
    pub uniforms: u32,
    /// Mask registers besides mask 0.
    pub masks: u32,
    /// Registers that hold constants: the bits, and the words of a cell.
    pub constants: Vec<(Operand, u64, u32)>,
    /// Memory operations.
    pub accesses: Vec<Access>,
    /// Accesses to rows of variables.
    pub indexed: Vec<IndexedAccess>,
    /// Components of the thread's place.
    pub builtins: Vec<(Builtin, u8)>,
    /// Memory by tag less one.
    pub slots: Vec<Slot>,
    /// Bytes of each thread's own memory.
    pub private_size: u32,
    /// Source places, as `file:line:column`.
    pub places: Vec<String>,
    /// A rough number of lane operations that one thread costs.
    pub weight: u64,
}

/// An operation on memory.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// A tagged pointer; without one, the thread's own memory from byte 0.
    pub pointer: Option<Operand>,
    /// An index, and how to read it.
    pub index: Option<(Operand, IndexKind)>,
    /// Whether the index counts up by one from lane to lane, in a threadgroup of one row.
    pub counts_up: bool,
    /// Bytes that one step of the index is worth.
    pub stride: u32,
    /// A constant number of bytes.
    pub offset: i64,
    /// Scalars, one behind the other.
    pub count: u32,
    /// Bytes of each.
    pub size: u32,
    /// The registers stored, or the first one loaded.
    pub registers: [Operand; 4],
    /// The index of the source place.
    pub place: u32,
    /// What is done, if it is atomic.
    pub atomic: Option<AtomicOp>,
}

/// How an index register is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum IndexKind {
    Signed32,
    Unsigned32,
    Wide,
}

/// An access to one of several rows.
#[derive(Clone, Debug)]
pub struct IndexedAccess {
    /// The first row.
    pub base: Operand,
    /// How many.
    pub count: u32,
    /// Words of a row (or 1 for uniform registers).
    pub words: u32,
    /// A constant part of the index.
    pub offset: i64,
    /// Index registers, how to read them, and what a step is worth.
    pub terms: Vec<(Operand, IndexKind, u32)>,
    /// The index of the source place.
    pub place: u32,
}
