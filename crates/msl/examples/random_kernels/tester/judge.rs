//! Runs programs on the executor, on every instruction set, and compares with a reference.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use msl::Compilation;
use msl::exec::{Dispatch, Isa, Memory, Options};
use rayon::prelude::*;

use super::print::{Dialect, print};
use super::program::*;
use super::random::Random;

/// What says the right results.
pub trait Reference {
    /// The result of each program, or why there is none.
    fn outcomes(&self, programs: &[&Program], inputs: &Inputs) -> Vec<Result<Outcome, String>>;
}

/// What a run leaves in the buffers it writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// `OUTPUTS` words of each thread.
    pub out: Vec<u32>,
    pub counters: Vec<u32>,
}

/// What all programs read.
pub struct Inputs {
    pub data: Vec<u32>,
    pub reals: Vec<f32>,
}

impl Inputs {
    pub fn new() -> Self {
        let mut random = Random::new(1);
        let data = (0..INPUTS).map(|_| match random.below(3) {
            0 => random.next() as u32,
            _ => random.below(12) as u32,
        });
        let data = data.collect();
        let edges = [
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::NAN,
            -0.0,
            3e38,
            1e-40,
        ];
        let reals = (0..INPUTS).map(|_| match random.below(6) {
            0 => *random.pick(&edges),
            1 => (random.next() as i32) as f32,
            _ => random.below(64) as f32 * 0.25 - 6.0,
        });
        let reals = reals.collect();
        Self { data, reals }
    }
}

/// What is wrong with a program's run.
#[derive(Clone, Debug)]
pub enum Failure {
    /// The compiler does not accept the text.
    Refused(String),
    /// The executor does not make it ready.
    Unsupported(String),
    Fault(String),
    Panicked(String),
    /// The reference has no result.
    NoReference(String),
    Wrong(String),
}

impl Failure {
    /// What stays the same while a program shrinks: the sort, and for messages their words.
    pub fn pattern(&self) -> String {
        let (sort, message) = match self {
            Self::Refused(message) => ("refused", message.as_str()),
            Self::Unsupported(message) => ("unsupported", message.as_str()),
            Self::Fault(message) => ("fault", message.as_str()),
            Self::Panicked(message) => ("panicked", message.as_str()),
            Self::NoReference(_) => ("no reference", ""),
            Self::Wrong(_) => ("wrong", ""),
        };
        let line = message.lines().find(|line| !line.trim().is_empty());
        let words = line.unwrap_or_default().split_whitespace();
        let plain = |word: &&str| word.chars().all(|c| c.is_ascii_alphabetic());
        let words: Vec<&str> = words.filter(plain).collect();
        format!("{sort} {}", words.join(" "))
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(message) => write!(f, "does not compile: {message}"),
            Self::Unsupported(message) => write!(f, "cannot be made ready: {message}"),
            Self::Fault(message) => write!(f, "a fault: {message}"),
            Self::Panicked(message) => write!(f, "a panic: {message}"),
            Self::NoReference(message) => write!(f, "no reference result: {message}"),
            Self::Wrong(message) => write!(f, "a wrong result: {message}"),
        }
    }
}

/// What is wrong with each program; nothing if all runs agree with the reference, or with each
/// other where there is none.
pub fn judge(
    programs: &[Program],
    inputs: &Inputs,
    reference: Option<&dyn Reference>,
) -> Vec<Option<Failure>> {
    let runs: Vec<_> = programs.par_iter().map(|p| runs(p, inputs)).collect();
    let mut failures: Vec<Option<Failure>> = vec![None; programs.len()];
    let mut asked = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        match run {
            Ok(_) => asked.push(index),
            Err(failure) => failures[index] = Some(failure.clone()),
        }
    }
    let of: Vec<&Program> = asked.iter().map(|&index| &programs[index]).collect();
    let expected = match reference {
        Some(reference) if !of.is_empty() => reference.outcomes(&of, inputs),
        _ => Vec::new(),
    };
    for (position, &index) in asked.iter().enumerate() {
        let Ok(found) = &runs[index] else { continue };
        failures[index] = match expected.get(position) {
            Some(Err(message)) => Some(Failure::NoReference(message.clone())),
            Some(Ok(expected)) => found
                .iter()
                .find_map(|(isa, found)| difference(expected, found, isa.name())),
            None => found
                .iter()
                .find_map(|(isa, other)| difference(&found[0].1, other, isa.name())),
        };
    }
    failures
}

