//! Assigns keys to partitions by a rule on the key's bytes alone, so that anyone who has a key can
//! find it. The rule must never change, because rows stay where it put them.
//!
//! - The key of a series (a name, a zero byte, 8 bytes of the bucket, 8 of the time: `series`) is
//!   in the partition of its bucket, whose name is the key up to that point. A time span of a
//!   series is a few partitions, each read in order. A separate table lists which ones exist.
//! - Every other key is in one of a number of partitions, by the CRC-32C of its bytes. A range of
//!   such keys is read from all of these at once and merged.
//! - A key with a zero byte after a name that is not a series key is placed by its name only: a
//!   range within a name then needs one of these partitions instead of all.

use crate::engine::Range;

/// The partition of a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Partition {
    /// A bucket of a series.
    Series(Vec<u8>),
    /// One of the numbered ones.
    Numbered(u16),
}

/// Bytes of the bucket in a key of a series.
const BUCKET: usize = 8;
/// Bytes after the zero byte in a key of a series.
const TAIL: usize = 16;

impl Partition {
    /// Returns the partition of a key in a table with this many numbered ones.
    pub(super) fn of(key: &[u8], numbered: u16) -> Partition {
        match named(key) {
            Some(zero) if key.len() == zero + 1 + TAIL => {
                Partition::Series(key[..=zero + BUCKET].to_vec())
            }
            Some(zero) => Partition::numbered(&key[..=zero], numbered),
            None => Partition::numbered(key, numbered),
        }
    }

    fn numbered(bytes: &[u8], numbered: u16) -> Partition {
        let number = crc32c::crc32c(bytes) % u32::from(numbered.max(1));
        Partition::Numbered(u16::try_from(number).expect("less than a u16"))
    }

    /// Returns the value of the column `bucket`. A series name is not empty, so none begins with 0.
    pub(super) fn bytes(&self) -> Vec<u8> {
        match self {
            Partition::Series(bytes) => bytes.clone(),
            Partition::Numbered(number) => {
                let [high, low] = number.to_be_bytes();
                vec![0, high, low]
            }
        }
    }
}

/// Returns the position of the zero byte after a name; `None` without a name or a zero byte.
fn named(key: &[u8]) -> Option<usize> {
    key.iter().position(|byte| *byte == 0).filter(|zero| *zero > 0)
}

/// Returns the numbered partitions that may hold keys of a range.
pub(super) fn numbered_in(range: &Range, numbered: u16) -> Vec<Partition> {
    let from = range.from.as_deref().unwrap_or_default();
    if let (Some(zero), Some(to)) = (named(from), &range.to) {
        // The first key after this whole name: its zero byte, incremented.
        let after = [&from[..zero], &[1]].concat();
        if *to <= after {
            return vec![Partition::numbered(&from[..=zero], numbered)];
        }
    }
    (0..numbered).map(Partition::Numbered).collect()
}

/// Returns the names of series partitions that may hold keys of a range, themselves as a range.
pub(super) fn series_in(range: &Range) -> Range {
    let from = range.from.as_ref().map(|from| match named(from) {
        // The only partition that begins before `from` and extends past it.
        Some(zero) if from.len() > zero + BUCKET => from[..=zero + BUCKET].to_vec(),
        _ => from.clone(),
    });
    Range { from, to: range.to.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::Series;
    use std::time::Duration;

    #[test]
    fn keys_have_their_partitions() {
        let series = Series::new("sensor 7", Duration::from_secs(86_400)).unwrap();
        let day = 86_400_000_000_000;
        let of = |key: &[u8]| Partition::of(key, 32);
        assert_eq!(of(&series.key(5)), of(&series.key(day - 1)));
        assert_ne!(of(&series.key(5)), of(&series.key(day)));
        assert!(matches!(of(&series.key(5)), Partition::Series(name) if name.len() == 17));
        // Stored data stays where it is: these numbers are permanent.
        assert_eq!(of(b"user/17"), Partition::Numbered(20));
        assert_eq!(of(b""), Partition::Numbered(0));
        assert_eq!(of(b"a\0b"), of(b"a\0"));
        assert!(matches!(of(&5_u64.to_be_bytes()), Partition::Numbered(_)));
        assert_eq!(Partition::Numbered(258).bytes(), [0, 1, 2]);
    }

    #[test]
    fn a_range_finds_the_partitions_of_all_its_keys() {
        let mut keys: Vec<Vec<u8>> = Vec::new();
        for name in ["a", "b", "a\u{1}", "ab", ""] {
            for tail in [&b""[..], b"\0", b"\0x", b"\0\x01\x02\x03\x04\x05\x06\x07\x08", b"\xFF"] {
                keys.push([name.as_bytes(), tail].concat());
            }
            for (bucket, time) in [(1, 1), (1, 9), (2, 0), (u64::MAX, u64::MAX)] {
                let mut key = [name.as_bytes(), b"\0"].concat();
                key.extend_from_slice(&bucket.to_be_bytes());
                key.extend_from_slice(&time.to_be_bytes());
                keys.push(key);
            }
        }
        keys.sort();
        for from in &keys {
            for to in keys.iter().map(Some).chain([None]) {
                let range = Range { from: Some(from.clone()), to: to.cloned() };
                let numbered = numbered_in(&range, 16);
                let series = series_in(&range);
                for key in &keys {
                    if key < from || to.is_some_and(|to| key >= to) {
                        continue;
                    }
                    match Partition::of(key, 16) {
                        Partition::Series(name) => {
                            assert!(series.from.as_ref().is_none_or(|from| name >= *from));
                            assert!(series.to.as_ref().is_none_or(|to| name < *to));
                        }
                        number => assert!(numbered.contains(&number), "{range:?}: {key:?}"),
                    }
                }
            }
        }
        let within = Range { from: Some(b"a\0x".to_vec()), to: Some(b"a\x01".to_vec()) };
        assert_eq!(numbered_in(&within, 16).len(), 1);
        assert_eq!(numbered_in(&Range::prefix(b"a"), 16).len(), 16);
    }
}
