//! Products of matrices.

use ndarray::{ArrayD, ArrayView2, aview2};

use super::exact;
use crate::error::Result;
use crate::ops::proof::{Domain, Exact};
use crate::verify::arrangement::Arrangement;
use crate::verify::case::{Case, Input};
use crate::verify::check::Check;

pub(in crate::verify) fn matmul(check: &mut Check<'_>) -> Result<()> {
    let sizes = [
        (1, 1, 1),
        (3, 4, 5),
        (1, 257, 33),
        (65, 1, 31),
        (64, 64, 16),
        (63, 65, 17),
        (130, 70, 33),
        (0, 3, 4),
        (3, 4, 0),
        (1025, 1000, 3),
    ];
    for (m, n, k) in sizes {
        for a in Arrangement::ALL {
            for b in [
                Arrangement::Contiguous,
                Arrangement::Transposed,
                Arrangement::Reversed,
            ] {
                if m * n > 100_000 && a != b {
                    continue;
                }
                let domain = Domain::Uniform(-1.0, 2.0);
                let inputs = vec![
                    Input::random(&mut check.random, domain, &[m, k], a),
                    Input::random(&mut check.random, domain, &[k, n], b),
                ];
                check.run(&Case {
                    label: format!("{a:?} [{m}, {k}] and {b:?} [{k}, {n}]"),
                    inputs,
                    forward: Box::new(|x| x[0].matmul(&x[1])),
                    reference: Box::new(|x| product(matrix(&x[0]), matrix(&x[1]))),
                    gradient: Some(Box::new(|x, dc| {
                        vec![
                            product(matrix(dc), matrix(&x[1]).reversed_axes()),
                            product(matrix(&x[0]).reversed_axes(), matrix(dc)),
                        ]
                    })),
                    is_smooth: m * n < 1000,
                    signed_zeroes: false,
                })?;
            }
        }
    }
    Ok(())
}

fn matrix(x: &ArrayD<f64>) -> ArrayView2<'_, f64> {
    let sizes = match x.shape() {
        &[m, n] => (m, n),
        _ => (0, 0),
    };
    ArrayView2::from_shape(sizes, x.as_slice().unwrap_or(&[]))
        .unwrap_or_else(|_| aview2::<f64, 0>(&[]))
}

/// Each element has a rounding for each of its products.
fn product(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>) -> ArrayD<Exact> {
    let (m, k, n) = (a.nrows(), a.ncols(), b.ncols());
    let element = |i: usize, j: usize| {
        let products = || (0..k).map(|l| a[[i, l]] * b[[l, j]]);
        Exact {
            value: products().sum(),
            scale: products().map(f64::abs).sum(),
            roundings: k as f64 + 1.0,
        }
    };
    let elements = (0..m).flat_map(|i| (0..n).map(move |j| element(i, j)));
    exact(&[m, n], elements)
}
