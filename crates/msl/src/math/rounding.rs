//! Rounding, comparison, blending, and taking floats apart.

/// The sign bit.
const SIGN: u32 = 0x8000_0000;

/// The largest float below 1.
const BELOW_ONE: f32 = 1.0 - 0.5 * f32::EPSILON;

/// The largest integer not above `x`.
#[inline(always)]
pub fn floor(x: f32) -> f32 {
    x.floor()
}

/// The smallest integer not below `x`.
#[inline(always)]
pub fn ceil(x: f32) -> f32 {
    x.ceil()
}

/// `x` without its fraction.
#[inline(always)]
pub fn trunc(x: f32) -> f32 {
    x.trunc()
}

/// The nearest integer, halves away from zero.
#[inline(always)]
pub fn round(x: f32) -> f32 {
    let whole = x.trunc();
    let up = if (x - whole).abs() >= 0.5 {
        1.0_f32
    } else {
        0.0
    };
    whole + up.copysign(x)
}

/// The nearest integer, halves to the even one.
#[inline(always)]
pub fn rint(x: f32) -> f32 {
    const TWO_23: f32 = 8_388_608.0;
    let a = x.abs();
    let rounded = (a + TWO_23) - TWO_23;
    if a < TWO_23 { rounded.copysign(x) } else { x }
}

/// `(fraction, whole)`, both with the sign of `x`.
#[inline(always)]
pub fn modf(x: f32) -> (f32, f32) {
    let whole = x.trunc();
    let fraction = if x.abs() == f32::INFINITY {
        0.0
    } else {
        x - whole
    };
    (fraction.copysign(x), whole)
}

/// `x - floor(x)`, but below 1 even where that rounds to 1; NaN for infinities and NaN.
#[inline(always)]
pub fn fract(x: f32) -> f32 {
    let fraction = x - x.floor();
    if fraction > BELOW_ONE {
        BELOW_ONE
    } else {
        fraction
    }
}

/// The lesser, or the one that is not NaN; -0 is less than 0.
#[inline(always)]
pub fn fmin(x: f32, y: f32) -> f32 {
    let least = if (x < y) | y.is_nan() { x } else { y };
    // Only zeros are equal with different bits.
    if x == y {
        f32::from_bits(x.to_bits() | y.to_bits())
    } else {
        least
    }
}

/// The greater, or the one that is not NaN; 0 is greater than -0.
#[inline(always)]
pub fn fmax(x: f32, y: f32) -> f32 {
    let greatest = if (x > y) | y.is_nan() { x } else { y };
    if x == y {
        f32::from_bits(x.to_bits() & y.to_bits())
    } else {
        greatest
    }
}

/// `fmin(fmax(x, low), high)`; NaN gives `low`.
#[inline(always)]
pub fn clamp(x: f32, low: f32, high: f32) -> f32 {
    fmin(fmax(x, low), high)
}

/// `x` clamped to 0 to 1; NaN gives 0.
#[inline(always)]
pub fn saturate(x: f32) -> f32 {
    clamp(x, 0.0, 1.0)
}

/// `x + (y - x) a`.
#[inline(always)]
pub fn mix(x: f32, y: f32, a: f32) -> f32 {
    x + (y - x) * a
}

/// 0 if `x < edge`, else 1.
#[inline(always)]
pub fn step(edge: f32, x: f32) -> f32 {
    if x < edge { 0.0 } else { 1.0 }
}

/// `t^2 (3 - 2t)` for `t = saturate((x - edge0) / (edge1 - edge0))`.
#[inline(always)]
pub fn smoothstep(edge0: f32, edge1: f32, x: f32) -> f32 {
    let t = saturate((x - edge0) / (edge1 - edge0));
    t * t * (3.0 - 2.0 * t)
}

/// 1 with the sign of `x`; a zero as it is; 0 for NaN.
#[inline(always)]
pub fn sign(x: f32) -> f32 {
    let number = if x.is_nan() { 0.0 } else { x };
    if number == 0.0 {
        number
    } else {
        1.0_f32.copysign(x)
    }
}

/// The magnitude of `x` with the sign of `y`.
#[inline(always)]
pub fn copysign(x: f32, y: f32) -> f32 {
    x.copysign(y)
}

/// `x - y`, or 0 if `x <= y`.
#[inline(always)]
pub fn fdim(x: f32, y: f32) -> f32 {
    if x <= y { 0.0 } else { x - y }
}

/// The next float after `x` towards `y`; `y` if they are equal, NaN if either is.
#[inline(always)]
pub fn nextafter(x: f32, y: f32) -> f32 {
    let bits = x.to_bits();
    let away = (x < y) == (x > 0.0);
    let moved = if away {
        bits.wrapping_add(1)
    } else {
        bits.wrapping_sub(1)
    };
    let smallest = (y.to_bits() & SIGN) | 1;
    let next = f32::from_bits(if x == 0.0 { smallest } else { moved });
    let next = if x == y { y } else { next };
    if x.is_nan() | y.is_nan() {
        f32::NAN
    } else {
        next
    }
}

