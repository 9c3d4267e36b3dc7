//! Types as written: names, pointers, references, arrays, qualifiers, `auto`, `decltype`.

use super::Checker;
use super::operand::Repr;
use super::scope::{Entity, FunctionSet};
use super::types::{Kind, Qualified, Ty};
use crate::diag::{Diagnostic, Span};
use crate::ir::AddressSpace;
use crate::syntax::ast::{Expr, TypeExpr, TypeExprKind};

impl<'a> Checker<'a> {
    /// The largest type, in bytes.
    pub(super) const SIZE_LIMIT: u64 = 1 << 30;

    /// The type that an expression of types stands for; poisoned if it was reported.
    pub(super) fn resolve(&mut self, ty: &'a TypeExpr) -> Qualified {
        let poison = Qualified::plain(Ty::ERROR);
        self.deeper(ty.span, |checker| checker.resolve_inner(ty))
            .unwrap_or(poison)
    }

    fn resolve_inner(&mut self, ty: &'a TypeExpr) -> Qualified {
        let poison = Qualified::plain(Ty::ERROR);
        match &ty.kind {
            TypeExprKind::Path(path) => {
                if path.segments.len() == 1 && &*path.segments[0].ident.name == "double" {
                    self.fail(
                        Diagnostic::error(ty.span, "Metal has no `double`")
                            .with_label("64-bit floating point does not exist on these devices")
                            .with_hint("use `float`"),
                    );
                    return poison;
                }
                match self.resolve_path(path) {
                    Some(Entity::Type(found)) => found,
                    Some(Entity::Poison) | None => poison,
                    Some(_) => {
                        let name = path.segments.last().map(|s| s.ident.name.to_string());
                        let name = name.unwrap_or_default();
                        self.fail(Diagnostic::error(
                            ty.span,
                            format!("`{name}` is not a type"),
                        ));
                        poison
                    }
                }
            }
            TypeExprKind::Auto => match self.context.auto {
                Some(auto) => auto,
                None => {
                    self.fail(Diagnostic::error(
                        ty.span,
                        "`auto` needs an initialiser to take its type from",
                    ));
                    poison
                }
            },
            TypeExprKind::Decltype(expr) => self.decltype(expr),
            TypeExprKind::Pointer(to) => self.resolve_pointer(to, ty.span),
            TypeExprKind::Reference(to) => {
                let to = self.resolve(to);
                if self.refuse_function_type(to.ty, ty.span) {
                    return poison;
                }
                if to.ty == Ty::VOID {
                    self.fail(Diagnostic::error(
                        ty.span,
                        "there are no references to void",
                    ));
                    return poison;
                }
                Qualified {
                    is_reference: true,
                    ..to
                }
            }
            TypeExprKind::Array(element, length) => {
                let element = self.resolve(element);
                self.resolve_array(element, length.as_deref(), ty.span)
            }
            TypeExprKind::Qualified {
                inner,
                is_const,
                space,
                ..
            } => {
                let inner_type = self.resolve(inner);
                if let (Some(outer), Some(known)) = (space, inner_type.space)
                    && *outer != known
                    && !inner_type.ty.is_error()
                {
                    self.fail(Diagnostic::error(
                        ty.span,
                        "one object cannot be in two address spaces",
                    ));
                    return poison;
                }
                Qualified {
                    is_const: inner_type.is_const
                        || *is_const
                        || *space == Some(AddressSpace::Constant),
                    space: space.or(inner_type.space),
                    ..inner_type
                }
            }
            TypeExprKind::Expansion(_) => {
                self.fail(Diagnostic::error(
                    ty.span,
                    "a pack of types can only stand in a list",
                ));
                poison
            }
            TypeExprKind::Function(result, params) => {
                let result = self.resolve(result);
                let Some(params) = self.function_parameters(params) else {
                    return poison;
                };
                if result.ty.is_error() {
                    return poison;
                }
                self.function_type(result, params)
            }
        }
    }

