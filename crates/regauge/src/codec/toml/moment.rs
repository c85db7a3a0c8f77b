//! Dates and times (TOML 1.1, "Offset Date-Time" to "Local Time"; RFC 3339 §5.6).
//!
//! The model has one spelling of each: `T` between date and time, upper case, with seconds, and a
//! fraction without zeros at its end. What TOML spells otherwise says the same.

use std::borrow::Cow;

use crate::model::time::parse_rfc3339;
use crate::policy::event::{Ext, Timestamp};

/// A date, a time, or both.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Moment<'i> {
    /// A date and time in UTC.
    Timestamp(Timestamp),
    /// A date and time with another offset, or one that no [`Timestamp`] holds: a leap second, more
    /// than nine digits of a second.
    Offset(Cow<'i, str>),
    Local(Cow<'i, str>),
    Date(Cow<'i, str>),
    Time(Cow<'i, str>),
}

/// What is wrong, and at which byte of the text.
#[derive(Debug, PartialEq)]
pub(super) struct Fault {
    pub at: usize,
    pub expected: &'static str,
}

impl Moment<'_> {
    pub fn as_ext(&self) -> Ext<'_> {
        match self {
            Moment::Timestamp(at) => Ext::Timestamp(*at),
            Moment::Offset(text) => Ext::OffsetDateTime(text),
            Moment::Local(text) => Ext::DateTime(text),
            Moment::Date(text) => Ext::Date(text),
            Moment::Time(text) => Ext::Time(text),
        }
    }
}

/// The text that TOML has for a date or time, if reading it gives the very same value.
pub(super) fn spelled(v: Ext<'_>) -> Option<Cow<'_, str>> {
    let text = match v {
        Ext::Timestamp(at) => return crate::model::time::rfc3339(at).map(Cow::Owned),
        Ext::OffsetDateTime(text) | Ext::DateTime(text) | Ext::Date(text) | Ext::Time(text) => text,
        _ => return None,
    };
    parse(text).ok().filter(|moment| moment.as_ext() == v).map(|_| Cow::Borrowed(text))
}

/// The date or time that a text of TOML says.
pub(super) fn parse(text: &str) -> Result<Moment<'_>, Fault> {
    let mut cursor = Cursor { bytes: text.as_bytes(), at: 0 };
    if cursor.bytes.get(2) == Some(&b':') {
        let (spelling, _) = cursor.time()?;
        cursor.end("the end of the time")?;
        return Ok(Moment::Time(canonical(text, "", spelling, "")));
    }
    cursor.date()?;
    let date = &text[..10];
    if cursor.at == text.len() {
        return Ok(Moment::Date(Cow::Borrowed(date)));
    }
    cursor.one_of(b"Tt ", "`T` or a space between date and time")?;
    let (spelling, is_leap) = cursor.time()?;
    let offset_at = cursor.at;
    if offset_at == text.len() {
        return Ok(Moment::Local(canonical(text, date, spelling, "")));
    }
    let offset = match cursor.one_of(b"Zz+-", "`Z` or an offset such as `+01:00`")? {
        b'Z' | b'z' => "Z",
        _ => {
            cursor.number(2, 23, "an hour from 00 to 23")?;
            cursor.one_of(b":", "`:`")?;
            cursor.number(2, 59, "a minute from 00 to 59")?;
            &text[offset_at..cursor.at]
        }
    };
    cursor.end("the end of the date and time")?;
    let text = canonical(text, date, spelling, offset);
    let fits = offset == "Z" && !is_leap;
    Ok(match parse_rfc3339(&text).filter(|_| fits) {
        Some(at) => Moment::Timestamp(at),
        None => Moment::Offset(text),
    })
}

/// How a time is spelled, by the bytes of its text.
#[derive(Clone, Copy)]
struct Spelling {
    start: usize,
    has_seconds: bool,
    /// The end without zeros at the end of the fraction.
    end: usize,
}

/// Date, time and offset in the one spelling of the model; `text` itself if it is spelled so.
fn canonical<'t>(text: &'t str, date: &str, time: Spelling, offset: &str) -> Cow<'t, str> {
    let seconds = if time.has_seconds { "" } else { ":00" };
    let between = if date.is_empty() { "" } else { "T" };
    let built = format!("{date}{between}{}{seconds}{offset}", &text[time.start..time.end]);
    if built == text { Cow::Borrowed(text) } else { Cow::Owned(built) }
}

