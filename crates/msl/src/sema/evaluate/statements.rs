//! Running the statements of a constant expression. What they compute is in `operations`.

use super::{Evaluator, Flow, Outcome, failure};
use crate::diag::Span;
use crate::ir::{Block, Handle, Statement, Value};

impl<'m> Evaluator<'m> {
    pub(super) fn block(&mut self, block: &Block) -> Outcome<Flow> {
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
}
