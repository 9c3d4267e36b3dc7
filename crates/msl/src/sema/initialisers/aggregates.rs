//! Arrays and structs from braces.

use super::{Cursor, ELEMENT_LIMIT, Item};
use crate::diag::{Diagnostic, Span};
use crate::sema::Checker;
use crate::sema::operand::Operand;
use crate::sema::types::{Kind, StructId, Ty};
use crate::syntax::ast::{Expr, ExprKind};

impl<'a> Checker<'a> {
    pub(super) fn aggregate_from(
        &mut self,
        items: Vec<Item<'a>>,
        ty: Ty,
        span: Span,
    ) -> Operand<'a> {
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
    pub(super) fn aggregate(&mut self, cursor: &mut Cursor<'a>, ty: Ty) -> Operand<'a> {
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
    pub(super) fn designated_array(
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
    pub(super) fn aggregate_of_operands(
        &mut self,
        ty: Ty,
        args: Vec<Operand<'a>>,
        span: Span,
    ) -> Operand<'a> {
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
    pub(in crate::sema) fn braced_aggregate(
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

    pub(super) fn aggregate_struct(
        &mut self,
        cursor: &mut Cursor<'a>,
        id: StructId,
        ty: Ty,
    ) -> Operand<'a> {
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

    pub(super) fn aggregate_union(
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
    pub(super) fn aggregate_part(
        &mut self,
        cursor: &mut Cursor<'a>,
        ty: Ty,
        what: &str,
    ) -> Operand<'a> {
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
}
