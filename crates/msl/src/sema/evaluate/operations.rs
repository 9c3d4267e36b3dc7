//! The values that the operations of a constant expression give. Folding one operator is the work of
//! `constant`; what is in variables is in `memory`.

use std::collections::HashMap;
use std::rc::Rc;

use super::memory::zero;
use super::{CALL_LIMIT, Datum, Evaluator, Flow, Frame, Outcome, failure};
use crate::diag::Span;
use crate::ir::{Function, Handle, MathFunction, Op, Scalar, Value};
use crate::sema::constant::{self, Constant};

impl<'m> Evaluator<'m> {
    pub(super) fn datum(&mut self, value: Handle<Value>, span: Span) -> Outcome<Datum> {
        match self.frame(span)?.values.get(&value) {
            Some(datum) => Ok(datum.clone()),
            None => failure(
                span,
                "it depends on a value that is only known when the kernel runs",
            ),
        }
    }

    pub(super) fn constant(&mut self, value: Handle<Value>, span: Span) -> Outcome<Constant> {
        match self.datum(value, span)? {
            Datum::Constant(constant) => Ok(constant),
            Datum::Pointer(_) => failure(span, "an address is only known when the kernel runs"),
        }
    }

    pub(super) fn integer(&mut self, value: Handle<Value>, span: Span) -> Outcome<i64> {
        match self.constant(value, span)?.as_int() {
            Some(value) => Ok(value),
            None => failure(span, "this is not an integer"),
        }
    }

    pub(super) fn truth(&mut self, value: Handle<Value>, span: Span) -> Outcome<bool> {
        match self.constant(value, span)?.truth() {
            Some(value) => Ok(value),
            None => failure(span, "this is not a bool"),
        }
    }

    fn scalar_of(&mut self, value: Handle<Value>, span: Span) -> Outcome<Scalar> {
        let ty = self.frame(span)?.types[value].ty;
        match self.module.types.as_vector(ty) {
            Some((scalar, _)) => Ok(scalar),
            None => failure(span, "this is not a number"),
        }
    }

