//! Reads a batch of keys, in a few round trips for all of them: what they are and when they expire, how long they
//! are, and their values.

use redis::{Cmd, Value};
use regauge::{Error, Result};

use super::link::{Link, bytes, command, elements, number};
use super::pages::{self, Page};
use crate::feed::{Feed, Head, shown};
use crate::{Flow, Kind};

/// The most bytes of strings that are asked for at once.
const STRINGS_BYTES: u64 = 4 << 20;
/// The most lists, sets, sorted sets and hashes that are asked for at once, each for its first page.
const COLLECTIONS: usize = 32;

/// Hands out these keys.
pub(super) fn read(
    link: &mut Link,
    database: u64,
    keys: &[&[u8]],
    feed: &mut Feed<'_>,
) -> Result<Flow> {
    let heads = heads(link, database, keys, feed)?;
    let sizes = sizes(link, &heads, feed.wanted.values)?;
    let mut sized: Vec<(Head<'_>, Size)> = heads.into_iter().zip(sizes).collect();
    // A key whose length is 0 has vanished meanwhile, but for a string that is empty.
    sized.retain(|(head, size)| {
        let is_there = size.parts != Some(0);
        feed.summary.vanished += u64::from(!is_there);
        let skipped = &mut feed.summary.skipped;
        match head.kind {
            Kind::Stream if is_there => skipped.streams += 1,
            Kind::Module if is_there => skipped.modules += 1,
            _ => {}
        }
        is_there
    });
    let mut rest = &sized[..];
    while !rest.is_empty() {
        let (group, after) = rest.split_at(group(rest));
        if values(link, group, feed)? == Flow::Stop {
            return Ok(Flow::Stop);
        }
        rest = after;
    }
    Ok(if feed.is_full() { Flow::Stop } else { Flow::Continue })
}

/// Asks for what the keys are. Returns those that are to be handed out.
fn heads<'k>(
    link: &mut Link,
    database: u64,
    keys: &[&'k [u8]],
    feed: &mut Feed<'_>,
) -> Result<Vec<Head<'k>>> {
    const EACH: usize = 4;
    let doing = "ask for the types of keys";
    let mut commands = vec![command("TIME", &[])];
    for key in keys {
        // None of them counts as use of the key. One of the last two fails, by what the server keeps.
        commands.push(command("TYPE", &[key]));
        commands.push(command("PTTL", &[key]));
        commands.push(command("OBJECT", &[b"IDLETIME", key]));
        commands.push(command("OBJECT", &[b"FREQ", key]));
    }
    let mut answers = link.ask_all(doing, &commands)?.into_iter();
    let now = answers.next().and_then(elements).unwrap_or_default();
    let now = match (now.first().and_then(number), now.get(1).and_then(number)) {
        (Some(seconds), Some(micros)) => Some(seconds * 1000 + micros / 1000),
        _ => None,
    };
    let mut heads = Vec::new();
    for key in keys {
        let answers: Vec<Value> = answers.by_ref().take(EACH).collect();
        let [kind, left, idle, frequency] = &answers[..] else {
            return Err(link.unexpected(doing, "too few answers"));
        };
        let kind = bytes(link.checked(doing, kind.clone())?).unwrap_or_default();
        let kind = match &kind[..] {
            b"none" => {
                feed.summary.vanished += 1;
                continue;
            }
            b"string" => Kind::String,
            b"list" => Kind::List,
            b"set" => Kind::Set,
            b"zset" => Kind::SortedSet,
            b"hash" => Kind::Hash,
            b"stream" => Kind::Stream,
            _ => Kind::Module,
        };
        if feed.is_full() || !feed.takes(database, key, kind) {
            continue;
        }
        let left = number(left).filter(|left| *left >= 0);
        heads.push(Head {
            expires_at: left.zip(now).map(|(left, now)| now.saturating_add(left)),
            idle: number(idle).and_then(|idle| idle.try_into().ok()),
            frequency: number(frequency).and_then(|often| often.try_into().ok()),
            ..Head::new(database, key, kind)
        });
    }
    Ok(heads)
}

/// How much a key holds.
#[derive(Clone, Copy)]
struct Size {
    /// The length of a string, or what the key takes in the server's memory.
    bytes: u64,
    parts: Option<u64>,
}

