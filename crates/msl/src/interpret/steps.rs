//! A function's body as steps in a row, with jumps between them.
//!
//! The order of the steps is the order in which a machine in lockstep visits them: the accepting
//! branch before the rejecting one, a loop's body before its step, arms of a switch as they stand.
//! So of two threads in one round of the same loops, the one at the lower step is behind.

use crate::diag::Span;
use crate::ir::{BarrierScope, Block, Function, Handle, Op, Place, Statement, Value};

/// Where a jump goes: an entry of [`Code::labels`].
pub type Label = usize;

/// What a thread does next.
#[derive(Debug)]
pub enum Step<'m> {
    /// Computes a value.
    Let(Handle<Value>, &'m Op),
    /// Writes memory.
    Store {
        place: &'m Place,
        value: Handle<Value>,
        span: Span,
    },
    /// Goes elsewhere.
    Jump(Label),
    /// Goes elsewhere if a bool is false.
    JumpUnless {
        condition: Handle<Value>,
        label: Label,
        span: Span,
    },
    /// Goes to the arm of an integer's value.
    Choose {
        selector: Handle<Value>,
        arms: Vec<(&'m [i64], Label)>,
        otherwise: Label,
        span: Span,
    },
    /// Starts a loop's first round.
    EnterLoop,
    /// Starts the innermost loop's next round.
    NextRound,
    /// Leaves the innermost loop.
    LeaveLoop,
    /// Leaves the function.
    Return(Option<Handle<Value>>, Span),
    /// Waits for others.
    Barrier {
        scope: BarrierScope,
        device: bool,
        threadgroup: bool,
        span: Span,
    },
}

/// A function's steps.
#[derive(Debug, Default)]
pub struct Code<'m> {
    /// The steps; the last one returns.
    pub steps: Vec<Step<'m>>,
    /// The step that each label stands for.
    pub labels: Vec<usize>,
}

impl<'m> Code<'m> {
    /// The steps of a function.
    pub fn new(function: &'m Function) -> Self {
        let mut code = Self::default();
        code.block(&function.body, None, None);
        code.steps.push(Step::Return(None, function.span));
        code
    }

    fn label(&mut self) -> Label {
        self.labels.push(0);
        self.labels.len() - 1
    }

    fn set(&mut self, label: Label) {
        self.labels[label] = self.steps.len();
    }

    /// Adds a block; `leave` is where `break` goes and `round` where `continue` does.
    fn block(&mut self, block: &'m Block, leave: Option<Label>, round: Option<Label>) {
        for statement in block {
            self.statement(statement, leave, round);
        }
    }

    fn statement(&mut self, statement: &'m Statement, leave: Option<Label>, round: Option<Label>) {
        match *statement {
            Statement::Let(value, ref op) => self.steps.push(Step::Let(value, op)),
            Statement::Store {
                ref place,
                value,
                span,
            } => self.steps.push(Step::Store { place, value, span }),
            Statement::If {
                condition,
                ref accept,
                ref reject,
                span,
            } => {
                let (label, end) = (self.label(), self.label());
                self.steps.push(Step::JumpUnless {
                    condition,
                    label,
                    span,
                });
                self.block(accept, leave, round);
                self.steps.push(Step::Jump(end));
                self.set(label);
                self.block(reject, leave, round);
                self.set(end);
            }
            Statement::Loop {
                ref header,
                condition,
                ref body,
                ref step,
                test_first,
                span,
            } => {
                let (again, next, end) = (self.label(), self.label(), self.label());
                let test = Step::JumpUnless {
                    condition,
                    label: end,
                    span,
                };
                self.steps.push(Step::EnterLoop);
                self.set(again);
                if test_first {
                    self.block(header, None, None);
                    self.steps.push(test);
                    self.block(body, Some(end), Some(next));
                    self.set(next);
                    self.block(step, None, None);
                } else {
                    self.block(body, Some(end), Some(next));
                    self.set(next);
                    self.block(step, None, None);
                    self.block(header, None, None);
                    self.steps.push(test);
                }
                self.steps.push(Step::NextRound);
                self.steps.push(Step::Jump(again));
                self.set(end);
                self.steps.push(Step::LeaveLoop);
            }
            Statement::Switch {
                selector,
                ref arms,
                span,
            } => {
                let end = self.label();
                let labels: Vec<Label> = arms.iter().map(|_| self.label()).collect();
                let default = arms.iter().position(|arm| arm.is_default);
                self.steps.push(Step::Choose {
                    selector,
                    arms: (arms.iter().map(|arm| &arm.values[..]))
                        .zip(labels.iter().copied())
                        .collect(),
                    otherwise: default.map_or(end, |arm| labels[arm]),
                    span,
                });
                for (arm, label) in arms.iter().zip(labels) {
                    self.set(label);
                    self.block(&arm.body, Some(end), round);
                }
                self.set(end);
            }
            Statement::Break(_) => self.steps.extend(leave.map(Step::Jump)),
            Statement::Continue(_) => self.steps.extend(round.map(Step::Jump)),
            Statement::Return(value, span) => self.steps.push(Step::Return(value, span)),
            Statement::Barrier {
                scope,
                device,
                threadgroup,
                span,
            } => self.steps.push(Step::Barrier {
                scope,
                device,
                threadgroup,
                span,
            }),
        }
    }
}
