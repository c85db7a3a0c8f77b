//! Points in time as RFC 3339 text, in both directions.

/// A point in time: seconds and nanoseconds since 1970-01-01T00:00:00Z, not counting leap seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    /// Whole seconds, rounded down.
    pub seconds: i64,
    /// 0 to 999,999,999, counted up from `seconds`.
    pub nanoseconds: u32,
}

impl Timestamp {
    /// Returns the time as RFC 3339 §5.6 writes it, in UTC; `None` outside the years 0 to 9999.
    #[must_use]
    pub fn to_rfc3339(self) -> Option<String> {
        rfc3339(self)
    }

    /// Parses text that [`Timestamp::to_rfc3339`] wrote; `None` for any other text.
    #[must_use]
    pub fn from_rfc3339(text: &str) -> Option<Timestamp> {
        parse_rfc3339(text)
    }
}

const SECONDS_PER_DAY: i64 = 86_400;

/// Returns `2026-11-21T12:00:00.5Z`: in UTC, with as many fractional digits as needed. `None`
/// outside the years 0000 to 9999, for which RFC 3339 has no notation.
pub fn rfc3339(at: Timestamp) -> Option<String> {
    let days = at.seconds.div_euclid(SECONDS_PER_DAY);
    let second = at.seconds.rem_euclid(SECONDS_PER_DAY);
    let (year, month, day) = civil_from_days(days)?;
    let mut text = format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}",
        second / 3600,
        second / 60 % 60,
        second % 60
    );
    if at.nanoseconds > 0 {
        let fraction = format!("{:09}", at.nanoseconds);
        text.push('.');
        text.push_str(fraction.trim_end_matches('0'));
    }
    text.push('Z');
    Some(text)
}

/// Parses text that [`rfc3339`] wrote; `None` for any other text.
pub fn parse_rfc3339(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    let number = |range: std::ops::Range<usize>| -> Option<i64> {
        let digits = bytes.get(range)?;
        digits
            .iter()
            .all(u8::is_ascii_digit)
            .then(|| digits.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
    };
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    let tail = text.get(19..)?.strip_suffix('Z')?;
    let nanoseconds = match tail.strip_prefix('.') {
        None if tail.is_empty() => 0,
        Some(digits) if (1..=9).contains(&digits.len()) && !digits.ends_with('0') => {
            format!("{digits:0<9}").parse::<u32>().ok()?
        }
        _ => return None,
    };
    let at = Timestamp {
        seconds: days_from_civil(year, month, day) * SECONDS_PER_DAY
            + hour * 3600
            + minute * 60
            + second,
        nanoseconds,
    };
    // Rejects anything that we would not write this way (30 February, a `+` in the digits).
    (rfc3339(at).as_deref() == Some(text)).then_some(at)
}

/// Converts days since 1970-01-01 to year, month and day of the proleptic Gregorian calendar, for
/// the years 0 to 9999. The year starts in March here, so that the leap day comes last.
fn civil_from_days(days: i64) -> Option<(i64, i64, i64)> {
    const YEAR_0: i64 = -719_528;
    const YEAR_10000: i64 = 2_932_897;
    (YEAR_0..YEAR_10000).contains(&days).then(|| any_civil_from_days(days))
}

/// Same for any year.
pub(crate) fn any_civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// Returns the days since 1970-01-01 of a date in the proleptic Gregorian calendar; the month must
/// be 1 to 12.
pub(crate) fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Returns a duration as ISO 8601 writes it, in seconds: `PT90.5S`, `-PT0.5S`.
pub fn iso8601_duration(seconds: i64, nanoseconds: u32) -> String {
    let total = i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
    let (sign, total) = (if total < 0 { "-" } else { "" }, total.unsigned_abs());
    let fraction = match total % 1_000_000_000 {
        0 => String::new(),
        part => format!(".{part:09}").trim_end_matches('0').to_owned(),
    };
    format!("{sign}PT{}{fraction}S", total / 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(seconds: i64, nanoseconds: u32, text: &str) {
        let at = Timestamp { seconds, nanoseconds };
        assert_eq!(rfc3339(at).as_deref(), Some(text));
        assert_eq!(parse_rfc3339(text), Some(at));
    }

    #[test]
    fn there_and_back() {
        check(0, 0, "1970-01-01T00:00:00Z");
        check(-1, 999_999_999, "1969-12-31T23:59:59.999999999Z");
        check(1_582_934_400, 500_000_000, "2020-02-29T00:00:00.5Z");
        check(-62_167_219_200, 0, "0000-01-01T00:00:00Z");
        check(253_402_300_799, 1, "9999-12-31T23:59:59.000000001Z");
    }

    #[test]
    fn every_day_of_four_centuries() {
        let first = days_from_civil(1900, 1, 1);
        for day in first..first + 146_097 {
            let (y, m, d) = civil_from_days(day).unwrap();
            assert_eq!(days_from_civil(y, m, d), day);
        }
    }

    #[test]
    fn what_is_not_ours_is_not_read() {
        for text in [
            "2026-02-30T00:00:00Z",
            "2026-01-01T00:00:00.50Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:00+00:00",
            "2026-01-01T00:00:00.Z",
            "",
            "+026-01-01T00:00:00Z",
        ] {
            assert_eq!(parse_rfc3339(text), None, "{text}");
        }
        assert_eq!(rfc3339(Timestamp { seconds: 253_402_300_800, nanoseconds: 0 }), None);
    }
}
