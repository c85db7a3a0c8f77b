//! `/v1/series/{name}/{time}`: values over time, stored as documents whose keys contain the time.

use std::time::Duration;

use regauge_store::series::{Series, TimeNs};

use super::objects;
use crate::server::http::{Answer, Problem, reading};
use crate::server::request::{Call, KEY_MAX, checked_key};

/// One bucket per day.
const BUCKET: Duration = Duration::from_secs(86_400);
/// Bytes of a key after the name of its series.
const KEY_BYTES: usize = 17;

/// Returns the series of a name.
pub(crate) fn open(name: &str) -> Answer<Series> {
    if name.len() > KEY_MAX - KEY_BYTES {
        let most = KEY_MAX - KEY_BYTES;
        return Err(Problem::request(format!(
            "found a series name of {} bytes, expected at most {most}",
            name.len()
        )));
    }
    Series::new(name, BUCKET).map_err(reading)
}

/// Parses a time like the store: RFC 3339, a day, or seconds since 1970-01-01 UTC.
pub(crate) fn time(text: &str) -> Answer<TimeNs> {
    regauge_store::series::parse_time(text).map_err(|error| Problem::request(error.to_string()))
}

fn key(call: &Call) -> Answer<Vec<u8>> {
    let series = open(&call.part(2)?)?;
    checked_key(series.key(time(&call.part(3)?)?))
}

pub(crate) async fn get(call: Call) -> Answer {
    let key = key(&call)?;
    objects::get_key(call, key).await
}

pub(crate) async fn put(call: Call) -> Answer {
    let key = key(&call)?;
    objects::put_key(call, key).await
}

pub(crate) async fn delete(call: Call) -> Answer {
    let key = key(&call)?;
    objects::delete_key(call, key).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        assert_eq!(time("0").ok(), Some(0));
        assert_eq!(time("-5").ok(), Some(-5_000_000_000));
        assert_eq!(time("1.5").ok(), Some(1_500_000_000));
        assert_eq!(time("1970-01-01T00:00:01.5Z").ok(), Some(1_500_000_000));
        for wrong in ["", "+5", "1e9", "9223372037", "3000-01-01T00:00:00Z", "now"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
