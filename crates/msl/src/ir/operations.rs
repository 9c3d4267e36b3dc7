//! Operations: every computation whose value a statement can name. Stores, control flow and barriers
//! are statements of their own.

use super::types::Scalar;
use super::{Function, FunctionConstant, Handle, Place, Value};

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

    /// The result on two integers or bools of a type, whole in an `i64` (a ulong as the same bits). A
    /// truth is 1 or 0; else the result is right only in as many bits as the type has.
    pub(crate) fn of_integers(self, scalar: Scalar, a: i64, b: i64) -> i64 {
        let unsigned = !scalar.is_signed();
        let (ua, ub) = (a as u64, b as u64);
        let count = (ub % u64::from(scalar.bits())) as u32;
        let order = if unsigned { ua.cmp(&ub) } else { a.cmp(&b) };
        match self {
            Self::Add => a.wrapping_add(b),
            Self::Subtract => a.wrapping_sub(b),
            Self::Multiply => a.wrapping_mul(b),
            Self::Divide if b == 0 => 0,
            Self::Divide if unsigned => (ua / ub) as i64,
            Self::Divide => a.wrapping_div(b),
            Self::Remainder if b == 0 => a,
            Self::Remainder if unsigned => (ua % ub) as i64,
            Self::Remainder => a.wrapping_rem(b),
            Self::ShiftLeft => a.wrapping_shl(count),
            Self::ShiftRight if unsigned => (ua >> count) as i64,
            Self::ShiftRight => a >> count,
            Self::And => a & b,
            Self::Or => a | b,
            Self::Xor => a ^ b,
            Self::Equal => i64::from(a == b),
            Self::NotEqual => i64::from(a != b),
            Self::Less => i64::from(order.is_lt()),
            Self::LessEqual => i64::from(order.is_le()),
            Self::Greater => i64::from(order.is_gt()),
            Self::GreaterEqual => i64::from(order.is_ge()),
        }
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
