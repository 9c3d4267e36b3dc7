//! Parts of things: fields, swizzles, elements, methods by name.

use super::Checker;
use super::constant::Constant;
use super::operand::{Lvalue, Operand, Repr};
use super::scope::{Entity, FunctionSet};
use super::types::{Kind, StructId, Ty};
use crate::diag::{Diagnostic, Span};
use crate::ir::{AddressSpace, Op, Projection, Scalar};
use crate::syntax::ast::{Expr, ExprKind, PathSegment};

/// The components that a swizzle names, or what is wrong with it.
fn swizzle_components(name: &str, len: u8) -> Result<Vec<u8>, Option<String>> {
    let index = |set: &str, c: char| set.find(c).map(|i| i as u8);
    if name.is_empty() || name.len() > 4 {
        return Err(None);
    }
    for set in ["xyzw", "rgba"] {
        let components: Option<Vec<u8>> = name.chars().map(|c| index(set, c)).collect();
        let Some(components) = components else {
            continue;
        };
        return match components.iter().position(|&c| c >= len) {
            None => Ok(components),
            Some(at) => Err(Some(format!(
                "there is no component `{}`: the vector has {len}",
                &name[at..=at]
            ))),
        };
    }
    if name.chars().all(|c| "xyzwrgba".contains(c)) {
        return Err(Some(
            "a swizzle is written with `xyzw` or with `rgba`, not with both".to_string(),
        ));
    }
    Err(None)
}

