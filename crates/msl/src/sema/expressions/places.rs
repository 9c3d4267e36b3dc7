//! Addresses and what is at them.

use crate::diag::{Diagnostic, Span};
use crate::ir::{self, AddressSpace, Op, PlaceBase, Projection};
use crate::sema::Checker;
use crate::sema::operand::{Lvalue, Operand, Repr};
use crate::sema::types::{Kind, Ty};
use crate::syntax::ast::{Expr, ExprKind, UnaryOp};

impl<'a> Checker<'a> {
    /// `&place`
    pub(in crate::sema) fn address_of(&mut self, operand: Operand<'a>, span: Span) -> Operand<'a> {
        if operand.is_poison() {
            return operand;
        }
        let Some(lvalue) = operand.as_place().cloned() else {
            let name = self.operand_type_name(&operand);
            self.fail(Diagnostic::error(
                span,
                format!("this `{name}` is a value without a place, so it has no address"),
            ));
            return Operand::poison(span);
        };
        let in_vector = matches!(
            lvalue.place.path.last(),
            Some(Projection::Element(_) | Projection::Index(_))
        ) && self.is_vector_part(&lvalue);
        if !lvalue.is_plain() || in_vector {
            self.fail(
                Diagnostic::error(span, "a component of a vector has no address")
                    .with_hint("copy it to a variable first"),
            );
            return Operand::poison(span);
        }
        // The known value of a constant needs a place of its own only now.
        let pointee = operand.ty;
        let ty = self.types.pointer(lvalue.space, pointee, lvalue.is_const);
        let ir_type = self.ir_type(ty);
        let op = match (lvalue.place.base, lvalue.place.path.is_empty()) {
            (PlaceBase::Pointer(pointer), true) => {
                return Operand::value(ty, pointer, span);
            }
            _ => Op::AddressOf(lvalue.place),
        };
        Operand::value(ty, self.context.emit(op, ir_type, span), span)
    }

    /// Whether the last step of a place's path goes into a vector.
    pub(in crate::sema) fn is_vector_part(&self, lvalue: &Lvalue) -> bool {
        let mut ty = match lvalue.place.base {
            PlaceBase::Local(local) => self.context.locals[local].ty,
            PlaceBase::Threadgroup(local) => self.context.threadgroup[local].ty,
            PlaceBase::Constant(constant) => self.module.constants[constant].ty,
            PlaceBase::Pointer(pointer) => match self.module.types[self.context.values[pointer].ty]
            {
                ir::Type::Pointer { pointee, .. } => pointee,
                _ => return false,
            },
        };
        let mut in_vector = false;
        for step in &lvalue.place.path {
            in_vector = false;
            ty = match (&self.module.types[ty], step) {
                (ir::Type::Array(element, _), _) => *element,
                (ir::Type::Struct(of), Projection::Field(index)) => {
                    match self.module.types.structs[*of].fields.get(*index as usize) {
                        Some(field) => field.ty,
                        None => return false,
                    }
                }
                (ir::Type::Vector(..), _) => {
                    in_vector = true;
                    ty
                }
                _ => ty,
            };
        }
        in_vector
    }

    /// `*pointer`
    pub(in crate::sema) fn dereference(&mut self, operand: Operand<'a>, span: Span) -> Operand<'a> {
        let operand = self.decayed(operand);
        if operand.is_poison() {
            return operand;
        }
        let Kind::Pointer {
            space,
            pointee,
            is_const,
        } = self.types.kind(operand.ty)
        else {
            let name = self.operand_type_name(&operand);
            self.fail(
                Diagnostic::error(span, format!("`*` needs a pointer, and this is `{name}`"))
                    .with_label("not a pointer"),
            );
            return Operand::poison(span);
        };
        if pointee == Ty::VOID {
            self.fail(
                Diagnostic::error(span, "a `void *` points to nothing that can be read")
                    .with_hint("cast it to a pointer to a type first"),
            );
            return Operand::poison(span);
        }
        let pointer = self.value(&operand);
        let lvalue = self.place_behind(pointer, pointee, space, is_const);
        Operand::place(pointee, lvalue, span)
    }

    /// The place that a pointer or reference leads to.
    pub(in crate::sema) fn place_behind(
        &mut self,
        pointer: ir::Handle<ir::Value>,
        ty: Ty,
        space: AddressSpace,
        is_const: bool,
    ) -> Lvalue {
        Lvalue {
            place: ir::Place {
                base: PlaceBase::Pointer(pointer),
                path: Vec::new(),
                ty: self.ir_type(ty),
            },
            ty,
            space,
            is_const: is_const || space == AddressSpace::Constant,
            swizzle: None,
            elements: None,
            known: None,
            is_temporary: false,
        }
    }

    /// `op inner` where the operator takes a place or an address.
    pub(in crate::sema) fn unary_place(
        &mut self,
        op: UnaryOp,
        inner: &'a Expr,
        span: Span,
    ) -> Option<Operand<'a>> {
        match op {
            UnaryOp::Dereference => {
                if let (ExprKind::This, Some(this)) = (&inner.kind, self.context.this.clone()) {
                    return Some(Operand::place(this.ty, this, span));
                }
                let operand = self.expression(inner);
                Some(self.dereference(operand, span))
            }
            UnaryOp::AddressOf => {
                let operand = self.expression(inner);
                if let Repr::Functions(_) = operand.repr {
                    return Some(operand);
                }
                Some(self.address_of(operand, span))
            }
            _ => None,
        }
    }
}
