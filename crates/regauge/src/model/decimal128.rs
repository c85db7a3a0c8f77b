//! Decimal numbers of 128 bits (IEEE 754-2008, binary integer encoding) and their text, as defined
//! by MongoDB's specification of Decimal128.
//!
//! The highest bit is the sign, followed by 14 bits of exponent, biased by 6176, and 113 bits of
//! coefficient. Of the remaining encodings, some mean infinity and NaN; the others, with
//! coefficients of more than 34 digits, mean zero.

/// The highest coefficient: 34 digits.
const COEFFICIENT_MAX: u128 = 10u128.pow(34) - 1;
/// The most digits of a coefficient.
const DIGITS: usize = 34;
/// The lowest exponent, which is encoded as 0.
const EXPONENT_MIN: i64 = -6176;
/// The highest exponent.
const EXPONENT_MAX: i64 = 6111;

const INFINITY: u128 = 0x78 << 120;
const NAN: u128 = 0x7C << 120;
const SIGN: u128 = 1 << 127;

/// Returns the text of a number as MongoDB's specification of Decimal128 writes it; `None` for an
/// encoding that the text would not restore: a NaN with a sign or a payload, or a coefficient that
/// is too large.
pub fn to_text(bytes: &[u8; 16]) -> Option<String> {
    let text = nearest_text(bytes);
    (from_text(&text).as_ref() == Some(bytes)).then_some(text)
}

/// Returns the text of the number, whether or not the text restores the same encoding.
pub fn nearest_text(bytes: &[u8; 16]) -> String {
    let bits = u128::from_le_bytes(*bytes);
    let sign = if bits & SIGN == 0 { "" } else { "-" };
    match bits >> 122 & 0x1F {
        0x1F => return "NaN".to_owned(),
        0x1E => return format!("{sign}Infinity"),
        _ => {}
    }
    // If both bits after the sign are set, the coefficient would begin with more bits than 34
    // digits need: it counts as zero.
    let (exponent, coefficient) = match bits >> 125 & 3 {
        3 => (bits >> 111, 0),
        _ => (bits >> 113, bits & ((1 << 113) - 1)),
    };
    let exponent = (exponent & 0x3FFF) as i64 + EXPONENT_MIN;
    let coefficient = if coefficient > COEFFICIENT_MAX { 0 } else { coefficient };
    let digits = coefficient.to_string();
    let scientific = exponent + digits.len() as i64 - 1;
    if exponent > 0 || scientific < -6 {
        let (first, others) = digits.split_at(1);
        let point = if others.is_empty() { "" } else { "." };
        return format!("{sign}{first}{point}{others}E{scientific:+}");
    }
    let places = exponent.unsigned_abs() as usize;
    if places == 0 {
        return format!("{sign}{digits}");
    }
    let digits = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    format!("{sign}{whole}.{fraction}")
}

/// Returns the encoding of a decimal text, least significant byte first; `None` if it is not a
/// number, or needs more digits or a wider exponent than the encoding has.
///
/// ```
/// use regauge::model::decimal128;
/// let bytes = decimal128::from_text("-1.10E+3").unwrap();
/// assert_eq!(decimal128::to_text(&bytes).unwrap(), "-1.10E+3");
/// assert_eq!(decimal128::from_text("1.1E+6145"), None);
/// ```
pub fn from_text(text: &str) -> Option<[u8; 16]> {
    let (sign, unsigned) = match text.strip_prefix(['-', '+']) {
        Some(unsigned) => (if text.starts_with('-') { SIGN } else { 0 }, unsigned),
        None => (0, text),
    };
    if unsigned.eq_ignore_ascii_case("infinity") || unsigned.eq_ignore_ascii_case("inf") {
        return Some((sign | INFINITY).to_le_bytes());
    }
    if unsigned.eq_ignore_ascii_case("nan") {
        return Some(NAN.to_le_bytes());
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)?),
        None => (unsigned, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let places = i64::try_from(fraction.len()).ok()?;
    let digits = format!("{whole}{fraction}");
    let (exponent, coefficient) =
        fit(exponent.saturating_sub(places), digits.trim_start_matches('0'))?;
    let biased = (exponent - EXPONENT_MIN) as u128;
    Some((sign | biased << 113 | coefficient).to_le_bytes())
}

/// Parses an exponent's digits. An exponent outside the range of all numbers is clamped just past
/// it.
fn parse_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let far = if text.starts_with('-') { i64::MIN / 2 } else { i64::MAX / 2 };
    Some(text.parse().unwrap_or(far).clamp(i64::MIN / 2, i64::MAX / 2))
}

