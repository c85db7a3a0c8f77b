//! Objects of Ruby's standard library that are read as the values they represent.
//!
//! | Ruby | value |
//! |---|---|
//! | Time | a point in time in UTC, or a time with its offset; losing the zone's letters is noted |
//! | Date from 1582 to 9999 | a date |
//! | DateTime of the same years | a time with its offset |
//! | BigDecimal | a decimal |
//! | Complex of two floats | a complex number |
//! | Set | `set` |
//!
//! An object that differs in any way from what Ruby writes (a Time with its own instance variables,
//! a Date with another reform) stays an object. So does every object if the output is Marshal,
//! which must come out as the same bytes.

use super::read::Scanned;
use super::types::*;
use super::walk::{Step, Walk};
use super::{float, moment, skip};
use crate::Result;
use crate::model::time::rfc3339;
use crate::policy::event::{Ext, Sink, Timestamp};
use crate::policy::fidelity::LossKind;

/// Reads the current object, written by `_dump`. Returns whether it was recognised.
pub(super) fn dump<S: Sink + ?Sized>(
    walk: &mut Walk<'_>,
    ivars: bool,
    sink: &mut S,
) -> Result<bool> {
    if walk.options.keeps_objects() {
        return Ok(false);
    }
    let (name, at) = walk.scanned.symbol(walk.at + usize::from(ivars) + 1);
    let (payload, end) = skip::bytes(walk.document, at);
    match name.raw {
        b"Time" => {
            let Some((moment, end)) = time(walk.scanned, payload, end, ivars) else {
                return Ok(false);
            };
            if let Some(zone) = &moment.zone {
                let found = format!("the zone {zone} of a time");
                walk.note(sink, LossKind::Timestamp, found, "its offset from UTC");
            }
            match moment.text() {
                None => sink.ext(Ext::Timestamp(moment.at))?,
                Some(text) => sink.ext(Ext::OffsetDateTime(&text))?,
            }
            walk.at = end;
            Ok(true)
        }
        b"BigDecimal" if !ivars => match decimal(payload) {
            Some(text) => {
                sink.ext(Ext::Decimal(&text))?;
                walk.at = end;
                Ok(true)
            }
            None => Ok(false),
        },
        _ => Ok(false),
    }
}

/// Reads the current object, written by `marshal_dump`. Returns whether it was recognised.
pub(super) fn marshal_dump<S: Sink + ?Sized>(walk: &mut Walk<'_>, sink: &mut S) -> Result<bool> {
    if walk.options.keeps_objects() {
        return Ok(false);
    }
    let (name, at) = walk.scanned.symbol(walk.at + 1);
    let parts = Parts { scanned: walk.scanned, at };
    let end = match name.raw {
        // A DateTime would come back as a Time.
        b"DateTime" if walk.options.date_times => return Ok(false),
        b"Date" | b"DateTime" => {
            let Some((date, end)) = parts.date() else { return Ok(false) };
            if walk.has_anchor_inside(walk.at, end) {
                return Ok(false);
            }
            let Some(text) = date.text(name.raw == b"DateTime") else { return Ok(false) };
            match name.raw {
                b"Date" => sink.ext(Ext::Date(&text))?,
                _ => sink.ext(Ext::OffsetDateTime(&text))?,
            }
            end
        }
        b"Complex" => {
            let Some((real, imaginary, end)) = parts.complex() else { return Ok(false) };
            if walk.has_anchor_inside(walk.at, end) {
                return Ok(false);
            }
            sink.ext(Ext::Complex(real, imaginary))?;
            end
        }
        _ => return Ok(false),
    };
    walk.at = end;
    Ok(true)
}

/// Reads the current object with fields. Returns whether it was recognised and its elements follow.
pub(super) fn object<S: Sink + ?Sized>(
    walk: &mut Walk<'_>,
    start: usize,
    sink: &mut S,
) -> Result<bool> {
    if walk.options.keeps_objects() || walk.document[walk.at] != OBJECT {
        return Ok(false);
    }
    let (name, at) = walk.scanned.symbol(walk.at + 1);
    if !matches!(name.raw, b"Set" | b"SortedSet") || !walk.is_patient() {
        return Ok(false);
    }
    let Some((count, at, end)) = set(walk.scanned, at) else { return Ok(false) };
    // The hash inside is never emitted, so no alias may name it.
    walk.passed_over(end - at);
    if walk.has_anchor_inside(walk.at, at) {
        return Ok(false);
    }
    let name = std::str::from_utf8(name.raw).expect("compared above");
    if walk.options.data {
        walk.note(sink, LossKind::Type, format!("a {name}"), "an array");
        sink.begin_array(Some(count))?;
        walk.enter(Step::Elements(count), start)?;
    } else {
        walk.begin_typed(sink, "set", name, start)?;
        sink.begin_array(Some(count))?;
        walk.enter(Step::Elements(count), 0)?;
    }
    walk.at = at;
    Ok(true)
}

