//! Making values: constructors of vectors and matrices, aggregates from braces, `T(..)`, `T{..}`.

mod aggregates;
mod vectors;

use std::rc::Rc;

use super::Checker;
use super::constant::Constant;
use super::conversions::Rank;
use super::operand::{Operand, Repr};
use super::types::{Kind, Ty};
use crate::diag::{Diagnostic, Span};
use crate::ir::{Op, Scalar};
use crate::syntax::ast::{CastStyle, Expr, ExprKind, Ident};

/// The most elements that an initialiser may write.
const ELEMENT_LIMIT: u64 = 1 << 20;

/// An item of a braced list, with its designator.
type Item<'a> = (Option<&'a Ident>, &'a Expr);

/// A braced list while it is taken apart: its items and how many are used.
struct Cursor<'a> {
    items: Vec<Item<'a>>,
    next: usize,
    span: Span,
}

impl<'a> Checker<'a> {
    /// The operands of a list of arguments.
    pub(super) fn arguments(&mut self, args: &'a [Expr]) -> Vec<Operand<'a>> {
        let mut operands = Vec::new();
        for arg in args {
            match &arg.kind {
                ExprKind::Expansion(inner) => operands.extend(self.expand(inner)),
                _ => operands.push(self.expression(arg)),
            }
        }
        operands
    }

    /// `T(args)` or `T{args}`.
    pub(super) fn construct(
        &mut self,
        ty: Ty,
        args: Vec<Operand<'a>>,
        braced: bool,
        span: Span,
    ) -> Operand<'a> {
        if ty.is_error() || args.iter().any(Operand::is_poison) {
            return Operand::poison(span);
        }
        let ty = self.types.value_type(ty);
        match (self.types.kind(ty), &args[..]) {
            (Kind::Struct(id), _) => self.construct_struct(id, args, braced, span),
            (Kind::Void, []) => Operand::constant(ty, Constant::Int(0), span),
            (
                _,
                [
                    Operand {
                        repr: Repr::List(items),
                        ..
                    },
                ],
            ) => self.initialise_from_list(items, ty, span),
            (Kind::Array(..), _) if braced && !args.is_empty() => {
                self.fail(Diagnostic::error(
                    span,
                    "an array is made by a braced initialiser",
                ));
                Operand::poison(span)
            }
            (_, []) => match self.zero_constant(ty) {
                Some(zero) => Operand::constant(ty, zero, span),
                None => self.zero_value(ty, span),
            },
            (Kind::Vector(scalar, len, _), _) => {
                self.construct_vector(ty, scalar, len, args, braced, span)
            }
            (Kind::Matrix { .. }, _) => self.construct_matrix(ty, args, span),
            (Kind::SimdgroupMatrix(scalar), [_]) => self.simdgroup_from(scalar, args, span),
            (Kind::SimdVote, [arg]) => {
                let arg = self.convert(arg.clone(), Ty::ULONG, "the vote");
                let arg = self.rvalue(arg);
                Operand { ty, ..arg }
            }
            (Kind::Scalar(_), [arg]) if braced => {
                let arg = arg.clone();
                if !self.check_narrowing(&arg, ty) {
                    return Operand::poison(span);
                }
                self.cast(CastStyle::C, arg, ty, span)
            }
            (_, [arg]) => {
                let mut result = self.cast(CastStyle::C, arg.clone(), ty, span);
                result.span = span;
                result
            }
            _ => {
                let name = self.type_name(ty);
                self.fail(
                    Diagnostic::error(
                        span,
                        format!("a `{name}` is made from one value, not {}", args.len()),
                    )
                    .with_label(format!("{} values", args.len())),
                );
                Operand::poison(span)
            }
        }
    }

