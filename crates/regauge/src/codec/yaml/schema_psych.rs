//! YAML 1.1 as Ruby's Psych reads it (`lib/psych/scalar_scanner.rb`, version 4): like PyYAML, but
//! with symbols, commas in numbers, words in any case, and a reading of `1:30` of its own.
//!
//! Deviations: a date that does not exist, and a year below 0, is an error, whereas Psych moves some of
//! them to the next month. Merged pairs do not override those of the mapping.

use std::borrow::Cow;

use super::schema::{Meaning, decimal_integer, integer, sign};
use super::schema_11;

/// Resolves the text of a plain scalar.
pub(super) fn resolve(text: &str) -> Meaning<'_> {
    let bytes = text.as_bytes();
    let Some(&first) = bytes.first() else { return Meaning::Null };
    let (negative, rest) = sign(text);
    if matches!(rest.as_bytes(), [b'0'] | [b'1'..=b'9', ..])
        && let Some(meaning) = decimal_integer(negative, rest)
    {
        // Most numbers are plain decimal integers.
        return meaning;
    }
    if text == "<<" {
        return Meaning::Merge;
    }
    match first {
        b'0'..=b'9' | b'+' | b'-' | b'.' | b':' if !bytes.contains(&b'\n') => number(text),
        b'y' | b'Y' | b't' | b'T' | b'o' | b'O' | b'n' | b'N' | b'f' | b'F' | b'~' => word(text),
        _ => Meaning::Text,
    }
}

/// Resolves words. Psych looks at each line of short text by itself.
fn word(text: &str) -> Meaning<'_> {
    if text.len() > 5 {
        return Meaning::Text;
    }
    if text == "~" {
        return Meaning::Null;
    }
    let is_possible = |line: &str| line.starts_with(|first| "ytonf~YTONF".contains(first));
    if !text.split('\n').all(is_possible) {
        return Meaning::Text;
    }
    let is_one = |words: &[&str]| {
        text.split('\n').any(|line| words.iter().any(|word| line.eq_ignore_ascii_case(word)))
    };
    if is_one(&["null"]) {
        Meaning::Null
    } else if is_one(&["yes", "true", "on"]) {
        Meaning::Bool(true)
    } else if is_one(&["no", "false", "off"]) {
        Meaning::Bool(false)
    } else {
        Meaning::Text
    }
}

/// Resolves what begins like a number, in Psych's order.
fn number(text: &str) -> Meaning<'_> {
    if let Some(meaning) = time(text).or_else(|| non_finite(text)) {
        return meaning;
    }
    if let Some(name) = text.strip_prefix(':') {
        return if name.is_empty() { Meaning::Text } else { Meaning::Symbol(symbol(name)) };
    }
    sexagesimal(text).or_else(|| float(text)).or_else(|| whole(text)).unwrap_or(Meaning::Text)
}

/// Returns the name of a symbol: `:name`, `:"name"` or `:'name'`.
fn symbol(name: &str) -> &str {
    let quote = name.chars().next().filter(|first| matches!(first, '"' | '\''));
    let inner = quote.and_then(|quote| name[1..].rfind(quote).map(|end| &name[1..=end]));
    match inner {
        Some(inner) => inner.strip_prefix(':').unwrap_or(inner),
        None => name,
    }
}

/// Parses dates and times. Without a zone, they are in UTC. Unknown are dates that do not exist,
/// years below 0, and offsets that Psych misreads.
fn time(text: &str) -> Option<Meaning<'_>> {
    if is_date(text) {
        let (month, day) = text[5..].split_once('-')?;
        let date = format!("{}-{month:0>2}-{day:0>2}", &text[..4]);
        return Some(schema_11::timestamp(&date).map_or(Meaning::Unknown, Meaning::Time));
    }
    if let Some(positive) = text.strip_prefix('-') {
        return zone_of(positive).map(|_| Meaning::Unknown);
    }
    let (local, zone) = zone_of(text)?;
    let (sign, offset) = zone.split_at(zone.len().min(1));
    let (hours, minutes) = match (offset.split_once(':'), offset.len()) {
        (Some(parts), _) => parts,
        (None, 4) => offset.split_at(2),
        (None, 0..=2) => (offset, ""),
        (None, _) => return Some(Meaning::Unknown),
    };
    let whole = match (sign, minutes) {
        ("" | "Z", _) => format!("{local}Z"),
        ("-", _) if hours.trim_start_matches('0').is_empty() && !minutes.is_empty() => {
            return Some(Meaning::Unknown);
        }
        (_, "") => format!("{local}{sign}{hours}"),
        _ => format!("{local}{sign}{hours}:{minutes}"),
    };
    Some(schema_11::timestamp(&whole).map_or(Meaning::Unknown, Meaning::Time))
}

