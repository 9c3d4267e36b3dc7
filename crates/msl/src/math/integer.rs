//! Integer functions, total: every argument gives one documented value.

/// The integer functions of the kernel language, for all its integer types.
///
/// A shift or rotation takes its count modulo the width. Division by zero gives the quotient 0 and
/// the dividend as remainder, so that `quotient * divisor + remainder` is the dividend always; the
/// least integer divided by -1 wraps to itself, with remainder 0.
///
/// Some names are also those of inherent methods, which win: call `Integer::abs(x)`, not `x.abs()`.
pub trait Integer: Copy {
    /// The quotient, towards zero.
    fn divide(self, divisor: Self) -> Self;
    /// The remainder, with the sign of the dividend.
    fn remainder(self, divisor: Self) -> Self;
    /// `self << count`.
    fn shift_left(self, count: Self) -> Self;
    /// `self >> count`, filling with the sign bit of signed integers.
    fn shift_right(self, count: Self) -> Self;
    /// The bits turned to the left.
    fn rotate(self, count: Self) -> Self;
    /// The number of zero bits above the highest set bit; the width for 0.
    fn clz(self) -> Self;
    /// The number of zero bits below the lowest set bit; the width for 0.
    fn ctz(self) -> Self;
    /// The number of set bits.
    fn popcount(self) -> Self;
    /// The bits in opposite order.
    fn reverse_bits(self) -> Self;
    /// The magnitude; the least signed integer wraps to itself.
    fn abs(self) -> Self;
    /// `|self - other|`, wrapping where the type cannot hold it.
    fn absdiff(self, other: Self) -> Self;
    /// The sum, saturating.
    fn addsat(self, other: Self) -> Self;
    /// The difference, saturating.
    fn subsat(self, other: Self) -> Self;
    /// `(self + other) >> 1` without overflow.
    fn hadd(self, other: Self) -> Self;
    /// `(self + other + 1) >> 1` without overflow.
    fn rhadd(self, other: Self) -> Self;
    /// The upper half of the product.
    fn mulhi(self, other: Self) -> Self;
    /// `mulhi(self, other) + addend`, wrapping.
    fn madhi(self, other: Self, addend: Self) -> Self;
    /// `self * other + addend`, saturating, as if computed exactly.
    fn madsat(self, other: Self, addend: Self) -> Self;
    /// The product of integers of 24 bits; for others, the lower bits of the product.
    fn mul24(self, other: Self) -> Self;
    /// `mul24(self, other) + addend`, wrapping.
    fn mad24(self, other: Self, addend: Self) -> Self;
    /// `count` bits from `offset` on, extended by their sign if signed; 0 for a `count` of 0. Bits
    /// beyond the width are left out.
    fn extract_bits(self, offset: u32, count: u32) -> Self;
    /// `self` with `count` bits from `offset` on replaced by the lowest of `inserted`. Bits beyond
    /// the width are left out.
    fn insert_bits(self, inserted: Self, offset: u32, count: u32) -> Self;
}

/// `field(offset, count)` within `width` bits.
#[inline(always)]
fn field(offset: u32, count: u32, width: u32) -> (u32, u32) {
    let offset = if offset < width { offset } else { width };
    let room = width - offset;
    (offset, if count < room { count } else { room })
}

