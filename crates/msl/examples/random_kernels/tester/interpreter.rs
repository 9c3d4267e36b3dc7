//! The interpreter as the judge of what is right.

use msl::interpret::{self, FindingKind};
use rayon::prelude::*;

use super::judge::{Inputs, Outcome, Reference};
use super::print::{Dialect, print};
use super::program::*;

/// Steps that all threads of a kernel may take together; every kernel here needs far fewer.
const STEPS: u64 = 100_000_000;

/// The interpreter.
pub struct Interpreter {
    /// Whether it also has to find nothing that kernels must not do.
    pub check: bool,
}

impl Reference for Interpreter {
    fn outcomes(&self, programs: &[&Program], inputs: &Inputs) -> Vec<Result<Outcome, String>> {
        let outcomes = programs.par_iter().map(|p| self.outcome(p, inputs));
        outcomes.collect()
    }
}

impl Interpreter {
    fn outcome(&self, program: &Program, inputs: &Inputs) -> Result<Outcome, String> {
        let text = print(program, Dialect::Metal);
        let compilation = msl::compile("random.metal", &text, &msl::syntax::Options::default())
            .map_err(|diagnostics| diagnostics.to_string())?;
        let mut out = vec![0; program.grid as usize * OUTPUTS * 4];
        let mut counters = vec![0; COUNTERS * 4];
        let mut data = bytes(&inputs.data);
        let mut reals: Vec<u8> = inputs.reals.iter().flat_map(|x| x.to_le_bytes()).collect();
        let mut arguments = bytes(&program.arguments);
        let found = interpret::run(
            &compilation,
            "k",
            interpret::Dispatch {
                grid: [u64::from(program.grid), 1, 1],
                threadgroup: [u64::from(program.threadgroup), 1, 1],
                buffers: &mut [
                    Some(&mut out),
                    Some(&mut data),
                    Some(&mut reals),
                    Some(&mut arguments),
                    Some(&mut counters),
                ],
                threadgroup_memory: &[],
                constants: &Default::default(),
                check: self.check,
                step_limit: Some(STEPS),
                interrupt: None,
            },
        );
        let found = found.map_err(|error| error.to_string())?;
        match found.iter().find(|finding| !is_meant(finding.kind)) {
            Some(finding) => Err(finding.to_string()),
            None => Ok(Outcome {
                out: words(&out),
                counters: words(&counters),
            }),
        }
    }
}

/// What kernels here do on purpose: its result is defined, or not used.
fn is_meant(kind: FindingKind) -> bool {
    matches!(
        kind,
        FindingKind::ShiftCount | FindingKind::DivisionByZero | FindingKind::InactiveLane
    )
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let word = |b: &[u8]| u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    bytes.chunks_exact(4).map(word).collect()
}
