//! The standard library's functions: tables of what they take and give, and how they become IR.
//!
//! A function with versions for many types is one [`Entry`]; a call makes its versions for the
//! types at hand and ranks them like any other overloads. Functions that no table describes (the
//! atomics, barriers, matrices) are [`Special`].

pub(super) mod atomics;
pub(super) mod constants;
mod geometry;
mod maths;
mod matrices;
mod memory;
mod simd;
pub(super) mod traits;

use std::collections::HashMap;
use std::sync::OnceLock;

use super::Checker;
use super::conversions::Rank;
use super::operand::Operand;
use super::scope::FunctionSet;
use super::types::{Kind, Qualified, Ty};
use crate::diag::{Diagnostic, Span};
use crate::ir::{AddressSpace, MathFunction, Op, Scalar, SimdOp};
use crate::syntax::ast::{Name, TemplateArg};

/// The scalars that a function has versions for.
#[derive(Clone, Copy)]
enum Over {
    Floats,
    Integers,
    Numbers,
    /// Numbers of at most 32 bits: what lanes can exchange.
    LaneNumbers,
    LaneIntegers,
    /// 32-bit integers.
    Words,
    Bool,
    /// Every type that has vectors.
    All,
    /// One version, without a generic type.
    None,
}

impl Over {
    fn scalars(self) -> &'static [Scalar] {
        use Scalar::{Bf16, Bool, F16, F32, I8, I16, I32, I64, U8, U16, U32, U64};
        match self {
            Self::Floats => &[F16, F32],
            Self::Integers => &[I8, U8, I16, U16, I32, U32, I64, U64],
            Self::Numbers => &[I8, U8, I16, U16, I32, U32, I64, U64, F16, F32],
            Self::LaneNumbers => &[I8, U8, I16, U16, I32, U32, F16, F32],
            Self::LaneIntegers => &[I8, U8, I16, U16, I32, U32],
            Self::Words => &[I32, U32],
            Self::Bool => &[Bool],
            Self::All => &[Bool, I8, U8, I16, U16, I32, U32, I64, U64, F16, Bf16, F32],
            Self::None => &[F32],
        }
    }
}

/// The lengths that a function has versions for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lengths {
    Any,
    Vectors,
    Scalars,
    Three,
}

/// A parameter or result type, in terms of the generic type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    /// The generic type.
    T,
    /// Its scalar.
    Element,
    /// bool, of its length.
    Bools,
    /// int, of its length.
    Ints,
    /// Its unsigned counterpart.
    Unsigned,
    Bool,
    Uint,
    Ushort,
    Vote,
    /// A reference to write the generic type to.
    OutT,
    /// A reference to write int, of its length, to.
    OutInts,
}

/// How a call becomes IR.
#[derive(Clone, Copy)]
enum Action {
    Math(MathFunction),
    Simd(SimdOp),
    Expand(Expand),
}

/// Makes the IR of a function from its converted arguments.
type Expand = for<'c, 'a> fn(&'c mut Checker<'a>, &Call<'a>) -> Operand<'a>;

/// What [`Expand`] gets.
struct Call<'a> {
    args: Vec<Operand<'a>>,
    result: Ty,
    span: Span,
}

/// A function of the library, with all its versions.
struct Entry {
    name: &'static str,
    over: Over,
    lengths: Lengths,
    params: &'static [Of],
    result: Of,
    action: Action,
}

const fn entry(
    name: &'static str,
    over: Over,
    lengths: Lengths,
    params: &'static [Of],
    result: Of,
    action: Action,
) -> Entry {
    Entry {
        name,
        over,
        lengths,
        params,
        result,
        action,
    }
}

/// A function that no table describes.
pub(super) type Special =
    for<'c, 'a> fn(&'c mut Checker<'a>, &SpecialCall<'a>, Vec<Operand<'a>>) -> Operand<'a>;

/// What a [`Special`] knows of its call.
pub(super) struct SpecialCall<'a> {
    pub name: Name,
    pub explicit: Option<&'a [TemplateArg]>,
    pub name_span: Span,
    pub span: Span,
}

