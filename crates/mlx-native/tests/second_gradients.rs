//! Gradients of gradients: of every op whose gradient is a kernel, against differences of the first
//! gradient in f64; and the two rules of such an op against each other.

#![allow(clippy::unwrap_used, clippy::panic)]

use mlx_native::{DeviceKind, MlxDevice, Stream, Tensor};

fn stream() -> Stream {
    Stream::new(&MlxDevice::open(DeviceKind::Cpu).unwrap()).unwrap()
}

type Function = fn(&Tensor) -> mlx_native::Result<Tensor>;

/// An op on a matrix of `ROWS` by `COLUMNS`, and the gradient of `sum(c * op(x))` for x in f64.
struct Case {
    name: &'static str,
    /// The shape of its output.
    output: &'static [usize],
    apply: Function,
    gradient: fn(&[f64], &[f64]) -> Vec<f64>,
}

const ROWS: usize = 3;
const COLUMNS: usize = 4;
const SHAPE: &[usize] = &[ROWS, COLUMNS];
const TARGETS: [u32; ROWS] = [2, 0, 3];

fn each(x: &[f64], c: &[f64], slope: fn(f64) -> f64) -> Vec<f64> {
    std::iter::zip(x, c).map(|(&x, c)| slope(x) * c).collect()
}

/// The softmax of a row.
fn probabilities(x: &[f64]) -> Vec<f64> {
    let best = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = x.iter().map(|x| (x - best).exp()).sum();
    x.iter().map(|x| (x - best).exp() / total).collect()
}

/// Works on rows of x and c.
fn by_rows(x: &[f64], c: &[f64], row: fn(&[f64], &[f64]) -> Vec<f64>) -> Vec<f64> {
    let width = c.len() / ROWS;
    std::iter::zip(x.chunks(COLUMNS), c.chunks(width))
        .flat_map(|(x, c)| row(x, c))
        .collect()
}

fn softmax_row(x: &[f64], c: &[f64]) -> Vec<f64> {
    let p = probabilities(x);
    let total: f64 = std::iter::zip(&p, c).map(|(p, c)| p * c).sum();
    std::iter::zip(&p, c)
        .map(|(p, c)| p * (c - total))
        .collect()
}

fn log_softmax_row(x: &[f64], c: &[f64]) -> Vec<f64> {
    let total: f64 = c.iter().sum();
    std::iter::zip(probabilities(x), c)
        .map(|(p, c)| c - p * total)
        .collect()
}

const CASES: &[Case] = &[
    Case {
        name: "exp",
        output: SHAPE,
        apply: |x| x.exp(),
        gradient: |x, c| each(x, c, f64::exp),
    },
    Case {
        name: "log",
        output: SHAPE,
        apply: |x| x.log(),
        gradient: |x, c| each(x, c, |x| 1.0 / x),
    },
    Case {
        name: "sqrt",
        output: SHAPE,
        apply: |x| x.sqrt(),
        gradient: |x, c| each(x, c, |x| 0.5 / x.sqrt()),
    },
    Case {
        name: "neg",
        output: SHAPE,
        apply: |x| x.neg(),
        gradient: |x, c| each(x, c, |_| -1.0),
    },
    Case {
        name: "relu",
        output: SHAPE,
        apply: |x| x.sub(&Tensor::full(x.stream(), 1.5, [])?)?.relu(),
        gradient: |x, c| each(x, c, |x| if x > 1.5 { 1.0 } else { 0.0 }),
    },
    Case {
        name: "softmax of rows",
        output: SHAPE,
        apply: |x| x.softmax(1),
        gradient: |x, c| by_rows(x, c, softmax_row),
    },
    Case {
        name: "log_softmax of rows",
        output: SHAPE,
        apply: |x| x.log_softmax(-1),
        gradient: |x, c| by_rows(x, c, log_softmax_row),
    },
    Case {
        name: "softmax of columns of the transpose",
        output: &[COLUMNS, ROWS],
        apply: |x| x.t()?.softmax(0),
        gradient: |x, c| {
            let c: Vec<f64> = (0..c.len())
                .map(|i| c[i % COLUMNS * ROWS + i / COLUMNS])
                .collect();
            by_rows(x, &c, softmax_row)
        },
    },
    Case {
        name: "max of rows",
        output: &[ROWS],
        apply: |x| x.max([1], false),
        gradient: |x, c| {
            by_rows(x, c, |x, c| {
                let best = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                x.iter()
                    .map(|&x| if x == best { c[0] } else { 0.0 })
                    .collect()
            })
        },
    },
    Case {
        name: "nll",
        output: &[ROWS],
        apply: |x| x.nll(&Tensor::from_slice(x.stream(), &TARGETS, [ROWS])?),
        gradient: |_, c| {
            let place = |(row, &target): (usize, &u32)| row * COLUMNS + target as usize;
            let mut gradient = vec![0.0; ROWS * COLUMNS];
            TARGETS
                .iter()
                .enumerate()
                .map(place)
                .zip(c)
                .for_each(|(i, c)| gradient[i] = -c);
            gradient
        },
    },
    Case {
        name: "log of sqrt of exp, squared",
        output: SHAPE,
        apply: |x| {
            let y = x.exp()?.sqrt()?.log()?;
            y.mul(&y)
        },
        // (x / 2)^2
        gradient: |x, c| each(x, c, |x| x / 2.0),
    },
];

