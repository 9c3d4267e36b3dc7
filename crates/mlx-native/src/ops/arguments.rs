//! What all ops share: checks of their arguments, grids, and the way into an encoder.

use crate::buffer::MlxBuffer;
use crate::dtypes::DType;
use crate::encoder::{CommandEncoder, KernelArgument};
use crate::error::{MlxError, Result};
use crate::kernel_registry::KernelRegistry;
use crate::metal::{DeviceRef, MTLSize};
use crate::pipeline::limits;

/// Where a dispatch goes.
pub(crate) struct Target<'a> {
    pub encoder: &'a mut CommandEncoder,
    pub registry: &'a mut KernelRegistry,
    pub device: &'a DeviceRef,
}

impl<'a> Target<'a> {
    pub fn new(
        encoder: &'a mut CommandEncoder,
        registry: &'a mut KernelRegistry,
        device: &'a DeviceRef,
    ) -> Self {
        Self {
            encoder,
            registry,
            device,
        }
    }

    /// Encodes a kernel with its buffers at 0, 1, ... and its parameters after them.
    pub fn dispatch(
        &mut self,
        kernel: &str,
        buffers: &[&MlxBuffer],
        params: KernelArgument<'_>,
        grid: Grid,
    ) -> Result<()> {
        let pipeline = self.registry.get_pipeline(kernel, self.device)?;
        let mut bindings = Vec::with_capacity(buffers.len() + 1);
        bindings.extend((0..).zip(buffers.iter().map(|&b| KernelArgument::Buffer(b))));
        bindings.push((buffers.len() as u64, params));
        self.encoder
            .encode_with(pipeline, &bindings, &[], grid.threads, grid.group);
        Ok(())
    }
}

/// A grid and its threadgroups.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    pub threads: MTLSize,
    pub group: MTLSize,
}

impl Grid {
    /// A thread for each of `count` elements.
    pub fn line(count: u64) -> Self {
        Self {
            threads: MTLSize::new(count, 1, 1),
            group: MTLSize::new(count.clamp(1, 256), 1, 1),
        }
    }

    /// A threadgroup for each of `rows` rows of `length` elements, or as many as there can be: the
    /// kernels of rows then take several each.
    pub fn rows(rows: u64, length: u64) -> Self {
        let threads = length.next_multiple_of(32).clamp(32, 256);
        let groups = rows.min(limits::GRID / threads);
        Self {
            threads: MTLSize::new(groups * threads, 1, 1),
            group: MTLSize::new(threads, 1, 1),
        }
    }
}

/// Checks the arguments of a kernel. Everything wrong is an [`MlxError::InvalidArgument`] that
/// starts with the kernel's name.
#[derive(Clone, Copy)]
pub(crate) struct Check {
    pub kernel: &'static str,
}

impl Check {
    pub fn invalid<T>(self, message: impl std::fmt::Display) -> Result<T> {
        Err(MlxError::InvalidArgument(format!(
            "{}: {message}",
            self.kernel
        )))
    }

    /// The count that the elements of all buffers must have: at least one, the same in each, all of
    /// them f32, and `params` large enough to hold it.
    pub fn elementwise(self, buffers: &[(&str, &MlxBuffer)], params: &MlxBuffer) -> Result<u64> {
        let counts = || buffers.iter().map(|&(name, b)| (name, b.element_count()));
        let count = counts().next().map_or(0, |(_, count)| count);
        if count == 0 {
            return self.invalid("there are no elements; it takes at least one");
        }
        if counts().any(|(_, other)| other != count) {
            let found: Vec<_> = counts().map(|(name, n)| format!("{name} {n}")).collect();
            return self.invalid(format!(
                "element counts differ: {}; they must be equal",
                found.join(", ")
            ));
        }
        for &(name, buffer) in buffers {
            self.dtype(name, buffer, DType::F32)?;
        }
        if params.byte_len() < 4 {
            return self.invalid(format!(
                "params has {} bytes; it holds the element count as one u32, so at least 4",
                params.byte_len()
            ));
        }
        self.count(&[count])
    }

