//! The kernels in `src/kernels` that have no typed dispatch yet, against f64.

#![allow(clippy::unwrap_used)]

use mlx_native::{DeviceKind, KernelArgument, KernelRegistry, MTLSize, MlxBuffer, MlxDevice};

struct Bench {
    device: MlxDevice,
    seed: u64,
}

impl Bench {
    fn new() -> Self {
        Self {
            device: MlxDevice::open(DeviceKind::Cpu).unwrap(),
            seed: 0x9e37_79b9_7f4a_7c15,
        }
    }

    /// Numbers in [-2, 2), always the same.
    fn floats(&mut self, n: usize) -> Vec<f32> {
        let mut next = || {
            self.seed ^= self.seed << 13;
            self.seed ^= self.seed >> 7;
            self.seed ^= self.seed << 17;
            (self.seed >> 40) as f32 / (1 << 22) as f32 - 2.0
        };
        (0..n).map(|_| next()).collect()
    }

    fn buffer<T: mlx_native::Element>(&self, data: &[T]) -> MlxBuffer {
        self.device
            .buffer_from_slice(data, vec![data.len()])
            .unwrap()
    }

    fn run(
        &self,
        source: &str,
        kernel: &str,
        buffers: &[&MlxBuffer],
        params: &[u32],
        grid: [u64; 2],
        group: [u64; 2],
    ) {
        let mut registry = KernelRegistry::new();
        registry.register_source(kernel, source);
        let pipeline = registry
            .get_pipeline(kernel, self.device.metal_device())
            .unwrap();
        let bytes: Vec<u8> = params.iter().flat_map(|p| p.to_le_bytes()).collect();
        let mut bindings: Vec<(u64, KernelArgument<'_>)> = (0..)
            .zip(buffers)
            .map(|(i, b)| (i, KernelArgument::Buffer(b)))
            .collect();
        bindings.push((buffers.len() as u64, KernelArgument::Bytes(&bytes)));
        let mut encoder = self.device.command_encoder().unwrap();
        let size = |[x, y]: [u64; 2]| MTLSize::new(x, y, 1);
        encoder.encode_with(pipeline, &bindings, &[], size(grid), size(group));
        encoder.commit_and_wait().unwrap();
    }
}

/// Each result within `terms` roundings of f32 of the exact value, relative to `scale`.
fn close(found: &MlxBuffer, expected: &[f64], scale: &[f64], terms: f64) {
    let found = found.as_slice::<f32>().unwrap();
    assert_eq!(found.len(), expected.len());
    for (i, ((&got, &want), &scale)) in found.iter().zip(expected).zip(scale).enumerate() {
        let bound = terms * f64::from(f32::EPSILON) / 2.0 * scale + f64::from(f32::MIN_POSITIVE);
        let error = (f64::from(got) - want).abs();
        assert!(
            error <= bound,
            "element {i}: {got} for {want}, off by {error:e} > {bound:e}"
        );
    }
}

#[test]
fn matmul_with_either_side_transposed_agrees_with_f64() {
    let source = include_str!("../src/kernels/matmul.metal");
    let mut bench = Bench::new();
    for (m, n, k) in [(1, 1, 1), (3, 70, 17), (65, 33, 40), (64, 64, 16)] {
        let (a, b) = (bench.floats(m * k), bench.floats(k * n));
        for (ta, tb) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let at = |i: usize, l: usize| f64::from(a[if ta == 1 { l * m + i } else { i * k + l }]);
            let bt = |l: usize, j: usize| f64::from(b[if tb == 1 { j * k + l } else { l * n + j }]);
            let mut expected = Vec::new();
            let mut scale = Vec::new();
            for i in 0..m {
                for j in 0..n {
                    expected.push((0..k).map(|l| at(i, l) * bt(l, j)).sum());
                    scale.push((0..k).map(|l| (at(i, l) * bt(l, j)).abs()).sum());
                }
            }
            let c = bench.buffer(&vec![0f32; m * n]);
            let params = [m as u32, n as u32, k as u32, ta, tb];
            let grid = [n.div_ceil(64) as u64 * 16, m.div_ceil(64) as u64 * 16];
            let buffers = [&bench.buffer(&a), &bench.buffer(&b), &c];
            bench.run(source, "matmul_f32", &buffers, &params, grid, [16, 16]);
            close(&c, &expected, &scale, k as f64 + 1.0);
        }
    }
}