/// Numbers between 0.5 and 2.5, none within 0.05 of 1.5, and no two alike.
fn numbers(count: usize, seed: usize) -> Vec<f64> {
    let number = |i: usize| 0.5 + ((i * 5 + seed * 3) % 13) as f64 * 0.15 + 0.001 * (i % 7) as f64;
    (0..count).map(number).collect()
}

fn tensor(s: &Stream, numbers: &[f64], shape: &[usize]) -> Tensor {
    let numbers: Vec<f32> = numbers.iter().map(|&v| v as f32).collect();
    Tensor::from_slice(s, &numbers, shape).unwrap()
}

/// As f32 holds them.
fn rounded(numbers: Vec<f64>) -> Vec<f64> {
    numbers.into_iter().map(|v| f64::from(v as f32)).collect()
}

/// Compares with the slopes of `d . gradient` along each number, by central differences in f64. The
/// tolerance is some forty roundings of everything that is added up, and what the differences miss.
fn compare(
    found: &[f32],
    at: &[f64],
    d: &[f64],
    gradient: &dyn Fn(&[f64]) -> Vec<f64>,
) -> Result<(), String> {
    let first = gradient(at);
    let size: f64 = std::iter::zip(d, &first).map(|(d, g)| (d * g).abs()).sum();
    for (j, &found) in found.iter().enumerate() {
        let step = 1e-5;
        let moved = |by: f64| {
            let mut at = at.to_vec();
            at[j] += by;
            gradient(&at)
        };
        let (up, down) = (moved(step), moved(-step));
        let terms = || (0..d.len()).map(|i| d[i] * (up[i] - down[i]) / (2.0 * step));
        let (expected, scale) = (terms().sum::<f64>(), terms().map(f64::abs).sum::<f64>());
        let tolerance = 40.0 * 2f64.powi(-24) * (scale + size) + 1e-9;
        if (f64::from(found) - expected).abs() > tolerance {
            return Err(format!(
                "number {j}: {found} is not {expected} within {tolerance}"
            ));
        }
    }
    Ok(())
}

/// Compares, and sees that wrong numbers are noticed.
fn agrees(
    label: &str,
    found: &Tensor,
    at: &[f64],
    d: &[f64],
    gradient: &dyn Fn(&[f64]) -> Vec<f64>,
) {
    let found = found.to_vec::<f32>().unwrap();
    compare(&found, at, d, gradient).unwrap_or_else(|message| panic!("{label}, {message}"));
    if found.iter().any(|&v| v != 0.0) {
        let changes: [fn(f32) -> f32; 3] = [|v| -v, |v| 1.01 * v, |_| 0.0];
        for change in changes {
            let wrong: Vec<f32> = found.iter().map(|&v| change(v)).collect();
            assert!(
                compare(&wrong, at, d, gradient).is_err(),
                "{label}: not noticed"
            );
        }
    }
}

