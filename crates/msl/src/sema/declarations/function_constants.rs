//! Function constants, which the program gives a value when it makes the pipeline: declaring them,
//! and asking about them. No value is known here.

use super::globals::GlobalState;
use crate::diag::{Diagnostic, Span};
use crate::ir::{self, Handle, Op};
use crate::sema::Checker;
use crate::sema::operand::Operand;
use crate::sema::scope::{Entity, GlobalId};
use crate::sema::types::Ty;
use crate::syntax::ast::{self, Expr, ExprKind};

/// Where the value of a function constant, or of a constant made of them, comes from.
pub(in crate::sema) enum ConstantSource<'a> {
    Given(Handle<ir::FunctionConstant>),
    Derived(&'a Expr),
}

impl<'a> Checker<'a> {
    pub(super) fn function_constant(
        &mut self,
        id: GlobalId,
        variable: &'a ast::Variable,
        attribute: &'a ast::Attribute,
    ) {
        let [arg] = &attribute.args[..] else {
            self.fail(
                Diagnostic::error(attribute.name.span, "a function constant needs its index")
                    .with_hint("write `[[function_constant(0)]]`"),
            );
            return;
        };
        let Some(index) = self.constant_int(arg, "the index of a function constant") else {
            return;
        };
        if !(0..=65_535).contains(&index) {
            self.fail(Diagnostic::error(
                arg.span,
                "the index of a function constant is 0 to 65535",
            ));
            return;
        }
        if let Some(initial) = &variable.initial {
            self.fail(
                Diagnostic::error(initial.span, "a function constant has no value of its own")
                    .with_hint("the program gives it one when it makes the pipeline"),
            );
            return;
        }
        let ty = self.globals[id].ty;
        if self.types.as_vector(ty).is_none() {
            let name = self.type_name(ty);
            self.fail(Diagnostic::error(
                variable.span,
                format!("a function constant is a scalar or vector, not `{name}`"),
            ));
            return;
        }
        let index = index as u32;
        let taken = self
            .module
            .function_constants
            .iter()
            .find(|(_, c)| c.index == index)
            .map(|(_, c)| c.name.clone());
        if let Some(other) = taken {
            self.fail(Diagnostic::error(
                arg.span,
                format!("function constant {index} is already `{other}`"),
            ));
            return;
        }
        let ir_type = self.ir_type(ty);
        let handle = self.module.function_constants.push(ir::FunctionConstant {
            name: variable.name.name.clone(),
            index,
            ty: ir_type,
        });
        self.globals[id].state = GlobalState::FunctionConstant(handle);
    }

    /// Where a bool of program scope gets its value from, if function constants say it.
    pub(in crate::sema) fn constant_source(&self, id: GlobalId) -> Option<ConstantSource<'a>> {
        let global = &self.globals[id];
        match global.state {
            _ if global.ty != Ty::BOOL => None,
            GlobalState::FunctionConstant(handle) => Some(ConstantSource::Given(handle)),
            GlobalState::Derived(initial) => Some(ConstantSource::Derived(initial)),
            _ => None,
        }
    }

    /// `is_function_constant_defined(name)`.
    pub(in crate::sema) fn function_constant_defined(
        &mut self,
        args: &'a [Expr],
        span: Span,
    ) -> Operand<'a> {
        let entity = match args {
            [
                Expr {
                    kind: ExprKind::Path(path),
                    ..
                },
            ] => self.resolve_path(path),
            _ => None,
        };
        if let Some(Entity::Global(id)) = entity
            && let GlobalState::FunctionConstant(handle) = self.globals[id].state
        {
            self.mentions_function_constant = true;
            let ty = self.ir_type(Ty::BOOL);
            let value = self
                .context
                .emit(Op::FunctionConstantDefined(handle), ty, span);
            return Operand::value(Ty::BOOL, value, span);
        }
        self.fail(
            Diagnostic::error(
                span,
                "`is_function_constant_defined` takes the name of a function constant",
            )
            .with_hint("a program-scope `constant` variable with `[[function_constant(n)]]`"),
        );
        Operand::poison(span)
    }
}
