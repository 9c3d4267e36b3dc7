//! The library's templates: `vec`, `numeric_limits`, and the type traits.

use crate::diag::{Diagnostic, Span};
use crate::ir::{Packing, Scalar};
use crate::sema::Checker;
use crate::sema::constant::Constant;
use crate::sema::scope::{Entity, FunctionSet, METAL};
use crate::sema::templates::Argument;
use crate::sema::types::{Kind, Qualified, Ty};
use crate::syntax::ast::{PathSegment, TemplateArg};

const NAMES: &[&str] = &[
    "vec",
    "packed_vec",
    "matrix",
    "atomic",
    "_atomic",
    "simdgroup_matrix",
    "numeric_limits",
    "is_same",
    "is_same_v",
    "is_integral",
    "is_integral_v",
    "is_floating_point",
    "is_floating_point_v",
    "is_arithmetic",
    "is_arithmetic_v",
    "is_scalar",
    "is_scalar_v",
    "is_signed",
    "is_signed_v",
    "is_unsigned",
    "is_unsigned_v",
    "is_pointer",
    "is_pointer_v",
    "is_reference",
    "is_reference_v",
    "is_const",
    "is_const_v",
    "is_void",
    "is_void_v",
    "is_enum",
    "is_enum_v",
    "is_class",
    "is_class_v",
    "is_array",
    "is_array_v",
    "is_vector",
    "is_vector_v",
    "is_convertible",
    "is_convertible_v",
    "is_empty",
    "is_empty_v",
    "enable_if",
    "enable_if_t",
    "conditional",
    "conditional_t",
    "remove_const",
    "remove_const_t",
    "remove_cv",
    "remove_cv_t",
    "remove_volatile_t",
    "remove_reference",
    "remove_reference_t",
    "remove_cvref_t",
    "remove_addrspace",
    "remove_addrspace_t",
    "remove_pointer",
    "remove_pointer_t",
    "add_const_t",
    "decay",
    "decay_t",
    "make_unsigned",
    "make_unsigned_t",
    "make_signed",
    "make_signed_t",
    "make_scalar",
    "make_scalar_t",
    "extent_v",
    "rank_v",
];

/// The library's template of a name.
pub(in crate::sema) fn find(name: &str) -> Option<&'static str> {
    NAMES.iter().find(|known| **known == name).copied()
}

