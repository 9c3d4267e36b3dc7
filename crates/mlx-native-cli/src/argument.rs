//! `--arg I=SPEC` and its kind.

use std::path::PathBuf;

use mlx_native::DType;

/// What an argument is bound to.
#[derive(Debug, PartialEq)]
pub enum Spec {
    /// `@in.npy`, with where to save it after the run.
    File(PathBuf, Option<PathBuf>),
    /// `f32[64,32]>out.npy`
    Zeros(DType, Vec<usize>, Option<PathBuf>),
    /// `u32:1,2,3`
    Scalars(Vec<u8>),
}

/// An index and what follows the `=`.
pub fn indexed(text: &str) -> Result<(u64, &str), String> {
    let (index, rest) = text
        .split_once('=')
        .ok_or_else(|| format!("`{text}` is not of the form INDEX=..."))?;
    let index = index
        .parse()
        .map_err(|_| format!("`{index}` in `{text}` is no index"))?;
    Ok((index, rest))
}

/// Reads `I=TYPE:VALUE`: the index of a function constant and its bytes.
pub fn constant(text: &str) -> Result<(u32, Vec<u8>), String> {
    let (index, value) = indexed(text)?;
    let index = u32::try_from(index).map_err(|_| format!("`{index}` in `{text}` is no index"))?;
    match parse(value)? {
        Spec::Scalars(bytes) => Ok((index, bytes)),
        _ => Err(format!(
            "`{value}` is no value of a constant: write a type and a value, such as u32:64"
        )),
    }
}

/// Reads the part behind `I=`.
pub fn parse(text: &str) -> Result<Spec, String> {
    if let Some(rest) = text.strip_prefix('@') {
        let (input, output) = split_output(rest);
        return Ok(Spec::File(PathBuf::from(input), output));
    }
    if let Some((dtype, values)) = text.split_once(':') {
        let dtype = self::dtype(dtype)?;
        let mut bytes = Vec::new();
        for value in values.split(',') {
            push_scalar(&mut bytes, dtype, value.trim())?;
        }
        return Ok(Spec::Scalars(bytes));
    }
    let (array, output) = split_output(text);
    let bad = || {
        format!(
            "`{text}` is no argument: write @in.npy, @in.npy>out.npy, f32[64,32]>out.npy or u32:1024"
        )
    };
    let (dtype, shape) = array
        .strip_suffix(']')
        .and_then(|a| a.split_once('['))
        .ok_or_else(bad)?;
    let shape = shape
        .split(',')
        .map(|n| n.trim().parse::<usize>().map_err(|_| bad()))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Spec::Zeros(self::dtype(dtype)?, shape, output))
}

fn split_output(text: &str) -> (&str, Option<PathBuf>) {
    match text.split_once('>') {
        Some((input, output)) => (input, Some(PathBuf::from(output))),
        None => (text, None),
    }
}

fn dtype(name: &str) -> Result<DType, String> {
    Ok(match name {
        "f32" => DType::F32,
        "f16" => DType::F16,
        "bf16" => DType::BF16,
        "i8" => DType::I8,
        "i16" => DType::I16,
        "i32" => DType::I32,
        "i64" => DType::I64,
        "u8" => DType::U8,
        "u16" => DType::U16,
        "u32" => DType::U32,
        "u64" => DType::U64,
        "bool" => DType::Bool,
        _ => {
            return Err(format!(
                "`{name}` is no dtype: they are f32 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 bool"
            ));
        }
    })
}

fn push_scalar(bytes: &mut Vec<u8>, dtype: DType, text: &str) -> Result<(), String> {
    macro_rules! push {
        ($t:ty) => {
            text.parse::<$t>()
                .map(|v| bytes.extend_from_slice(&v.to_le_bytes()))
                .is_ok()
        };
    }
    let float = text.parse::<f32>();
    let read = match (dtype, &float) {
        (DType::F32, Ok(v)) => {
            bytes.extend_from_slice(&v.to_le_bytes());
            true
        }
        (DType::F16, Ok(v)) => {
            bytes.extend_from_slice(&half::f16::from_f32(*v).to_le_bytes());
            true
        }
        (DType::BF16, Ok(v)) => {
            bytes.extend_from_slice(&half::bf16::from_f32(*v).to_le_bytes());
            true
        }
        (DType::I8, _) => push!(i8),
        (DType::I16, _) => push!(i16),
        (DType::I32, _) => push!(i32),
        (DType::I64, _) => push!(i64),
        (DType::U8, _) => push!(u8),
        (DType::U16, _) => push!(u16),
        (DType::U32, _) => push!(u32),
        (DType::U64, _) => push!(u64),
        (DType::Bool, _) => text
            .parse::<bool>()
            .map(|v| bytes.push(u8::from(v)))
            .is_ok(),
        _ => false,
    };
    if read {
        Ok(())
    } else {
        Err(format!("`{text}` is no value of type {dtype}"))
    }
}

/// `X[,Y[,Z]]`, missing dimensions being 1.
pub fn size(text: &str) -> Result<[u64; 3], String> {
    let mut size = [1; 3];
    let parts: Vec<_> = text.split(',').collect();
    if parts.len() > 3 {
        return Err(format!("`{text}` has more than three dimensions"));
    }
    for (to, part) in size.iter_mut().zip(parts) {
        *to = part
            .trim()
            .parse()
            .map_err(|_| format!("`{part}` in `{text}` is no number"))?;
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_every_form_are_read() {
        assert_eq!(parse("@a.npy"), Ok(Spec::File("a.npy".into(), None)));
        assert_eq!(
            parse("@a.npy>b.npy"),
            Ok(Spec::File("a.npy".into(), Some("b.npy".into())))
        );
        let zeros = Spec::Zeros(DType::F32, vec![64, 32], Some("o.npy".into()));
        assert_eq!(parse("f32[64,32]>o.npy"), Ok(zeros));
        assert_eq!(
            parse("i32:-3"),
            Ok(Spec::Scalars((-3i32).to_le_bytes().to_vec()))
        );
        assert_eq!(
            parse("u32:1,2").map(|s| matches!(s, Spec::Scalars(b) if b.len() == 8)),
            Ok(true)
        );
        for wrong in ["f33:1", "u32:-1", "f32[2", "x", "u8:256"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(size("4,5"), Ok([4, 5, 1]));
    }
}
