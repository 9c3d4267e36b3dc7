//! From one type to another: which conversions are implicit, how good each is, and their IR.

use std::rc::Rc;

use super::Checker;
use super::constant::{self, Constant};
use super::operand::{Lvalue, Operand, Repr};
use super::types::{Kind, Qualified, Ty, space_name};
use crate::diag::{Diagnostic, Span};
use crate::ir::{self, AddressSpace, BinaryOp, Handle, Op, PlaceBase, Projection, Scalar, Value};

/// How good an implicit conversion is, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Exact,
    Promotion,
    Conversion,
    User,
}

/// Whether scalars convert without being asked, and how well.
pub(super) fn scalar_rank(from: Scalar, to: Scalar) -> Option<Rank> {
    if from == to {
        return Some(Rank::Exact);
    }
    match (from, to) {
        // Every bfloat is a float, so that the library's functions of float take it; not the other way.
        (Scalar::Bf16, Scalar::F32) => Some(Rank::Promotion),
        (Scalar::F16 | Scalar::F32, Scalar::Bf16) | (Scalar::Bf16, Scalar::F16) => None,
        (Scalar::Bool | Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16, Scalar::I32) => {
            Some(Rank::Promotion)
        }
        _ => Some(Rank::Conversion),
    }
}

impl<'a> Checker<'a> {
    /// How well an operand converts to a type by itself; `None` if it does not.
    pub(super) fn implicit_rank(&mut self, operand: &Operand<'a>, to: Ty) -> Option<Rank> {
        if operand.is_poison() || to.is_error() {
            return Some(Rank::Exact);
        }
        if let Repr::List(items) = operand.repr {
            return self.list_rank(items, to);
        }
        let (from, to) = (self.types.value_type(operand.ty), self.types.value_type(to));
        if from == to {
            return Some(Rank::Exact);
        }
        let standard = match (self.types.kind(from), self.types.kind(to)) {
            (Kind::Scalar(l), Kind::Scalar(r)) => scalar_rank(l, r),
            (Kind::Scalar(l), Kind::Vector(r, _, _)) => {
                let loses_fraction = l.is_float() && !r.is_float();
                (!loses_fraction && scalar_rank(l, r).is_some()).then_some(Rank::Conversion)
            }
            (Kind::Enum(id), Kind::Scalar(r)) if !self.enums[id].is_class => {
                match scalar_rank(self.enums[id].underlying, r)? {
                    Rank::Exact => Some(Rank::Promotion),
                    rank => Some(rank),
                }
            }
            (
                Kind::Pointer {
                    space: ls,
                    pointee: lp,
                    is_const: lc,
                },
                Kind::Pointer {
                    space: rs,
                    pointee: rp,
                    is_const: rc,
                },
            ) if ls == rs && (rc || !lc) => {
                if lp == rp {
                    Some(Rank::Exact)
                } else if rp == Ty::VOID || self.is_base_of(rp, lp) {
                    Some(Rank::Conversion)
                } else {
                    None
                }
            }
            (Kind::Pointer { .. }, Kind::Scalar(Scalar::Bool)) => Some(Rank::Conversion),
            (Kind::Nullptr, Kind::Pointer { .. }) => Some(Rank::Conversion),
            (Kind::Scalar(scalar), Kind::Pointer { .. })
                if scalar.is_integer()
                    && matches!(operand.repr, Repr::Constant(Constant::Int(0))) =>
            {
                Some(Rank::Conversion)
            }
            (
                Kind::Array(element, _),
                Kind::Pointer {
                    space,
                    pointee,
                    is_const,
                },
            ) => {
                let place = operand.as_place()?;
                let fits = place.space == space && (is_const || !place.is_const);
                if fits && pointee == element {
                    Some(Rank::Exact)
                } else {
                    (fits && pointee == Ty::VOID).then_some(Rank::Conversion)
                }
            }
            _ => None,
        };
        standard.or_else(|| self.user_conversion(operand, to).map(|_| Rank::User))
    }