/// Skips digits; returns whether there are at least so many.
fn skip_digits(rest: &mut &[u8], least: usize, most: usize) -> bool {
    let count = rest.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
    *rest = &rest[count..];
    count >= least
}

/// Skips a byte, if it is next.
fn skip_one(rest: &mut &[u8], wanted: u8) -> bool {
    let has = rest.first() == Some(&wanted);
    *rest = &rest[usize::from(has)..];
    has
}

fn skip_blanks(rest: &mut &[u8]) {
    *rest = rest.trim_ascii_start();
}

/// Returns whether the text is `\d{4}-(1[012]|0\d|\d)-([12]\d|3[01]|0\d|\d)`.
fn is_date(text: &str) -> bool {
    let mut rest = text.as_bytes();
    if !(skip_digits(&mut rest, 4, 4) && skip_one(&mut rest, b'-')) {
        return false;
    }
    let Some((month, day)) = text[5..].split_once('-') else { return false };
    let within = |part: &str, most: u32| {
        matches!(part.len(), 1 | 2)
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && part.parse().is_ok_and(|number: u32| number <= most)
    };
    within(month, 12) && within(day, 31)
}

/// Splits a time into what precedes its zone, and the zone:
/// `\d{4}-\d\d?-\d\d?([Tt]|\s+)\d\d?:\d\d:\d\d(\.\d*)?` and `\s*(Z|[-+]\d\d?:?(\d\d)?)`, if any.
fn zone_of(text: &str) -> Option<(&str, &str)> {
    let mut rest = text.as_bytes();
    let rest = &mut rest;
    let date = skip_digits(rest, 4, 4)
        && skip_one(rest, b'-')
        && skip_digits(rest, 1, 2)
        && skip_one(rest, b'-')
        && skip_digits(rest, 1, 2);
    let before = rest.len();
    if !(skip_one(rest, b'T') || skip_one(rest, b't')) {
        skip_blanks(rest);
    }
    let clock = rest.len() < before
        && skip_digits(rest, 1, 2)
        && skip_one(rest, b':')
        && skip_digits(rest, 2, 2)
        && skip_one(rest, b':')
        && skip_digits(rest, 2, 2);
    if !date || !clock {
        return None;
    }
    if skip_one(rest, b'.') {
        skip_digits(rest, 0, usize::MAX);
    }
    let local = &text[..text.len() - rest.len()];
    skip_blanks(rest);
    let zone = &text[text.len() - rest.len()..];
    if zone.is_empty() {
        return (local.len() == text.len()).then_some((local, zone));
    }
    if !(skip_one(rest, b'+') || skip_one(rest, b'-')) {
        return (zone == "Z").then_some((local, zone));
    }
    let hours = skip_digits(rest, 1, 2);
    skip_one(rest, b':');
    let minutes = rest.len();
    skip_digits(rest, 0, 2);
    (hours && rest.is_empty() && (minutes != 1 || !zone.contains(':'))).then_some((local, zone))
}

fn non_finite(text: &str) -> Option<Meaning<'_>> {
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    if is(".inf") || is("+.inf") {
        Some(Meaning::NonFinite(f64::INFINITY))
    } else if is("-.inf") {
        Some(Meaning::NonFinite(f64::NEG_INFINITY))
    } else {
        is(".nan").then_some(Meaning::NonFinite(f64::NAN))
    }
}