/// Asks how much each key holds.
fn sizes(link: &mut Link, heads: &[Head<'_>], values: bool) -> Result<Vec<Size>> {
    let mut commands = Vec::new();
    for head in heads {
        commands.push(length_of(head));
        // An estimate from a few elements, where the elements are not read.
        if !values || matches!(head.kind, Kind::Stream | Kind::Module) {
            commands.push(command("MEMORY", &[b"USAGE", head.key]));
        }
    }
    let mut answers = link.ask_all("ask for the sizes of keys", &commands)?.into_iter();
    let mut answer =
        || answers.next().as_ref().and_then(number).and_then(|size| u64::try_from(size).ok());
    Ok(heads
        .iter()
        .map(|head| {
            let length = answer();
            let has_values = values && !matches!(head.kind, Kind::Stream | Kind::Module);
            let memory = if has_values { None } else { answer() };
            let parts = match head.kind {
                Kind::String => Some(1),
                // A module has no length; `EXISTS` says whether it is there.
                Kind::Module => length.filter(|there| *there == 0),
                // A stream may be empty.
                Kind::Stream => length.filter(|length| *length > 0),
                _ => length,
            };
            Size { bytes: memory.or(length).unwrap_or(0), parts }
        })
        .collect())
}

fn length_of(head: &Head<'_>) -> Cmd {
    let name = match head.kind {
        Kind::String => "STRLEN",
        Kind::List => "LLEN",
        Kind::Set => "SCARD",
        Kind::SortedSet => "ZCARD",
        Kind::Hash => "HLEN",
        Kind::Stream => "XLEN",
        Kind::Module => "EXISTS",
    };
    command(name, &[head.key])
}

/// Returns how many of these keys are read at once.
fn group(sized: &[(Head<'_>, Size)]) -> usize {
    let (mut bytes, mut collections, mut count) = (0_u64, 0, 0);
    for (head, size) in sized {
        match head.kind {
            Kind::String => bytes = bytes.saturating_add(size.bytes),
            _ => collections += 1,
        }
        if count > 0 && (bytes > STRINGS_BYTES || collections > COLLECTIONS) {
            break;
        }
        count += 1;
    }
    count
}

/// Reads the values of a few keys, and hands them out.
fn values(link: &mut Link, group: &[(Head<'_>, Size)], feed: &mut Feed<'_>) -> Result<Flow> {
    let (most, has_values) = (feed.wanted.value_bytes_max, feed.wanted.values);
    let mut commands = Vec::new();
    for (head, size) in group.iter().filter(|_| has_values) {
        if head.kind == Kind::String && size.bytes > most {
            return Err(too_long(link, head, size.bytes, most));
        }
        commands.extend(first_command(head));
    }
    let mut answers = link.ask_all("read values", &commands)?.into_iter();
    for (head, size) in group {
        let is_asked = has_values && !matches!(head.kind, Kind::Stream | Kind::Module);
        let flow = match if is_asked { answers.next() } else { None } {
            None => feed.whole(head, size.bytes, size.parts)?,
            Some(answer) => {
                let answer = link.checked("read a value", answer);
                let answer = answer.map_err(|error| feed.named(error, head.key))?;
                if head.kind == Kind::String {
                    string(head, answer, feed)?
                } else {
                    feed.begin(head, size.parts);
                    collection(link, head, answer, feed)?
                }
            }
        };
        if flow == Flow::Stop {
            return Ok(Flow::Stop);
        }
    }
    Ok(Flow::Continue)
}

fn first_command(head: &Head<'_>) -> Option<Cmd> {
    match head.kind {
        Kind::String => Some(command("GET", &[head.key])),
        Kind::Stream | Kind::Module => None,
        _ => Some(pages::command_for(head, b"0")),
    }
}

fn string(head: &Head<'_>, answer: Value, feed: &mut Feed<'_>) -> Result<Flow> {
    let Some(value) = bytes(answer) else {
        feed.summary.vanished += 1;
        return Ok(Flow::Continue);
    };
    feed.begin(head, Some(1));
    feed.value(head, None, None, &value)
}

/// Hands out page after page of a key.
fn collection(
    link: &mut Link,
    head: &Head<'_>,
    mut answer: Value,
    feed: &mut Feed<'_>,
) -> Result<Flow> {
    let mut read = 0;
    loop {
        let page = Page::parse(link, head, answer, read)?;
        read += page.values.len() as u64;
        match page.hand_out(link, head, feed)? {
            Flow::Continue => {}
            Flow::SkipKey => return Ok(Flow::Continue),
            Flow::Stop => return Ok(Flow::Stop),
        }
        let Some(next) = page.next else { return Ok(Flow::Continue) };
        let doing = "read more of a value";
        answer = link
            .ask(doing, &pages::command_for(head, &next))
            .map_err(|error| feed.named(error, head.key))?;
    }
}

#[cold]
fn too_long(link: &Link, head: &Head<'_>, length: u64, most: u64) -> Error {
    let (name, key) = (&link.name, shown(head.key));
    let message = format!(
        "redis {name}: key \"{key}\": found a string of {length} bytes, expected at most {most}"
    );
    Error::limit(message).hint("raise the limit, or read the keys without their values")
}
