//! The values of number, character and string literals. Where they begin and end is the lexer's
//! business.

use super::ast::{FloatSuffix, IntSuffix};

/// The value of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer.
    Int(u64, IntSuffix),
    /// A floating-point number.
    Float(f64, FloatSuffix),
}

/// Reads a number; the error is the rest of a sentence, "`08` ...".
pub fn number(text: &str) -> Result<Number, &'static str> {
    let clean: String;
    let text = if text.contains('\'') {
        clean = text.replace('\'', "");
        &clean
    } else {
        text
    };
    if let Some(digits) = strip_prefix(text, "0x") {
        if digits.contains(['.', 'p', 'P']) {
            return hexadecimal_float(digits);
        }
        return integer(digits, 16);
    }
    if let Some(digits) = strip_prefix(text, "0b") {
        return integer(digits, 2);
    }
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_float = text.contains('.')
        || text
            .bytes()
            .zip(text.bytes().skip(1))
            .any(|(first, second)| {
                matches!(first, b'e' | b'E') && matches!(second, b'0'..=b'9' | b'+' | b'-')
            });
    if is_float {
        return decimal_float(text, digits);
    }
    let suffix = text.get(digits.len()..).unwrap_or("");
    if suffix.starts_with(['e', 'E']) {
        return Err("has an exponent without digits");
    }
    if matches!(suffix, "f" | "F" | "h" | "H" | "bf" | "BF") {
        return Err(
            "has a floating-point suffix but no decimal point; write `.0` before the suffix",
        );
    }
    if text.len() > 1 && text.starts_with('0') && digits.len() > 1 {
        return integer(text.get(1..).unwrap_or(""), 8);
    }
    integer(text, 10)
}

fn strip_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix)
        .then(|| text.get(prefix.len()..))
        .flatten()
}

fn integer(text: &str, radix: u32) -> Result<Number, &'static str> {
    let end = text
        .find(|c: char| !c.is_digit(radix.max(10)))
        .unwrap_or(text.len());
    let (digits, suffix) = text.split_at(end);
    let (unsigned, long) = match suffix {
        "" => (false, false),
        "u" | "U" => (true, false),
        "l" | "L" | "ll" | "LL" => (false, true),
        "ul" | "uL" | "Ul" | "UL" | "lu" | "lU" | "Lu" | "LU" | "ull" | "uLL" | "Ull" | "ULL"
        | "llu" | "llU" | "LLu" | "LLU" => (true, true),
        _ => return Err("has a suffix that integers do not have"),
    };
    if digits.is_empty() {
        return Err("has no digits");
    }
    if digits.contains(|c: char| !c.is_digit(radix)) {
        return Err(if radix == 8 {
            "starts with 0 and is therefore octal, but has a digit above 7"
        } else {
            "has a digit above 1 in a binary number"
        });
    }
    let value = u64::from_str_radix(digits, radix).map_err(|_| "does not fit in 64 bits")?;
    let suffix = IntSuffix {
        unsigned,
        long,
        radix_not_ten: radix != 10,
    };
    Ok(Number::Int(value, suffix))
}

fn float_suffix(suffix: &str) -> Result<FloatSuffix, &'static str> {
    match suffix {
        "" | "f" | "F" => Ok(FloatSuffix::Float),
        "h" | "H" => Ok(FloatSuffix::Half),
        "bf" | "BF" => Ok(FloatSuffix::Bfloat),
        "l" | "L" => Err("is a long double, which Metal does not have"),
        _ => Err("has a suffix that floating-point numbers do not have"),
    }
}

fn decimal_float(text: &str, digits: &str) -> Result<Number, &'static str> {
    let suffix = float_suffix(text.get(digits.len()..).unwrap_or(""))?;
    let valid = digits
        .bytes()
        .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    if !valid {
        return Err("has letters in the middle");
    }
    let value = digits
        .parse()
        .map_err(|_| "is not a well-formed floating-point number")?;
    Ok(Number::Float(value, suffix))
}

fn hexadecimal_float(text: &str) -> Result<Number, &'static str> {
    let (mantissa, exponent) = text
        .split_once(['p', 'P'])
        .ok_or("is a hexadecimal floating-point number without an exponent; write `p0` after it")?;
    let digits = exponent.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let suffix = float_suffix(exponent.get(digits.len()..).unwrap_or(""))?;
    let mut value = 0u64;
    let mut scale = 0i64;
    let mut inexact = false;
    let mut after_point = false;
    let mut any = false;
    for c in mantissa.chars() {
        if c == '.' && !after_point {
            after_point = true;
            continue;
        }
        let digit = c
            .to_digit(16)
            .ok_or("is not a well-formed floating-point number")?;
        any = true;
        if value >> 58 == 0 {
            value = value << 4 | u64::from(digit);
            scale -= if after_point { 4 } else { 0 };
        } else {
            inexact |= digit != 0;
            scale += if after_point { 0 } else { 4 };
        }
    }
    let exponent: i64 = digits
        .parse()
        .map_err(|_| "has an exponent without digits")?;
    if !any {
        return Err("has no digits");
    }
    // Digits beyond the ones kept only matter for rounding, where any of them breaks a tie.
    let value = value | u64::from(inexact);
    let mut scale = scale.saturating_add(exponent).clamp(-2000, 2000) as i32;
    let mut result = value as f64;
    // In steps, so that no power of two on the way leaves the range of f64.
    while scale != 0 {
        let step = scale.clamp(-1000, 1000);
        result *= 2f64.powi(step);
        scale -= step;
    }
    Ok(Number::Float(result, suffix))
}

