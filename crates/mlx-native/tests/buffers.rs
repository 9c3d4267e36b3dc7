//! What `alloc_buffer` and host views accept and refuse.

#![allow(clippy::unwrap_used, clippy::panic)]

use half::{bf16, f16};
use mlx_native::{DType, DeviceKind, Element, MlxDevice, MlxError};

fn cpu() -> MlxDevice {
    MlxDevice::open(DeviceKind::Cpu).unwrap()
}

#[test]
fn new_buffers_are_zero_also_in_used_memory() {
    let device = cpu();
    for _ in 0..50 {
        let mut buffer = device.alloc_buffer(4000, DType::U32, vec![1000]).unwrap();
        assert!(buffer.as_bytes().unwrap().iter().all(|&b| b == 0));
        buffer.as_mut_slice::<u32>().unwrap().fill(u32::MAX);
    }
}

#[test]
fn sizes_are_refused_precisely() {
    let device = cpu();
    let says = |byte_len, dtype, shape: &[usize]| {
        let result = device.alloc_buffer(byte_len, dtype, shape.to_vec());
        result.unwrap_err().to_string()
    };
    assert_eq!(
        says(0, DType::F32, &[2]),
        "alloc_buffer: the byte length is 0; a buffer has at least 1 byte, even if its shape [2] \
         has no elements"
    );
    assert_eq!(
        says(23, DType::F32, &[2, 3]),
        "alloc_buffer: f32 of shape [2, 3] needs 24 bytes, but the byte length is 23; pass at \
         least 24"
    );
    assert!(
        says(8, DType::U64, &[usize::MAX, 2])
            .contains("u64 of shape [18446744073709551615, 2] has more bytes")
    );
    assert!(
        says(8, DType::U64, &[usize::MAX / 4]).contains("more bytes than an address can count")
    );
    let absurd = isize::MAX as usize;
    assert!(says(absurd, DType::U8, &[1]).contains("cannot give 9223372036854775807 bytes"));
    assert!(says(usize::MAX, DType::U8, &[1]).contains("cannot give"));
}

#[test]
fn shapes_without_elements_and_without_dimensions() {
    let device = cpu();
    let none = device
        .alloc_buffer(1, DType::F32, vec![3, 0, usize::MAX])
        .unwrap();
    assert_eq!((none.element_count(), none.byte_len()), (0, 1));
    assert!(none.as_slice::<f32>().unwrap().is_empty());
    assert!(device.alloc_buffer(0, DType::F32, vec![0]).is_err());
    let scalar = device.alloc_buffer(4, DType::F32, vec![]).unwrap();
    assert_eq!(scalar.element_count(), 1);
}

#[test]
fn a_view_has_the_elements_not_the_spare_bytes() {
    let device = cpu();
    let buffer = device.alloc_buffer(100, DType::F32, vec![3]).unwrap();
    assert_eq!(buffer.as_slice::<f32>().unwrap().len(), 3);
    assert_eq!(buffer.as_bytes().unwrap().len(), 100);
}

fn round_trip<T: Element + PartialEq + std::fmt::Debug>(values: &[T]) {
    let device = cpu();
    let buffer = device
        .buffer_from_slice(values, vec![values.len()])
        .unwrap();
    assert_eq!(buffer.dtype(), T::DTYPE);
    assert_eq!(&buffer.as_slice::<T>().unwrap()[..], values);
}

#[test]
fn every_dtype_goes_in_and_out() {
    round_trip(&[1.5f32, -0.0]);
    round_trip(&[f16::from_f32(1.5)]);
    round_trip(&[bf16::from_f32(1.5)]);
    round_trip(&[i8::MIN, 1]);
    round_trip(&[i16::MIN, 1]);
    round_trip(&[i32::MIN, 1]);
    round_trip(&[i64::MIN, 1]);
    round_trip(&[u8::MAX, 1]);
    round_trip(&[u16::MAX, 1]);
    round_trip(&[u32::MAX, 1]);
    round_trip(&[u64::MAX, 1]);
    round_trip::<f32>(&[]);
    let mut flags = cpu().alloc_buffer(2, DType::Bool, vec![2]).unwrap();
    flags.as_mut_slice::<u8>().unwrap()[1] = 1;
    assert_eq!(flags.as_slice::<u8>().unwrap()[..], [0, 1]);
}

#[test]
fn the_type_of_a_view_must_match() {
    let mut buffer = cpu().alloc_buffer(8, DType::F32, vec![2]).unwrap();
    assert_eq!(
        buffer.as_slice::<u32>().unwrap_err().to_string(),
        "the buffer holds f32, which cannot be viewed as u32; view it as f32"
    );
    assert!(matches!(
        buffer.as_mut_slice::<[f32; 2]>(),
        Err(MlxError::DTypeMismatch {
            dtype: DType::F32,
            ..
        })
    ));
    assert!(buffer.as_slice::<()>().is_err());
}

#[test]
fn a_slice_of_another_length_is_refused() {
    let message = cpu()
        .buffer_from_slice(&[1.0f32; 5], vec![2, 3])
        .unwrap_err()
        .to_string();
    assert_eq!(
        message,
        "buffer_from_slice: shape [2, 3] has 6 elements, but 5 were given"
    );
}

#[test]
fn devices_that_are_not_there_say_so() {
    for kind in [DeviceKind::Cuda(0), DeviceKind::Metal] {
        if let Err(error) = MlxDevice::open(kind) {
            assert!(matches!(error, MlxError::DeviceUnavailable { kind: k, .. } if k == kind));
            assert!(error.to_string().contains(&kind.to_string()));
        }
    }
}

#[test]
fn a_forgotten_view_only_keeps_work_away() {
    let mut buffer = cpu().alloc_buffer(4, DType::F32, vec![1]).unwrap();
    std::mem::forget(buffer.as_slice::<f32>().unwrap());
    assert!(buffer.as_slice::<f32>().is_ok());
    assert!(buffer.as_mut_slice::<f32>().is_err());
}