    /// The parameters in the type of a function; `None` if one was reported.
    pub(super) fn function_parameters(&mut self, params: &'a [TypeExpr]) -> Option<Vec<Qualified>> {
        let mut types = Vec::new();
        for param in params {
            let ty = self.resolve(param);
            if ty.ty.is_error() {
                return None;
            }
            types.push(Qualified {
                is_const: ty.is_reference && ty.is_const,
                ..ty
            });
        }
        Some(types)
    }

    /// Refuses the type of a function where there can only be a value of it.
    pub(super) fn refuse_function_type(&mut self, ty: Ty, span: Span) -> bool {
        let is_function = matches!(self.types.kind(ty), Kind::Function(_));
        if is_function {
            self.fail(
                Diagnostic::error(span, "Metal has no pointers to functions here")
                    .with_hint("pass the function as a template argument"),
            );
        }
        is_function
    }

    fn resolve_pointer(&mut self, to: &'a TypeExpr, span: Span) -> Qualified {
        let poison = Qualified::plain(Ty::ERROR);
        let target = self.resolve(to);
        if target.ty.is_error() || self.refuse_function_type(target.ty, span) {
            return poison;
        }
        if target.is_reference {
            self.fail(Diagnostic::error(
                span,
                "there are no pointers to references",
            ));
            return poison;
        }
        let Some(space) = target.space else {
            let name = self.type_name(target.ty);
            self.fail(
                Diagnostic::error(span, "a pointer must say which address space it points to")
                    .with_label("no address space")
                    .with_hint(format!(
                        "write `device {name} *`, `constant {name} *`, `threadgroup {name} *` or `thread {name} *`"
                    )),
            );
            return poison;
        };
        let is_const = target.is_const || space == AddressSpace::Constant;
        Qualified::plain(self.types.pointer(space, target.ty, is_const))
    }

    fn resolve_array(
        &mut self,
        element: Qualified,
        length: Option<&'a Expr>,
        span: Span,
    ) -> Qualified {
        let poison = Qualified::plain(Ty::ERROR);
        if element.ty.is_error() {
            return poison;
        }
        let holds = |kind| !matches!(kind, Kind::Void | Kind::UnsizedArray(_) | Kind::Function(_));
        if element.is_reference || !holds(self.types.kind(element.ty)) {
            let name = self.type_name(element.ty);
            self.fail(Diagnostic::error(
                span,
                format!(
                    "there are no arrays of `{name}`{}",
                    if element.is_reference {
                        " references"
                    } else {
                        ""
                    }
                ),
            ));
            return poison;
        }
        let Some(length) = length else {
            return Qualified {
                ty: self.types.intern(Kind::UnsizedArray(element.ty)),
                ..element
            };
        };
        let Some(count) = self.constant_int(length, "the length of an array") else {
            return poison;
        };
        let size = self.size_of(element.ty).max(1);
        let fits = |count: i64| {
            u64::try_from(count).is_ok_and(|n| n.saturating_mul(size) <= Self::SIZE_LIMIT)
        };
        if count <= 0 || !fits(count) {
            let message = if count <= 0 {
                format!("an array cannot have {count} elements")
            } else {
                format!("an array of {count} elements is larger than the limit of 1 GiB")
            };
            self.fail(Diagnostic::error(length.span, message));
            return poison;
        }
        Qualified {
            ty: self.types.intern(Kind::Array(element.ty, count as u32)),
            ..element
        }
    }

    /// The size of a type in bytes.
    pub(super) fn size_of(&mut self, ty: Ty) -> u64 {
        let ir_type = self.ir_type(ty);
        u64::from(self.module.types.stride(ir_type))
    }

    /// `decltype(expression)`: the expression is typed, and nothing of it is kept.
    pub(super) fn decltype(&mut self, expr: &'a Expr) -> Qualified {
        let (operand, _) = self.in_block(|checker| checker.expression(expr));
        if let Repr::Functions(set) = &operand.repr {
            return self.type_of_function(set, expr.span);
        }
        if operand.is_poison() {
            return Qualified::plain(Ty::ERROR);
        }
        let named = matches!(
            expr.kind,
            crate::syntax::ast::ExprKind::Path(_) | crate::syntax::ast::ExprKind::Member { .. }
        );
        match operand.as_place() {
            Some(lvalue) => Qualified {
                ty: operand.ty,
                is_const: lvalue.is_const,
                space: (!named).then_some(lvalue.space),
                is_reference: !named,
            },
            None => Qualified::plain(operand.ty),
        }
    }

