//! A program of its own that registers the text of its own kernels, dispatches them and checks the
//! results. `cargo run --release` here; it exits with a message if anything is wrong.

use std::process::ExitCode;

use mlx_native::device::MlxDevice;
use mlx_native::dtypes::DType;
use mlx_native::error::{MlxError, Result};
use mlx_native::kernel_registry::KernelRegistry;
use mlx_native::metal::MTLSize;
use mlx_native::ops::exp_elementwise;

const SCALE_AND_SHIFT: &str = r#"
#include <metal_stdlib>
using namespace metal;

kernel void scale_and_shift(device const float* input [[buffer(0)]],
                            device float* output [[buffer(1)]],
                            constant uint& n [[buffer(2)]],
                            uint i [[thread_position_in_grid]]) {
    if (i < n) {
        output[i] = 2.0f * input[i] + 1.0f;
    }
}
"#;

fn main() -> ExitCode {
    for n in [1, 64, 257, 1_000_003] {
        match own_kernel(n) {
            Ok(None) => println!("{n} elements are right"),
            Ok(Some(index)) => {
                eprintln!("error: of {n} elements, number {index} is wrong");
                return ExitCode::FAILURE;
            }
            Err(error) => {
                eprintln!("error: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    match misuse() {
        Ok(messages) => messages.iter().for_each(|m| println!("refused: {m}")),
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// The first element that is wrong.
fn own_kernel(n: usize) -> Result<Option<usize>> {
    let device = MlxDevice::new()?;
    let mut input = device.alloc_buffer(4 * n, DType::F32, vec![n])?;
    let output = device.alloc_buffer(4 * n, DType::F32, vec![n])?;
    let mut params = device.alloc_buffer(4, DType::U32, vec![1])?;
    let x = |i: usize| i as f32 * 0.25 - 3.0;
    for (i, element) in input.as_mut_slice::<f32>()?.iter_mut().enumerate() {
        *element = x(i);
    }
    params.as_mut_slice::<u32>()?[0] = n as u32;

    let mut registry = KernelRegistry::new();
    registry.register_source("scale_and_shift", SCALE_AND_SHIFT);
    let pipeline = registry.get_pipeline("scale_and_shift", device.metal_device())?;
    let mut encoder = device.command_encoder()?;
    encoder.encode(
        pipeline,
        &[(0, &input), (1, &output), (2, &params)],
        MTLSize::new(n as u64, 1, 1),
        MTLSize::new(256, 1, 1),
    );
    encoder.commit_and_wait()?;
    let found = output.as_slice::<f32>()?;
    Ok((0..n).find(|&i| found[i] != 2.0 * x(i) + 1.0))
}

/// Arguments that do not fit a built-in op: each has to be an `InvalidArgument`.
fn misuse() -> std::result::Result<Vec<String>, String> {
    let device = MlxDevice::new().map_err(|error| error.to_string())?;
    let buffer = |dtype: DType, n: usize| device.alloc_buffer(4 * n, dtype, vec![n]);
    let cases = || -> Result<_> {
        let (four, five) = (buffer(DType::F32, 4)?, buffer(DType::F32, 5)?);
        let (integers, params) = (buffer(DType::I32, 4)?, buffer(DType::U32, 1)?);
        let short = device.alloc_buffer(2, DType::U8, vec![2])?;
        Ok([
            (four.clone(), five, params.clone()),
            (integers, four.clone(), params),
            (four.clone(), four, short),
        ])
    };
    let mut messages = Vec::new();
    for (input, output, params) in cases().map_err(|error| error.to_string())? {
        let mut encoder = device
            .command_encoder()
            .map_err(|error| error.to_string())?;
        let result = exp_elementwise::dispatch_exp_f32(
            &mut encoder,
            &mut KernelRegistry::new(),
            device.metal_device(),
            &input,
            &output,
            &params,
        );
        match result {
            Err(MlxError::InvalidArgument(message)) if message.starts_with("exp_f32") => {
                messages.push(message);
            }
            other => return Err(format!("a wrong argument gave {other:?}")),
        }
    }
    Ok(messages)
}