/// Parses sexagesimal numbers: `[-+]?[0-9][0-9_]*(:[0-5]?[0-9]){1,2}(\.[0-9_]*)?`. The first part
/// always counts hours, and only it takes the sign.
fn sexagesimal(text: &str) -> Option<Meaning<'_>> {
    let (negative, rest) = sign(text);
    let (clock, fraction) = match rest.split_once('.') {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (rest, None),
    };
    let mut parts = clock.split(':');
    let hours = parts.next()?;
    let others: Vec<&str> = parts.collect();
    let fits = |part: &&str| matches!(part.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9']);
    let only = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    if !hours.starts_with(|first: char| first.is_ascii_digit())
        || !only(hours)
        || !matches!(others.len(), 1 | 2)
        || !others.iter().all(fits)
        || !fraction.is_none_or(only)
    {
        return None;
    }
    // Psych has no limit; nobody writes larger ones this way.
    let Ok(first) = leading_digits(hours).parse::<i64>() else { return Some(Meaning::Unknown) };
    let mut values = vec![first];
    for part in others {
        values.push(part.parse().ok()?);
    }
    values[0] = if negative { -values[0] } else { values[0] };
    let Some(fraction) = fraction else {
        let sum = values
            .iter()
            .zip([3600i64, 60, 1])
            .try_fold(0i64, |sum, (value, unit)| sum.checked_add(value.checked_mul(unit)?));
        return Some(sum.map_or(Meaning::Unknown, Meaning::I64));
    };
    let last = values.len() - 1;
    let sum = values.iter().zip([3600.0, 60.0, 1.0]).enumerate().map(|(index, (value, unit))| {
        let text = match index == last && fraction.starts_with(|first: char| first.is_ascii_digit())
        {
            true => format!("{value}.{}", leading_digits(fraction)),
            false => value.to_string(),
        };
        text.parse::<f64>().unwrap_or(0.0) * unit
    });
    Some(Meaning::Double(sum.fold(0.0, |total: f64, part: f64| total + part)))
}

/// Returns the digits that Ruby's `to_i` reads: underscores stand alone between digits.
fn leading_digits(text: &str) -> String {
    let end = text.find("__").unwrap_or(text.len());
    text[..end].replace('_', "")
}

/// Parses numbers with a point: `[-+]?([0-9][0-9_,]*)?\.[0-9]*([eE][-+][0-9]+)?`.
fn float(text: &str) -> Option<Meaning<'_>> {
    let (_, rest) = sign(text);
    let (before, after) = rest.split_once('.')?;
    let (fraction, exponent) = match after.find(['e', 'E']) {
        Some(index) => (&after[..index], Some(&after[index + 1..])),
        None => (after, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let grouped = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'_' | b',');
    if !(before.is_empty() || before.starts_with(|first: char| first.is_ascii_digit()))
        || !before.bytes().all(grouped)
        || !digits(fraction)
    {
        return None;
    }
    if let Some(exponent) = exponent {
        let power = exponent.strip_prefix(['+', '-'])?;
        if power.is_empty() || !digits(power) {
            return None;
        }
    }
    if before.is_empty() && fraction.is_empty() {
        // A point alone is text; Psych fails on one before an exponent.
        return Some(if exponent.is_some() { Meaning::Unknown } else { Meaning::Text });
    }
    let is_grouped = before.contains(['_', ',']);
    Some(Meaning::Decimal(match is_grouped {
        true => Cow::Owned(text.replace(['_', ','], "")),
        false => Cow::Borrowed(text),
    }))
}

/// Parses integers: binary, octal, decimal, hexadecimal, with underscores and commas.
fn whole(text: &str) -> Option<Meaning<'_>> {
    let (negative, rest) = sign(text);
    let digits = |digits: &str, radix: u32| -> Option<Meaning<'static>> {
        let plain = digits.replace(['_', ','], "");
        if digits.is_empty() || !plain.chars().all(|char| char.is_digit(radix)) {
            return None;
        }
        Some(match plain.is_empty() {
            // `0b_`, on which Psych fails.
            true => Meaning::Unknown,
            false => integer(negative, radix, Cow::Owned(plain)),
        })
    };
    match rest.as_bytes() {
        [b'0', b'b', ..] => digits(&rest[2..], 2),
        [b'0', b'x', ..] => digits(&rest[2..], 16),
        // Version 4 reads 0, version 5 text.
        [b'0', marks @ ..]
            if !marks.is_empty() && marks.iter().all(|byte| matches!(byte, b'_' | b',')) =>
        {
            Some(Meaning::Unknown)
        }
        // The zero itself is an octal digit.
        [b'0', ..] => digits(rest, 8),
        [b'1'..=b'9', inner @ ..] => {
            let is_mark = |byte: &u8| matches!(byte, b'_' | b',');
            let lonely = |pair: &[u8]| is_mark(&pair[0]) && is_mark(&pair[1]);
            if inner.last().is_some_and(is_mark) || inner.windows(2).any(lonely) {
                return None;
            }
            digits(rest, 10)
        }
        _ => None,
    }
}

#[cfg(test)]
#[path = "tests/schema_psych.rs"]
mod tests;
