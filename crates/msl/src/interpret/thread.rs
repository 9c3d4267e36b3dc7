//! One thread: its calls, and what each step and operation does to it.

use super::arithmetic;
use super::check::Passed;
use super::matrices::is_shared;
use super::memory::{How, ObjectNumber, Space, moved, order, parts, pointer};
use super::steps::Step;
use super::values::{Data, Number, Numbers};
use super::{Error, Machine, Result};
use crate::diag::Span;
use crate::ir::{
    AtomicOp, BinaryOp, Function, Handle, Literal, Local, MathFunction, Op, Place, Scalar, Type,
    Value,
};

/// Whether a thread can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It can.
    Running,
    /// Its next step needs other threads.
    Waiting,
    /// It returned here.
    Finished(Span),
}

/// A call in progress.
#[derive(Debug)]
pub struct Frame {
    /// Whose.
    pub function: Handle<Function>,
    /// The next step.
    pub at: usize,
    values: Vec<Data>,
    /// The object of each variable; 0 until it is needed.
    locals: Vec<ObjectNumber>,
    /// The loops around the next step: where they start, and in which round they are.
    loops: Vec<(usize, u64)>,
}

impl Frame {
    fn new(handle: Handle<Function>, function: &Function) -> Self {
        let mut values = Vec::new();
        values.resize_with(function.values.len(), Data::default);
        Self {
            function: handle,
            at: 0,
            values,
            locals: vec![0; function.locals.len()],
            loops: Vec::new(),
        }
    }
}

/// A thread.
#[derive(Debug)]
pub struct Thread {
    /// Its number in its threadgroup.
    pub index: usize,
    /// Its position in the grid.
    pub position: [u64; 3],
    /// The number of its threadgroup.
    pub group: u64,
    /// The barriers it has passed.
    pub passed: Passed,
    /// Whether it can go on.
    pub state: State,
    frames: Vec<Frame>,
}

impl Thread {
    /// The call that it is in.
    pub fn frame(&self) -> &Frame {
        &self.frames[self.frames.len() - 1]
    }

    fn frame_mut(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// A value of the call that it is in.
    pub fn value(&self, value: Handle<Value>) -> &Data {
        &self.frame().values[value.index()]
    }

    /// Gives the value that it waits for and lets it go on.
    pub fn resume(&mut self, value: Option<(Handle<Value>, Data)>) {
        let frame = self.frame_mut();
        if let Some((value, data)) = value {
            frame.values[value.index()] = data;
        }
        frame.at += 1;
        self.state = State::Running;
    }

    /// Where it is: threads with equal paths are at the same step in the same rounds of the same
    /// loops of the same calls, and a lesser path is an earlier one.
    pub fn path(&self) -> Vec<u64> {
        let mut path = Vec::new();
        for frame in &self.frames {
            for &(start, round) in &frame.loops {
                path.extend([start as u64, round]);
            }
            path.push(frame.at as u64);
        }
        path
    }
}

impl<'m> Machine<'m, '_> {
    /// A thread about to enter the kernel, given its arguments.
    pub fn new_thread(
        &mut self,
        (index, position, group): (usize, [u64; 3], u64),
        arguments: Vec<Data>,
    ) -> Result<Thread> {
        let mut thread = Thread {
            index,
            position,
            group,
            passed: Passed::default(),
            state: State::Running,
            frames: Vec::new(),
        };
        self.enter(&mut thread, self.kernel.function, arguments)?;
        Ok(thread)
    }

    fn enter(
        &mut self,
        thread: &mut Thread,
        handle: Handle<Function>,
        arguments: Vec<Data>,
    ) -> Result<()> {
        let function = &self.module.functions[handle];
        thread.frames.push(Frame::new(handle, function));
        for (&param, argument) in function.params.iter().zip(arguments) {
            let object = self.local(thread, param);
            let local = &function.locals[param];
            let at = pointer(object, 0);
            self.store(thread, at, local.ty, &argument, (local.span, How::Write))?;
        }
        Ok(())
    }

