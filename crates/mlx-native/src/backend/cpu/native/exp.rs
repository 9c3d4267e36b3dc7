//! The gradient of exp: a product, which needs no interpreter.

use rayon::prelude::*;

use super::NativeArguments;
use crate::error::Result;

/// Elements that one task takes.
const CHUNK: usize = 16 * 1024;

/// `exp_backward_f32`
pub(super) fn backward_f32(arguments: &mut NativeArguments<'_>) -> Result<()> {
    let (y, dy) = (arguments.read::<f32>(0)?, arguments.read::<f32>(1)?);
    let dx = arguments.write::<f32>(2)?;
    let count = arguments.read::<u32>(3)?.first().copied().unwrap_or(0);
    let count = u64::from(count).min(arguments.threads()[0]) as usize;
    for (index, len) in [(0, y.len()), (1, dy.len()), (2, dx.len())] {
        if len < count {
            return Err(arguments.error(index, format!("{count} elements of {len}")));
        }
    }
    let product = |dx: &mut [f32], (y, dy): (&[f32], &[f32])| {
        for (dx, (y, dy)) in dx.iter_mut().zip(y.iter().zip(dy)) {
            *dx = dy * y;
        }
    };
    let (dx, y, dy) = (&mut dx[..count], &y[..count], &dy[..count]);
    if count <= CHUNK || !arguments.is_parallel() {
        product(dx, (y, dy));
    } else {
        let chunks = y.par_chunks(CHUNK).zip(dy.par_chunks(CHUNK));
        dx.par_chunks_mut(CHUNK)
            .zip(chunks)
            .for_each(|(dx, sources)| product(dx, sources));
    }
    Ok(())
}
