//! The syntax tree: what was written, with its place, and nothing decided about meaning.
//!
//! Names are not resolved and types are not checked here. The tree covers the C++14 that Metal
//! kernels use, templates and classes included; what the type checker does not take yet it refuses
//! with a message of its own.

use std::sync::Arc;

use crate::diag::Span;

/// A spelled name.
pub type Name = Arc<str>;

/// A name and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Ident {
    /// The spelling.
    pub name: Name,
    /// Where.
    pub span: Span,
}

/// A possibly qualified name, `metal::vec<float, 4>`.
///
/// In `decltype(e)::name` the first segment is named `decltype`, with `e` as its one argument. A
/// `::` before the first name leaves no trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// The parts between `::`.
    pub segments: Vec<PathSegment>,
    /// Where.
    pub span: Span,
}

/// One part of a [`Path`], with its template arguments if it has a list of them.
#[derive(Clone, Debug, PartialEq)]
pub struct PathSegment {
    /// The name.
    pub ident: Ident,
    /// `<...>`.
    pub args: Option<Vec<TemplateArg>>,
}

/// A template argument. A bare name that could be either is a `Type` if the parser knows a type
/// (or template type parameter) of that name, else an `Expr`.
#[derive(Clone, Debug, PartialEq)]
pub enum TemplateArg {
    /// A type.
    Type(TypeExpr),
    /// A constant expression.
    Expr(Expr),
}

/// The address space that a type was written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressSpace {
    /// Buffers that kernels may write.
    Device,
    /// Buffers and program-scope constants that kernels only read.
    Constant,
    /// Memory that the threads of a threadgroup share.
    Threadgroup,
    /// A thread's own memory.
    Thread,
}

/// A type as written.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeExpr {
    /// What it is.
    pub kind: TypeExprKind,
    /// Where.
    pub span: Span,
}

/// What a type was written as.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeExprKind {
    /// A name: built in, declared, or a template parameter. `unsigned int` and its kind are folded
    /// to the one-word name (`uint`, `long`, `uchar`, ...) by the parser.
    Path(Path),
    /// `auto`.
    Auto,
    /// `decltype(expression)`.
    Decltype(Box<Expr>),
    /// `to *`; the pointee carries its own qualifiers.
    Pointer(Box<TypeExpr>),
    /// `to &` (or `&&`).
    Reference(Box<TypeExpr>),
    /// `element[length]`; the length is missing in `[]`.
    Array(Box<TypeExpr>, Option<Box<Expr>>),
    /// `const`, `volatile` or an address space, applied to a type. At least one is given; several
    /// qualifiers of one type are one node.
    Qualified {
        /// The type they apply to.
        inner: Box<TypeExpr>,
        /// `const` was written.
        is_const: bool,
        /// `volatile` was written.
        is_volatile: bool,
        /// The address space that was written.
        space: Option<AddressSpace>,
    },
    /// A function type, `result(params)`, as in `result (*name)(params)` behind a pointer.
    Function(Box<TypeExpr>, Vec<TypeExpr>),
    /// `T...`: one for each element of a parameter pack, in a list of types.
    Expansion(Box<TypeExpr>),
}

/// `[[name(args)]]` or `__attribute__((name(args)))`.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// The name; `clang::x` is written with its `::`.
    pub name: Ident,
    /// The arguments.
    pub args: Vec<Expr>,
}

/// The suffix of an integer literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntSuffix {
    /// `u`.
    pub unsigned: bool,
    /// `l` or `ll`.
    pub long: bool,
    /// Written in octal, hexadecimal or binary (such a literal may become unsigned by its size).
    pub radix_not_ten: bool,
}

