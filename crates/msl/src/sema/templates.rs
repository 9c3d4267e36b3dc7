//! Templates: declared, and refused where they are used, until their instances are made.

use std::rc::Rc;

use super::Checker;
use super::constant::Constant;
use super::functions::FunctionInfo;
use super::operand::Operand;
use super::scope::{Entity, Environment, FunctionId, TemplateId};
use super::types::{StructId, Ty};
use crate::diag::{Diagnostic, Span};
use crate::syntax::ast;

/// What a template parameter stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Argument {
    #[expect(dead_code, reason = "template instances will read it")]
    Type(Ty),
}

/// A struct, alias or variable template.
pub(super) struct Template<'a> {
    pub name: &'a ast::Ident,
}

impl<'a> Checker<'a> {
    fn refuse_template(&mut self, span: Span) {
        self.fail(
            Diagnostic::error(span, "templates are not supported yet")
                .with_hint("write the function or type out, or make it with a macro"),
        );
    }

    fn declare_template(&mut self, name: &'a ast::Ident, owner: Option<StructId>) {
        let id = self.templates.len();
        self.templates.push(Template { name });
        self.declare_anywhere(owner, name, Entity::Template(id));
    }

    pub(super) fn declare_struct_template(
        &mut self,
        ast: &'a ast::Struct,
        span: Span,
        owner: Option<StructId>,
        _environment: Option<Rc<Environment<'a>>>,
    ) {
        match &ast.name {
            Some(name) if ast.specialization.is_none() => self.declare_template(name, owner),
            _ => self.refuse_template(span),
        }
    }

    pub(super) fn declare_alias_template(
        &mut self,
        name: &'a ast::Ident,
        _ty: &'a ast::TypeExpr,
        _template: Option<&'a ast::Template>,
        owner: Option<StructId>,
        _environment: Option<Rc<Environment<'a>>>,
    ) {
        self.declare_template(name, owner);
    }

    pub(super) fn declare_variable_template(
        &mut self,
        variable: &'a ast::Variable,
        owner: Option<StructId>,
        _environment: Option<Rc<Environment<'a>>>,
    ) {
        match variable.specialization {
            None => self.declare_template(&variable.name, owner),
            Some(_) => self.refuse_template(variable.span),
        }
    }

    pub(super) fn specialise_function(&mut self, info: FunctionInfo<'a>) {
        self.refuse_template(info.ast.name.span);
    }

    pub(super) fn explicit_instantiation(&mut self, function: &'a ast::Function) {
        self.refuse_template(function.name.span);
    }

    pub(super) fn instantiate_named(
        &mut self,
        id: TemplateId,
        _args: &'a [ast::TemplateArg],
        span: Span,
    ) -> Option<Entity<'a>> {
        let declared = self.templates.get(id).map(|t| t.name.span);
        self.fail(
            Diagnostic::error(span, "templates are not supported yet")
                .with_related(declared.unwrap_or(span), "declared here"),
        );
        None
    }

    pub(super) fn deduce_instance(
        &mut self,
        _id: FunctionId,
        _explicit: Option<&'a [ast::TemplateArg]>,
        _args: &[Operand<'a>],
        span: Span,
    ) -> Option<FunctionId> {
        self.refuse_template(span);
        None
    }

    pub(super) fn deduce_conversion(&mut self, _id: FunctionId, _to: Ty) -> Option<FunctionId> {
        None
    }

    pub(super) fn explain_deduction(
        &mut self,
        _id: FunctionId,
        _explicit: Option<&'a [ast::TemplateArg]>,
        _args: &[Operand<'a>],
    ) -> String {
        "templates are not supported yet".to_string()
    }

    pub(super) fn most_specialised(
        &self,
        _candidates: &[FunctionId],
        _total: usize,
    ) -> Option<FunctionId> {
        None
    }

    /// The value that a template argument's constant has; kept for instances.
    pub(super) fn run_constant(
        &mut self,
        operand: &Operand<'a>,
        _block: crate::ir::Block,
        _mark: (usize, usize),
        what: &str,
    ) -> Option<Constant> {
        self.fail(
            Diagnostic::error(
                operand.span,
                format!("{what} must be known at compile time"),
            )
            .with_label("this is computed when the kernel runs"),
        );
        None
    }
}
