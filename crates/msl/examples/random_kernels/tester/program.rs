//! The tree of a random kernel.
//!
//! Whatever tree the generator makes or the shrinker leaves has exactly one right result: indices
//! are taken modulo the length and loops count to a bound when they are printed, declarations have
//! an initialiser or come with the loop that sets them first, and barriers come with what they guard as one statement.

/// Words of each thread's own part of the output.
pub const OUTPUTS: usize = 4;
/// Elements of the input of integers and of the input of floats.
pub const INPUTS: usize = 64;
/// Numbers that all threads share.
pub const ARGUMENTS: usize = 8;
/// Atomic counters in device memory, and as many in threadgroup memory.
pub const COUNTERS: usize = 4;
/// No loop makes more rounds.
pub const ROUNDS: u64 = 7;

#[derive(Clone, Debug)]
pub struct Program {
    pub grid: u32,
    pub threadgroup: u32,
    pub arguments: [u32; ARGUMENTS],
    /// The types of the fields of each struct.
    pub structs: Vec<Vec<Type>>,
    /// The type of each variable of the program; a variable is known by its index.
    pub variables: Vec<Type>,
    /// A function calls only those before it.
    pub functions: Vec<Function>,
    pub body: Block,
}

#[derive(Clone, Debug)]
pub struct Function {
    pub parameters: Vec<Parameter>,
    pub result: Type,
    pub body: Block,
    /// What it returns if the body has not returned.
    pub value: Expression,
}

#[derive(Clone, Debug)]
pub struct Parameter {
    pub variable: usize,
    pub is_reference: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scalar {
    Bool,
    Char,
    Uchar,
    Short,
    Ushort,
    Int,
    Uint,
    Long,
    Ulong,
    Half,
    Bfloat,
    Float,
}

impl Scalar {
    pub const INTEGERS: [Self; 8] = [
        Self::Char,
        Self::Uchar,
        Self::Short,
        Self::Ushort,
        Self::Int,
        Self::Uint,
        Self::Long,
        Self::Ulong,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Char => "char",
            Self::Uchar => "uchar",
            Self::Short => "short",
            Self::Ushort => "ushort",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Long => "long",
            Self::Ulong => "ulong",
            Self::Half => "half",
            Self::Bfloat => "bfloat",
            Self::Float => "float",
        }
    }

    pub const fn is_floating(self) -> bool {
        matches!(self, Self::Half | Self::Bfloat | Self::Float)
    }

    pub const fn is_integer(self) -> bool {
        !self.is_floating() && !matches!(self, Self::Bool)
    }