/// A version of a function that a call could mean.
#[derive(Clone)]
pub(super) struct LibraryCandidate {
    entry: &'static Entry,
    pub params: Vec<LibraryParam>,
    result: Ty,
}

/// A parameter of a library function.
#[derive(Clone, Copy)]
pub(super) struct LibraryParam {
    pub ty: Qualified,
    /// Written through, wherever it is.
    is_out: bool,
}

fn tables() -> impl Iterator<Item = &'static Entry> {
    [
        maths::FLOATING,
        maths::COMMON,
        maths::INTEGER,
        maths::RELATIONAL,
        geometry::TABLE,
        simd::TABLE,
    ]
    .into_iter()
    .flatten()
}

fn index() -> &'static HashMap<&'static str, Vec<&'static Entry>> {
    static INDEX: OnceLock<HashMap<&'static str, Vec<&'static Entry>>> = OnceLock::new();
    INDEX.get_or_init(|| {
        let mut index: HashMap<_, Vec<_>> = HashMap::new();
        for entry in tables() {
            index.entry(entry.name).or_default().push(entry);
        }
        index
    })
}

/// Whether the library has functions of a name.
pub(super) fn is_function(name: &str) -> bool {
    index().contains_key(name) || special(name).is_some()
}

/// All names of functions, for suggestions.
pub(super) fn function_names<'n>() -> impl Iterator<Item = &'n str> {
    index()
        .keys()
        .chain(SPECIAL_NAMES)
        .map(|name| *name as &'n str)
}

const SPECIAL_NAMES: &[&str] = &[
    "as_type",
    "threadgroup_barrier",
    "simdgroup_barrier",
    "atomic_load_explicit",
    "atomic_store_explicit",
    "atomic_exchange_explicit",
    "atomic_compare_exchange_weak_explicit",
    "atomic_fetch_add_explicit",
    "atomic_fetch_sub_explicit",
    "atomic_fetch_min_explicit",
    "atomic_fetch_max_explicit",
    "atomic_fetch_and_explicit",
    "atomic_fetch_or_explicit",
    "atomic_fetch_xor_explicit",
    "simdgroup_load",
    "simdgroup_store",
    "simdgroup_multiply",
    "simdgroup_multiply_accumulate",
];

/// The function of a name that no table describes.
pub(super) fn special(name: &str) -> Option<Special> {
    Some(match name {
        "as_type" => memory::as_type,
        "threadgroup_barrier" | "simdgroup_barrier" => memory::barrier,
        "atomic_load_explicit" => atomics::load,
        "atomic_store_explicit" => atomics::store,
        "atomic_compare_exchange_weak_explicit" => atomics::compare_exchange,
        "atomic_thread_fence" => atomics::fence,
        "make_filled_simdgroup_matrix" => matrices::make_filled,
        "simdgroup_load" => matrices::load,
        "simdgroup_store" => matrices::store,
        "simdgroup_multiply" => matrices::multiply,
        "simdgroup_multiply_accumulate" => matrices::multiply_accumulate,
        "transpose" => matrices::transpose,
        "determinant" => matrices::determinant,
        _ if atomics::operation(name).is_some() => atomics::modify,
        _ => return None,
    })
}

/// What to write instead of a name that other languages have.
pub(super) fn missing_hint(name: &str) -> Option<String> {
    let hint = match name {
        "mad" => "`fma(a, b, c)` multiplies and adds with one rounding; `a * b + c` rounds twice",
        "fminf" | "fmaxf" | "expf" | "logf" | "sqrtf" | "sinf" | "cosf" | "powf" | "fabsf"
        | "tanhf" => {
            let plain = &name[..name.len() - 1];
            return Some(format!(
                "Metal's functions work on every type: write `{plain}`"
            ));
        }
        "lerp" => "linear interpolation is `mix(a, b, t)`",
        "frac" => "the fractional part is `fract(x)`",
        "rsqrtf" | "inversesqrt" => "the inverse square root is `rsqrt(x)`",
        "erf" | "erfc" | "lgamma" | "tgamma" | "expm1" | "log1p" | "cbrt" | "hypot" => {
            "Metal's library does not have this function; write it out"
        }
        "__syncthreads" | "barrier" => "write `threadgroup_barrier(mem_flags::mem_threadgroup)`",
        "printf" => "kernels cannot print; write values to a buffer",
        "atomicAdd" | "atomic_add" => {
            "write `atomic_fetch_add_explicit(&x, value, memory_order_relaxed)`"
        }
        "mem_threadgroup" | "mem_device" | "mem_none" | "mem_texture" => {
            return Some(format!("write `mem_flags::{name}`"));
        }
        "std" => "Metal has no `std`; its library is in the namespace `metal`",
        "integral_constant" | "bool_constant" | "true_type" | "false_type" => {
            "`#include <metal_stdlib>` declares it"
        }
        "double" => "Metal has no `double`; use `float`",
        "threadIdx" | "blockIdx" | "blockDim" => {
            "declare a parameter such as `uint i [[thread_position_in_grid]]`"
        }
        _ => return None,
    };
    Some(hint.to_string())
}

/// The versions of a function that fit the arguments' count and length.
pub(super) fn candidates<'a>(
    checker: &mut Checker<'a>,
    name: &str,
    args: &[Operand<'a>],
) -> Vec<LibraryCandidate> {
    let len = args
        .iter()
        .filter_map(|arg| checker.types.as_vector(arg.ty).map(|(_, len)| len))
        .max()
        .unwrap_or(1);
    let Some(entries) = index().get(name) else {
        return Vec::new();
    };
    let mut made = Vec::new();
    for entry in entries
        .iter()
        .filter(|entry| entry.params.len() == args.len())
    {
        let len_fits = match entry.lengths {
            Lengths::Any => true,
            Lengths::Vectors => len > 1,
            Lengths::Scalars => len == 1,
            Lengths::Three => len == 3,
        };
        if !len_fits {
            continue;
        }
        for &scalar in entry.over.scalars() {
            let params = entry
                .params
                .iter()
                .map(|of| param(checker, *of, scalar, len))
                .collect();
            let result = param(checker, entry.result, scalar, len).ty.ty;
            made.push(LibraryCandidate {
                entry,
                params,
                result,
            });
        }
    }
    made
}

fn param(checker: &mut Checker<'_>, of: Of, scalar: Scalar, len: u8) -> LibraryParam {
    let types = &mut checker.types;
    let ty = match of {
        Of::T | Of::OutT => types.vector(scalar, len),
        Of::Element => Ty::scalar(scalar),
        Of::Bools => types.vector(Scalar::Bool, len),
        Of::Ints | Of::OutInts => types.vector(Scalar::I32, len),
        Of::Unsigned => types.vector(unsigned(scalar), len),
        Of::Bool => Ty::BOOL,
        Of::Uint => Ty::UINT,
        Of::Ushort => Ty::scalar(Scalar::U16),
        Of::Vote => Ty::SIMD_VOTE,
    };
    let is_out = matches!(of, Of::OutT | Of::OutInts);
    LibraryParam {
        ty: Qualified {
            is_reference: is_out,
            space: is_out.then_some(AddressSpace::Thread),
            ..Qualified::plain(ty)
        },
        is_out,
    }
}

fn unsigned(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::I8 => Scalar::U8,
        Scalar::I16 => Scalar::U16,
        Scalar::I32 => Scalar::U32,
        Scalar::I64 => Scalar::U64,
        scalar => scalar,
    }
}