    /// The object of a variable of the call that the thread is in.
    pub fn local(&mut self, thread: &mut Thread, local: Handle<Local>) -> ObjectNumber {
        let frame = thread.frame_mut();
        let object = &mut frame.locals[local.index()];
        if *object == 0 {
            let variable = &self.module.functions[frame.function].locals[local];
            let origin = match &mut self.checker {
                Some(checker) => checker.unwritten(&variable.name, variable.span),
                None => 0,
            };
            let bytes = vec![0; self.shapes.size(variable.ty)];
            let name = variable.name.clone();
            *object = self.memory.own(name, Space::Thread, bytes, origin);
        }
        *object
    }

    /// The number that a scalar value is.
    pub fn number(&self, thread: &Thread, value: Handle<Value>) -> Number {
        self.numbers(thread, value)
            .first()
            .copied()
            .unwrap_or(Number::Integer(0))
    }

    /// The numbers of a scalar or vector value.
    pub fn numbers(&self, thread: &Thread, value: Handle<Value>) -> Numbers {
        let ty = self.type_of(thread, value);
        if matches!(self.module.types[ty], Type::Pointer { .. }) {
            // All that is done with it is to compare it.
            let order = order(thread.value(value).bits());
            return [Number::Integer(order.into())].into_iter().collect();
        }
        let (scalar, count) = self.shapes.vector(ty);
        thread.value(value).numbers(scalar, count)
    }

    /// The type of a value of the call that the thread is in.
    pub fn type_of(&self, thread: &Thread, value: Handle<Value>) -> Handle<Type> {
        self.module.functions[thread.frame().function].values[value].ty
    }

    fn bool_of(&mut self, thread: &Thread, value: Handle<Value>, span: Span) -> bool {
        self.use_value(thread, value, span);
        self.number(thread, value).is_true()
    }

    /// Runs a thread until it ends or waits for others.
    pub fn advance(&mut self, thread: &mut Thread) -> Result<()> {
        while thread.state == State::Running {
            self.count_step(thread)?;
            self.step(thread)?;
        }
        Ok(())
    }

    /// The place of the thread's next step.
    pub fn next_span(&self, thread: &Thread) -> Span {
        let frame = thread.frame();
        match self.code[frame.function.index()].steps[frame.at] {
            Step::Let(value, _) => self.module.functions[frame.function].values[value].span,
            Step::Store { span, .. }
            | Step::JumpUnless { span, .. }
            | Step::Choose { span, .. }
            | Step::Return(_, span)
            | Step::Barrier { span, .. } => span,
            _ => self.module.functions[frame.function].span,
        }
    }

    fn step(&mut self, thread: &mut Thread) -> Result<()> {
        let handle = thread.frame().function;
        let code = &self.code[handle.index()];
        let function = &self.module.functions[handle];
        let at = thread.frame().at;
        let mut next = at + 1;
        match &code.steps[at] {
            Step::Let(_, Op::Simd(..)) | Step::Barrier { .. } => {
                thread.state = State::Waiting;
                return Ok(());
            }
            Step::Let(_, Op::SimdgroupMatrix(op, _)) if is_shared(*op) => {
                thread.state = State::Waiting;
                return Ok(());
            }
            Step::Let(_, Op::Call(callee, args)) => {
                let args = args.iter().map(|&arg| thread.value(arg).clone()).collect();
                return self.enter(thread, *callee, args);
            }
            &Step::Let(value, op) => {
                let of = function.values[value];
                let data = self.evaluate(thread, op, of.ty, of.span)?;
                thread.frame_mut().values[value.index()] = data;
            }
            &Step::Store { place, value, span } => {
                let to = self.resolve(thread, place, (span, false));
                let data = thread.value(value);
                self.store(thread, to, place.ty, data, (span, How::Write))?;
            }
            &Step::Jump(label) => next = code.labels[label],
            &Step::JumpUnless {
                condition,
                label,
                span,
            } => {
                if !self.bool_of(thread, condition, span) {
                    next = code.labels[label];
                }
            }
            Step::Choose {
                selector,
                arms,
                otherwise,
                span,
            } => {
                self.use_value(thread, *selector, *span);
                let chosen = self.number(thread, *selector).integer();
                let scalar = self.shapes.vector(function.values[*selector].ty).0;
                // A ulong's values are written as the longs of the same bits.
                let is_chosen = |&value: &i64| {
                    Number::Integer(value.into()).rounded(scalar).integer() == chosen
                };
                let arm = arms.iter().find(|(values, _)| values.iter().any(is_chosen));
                next = code.labels[arm.map_or(*otherwise, |&(_, label)| label)];
            }
            Step::EnterLoop => thread.frame_mut().loops.push((at, 0)),
            Step::NextRound => {
                if let Some((_, round)) = thread.frame_mut().loops.last_mut() {
                    *round += 1;
                }
            }
            Step::LeaveLoop => {
                thread.frame_mut().loops.pop();
            }
            &Step::Return(value, span) => {
                let result = value.map(|value| thread.value(value).clone());
                self.leave(thread, result.unwrap_or_default(), span);
                return Ok(());
            }
        }
        thread.frame_mut().at = next;
        Ok(())
    }

