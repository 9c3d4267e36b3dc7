//! NumPy's .npy files as bytes with a dtype and shape. NumPy has no bfloat: its bits are `uint16`.

use std::path::Path;

use mlx_native::DType;
use npyz::WriterBuilder;

/// An array as a .npy file holds it, little-endian and in C order.
pub struct Array {
    /// The elements' type.
    pub dtype: DType,
    /// The dimensions.
    pub shape: Vec<usize>,
    /// The elements.
    pub bytes: Vec<u8>,
}

/// NumPy's name of a type.
fn descriptor(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 => "<f4",
        DType::F16 => "<f2",
        DType::I8 => "|i1",
        DType::I16 => "<i2",
        DType::I32 => "<i4",
        DType::I64 => "<i8",
        DType::U8 => "|u1",
        DType::BF16 | DType::U16 => "<u2",
        DType::U32 => "<u4",
        DType::U64 => "<u8",
        DType::Bool => "|b1",
    }
}

const READABLE: [DType; 11] = [
    DType::F32,
    DType::F16,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::Bool,
];

/// Reads a file.
pub fn read(path: &Path) -> Result<Array, String> {
    let name = path.display();
    let file = std::fs::read(path).map_err(|error| format!("cannot read {name}: {error}"))?;
    let mut rest = file.as_slice();
    let header = npyz::NpyHeader::from_reader(&mut rest)
        .map_err(|error| format!("{name} is no .npy file: {error}"))?;
    let npyz::DType::Plain(written) = header.dtype() else {
        return Err(format!(
            "{name} holds records; an array of one number type is needed"
        ));
    };
    let written = written.to_string();
    let dtype = READABLE.into_iter().find(|&d| descriptor(d) == written).ok_or_else(|| {
        format!("{name} holds `{written}`, which no kernel argument has; convert it, to float32 for example")
    })?;
    let shape: Vec<usize> = header.shape().iter().map(|&n| n as usize).collect();
    if header.order() == npyz::Order::Fortran && shape.len() > 1 {
        return Err(format!(
            "{name} is in Fortran order; save it with numpy.ascontiguousarray"
        ));
    }
    let count = shape.iter().try_fold(1usize, |all, &n| all.checked_mul(n));
    let bytes = count.and_then(|n| n.checked_mul(dtype.size_of()));
    match bytes {
        Some(bytes) if bytes == rest.len() => Ok(Array {
            dtype,
            shape,
            bytes: rest.to_vec(),
        }),
        Some(bytes) => Err(format!(
            "{name} should hold {bytes} bytes of data but has {}; is it cut short?",
            rest.len()
        )),
        None => Err(format!("{name} has a shape too large for this machine")),
    }
}

/// The file's contents for an array.
pub fn encode(dtype: DType, shape: &[usize], bytes: &[u8]) -> Result<Vec<u8>, String> {
    let failed = |error: &dyn std::fmt::Display| format!("cannot write a .npy header: {error}");
    let descriptor: npyz::TypeStr = descriptor(dtype).parse().map_err(|e| failed(&e))?;
    let shape: Vec<u64> = shape.iter().map(|&n| n as u64).collect();
    let mut file = Vec::new();
    npyz::WriteOptions::new_header_only()
        .dtype(npyz::DType::Plain(descriptor))
        .shape(&shape)
        .writer(&mut file)
        .write_header_only()
        .map_err(|error| failed(&error))?;
    file.extend_from_slice(bytes);
    Ok(file)
}
