//! Views with any numbers: what Python does where it has an answer, an error elsewhere, never a
//! wrong element and never an overflow.

#![allow(clippy::unwrap_used)]

use mlx_native::{DType, DeviceKind, MlxDevice, Result, Stream, Tensor};

fn stream() -> Stream {
    Stream::new(&MlxDevice::open(DeviceKind::Cpu).unwrap()).unwrap()
}

/// Numbers at and around every edge.
const NUMBERS: [isize; 19] = [
    isize::MIN,
    isize::MIN + 1,
    isize::MIN / 2,
    -(1 << 32),
    -7,
    -6,
    -5,
    -4,
    -2,
    -1,
    0,
    1,
    2,
    4,
    5,
    6,
    1 << 32,
    isize::MAX - 1,
    isize::MAX,
];

/// The positions that Python's `range(*slice(start, end, step).indices(length))` has.
fn python(length: i128, start: Option<isize>, end: Option<isize>, step: isize) -> Vec<usize> {
    let step = step as i128;
    let place = |position: Option<isize>, default: i128| match position.map(|p| p as i128) {
        None => default,
        Some(p) => {
            let p = if p < 0 { p + length } else { p };
            match (p < 0, p >= length) {
                (true, _) => {
                    if step < 0 {
                        -1
                    } else {
                        0
                    }
                }
                (_, true) => {
                    if step < 0 {
                        length - 1
                    } else {
                        length
                    }
                }
                _ => p,
            }
        }
    };
    let (first, last) = if step < 0 {
        (length - 1, -1)
    } else {
        (0, length)
    };
    let (mut at, end) = (place(start, first), place(end, last));
    let mut places = Vec::new();
    while (step > 0 && at < end) || (step < 0 && at > end) {
        places.push(at as usize);
        at += step;
    }
    places
}

#[test]
fn slices_of_any_numbers_are_pythons() {
    let s = stream();
    let positions = || NUMBERS.into_iter().map(Some).chain([None]);
    for length in [0usize, 1, 5] {
        let data: Vec<f32> = (0..length).map(|i| i as f32).collect();
        let line = Tensor::from_slice(&s, &data, [length]).unwrap();
        // Positions behind each other, so that a view is cut again.
        let column = Tensor::from_slice(&s, &[data.clone(), data.clone()].concat(), [2, length]);
        let column = column.unwrap().t().unwrap();
        for step in NUMBERS {
            for start in positions() {
                for end in positions() {
                    if step == 0 {
                        assert!(line.slice(0, start, end, 0).is_err());
                        continue;
                    }
                    let wanted = python(length as i128, start, end, step);
                    let cut = line.slice(0, start, end, step).unwrap();
                    assert_eq!(
                        cut.shape(),
                        [wanted.len()],
                        "{length} {start:?} {end:?} {step}"
                    );
                    // Reading each of thousands would be slow; the others are read below.
                    if wanted.len() > 1 || (start, end) == (None, None) {
                        let wanted: Vec<f32> = wanted.iter().map(|&p| p as f32).collect();
                        assert_eq!(cut.to_vec::<f32>().unwrap(), wanted);
                        let again = cut.slice(-1, None, None, -1).unwrap().to_vec::<f32>();
                        assert_eq!(
                            again.unwrap(),
                            wanted.iter().rev().copied().collect::<Vec<_>>()
                        );
                    }
                    let cut = column.slice(0, start, end, step).unwrap();
                    assert_eq!(cut.shape(), [wanted.len(), 2]);
                }
            }
        }
    }
}

#[test]
fn a_slice_of_one_element_is_that_element() {
    let s = stream();
    let x = Tensor::from_slice(&s, &[0.0f32, 1.0, 2.0, 3.0, 4.0], [5]).unwrap();
    for (start, step) in [
        (3, isize::MAX),
        (3, isize::MIN),
        (-2, 1 << 40),
        (-2, -(1 << 40)),
    ] {
        let cut = x.slice(0, Some(start), None, step).unwrap();
        assert_eq!(cut.to_vec::<f32>().unwrap(), [3.0], "{start} {step}");
        assert_eq!(cut.add(&cut).unwrap().to_vec::<f32>().unwrap(), [6.0]);
        // The gradient goes back through the same numbers.
        let v = x.variable();
        let y = v
            .slice(0, Some(start), None, step)
            .unwrap()
            .sum_all()
            .unwrap();
        let gradients = y.backward().unwrap();
        let gradient = gradients.get(&v).unwrap().to_vec::<f32>().unwrap();
        assert_eq!(gradient, [0.0, 0.0, 0.0, 1.0, 0.0]);
    }
}

/// Tensors with lengths that overflow when they are multiplied, where that is allowed.
fn extreme(s: &Stream) -> Vec<Tensor> {
    let shapes: [&[usize]; 6] = [
        &[0, usize::MAX],
        &[usize::MAX, 2, 0],
        &[usize::MAX, 0, usize::MAX],
        &[1 << 40, 0, 1 << 40],
        &[0],
        &[],
    ];
    let mut all: Vec<_> = shapes
        .iter()
        .map(|shape| Tensor::zeros(s, DType::F32, shape).unwrap())
        .collect();
    // 2^60 elements that share one place.
    all.push(Tensor::full(s, 1.0, [1 << 30, 1 << 30]).unwrap());
    all.push(Tensor::full(s, 1.0, [2, 3]).unwrap());
    all
}

/// Reads what is small enough to read: what is too large must say so.
fn read(tensor: Result<Tensor>) {
    if let Ok(tensor) = tensor
        && tensor.element_count() < 1 << 20
    {
        assert_eq!(
            tensor.to_vec::<f32>().unwrap().len(),
            tensor.element_count()
        );
    }
}

#[test]
fn no_view_overflows() {
    let s = stream();
    let lengths = [
        0,
        1,
        2,
        1 << 31,
        1 << 32,
        1 << 62,
        usize::MAX / 2,
        usize::MAX,
    ];
    for x in extreme(&s) {
        for a in NUMBERS {
            read(x.flip(a));
            read(x.squeeze(a));
            read(x.unsqueeze(a));
            read(x.sum([a], false));
            read(x.max([a], true));
            read(x.mean([a], false));
            read(x.permute([a]));
            for b in NUMBERS {
                read(x.transpose(a, b));
                read(x.permute([a, b]));
                read(x.permute([a, b, 0]));
                read(x.sum([a, b], true));
                read(x.slice(0, Some(a), Some(b), -3));
                read(x.slice(0, Some(a), None, b));
                read(x.slice(-1, None, Some(a), b));
                read(x.slice(a, Some(b), None, 1));
            }
        }
        for a in lengths {
            read(x.reshape([a]));
            read(x.broadcast_to([a]));
            for b in lengths {
                read(x.reshape([a, b]));
                read(x.broadcast_to([a, b]));
                for c in lengths {
                    read(x.reshape([a, b, c]));
                    read(x.broadcast_to([a, b, c]));
                }
            }
        }
        read(x.sum_all());
        read(x.mean_all());
        read(x.contiguous());
        read(x.t());
        read(x.t().and_then(|x| x.contiguous()));
        read(x.exp());
        read(x.add(&x));
        read(x.softmax(0));
        read(x.matmul(&x));
    }
    for a in lengths {
        for b in lengths {
            read(Tensor::zeros(&s, DType::F32, [a, b]).and_then(|x| x.flip(0)));
            read(Tensor::full(&s, 1.0, [a, b]).and_then(|x| x.slice(1, None, None, isize::MAX)));
        }
    }
}
