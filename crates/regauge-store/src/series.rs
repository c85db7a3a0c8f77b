//! Keys of time series: `series/bucket/time`, so that a series is a range of keys, and a bucket
//! (a day by default) is a part of it that an engine can hold together.
//!
//! A key is the name of the series, a zero byte, and 8 bytes of the bucket and 8 of the time, both
//! big-endian with the sign turned, so that keys stand in the order of their times. Cassandra's
//! guidance is partitions of less than 100 MB: a bucket is a partition there.

use std::time::Duration;

use crate::engine::Range;
use crate::error::{Error, Result};

/// Nanoseconds since 1970-01-01 UTC: 1677 to 2262.
pub type TimeNs = i64;

/// A series of values over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    name: Vec<u8>,
    bucket_ns: i64,
}

impl Series {
    /// A series of this name, whose values are held together bucket by bucket.
    ///
    /// # Errors
    /// `Usage` for a name with a zero byte, and for a bucket of no length.
    pub fn new(name: &str, bucket: Duration) -> Result<Series> {
        if name.is_empty() || name.contains('\0') {
            return Err(Error::usage("a series has a name, without zero bytes"));
        }
        let bucket_ns = i64::try_from(bucket.as_nanos()).unwrap_or(i64::MAX);
        if bucket_ns == 0 {
            return Err(Error::usage("a bucket of a series takes some time"));
        }
        Ok(Series { name: name.as_bytes().to_vec(), bucket_ns })
    }

    /// The key of the value of this time.
    #[must_use]
    pub fn key(&self, time: TimeNs) -> Vec<u8> {
        let mut key = self.name.clone();
        key.push(0);
        key.extend_from_slice(&ordered(time.div_euclid(self.bucket_ns)));
        key.extend_from_slice(&ordered(time));
        key
    }

    /// The keys of all values from one time till before another.
    #[must_use]
    pub fn range(&self, from: TimeNs, till: TimeNs) -> Range {
        Range { from: Some(self.key(from)), to: Some(self.key(till)) }
    }

    /// The keys of all values.
    #[must_use]
    pub fn whole(&self) -> Range {
        let mut prefix = self.name.clone();
        prefix.push(0);
        Range::prefix(&prefix)
    }

    /// The time in a key of this series; nothing for another key.
    #[must_use]
    pub fn time(&self, key: &[u8]) -> Option<TimeNs> {
        let rest = key.strip_prefix(self.name.as_slice())?.strip_prefix(&[0])?;
        let time: [u8; 8] = rest.get(8..)?.try_into().ok()?;
        Some(i64::from_be_bytes(time) ^ i64::MIN)
    }
}

/// Eight bytes that stand in the order of the numbers.
fn ordered(number: i64) -> [u8; 8] {
    (number ^ i64::MIN).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    #[test]
    fn keys_stand_in_the_order_of_their_times() {
        let series = Series::new("temperature", DAY).unwrap();
        let day = 86_400_000_000_000;
        let times = [i64::MIN, -day - 1, -day, -1, 0, 1, day - 1, day, i64::MAX];
        let keys: Vec<_> = times.iter().map(|time| series.key(*time)).collect();
        assert!(keys.is_sorted());
        for (key, time) in keys.iter().zip(times) {
            assert_eq!(series.time(key), Some(time));
            let range = series.whole();
            assert!(range.from.as_ref().unwrap() <= key && key < range.to.as_ref().unwrap());
        }
        let other = Series::new("temperature2", DAY).unwrap();
        assert_eq!(series.time(&other.key(5)), None);
        assert!(other.key(i64::MIN) > series.whole().to.unwrap());
    }

    #[test]
    fn a_bucket_is_a_range_of_its_own() {
        let series = Series::new("s", Duration::from_secs(1)).unwrap();
        let bucket = |time| series.key(time)[2..10].to_vec();
        assert_eq!(bucket(0), bucket(999_999_999));
        assert_ne!(bucket(0), bucket(1_000_000_000));
        assert_ne!(bucket(0), bucket(-1));
    }

    #[test]
    fn names_that_cannot_be() {
        assert!(Series::new("", DAY).is_err());
        assert!(Series::new("a\0b", DAY).is_err());
        assert!(Series::new("a", Duration::ZERO).is_err());
    }
}