/// Reads a character literal, quotes included.
pub fn character(text: &str) -> Result<u64, &'static str> {
    let inner = text
        .strip_prefix('\'')
        .and_then(|t| t.strip_suffix('\''))
        .unwrap_or("");
    let characters = unescape(inner)?;
    match characters.as_slice() {
        [one] if (*one as u32) < 256 => Ok(u64::from(*one as u32)),
        [] => Err("is empty"),
        [_] => Err("does not fit in a char"),
        _ => Err("has more than one character"),
    }
}

/// Reads a string literal, quotes included.
pub fn string(text: &str) -> Result<String, &'static str> {
    let inner = text
        .strip_prefix('"')
        .and_then(|t| t.strip_suffix('"'))
        .unwrap_or("");
    Ok(unescape(inner)?.into_iter().collect())
}

fn unescape(text: &str) -> Result<Vec<char>, &'static str> {
    let mut result = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            result.push(c);
            continue;
        }
        let escape = rest.next().ok_or("ends in the middle of an escape")?;
        let (radix, limit, start) = match escape {
            'n' => (0, 0, '\n' as u32),
            't' => (0, 0, '\t' as u32),
            'r' => (0, 0, '\r' as u32),
            'a' => (0, 0, 7),
            'b' => (0, 0, 8),
            'f' => (0, 0, 12),
            'v' => (0, 0, 11),
            '\\' | '\'' | '"' | '?' => (0, 0, escape as u32),
            'x' => (16, 8, 0),
            'u' => (16, 4, 0),
            'U' => (16, 8, 0),
            '0'..='7' => (8, 2, escape as u32 - '0' as u32),
            _ => return Err("has an escape that C++ does not have"),
        };
        let mut value = start;
        for _ in 0..limit {
            let Some(digit) = rest.peek().and_then(|c| c.to_digit(radix)) else {
                break;
            };
            value = value.wrapping_mul(radix).wrapping_add(digit);
            rest.next();
        }
        result.push(char::from_u32(value).ok_or("has an escape that is no character")?);
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(text: &str) -> (u64, bool, bool) {
        match number(text) {
            Ok(Number::Int(value, suffix)) => (value, suffix.unsigned, suffix.long),
            other => panic!("{text}: {other:?}"),
        }
    }

    fn float(text: &str) -> (f64, FloatSuffix) {
        match number(text) {
            Ok(Number::Float(value, suffix)) => (value, suffix),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn integers() {
        assert_eq!(int("0"), (0, false, false));
        assert_eq!(int("42u"), (42, true, false));
        assert_eq!(int("0xFFul"), (255, true, true));
        assert_eq!(int("017LL"), (15, false, true));
        assert_eq!(int("0b1'01"), (5, false, false));
        assert_eq!(int("0xfe"), (254, false, false));
        assert_eq!(int("18446744073709551615"), (u64::MAX, false, false));
    }

    #[test]
    fn floats() {
        assert_eq!(float("1.5h"), (1.5, FloatSuffix::Half));
        assert_eq!(float("1.bf"), (1.0, FloatSuffix::Bfloat));
        assert_eq!(float(".5"), (0.5, FloatSuffix::Float));
        assert_eq!(float("1e-3F"), (1e-3, FloatSuffix::Float));
        assert_eq!(float("0x1.8p1"), (3.0, FloatSuffix::Float));
        assert_eq!(float("0x1p-1074"), (5e-324, FloatSuffix::Float));
        assert_eq!(
            float("0x1.fffffep127f"),
            (f64::from(f32::MAX), FloatSuffix::Float)
        );
    }

    #[test]
    fn wrong_numbers() {
        for text in [
            "08",
            "1f",
            "0x",
            "0b2",
            "1.0q",
            "1e",
            "1.0e+",
            "0x1.8",
            "12abc",
            "1.2.3",
            "0xgg",
            "18446744073709551616",
            "1.0L",
            "0x.p1",
            "1e5e5",
        ] {
            assert!(number(text).is_err(), "{text}");
        }
    }

    #[test]
    fn characters_and_strings() {
        assert_eq!(character("'a'"), Ok(97));
        assert_eq!(character("'\\n'"), Ok(10));
        assert_eq!(character("'\\x41'"), Ok(65));
        assert!(character("''").is_err() && character("'ab'").is_err());
        assert_eq!(string("\"a\\\"b\\101\""), Ok("a\"bA".to_string()));
        assert!(string("\"\\q\"").is_err());
    }
}
