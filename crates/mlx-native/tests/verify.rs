//! Every op is proven, natively and by kernel text alone; and a broken kernel is found.

#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mlx_native::ops::{self, Op};
use mlx_native::{DeviceKind, Execution, MlxDevice, Stream, Tensor, verify};

fn stream(execution: Execution) -> Stream {
    let device = MlxDevice::open(DeviceKind::Cpu).unwrap();
    device.set_execution(execution);
    Stream::new(&device).unwrap()
}

#[test]
fn every_op_is_proven_natively_and_by_kernel_text() {
    let stream = stream(Execution::Native);
    let reports = verify::verify(&stream, &[], 0, |_| {}).unwrap();
    assert_eq!(reports.len(), ops::table().count());
    assert_eq!(stream.execution(), Execution::Native);
    assert_eq!(stream.device().execution(), Execution::Native);
    for report in reports {
        assert!(report.is_proven(), "{}: {:#?}", report.op, report.failures);
        assert!(report.comparisons > 0 && report.controls > 0);
    }
}

#[test]
fn kernel_text_alone_is_proven_once() {
    let comparisons = |execution| {
        let reports = verify::verify(&stream(execution), &["exp"], 0, |_| {}).unwrap();
        reports[0].comparisons
    };
    assert_eq!(
        comparisons(Execution::Native),
        2 * comparisons(Execution::KernelText)
    );
}

#[test]
fn proving_kernel_text_does_not_change_the_way_of_others() {
    let proven = stream(Execution::Native);
    let data: Vec<f32> = (0..8 * 700).map(|i| (i % 89) as f32 / 7.0 - 6.0).collect();
    let product = |stream: &Stream| {
        let a = Tensor::from_slice(stream, &data, [8, 700]).unwrap();
        let c = a.matmul(&a.t().unwrap()).unwrap().to_vec::<f32>().unwrap();
        c.iter().map(|v| v.to_bits()).collect::<Vec<_>>()
    };
    let text = proven.with_execution(Execution::KernelText);
    let (native_bits, text_bits) = (product(&proven), product(&text));
    assert_ne!(native_bits, text_bits, "nothing tells the two ways apart");
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let reports = verify::verify(&proven, &["exp"], 0, |_| {}).unwrap();
            is_done.store(true, Ordering::Release);
            assert!(reports.iter().all(|report| report.is_proven()));
        });
        // Streams that were there, new ones, and clones of the one that is proven.
        let there = Stream::new(proven.device()).unwrap();
        let clone = proven.clone();
        while !is_done.load(Ordering::Acquire) {
            let new = Stream::new(proven.device()).unwrap();
            for stream in [&there, &clone, &new] {
                assert!(product(stream) == native_bits, "{stream} changed its way");
            }
            // Everybody's work waits for each other's.
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    assert!(product(&text) == text_bits);
}

#[test]
fn the_switch_of_a_device_is_for_what_is_made_later() {
    let device = MlxDevice::open(DeviceKind::Cpu).unwrap();
    let before = Stream::new(&device).unwrap();
    device.set_execution(Execution::KernelText);
    let after = Stream::new(&device).unwrap();
    assert_eq!(before.execution(), Execution::Native);
    assert_eq!(after.execution(), Execution::KernelText);
    let native = after.with_execution(Execution::Native);
    assert_eq!(native.execution(), Execution::Native);
}

/// Lines of kernels, how to break them, and the ops that run them: all that have the line, if none
/// is named.
const BREAKS: [(&str, &str, &[&str]); 9] = [
    ("output[i] = FORWARD", "output[i] = 1.001f * (FORWARD)", &[]),
    (
        "input_gradient[i] = BACKWARD",
        "input_gradient[i] = -(BACKWARD)",
        &[],
    ),
    ("output[row] = best", "output[row] = x[0]", &["max"]),
    ("? share : 0.0f", "? output_gradient[i] : 0.0f", &["max"]),
    (
        "(output_gradient[start + i] - total)",
        "(output_gradient[start + i] + total)",
        &["softmax"],
    ),
    (
        "output_gradient[start + i] - exp(output[start + i]) * total",
        "output_gradient[start + i]",
        &["log_softmax"],
    ),
    ("? -loss_gradient[row]", "? loss_gradient[row]", &[]),
    (
        "sum[i][j] = fma(x[i], y[j], sum[i][j])",
        "sum[i][j] = fma(x[i], y[i], sum[i][j])",
        &[],
    ),
    (
        "total / p.divisor",
        "total / (p.divisor + 0.01f)",
        &["sum", "mean"],
    ),
];

/// Breaks one thing in the text of an op and says whether the proof fails.
fn is_found(op: &'static Op, from: &str, to: &str) -> bool {
    let stream = stream(Execution::KernelText);
    let broken = op.source.replace(from, to);
    assert_ne!(broken, op.source);
    for kernel in op.kernels {
        stream.register_source(*kernel, broken.clone());
    }
    let reports = verify::verify(&stream, &[op.name], 0, |_| {}).unwrap();
    !reports[0].is_proven()
}

#[test]
fn a_broken_kernel_is_found() {
    for (from, to, named) in BREAKS {
        let runs = |op: &&Op| match named {
            [] => op.source.contains(from),
            _ => named.contains(&op.name),
        };
        assert!(ops::table().any(|op| runs(&op)), "nothing runs `{from}`");
        for op in ops::table().filter(runs) {
            assert!(is_found(op, from, to), "{}: `{to}` is not found", op.name);
        }
    }
}

#[test]
fn an_unknown_op_is_an_error() {
    let error = verify::verify(&stream(Execution::Native), &["nonsense"], 0, |_| {}).unwrap_err();
    assert!(error.to_string().contains("nonsense"));
}
