//! The primary key of another program's table as text, and the same key from this text again.
//!
//! The text of one column is its value: text and whole numbers as they are, bytes in hexadecimal digits, a UUID in lower
//! case, a date as `2026-11-27`, a point in time as RFC 3339. Those of several columns have `/` between them, and in each
//! `/` is `%2F` and `%` is `%25`: the table says how many there are. Every key has one text, and no other one is taken.

use std::net::IpAddr;

use data_encoding::HEXLOWER;
use regauge::Timestamp;
use scylla::value::{CqlDate, CqlTime, CqlTimestamp, CqlTimeuuid, CqlValue};
use uuid::Uuid;

use super::quoted;

/// The column types that can identify a row, for messages.
pub(super) const EXPECTED: &str = "ascii, bigint, blob, boolean, date, double, float, inet, int, smallint, text, time, \
                                   timestamp, timeuuid, tinyint or uuid in the primary key";

/// The day of 1970-01-01 among those of Cassandra, which count from 0.
const EPOCH: i64 = 1 << 31;
const DAY_SECONDS: i64 = 86_400;

/// A type of such a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Ascii,
    BigInt,
    Blob,
    Boolean,
    Date,
    Double,
    Float,
    Inet,
    Int,
    SmallInt,
    Text,
    Time,
    Timestamp,
    Timeuuid,
    TinyInt,
    Uuid,
}

/// The columns of a primary key: those of the partition first, then the clustering columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Primary(pub(super) Vec<(String, Type)>);

impl Type {
    pub(super) fn parse(name: &str) -> Option<Type> {
        Some(match name {
            "ascii" => Type::Ascii,
            "bigint" => Type::BigInt,
            "blob" => Type::Blob,
            "boolean" => Type::Boolean,
            "date" => Type::Date,
            "double" => Type::Double,
            "float" => Type::Float,
            "inet" => Type::Inet,
            "int" => Type::Int,
            "smallint" => Type::SmallInt,
            "text" | "varchar" => Type::Text,
            "time" => Type::Time,
            "timestamp" => Type::Timestamp,
            "timeuuid" => Type::Timeuuid,
            "tinyint" => Type::TinyInt,
            "uuid" => Type::Uuid,
            _ => return None,
        })
    }

    /// Returns the value with this text, if there is one.
    fn value(self, text: &str) -> Option<CqlValue> {
        let value = match self {
            Type::Ascii => CqlValue::Ascii(text.is_ascii().then(|| text.to_owned())?),
            Type::BigInt => CqlValue::BigInt(text.parse().ok()?),
            Type::Blob => CqlValue::Blob(HEXLOWER.decode(text.as_bytes()).ok()?),
            Type::Boolean => CqlValue::Boolean(text.parse().ok()?),
            Type::Date => CqlValue::Date(date(text)?),
            Type::Double => CqlValue::Double(text.parse().ok()?),
            Type::Float => CqlValue::Float(text.parse().ok()?),
            Type::Inet => CqlValue::Inet(text.parse::<IpAddr>().ok()?),
            Type::Int => CqlValue::Int(text.parse().ok()?),
            Type::SmallInt => CqlValue::SmallInt(text.parse().ok()?),
            Type::Text => CqlValue::Text(text.to_owned()),
            Type::Time => CqlValue::Time(CqlTime(text.parse().ok()?)),
            Type::Timestamp => CqlValue::Timestamp(CqlTimestamp(milliseconds(text)?)),
            Type::Timeuuid => CqlValue::Timeuuid(CqlTimeuuid::from(Uuid::parse_str(text).ok()?)),
            Type::TinyInt => CqlValue::TinyInt(text.parse().ok()?),
            Type::Uuid => CqlValue::Uuid(Uuid::parse_str(text).ok()?),
        };
        (text_of(&value).as_deref() == Some(text)).then_some(value)
    }
}

impl Primary {
    /// Returns the text of a key; `None` if one of its columns is null, or empty where its type has no empty values.
    pub(super) fn text(&self, values: &[Option<CqlValue>]) -> Option<String> {
        let mut all = String::new();
        for (number, value) in values.iter().enumerate() {
            let text = text_of(value.as_ref()?)?;
            if values.len() == 1 {
                return Some(text);
            }
            if number > 0 {
                all.push('/');
            }
            all += &text.replace('%', "%25").replace('/', "%2F");
        }
        Some(all)
    }