    /// Refuses a conversion in braces that loses values, as C++ does.
    pub(super) fn check_narrowing(&mut self, operand: &Operand<'a>, to: Ty) -> bool {
        let shapes = (self.types.kind(operand.ty), self.types.kind(to));
        let (Kind::Scalar(from), Kind::Scalar(to_scalar)) = shapes else {
            return true;
        };
        let holds_constant = operand.as_constant().is_some_and(|value| {
            let there = super::constant::convert(from, to_scalar, value);
            match (&there, value) {
                (Constant::Float(_), Constant::Float(_)) => true,
                (Constant::Bool(_), Constant::Int(v)) => (0..=1).contains(v),
                _ => {
                    !from.is_float()
                        && super::constant::convert(to_scalar, from, &there) == *value
                        && (from.is_signed() == to_scalar.is_signed()
                            || value.as_int().is_none_or(|v| v >= 0))
                }
            }
        });
        let widens = match (from, to_scalar) {
            _ if from == to_scalar => true,
            (Scalar::Bool, _) => !to_scalar.is_float() || holds_constant,
            (_, Scalar::Bool) => false,
            (Scalar::F16 | Scalar::Bf16, Scalar::F32) => true,
            _ if from.is_float() || to_scalar.is_float() => false,
            _ => to_scalar.size() > from.size() && (to_scalar.is_signed() || !from.is_signed()),
        };
        if widens || holds_constant {
            return true;
        }
        let (from, to) = (self.type_name(operand.ty), self.type_name(to));
        self.fail(
            Diagnostic::error(
                operand.span,
                format!("braces do not narrow a `{from}` to `{to}`"),
            )
            .with_label(format!("this `{from}` may not fit"))
            .with_hint(format!("add an explicit cast `{to}(..)`")),
        );
        false
    }

    /// How well a braced list converts to a type.
    pub(super) fn list_rank(&mut self, items: &'a [(Option<Ident>, Expr)], to: Ty) -> Option<Rank> {
        let most = match self.types.kind(to) {
            Kind::Struct(id) => {
                if self.has_constructors(id) {
                    return Some(Rank::User);
                }
                self.structs[id].fields.len()
            }
            Kind::Array(_, len) => len as usize,
            Kind::Vector(_, len, _) => usize::from(len),
            Kind::Matrix { columns, rows, .. } => usize::from(columns) * usize::from(rows),
            Kind::Scalar(_) | Kind::Enum(_) | Kind::Pointer { .. } => 1,
            _ => return None,
        };
        (items.len() <= most.max(1)).then_some(Rank::User)
    }

