//! Analytic gradients against central differences of the same function, all in f64.
//!
//! Each input is moved along a direction, each element by its own step times a number in [-1, 1].
//! Two central differences, of whole and half steps, give one that is right to the fourth order
//! (Richardson extrapolation). Small inputs are moved along every coordinate, large ones along a few
//! random directions.

use ndarray::ArrayD;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::case::Case;
use crate::ops::proof::Exact;

/// Up to so many elements, every coordinate is tried.
const EVERY_COORDINATE: usize = 64;
const DIRECTIONS: usize = 3;

/// The error of the extrapolation, relative to the sum of magnitudes.
const EXTRAPOLATION: f64 = 1e-7;

/// What an input's gradient says about some directions.
pub(super) struct Slopes {
    /// Each direction's steps, as sparse as it is.
    directions: Vec<Vec<(usize, f64)>>,
    /// The difference quotient of each, and the rounding error it may have.
    measured: Vec<(f64, f64)>,
}

impl Slopes {
    /// Measures the slopes of the sum of `dy` times the outputs along directions of one input.
    pub fn measure(
        case: &Case<'_>,
        inputs: &[ArrayD<f64>],
        moved: usize,
        dy: &ArrayD<f64>,
        random: &mut ChaCha8Rng,
    ) -> Self {
        let step = case.inputs[moved].step;
        let numbers: Vec<f64> = inputs[moved].iter().map(|&x| step(x)).collect();
        let directions: Vec<Vec<(usize, f64)>> = if numbers.len() <= EVERY_COORDINATE {
            let coordinate = |(i, &step): (usize, &f64)| vec![(i, step)];
            numbers.iter().enumerate().map(coordinate).collect()
        } else {
            let mut along = || {
                let steps = numbers.iter().enumerate();
                steps
                    .map(|(i, step)| (i, step * (2.0 * random.random::<f64>() - 1.0)))
                    .collect()
            };
            (0..DIRECTIONS).map(|_| along()).collect()
        };
        let value = |direction: &[(usize, f64)], factor: f64| {
            let mut inputs = inputs.to_vec();
            if let Some(flat) = inputs[moved].as_slice_mut() {
                for &(i, step) in direction {
                    flat[i] += factor * step;
                }
            }
            let outputs = (case.reference)(&inputs);
            let mut sum = Exact::new(0.0, 0.0);
            for (output, dy) in outputs.iter().zip(dy) {
                sum.value += output.value * dy;
                sum.scale += (output.scale * dy).abs();
            }
            sum
        };
        let measured = directions
            .iter()
            .map(|direction| {
                let quotient = |h: f64| {
                    let (up, down) = (value(direction, h), value(direction, -h));
                    ((up.value - down.value) / (2.0 * h), up.scale + down.scale)
                };
                let ((whole, size), (half, _)) = (quotient(1.0), quotient(0.5));
                ((4.0 * half - whole) / 3.0, 16.0 * f64::EPSILON * size)
            })
            .collect();
        Self {
            directions,
            measured,
        }
    }

    /// Whether a gradient has these slopes.
    pub fn agree(&self, gradient: &[f64], scale: &[f64]) -> Result<(), String> {
        for (direction, &(measured, rounding)) in self.directions.iter().zip(&self.measured) {
            let (mut slope, mut size) = (0.0, 0.0);
            for &(i, step) in direction {
                slope += gradient[i] * step;
                size += (scale[i] * step).abs();
            }
            let (error, bound) = ((slope - measured).abs(), EXTRAPOLATION * size + rounding);
            let is_close = error <= bound;
            if !is_close {
                let place = match direction.as_slice() {
                    [(i, _)] => format!("at element {i}"),
                    _ => "along a random direction".into(),
                };
                return Err(format!(
                    "{place} the gradient says {slope:e}, the difference {measured:e}: off by \
                     {error:.3e}, of which {bound:.3e} is allowed"
                ));
            }
        }
        Ok(())
    }
}
