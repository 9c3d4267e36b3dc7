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
pub mod print;
mod types;
pub mod validate;

pub use arena::{Arena, Handle};
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

/// A computation. Unless said otherwise, operands and result are scalars or vectors of one type,
/// and vectors work by component.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// A number or bool.
    Literal(Literal),
    /// The value of a function constant.
    FunctionConstant(Handle<FunctionConstant>),
    /// Whether a function constant was given (`is_function_constant_defined`): a bool.
    FunctionConstantDefined(Handle<FunctionConstant>),
    /// All bytes zero, of any type.
    Zero,
    /// The parts put together: a vector from scalars, a matrix from columns, an array from
    /// elements, a struct from fields.
    Compose(Vec<Handle<Value>>),
    /// A vector with this scalar in every component.
    Splat(Handle<Value>),
    /// One part of a vector, matrix (a column), array or struct value.
    Extract(Handle<Value>, u32),
    /// A vector of the named components of a vector.
    Swizzle(Handle<Value>, Vec<u8>),
    /// One operand.
    Unary(UnaryOp, Handle<Value>),
    /// Two operands. Comparisons give bool or vectors of bool.
    Binary(BinaryOp, Handle<Value>, Handle<Value>),
    /// Conversion of numbers to the result's type, by component: float to integer saturates (NaN
    /// gives 0), integers wrap, floats round to nearest even, to bool is `!= 0`.
    Convert(Handle<Value>),
    /// The same bits as another type of the same size (`as_type`), or a pointer as one to another
    /// type in the same address space.
    Bitcast(Handle<Value>),
    /// `condition ? accept : reject`, both already computed. The condition is a bool, or a vector
    /// of bool of the result's length.
    Select {
        /// Which.
        condition: Handle<Value>,
        /// When true.
        accept: Handle<Value>,
        /// When false.
        reject: Handle<Value>,
    },
    /// A function of the maths library.
    Math(MathFunction, Vec<Handle<Value>>),
    /// The value in memory. Any type but void and atomics.
    Load(Place),
    /// A pointer to a place.
    AddressOf(Place),
    /// A pointer moved by a number (int, uint, long or ulong) of pointees.
    Offset(Handle<Value>, Handle<Value>),
    /// How many pointees lie between two pointers: a long.
    PointerDifference(Handle<Value>, Handle<Value>),
    /// A call. Arguments agree with the parameters.
    Call(Handle<Function>, Vec<Handle<Value>>),
    /// An operation across the lanes of a SIMD-group or quad.
    Simd(SimdOp, Vec<Handle<Value>>),
    /// An atomic read-modify-write, load, store or exchange on an `Atomic` place.
    Atomic {
        /// What is done.
        op: AtomicOp,
        /// To what.
        place: Place,
        /// With which operands.
        args: Vec<Handle<Value>>,
    },
    /// An operation on simdgroup matrices.
    SimdgroupMatrix(SimdgroupMatrixOp, Vec<Handle<Value>>),
}