    /// Returns the values of the key with this text, if there is one.
    pub(super) fn parse(&self, text: &str) -> Option<Vec<CqlValue>> {
        if let [(_, only)] = &self.0[..] {
            return Some(vec![only.value(text)?]);
        }
        let parts: Vec<&str> = text.split('/').collect();
        if parts.len() != self.0.len() {
            return None;
        }
        let typed = self.0.iter().zip(parts);
        typed.map(|((_, of), part)| of.value(&unescaped(part)?)).collect()
    }

    /// Returns the names of the columns in CQL, each quoted and followed by `after`.
    pub(super) fn names(&self, after: &str) -> Vec<String> {
        self.0.iter().map(|(name, _)| quoted(name) + after).collect()
    }
}

/// Returns a part of a key; `None` if something else than `/` and `%` is escaped in it.
fn unescaped(part: &str) -> Option<String> {
    let mut pieces = part.split('%');
    let mut text = pieces.next()?.to_owned();
    for piece in pieces {
        if let Some(rest) = piece.strip_prefix("2F") {
            text.push('/');
            text += rest;
        } else {
            text.push('%');
            text += piece.strip_prefix("25")?;
        }
    }
    Some(text)
}

/// Returns the text of a value of a key; `None` if it is of a type that can be in no key.
pub(super) fn text_of(value: &CqlValue) -> Option<String> {
    Some(match value {
        CqlValue::Ascii(text) | CqlValue::Text(text) => text.clone(),
        CqlValue::BigInt(number) => number.to_string(),
        CqlValue::Blob(bytes) => HEXLOWER.encode(bytes),
        CqlValue::Boolean(is) => is.to_string(),
        CqlValue::Date(CqlDate(day)) => {
            let days = i64::from(*day) - EPOCH;
            let at = Timestamp { seconds: days * DAY_SECONDS, nanoseconds: 0 }.to_rfc3339();
            at.map_or_else(|| days.to_string(), |text| text[..DATE_LENGTH].to_owned())
        }
        CqlValue::Double(number) => format!("{number:?}"),
        CqlValue::Float(number) => format!("{number:?}"),
        CqlValue::Inet(address) => address.to_string(),
        CqlValue::Int(number) => number.to_string(),
        CqlValue::SmallInt(number) => number.to_string(),
        CqlValue::Time(CqlTime(nanoseconds)) => nanoseconds.to_string(),
        CqlValue::Timestamp(CqlTimestamp(at)) => {
            let nanoseconds = u32::try_from(at.rem_euclid(1000)).ok()? * 1_000_000;
            let text = Timestamp { seconds: at.div_euclid(1000), nanoseconds }.to_rfc3339();
            text.unwrap_or_else(|| at.to_string())
        }
        CqlValue::Timeuuid(id) => Uuid::from(*id).hyphenated().to_string(),
        CqlValue::TinyInt(number) => number.to_string(),
        CqlValue::Uuid(id) => id.hyphenated().to_string(),
        _ => return None,
    })
}

/// The length of `2026-11-27`.
const DATE_LENGTH: usize = 10;

/// Parses a date; outside the years 0 to 9999, the days since 1970.
fn date(text: &str) -> Option<CqlDate> {
    let days = match Timestamp::from_rfc3339(&format!("{text}T00:00:00Z")) {
        Some(at) => at.seconds / DAY_SECONDS,
        None => text.parse().ok()?,
    };
    u32::try_from(days.checked_add(EPOCH)?).ok().map(CqlDate)
}