    /// Whether arithmetic on scalars of it happens in `int`.
    pub const fn promotes(self) -> bool {
        matches!(self, Self::Char | Self::Uchar | Self::Short | Self::Ushort)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Type {
    Scalar(Scalar),
    Vector(Scalar, u8),
    Array(Box<Self>, u8),
    Struct(usize),
    /// A pointer to at least this many elements.
    Pointer(Box<Self>, u8),
}

pub const BOOL: Type = Type::Scalar(Scalar::Bool);
pub const UINT: Type = Type::Scalar(Scalar::Uint);
pub const FLOAT: Type = Type::Scalar(Scalar::Float);

#[derive(Clone, Debug)]
pub enum Expression {
    /// A value of the type; a floating one is this many quarters.
    Literal(Scalar, i64),
    Splat(Scalar, u8, Box<Self>),
    Compose(Scalar, Vec<Self>),
    Load(Place),
    AddressOf(Place),
    /// An array as a pointer to its first element.
    Decay(Place),
    Unary(Unary, Box<Self>),
    /// Of two operands of one type.
    Binary(Binary, Box<Self>, Box<Self>),
    /// Whether a comparison holds in all components of vectors, or in any.
    Components(bool, Binary, Box<Self>, Box<Self>),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
    Choose(Box<Self>, Box<Self>, Box<Self>),
    Convert(Type, Box<Self>),
    /// The same bits as a type that has no NaN, or as float.
    Reinterpret(Scalar, Box<Self>),
    /// A float's bits, of NaN always the same.
    Bits(Box<Self>),
    Swizzle(Box<Self>, Vec<u8>),
    Call(usize, Vec<Argument>),
    /// A function of the library whose operands and result have one type.
    Math(&'static str, Vec<Self>),
    Assign(Place, Box<Self>),
    Compound(Place, Binary, Box<Self>),
    Increment(Place, Increment),
    Comma(Box<Self>, Box<Self>),
    /// An operation across the active lanes, whose operand and result have one type.
    Lanes(&'static str, Box<Self>),
    /// A bit of each of the lanes, as a uint: those active in which this holds.
    Ballot(Box<Self>),
    /// What the thread or all threads are told: a uint.
    Builtin(Builtin),
    /// One of the numbers that all threads share.
    Shared(usize),
    /// An element of the input of uints or floats.
    Input(Scalar, Box<Self>),
}

#[derive(Clone, Debug)]
pub enum Argument {
    Value(Expression),
    Reference(Place),
}

#[derive(Clone, Debug)]
pub enum Place {
    Variable(usize),
    Member(Box<Self>, usize),
    /// An element of an array.
    Element(Box<Self>, Box<Expression>),
    /// What a pointer points at, or an element after it.
    Pointee(Box<Expression>, Box<Expression>),
    /// Components of a vector.
    Components(Box<Self>, Vec<u8>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Builtin {
    Position,
    Local,
    Group,
    Size,
    Lane,
    SimdGroup,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Negate,
    Not,
    Complement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    ShiftLeft,
    ShiftRight,
    BitAnd,
    BitOr,
    BitXor,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Binary {
    pub const FLOATING: [Self; 4] = [Self::Add, Self::Subtract, Self::Multiply, Self::Divide];
    pub const INTEGER: [Self; 10] = [
        Self::Add,
        Self::Subtract,
        Self::Multiply,
        Self::Divide,
        Self::Remainder,
        Self::ShiftLeft,
        Self::ShiftRight,
        Self::BitAnd,
        Self::BitOr,
        Self::BitXor,
    ];
    pub const COMPARISONS: [Self; 6] = [
        Self::Equal,
        Self::NotEqual,
        Self::Less,
        Self::LessEqual,
        Self::Greater,
        Self::GreaterEqual,
    ];

    pub fn is_comparison(self) -> bool {
        Self::COMPARISONS.contains(&self)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Increment {
    PrefixUp,
    PrefixDown,
    PostfixUp,
    PostfixDown,
}

pub type Block = Vec<Statement>;

#[derive(Clone, Debug)]
pub enum Statement {
    Declare(usize, Initializer),
    /// A reference to a place.
    Refer(usize, Place),
    Evaluate(Expression),
    If(Expression, Block, Block),
    Loop(Loop),
    Late(Late),
    Switch(Expression, Vec<Arm>),
    Block(Block),
    Break,
    Continue,
    /// From a function with a value, from the kernel without.
    Return(Option<Expression>),
    /// Mixes a value into a word of the thread's own output, or writes it there.
    Output {
        slot: usize,
        value: Expression,
        mix: bool,
    },
    /// Each thread writes a value to threadgroup memory and after a barrier reads another's. Only
    /// where all threads of the group come.
    Exchange {
        into: Place,
        value: Expression,
        distance: Expression,
    },
    /// Reads another lane's value. Only where all threads of the group come.
    Shuffle {
        into: Place,
        how: Shuffle,
        value: Expression,
        lane: Expression,
    },
    /// Adds to a counter of threadgroup or device memory.
    Count {
        device: bool,
        counter: usize,
        value: Expression,
    },
    /// Reads a counter of threadgroup memory. Only where all threads of the group come.
    ReadCounter {
        into: Place,
        counter: usize,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffle {
    From,
    Xor,
    Up,
    Down,
    /// From a lane that is the same for all.
    Broadcast,
}

#[derive(Clone, Debug)]
pub enum Initializer {
    Value(Expression),
    Braced(Vec<Self>),
}

#[derive(Clone, Debug)]
pub struct Loop {
    pub kind: LoopKind,
    /// A uint that counts the rounds.
    pub counter: usize,
    /// At most so many rounds, modulo one more than `ROUNDS`.
    pub bound: Expression,
    /// Goes on only while this holds too.
    pub condition: Option<Expression>,
    pub body: Block,
}

/// A variable without an initialiser, which each round of a loop sets after the place where the later
/// rounds use it.
#[derive(Clone, Debug)]
pub struct Late {
    pub variable: usize,
    pub counter: usize,
    pub rounds: u8,
    /// What all rounds but the first do before the variable is set anew.
    pub before: Block,
    pub value: Expression,
    pub after: Block,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopKind {
    For,
    While,
    DoWhile,
    /// `for (;;)` with a break.
    Endless,
}

#[derive(Clone, Debug)]
pub struct Arm {
    pub values: Vec<u8>,
    pub is_default: bool,
    pub body: Block,
    /// Whether a break ends it.
    pub breaks: bool,
}

impl Program {
    pub fn type_of_place(&self, place: &Place) -> Type {
        match place {
            Place::Variable(variable) => self.variables[*variable].clone(),
            Place::Member(base, field) => match self.type_of_place(base) {
                Type::Struct(index) => self.structs[index][*field].clone(),
                other => unreachable!("a member of {other:?}"),
            },
            Place::Element(base, _) => match self.type_of_place(base) {
                Type::Array(element, _) => *element,
                other => unreachable!("an element of {other:?}"),
            },
            Place::Pointee(pointer, _) => match self.type_of(pointer) {
                Type::Pointer(pointee, _) => *pointee,
                other => unreachable!("the pointee of {other:?}"),
            },
            Place::Components(base, components) => match self.type_of_place(base) {
                Type::Vector(scalar, _) => vector(scalar, components.len()),
                other => unreachable!("components of {other:?}"),
            },
        }
    }

    pub fn type_of(&self, expression: &Expression) -> Type {
        use Expression as E;
        match expression {
            E::Literal(scalar, _) | E::Reinterpret(scalar, _) | E::Input(scalar, _) => {
                Type::Scalar(*scalar)
            }
            E::Splat(scalar, length, _) => Type::Vector(*scalar, *length),
            E::Compose(scalar, parts) => vector(*scalar, parts.len()),
            E::Load(place)
            | E::Assign(place, _)
            | E::Compound(place, ..)
            | E::Increment(place, _) => self.type_of_place(place),
            E::AddressOf(place) => Type::Pointer(Box::new(self.type_of_place(place)), 1),
            E::Decay(place) => match self.type_of_place(place) {
                Type::Array(element, length) => Type::Pointer(element, length),
                other => unreachable!("{other:?} as a pointer"),
            },
            E::Unary(_, operand) | E::Lanes(_, operand) => self.type_of(operand),
            E::Binary(op, ..) if op.is_comparison() => BOOL,
            E::Binary(_, left, _) => self.type_of(left),
            E::Components(..) | E::And(..) | E::Or(..) => BOOL,
            E::Choose(_, accept, _) => self.type_of(accept),
            E::Convert(to, _) => to.clone(),
            E::Bits(_) | E::Ballot(_) | E::Builtin(_) | E::Shared(_) => UINT,
            E::Swizzle(base, components) => match self.type_of(base) {
                Type::Vector(scalar, _) => vector(scalar, components.len()),
                other => unreachable!("components of {other:?}"),
            },
            E::Call(function, _) => self.functions[*function].result.clone(),
            E::Math(_, operands) => self.type_of(&operands[0]),
            E::Comma(_, last) => self.type_of(last),
        }
    }
}

fn vector(scalar: Scalar, length: usize) -> Type {
    match length {
        1 => Type::Scalar(scalar),
        _ => Type::Vector(scalar, length as u8),
    }
}
