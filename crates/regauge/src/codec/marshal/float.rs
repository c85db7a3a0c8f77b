//! Doubles as Marshal writes them: as text, in Ruby's own notation.

use crate::bytes::digits::{Quick, quick};

/// Returns the double for a text (`marshal.c` `TYPE_FLOAT`): `nan`, `inf`, `-inf`, or digits as
/// `strtod` reads them. Ruby 1.6 to 1.8 put the lowest bits of the mantissa after the digits and a
/// zero byte (`load_mantissa`). `None` for anything else.
pub(super) fn read(text: &[u8]) -> Option<f64> {
    if let Ok(text) = std::str::from_utf8(text)
        && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'))
    {
        return text.parse().ok();
    }
    match text {
        b"nan" => return Some(f64::NAN),
        b"inf" => return Some(f64::INFINITY),
        b"-inf" => return Some(f64::NEG_INFINITY),
        _ => {}
    }
    let end = text.iter().position(|byte| *byte == 0)?;
    let digits: f64 = std::str::from_utf8(&text[..end]).ok()?.parse().ok()?;
    if !digits.is_finite() {
        return None;
    }
    Some(with_mantissa(digits, &text[end + 1..]))
}

/// Returns the double whose text is the document from `start` to `end`, read as Ruby reads it.
#[inline]
pub fn read_at(document: &[u8], start: usize, end: usize) -> Option<f64> {
    let text = document.get(start..end)?;
    let sign = usize::from(text.first() == Some(&b'-'));
    // Nearly every float is also a JSON number, and the JSON reader is three times as fast.
    match quick(document, start + sign) {
        Some((number, after)) if after == end => {
            let value = match number {
                Quick::Integer(v) => v as f64,
                Quick::Double(v) => v,
            };
            Some(if sign == 1 { -value } else { value })
        }
        _ => read(text),
    }
}

/// Number of mantissa bits taken from the digits; the bits below come from the bytes.
const TRUSTED_BITS: i32 = 53 - 16;

/// Returns the double whose highest bits are those of `digits` and whose other bits are `bytes`,
/// most significant first, 32 bits at a time.
fn with_mantissa(digits: f64, bytes: &[u8]) -> f64 {
    if bytes.is_empty() || digits == 0.0 {
        return digits;
    }
    let (fraction, exponent) = split(digits.abs());
    let mut mantissa = scale(fraction, TRUSTED_BITS).trunc();
    let mut place = 0;
    for chunk in bytes.chunks(4).take(4) {
        let word = chunk.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte));
        place -= 8 * chunk.len() as i32;
        mantissa += scale(f64::from(word), place);
    }
    let value = scale(mantissa, exponent - TRUSTED_BITS);
    if digits < 0.0 { -value } else { value }
}

/// `frexp`: returns a fraction from 0.5 to 1 and the power of two that it is multiplied by.
fn split(value: f64) -> (f64, i32) {
    let bits = value.to_bits();
    let exponent = (bits >> 52 & 0x7FF) as i32;
    if exponent == 0 {
        // Subnormal: scale it into the normal range first.
        let (fraction, exponent) = split(value * 2f64.powi(64));
        return (fraction, exponent - 64);
    }
    (f64::from_bits(bits & !(0x7FF << 52) | 1022 << 52), exponent - 1022)
}

/// `ldexp`, in steps that neither overflow nor round before the last one.
fn scale(mut value: f64, mut exponent: i32) -> f64 {
    while exponent > 1000 {
        value *= 2f64.powi(1000);
        exponent -= 1000;
    }
    while exponent < -1000 {
        value *= 2f64.powi(-1000);
        exponent += 1000;
    }
    value * 2f64.powi(exponent)
}

/// The longest text that [`text`] returns: sign, 17 digits, point, three zeros or an exponent.
pub const TEXT_BYTES: usize = 32;

