//! The network: a hidden layer of rectifiers between two linear ones.

use mlx_native::optim::Parameter;
use mlx_native::{Result, Stream, Tensor};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// x W + b
struct Linear {
    /// [inputs, outputs]
    weight: Parameter,
    bias: Parameter,
}

impl Linear {
    /// Weights that keep the size of what rectifiers pass on: uniform up to the root of
    /// 6 / inputs (He et al., "Delving Deep into Rectifiers", 2015).
    fn new(
        stream: &Stream,
        inputs: usize,
        outputs: usize,
        random: &mut ChaCha8Rng,
    ) -> Result<Self> {
        let bound = (6.0 / inputs as f32).sqrt();
        let weights: Vec<f32> = (0..inputs * outputs)
            .map(|_| random.random_range(-bound..bound))
            .collect();
        let zeros = vec![0.0f32; outputs];
        Ok(Self {
            weight: Parameter::new(Tensor::from_slice(stream, &weights, [inputs, outputs])?),
            bias: Parameter::new(Tensor::from_slice(stream, &zeros, [outputs])?),
        })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.matmul(self.weight.tensor())?.add(self.bias.tensor())
    }
}

/// A parameter as the model file has it.
pub struct Named {
    pub name: String,
    pub shape: Vec<usize>,
    pub numbers: Vec<f32>,
}

pub struct Network {
    layers: [Linear; 2],
}

impl Network {
    /// Layers of these sizes, with random weights.
    pub fn new(stream: &Stream, sizes: [usize; 3], random: &mut ChaCha8Rng) -> Result<Self> {
        let [inputs, hidden, outputs] = sizes;
        Ok(Self {
            layers: [
                Linear::new(stream, inputs, hidden, random)?,
                Linear::new(stream, hidden, outputs, random)?,
            ],
        })
    }

    /// A number for each digit, the largest for the likeliest.
    pub fn logits(&self, images: &Tensor) -> Result<Tensor> {
        let hidden = self.layers[0].forward(images)?.relu()?;
        self.layers[1].forward(&hidden)
    }

    pub fn parameters(&mut self) -> impl Iterator<Item = &mut Parameter> {
        let layers = self.layers.iter_mut();
        layers.flat_map(|layer| [&mut layer.weight, &mut layer.bias])
    }

    /// The parameters, by name.
    pub fn named(&self) -> Result<Vec<Named>> {
        let mut named = Vec::new();
        for (i, layer) in self.layers.iter().enumerate() {
            for (name, parameter) in [("weight", &layer.weight), ("bias", &layer.bias)] {
                let tensor = parameter.tensor();
                named.push(Named {
                    name: format!("layers.{i}.{name}"),
                    shape: tensor.shape().to_vec(),
                    numbers: tensor.to_vec()?,
                });
            }
        }
        Ok(named)
    }
}
