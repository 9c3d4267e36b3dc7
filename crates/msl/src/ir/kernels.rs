//! Kernels: how the parameters of an entry point are bound. Their code is a function like any other.

use super::{AddressSpace, Function, FunctionConstant, Handle, Type};
use crate::diag::Span;
use crate::syntax::ast::Name;

/// An entry point.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// The name it is asked for by (`host_name` if given).
    pub name: Name,
    /// Its code. Its parameters are bound as `arguments` says, in order.
    pub function: Handle<Function>,
    /// How each parameter of the function is bound.
    pub arguments: Vec<Argument>,
    /// `[[max_total_threads_per_threadgroup(n)]]`.
    pub max_threads: Option<u32>,
    /// Where its name is.
    pub span: Span,
}

/// How a kernel parameter gets its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// The parameter's name.
    pub name: Name,
    /// Where the value comes from.
    pub binding: Binding,
    /// What function constants must say; unless they do, nothing is bound and the parameter is null.
    pub condition: Option<Condition>,
    /// Where the parameter is declared.
    pub span: Span,
}

/// A condition over function constants that are bools.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// A constant itself.
    Constant(Handle<FunctionConstant>),
    /// The opposite.
    Not(Box<Self>),
    /// Both.
    And(Box<Self>, Box<Self>),
    /// One or both.
    Or(Box<Self>, Box<Self>),
}

impl Condition {
    /// Whether it holds, given which constants are true.
    pub fn holds(&self, is_true: &impl Fn(Handle<FunctionConstant>) -> bool) -> bool {
        match self {
            Self::Constant(constant) => is_true(*constant),
            Self::Not(inner) => !inner.holds(is_true),
            Self::And(left, right) => left.holds(is_true) && right.holds(is_true),
            Self::Or(left, right) => left.holds(is_true) || right.holds(is_true),
        }
    }

    /// Calls `visit` with every constant in it.
    pub fn visit(&self, visit: &mut impl FnMut(Handle<FunctionConstant>)) {
        match self {
            Self::Constant(constant) => visit(*constant),
            Self::Not(inner) => inner.visit(visit),
            Self::And(left, right) | Self::Or(left, right) => {
                left.visit(visit);
                right.visit(visit);
            }
        }
    }
}

/// Where a kernel parameter's value comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Binding {
    /// A buffer: `device` or `constant`, a pointer or a reference to `pointee`.
    Buffer {
        /// `[[buffer(index)]]`, or the next free index in order.
        index: u32,
        /// `Device` or `Constant`.
        space: AddressSpace,
        /// Whether the kernel may write it: `device` without `const`.
        writable: bool,
        /// What it holds.
        pointee: Handle<Type>,
        /// A reference needs room for one pointee; a pointer for whatever the kernel touches.
        is_reference: bool,
    },
    /// Threadgroup memory whose length the dispatch gives.
    Threadgroup {
        /// `[[threadgroup(index)]]`
        index: u32,
        /// What it holds.
        pointee: Handle<Type>,
    },
    /// The thread's place, or a size. The parameter's type says how many components (1 to 3) and
    /// which integer type (`ushort` or `uint`) it is.
    Builtin(Builtin),
}

/// What the dispatch tells a thread about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Builtin {
    ThreadPositionInGrid,
    ThreadPositionInThreadgroup,
    ThreadIndexInThreadgroup,
    ThreadIndexInSimdgroup,
    ThreadIndexInQuadgroup,
    SimdgroupIndexInThreadgroup,
    QuadgroupIndexInThreadgroup,
    ThreadgroupPositionInGrid,
    ThreadsPerGrid,
    /// The size of this threadgroup, smaller at the grid's edge.
    ThreadsPerThreadgroup,
    /// The size that was asked for.
    DispatchThreadsPerThreadgroup,
    ThreadgroupsPerGrid,
    ThreadsPerSimdgroup,
    SimdgroupsPerThreadgroup,
    DispatchSimdgroupsPerThreadgroup,
    QuadgroupsPerThreadgroup,
    GridOrigin,
}