/// Returns the text of a double (`marshal.c` `w_float`): the shortest digits that give it, with an
/// exponent if the point would be more than three places before them or anywhere after them.
pub fn text(value: f64, buffer: &mut [u8; TEXT_BYTES]) -> &[u8] {
    if value.is_nan() {
        return b"nan";
    }
    if value.is_infinite() {
        return if value > 0.0 { b"inf" } else { b"-inf" };
    }
    let mut length = 0;
    let mut push = |bytes: &[u8]| {
        buffer[length..length + bytes.len()].copy_from_slice(bytes);
        length += bytes.len();
    };
    if value.is_sign_negative() {
        push(b"-");
    }
    if value == 0.0 {
        push(b"0");
        return &buffer[..length];
    }
    let mut shortest = zmij::Buffer::new();
    let shortest = shortest.format_finite(value.abs());
    // Most numbers with a fraction are written like this.
    if (1e-3..1e15).contains(&value.abs())
        && let [.., last] = shortest.as_bytes()
        && *last != b'0'
        && shortest.bytes().all(|byte| byte != b'e')
    {
        push(shortest.as_bytes());
        return &buffer[..length];
    }
    let mut digits = [0; 20];
    let (count, point) = digits_and_point(shortest, &mut digits);
    let digits = &digits[..count];
    let places = count as i32;
    if point < -3 || point > places {
        push(&digits[..1]);
        if count > 1 {
            push(b".");
            push(&digits[1..]);
        }
        push(b"e");
        push(itoa::Buffer::new().format(point - 1).as_bytes());
    } else if point > 0 {
        push(&digits[..point as usize]);
        if point < places {
            push(b".");
            push(&digits[point as usize..]);
        }
    } else {
        push(b"0.");
        push(&b"000"[..point.unsigned_abs() as usize]);
        push(digits);
    }
    &buffer[..length]
}

/// Returns the digits of a decimal text without leading and trailing zeros, and the position of the
/// point relative to their start: 1 for `1.5`, 0 for `0.15`, 3 for `150`.
fn digits_and_point(text: &str, digits: &mut [u8; 20]) -> (usize, i32) {
    let (mantissa, exponent) = match text.split_once('e') {
        Some((mantissa, exponent)) => (mantissa, exponent.parse().expect("a whole exponent")),
        None => (text, 0),
    };
    let (mut count, mut point, mut seen_point) = (0, exponent, false);
    for byte in mantissa.bytes() {
        match byte {
            b'.' => seen_point = true,
            b'0' if count == 0 => point -= i32::from(seen_point),
            _ => {
                point += i32::from(!seen_point);
                // A long whole number ends in zeros, which do not count as digits.
                if count < digits.len() {
                    digits[count] = byte;
                    count += 1;
                }
            }
        }
    }
    while count > 0 && digits[count - 1] == b'0' {
        count -= 1;
    }
    (count, point)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: f64, expected: &str) {
        let mut buffer = [0; TEXT_BYTES];
        let written = text(value, &mut buffer);
        assert_eq!(std::str::from_utf8(written).unwrap(), expected);
        assert_eq!(read(expected.as_bytes()).unwrap().to_bits(), value.to_bits());
    }

    #[test]
    fn as_ruby_writes_them() {
        check(0.0, "0");
        check(-0.0, "-0");
        check(1.0, "1");
        check(-1.5, "-1.5");
        check(100.0, "1e2");
        check(120.0, "1.2e2");
        check(123.0, "123");
        check(1e15, "1e15");
        check(1e16, "1e16");
        check(1e100, "1e100");
        check(123456789.0, "123456789");
        check(1.234565e15, "1.234565e15");
        check(0.1, "0.1");
        check(0.001, "0.001");
        check(0.0001, "0.0001");
        check(0.00001, "1e-5");
        check(1.5e-7, "1.5e-7");
        check(0.00012345, "0.00012345");
        check(98743561239011.0, "98743561239011");
        check(9007199254740993.0, "9007199254740992");
        check(5e-324, "5e-324");
        check(f64::MAX, "1.7976931348623157e308");
        check(f64::MIN_POSITIVE, "2.2250738585072014e-308");
        check(-1.2345678901234567e-123, "-1.2345678901234567e-123");
        check(f64::INFINITY, "inf");
        check(f64::NEG_INFINITY, "-inf");
        assert_eq!(text(f64::NAN, &mut [0; TEXT_BYTES]), b"nan");
        assert!(read(b"nan").unwrap().is_nan());
    }

    #[test]
    fn mantissas_of_old_rubies() {
        assert_eq!(read(b"1.3\0\xCC\xCD"), Some(1.3));
        assert_eq!(read(b"-5.1867345000000008e-22\0\x83_"), Some(-5.186734500000001e-22));
        assert_eq!(read(b"1.1867344999999999e+22\0\xE4@"), Some(1.1867345e22));
        assert_eq!(read(b"8323434.3420000002\0S\xF8"), Some(8323434.342));
        assert_eq!(read(b"1.0799999999999912\0\xE1 "), Some(1.0799999999999912));
        assert_eq!(read(b"1\0"), Some(1.0));
        assert_eq!(read(b"0\0\x12"), Some(0.0));
    }

    #[test]
    fn what_is_no_number() {
        for text in ["", "abc", "1.5abc", "-", ".", "e5", "Inf", "NaN", "0x10", "1 ", "inf\0a"] {
            assert_eq!(read(text.as_bytes()), None, "{text:?}");
        }
    }
}
