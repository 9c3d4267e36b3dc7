//! Kernels from text: the registry, edge threadgroups, order, and faults by name.

#![allow(clippy::unwrap_used, clippy::panic)]

use mlx_native::kernel_registry::FunctionConstants;
use mlx_native::{
    DType, DeviceKind, KernelArgument, KernelRegistry, MTLSize, MlxBuffer, MlxDevice, MlxError,
    Result,
};

const TWO: &str = "
    kernel void add(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                    constant float& value [[buffer(2)]], uint i [[thread_position_in_grid]]) {
        y[i] = x[i] + value;
    }
    kernel void scale(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                      constant float& value [[buffer(2)]], uint i [[thread_position_in_grid]]) {
        y[i] = x[i] * value;
    }";

fn cpu() -> MlxDevice {
    MlxDevice::open(DeviceKind::Cpu).unwrap()
}

fn line(n: u64) -> MTLSize {
    MTLSize::new(n, 1, 1)
}

fn words(device: &MlxDevice, len: usize) -> MlxBuffer {
    device.alloc_buffer(4 * len, DType::U32, vec![len]).unwrap()
}

#[test]
fn a_name_is_the_kernel_of_that_name_or_the_only_one() {
    let device = cpu();
    let mut registry = KernelRegistry::new();
    registry.register_source("add", TWO);
    registry.register_source("scale", TWO);
    registry.register_source("either", TWO);
    registry.register_source("alias", "kernel void only(device int* x) { x[0] = 1; }");
    registry.register_source("empty", "");
    let handle = device.metal_device();
    for (name, kernel) in [("add", "add"), ("scale", "scale"), ("alias", "only")] {
        assert_eq!(registry.get_pipeline(name, handle).unwrap().name(), kernel);
    }
    assert_eq!(
        registry
            .get_pipeline("either", handle)
            .unwrap_err()
            .to_string(),
        "the source registered as `either` has no kernel of that name; it has `add`, `scale`: \
         register it under one of those"
    );
    let message = registry
        .get_pipeline("empty", handle)
        .unwrap_err()
        .to_string();
    assert!(message.ends_with("nor any other"), "{message}");
    assert_eq!(
        registry
            .get_pipeline("scael", handle)
            .unwrap_err()
            .to_string(),
        "there is no kernel `scael` in the registry; did you mean `scale`?"
    );
    let message = registry
        .get_pipeline("zzzzzzzz", handle)
        .unwrap_err()
        .to_string();
    assert!(message.ends_with("register its source first"));
}

#[test]
fn a_wrong_text_shows_its_line_and_can_be_replaced() {
    let device = cpu();
    let mut registry = KernelRegistry::new();
    registry.register_source(
        "broken",
        "kernel void broken(device int* x) {\n    x[0] = nonsense;\n}",
    );
    match registry.get_pipeline("broken", device.metal_device()) {
        Err(MlxError::Compile { name, diagnostics }) => {
            assert_eq!(name, "broken");
            assert!(
                diagnostics.contains("nonsense") && diagnostics.contains(":2:"),
                "{diagnostics}"
            );
        }
        other => panic!("{other:?}"),
    }
    registry.register_source("broken", "kernel void mended(device int* x) { x[0] = 5; }");
    let mended = registry
        .get_pipeline("broken", device.metal_device())
        .unwrap();
    assert_eq!(mended.name(), "mended");
}

#[test]
fn a_users_kernel_takes_the_place_of_a_built_in() {
    // Under this name the CPU has a native implementation, which must not run for another text.
    let device = cpu();
    let mut registry = KernelRegistry::new();
    registry.register_source(
        "exp_backward_f32",
        "kernel void exp_backward_f32(device uint* x) { x[0] = 9; }",
    );
    let pipeline = registry
        .get_pipeline("exp_backward_f32", device.metal_device())
        .unwrap();
    let x = words(&device, 1);
    let mut encoder = device.command_encoder().unwrap();
    encoder.encode(pipeline, &[(0, &x)], line(1), line(1));
    encoder.commit_and_wait().unwrap();
    assert_eq!(x.as_slice::<u32>().unwrap()[0], 9);
}

