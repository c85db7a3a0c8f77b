//! YAML 1.1 as PyYAML's SafeLoader reads it: `yes` and `on`, octal `0777`, sexagesimal `1:30`,
//! underscores, dates, and the merge key.

use std::borrow::Cow;

use super::schema::{Meaning, Time, decimal_integer, integer, sign};

/// Returns whether a plain scalar that begins with this byte can be anything but text, here or for
/// Psych.
#[inline(always)]
pub(super) fn may_mean(first: u8) -> bool {
    let old = matches!(first, b'y' | b'Y' | b'o' | b'O' | b'<' | b':');
    old || super::schema::may_mean(first)
}

/// Resolves the text of a plain scalar.
pub(super) fn resolve(text: &str) -> Meaning<'_> {
    let Some(&first) = text.as_bytes().first() else { return Meaning::Null };
    let (negative, rest) = sign(text);
    if matches!(rest.as_bytes(), [b'0'] | [b'1'..=b'9', ..])
        && let Some(meaning) = decimal_integer(negative, rest)
    {
        // Most numbers are plain decimal integers.
        return meaning;
    }
    match text {
        "~" | "null" | "Null" | "NULL" => return Meaning::Null,
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Meaning::Bool(true);
        }
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Meaning::Bool(false);
        }
        "<<" => return Meaning::Merge,
        _ => {}
    }
    if !matches!(first, b'0'..=b'9' | b'+' | b'-' | b'.') {
        return Meaning::Text;
    }
    // PyYAML checks in this order.
    float(text)
        .or_else(|| whole(text))
        .or_else(|| timestamp(text).map(Meaning::Time))
        .unwrap_or(Meaning::Text)
}

fn plain_digits(text: &str) -> Cow<'_, str> {
    if text.contains('_') { Cow::Owned(text.replace('_', "")) } else { Cow::Borrowed(text) }
}

fn is_digit_or_underscore(byte: &u8) -> bool {
    byte.is_ascii_digit() || *byte == b'_'
}

/// Parses numbers with a point: `[-+]?[0-9][0-9_]*\.[0-9_]*([eE][-+][0-9]+)?`,
/// `\.[0-9][0-9_]*([eE][-+][0-9]+)?`, sexagesimal ones, infinities and NaN.
fn float(text: &str) -> Option<Meaning<'_>> {
    let (negative, rest) = sign(text);
    match rest {
        ".inf" | ".Inf" | ".INF" => {
            let value = if negative { f64::NEG_INFINITY } else { f64::INFINITY };
            return Some(Meaning::NonFinite(value));
        }
        ".nan" | ".NaN" | ".NAN" if rest.len() == text.len() => {
            return Some(Meaning::NonFinite(f64::NAN));
        }
        _ => {}
    }
    let (before, after) = rest.split_once('.')?;
    if before.contains(':') {
        if !after.bytes().all(|byte| is_digit_or_underscore(&byte)) {
            return None;
        }
        let parts = sexagesimal(before)?;
        let fraction: f64 = format!("0.{}0", after.replace('_', "")).parse().ok()?;
        let (last, front) = parts.split_last()?;
        let value = front.iter().fold(0.0, |sum, part| sum * 60.0 + part);
        let value = value * 60.0 + (last + fraction);
        return Some(Meaning::Double(if negative { -value } else { value }));
    }
    let (fraction, exponent) = match after.find(['e', 'E']) {
        Some(index) => (&after[..index], Some(&after[index + 1..])),
        None => (after, None),
    };
    if let Some(exponent) = exponent {
        let digits = exponent.strip_prefix(['+', '-'])?;
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
    }
    let all = |text: &str| text.bytes().all(|byte| is_digit_or_underscore(&byte));
    let fits = match before {
        // Without digits before the point, no sign is allowed either.
        "" => text.len() == rest.len() && fraction.starts_with(|char: char| char.is_ascii_digit()),
        _ => before.starts_with(|char: char| char.is_ascii_digit()),
    };
    (fits && all(before) && all(fraction)).then(|| Meaning::Decimal(plain_digits(text)))
}