    /// A value of a type from a braced list.
    pub(super) fn initialise_from_list(
        &mut self,
        items: &'a [(Option<Ident>, Expr)],
        ty: Ty,
        span: Span,
    ) -> Operand<'a> {
        self.deeper(span, |checker| checker.list_inner(items, ty, span))
            .unwrap_or_else(|| Operand::poison(span))
    }

    fn list_inner(
        &mut self,
        items: &'a [(Option<Ident>, Expr)],
        ty: Ty,
        span: Span,
    ) -> Operand<'a> {
        let kind = self.types.kind(ty);
        if items.is_empty() && !matches!(kind, Kind::Struct(_)) {
            return self.construct(ty, Vec::new(), true, span);
        }
        match kind {
            Kind::Struct(id) if self.has_constructors(id) || items.is_empty() => {
                let args = items
                    .iter()
                    .map(|(_, expr)| self.expression(expr))
                    .collect();
                self.construct_struct(id, args, true, span)
            }
            Kind::Struct(_) | Kind::Array(..)
                if items
                    .iter()
                    .any(|(_, item)| matches!(item.kind, ExprKind::Expansion(_))) =>
            {
                let mut args = Vec::new();
                for (_, item) in items {
                    match &item.kind {
                        ExprKind::Expansion(inner) => args.extend(self.expand(inner)),
                        _ => args.push(self.expression(item)),
                    }
                }
                self.aggregate_of_operands(ty, args, span)
            }
            Kind::Struct(_) if items.len() == 1 && items[0].0.is_none() => {
                // `T x = {y}` copies when y is a T.
                let is_list = matches!(items[0].1.kind, ExprKind::InitList(_));
                if !is_list {
                    let (first, block) = self.in_block(|checker| checker.expression(&items[0].1));
                    if first.ty == ty || first.is_poison() {
                        self.append(block);
                        return first;
                    }
                }
                self.aggregate_from(listed(items), ty, span)
            }
            Kind::Struct(_) | Kind::Array(..) => self.aggregate_from(listed(items), ty, span),
            Kind::Vector(..) | Kind::Matrix { .. } => {
                let args: Vec<_> = items
                    .iter()
                    .map(|(_, expr)| self.expression(expr))
                    .collect();
                if let ([arg], Kind::Vector(..)) = (&args[..], kind)
                    && arg.ty == ty
                {
                    return arg.clone();
                }
                let args = args
                    .into_iter()
                    .map(|arg| match arg.repr {
                        Repr::List(inner) => match kind {
                            Kind::Matrix { scalar, rows, .. } => {
                                let column = self.types.vector(scalar, rows);
                                self.initialise_from_list(inner, column, arg.span)
                            }
                            _ => arg,
                        },
                        _ => arg,
                    })
                    .collect();
                self.construct(ty, args, true, span)
            }
            _ => match items {
                [(None, expr)] => {
                    let value = self.expression(expr);
                    if let Repr::List(inner) = value.repr {
                        return self.initialise_from_list(inner, ty, span);
                    }
                    if value.is_poison() || !self.check_narrowing(&value, ty) {
                        return Operand::poison(span);
                    }
                    self.convert(value, ty, "a variable")
                }
                _ => {
                    let name = self.type_name(ty);
                    self.fail(Diagnostic::error(
                        span,
                        format!("a `{name}` takes one value in braces, not {}", items.len()),
                    ));
                    Operand::poison(span)
                }
            },
        }
    }

    /// What an element or field is when nothing is given for it.
    pub(super) fn default_value(&mut self, ty: Ty, span: Span) -> Operand<'a> {
        if let Kind::Struct(id) = self.types.kind(ty)
            && (self.has_constructors(id)
                || self.structs[id].fields.iter().any(|f| f.default.is_some()))
        {
            return self.construct_struct(id, Vec::new(), true, span);
        }
        match self.zero_constant(ty) {
            Some(zero) => Operand::constant(ty, zero, span),
            None => self.zero_value(ty, span),
        }
    }

    /// All bytes zero, as an IR value.
    pub(super) fn zero_value(&mut self, ty: Ty, span: Span) -> Operand<'a> {
        let ir_type = self.ir_type(ty);
        Operand::value(ty, self.context.emit(Op::Zero, ir_type, span), span)
    }

    /// All bytes zero, as a constant, for types of a reasonable size.
    pub(super) fn zero_constant(&mut self, ty: Ty) -> Option<Constant> {
        let parts = |parts: Vec<Constant>| Constant::Composite(Rc::from(parts));
        Some(match self.types.kind(ty) {
            Kind::Scalar(scalar) => Constant::zero(scalar),
            Kind::Vector(scalar, len, _) => parts(vec![Constant::zero(scalar); usize::from(len)]),
            Kind::Matrix {
                scalar,
                columns,
                rows,
            } => parts(vec![
                parts(vec![Constant::zero(scalar); usize::from(rows)]);
                usize::from(columns)
            ]),
            Kind::Array(element, len) if u64::from(len) <= ELEMENT_LIMIT => {
                parts(vec![self.zero_constant(element)?; len as usize])
            }
            Kind::Struct(id) if !self.structs[id].is_union => {
                let types: Vec<_> = self.structs[id].fields.iter().map(|f| f.ty).collect();
                let made: Option<Vec<_>> =
                    types.into_iter().map(|ty| self.zero_constant(ty)).collect();
                parts(made?)
            }
            Kind::Enum(id) => Constant::zero(self.enums[id].underlying),
            Kind::Pointer { .. }
            | Kind::Nullptr
            | Kind::MemFlags
            | Kind::MemoryOrder
            | Kind::SimdVote => Constant::Int(0),
            _ => return None,
        })
    }
}

/// The items of a list.
fn listed<'a>(items: &'a [(Option<Ident>, Expr)]) -> Vec<Item<'a>> {
    items
        .iter()
        .map(|(designator, expr)| (designator.as_ref(), expr))
        .collect()
}
