//! One thread: its calls, and what each step does to it.

use super::matrices::is_shared;
use super::memory::{How, ObjectNumber, Space, order, pointer};
use super::races::Passed;
use super::steps::Step;
use super::values::{Data, Number, Numbers};
use super::{Machine, Result};
use crate::diag::Span;
use crate::ir::{Function, Handle, Local, Op, Type, Value};

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
}
