//! The threads of a threadgroup, one after another between the points where they meet.
//!
//! A thread runs until it comes to an operation across lanes or a barrier. When all threads of a
//! SIMD-group have come to one or finished, those that are furthest behind (by [`Thread::path`]) do
//! theirs together; the others take no part. This is what a SIMD-group in lockstep does: in
//! structured code the lanes in one branch go to its end before those in the next one start.

use super::lanes::{self, Lanes, moves_data};
use super::steps::Step;
use super::thread::{State, Thread};
use super::values::{Data, Number};
use super::{Machine, Result, SIMD_WIDTH, matrices};
use crate::ir::{BarrierScope, Handle, Op, Scalar, SimdOp, Value};

/// The waiting threads that are furthest behind; none if no thread waits.
fn furthest_behind(threads: &[Thread]) -> Option<Vec<usize>> {
    let waiting = threads.iter().enumerate();
    let waiting = waiting.filter(|(_, thread)| thread.state == State::Waiting);
    let paths: Vec<_> = waiting
        .map(|(index, thread)| (thread.path(), index))
        .collect();
    let (least, _) = paths.iter().min()?;
    let behind = paths.iter().filter(|(path, _)| path == least);
    Some(behind.map(|&(_, index)| index).collect())
}

impl<'m> Machine<'m, '_> {
    /// Runs a threadgroup to its end.
    pub fn run_threads(&mut self, threads: &mut [Thread]) -> Result<()> {
        loop {
            for simdgroup in threads.chunks_mut(SIMD_WIDTH) {
                self.run_simdgroup(simdgroup)?;
            }
            // What any thread waits for now is a barrier of the threadgroup.
            let Some(present) = furthest_behind(threads) else {
                return Ok(());
            };
            self.pass_barrier(threads, &present);
        }
    }

    /// Runs a SIMD-group to its end or to a barrier of the threadgroup.
    fn run_simdgroup(&mut self, threads: &mut [Thread]) -> Result<()> {
        loop {
            for thread in threads.iter_mut() {
                self.advance(thread)?;
            }
            let Some(active) = furthest_behind(threads) else {
                return Ok(());
            };
            let frame = threads[active[0]].frame();
            match &self.code[frame.function.index()].steps[frame.at] {
                Step::Barrier {
                    scope: BarrierScope::Threadgroup,
                    ..
                } => return Ok(()),
                Step::Barrier { .. } => self.pass_barrier(threads, &active),
                &Step::Let(value, Op::Simd(op, args)) => {
                    self.across(threads, &active, value, (*op, args));
                }
                &Step::Let(value, Op::SimdgroupMatrix(_, args)) => {
                    self.multiply(threads, &active, value, args);
                }
                _ => {
                    for &index in &active {
                        threads[index].state = State::Running;
                    }
                }
            }
        }
    }

    /// Lets the threads at a barrier go on; `threads` are all that should be there.
    fn pass_barrier(&mut self, threads: &mut [Thread], present: &[usize]) {
        let frame = threads[present[0]].frame();
        let Step::Barrier {
            scope,
            device,
            threadgroup,
            span,
        } = self.code[frame.function.index()].steps[frame.at]
        else {
            return;
        };
        let absent = (0..threads.len()).find(|&index| present.get(index) != Some(&index));
        if let Some(absent) = absent {
            let (elsewhere, finished) = match threads[absent].state {
                State::Finished(span) => (span, true),
                _ => (self.next_span(&threads[absent]), false),
            };
            let group = match scope {
                BarrierScope::Threadgroup => "threadgroup",
                BarrierScope::Simdgroup => "SIMD-group",
            };
            if let Some(checker) = &mut self.checker {
                checker.missed_barrier(
                    (span, threads[present[0]].position),
                    (elsewhere, threads[absent].position, finished),
                    group,
                );
            }
        }
        self.barriers += 1;
        for &index in present {
            let thread = &mut threads[index];
            let passed = match scope {
                BarrierScope::Threadgroup => &mut thread.passed.group,
                BarrierScope::Simdgroup => &mut thread.passed.simd,
            };
            for (last, orders) in passed.iter_mut().zip([device, threadgroup]) {
                if orders {
                    *last = self.barriers;
                }
            }
            thread.resume(None);
        }
    }

    fn across(
        &mut self,
        threads: &mut [Thread],
        active: &[usize],
        value: Handle<Value>,
        (op, args): (SimdOp, &[Handle<Value>]),
    ) {
        let one = &threads[active[0]];
        let of = self.module.functions[one.frame().function].values[value];
        let size = self.shapes.size(of.ty);
        let (mut scalar, count) = self.shapes.vector(of.ty);
        if moves_data(op) {
            scalar = of_bits(scalar);
        }
        for &index in active {
            for &arg in args {
                self.use_value(&threads[index], arg, of.span);
            }
        }
        // The operand that is data is of the result's type, unless it is a vote.
        let numbers = |arg: Handle<Value>, thread: &Thread| {
            let (own, count) = self.shapes.vector(self.type_of(thread, arg));
            let own = if own == Scalar::Bool || !moves_data(op) {
                own
            } else {
                of_bits(own)
            };
            thread.value(arg).numbers(own, count)
        };
        let mut results = vec![Vec::new(); SIMD_WIDTH];
        let mut strays = Vec::new();
        for component in 0..count {
            let mut operands: Vec<Lanes> = Vec::new();
            for &arg in args {
                let mut lanes = [None; SIMD_WIDTH];
                for &index in active {
                    let numbers = numbers(arg, &threads[index]);
                    lanes[index] = numbers.get(component).or(numbers.first()).copied();
                }
                operands.push(lanes);
            }
            if args.is_empty() {
                let mut lanes = [None; SIMD_WIDTH];
                for &index in active {
                    lanes[index] = Some(Number::truth(true));
                }
                operands.push(lanes);
            }
            let outcome = lanes::across(op, scalar, &operands);
            for (all, result) in results.iter_mut().zip(outcome.results) {
                all.push(result);
            }
            strays = outcome.strays;
        }
        if let Some(checker) = &mut self.checker {
            for (lane, from) in strays {
                checker.inactive_lane(of.span, threads[lane].position, from as u32);
            }
        }
        for &index in active {
            let data = Data::of_numbers(scalar, &results[index], size);
            threads[index].resume(Some((value, data)));
        }
    }

    fn multiply(
        &mut self,
        threads: &mut [Thread],
        active: &[usize],
        value: Handle<Value>,
        args: &[Handle<Value>],
    ) {
        let one = &threads[active[0]];
        let of = self.module.functions[one.frame().function].values[value];
        let (size, (scalar, _)) = (self.shapes.size(of.ty), self.shapes.vector(of.ty));
        for &index in active {
            for &arg in args {
                self.use_value(&threads[index], arg, of.span);
            }
        }
        let mut operands = Vec::new();
        for &arg in args {
            let mut lanes = [None; SIMD_WIDTH];
            for &index in active {
                lanes[index] = Some(self.numbers(&threads[index], arg));
            }
            operands.push(lanes);
        }
        let inactive = (0..SIMD_WIDTH).find(|lane| !active.contains(lane));
        if let (Some(checker), Some(lane)) = (&mut self.checker, inactive) {
            let position = threads[active[0]].position;
            checker.inactive_lane(of.span, position, lane as u32);
        }
        let elements = matrices::product(&operands);
        for &index in active {
            let data = Data::of_numbers(scalar, &elements[index], size);
            threads[index].resume(Some((value, data)));
        }
    }
}

/// The unsigned integer of the same size.
fn of_bits(scalar: Scalar) -> Scalar {
    match scalar.size() {
        1 => Scalar::U8,
        2 => Scalar::U16,
        4 => Scalar::U32,
        _ => Scalar::U64,
    }
}