/// [`nextafter`] among halfs.
#[inline(always)]
pub fn nextafter_f16(x: f32, y: f32) -> f32 {
    next_narrow(x, y, super::f32_to_f16, super::f16_to_f32)
}

/// [`nextafter`] among bfloats.
#[inline(always)]
pub fn nextafter_bf16(x: f32, y: f32) -> f32 {
    next_narrow(x, y, super::f32_to_bf16, super::bf16_to_f32)
}

/// The next number of 16 bits.
#[inline(always)]
fn next_narrow(x: f32, y: f32, to_bits: fn(f32) -> u32, from_bits: fn(u32) -> f32) -> f32 {
    if x.is_nan() || y.is_nan() {
        return f32::NAN;
    }
    if x == y {
        return y;
    }
    if x == 0.0 {
        return from_bits((u32::from(y < 0.0) << 15) | 1);
    }
    let away = (x < y) == (x > 0.0);
    let bits = to_bits(x);
    from_bits(if away { bits + 1 } else { bits - 1 })
}

/// The remainder of `x / y` with the sign of `x`, exactly. A long division: its loop does not
/// vectorise.
#[inline]
pub fn fmod(x: f32, y: f32) -> f32 {
    if !(x.abs() < f32::INFINITY && y.abs() > 0.0) {
        return f32::NAN;
    }
    if x.abs() < y.abs() {
        return x;
    }
    let (mut remainder, mut exponent) = decompose(x);
    let (divisor, least) = decompose(y);
    remainder %= divisor;
    while exponent > least && remainder != 0 {
        // The remainder has up to 24 bits, so 40 more fit.
        let shift = (exponent - least).min(40);
        remainder = (remainder << shift) % divisor;
        exponent -= shift;
    }
    // Below the divisor, of at most 24 bits, hence exact.
    let unit = f64::from_bits(((i64::from(least) + 1023) << 52) as u64);
    ((remainder as f64 * unit) as f32).copysign(x)
}

/// `(m, e)` with `|x| = m 2^e` for finite `x`.
#[inline(always)]
fn decompose(x: f32) -> (u64, i32) {
    let bits = x.to_bits() & !SIGN;
    let field = bits >> 23;
    let hidden = if field == 0 { 0 } else { 0x0080_0000 };
    (
        u64::from((bits & 0x007f_ffff) | hidden),
        field.max(1) as i32 - 150,
    )
}

/// `x 2^n`, rounded once.
#[inline(always)]
pub fn ldexp(x: f32, n: i32) -> f32 {
    let n = n.clamp(-400, 400);
    let power = f64::from_bits(((i64::from(n) + 1023) as u64) << 52);
    (f64::from(x) * power) as f32
}

/// `x` scaled to be normal, unless it is zero, and the exponent field that it would then have.
#[inline(always)]
fn normalise(x: f32) -> (u32, i32) {
    let subnormal = x.abs() < f32::MIN_POSITIVE;
    let bits = (if subnormal { x * 8_388_608.0 } else { x }).to_bits();
    let field = ((bits >> 23) & 0xff) as i32;
    (bits, if subnormal { field - 23 } else { field })
}

/// `(m, n)` with `x = m 2^n` and `1/2 <= |m| < 1`; zero, infinities and NaN give themselves and 0.
#[inline(always)]
pub fn frexp(x: f32) -> (f32, i32) {
    let (bits, field) = normalise(x);
    let ordinary = (x != 0.0) & (x.abs() < f32::INFINITY);
    let mantissa = f32::from_bits((bits & 0x807f_ffff) | 0x3f00_0000);
    (
        if ordinary { mantissa } else { x },
        if ordinary { field - 126 } else { 0 },
    )
}

/// The exponent of `x` as an integer: `i32::MIN` for zero and NaN, `i32::MAX` for infinities.
#[inline(always)]
pub fn ilogb(x: f32) -> i32 {
    let (_, field) = normalise(x);
    let exponent = if x.abs() < f32::INFINITY {
        field - 127
    } else {
        i32::MAX
    };
    if (x == 0.0) | x.is_nan() {
        i32::MIN
    } else {
        exponent
    }
}

/// The exponent of `x` as a float: minus infinity for zero, infinity for infinities.
#[inline(always)]
pub fn logb(x: f32) -> f32 {
    let (_, field) = normalise(x);
    let a = x.abs();
    let exponent = if a < f32::INFINITY {
        (field - 127) as f32
    } else {
        a
    };
    if x == 0.0 {
        f32::NEG_INFINITY
    } else {
        exponent
    }
}