    pub(super) fn op(&mut self, result: Handle<Value>, op: &Op, span: Span) -> Outcome<Datum> {
        let ty = self.frame(span)?.types[result].ty;
        let constant = match op {
            Op::Literal(literal) => match literal {
                crate::ir::Literal::Bool(value) => Constant::Bool(*value),
                crate::ir::Literal::Int(value) => Constant::Int(*value),
                crate::ir::Literal::Float(value) => Constant::Float(*value),
            },
            Op::Zero => zero(self.module, ty),
            Op::Compose(parts) => {
                let parts: Outcome<Vec<_>> = parts
                    .iter()
                    .map(|part| self.constant(*part, span))
                    .collect();
                Constant::Composite(parts?.into())
            }
            Op::Splat(value) => {
                let value = self.constant(*value, span)?;
                let len = self.module.types.as_vector(ty).map_or(1, |(_, len)| len);
                Constant::Composite((0..len).map(|_| value.clone()).collect())
            }
            Op::Extract(value, index) => {
                let value = self.constant(*value, span)?;
                match value.part(*index as usize) {
                    Some(part) => part.clone(),
                    None => return failure(span, "there is no such part"),
                }
            }
            Op::Swizzle(value, components) => {
                let value = self.constant(*value, span)?;
                let parts: Option<Rc<[_]>> = components
                    .iter()
                    .map(|&c| value.part(c as usize).cloned())
                    .collect();
                match parts {
                    Some(parts) => Constant::Composite(parts),
                    None => return failure(span, "there is no such component"),
                }
            }
            Op::Unary(op, value) => {
                let scalar = self.scalar_of(*value, span)?;
                let value = self.constant(*value, span)?;
                match constant::unary(*op, scalar, &value) {
                    Some(value) => value,
                    None => return failure(span, "this operator has no value here"),
                }
            }
            Op::Binary(op, left, right) => {
                let scalar = self.scalar_of(*left, span)?;
                let (l, r) = (self.constant(*left, span)?, self.constant(*right, span)?);
                let divides = matches!(
                    op,
                    crate::ir::BinaryOp::Divide | crate::ir::BinaryOp::Remainder
                );
                if divides && r == Constant::Int(0) {
                    return failure(span, "this divides by zero");
                }
                match constant::binary(*op, scalar, &l, &r) {
                    Some(value) => value,
                    None => return failure(span, "this operator has no value here"),
                }
            }
            Op::Convert(value) => {
                let from = self.scalar_of(*value, span)?;
                let value = self.constant(*value, span)?;
                match self.module.types.as_vector(ty) {
                    Some((to, _)) => constant::convert(from, to, &value),
                    None => return failure(span, "this conversion only exists on the device"),
                }
            }
            Op::Select {
                condition,
                accept,
                reject,
            } => {
                let truth = self.truth(*condition, span)?;
                return self.datum(if truth { *accept } else { *reject }, span);
            }
            Op::Math(function, args) => self.math(*function, args, span)?,
            Op::Load(place) => return self.load(place, span),
            Op::AddressOf(place) => return Ok(Datum::Pointer(self.address(place, span)?)),
            Op::Call(function, args) => return self.call(*function, args, span),
            Op::Bitcast(_) => {
                return failure(span, "bits can only be reinterpreted when the kernel runs");
            }
            Op::FunctionConstant(_) | Op::FunctionConstantDefined(_) => {
                return failure(
                    span,
                    "a function constant is only known when the pipeline is made",
                );
            }
            Op::Offset(..) | Op::PointerDifference(..) => {
                return failure(span, "pointers only exist when the kernel runs");
            }
            Op::Simd(..) | Op::Atomic { .. } | Op::SimdgroupMatrix(..) => {
                return failure(span, "this only exists on the device");
            }
        };
        Ok(Datum::Constant(constant))
    }

    fn math(
        &mut self,
        function: MathFunction,
        args: &[Handle<Value>],
        span: Span,
    ) -> Outcome<Constant> {
        let constants: Outcome<Vec<_>> = args.iter().map(|arg| self.constant(*arg, span)).collect();
        let constants = constants?;
        let less = |checker: &mut Self, l: &Constant, r: &Constant| {
            let scalar = checker.scalar_of(args[0], span)?;
            let result = constant::binary(crate::ir::BinaryOp::Less, scalar, l, r);
            Ok(result.and_then(|value| value.truth()))
        };
        let chosen = match (function, &constants[..]) {
            (MathFunction::Max, [l, r]) => {
                less(self, l, r)?.map(|less| if less { r } else { l }.clone())
            }
            (MathFunction::Min, [l, r]) => {
                less(self, l, r)?.map(|less| if less { l } else { r }.clone())
            }
            _ => None,
        };
        match chosen {
            Some(value) => Ok(value),
            None => failure(
                span,
                format!(
                    "`{}` is computed on the device, not by the compiler",
                    function.name()
                ),
            ),
        }
    }

    fn call(
        &mut self,
        function: Handle<Function>,
        args: &[Handle<Value>],
        span: Span,
    ) -> Outcome<Datum> {
        if self.frames.len() >= CALL_LIMIT {
            return failure(span, "the calls are nested too deeply");
        }
        let module = self.module;
        let callee = &module.functions[function];
        let mut locals = HashMap::new();
        for (param, arg) in callee.params.iter().zip(args) {
            locals.insert(*param, self.datum(*arg, span)?);
        }
        self.frames.push(Frame {
            types: &callee.values,
            values: HashMap::new(),
            locals,
            local_types: &callee.locals,
            first_local: 0,
        });
        let flow = self.block(&callee.body);
        self.frames.pop();
        match flow? {
            Flow::Return(Some(value)) => Ok(value),
            _ => Ok(Datum::Constant(Constant::Int(0))),
        }
    }
}
