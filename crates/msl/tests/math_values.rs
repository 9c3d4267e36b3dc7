//! Tables of exceptional values, and exact functions against plain definitions.

use msl::math::{self, Integer};

const INF: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;
const TINY: f32 = f32::from_bits(1);

/// Equal including the sign of zero; any NaN equals any other.
fn same(got: f32, expected: f32) -> bool {
    got.to_bits() == expected.to_bits() || (got.is_nan() && expected.is_nan())
}

macro_rules! values {
    ($($function:ident($($argument:expr),+) = $expected:expr;)*) => { $({
        let got = math::$function($($argument),+);
        assert!(
            same(got, $expected),
            "{} gave {got}, not {}", stringify!($function($($argument),+)), $expected
        );
    })* };
}

/// Bit patterns all over the range, and around every power of two.
fn patterns() -> impl Iterator<Item = f32> {
    let strided = (0..u32::MAX / 997).map(|i| i * 997);
    let around = (0..512).flat_map(|i: u32| {
        [0, 1, 2, 3, 0x7f_fffe, 0x7f_ffff, 0x40_0000, 0x40_0001].map(|m| (i << 23) | m)
    });
    strided.chain(around).map(f32::from_bits)
}

#[test]
fn exponential_values() {
    values! {
        exp(0.0) = 1.0; exp(-0.0) = 1.0; exp(INF) = INF; exp(-INF) = 0.0; exp(NAN) = NAN;
        exp(89.0) = INF; exp(-104.0) = 0.0; exp(-103.0) = TINY;
        exp2(0.0) = 1.0; exp2(INF) = INF; exp2(-INF) = 0.0; exp2(NAN) = NAN; exp2(128.0) = INF;
        exp2(127.0) = 2_f32.powi(127); exp2(-149.0) = TINY; exp2(-150.0) = 0.0; exp2(-3.0) = 0.125;
        exp10(0.0) = 1.0; exp10(3.0) = 1000.0; exp10(INF) = INF; exp10(-INF) = 0.0;
        exp10(NAN) = NAN;
        exp10(10.0) = 1e10; exp10(-45.0) = TINY; exp10(39.0) = INF;
        expm1(0.0) = 0.0; expm1(-0.0) = -0.0; expm1(INF) = INF; expm1(-INF) = -1.0;
        expm1(NAN) = NAN;
        expm1(TINY) = TINY; expm1(-1e-20) = -1e-20;
    }
    for n in -149..128 {
        assert_eq!(f64::from(math::exp2(n as f32)), 2_f64.powi(n));
    }
}

#[test]
fn logarithm_values() {
    values! {
        log(1.0) = 0.0; log(0.0) = -INF; log(-0.0) = -INF; log(-1.0) = NAN; log(INF) = INF;
        log(-INF) = NAN; log(NAN) = NAN; log(TINY) = -103.278_93;
        log2(1.0) = 0.0; log2(0.0) = -INF; log2(-1.0) = NAN; log2(INF) = INF; log2(NAN) = NAN;
        log10(1.0) = 0.0; log10(0.0) = -INF; log10(-1.0) = NAN; log10(INF) = INF; log10(NAN) = NAN;
        log10(1000.0) = 3.0; log10(1e10) = 10.0;
        log1p(0.0) = 0.0; log1p(-0.0) = -0.0; log1p(-1.0) = -INF; log1p(-2.0) = NAN;
        log1p(INF) = INF; log1p(-INF) = NAN; log1p(NAN) = NAN; log1p(TINY) = TINY;
    }
    for n in -149..128 {
        assert_eq!(math::log2(2_f64.powi(n) as f32), n as f32);
    }
}

