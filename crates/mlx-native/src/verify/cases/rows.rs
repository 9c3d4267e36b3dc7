//! Functions of rows.

use ndarray::{ArrayD, Axis};
use rand::RngExt;

use super::{SIZES, exact, unknown};
use crate::error::{MlxError, Result};
use crate::ops::proof::{Domain, Exact};
use crate::tensor::Tensor;
use crate::verify::arrangement::Arrangement;
use crate::verify::case::{Case, Input};
use crate::verify::check::Check;

pub(in crate::verify) fn row(
    check: &mut Check,
    reference: fn(&[f64]) -> Vec<Exact>,
    gradient: fn(&[f64], &[f64]) -> Vec<Exact>,
    domain: Domain,
) -> Result<()> {
    let name = check.op.name;
    let case = |label: String, input: Input, axis: usize, is_smooth: bool| Case {
        label: format!("{label} along {axis}"),
        inputs: vec![input],
        forward: Box::new(move |x| by_name(name, &x[0], axis as isize)),
        reference: Box::new(move |x| lanes(&x[0], None, axis, |row, _| reference(row))),
        gradient: Some(Box::new(move |x, dy| {
            vec![lanes(&x[0], Some(dy), axis, gradient)]
        })),
        is_smooth,
        signed_zeroes: false,
    };
    let mut cases = Vec::new();
    let random = &mut check.random;
    for n in SIZES {
        let rows = if n > 5000 { 1 } else { 3 };
        let input = Input::random(random, domain, &[rows, n], Arrangement::Contiguous);
        cases.push(case(format!("[{rows}, {n}]"), input, 1, n < 5000));
    }
    for arrangement in Arrangement::ALL {
        for (shape, axis) in [
            (vec![5, 33], 1),
            (vec![5, 33], 0),
            (vec![2, 3, 4], 1),
            (vec![6], 0),
        ] {
            let input = Input::random(random, domain, &shape, arrangement);
            cases.push(case(
                format!("{arrangement:?} {shape:?}"),
                input,
                axis,
                true,
            ));
        }
    }
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let special = [
        [1.0, inf, -2.0],
        [-inf, -inf, -inf],
        [nan, 1.0, 2.0],
        [-inf, 0.0, 1.0],
        [1000.0, 1000.0, 999.0],
        [-1000.0, 0.0, 1000.0],
        [5.0, 5.0, 5.0],
    ];
    let input = Input::new(
        &[special.len(), 3],
        special.concat(),
        Arrangement::Contiguous,
    );
    cases.push(case("special rows".into(), input, 1, false));
    cases.iter().try_for_each(|case| check.run(case))
}

pub(in crate::verify) fn nll(check: &mut Check) -> Result<()> {
    let sizes = [(1, 1), (5, 3), (33, 10), (257, 31), (0, 4), (1025, 1000)];
    for (rows, classes) in sizes {
        for arrangement in Arrangement::ALL {
            let targets: Vec<u32> = (0..rows)
                .map(|_| check.random.random_range(0..classes as u32))
                .collect();
            let domain = Domain::Uniform(-8.0, -0.1);
            let input = Input::random(&mut check.random, domain, &[rows, classes], arrangement);
            let target = Tensor::from_slice(&check.stream, &targets, [rows])?;
            let chosen = targets.clone();
            let case = Case {
                label: format!("{arrangement:?} [{rows}, {classes}]"),
                inputs: vec![input],
                forward: Box::new(move |x| x[0].nll(&target)),
                reference: Box::new(move |x| {
                    let picked = x[0].outer_iter().zip(&chosen);
                    let losses = picked.map(|(row, &c)| Exact::new(-row[c as usize], 0.0));
                    exact(&[rows], losses)
                }),
                gradient: Some(Box::new(move |x, dy| {
                    let mut dx = ArrayD::from_elem(x[0].shape(), Exact::new(0.0, 0.0));
                    for ((mut row, &c), &dy) in dx.outer_iter_mut().zip(&targets).zip(dy) {
                        row[c as usize] = Exact::new(-dy, 0.0);
                    }
                    vec![dx]
                })),
                is_smooth: rows < 1000,
                signed_zeroes: true,
            };
            check.run(&case)?;
        }
    }
    let x = Tensor::from_slice(&check.stream, &[-1.0f32, -2.0], [1, 2])?;
    let beyond = Tensor::from_slice(&check.stream, &[2u32], [1])?;
    let is_cpu = check.stream.device().kind() == crate::device::DeviceKind::Cpu;
    match x.nll(&beyond).and_then(|loss| loss.to_vec::<f32>()) {
        Err(MlxError::IndexOutOfRange { index: 2, .. }) if is_cpu => {}
        Ok(loss) if !is_cpu && loss == [0.0] => {}
        other => check.fail("a target that is no class", format!("gives {other:?}")),
    }
    Ok(())
}

fn by_name(name: &str, x: &Tensor, axis: isize) -> Result<Tensor> {
    match name {
        "softmax" => x.softmax(axis),
        "log_softmax" => x.log_softmax(axis),
        _ => unknown(name),
    }
}

/// A function of each row along an axis, and of the same row of dy.
fn lanes(
    x: &ArrayD<f64>,
    dy: Option<&ArrayD<f64>>,
    axis: usize,
    function: impl Fn(&[f64], &[f64]) -> Vec<Exact>,
) -> ArrayD<Exact> {
    let mut result = ArrayD::from_elem(x.shape(), Exact::new(0.0, 0.0));
    let dy = dy.unwrap_or(x);
    let sources = x.lanes(Axis(axis)).into_iter().zip(dy.lanes(Axis(axis)));
    for (mut lane, (x, dy)) in result.lanes_mut(Axis(axis)).into_iter().zip(sources) {
        let values = function(&x.to_vec(), &dy.to_vec());
        lane.iter_mut()
            .zip(values)
            .for_each(|(to, from)| *to = from);
    }
    result
}