    /// Ends the call that the thread is in.
    fn leave(&mut self, thread: &mut Thread, result: Data, span: Span) {
        if let Some(frame) = thread.frames.pop() {
            for object in frame.locals.into_iter().filter(|&object| object != 0) {
                self.memory.release(object);
            }
        }
        if thread.frames.is_empty() {
            thread.state = State::Finished(span);
            return;
        }
        let (caller, at) = (thread.frame().function, thread.frame().at);
        if let Step::Let(value, _) = self.code[caller.index()].steps[at] {
            thread.resume(Some((value, result)));
        }
    }

    fn evaluate(
        &mut self,
        thread: &mut Thread,
        op: &Op,
        ty: Handle<Type>,
        span: Span,
    ) -> Result<Data> {
        let size = self.shapes.size(ty);
        let (scalar, count) = self.shapes.vector(ty);
        Ok(match op {
            Op::Literal(literal) => {
                let number = match *literal {
                    Literal::Bool(value) => Number::truth(value),
                    Literal::Int(value) => Number::Integer(value.into()),
                    Literal::Float(value) => Number::Float(value),
                };
                Data::of_numbers(scalar, &[number], size)
            }
            Op::FunctionConstant(handle) => {
                let constant = &self.module.function_constants[*handle];
                let Some(bytes) = self.function_constants.get(&constant.index) else {
                    return Err(Error::MissingConstant {
                        kernel: self.kernel.name.to_string(),
                        place: self.place(span),
                        name: constant.name.to_string(),
                        index: constant.index,
                    });
                };
                let mut bytes = bytes.clone();
                bytes.resize(size, 0);
                bytes.into()
            }
            Op::FunctionConstantDefined(handle) => {
                let index = self.module.function_constants[*handle].index;
                let is_defined = self.function_constants.contains_key(&index);
                vec![u8::from(is_defined)].into()
            }
            Op::Zero => Data::zero(size),
            Op::Compose(values) => {
                let mut data = Data::zero(size);
                let whole = &self.module.types[ty];
                for (index, &value) in (0..).zip(values) {
                    if let Some((offset, size)) = self.part_bytes(whole, index) {
                        data.put(offset, thread.value(value), size);
                    }
                }
                data
            }
            Op::Splat(value) => {
                let mut data = Data::zero(size);
                let step = scalar.size() as usize;
                for index in 0..count {
                    data.put(index * step, thread.value(*value), step);
                }
                data
            }
            Op::Extract(value, index) => {
                let whole = &self.module.types[self.type_of(thread, *value)];
                match self.part_bytes(whole, (*index).into()) {
                    Some((offset, part)) => thread.value(*value).part(offset..offset + part, size),
                    None => Data::zero(size),
                }
            }
            Op::Swizzle(value, components) => {
                let mut data = Data::zero(size);
                let step = scalar.size() as usize;
                for (index, &from) in components.iter().enumerate() {
                    let from = usize::from(from) * step;
                    let part = thread.value(*value).part(from..from + step, step);
                    data.put(index * step, &part, step);
                }
                data
            }
            Op::Unary(op, value) => {
                self.use_value(thread, *value, span);
                let numbers = self.numbers(thread, *value);
                let results: Numbers = numbers.iter().map(|&a| arithmetic::unary(*op, a)).collect();
                Data::of_numbers(scalar, &results, size)
            }
            Op::Binary(op, left, right) => {
                self.use_value(thread, *left, span);
                self.use_value(thread, *right, span);
                let of = self.shapes.vector(self.type_of(thread, *left)).0;
                let (a, b) = (self.numbers(thread, *left), self.numbers(thread, *right));
                self.check_operands(thread, span, (*op, of), &b);
                let results: Numbers = (a.iter().zip(b.iter()))
                    .map(|(&a, &b)| arithmetic::binary(*op, of, a, b))
                    .collect();
                Data::of_numbers(scalar, &results, size)
            }
            Op::Convert(value) => {
                self.use_value(thread, *value, span);
                let numbers = self.numbers(thread, *value);
                let results: Numbers = numbers
                    .iter()
                    .map(|&a| arithmetic::convert(a, scalar))
                    .collect();
                Data::of_numbers(scalar, &results, size)
            }
            Op::Bitcast(value) => {
                let data = thread.value(*value);
                data.part(0..data.bytes.len().min(size), size)
            }
            Op::Select {
                condition,
                accept,
                reject,
            } => {
                self.use_value(thread, *condition, span);
                let conditions = self.numbers(thread, *condition);
                let (accept, reject) = (thread.value(*accept), thread.value(*reject));
                match conditions[..] {
                    [condition] if condition.is_true() => accept.clone(),
                    [_] => reject.clone(),
                    _ => {
                        let mut data = Data::zero(size);
                        let step = scalar.size() as usize;
                        for (index, condition) in conditions.iter().enumerate() {
                            let from = if condition.is_true() { accept } else { reject };
                            let range = index * step..(index + 1) * step;
                            data.put(index * step, &from.part(range, step), step);
                        }
                        data
                    }
                }
            }
            Op::Math(function, args) => {
                for &arg in args {
                    self.use_value(thread, arg, span);
                }
                let all: Vec<_> = args.iter().map(|&arg| self.numbers(thread, arg)).collect();
                let of = args.first().map(|&arg| self.type_of(thread, arg));
                let of = of.map_or(scalar, |ty| self.shapes.vector(ty).0);
                Data::of_numbers(scalar, &mathematics(*function, of, count, &all), size)
            }
            Op::Load(place) => {
                let from = self.resolve(thread, place, (span, false));
                self.load(thread, from, (place.ty, ty), (span, How::Read))?
            }
            Op::AddressOf(place) => Data::of_pointer(self.resolve(thread, place, (span, true))),
            Op::Offset(base, by) => {
                self.use_value(thread, *base, span);
                self.use_value(thread, *by, span);
                let by = self.number(thread, *by).integer();
                let bytes = by * i128::from(self.stride(ty));
                Data::of_pointer(moved(thread.value(*base).bits(), bytes))
            }
            Op::PointerDifference(left, right) => {
                self.use_value(thread, *left, span);
                self.use_value(thread, *right, span);
                let stride = self.stride(self.type_of(thread, *left)).max(1);
                let (_, left) = parts(thread.value(*left).bits());
                let (_, right) = parts(thread.value(*right).bits());
                let count = (left - right) / i64::from(stride);
                Data::of_numbers(scalar, &[Number::Integer(count.into())], size)
            }
            Op::Atomic { op, place, args } => self.atomic(thread, *op, place, args, span)?,
            Op::SimdgroupMatrix(op, args) => self.matrix(thread, *op, args, (ty, span))?,
            // Steps of their own.
            Op::Call(..) | Op::Simd(..) => Data::default(),
        })
    }

