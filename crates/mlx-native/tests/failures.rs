//! What comes of tensors when work of their stream fails.

#![allow(clippy::unwrap_used)]

use mlx_native::optim::{Adam, AdamOptions, Parameter};
use mlx_native::{DeviceKind, MlxDevice, MlxError, Stream, Tensor};

/// Writes beyond its output.
const BROKEN: &str = "kernel void exp_f32(device const float* x [[buffer(0)]], device float* y \
    [[buffer(1)]], constant uint& n [[buffer(2)]], uint i [[thread_position_in_grid]]) \
    { y[i + 1000] = x[i]; }";

fn stream() -> Stream {
    Stream::new(&MlxDevice::open(DeviceKind::Cpu).unwrap()).unwrap()
}

fn floats(stream: &Stream, data: &[f32]) -> Tensor {
    Tensor::from_slice(stream, data, [data.len()]).unwrap()
}

/// Reads tensors twice: each time the error must name the broken kernel and what it did.
fn all_name_the_cause(tensors: &[&Tensor]) {
    for (i, tensor) in tensors.iter().enumerate() {
        for _ in 0..2 {
            let error = tensor.to_vec::<f32>().unwrap_err();
            assert!(matches!(error, MlxError::LostWork { .. }), "{i}: {error:?}");
            let message = error.to_string();
            assert!(
                message.contains("`exp_f32`") && message.contains("`y`"),
                "{i}: {message}"
            );
        }
    }
}

#[test]
fn a_failure_stays_with_all_that_it_left_unmade() {
    for told in [false, true] {
        let s = stream();
        let x = floats(&s, &[1.0, 4.0]);
        s.register_source("exp_f32", BROKEN);
        let before = x.sqrt().unwrap();
        let y = x.exp().unwrap();
        let after = x.neg().unwrap();
        let z = y.add(&x).unwrap();
        let view = y.flip(0).unwrap();
        if told {
            let error = s.synchronize().unwrap_err().to_string();
            assert!(error.contains("`exp_f32`"), "{error}");
            s.synchronize().unwrap();
        } else {
            s.commit().unwrap();
        }
        // What was made is there; the rest is not, whoever has been told.
        assert_eq!(before.to_vec::<f32>().unwrap(), [1.0, 2.0]);
        assert_eq!(x.to_vec::<f32>().unwrap(), [1.0, 4.0]);
        all_name_the_cause(&[&y, &after, &z, &view]);
        // Later work beside it goes on; what is made from it names the first cause.
        let later = y.mul(&y).unwrap();
        let other = x.add(&x).unwrap();
        let chain = later.sum_all().unwrap().neg().unwrap();
        let both = other.add(&chain).unwrap();
        let row = y.softmax(0).unwrap();
        assert_eq!(other.to_vec::<f32>().unwrap(), [2.0, 8.0]);
        all_name_the_cause(&[&later, &chain, &both, &row]);
        let message = chain.to_vec::<f32>().unwrap_err().to_string();
        assert_eq!(message.matches("failed work").count(), 1, "{message}");
        s.synchronize().ok();
        all_name_the_cause(&[&y, &chain]);
        s.synchronize().unwrap();
        all_name_the_cause(&[&y, &chain]);
    }
}

#[test]
fn gradients_of_failed_work_are_failures() {
    let s = stream();
    s.register_source("exp_f32", BROKEN);
    let x = floats(&s, &[1.0, 2.0]).variable();
    let y = x.exp().unwrap();
    s.synchronize().unwrap_err();
    let gradients = y.sum_all().unwrap().backward().unwrap();
    all_name_the_cause(&[gradients.get(&x).unwrap()]);
    assert_eq!(x.to_vec::<f32>().unwrap(), [1.0, 2.0]);
}

#[test]
fn a_parameter_changed_by_a_failed_gradient_is_an_error() {
    let s = stream();
    let mut good = Parameter::new(floats(&s, &[1.0, 2.0]));
    let mut bad = Parameter::new(floats(&s, &[1.0, 2.0]));
    let mut adam = Adam::new(AdamOptions::default());
    for failing in [false, true, false] {
        if failing {
            s.register_source("exp_f32", BROKEN);
        } else {
            s.register_source(
                "exp_f32",
                mlx_native::ops::exp_elementwise::EXP_ELEMENTWISE_SHADER_SOURCE,
            );
        }
        let loss = good.tensor().mul(good.tensor()).unwrap().sum_all().unwrap();
        let from_good = loss.backward().unwrap();
        let weight = floats(&s, &[0.5, 0.5]).exp().unwrap();
        let lost = bad.tensor().mul(&weight).unwrap().sum_all().unwrap();
        s.commit().unwrap();
        let from_bad = lost.backward().unwrap();
        adam.step([&mut good], &from_good).unwrap();
        let mut second = Adam::new(AdamOptions::default());
        second.step([&mut bad], &from_bad).unwrap();
    }
    // It stays one, although later steps went well.
    all_name_the_cause(&[bad.tensor()]);
    assert!(good.tensor().to_vec::<f32>().unwrap()[0] < 1.0);
}

#[test]
fn what_cannot_be_encoded_is_refused_by_its_own_op() {
    let s = stream();
    let x = floats(&s, &[1.0, 4.0]);
    let before = x.sqrt().unwrap();
    s.register_source(
        "exp_f32",
        "kernel void exp_f32(device const float* x, device float* y, constant uint& n, \
         device float* more, uint i [[thread_position_in_grid]]) { y[i] = more[i]; }",
    );
    let error = x.exp().unwrap_err().to_string();
    assert!(
        error.contains("`exp_f32`") && error.contains("`more`"),
        "{error}"
    );
    let after = before.neg().unwrap();
    assert_eq!(after.to_vec::<f32>().unwrap(), [-1.0, -2.0]);
    s.synchronize().unwrap();
}

#[test]
fn interrupted_work_is_unmade_and_later_work_is_not() {
    let s = stream();
    let x = floats(&s, &[1.0, 4.0]);
    let handle = s.device().interrupt_handle();
    let y = x.sqrt().unwrap();
    handle.interrupt();
    assert!(matches!(s.synchronize(), Err(MlxError::Interrupted { .. })));
    handle.clear();
    for tensor in [&y, &y.neg().unwrap()] {
        let message = tensor.to_vec::<f32>().unwrap_err().to_string();
        assert!(message.contains("interrupted"), "{message}");
    }
    assert_eq!(x.sqrt().unwrap().to_vec::<f32>().unwrap(), [1.0, 2.0]);
}
