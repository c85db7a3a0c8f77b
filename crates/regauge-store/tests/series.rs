//! Series: keys, buckets, times.

use std::time::Duration;

use regauge_store::series::{Buckets, DAY, Series, TimeNs, parse_time, time_text};

/// Nanoseconds per second.
const SECOND: i64 = 1_000_000_000;

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

#[test]
fn buckets_by_size_stay_below_it() {
    let every = |seconds: i64, bytes: usize| -> Vec<(TimeNs, usize)> {
        (0..100).map(|step| (step * seconds * SECOND, bytes)).collect()
    };
    let length =
        |first: &[(TimeNs, usize)]| "size".parse::<Buckets>().unwrap().length(first).as_secs();
    assert_eq!(length(&every(1, 14_000)), 3_600, "50 MB an hour");
    assert_eq!(length(&every(60, 14_000)), 86_400);
    assert_eq!(length(&every(3_600, 14_000)), 2_592_000, "10 MB a month");
    assert_eq!(length(&every(1, 100_000_000)), 1, "there is no shorter one");
    assert_eq!(length(&[]), 86_400);
    assert_eq!(length(&[(5, 1)]), 86_400);
    assert_eq!(length(&[(i64::MIN, 1), (i64::MAX, 1)]), 2_592_000);
}

#[test]
fn buckets_are_read() {
    let read = |text: &str| text.parse::<Buckets>();
    for (text, seconds) in
        [("day", 86_400), ("hour", 3_600), ("90s", 90), ("10m", 600), ("7d", 604_800)]
    {
        assert_eq!(read(text).unwrap(), Buckets::Every(Duration::from_secs(seconds)));
    }
    assert_eq!(read("size:7").unwrap(), Buckets::Bytes(7));
    for text in ["", "1", "0s", "-1s", "week", "size:0", "size:x", "300000000000d"] {
        let told = read(text).unwrap_err().to_string();
        assert!(told.contains(text), "{told}");
    }
}

#[test]
fn times_are_read_and_written() {
    for (text, time) in [
        ("1970-01-01", 0),
        ("1970-01-02T00:00:00Z", 86_400 * SECOND),
        ("1970-01-01T00:00:00.500Z", SECOND / 2),
        ("1970-01-01T00:00:00.000000001Z", 1),
        ("1970-01-01T00:00:00.0Z", 0),
        ("1970-01-01T02:00:00+02:00", 0),
        ("1969-12-31T23:30:00-00:30", 0),
        ("0", 0),
        ("1.25", SECOND + SECOND / 4),
        ("-1.5", -SECOND - SECOND / 2),
        ("1800000000", 1_800_000_000 * SECOND),
    ] {
        assert_eq!(parse_time(text).unwrap(), time, "{text}");
    }
    for text in [
        "",
        "now",
        "1.",
        ".5",
        "1e3",
        "2026-11-31",
        "2026-11-21T12:00:00",
        "2026-11-21T25:00:00Z",
        "9999-01-01",
        "99999999999",
        "1.1234567891",
        "+5",
        "2026-1-1",
        "é-é-é-é",
    ] {
        assert!(parse_time(text).is_err(), "{text}");
    }
    assert_eq!(time_text(SECOND / 2), "1970-01-01T00:00:00.5Z");
    for time in [i64::MIN, -1, 0, i64::MAX] {
        assert_eq!(parse_time(&time_text(time)).unwrap(), time);
    }
}