/// Splits a sexagesimal number: `[0-9][0-9_]*(:[0-5]?[0-9])+`.
fn sexagesimal(text: &str) -> Option<Vec<f64>> {
    let mut parts = text.split(':');
    let first = parts.next()?;
    if !first.starts_with(|char: char| char.is_ascii_digit())
        || !first.bytes().all(|byte| is_digit_or_underscore(&byte))
    {
        return None;
    }
    let mut values = vec![first.replace('_', "").parse().ok()?];
    for part in parts {
        match part.as_bytes() {
            [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9'] => values.push(part.parse().ok()?),
            _ => return None,
        }
    }
    (values.len() > 1).then_some(values)
}

/// Parses integers: binary, octal, decimal, hexadecimal, sexagesimal, all with underscores.
fn whole(text: &str) -> Option<Meaning<'_>> {
    let (negative, rest) = sign(text);
    let digits = |digits: &'_ str, radix: u32| -> Option<Meaning<'static>> {
        let plain = digits.replace('_', "");
        let fits = !plain.is_empty() && plain.chars().all(|char| char.is_digit(radix));
        fits.then(|| integer(negative, radix, Cow::Owned(plain)))
    };
    match rest.as_bytes() {
        [b'0', b'b', ..] => digits(&rest[2..], 2),
        [b'0', b'x', ..] => digits(&rest[2..], 16),
        [b'0'] => Some(Meaning::I64(0)),
        // The zero itself is an octal digit.
        [b'0', ..] => digits(rest, 8),
        [b'1'..=b'9', ..] if rest.contains(':') => {
            let parts = sexagesimal(rest)?;
            // Nobody writes larger ones this way.
            let sum = parts
                .iter()
                .try_fold(0i64, |sum, part| sum.checked_mul(60)?.checked_add(*part as i64))?;
            (parts[0] < 1e15).then_some(Meaning::I64(if negative { -sum } else { sum }))
        }
        [b'1'..=b'9', ..] => match rest.contains('_') {
            true => digits(rest, 10),
            false => decimal_integer(negative, rest),
        },
        _ => None,
    }
}

/// Parses a date, or a date and a time, in the forms of YAML 1.1's timestamp; it must exist in the
/// calendar.
pub(super) fn timestamp(text: &str) -> Option<Time> {
    let bytes = text.as_bytes();
    if !text.is_ascii() || bytes.get(4) != Some(&b'-') {
        return None;
    }
    let number = |text: &str, least: usize, most: usize| -> Option<u32> {
        let fits =
            (least..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        if fits { text.parse().ok() } else { None }
    };
    let year = number(&text[..4], 4, 4)?;
    let rest = &text[5..];
    let (month, rest) = rest.split_once('-')?;
    let day_end = rest.find(|char: char| !char.is_ascii_digit()).unwrap_or(rest.len());
    let (day, rest) = rest.split_at(day_end);
    let (least, has_time) = if rest.is_empty() { (2, false) } else { (1, true) };
    let (month, day) = (number(month, least, 2)?, number(day, least, 2)?);
    if !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) {
        return None;
    }
    let date = format!("{year:04}-{month:02}-{day:02}");
    if !has_time {
        return Some(Time::Date(date));
    }
    let rest = match rest.as_bytes()[0] {
        b'T' | b't' => &rest[1..],
        b' ' | b'\t' => rest.trim_start_matches([' ', '\t']),
        _ => return None,
    };
    let (hour, rest) = rest.split_once(':')?;
    let (minute, rest) = rest.split_once(':')?;
    let second_end = rest.find(|char: char| !char.is_ascii_digit()).unwrap_or(rest.len());
    let (second, rest) = rest.split_at(second_end);
    let (hour, minute) = (number(hour, 1, 2)?, number(minute, 2, 2)?);
    let second = number(second, 2, 2)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => {
            let end = rest.find(|char: char| !char.is_ascii_digit()).unwrap_or(rest.len());
            rest.split_at(end)
        }
        None => ("", rest),
    };
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    let local = format!("{date}T{hour:02}:{minute:02}:{second:02}{point}{fraction}");
    if rest.is_empty() {
        return Some(Time::Local(local));
    }
    let zone = rest.trim_start_matches([' ', '\t']);
    let (sign, hours, minutes) = if zone == "Z" {
        ('+', 0, 0)
    } else {
        let sign = zone.chars().next().filter(|char| matches!(char, '+' | '-'))?;
        match zone[1..].split_once(':') {
            Some((hours, minutes)) => (sign, number(hours, 1, 2)?, number(minutes, 2, 2)?),
            None => (sign, number(&zone[1..], 1, 2)?, 0),
        }
    };
    if hours > 23 || minutes > 59 {
        return None;
    }
    Some(if (hours, minutes) == (0, 0) && fraction.len() <= 9 {
        Time::Utc(format!("{local}Z"))
    } else {
        Time::Offset(format!("{local}{sign}{hours:02}:{minutes:02}"))
    })
}

