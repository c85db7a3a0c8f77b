//! Doubles in the style of other libraries.

/// How doubles are written. All styles write the shortest digits that read back as the same double,
/// always with a fraction or an exponent; they differ in when they use an exponent, and in its
/// form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FloatStyle {
    /// `1.0`, `0.1`, `1e+16`, `-0.0`, `5e-324`, as serde_json does.
    #[default]
    Shortest,
    /// Like Python's `repr`: `1e-05`, `1e+16`, `5e-324`.
    Python,
    /// Like Ruby's `Float#to_s`: `1.0e-05`, `1.0e+16`, `5.0e-324`.
    Ruby,
}

/// Exponents of ten for which Python (`pystrtod.c`) writes a number without one.
const PYTHON_PLAIN: std::ops::Range<i32> = -4..16;
/// The same for Ruby (`flo_to_s`, `numeric.c`).
const RUBY_PLAIN: std::ops::Range<i32> = -4..15;

impl FloatStyle {
    /// Returns the text of a finite double in this style.
    #[must_use]
    pub fn text(self, v: f64) -> String {
        let mut buffer = zmij::Buffer::new();
        let shortest = buffer.format_finite(v);
        let plain = match self {
            FloatStyle::Shortest => return shortest.to_owned(),
            FloatStyle::Python => PYTHON_PLAIN,
            FloatStyle::Ruby => RUBY_PLAIN,
        };
        let (sign, digits, exponent) = scientific(shortest);
        let (head, tail) = digits.split_at(1);
        if !plain.contains(&exponent) {
            let point = match (tail, self) {
                ("", FloatStyle::Ruby) => ".0",
                ("", _) => "",
                _ => ".",
            };
            let (side, size) = (if exponent < 0 { '-' } else { '+' }, exponent.abs());
            return format!("{sign}{head}{point}{tail}e{side}{size:02}");
        }
        match usize::try_from(exponent) {
            // Leading zeros: 0.00123.
            Err(_) => {
                let zeros = "0".repeat(exponent.unsigned_abs() as usize - 1);
                format!("{sign}0.{zeros}{digits}")
            }
            Ok(whole) if digits.len() <= whole + 1 => {
                let zeros = "0".repeat(whole + 1 - digits.len());
                format!("{sign}{digits}{zeros}.0")
            }
            Ok(whole) => format!("{sign}{}.{}", &digits[..=whole], &digits[whole + 1..]),
        }
    }
}

/// Splits a number such as `-12.5`, `0.001` or `1.25e+16` into its sign, its digits without zeros
/// around them, and the exponent of the first digit.
///
/// `{:e}` has other digits: of two equally near it takes the larger, Python and Ruby the even one.
fn scientific(text: &str) -> (&str, String, i32) {
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text),
    };
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = [whole, fraction].concat();
    let significant = all.trim_start_matches('0');
    let zeros = all.len() - significant.len();
    let digits = significant.trim_end_matches('0');
    if digits.is_empty() {
        return (sign, "0".to_owned(), 0);
    }
    (sign, digits.to_owned(), exponent + whole.len() as i32 - 1 - zeros as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values printed by CPython 3.11 and Ruby 3.1.
    #[test]
    fn styles() {
        for (v, python, ruby) in [
            (0.0, "0.0", "0.0"),
            (-0.0, "-0.0", "-0.0"),
            (1.0, "1.0", "1.0"),
            (-1.5, "-1.5", "-1.5"),
            (100.0, "100.0", "100.0"),
            (123_456.789, "123456.789", "123456.789"),
            (0.1, "0.1", "0.1"),
            (0.0001, "0.0001", "0.0001"),
            (0.00012, "0.00012", "0.00012"),
            (0.00001, "1e-05", "1.0e-05"),
            (0.0000125, "1.25e-05", "1.25e-05"),
            (1e14, "100000000000000.0", "100000000000000.0"),
            (123_456_789_012_345.6, "123456789012345.6", "123456789012345.6"),
            // Equally near to the double are `.813` and `9.3`: the even digit is taken.
            (35_127_583_244_683.0 + 0.8125, "35127583244683.812", "35127583244683.812"),
            (731_647_168_251_009.0 + 0.25, "731647168251009.2", "731647168251009.2"),
            (1e15, "1000000000000000.0", "1.0e+15"),
            (9_007_199_254_740_993.0, "9007199254740992.0", "9.007199254740992e+15"),
            (1e16, "1e+16", "1.0e+16"),
            (1.25e16, "1.25e+16", "1.25e+16"),
            (-1e22, "-1e+22", "-1.0e+22"),
            (1e100, "1e+100", "1.0e+100"),
            (5e-324, "5e-324", "5.0e-324"),
            (f64::MAX, "1.7976931348623157e+308", "1.7976931348623157e+308"),
        ] {
            assert_eq!(FloatStyle::Python.text(v), python);
            assert_eq!(FloatStyle::Ruby.text(v), ruby);
            for style in [FloatStyle::Shortest, FloatStyle::Python, FloatStyle::Ruby] {
                let back: f64 = style.text(v).parse().unwrap();
                assert_eq!(back.to_bits(), v.to_bits(), "{v} {style:?}");
            }
        }
    }
}
