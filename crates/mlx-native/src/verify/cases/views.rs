//! Views, the copies that make them contiguous, and gradients back through them.

use ndarray::{ArrayD, Axis, Slice};

use crate::error::Result;
use crate::ops::proof::{Domain, Exact};
use crate::tensor::Tensor;
use crate::verify::arrangement::Arrangement;
use crate::verify::case::{Case, Input};
use crate::verify::check::Check;

type Forward = fn(&Tensor) -> Result<Tensor>;
type Reference = fn(&ArrayD<f64>) -> ArrayD<f64>;

/// Each view of [4, 5, 6] as a tensor and as an array.
const VIEWS: [(&str, Forward, Reference); 8] = [
    (
        "permute",
        |x| x.permute([2, 0, 1]),
        |x| x.clone().permuted_axes(vec![2, 0, 1]),
    ),
    (
        "transpose",
        |x| x.transpose(0, -1),
        |x| x.clone().permuted_axes(vec![2, 1, 0]),
    ),
    (
        "slice",
        |x| x.slice(1, Some(1), Some(-1), 2),
        |x| x.slice_axis(Axis(1), Slice::new(1, Some(-1), 2)).to_owned(),
    ),
    (
        "slice backwards",
        |x| x.slice(2, Some(-2), None, -3),
        |x| {
            // Positions 4 and 1.
            let mut turned = x.slice_axis(Axis(2), Slice::new(1, Some(5), 3)).to_owned();
            turned.invert_axis(Axis(2));
            turned
        },
    ),
    (
        "flip",
        |x| x.flip(0),
        |x| {
            let mut turned = x.clone();
            turned.invert_axis(Axis(0));
            turned
        },
    ),
    (
        "reshape",
        |x| x.reshape([10, 12]),
        |x| ArrayD::from_shape_vec(vec![10, 12], x.iter().copied().collect()).unwrap_or_default(),
    ),
    (
        "squeeze and unsqueeze",
        |x| x.unsqueeze(1)?.unsqueeze(-1)?.squeeze(1),
        |x| x.clone().insert_axis(Axis(3)),
    ),
    (
        "an empty slice",
        |x| x.slice(0, Some(3), Some(1), 1),
        |x| x.slice_axis(Axis(0), Slice::new(3, Some(3), 1)).to_owned(),
    ),
];

pub(in crate::verify) fn views(check: &mut Check) -> Result<()> {
    let shape = [4, 5, 6];
    for (name, forward, reference) in VIEWS {
        for arrangement in Arrangement::ALL {
            let domain = Domain::Signed(1e-3, 1e3);
            let input = Input::random(&mut check.random, domain, &shape, arrangement);
            // Every element that is seen is seen once: its gradient is the dy of its place, found
            // by sending the places themselves through the view.
            let places =
                ArrayD::from_shape_fn(shape.as_slice(), |i| ((i[0] * 5 + i[1]) * 6 + i[2]) as f64);
            let seen = reference(&places);
            check.run(&Case {
                label: format!("{name} of {arrangement:?}"),
                inputs: vec![input],
                forward: Box::new(move |x| forward(&x[0])),
                reference: Box::new(move |x| reference(&x[0]).mapv(|v| Exact::new(v, 0.0))),
                gradient: Some(Box::new(move |x, dy| {
                    let mut dx = vec![Exact::new(0.0, 0.0); x[0].len()];
                    for (&place, &dy) in seen.iter().zip(dy) {
                        dx[place as usize] = Exact::new(dy, 0.0);
                    }
                    vec![super::exact(x[0].shape(), dx)]
                })),
                is_smooth: true,
                signed_zeroes: true,
            })?;
        }
    }
    Ok(())
}