pub(super) fn days_in(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_pyyaml_has_it() {
        for (text, value) in [
            ("0777", 511),
            ("0_7", 7),
            ("0b101", 5),
            ("-0x1F", -31),
            ("1_000", 1000),
            ("190:20:30", 685_230),
            ("-1:30", -90),
            ("+0", 0),
        ] {
            assert_eq!(resolve(text), Meaning::I64(value), "{text}");
        }
        for text in ["1.5", "685.230_15e+03", "1.", ".5", "-1.5e-3"] {
            let plain = text.replace('_', "");
            assert_eq!(resolve(text), Meaning::Decimal(plain.into()), "{text}");
        }
        assert_eq!(resolve("190:20:30.15"), Meaning::Double(685_230.15));
        for (text, value) in [("0", 0), ("-0", 0), ("+7", 7), ("-120", -120)] {
            assert_eq!(resolve(text), Meaning::I64(value), "{text}");
        }
        for text in ["00", "-", "+", "0", "12", ".5", "~", "null", "Yes", "ON", "off", "No", "<<"] {
            assert!(may_mean(text.as_bytes()[0]), "{text}");
        }
        for (text, value) in [("yes", true), ("Off", false), ("ON", true)] {
            assert_eq!(resolve(text), Meaning::Bool(value));
        }
        for text in ["1e3", "1.5e3", "-.5", "08", "0o7", "y", "n", "1:60", "oN", "0b", "0x", "="] {
            assert_eq!(resolve(text), Meaning::Text, "{text}");
        }
        assert_eq!(resolve("<<"), Meaning::Merge);
    }

    #[test]
    fn times() {
        let utc = |text: &str| Some(Time::Utc(text.into()));
        assert_eq!(timestamp("2001-12-15T02:59:43.1Z"), utc("2001-12-15T02:59:43.1Z"));
        assert_eq!(timestamp("2001-12-14 21:59:43.10 +0"), utc("2001-12-14T21:59:43.1Z"));
        assert_eq!(
            timestamp("2001-12-14t21:59:43.10-05:00"),
            Some(Time::Offset("2001-12-14T21:59:43.1-05:00".into()))
        );
        assert_eq!(timestamp("2001-1-4  1:59:43"), Some(Time::Local("2001-01-04T01:59:43".into())));
        assert_eq!(timestamp("2002-12-14"), Some(Time::Date("2002-12-14".into())));
        for text in ["2002-1-4", "2002-13-14", "2001-02-29", "2001-12-14T1:1:1", "2001-12-14x"] {
            assert_eq!(timestamp(text), None, "{text}");
        }
    }
}
