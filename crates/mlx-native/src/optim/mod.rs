//! Optimisers: they change parameters by their gradients.

mod adam;

pub use adam::{Adam, AdamOptions};

use crate::tensor::Tensor;

/// A variable that an optimiser changes.
///
/// The numbers change in place, unless a tensor elsewhere (the history of a loss, say) still needs
/// the old ones: then they are copied first, so that no gradient is ever made from numbers that
/// have changed meanwhile.
///
/// ```
/// use mlx_native::optim::Parameter;
/// use mlx_native::{MlxDevice, Stream, Tensor};
/// let stream = Stream::new(&MlxDevice::new()?)?;
/// let weight = Parameter::new(Tensor::full(&stream, 0.5, [3])?);
/// assert!(weight.tensor().is_tracked());
/// # Ok::<(), mlx_native::MlxError>(())
/// ```
#[derive(Debug)]
pub struct Parameter {
    tensor: Tensor,
}

impl Parameter {
    /// A parameter that starts with these numbers.
    pub fn new(tensor: Tensor) -> Self {
        Self {
            tensor: tensor.variable(),
        }
    }

    /// Its numbers as they are now, as a variable.
    pub fn tensor(&self) -> &Tensor {
        &self.tensor
    }
}
