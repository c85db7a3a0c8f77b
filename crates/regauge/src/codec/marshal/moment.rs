//! Ruby's `Time` in the form of its `_dump`: eight bytes or more, plus instance variables.
//!
//! The bytes are two little-endian words that hold the parts of the time in UTC (`time.c`
//! `time_mdump`):
//!
//! ```text
//! first   1 | UTC 1 | year - 1900, 16 | month - 1, 4 | day 5 | hour 5
//! second  minute 6 | second 6 | microsecond 20
//! ```
//!
//! A year outside those 16 bits has all of them set to 0 or 1, and the words are followed by the
//! distance beyond the range: a byte count, in the notation of a number, and the bytes.
//! Nanoseconds, the offset from UTC and the zone are instance variables: `nano_num`, `nano_den`,
//! `offset`, `zone`.

use super::types::{long, long_bytes};
use crate::model::time::{any_civil_from_days, days_from_civil, parse_rfc3339};
use crate::policy::event::Timestamp;

const SECONDS_PER_DAY: i64 = 86_400;

/// The years that fit in the 16 bits without further bytes.
const YEARS: std::ops::RangeInclusive<i64> = 1900..=1900 + 0xFFFF;

/// The range of seconds in which years are computed: about the age of the universe in both
/// directions.
const SECONDS: std::ops::RangeInclusive<i64> = -(1 << 58)..=1 << 58;

/// Returns the time to the microsecond, and whether it was in UTC. `None` if the bytes do not have
/// this form.
pub(super) fn read(payload: &[u8]) -> Option<(Timestamp, bool)> {
    let (words, extension) = payload.split_first_chunk::<8>()?;
    let word =
        |at: usize| u32::from_le_bytes([words[at], words[at + 1], words[at + 2], words[at + 3]]);
    let (first, second) = (word(0), word(4));
    // Before Ruby 1.2 the words were seconds and microseconds.
    if first >> 31 == 0 {
        return None;
    }
    let field = |word: u32, at: u32, bits: u32| i64::from(word >> at & ((1 << bits) - 1));
    let year = year(field(first, 14, 16), extension)?;
    let (month, day, hour) = (field(first, 10, 4), field(first, 5, 5), field(first, 0, 5));
    let (minute, second, micro) =
        (field(second, 26, 6), field(second, 20, 6), field(second, 0, 20));
    let fits = month < 12 && (1..=31).contains(&day) && hour < 24 && minute < 60;
    if !fits || second >= 60 || micro >= 1_000_000 {
        return None;
    }
    let days = days_from_civil(year, month + 1, day);
    // February 30 does not exist.
    if any_civil_from_days(days) != (year, month + 1, day) {
        return None;
    }
    let seconds = days.checked_mul(SECONDS_PER_DAY)? + hour * 3600 + minute * 60 + second;
    if !SECONDS.contains(&seconds) {
        return None;
    }
    let nanoseconds = micro as u32 * 1000;
    Some((Timestamp { seconds, nanoseconds }, first >> 30 & 1 == 1))
}

fn year(bits: i64, extension: &[u8]) -> Option<i64> {
    if extension.is_empty() {
        return Some(1900 + bits);
    }
    let (count, start) = long(extension, 0)?;
    let bytes = &extension[start..];
    if usize::try_from(count).ok()? != bytes.len() || bytes.len() > 5 {
        return None;
    }
    let beyond = bytes.iter().rev().fold(0, |beyond, byte| beyond << 8 | i64::from(*byte));
    match bits {
        0 => Some(1900 - beyond),
        0xFFFF => Some(1900 + 0xFFFF + beyond),
        _ => None,
    }
}

/// Returns the bytes of a time to the microsecond, or `None` beyond the years that are supported.
pub(super) fn bytes(at: Timestamp, utc: bool) -> Option<Vec<u8>> {
    if !SECONDS.contains(&at.seconds) {
        return None;
    }
    let (year, month, day) = any_civil_from_days(at.seconds.div_euclid(SECONDS_PER_DAY));
    let second = at.seconds.rem_euclid(SECONDS_PER_DAY) as u32;
    let inside = year.clamp(*YEARS.start(), *YEARS.end());
    let first = (1 << 31)
        | (u32::from(utc) << 30)
        | (((inside - 1900) as u32) << 14)
        | ((month as u32 - 1) << 10)
        | ((day as u32) << 5)
        | (second / 3600);
    let micro = at.nanoseconds / 1000;
    let second = ((second / 60 % 60) << 26) | ((second % 60) << 20) | micro;
    let mut bytes = [first.to_le_bytes(), second.to_le_bytes()].concat();
    if inside != year {
        let beyond = year.abs_diff(inside).to_le_bytes();
        let count = beyond.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let (number, length) = long_bytes(count as i32);
        bytes.extend_from_slice(&number[..length]);
        bytes.extend_from_slice(&beyond[..count]);
    }
    Some(bytes)
}

