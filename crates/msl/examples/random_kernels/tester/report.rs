//! Makes a kernel that fails small and says what is wrong with it.

use super::judge::{Failure, Inputs, Reference, judge};
use super::print::{Dialect, print};
use super::program::Program;
use super::shrink::shrink;

/// Candidates tried at most.
const TRIES: usize = 6000;

/// The smallest program found that fails in the same way.
pub fn smallest(
    program: Program,
    failure: Failure,
    inputs: &Inputs,
    reference: Option<&dyn Reference>,
) -> (Program, Failure) {
    let pattern = failure.pattern();
    let mut last = failure;
    let small = shrink(program, TRIES, &mut |candidates| {
        let failures = judge(candidates, inputs, reference);
        let mut failures = failures.into_iter().enumerate();
        let (index, failure) = failures.find_map(|(index, failure)| {
            Some((index, failure?)).filter(|f| f.1.pattern() == pattern)
        })?;
        last = failure;
        Some(index)
    });
    (small, last)
}

/// How to run the program, what is wrong, and the text.
pub fn report(program: &Program, failure: &Failure) -> String {
    format!(
        "grid {}, threadgroup {}, arguments {:?}: {failure}\n{}",
        program.grid,
        program.threadgroup,
        program.arguments,
        print(program, Dialect::Metal)
    )
}