#[test]
fn second_gradients_are_the_slopes_of_first_ones() {
    let s = stream();
    for case in CASES {
        let outputs = case.output.iter().product();
        let x = rounded(numbers(ROWS * COLUMNS, 1));
        let c = rounded(numbers(outputs, 2).iter().map(|v| v - 1.3).collect());
        let d = rounded(numbers(ROWS * COLUMNS, 4).iter().map(|v| v - 0.9).collect());
        let tx = tensor(&s, &x, SHAPE).variable();
        let tc = tensor(&s, &c, case.output).variable();
        let loss = (case.apply)(&tx)
            .unwrap()
            .mul(&tc)
            .unwrap()
            .sum_all()
            .unwrap();
        let first = loss.backward_with_history().unwrap();
        let along = first.get(&tx).unwrap().mul(&tensor(&s, &d, SHAPE)).unwrap();
        let second = along.sum_all().unwrap().backward().unwrap();
        let zero = Tensor::full(&s, 0.0, SHAPE).unwrap();
        // Where the slope is constant nothing leads back to x.
        let by_x = second.get(&tx).unwrap_or(&zero);
        agrees(case.name, by_x, &x, &d, &|x| (case.gradient)(x, &c));
        let by_c = second.get(&tc).unwrap();
        let label = format!("{}, for c", case.name);
        agrees(&label, by_c, &c, &d, &|c| (case.gradient)(&x, c));
    }
}

#[test]
fn exp_and_sqrt_have_third_gradients() {
    let s = stream();
    let x = tensor(&s, &[0.5, 1.0, 2.0], &[3]).variable();
    let third = |y: Tensor| {
        let mut y = y.sum_all().unwrap();
        for _ in 0..2 {
            let gradients = y.backward_with_history().unwrap();
            y = gradients.get(&x).unwrap().sum_all().unwrap();
        }
        y.backward()
            .unwrap()
            .get(&x)
            .unwrap()
            .to_vec::<f32>()
            .unwrap()
    };
    for (found, slope) in [
        (third(x.exp().unwrap()), f32::exp as fn(f32) -> f32),
        (third(x.sqrt().unwrap()), |x: f32| 0.375 * x.powf(-2.5)),
    ] {
        for (found, x) in found.iter().zip([0.5, 1.0, 2.0]) {
            assert!((found / slope(x) - 1.0).abs() < 1e-6, "{found} at {x}");
        }
    }
}

/// Both rules of an op, from the same dy.
fn both(y: &Tensor, x: &Tensor, dy: &Tensor) -> [Vec<f32>; 2] {
    let loss = y.mul(dy).unwrap().sum_all().unwrap();
    [loss.backward(), loss.backward_with_history()]
        .map(|gradients| gradients.unwrap().get(x).unwrap().to_vec::<f32>().unwrap())
}