/// Implements [`Integer`]. The quotient of types up to 32 bits is that of floats which hold every
/// value (it cannot round up to an integer it does not reach), as vector units divide only floats.
macro_rules! integer {
    ($($type:ident, $unsigned:ident, $wide:ident, $quotient:expr;)*) => { $(
        impl Integer for $type {
            #[inline(always)]
            fn divide(self, divisor: Self) -> Self {
                // Minus one, for the signed types.
                let ones = (!0) as $type;
                let wraps = $type::MIN != 0 && (self == $type::MIN) & (divisor == ones);
                let divisor_or_one = if (divisor == 0) | wraps { 1 } else { divisor };
                let quotient: fn($type, $type) -> $type = $quotient;
                let value = quotient(self, divisor_or_one);
                if divisor == 0 { 0 } else { value }
            }
            #[inline(always)]
            fn remainder(self, divisor: Self) -> Self {
                self.wrapping_sub(Integer::divide(self, divisor).wrapping_mul(divisor))
            }
            #[inline(always)]
            fn shift_left(self, count: Self) -> Self {
                self.wrapping_shl(count as u32)
            }
            #[inline(always)]
            fn shift_right(self, count: Self) -> Self {
                self.wrapping_shr(count as u32)
            }
            #[inline(always)]
            fn rotate(self, count: Self) -> Self {
                self.rotate_left((count as u32) & ($type::BITS - 1))
            }
            #[inline(always)]
            fn clz(self) -> Self {
                self.leading_zeros() as $type
            }
            #[inline(always)]
            fn ctz(self) -> Self {
                self.trailing_zeros() as $type
            }
            #[inline(always)]
            fn popcount(self) -> Self {
                self.count_ones() as $type
            }
            #[inline(always)]
            fn reverse_bits(self) -> Self {
                $type::reverse_bits(self)
            }
            #[inline(always)]
            #[allow(unused_comparisons)]
            fn abs(self) -> Self {
                if self < 0 { (0 as $type).wrapping_sub(self) } else { self }
            }
            #[inline(always)]
            fn absdiff(self, other: Self) -> Self {
                let difference = self.wrapping_sub(other);
                if self < other { (0 as $type).wrapping_sub(difference) } else { difference }
            }
            #[inline(always)]
            fn addsat(self, other: Self) -> Self {
                self.saturating_add(other)
            }
            #[inline(always)]
            fn subsat(self, other: Self) -> Self {
                self.saturating_sub(other)
            }
            #[inline(always)]
            fn hadd(self, other: Self) -> Self {
                (self & other).wrapping_add((self ^ other) >> 1)
            }
            #[inline(always)]
            fn rhadd(self, other: Self) -> Self {
                (self | other).wrapping_sub((self ^ other) >> 1)
            }
            #[inline(always)]
            fn mulhi(self, other: Self) -> Self {
                ((self as $wide * other as $wide) >> $type::BITS) as $type
            }
            #[inline(always)]
            fn madhi(self, other: Self, addend: Self) -> Self {
                self.mulhi(other).wrapping_add(addend)
            }
            #[inline(always)]
            fn madsat(self, other: Self, addend: Self) -> Self {
                const LEAST: $wide = $type::MIN as $wide;
                const GREATEST: $wide = $type::MAX as $wide;
                // The largest magnitude, (2^n - 1)^2 + 2^n - 1, fits twice the width.
                let value = self as $wide * other as $wide + addend as $wide;
                let value = if value < LEAST { LEAST } else { value };
                (if value > GREATEST { GREATEST } else { value }) as $type
            }
            #[inline(always)]
            fn mul24(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn mad24(self, other: Self, addend: Self) -> Self {
                self.wrapping_mul(other).wrapping_add(addend)
            }
            #[inline(always)]
            fn extract_bits(self, offset: u32, count: u32) -> Self {
                let (offset, count) = field(offset, count, $type::BITS);
                let raised = self.wrapping_shl($type::BITS - count - offset);
                let lowered = raised.wrapping_shr($type::BITS - count);
                if count == 0 { 0 } else { lowered }
            }
            #[inline(always)]
            fn insert_bits(self, inserted: Self, offset: u32, count: u32) -> Self {
                let (offset, count) = field(offset, count, $type::BITS);
                let ones = $unsigned::MAX.wrapping_shr($type::BITS - count);
                let mask = ones.wrapping_shl(offset) as $type;
                let mask = if count == 0 { 0 } else { mask };
                (self & !mask) | (inserted.wrapping_shl(offset) & mask)
            }
        }
    )* };
}

/// A quotient by way of a float type that holds all values of the integer type.
macro_rules! by_float {
    ($type:ident, $float:ident) => {
        // SAFETY: the divisor is not zero and the quotient lies between the operands' bounds; the
        // one that does not, of the least integer and -1, never comes here.
        |n, d| unsafe { (n as $float / d as $float).to_int_unchecked::<$type>() }
    };
}

integer! {
    i8, u8, i16, by_float!(i8, f32);
    u8, u8, u16, by_float!(u8, f32);
    i16, u16, i32, by_float!(i16, f32);
    u16, u16, u32, by_float!(u16, f32);
    i32, u32, i64, by_float!(i32, f64);
    u32, u32, u64, by_float!(u32, f64);
    i64, u64, i128, |n, d| n.wrapping_div(d);
    u64, u64, u128, |n, d| n.wrapping_div(d);
}
