//! Products of matrices, by the `gemm` crate.

use gemm::Parallelism;

use super::NativeArguments;
use crate::error::Result;
use crate::ops::matmul::Matmul;

/// Multiplications below which a second thread costs more than it saves.
const WORTH_SHARING: usize = 64 * 64 * 64;

/// `matmul_f32`
pub(super) fn matmul_f32(arguments: &mut NativeArguments<'_>) -> Result<()> {
    let (a, b) = (arguments.read::<f32>(0)?, arguments.read::<f32>(1)?);
    let c = arguments.write::<f32>(2)?;
    let Some(&sizes) = arguments.read::<Matmul>(3)?.first() else {
        return Err(arguments.error(3, "it holds no sizes"));
    };
    let [m, n, k] = [sizes.m, sizes.n, sizes.k].map(|size| size as usize);
    for (index, found, needed) in [
        (0, a.len(), m * k),
        (1, b.len(), k * n),
        (2, c.len(), m * n),
    ] {
        if found < needed {
            return Err(arguments.error(index, format!("{needed} elements of {found}")));
        }
    }
    if k == 0 {
        c[..m * n].fill(0.0);
        return Ok(());
    }
    let parallelism = match arguments.is_parallel() && m * n * k >= WORTH_SHARING {
        true => Parallelism::Rayon(0),
        false => Parallelism::None,
    };
    // Distances of neighbours in a column and in a row.
    let strides = |transposed: u32, rows: usize, columns: usize| match transposed {
        0 => (columns as isize, 1),
        _ => (1, rows as isize),
    };
    let (a_row, a_column) = strides(sizes.transpose_a, m, k);
    let (b_row, b_column) = strides(sizes.transpose_b, k, n);
    // SAFETY: the slices hold m k, k n and m n elements, checked above, and the strides go through
    // each matrix once: no place lies outside its slice. c is borrowed mutably, so it is neither a
    // nor b.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            c.as_mut_ptr(),
            1,
            n as isize,
            false,
            a.as_ptr(),
            a_column,
            a_row,
            b.as_ptr(),
            b_column,
            b_row,
            0.0,
            1.0,
            false,
            false,
            false,
            parallelism,
        );
    }
    Ok(())
}