/// A literal; its [`Value`] says the exact type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal {
    /// A bool.
    Bool(bool),
    /// Any integer type; wrapped to its width, sign-extended if the type is signed.
    Int(i64),
    /// Any floating type, already rounded to it.
    Float(f32),
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-x`; integers wrap.
    Negate,
    /// `!x` of bool.
    LogicalNot,
    /// `~x` of an integer.
    BitwiseNot,
}

/// Operators with two operands of one type (pointers can be compared).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// Integers wrap.
    Add,
    /// Integers wrap.
    Subtract,
    /// Integers wrap.
    Multiply,
    /// An integer by zero gives 0; the least integer by -1 gives itself.
    Divide,
    /// An integer by zero gives the dividend. Of integers only (`fmod` is maths).
    Remainder,
    /// The count is taken modulo the width.
    ShiftLeft,
    /// Of a signed integer: keeps the sign. The count is taken modulo the width.
    ShiftRight,
    /// Integers and bools.
    And,
    /// Integers and bools.
    Or,
    /// Integers and bools.
    Xor,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

impl BinaryOp {
    /// Whether the result is bool.
    pub const fn is_comparison(self) -> bool {
        use BinaryOp::*;
        matches!(
            self,
            Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual
        )
    }
}

macro_rules! math_functions {
    ($($(#[$doc:meta])* $variant:ident = $name:literal / $arity:literal,)*) => {
        /// A function of the maths library, named as in the language.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum MathFunction {
            $($(#[$doc])* $variant,)*
        }

        impl MathFunction {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name in the Metal Shading Language.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// How many operands it takes.
            pub const fn arity(self) -> usize {
                match self { $(Self::$variant => $arity,)* }
            }
        }
    };
}

math_functions! {
    // Floating, one operand.
    Acos = "acos" / 1, Acosh = "acosh" / 1, Asin = "asin" / 1, Asinh = "asinh" / 1,
    Atan = "atan" / 1, Atanh = "atanh" / 1, Ceil = "ceil" / 1, Cos = "cos" / 1, Cosh = "cosh" / 1,
    Cospi = "cospi" / 1, Exp = "exp" / 1, Exp2 = "exp2" / 1, Exp10 = "exp10" / 1,
    Fabs = "fabs" / 1, Floor = "floor" / 1, Fract = "fract" / 1, Log = "log" / 1,
    Log2 = "log2" / 1, Log10 = "log10" / 1, Rint = "rint" / 1, Round = "round" / 1,
    Rsqrt = "rsqrt" / 1, Saturate = "saturate" / 1, Sign = "sign" / 1, Sin = "sin" / 1,
    Sinh = "sinh" / 1, Sinpi = "sinpi" / 1, Sqrt = "sqrt" / 1, Tan = "tan" / 1, Tanh = "tanh" / 1,
    Tanpi = "tanpi" / 1, Trunc = "trunc" / 1,
    /// A float's exponent as an int.
    Ilogb = "ilogb" / 1,
    /// The fraction of `frexp`, in [0.5, 1).
    FrexpFraction = "frexp_fraction" / 1,
    /// The exponent of `frexp`: an int.
    FrexpExponent = "frexp_exponent" / 1,
    // Floating, two operands.
    Atan2 = "atan2" / 2, Copysign = "copysign" / 2, Fdim = "fdim" / 2,
    /// The operand that is not NaN, or the larger.
    Fmax = "fmax" / 2,
    /// The operand that is not NaN, or the smaller.
    Fmin = "fmin" / 2,
    Fmod = "fmod" / 2,
    /// `x * 2^n`; n is an int.
    Ldexp = "ldexp" / 2,
    Nextafter = "nextafter" / 2, Pow = "pow" / 2, Powr = "powr" / 2, Step = "step" / 2,
    // Floating, three operands.
    /// One rounding.
    Fma = "fma" / 3,
    Mix = "mix" / 3, Smoothstep = "smoothstep" / 3,
    /// min(max(x, low), high) with `fmin` and `fmax`.
    Fclamp = "fclamp" / 3,
    // Relational; bool results.
    Isfinite = "isfinite" / 1, Isinf = "isinf" / 1, Isnan = "isnan" / 1, Isnormal = "isnormal" / 1,
    Signbit = "signbit" / 1,
    // Of a bool vector, to one bool.
    All = "all" / 1, Any = "any" / 1,
    // Of a vector pair, to one scalar.
    Dot = "dot" / 2,
    // Integer.
    Abs = "abs" / 1, Absdiff = "absdiff" / 2, Addsat = "addsat" / 2, Subsat = "subsat" / 2,
    Clamp = "clamp" / 3, Clz = "clz" / 1, Ctz = "ctz" / 1, Hadd = "hadd" / 2, Rhadd = "rhadd" / 2,
    Mad24 = "mad24" / 3, Madhi = "madhi" / 3, Madsat = "madsat" / 3, Max = "max" / 2,
    Min = "min" / 2, Mul24 = "mul24" / 2, Mulhi = "mulhi" / 2, Popcount = "popcount" / 1,
    ReverseBits = "reverse_bits" / 1, Rotate = "rotate" / 2,
    /// Value, offset (uint), count (uint).
    ExtractBits = "extract_bits" / 3,
    /// Base, insert, offset (uint), count (uint).
    InsertBits = "insert_bits" / 4,
}

/// An operation across lanes. Lanes that are not active (the branch was not theirs, or the last
/// SIMD-group is not full) take no part. The second operand of shuffles is a lane number or
/// distance (ushort or uint).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum SimdOp {
    Sum,
    Product,
    Min,
    Max,
    And,
    Or,
    Xor,
    PrefixInclusiveSum,
    PrefixExclusiveSum,
    PrefixInclusiveProduct,
    PrefixExclusiveProduct,
    Broadcast,
    BroadcastFirst,
    Shuffle,
    ShuffleXor,
    ShuffleUp,
    ShuffleDown,
    ShuffleRotateUp,
    ShuffleRotateDown,
    /// data, filling data, distance
    ShuffleAndFillUp,
    /// data, filling data, distance
    ShuffleAndFillDown,
    /// bool in every active lane, to one bool
    All,
    /// bool in any active lane, to one bool
    Any,
    /// The active lanes for which the operand is true, a bit each: ulong
    Ballot,
    /// The active lanes: ulong. No operand.
    ActiveThreadsMask,
    /// Whether this is the first active lane. No operand.
    IsFirst,
    QuadSum,
    QuadProduct,
    QuadMin,
    QuadMax,
    QuadAnd,
    QuadOr,
    QuadXor,
    QuadBroadcast,
    QuadShuffle,
    QuadShuffleXor,
    QuadShuffleUp,
    QuadShuffleDown,
    QuadAll,
    QuadAny,
}

/// What an atomic operation does. All are relaxed, the only order that Metal's kernels have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum AtomicOp {
    Load,
    Store,
    Exchange,
    /// Expected, desired: gives the old value (the type checker makes the bool and the write-back).
    CompareExchange,
    Add,
    Subtract,
    Min,
    Max,
    And,
    Or,
    Xor,
}

/// An operation on simdgroup matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SimdgroupMatrixOp {
    /// All elements one scalar.
    Fill,
    /// The scalar on the diagonal, zero elsewhere.
    Diagonal,
    /// Pointer, elements per row (ulong), origin column (long), origin row (long), transpose
    /// (bool): the matrix in memory.
    Load,
    /// Matrix, pointer, elements per row, origin column, origin row, transpose.
    Store,
    /// `a * b`
    Multiply,
    /// `a * b + c`
    MultiplyAccumulate,
    /// A thread's two elements: a vector of 2.
    Elements,
    /// The matrix with this thread's two elements replaced: matrix, vector of 2.
    WithElements,
}
