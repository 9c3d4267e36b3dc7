//! The cases of each op, made from its declaration, by the shape of its work.

mod adam;
mod elementwise;
mod matmul;
mod reduce;
mod rows;
mod views;

use ndarray::ArrayD;

use super::check::Check;
use crate::error::{MlxError, Result};
use crate::ops::proof::{Exact, Proof};
use crate::tensor::Tensor;

/// Numbers of elements that meet every edge of SIMD-groups, threadgroups and blocks.
const SIZES: [usize; 12] = [0, 1, 31, 32, 33, 255, 256, 257, 1023, 1025, 4099, 1_000_003];

/// Numbers that are not ordinary.
const SPECIAL: [f64; 12] = [
    0.0,
    -0.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    1.0,
    -1.0,
    f32::MIN_POSITIVE as f64,
    f32::MAX as f64,
    f32::MIN as f64,
    // A subnormal number.
    f32::from_bits(0x0001_2345) as f64,
    f32::EPSILON as f64,
];

/// Runs all cases of the op.
pub(super) fn all(check: &mut Check) -> Result<()> {
    match &check.op.proof {
        Proof::Unary {
            reference,
            gradient,
            domain,
            roundings,
        } => elementwise::unary(check, *reference, *gradient, *domain, *roundings),
        Proof::Binary {
            reference,
            gradient,
            domain,
            roundings,
        } => elementwise::binary(check, *reference, *gradient, *domain, *roundings),
        Proof::Reduction {
            reference,
            gradient,
            domain,
            empty,
        } => reduce::reduction(check, *reference, *gradient, *domain, *empty),
        Proof::Row {
            reference,
            gradient,
            domain,
        } => rows::row(check, *reference, *gradient, *domain),
        Proof::Matmul => matmul::matmul(check),
        Proof::NegativeLogLikelihood => rows::nll(check),
        Proof::Views => views::views(check),
        Proof::Adam => adam::adam(check),
    }
}

/// The error for an op that is declared, but that no case knows how to call.
fn unknown(name: &str) -> Result<Tensor> {
    Err(MlxError::InvalidArgument(format!(
        "verify: `{name}` is in the table, but has no tensor method"
    )))
}

/// An array made of arrays of the same shape, element by element.
fn exact(shape: &[usize], values: impl IntoIterator<Item = Exact>) -> ArrayD<Exact> {
    let values: Vec<Exact> = values.into_iter().collect();
    ArrayD::from_shape_vec(shape, values)
        .unwrap_or_else(|_| ArrayD::from_elem(shape, Exact::new(f64::NAN, 0.0)))
}
