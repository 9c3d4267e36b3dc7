//! No kernel of the library does what kernels must not: each is run checked, forward and backward.
//! And a checked run finds what one must not do.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, which the lint does not know as such

use mlx_native::optim::{Adam, AdamOptions, Parameter};
use mlx_native::{
    DType, DeviceKind, Execution, KernelRegistry, MTLSize, MlxDevice, MlxError, Stream, Tensor, ops,
};

/// One element, more than a SIMD-group, rows longer than a threadgroup, and several dimensions.
const SHAPES: [&[usize]; 4] = [&[1], &[33], &[2, 300], &[2, 5, 3]];

fn numbers(stream: &Stream, shape: &[usize], seed: usize) -> Tensor {
    let count = shape.iter().product::<usize>();
    let number = |i: usize| ((i * 37 + seed * 11) % 101) as f32 / 20.0 + 0.1;
    let data: Vec<f32> = (0..count).map(number).collect();
    Tensor::from_slice(stream, &data, shape).unwrap().variable()
}

/// Reads a result and the gradients of its sum: all that leads to them has run.
fn finish(result: Tensor, inputs: &[&Tensor]) -> Result<(), MlxError> {
    result.to_vec::<f32>()?;
    let gradients = result.sum_all()?.backward()?;
    for input in inputs {
        gradients.get(input).unwrap().to_vec::<f32>()?;
    }
    Ok(())
}

fn run(op: &str, stream: &Stream, shape: &[usize]) -> Result<(), MlxError> {
    let (x, y) = (numbers(stream, shape, 0), numbers(stream, shape, 1));
    let last = -1;
    match op {
        "exp" => finish(x.exp()?, &[&x]),
        "log" => finish(x.log()?, &[&x]),
        "sqrt" => finish(x.sqrt()?, &[&x]),
        "neg" => finish(x.neg()?, &[&x]),
        "relu" => finish(x.relu()?, &[&x]),
        "add" => finish(x.add(&y)?, &[&x, &y]),
        "sub" => finish(x.sub(&y.flip(last)?)?, &[&x, &y]),
        "mul" => finish(x.mul(&numbers(stream, &[1], 2))?, &[&x]),
        "div" => finish(x.div(&y)?, &[&x, &y]),
        "sum" => finish(x.sum([last], false)?, &[&x]),
        "mean" => finish(x.mean([0], true)?, &[&x]),
        "max" => finish(x.max([last], false)?, &[&x]),
        "softmax" => finish(x.softmax(last)?, &[&x]),
        "log_softmax" => finish(x.log_softmax(last)?, &[&x]),
        // Always matrices: two products, of few and of more rows than a tile, are enough.
        "matmul" if shape.len() > 1 => Ok(()),
        "matmul" => {
            let rows = shape.iter().product();
            let (a, b) = (
                numbers(stream, &[rows, 19], 3),
                numbers(stream, &[19, 35], 4),
            );
            finish(a.matmul(&b)?, &[&a, &b])
        }
        "nll" => {
            let rows = shape.iter().product::<usize>();
            let scores = numbers(stream, &[rows, 5], 5);
            let targets: Vec<u32> = (0..rows as u32).map(|i| i % 5).collect();
            let targets = Tensor::from_slice(stream, &targets, [rows])?;
            finish(scores.nll(&targets)?, &[&scores])
        }
        "adam" => {
            let mut x = Parameter::new(x.detach());
            let gradients = x.tensor().mul(x.tensor())?.sum_all()?.backward()?;
            Adam::new(AdamOptions::default()).step([&mut x], &gradients)?;
            x.tensor().to_vec::<f32>().map(drop)
        }
        "copy" => {
            x.flip(last)?.contiguous()?.to_vec::<f32>()?;
            x.unsqueeze(0)?
                .transpose(0, 1)?
                .contiguous()?
                .to_vec::<f32>()
                .map(drop)
        }
        "reshape" | "permute" | "slice" | "broadcast_to" | "fill" => {
            let full = Tensor::full(stream, 2.0, shape)?;
            let view = x.broadcast_to([&[2][..], shape].concat())?;
            finish(view.slice(0, Some(1), None, 1)?.mul(&full)?, &[&x])
        }
        _ => panic!("how is `{op}` run? say it here"),
    }
}

#[test]
fn our_kernels_do_nothing_that_they_must_not() {
    let device = MlxDevice::open(DeviceKind::Cpu).unwrap();
    device.set_execution(Execution::Checked);
    for op in ops::table() {
        for shape in SHAPES {
            let stream = Stream::new(&device).unwrap();
            if let Err(error) = run(op.name, &stream, shape) {
                panic!("{} of {shape:?}: {error}", op.name);
            }
        }
    }
}

fn dispatch(text: &str, execution: Execution) -> Result<Vec<f32>, MlxError> {
    let device = MlxDevice::open(DeviceKind::Cpu)?;
    device.set_execution(execution);
    let output = device.alloc_buffer(4 * 64, DType::F32, vec![64])?;
    let mut registry = KernelRegistry::new();
    registry.register_source("k", text);
    let pipeline = registry.get_pipeline("k", device.metal_device())?;
    let mut encoder = device.command_encoder()?;
    let size = MTLSize::new(64, 1, 1);
    encoder.encode(pipeline, &[(0, &output)], size, size);
    encoder.commit_and_wait()?;
    Ok(output.as_slice::<f32>()?.to_vec())
}

#[test]
fn a_checked_run_finds_a_race_and_else_gives_the_same_numbers() {
    let shift = |barrier: &str| {
        format!(
            "#include <metal_stdlib>
             using namespace metal;
             kernel void k(device float* out, uint i [[thread_index_in_threadgroup]]) {{
                 threadgroup float shared[64];
                 shared[i] = i;
                 {barrier}
                 out[i] = shared[(i + 1) % 64];
             }}"
        )
    };
    let wrong = shift("");
    // In step, nobody sees it.
    assert!(dispatch(&wrong, Execution::Native).is_ok());
    let Err(MlxError::Misbehaved { kernel, findings }) = dispatch(&wrong, Execution::Checked)
    else {
        panic!("a race was not found");
    };
    assert_eq!(kernel, "k");
    assert!(findings[0].contains("data race"), "{findings:?}");

    let right = shift("threadgroup_barrier(mem_flags::mem_threadgroup);");
    let checked = dispatch(&right, Execution::Checked).unwrap();
    assert_eq!(checked, dispatch(&right, Execution::Native).unwrap());
}