    /// How well an operand is passed to a parameter, reference or not.
    pub(super) fn passing_rank(&mut self, operand: &Operand<'a>, to: Qualified) -> Option<Rank> {
        if operand.is_poison() || to.ty.is_error() {
            return Some(Rank::Exact);
        }
        if !to.is_reference {
            return self.implicit_rank(operand, to.ty);
        }
        let space = to.space.unwrap_or(AddressSpace::Thread);
        match operand.as_place() {
            Some(place)
                if place.is_plain()
                    && (operand.ty == to.ty || self.is_base_of(to.ty, operand.ty)) =>
            {
                if place.space == space && (to.is_const || !place.is_const) {
                    return Some(Rank::Exact);
                }
                // A read-only reference to thread memory can bind to a copy of the value.
                (to.is_const && space == AddressSpace::Thread).then_some(Rank::Conversion)
            }
            _ if to.is_const && space == AddressSpace::Thread => self.implicit_rank(operand, to.ty),
            // A value known at compile time can be put into constant memory.
            None if space == AddressSpace::Constant && operand.ty == to.ty => {
                operand.as_constant().map(|_| Rank::Conversion)
            }
            _ => None,
        }
    }

    /// Converts implicitly; reports when that is not possible. `what` names the receiver:
    /// "a variable", "the argument".
    pub(super) fn convert(&mut self, operand: Operand<'a>, to: Ty, what: &str) -> Operand<'a> {
        if operand.is_poison() || to.is_error() {
            return Operand::poison(operand.span);
        }
        if let Repr::List(items) = operand.repr {
            return self.initialise_from_list(items, to, operand.span);
        }
        if self.implicit_rank(&operand, to).is_none() {
            self.report_no_conversion(&operand, to, what);
            return Operand::poison(operand.span);
        }
        self.apply_conversion(operand, to)
    }

    fn report_no_conversion(&mut self, operand: &Operand<'a>, to: Ty, what: &str) {
        let from = self.operand_type_name(operand);
        let target = self.type_name(to);
        let error = Diagnostic::error(
            operand.span,
            format!("{what} of type `{target}` cannot take a `{from}`"),
        )
        .with_label(format!("this is `{from}`"));
        let hint = match (self.types.kind(operand.ty), self.types.kind(to)) {
            (Kind::Scalar(Scalar::F32), Kind::Scalar(_)) => Some(format!(
                "a float becomes a bfloat only where that is written: `{target}(..)`"
            )),
            (Kind::Scalar(_), Kind::Scalar(_)) => Some(format!(
                "half and bfloat do not convert by themselves; write `{target}(..)`"
            )),
            (Kind::Vector(_, l, _), Kind::Vector(_, r, _)) if l == r => Some(format!(
                "vectors do not convert by themselves; add an explicit cast `{target}(..)`"
            )),
            (Kind::Vector(..), Kind::Vector(..) | Kind::Scalar(_)) => {
                Some("take the components you mean, such as `.x` or `.xyz`".to_string())
            }
            (Kind::Scalar(_), Kind::Vector(..)) => {
                Some(format!("add an explicit cast `{target}(..)`"))
            }
            (Kind::Pointer { space: l, .. }, Kind::Pointer { space: r, .. }) if l != r => {
                Some(format!(
                    "the address spaces `{}` and `{}` are separate memories",
                    space_name(l),
                    space_name(r)
                ))
            }
            (
                Kind::Pointer {
                    pointee: l,
                    is_const: true,
                    ..
                },
                Kind::Pointer {
                    pointee: r,
                    is_const: false,
                    ..
                },
            ) if l == r => Some("it would drop `const`".to_string()),
            (Kind::Pointer { .. }, Kind::Pointer { .. }) => {
                Some(format!("reinterpret it: `({target})..`"))
            }
            (Kind::Scalar(_), Kind::Enum(_)) => {
                Some(format!("add an explicit cast `{target}(..)`"))
            }
            (Kind::Enum(_), Kind::Scalar(_)) => Some(format!(
                "an `enum class` does not convert by itself; write `{target}(..)`"
            )),
            (Kind::Pointer { .. }, pointee) if pointee != Kind::Error => {
                Some("dereference the pointer with `*` or an index".to_string())
            }
            _ => None,
        };
        self.fail(match hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        });
    }

    /// The operand's type, or what it is when it has none.
    pub(super) fn operand_type_name(&self, operand: &Operand<'a>) -> String {
        match &operand.repr {
            Repr::Functions(set) => format!("function {}", set.name),
            Repr::List(_) => "{..}".to_string(),
            _ => self.type_name(operand.ty),
        }
    }