/// Returns exponent and coefficient within their bounds, if the same value can be expressed so.
fn fit(mut exponent: i64, digits: &str) -> Option<(i64, u128)> {
    if digits.is_empty() {
        return Some((exponent.clamp(EXPONENT_MIN, EXPONENT_MAX), 0));
    }
    // Trailing zeros may be dropped if there are too many digits, or if the exponent is too low.
    let over = (digits.len().saturating_sub(DIGITS) as i64).max(EXPONENT_MIN - exponent).max(0);
    let kept = digits.len().checked_sub(usize::try_from(over).ok()?)?;
    let (digits, dropped) = digits.split_at(kept);
    if kept == 0 || dropped.bytes().any(|digit| digit != b'0') {
        return None;
    }
    exponent += over;
    // And zeros are appended if the exponent is too high.
    let under = (exponent - EXPONENT_MAX).max(0);
    if digits.len() as i64 + under > DIGITS as i64 {
        return None;
    }
    let coefficient = digits.parse::<u128>().ok()? * 10u128.pow(under as u32);
    Some((exponent - under, coefficient))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8; 16]) -> String {
        crate::model::text::hex(bytes)
    }

    /// Checks that the text encodes to these bytes, and that the bytes give that text.
    #[track_caller]
    fn check(text: &str, bytes: &str) {
        let read = from_text(text).expect(text);
        assert_eq!(hex(&read), bytes);
        assert_eq!(to_text(&read).as_deref(), Some(text));
    }

    #[test]
    fn there_and_back() {
        check("NaN", "0000000000000000000000000000007c");
        check("Infinity", "00000000000000000000000000000078");
        check("-Infinity", "000000000000000000000000000000f8");
        check("0", "00000000000000000000000000004030");
        check("-0.0", "00000000000000000000000000003eb0");
        check("1", "01000000000000000000000000004030");
        check("0.1", "01000000000000000000000000003e30");
        check("0.001234", "d2040000000000000000000000003430");
        check("0E-6176", "00000000000000000000000000000000");
        check("1E-6176", "01000000000000000000000000000000");
        check("9.999999999999999999999999999999999E+6144", "ffffffff638e8d37c087adbe09edff5f");
        check("1.000000000000000000000000000000000E+6144", "000000000a5bc138938d44c64d31fe5f");
        check("-1.00E-8", "64000000000000000000000000002cb0");
    }

    /// Checks that the text means the same number as another.
    #[track_caller]
    fn reads(text: &str, canonical: &str) {
        assert_eq!(from_text(text), from_text(canonical));
        assert_eq!(to_text(&from_text(text).expect(text)).as_deref(), Some(canonical));
    }

    #[test]
    fn other_spellings() {
        reads("+1", "1");
        reads(".5", "0.5");
        reads("5.", "5");
        reads("1e3", "1E+3");
        reads("-inf", "-Infinity");
        reads("nAn", "NaN");
        reads("-NaN", "NaN");
        reads("000.10", "0.10");
        reads("1E+6144", "1.000000000000000000000000000000000E+6144");
        reads("10E-6177", "1E-6176");
        reads("0E+99999999999999999999", "0E+6111");
        reads("0E-99999999999999999999", "0E-6176");
        reads(&("1".to_owned() + &"0".repeat(40)), "1.000000000000000000000000000000000E+40");
    }

    #[test]
    fn what_is_none() {
        for text in [
            "",
            "+",
            "-",
            ".",
            "e",
            "1e",
            "1e+",
            "1..2",
            "1.2.3",
            "--1",
            " 1",
            "1 ",
            "1_0",
            "0x1",
            "infinit",
            "nans",
            "E5",
            ".e1",
            "1E+6145",
            "1E-6177",
            "12345678901234567890123456789012345",
            "1E99999999999999999999",
            "1E-99999999999999999999",
            "²",
        ] {
            assert_eq!(from_text(text), None, "{text}");
        }
    }

    #[test]
    fn encodings_that_no_text_gives_back() {
        let number =
            |text: &str| -> [u8; 16] { u128::from_str_radix(text, 16).unwrap().to_le_bytes() };
        for (bits, nearest) in [
            ("7e000000000000000000000000000000", "NaN"),
            ("fc000000000000000000000000000000", "NaN"),
            ("7c000000000000000000000000000012", "NaN"),
            ("78000000000000000000000000000012", "Infinity"),
            ("3041ed09bead87c0378d8e6400000000", "0"),
            ("6c100000000000000000000000000000", "0"),
            ("ec100000000000000000000000000000", "-0"),
        ] {
            let bytes = number(bits);
            assert_eq!(to_text(&bytes), None, "{bits}");
            assert_eq!(nearest_text(&bytes), nearest, "{bits}");
        }
    }

    #[test]
    fn every_exponent() {
        for exponent in EXPONENT_MIN..=EXPONENT_MAX {
            for coefficient in [0, 1, 9, 10, 1234567, COEFFICIENT_MAX] {
                let bits = ((exponent - EXPONENT_MIN) as u128) << 113 | coefficient;
                for bits in [bits, bits | SIGN] {
                    let bytes = bits.to_le_bytes();
                    let text = to_text(&bytes).expect("canonical");
                    assert_eq!(from_text(&text), Some(bytes), "{text}");
                }
            }
        }
    }
}