#[test]
fn power_values() {
    values! {
        pow(2.0, 10.0) = 1024.0; pow(-2.0, 3.0) = -8.0; pow(-2.0, 2.0) = 4.0; pow(-2.0, 0.5) = NAN;
        pow(0.0, 0.0) = 1.0; pow(NAN, 0.0) = 1.0; pow(1.0, NAN) = 1.0; pow(INF, -0.0) = 1.0;
        pow(NAN, 1.0) = NAN; pow(2.0, NAN) = NAN; pow(-1.0, NAN) = NAN; pow(0.0, NAN) = NAN;
        pow(1.0, INF) = 1.0; pow(-1.0, INF) = 1.0; pow(-1.0, -INF) = 1.0; pow(-1.0, 3.0) = -1.0;
        pow(0.0, 2.0) = 0.0; pow(-0.0, 2.0) = 0.0; pow(-0.0, 3.0) = -0.0; pow(0.0, 0.5) = 0.0;
        pow(0.0, -1.0) = INF; pow(-0.0, -1.0) = -INF; pow(-0.0, -2.0) = INF; pow(-0.0, -0.5) = INF;
        pow(0.0, -INF) = INF; pow(0.0, INF) = 0.0; pow(0.5, INF) = 0.0; pow(0.5, -INF) = INF;
        pow(2.0, INF) = INF; pow(2.0, -INF) = 0.0; pow(-2.0, INF) = INF; pow(-0.5, INF) = 0.0;
        pow(INF, 2.0) = INF; pow(INF, -1.0) = 0.0; pow(-INF, 3.0) = -INF; pow(-INF, 2.0) = INF;
        pow(-INF, 0.5) = INF; pow(-INF, -3.0) = -0.0; pow(-INF, -2.0) = 0.0; pow(-INF, NAN) = NAN;
        pow(-3.0, 16777217.0) = INF; pow(-1.0, 16777215.0) = -1.0; pow(-1.0, 16777216.0) = 1.0;
        pow(2.0, -149.0) = TINY; pow(2.0, 128.0) = INF;
        powr(2.0, 10.0) = 1024.0; powr(-2.0, 2.0) = NAN; powr(0.0, 0.0) = NAN; powr(INF, 0.0) = NAN;
        powr(1.0, INF) = NAN; powr(1.0, NAN) = NAN; powr(NAN, 0.0) = NAN; powr(0.0, 2.0) = 0.0;
        powr(-0.0, 2.0) = 0.0; powr(0.0, -2.0) = INF; powr(2.0, 0.0) = 1.0; powr(INF, -1.0) = 0.0;
        powr(0.5, INF) = 0.0; powr(-INF, 1.0) = NAN; powr(1.0, 7.5) = 1.0;
        cbrt(27.0) = 3.0; cbrt(-8.0) = -2.0; cbrt(0.0) = 0.0; cbrt(-0.0) = -0.0; cbrt(INF) = INF;
        cbrt(-INF) = -INF; cbrt(NAN) = NAN;
        sqrt(-0.0) = -0.0; sqrt(-1.0) = NAN; sqrt(INF) = INF;
        rsqrt(4.0) = 0.5; rsqrt(0.0) = INF; rsqrt(-0.0) = -INF; rsqrt(INF) = 0.0; rsqrt(-1.0) = NAN;
    }
}

