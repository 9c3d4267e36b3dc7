//! The functions of the standard library: what each takes, and the IR it becomes.
//!
//! Functions of one shape share a row of the table; what remains has a function of its own in
//! `memory` (barriers, atomics), `lanes` (SIMD-groups) or `composite` (made of several operations).

mod composite;
pub(super) mod constants;
mod lanes;
mod memory;
pub(super) mod traits;

use super::Checker;
use super::constant::Constant;
use super::operand::{Operand, Repr};
use super::operators;
use super::scope::{Entity, FunctionSet};
use super::types::{Kind, Qualified, Ty};
use crate::diag::{Diagnostic, Span};
use crate::ir::{Handle, MathFunction, Op, Scalar, Value};
use crate::syntax::ast::{Name, PathSegment, TemplateArg};

/// A call of a library function.
pub(super) struct LibraryCall<'a> {
    pub name: Name,
    /// `<...>` after the name.
    pub explicit: Option<&'a [TemplateArg]>,
    pub name_span: Span,
    pub span: Span,
}

/// A function with code of its own.
type Special = for<'a, 'b> fn(&mut Checker<'a>, &LibraryCall<'a>, Vec<Operand<'a>>) -> Operand<'a>;

/// How a function's arguments and result go together.
#[derive(Clone, Copy)]
enum Shape {
    /// Floating scalars or vectors of one type; the result is of that type.
    Float(MathFunction),
    /// A floating scalar or vector; the result is bool by component.
    Test(MathFunction),
    /// A floating scalar or vector; the result is int by component.
    FloatToInt(MathFunction),
    /// Integer scalars or vectors of one type, and a result of that type.
    Integer(MathFunction),
    /// The floating or the integer function.
    Number(MathFunction, MathFunction),
    /// Any of the others.
    Special(Special),
}

fn find(name: &str) -> Option<Shape> {
    use MathFunction as F;
    Some(match name {
        "acos" => Shape::Float(F::Acos),
        "acosh" => Shape::Float(F::Acosh),
        "asin" => Shape::Float(F::Asin),
        "asinh" => Shape::Float(F::Asinh),
        "atan" => Shape::Float(F::Atan),
        "atan2" => Shape::Float(F::Atan2),
        "atanh" => Shape::Float(F::Atanh),
        "ceil" => Shape::Float(F::Ceil),
        "copysign" => Shape::Float(F::Copysign),
        "cos" => Shape::Float(F::Cos),
        "cosh" => Shape::Float(F::Cosh),
        "cospi" => Shape::Float(F::Cospi),
        "exp" => Shape::Float(F::Exp),
        "exp2" => Shape::Float(F::Exp2),
        "exp10" => Shape::Float(F::Exp10),
        "fabs" => Shape::Float(F::Fabs),
        "fdim" => Shape::Float(F::Fdim),
        "floor" => Shape::Float(F::Floor),
        "fma" => Shape::Float(F::Fma),
        "fmax" => Shape::Float(F::Fmax),
        "fmin" => Shape::Float(F::Fmin),
        "fmod" => Shape::Float(F::Fmod),
        "fract" => Shape::Float(F::Fract),
        "log" => Shape::Float(F::Log),
        "log2" => Shape::Float(F::Log2),
        "log10" => Shape::Float(F::Log10),
        "mix" => Shape::Float(F::Mix),
        "nextafter" => Shape::Float(F::Nextafter),
        "pow" => Shape::Float(F::Pow),
        "powr" => Shape::Float(F::Powr),
        "rint" => Shape::Float(F::Rint),
        "round" => Shape::Float(F::Round),
        "rsqrt" => Shape::Float(F::Rsqrt),
        "saturate" => Shape::Float(F::Saturate),
        "sign" => Shape::Float(F::Sign),
        "sin" => Shape::Float(F::Sin),
        "sinh" => Shape::Float(F::Sinh),
        "sinpi" => Shape::Float(F::Sinpi),
        "smoothstep" => Shape::Float(F::Smoothstep),
        "sqrt" => Shape::Float(F::Sqrt),
        "step" => Shape::Float(F::Step),
        "tan" => Shape::Float(F::Tan),
        "tanh" => Shape::Float(F::Tanh),
        "tanpi" => Shape::Float(F::Tanpi),
        "trunc" => Shape::Float(F::Trunc),
        "isfinite" => Shape::Test(F::Isfinite),
        "isinf" => Shape::Test(F::Isinf),
        "isnan" => Shape::Test(F::Isnan),
        "isnormal" => Shape::Test(F::Isnormal),
        "signbit" => Shape::Test(F::Signbit),
        "ilogb" => Shape::FloatToInt(F::Ilogb),
        "absdiff" => Shape::Integer(F::Absdiff),
        "addsat" => Shape::Integer(F::Addsat),
        "subsat" => Shape::Integer(F::Subsat),
        "clz" => Shape::Integer(F::Clz),
        "ctz" => Shape::Integer(F::Ctz),
        "hadd" => Shape::Integer(F::Hadd),
        "rhadd" => Shape::Integer(F::Rhadd),
        "mad24" => Shape::Integer(F::Mad24),
        "madhi" => Shape::Integer(F::Madhi),
        "madsat" => Shape::Integer(F::Madsat),
        "mul24" => Shape::Integer(F::Mul24),
        "mulhi" => Shape::Integer(F::Mulhi),
        "popcount" => Shape::Integer(F::Popcount),
        "reverse_bits" => Shape::Integer(F::ReverseBits),
        "rotate" => Shape::Integer(F::Rotate),
        "abs" => Shape::Number(F::Fabs, F::Abs),
        "max" => Shape::Number(F::Fmax, F::Max),
        "min" => Shape::Number(F::Fmin, F::Min),
        "clamp" => Shape::Number(F::Fclamp, F::Clamp),
        _ => {
            let special = composite::find(name).or_else(|| memory::find(name));
            Shape::Special(special.or_else(|| lanes::find(name))?)
        }
    })
}

/// Whether the library has a function of this name.
pub(super) fn is_function(name: &str) -> bool {
    find(name).is_some()
}

/// Names to suggest for a misspelled one.
pub(super) fn function_names() -> impl Iterator<Item = &'static str> {
    MathFunction::ALL
        .iter()
        .map(|f| f.name())
        .filter(|name| is_function(name))
        .chain(composite::NAMES.iter().copied())
        .chain(memory::NAMES.iter().copied())
}

