//! Expressions: one function per kind that is not an operator, a call or a member access.

mod branches;
mod casts;
mod places;

use super::Checker;
use super::constant::{self, Constant};
use super::operand::{Operand, Repr};
use super::scope::Entity;
use super::types::{Kind, Ty};
use crate::diag::{Diagnostic, Span};
use crate::ir::{self, Block, Op, PlaceBase, Projection, Scalar, Statement};
use crate::syntax::ast::{Expr, ExprKind, FloatSuffix, IntSuffix};

impl<'a> Checker<'a> {
    /// Types an expression and writes what it computes to the current block.
    pub(super) fn expression(&mut self, expr: &'a Expr) -> Operand<'a> {
        self.deeper(expr.span, |checker| checker.expression_inner(expr))
            .unwrap_or_else(|| Operand::poison(expr.span))
    }

    fn expression_inner(&mut self, expr: &'a Expr) -> Operand<'a> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Int(value, suffix) => int_literal(*value, *suffix, span),
            ExprKind::Float(value, suffix) => {
                let scalar = match suffix {
                    FloatSuffix::Float => Scalar::F32,
                    FloatSuffix::Half => Scalar::F16,
                    FloatSuffix::Bfloat => Scalar::Bf16,
                };
                let value = Constant::Float(constant::round_f64(scalar, *value));
                Operand::constant(Ty::scalar(scalar), value, span)
            }
            ExprKind::Bool(value) => Operand::constant(Ty::BOOL, Constant::Bool(*value), span),
            ExprKind::Nullptr => Operand::constant(Ty::NULLPTR, Constant::Int(0), span),
            ExprKind::String(_) => {
                self.fail(
                    Diagnostic::error(span, "a string cannot be used here")
                        .with_label("Metal has no strings outside attributes and assertions"),
                );
                Operand::poison(span)
            }
            ExprKind::Path(path) => match self.resolve_path(path) {
                Some(entity) => self.entity_operand(entity, span),
                None => Operand::poison(span),
            },
            ExprKind::Unary(op, inner) => self.unary(*op, inner, span),
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, span),
            ExprKind::Assign(op, left, right) => self.assign(*op, left, right, span),
            ExprKind::Conditional(condition, accept, reject) => {
                self.conditional(condition, accept, reject, span)
            }
            ExprKind::Call(callee, args) => self.call(callee, args, span),
            ExprKind::Construct { ty, args, braced } => {
                let target = self.resolve(ty);
                if target.ty.is_error() {
                    return Operand::poison(span);
                }
                if *braced && let Some(value) = self.braced_aggregate(target.ty, args, span) {
                    return value;
                }
                let args = self.arguments(args);
                self.construct(target.ty, args, *braced, span)
            }
            ExprKind::Cast(style, ty, inner) => self.cast_expression(*style, ty, inner, span),
            ExprKind::Member {
                object,
                arrow,
                member,
            } => self.member(object, *arrow, member, span),
            ExprKind::Index(object, index) => self.index(object, index, span),
            ExprKind::InitList(items) => Operand {
                ty: Ty::VOID,
                span,
                repr: Repr::List(items),
            },
            ExprKind::SizeofType(ty) | ExprKind::AlignofType(ty) => {
                let ty = self.resolve(ty);
                let is_size = matches!(expr.kind, ExprKind::SizeofType(_));
                self.size_operand(ty.ty, is_size, span)
            }
            ExprKind::SizeofExpr(inner) => {
                let (operand, _) = self.in_block(|checker| checker.expression(inner));
                self.size_operand(operand.ty, true, span)
            }
            ExprKind::Comma(left, right) => {
                self.discarded(left);
                let right = self.expression(right);
                Operand { span, ..right }
            }
            ExprKind::Lambda(_) => {
                self.fail(
                    Diagnostic::error(span, "lambda expressions are not supported yet")
                        .with_hint("write a function, or a struct with `operator()`"),
                );
                Operand::poison(span)
            }
            ExprKind::Expansion(_) | ExprKind::ArrayDesignator { .. } => {
                self.fail(Diagnostic::error(span, "this can only stand in a list"));
                Operand::poison(span)
            }
            ExprKind::SizeofPack(name) => match self.find(&name.name) {
                Some(Entity::Pack(list)) => {
                    Operand::constant(Ty::ULONG, Constant::Int(list.len() as i64), span)
                }
                _ => {
                    self.fail(Diagnostic::error(
                        span,
                        format!("`{}` is not a parameter pack", name.name),
                    ));
                    Operand::poison(span)
                }
            },
            ExprKind::This => match self.context.this.clone() {
                Some(lvalue) => self.address_of(Operand::place(lvalue.ty, lvalue, span), span),
                None => {
                    self.fail(Diagnostic::error(
                        span,
                        "`this` only exists in member functions",
                    ));
                    Operand::poison(span)
                }
            },
        }
    }

    fn size_operand(&mut self, ty: Ty, is_size: bool, span: Span) -> Operand<'a> {
        if ty.is_error() {
            return Operand::poison(span);
        }
        let ir_type = self.ir_type(ty);
        let (size, align) = self.module.types.layout(ir_type);
        if size == 0 {
            let name = self.type_name(ty);
            self.fail(Diagnostic::error(span, format!("`{name}` has no size")));
            return Operand::poison(span);
        }
        let value = if is_size {
            size.next_multiple_of(align)
        } else {
            align
        };
        Operand::constant(Ty::ULONG, Constant::Int(i64::from(value)), span)
    }

    /// What a name comes to as an expression.
    pub(super) fn entity_operand(&mut self, entity: Entity<'a>, span: Span) -> Operand<'a> {
        match entity {
            Entity::Local(lvalue) => Operand::place(lvalue.ty, lvalue, span),
            Entity::Known(ty, value) => Operand::constant(ty, value, span),
            Entity::Global(id) => self.global_operand(id, span),
            Entity::Functions(set) => Operand {
                ty: Ty::VOID,
                span,
                repr: Repr::Functions(Box::new(set)),
            },
            Entity::Field(owner, index) => match self.context.this.clone() {
                Some(this) => {
                    let object = Operand::place(this.ty, this, span);
                    self.field(object, owner, index, span)
                }
                None => {
                    self.fail(Diagnostic::error(
                        span,
                        "a field needs an object, and this is not a member function of one",
                    ));
                    Operand::poison(span)
                }
            },
            Entity::Type(ty) => {
                let name = self.type_name(ty.ty);
                self.fail(
                    Diagnostic::error(span, format!("`{name}` is a type, not a value"))
                        .with_hint(format!("make a value of it: `{name}(..)`")),
                );
                Operand::poison(span)
            }
            Entity::Template(_) | Entity::LibraryTemplate(_) => {
                self.fail(Diagnostic::error(span, "this is a template, not a value"));
                Operand::poison(span)
            }
            Entity::Namespace(_) => {
                self.fail(Diagnostic::error(span, "this is a namespace, not a value"));
                Operand::poison(span)
            }
            Entity::Pack(_) => {
                self.fail(
                    Diagnostic::error(span, "a parameter pack must be expanded")
                        .with_hint("write `...` after it"),
                );
                Operand::poison(span)
            }
            Entity::Poison => Operand::poison(span),
        }
    }

    /// An expression for its effect; its value is dropped.
    pub(super) fn discarded(&mut self, expr: &'a Expr) {
        if let ExprKind::Binary(op, ..) = &expr.kind {
            use crate::syntax::ast::BinaryOp::{
                Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual,
            };
            let operand = self.expression(expr);
            if operand.is_poison() {
                return;
            }
            if matches!(
                op,
                Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual
            ) {
                let mut warning =
                    Diagnostic::warning(expr.span, "the result of this comparison is not used");
                if *op == Equal {
                    warning = warning.with_hint("write `=` to assign");
                }
                self.fail(warning);
            }
            return;
        }
        let operand = self.expression(expr);
        if let Repr::Functions(set) = &operand.repr {
            let name = set.name.clone();
            self.fail(
                Diagnostic::warning(expr.span, format!("`{name}` is named but not called"))
                    .with_hint(format!("write `{name}(..)`")),
            );
        }
    }

    /// The parts of a vector, matrix, array or struct value.
    pub(super) fn parts(&mut self, operand: Operand<'a>) -> Vec<Operand<'a>> {
        let span = operand.span;
        let operand = self.rvalue(operand);
        let count = match self.types.kind(operand.ty) {
            Kind::Array(_, len) => len as usize,
            _ => 0,
        };
        let types = self.part_types(operand.ty, count);
        if let Some(Constant::Composite(parts)) = operand.as_constant() {
            return types
                .into_iter()
                .zip(parts.iter())
                .map(|(ty, part)| Operand::constant(ty, part.clone(), span))
                .collect();
        }
        let value = self.value(&operand);
        types
            .into_iter()
            .enumerate()
            .map(|(index, ty)| {
                let ty = self.types.value_type(ty);
                let ir_type = self.ir_type(ty);
                let op = Op::Extract(value, index as u32);
                Operand::value(ty, self.context.emit(op, ir_type, span), span)
            })
            .collect()
    }

    /// The parts put together; a constant if they all are.
    pub(super) fn compose(&mut self, ty: Ty, parts: Vec<Operand<'a>>, span: Span) -> Operand<'a> {
        if parts.iter().any(Operand::is_poison) {
            return Operand::poison(span);
        }
        let ty = self.types.value_type(ty);
        let constants: Option<std::rc::Rc<[_]>> = parts
            .iter()
            .map(|part| part.as_constant().cloned())
            .collect();
        if let Some(constants) = constants {
            return Operand::constant(ty, Constant::Composite(constants), span);
        }
        let values = parts.iter().map(|part| self.value(part)).collect();
        let ir_type = self.ir_type(ty);
        Operand::value(
            ty,
            self.context.emit(Op::Compose(values), ir_type, span),
            span,
        )
    }
}

/// Whether a block can run even if the program does not ask for it: no effects, no faults.
pub(super) fn is_speculative(block: &Block) -> bool {
    let safe = |place: &ir::Place| {
        !matches!(place.base, PlaceBase::Pointer(_))
            && !place
                .path
                .iter()
                .any(|step| matches!(step, Projection::Index(_)))
    };
    block.iter().all(|statement| match statement {
        Statement::Let(_, op) => match op {
            Op::Load(place) => safe(place),
            Op::AddressOf(place) => safe(place),
            Op::Call(..) | Op::Simd(..) | Op::Atomic { .. } | Op::SimdgroupMatrix(..) => false,
            _ => true,
        },
        _ => false,
    })
}

fn int_literal<'a>(value: u64, suffix: IntSuffix, span: Span) -> Operand<'a> {
    let fits_int = value <= i32::MAX as u64;
    let fits_uint = value <= u64::from(u32::MAX);
    let fits_long = value <= i64::MAX as u64;
    let may_be_unsigned = suffix.unsigned || suffix.radix_not_ten;
    let ty = match suffix {
        IntSuffix {
            long: false,
            unsigned: false,
            ..
        } if fits_int => Ty::INT,
        IntSuffix { long: false, .. } if may_be_unsigned && fits_uint => Ty::UINT,
        IntSuffix {
            unsigned: false, ..
        } if fits_long => Ty::LONG,
        _ => Ty::ULONG,
    };
    Operand::constant(ty, Constant::Int(value as i64), span)
}
