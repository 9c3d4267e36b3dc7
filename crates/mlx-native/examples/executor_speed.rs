//! How fast the CPU executor runs exp beside a plain Rust loop, what an empty dispatch costs, and
//! how long a kernel takes to compile: `cargo run --release -p mlx-native --example executor_speed`.

use std::time::Instant;

use mlx_native::{DeviceKind, KernelRegistry, MTLSize, MlxDevice, MlxError};
use rayon::prelude::*;

const EXP: &str = "#include <metal_stdlib>
using namespace metal;
kernel void e(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
              constant uint& n [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    if (i < n) { y[i] = exp(x[i]); }
}
kernel void nothing() {}";

/// The middle of some runs, in seconds.
fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn time(mut run: impl FnMut()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64()
}

#[inline(always)]
fn exp_loop(y: &mut [f32], x: &[f32]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = msl::math::exp(*x);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
fn exp_avx512(y: &mut [f32], x: &[f32]) {
    exp_loop(y, x);
}

fn plain(y: &mut [f32], x: &[f32]) {
    #[cfg(target_arch = "x86_64")]
    if msl::exec::Isa::detect() == msl::exec::Isa::Avx512 {
        // SAFETY: the processor has it.
        return unsafe { exp_avx512(y, x) };
    }
    exp_loop(y, x);
}

fn main() -> Result<(), MlxError> {
    const N: usize = 1 << 24;
    let device = MlxDevice::open(DeviceKind::Cpu)?;
    device.set_native(false);
    let data: Vec<f32> = (0..N).map(|i| (i % 1000) as f32 * 0.01 - 5.0).collect();
    let x = device.buffer_from_slice(&data, vec![N])?;
    let y = device.buffer_from_slice(&vec![0f32; N], vec![N])?;
    let n = device.buffer_from_slice(&[N as u32], vec![1])?;
    let mut plain_y = vec![0f32; N];
    let mut copy = vec![0f32; N];

    let mut registry = KernelRegistry::new();
    registry.register_source("e", EXP);
    let exp = registry.get_pipeline("e", device.metal_device())?.clone();
    registry.register_source("nothing", EXP);
    let nothing = registry
        .get_pipeline("nothing", device.metal_device())?
        .clone();
    let one = MTLSize::new(1, 1, 1);
    let run = |group: u64| -> Result<f64, MlxError> {
        let mut encoder = device.command_encoder()?;
        encoder.encode(
            &exp,
            &[(0, &x), (1, &y), (2, &n)],
            MTLSize::new(N as u64, 1, 1),
            MTLSize::new(group, 1, 1),
        );
        let start = Instant::now();
        encoder.commit_and_wait()?;
        Ok(start.elapsed().as_secs_f64())
    };
    let (mut copies, mut loops, mut runs) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..15 {
        copies.push(time(|| {
            copy.par_chunks_mut(1 << 16)
                .zip(data.par_chunks(1 << 16))
                .for_each(|(d, s)| d.copy_from_slice(s));
        }));
        loops.push(time(|| {
            plain_y
                .par_chunks_mut(1 << 16)
                .zip(data.par_chunks(1 << 16))
                .for_each(|(d, s)| plain(d, s));
        }));
        runs.push(run(1024)?);
    }
    let (copy, plain, executor) = (median(copies), median(loops), median(runs));
    println!("copy of 16M f32             {:6.2} ms", copy * 1e3);
    println!("exp, a plain Rust loop      {:6.2} ms", plain * 1e3);
    println!(
        "exp, the executor           {:6.2} ms, {:.2} of the loop's speed",
        executor * 1e3,
        plain / executor
    );

    let mut encoder = device.command_encoder()?;
    let dispatches: Vec<f64> = (0..2000)
        .map(|_| {
            let start = Instant::now();
            encoder.encode(&nothing, &[], one, one);
            let done = encoder.commit_and_wait();
            let elapsed = start.elapsed().as_secs_f64();
            done.map(|()| elapsed)
        })
        .collect::<Result<_, _>>()?;
    println!(
        "an empty dispatch           {:6.2} us",
        median(dispatches) * 1e6
    );

    let compiles = (0..50)
        .map(|_| {
            time(|| {
                let compiled = msl::compile("exp.metal", EXP, &msl::syntax::Options::default());
                let ready = compiled
                    .ok()
                    .and_then(|c| msl::exec::Program::new(&c, "e").ok());
                std::hint::black_box(ready);
            })
        })
        .collect();
    println!(
        "compiling exp from its text {:6.2} ms",
        median(compiles) * 1e3
    );
    Ok(())
}
