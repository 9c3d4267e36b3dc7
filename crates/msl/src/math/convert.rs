//! Conversions between floats of different widths, and from floats to integers.
//!
//! Half-precision numbers are handled as their bits in the low half of a `u32`, in integer
//! arithmetic that needs no half-precision instructions.

/// The sign bit.
const SIGN: u32 = 0x8000_0000;

/// For `a >= 0`, the power of two `p` for which adding `p` to `a` rounds `a` to the precision that
/// binary16 has at its magnitude.
#[inline(always)]
fn f16_rounder(a: f32) -> f32 {
    const LEAST: u32 = 113 << 23; // 2^-14, below which the spacing stays the same
    const LOST_BITS: u32 = 13 << 23;
    let power = a.to_bits() & 0x7f80_0000;
    f32::from_bits((if power < LEAST { LEAST } else { power }).wrapping_add(LOST_BITS))
}

/// To binary16, to nearest with ties to even. A NaN stays NaN and keeps the upper bits of its
/// payload.
#[inline(always)]
pub fn f32_to_f16(x: f32) -> u32 {
    let bits = x.to_bits();
    let a = x.abs();
    let power = f16_rounder(a);
    // Eleven bits of significand, or 2^11 after a carry, which the sum moves on to the exponent.
    let significand = (a + power).to_bits() & 0xfff;
    let exponent = (power.to_bits() >> 23).wrapping_sub(113 + 13) << 10;
    let nan = 0x7e00 | ((bits >> 13) & 0x3ff);
    let half = if a < 65_536.0 {
        significand.wrapping_add(exponent)
    } else {
        0x7c00
    };
    let half = if x.is_nan() { nan } else { half };
    half | (bits & SIGN) >> 16
}

/// From binary16, exactly.
#[inline(always)]
pub fn f16_to_f32(half: u32) -> f32 {
    const TWO_112: f32 = f32::from_bits((127 + 112) << 23);
    let bits = (half & 0x7fff) << 13;
    let scaled = (f32::from_bits(bits) * TWO_112).to_bits();
    let wide = if bits < 0x7c00 << 13 {
        scaled
    } else {
        bits | 0x7f80_0000
    };
    f32::from_bits(wide | (half & 0x8000) << 16)
}

/// To bfloat16, to nearest with ties to even. A NaN stays NaN and keeps the upper bits of its
/// payload.
#[inline(always)]
pub fn f32_to_bf16(x: f32) -> u32 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1)) >> 16;
    if x.is_nan() {
        bits >> 16 | 0x40
    } else {
        rounded
    }
}

/// From bfloat16, exactly.
#[inline(always)]
pub fn bf16_to_f32(half: u32) -> f32 {
    f32::from_bits(half << 16)
}

/// The nearest binary16 number, as an `f32`.
#[inline(always)]
pub fn round_to_f16(x: f32) -> f32 {
    // Half a unit beyond the largest finite number.
    const OVERFLOW: f32 = 65_520.0;
    let a = x.abs();
    let power = f16_rounder(a);
    let rounded = (a + power) - power;
    let rounded = if a >= OVERFLOW {
        f32::INFINITY
    } else {
        rounded
    };
    (if x.is_nan() { x } else { rounded }).copysign(x)
}

/// The nearest bfloat16 number, as an `f32`.
#[inline(always)]
pub fn round_to_bf16(x: f32) -> f32 {
    bf16_to_f32(f32_to_bf16(x))
}

/// The bfloat nearest to an integer, given without its sign; ties go to the even one. Rounding to
/// float first would round twice.
#[inline(always)]
pub fn integer_to_bf16(magnitude: u64) -> f32 {
    // 24 bits of it, the last of which says too whether there was more: a float holds them.
    let beyond = (40u32).saturating_sub(magnitude.leading_zeros());
    let kept = magnitude >> beyond;
    let rest = u64::from(kept << beyond != magnitude);
    round_to_bf16(((kept | rest) << beyond) as f32)
}

macro_rules! to_integer {
    ($($name:ident: $type:ty;)*) => { $(
        #[doc = concat!("To `", stringify!($type), "`, towards zero, saturating; NaN gives 0.")]
        #[inline(always)]
        pub fn $name(x: f32) -> $type {
            // Powers of two or zero, hence exact.
            const LEAST: f32 = <$type>::MIN as f32;
            const BEYOND: f32 = 2.0 * ((<$type>::MAX / 2 + 1) as f32);
            let below = x < LEAST;
            let beyond = x >= BEYOND;
            let inner = if below | beyond | x.is_nan() { 0.0 } else { x };
            // SAFETY: `inner` is a number, and in the range of the type.
            let value = unsafe { inner.to_int_unchecked::<$type>() };
            let value = if beyond { <$type>::MAX } else { value };
            if below { <$type>::MIN } else { value }
        }
    )* };
}

to_integer! {
    to_i8: i8;
    to_u8: u8;
    to_i16: i16;
    to_u16: u16;
    to_i32: i32;
    to_u32: u32;
    to_i64: i64;
    to_u64: u64;
}