/// How well an argument fits a library function's parameter.
pub(super) fn rank<'a>(
    checker: &mut Checker<'a>,
    arg: &Operand<'a>,
    param: LibraryParam,
) -> Option<Rank> {
    if param.is_out {
        return checker.passing_rank(arg, param.ty);
    }
    checker.implicit_rank(arg, param.ty.ty)
}

/// The error for arguments that fit no version.
pub(super) fn explain_mismatch<'a>(
    checker: &mut Checker<'a>,
    name: &str,
    args: &[Operand<'a>],
    span: Span,
) -> Diagnostic {
    let entries = index().get(name).map_or(&[][..], |entries| &entries[..]);
    let mut counts: Vec<usize> = entries.iter().map(|entry| entry.params.len()).collect();
    counts.sort_unstable();
    counts.dedup();
    if !counts.contains(&args.len()) {
        let wanted: Vec<String> = counts.iter().map(ToString::to_string).collect();
        let plural = if counts[..] == [1] { "" } else { "s" };
        return Diagnostic::error(
            span,
            format!(
                "`{name}` takes {} argument{plural}, not {}",
                wanted.join(" or "),
                args.len()
            ),
        );
    }
    let given: Vec<String> = args
        .iter()
        .map(|arg| checker.operand_type_name(arg))
        .collect();
    let error = Diagnostic::error(
        span,
        format!("no version of `{name}` takes ({})", given.join(", ")),
    );
    let is_bfloat_vector =
        |arg: &Operand<'a>| matches!(checker.types.kind(arg.ty), Kind::Vector(Scalar::Bf16, ..));
    if args.iter().any(is_bfloat_vector) {
        return error
            .with_label("the library has no versions for vectors of bfloat")
            .with_hint(format!(
                "compute in float: `{name}(float4(x))`, and convert back with `bfloat4(..)`"
            ));
    }
    let over = entries
        .iter()
        .find(|entry| entry.params.len() == args.len())
        .map(|entry| (entry.over, entry.lengths));
    match over {
        Some((Over::Floats, Lengths::Vectors)) => {
            error.with_label("it works on vectors of float or half")
        }
        Some((Over::Floats, Lengths::Three)) => {
            error.with_label("it works on vectors of three float or half")
        }
        Some((Over::Floats, _)) => {
            error.with_label("it works on float, half and their vectors, all of one type")
        }
        Some((Over::Integers | Over::LaneIntegers | Over::Words, _)) => {
            error.with_label("it works on integers")
        }
        Some((Over::LaneNumbers, _)) => {
            error.with_label("lanes exchange half, float and integers of up to 32 bits")
        }
        _ => error.with_label("the arguments must be of one type"),
    }
}

