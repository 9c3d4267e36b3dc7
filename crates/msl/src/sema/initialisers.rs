//! Making values: constructors of vectors and matrices, aggregates from braces, `T(..)`, `T{..}`.

use std::rc::Rc;

use super::Checker;
use super::constant::Constant;
use super::conversions::Rank;
use super::operand::{Operand, Repr};
use super::types::{Kind, StructId, Ty};
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

    fn construct_vector(
        &mut self,
        ty: Ty,
        scalar: Scalar,
        len: u8,
        args: Vec<Operand<'a>>,
        braced: bool,
        span: Span,
    ) -> Operand<'a> {
        if let [arg] = &args[..] {
            let shape = self.types.as_vector(arg.ty);
            if matches!(shape, Some((_, from)) if from == 1 || from == len)
                || matches!(self.types.kind(arg.ty), Kind::Struct(_) | Kind::Enum(_))
            {
                return self.cast(CastStyle::C, arg.clone(), ty, span);
            }
        }
        let mut parts = Vec::new();
        for arg in args {
            if braced && !self.check_narrowing(&arg, Ty::scalar(scalar)) {
                return Operand::poison(span);
            }
            match self.types.as_vector(arg.ty) {
                Some((_, 1)) => {
                    let arg = self.rvalue(arg);
                    parts.push(self.convert_number(arg, Ty::scalar(scalar)));
                }
                // A vector of another element type must be converted by its own constructor.
                Some((from, _)) if from == scalar => parts.extend(self.parts(arg)),
                Some((_, count)) => {
                    let from = self.type_name(arg.ty);
                    let wanted = self.types.vector(scalar, count);
                    let wanted = self.type_name(wanted);
                    let whole = self.type_name(ty);
                    self.fail(
                        Diagnostic::error(
                            arg.span,
                            format!("a `{whole}` cannot take a part of type `{from}`"),
                        )
                        .with_label("another element type")
                        .with_hint(format!("convert it first: `{wanted}(..)`")),
                    );
                    return Operand::poison(span);
                }
                None => {
                    if self.implicit_rank(&arg, Ty::scalar(scalar)).is_some() {
                        parts.push(self.apply_conversion(arg, Ty::scalar(scalar)));
                        continue;
                    }
                    let (name, whole) = (self.operand_type_name(&arg), self.type_name(ty));
                    self.fail(Diagnostic::error(
                        arg.span,
                        format!("a `{whole}` cannot be made from a `{name}`"),
                    ));
                    return Operand::poison(span);
                }
            }
        }
        let fills = braced && parts.len() < usize::from(len);
        if parts.len() != usize::from(len) && !fills {
            let name = self.type_name(ty);
            let count = parts.len();
            self.fail(
                Diagnostic::error(
                    span,
                    format!("a `{name}` has {len} components, and {count} are given"),
                )
                .with_label(if count > usize::from(len) {
                    "too many"
                } else {
                    "too few"
                }),
            );
            return Operand::poison(span);
        }
        while parts.len() < usize::from(len) {
            parts.push(Operand::constant(
                Ty::scalar(scalar),
                Constant::zero(scalar),
                span,
            ));
        }
        self.compose(ty, parts, span)
    }

    fn construct_matrix(&mut self, ty: Ty, args: Vec<Operand<'a>>, span: Span) -> Operand<'a> {
        let Kind::Matrix {
            scalar,
            columns,
            rows,
        } = self.types.kind(ty)
        else {
            return Operand::poison(span);
        };
        let column_type = self.types.vector(scalar, rows);
        if let [arg] = &args[..] {
            if self.number_shape(arg.ty).is_some_and(|(_, len)| len == 1) {
                let value = self.rvalue(arg.clone());
                let diagonal = self.convert_number(value, Ty::scalar(scalar));
                let zero = Operand::constant(Ty::scalar(scalar), Constant::zero(scalar), span);
                let made = (0..columns)
                    .map(|column| {
                        let parts = (0..rows)
                            .map(|row| {
                                if row == column {
                                    diagonal.clone()
                                } else {
                                    zero.clone()
                                }
                            })
                            .collect();
                        self.compose(column_type, parts, span)
                    })
                    .collect();
                return self.compose(ty, made, span);
            }
            if let Kind::Matrix { .. } = self.types.kind(arg.ty) {
                return self.cast(CastStyle::C, arg.clone(), ty, span);
            }
        }
        let count = args.len();
        if count == usize::from(columns)
            && count > 0
            && args.iter().all(|arg| self.types.value_is_vector(arg.ty))
        {
            let made = args
                .into_iter()
                .map(|arg| {
                    let arg = self.convert(arg, column_type, "a column");
                    self.rvalue(arg)
                })
                .collect();
            return self.compose(ty, made, span);
        }
        if count == usize::from(columns) * usize::from(rows) {
            let mut scalars = args
                .into_iter()
                .map(|arg| {
                    let arg = self.convert(arg, Ty::scalar(scalar), "an element");
                    self.rvalue(arg)
                })
                .collect::<Vec<_>>()
                .into_iter();
            let made = (0..columns)
                .map(|_| {
                    let parts = scalars.by_ref().take(usize::from(rows)).collect();
                    self.compose(column_type, parts, span)
                })
                .collect();
            return self.compose(ty, made, span);
        }
        let name = self.type_name(ty);
        let column = self.type_name(column_type);
        self.fail(
            Diagnostic::error(
                span,
                format!("a `{name}` cannot be made from these {count} values"),
            )
            .with_hint(format!(
                "give {columns} columns (`{column}`), {} scalars, or one scalar for the diagonal",
                columns * rows
            )),
        );
        Operand::poison(span)
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

    fn aggregate_from(&mut self, items: Vec<Item<'a>>, ty: Ty, span: Span) -> Operand<'a> {
        let mut cursor = Cursor {
            items,
            next: 0,
            span,
        };
        let value = self.aggregate(&mut cursor, ty);
        if let (Some((_, extra)), false) = (cursor.items.get(cursor.next), value.is_poison()) {
            let name = self.type_name(ty);
            self.fail(
                Diagnostic::error(extra.span, format!("too many values for a `{name}`"))
                    .with_label("the first that has no place"),
            );
            return Operand::poison(span);
        }
        value
    }

    /// An aggregate from the items at the cursor; nested braces may be left out.
    fn aggregate(&mut self, cursor: &mut Cursor<'a>, ty: Ty) -> Operand<'a> {
        let span = cursor.span;
        match self.types.kind(ty) {
            Kind::Array(element, len) => {
                let given = (cursor.items.len() - cursor.next.min(cursor.items.len())) as u64;
                if u64::from(len) > ELEMENT_LIMIT {
                    self.fail(Diagnostic::error(
                        span,
                        format!(
                            "an initialiser for {len} elements is too large; {given} are given"
                        ),
                    ));
                    return Operand::poison(span);
                }
                let designated = cursor
                    .items
                    .iter()
                    .any(|(_, item)| matches!(item.kind, ExprKind::ArrayDesignator { .. }));
                if designated {
                    return self.designated_array(cursor, ty, element, len);
                }
                let mut parts = Vec::new();
                for _ in 0..len {
                    if cursor.next >= cursor.items.len() {
                        break;
                    }
                    parts.push(self.aggregate_part(cursor, element, "an element"));
                }
                if parts.len() < len as usize {
                    let rest = self.default_value(element, span);
                    parts.resize(len as usize, rest);
                }
                self.compose(ty, parts, span)
            }
            Kind::Struct(id) => self.aggregate_struct(cursor, id, ty),
            _ => Operand::poison(span),
        }
    }

    /// An array with elements named by `[index] =`; later ones replace earlier ones.
    fn designated_array(
        &mut self,
        cursor: &mut Cursor<'a>,
        ty: Ty,
        element: Ty,
        len: u32,
    ) -> Operand<'a> {
        let span = cursor.span;
        let rest = self.default_value(element, span);
        let mut parts = vec![rest; len as usize];
        let mut next = 0i64;
        while let Some(&(_, item)) = cursor.items.get(cursor.next) {
            let (first, last, expr) = match &item.kind {
                ExprKind::ArrayDesignator { first, last, value } => {
                    let Some(first) = self.constant_int(first, "an index") else {
                        return Operand::poison(span);
                    };
                    let last = match last {
                        Some(last) => self.constant_int(last, "an index"),
                        None => Some(first),
                    };
                    let Some(last) = last else {
                        return Operand::poison(span);
                    };
                    (first, last, &**value)
                }
                _ => (next, next, item),
            };
            if first < 0 || last < first || last >= i64::from(len) {
                let name = self.type_name(ty);
                self.fail(
                    Diagnostic::error(item.span, format!("there is no such element in `{name}`"))
                        .with_label(format!("it has {len}, counted from 0")),
                );
                return Operand::poison(span);
            }
            let mut inner = Cursor {
                items: vec![(None, expr)],
                next: 0,
                span: expr.span,
            };
            let value = self.aggregate_part(&mut inner, element, "an element");
            for index in first..=last {
                parts[index as usize] = value.clone();
            }
            cursor.next += 1;
            next = last + 1;
        }
        self.compose(ty, parts, span)
    }

    /// An aggregate whose parts are already operands, as a pack gives them.
    fn aggregate_of_operands(&mut self, ty: Ty, args: Vec<Operand<'a>>, span: Span) -> Operand<'a> {
        let count = args.len();
        let most = match self.types.kind(ty) {
            Kind::Array(_, len) => len as usize,
            Kind::Struct(id) => self.structs[id].fields.len(),
            _ => 0,
        };
        if count > most {
            let name = self.type_name(ty);
            self.fail(Diagnostic::error(
                span,
                format!("{count} values are too many for a `{name}`"),
            ));
            return Operand::poison(span);
        }
        let types = self.part_types(ty, most);
        let mut args = args.into_iter();
        let parts = types
            .into_iter()
            .map(|part| match args.next() {
                Some(arg) => {
                    let arg = self.convert(arg, part, "an element");
                    self.rvalue(arg)
                }
                None => self.default_value(part, span),
            })
            .collect();
        self.compose(ty, parts, span)
    }

    /// `T{..}` of an aggregate; `None` for types that are not.
    pub(super) fn braced_aggregate(
        &mut self,
        ty: Ty,
        args: &'a [Expr],
        span: Span,
    ) -> Option<Operand<'a>> {
        let is_aggregate = match self.types.kind(ty) {
            Kind::Struct(id) => !self.has_constructors(id) && self.structs[id].is_complete,
            Kind::Array(..) => true,
            _ => false,
        };
        let has_pack = args
            .iter()
            .any(|arg| matches!(arg.kind, ExprKind::Expansion(_)));
        if !is_aggregate || args.is_empty() || has_pack {
            return None;
        }
        if let [arg] = args {
            let (value, block) = self.in_block(|checker| checker.expression(arg));
            if value.ty == ty || value.is_poison() {
                self.append(block);
                return Some(Operand {
                    span,
                    ..self.rvalue(value)
                });
            }
        }
        let items = args.iter().map(|arg| (None, arg)).collect();
        Some(self.aggregate_from(items, ty, span))
    }

    fn aggregate_struct(&mut self, cursor: &mut Cursor<'a>, id: StructId, ty: Ty) -> Operand<'a> {
        let span = cursor.span;
        let fields: Vec<_> = self.structs[id]
            .fields
            .iter()
            .map(|f| (f.name.clone(), f.ty, f.default))
            .collect();
        let references: Vec<bool> = self.structs[id]
            .fields
            .iter()
            .map(|f| f.is_reference)
            .collect();
        if self.structs[id].is_union {
            return self.aggregate_union(cursor, &fields, ty);
        }
        let mut parts = Vec::new();
        for (name, field_type, default) in fields {
            let item = cursor.items.get(cursor.next).copied();
            let designated = item.and_then(|(designator, _)| designator);
            let skips = designated.is_some_and(|designator| designator.name != name);
            if let (true, Some(designator)) = (skips, designated) {
                let known = self.structs[id]
                    .fields
                    .iter()
                    .any(|f| f.name == designator.name);
                let is_later = known
                    && self.structs[id]
                        .fields
                        .iter()
                        .skip(parts.len())
                        .any(|f| f.name == designator.name);
                if !is_later {
                    let message = if known {
                        format!("`.{}` is out of the fields' order", designator.name)
                    } else {
                        format!(
                            "struct `{}` has no field `{}`",
                            self.structs[id].name, designator.name
                        )
                    };
                    self.fail(Diagnostic::error(designator.span, message));
                    return Operand::poison(span);
                }
            }
            parts.push(if item.is_none() || skips {
                match default {
                    Some(default) => {
                        let value = self.field_default(id, default);
                        self.convert(value, field_type, "a field")
                    }
                    None => self.default_value(field_type, span),
                }
            } else if let (true, Some((_, expr))) = (references[parts.len()], item) {
                cursor.next += 1;
                let object = self.expression(expr);
                let pointer = self.address_of(object, expr.span);
                self.convert(pointer, field_type, "a field")
            } else {
                self.aggregate_part(cursor, field_type, "a field")
            });
        }
        self.compose(ty, parts, span)
    }

    fn aggregate_union(
        &mut self,
        cursor: &mut Cursor<'a>,
        fields: &[(crate::syntax::ast::Name, Ty, Option<&'a Expr>)],
        ty: Ty,
    ) -> Operand<'a> {
        let span = cursor.span;
        let Some(&(designator, _)) = cursor.items.get(cursor.next) else {
            return self.zero_value(ty, span);
        };
        let chosen = match designator {
            Some(designator) => fields.iter().position(|f| f.0 == designator.name),
            None => Some(0),
        };
        let Some(index) = chosen.filter(|&index| index < fields.len()) else {
            self.fail(Diagnostic::error(span, "the union has no such field"));
            return Operand::poison(span);
        };
        let part = self.aggregate_part(cursor, fields[index].1, "a field");
        let zero = self.zero_value(ty, span);
        let whole = self.in_memory(zero);
        let step = crate::ir::Projection::Field(index as u32);
        let field = self.part(whole.clone(), step, index as u32, fields[index].1, span);
        self.store(&field, &part, span);
        self.rvalue(whole)
    }

    /// One element or field from the cursor.
    fn aggregate_part(&mut self, cursor: &mut Cursor<'a>, ty: Ty, what: &str) -> Operand<'a> {
        let Some(&(_, expr)) = cursor.items.get(cursor.next) else {
            return Operand::poison(cursor.span);
        };
        if let ExprKind::InitList(items) = &expr.kind {
            cursor.next += 1;
            return self.initialise_from_list(items, ty, expr.span);
        }
        let is_aggregate = matches!(self.types.kind(ty), Kind::Array(..) | Kind::Struct(_));
        if is_aggregate {
            let (value, block) = self.in_block(|checker| checker.expression(expr));
            if value.is_poison() || self.implicit_rank(&value, ty).is_some() {
                self.append(block);
                cursor.next += 1;
                let value = self.convert(value, ty, what);
                return self.rvalue(value);
            }
            if let Kind::Struct(id) = self.types.kind(ty)
                && self.has_constructors(id)
            {
                self.append(block);
                cursor.next += 1;
                return self.convert(value, ty, what);
            }
            return self.aggregate(cursor, ty);
        }
        cursor.next += 1;
        let value = self.expression(expr);
        if value.is_poison() || !self.check_narrowing(&value, ty) {
            return Operand::poison(expr.span);
        }
        let value = self.convert(value, ty, what);
        self.rvalue(value)
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