impl<'a> Checker<'a> {
    /// `name<args>` or `name<args>::member` of the library's templates.
    pub(in crate::sema) fn library_template(
        &mut self,
        name: &'static str,
        args: &'a [TemplateArg],
        member: Option<&'a PathSegment>,
        span: Span,
    ) -> Option<Entity<'a>> {
        match name {
            "vec" | "packed_vec" | "matrix" | "atomic" | "_atomic" | "simdgroup_matrix" => {
                let ty = self.library_instance(name, args, span)?;
                let entity = Entity::Type(Qualified::plain(ty));
                match member {
                    None => Some(entity),
                    Some(next) => {
                        self.fail(Diagnostic::error(
                            next.ident.span,
                            format!(
                                "`{}` has no member `{}`",
                                self.type_name(ty),
                                next.ident.name
                            ),
                        ));
                        None
                    }
                }
            }
            "numeric_limits" => self.numeric_limits(args, member, span),
            "enable_if" | "enable_if_t" => self.enable_if(name, args, member, span),
            "conditional" | "conditional_t" => {
                let [condition, accept, reject] = args else {
                    return self.wrong_arguments(name, "a condition and two types", span);
                };
                let Argument::Value(_, truth) = self.value_argument(condition, Some(Ty::BOOL))?
                else {
                    return None;
                };
                let ty = self.type_argument(if truth != 0 { accept } else { reject })?;
                self.type_trait(name, ty, member, span)
            }
            _ => self.trait_of_types(name, args, member, span),
        }
    }

    fn wrong_arguments(&mut self, name: &str, wanted: &str, span: Span) -> Option<Entity<'a>> {
        self.fail(Diagnostic::error(span, format!("`{name}` takes {wanted}")));
        None
    }

    fn library_instance(&mut self, name: &str, args: &'a [TemplateArg], span: Span) -> Option<Ty> {
        let Some((element, sizes)) = args.split_first() else {
            self.wrong_arguments(name, "an element type first", span);
            return None;
        };
        let element = self.type_argument(element)?.ty;
        let scalar = match self.types.kind(element) {
            Kind::Scalar(scalar) => Some(scalar),
            _ => None,
        };
        let mut lengths = Vec::new();
        for size in sizes {
            match self.value_argument(size, Some(Ty::INT))? {
                Argument::Value(_, value) => lengths.push(value),
                _ => return None,
            }
        }
        let made = match (name, scalar, &lengths[..]) {
            ("vec", Some(scalar), [1]) => Some(Kind::Scalar(scalar)),
            ("vec", Some(scalar), [len @ 2..=4]) => {
                Some(Kind::Vector(scalar, *len as u8, Packing::Aligned))
            }
            ("packed_vec", Some(scalar), [len @ 2..=4]) => {
                Some(Kind::Vector(scalar, *len as u8, Packing::Packed))
            }
            (
                "matrix",
                Some(scalar @ (Scalar::F16 | Scalar::Bf16 | Scalar::F32)),
                [columns @ 2..=4, rows @ 2..=4],
            ) => Some(Kind::Matrix {
                scalar,
                columns: *columns as u8,
                rows: *rows as u8,
            }),
            (
                "atomic" | "_atomic",
                Some(
                    scalar @ (Scalar::I32 | Scalar::U32 | Scalar::Bool | Scalar::U64 | Scalar::F32),
                ),
                [],
            ) => Some(Kind::Atomic(scalar)),
            ("simdgroup_matrix", Some(scalar), [8, 8] | [8] | []) => {
                Some(Kind::SimdgroupMatrix(scalar))
            }
            _ => None,
        };
        if made.is_none() {
            let element = self.type_name(element);
            let list: Vec<String> = std::iter::once(element)
                .chain(lengths.iter().map(ToString::to_string))
                .collect();
            self.fail(Diagnostic::error(
                span,
                format!("there is no `{name}<{}>`", list.join(", ")),
            ));
        }
        made.map(|kind| self.types.intern(kind))
    }

    fn enable_if(
        &mut self,
        name: &'static str,
        args: &'a [TemplateArg],
        member: Option<&'a PathSegment>,
        span: Span,
    ) -> Option<Entity<'a>> {
        let Some((condition, rest)) = args.split_first() else {
            return self.wrong_arguments(name, "a condition", span);
        };
        let Argument::Value(_, truth) = self.value_argument(condition, Some(Ty::BOOL))? else {
            return None;
        };
        if truth == 0 {
            self.fail(Diagnostic::error(
                span,
                "the condition of `enable_if` does not hold",
            ));
            return None;
        }
        let ty = match rest.first() {
            Some(ty) => self.type_argument(ty)?,
            None => Qualified::plain(Ty::VOID),
        };
        self.type_trait(name, ty, member, span)
    }

    /// The result of a trait that gives a type: itself for `_t`, else its member `type`.
    fn type_trait(
        &mut self,
        name: &str,
        ty: Qualified,
        member: Option<&'a PathSegment>,
        span: Span,
    ) -> Option<Entity<'a>> {
        match (name.ends_with("_t"), member) {
            (true, None) => Some(Entity::Type(ty)),
            (false, Some(next)) if &*next.ident.name == "type" => Some(Entity::Type(ty)),
            (true, Some(next)) => self.type_member(ty.ty, next, next),
            _ => {
                self.fail(
                    Diagnostic::error(span, format!("`{name}` is used by its member `type`"))
                        .with_hint(format!(
                            "write `typename {name}<..>::type` or `{name}_t<..>`"
                        )),
                );
                None
            }
        }
    }

    /// The result of a trait that gives a value.
    fn value_trait(
        &mut self,
        ty: Ty,
        value: Constant,
        member: Option<&'a PathSegment>,
        _span: Span,
    ) -> Option<Entity<'a>> {
        match member {
            None => Some(Entity::Known(ty, value)),
            Some(next) if &*next.ident.name == "value" => Some(Entity::Known(ty, value)),
            Some(next) if &*next.ident.name == "value_type" => {
                Some(Entity::Type(Qualified::plain(ty)))
            }
            Some(next) => {
                self.fail(Diagnostic::error(
                    next.ident.span,
                    format!("a trait has `value`, but no `{}`", next.ident.name),
                ));
                None
            }
        }
    }

    fn trait_of_types(
        &mut self,
        name: &'static str,
        args: &'a [TemplateArg],
        member: Option<&'a PathSegment>,
        span: Span,
    ) -> Option<Entity<'a>> {
        let mut types = Vec::new();
        for arg in args {
            types.push(self.type_argument(arg)?);
        }
        let stem = name.trim_end_matches("_t").trim_end_matches("_v");
        if let (Some(truth), true) = (self.truth_of(stem, &types), name.starts_with("is_")) {
            return self.value_trait(Ty::BOOL, Constant::Bool(truth), member, span);
        }
        let Some((&first, _)) = types.split_first() else {
            return self.wrong_arguments(name, "a type", span);
        };
        let scalar_with = |checker: &mut Self, change: fn(Scalar) -> Scalar| {
            let shape = checker.types.as_vector(first.ty)?;
            Some(Qualified {
                ty: checker.types.vector(change(shape.0), shape.1),
                ..first
            })
        };
        let made = match stem {
            "remove_const" => Some(Qualified {
                is_const: false,
                ..first
            }),
            "remove_volatile" => Some(first),
            "remove_cv" => Some(Qualified {
                is_const: false,
                ..first
            }),
            "remove_addrspace" => Some(Qualified {
                space: None,
                ..first
            }),
            "remove_reference" => Some(Qualified {
                is_reference: false,
                space: None,
                ..first
            }),
            "remove_cvref" | "decay" => Some(Qualified::plain(first.ty)),
            "add_const" => Some(Qualified {
                is_const: true,
                ..first
            }),
            "remove_pointer" => match self.types.kind(first.ty) {
                Kind::Pointer {
                    space,
                    pointee,
                    is_const,
                } => Some(Qualified {
                    ty: pointee,
                    is_const,
                    space: Some(space),
                    is_reference: false,
                }),
                _ => Some(first),
            },
            "make_unsigned" => scalar_with(self, super::unsigned),
            "make_signed" => scalar_with(self, signed),
            "make_scalar" => self
                .types
                .as_vector(first.ty)
                .map(|(scalar, _)| Qualified::plain(Ty::scalar(scalar))),
            _ => None,
        };
        match made {
            Some(ty) => self.type_trait(name, ty, member, span),
            None => {
                let given = self.type_name(first.ty);
                self.fail(Diagnostic::error(
                    span,
                    format!("`{name}` does not apply to `{given}`"),
                ));
                None
            }
        }
    }

    /// The answer of a trait of the `is_` kind.
    fn truth_of(&mut self, stem: &str, types: &[Qualified]) -> Option<bool> {
        let (first, rest) = types.split_first()?;
        let kind = self.types.kind(first.ty);
        let is_value = !first.is_reference;
        let scalar = match kind {
            Kind::Scalar(scalar) if is_value => Some(scalar),
            _ => None,
        };
        Some(match stem {
            "is_same" => {
                let other = rest.first()?;
                first.ty == other.ty
                    && first.is_const == other.is_const
                    && first.is_reference == other.is_reference
                    && first.space == other.space
            }
            "is_convertible" => {
                let other = rest.first()?;
                let operand = crate::sema::operand::Operand {
                    ty: first.ty,
                    span: Span::default(),
                    repr: crate::sema::operand::Repr::Constant(Constant::Bool(true)),
                };
                let to = other.ty;
                self.implicit_rank(&operand, to).is_some()
            }
            "is_integral" => scalar.is_some_and(|s| !s.is_float()),
            "is_floating_point" => scalar.is_some_and(Scalar::is_float),
            "is_arithmetic" => scalar.is_some(),
            "is_scalar" => {
                is_value
                    && matches!(
                        kind,
                        Kind::Scalar(_) | Kind::Enum(_) | Kind::Pointer { .. } | Kind::Nullptr
                    )
            }
            "is_signed" => scalar.is_some_and(Scalar::is_signed),
            "is_unsigned" => scalar.is_some_and(|s| !s.is_signed()),
            "is_pointer" => is_value && matches!(kind, Kind::Pointer { .. }),
            "is_reference" => first.is_reference,
            "is_const" => first.is_const,
            "is_void" => first.ty == Ty::VOID,
            "is_enum" => matches!(kind, Kind::Enum(_)),
            "is_class" => matches!(kind, Kind::Struct(_)),
            "is_array" => matches!(kind, Kind::Array(..) | Kind::UnsizedArray(_)),
            "is_vector" => matches!(kind, Kind::Vector(..)),
            "is_empty" => match kind {
                Kind::Struct(id) => self.structs[id].fields.is_empty(),
                _ => false,
            },
            _ => return None,
        })
    }

    /// `numeric_limits<T>::member`.
    fn numeric_limits(
        &mut self,
        args: &'a [TemplateArg],
        member: Option<&'a PathSegment>,
        span: Span,
    ) -> Option<Entity<'a>> {
        let ([arg], Some(next)) = (args, member) else {
            return self.wrong_arguments(
                "numeric_limits",
                "one type, and is used by a member such as `::max()`",
                span,
            );
        };
        let ty = self.type_argument(arg)?.ty;
        if let (Kind::Struct(_), Some(Entity::Template(limits))) = (
            self.types.kind(ty),
            self.find_in_namespace(METAL, &Self::name_of("_numeric_limits_impl"), usize::MAX),
        ) && let Entity::Type(limits) = self.instantiate_named(limits, args, span)?
        {
            return self.type_member(limits.ty, next, next);
        }
        let Some(scalar) = self.types.as_scalar(ty) else {
            let given = self.type_name(ty);
            self.fail(Diagnostic::error(
                span,
                format!("there are no `numeric_limits` of `{given}`"),
            ));
            return None;
        };
        let name = &*next.ident.name;
        let truth = |value: bool| Some(Entity::Known(Ty::BOOL, Constant::Bool(value)));
        match name {
            "is_signed" => return truth(scalar.is_signed()),
            "is_integer" => return truth(!scalar.is_float()),
            "is_exact" => return truth(!scalar.is_float()),
            "is_specialized" => return truth(true),
            "has_infinity" | "has_quiet_NaN" => return truth(scalar.is_float()),
            "digits" => {
                let digits = match scalar {
                    Scalar::F32 => 24,
                    Scalar::F16 => 11,
                    Scalar::Bf16 => 8,
                    Scalar::Bool => 1,
                    _ => scalar.bits() - u32::from(scalar.is_signed()),
                };
                return Some(Entity::Known(Ty::INT, Constant::Int(i64::from(digits))));
            }
            _ => {}
        }
        let Some(value) = limit(scalar, name) else {
            self.fail(
                Diagnostic::error(next.ident.span, format!("`numeric_limits<{}>` has no `{name}`", scalar.name()))
                    .with_hint("it has `max()`, `min()`, `lowest()`, `infinity()`, `quiet_NaN()` and `epsilon()`"),
            );
            return None;
        };
        Some(Entity::Functions(FunctionSet {
            name: next.ident.name.clone(),
            users: Vec::new(),
            library: false,
            explicit: None,
            object: Some(Box::new(crate::sema::operand::Operand::constant(
                ty, value, span,
            ))),
        }))
    }
}