#[test]
fn trigonometric_values() {
    values! {
        sin(0.0) = 0.0; sin(-0.0) = -0.0; sin(INF) = NAN; sin(-INF) = NAN; sin(NAN) = NAN;
        sin(TINY) = TINY; sin(-TINY) = -TINY;
        cos(0.0) = 1.0; cos(-0.0) = 1.0; cos(INF) = NAN; cos(NAN) = NAN; cos(TINY) = 1.0;
        tan(0.0) = 0.0; tan(-0.0) = -0.0; tan(INF) = NAN; tan(NAN) = NAN; tan(TINY) = TINY;
        sinpi(0.0) = 0.0; sinpi(-0.0) = -0.0; sinpi(1.0) = 0.0; sinpi(-1.0) = -0.0;
        sinpi(2.0) = 0.0;
        sinpi(0.5) = 1.0; sinpi(1.5) = -1.0; sinpi(-0.5) = -1.0; sinpi(INF) = NAN; sinpi(NAN) = NAN;
        sinpi(1e30) = 0.0; sinpi(8388607.5) = -1.0; sinpi(16777215.0) = 0.0;
        cospi(0.0) = 1.0; cospi(1.0) = -1.0; cospi(0.5) = 0.0; cospi(1.5) = 0.0; cospi(-0.5) = 0.0;
        cospi(1e30) = 1.0; cospi(16777215.0) = -1.0; cospi(INF) = NAN; cospi(NAN) = NAN;
        tanpi(0.0) = 0.0; tanpi(-0.0) = -0.0; tanpi(1.0) = -0.0; tanpi(2.0) = 0.0;
        tanpi(-1.0) = 0.0;
        tanpi(-2.0) = -0.0; tanpi(0.5) = INF; tanpi(1.5) = -INF; tanpi(-0.5) = -INF;
        tanpi(0.25) = 1.0;
        tanpi(0.75) = -1.0; tanpi(INF) = NAN; tanpi(NAN) = NAN;
        asin(0.0) = 0.0; asin(-0.0) = -0.0; asin(1.0) = std::f32::consts::FRAC_PI_2;
        asin(1.1) = NAN;
        asin(NAN) = NAN; asin(INF) = NAN; asin(TINY) = TINY;
        acos(1.0) = 0.0; acos(-1.0) = std::f32::consts::PI; acos(-1.1) = NAN; acos(NAN) = NAN;
        acos(0.0) = std::f32::consts::FRAC_PI_2;
        atan(0.0) = 0.0; atan(-0.0) = -0.0; atan(INF) = std::f32::consts::FRAC_PI_2;
        atan(NAN) = NAN;
        atan(-INF) = -std::f32::consts::FRAC_PI_2; atan(TINY) = TINY;
    }
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        INF,
        -INF,
        NAN,
        TINY,
        -TINY,
        f32::MAX,
        -f32::MAX,
    ];
    for y in special {
        for x in special {
            let exact = f64::from(y).atan2(f64::from(x)) as f32;
            assert!(same(math::atan2(y, x), exact), "atan2({y}, {x})");
        }
    }
}

#[test]
fn sines_of_slices() {
    for scale in [1.0, 1e8] {
        let x: Vec<f32> = (0..100).map(|i| scale * (i as f32 - 50.0)).collect();
        let mut out = vec![0.0; x.len()];
        let single = |f: fn(f32) -> f32| x.iter().map(|&x| f(x)).collect::<Vec<_>>();
        math::sin_slice(&x, &mut out);
        assert_eq!(out, single(math::sin));
        math::cos_slice(&x, &mut out);
        assert_eq!(out, single(math::cos));
        math::tan_slice(&x, &mut out);
        assert_eq!(out, single(math::tan));
    }
}

#[test]
fn hyperbolic_and_special_values() {
    values! {
        sinh(0.0) = 0.0; sinh(-0.0) = -0.0; sinh(INF) = INF; sinh(-INF) = -INF; sinh(NAN) = NAN;
        sinh(TINY) = TINY; cosh(0.0) = 1.0; cosh(INF) = INF; cosh(-INF) = INF; cosh(NAN) = NAN;
        tanh(0.0) = 0.0; tanh(-0.0) = -0.0; tanh(INF) = 1.0; tanh(-INF) = -1.0; tanh(NAN) = NAN;
        tanh(TINY) = TINY; tanh(1e30) = 1.0;
        asinh(0.0) = 0.0; asinh(-0.0) = -0.0; asinh(INF) = INF; asinh(-INF) = -INF;
        asinh(NAN) = NAN;
        asinh(TINY) = TINY;
        acosh(1.0) = 0.0; acosh(0.5) = NAN; acosh(-5.0) = NAN; acosh(INF) = INF; acosh(-INF) = NAN;
        acosh(NAN) = NAN;
        atanh(0.0) = 0.0; atanh(-0.0) = -0.0; atanh(1.0) = INF; atanh(-1.0) = -INF;
        atanh(2.0) = NAN;
        atanh(INF) = NAN; atanh(NAN) = NAN; atanh(TINY) = TINY;
        erf(0.0) = 0.0; erf(-0.0) = -0.0; erf(INF) = 1.0; erf(-INF) = -1.0; erf(NAN) = NAN;
        erf(4.0) = 1.0;
        erfc(0.0) = 1.0; erfc(-0.0) = 1.0; erfc(INF) = 0.0; erfc(-INF) = 2.0; erfc(NAN) = NAN;
    }
}