    fn type_of_function(&mut self, set: &FunctionSet<'a>, span: Span) -> Qualified {
        let [id] = self.versions(set, None)[..] else {
            self.fail(Diagnostic::error(
                span,
                format!("`{}` could mean several functions", set.name),
            ));
            return Qualified::plain(Ty::ERROR);
        };
        let Some(signature) = self.functions[id].signature.clone() else {
            return Qualified::plain(Ty::ERROR);
        };
        let result = signature.result.unwrap_or(Qualified::plain(Ty::VOID));
        self.function_type(result, signature.params.clone())
    }

    /// The type of functions with this result and these parameters.
    fn function_type(&mut self, result: Qualified, params: Vec<Qualified>) -> Qualified {
        let of = (result, params);
        let known = self.function_types.iter().position(|known| *known == of);
        let index = known.unwrap_or_else(|| {
            self.function_types.push(of);
            self.function_types.len() - 1
        });
        Qualified::plain(self.types.intern(Kind::Function(index)))
    }

    /// Whether a type has `auto` in it.
    pub(super) fn mentions_auto(ty: &TypeExpr) -> bool {
        match &ty.kind {
            TypeExprKind::Auto => true,
            TypeExprKind::Pointer(inner)
            | TypeExprKind::Reference(inner)
            | TypeExprKind::Array(inner, _)
            | TypeExprKind::Qualified { inner, .. } => Self::mentions_auto(inner),
            _ => false,
        }
    }

    /// The declared type of a variable whose `auto` comes from `initial`.
    pub(super) fn resolve_auto(
        &mut self,
        ty: &'a TypeExpr,
        initial: &super::operand::Operand<'a>,
    ) -> Qualified {
        let mut value = Qualified::plain(initial.ty);
        let mut pattern = ty;
        loop {
            match &pattern.kind {
                TypeExprKind::Qualified { inner, .. } => pattern = inner,
                TypeExprKind::Reference(inner) => {
                    if let Some(lvalue) = initial.as_place() {
                        value = Qualified {
                            ty: initial.ty,
                            is_const: lvalue.is_const,
                            space: Some(lvalue.space),
                            is_reference: false,
                        };
                    }
                    pattern = inner;
                }
                TypeExprKind::Pointer(inner) => {
                    let decayed = match self.types.kind(value.ty) {
                        Kind::Array(element, _) => initial.as_place().map(|lvalue| Qualified {
                            ty: element,
                            is_const: lvalue.is_const,
                            space: Some(lvalue.space),
                            is_reference: false,
                        }),
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
                        _ => None,
                    };
                    let Some(pointee) = decayed else {
                        let name = self.type_name(value.ty);
                        self.fail(Diagnostic::error(
                            initial.span,
                            format!("`auto *` needs a pointer, and this is `{name}`"),
                        ));
                        return Qualified::plain(Ty::ERROR);
                    };
                    value = pointee;
                    pattern = inner;
                }
                TypeExprKind::Auto => break,
                _ => return self.resolve(ty),
            }
        }
        let is_reference = matches!(&Self::unqualified(ty).kind, TypeExprKind::Reference(_));
        if !is_reference {
            if let (Kind::Array(element, _), Some(lvalue)) =
                (self.types.kind(value.ty), initial.as_place())
            {
                let (space, is_const) = (lvalue.space, lvalue.is_const);
                value.ty = self.types.pointer(space, element, is_const);
            }
            value.ty = self.types.value_type(value.ty);
        }
        let outer = self.context.auto.replace(value);
        let resolved = self.resolve(ty);
        self.context.auto = outer;
        resolved
    }

    /// The type below its outermost qualifiers.
    pub(super) fn unqualified(ty: &TypeExpr) -> &TypeExpr {
        match &ty.kind {
            TypeExprKind::Qualified { inner, .. } => Self::unqualified(inner),
            _ => ty,
        }
    }
}