impl<'a> Checker<'a> {
    /// `object.name` and `object->name`.
    pub(super) fn member(
        &mut self,
        object: &'a Expr,
        arrow: bool,
        member: &'a PathSegment,
        span: Span,
    ) -> Operand<'a> {
        let object = if let (ExprKind::This, true, Some(this)) =
            (&object.kind, arrow, self.context.this.clone())
        {
            Operand::place(this.ty, this, object.span)
        } else {
            let operand = self.expression(object);
            if operand.is_poison() {
                return Operand::poison(span);
            }
            match self.through_arrow(operand, arrow, member) {
                Some(object) => object,
                None => return Operand::poison(span),
            }
        };
        self.member_of(object, member, span)
    }

    /// The object that a member is looked up in, with mistakes of `.` and `->` reported.
    fn through_arrow(
        &mut self,
        operand: Operand<'a>,
        arrow: bool,
        member: &PathSegment,
    ) -> Option<Operand<'a>> {
        let is_pointer = matches!(self.types.kind(operand.ty), Kind::Pointer { .. })
            || (arrow && matches!(self.types.kind(operand.ty), Kind::Array(..)));
        if is_pointer == arrow {
            return Some(match arrow {
                true => {
                    let span = operand.span;
                    self.dereference(operand, span)
                }
                false => operand,
            });
        }
        let name = self.operand_type_name(&operand);
        let field = &member.ident.name;
        let error = if arrow {
            Diagnostic::error(
                member.ident.span,
                format!("`->` needs a pointer, and this is a `{name}`"),
            )
            .with_hint(format!("write `.{field}`"))
        } else {
            Diagnostic::error(
                member.ident.span,
                format!("`.` does not reach through a pointer (`{name}`)"),
            )
            .with_hint(format!("write `->{field}`"))
        };
        self.fail(error);
        None
    }

    fn member_of(
        &mut self,
        object: Operand<'a>,
        member: &'a PathSegment,
        span: Span,
    ) -> Operand<'a> {
        if object.is_poison() {
            return Operand::poison(span);
        }
        let name = &member.ident.name;
        match self.types.kind(object.ty) {
            Kind::Struct(id) => {
                let Some(entity) = self.find_own_member(id, name) else {
                    self.report_no_member(id, member);
                    return Operand::poison(span);
                };
                match entity {
                    Entity::Field(owner, index) => self.field(object, owner, index, span),
                    Entity::Functions(set) => {
                        let set = FunctionSet {
                            object: Some(Box::new(object)),
                            explicit: member.args.as_deref(),
                            ..set
                        };
                        self.entity_operand(Entity::Functions(set), span)
                    }
                    entity => self.entity_operand(entity, span),
                }
            }
            Kind::Vector(scalar, len, _) => match swizzle_components(name, len) {
                Ok(components) => self.swizzle(object, scalar, components, span),
                Err(reason) => {
                    let ty = self.type_name(object.ty);
                    let error =
                        Diagnostic::error(member.ident.span, format!("a `{ty}` has no `{name}`"));
                    self.fail(match reason {
                        Some(reason) => error.with_label(reason),
                        None => error.with_label(format!(
                            "its components are `{}`",
                            &"xyzw"[..len as usize]
                        )),
                    });
                    Operand::poison(span)
                }
            },
            Kind::SimdVote => {
                let set = FunctionSet {
                    name: name.clone(),
                    users: Vec::new(),
                    library: true,
                    explicit: None,
                    object: Some(Box::new(object)),
                };
                self.entity_operand(Entity::Functions(set), span)
            }
            Kind::SimdgroupMatrix(_) if &**name == "thread_elements" => {
                let set = FunctionSet {
                    name: name.clone(),
                    users: Vec::new(),
                    library: true,
                    explicit: None,
                    object: Some(Box::new(object)),
                };
                self.entity_operand(Entity::Functions(set), span)
            }
            _ => {
                let ty = self.operand_type_name(&object);
                self.fail(
                    Diagnostic::error(
                        member.ident.span,
                        format!("a `{ty}` has no members, so no `{name}`"),
                    )
                    .with_label("not a struct or vector"),
                );
                Operand::poison(span)
            }
        }
    }

    fn report_no_member(&mut self, id: StructId, member: &PathSegment) {
        let name = &member.ident.name;
        let owner = self.structs[id].name.clone();
        let mut error = Diagnostic::error(
            member.ident.span,
            format!("struct `{owner}` has no member `{name}`"),
        );
        let info = &self.structs[id];
        let mut names: Vec<&str> = info.names.keys().map(|n| &**n).collect();
        names.sort_unstable();
        if let Some(near) = super::suggest::nearest(name, names) {
            error = error.with_hint(format!("did you mean `{near}`?"));
        } else if !info.fields.is_empty() && info.fields.len() <= 8 {
            let fields: Vec<String> = info
                .fields
                .iter()
                .map(|f| format!("`{}`", f.name))
                .collect();
            error = error.with_hint(format!("its fields are {}", fields.join(", ")));
        }
        self.fail(error);
    }

    /// A field of a struct object, or of one of its bases.
    pub(super) fn field(
        &mut self,
        object: Operand<'a>,
        owner: StructId,
        index: u32,
        span: Span,
    ) -> Operand<'a> {
        let object = match self.types.kind(object.ty) {
            Kind::Struct(id) if id != owner => self.base_object(object, owner, span),
            _ => object,
        };
        let Some(field) = self.structs[owner].fields.get(index as usize) else {
            return Operand::poison(span);
        };
        let (ty, is_const, is_reference) = (field.ty, field.is_const, field.is_reference);
        let mut part = self.part(object, Projection::Field(index), index, ty, span);
        if let Repr::Place(lvalue) = &mut part.repr {
            lvalue.is_const |= is_const;
        }
        if is_reference {
            return self.dereference(part, span);
        }
        part
    }

    /// The part of a place, value or constant at a known index.
    pub(super) fn part(
        &mut self,
        object: Operand<'a>,
        step: Projection,
        index: u32,
        ty: Ty,
        span: Span,
    ) -> Operand<'a> {
        match object.repr {
            Repr::Place(lvalue) => {
                let mut lvalue = *lvalue;
                lvalue.known = lvalue
                    .known
                    .as_ref()
                    .and_then(|k| k.part(index as usize).cloned());
                lvalue.place.path.push(step);
                lvalue.place.ty = self.ir_type(ty);
                lvalue.ty = ty;
                Operand::place(ty, lvalue, span)
            }
            Repr::Constant(value) => match value.part(index as usize) {
                Some(part) => Operand::constant(ty, part.clone(), span),
                None => Operand::poison(span),
            },
            Repr::Value(value) => {
                let ty = self.types.value_type(ty);
                let ir_type = self.ir_type(ty);
                let value = self.context.emit(Op::Extract(value, index), ir_type, span);
                Operand::value(ty, value, span)
            }
            _ => Operand::poison(span),
        }
    }

    fn swizzle(
        &mut self,
        object: Operand<'a>,
        scalar: Scalar,
        components: Vec<u8>,
        span: Span,
    ) -> Operand<'a> {
        let ty = self.types.vector(scalar, components.len() as u8);
        if let Repr::Place(lvalue) = &object.repr {
            let mut lvalue = (**lvalue).clone();
            let components: Vec<u8> = match &lvalue.swizzle {
                Some(outer) => components
                    .iter()
                    .filter_map(|&c| outer.get(c as usize).copied())
                    .collect(),
                None => components.clone(),
            };
            lvalue.known = None;
            if let ([component], None) = (&components[..], lvalue.elements) {
                lvalue.swizzle = None;
                lvalue
                    .place
                    .path
                    .push(Projection::Element(u32::from(*component)));
                lvalue.place.ty = self.ir_type(ty);
                lvalue.ty = ty;
            } else {
                lvalue.swizzle = Some(components);
            }
            if let Some(Constant::Composite(_)) = object.as_constant() {
                // Folded below.
            } else {
                return Operand::place(ty, lvalue, span);
            }
        }
        let object = self.rvalue(object);
        if let Some(value) = object.as_constant() {
            let parts: Option<Vec<Constant>> = components
                .iter()
                .map(|&c| value.part(c as usize).cloned())
                .collect();
            return match parts {
                Some(parts) => match &parts[..] {
                    [part] => Operand::constant(ty, part.clone(), span),
                    _ => Operand::constant(ty, Constant::Composite(parts.into()), span),
                },
                None => Operand::poison(span),
            };
        }
        let value = self.value(&object);
        let ir_type = self.ir_type(ty);
        let op = match components[..] {
            [component] => Op::Extract(value, u32::from(component)),
            _ => Op::Swizzle(value, components),
        };
        Operand::value(ty, self.context.emit(op, ir_type, span), span)
    }

    /// `object[index]`.
    pub(super) fn index(&mut self, object: &'a Expr, index: &'a Expr, span: Span) -> Operand<'a> {
        let object = self.expression(object);
        let object = match self.types.kind(object.ty) {
            // Pointers are read before the index may change them.
            Kind::Pointer { .. } => self.rvalue(object),
            _ => object,
        };
        let index = self.expression(index);
        if object.is_poison() || index.is_poison() {
            return Operand::poison(span);
        }
        if let Kind::Struct(_) = self.types.kind(object.ty) {
            if let Some(result) = self.operator_call("operator[]", &[object.clone(), index], span) {
                return result;
            }
            let name = self.type_name(object.ty);
            self.fail(Diagnostic::error(
                span,
                format!("a `{name}` cannot be indexed"),
            ));
            return Operand::poison(span);
        }
        let index = self.promoted(index);
        if !self
            .types
            .as_scalar(index.ty)
            .is_some_and(Scalar::is_integer)
        {
            let name = self.operand_type_name(&index);
            self.fail(
                Diagnostic::error(index.span, "an index must be an integer")
                    .with_label(format!("this is `{name}`")),
            );
            return Operand::poison(span);
        }
        match self.types.kind(object.ty) {
            Kind::Pointer { .. } => {
                let moved = self.offset(object, index, span);
                self.dereference(moved, span)
            }
            Kind::Array(element, len) => self.element(object, index, element, len, span),
            Kind::Vector(scalar, len, _) => {
                self.element(object, index, Ty::scalar(scalar), u32::from(len), span)
            }
            Kind::Matrix {
                scalar,
                columns,
                rows,
            } => {
                let column = self.types.vector(scalar, rows);
                self.element(object, index, column, u32::from(columns), span)
            }
            _ => {
                let name = self.operand_type_name(&object);
                self.fail(
                    Diagnostic::error(span, format!("a `{name}` cannot be indexed"))
                        .with_label("not a pointer, array, vector or matrix"),
                );
                Operand::poison(span)
            }
        }
    }

    fn element(
        &mut self,
        object: Operand<'a>,
        index: Operand<'a>,
        element: Ty,
        len: u32,
        span: Span,
    ) -> Operand<'a> {
        if let Some(known) = index.as_constant().and_then(Constant::as_int) {
            if known < 0 || known >= i64::from(len) {
                let name = self.type_name(object.ty);
                self.fail(
                    Diagnostic::error(
                        index.span,
                        format!("there is no element {known} in `{name}`"),
                    )
                    .with_label(format!("it has {len}, counted from 0")),
                );
                return Operand::poison(span);
            }
            let known = known as u32;
            if let Repr::Place(lvalue) = &object.repr
                && !lvalue.is_plain()
            {
                if lvalue.elements.is_some() {
                    return match self.types.as_scalar(element) {
                        Some(scalar) => self.swizzle(object, scalar, vec![known as u8], span),
                        None => Operand::poison(span),
                    };
                }
                let swizzle = lvalue.swizzle.as_deref().unwrap_or(&[]);
                let component = swizzle.get(known as usize).copied().unwrap_or(0);
                let whole = Lvalue {
                    swizzle: None,
                    elements: None,
                    known: None,
                    ..(**lvalue).clone()
                };
                let ty = whole.ty;
                let whole = Operand::place(ty, whole, object.span);
                let step = Projection::Element(u32::from(component));
                return self.part(whole, step, u32::from(component), element, span);
            }
            return self.part(object, Projection::Element(known), known, element, span);
        }
        let object = match object.as_place() {
            Some(lvalue) if lvalue.is_plain() => object,
            _ => self.in_memory(object),
        };
        let index = self.value(&index);
        let Repr::Place(lvalue) = object.repr else {
            return Operand::poison(span);
        };
        let mut lvalue = *lvalue;
        lvalue.known = None;
        lvalue.place.path.push(Projection::Index(index));
        lvalue.place.ty = self.ir_type(element);
        lvalue.ty = element;
        Operand::place(element, lvalue, span)
    }

    /// Whether a place can be written; reports why not.
    pub(super) fn check_writable(&mut self, operand: &Operand<'a>, what: &str) -> bool {
        if operand.is_poison() {
            return false;
        }
        let Some(lvalue) = operand.as_place() else {
            let name = self.operand_type_name(operand);
            self.fail(
                Diagnostic::error(operand.span, format!("{what} needs something in memory"))
                    .with_label(format!("this is a value (`{name}`), not a place")),
            );
            return false;
        };
        if let Some(swizzle) = &lvalue.swizzle {
            let mut seen = [false; 4];
            for &component in swizzle {
                if std::mem::replace(&mut seen[usize::from(component & 3)], true) {
                    self.fail(
                        Diagnostic::error(
                            operand.span,
                            "a swizzle with a repeated component cannot be written",
                        )
                        .with_label("which of the two would count?"),
                    );
                    return false;
                }
            }
        }
        if lvalue.is_temporary {
            self.fail(
                Diagnostic::error(
                    operand.span,
                    format!("{what} would change a value that is gone right after"),
                )
                .with_label("a temporary value"),
            );
            return false;
        }
        if lvalue.space == AddressSpace::Constant {
            self.fail(
                Diagnostic::error(operand.span, "`constant` memory cannot be written")
                    .with_label("in the constant address space")
                    .with_hint("use `device` for a buffer that the kernel writes"),
            );
            return false;
        }
        if lvalue.is_const {
            self.fail(
                Diagnostic::error(
                    operand.span,
                    format!("{what} would change something `const`"),
                )
                .with_label("declared const"),
            );
            return false;
        }
        true
    }
}
