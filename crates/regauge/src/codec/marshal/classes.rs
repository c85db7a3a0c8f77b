//! Objects of Ruby's standard library, in the form their classes write.

use super::known;
use super::moment;
use super::types::*;
use super::writer::Writer;
use crate::Result;
use crate::model::{number, time};
use crate::policy::event::{Sink as _, Timestamp};

/// The first day of Ruby's Gregorian calendar, which every date stores as the day of its reform.
const ITALY: i32 = 2_299_161;

impl Writer<'_> {
    /// Writes a point in time in the form of `Time._dump`, with an `offset` in seconds or in UTC.
    pub(super) fn time(&mut self, at: Timestamp, offset: Option<i32>) -> Result<bool> {
        let Some(payload) = moment::bytes(at, offset.is_none()) else { return Ok(false) };
        if !self.plain {
            self.prepare()?;
        }
        let anchors = self.detach_anchors();
        self.counted.room(2)?;
        self.counted.out.push_array([IVARS, USER_DUMP]);
        self.text_symbol("Time")?;
        self.sized(0, &payload)?;
        let nanoseconds = at.nanoseconds % 1000;
        let count = 1 + i32::from(offset.is_some()) + if nanoseconds > 0 { 3 } else { 0 };
        self.counted.room(64)?;
        self.long(count);
        if let Some(offset) = offset {
            self.text_symbol("offset")?;
            self.fixnum(offset);
        }
        self.text_symbol("zone")?;
        self.counted.room(64)?;
        match offset {
            Some(_) => self.counted.out.push(NIL),
            None => {
                self.objects += 1;
                self.counted.out.push(IVARS);
                self.sized(STRING, b"UTC")?;
                self.long(1);
                self.encoding_flag(false)?;
            }
        }
        if nanoseconds > 0 {
            self.text_symbol("nano_num")?;
            self.fixnum(nanoseconds as i32);
            self.text_symbol("nano_den")?;
            self.fixnum(1);
            self.text_symbol("submicro")?;
            self.objects += 1;
            self.sized(STRING, &moment::submicro(at.nanoseconds))?;
        }
        self.register(anchors);
        self.counted.count += 1;
        Ok(true)
    }

    /// Writes a Date in the form of its `marshal_dump`: the period, the day, the time of day in
    /// seconds and nanoseconds, the offset, and the day of the reform.
    pub(super) fn date(&mut self, julian_day: i32) -> Result {
        self.prepare_object()?;
        self.counted.room(1)?;
        self.counted.out.push(USER_MARSHAL);
        self.text_symbol("Date")?;
        self.counted.room(64)?;
        self.counted.out.push_array([ARRAY, 6 + 5]);
        self.objects += 1;
        for number in [0, julian_day, 0, 0, 0] {
            self.fixnum(number);
        }
        let count = self.counted.count;
        self.f64(f64::from(ITALY))?;
        self.counted.count = count + 1;
        Ok(())
    }

    /// Writes a BigDecimal in the form of its `_dump`.
    pub(super) fn decimal(&mut self, payload: &str) -> Result {
        if !self.plain {
            self.prepare()?;
        }
        let anchors = self.detach_anchors();
        self.counted.room(1)?;
        self.counted.out.push(USER_DUMP);
        self.text_symbol("BigDecimal")?;
        self.sized(0, payload.as_bytes())?;
        self.register(anchors);
        self.counted.count += 1;
        Ok(())
    }

    /// Returns whether a decimal is a number from a source without decimals, and a double prints
    /// the same text.
    pub(super) fn is_number(&self, text: &str) -> bool {
        self.fidelity.numbers_as_decimals() && number::double_of_same_digits(text).is_some()
    }

    pub(super) fn complex(&mut self, real: f64, imaginary: f64) -> Result {
        self.prepare_object()?;
        self.counted.room(1)?;
        self.counted.out.push(USER_MARSHAL);
        self.text_symbol("Complex")?;
        self.counted.room(2)?;
        self.counted.out.push_array([ARRAY, 7]);
        self.objects += 1;
        let count = self.counted.count;
        self.f64(real)?;
        self.f64(imaginary)?;
        self.counted.count = count + 1;
        Ok(())
    }
}

/// Returns the day number of a date that Ruby counts as Gregorian.
pub(super) fn julian_day(text: &str) -> Option<i32> {
    let at: Timestamp = time::parse_rfc3339(&format!("{text}T00:00:00Z"))?;
    let day = i32::try_from(at.seconds.div_euclid(86_400) + known::UNIX_EPOCH).ok()?;
    (day > ITALY).then_some(day)
}

/// Returns the `_dump` of the BigDecimal for a JSON number, such as `18:0.123e2`, if reading it
/// gives the same text. A BigDecimal does not keep trailing zeros.
pub(super) fn decimal(text: &str) -> Option<String> {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", text),
    };
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (unsigned, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0');
    let zeros = i64::try_from(digits.len() - significant.len()).ok()?;
    let exponent = exponent.checked_add(i64::try_from(whole.len()).ok()?)?.checked_sub(zeros)?;
    let significant = significant.trim_end_matches('0');
    // Its precision, which grows in steps of nine digits; Ruby itself never writes less than 18.
    let room = significant.len().next_multiple_of(9).max(18);
    let payload = match significant {
        "" => format!("{room}:{sign}0.0"),
        _ => format!("{room}:{sign}0.{significant}e{exponent}"),
    };
    (known::decimal(payload.as_bytes()).as_deref() == Some(text)).then_some(payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_that_come_back() {
        for (text, payload) in [
            ("1.5", "18:0.15e1"),
            ("-0.001", "18:-0.1e-2"),
            ("0.0", "18:0.0"),
            ("-0.0", "18:-0.0"),
            ("1500.0", "18:0.15e4"),
            ("1.0e400", "18:0.1e401"),
            ("1234567890123456789.5", "27:0.12345678901234567895e19"),
        ] {
            assert_eq!(decimal(text).as_deref(), Some(payload), "{text}");
        }
        for text in ["1.10", "1e5", "00.5"] {
            assert_eq!(decimal(text), None, "{text}");
        }
    }

    #[test]
    fn days() {
        assert_eq!(julian_day("1970-01-01"), Some(2_440_588));
        assert_eq!(julian_day("1582-10-16"), Some(2_299_162));
        for text in ["1582-10-15", "2026-02-30", "2026-1-1", ""] {
            assert_eq!(julian_day(text), None, "{text}");
        }
    }
}
