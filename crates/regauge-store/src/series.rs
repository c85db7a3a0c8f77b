//! Keys of time series: `series/bucket/time`, so that a series is a range of keys, and a bucket (a
//! day by default) is a part of it that an engine can store contiguously.
//!
//! A key is the name of the series, a zero byte, and 8 bytes of the bucket and 8 of the time, both
//! big-endian with the sign bit flipped, so that keys sort by time. Cassandra recommends partitions
//! of less than 100 MB: there, a bucket is a partition.

use std::str::FromStr;
use std::time::Duration;

use regauge::ext::Timestamp;

use crate::engine::Range;
use crate::error::{Error, Result};

/// Nanoseconds since 1970-01-01 UTC: 1677 to 2262.
pub type TimeNs = i64;

/// Nanoseconds per second.
const SECOND: i64 = 1_000_000_000;
/// The default bucket.
pub const DAY: Duration = Duration::from_secs(86_400);
/// The default size of a bucket by size, in bytes: half of what a Cassandra partition should have,
/// because a series does not always continue the way it started.
const BUCKET_BYTES: u64 = 50 << 20;
/// The lengths that a bucket by size may have, in seconds: a second to 30 days.
const LENGTHS: [u64; 9] = [1, 10, 60, 600, 3_600, 21_600, 86_400, 604_800, 2_592_000];

/// The length of a series' buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buckets {
    /// A fixed length.
    Every(Duration),
    /// Long enough for about this many bytes, judging by the first values.
    Bytes(u64),
}

impl Buckets {
    /// Returns the length for a series that begins with values of these times and sizes.
    #[must_use]
    pub fn length(self, first: &[(TimeNs, usize)]) -> Duration {
        let bytes_max = match self {
            Buckets::Every(length) => return length,
            Buckets::Bytes(bytes) => bytes,
        };
        let times = first.iter().map(|(time, _)| i128::from(*time));
        let (Some(start), Some(end)) = (times.clone().min(), times.max()) else { return DAY };
        if start == end {
            return DAY;
        }
        let bytes: u128 = first.iter().map(|(_, bytes)| *bytes as u128).sum();
        // The number of values over the time between the first and the last of them.
        let fits = |seconds: &&u64| {
            let length = u128::from(**seconds) * SECOND as u128;
            bytes * length <= u128::from(bytes_max) * (end - start).unsigned_abs()
        };
        Duration::from_secs(*LENGTHS.iter().rev().find(fits).unwrap_or(&LENGTHS[0]))
    }
}

impl FromStr for Buckets {
    type Err = Error;