#[test]
fn rounding_agrees_with_the_standard_library() {
    for x in patterns() {
        for (name, got, expected) in [
            ("floor", math::floor(x), x.floor()),
            ("ceil", math::ceil(x), x.ceil()),
            ("trunc", math::trunc(x), x.trunc()),
            ("round", math::round(x), x.round()),
            ("rint", math::rint(x), x.round_ties_even()),
            (
                "logb",
                math::logb(x),
                if x.is_nan() { x } else { libm_logb(x) },
            ),
        ] {
            assert!(
                same(got, expected),
                "{name}({x}) gave {got}, not {expected}"
            );
        }
        let (fraction, exponent) = libm::frexpf(x);
        let got = math::frexp(x);
        let ordinary = x.is_finite() && x != 0.0;
        assert!(same(got.0, fraction), "frexp({x}) gave {got:?}");
        assert_eq!(got.1, if ordinary { exponent } else { 0 }, "frexp({x})");
        let (fraction, whole) = libm::modff(x);
        let got = math::modf(x);
        assert!(
            same(got.0, fraction) && same(got.1, whole),
            "modf({x}) gave {got:?}"
        );
        for n in [-300, -150, -127, -1, 0, 1, 24, 127, 300, i32::MAX, i32::MIN] {
            assert!(
                same(math::ldexp(x, n), libm::ldexpf(x, n)),
                "ldexp({x}, {n})"
            );
        }
    }
    for half in -9..9 {
        let x = half as f32 * 0.5;
        assert!(same(math::rint(x), x.round_ties_even()) && same(math::round(x), x.round()));
    }
}

fn libm_logb(x: f32) -> f32 {
    match x.abs() {
        0.0 => -INF,
        INF => INF,
        a => (libm::frexpf(a).1 - 1) as f32,
    }
}

#[test]
fn comparison_values() {
    values! {
        fmin(1.0, 2.0) = 1.0; fmin(NAN, 2.0) = 2.0; fmin(1.0, NAN) = 1.0; fmin(NAN, NAN) = NAN;
        fmin(0.0, -0.0) = -0.0; fmin(-0.0, 0.0) = -0.0; fmin(-INF, 1.0) = -INF;
        fmax(1.0, 2.0) = 2.0; fmax(NAN, 2.0) = 2.0; fmax(1.0, NAN) = 1.0; fmax(NAN, NAN) = NAN;
        fmax(0.0, -0.0) = 0.0; fmax(-0.0, 0.0) = 0.0; fmax(INF, 1.0) = INF;
        clamp(3.0, 0.0, 1.0) = 1.0; clamp(-3.0, 0.0, 1.0) = 0.0; clamp(NAN, 0.25, 1.0) = 0.25;
        saturate(0.5) = 0.5; saturate(NAN) = 0.0; mix(1.0, 3.0, 0.5) = 2.0;
        step(1.0, 0.5) = 0.0; step(1.0, 1.0) = 1.0; step(1.0, NAN) = 1.0;
        smoothstep(0.0, 2.0, 1.0) = 0.5; smoothstep(0.0, 1.0, -1.0) = 0.0;
        sign(3.0) = 1.0; sign(-3.0) = -1.0; sign(0.0) = 0.0; sign(-0.0) = -0.0; sign(NAN) = 0.0;
        sign(-INF) = -1.0; sign(-NAN) = 0.0;
        fract(1.25) = 0.25; fract(-0.25) = 0.75; fract(-1e-20) = 0.999_999_94; fract(INF) = NAN;
        fract(NAN) = NAN; fract(0.0) = 0.0; fract(-1.0) = 0.0;
        fdim(3.0, 1.0) = 2.0; fdim(1.0, 3.0) = 0.0; fdim(NAN, 1.0) = NAN; fdim(INF, INF) = 0.0;
        fmod(5.5, 2.0) = 1.5; fmod(-5.5, 2.0) = -1.5; fmod(1.0, 0.0) = NAN; fmod(INF, 1.0) = NAN;
        fmod(1.0, INF) = 1.0; fmod(-0.0, 1.0) = -0.0; fmod(NAN, 1.0) = NAN; fmod(1.0, NAN) = NAN;
        fmod(-4.0, 2.0) = -0.0; fmod(0.0, INF) = 0.0;
        nextafter(0.0, 1.0) = TINY; nextafter(0.0, -1.0) = -TINY; nextafter(1.0, 1.0) = 1.0;
        nextafter(0.0, -0.0) = -0.0; nextafter(f32::MAX, INF) = INF; nextafter(INF, 0.0) = f32::MAX;
        nextafter(TINY, 0.0) = 0.0; nextafter(-TINY, 1.0) = -0.0; nextafter(NAN, 1.0) = NAN;
        nextafter(1.0, NAN) = NAN; nextafter(-1.0, 0.0) = -0.999_999_94;
        nextafter(-1.0, -2.0) = -1.000_000_1; copysign(1.0, -0.0) = -1.0;
    }
    assert_eq!([math::ilogb(0.0), math::ilogb(NAN)], [i32::MIN; 2]);
    assert_eq!(
        [INF, -INF, 1.0, -0.75, TINY].map(math::ilogb),
        [i32::MAX, i32::MAX, 0, -1, -149]
    );
}