#[test]
fn exactly_the_threads_asked_for_run() -> Result<()> {
    let device = cpu();
    let mut registry = KernelRegistry::new();
    registry.register_source(
        "count",
        "#include <metal_stdlib>\nusing namespace metal;\nkernel void count(device uint* seen [[buffer(0)]], device uint* sizes [[buffer(1)]],
                           uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]],
                           uint3 size [[threads_per_threadgroup]]) {
            uint i = (p.z * n.y + p.y) * n.x + p.x;
            seen[i] += 1;
            sizes[i] = size.x + 100 * size.y + 10000 * size.z;
        }",
    );
    for (grid, group) in [
        ([1, 1, 1], [1, 1, 1]),
        ([5, 1, 1], [8, 1, 1]),
        ([7, 5, 3], [4, 2, 2]),
        ([64, 3, 1], [32, 32, 1]),
        ([1025, 1, 1], [1024, 1, 1]),
    ] {
        let [x, y, z] = grid;
        let total = (x * y * z) as usize;
        let (seen, sizes) = (words(&device, total + 3), words(&device, total));
        let mut encoder = device.command_encoder()?;
        let count = registry.get_pipeline("count", device.metal_device())?;
        let size = |[x, y, z]: [u64; 3]| MTLSize::new(x, y, z);
        encoder.encode(count, &[(0, &seen), (1, &sizes)], size(grid), size(group));
        encoder.commit_and_wait()?;
        let seen = seen.as_slice::<u32>()?;
        assert!(seen[..total].iter().all(|&n| n == 1) && seen[total..] == [0; 3]);
        let edge = |at: u64, grid: u64, group: u64| group.min(grid - at / group * group);
        for (i, &found) in sizes.as_slice::<u32>()?.iter().enumerate() {
            let i = i as u64;
            let at = [i % x, i / x % y, i / (x * y)];
            let [a, b, c] = std::array::from_fn(|d| edge(at[d], grid[d], group[d]));
            assert_eq!(
                u64::from(found),
                a + 100 * b + 10000 * c,
                "{grid:?} {group:?} {at:?}"
            );
        }
    }
    Ok(())
}

#[test]
fn dependent_dispatches_run_in_order() -> Result<()> {
    let device = cpu();
    let mut registry = KernelRegistry::new();
    registry.register_source("add", TWO);
    registry.register_source("scale", TWO);
    let add = registry.get_pipeline("add", device.metal_device())?.clone();
    let scale = registry
        .get_pipeline("scale", device.metal_device())?
        .clone();
    let n = 10_000;
    let a = device.alloc_buffer(4 * n, DType::F32, vec![n])?;
    let b = device.alloc_buffer(4 * n, DType::F32, vec![n])?;
    let mut encoder = device.command_encoder()?;
    let mut expected = 0.0f32;
    for round in 0..20 {
        let (pipeline, value) = if round % 2 == 0 {
            (&add, 1.0f32)
        } else {
            (&scale, 1.5)
        };
        expected = if round % 2 == 0 {
            expected + value
        } else {
            expected * value
        };
        let (from, to) = if round % 2 == 0 { (&a, &b) } else { (&b, &a) };
        encoder.encode_with(
            pipeline,
            &[
                (0, from.into()),
                (1, to.into()),
                (2, KernelArgument::value(&value)),
            ],
            &[],
            line(n as u64),
            line(256),
        );
    }
    encoder.commit_and_wait()?;
    assert!(a.as_slice::<f32>()?.iter().all(|&v| v == expected));
    Ok(())
}

#[test]
fn one_buffer_may_be_read_and_written() -> Result<()> {
    let device = cpu();
    let mut registry = KernelRegistry::new();
    registry.register_source("add", TWO);
    let add = registry.get_pipeline("add", device.metal_device())?;
    let x = device.buffer_from_slice(&[1.0f32, 2.0], vec![2])?;
    let mut encoder = device.command_encoder()?;
    encoder.encode_with(
        add,
        &[
            (0, (&x).into()),
            (1, (&x).into()),
            (2, KernelArgument::value(&1.0f32)),
        ],
        &[],
        line(2),
        line(2),
    );
    encoder.commit_and_wait()?;
    assert_eq!(x.as_slice::<f32>()?[..], [2.0, 3.0]);
    Ok(())
}

#[test]
fn a_reference_needs_its_whole_value() {
    let device = cpu();
    let mut registry = KernelRegistry::new();
    registry.register_source("add", TWO);
    let add = registry.get_pipeline("add", device.metal_device()).unwrap();
    let x = words(&device, 1);
    let short = device.alloc_buffer(2, DType::U16, vec![1]).unwrap();
    let mut encoder = device.command_encoder().unwrap();
    encoder.encode(add, &[(0, &x), (1, &x), (2, &short)], line(1), line(1));
    assert_eq!(
        encoder.commit_and_wait().unwrap_err().to_string(),
        "kernel `add`, argument `value` (buffer 2): `float` needs 4 bytes, but 2 are bound"
    );
}

#[test]
fn a_stray_index_names_kernel_and_argument() {
    let device = cpu();
    let mut registry = KernelRegistry::new();
    registry.register_source(
        "stray",
        "kernel void stray(device uint* data [[buffer(0)]], uint i [[thread_position_in_grid]]) {
            data[i + 1] = i;
        }",
    );
    let stray = registry
        .get_pipeline("stray", device.metal_device())
        .unwrap();
    let data = words(&device, 8);
    let mut encoder = device.command_encoder().unwrap();
    encoder.encode(stray, &[(0, &data)], line(8), line(4));
    let error = encoder.commit_and_wait().unwrap_err();
    let message = error.to_string();
    assert!(matches!(error, MlxError::DeviceFault { kernel, .. } if kernel == "stray"));
    assert!(
        message.contains("`stray`") && message.contains("data"),
        "{message}"
    );
    encoder.encode(stray, &[(0, &data)], line(7), line(4));
    encoder.commit_and_wait().unwrap();
}

