//! Constant expressions that are more than one folded operator: their IR is run.
//!
//! A constant expression is lowered like any other; what folding left over (calls of functions,
//! loops in them) is interpreted here, on values and variables of its own. Device memory and the
//! maths library do not exist at compile time.

use std::collections::HashMap;
use std::rc::Rc;

use super::Checker;
use super::constant::{self, Constant};
use super::operand::{Operand, Repr};
use crate::diag::{Diagnostic, Span};
use crate::ir::{
    Arena, Block, Function, Handle, Local, MathFunction, Module, Op, Place, PlaceBase, Projection,
    Scalar, Statement, Type, Value,
};

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

    fn block(&mut self, block: &Block) -> Outcome<Flow> {
        for statement in block {
            match self.statement(statement)? {
                Flow::Next => {}
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, statement: &Statement) -> Outcome<Flow> {
        match statement {
            Statement::Let(value, op) => {
                let span = self.frame(Span::default())?.types[*value].span;
                self.step(span)?;
                let result = self.op(*value, op, span)?;
                self.frame(span)?.values.insert(*value, result);
            }
            Statement::Store { place, value, span } => {
                self.step(*span)?;
                let value = self.datum(*value, *span)?;
                self.store(place, value, *span)?;
            }
            Statement::If {
                condition,
                accept,
                reject,
                span,
            } => {
                let truth = self.truth(*condition, *span)?;
                return self.block(if truth { accept } else { reject });
            }
            Statement::Loop {
                header,
                condition,
                body,
                step,
                test_first,
                span,
            } => return self.run_loop((header, *condition), body, step, *test_first, *span),
            Statement::Switch {
                selector,
                arms,
                span,
            } => {
                let value = self.integer(*selector, *span)?;
                let start = arms
                    .iter()
                    .position(|arm| arm.values.contains(&value))
                    .or_else(|| arms.iter().position(|arm| arm.is_default));
                for arm in arms.iter().skip(start.unwrap_or(arms.len())) {
                    match self.block(&arm.body)? {
                        Flow::Next => {}
                        Flow::Break => break,
                        flow => return Ok(flow),
                    }
                }
            }
            Statement::Break(_) => return Ok(Flow::Break),
            Statement::Continue(_) => return Ok(Flow::Continue),
            Statement::Return(value, span) => {
                let value = value.map(|value| self.datum(value, *span)).transpose()?;
                return Ok(Flow::Return(value));
            }
            Statement::Barrier { span, .. } => {
                return failure(*span, "a barrier only exists on the device");
            }
        }
        Ok(Flow::Next)
    }

    fn run_loop(
        &mut self,
        (header, condition): (&Block, Handle<Value>),
        body: &Block,
        step: &Block,
        test_first: bool,
        span: Span,
    ) -> Outcome<Flow> {
        let mut test = test_first;
        loop {
            self.step(span)?;
            if test {
                self.block(header)?;
                if !self.truth(condition, span)? {
                    return Ok(Flow::Next);
                }
            }
            test = true;
            match self.block(body)? {
                Flow::Break => return Ok(Flow::Next),
                Flow::Return(value) => return Ok(Flow::Return(value)),
                Flow::Next | Flow::Continue => {}
            }
            self.block(step)?;
        }
    }

    fn datum(&mut self, value: Handle<Value>, span: Span) -> Outcome<Datum> {
        match self.frame(span)?.values.get(&value) {
            Some(datum) => Ok(datum.clone()),
            None => failure(
                span,
                "it depends on a value that is only known when the kernel runs",
            ),
        }
    }

    fn constant(&mut self, value: Handle<Value>, span: Span) -> Outcome<Constant> {
        match self.datum(value, span)? {
            Datum::Constant(constant) => Ok(constant),
            Datum::Pointer(_) => failure(span, "an address is only known when the kernel runs"),
        }
    }

    fn integer(&mut self, value: Handle<Value>, span: Span) -> Outcome<i64> {
        match self.constant(value, span)?.as_int() {
            Some(value) => Ok(value),
            None => failure(span, "this is not an integer"),
        }
    }

    fn truth(&mut self, value: Handle<Value>, span: Span) -> Outcome<bool> {
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

    fn op(&mut self, result: Handle<Value>, op: &Op, span: Span) -> Outcome<Datum> {
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

    /// Where a place is; only variables have addresses here.
    fn address(&mut self, place: &Place, span: Span) -> Outcome<Address> {
        let depth = self.frames.len() - 1;
        let mut address = match place.base {
            PlaceBase::Local(local) => Address {
                frame: depth,
                local,
                path: Vec::new(),
            },
            PlaceBase::Pointer(pointer) => match self.datum(pointer, span)? {
                Datum::Pointer(address) => address,
                Datum::Constant(_) => return failure(span, "this pointer is null"),
            },
            PlaceBase::Threadgroup(_) => {
                return failure(span, "threadgroup memory only exists on the device");
            }
            PlaceBase::Constant(_) => {
                return failure(
                    span,
                    "a constant's element is only chosen when the kernel runs",
                );
            }
        };
        for step in &place.path {
            address.path.push(self.step_index(step, span)?);
        }
        Ok(address)
    }

    fn step_index(&mut self, step: &Projection, span: Span) -> Outcome<u32> {
        match step {
            Projection::Field(index) | Projection::Element(index) => Ok(*index),
            Projection::Index(value) => match u32::try_from(self.integer(*value, span)?) {
                Ok(index) => Ok(index),
                Err(_) => failure(span, "this index is outside its array"),
            },
        }
    }

    fn load(&mut self, place: &Place, span: Span) -> Outcome<Datum> {
        if let PlaceBase::Constant(data) = place.base {
            return self.load_data(data, place, span);
        }
        let address = self.address(place, span)?;
        let known = self
            .frames
            .get(address.frame)
            .and_then(|f| f.locals.get(&address.local));
        let Some(datum) = known else {
            return failure(
                span,
                "it reads a variable whose value is only known when the kernel runs",
            );
        };
        match datum {
            Datum::Pointer(_) => Ok(datum.clone()),
            Datum::Constant(whole) => {
                let mut part = whole;
                for &index in &address.path {
                    match part.part(index as usize) {
                        Some(inner) => part = inner,
                        None => return failure(span, "this index is outside its array"),
                    }
                }
                Ok(Datum::Constant(part.clone()))
            }
        }
    }

    /// An element of a program-scope constant.
    fn load_data(
        &mut self,
        data: Handle<crate::ir::ConstantData>,
        place: &Place,
        span: Span,
    ) -> Outcome<Datum> {
        let module = self.module;
        let data = &module.constants[data];
        let (mut ty, mut at) = (data.ty, 0usize);
        for step in &place.path {
            let index = self.step_index(step, span)?;
            let (part, offset, len) = match &module.types[ty] {
                Type::Array(element, len) => (
                    *element,
                    index as usize * module.types.stride(*element) as usize,
                    *len,
                ),
                Type::Struct(of) => match module.types.structs[*of].fields.get(index as usize) {
                    Some(field) => (field.ty, field.offset as usize, u32::MAX),
                    None => return failure(span, "there is no such field"),
                },
                _ => return failure(span, "this part is only read when the kernel runs"),
            };
            if index >= len {
                return failure(span, "this index is outside its array");
            }
            (ty, at) = (part, at + offset);
        }
        match constant::read_bytes(&module.types, ty, data.bytes.get(at..).unwrap_or(&[])) {
            Some(value) => Ok(Datum::Constant(value)),
            None => failure(span, "this value is only read when the kernel runs"),
        }
    }

    fn store(&mut self, place: &Place, value: Datum, span: Span) -> Outcome<()> {
        let address = self.address(place, span)?;
        let module = self.module;
        let Some(frame) = self.frames.get_mut(address.frame) else {
            return failure(span, "this variable is gone");
        };
        if address.local.index() < frame.first_local {
            return failure(span, "it changes a variable outside of the expression");
        }
        if address.path.is_empty() {
            frame.locals.insert(address.local, value);
            return Ok(());
        }
        let Datum::Constant(value) = value else {
            return failure(span, "an address is only known when the kernel runs");
        };
        let ty = frame.local_types[address.local].ty;
        let whole = frame
            .locals
            .entry(address.local)
            .or_insert_with(|| Datum::Constant(zero(module, ty)));
        let Datum::Constant(mut part) = std::mem::replace(whole, Datum::Constant(Constant::Int(0)))
        else {
            return failure(span, "an address has no parts");
        };
        let stored = replace_part(&mut part, &address.path, value);
        *whole = Datum::Constant(part);
        if stored {
            Ok(())
        } else {
            failure(span, "this index is outside its array")
        }
    }
}

/// Puts a value at the end of a path of parts.
fn replace_part(whole: &mut Constant, path: &[u32], value: Constant) -> bool {
    let Some((first, rest)) = path.split_first() else {
        *whole = value;
        return true;
    };
    let Constant::Composite(parts) = whole else {
        return false;
    };
    match Rc::make_mut(parts).get_mut(*first as usize) {
        Some(part) => replace_part(part, rest, value),
        None => false,
    }
}

/// All bytes zero.
fn zero(module: &Module, ty: Handle<Type>) -> Constant {
    let types = &module.types;
    match &types[ty] {
        Type::Scalar(scalar) => Constant::zero(*scalar),
        Type::Vector(scalar, len, _) => {
            Constant::Composite(vec![Constant::zero(*scalar); usize::from(*len)].into())
        }
        Type::Matrix {
            scalar,
            columns,
            rows,
        } => {
            let column =
                Constant::Composite(vec![Constant::zero(*scalar); usize::from(*rows)].into());
            Constant::Composite(vec![column; usize::from(*columns)].into())
        }
        Type::Array(element, len) => {
            Constant::Composite(vec![zero(module, *element); (*len).min(1 << 20) as usize].into())
        }
        Type::Struct(of) => {
            let fields = types.structs[*of].fields.iter().map(|f| zero(module, f.ty));
            Constant::Composite(fields.collect())
        }
        _ => Constant::Int(0),
    }
}
