//! Steps of Adam.

use crate::autograd::Gradients;
use crate::error::Result;
use crate::ops::proof::{Domain, Exact};
use crate::optim::{Adam, AdamOptions, Parameter};
use crate::tensor::Tensor;
use crate::verify::arrangement::Arrangement;
use crate::verify::case::{Case, Input};
use crate::verify::check::Check;

/// Each step's update has some ten roundings; what it is rounded to is of the size of the parameter
/// or of the step, which is about the learning rate.
const ROUNDINGS: f64 = 12.0;
const STEPS: usize = 4;

pub(in crate::verify) fn adam(check: &mut Check) -> Result<()> {
    let options = AdamOptions {
        learning_rate: 0.01,
        ..AdamOptions::default()
    };
    for n in [0, 1, 33, 257, 4099] {
        let domain = Domain::Signed(1e-2, 1e2);
        let mut inputs = vec![Input::random(
            &mut check.random,
            domain,
            &[n],
            Arrangement::Contiguous,
        )];
        for _ in 0..STEPS {
            inputs.push(Input::random(
                &mut check.random,
                domain,
                &[n],
                Arrangement::Contiguous,
            ));
        }
        check.run(&Case {
            label: format!("{STEPS} steps of {n} parameters"),
            inputs,
            forward: Box::new(move |x| {
                let mut parameter = Parameter::new(x[0].detach());
                let mut adam = Adam::new(options);
                for gradient in &x[1..] {
                    let gradients = gradients(&parameter, gradient)?;
                    adam.step([&mut parameter], &gradients)?;
                }
                Ok(parameter.tensor().detach())
            }),
            reference: Box::new(move |x| {
                let mut result = x[0].mapv(|x| Exact::new(x, 0.0));
                for (i, result) in result.iter_mut().enumerate() {
                    let gradients = x[1..].iter().filter_map(|g| g.iter().nth(i).copied());
                    *result = reference(result.value, gradients, options);
                }
                result
            }),
            gradient: None,
            is_smooth: false,
            signed_zeroes: false,
        })?;
    }
    Ok(())
}

/// This gradient of a parameter: that of the sum of their products.
fn gradients(parameter: &Parameter, gradient: &Tensor) -> Result<Gradients> {
    let product = parameter.tensor().mul(&gradient.detach())?;
    product.sum_all()?.backward()
}

/// A parameter after steps along these gradients, in f64.
fn reference(mut x: f64, gradients: impl Iterator<Item = f64>, options: AdamOptions) -> Exact {
    let (mut m, mut v) = (0.0, 0.0);
    let mut scale = x.abs();
    for (step, g) in gradients.enumerate() {
        let t = step as i32 + 1;
        m = options.beta1 * m + (1.0 - options.beta1) * g;
        v = options.beta2 * v + (1.0 - options.beta2) * g * g;
        let unbiased = (
            m / (1.0 - options.beta1.powi(t)),
            v / (1.0 - options.beta2.powi(t)),
        );
        x -= options.learning_rate * unbiased.0 / (unbiased.1.sqrt() + options.epsilon);
        scale = scale.max(x.abs()) + options.learning_rate;
    }
    Exact {
        value: x,
        scale,
        roundings: ROUNDINGS * STEPS as f64,
    }
}