    /// Parses `day`, `hour`, `90s`, `10m`, `6h`, `7d`; `size`, or `size:50000000`.
    fn from_str(text: &str) -> Result<Buckets> {
        let wrong = || {
            Error::usage(format!(
                "found buckets \"{text}\", expected day, hour, a number with s, m, h or d, or size"
            ))
        };
        let text = match text {
            "day" => "1d",
            "hour" => "1h",
            "size" => return Ok(Buckets::Bytes(BUCKET_BYTES)),
            other => other,
        };
        if let Some(bytes) = text.strip_prefix("size:") {
            let bytes = bytes.parse().ok().filter(|bytes| *bytes > 0);
            return bytes.map(Buckets::Bytes).ok_or_else(wrong);
        }
        let unit = [("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400)];
        let found = unit.iter().find_map(|(unit, seconds)| {
            let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
            number.checked_mul(*seconds)
        });
        // A bucket is measured in nanoseconds.
        let most = i64::MAX.unsigned_abs() / SECOND.unsigned_abs();
        let seconds = found.filter(|seconds| (1..=most).contains(seconds));
        seconds.map(|seconds| Buckets::Every(Duration::from_secs(seconds))).ok_or_else(wrong)
    }
}

/// Parses a time: `2026-11-21`, `2026-11-21T12:00:00.5Z`, `…+02:00`, or seconds since 1970-01-01
/// UTC with or without a fraction.
///
/// # Errors
/// `Usage`.
pub fn parse_time(text: &str) -> Result<TimeNs> {
    let wrong = || {
        Error::usage(format!(
            "found time \"{text}\", expected one as 2026-11-21T12:00:00Z, a day, or seconds since \
             1970, from 1677 to 2262"
        ))
    };
    let found = if text.len() == 10 && text.as_bytes()[4] == b'-' {
        of_rfc3339(&format!("{text}T00:00:00Z"))
    } else if text.contains('T') {
        of_rfc3339(text)
    } else {
        of_seconds(text)
    };
    found.ok_or_else(wrong)
}

/// Formats a time as in RFC 3339, in UTC.
#[must_use]
pub fn time_text(time: TimeNs) -> String {
    let nanoseconds = u32::try_from(time.rem_euclid(SECOND)).expect("less than a second");
    let at = Timestamp { seconds: time.div_euclid(SECOND), nanoseconds };
    at.to_rfc3339().expect("the years 1677 to 2262")
}

fn of_rfc3339(text: &str) -> Option<TimeNs> {
    let (time, offset) = match text.strip_suffix('Z') {
        Some(time) => (time, 0),
        None => {
            let (time, offset) = text.split_at_checked(text.len().checked_sub(6)?)?;
            let (hours, minutes) = offset.get(1..)?.split_once(':')?;
            let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
            let seconds = (hours * 60 + minutes) * 60;
            match offset.as_bytes()[0] {
                b'+' => (time, seconds),
                b'-' => (time, -seconds),
                _ => return None,
            }
        }
    };
    // Trailing zeros of a fraction are redundant.
    let time = match time.split_once('.') {
        Some((whole, digits)) => match digits.trim_end_matches('0') {
            "" => whole.to_owned(),
            digits => format!("{whole}.{digits}"),
        },
        None => time.to_owned(),
    };
    let at = Timestamp::from_rfc3339(&format!("{time}Z"))?;
    let seconds = at.seconds.checked_sub(offset)?;
    // The first representable second begins before the first representable nanosecond.
    i64::try_from(i128::from(seconds) * i128::from(SECOND) + i128::from(at.nanoseconds)).ok()
}

fn of_seconds(text: &str) -> Option<TimeNs> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (sign, number) = match whole.strip_prefix('-') {
        Some(number) => (-1, number),
        None => (1, whole),
    };
    if !digits(number) || (text.contains('.') && !digits(fraction)) || fraction.len() > 9 {
        return None;
    }
    let seconds: i64 = number.parse().ok()?;
    let part: i64 = format!("{fraction:0<9}").parse().ok()?;
    seconds.checked_mul(SECOND)?.checked_add(part).map(|time| sign * time)
}

/// A series of values over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    name: Vec<u8>,
    bucket_ns: i64,
}

impl Series {
    /// Creates a series of this name, whose values are stored together bucket by bucket.
    ///
    /// # Errors
    /// `Usage` for a name with a zero byte, or a bucket of zero length.
    pub fn new(name: &str, bucket: Duration) -> Result<Series> {
        if name.is_empty() || name.contains('\0') {
            return Err(Error::usage("a series needs a name, without zero bytes"));
        }
        let bucket_ns = i64::try_from(bucket.as_nanos()).unwrap_or(i64::MAX);
        if bucket_ns == 0 {
            return Err(Error::usage("a bucket of a series must be longer than zero"));
        }
        Ok(Series { name: name.as_bytes().to_vec(), bucket_ns })
    }

    /// Returns the key of the value at this time.
    #[must_use]
    pub fn key(&self, time: TimeNs) -> Vec<u8> {
        let mut key = self.name.clone();
        key.push(0);
        key.extend_from_slice(&ordered(time.div_euclid(self.bucket_ns)));
        key.extend_from_slice(&ordered(time));
        key
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        std::str::from_utf8(&self.name).expect("a series is made of a text")
    }

    /// Returns the length of a bucket, in nanoseconds.
    #[must_use]
    pub fn bucket_ns(&self) -> i64 {
        self.bucket_ns
    }

    /// Returns the range of keys from one time (inclusive) to another (exclusive).
    #[must_use]
    pub fn range(&self, from: TimeNs, till: TimeNs) -> Range {
        Range { from: Some(self.key(from)), to: Some(self.key(till)) }
    }

    /// Returns the range of all its keys.
    #[must_use]
    pub fn whole(&self) -> Range {
        let mut prefix = self.name.clone();
        prefix.push(0);
        Range::prefix(&prefix)
    }

    /// Returns the time in a key of this series; `None` for any other key.
    #[must_use]
    pub fn time(&self, key: &[u8]) -> Option<TimeNs> {
        let rest = key.strip_prefix(self.name.as_slice())?.strip_prefix(&[0])?;
        let (bucket, time) = rest.split_first_chunk::<8>()?;
        let time = i64::from_be_bytes(time.try_into().ok()?) ^ i64::MIN;
        (ordered(time.div_euclid(self.bucket_ns)) == *bucket).then_some(time)
    }
}

/// Returns eight bytes that sort in numeric order.
fn ordered(number: i64) -> [u8; 8] {
    (number ^ i64::MIN).to_be_bytes()
}