#[test]
fn threadgroup_memory_has_the_length_asked_for() -> Result<()> {
    let device = cpu();
    let mut registry = KernelRegistry::new();
    registry.register_source(
        "reverse",
        "#include <metal_stdlib>
        using namespace metal;
        kernel void reverse(device uint* data [[buffer(0)]],
                            threadgroup uint* scratch [[threadgroup(0)]],
                            uint i [[thread_position_in_threadgroup]],
                            uint n [[threads_per_threadgroup]]) {
            scratch[i] = data[i];
            threadgroup_barrier(mem_flags::mem_threadgroup);
            data[i] = scratch[n - 1 - i];
        }",
    );
    let reverse = registry.get_pipeline("reverse", device.metal_device())?;
    let data = device.buffer_from_slice(&[1u32, 2, 3, 4, 5], vec![5])?;
    let arguments = [(0, (&data).into())];
    let mut encoder = device.command_encoder()?;
    encoder.encode_with(reverse, &arguments, &[(0, 20)], line(5), line(5));
    encoder.commit_and_wait()?;
    assert_eq!(data.as_slice::<u32>()?[..], [5, 4, 3, 2, 1]);
    encoder.encode_with(reverse, &arguments, &[], line(5), line(5));
    let message = encoder.commit_and_wait().unwrap_err().to_string();
    assert!(message.contains("argument `scratch` (threadgroup 0): it has no length"));
    Ok(())
}

#[test]
fn function_constants_make_other_pipelines() -> Result<()> {
    let device = cpu();
    let mut registry = KernelRegistry::new();
    registry.register_source(
        "constant_fill",
        "#include <metal_stdlib>
        using namespace metal;
        constant uint value [[function_constant(3)]];
        kernel void constant_fill(device uint* out, uint i [[thread_position_in_grid]]) {
            out[i] = value;
        }",
    );
    let out = words(&device, 1);
    let mut encoder = device.command_encoder()?;
    for value in [5u32, 6, 5] {
        let constants = FunctionConstants::from([(3, value.to_le_bytes().to_vec())]);
        let fill = registry.get_pipeline_with_constants(
            "constant_fill",
            device.metal_device(),
            &constants,
        )?;
        encoder.encode(fill, &[(0, &out)], line(1), line(1));
        encoder.commit_and_wait()?;
        assert_eq!(out.as_slice::<u32>()?[0], value);
    }
    for (index, bytes, expected) in [
        (3, 2, "has 4 bytes, but 2 are given"),
        (4, 4, "no function constant 4"),
    ] {
        let constants = FunctionConstants::from([(index, vec![0; bytes])]);
        let error = registry
            .get_pipeline_with_constants("constant_fill", device.metal_device(), &constants)
            .unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    Ok(())
}

#[test]
fn an_argument_is_bound_only_if_its_function_constants_say_so() -> Result<()> {
    let device = cpu();
    let mut registry = KernelRegistry::new();
    registry.register_source(
        "biased",
        "#include <metal_stdlib>
        using namespace metal;
        constant bool has_bias [[function_constant(0)]];
        constant bool is_plain = !has_bias;
        kernel void biased(device uint* out [[buffer(0)]],
                           device const uint* bias [[buffer(1), function_constant(has_bias)]],
                           constant uint& fallback [[buffer(2), function_constant(is_plain)]],
                           uint i [[thread_position_in_grid]]) {
            out[i] = has_bias ? bias[i] : fallback;
        }",
    );
    let out = words(&device, 2);
    let mut other = words(&device, 2);
    other.as_mut_slice::<u32>()?.copy_from_slice(&[7, 8]);
    let mut encoder = device.command_encoder()?;
    for (has_bias, index, expected) in [(1u8, 1, [7, 8]), (0, 2, [7, 7])] {
        let constants = FunctionConstants::from([(0, vec![has_bias])]);
        let handle = device.metal_device();
        let biased = registry.get_pipeline_with_constants("biased", handle, &constants)?;
        encoder.encode(biased, &[(0, &out), (index, &other)], line(2), line(2));
        encoder.commit_and_wait()?;
        assert_eq!(out.as_slice::<u32>()?[..], expected);
        encoder.encode(biased, &[(0, &out), (3 - index, &other)], line(2), line(2));
        let message = encoder.commit_and_wait().unwrap_err().to_string();
        assert!(message.contains("has no argument there"), "{message}");
    }
    Ok(())
}

#[test]
fn a_long_run_can_be_interrupted() {
    let device = cpu();
    let mut registry = KernelRegistry::new();
    registry.register_source(
        "endless",
        "kernel void endless(device uint* x, uint i [[thread_position_in_grid]]) {
            while (x[1] == 0) { x[0] = i; }
        }",
    );
    let endless = registry
        .get_pipeline("endless", device.metal_device())
        .unwrap();
    let x = words(&device, 2);
    let mut encoder = device.command_encoder().unwrap();
    encoder.encode(endless, &[(0, &x)], line(1), line(1));
    let handle = device.interrupt_handle();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(100));
            handle.interrupt();
        });
        let error = encoder.commit_and_wait().unwrap_err();
        assert!(matches!(error, MlxError::Interrupted { kernel } if kernel == "endless"));
    });
    handle.clear();
}
