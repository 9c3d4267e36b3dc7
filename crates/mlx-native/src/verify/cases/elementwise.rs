//! Functions of one and of two elements.

use ndarray::{ArrayD, Axis};

use super::{SIZES, SPECIAL, exact, unknown};
use crate::error::Result;
use crate::ops::proof::{Domain, Exact, Roundings};
use crate::tensor::Tensor;
use crate::verify::arrangement::Arrangement;
use crate::verify::case::{Case, Input};
use crate::verify::check::Check;

pub(in crate::verify) fn unary(
    check: &mut Check,
    reference: fn(f64) -> f64,
    gradient: fn(f64, f64) -> f64,
    domain: Domain,
    roundings: Roundings,
) -> Result<()> {
    let name = check.op.name;
    let case = |label: String, input: Input, is_smooth| Case {
        label,
        inputs: vec![input],
        forward: Box::new(move |x| by_name_unary(name, &x[0])),
        reference: Box::new(move |x| x[0].mapv(|x| Exact::new(reference(x), roundings.forward))),
        gradient: Some(Box::new(move |x, dy| {
            let gradients = x[0].iter().zip(dy).map(|(&x, &dy)| gradient(x, dy));
            vec![exact(
                x[0].shape(),
                gradients.map(|g| Exact::new(g, roundings.backward)),
            )]
        })),
        is_smooth,
        signed_zeroes: true,
    };
    for n in SIZES {
        let input = Input::random(&mut check.random, domain, &[n], Arrangement::Contiguous);
        check.run(&case(format!("{n} elements"), input, true))?;
    }
    for arrangement in Arrangement::ALL {
        for shape in [vec![33, 65], vec![2, 3, 5], vec![]] {
            let input = Input::random(&mut check.random, domain, &shape, arrangement);
            check.run(&case(format!("{arrangement:?} {shape:?}"), input, true))?;
        }
    }
    let special = Input::new(&[SPECIAL.len()], SPECIAL.to_vec(), Arrangement::Contiguous);
    check.run(&case("special numbers".into(), special, false))
}

pub(in crate::verify) fn binary(
    check: &mut Check,
    reference: fn(f64, f64) -> f64,
    gradient: fn(f64, f64, f64) -> (f64, f64),
    domain: [Domain; 2],
    roundings: Roundings,
) -> Result<()> {
    let name = check.op.name;
    let case = |label: String, inputs: [Input; 2], is_smooth: bool| Case {
        label,
        inputs: inputs.into(),
        forward: Box::new(move |x| by_name_binary(name, &x[0], &x[1])),
        reference: Box::new(move |x| {
            let (a, b) = spread(&x[0], &x[1]);
            let values = a.iter().zip(&b).map(|(&a, &b)| reference(a, b));
            exact(a.shape(), values.map(|v| Exact::new(v, roundings.forward)))
        }),
        gradient: is_smooth.then(|| -> Box<crate::verify::case::GradientFn<'_>> {
            Box::new(move |x, dy| {
                let (a, b) = spread(&x[0], &x[1]);
                let pairs = a.iter().zip(&b).zip(dy);
                let both: Vec<_> = pairs.map(|((&a, &b), &dy)| gradient(a, b, dy)).collect();
                let da = exact(
                    a.shape(),
                    both.iter().map(|g| Exact::new(g.0, roundings.backward)),
                );
                let db = exact(
                    a.shape(),
                    both.iter().map(|g| Exact::new(g.1, roundings.backward)),
                );
                vec![gather(da, x[0].shape()), gather(db, x[1].shape())]
            })
        }),
        is_smooth,
        signed_zeroes: true,
    };
    let mut pair = |shapes: [&[usize]; 2], arrangements: [Arrangement; 2]| {
        [0, 1].map(|i| Input::random(&mut check.random, domain[i], shapes[i], arrangements[i]))
    };
    let mut cases = Vec::new();
    for n in SIZES {
        let inputs = pair([&[n], &[n]], [Arrangement::Contiguous; 2]);
        cases.push(case(format!("{n} elements"), inputs, true));
    }
    let shapes: [[&[usize]; 2]; 6] = [
        [&[33, 65], &[33, 65]],
        [&[33, 65], &[65]],
        [&[7, 1], &[1, 9]],
        [&[4, 1, 5], &[2, 1, 3, 1]],
        [&[], &[3, 2]],
        [&[65, 33], &[1]],
    ];
    for shapes in shapes {
        for a in Arrangement::ALL {
            for b in [
                Arrangement::Contiguous,
                Arrangement::Transposed,
                Arrangement::Sliced,
            ] {
                let label = format!("{a:?} {:?} and {b:?} {:?}", shapes[0], shapes[1]);
                cases.push(case(label, pair(shapes, [a, b]), true));
            }
        }
    }
    let each = SPECIAL.len();
    let rows = SPECIAL.iter().flat_map(|&v| std::iter::repeat_n(v, each));
    let special = [
        Input::new(&[each, each], rows.collect(), Arrangement::Contiguous),
        Input::new(&[each], SPECIAL.to_vec(), Arrangement::Contiguous),
    ];
    cases.push(case("special numbers".into(), special, false));
    cases.iter().try_for_each(|case| check.run(case))
}

/// Two arrays repeated to the shape that they broadcast to.
fn spread(a: &ArrayD<f64>, b: &ArrayD<f64>) -> (ArrayD<f64>, ArrayD<f64>) {
    // ndarray's own broadcasting, so that the library's is not judged by itself.
    let shape = (a + b).raw_dim();
    let to = |x: &ArrayD<f64>| {
        let repeated = x.broadcast(shape.clone());
        repeated.map_or_else(|| ArrayD::zeros(shape.clone()), |r| r.to_owned())
    };
    (to(a), to(b))
}

/// Sums a gradient over the places that an element was repeated to.
fn gather(mut gradient: ArrayD<Exact>, shape: &[usize]) -> ArrayD<Exact> {
    let count = gradient.len() / shape.iter().product::<usize>().max(1);
    let sum = |a: &Exact, b: &Exact| Exact {
        value: a.value + b.value,
        scale: a.scale + b.scale,
        roundings: a.roundings.max(b.roundings),
    };
    while gradient.ndim() > shape.len() {
        gradient = gradient.fold_axis(Axis(0), Exact::new(0.0, 0.0), sum);
    }
    for (d, &length) in shape.iter().enumerate() {
        if length == 1 {
            let folded = gradient.fold_axis(Axis(d), Exact::new(0.0, 0.0), sum);
            gradient = folded.insert_axis(Axis(d));
        }
    }
    let additions = match count {
        0 | 1 => 0.0,
        // Two sums, where rows and columns are repeated.
        _ => 2.0 * crate::ops::reduce::depth(count),
    };
    gradient.mapv(|e| Exact {
        roundings: e.roundings + additions,
        ..e
    })
}

macro_rules! by_name {
    ($($(#[$doc:meta])* $name:ident { $($rest:tt)* })*) => {
        fn by_name_unary(name: &str, x: &Tensor) -> Result<Tensor> {
            match name {
                $(stringify!($name) => x.$name(),)*
                _ => unknown(name),
            }
        }
    };
}
crate::ops::unary::unary_ops!(by_name);

macro_rules! by_name {
    ($($(#[$doc:meta])* $name:ident { $($rest:tt)* })*) => {
        fn by_name_binary(name: &str, a: &Tensor, b: &Tensor) -> Result<Tensor> {
            match name {
                $(stringify!($name) => a.$name(b),)*
                _ => unknown(name),
            }
        }
    };
}
crate::ops::binary::binary_ops!(by_name);
