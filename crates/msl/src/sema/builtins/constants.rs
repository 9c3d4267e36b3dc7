//! The named constants of the standard library.

use super::super::constant::Constant;
use super::super::types::Ty;
use crate::ir::Scalar;

/// The flags of barriers, as bits.
pub(in super::super) const MEMORY_FLAGS: &[(&str, i64)] = &[
    ("mem_none", 0),
    ("mem_device", 1),
    ("mem_threadgroup", 2),
    ("mem_texture", 4),
    ("mem_threadgroup_imageblock", 8),
];

/// A member of `mem_flags`.
pub(in super::super) fn memory_flag(name: &str) -> Option<i64> {
    MEMORY_FLAGS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, bits)| *bits)
}

/// A constant that is a macro in Metal, and so visible without its namespace.
pub(in super::super) fn find(name: &str) -> Option<(Ty, Constant)> {
    if let Some(value) = float(name) {
        return Some((Ty::FLOAT, Constant::Float(value)));
    }
    let half = Ty::scalar(Scalar::F16);
    let (ty, value) = match name {
        "HUGE_VALH" => return Some((half, Constant::Float(f32::INFINITY))),
        "HALF_MAX" => return Some((half, Constant::Float(65_504.0))),
        "HALF_MIN" => return Some((half, Constant::Float(6.103_515_6e-5))),
        "HALF_EPSILON" => return Some((half, Constant::Float(9.765_625e-4))),
        "CHAR_BIT" => (Ty::INT, 8),
        "CHAR_MAX" | "SCHAR_MAX" => (Ty::INT, i64::from(i8::MAX)),
        "CHAR_MIN" | "SCHAR_MIN" => (Ty::INT, i64::from(i8::MIN)),
        "UCHAR_MAX" => (Ty::INT, i64::from(u8::MAX)),
        "SHRT_MAX" => (Ty::INT, i64::from(i16::MAX)),
        "SHRT_MIN" => (Ty::INT, i64::from(i16::MIN)),
        "USHRT_MAX" => (Ty::INT, i64::from(u16::MAX)),
        "INT_MAX" => (Ty::INT, i64::from(i32::MAX)),
        "INT_MIN" => (Ty::INT, i64::from(i32::MIN)),
        "UINT_MAX" => (Ty::UINT, i64::from(u32::MAX)),
        "LONG_MAX" => (Ty::LONG, i64::MAX),
        "LONG_MIN" => (Ty::LONG, i64::MIN),
        "ULONG_MAX" => (Ty::ULONG, -1),
        "FLT_DIG" => (Ty::INT, 6),
        "FLT_MANT_DIG" => (Ty::INT, 24),
        _ => return None,
    };
    Some((ty, Constant::Int(value)))
}

fn float(name: &str) -> Option<f32> {
    use std::f32::consts as c;
    Some(match name {
        "INFINITY" | "HUGE_VALF" | "MAXFLOAT_INFINITY" => f32::INFINITY,
        "NAN" => f32::NAN,
        "FLT_MAX" | "MAXFLOAT" => f32::MAX,
        "FLT_MIN" => f32::MIN_POSITIVE,
        "FLT_EPSILON" => f32::EPSILON,
        "M_E_F" => c::E,
        "M_LOG2E_F" => c::LOG2_E,
        "M_LOG10E_F" => c::LOG10_E,
        "M_LN2_F" => c::LN_2,
        "M_LN10_F" => c::LN_10,
        "M_PI_F" => c::PI,
        "M_PI_2_F" => c::FRAC_PI_2,
        "M_PI_4_F" => c::FRAC_PI_4,
        "M_1_PI_F" => c::FRAC_1_PI,
        "M_2_PI_F" => c::FRAC_2_PI,
        "M_2_SQRTPI_F" => c::FRAC_2_SQRT_PI,
        "M_SQRT2_F" => c::SQRT_2,
        "M_SQRT1_2_F" => c::FRAC_1_SQRT_2,
        _ => return None,
    })
}

/// A constant of the `metal` namespace.
pub(in super::super) fn find_in_metal(name: &str) -> Option<(Ty, Constant)> {
    (name == "memory_order_relaxed").then_some((Ty::MEMORY_ORDER, Constant::Int(0)))
}