    /// The conversion itself; the caller has made sure that there is one.
    pub(super) fn apply_conversion(&mut self, operand: Operand<'a>, to: Ty) -> Operand<'a> {
        let span = operand.span;
        if operand.is_poison() {
            return operand;
        }
        let to = self.types.value_type(to);
        if let (Kind::Array(..), Kind::Pointer { pointee, .. }) =
            (self.types.kind(operand.ty), self.types.kind(to))
        {
            let decayed = self.decay(operand);
            return if pointee == Ty::VOID {
                self.reinterpret(decayed, to)
            } else {
                Operand { ty: to, ..decayed }
            };
        }
        let operand = self.rvalue(operand);
        let from = operand.ty;
        if from == to || operand.is_poison() {
            return operand;
        }
        match (self.types.kind(from), self.types.kind(to)) {
            (Kind::Scalar(_) | Kind::Enum(_), Kind::Scalar(_) | Kind::Enum(_)) => {
                self.convert_number(operand, to)
            }
            (Kind::Vector(_, l, _), Kind::Vector(_, r, _)) if l == r => {
                self.convert_number(operand, to)
            }
            (Kind::Scalar(_), Kind::Vector(scalar, len, _)) => {
                let scalar = self.convert_number(operand, Ty::scalar(scalar));
                self.splat(scalar, len)
            }
            (
                Kind::Pointer { pointee: l, .. },
                Kind::Pointer {
                    pointee: r, space, ..
                },
            ) => {
                if self.is_base_of(r, l) && l != r {
                    return self.upcast(operand, r, space, to);
                }
                if self.ir_type(from) == self.ir_type(to) {
                    Operand { ty: to, ..operand }
                } else {
                    self.reinterpret(operand, to)
                }
            }
            (Kind::Pointer { .. }, Kind::Scalar(Scalar::Bool)) => {
                let pointer = self.value(&operand);
                let ty = self.ir_type(from);
                let zero = self.context.emit(Op::Zero, ty, span);
                let bool_type = self.ir_type(Ty::BOOL);
                let op = Op::Binary(BinaryOp::NotEqual, pointer, zero);
                Operand::value(Ty::BOOL, self.context.emit(op, bool_type, span), span)
            }
            (Kind::Nullptr | Kind::Scalar(_), Kind::Pointer { .. }) => {
                Operand::constant(to, Constant::Int(0), span)
            }
            _ => match self.user_conversion(&operand, to) {
                Some(way) => self.apply_user_conversion(operand, to, way),
                None => {
                    self.report_no_conversion(&operand, to, "a value");
                    Operand::poison(span)
                }
            },
        }
    }

    /// The scalar type behind a number or enum, with the vector length.
    pub(super) fn number_shape(&self, ty: Ty) -> Option<(Scalar, u8)> {
        match self.types.kind(ty) {
            Kind::Enum(id) => Some((self.enums[id].underlying, 1)),
            Kind::MemFlags | Kind::MemoryOrder => Some((Scalar::I32, 1)),
            Kind::SimdVote => Some((Scalar::U64, 1)),
            _ => self.types.as_vector(ty),
        }
    }

    /// Numbers and vectors of one length converted by component.
    pub(super) fn convert_number(&mut self, operand: Operand<'a>, to: Ty) -> Operand<'a> {
        let span = operand.span;
        let shapes = (self.number_shape(operand.ty), self.number_shape(to));
        let (Some((from, _)), Some((scalar, _))) = shapes else {
            return Operand::poison(span);
        };
        if let Some(value) = operand.as_constant() {
            return Operand::constant(to, constant::convert(from, scalar, value), span);
        }
        let value = self.value(&operand);
        if from == scalar {
            return Operand::value(to, value, span);
        }
        let ty = self.ir_type(to);
        Operand::value(to, self.context.emit(Op::Convert(value), ty, span), span)
    }

    /// A vector with this scalar in each component.
    pub(super) fn splat(&mut self, operand: Operand<'a>, len: u8) -> Operand<'a> {
        let span = operand.span;
        let Some(scalar) = self.types.as_scalar(operand.ty) else {
            return Operand::poison(span);
        };
        let ty = self.types.vector(scalar, len);
        if let Some(value) = operand.as_constant() {
            let parts: Rc<[_]> = (0..len).map(|_| value.clone()).collect();
            return Operand::constant(ty, Constant::Composite(parts), span);
        }
        let value = self.value(&operand);
        let ir_type = self.ir_type(ty);
        Operand::value(ty, self.context.emit(Op::Splat(value), ir_type, span), span)
    }

    /// A pointer as one to another type, in the same address space.
    pub(super) fn reinterpret(&mut self, operand: Operand<'a>, to: Ty) -> Operand<'a> {
        let span = operand.span;
        let value = self.value(&operand);
        let ty = self.ir_type(to);
        Operand::value(to, self.context.emit(Op::Bitcast(value), ty, span), span)
    }

    /// A value to compute with: an array becomes the pointer to its first element.
    pub(super) fn decayed(&mut self, operand: Operand<'a>) -> Operand<'a> {
        match self.types.kind(operand.ty) {
            Kind::Array(..) => self.decay(operand),
            _ => self.rvalue(operand),
        }
    }

    /// An array as the pointer to its first element.
    pub(super) fn decay(&mut self, operand: Operand<'a>) -> Operand<'a> {
        let span = operand.span;
        let Kind::Array(element, _) = self.types.kind(operand.ty) else {
            return operand;
        };
        let operand = self.in_memory(operand);
        let Some(lvalue) = operand.as_place() else {
            return Operand::poison(span);
        };
        let (space, is_const) = (lvalue.space, lvalue.is_const);
        let mut place = lvalue.place.clone();
        place.path.push(Projection::Element(0));
        place.ty = self.ir_type(element);
        let ty = self.types.pointer(space, element, is_const);
        let ir_type = self.ir_type(ty);
        Operand::value(
            ty,
            self.context.emit(Op::AddressOf(place), ir_type, span),
            span,
        )
    }

    /// The operand as a constant or value: what is in memory is loaded.
    pub(super) fn rvalue(&mut self, operand: Operand<'a>) -> Operand<'a> {
        let span = operand.span;
        let Repr::Place(lvalue) = &operand.repr else {
            return operand;
        };
        if let Some(known) = &lvalue.known
            && lvalue.is_plain()
        {
            let ty = self.types.value_type(operand.ty);
            return Operand::constant(ty, known.clone(), span);
        }
        if let Kind::Atomic(_) = self.types.kind(operand.ty) {
            self.fail(
                Diagnostic::error(span, "an atomic has no plain value")
                    .with_hint("read it with `atomic_load_explicit(&x, memory_order_relaxed)`"),
            );
            return Operand::poison(span);
        }
        let ty = self.types.value_type(lvalue.ty);
        let whole = self.load(lvalue, span);
        match &lvalue.swizzle {
            None => Operand::value(ty, whole, span),
            Some(components) => {
                let part = self.ir_type(operand.ty);
                let op = match components[..] {
                    [component] => Op::Extract(whole, u32::from(component)),
                    _ => Op::Swizzle(whole, components.clone()),
                };
                Operand::value(operand.ty, self.context.emit(op, part, span), span)
            }
        }
    }

    /// What a place holds, before a swizzle.
    pub(super) fn load(&mut self, lvalue: &Lvalue, span: Span) -> Handle<Value> {
        let ty = self.types.value_type(lvalue.ty);
        let ir_type = self.ir_type(ty);
        let place = lvalue.place.clone();
        let Some(matrix) = lvalue.elements else {
            return self.context.emit(Op::Load(place), ir_type, span);
        };
        let matrix_type = self.ir_type(matrix);
        let matrix = self.context.emit(Op::Load(place), matrix_type, span);
        let op = Op::SimdgroupMatrix(ir::SimdgroupMatrixOp::Elements, vec![matrix]);
        self.context.emit(op, ir_type, span)
    }

    /// The operand as an IR value.
    pub(super) fn value(&mut self, operand: &Operand<'a>) -> Handle<Value> {
        let ty = self.ir_type(operand.ty);
        match &operand.repr {
            Repr::Value(value) => *value,
            Repr::Constant(constant) => self.literal(operand.ty, constant, operand.span),
            Repr::Place(_) => {
                let loaded = self.rvalue(operand.clone());
                match loaded.repr {
                    Repr::Place(_) => self.context.emit(Op::Zero, ty, operand.span),
                    _ => self.value(&loaded),
                }
            }
            Repr::Functions(set) => {
                let name = set.name.clone();
                self.fail(
                    Diagnostic::error(operand.span, format!("`{name}` is a function, not a value"))
                        .with_hint(format!("call it: `{name}(..)`")),
                );
                self.context.emit(Op::Zero, ty, operand.span)
            }
            Repr::Poison | Repr::List(_) => self.context.emit(Op::Zero, ty, operand.span),
        }
    }

    /// A constant as an IR value.
    pub(super) fn literal(&mut self, ty: Ty, constant: &Constant, span: Span) -> Handle<Value> {
        let ir_type = self.ir_type(ty);
        let is_pointer = matches!(self.types.kind(ty), Kind::Pointer { .. } | Kind::Nullptr);
        if let (false, Some(literal)) = (is_pointer, constant.literal()) {
            return self.context.emit(Op::Literal(literal), ir_type, span);
        }
        let Constant::Composite(parts) = constant else {
            return self.context.emit(Op::Zero, ir_type, span);
        };
        if is_zero(constant) {
            return self.context.emit(Op::Zero, ir_type, span);
        }
        let (parts, types) = (parts.clone(), self.part_types(ty, parts.len()));
        if let Kind::Vector(..) = self.types.kind(ty)
            && parts.iter().all(|part| part == &parts[0])
        {
            let scalar = self.literal(types[0], &parts[0], span);
            return self.context.emit(Op::Splat(scalar), ir_type, span);
        }
        let values = parts
            .iter()
            .zip(types)
            .map(|(part, ty)| self.literal(ty, part, span))
            .collect();
        self.context.emit(Op::Compose(values), ir_type, span)
    }

    /// The types of the parts of a composite type.
    pub(super) fn part_types(&mut self, ty: Ty, count: usize) -> Vec<Ty> {
        match self.types.kind(ty) {
            Kind::Vector(scalar, len, _) => vec![Ty::scalar(scalar); len as usize],
            Kind::Matrix {
                scalar,
                columns,
                rows,
            } => vec![self.types.vector(scalar, rows); columns as usize],
            Kind::Array(element, _) | Kind::UnsizedArray(element) => vec![element; count],
            Kind::Struct(id) => self.structs[id].fields.iter().map(|f| f.ty).collect(),
            _ => Vec::new(),
        }
    }

    /// The operand in memory: itself, or a variable made for it.
    pub(super) fn in_memory(&mut self, operand: Operand<'a>) -> Operand<'a> {
        if let Repr::Place(lvalue) = &operand.repr
            && lvalue.is_plain()
        {
            return operand;
        }
        if operand.is_poison() {
            return operand;
        }
        let span = operand.span;
        let operand = self.rvalue(operand);
        let value = self.value(&operand);
        let ir_type = self.ir_type(operand.ty);
        let local = self.context.local("temporary".into(), ir_type, span);
        let place = ir::Place {
            base: PlaceBase::Local(local),
            path: Vec::new(),
            ty: ir_type,
        };
        self.context.push(ir::Statement::Store {
            place: place.clone(),
            value,
            span,
        });
        let lvalue = Lvalue {
            place,
            ty: operand.ty,
            space: AddressSpace::Thread,
            is_const: false,
            swizzle: None,
            elements: None,
            known: operand.as_constant().cloned(),
            is_temporary: true,
        };
        Operand::place(operand.ty, lvalue, span)
    }

    /// The operand as a condition: a bool.
    pub(super) fn condition(&mut self, operand: Operand<'a>) -> Operand<'a> {
        if operand.is_poison() {
            return operand;
        }
        if let Kind::Vector(..) = self.types.kind(operand.ty) {
            let name = self.type_name(operand.ty);
            self.fail(
                Diagnostic::error(operand.span, format!("a `{name}` is not one condition"))
                    .with_label("a vector")
                    .with_hint("join its components with `all(..)` or `any(..)`"),
            );
            return Operand::poison(operand.span);
        }
        if self.implicit_rank(&operand, Ty::BOOL).is_none() {
            let array = matches!(self.types.kind(operand.ty), Kind::Array(..));
            if !array {
                let name = self.operand_type_name(&operand);
                self.fail(Diagnostic::error(
                    operand.span,
                    format!("a `{name}` cannot be a condition"),
                ));
                return Operand::poison(operand.span);
            }
            return Operand::constant(Ty::BOOL, Constant::Bool(true), operand.span);
        }
        self.apply_conversion(operand, Ty::BOOL)
    }
}

/// Whether all bits are zero.
fn is_zero(constant: &Constant) -> bool {
    match constant {
        Constant::Bool(value) => !value,
        Constant::Int(value) => *value == 0,
        Constant::Float(value) => value.to_bits() == 0,
        Constant::Composite(parts) => parts.iter().all(is_zero),
    }
}