    /// Bytes between the pointees of a pointer type.
    fn stride(&self, ty: Handle<Type>) -> u32 {
        match self.module.types[ty] {
            Type::Pointer { pointee, .. } => self.module.types.stride(pointee),
            _ => 1,
        }
    }

    /// Offset and size of a part of a value.
    fn part_bytes(&self, whole: &Type, index: i128) -> Option<(usize, usize)> {
        let size = match *whole {
            Type::Struct(of) => {
                let fields = &self.module.types.structs[of].fields;
                self.shapes.size(fields.get(index as usize)?.ty)
            }
            Type::Array(element, _) => self.shapes.size(element),
            Type::Vector(scalar, ..) => scalar.size() as usize,
            Type::Matrix { scalar, rows, .. } => {
                scalar.size() as usize * usize::from(rows).next_power_of_two()
            }
            _ => return None,
        };
        Some((self.shapes.part(whole, index)?.offset as usize, size))
    }

    fn atomic(
        &mut self,
        thread: &mut Thread,
        op: AtomicOp,
        place: &Place,
        args: &[Handle<Value>],
        span: Span,
    ) -> Result<Data> {
        for &arg in args {
            self.use_value(thread, arg, span);
        }
        let at = self.resolve(thread, place, (span, false));
        let scalar = self.shapes.vector(place.ty).0;
        let arg = |index: usize| thread.value(args[index]);
        let write = (span, How::AtomicWrite);
        if op == AtomicOp::Store {
            self.store(thread, at, place.ty, arg(0), write)?;
            return Ok(Data::default());
        }
        let types = (place.ty, place.ty);
        let old = self.load(thread, at, types, (span, How::AtomicRead))?;
        self.use_data(thread, &old, place.ty, span);
        let new = match op {
            AtomicOp::Load | AtomicOp::Store => return Ok(old),
            AtomicOp::Exchange => arg(0).clone(),
            AtomicOp::CompareExchange if old.bytes == arg(0).bytes => arg(1).clone(),
            AtomicOp::CompareExchange => old.clone(),
            _ => {
                let number = modified(op, scalar, old.number(scalar), arg(0).number(scalar));
                Data::of_numbers(scalar, &[number], old.bytes.len())
            }
        };
        self.store(thread, at, place.ty, &new, write)?;
        Ok(old.bytes.into())
    }
}