/// What to use instead of what other shading languages have.
pub(super) fn missing_hint(name: &str) -> Option<String> {
    let instead = match name {
        "mad" => "`fma(a, b, c)`, or `a * b + c`",
        "lerp" => "`mix(a, b, t)`",
        "frac" => "`fract(x)`",
        "rcp" => "`1.0f / x`",
        "__syncthreads" | "barrier" => "`threadgroup_barrier(mem_flags::mem_threadgroup)`",
        "atomicAdd" | "atomic_add" => "`atomic_fetch_add_explicit(p, x, memory_order_relaxed)`",
        "expf" => "`exp(x)`",
        "sqrtf" => "`sqrt(x)`",
        "fabsf" => "`fabs(x)`",
        _ => return None,
    };
    Some(format!("Metal has no `{name}`; use {instead}"))
}

impl<'a> Checker<'a> {
    /// Calls a function of the library.
    pub(super) fn call_library(
        &mut self,
        call: &LibraryCall<'a>,
        args: Vec<Operand<'a>>,
    ) -> Operand<'a> {
        let Some(shape) = find(&call.name) else {
            return Operand::poison(call.span);
        };
        match shape {
            Shape::Special(special) => special(self, call, args),
            Shape::Float(f) => self.library_math(call, args, f, f, true),
            Shape::Number(float, integer) => self.library_math(call, args, float, integer, false),
            Shape::Integer(f) => self.library_integer(call, args, f),
            Shape::Test(f) => self.library_result(call, args, f, Scalar::Bool),
            Shape::FloatToInt(f) => self.library_result(call, args, f, Scalar::I32),
        }
    }

    /// Reports a wrong number of arguments.
    fn count_is(&mut self, call: &LibraryCall<'a>, args: &[Operand<'a>], wanted: usize) -> bool {
        if args.len() != wanted {
            let plural = if wanted == 1 { "" } else { "s" };
            let message = format!(
                "`{}` takes {wanted} argument{plural}, not {}",
                call.name,
                args.len()
            );
            self.fail(Diagnostic::error(call.name_span, message));
        }
        args.len() == wanted
    }

    /// The one type that numbers convert to: a vector's, or the usual one of scalars.
    fn joint_type(
        &mut self,
        call: &LibraryCall<'a>,
        args: &[Operand<'a>],
        float_only: bool,
    ) -> Option<Ty> {
        let mut vector: Option<(Scalar, u8)> = None;
        let mut scalar: Option<Scalar> = None;
        for arg in args {
            match self.number_shape(arg.ty) {
                Some((s, len)) if len > 1 => {
                    if vector.is_some_and(|known| known != (s, len)) {
                        self.no_version(call, args);
                        return None;
                    }
                    vector = Some((s, len));
                }
                Some((s, _)) => {
                    scalar = match scalar {
                        None => Some(s),
                        Some(known) if known == s => Some(s),
                        Some(known) => operators::common_scalar(known, s),
                    };
                    if scalar.is_none() {
                        self.no_version(call, args);
                        return None;
                    }
                }
                None => {
                    self.no_version(call, args);
                    return None;
                }
            }
        }
        let (found, len) = match (vector, scalar) {
            (Some(shape), _) => shape,
            (None, Some(s)) => (s, 1),
            (None, None) => return None,
        };
        let found = match found {
            s if s.is_float() => s,
            _ if float_only && len == 1 => Scalar::F32,
            _ if float_only => {
                self.no_version(call, args);
                return None;
            }
            Scalar::Bool => Scalar::I32,
            s => s,
        };
        Some(self.types.vector(found, len))
    }

    fn no_version(&mut self, call: &LibraryCall<'a>, args: &[Operand<'a>]) {
        let list: Vec<String> = args.iter().map(|arg| self.operand_type_name(arg)).collect();
        let message = format!("no `{}` takes ({})", call.name, list.join(", "));
        self.fail(
            Diagnostic::error(call.name_span, message)
                .with_label("none of its versions fits")
                .with_hint("convert the arguments to one type"),
        );
    }

    fn library_math(
        &mut self,
        call: &LibraryCall<'a>,
        args: Vec<Operand<'a>>,
        float: MathFunction,
        integer: MathFunction,
        float_only: bool,
    ) -> Operand<'a> {
        if !self.count_is(call, &args, float.arity()) {
            return Operand::poison(call.span);
        }
        let Some(ty) = self.joint_type(call, &args, float_only) else {
            return Operand::poison(call.span);
        };
        let is_float = self.types.as_vector(ty).is_some_and(|(s, _)| s.is_float());
        self.emit_math(
            if is_float { float } else { integer },
            args,
            ty,
            ty,
            call.span,
        )
    }

    fn library_integer(
        &mut self,
        call: &LibraryCall<'a>,
        args: Vec<Operand<'a>>,
        f: MathFunction,
    ) -> Operand<'a> {
        if !self.count_is(call, &args, f.arity()) {
            return Operand::poison(call.span);
        }
        let Some(ty) = self.joint_type(call, &args, false) else {
            return Operand::poison(call.span);
        };
        if self.types.as_vector(ty).is_some_and(|(s, _)| s.is_float()) {
            self.no_version(call, &args);
            return Operand::poison(call.span);
        }
        self.emit_math(f, args, ty, ty, call.span)
    }

    fn library_result(
        &mut self,
        call: &LibraryCall<'a>,
        args: Vec<Operand<'a>>,
        f: MathFunction,
        result: Scalar,
    ) -> Operand<'a> {
        if !self.count_is(call, &args, f.arity()) {
            return Operand::poison(call.span);
        }
        let Some(ty) = self.joint_type(call, &args, true) else {
            return Operand::poison(call.span);
        };
        let len = self.types.as_vector(ty).map_or(1, |(_, len)| len);
        let result = self.types.vector(result, len);
        self.emit_math(f, args, ty, result, call.span)
    }

    /// A function of operands that are all converted to one type.
    fn emit_math(
        &mut self,
        f: MathFunction,
        args: Vec<Operand<'a>>,
        ty: Ty,
        result: Ty,
        span: Span,
    ) -> Operand<'a> {
        let mut values = Vec::new();
        for arg in args {
            let arg = self.convert(arg, ty, "the parameter");
            if arg.is_poison() {
                return Operand::poison(span);
            }
            values.push(self.value(&arg));
        }
        self.emit_value(Op::Math(f, values), result, span)
    }

    /// The result of an operation.
    fn emit_value(&mut self, op: Op, ty: Ty, span: Span) -> Operand<'a> {
        let ir_type = self.ir_type(ty);
        Operand::value(ty, self.context.emit(op, ir_type, span), span)
    }

    /// An argument as a value of this type; `None` if that was reported.
    fn argument(&mut self, arg: &Operand<'a>, ty: Ty) -> Option<Handle<Value>> {
        let arg = self.convert(arg.clone(), ty, "the parameter");
        (!arg.is_poison()).then(|| self.value(&arg))
    }

    /// No value.
    fn nothing(span: Span) -> Operand<'a> {
        Operand {
            ty: Ty::VOID,
            span,
            repr: Repr::Constant(Constant::Int(0)),
        }
    }

    /// A method of a library type.
    pub(super) fn library_method(
        &mut self,
        set: &FunctionSet<'a>,
        _args: Vec<Operand<'a>>,
        span: Span,
    ) -> Operand<'a> {
        let message = format!(
            "the method `{}` of a library type is not supported yet",
            set.name
        );
        self.fail(Diagnostic::error(span, message));
        Operand::poison(span)
    }

    /// A class template of the library with its arguments, or a member of it.
    pub(super) fn library_template(
        &mut self,
        name: &'static str,
        args: &'a [TemplateArg],
        member: Option<&'a PathSegment>,
        span: Span,
    ) -> Option<Entity<'a>> {
        if let (None, [TemplateArg::Type(element), TemplateArg::Expr(len)]) = (member, args) {
            let element = self.resolve(element);
            let len = self.constant_int(len, "the length of a vector")?;
            if let (Kind::Scalar(scalar), 2..=4) = (self.types.kind(element.ty), len) {
                let packing = match name {
                    "packed_vec" => crate::ir::Packing::Packed,
                    _ => crate::ir::Packing::Aligned,
                };
                let ty = self.types.intern(Kind::Vector(scalar, len as u8, packing));
                return Some(Entity::Type(Qualified::plain(ty)));
            }
        }
        self.fail(
            Diagnostic::error(span, format!("these arguments do not fit `{name}`"))
                .with_hint("a vector is `vec<T, N>` of a number type and 2 to 4 components"),
        );
        None
    }
}
