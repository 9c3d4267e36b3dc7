//! The ways in which the elements of a tensor may lie in memory.

use ndarray::{ArrayD, Axis, Slice};

use crate::error::Result;
use crate::tensor::{Stream, Tensor};

/// A way to lay elements out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrangement {
    Contiguous,
    /// The dimensions in the opposite order.
    Transposed,
    /// Every second element of each dimension of something larger, from its second on.
    Sliced,
    /// Each dimension backwards.
    Reversed,
    /// The first dimension repeats one element.
    Broadcast,
}

impl Arrangement {
    pub const ALL: [Self; 5] = [
        Self::Contiguous,
        Self::Transposed,
        Self::Sliced,
        Self::Reversed,
        Self::Broadcast,
    ];

    /// Numbers that can be arranged so: a broadcast dimension has the same ones everywhere.
    pub fn adjust(self, mut values: ArrayD<f64>) -> ArrayD<f64> {
        if self == Self::Broadcast && values.ndim() > 0 && values.len_of(Axis(0)) > 1 {
            let first = values.index_axis(Axis(0), 0).to_owned();
            for mut other in values.axis_iter_mut(Axis(0)) {
                other.assign(&first);
            }
        }
        values
    }

    /// A tensor of these numbers, arranged so. What lies between them is NaN, so that reading it
    /// shows.
    pub fn tensor(self, stream: &Stream, values: &ArrayD<f64>) -> Result<Tensor> {
        let rank = values.ndim();
        let axes = 0..rank as isize;
        match self {
            Self::Contiguous => upload(stream, values),
            Self::Transposed => {
                let transposed = values.clone().reversed_axes();
                upload(stream, &transposed)?.permute(axes.rev().collect::<Vec<_>>())
            }
            Self::Sliced => {
                let larger: Vec<usize> = values.shape().iter().map(|n| 2 * n + 1).collect();
                let mut array = ArrayD::from_elem(larger, f64::NAN);
                array
                    .slice_each_axis_mut(|_| Slice::new(1, None, 2))
                    .assign(values);
                let mut tensor = upload(stream, &array)?;
                for axis in axes {
                    tensor = tensor.slice(axis, Some(1), None, 2)?;
                }
                Ok(tensor)
            }
            Self::Reversed => {
                let mut array = values.clone();
                for axis in 0..rank {
                    array.invert_axis(Axis(axis));
                }
                let mut tensor = upload(stream, &array)?;
                for axis in axes {
                    tensor = tensor.flip(axis)?;
                }
                Ok(tensor)
            }
            Self::Broadcast if rank > 0 && values.len_of(Axis(0)) > 0 => {
                let first = values.slice_axis(Axis(0), Slice::new(0, Some(1), 1));
                upload(stream, &first.to_owned())?.broadcast_to(values.shape())
            }
            Self::Broadcast => upload(stream, values),
        }
    }
}

fn upload(stream: &Stream, values: &ArrayD<f64>) -> Result<Tensor> {
    let data: Vec<f32> = values.iter().map(|&v| v as f32).collect();
    Tensor::from_slice(stream, &data, values.shape())
}