#[test]
fn conversions_agree_with_half() {
    for bits in 0..=u16::MAX {
        let (f16, bf16) = (half::f16::from_bits(bits), half::bf16::from_bits(bits));
        assert!(
            same(math::f16_to_f32(bits.into()), f16.to_f32()),
            "f16 {bits:#x}"
        );
        assert!(
            same(math::bf16_to_f32(bits.into()), bf16.to_f32()),
            "bf16 {bits:#x}"
        );
        // Midpoints between neighbours, and what is next to them.
        for (wide, shift) in [(f16.to_f32(), 13), (bf16.to_f32(), 16)] {
            for near in [
                0,
                1,
                (1 << (shift - 1)) - 1,
                1 << (shift - 1),
                (1 << (shift - 1)) + 1,
            ] {
                check_narrowing(f32::from_bits(wide.to_bits().wrapping_add(near)));
            }
        }
    }
    patterns().for_each(check_narrowing);
}

fn check_narrowing(x: f32) {
    let (f16, bf16) = (half::f16::from_f32(x), half::bf16::from_f32(x));
    assert_eq!(
        math::f32_to_f16(x),
        f16.to_bits().into(),
        "f16 of {x:e}, {:#x}",
        x.to_bits()
    );
    assert_eq!(
        math::f32_to_bf16(x),
        bf16.to_bits().into(),
        "bf16 of {x:e}, {:#x}",
        x.to_bits()
    );
    assert!(
        same(math::round_to_f16(x), f16.to_f32()),
        "rounding {x:e} to f16"
    );
    assert!(
        same(math::round_to_bf16(x), bf16.to_f32()),
        "rounding {x:e} to bf16"
    );
}

#[test]
fn integers_saturate() {
    let edges = [
        127.5,
        128.0,
        255.5,
        256.0,
        32767.5,
        65535.5,
        2147483648.0,
        4294967296.0,
        2147483520.0,
    ];
    for x in patterns().chain(edges).flat_map(|x| [x, -x]) {
        assert_eq!(math::to_i8(x), x as i8, "{x}");
        assert_eq!(math::to_u8(x), x as u8, "{x}");
        assert_eq!(math::to_i16(x), x as i16, "{x}");
        assert_eq!(math::to_u16(x), x as u16, "{x}");
        assert_eq!(math::to_i32(x), x as i32, "{x}");
        assert_eq!(math::to_u32(x), x as u32, "{x}");
        assert_eq!(math::to_i64(x), x as i64, "{x}");
        assert_eq!(math::to_u64(x), x as u64, "{x}");
    }
}

/// Values of a type: all of them if it has eight bits, else its edges and some in between.
trait Samples: Sized {
    fn samples() -> Vec<Self>;
}

macro_rules! samples {
    ($($type:ident)*) => { $(
        impl Samples for $type {
            fn samples() -> Vec<Self> {
                let mut values: Vec<$type> = (0..=255_u8).map(|i| i as $type).collect();
                if $type::BITS > 8 {
                    for shift in 0..$type::BITS {
                        let power = (1 as $type) << shift;
                        values.extend([power, power.wrapping_sub(1), !power, power.wrapping_neg()]);
                        values.push((0x9e37_79b9_7f4a_7c15_u64 >> (64 - shift).min(63)) as $type);
                    }
                    values.extend([$type::MIN, $type::MAX]);
                }
                values
            }
        }
    )* };
}
samples!(i8 u8 i16 u16 i32 u32 i64 u64);