struct Cursor<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl Cursor<'_> {
    fn fault<T>(&self, at: usize, expected: &'static str) -> Result<T, Fault> {
        Err(Fault { at, expected })
    }

    fn one_of(&mut self, these: &[u8], expected: &'static str) -> Result<u8, Fault> {
        match self.bytes.get(self.at) {
            Some(byte) if these.contains(byte) => {
                self.at += 1;
                Ok(*byte)
            }
            _ => self.fault(self.at, expected),
        }
    }

    fn end(&self, expected: &'static str) -> Result<(), Fault> {
        if self.at == self.bytes.len() { Ok(()) } else { self.fault(self.at, expected) }
    }

    /// So many digits, which are a number up to `most`.
    fn number(&mut self, digits: usize, most: u32, expected: &'static str) -> Result<u32, Fault> {
        let start = self.at;
        let mut number = 0;
        for _ in 0..digits {
            match self.bytes.get(self.at) {
                Some(digit @ b'0'..=b'9') => number = number * 10 + u32::from(digit - b'0'),
                _ => return self.fault(self.at, expected),
            }
            self.at += 1;
        }
        if number <= most { Ok(number) } else { self.fault(start, expected) }
    }

    fn date(&mut self) -> Result<(), Fault> {
        let year = self.number(4, 9999, "a year of four digits")?;
        self.one_of(b"-", "`-`")?;
        let month_at = self.at;
        let month = self.number(2, 12, "a month from 01 to 12")?;
        if month == 0 {
            return self.fault(month_at, "a month from 01 to 12");
        }
        self.one_of(b"-", "`-`")?;
        let is_leap =
            year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
        let (days, expected) = match month {
            2 if is_leap => (29, "a day from 01 to 29"),
            2 => (28, "a day from 01 to 28"),
            4 | 6 | 9 | 11 => (30, "a day from 01 to 30"),
            _ => (31, "a day from 01 to 31"),
        };
        let day_at = self.at;
        match self.number(2, days, expected)? {
            0 => self.fault(day_at, expected),
            _ => Ok(()),
        }
    }

    /// A time, and whether its second is a leap second.
    fn time(&mut self) -> Result<(Spelling, bool), Fault> {
        let start = self.at;
        self.number(2, 23, "an hour from 00 to 23")?;
        self.one_of(b":", "`:`")?;
        self.number(2, 59, "a minute from 00 to 59")?;
        if self.bytes.get(self.at) != Some(&b':') {
            return Ok((Spelling { start, has_seconds: false, end: self.at }, false));
        }
        self.at += 1;
        let second = self.number(2, 60, "a second from 00 to 60")?;
        let mut end = self.at;
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            let fraction = self.at;
            while let Some(digit @ b'0'..=b'9') = self.bytes.get(self.at) {
                self.at += 1;
                if *digit != b'0' {
                    end = self.at;
                }
            }
            if self.at == fraction {
                return self.fault(self.at, "the digits of a fraction");
            }
        }
        Ok((Spelling { start, has_seconds: true, end }, second == 60))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Ext<'_>) {
        assert_eq!(parse(text).unwrap().as_ext(), expected);
    }

    #[test]
    fn spellings() {
        let second = Timestamp { seconds: 0, nanoseconds: 0 };
        check("1970-01-01T00:00:00Z", Ext::Timestamp(second));
        check("1970-01-01 00:00z", Ext::Timestamp(second));
        check("1970-01-01t00:00:00.000Z", Ext::Timestamp(second));
        let half = Timestamp { seconds: 0, nanoseconds: 500_000_000 };
        check("1970-01-01 00:00:00.50Z", Ext::Timestamp(half));
        check("1970-01-01 00:00+02:00", Ext::OffsetDateTime("1970-01-01T00:00:00+02:00"));
        check("1970-01-01T00:00:00.10-00:00", Ext::OffsetDateTime("1970-01-01T00:00:00.1-00:00"));
        check("2016-12-31T23:59:60Z", Ext::OffsetDateTime("2016-12-31T23:59:60Z"));
        check(
            "1970-01-01T00:00:00.0000000001Z",
            Ext::OffsetDateTime("1970-01-01T00:00:00.0000000001Z"),
        );
        check("1970-01-01 07:32", Ext::DateTime("1970-01-01T07:32:00"));
        check("1970-01-01t07:32:01.0", Ext::DateTime("1970-01-01T07:32:01"));
        check("1970-01-01T07:32:01", Ext::DateTime("1970-01-01T07:32:01"));
        check("2000-02-29", Ext::Date("2000-02-29"));
        check("0000-02-29", Ext::Date("0000-02-29"));
        check("07:32", Ext::Time("07:32:00"));
        check("07:32:00.120", Ext::Time("07:32:00.12"));
    }

    #[test]
    fn faults() {
        for (text, at, expected) in [
            ("1970-13-01", 5, "a month from 01 to 12"),
            ("1970-00-01", 5, "a month from 01 to 12"),
            ("1900-02-29", 8, "a day from 01 to 28"),
            ("1970-01-00", 8, "a day from 01 to 31"),
            ("1970-1-01", 6, "a month from 01 to 12"),
            ("1970-01-01x", 10, "`T` or a space between date and time"),
            ("1970-01-01T", 11, "an hour from 00 to 23"),
            ("1970-01-01T24:00:00Z", 11, "an hour from 00 to 23"),
            ("1970-01-01T00:60:00Z", 14, "a minute from 00 to 59"),
            ("1970-01-01T00:00:61Z", 17, "a second from 00 to 60"),
            ("1970-01-01T00:00:00.Z", 20, "the digits of a fraction"),
            ("1970-01-01T00:00:00Zz", 20, "the end of the date and time"),
            ("1970-01-01T00:00:00+24:00", 20, "an hour from 00 to 23"),
            ("1970-01-01T00:00:00+0100", 22, "`:`"),
            ("00:00.5", 5, "the end of the time"),
            ("", 0, "a year of four digits"),
        ] {
            assert_eq!(parse(text), Err(Fault { at, expected }), "{text}");
        }
    }

    #[test]
    fn only_what_reads_back_is_spelled() {
        for v in [
            Ext::Date("2026-11-21"),
            Ext::Time("12:00:00.5"),
            Ext::DateTime("2026-11-21T12:00:00"),
            Ext::OffsetDateTime("2026-11-21T12:00:00+02:00"),
        ] {
            assert!(spelled(v).is_some(), "{v:?}");
        }
        for v in [
            Ext::Date("12026-11-21"),
            Ext::Time("12:00"),
            Ext::Time("12:00:00.50"),
            Ext::DateTime("2026-11-21"),
            Ext::OffsetDateTime("2026-11-21T12:00:00Z"),
            Ext::OffsetDateTime("2026-11-21T12:00:00+02:00:30"),
            Ext::Timestamp(Timestamp { seconds: i64::MAX, nanoseconds: 0 }),
        ] {
            assert!(spelled(v).is_none(), "{v:?}");
        }
    }
}