/// The type that a floating literal's suffix names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatSuffix {
    /// None or `f`: Metal has no double, so a bare literal is a float.
    Float,
    /// `h`.
    Half,
    /// `bf`.
    Bfloat,
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `+x`
    Plus,
    /// `-x`
    Negate,
    /// `!x`
    LogicalNot,
    /// `~x`
    BitwiseNot,
    /// `*x`
    Dereference,
    /// `&x`
    AddressOf,
    /// `++x`
    PreIncrement,
    /// `--x`
    PreDecrement,
    /// `x++`
    PostIncrement,
    /// `x--`
    PostDecrement,
}

/// Operators with two operands (assignment is [`ExprKind::Assign`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    ShiftLeft,
    ShiftRight,
    BitwiseAnd,
    BitwiseOr,
    BitwiseXor,
    LogicalAnd,
    LogicalOr,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// How a cast was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastStyle {
    /// `(T)x`
    C,
    /// `static_cast<T>(x)`
    Static,
    /// `reinterpret_cast<T>(x)`
    Reinterpret,
    /// `const_cast<T>(x)`
    Const,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where.
    pub span: Span,
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// `42u`; also a character literal.
    Int(u64, IntSuffix),
    /// `1.5h`, converted once from the decimal text to f64.
    Float(f64, FloatSuffix),
    /// `true`
    Bool(bool),
    /// `nullptr`
    Nullptr,
    /// `"text"`: only in `static_assert` and attributes.
    String(Name),
    /// A name, `x` or `metal::exp` or `f<float>`.
    Path(Path),
    /// `op x` or `x op`.
    Unary(UnaryOp, Box<Expr>),
    /// `l op r`.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `l = r`, or `l op= r`.
    Assign(Option<BinaryOp>, Box<Expr>, Box<Expr>),
    /// `c ? a : b`.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `f(args)`, where `f` is not known to be a type. `as_type<T>(x)` is one of these.
    Call(Box<Expr>, Vec<Expr>),
    /// `T(args)` or `T{args}` (`braced`), where `T` is known to be a type.
    Construct {
        /// The type.
        ty: TypeExpr,
        /// The arguments.
        args: Vec<Expr>,
        /// Written with braces.
        braced: bool,
    },
    /// A cast in one of its spellings.
    Cast(CastStyle, TypeExpr, Box<Expr>),
    /// `e.name` or `e->name` (`arrow`); the segment may have template arguments.
    Member {
        /// The object, or the pointer to it.
        object: Box<Expr>,
        /// Written `->`.
        arrow: bool,
        /// The member.
        member: PathSegment,
    },
    /// `e[i]`
    Index(Box<Expr>, Box<Expr>),
    /// `{a, b}` as an initialiser or argument; `.name =` designators keep their names.
    InitList(Vec<(Option<Ident>, Expr)>),
    /// `[first] = value` or `[first ... last] = value`: only as an element of an
    /// [`ExprKind::InitList`] (C's array designators, which Metal's compiler takes).
    ArrayDesignator {
        /// The index, or the first of them.
        first: Box<Expr>,
        /// The last index, of a range.
        last: Option<Box<Expr>>,
        /// The value of these elements.
        value: Box<Expr>,
    },
    /// `sizeof(T)`
    SizeofType(TypeExpr),
    /// `sizeof expression`
    SizeofExpr(Box<Expr>),
    /// `alignof(T)`
    AlignofType(TypeExpr),
    /// `a, b`
    Comma(Box<Expr>, Box<Expr>),
    /// `[captures](params) -> T { body }`
    Lambda(Box<Lambda>),
    /// `this`
    This,
    /// `e...`: one for each element of a parameter pack, in a list of arguments.
    Expansion(Box<Expr>),
    /// `sizeof...(pack)`
    SizeofPack(Ident),
}

/// A lambda expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Lambda {
    /// `[=]`
    pub capture_by_copy: bool,
    /// `[&]`
    pub capture_by_reference: bool,
    /// Named captures; `true` is by reference.
    pub captures: Vec<(Ident, bool)>,
    /// The parameters.
    pub params: Vec<Param>,
    /// `-> T`
    pub result: Option<TypeExpr>,
    /// The body.
    pub body: Block,
}

