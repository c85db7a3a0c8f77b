//! The list of keys: a line for each, such as `key=user%201 exp=1795720630 la=1795720530 cas=1 fetch=no cls=1 size=67`.

use regauge::Result;

use super::link::Link;
use crate::feed::percent_decoded;

/// A key that is stored.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stored {
    pub key: Vec<u8>,
    /// When it expires, in seconds since 1970, UTC.
    pub expires: Option<i64>,
}

/// Takes the next key of a list; `None` at its end.
pub(super) fn next(list: &mut Link) -> Result<Option<Stored>> {
    let line = list.line()?;
    if line == b"END" {
        list.done();
        return Ok(None);
    }
    match parse(&line) {
        Some(stored) => Ok(Some(stored)),
        None => Err(list.refused("list the keys", &line)),
    }
}

fn parse(line: &[u8]) -> Option<Stored> {
    let mut words = line.split(|byte| *byte == b' ');
    let key = percent_decoded(words.next()?.strip_prefix(b"key=")?)?;
    let expires = words.next()?.strip_prefix(b"exp=")?;
    let expires: i64 = str::from_utf8(expires).ok()?.parse().ok()?;
    Some(Stored { key, expires: Some(expires).filter(|time| *time >= 0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Option<(&[u8], Option<i64>)>) {
        let found = parse(line.as_bytes());
        let expected = expected.map(|(key, expires)| Stored { key: key.to_vec(), expires });
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn lines_give_keys() {
        check(
            "key=a exp=1795720630 la=1 cas=1 fetch=no cls=1 size=67",
            Some((b"a", Some(1_795_720_630))),
        );
        check("key=%FF%001%2520 exp=-1 la=1", Some((b"\xff\x001%20", None)));
        check("key=%F exp=-1", None);
        check("key=a", None);
        check("BUSY currently processing crawler request", None);
    }
}
