//! Calling a function of the program that fits: its object, its arguments and its defaults. The
//! conversions themselves are in `conversions`.

use crate::diag::{Diagnostic, Span};
use crate::ir::{AddressSpace, Handle, Value};
use crate::sema::Checker;
use crate::sema::operand::Operand;
use crate::sema::scope::FunctionId;
use crate::sema::types::{Kind, Qualified};

impl<'a> Checker<'a> {
    /// Calls a function of the program with arguments that fit it.
    pub(in crate::sema) fn call_user(
        &mut self,
        id: FunctionId,
        object: Option<&Operand<'a>>,
        args: Vec<Operand<'a>>,
        span: Span,
    ) -> Operand<'a> {
        if self.functions[id].ast.is_kernel {
            self.fail(
                Diagnostic::error(span, "a kernel cannot be called")
                    .with_hint("move the shared code to a function that both use"),
            );
            return Operand::poison(span);
        }
        let Some(signature) = self.functions[id].signature.clone() else {
            return Operand::poison(span);
        };
        let mut values = Vec::new();
        if signature.object.is_some() {
            let object = match (object, self.context.this.clone()) {
                (Some(object), _) => object.clone(),
                (None, Some(this)) => Operand::place(this.ty, this, span),
                (None, None) => return Operand::poison(span),
            };
            let owner = self.functions[id].owner;
            let object = self.in_memory(object);
            let object = match (self.types.kind(object.ty), owner) {
                (Kind::Struct(of), Some(owner)) if of != owner => {
                    self.base_object(object, owner, span)
                }
                _ => object,
            };
            let pointer = self.address_of(object, span);
            values.push(self.value(&pointer));
        }
        let given = args.len();
        for (arg, &param) in args.into_iter().zip(&signature.params) {
            match self.pass(arg, param) {
                Some(value) => values.push(value),
                None => return Operand::poison(span),
            }
        }
        for index in given..signature.params.len() {
            let Some(default) = self.functions[id]
                .ast
                .params
                .get(index)
                .and_then(|p| p.default.as_ref())
            else {
                return Operand::poison(span);
            };
            let default = self.in_function_scope(id, |checker| checker.expression(default));
            match self.pass(default, signature.params[index]) {
                Some(value) => values.push(value),
                None => return Operand::poison(span),
            }
        }
        self.emit_call(id, values, span)
    }

    /// An argument as the parameter takes it: converted, or as a pointer for a reference.
    fn pass(&mut self, arg: Operand<'a>, param: Qualified) -> Option<Handle<Value>> {
        if !param.is_reference {
            let arg = self.convert(arg, param.ty, "the parameter");
            let arg = self.rvalue(arg);
            return (!arg.is_poison()).then(|| self.value(&arg));
        }
        let space = param.space.unwrap_or(AddressSpace::Thread);
        let binds = arg.as_place().is_some_and(|lvalue| {
            lvalue.is_plain()
                && lvalue.space == space
                && (param.is_const || !lvalue.is_const)
                && !self.is_vector_part(lvalue)
        });
        let related = arg.ty == param.ty || self.is_base_of(param.ty, arg.ty);
        let arg = if binds && related {
            arg
        } else if let (AddressSpace::Constant, Some(value)) = (space, arg.as_constant()) {
            let value = value.clone();
            self.constant_place(param.ty, value, arg.span)
        } else {
            let part = arg
                .as_place()
                .is_some_and(|l| l.swizzle.is_some() || self.is_vector_part(l));
            if part && !param.is_const {
                self.fail(
                    Diagnostic::error(
                        arg.span,
                        "a component of a vector cannot be passed by reference",
                    )
                    .with_hint("copy it to a variable, and back after the call"),
                );
                return None;
            }
            let arg = self.convert(arg, param.ty, "the parameter");
            let arg = self.rvalue(arg);
            self.in_memory(arg)
        };
        let span = arg.span;
        let arg = match (self.types.kind(arg.ty), self.types.kind(param.ty)) {
            (Kind::Struct(of), Kind::Struct(base)) if of != base => {
                self.base_object(arg, base, span)
            }
            _ => arg,
        };
        let pointer = self.address_of(arg, span);
        (!pointer.is_poison()).then(|| self.value(&pointer))
    }
}
