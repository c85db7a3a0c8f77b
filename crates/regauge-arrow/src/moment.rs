//! Dates and times without a zone, as the units of a column and as text.
//!
//! Only text in the form that reading gives back is taken: `12:00:00.50` is no other time than `12:00:00.5`, but
//! other text.

use regauge::Timestamp;
use regauge::time::{parse_rfc3339, rfc3339};

/// Nanoseconds in a second.
const NANOSECONDS: i64 = 1_000_000_000;

/// Parses `2026-11-21T12:00:00.5`, as if it were in UTC.
pub fn local(text: &str) -> Option<Timestamp> {
    parse_rfc3339(&format!("{text}Z"))
}

/// Formats a date and time without a zone; `None` outside the years 0000 to 9999.
pub fn local_text(at: Timestamp) -> Option<String> {
    let mut text = rfc3339(at)?;
    text.pop();
    Some(text)
}

/// Parses `12:00:00.5` into nanoseconds since midnight.
pub fn time_of_day(text: &str) -> Option<i64> {
    let at = parse_rfc3339(&format!("1970-01-01T{text}Z"))?;
    Some(at.seconds * NANOSECONDS + i64::from(at.nanoseconds))
}

/// Formats nanoseconds since midnight; `None` for what is no time of a day.
pub fn time_of_day_text(nanoseconds: i64) -> Option<String> {
    let text = local_text(timestamp(nanoseconds, NANOSECONDS))?;
    text.strip_prefix("1970-01-01T").map(str::to_owned)
}

/// Parses `2026-11-21` into days since 1970.
pub fn days(text: &str) -> Option<i32> {
    let at = parse_rfc3339(&format!("{text}T00:00:00Z"))?;
    i32::try_from(at.seconds / 86_400).ok()
}

/// Formats days since 1970; `None` outside the years 0000 to 9999.
pub fn days_text(days: i32) -> Option<String> {
    let mut text = rfc3339(Timestamp { seconds: i64::from(days) * 86_400, nanoseconds: 0 })?;
    text.truncate("2026-11-21".len());
    Some(text)
}

/// Returns the point in time that is this many units after 1970.
pub fn timestamp(units: i64, per_second: i64) -> Timestamp {
    let fraction = units.rem_euclid(per_second) * (NANOSECONDS / per_second);
    Timestamp { seconds: units.div_euclid(per_second), nanoseconds: fraction as u32 }
}

/// Returns a point in time in units, and whether that is exact; `None` if they overflow.
pub fn units(at: Timestamp, per_second: i64) -> Option<(i64, bool)> {
    let nanoseconds_each = NANOSECONDS / per_second;
    let fraction = i64::from(at.nanoseconds);
    // The seconds of the lowest units are below what fits, and the fraction brings them back.
    let whole = i128::from(at.seconds) * i128::from(per_second);
    let whole = i64::try_from(whole + i128::from(fraction / nanoseconds_each)).ok()?;
    Some((whole, fraction % nanoseconds_each == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for text in
            ["2026-11-21T12:00:00", "0000-01-01T00:00:00.5", "1969-12-31T23:59:59.999999999"]
        {
            assert_eq!(local(text).and_then(local_text).as_deref(), Some(text));
        }
        for text in ["00:00:00", "23:59:59.000001", "12:00:00.123456789"] {
            assert_eq!(time_of_day(text).and_then(time_of_day_text).as_deref(), Some(text));
        }
        for text in ["1970-01-01", "0001-02-28", "9999-12-31"] {
            assert_eq!(days(text).and_then(days_text).as_deref(), Some(text));
        }
    }

    #[test]
    fn other_spellings_are_not_taken() {
        assert_eq!(local("2026-11-21T12:00:00.50"), None);
        assert_eq!(time_of_day("24:00:00"), None);
        assert_eq!(time_of_day("12:00"), None);
        assert_eq!(days("2026-02-30"), None);
        assert_eq!(time_of_day_text(-1), None);
        assert_eq!(time_of_day_text(86_400 * NANOSECONDS), None);
        assert_eq!(days_text(i32::MAX), None);
    }

    #[test]
    fn units_before_1970_count_down() {
        let at = timestamp(-1, 1_000);
        assert_eq!((at.seconds, at.nanoseconds), (-1, 999_000_000));
        assert_eq!(units(at, 1_000), Some((-1, true)));
        assert_eq!(units(at, 1), Some((-1, false)));
        assert_eq!(units(Timestamp { seconds: i64::MAX, nanoseconds: 0 }, NANOSECONDS), None);
        for per_second in [1, 1_000, 1_000_000, NANOSECONDS] {
            for lowest in [i64::MIN, i64::MIN + 1, i64::MAX] {
                assert_eq!(units(timestamp(lowest, per_second), per_second), Some((lowest, true)));
            }
        }
    }
}