/// Finds the elements of a set: the field `@hash`, a hash with the default false and only true
/// values. Returns their count, the place of the first, and the place after the last.
fn set(scanned: Scanned<'_>, at: usize) -> Option<(u64, usize, usize)> {
    let document = scanned.document;
    let (fields, at) = skip::number(document, at);
    // An object without fields is followed by nothing, perhaps not even a byte.
    if fields != 1 {
        return None;
    }
    let (field, at) = scanned.symbol(at);
    if field.raw != b"@hash" || document[at] != HASH_DEFAULT {
        return None;
    }
    let (count, first) = skip::number(document, at + 1);
    let mut at = first;
    for _ in 0..count {
        at = skip::value(document, at);
        if document[at] != TRUE {
            return None;
        }
        at += 1;
    }
    (document[at] == FALSE).then_some((count, first, at))
}

/// A time, and what Ruby knows about its zone.
struct Moment {
    at: Timestamp,
    /// Seconds; `None` in UTC.
    offset: Option<i32>,
    /// The zone abbreviation, unless it is UTC's own.
    zone: Option<String>,
}

impl Moment {
    /// Returns the time with its offset in RFC 3339 form; `None` in UTC.
    fn text(&self) -> Option<String> {
        offset_text(self.at, self.offset?)
    }
}

fn offset_text(at: Timestamp, offset: i32) -> Option<String> {
    let seconds = at.seconds.checked_add(i64::from(offset))?;
    let mut text = rfc3339(Timestamp { seconds, ..at })?;
    text.pop();
    let sign = if offset < 0 { '-' } else { '+' };
    let (minutes, seconds) = (offset.unsigned_abs() / 60, offset.unsigned_abs() % 60);
    text.push_str(&format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60));
    if seconds > 0 {
        text.push_str(&format!(":{seconds:02}"));
    }
    Some(text)
}

/// Reads a Time with this payload and its instance variables at `at`. Also returns the place after
/// them. `None` if anything about it is unusual.
fn time(
    scanned: Scanned<'_>,
    payload: &[u8],
    mut at: usize,
    ivars: bool,
) -> Option<(Moment, usize)> {
    let (micro, utc) = moment::read(payload)?;
    let (mut offset, mut zone, mut nano, mut nano_parts) = (None, None, 0, 1);
    let count = match ivars {
        true => {
            let (count, first) = skip::number(scanned.document, at);
            at = first;
            count
        }
        false => 0,
    };
    if count > 6 {
        return None;
    }
    for _ in 0..count {
        let (name, value) = scanned.symbol(at);
        let kind = scanned.document[value];
        let number = || match kind {
            FIXNUM => long(scanned.document, value + 1).map(|(v, _)| v),
            _ => None,
        };
        match name.raw {
            b"offset" => offset = Some(i32::try_from(number()?).ok()?),
            b"zone" => zone = zone_name(scanned, value)?,
            b"nano_num" => nano = u32::try_from(number()?).ok().filter(|nano| *nano < 1000)?,
            b"nano_den" => nano_parts = number()?,
            // The same digits as in `nano_num`.
            b"submicro" if matches!(kind, STRING | LINK) => {}
            _ => return None,
        }
        at = skip::value(scanned.document, value);
    }
    if nano_parts != 1 || offset.is_some_and(|offset: i32| offset.unsigned_abs() >= 86_400) {
        return None;
    }
    let at_time = Timestamp { nanoseconds: micro.nanoseconds + nano, ..micro };
    if utc {
        // A time in UTC has no offset, and no abbreviation but UTC's own.
        if offset.is_some() || !matches!(zone.as_deref(), None | Some("UTC")) {
            return None;
        }
        return Some((Moment { at: at_time, offset: None, zone: None }, at));
    }
    let moment = Moment { at: at_time, offset, zone };
    // Without an offset it is the loader's local time, and only the point in time is known.
    (offset.is_none() || moment.text().is_some()).then_some((moment, at))
}

/// Reads a zone abbreviation at `at`, with nil for none. The outer `None` means anything else.
fn zone_name(scanned: Scanned<'_>, at: usize) -> Option<Option<String>> {
    let at = match scanned.document[at] {
        NIL => return Some(None),
        LINK => scanned.target(at),
        _ => at,
    };
    let at = at + usize::from(scanned.document[at] == IVARS);
    if scanned.document[at] != STRING {
        return None;
    }
    let (raw, _) = skip::bytes(scanned.document, at + 1);
    Some(Some(String::from_utf8(raw.to_vec()).ok().filter(|zone| zone.is_ascii())?))
}