impl<'a> Checker<'a> {
    /// Calls a version of a library function.
    pub(super) fn call_library(
        &mut self,
        candidate: &LibraryCandidate,
        args: Vec<Operand<'a>>,
        span: Span,
    ) -> Operand<'a> {
        let mut converted = Vec::new();
        for (arg, param) in args.into_iter().zip(&candidate.params) {
            if param.is_out {
                converted.push(arg);
                continue;
            }
            let arg = self.convert(arg, param.ty.ty, "the argument");
            let arg = self.rvalue(arg);
            if arg.is_poison() {
                return Operand::poison(span);
            }
            converted.push(arg);
        }
        let result = candidate.result;
        match candidate.entry.action {
            Action::Math(function) => self.math(function, &converted, result, span),
            Action::Simd(op) => {
                let values = converted.iter().map(|arg| self.value(arg)).collect();
                let ir_type = self.ir_type(result);
                Operand::value(
                    result,
                    self.context.emit(Op::Simd(op, values), ir_type, span),
                    span,
                )
            }
            Action::Expand(expand) => expand(
                self,
                &Call {
                    args: converted,
                    result,
                    span,
                },
            ),
        }
    }

    /// A function of the IR's maths library.
    pub(super) fn math(
        &mut self,
        function: MathFunction,
        args: &[Operand<'a>],
        result: Ty,
        span: Span,
    ) -> Operand<'a> {
        let values = args.iter().map(|arg| self.value(arg)).collect();
        let ir_type = self.ir_type(result);
        Operand::value(
            result,
            self.context.emit(Op::Math(function, values), ir_type, span),
            span,
        )
    }

    /// A method of one of the library's types.
    pub(super) fn library_method(
        &mut self,
        set: &FunctionSet<'a>,
        args: Vec<Operand<'a>>,
        span: Span,
    ) -> Operand<'a> {
        let Some(object) = set.object.as_deref().cloned() else {
            return Operand::poison(span);
        };
        match self.types.kind(object.ty) {
            Kind::SimdVote => simd::vote_method(self, &set.name, object, &args, span),
            Kind::SimdgroupMatrix(_) => matrices::thread_elements(self, object, span),
            _ => Operand::poison(span),
        }
    }
}