#[test]
fn the_two_rules_of_an_op_agree_to_the_bit_where_they_round_alike() {
    let s = stream();
    let special = [
        0.0f32,
        -0.0,
        1.0,
        -1.0,
        3.0,
        1e-40,
        1e38,
        -1e38,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
    ];
    let pairs: Vec<(f32, f32)> = special
        .iter()
        .flat_map(|&a| special.map(|b| (a, b)))
        .collect();
    let (x, dy): (Vec<f32>, Vec<f32>) = pairs.iter().copied().unzip();
    let x = Tensor::from_slice(&s, &x, [x.len()]).unwrap().variable();
    let dy = Tensor::from_slice(&s, &dy, [dy.len()]).unwrap();
    let same = |name: &str, [fused, tensors]: [Vec<f32>; 2]| {
        for (i, (a, b)) in fused.iter().zip(&tensors).enumerate() {
            let alike = a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
            assert!(alike, "{name}, number {i}: {a} and {b}");
        }
    };
    let unary: [(&str, Function); 5] = [
        ("exp", |x| x.exp()),
        ("log", |x| x.log()),
        ("sqrt", |x| x.sqrt()),
        ("neg", |x| x.neg()),
        ("relu", |x| x.relu()),
    ];
    for (name, apply) in unary {
        same(name, both(&apply(&x).unwrap(), &x, &dy));
        // Through a view that is not in row-major order.
        let square = x.reshape([11, 11]).unwrap().t().unwrap();
        let square_dy = dy.reshape([11, 11]).unwrap();
        same(name, both(&apply(&square).unwrap(), &x, &square_dy));
    }
    // Ties, in twos and threes, and a NaN.
    let rows = [
        [1.0f32, 3.0, 3.0, 2.0],
        [5.0, 5.0, -1.0, 5.0],
        [f32::NAN, 1.0, f32::NAN, 0.0],
        [-0.0, 0.0, -1.0, -2.0],
        [f32::NEG_INFINITY; 4],
    ];
    let x = Tensor::from_slice(&s, &rows.concat(), [5, 4])
        .unwrap()
        .variable();
    for dy in [
        [0.3f32, -0.7, 1.1, 1e-40, 3.0],
        [f32::INFINITY, 0.0, f32::NAN, -0.0, f32::NEG_INFINITY],
    ] {
        let dy = Tensor::from_slice(&s, &dy, [5]).unwrap();
        same("max", both(&x.max([1], false).unwrap(), &x, &dy));
        let columns = x.t().unwrap().max([0], false).unwrap();
        same("max of columns", both(&columns, &x, &dy));
        let target = Tensor::from_slice(&s, &[0u32, 3, 1, 2, 0], [5]).unwrap();
        same("nll", both(&x.nll(&target).unwrap(), &x, &dy));
    }
}

#[test]
fn the_two_rules_of_rows_agree_within_their_roundings() {
    let s = stream();
    for (rows, length) in [(3, 1), (2, 31), (3, 37), (1, 300), (0, 3), (3, 0)] {
        let x: Vec<f32> = (0..rows * length)
            .map(|i| ((i * 37) % 101) as f32 / 9.0 - 5.0)
            .collect();
        let dy: Vec<f32> = (0..rows * length)
            .map(|i| ((i * 53) % 97) as f32 / 40.0 - 1.0)
            .collect();
        let x = Tensor::from_slice(&s, &x, [rows, length])
            .unwrap()
            .variable();
        let t = Tensor::from_slice(&s, &dy, [rows, length]).unwrap();
        let softmax = x.softmax(1).unwrap();
        for (name, y) in [
            ("softmax", softmax.clone()),
            ("log_softmax", x.log_softmax(1).unwrap()),
        ] {
            let [fused, tensors] = both(&y, &x, &t);
            let y = softmax.to_vec::<f32>().unwrap();
            for (i, (a, b)) in fused.iter().zip(&tensors).enumerate() {
                let row = i / length * length..(i / length + 1) * length;
                // Each side makes at most an addition for each term and a few roundings more, of
                // what is added up and scaled by y.
                let added: f32 = match name {
                    "softmax" => row.map(|k| (y[k] * dy[k]).abs()).sum(),
                    _ => row.map(|k| dy[k].abs()).sum(),
                };
                let scale = match name {
                    "softmax" => y[i] * (dy[i].abs() + added),
                    _ => dy[i].abs() + y[i] * added,
                };
                let tolerance = 2.0 * (length + 8) as f32 * f32::EPSILON / 2.0 * scale;
                assert!(
                    (a - b).abs() <= tolerance,
                    "{name} {rows} {length}, {i}: {a} and {b}"
                );
            }
        }
    }
}