/// Parses a point in time; outside the years 0 to 9999, the milliseconds since 1970.
fn milliseconds(text: &str) -> Option<i64> {
    match Timestamp::from_rfc3339(text) {
        Some(at) => Some(at.seconds * 1000 + i64::from(at.nanoseconds / 1_000_000)),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(of: Type, value: CqlValue, text: &str) {
        assert_eq!(text_of(&value).as_deref(), Some(text));
        assert_eq!(of.value(text), Some(value), "{text}");
    }

    fn primary(types: &[Type]) -> Primary {
        Primary(types.iter().map(|of| (String::new(), *of)).collect())
    }

    #[test]
    fn values_as_text_and_back() {
        check(Type::Text, CqlValue::Text("user/é %".into()), "user/é %");
        check(Type::Ascii, CqlValue::Ascii(String::new()), "");
        check(Type::BigInt, CqlValue::BigInt(i64::MIN), "-9223372036854775808");
        check(Type::Int, CqlValue::Int(17), "17");
        check(Type::SmallInt, CqlValue::SmallInt(-1), "-1");
        check(Type::TinyInt, CqlValue::TinyInt(127), "127");
        check(Type::Blob, CqlValue::Blob(b"\0\xFF".to_vec()), "00ff");
        check(Type::Boolean, CqlValue::Boolean(true), "true");
        let day = |days: i64| CqlValue::Date(CqlDate(u32::try_from(days + EPOCH).unwrap()));
        check(Type::Date, day(0), "1970-01-01");
        check(Type::Date, day(-1), "1969-12-31");
        check(Type::Date, day(20_784), "2026-11-27");
        check(Type::Date, day(3_000_000), "3000000");
        check(Type::Date, day(-EPOCH), "-2147483648");
        let at = |at: i64| CqlValue::Timestamp(CqlTimestamp(at));
        check(Type::Timestamp, at(1_795_797_362_120), "2026-11-27T16:36:02.12Z");
        check(Type::Timestamp, at(-1), "1969-12-31T23:59:59.999Z");
        check(Type::Timestamp, at(i64::MAX), "9223372036854775807");
        check(Type::Time, CqlValue::Time(CqlTime(1)), "1");
        check(Type::Double, CqlValue::Double(1e300), "1e300");
        check(Type::Double, CqlValue::Double(-0.0), "-0.0");
        check(Type::Float, CqlValue::Float(0.1), "0.1");
        check(Type::Inet, CqlValue::Inet("::1".parse().unwrap()), "::1");
        let id = Uuid::from_bytes([0xAB; 16]);
        check(Type::Uuid, CqlValue::Uuid(id), "abababab-abab-abab-abab-abababababab");
        let id = CqlValue::Timeuuid(CqlTimeuuid::from(id));
        check(Type::Timeuuid, id, "abababab-abab-abab-abab-abababababab");
    }

    #[test]
    fn what_is_no_text_of_a_value() {
        for (of, text) in [
            (Type::Ascii, "é"),
            (Type::Int, "+1"),
            (Type::Int, "01"),
            (Type::Int, "2147483648"),
            (Type::Blob, "00FF"),
            (Type::Blob, "0"),
            (Type::Boolean, "1"),
            (Type::Date, "2026-02-30"),
            (Type::Date, "0"),
            (Type::Date, "9223372036854775807"),
            (Type::Timestamp, "1795797362120"),
            (Type::Timestamp, "2026-11-27T16:36:02.1234Z"),
            (Type::Double, "1"),
            (Type::Uuid, "ABABABAB-ABAB-ABAB-ABAB-ABABABABABAB"),
        ] {
            assert_eq!(of.value(text), None, "{of:?} {text}");
        }
    }

    #[test]
    fn several_columns_are_told_apart() {
        let text = |text: &str| Some(CqlValue::Text(text.into()));
        let both = primary(&[Type::Text, Type::Text]);
        for (one, other, expected) in
            [("a", "b", "a/b"), ("a/b", "", "a%2Fb/"), ("a", "b/", "a/b%2F"), ("", "%2F", "/%252F")]
        {
            let key = [text(one), text(other)];
            assert_eq!(both.text(&key).as_deref(), Some(expected));
            let values = both.parse(expected).unwrap();
            assert_eq!(values, key.map(Option::unwrap), "{expected}");
        }
        for wrong in ["a", "a/b/c", "a/%", "a/%2f", "a/%41", ""] {
            assert_eq!(both.parse(wrong), None, "{wrong}");
        }
        assert_eq!(both.text(&[text("a"), None]), None);
        let only = primary(&[Type::Text]);
        assert_eq!(only.text(&[text("a/%")]).as_deref(), Some("a/%"));
        assert_eq!(only.parse("a/%"), Some(vec![CqlValue::Text("a/%".into())]));
        let mixed = primary(&[Type::Int, Type::Date]);
        assert!(mixed.parse("7/1970-01-01").is_some() && mixed.parse("x/1970-01-01").is_none());
    }
}
