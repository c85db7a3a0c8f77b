//! Values with a Python class: dates and times, decimals, UUIDs, complex numbers.

use super::held::Held;
use super::{Form, Open, Shape, Writer};
use crate::Result;
use crate::codec::pickle::types::*;
use crate::model::time;
use crate::policy::event::{BigInt, Ext, Timestamp};
use crate::policy::fidelity::{LossKind, OnLoss};
use crate::policy::notation;

impl Writer<'_> {
    /// Writes a value that has a Python class; returns `false` if it has none.
    pub(super) fn ext_held(&mut self, v: Ext<'_>) -> Result<bool> {
        let fold = matches!(self.stack.last(), Some(Open { shape: Shape::Typed(Held::Fold), .. }));
        match v {
            Ext::Int64(v) => {
                crate::policy::event::Sink::i64(self, v)?;
                return Ok(true);
            }
            Ext::Surrogates(v) => {
                self.begin_value(Form::Text)?;
                if self.is_python_text() {
                    return Ok(false);
                }
                self.write_text(v)?;
            }
            Ext::Date(text) => {
                let Some(four) = date(text) else { return Ok(false) };
                self.begin_value(Form::Other)?;
                self.class_of_bytes("date", &four, None)?;
            }
            Ext::Time(text) => {
                let Some(mut six) = clock(text) else { return Ok(false) };
                six[0] |= if fold { 0x80 } else { 0 };
                self.begin_value(Form::Time)?;
                self.class_of_bytes("time", &six, None)?;
            }
            Ext::DateTime(text) => {
                let Some(ten) = date_time(text, fold) else { return Ok(false) };
                self.begin_value(Form::Time)?;
                self.class_of_bytes("datetime", &ten, None)?;
            }
            Ext::OffsetDateTime(given) => {
                let Some((text, offset)) = split_offset(given) else { return Ok(false) };
                let Some(ten) = date_time(text, fold) else { return Ok(false) };
                // An offset of zero is lost: Python reads it as UTC.
                if offset == 0 && !given.ends_with('Z') {
                    if self.fidelity.policy() == OnLoss::Wrap {
                        return Ok(false);
                    }
                    self.fidelity.note(LossKind::Timestamp, format!("the time {given}"), "UTC");
                }
                self.begin_value(Form::Time)?;
                self.class_of_bytes("datetime", &ten, Some(offset))?;
            }
            Ext::Timestamp(at) => {
                let Some(ten) = point_in_time(at) else { return Ok(false) };
                self.begin_value(Form::Other)?;
                self.class_of_bytes("datetime", &ten, Some(0))?;
            }
            Ext::Duration { seconds, nanoseconds } => {
                let days = seconds.div_euclid(86_400);
                if nanoseconds % 1000 > 0 || days.abs() > 999_999_999 {
                    return Ok(false);
                }
                self.begin_value(Form::Other)?;
                self.timedelta(seconds, nanoseconds / 1000)?;
            }
            Ext::Decimal(text) => {
                self.begin_value(Form::Other)?;
                self.global("decimal", "Decimal")?;
                self.begin_arguments()?;
                self.write_text(text.as_bytes())?;
                self.call(1)?;
            }
            Ext::Uuid(bytes) => {
                self.begin_value(Form::Other)?;
                self.uuid(bytes)?;
            }
            Ext::Complex(real, imaginary)
                if self.protocol > 0
                    || !notation::has_payload(real) && !notation::has_payload(imaginary) =>
            {
                self.begin_value(Form::Other)?;
                self.builtin("complex")?;
                self.begin_arguments()?;
                self.room(64)?;
                self.write_float(real)?;
                self.write_float(imaginary)?;
                self.call(2)?;
            }
            _ => return Ok(false),
        }
        self.end_value()?;
        Ok(true)
    }

    /// Returns whether an open type interprets text.
    fn is_python_text(&self) -> bool {
        matches!(
            self.stack.last(),
            Some(Open {
                shape: Shape::Typed(
                    Held::Decimal | Held::Fraction | Held::Path(..) | Held::Global(_)
                ),
                ..
            })
        )
    }

    /// Writes a class of `datetime` that is created from bytes, and an offset from UTC in seconds
    /// if there is one.
    fn class_of_bytes(&mut self, class: &str, bytes: &[u8], offset: Option<i64>) -> Result {
        self.global("datetime", class)?;
        self.begin_arguments()?;
        self.write_bytes(bytes)?;
        let Some(offset) = offset else { return self.call(1) };
        self.global("datetime", "timezone")?;
        self.begin_arguments()?;
        self.timedelta(offset, 0)?;
        self.call(1)?;
        self.call(2)
    }

    fn timedelta(&mut self, seconds: i64, micros: u32) -> Result {
        self.global("datetime", "timedelta")?;
        self.begin_arguments()?;
        for part in [seconds.div_euclid(86_400), seconds.rem_euclid(86_400), i64::from(micros)] {
            self.room(16)?;
            self.write_int(part)?;
        }
        self.call(3)
    }

    fn uuid(&mut self, bytes: [u8; 16]) -> Result {
        if self.protocol < 2 {
            self.global("copyreg", "_reconstructor")?;
            self.begin_arguments()?;
            self.global("uuid", "UUID")?;
            self.builtin("object")?;
            self.room(8)?;
            self.write_none();
            self.call(3)?;
            self.out.push_array([MARK, DICT]);
        } else {
            self.global("uuid", "UUID")?;
            self.room(8)?;
            self.out.push_array([EMPTY_TUPLE, NEWOBJ, EMPTY_DICT]);
        }
        self.write_text(b"int")?;
        let mut magnitude = bytes.to_vec();
        magnitude.reverse();
        while magnitude.last() == Some(&0) {
            magnitude.pop();
        }
        self.room(64)?;
        match i64::try_from(u128::from_be_bytes(bytes)) {
            Ok(small) => self.write_int(small)?,
            Err(_) => {
                self.write_big_int(BigInt::Binary { negative: false, magnitude: &magnitude })?;
            }
        }
        self.room(8)?;
        self.out.push_array([SETITEM, BUILD]);
        Ok(())
    }
}

