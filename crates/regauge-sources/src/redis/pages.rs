//! The values of a list, a set, a sorted set or a hash, some at a time.

use redis::{Cmd, Value};
use regauge::Result;

use super::link::{Link, bytes, command, elements, number};
use crate::feed::{Feed, Head};
use crate::{Flow, Kind, Part};

/// How many elements are asked for at once.
const PAGE: u64 = 500;

/// A page of values.
pub(super) struct Page {
    /// The values, each with its field if it is of a hash, or the digits of its score.
    pub values: Vec<(Vec<u8>, Vec<u8>)>,
    /// The index of the first one.
    start: u64,
    /// The next cursor, or the index of the next element; `None` at the end.
    pub next: Option<Vec<u8>>,
}

/// Returns the command for a page, from a cursor or an index on.
pub(super) fn command_for(head: &Head<'_>, from: &[u8]) -> Cmd {
    let count = PAGE.to_string();
    let name = match head.kind {
        Kind::Set => "SSCAN",
        Kind::SortedSet => "ZSCAN",
        Kind::Hash => "HSCAN",
        _ => {
            let start: u64 =
                str::from_utf8(from).ok().and_then(|from| from.parse().ok()).unwrap_or(0);
            let end = (start + PAGE - 1).to_string();
            return command("LRANGE", &[head.key, from, end.as_bytes()]);
        }
    };
    command(name, &[head.key, from, b"COUNT", count.as_bytes()])
}

impl Page {
    /// Takes a page from an answer. `start` values were read before.
    pub fn parse(link: &Link, head: &Head<'_>, answer: Value, start: u64) -> Result<Page> {
        let wrong = || link.unexpected("read a value", "an answer that is no page of it");
        let mut parts = elements(answer).ok_or_else(wrong)?;
        if head.kind == Kind::List {
            let is_last = (parts.len() as u64) < PAGE;
            let values = parts.into_iter().filter_map(bytes).map(|value| (Vec::new(), value));
            let next = (!is_last).then(|| (start + PAGE).to_string().into_bytes());
            return Ok(Page { values: values.collect(), start, next });
        }
        let found = parts.pop().and_then(elements).ok_or_else(wrong)?;
        let cursor = parts.pop().and_then(bytes).ok_or_else(wrong)?;
        let mut found = found.into_iter().filter_map(bytes);
        let mut values = Vec::new();
        while let Some(first) = found.next() {
            values.push(match head.kind {
                Kind::Set => (Vec::new(), first),
                // The score stands after the member.
                Kind::SortedSet => (found.next().ok_or_else(wrong)?, first),
                _ => (first, found.next().ok_or_else(wrong)?),
            });
        }
        let next = Some(cursor).filter(|cursor| cursor != b"0");
        Ok(Page { values, start, next })
    }

    /// Hands out the values.
    pub fn hand_out(&self, link: &mut Link, head: &Head<'_>, feed: &mut Feed<'_>) -> Result<Flow> {
        let expiries = self.expiries(link, head)?;
        for (place, (before, value)) in self.values.iter().enumerate() {
            let part = match head.kind {
                Kind::Set => Part::Member,
                Kind::Hash => Part::Field(before),
                Kind::SortedSet => {
                    let score = str::from_utf8(before).ok().and_then(|score| score.parse().ok());
                    let wrong = || link.unexpected("read a value", "a score that is not a number");
                    Part::Score(score.ok_or_else(wrong)?)
                }
                _ => Part::Index(self.start + place as u64),
            };
            let expires_at = expiries.get(place).copied().flatten();
            let flow = feed.value(head, Some(part), expires_at, value)?;
            if flow != Flow::Continue {
                return Ok(flow);
            }
        }
        Ok(Flow::Continue)
    }

    /// Asks when the fields expire, of servers where they can.
    fn expiries(&self, link: &mut Link, head: &Head<'_>) -> Result<Vec<Option<i64>>> {
        if head.kind != Kind::Hash || self.values.is_empty() || !link.about.fields_expire() {
            return Ok(Vec::new());
        }
        let count = self.values.len().to_string();
        let mut asked = command("HPEXPIRETIME", &[head.key, b"FIELDS", count.as_bytes()]);
        for (field, _) in &self.values {
            asked.arg(&field[..]);
        }
        let answer = link.ask_all("ask when fields expire", &[asked])?.remove(0);
        let times = elements(answer).unwrap_or_default();
        Ok(times.iter().map(|time| number(time).filter(|time| *time >= 0)).collect())
    }
}
