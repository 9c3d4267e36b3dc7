//! Every path, name and signature that programs outside this repository are compiled against, used
//! through nothing but the public contract. That this file compiles is half of the test.

use std::ops::{Deref, DerefMut};

use mlx_native::buffer::MlxBuffer;
use mlx_native::device::{DeviceKind, MlxDevice};
use mlx_native::dtypes::DType;
use mlx_native::encoder::CommandEncoder;
use mlx_native::error::{MlxError, Result};
use mlx_native::kernel_registry::KernelRegistry;
use mlx_native::metal::{self, MTLSize};
use mlx_native::ops::exp_elementwise;

fn read_back<'a>(buffer: &'a MlxBuffer) -> Result<impl Deref<Target = [f32]> + 'a> {
    buffer.as_slice::<f32>()
}

fn write_to<'a>(buffer: &'a mut MlxBuffer) -> Result<impl DerefMut<Target = [f32]> + 'a> {
    buffer.as_mut_slice::<f32>()
}

/// A caller's helper may be generic over any plain type.
fn to_vec<T: bytemuck::Pod>(buffer: &MlxBuffer) -> Result<Vec<T>> {
    Ok(buffer.as_slice::<T>()?.to_vec())
}

#[test]
fn device_and_buffer() -> Result<()> {
    fn is_shared<T: Send + Sync>() {}
    fn is_sent<T: Send>() {}
    is_shared::<MlxDevice>();
    is_shared::<MlxBuffer>();
    is_sent::<CommandEncoder>();
    is_sent::<KernelRegistry>();

    let device: MlxDevice = MlxDevice::new()?;
    let cpu: MlxDevice = MlxDevice::open(DeviceKind::Cpu)?;
    let name: &str = cpu.name();
    assert!(!name.is_empty());
    let _handle: &metal::DeviceRef = device.metal_device();
    let _encoder: CommandEncoder = device.command_encoder()?;

    let mut buffer: MlxBuffer = device.alloc_buffer(32, DType::F32, vec![2, 3])?;
    let count: usize = buffer.element_count();
    let byte_len: usize = buffer.byte_len();
    let dtype: DType = buffer.dtype();
    let shape: &[usize] = buffer.shape();
    assert_eq!(
        (count, byte_len, dtype, shape),
        (6, 32, DType::F32, &[2, 3][..])
    );
    assert_eq!(read_back(&buffer)?.len(), 6);
    write_to(&mut buffer)?[5] = 1.5;
    assert_eq!(to_vec::<f32>(&buffer)?, [0.0, 0.0, 0.0, 0.0, 0.0, 1.5]);
    let _copy = device.clone();
    Ok(())
}

#[test]
fn all_dtypes() {
    use DType::*;
    let all = [F32, F16, BF16, I8, I16, I32, I64, U8, U16, U32, U64, Bool];
    let sizes: Vec<_> = all.iter().map(|d| d.size_of()).collect();
    assert_eq!(sizes, [4, 2, 2, 1, 2, 4, 8, 1, 2, 4, 8, 1]);
    assert_eq!(all.map(|d| d.to_string())[2], "bf16");
}

#[test]
fn sizes_are_plain_values() {
    let size: MTLSize = MTLSize::new(4u64, 2, 1);
    let copy = size;
    assert_eq!(size, copy);
    assert_eq!((size.width, size.height, size.depth), (4, 2, 1));
}

#[test]
fn a_kernel_of_the_caller() -> Result<()> {
    let device = MlxDevice::new()?;
    let mut x = device.alloc_buffer(16, DType::F32, vec![4])?;
    let y = device.alloc_buffer(16, DType::F32, vec![4])?;
    x.as_mut_slice::<f32>()?
        .copy_from_slice(&[1.0, -2.0, 3.0, 0.5]);

    let mut registry = KernelRegistry::new();
    let text = String::from(
        "#include <metal_stdlib>
        using namespace metal;
        kernel void square(device const float* x [[buffer(0)]],
                           device float* y [[buffer(1)]],
                           uint i [[thread_position_in_grid]]) { y[i] = x[i] * x[i]; }",
    );
    registry.register_source("square", &text);
    registry.register_source(String::from("any name"), text);
    for name in ["square", "any name"] {
        let mut encoder = device.command_encoder()?;
        let pipeline = registry.get_pipeline(name, device.metal_device())?;
        encoder.encode(
            pipeline,
            &[(0, &x), (1, &y)],
            MTLSize::new(4, 1, 1),
            MTLSize::new(3, 1, 1),
        );
        let done: Result<()> = encoder.commit_and_wait();
        done?;
        assert_eq!(y.as_slice::<f32>()?[..], [1.0, 4.0, 9.0, 0.25]);
    }
    Ok(())
}

#[test]
fn exp_and_its_gradient() -> Result<()> {
    let device = MlxDevice::new()?;
    let mut registry = KernelRegistry::new();
    let _: &str = exp_elementwise::EXP_ELEMENTWISE_SHADER_SOURCE;
    exp_elementwise::register(&mut registry);
    let buffer = || device.alloc_buffer(8, DType::F32, vec![2]);
    let (mut x, y, mut dy, dx) = (buffer()?, buffer()?, buffer()?, buffer()?);
    let mut params = device.alloc_buffer(4, DType::U32, vec![1])?;
    params.as_mut_slice::<u32>()?[0] = 2;
    x.as_mut_slice::<f32>()?.copy_from_slice(&[0.0, 1.0]);
    dy.as_mut_slice::<f32>()?.copy_from_slice(&[3.0, 0.5]);

    let mut encoder = device.command_encoder()?;
    let handle = device.metal_device();
    exp_elementwise::dispatch_exp_f32(&mut encoder, &mut registry, handle, &x, &y, &params)?;
    exp_elementwise::dispatch_exp_backward_f32(
        &mut encoder,
        &mut registry,
        handle,
        &y,
        &dy,
        &dx,
        &params,
    )?;
    encoder.commit_and_wait()?;
    let e = std::f32::consts::E;
    assert_eq!(y.as_slice::<f32>()?[0], 1.0);
    assert!((y.as_slice::<f32>()?[1] - e).abs() < 1e-6);
    assert_eq!(dx.as_slice::<f32>()?[0], 3.0);
    assert!((dx.as_slice::<f32>()?[1] - 0.5 * e).abs() < 1e-6);

    let none = device.alloc_buffer(1, DType::F32, vec![0])?;
    let refused: MlxError = exp_elementwise::dispatch_exp_f32(
        &mut encoder,
        &mut registry,
        handle,
        &none,
        &none,
        &params,
    )
    .unwrap_err();
    assert!(matches!(refused, MlxError::InvalidArgument(text) if text.starts_with("exp_f32")));
    Ok(())
}
