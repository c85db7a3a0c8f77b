//! Decimals as in Arrow: an integer of 128 bits and a scale.

use regauge::{BigInt, Ext, Value, decimal128, number};

/// The maximum number of digits of a `Decimal128`.
pub const DIGITS_MAX: u8 = 38;

/// A number with all its digits: `unscaled` × 10^-`scale`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    /// The digits as an integer.
    pub unscaled: i128,
    /// The number of digits after the point.
    pub scale: i32,
}

impl Decimal {
    /// Returns the number in a value: an integer, or a decimal. `None` for other values, and for
    /// too many digits.
    pub fn of(value: &Value) -> Option<Decimal> {
        match value {
            Value::Int(v) => Some(Decimal { unscaled: i128::from(*v), scale: 0 }),
            Value::UInt(v) => Some(Decimal { unscaled: i128::from(*v), scale: 0 }),
            Value::BigInt { negative, magnitude } if magnitude.len() <= 16 => {
                Decimal::parse(&number::big_int_text(BigInt::Binary {
                    negative: *negative,
                    magnitude,
                }))
            }
            Value::Decimal(text) => Decimal::parse(text),
            Value::Ext(ext) => match ext.as_ext() {
                Ext::Decimal128(v) => Decimal::parse(&decimal128::to_text(&v)?),
                _ => None,
            },
            _ => None,
        }
    }

    /// Parses a number such as `-12.50e3` (RFC 8259 §6).
    pub fn parse(text: &str) -> Option<Decimal> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let negative = mantissa.starts_with('-');
        let digits = mantissa.trim_start_matches(['-', '+']);
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let mut unscaled: i128 = 0;
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        for digit in whole.bytes().chain(fraction.bytes()) {
            let digit = digit.is_ascii_digit().then(|| i128::from(digit - b'0'))?;
            unscaled = unscaled.checked_mul(10)?.checked_add(digit)?;
        }
        if negative {
            unscaled = -unscaled;
        }
        let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        let decimal = Decimal { unscaled, scale };
        // Appends zeros to a number without a fraction: 1e3 is 1000.
        if scale < 0 {
            decimal.scaled(0).map(|unscaled| Decimal { unscaled, scale: 0 })
        } else {
            Some(decimal)
        }
    }

    /// Returns the integer that represents this number at another scale, if there is one.
    pub fn scaled(self, scale: i32) -> Option<i128> {
        let by = scale.checked_sub(self.scale)?;
        let factor = 10i128.checked_pow(by.unsigned_abs())?;
        if by >= 0 {
            return self.unscaled.checked_mul(factor);
        }
        (self.unscaled % factor == 0).then(|| self.unscaled / factor)
    }

    /// Returns the nearest integer at another scale: half to even.
    pub fn rounded(self, scale: i32) -> Option<i128> {
        if let Some(exact) = self.scaled(scale) {
            return Some(exact);
        }
        let factor = 10i128.checked_pow(self.scale.checked_sub(scale)?.try_into().ok()?)?;
        let (quotient, rest) = (self.unscaled / factor, (self.unscaled % factor).abs());
        let up = match (rest.checked_mul(2)?).cmp(&factor) {
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => quotient % 2 != 0,
            std::cmp::Ordering::Greater => true,
        };
        Some(if up { quotient + self.unscaled.signum() } else { quotient })
    }
}