macro_rules! integer_tests {
    ($($type:ident)*) => { $(
        #[test]
        fn $type() {
            const BITS: u32 = $type::BITS;
            let clamp = |x: i128| x.clamp($type::MIN as i128, $type::MAX as i128) as $type;
            let values = $type::samples();
            for &a in &values {
                assert_eq!(a.clz(), a.leading_zeros() as $type);
                assert_eq!(a.ctz(), a.trailing_zeros() as $type);
                assert_eq!(a.popcount(), a.count_ones() as $type);
                assert_eq!(Integer::reverse_bits(a), $type::reverse_bits(a));
                assert_eq!(Integer::abs(a), (a as i128).unsigned_abs() as $type);
                for &b in &values {
                    let (x, y) = (a as i128, b as i128);
                    let (quotient, remainder) = (Integer::divide(a, b), a.remainder(b));
                    assert_eq!(quotient, x.checked_div(y).unwrap_or(0) as $type, "{a} / {b}");
                    assert_eq!(remainder, x.checked_rem(y).unwrap_or(x) as $type, "{a} % {b}");
                    assert_eq!(quotient.wrapping_mul(b).wrapping_add(remainder), a);
                    let count = b as u32 % BITS;
                    assert_eq!(Integer::shift_left(a, b), a << count, "{a} << {b}");
                    assert_eq!(Integer::shift_right(a, b), a >> count, "{a} >> {b}");
                    assert_eq!(a.rotate(b), a.rotate_left(count), "{a} rotated by {b}");
                    assert_eq!(a.absdiff(b), (x - y).unsigned_abs() as $type, "|{a} - {b}|");
                    assert_eq!(a.addsat(b), clamp(x + y));
                    assert_eq!(a.subsat(b), clamp(x - y));
                    assert_eq!(a.hadd(b), ((x + y) >> 1) as $type, "({a} + {b}) / 2");
                    assert_eq!(a.rhadd(b), ((x + y + 1) >> 1) as $type, "({a} + {b} + 1) / 2");
                    // The product of two u64 needs the bits of a u128.
                    let high = if $type::MIN == 0 {
                        (x as u128 * y as u128 >> BITS) as $type
                    } else {
                        (x * y >> BITS) as $type
                    };
                    assert_eq!(a.mulhi(b), high, "upper half of {a} * {b}");
                    assert_eq!(a.madhi(b, a), high.wrapping_add(a));
                    assert_eq!(a.mul24(b), a.wrapping_mul(b));
                    assert_eq!(a.mad24(b, a), a.wrapping_mul(b).wrapping_add(a));
                    let sum = x.checked_mul(y).and_then(|product| product.checked_add(x));
                    assert_eq!(a.madsat(b, a), clamp(sum.unwrap_or(i128::MAX)), "{a} * {b} + {a}");
                }
                for offset in 0..BITS + 2 {
                    for count in 0..BITS + 2 {
                        check_bits!($type, a, offset, count);
                    }
                }
            }
        }
    )* };
}

macro_rules! check_bits {
    ($type:ident, $a:expr, $offset:expr, $count:expr) => {{
        let (a, offset, count) = ($a, $offset, $count);
        let kept = count.min($type::BITS.saturating_sub(offset));
        let mask = (1_u128 << kept) - 1;
        let field = ((a as i128 as u128) >> offset) & mask;
        let negative = $type::MIN != 0 && kept > 0 && field >> (kept - 1) == 1;
        let extended = if negative { field | !mask } else { field };
        assert_eq!(
            Integer::extract_bits(a, offset, count),
            extended as $type,
            "{a} {offset} {count}"
        );
        let inserted = 0x5a5a_1234_8765_a5a5_u64 as $type;
        let placed = (inserted as u128 & mask) << offset;
        let expected = (a as i128 as u128 & !(mask << offset)) | placed;
        assert_eq!(
            Integer::insert_bits(a, inserted, offset, count),
            expected as $type,
            "{a} {offset} {count}"
        );
    }};
}
mod integers {
    use super::*;
    integer_tests!(i8 u8 i16 u16 i32 u32 i64 u64);
}