/// `{ ... }`
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The statements.
    pub statements: Vec<Stmt>,
    /// From brace to brace.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where.
    pub span: Span,
}

/// What a statement is.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `;`
    Empty,
    /// An expression for its effect.
    Expr(Expr),
    /// Local variables, one for each declarator.
    Variables(Vec<Variable>),
    /// A local type, alias, `using` or `static_assert`.
    Item(Box<Item>),
    /// `{ ... }`
    Block(Block),
    /// `if`, `if constexpr`
    If {
        /// `if constexpr`
        is_constexpr: bool,
        /// The condition.
        condition: Expr,
        /// When it holds.
        accept: Box<Stmt>,
        /// When it does not.
        reject: Option<Box<Stmt>>,
    },
    /// `for (initial; condition; step) body`
    For {
        /// A declaration, an expression statement, or nothing.
        initial: Option<Box<Stmt>>,
        /// The test before each round.
        condition: Option<Expr>,
        /// What follows each round.
        step: Option<Expr>,
        /// The body.
        body: Box<Stmt>,
    },
    /// `for (T name : range) body`; the variable has no initialiser.
    RangeFor {
        /// What takes the value of each element.
        variable: Box<Variable>,
        /// The array.
        range: Expr,
        /// The body.
        body: Box<Stmt>,
    },
    /// `while (condition) body`
    While(Expr, Box<Stmt>),
    /// `do body while (condition);`
    DoWhile(Box<Stmt>, Expr),
    /// `switch (selector) { ... }`
    Switch {
        /// What is switched on.
        selector: Expr,
        /// The labelled runs of statements, in order; each falls through into the next.
        arms: Vec<SwitchArm>,
    },
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `return e;`
    Return(Option<Expr>),
}

/// Statements after one or more labels of a `switch`.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchArm {
    /// `case e:` is `Some`, `default:` is `None`.
    pub labels: Vec<Option<Expr>>,
    /// The statements.
    pub body: Vec<Stmt>,
    /// Where the labels are.
    pub span: Span,
}

/// A variable: program scope, local, or a struct's field.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// The name.
    pub name: Ident,
    /// `Class::` before the name, where a static member is defined outside of its class.
    pub owner: Option<Path>,
    /// The whole type, declarator parts included.
    pub ty: TypeExpr,
    /// `= e`, `{...}` (an [`ExprKind::InitList`]) or `(args)` (an [`ExprKind::Construct`]).
    pub initial: Option<Expr>,
    /// Attributes.
    pub attributes: Vec<Attribute>,
    /// `constexpr`
    pub is_constexpr: bool,
    /// `static`
    pub is_static: bool,
    /// `extern`
    pub is_extern: bool,
    /// The template header, and the arguments after the name of a specialisation.
    pub template: Option<Template>,
    /// The arguments after the name of a variable template's specialisation.
    pub specialization: Option<Vec<TemplateArg>>,
    /// Where.
    pub span: Span,
}

/// `template <...>`; empty for a full specialisation.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// The parameters.
    pub params: Vec<TemplateParam>,
}

/// A template parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateParam {
    /// The name; absent in `typename = ...`.
    pub name: Option<Ident>,
    /// What it stands for.
    pub kind: TemplateParamKind,
    /// Written with `...`: takes any number of arguments.
    pub is_pack: bool,
    /// Where.
    pub span: Span,
}

/// What a template parameter stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum TemplateParamKind {
    /// `typename T = default`
    Type(Option<TypeExpr>),
    /// `int N = default`; a function pointer type makes it a function parameter.
    Value(TypeExpr, Option<Expr>),
    /// `template <...> class C`
    Template(Template),
}

/// A function parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// The name.
    pub name: Option<Ident>,
    /// The type.
    pub ty: TypeExpr,
    /// Attributes such as `[[buffer(0)]]`.
    pub attributes: Vec<Attribute>,
    /// The default argument.
    pub default: Option<Expr>,
    /// Written with `...`: stands for one parameter for each type of a template parameter pack.
    pub is_pack: bool,
    /// Where.
    pub span: Span,
}