/// Returns a BigDecimal's `_dump`, such as `18:0.123e2`, as a JSON number. `None` for NaN and
/// infinities.
pub(super) fn decimal(payload: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(payload).ok()?;
    let (room, number) = text.split_once(':')?;
    let digits = number.strip_prefix('-').unwrap_or(number);
    let (mantissa, exponent) =
        digits.split_once('e').unwrap_or((digits, if digits == "0.0" { "0" } else { "" }));
    let fraction = mantissa.strip_prefix("0.")?;
    let numeric = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !numeric(room) || !numeric(fraction) || !numeric(exponent.trim_start_matches('-')) {
        return None;
    }
    let exponent: i64 = exponent.parse().ok()?;
    let sign = if number.starts_with('-') { "-" } else { "" };
    let count = fraction.len() as i64;
    // Plain notation if that is short, as people write decimals.
    Some(match exponent {
        _ if fraction.bytes().all(|byte| byte == b'0') => format!("{sign}0.0"),
        1..=30 if exponent < count => {
            let (whole, rest) = fraction.split_at(exponent as usize);
            format!("{sign}{whole}.{rest}")
        }
        1..=30 => format!("{sign}{fraction}{}.0", "0".repeat((exponent - count) as usize)),
        -6..=0 => format!("{sign}0.{}{fraction}", "0".repeat(exponent.unsigned_abs() as usize)),
        _ => {
            let (first, rest) = fraction.split_at(1);
            let rest = if rest.is_empty() { "0" } else { rest };
            format!("{sign}{first}.{rest}e{}", exponent - 1)
        }
    })
}

/// The day number of 1970-01-01 in Ruby's count of days.
pub(super) const UNIX_EPOCH: i64 = 2_440_588;

/// The value of a `marshal_dump`.
struct Parts<'d> {
    scanned: Scanned<'d>,
    at: usize,
}

/// A Date or DateTime (`date_core.c` `d_lite_marshal_dump`): days since 4713 BC, seconds and
/// nanoseconds of a day in UTC, and the offset in seconds.
struct CivilDate {
    julian_day: i64,
    seconds: i64,
    nanoseconds: i64,
    offset: i32,
}

impl CivilDate {
    /// Returns the date or, with `time`, the date and time with its offset.
    fn text(&self, time: bool) -> Option<String> {
        /// The first day that Ruby counts as Gregorian: 1582-10-15.
        const ITALY: i64 = 2_299_161;
        if self.julian_day <= ITALY {
            return None;
        }
        let days = self.julian_day.checked_sub(UNIX_EPOCH)?;
        let seconds = days.checked_mul(86_400)?.checked_add(self.seconds)?;
        let nanoseconds = u32::try_from(self.nanoseconds).ok().filter(|n| *n < 1_000_000_000)?;
        let at = Timestamp { seconds, nanoseconds };
        if time {
            return offset_text(at, self.offset);
        }
        let plain = self.seconds == 0 && self.nanoseconds == 0 && self.offset == 0;
        rfc3339(at).filter(|_| plain).map(|text| text[..10].to_owned())
    }
}

impl<'d> Parts<'d> {
    fn date(&self) -> Option<(CivilDate, usize)> {
        let document = self.scanned.document;
        let mut at = self.array(6)?;
        let mut numbers = [0; 5];
        for number in &mut numbers {
            if document[at] != FIXNUM {
                return None;
            }
            (*number, at) = long(document, at + 1)?;
        }
        let (reform, end) = self.double(at)?;
        let [period, julian_day, seconds, nanoseconds, offset] = numbers;
        // Other periods of 71,149,239 days are far out of range; any other reform is another
        // calendar.
        if period != 0 || reform != 2_299_161.0 || !(0..86_400).contains(&seconds) {
            return None;
        }
        let offset = i32::try_from(offset).ok().filter(|offset| offset.unsigned_abs() < 86_400)?;
        Some((CivilDate { julian_day, seconds, nanoseconds, offset }, end))
    }

    fn complex(&self) -> Option<(f64, f64, usize)> {
        let (real, at) = self.double(self.array(2)?)?;
        let (imaginary, end) = self.double(at)?;
        Some((real, imaginary, end))
    }

    /// Reads the head of an array of exactly `count` elements.
    fn array(&self, count: u64) -> Option<usize> {
        let document = self.scanned.document;
        if document[self.at] != ARRAY {
            return None;
        }
        let (found, first) = skip::number(document, self.at + 1);
        (found == count).then_some(first)
    }

    /// Reads the float at `at`, possibly through a link. Also returns the place after it.
    fn double(&self, at: usize) -> Option<(f64, usize)> {
        let document = self.scanned.document;
        let place = if document[at] == LINK { self.scanned.target(at) } else { at };
        if document[place] != FLOAT {
            return None;
        }
        let (text, _) = skip::bytes(document, place + 1);
        Some((float::read(text)?, skip::value(document, at)))
    }
}