    /// A buffer of this dtype with at least this many elements.
    pub fn buffer(self, name: &str, buffer: &MlxBuffer, dtype: DType, count: u64) -> Result<()> {
        self.dtype(name, buffer, dtype)?;
        if (buffer.element_count() as u64) < count {
            return self.invalid(format!(
                "{name} has {} elements; its parameters ask for {count}",
                buffer.element_count()
            ));
        }
        Ok(())
    }

    /// The product of dimensions, if the kernel can count that far.
    pub fn count(self, dimensions: &[usize]) -> Result<u64> {
        let mut product = 1u64;
        for &dimension in dimensions {
            product = product.saturating_mul(dimension as u64);
        }
        if product > limits::GRID {
            return self.invalid(format!(
                "there are {product} elements; it counts them as one u32, so at most {}",
                limits::GRID
            ));
        }
        Ok(product)
    }

    fn dtype(self, name: &str, buffer: &MlxBuffer, dtype: DType) -> Result<()> {
        if buffer.dtype() == dtype {
            return Ok(());
        }
        self.invalid(format!("{name} is {}; it must be {dtype}", buffer.dtype()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::reduce::Reduction;
    use crate::ops::softmax::Rows;
    use crate::testing::{cpu, floats};

    #[test]
    fn rows_have_a_grid_however_many_they_are() {
        for (rows, length, groups) in [
            (3, 5, 3),
            ((1 << 27) - 1, 32, (1 << 27) - 1),
            (1 << 27, 32, (1 << 27) - 1),
            (limits::GRID, 1, (1 << 27) - 1),
            (1 << 24, 256, (1 << 24) - 1),
        ] {
            let grid = Grid::rows(rows, length);
            let threads = grid.threads.width;
            assert!(threads <= limits::GRID);
            assert_eq!(
                threads / grid.group.width,
                groups,
                "{rows} rows of {length}"
            );
        }
    }

    /// Ten rows by one, three and ten threadgroups: the numbers are the same.
    #[test]
    fn kernels_of_rows_take_more_rows_than_threadgroups() {
        let device = cpu();
        let handle = device.metal_device();
        let mut registry = KernelRegistry::new();
        let (rows, length) = (10, 37);
        let numbers: Vec<f32> = (0..rows * length)
            .map(|i| (i * 7 % 23) as f32 / 4.0)
            .collect();
        let x = floats(&device, &numbers);
        let reduction = Reduction {
            outer: rows as u32,
            length: length as u32,
            inner: 1,
            divisor: 1.0,
        };
        let shape = Rows {
            rows: rows as u32,
            length: length as u32,
        };
        let params = |kernel: &str| match kernel.contains("softmax") {
            true => bytemuck::bytes_of(&shape).to_vec(),
            false => bytemuck::bytes_of(&reduction).to_vec(),
        };
        for (kernel, inputs) in [
            ("sum_rows_f32", 1),
            ("max_rows_f32", 1),
            ("softmax_f32", 1),
            ("log_softmax_f32", 1),
            ("softmax_backward_f32", 2),
            ("log_softmax_backward_f32", 2),
        ] {
            let params = params(kernel);
            let results = [1, 3, 10].map(|groups| {
                let y = floats(&device, &vec![-1.0; rows * length]);
                let pipeline = registry.get_pipeline(kernel, handle).unwrap();
                let mut bindings: Vec<_> = (0..inputs).map(|i| (i, (&x).into())).collect();
                bindings.push((inputs, (&y).into()));
                bindings.push((inputs + 1, KernelArgument::Bytes(&params)));
                let mut encoder = device.command_encoder().unwrap();
                let threads = MTLSize::new(groups * 64, 1, 1);
                encoder.encode_with(pipeline, &bindings, &[], threads, MTLSize::new(64, 1, 1));
                encoder.commit_and_wait().unwrap();
                y.as_slice::<f32>().unwrap().to_vec()
            });
            assert_eq!(results[0], results[2], "{kernel}");
            assert_eq!(results[1], results[2], "{kernel}");
            let untouched = if kernel.contains("rows") {
                rows
            } else {
                rows * length
            };
            assert!(
                results[0][..untouched].iter().all(|&v| v != -1.0),
                "{kernel}"
            );
        }
    }
}
