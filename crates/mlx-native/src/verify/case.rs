//! A case: inputs, what the op makes of them, and what it should make.

use ndarray::ArrayD;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::arrangement::Arrangement;
use crate::error::Result;
use crate::ops::proof::{Domain, Exact};
use crate::tensor::Tensor;

/// An input.
#[derive(Clone, Debug)]
pub(super) struct Input {
    /// Numbers that f32 can hold.
    pub values: ArrayD<f64>,
    pub arrangement: Arrangement,
    /// How far to go from each number to see how the function changes.
    pub step: fn(f64) -> f64,
}

impl Input {
    /// Random numbers of a domain.
    pub fn random(
        random: &mut ChaCha8Rng,
        domain: Domain,
        shape: &[usize],
        arrangement: Arrangement,
    ) -> Self {
        let count = shape.iter().product();
        let mut numbers: Vec<f64> = match domain {
            Domain::Distinct => {
                let mut numbers: Vec<f64> = (0..count)
                    .map(|i| (i as f64 - count as f64 / 2.0).floor() / 64.0)
                    .collect();
                for i in (1..count).rev() {
                    numbers.swap(i, random.random_range(0..=i));
                }
                numbers
            }
            _ => (0..count).map(|_| one(random, domain)).collect(),
        };
        // The edges of an evenly spread domain are where functions go wrong.
        if let (Domain::Uniform(low, high), [first, .., last]) = (domain, numbers.as_mut_slice()) {
            (*first, *last) = (f64::from(low as f32), f64::from(high as f32));
        }
        Self {
            step: match domain {
                Domain::Uniform(..) => |x| 1e-4 * x.abs().max(1.0),
                Domain::Logarithmic(..) | Domain::Signed(..) => |x| 1e-4 * x.abs(),
                Domain::Distinct => |_| 1.0 / 512.0,
            },
            ..Self::new(shape, numbers, arrangement)
        }
    }

    /// These numbers.
    pub fn new(shape: &[usize], numbers: Vec<f64>, arrangement: Arrangement) -> Self {
        debug_assert_eq!(numbers.len(), shape.iter().product());
        let values =
            ArrayD::from_shape_vec(shape, numbers).unwrap_or_else(|_| ArrayD::zeros(shape));
        Self {
            values: arrangement.adjust(values),
            arrangement,
            step: |x| 1e-4 * x.abs().max(1.0),
        }
    }
}

/// A random number of a domain, as f32 has it.
fn one(random: &mut ChaCha8Rng, domain: Domain) -> f64 {
    let mut between = |low: f64, high: f64| low + (high - low) * random.random::<f64>();
    let number = match domain {
        Domain::Uniform(low, high) => between(low, high),
        Domain::Logarithmic(low, high) => between(low.ln(), high.ln()).exp(),
        Domain::Signed(low, high) => {
            let magnitude = between(low.ln(), high.ln()).exp();
            if between(0.0, 1.0) < 0.25 {
                -magnitude
            } else {
                magnitude
            }
        }
        Domain::Distinct => 0.0,
    };
    f64::from(number as f32)
}

/// The op, by tensors.
pub(super) type ForwardFn<'a> = dyn Fn(&[Tensor]) -> Result<Tensor> + 'a;

/// The op, in f64.
pub(super) type ReferenceFn<'a> = dyn Fn(&[ArrayD<f64>]) -> ArrayD<Exact> + 'a;

/// Gradients of a part of the inputs, from the first on, in f64.
pub(super) type GradientFn<'a> = dyn Fn(&[ArrayD<f64>], &ArrayD<f64>) -> Vec<ArrayD<Exact>> + 'a;

/// What is to be proven of one set of inputs.
pub(super) struct Case<'a> {
    /// For people.
    pub label: String,
    pub inputs: Vec<Input>,
    pub forward: Box<ForwardFn<'a>>,
    pub reference: Box<ReferenceFn<'a>>,
    pub gradient: Option<Box<GradientFn<'a>>>,
    /// Whether inputs are ordinary numbers, around which the function is smooth.
    pub is_smooth: bool,
    /// Whether the signs of zeroes are to be right.
    pub signed_zeroes: bool,
}