#[test]
fn softmax_and_log_softmax_of_rows_of_any_length_agree_with_f64() {
    let source = include_str!("../src/kernels/softmax.metal");
    let mut bench = Bench::new();
    for length in [1, 31, 32, 33, 257, 1025] {
        let rows = 3;
        let x = bench.floats(rows * length);
        let mut soft = Vec::new();
        let mut log = Vec::new();
        for row in x.chunks(length) {
            let best = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let e: Vec<f64> = row
                .iter()
                .map(|&v| (f64::from(v) - f64::from(best)).exp())
                .collect();
            let total: f64 = e.iter().sum();
            soft.extend(e.iter().map(|v| v / total));
            log.extend(
                row.iter()
                    .map(|&v| f64::from(v) - f64::from(best) - total.ln()),
            );
        }
        let y = bench.buffer(&vec![0f32; x.len()]);
        let params = [rows as u32, length as u32];
        let grid = [rows as u64 * 128, 1];
        // exp is within 1 ULP of a value whose argument was rounded; the sum adds its own.
        let terms = 12.0 + (length as f64 / 128.0) + 8.0;
        bench.run(
            source,
            "softmax_f32",
            &[&bench.buffer(&x), &y],
            &params,
            grid,
            [128, 1],
        );
        close(&y, &soft, &soft, terms);
        bench.run(
            source,
            "log_softmax_f32",
            &[&bench.buffer(&x), &y],
            &params,
            grid,
            [128, 1],
        );
        let scale: Vec<f64> = log.iter().map(|v| v.abs() + 1.0).collect();
        close(&y, &log, &scale, terms);
    }
}

#[test]
fn sums_and_maxima_of_rows_and_columns_agree_with_f64() {
    let source = include_str!("../src/kernels/reduce.metal");
    let mut bench = Bench::new();
    for (outer, length, inner) in [(3, 1000, 1), (2, 257, 5), (1, 1, 1), (4, 33, 1)] {
        let x = bench.floats(outer * length * inner);
        let at = |o: usize, l: usize, i: usize| f64::from(x[(o * length + l) * inner + i]);
        let mut sums = Vec::new();
        let mut scales = Vec::new();
        let mut maxima = Vec::new();
        for o in 0..outer {
            for i in 0..inner {
                sums.push((0..length).map(|l| at(o, l, i)).sum::<f64>() * 0.5);
                scales.push((0..length).map(|l| at(o, l, i).abs()).sum());
                maxima.push(
                    (0..length)
                        .map(|l| at(o, l, i))
                        .fold(f64::NEG_INFINITY, f64::max),
                );
            }
        }
        let y = bench.buffer(&vec![0f32; outer * inner]);
        let params = [outer as u32, length as u32, inner as u32, 0.5f32.to_bits()];
        let (kind, grid) = match inner {
            1 => ("rows", [outer as u64 * 64, 1]),
            _ => ("columns", [(outer * inner) as u64, 1]),
        };
        let input = bench.buffer(&x);
        bench.run(
            source,
            &format!("sum_{kind}_f32"),
            &[&input, &y],
            &params,
            grid,
            [64, 1],
        );
        close(&y, &sums, &scales, 128.0 + length as f64 / 128.0 + 8.0);
        bench.run(
            source,
            &format!("max_{kind}_f32"),
            &[&input, &y],
            &params,
            grid,
            [64, 1],
        );
        close(&y, &maxima, &maxima, 0.0);
    }
}