/// A function, method, operator or constructor.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The name; an operator's is `operator+` and so on, a conversion's is `operator T`.
    pub name: Ident,
    /// `Class::` before the name, where a member is defined outside of its class.
    pub owner: Option<Path>,
    /// The result; a constructor has none.
    pub result: Option<TypeExpr>,
    /// The parameters.
    pub params: Vec<Param>,
    /// The body; absent in a declaration.
    pub body: Option<Block>,
    /// `: member(value), ...` of a constructor.
    pub member_initials: Vec<(Ident, Vec<Expr>)>,
    /// The template header.
    pub template: Option<Template>,
    /// `name<args>` of a specialisation.
    pub specialization: Option<Vec<TemplateArg>>,
    /// `kernel` or `[[kernel]]`.
    pub is_kernel: bool,
    /// `constexpr`
    pub is_constexpr: bool,
    /// `static`
    pub is_static: bool,
    /// A method's trailing `const`.
    pub is_const: bool,
    /// A method's trailing address space.
    pub object_space: Option<AddressSpace>,
    /// `= default`
    pub is_defaulted: bool,
    /// `= delete`
    pub is_deleted: bool,
    /// Attributes before the name and after the parameter list.
    pub attributes: Vec<Attribute>,
    /// From the first token to the end of the parameter list.
    pub span: Span,
}

/// A struct, class or union.
#[derive(Clone, Debug, PartialEq)]
pub struct Struct {
    /// The name; absent in `typedef struct { ... } name` until the typedef gives one.
    pub name: Option<Ident>,
    /// Its members in order.
    pub members: Vec<Item>,
    /// Base classes.
    pub bases: Vec<TypeExpr>,
    /// Declared `union`.
    pub is_union: bool,
    /// Attributes (`__attribute__((packed))`, `alignas`).
    pub attributes: Vec<Attribute>,
    /// The template header.
    pub template: Option<Template>,
    /// `name<args>` of a specialisation.
    pub specialization: Option<Vec<TemplateArg>>,
    /// Only declared, `struct name;`.
    pub is_forward: bool,
}

/// An enumeration.
#[derive(Clone, Debug, PartialEq)]
pub struct Enum {
    /// The name.
    pub name: Option<Ident>,
    /// `enum class`
    pub is_class: bool,
    /// `: T`
    pub underlying: Option<TypeExpr>,
    /// The names and their values, where given.
    pub enumerators: Vec<(Ident, Option<Expr>)>,
}

/// Something declared at program, namespace, struct or block scope.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// Where.
    pub span: Span,
}

/// What an item is.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemKind {
    /// A function, method or constructor.
    Function(Box<Function>),
    /// A variable or field, one item for each declarator.
    Variable(Box<Variable>),
    /// A struct, class or union.
    Struct(Box<Struct>),
    /// An enumeration.
    Enum(Enum),
    /// `using name = T;` or `typedef T name;`
    Alias {
        /// The new name.
        name: Ident,
        /// What it stands for.
        ty: TypeExpr,
        /// The template header of an alias template.
        template: Option<Template>,
    },
    /// `static_assert(condition, "message");`
    StaticAssert(Expr, Option<Name>),
    /// `namespace name { ... }`
    Namespace(Option<Ident>, Vec<Item>),
    /// `using namespace name;`
    UsingNamespace(Path),
    /// `using path;`: brings one name in.
    UsingName(Path),
    /// `template [[host_name("x")]] [kernel] result name<args>(params);`: an explicit instantiation.
    /// The function has no body, and the arguments are its `specialization`.
    Instantiation(Box<Function>),
    /// `;` alone.
    Empty,
}

/// A whole source text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TranslationUnit {
    /// Its items in order.
    pub items: Vec<Item>,
}
