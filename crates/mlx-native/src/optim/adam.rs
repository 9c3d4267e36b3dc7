//! Adam.

use super::Parameter;
use crate::autograd::Gradients;
use crate::dtypes::DType;
use crate::error::{MlxError, Result};
use crate::ops::adam::{AdamStep, dispatch_adam_f32};
use crate::tensor::Tensor;

/// The numbers of [`Adam`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamOptions {
    /// The size of a step; 0.001 at first.
    pub learning_rate: f64,
    /// The decay of the mean of the gradient; 0.9 at first.
    pub beta1: f64,
    /// The decay of the mean of its square; 0.999 at first.
    pub beta2: f64,
    /// What keeps the divisor from 0; 1e-8 at first.
    pub epsilon: f64,
}

impl Default for AdamOptions {
    fn default() -> Self {
        Self {
            learning_rate: 1e-3,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
        }
    }
}

/// Adam (Kingma and Ba, 2015): steps along a running mean of the gradient, divided by the root of a
/// running mean of its square.
///
/// ```
/// use mlx_native::optim::{Adam, AdamOptions, Parameter};
/// use mlx_native::{MlxDevice, Stream, Tensor};
///
/// let stream = Stream::new(&MlxDevice::new()?)?;
/// let mut x = Parameter::new(Tensor::scalar(&stream, 5.0f32)?);
/// let mut adam = Adam::new(AdamOptions { learning_rate: 0.1, ..AdamOptions::default() });
/// for _ in 0..200 {
///     let loss = x.tensor().mul(x.tensor())?;
///     let gradients = loss.backward()?;
///     adam.step([&mut x], &gradients)?;
/// }
/// assert!(x.tensor().item::<f32>()?.abs() < 0.1);
/// # Ok::<(), mlx_native::MlxError>(())
/// ```
#[derive(Debug)]
pub struct Adam {
    /// May be changed between steps.
    pub options: AdamOptions,
    steps: u32,
    /// The moments of each parameter, in the order in which parameters are given.
    moments: Vec<[Tensor; 2]>,
}

impl Adam {
    /// An optimiser that has made no step.
    pub fn new(options: AdamOptions) -> Self {
        Self {
            options,
            steps: 0,
            moments: Vec::new(),
        }
    }

    /// How many steps it has made.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// Makes a step. The parameters must be the same, in the same order, each time. One without a
    /// gradient stays as it is.
    ///
    /// # Errors
    ///
    /// If there are other parameters than last time, or one is not f32; if a parameter's gradient or
    /// the parameter of the last step in its place is on another stream or has another shape.
    /// Then no parameter has changed.
    pub fn step<'a>(
        &mut self,
        parameters: impl IntoIterator<Item = &'a mut Parameter>,
        gradients: &Gradients,
    ) -> Result<()> {
        let mut parameters: Vec<_> = parameters.into_iter().collect();
        self.check(&parameters, gradients)?;
        for parameter in parameters.iter().skip(self.moments.len()) {
            let zero = || parameter.tensor.empty_like(parameter.tensor.shape());
            self.moments.push([zero()?, zero()?]);
        }
        self.steps += 1;
        for (parameter, moments) in parameters.iter_mut().zip(&self.moments) {
            if let Some(gradient) = gradients.get(&parameter.tensor) {
                self.update(parameter, gradient, moments)?;
            }
        }
        Ok(())
    }

    /// Whether the moments and gradients belong to these parameters.
    fn check(&self, parameters: &[&mut Parameter], gradients: &Gradients) -> Result<()> {
        for (index, parameter) in parameters.iter().enumerate() {
            let tensor = &parameter.tensor;
            if tensor.dtype() != DType::F32 {
                return Err(MlxError::UnsupportedDType {
                    operation: "adam",
                    argument: "parameter",
                    expected: DType::F32,
                    found: tensor.dtype(),
                });
            }
            if let Some(gradient) = gradients.get(tensor) {
                tensor
                    .stream()
                    .expect("adam", "gradient", gradient.stream())?;
            }
            let Some([m, _]) = self.moments.get(index) else {
                continue;
            };
            m.stream().expect("adam", "parameter", tensor.stream())?;
            if m.shape() != tensor.shape() {
                return Err(MlxError::ShapeMismatch {
                    operation: "adam",
                    message: format!(
                        "parameter {index} is {:?}, but was {:?} in the last step; give the same \
                         parameters in the same order",
                        tensor.shape(),
                        m.shape()
                    ),
                });
            }
        }
        if !self.moments.is_empty() && parameters.len() != self.moments.len() {
            return Err(MlxError::ShapeMismatch {
                operation: "adam",
                message: format!(
                    "there are {} parameters, but were {} in the last step; give the same ones",
                    parameters.len(),
                    self.moments.len()
                ),
            });
        }
        Ok(())
    }

    fn update(
        &self,
        parameter: &mut Parameter,
        gradient: &Tensor,
        [m, v]: &[Tensor; 2],
    ) -> Result<()> {
        let options = self.options;
        let count = parameter.tensor.element_count();
        if count == 0 {
            return Ok(());
        }
        let power = |beta: f64| 1.0 - beta.powf(f64::from(self.steps));
        let step = AdamStep {
            n: crate::tensor::layout::count("adam", count)?,
            learning_rate: options.learning_rate as f32,
            beta1: options.beta1 as f32,
            beta2: options.beta2 as f32,
            rest1: (1.0 - options.beta1) as f32,
            rest2: (1.0 - options.beta2) as f32,
            epsilon: options.epsilon as f32,
            correction1: power(options.beta1) as f32,
            correction2: power(options.beta2) as f32,
        };
        let gradient = gradient.detach().contiguous()?;
        let stream = parameter.tensor.stream().clone();
        let x = parameter.tensor.make_unique()?;
        stream.record(|encoder, registry, device| {
            let (g, m, v) = (gradient.buffer(), m.buffer(), v.buffer());
            dispatch_adam_f32(encoder, registry, device, x, g, m, v, &step)
        })
    }
}