/// Returns the nanoseconds below a microsecond as the packed decimal digits of `submicro`, which
/// Ruby writes for its version 1.9.1.
pub(super) fn submicro(nanoseconds: u32) -> Vec<u8> {
    let rest = nanoseconds % 1000;
    let bytes = [((rest / 100) << 4 | (rest / 10 % 10)) as u8, ((rest % 10) << 4) as u8];
    bytes[..if bytes[1] == 0 { 1 } else { 2 }].to_vec()
}

/// Returns the point in time and the offset in seconds of a time in the form of
/// [`crate::Ext::OffsetDateTime`].
pub(super) fn parse(text: &str) -> Option<(Timestamp, i32)> {
    let place = text.rfind(['+', '-']).filter(|place| *place >= 19)?;
    let (local, offset) = text.split_at(place);
    let local = parse_rfc3339(&format!("{local}Z"))?;
    let (sign, digits) = offset.split_at(1);
    let mut parts = digits.split(':').map(|part| match part.as_bytes() {
        [b'0'..=b'9', b'0'..=b'9'] => part.parse::<i32>().ok(),
        _ => None,
    });
    let (hours, minutes) = (parts.next()??, parts.next()??);
    let seconds = parts.next().unwrap_or(Some(0))?;
    if parts.next().is_some() || hours >= 24 || minutes >= 60 || seconds >= 60 {
        return None;
    }
    let offset = (hours * 60 + minutes) * 60 + seconds;
    if offset == 0 && sign == "-" {
        // An unknown offset (RFC 3339 §4.3), which Ruby does not have.
        return None;
    }
    let offset = if sign == "-" { -offset } else { offset };
    let seconds = local.seconds.checked_sub(i64::from(offset))?;
    Some((Timestamp { seconds, ..local }, offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the bytes that Ruby 3.1 writes for `Time.at(seconds, nanoseconds, :nsec).utc`.
    #[track_caller]
    fn check(seconds: i64, nanoseconds: u32, payload: &[u8]) {
        let at = Timestamp { seconds, nanoseconds };
        assert_eq!(
            bytes(at, true).unwrap().escape_ascii().to_string(),
            payload.escape_ascii().to_string()
        );
        let micro = Timestamp { seconds, nanoseconds: nanoseconds / 1000 * 1000 };
        assert_eq!(read(payload), Some((micro, true)));
    }

    #[test]
    fn as_ruby_writes_them() {
        check(0, 0, b" \x80\x11\xC0\0\0\0\0");
        check(0, 123_456_789, b" \x80\x11\xC0\x40\xE2\x01\0");
        check(-5_364_662_400, 0, b" \0\0\xC0\0\0\0\0\x06d");
        check(-2_240_524_800, 0, b" \0\0\xC0\0\0\0\0\x06\x01");
        check(2_065_875_840_000, 0, b" \xC0\xFF\xFF\0\0\0\0");
        check(2_065_907_376_000, 0, b" \xC0\xFF\xFF\0\0\0\0\x06\x01");
        check(-62_324_985_600, 0, b" \0\0\xC0\0\0\0\0\x07q\x07");
        assert_eq!(submicro(123_456_789), b"\x78\x90");
        assert_eq!(submicro(120), b"\x12");
    }

    #[test]
    fn local_times_say_so() {
        let at = Timestamp { seconds: 1_577_930_645, nanoseconds: 0 };
        let payload = b"B\0\x1E\x80\0\0P\x10";
        assert_eq!(read(payload), Some((Timestamp { seconds: 1_577_930_645, ..at }, false)));
        assert_eq!(bytes(at, false).unwrap(), payload);
    }

    #[test]
    fn what_is_no_time() {
        for payload in [
            &b""[..],
            b"1234567",
            b" \x80\x11\x40\0\0\0\0",
            b"\x1F\x80\x11\xC0\0\0\0\0",
            b"\0\x80\x11\xC0\0\0\0\0",
            b" \x80\x11\xC0\xFF\xFF\xFF\xFF",
            b" \x80\x11\xC0\0\0\0\0\x06",
            b" \x80\x11\xC0\0\0\0\0\x06\x01",
        ] {
            assert_eq!(read(payload), None, "{payload:?}");
        }
    }
}
