//! Walks over the keys of a database.

use std::collections::HashSet;

use regauge::Result;

use super::batch;
use super::link::{Link, bytes, command, elements};
use super::load::Load;
use crate::Flow;
use crate::feed::Feed;
use crate::pace::Pace;

/// How many keys the server looks at for one answer: a millisecond of its time.
const SCAN_COUNT: u32 = 500;

/// Reads a database of a server.
pub(super) fn database(
    link: &mut Link,
    database: u64,
    (pace, load): (&mut Pace, &mut Load),
    feed: &mut Feed<'_>,
) -> Result<Flow> {
    let doing = "list the keys";
    let pattern = pattern(feed.wanted.prefix);
    let count = pace.batch(SCAN_COUNT).to_string();
    let mut cursor = b"0".to_vec();
    loop {
        load.wait(link)?;
        let mut arguments: Vec<&[u8]> =
            vec![cursor.as_slice(), b"COUNT".as_slice(), count.as_bytes()];
        if !feed.wanted.prefix.is_empty() {
            arguments.extend([b"MATCH".as_slice(), pattern.as_slice()]);
        }
        let kind = feed.wanted.kind.map(crate::Kind::name);
        // Redis 6 can choose by it; others give all keys, whose kinds are looked at then.
        if let Some(kind) = kind.filter(|_| link.about.version >= (6, 0)) {
            arguments.extend([b"TYPE".as_slice(), kind.as_bytes()]);
        }
        let answer = link.ask(doing, &command("SCAN", &arguments))?;
        let mut parts = elements(answer).unwrap_or_default().into_iter();
        let next = parts.next().and_then(bytes);
        let keys = parts.next().and_then(elements);
        let (Some(next), Some(keys)) = (next, keys) else {
            return Err(link.unexpected(doing, "an answer that is no page of keys"));
        };
        // The server may give a key twice, and does so in one answer most of the time.
        let mut seen = HashSet::new();
        let keys: Vec<Vec<u8>> = keys.into_iter().filter_map(bytes).collect();
        let keys: Vec<&[u8]> =
            keys.iter().map(Vec::as_slice).filter(|key| seen.insert(*key)).collect();
        for some in keys.chunks(SCAN_COUNT as usize) {
            if batch::read(link, database, some, feed)? == Flow::Stop {
                return Ok(Flow::Stop);
            }
            pace.wait(some.len());
        }
        if next == b"0" {
            return Ok(Flow::Continue);
        }
        cursor = next;
    }
}

/// Returns the pattern of keys that begin with these bytes.
fn pattern(prefix: &[u8]) -> Vec<u8> {
    let mut pattern = Vec::with_capacity(prefix.len() + 1);
    for byte in prefix {
        if b"*?[]^\\".contains(byte) {
            pattern.push(b'\\');
        }
        pattern.push(*byte);
    }
    pattern.push(b'*');
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_taken_literally() {
        assert_eq!(pattern(b"user:"), b"user:*");
        assert_eq!(pattern(b"a*b[c]?\\"), b"a\\*b\\[c\\]\\?\\\\*");
    }
}
