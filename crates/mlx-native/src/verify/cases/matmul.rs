//! Products of matrices.

use ndarray::{ArrayD, ArrayView2, aview2};

use super::exact;
use crate::error::Result;
use crate::ops::proof::{Domain, Exact};
use crate::verify::arrangement::Arrangement;
use crate::verify::case::{Case, Input};
use crate::verify::check::Check;

pub(in crate::verify) fn matmul(check: &mut Check) -> Result<()> {
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
                let one = [Arrangement::Contiguous, Arrangement::Transposed];
                if m * n > 100_000 && [a, b] != one {
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
    let rows: Vec<Vec<f64>> = a.outer_iter().map(|row| row.to_vec()).collect();
    let columns: Vec<Vec<f64>> = b.columns().into_iter().map(|c| c.to_vec()).collect();
    let element = |row: &[f64], column: &[f64]| {
        let mut sum = Exact::new(0.0, a.ncols() as f64 + 1.0);
        for (a, b) in row.iter().zip(column) {
            sum.value += a * b;
            sum.scale += (a * b).abs();
        }
        sum
    };
    let elements = rows
        .iter()
        .flat_map(|row| columns.iter().map(|column| element(row, column)));
    exact(&[rows.len(), columns.len()], elements)
}