#[test]
fn a_view_is_copied_by_its_strides() {
    let source = include_str!("../src/kernels/copy.metal");
    let mut bench = Bench::new();
    let x = bench.floats(24);
    // The transpose of [4, 6], its rows backwards.
    let mut params = vec![24, 2, 5];
    params.extend([6, 4, 1, 1, 1, 1, 1, 1]);
    params.extend([(-1i32) as u32, 6, 0, 0, 0, 0, 0, 0]);
    let y = bench.buffer(&[0f32; 24]);
    bench.run(
        source,
        "copy_view_f32",
        &[&bench.buffer(&x), &y],
        &params,
        [24, 1],
        [24, 1],
    );
    let y = y.as_slice::<f32>().unwrap();
    for i in 0..6 {
        for j in 0..4 {
            assert_eq!(y[i * 4 + j], x[j * 6 + 5 - i]);
        }
    }
}

#[test]
fn one_step_of_adam_agrees_with_f64() {
    let source = include_str!("../src/kernels/adam.metal");
    let mut bench = Bench::new();
    let (p, g) = (bench.floats(100), bench.floats(100));
    let (rate, b1, b2, epsilon) = (0.01f32, 0.9f32, 0.999f32, 1e-8f32);
    let params = [
        100,
        rate.to_bits(),
        b1.to_bits(),
        b2.to_bits(),
        epsilon.to_bits(),
        (1.0 - b1).to_bits(),
        (1.0 - b2).to_bits(),
    ];
    let parameter = bench.buffer(&p);
    let (m, v) = (bench.buffer(&[0f32; 100]), bench.buffer(&[0f32; 100]));
    bench.run(
        source,
        "adam_f32",
        &[&parameter, &bench.buffer(&g), &m, &v],
        &params,
        [100, 1],
        [64, 1],
    );
    // At the first step the moments are the gradient and its square, once unbiased.
    let step = |g: f64| f64::from(rate) * g / (g.abs() + f64::from(epsilon));
    let expected: Vec<f64> = p
        .iter()
        .zip(&g)
        .map(|(&p, &g)| f64::from(p) - step(f64::from(g)))
        .collect();
    let scale: Vec<f64> = p.iter().map(|p| f64::from(p.abs()) + 0.1).collect();
    close(&parameter, &expected, &scale, 8.0);
}

#[test]
fn unary_and_binary_lines_make_kernels() {
    let mut bench = Bench::new();
    let unary = concat!(
        include_str!("../src/kernels/unary.metal"),
        "UNARY_FROM_OUTPUT(square_root, sqrt(x), dy / (2.0f * y))"
    );
    let x: Vec<f32> = bench.floats(300).iter().map(|v| v.abs() + 0.1).collect();
    let y = bench.buffer(&[0f32; 300]);
    bench.run(
        unary,
        "square_root_f32",
        &[&bench.buffer(&x), &y],
        &[300],
        [300, 1],
        [256, 1],
    );
    let roots: Vec<f64> = x.iter().map(|&v| f64::from(v).sqrt()).collect();
    close(&y, &roots, &roots, 1.0);
    let dx = bench.buffer(&[0f32; 300]);
    bench.run(
        unary,
        "square_root_backward_f32",
        &[&y, &bench.buffer(&[1f32; 300]), &dx],
        &[300],
        [300, 1],
        [256, 1],
    );
    let slopes: Vec<f64> = roots.iter().map(|y| 0.5 / y).collect();
    close(&dx, &slopes, &slopes, 3.0);

    let binary = concat!(
        include_str!("../src/kernels/binary.metal"),
        "BINARY(times, a * b)"
    );
    let (a, b) = (bench.floats(6), bench.floats(4));
    let out = bench.buffer(&[0f32; 24]);
    let mut params = vec![24, 2, 6, 4, 1, 1, 1, 1, 1, 1];
    params.extend([1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    bench.run(
        binary,
        "times_broadcast_f32",
        &[&bench.buffer(&a), &bench.buffer(&b), &out],
        &params,
        [24, 1],
        [24, 1],
    );
    let products: Vec<f64> = a
        .iter()
        .flat_map(|&a| b.iter().map(move |&b| f64::from(a) * f64::from(b)))
        .collect();
    close(
        &out,
        &products,
        &products.iter().map(|p| p.abs()).collect::<Vec<_>>(),
        1.0,
    );
}