fn difference(expected: &Outcome, found: &Outcome, isa: &str) -> Option<Failure> {
    let words = expected.out.iter().zip(&found.out).enumerate();
    let mut wrong = words.filter(|(_, (expected, found))| expected != found);
    let message = if let Some((index, (expected, found))) = wrong.next() {
        let (thread, word) = (index / OUTPUTS, index % OUTPUTS);
        format!("on {isa}, thread {thread}, word {word}: expected {expected:#x}, found {found:#x}")
    } else if expected.counters != found.counters {
        let (expected, found) = (&expected.counters, &found.counters);
        format!("on {isa}, the counters: expected {expected:x?}, found {found:x?}")
    } else {
        return None;
    };
    Some(Failure::Wrong(message))
}

/// The outcome on every instruction set.
fn runs(program: &Program, inputs: &Inputs) -> Result<Vec<(Isa, Outcome)>, Failure> {
    let text = print(program, Dialect::Metal);
    let run = || {
        let compilation = msl::compile("random.metal", &text, &msl::syntax::Options::default())
            .map_err(|diagnostics| Failure::Refused(diagnostics.to_string()))?;
        let isas = Isa::available().into_iter();
        isas.map(|isa| Ok((isa, execute(&compilation, program, inputs, isa)?)))
            .collect()
    };
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| {
        let message = payload
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string));
        Err(Failure::Panicked(message.unwrap_or_default()))
    })
}

fn execute(
    compilation: &Compilation,
    program: &Program,
    inputs: &Inputs,
    isa: Isa,
) -> Result<Outcome, Failure> {
    let options = Options {
        isa: Some(isa),
        ..Options::default()
    };
    let ready = msl::exec::Program::with_options(compilation, "k", &options)
        .map_err(|error| Failure::Unsupported(error.to_string()))?;
    let mut outcome = Outcome {
        out: vec![0; program.grid as usize * OUTPUTS],
        counters: vec![0; COUNTERS],
    };
    let (mut data, mut reals) = (inputs.data.clone(), inputs.reals.clone());
    let mut arguments = program.arguments;
    let buffers = [
        memory(&mut outcome.out),
        memory(&mut data),
        memory(&mut reals),
        memory(&mut arguments),
        memory(&mut outcome.counters),
    ];
    let result = with_deadline(|interrupt| {
        let dispatch = Dispatch {
            grid: [u64::from(program.grid), 1, 1],
            threadgroup: [u64::from(program.threadgroup), 1, 1],
            buffers: &buffers,
            threadgroup_memory: &[],
            interrupt: Some(interrupt),
        };
        // SAFETY: the buffers outlive the call and nothing else uses them meanwhile.
        unsafe { ready.run(&dispatch) }
    });
    match result {
        Ok(()) => Ok(outcome),
        Err(fault) => Err(Failure::Fault(fault.to_string())),
    }
}

fn memory<T>(values: &mut [T]) -> Option<Memory> {
    Some(Memory {
        pointer: values.as_mut_ptr().cast(),
        len: std::mem::size_of_val(values),
    })
}

/// Runs with a flag that is set after a few seconds: every loop here ends long before.
fn with_deadline<T>(run: impl FnOnce(&AtomicBool) -> T) -> T {
    let interrupt = AtomicBool::new(false);
    let (done, wait) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let flag = &interrupt;
        scope.spawn(move || {
            if wait.recv_timeout(Duration::from_secs(5)) == Err(mpsc::RecvTimeoutError::Timeout) {
                flag.store(true, Ordering::Relaxed);
            }
        });
        // Dropped when the run ends, by a panic too.
        let _done = done;
        run(&interrupt)
    })
}