/// What an atomic operation makes of what was there and its operand.
fn modified(op: AtomicOp, scalar: Scalar, old: Number, by: Number) -> Number {
    let binary = match op {
        AtomicOp::Add => BinaryOp::Add,
        AtomicOp::Subtract => BinaryOp::Subtract,
        AtomicOp::And => BinaryOp::And,
        AtomicOp::Or => BinaryOp::Or,
        AtomicOp::Xor => BinaryOp::Xor,
        AtomicOp::Min if old.integer() < by.integer() => return old,
        AtomicOp::Max if old.integer() > by.integer() => return old,
        _ => return by,
    };
    arithmetic::binary(binary, scalar, old, by)
}

/// A maths function of scalars or vectors.
fn mathematics(function: MathFunction, scalar: Scalar, count: usize, args: &[Numbers]) -> Numbers {
    use BinaryOp::{Add, Multiply};
    let one = |number| std::iter::once(number).collect();
    match (function, args) {
        (MathFunction::All, [all]) => one(Number::truth(all.iter().all(|n| n.is_true()))),
        (MathFunction::Any, [all]) => one(Number::truth(all.iter().any(|n| n.is_true()))),
        (MathFunction::Dot, [left, right]) => {
            // From the first component on, each product and sum rounded.
            let products = left.iter().zip(right.iter()).map(|(&left, &right)| {
                arithmetic::binary(Multiply, scalar, left, right).rounded(scalar)
            });
            let sum = products.reduce(|sum, product| {
                arithmetic::binary(Add, scalar, sum, product).rounded(scalar)
            });
            sum.into_iter().collect()
        }
        _ => (0..count)
            .map(|index| {
                // The place and length of a bit field are scalars for all components.
                let of_component = |arg: &Numbers| arg.get(index).or(arg.first()).copied();
                let args: Vec<Number> = args.iter().filter_map(of_component).collect();
                arithmetic::function(function, scalar, &args)
            })
            .collect(),
    }
}
