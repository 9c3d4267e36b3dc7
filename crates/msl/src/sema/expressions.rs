//! Expressions: one function per kind that is not an operator, a call or a member access.

use super::Checker;
use super::constant::{self, Constant};
use super::operand::{Operand, Repr};
use super::scope::Entity;
use super::types::{Kind, Qualified, Ty};
use crate::diag::{Diagnostic, Span};
use crate::ir::{self, AddressSpace, Block, Op, PlaceBase, Projection, Scalar, Statement};
use crate::syntax::ast::{CastStyle, Expr, ExprKind, FloatSuffix, IntSuffix, TypeExpr, UnaryOp};

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

    fn cast_expression(
        &mut self,
        style: CastStyle,
        ty: &'a TypeExpr,
        inner: &'a Expr,
        span: Span,
    ) -> Operand<'a> {
        let target = self.resolve(ty);
        let operand = self.expression(inner);
        if target.ty.is_error() || operand.is_poison() {
            return Operand::poison(span);
        }
        if target.is_reference {
            return self.cast_reference(style, operand, target, span);
        }
        let mut result = self.cast(style, operand, target.ty, span);
        result.span = span;
        result
    }

    /// `(space T &)place`: the same memory seen as another type.
    fn cast_reference(
        &mut self,
        style: CastStyle,
        operand: Operand<'a>,
        target: Qualified,
        span: Span,
    ) -> Operand<'a> {
        if operand.ty == target.ty
            && let Some(lvalue) = operand.as_place().filter(|l| l.swizzle.is_none())
            && target.space.is_none_or(|space| space == lvalue.space)
        {
            self.context.casts_away_const |=
                lvalue.is_const && !target.is_const && lvalue.space == AddressSpace::Device;
            let lvalue = super::operand::Lvalue {
                is_const: target.is_const,
                ..lvalue.clone()
            };
            return Operand::place(target.ty, lvalue, span);
        }
        let Some(lvalue) = operand.as_place().filter(|l| l.is_plain()).cloned() else {
            self.fail(Diagnostic::error(
                span,
                "only something in memory can be seen as a reference",
            ));
            return Operand::poison(span);
        };
        let space = target.space.unwrap_or(lvalue.space);
        let pointer = self.address_of(operand, span);
        let to = self.types.pointer(space, target.ty, target.is_const);
        let pointer = self.cast(style, pointer, to, span);
        self.dereference(pointer, span)
    }

    /// An explicit conversion.
    pub(super) fn cast(
        &mut self,
        style: CastStyle,
        operand: Operand<'a>,
        to: Ty,
        span: Span,
    ) -> Operand<'a> {
        if operand.is_poison() || to.is_error() {
            return Operand::poison(span);
        }
        if to == Ty::VOID {
            return Operand {
                ty: Ty::VOID,
                span,
                repr: Repr::Constant(Constant::Int(0)),
            };
        }
        let from = operand.ty;
        let kinds = (self.types.kind(from), self.types.kind(to));
        if style == CastStyle::Reinterpret
            && !matches!(
                kinds,
                (Kind::Pointer { .. } | Kind::Array(..), Kind::Pointer { .. })
            )
        {
            let (from, to) = (self.type_name(from), self.type_name(to));
            self.fail(
                Diagnostic::error(
                    span,
                    format!("a `{from}` cannot be reinterpreted as `{to}`"),
                )
                .with_hint(format!(
                    "`as_type<{to}>(..)` keeps the bits, `{to}(..)` converts"
                )),
            );
            return Operand::poison(span);
        }
        if self.implicit_rank(&operand, to).is_some() {
            return self.apply_conversion(operand, to);
        }
        if let (
            Kind::Pointer { is_const: true, .. },
            Kind::Pointer {
                space: AddressSpace::Device,
                is_const: false,
                ..
            },
        ) = kinds
        {
            self.context.casts_away_const = true;
        }
        match kinds {
            (Kind::Scalar(_) | Kind::Enum(_), Kind::Scalar(_) | Kind::Enum(_)) => {
                let operand = self.rvalue(operand);
                self.convert_number(operand, to)
            }
            (Kind::Vector(_, l, _), Kind::Vector(_, r, _)) if l == r => {
                let to = self.types.value_type(to);
                let operand = self.rvalue(operand);
                self.convert_number(operand, to)
            }
            (Kind::Scalar(_), Kind::Vector(scalar, len, _)) => {
                let operand = self.rvalue(operand);
                let scalar = self.convert_number(operand, Ty::scalar(scalar));
                self.splat(scalar, len)
            }
            (
                Kind::Matrix {
                    columns: lc,
                    rows: lr,
                    ..
                },
                Kind::Matrix { columns, rows, .. },
            ) if lc == columns && lr == rows => self.convert_matrix(operand, to, span),
            (Kind::Array(..), Kind::Pointer { .. }) => {
                let pointer = self.decay(operand);
                self.cast(style, pointer, to, span)
            }
            (Kind::Pointer { space: l, .. }, Kind::Pointer { space: r, .. })
                if l == r && style != CastStyle::Static =>
            {
                if self.ir_type(from) == self.ir_type(to) {
                    let operand = self.rvalue(operand);
                    return Operand { ty: to, ..operand };
                }
                let operand = self.rvalue(operand);
                self.reinterpret(operand, to)
            }
            (
                Kind::Pointer {
                    space: l,
                    pointee: Ty::VOID,
                    ..
                },
                Kind::Pointer { space: r, .. },
            ) if l == r => {
                let operand = self.rvalue(operand);
                self.reinterpret(operand, to)
            }
            (Kind::SimdVote, Kind::Scalar(_)) => {
                let operand = self.rvalue(operand);
                self.convert_number(operand, to)
            }
            (_, Kind::Struct(_) | Kind::SimdgroupMatrix(_) | Kind::SimdVote) => {
                self.construct(to, vec![operand], false, span)
            }
            _ => {
                self.report_no_cast(&operand, to, span);
                Operand::poison(span)
            }
        }
    }

    fn report_no_cast(&mut self, operand: &Operand<'a>, to: Ty, span: Span) {
        let (from, target) = (self.operand_type_name(operand), self.type_name(to));
        let error = Diagnostic::error(span, format!("a `{from}` cannot be cast to `{target}`"));
        let hint = match (self.types.kind(operand.ty), self.types.kind(to)) {
            (Kind::Pointer { space: l, .. }, Kind::Pointer { space: r, .. }) if l != r => {
                Some("pointers cannot change their address space".to_string())
            }
            (Kind::Pointer { .. }, Kind::Pointer { .. }) => {
                Some(format!("use `reinterpret_cast<{target}>(..)`"))
            }
            (Kind::Pointer { .. }, Kind::Scalar(_)) | (Kind::Scalar(_), Kind::Pointer { .. }) => {
                Some("pointers as integers are not supported".to_string())
            }
            (Kind::Vector(..), Kind::Vector(..) | Kind::Scalar(_)) => {
                Some("take the components you mean, such as `.x` or `.xy`".to_string())
            }
            _ => None,
        };
        self.fail(match hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        });
    }

    /// A matrix with its elements converted.
    fn convert_matrix(&mut self, operand: Operand<'a>, to: Ty, span: Span) -> Operand<'a> {
        let columns = self.parts(operand);
        let types = self.part_types(to, columns.len());
        let columns = columns
            .into_iter()
            .zip(types)
            .map(|(column, ty)| self.convert_number(column, ty))
            .collect();
        self.compose(to, columns, span)
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

    /// `condition ? accept : reject`.
    fn conditional(
        &mut self,
        condition: &'a Expr,
        accept: &'a Expr,
        reject: &'a Expr,
        span: Span,
    ) -> Operand<'a> {
        let condition = self.expression(condition);
        if let Kind::Vector(..) = self.types.kind(condition.ty) {
            self.fail(
                Diagnostic::error(condition.span, "the condition of `?:` must be one bool")
                    .with_label("this is a vector")
                    .with_hint("choose by component with `select(reject, accept, condition)`"),
            );
            return Operand::poison(span);
        }
        let condition = self.condition(condition);
        let (mut left, mut left_block) = self.in_block(|checker| checker.expression(accept));
        let (mut right, mut right_block) = self.in_block(|checker| checker.expression(reject));
        if left.is_poison() || right.is_poison() || condition.is_poison() {
            return Operand::poison(span);
        }
        let Some(ty) = self.common_type(&left, &right) else {
            let (l, r) = (
                self.operand_type_name(&left),
                self.operand_type_name(&right),
            );
            self.fail(
                Diagnostic::error(
                    span,
                    format!("`?:` must choose between values of one type, not `{l}` and `{r}`"),
                )
                .with_hint("cast one of them"),
            );
            return Operand::poison(span);
        };
        if ty == Ty::VOID {
            let value = self.value(&condition);
            self.context.push(Statement::If {
                condition: value,
                accept: left_block,
                reject: right_block,
                span,
            });
            return Operand::constant(Ty::VOID, Constant::Int(0), span);
        }
        (left, left_block) = self.in_given_block(left_block, |checker| {
            let left = checker.convert(left, ty, "the result of `?:`");
            checker.rvalue(left)
        });
        (right, right_block) = self.in_given_block(right_block, |checker| {
            let right = checker.convert(right, ty, "the result of `?:`");
            checker.rvalue(right)
        });
        if let Some(truth) = condition.as_constant().and_then(Constant::truth) {
            let (operand, block) = if truth {
                (left, left_block)
            } else {
                (right, right_block)
            };
            self.append(block);
            return Operand { span, ..operand };
        }
        let condition = self.value(&condition);
        let selectable = self.number_shape(ty).is_some();
        if selectable && is_speculative(&left_block) && is_speculative(&right_block) {
            self.append(left_block);
            self.append(right_block);
            let (accept, reject) = (self.value(&left), self.value(&right));
            let ir_type = self.ir_type(ty);
            let op = Op::Select {
                condition,
                accept,
                reject,
            };
            return Operand::value(ty, self.context.emit(op, ir_type, span), span);
        }
        self.branches_to_value(
            ty,
            condition,
            (left, left_block),
            (right, right_block),
            span,
        )
    }

    /// An if whose branches each give a value, through a variable.
    fn branches_to_value(
        &mut self,
        ty: Ty,
        condition: ir::Handle<ir::Value>,
        accept: (Operand<'a>, Block),
        reject: (Operand<'a>, Block),
        span: Span,
    ) -> Operand<'a> {
        let ir_type = self.ir_type(ty);
        let local = self.context.local("chosen".into(), ir_type, span);
        let place = ir::Place {
            base: PlaceBase::Local(local),
            path: Vec::new(),
            ty: ir_type,
        };
        let mut branch = |(operand, block): (Operand<'a>, Block)| {
            let ((), block) = self.in_given_block(block, |checker| {
                let value = checker.value(&operand);
                checker.context.push(Statement::Store {
                    place: place.clone(),
                    value,
                    span,
                });
            });
            block
        };
        let (accept, reject) = (branch(accept), branch(reject));
        self.context.push(Statement::If {
            condition,
            accept,
            reject,
            span,
        });
        Operand::value(ty, self.context.emit(Op::Load(place), ir_type, span), span)
    }

    /// `left && right` and `left || right`.
    pub(super) fn logical(
        &mut self,
        is_and: bool,
        left: Operand<'a>,
        right: &'a Expr,
        span: Span,
    ) -> Operand<'a> {
        let bool_vector = |checker: &Self, ty| match checker.types.kind(ty) {
            Kind::Vector(Scalar::Bool, len, _) => Some(len),
            _ => None,
        };
        if let Some(len) = bool_vector(self, left.ty) {
            let left = self.rvalue(left);
            let right = self.expression(right);
            if bool_vector(self, right.ty) != Some(len) && !right.is_poison() {
                let name = self.type_name(right.ty);
                self.fail(Diagnostic::error(
                    right.span,
                    format!("the other side is a `bool{len}`, and this is `{name}`"),
                ));
                return Operand::poison(span);
            }
            let right = self.rvalue(right);
            let op = if is_and {
                ir::BinaryOp::And
            } else {
                ir::BinaryOp::Or
            };
            let ty = left.ty;
            return self.emit_binary(op, left, right, ty, span);
        }
        let left = self.condition(left);
        let (right, block) = self.in_block(|checker| {
            let right = checker.expression(right);
            let right = checker.condition(right);
            checker.rvalue(right)
        });
        if left.is_poison() || right.is_poison() {
            return Operand::poison(span);
        }
        if let Some(known) = left.as_constant().and_then(Constant::truth) {
            if known != is_and {
                return Operand::constant(Ty::BOOL, Constant::Bool(known), span);
            }
            self.append(block);
            return Operand { span, ..right };
        }
        if is_speculative(&block) {
            self.append(block);
            if let Some(known) = right.as_constant().and_then(Constant::truth)
                && known == is_and
            {
                return Operand { span, ..left };
            }
            let op = if is_and {
                ir::BinaryOp::And
            } else {
                ir::BinaryOp::Or
            };
            return self.emit_binary(op, left, right, Ty::BOOL, span);
        }
        let condition = self.value(&left);
        let short = Operand::constant(Ty::BOOL, Constant::Bool(!is_and), span);
        let (accept, reject) = if is_and {
            ((right, block), (short, Block::new()))
        } else {
            ((short, Block::new()), (right, block))
        };
        self.branches_to_value(Ty::BOOL, condition, accept, reject, span)
    }

    /// Runs `work` writing at the end of `block`.
    pub(super) fn in_given_block<T>(
        &mut self,
        block: Block,
        work: impl FnOnce(&mut Self) -> T,
    ) -> (T, Block) {
        let outer = std::mem::replace(&mut self.context.block, block);
        let result = work(self);
        let block = std::mem::replace(&mut self.context.block, outer);
        (result, block)
    }

    /// Adds a finished block to the current one.
    pub(super) fn append(&mut self, block: Block) {
        self.context.block.extend(block);
    }

    /// `&place`
    pub(super) fn address_of(&mut self, operand: Operand<'a>, span: Span) -> Operand<'a> {
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
    pub(super) fn is_vector_part(&self, lvalue: &super::operand::Lvalue) -> bool {
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
    pub(super) fn dereference(&mut self, operand: Operand<'a>, span: Span) -> Operand<'a> {
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
        let lvalue = super::operand::Lvalue {
            place: ir::Place {
                base: PlaceBase::Pointer(pointer),
                path: Vec::new(),
                ty: self.ir_type(pointee),
            },
            ty: pointee,
            space,
            is_const: is_const || space == AddressSpace::Constant,
            swizzle: None,
            elements: None,
            known: None,
            is_temporary: false,
        };
        Operand::place(pointee, lvalue, span)
    }

    /// `op inner` where the operator takes a place or an address.
    pub(super) fn unary_place(
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
