//! Runs cases and collects what came of them.

use ndarray::ArrayD;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Report;
use super::case::Case;
use super::compare::{Control, compare};
use super::differences::Slopes;
use crate::error::Result;
use crate::ops::Op;
use crate::ops::proof::Exact;
use crate::tensor::{Stream, Tensor};

/// After so many failures of an op, the rest is no news.
const ENOUGH: usize = 5;

/// The proof of one op, under way.
pub(super) struct Check {
    pub stream: Stream,
    pub op: &'static Op,
    pub random: ChaCha8Rng,
    /// How kernels are run now, for failures to say.
    pub way: &'static str,
    report: Report,
    /// The kinds of wrong gradients that were refused.
    refused: Vec<Control>,
}

/// What came of a comparison.
#[derive(Default)]
struct Judgement {
    /// The largest error.
    worst: f64,
    /// The kinds of wrong numbers that were refused.
    refused: Vec<Control>,
}

impl Check {
    pub fn new(stream: &Stream, op: &'static Op, seed: u64) -> Self {
        let name = op.name.bytes().fold(0u64, |hash, byte| {
            hash.wrapping_mul(31).wrapping_add(byte.into())
        });
        Self {
            stream: stream.clone(),
            op,
            random: ChaCha8Rng::seed_from_u64(seed ^ name),
            way: "",
            report: Report {
                op: op.name,
                ..Report::default()
            },
            refused: Vec::new(),
        }
    }

    /// Whether there is no point in going on.
    pub fn is_over(&self) -> bool {
        self.report.failures.len() >= ENOUGH
    }

    /// The report, `result` being what ended the proof.
    pub fn finish(mut self, result: Result<()>) -> Report {
        if let Err(error) = result {
            self.fail("", error);
        }
        if self.op.gradient.is_some() && self.report.is_proven() {
            for control in [Control::Negated, Control::Scaled, Control::Dropped] {
                if !self.refused.contains(&control) {
                    self.fail("", format!("no case tried a gradient that is {control:?}"));
                }
            }
        }
        self.report
    }

    /// Proves a case.
    pub fn run(&mut self, case: &Case<'_>) -> Result<()> {
        if self.is_over() {
            return Ok(());
        }
        let mut variables = Vec::new();
        for input in &case.inputs {
            let tensor = input.arrangement.tensor(&self.stream, &input.values)?;
            variables.push(tensor.variable());
        }
        let values: Vec<_> = case.inputs.iter().map(|i| i.values.clone()).collect();
        let Some(output) = self.attempt(&case.label, (case.forward)(&variables)) else {
            return Ok(());
        };
        let Some(found) = self.attempt(&case.label, output.to_vec::<f32>()) else {
            return Ok(());
        };
        let again = (case.forward)(&variables).and_then(|y| y.to_vec::<f32>())?;
        let bits = |numbers: &[f32]| numbers.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        if bits(&found) != bits(&again) {
            self.fail(&case.label, "a second run gives other bits");
        }
        let expected = (case.reference)(&values);
        if output.shape() != expected.shape() {
            let message = format!(
                "the shape is {:?}, not {:?}",
                output.shape(),
                expected.shape()
            );
            self.fail(&case.label, message);
            return Ok(());
        }
        let label = format!("{}, forward", case.label);
        let judged = self.judge(&label, &found, &expected, case.signed_zeroes);
        self.report.forward_error = self.report.forward_error.max(judged.worst);
        if case.gradient.is_some() {
            self.gradient(case, &variables, &values, &output)?;
        }
        Ok(())
    }