fn signed(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::U8 => Scalar::I8,
        Scalar::U16 => Scalar::I16,
        Scalar::U32 => Scalar::I32,
        Scalar::U64 => Scalar::I64,
        scalar => scalar,
    }
}

/// The value of a function of `numeric_limits`.
fn limit(scalar: Scalar, name: &str) -> Option<Constant> {
    if scalar.is_float() {
        let (max, min, epsilon, smallest) = match scalar {
            Scalar::F16 => (65504.0, 6.103_515_6e-5, 9.765_625e-4, 5.960_464_5e-8),
            Scalar::Bf16 => (
                f32::from_bits(0x7f7f_0000),
                f32::MIN_POSITIVE,
                0.007_812_5,
                f32::from_bits(0x0001_0000),
            ),
            _ => (f32::MAX, f32::MIN_POSITIVE, f32::EPSILON, f32::from_bits(1)),
        };
        let value = match name {
            "max" => max,
            "min" => min,
            "lowest" => -max,
            "epsilon" => epsilon,
            "infinity" => f32::INFINITY,
            "quiet_NaN" | "signaling_NaN" => f32::NAN,
            "denorm_min" => smallest,
            "round_error" => 0.5,
            _ => return None,
        };
        return Some(Constant::Float(value));
    }
    if scalar == Scalar::Bool {
        return match name {
            "max" => Some(Constant::Bool(true)),
            "min" | "lowest" => Some(Constant::Bool(false)),
            _ => None,
        };
    }
    let bits = scalar.bits();
    let (min, max) = match (scalar, scalar.is_signed()) {
        (Scalar::U64, _) => (0, -1),
        (Scalar::I64, _) => (i64::MIN, i64::MAX),
        (_, true) => (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1),
        (_, false) => (0, (1i64 << bits) - 1),
    };
    match name {
        "max" => Some(Constant::Int(max)),
        "min" | "lowest" => Some(Constant::Int(min)),
        "epsilon" | "infinity" | "quiet_NaN" => Some(Constant::Int(0)),
        _ => None,
    }
}
