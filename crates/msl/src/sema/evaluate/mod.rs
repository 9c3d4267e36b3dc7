//! Constant expressions. Most are folded while they are lowered; for the rest the IR is run.
//!
//! A constant expression is lowered like any other; what folding left over (calls of functions,
//! loops in them) is interpreted here, on values and variables of its own. Device memory and the
//! maths library do not exist at compile time.

mod memory;
mod operations;
mod statements;

use std::collections::HashMap;

use super::Checker;
use super::constant::Constant;
use super::operand::{Operand, Repr};
use super::types::{Kind, Ty};
use crate::diag::{Diagnostic, Span};
use crate::ir::{self, Arena, Block, Handle, Local, Module, Value};
use crate::syntax::ast::Expr;

/// The most statements that one constant expression may run.
const STEP_LIMIT: u64 = 4_000_000;
/// The deepest nesting of calls; there is no recursion, so this is generous.
const CALL_LIMIT: usize = 256;

/// Why an expression is not constant.
struct Failure {
    span: Span,
    reason: String,
}

type Outcome<T> = Result<T, Failure>;

/// A value while constants are computed.
#[derive(Clone)]
enum Datum {
    Constant(Constant),
    Pointer(Address),
}

/// A place in a variable of a running function.
#[derive(Clone)]
struct Address {
    frame: usize,
    local: Handle<Local>,
    path: Vec<u32>,
}

/// A running function.
struct Frame<'m> {
    types: &'m Arena<Value>,
    values: HashMap<Handle<Value>, Datum>,
    locals: HashMap<Handle<Local>, Datum>,
    local_types: &'m Arena<Local>,
    /// Variables before this belong to the code around the constant expression.
    first_local: usize,
}

/// Where a block went.
enum Flow {
    Next,
    Break,
    Continue,
    Return(Option<Datum>),
}

struct Evaluator<'m> {
    module: &'m Module,
    frames: Vec<Frame<'m>>,
    steps: u64,
}

impl<'a> Checker<'a> {
    /// The value of a constant expression converted to a type.
    pub(super) fn constant_value(
        &mut self,
        expr: &'a Expr,
        ty: Ty,
        what: &str,
    ) -> Option<Constant> {
        let mark = (self.context.locals.len(), self.context.values.len());
        let (operand, block) = self.in_block(|checker| {
            let operand = checker.expression(expr);
            let operand = if ty == Ty::BOOL {
                checker.condition(operand)
            } else {
                checker.convert(operand, ty, what)
            };
            checker.rvalue(operand)
        });
        self.constant_of(&operand, block, mark, what)
    }

    /// The value of a constant expression of an integer type, whatever that is.
    pub(super) fn constant_int(&mut self, expr: &'a Expr, what: &str) -> Option<i64> {
        let mark = (self.context.locals.len(), self.context.values.len());
        let (operand, block) = self.in_block(|checker| {
            let operand = checker.expression(expr);
            checker.promoted(operand)
        });
        if operand.is_poison() {
            return None;
        }
        let is_integer = match self.types.kind(operand.ty) {
            Kind::Scalar(scalar) => !scalar.is_float(),
            Kind::Enum(_) => true,
            _ => false,
        };
        if !is_integer {
            let name = self.operand_type_name(&operand);
            self.fail(
                Diagnostic::error(expr.span, format!("{what} must be an integer"))
                    .with_label(format!("this is `{name}`")),
            );
            return None;
        }
        self.constant_of(&operand, block, mark, what)?.as_int()
    }

    /// The constant that an operand and the block before it come to.
    pub(super) fn constant_of(
        &mut self,
        operand: &Operand<'a>,
        block: ir::Block,
        mark: (usize, usize),
        what: &str,
    ) -> Option<Constant> {
        match &operand.repr {
            Repr::Poison => None,
            Repr::Constant(value) => Some(value.clone()),
            _ => self.run_constant(operand, block, mark, what),
        }
    }

    /// Runs what a constant expression was lowered to, and gives its value. The variables and
    /// values that it made, from `mark` on, are dropped.
    pub(super) fn run_constant(
        &mut self,
        operand: &Operand<'a>,
        block: Block,
        mark: (usize, usize),
        what: &str,
    ) -> Option<Constant> {
        let Repr::Value(result) = operand.repr else {
            if !operand.is_poison() {
                self.report_not_constant(
                    operand.span,
                    what,
                    "its value is only known when the kernel runs",
                );
            }
            return None;
        };
        let mut evaluator = Evaluator {
            module: &self.module,
            frames: vec![Frame {
                types: &self.context.values,
                values: HashMap::new(),
                locals: HashMap::new(),
                local_types: &self.context.locals,
                first_local: mark.0,
            }],
            steps: 0,
        };
        let outcome = evaluator
            .block(&block)
            .and_then(|_| evaluator.constant(result, operand.span));
        self.context.locals.truncate(mark.0);
        self.context.values.truncate(mark.1);
        match outcome {
            Ok(value) => Some(value),
            Err(failure) => {
                self.report_not_constant(failure.span, what, &failure.reason);
                None
            }
        }
    }

    fn report_not_constant(&mut self, span: Span, what: &str, reason: &str) {
        self.fail(
            Diagnostic::error(
                span,
                format!("{what} must be known when the kernel is compiled"),
            )
            .with_label(reason),
        );
    }
}

fn failure<T>(span: Span, reason: impl Into<String>) -> Outcome<T> {
    Err(Failure {
        span,
        reason: reason.into(),
    })
}

impl<'m> Evaluator<'m> {
    fn frame(&mut self, span: Span) -> Outcome<&mut Frame<'m>> {
        match self.frames.last_mut() {
            Some(frame) => Ok(frame),
            None => failure(span, "no function is running"),
        }
    }

    fn step(&mut self, span: Span) -> Outcome<()> {
        self.steps += 1;
        if self.steps > STEP_LIMIT {
            return failure(span, "it takes too many steps to compute");
        }
        Ok(())
    }
}
