//! How fast the CPU executor runs exp beside a plain Rust loop, and a loop nest over a small array
//! beside the same written out; what an empty dispatch costs, and how long a kernel takes to compile: `cargo run --release -p mlx-native --example executor_speed`.

use std::time::Instant;

use mlx_native::{DeviceKind, Execution, KernelRegistry, MTLSize, MlxDevice, MlxError};
use rayon::prelude::*;

const EXP: &str = "#include <metal_stdlib>
using namespace metal;
kernel void e(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
              constant uint& n [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    if (i < n) { y[i] = exp(x[i]); }
}
kernel void nothing() {}";

/// A 4 x 4 array of sums indexed by loop counters, and the same with a variable for each.
fn nest() -> String {
    let each = |text: &str| -> String {
        let name = |n: usize| {
            text.replace("{i}", &(n / 4).to_string())
                .replace("{j}", &(n % 4).to_string())
        };
        (0..16).map(name).collect()
    };
    format!(
        "kernel void nest(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                     uint t [[thread_position_in_grid]]) {{
            float acc[4][4];
            for (int i = 0; i < 4; i++) {{ for (int j = 0; j < 4; j++) {{ acc[i][j] = 0; }} }}
            for (uint k = 0; k < 64; k++) {{
                float a[4], b[4];
                for (int i = 0; i < 4; i++) {{ a[i] = x[t + k + i]; b[i] = x[t + 2 * k + i]; }}
                for (int i = 0; i < 4; i++) {{
                    for (int j = 0; j < 4; j++) {{ acc[i][j] += a[i] * b[j]; }}
                }}
            }}
            float total = 0;
            for (int i = 0; i < 4; i++) {{ for (int j = 0; j < 4; j++) {{ total += acc[i][j]; }} }}
            y[t] = total;
        }}
        kernel void scalars(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                        uint t [[thread_position_in_grid]]) {{
            {}
            for (uint k = 0; k < 64; k++) {{
                float a0 = x[t + k], b0 = x[t + 2 * k], a1 = x[t + k + 1], b1 = x[t + 2 * k + 1];
                float a2 = x[t + k + 2], b2 = x[t + 2 * k + 2], a3 = x[t + k + 3], b3 = x[t + 2 * k + 3];
                {}
            }}
            float total = 0;
            {}
            y[t] = total;
        }}",
        each("float acc{i}{j} = 0;"),
        each("acc{i}{j} += a{i} * b{j};"),
        each("total += acc{i}{j};"),
    )
}

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
    device.set_execution(Execution::KernelText);
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

    let nest_text = nest();
    let mut nests = Vec::new();
    for name in ["nest", "scalars"] {
        registry.register_source(name, &nest_text);
        let pipeline = registry.get_pipeline(name, device.metal_device())?.clone();
        let mut times = Vec::new();
        for _ in 0..9 {
            let mut encoder = device.command_encoder()?;
            encoder.encode(
                &pipeline,
                &[(0, &x), (1, &y)],
                MTLSize::new(1 << 17, 1, 1),
                MTLSize::new(256, 1, 1),
            );
            let start = Instant::now();
            encoder.commit_and_wait()?;
            times.push(start.elapsed().as_secs_f64());
        }
        nests.push(median(times));
    }
    println!(
        "sums in a 4 x 4 array       {:6.2} ms, {:.2} of the time of sixteen variables",
        nests[0] * 1e3,
        nests[0] / nests[1]
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
