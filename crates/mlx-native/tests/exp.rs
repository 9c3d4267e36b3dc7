//! exp and its gradient against f64, natively and by the kernel's text, and what they refuse.

#![allow(clippy::unwrap_used, clippy::panic)]

use mlx_native::ops::exp_elementwise::{dispatch_exp_backward_f32, dispatch_exp_f32};
use mlx_native::{DType, DeviceKind, Execution, KernelRegistry, MlxBuffer, MlxDevice, MlxError};

/// Metal promises 4 ULP for `precise::exp`; ours is held to less.
const FORWARD_ULP: f64 = 2.0;

struct Bench {
    device: MlxDevice,
    registry: KernelRegistry,
}

impl Bench {
    fn new(execution: Execution) -> Self {
        let device = MlxDevice::open(DeviceKind::Cpu).unwrap();
        device.set_execution(execution);
        Self {
            device,
            registry: KernelRegistry::new(),
        }
    }

    fn floats(&self, data: &[f32]) -> MlxBuffer {
        self.device
            .buffer_from_slice(data, vec![data.len()])
            .unwrap()
    }

    fn params(&self, n: usize) -> MlxBuffer {
        self.device.buffer_from_slice(&[n as u32], vec![1]).unwrap()
    }

    /// exp(x) and dy * exp(x).
    fn run(&mut self, x: &[f32], dy: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let n = self.params(x.len());
        let (x, dy) = (self.floats(x), self.floats(dy));
        let (y, dx) = (
            self.floats(&vec![0.0; x.element_count()]),
            self.floats(&vec![0.0; x.element_count()]),
        );
        let mut encoder = self.device.command_encoder().unwrap();
        let handle = self.device.metal_device();
        dispatch_exp_f32(&mut encoder, &mut self.registry, handle, &x, &y, &n).unwrap();
        dispatch_exp_backward_f32(&mut encoder, &mut self.registry, handle, &y, &dy, &dx, &n)
            .unwrap();
        encoder.commit_and_wait().unwrap();
        (
            y.as_slice::<f32>().unwrap().to_vec(),
            dx.as_slice::<f32>().unwrap().to_vec(),
        )
    }
}

/// Distance in units of the last place of the f32 nearest to `expected`.
fn ulp(found: f32, expected: f64) -> f64 {
    let nearest = expected as f32;
    if found == nearest || (found.is_nan() && nearest.is_nan()) {
        return 0.0;
    }
    let exponent = nearest.abs().max(f32::MIN_POSITIVE).log2().floor() as i32;
    (f64::from(found) - expected).abs() / 2f64.powi(exponent - 23)
}

#[test]
fn results_are_right_for_many_sizes() {
    for execution in [Execution::Native, Execution::KernelText] {
        let mut bench = Bench::new(execution);
        for n in [1usize, 64, 255, 256, 257, 1_000_003] {
            let x: Vec<f32> = (0..n).map(|i| (i % 1777) as f32 * 0.1 - 87.0).collect();
            let dy: Vec<f32> = (0..n).map(|i| (i % 13) as f32 - 6.0).collect();
            let (y, dx) = bench.run(&x, &dy);
            for i in 0..n {
                let expected = f64::from(x[i]).exp();
                assert!(
                    ulp(y[i], expected) <= FORWARD_ULP,
                    "n {n}, exp({}) = {}",
                    x[i],
                    y[i]
                );
                assert_eq!(dx[i].to_bits(), (dy[i] * y[i]).to_bits(), "n {n}, i {i}");
            }
        }
    }
}

#[test]
fn edge_values() {
    let x = [
        f32::NEG_INFINITY,
        f32::INFINITY,
        f32::NAN,
        -0.0,
        88.8,
        -110.0,
        1e-40,
    ];
    let (y, _) = Bench::new(Execution::Native).run(&x, &[1.0; 7]);
    assert_eq!(y[..2], [0.0, f32::INFINITY]);
    assert!(y[2].is_nan());
    assert_eq!(y[3..], [1.0, f32::INFINITY, 0.0, 1.0]);
}

#[test]
fn two_runs_agree_to_the_bit() {
    let x: Vec<f32> = (0..5000).map(|i| (i as f32).sin() * 80.0).collect();
    let mut bench = Bench::new(Execution::Native);
    let bits = |v: Vec<f32>| v.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    let first = bits(bench.run(&x, &x).0);
    assert_eq!(first, bits(bench.run(&x, &x).0));
}

#[test]
fn checks_come_in_order() {
    let mut bench = Bench::new(Execution::Native);
    let device = bench.device.clone();
    let alloc = |bytes, dtype, len| device.alloc_buffer(bytes, dtype, vec![len]).unwrap();
    let (none, two, three) = (
        alloc(1, DType::I32, 0),
        alloc(8, DType::I32, 2),
        alloc(12, DType::F32, 3),
    );
    let (short, params) = (alloc(3, DType::U8, 3), bench.params(3));
    let mut says = |y: &MlxBuffer, dy: &MlxBuffer, dx: &MlxBuffer, params: &MlxBuffer| {
        let mut encoder = device.command_encoder().unwrap();
        let handle = device.metal_device();
        let registry = &mut bench.registry;
        let forward = dispatch_exp_f32(&mut encoder, registry, handle, y, dx, params);
        let backward = dispatch_exp_backward_f32(&mut encoder, registry, handle, y, dy, dx, params);
        encoder.commit_and_wait().unwrap();
        let text = |result, kernel: &str| match result {
            Err(MlxError::InvalidArgument(text)) => {
                let text: String = text;
                assert!(text.starts_with(kernel), "{text}");
                text[kernel.len()..].to_string()
            }
            other => panic!("{other:?}"),
        };
        (
            text(forward, "exp_f32: "),
            text(backward, "exp_backward_f32: "),
        )
    };
    // Everything is wrong at once; one thing is mended at a time.
    let (forward, backward) = says(&none, &two, &two, &short);
    assert!(forward.contains("at least one") && backward.contains("at least one"));
    let (forward, backward) = says(&two, &three, &three, &short);
    assert_eq!(
        forward,
        "element counts differ: input 2, output 3; they must be equal"
    );
    assert_eq!(
        backward,
        "element counts differ: y 2, dy 3, dx 3; they must be equal"
    );
    let (forward, backward) = says(&two, &two, &two, &short);
    assert_eq!(forward, "input is i32; it must be f32");
    assert_eq!(backward, "y is i32; it must be f32");
    let (forward, backward) = says(&three, &three, &three, &short);
    assert!(
        forward.starts_with("params has 3 bytes") && backward.starts_with("params has 3 bytes")
    );
    // And nothing is wrong with what remains.
    let mut encoder = device.command_encoder().unwrap();
    let handle = device.metal_device();
    dispatch_exp_f32(
        &mut encoder,
        &mut bench.registry,
        handle,
        &three,
        &three,
        &params,
    )
    .unwrap();
    encoder.commit_and_wait().unwrap();
    assert_eq!(three.as_slice::<f32>().unwrap()[..], [1.0; 3]);
}
