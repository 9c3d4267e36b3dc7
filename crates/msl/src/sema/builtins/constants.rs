//! Named numbers: the macros of the standard library, its flags and memory order.

use crate::ir::Scalar;
use crate::sema::constant::Constant;
use crate::sema::types::Ty;

/// Bits of `mem_flags`.
pub(in crate::sema) const MEM_DEVICE: i64 = 1;
pub(in crate::sema) const MEM_THREADGROUP: i64 = 2;

/// The names in `mem_flags`.
pub(in crate::sema) const MEMORY_FLAGS: &[(&str, i64)] = &[
    ("mem_none", 0),
    ("mem_device", MEM_DEVICE),
    ("mem_threadgroup", MEM_THREADGROUP),
    ("mem_texture", 4),
    ("mem_threadgroup_imageblock", 8),
    ("mem_object_data", 16),
];

/// `mem_flags::name`.
pub(in crate::sema) fn memory_flag(name: &str) -> Option<i64> {
    MEMORY_FLAGS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, value)| *value)
}

/// The numbers of mathematics, with a suffix `_F` or `_H`.
const NUMBERS: &[(&str, f64)] = &[
    ("M_E", std::f64::consts::E),
    ("M_LOG2E", std::f64::consts::LOG2_E),
    ("M_LOG10E", std::f64::consts::LOG10_E),
    ("M_LN2", std::f64::consts::LN_2),
    ("M_LN10", std::f64::consts::LN_10),
    ("M_PI", std::f64::consts::PI),
    ("M_PI_2", std::f64::consts::FRAC_PI_2),
    ("M_PI_4", std::f64::consts::FRAC_PI_4),
    ("M_1_PI", std::f64::consts::FRAC_1_PI),
    ("M_2_PI", std::f64::consts::FRAC_2_PI),
    ("M_2_SQRTPI", std::f64::consts::FRAC_2_SQRT_PI),
    ("M_SQRT2", std::f64::consts::SQRT_2),
    ("M_SQRT1_2", std::f64::consts::FRAC_1_SQRT_2),
];

/// A macro of the standard library; visible without its namespace.
pub(in crate::sema) fn find(name: &str) -> Option<(Ty, Constant)> {
    let float = |value: f32| Some((Ty::FLOAT, Constant::Float(value)));
    let half = |value: f32| Some((Ty::scalar(Scalar::F16), Constant::Float(value)));
    let int = |ty: Ty, value: i64| Some((ty, Constant::Int(value)));
    for (suffix, scalar) in [("_F", Scalar::F32), ("_H", Scalar::F16)] {
        if let Some(stem) = name.strip_suffix(suffix)
            && let Some((_, value)) = NUMBERS.iter().find(|(known, _)| *known == stem)
        {
            let value = crate::sema::constant::round_f64(scalar, *value);
            return Some((Ty::scalar(scalar), Constant::Float(value)));
        }
    }
    match name {
        "INFINITY" | "HUGE_VALF" => float(f32::INFINITY),
        "HUGE_VALH" => half(f32::INFINITY),
        "NAN" => float(f32::NAN),
        "MAXFLOAT" | "FLT_MAX" => float(f32::MAX),
        "FLT_MIN" => float(f32::MIN_POSITIVE),
        "FLT_EPSILON" => float(f32::EPSILON),
        "FLT_DIG" => int(Ty::INT, 6),
        "FLT_MANT_DIG" => int(Ty::INT, 24),
        "FLT_MAX_EXP" => int(Ty::INT, 128),
        "FLT_MIN_EXP" => int(Ty::INT, -125),
        "FLT_RADIX" => int(Ty::INT, 2),
        "MAXHALF" | "HALF_MAX" => half(65504.0),
        "HALF_MIN" => half(6.103_515_6e-5),
        "HALF_EPSILON" => half(9.765_625e-4),
        "CHAR_BIT" => int(Ty::INT, 8),
        "CHAR_MAX" | "SCHAR_MAX" => int(Ty::INT, i64::from(i8::MAX)),
        "CHAR_MIN" | "SCHAR_MIN" => int(Ty::INT, i64::from(i8::MIN)),
        "UCHAR_MAX" => int(Ty::INT, i64::from(u8::MAX)),
        "SHRT_MAX" => int(Ty::INT, i64::from(i16::MAX)),
        "SHRT_MIN" => int(Ty::INT, i64::from(i16::MIN)),
        "USHRT_MAX" => int(Ty::INT, i64::from(u16::MAX)),
        "INT_MAX" => int(Ty::INT, i64::from(i32::MAX)),
        "INT_MIN" => int(Ty::INT, i64::from(i32::MIN)),
        "UINT_MAX" => int(Ty::UINT, i64::from(u32::MAX)),
        "LONG_MAX" => int(Ty::LONG, i64::MAX),
        "LONG_MIN" => int(Ty::LONG, i64::MIN),
        "ULONG_MAX" | "SIZE_MAX" => int(Ty::ULONG, -1),
        _ => None,
    }
}

/// A value of the `metal` namespace.
pub(in crate::sema) fn find_in_metal(name: &str) -> Option<(Ty, Constant)> {
    match name {
        "memory_order_relaxed" => Some((Ty::MEMORY_ORDER, Constant::Int(0))),
        _ => None,
    }
}
