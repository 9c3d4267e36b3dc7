//! The product of matrices.

use super::{Layout, Tensor};
use crate::dtypes::DType;
use crate::error::Result;
use crate::ops::matmul::{Matmul, dispatch_matmul_f32};

impl Tensor {
    /// The product of two matrices, `[m, k]` and `[k, n]`. Transposed views are read as they lie.
    ///
    /// `c = a b`, `da = dc b^T`, `db = a^T dc`
    ///
    /// # Errors
    ///
    /// If one is no matrix or not f32, the inner dimensions differ, or they are on different streams.
    ///
    /// ```
    /// use mlx_native::{MlxDevice, Stream, Tensor};
    /// let stream = Stream::new(&MlxDevice::new()?)?;
    /// let a = Tensor::from_slice(&stream, &[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
    /// assert_eq!(a.matmul(&a.t()?)?.to_vec::<f32>()?, [5.0, 11.0, 11.0, 25.0]);
    /// # Ok::<(), mlx_native::MlxError>(())
    /// ```
    pub fn matmul(&self, other: &Self) -> Result<Self> {
        self.expect_dtype("matmul", "left", DType::F32)?;
        other.expect_dtype("matmul", "right", DType::F32)?;
        self.stream.expect("matmul", "right", &other.stream)?;
        let (&[m, k], &[inner, n]) = (self.shape(), other.shape()) else {
            return Self::shape_error(
                "matmul",
                format!(
                    "{:?} and {:?} are not both matrices; reshape them to two dimensions",
                    self.shape(),
                    other.shape()
                ),
            );
        };
        if k != inner {
            return Self::shape_error(
                "matmul",
                format!("[{m}, {k}] and [{inner}, {n}] do not multiply: {k} is not {inner}"),
            );
        }
        let output = self.empty_like(&[m, n])?;
        if m > 0 && n > 0 {
            let (a, transpose_a) = self.detach().as_matrix()?;
            let (b, transpose_b) = other.detach().as_matrix()?;
            let count = |size| super::layout::count("matmul", size);
            let sizes = Matmul {
                m: count(m)?,
                n: count(n)?,
                k: count(k)?,
                transpose_a: transpose_a.into(),
                transpose_b: transpose_b.into(),
            };
            self.stream.record(|encoder, registry, device| {
                let (a, b, c) = (a.buffer(), b.buffer(), output.buffer());
                dispatch_matmul_f32(encoder, registry, device, a, b, c, &sizes)
            })?;
        }
        let (a, b) = (self.clone(), other.clone());
        output.record("matmul", &[self, other], move |dc| {
            let da = a.is_tracked().then(|| dc.matmul(&b.t()?)).transpose()?;
            let db = b.is_tracked().then(|| a.t()?.matmul(dc)).transpose()?;
            Ok(vec![da, db])
        })
    }

    /// A matrix whose storage is it or its transpose in row-major order, and whether it is the
    /// transpose.
    fn as_matrix(&self) -> Result<(Self, bool)> {
        if self.layout.is_contiguous() {
            return Ok((self.clone(), false));
        }
        let transposed: Layout = self.layout.permute(&[1, 0]);
        if transposed.is_contiguous() {
            return Ok((self.with_layout(transposed), true));
        }
        Ok((self.contiguous()?, false))
    }
}