/// Parses the digits in a range.
fn number(text: &str, at: std::ops::Range<usize>) -> Option<u32> {
    let digits = text.get(at)?;
    digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// Returns `2026-11-21` as `date` stores it: the year (big-endian), month, day. Python begins with
/// the year 1.
fn date(text: &str) -> Option<[u8; 4]> {
    let is_day = text.len() == 10 && time::parse_rfc3339(&format!("{text}T00:00:00Z")).is_some();
    let year = number(text, 0..4)?;
    let [high, low] = u16::try_from(year).ok()?.to_be_bytes();
    let (month, day) = (number(text, 5..7)? as u8, number(text, 8..10)? as u8);
    (is_day && year > 0).then_some([high, low, month, day])
}

/// Returns `12:00:00.5` as `time` stores it: hour, minute, second, and microseconds in three bytes.
fn clock(text: &str) -> Option<[u8; 6]> {
    let (hour, minute, second) = (number(text, 0..2)?, number(text, 3..5)?, number(text, 6..8)?);
    let colons = text.as_bytes().get(2) == Some(&b':') && text.as_bytes().get(5) == Some(&b':');
    let fraction = match text.get(8..)? {
        "" => "",
        fraction => fraction.strip_prefix('.').filter(|digits| !digits.is_empty())?,
    };
    let (kept, lost) = fraction.split_at(fraction.len().min(6));
    if !colons || hour > 23 || minute > 59 || second > 59 || lost.bytes().any(|b| b != b'0') {
        return None;
    }
    let micros = match kept {
        "" => 0,
        kept => number(&format!("{kept:0<6}"), 0..6)?,
    };
    let [_, a, b, c] = micros.to_be_bytes();
    Some([hour as u8, minute as u8, second as u8, a, b, c])
}

fn date_time(text: &str, fold: bool) -> Option<[u8; 10]> {
    let (day, hours) = text.split_once('T')?;
    let ([a, b, month, c], [d, e, f, g, h, i]) = (date(day)?, clock(hours)?);
    let month = month | if fold { 0x80 } else { 0 };
    Some([a, b, month, c, d, e, f, g, h, i])
}

fn point_in_time(at: Timestamp) -> Option<[u8; 10]> {
    let text = time::rfc3339(at)?;
    date_time(text.strip_suffix('Z')?, false)
}

/// Returns the seconds and microseconds of a point in time in the form of [`Ext::OffsetDateTime`]; `None` if Python has
/// no such time.
pub(super) fn instant(text: &str) -> Option<(i64, u32)> {
    let (local, offset) = split_offset(text)?;
    let [century, year, month, day, hour, minute, second, high, middle, low] =
        date_time(local, false)?;
    let year = i64::from(u16::from_be_bytes([century, year]));
    let days = time::days_from_civil(year, i64::from(month), i64::from(day));
    let seconds = ((days * 24 + i64::from(hour)) * 60 + i64::from(minute)) * 60 + i64::from(second);
    Some((seconds - offset, u32::from_be_bytes([0, high, middle, low])))
}

/// Returns a date and time, and its offset from UTC in seconds.
fn split_offset(text: &str) -> Option<(&str, i64)> {
    if let Some(text) = text.strip_suffix('Z') {
        return Some((text, 0));
    }
    let at = text.rfind(['+', '-']).filter(|at| *at > 10)?;
    let (text, offset) = text.split_at(at);
    let (negative, offset) = (offset.starts_with('-'), &offset[1..]);
    let parts: Option<Vec<u32>> = offset.split(':').map(|part| number(part, 0..2)).collect();
    let seconds = match (parts?.as_slice(), offset.len()) {
        (&[hours, minutes], 5) if hours < 24 && minutes < 60 => hours * 3600 + minutes * 60,
        (&[hours, minutes, seconds], 8) if hours < 24 && minutes < 60 && seconds < 60 => {
            hours * 3600 + minutes * 60 + seconds
        }
        _ => return None,
    };
    let seconds = i64::from(seconds);
    Some((text, if negative { -seconds } else { seconds }))
}