    fn gradient(
        &mut self,
        case: &Case<'_>,
        variables: &[Tensor],
        values: &[ArrayD<f64>],
        output: &Tensor,
    ) -> Result<()> {
        let Some(gradient) = &case.gradient else {
            return Ok(());
        };
        let dy = self.weights(output.shape());
        let data: Vec<f32> = dy.iter().map(|&v| v as f32).collect();
        let seed = Tensor::from_slice(&self.stream, &data, dy.shape())?;
        let Some(gradients) = self.attempt(&case.label, output.backward_from(&seed)) else {
            return Ok(());
        };
        for (i, exact) in gradient(values, &dy).iter().enumerate() {
            let label = format!("{}, gradient of input {i}", case.label);
            let Some(found) = gradients.get(&variables[i]) else {
                self.fail(&label, "there is none");
                continue;
            };
            if found.shape() != variables[i].shape() {
                let message = format!(
                    "its shape is {:?}, not {:?}",
                    found.shape(),
                    variables[i].shape()
                );
                self.fail(&label, message);
                continue;
            }
            let Some(found) = self.attempt(&label, found.to_vec::<f32>()) else {
                continue;
            };
            let judged = self.judge(&label, &found, exact, false);
            let before = self.report.backward_error.unwrap_or(0.0);
            self.report.backward_error = Some(before.max(judged.worst));
            self.refused.extend(judged.refused);
            if case.is_smooth && !exact.is_empty() {
                self.differences(case, values, i, &dy, exact);
            }
        }
        Ok(())
    }

    /// The analytic gradient against differences, and that wrong ones are refused.
    fn differences(
        &mut self,
        case: &Case<'_>,
        values: &[ArrayD<f64>],
        input: usize,
        dy: &ArrayD<f64>,
        exact: &ArrayD<Exact>,
    ) {
        let slopes = Slopes::measure(case, values, input, dy, &mut self.random);
        let gradient: Vec<f64> = exact.iter().map(|e| e.value).collect();
        let scale: Vec<f64> = exact.iter().map(|e| e.scale).collect();
        let label = format!("{}, differences of input {input}", case.label);
        self.report.comparisons += 1;
        if let Err(message) = slopes.agree(&gradient, &scale) {
            self.fail(&label, message);
            return;
        }
        let negated: Vec<f64> = gradient.iter().map(|v| -v).collect();
        let scaled: Vec<f64> = gradient.iter().map(|v| v * 1.01).collect();
        if gradient.iter().any(|&v| v != 0.0) {
            for wrong in [negated, scaled] {
                match slopes.agree(&wrong, &scale) {
                    Ok(()) => self.fail(&label, "a wrong gradient is not noticed"),
                    Err(_) => self.report.controls += 1,
                }
            }
        }
    }

    /// Compares, and gives the comparison wrong numbers to refuse.
    fn judge(
        &mut self,
        label: &str,
        found: &[f32],
        expected: &ArrayD<Exact>,
        signed_zeroes: bool,
    ) -> Judgement {
        let expected: Vec<Exact> = expected.iter().copied().collect();
        let mut judgement = Judgement::default();
        self.report.comparisons += 1;
        match compare(found, &expected, signed_zeroes) {
            Ok(worst) => judgement.worst = worst,
            Err(message) => {
                self.fail(label, message);
                return judgement;
            }
        }
        for control in Control::ALL {
            let Some(wrong) = control.apply(found) else {
                continue;
            };
            if compare(&wrong, &expected, signed_zeroes).is_err() {
                judgement.refused.push(control);
            } else {
                let message = format!("numbers that are {control:?} are not noticed");
                self.fail(label, message);
            }
        }
        self.report.controls += judgement.refused.len();
        judgement
    }

    /// Random gradients to start from, none near 0, and more of them positive: sums of them must not
    /// cancel, or a small error of the whole would drown in the roundings of its parts.
    fn weights(&mut self, shape: &[usize]) -> ArrayD<f64> {
        ArrayD::from_shape_simple_fn(shape, || {
            let size = f64::from(0.5 + self.random.random::<f32>());
            if self.random.random_bool(0.75) {
                size
            } else {
                -size
            }
        })
    }

    /// The result; an error is a failure of the op.
    fn attempt<T>(&mut self, label: &str, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.fail(label, error)).ok()
    }

    pub fn fail(&mut self, label: &str, message: impl std::fmt::Display) {
        let colon = if label.is_empty() { "" } else { ": " };
        let failure = format!("{}{label}{colon}{message}", self.way);
        self.report.failures.push(failure);
    }
}
