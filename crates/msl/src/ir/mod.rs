//! The intermediate representation that the type checker makes and every back end reads.
//!
//! It is typed, monomorphic and structured: no templates, overloads, implicit conversions or gotos
//! are left. A function's body is a tree of [`Statement`]s; a computation is a [`Statement::Let`]
//! that names the value of one [`Op`] whose operands are earlier values. So the order of evaluation
//! is explicit, every value has one type and one source place, and barriers and operations across
//! lanes stand out as statements and ops of their own.
//!
//! Invariants:
//! - a value is used only in the block that defines it or in blocks nested in it, after its `Let`;
//! - operands of [`Op::Binary`] have one type (shifts included), and conversions are explicit;
//! - variables are the only things that change: locals (parameters are locals), threadgroup
//!   variables, and memory behind pointers.

mod arena;
mod kernels;
mod operations;
pub mod print;
mod types;
pub mod validate;

pub use arena::{Arena, Handle};
pub use kernels::{Argument, Binding, Builtin, Condition, Kernel};
pub use operations::{
    AtomicOp, BinaryOp, Literal, MathFunction, Op, SimdOp, SimdgroupMatrixOp, UnaryOp,
};
pub use types::{AddressSpace, Field, Packing, Scalar, Struct, Type, Types};

use crate::diag::Span;
use crate::syntax::ast::Name;

/// A compiled source text.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Every type.
    pub types: Types,
    /// Every function, kernels included; a callee comes before its callers.
    pub functions: Arena<Function>,
    /// The kernels, in source order.
    pub kernels: Vec<Kernel>,
    /// Program-scope constants.
    pub constants: Arena<ConstantData>,
    /// Function constants, given a value when a kernel is specialised.
    pub function_constants: Arena<FunctionConstant>,
}

/// A program-scope `constant` or `constexpr` variable that lives in memory (one that is only used
/// as a value is folded away).
#[derive(Clone, Debug, PartialEq)]
pub struct ConstantData {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Handle<Type>,
    /// Its bytes, laid out as memory.
    pub bytes: Vec<u8>,
}

/// `constant T name [[function_constant(index)]];`
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionConstant {
    /// Its name.
    pub name: Name,
    /// Its index.
    pub index: u32,
    /// Its type, a scalar or vector.
    pub ty: Handle<Type>,
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name; an instance of a template has its arguments in it.
    pub name: Name,
    /// Its parameters, which are locals.
    pub params: Vec<Handle<Local>>,
    /// What it returns.
    pub result: Handle<Type>,
    /// Its variables.
    pub locals: Arena<Local>,
    /// The type and place of every value.
    pub values: Arena<Value>,
    /// Its threadgroup variables (kernels only, or functions reached from one).
    pub threadgroup: Arena<Local>,
    /// Its code.
    pub body: Block,
    /// Whether it or a callee casts a `const` pointer to device memory to one that is not. Then
    /// what a kernel's `const` pointers point to may be written too.
    pub casts_away_const: bool,
    /// Where its name is.
    pub span: Span,
}

/// A variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Local {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Handle<Type>,
    /// Where it is declared.
    pub span: Span,
}

/// The result of an [`Op`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// Its type.
    pub ty: Handle<Type>,
    /// The expression it comes from.
    pub span: Span,
}

/// Statements in order.
pub type Block = Vec<Statement>;

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// Computes a value. An op of type void (a call, an atomic store) has a value that nobody uses.
    Let(Handle<Value>, Op),
    /// Writes `value` to `place`; the types agree (a packed vector takes the plain one).
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
        /// The condition's place.
        span: Span,
    },
    /// Rounds of `header`, test, `body`, `step` while `condition` holds; `continue` goes to `step`.
    /// With `test_first` false the first round starts at `body` (a do-while: body, step, header,
    /// test).
    Loop {
        /// Computes the condition.
        header: Block,
        /// A bool defined in (or before) `header`.
        condition: Handle<Value>,
        /// The body.
        body: Block,
        /// What follows each round.
        step: Block,
        /// Whether the first round is tested.
        test_first: bool,
        /// The loop's place.
        span: Span,
    },
    /// Runs the arm of `selector`'s value and, without a `break`, those after it.
    Switch {
        /// An integer.
        selector: Handle<Value>,
        /// The arms in source order.
        arms: Vec<SwitchArm>,
        /// The selector's place.
        span: Span,
    },
    /// Leaves the innermost loop or switch.
    Break(Span),
    /// Goes to the innermost loop's next round.
    Continue(Span),
    /// Leaves the function.
    Return(Option<Handle<Value>>, Span),
    /// `threadgroup_barrier` or `simdgroup_barrier`.
    Barrier {
        /// Of the whole threadgroup, or of each SIMD-group.
        scope: BarrierScope,
        /// Orders device memory.
        device: bool,
        /// Orders threadgroup memory.
        threadgroup: bool,
        /// Its place.
        span: Span,
    },
}

/// Who meets at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BarrierScope {
    Threadgroup,
    Simdgroup,
}

/// An arm of a switch.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchArm {
    /// The values that lead here.
    pub values: Vec<i64>,
    /// Whether all other values do.
    pub is_default: bool,
    /// The code.
    pub body: Block,
}

/// A piece of memory that can be loaded, stored or pointed at.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The variable, or what the pointer points at.
    pub base: PlaceBase,
    /// The way from there, outermost first.
    pub path: Vec<Projection>,
    /// The type of what is reached.
    pub ty: Handle<Type>,
}

/// Where a [`Place`] starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PlaceBase {
    /// A local variable.
    Local(Handle<Local>),
    /// A threadgroup variable.
    Threadgroup(Handle<Local>),
    /// A program-scope constant.
    Constant(Handle<ConstantData>),
    /// What a pointer points at.
    Pointer(Handle<Value>),
}

/// A step from a whole to a part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Projection {
    /// A field of a struct.
    Field(u32),
    /// An element of an array, a component of a vector, a column of a matrix, by an integer value.
    Index(Handle<Value>),
    /// The same by a constant.
    Element(u32),
}
