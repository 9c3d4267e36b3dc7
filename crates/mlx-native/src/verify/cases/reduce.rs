//! Reductions along axes.

use ndarray::ArrayD;

use super::{SIZES, exact, unknown};
use crate::error::Result;
use crate::ops::proof::{Domain, Exact};
use crate::tensor::Tensor;
use crate::verify::arrangement::Arrangement;
use crate::verify::case::{Case, Input};
use crate::verify::check::Check;

pub(in crate::verify) fn reduction(
    check: &mut Check,
    reference: fn(&[f64]) -> Exact,
    gradient: fn(&[f64], f64) -> Vec<Exact>,
    domain: Domain,
    empty: bool,
) -> Result<()> {
    let name = check.op.name;
    let case = |label: String, input: Input, axes: Vec<usize>, keep_dims: bool, smooth: bool| {
        let signed: Vec<isize> = axes.iter().map(|&d| d as isize).collect();
        let lanes = Lanes::new(input.values.shape(), axes, keep_dims);
        let other = lanes.clone();
        Case {
            label: format!("{label} along {signed:?}"),
            inputs: vec![input],
            forward: Box::new(move |x| by_name(name, &x[0], &signed, keep_dims)),
            reference: Box::new(move |x| {
                let values = lanes.split(&x[0]).into_iter().map(|lane| reference(&lane));
                exact(&lanes.result, values)
            }),
            gradient: Some(Box::new(move |x, dy| {
                let parts = other.split(&x[0]).into_iter().zip(dy);
                let parts = parts.flat_map(|(lane, &dy)| gradient(&lane, dy));
                vec![other.join(parts.collect())]
            })),
            is_smooth: smooth,
            signed_zeroes: false,
        }
    };
    let mut cases = Vec::new();
    let random = &mut check.random;
    for n in SIZES.into_iter().filter(|&n| n > 0 || empty) {
        let mut input =
            |shape: &[usize]| Input::random(random, domain, shape, Arrangement::Contiguous);
        cases.push(case(format!("[{n}]"), input(&[n]), vec![0], false, true));
        if n < 5000 {
            cases.push(case(
                format!("[3, {n}]"),
                input(&[3, n]),
                vec![1],
                true,
                true,
            ));
            cases.push(case(
                format!("[{n}, 3]"),
                input(&[n, 3]),
                vec![0],
                false,
                true,
            ));
        }
    }
    let shapes: [(&[usize], &[usize]); 8] = [
        (&[4, 5, 6], &[0]),
        (&[4, 5, 6], &[1]),
        (&[4, 5, 6], &[2]),
        (&[4, 5, 6], &[0, 1]),
        (&[4, 5, 6], &[0, 2]),
        (&[4, 5, 6], &[0, 1, 2]),
        (&[2, 3, 4, 5], &[1, 3]),
        (&[7, 9], &[]),
    ];
    for (shape, axes) in shapes {
        for arrangement in Arrangement::ALL {
            if arrangement == Arrangement::Broadcast && matches!(domain, Domain::Distinct) {
                continue;
            }
            let input = Input::random(random, domain, shape, arrangement);
            let label = format!("{arrangement:?} {shape:?}");
            cases.push(case(label, input, axes.to_vec(), axes.len() == 1, true));
        }
    }
    let input = Input::random(random, domain, &[0, 3], Arrangement::Contiguous);
    cases.push(case("[0, 3]".into(), input, vec![1], false, false));
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let rows = [
        [1.0, inf, -2.0],
        [inf, -inf, 1.0],
        [nan, 1.0, inf],
        [-inf, -inf, -inf],
        [2.0, 2.0, 1.0],
        [-0.0, 0.0, -0.0],
    ];
    let numbers: Vec<f64> = rows.concat();
    let input = Input::new(&[rows.len(), 3], numbers, Arrangement::Contiguous);
    let transposed = Input::new(&[3, rows.len()], turned(&rows), Arrangement::Contiguous);
    cases.push(case("special rows".into(), input, vec![1], false, false));
    cases.push(case(
        "special columns".into(),
        transposed,
        vec![0],
        false,
        false,
    ));
    cases.iter().try_for_each(|case| check.run(case))
}

fn turned(rows: &[[f64; 3]]) -> Vec<f64> {
    (0..3)
        .flat_map(|c| rows.iter().map(move |row| row[c]))
        .collect()
}

fn by_name(name: &str, x: &Tensor, axes: &[isize], keep_dims: bool) -> Result<Tensor> {
    match name {
        "sum" => x.sum(axes, keep_dims),
        "mean" => x.mean(axes, keep_dims),
        "max" => x.max(axes, keep_dims),
        _ => unknown(name),
    }
}

/// The runs of elements that become one, and back.
#[derive(Clone)]
struct Lanes {
    shape: Vec<usize>,
    /// The kept dimensions, then the reduced ones.
    order: Vec<usize>,
    kept: usize,
    result: Vec<usize>,
}

impl Lanes {
    fn new(shape: &[usize], axes: Vec<usize>, keep_dims: bool) -> Self {
        let kept: Vec<usize> = (0..shape.len()).filter(|d| !axes.contains(d)).collect();
        let result = (0..shape.len()).filter_map(|d| match axes.contains(&d) {
            true => keep_dims.then_some(1),
            false => Some(shape[d]),
        });
        Self {
            result: result.collect(),
            shape: shape.to_vec(),
            kept: kept.len(),
            order: kept.into_iter().chain(axes).collect(),
        }
    }

    fn split(&self, x: &ArrayD<f64>) -> Vec<Vec<f64>> {
        let view = x.view().permuted_axes(self.order.as_slice());
        let (outer, inner) = view.shape().split_at(self.kept);
        let (rows, length) = (outer.iter().product(), inner.iter().product::<usize>());
        let flat: Vec<f64> = view.iter().copied().collect();
        (0..rows)
            .map(|row| flat[row * length..(row + 1) * length].to_vec())
            .collect()
    }

    fn join(&self, lanes: Vec<Exact>) -> ArrayD<Exact> {
        let permuted: Vec<usize> = self.order.iter().map(|&d| self.shape[d]).collect();
        let mut inverse = vec![0; self.order.len()];
        for (place, &d) in self.order.iter().enumerate() {
            inverse[d] = place;
        }
        exact(&permuted, lanes)
            .permuted_axes(inverse)
            .as_standard_layout()
            .to_owned()
    }
}
