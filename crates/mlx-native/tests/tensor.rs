//! Tensors: what they refuse, histories, and parameters that change.

#![allow(clippy::unwrap_used)]

use mlx_native::optim::{Adam, AdamOptions, Parameter};
use mlx_native::{DType, DeviceKind, MlxDevice, MlxError, Stream, Tensor, autograd};

fn stream() -> Stream {
    Stream::new(&MlxDevice::open(DeviceKind::Cpu).unwrap()).unwrap()
}

fn floats(stream: &Stream, data: &[f32], shape: &[usize]) -> Tensor {
    Tensor::from_slice(stream, data, shape).unwrap()
}

/// The message of an error, to be read as a user would.
fn message(result: mlx_native::Result<Tensor>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn what_does_not_fit_is_said_plainly() {
    let s = stream();
    let x = floats(&s, &[0.0; 6], &[2, 3]);
    let cases = [
        (
            message(x.add(&floats(&s, &[0.0; 2], &[2]))),
            "add: [2, 3] and [2] do not broadcast",
        ),
        (
            message(x.matmul(&x)),
            "matmul: [2, 3] and [2, 3] do not multiply: 3 is not 2",
        ),
        (
            message(x.matmul(&x.reshape([6]).unwrap())),
            "are not both matrices",
        ),
        (
            message(x.reshape([4])),
            "reshape: [2, 3] has 6 elements, but [4] has 4",
        ),
        (
            message(x.sum([2], false)),
            "sum: there is no axis 2 in [2, 3]; axes go from -2 to 1",
        ),
        (
            message(x.sum([1, -1], false)),
            "sum: axis -1 is named twice",
        ),
        (
            message(x.permute([0, 0])),
            "permute: the axes [0, 0] do not name each",
        ),
        (
            message(x.broadcast_to([3, 3])),
            "[2, 3] does not broadcast to [3, 3]",
        ),
        (message(x.slice(0, None, None, 0)), "slice: the step is 0"),
        (
            message(x.squeeze(0)),
            "dimension 0 of [2, 3] has length 2, not 1",
        ),
        (message(x.unsqueeze(4)), "unsqueeze: there is no axis 4"),
        (
            message(
                Tensor::zeros(&s, DType::F32, [0, 2])
                    .unwrap()
                    .max([0], false),
            ),
            "max: there is no largest of no elements",
        ),
        (
            message(Tensor::from_slice(&s, &[1u32], [1]).unwrap().exp()),
            "exp: input is u32; it must be f32",
        ),
    ];
    for (found, expected) in cases {
        assert!(found.contains(expected), "`{found}` lacks `{expected}`");
    }
    let loss = x.variable().exp().unwrap();
    assert!(matches!(loss.backward(), Err(MlxError::NotScalar { .. })));
    assert!(matches!(
        x.sum_all().unwrap().backward(),
        Err(MlxError::NoHistory { .. })
    ));
    let beyond = Tensor::from_slice(&s, &[0u32, 3], [2]).unwrap();
    let error = message(x.nll(&beyond));
    assert!(
        error.contains("target[1] is 3; it must be less than 3"),
        "{error}"
    );
}

#[test]
fn tensors_of_two_streams_do_not_mix() {
    let device = MlxDevice::open(DeviceKind::Cpu).unwrap();
    let here = Stream::new(&device).unwrap();
    let others = [Stream::new(&device).unwrap(), stream()];
    let x = floats(&here, &[1.0, 2.0, 3.0, 4.0], &[2, 2]).variable();
    for there in others {
        let y = floats(&there, &[1.0; 4], &[2, 2]);
        let target = Tensor::from_slice(&there, &[0u32, 1], [2]).unwrap();
        let from = |x: &Tensor, y: &Tensor| x.backward_from(y).map(|_| x.clone());
        // Its numbers are not made yet: nobody may read them as zeroes.
        let unmade = y.neg().unwrap();
        for (result, operation, argument) in [
            (x.add(&y), "add", "right"),
            (x.sub(&unmade), "sub", "right"),
            (x.mul(&y), "mul", "right"),
            (x.div(&y), "div", "right"),
            (x.matmul(&unmade), "matmul", "right"),
            (x.nll(&target), "nll", "target"),
            (
                from(&x.neg().unwrap(), &unmade),
                "backward_from",
                "the gradient",
            ),
            (from(&x, &y), "backward_from", "the gradient"),
        ] {
            let error = result.unwrap_err();
            let MlxError::StreamMismatch {
                operation: found,
                argument: named,
                expected,
                found: other,
            } = &error
            else {
                unreachable!("{error:?}");
            };
            assert_eq!((*found, *named), (operation, argument));
            assert_eq!((expected, other), (&here.to_string(), &there.to_string()));
            assert_ne!(expected, other);
        }
        // An optimiser that has moments on one stream.
        let mut adam = Adam::new(AdamOptions::default());
        for (s, fits) in [(&here, true), (&there, false), (&here, true)] {
            let mut parameter = Parameter::new(floats(s, &[1.0], &[1]));
            let loss = parameter.tensor().mul(parameter.tensor()).unwrap();
            let gradients = loss.sum_all().unwrap().backward().unwrap();
            let result = adam.step([&mut parameter], &gradients);
            assert_eq!(result.is_ok(), fits, "{result:?}");
            let moved = parameter.tensor().item::<f32>().unwrap() != 1.0;
            assert_eq!(moved, fits);
        }
    }
}

#[test]
fn a_gradient_to_start_from_is_a_float_of_the_same_shape() {
    let s = stream();
    let x = floats(&s, &[1.0, 2.0], &[2]).variable();
    let y = x.neg().unwrap();
    let says = |gradient: &Tensor| y.backward_from(gradient).unwrap_err();
    let error = says(&Tensor::from_slice(&s, &[1i32, 2], [2]).unwrap());
    assert!(matches!(
        error,
        MlxError::UnsupportedDType {
            operation: "backward_from",
            expected: DType::F32,
            found: DType::I32,
            ..
        }
    ));
    assert!(matches!(
        says(&floats(&s, &[1.0], &[1])),
        MlxError::ShapeMismatch {
            operation: "backward_from",
            ..
        }
    ));
    // Numbers that are no floats have no gradient.
    let whole = Tensor::from_slice(&s, &[1u32], [1]).unwrap().variable();
    let same = Tensor::from_slice(&s, &[1u32], [1]).unwrap();
    for error in [
        whole.backward().unwrap_err(),
        whole.backward_with_history().unwrap_err(),
        whole.backward_from(&same).unwrap_err(),
    ] {
        assert!(matches!(
            error,
            MlxError::UnsupportedDType {
                found: DType::U32,
                ..
            }
        ));
    }
}

#[test]
fn gradients_of_every_path_add_up() {
    let s = stream();
    let x = floats(&s, &[1.0, 2.0], &[2]).variable();
    let y = x.mul(&x).unwrap();
    // x^2 + 3 x^2 by two paths, one of them through a view.
    let three = Tensor::full(&s, 3.0, [2]).unwrap();
    let z = y.add(&y.flip(0).unwrap().mul(&three).unwrap()).unwrap();
    let gradients = z.sum_all().unwrap().backward().unwrap();
    assert_eq!(
        gradients.get(&x).unwrap().to_vec::<f32>().unwrap(),
        [8.0, 16.0]
    );
    let other = floats(&s, &[0.0], &[1]).variable();
    assert!(gradients.get(&other).is_none() && gradients.get(&other.detach()).is_none());
    // The history is still there: a second walk gives the same.
    let again = z.sum_all().unwrap().backward().unwrap();
    assert_eq!(again.get(&x).unwrap().to_vec::<f32>().unwrap(), [8.0, 16.0]);
}

#[test]
fn second_gradients_of_quotients_are_right() {
    let s = stream();
    let x = floats(&s, &[2.0], &[1]).variable();
    let one = floats(&s, &[1.0], &[1]);
    let y = one.div(&x).unwrap().sum_all().unwrap();
    let first = y.backward_with_history().unwrap();
    let slope = first.get(&x).unwrap().sum_all().unwrap();
    assert_eq!(slope.item::<f32>().unwrap(), -0.25);
    let second = slope.backward().unwrap();
    assert_eq!(second.get(&x).unwrap().to_vec::<f32>().unwrap(), [0.25]);
}

#[test]
fn a_long_history_is_walked_and_dropped_without_recursion() {
    let s = stream();
    let x = floats(&s, &[1.0], &[1]).variable();
    let mut y = x.clone();
    for _ in 0..100_000 {
        y = y.neg().unwrap();
    }
    let run = move || {
        let gradients = y.sum_all().unwrap().backward().unwrap();
        assert_eq!(gradients.get(&x).unwrap().to_vec::<f32>().unwrap(), [1.0]);
        drop(y);
    };
    // A small stack, so that recursion could not hide.
    let thread = std::thread::Builder::new()
        .stack_size(256 * 1024)
        .spawn(run);
    thread.unwrap().join().unwrap();
}

#[test]
fn without_history_nothing_is_kept() {
    let s = stream();
    let x = floats(&s, &[1.0], &[1]).variable();
    let y = autograd::without_history(|| x.mul(&x).unwrap());
    assert!(!y.is_tracked());
    assert!(x.mul(&x).unwrap().is_tracked());
}

#[test]
fn work_waits_until_the_host_reads() {
    let s = stream();
    let broken = "kernel void exp_f32(device const float* x [[buffer(0)]], device float* y \
                  [[buffer(1)]], constant uint& n [[buffer(2)]], uint i \
                  [[thread_position_in_grid]]) { y[i + 1000] = x[i]; }";
    s.register_source("exp_f32", broken);
    let y = floats(&s, &[1.0], &[1]).exp().unwrap();
    let z = y.neg().unwrap();
    let error = z.to_vec::<f32>().unwrap_err().to_string();
    assert!(error.contains("exp_f32"), "{error}");
}

#[test]
fn a_parameter_changes_in_place_unless_somebody_needs_the_old_numbers() {
    let s = stream();
    let mut weight = Parameter::new(floats(&s, &[1.0, 2.0], &[2]));
    let mut adam = Adam::new(AdamOptions {
        learning_rate: 0.5,
        ..AdamOptions::default()
    });
    let loss = weight
        .tensor()
        .mul(weight.tensor())
        .unwrap()
        .sum_all()
        .unwrap();
    let before = loss.backward().unwrap();
    adam.step([&mut weight], &before).unwrap();
    let changed = weight.tensor().to_vec::<f32>().unwrap();
    assert!(
        (changed[0] - 0.5).abs() < 1e-6 && (changed[1] - 1.5).abs() < 1e-6,
        "{changed:?}"
    );
    // The history of the old loss still has the old numbers.
    let after = loss.backward().unwrap();
    assert_eq!(
        after.get(weight.tensor()).unwrap().to_vec::<f32>().unwrap(),
        [2.0, 4.0]
    );
    let mut other = Parameter::new(floats(&s, &[0.0], &[1]));
    let error = adam.step([&mut weight, &mut other], &after).unwrap_err();
    assert!(error.to_string().contains("2 parameters, but were 1"));
}

#[test]
fn tensors_without_elements_work_everywhere() {
    let s = stream();
    let x = Tensor::zeros(&s, DType::F32, [0, 3]).unwrap().variable();
    let y = x.exp().unwrap().add(&floats(&s, &[1.0; 3], &[3])).unwrap();
    let z = y
        .softmax(1)
        .unwrap()
        .matmul(&floats(&s, &[1.0; 6], &[3, 2]))
        .unwrap();
    assert_eq!(z.shape(), [0, 2]);
    assert_eq!(
        z.sum([0], false).unwrap().to_vec::<f32>().unwrap(),
        [0.0, 0.0]
    );
    let gradients = z.sum_all().unwrap().backward().unwrap();
    assert_eq!(gradients.get(&x).unwrap().shape(), [0, 3]);
    assert!(x.mean_all().unwrap().item::<f32>().unwrap().is_nan());
}
