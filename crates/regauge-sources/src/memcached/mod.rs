//! A running Memcached, 1.6.0 or newer: `memcached://host:11211`.
//!
//! - **Keys** come from `lru_crawler metadump all`, which lists what is stored when it comes by. It locks nothing for
//!   long, and can be asked by one client at a time. It lists text and other keys alike.
//! - **Values** come from the meta command `mg`, with the flag `u`: it does not count as use, so the order of eviction
//!   stays as it is. (`get` would change it, and so would `mg` without `u`.) The server's own counters, such as
//!   `get_hits`, do count it.
//! - **Nothing is written** but by [`Source::replace_if_unchanged`]: `ms` with the value's own `cas` number, flags and
//!   remaining time. Times are whole seconds, so a value may live up to one longer.
//! - **Flags** are what the client that stored the value makes of them: most use the lowest bit for a value that the
//!   language serialized.
//! - **Memory**: one value, and 1,000 keys.
//!
//! Protocol: Memcached's `doc/protocol.txt`. Not supported: TLS, and servers that ask for a password.

mod keys;
mod link;

use regauge::{Error, ErrorKind, Result};

use crate::feed::{Each, Feed, Head};
use crate::pace::Pace;
use crate::source::At;
use crate::{Flow, Kind, Replaced, Source, Summary, Wanted};
use keys::Stored;
use link::{Answer, Link};

/// How many keys are listed before their values are read.
const BATCH: u32 = 1000;
/// How many values are asked for at once. So many requests, of 360 bytes at most, fit into the buffers of any
/// connection, even if nobody takes the answers yet.
const REQUESTS: usize = 64;

/// A connection to a server.
pub struct Memcached {
    address: String,
    link: Link,
    version: String,
}

impl Memcached {
    /// Connects.
    ///
    /// # Errors
    /// `Refused` for a URL that is none; `Io` if the server cannot be reached; `Unsupported` if it is older than 1.6.
    pub fn open(url: &str) -> Result<Memcached> {
        let address = link::address(url)?;
        let mut link = Link::open(&address)?;
        let version = link.version()?;
        Ok(Memcached { address, link, version })
    }
}

impl Source for Memcached {
    fn read(&mut self, wanted: &Wanted<'_>, each: Each<'_>) -> Result<Summary> {
        let mut feed = Feed::new(wanted, each);
        feed.summary.title = format!("Memcached {}", self.version);
        self.refresh()?;
        let mut pace = Pace::new(wanted.rate);
        // The list has a connection of its own, from which it is taken as fast as the values are read.
        let mut list = Link::open(&self.address)?;
        list.send(b"lru_crawler metadump all\r\n", 1)?;
        let most = pace.batch(BATCH) as usize;
        let mut is_whole = false;
        while !is_whole && !feed.is_full() {
            let mut batch = Vec::new();
            while batch.len() < most && !feed.is_full() {
                let Some(stored) = keys::next(&mut list)? else {
                    is_whole = true;
                    break;
                };
                if feed.takes(0, &stored.key, Kind::String) {
                    batch.push(stored);
                }
            }
            if self.hand_out(&batch, &mut feed)? == Flow::Stop {
                is_whole = false;
                break;
            }
            pace.wait(batch.len());
        }
        let mut summary = feed.summary;
        summary.is_whole = is_whole;
        summary.bytes = summary.item_bytes;
        Ok(summary)
    }

    fn replace_if_unchanged(&mut self, at: &At<'_>, old: &[u8], new: &[u8]) -> Result<Replaced> {
        if at.part.is_some() || at.database != 0 {
            let message =
                "found a part of a key, or another database than 0, expected a key of Memcached";
            return Err(Error::new(ErrorKind::Refused, message));
        }
        let (name, flag) = link::name(at.key)?;
        self.refresh()?;
        self.link.send(format!("mg {name}{flag} v f t c u\r\n").as_bytes(), 1)?;
        let (answer, value) = self.link.value(at.key, u64::MAX)?;
        let Answer::Found(about) = answer else { return Ok(Replaced::Gone) };
        if value.as_deref() != Some(old) {
            return Ok(Replaced::Changed);
        }
        let Some(cas) = about.cas.filter(|cas| *cas > 0) else {
            let message = format!("memcached {}: found no cas numbers", self.address);
            return Err(Error::new(ErrorKind::Refused, message).hint(
                "start the server without --disable-cas; values cannot be replaced safely so",
            ));
        };
        // 0 stands for never here, and -1 in the answer.
        let left = match about.left {
            Some(0) => return Ok(Replaced::Gone),
            Some(left) if left > 0 => left,
            _ => 0,
        };
        let flags = about.flags.unwrap_or(0);
        let head = format!("ms {name} {}{flag} C{cas} F{flags} T{left}\r\n", new.len());
        self.link.send(&[head.as_bytes(), new, b"\r\n"].concat(), 1)?;
        let line = self.link.line()?;
        self.link.done();
        match line.split(|byte| *byte == b' ').next() {
            Some(b"HD") => Ok(Replaced::Done),
            Some(b"EX") => Ok(Replaced::Changed),
            Some(b"NF") => Ok(Replaced::Gone),
            _ => Err(self.link.refused("replace a value", &line)),
        }
    }
}

impl Memcached {
    /// Hands out these keys.
    fn hand_out(&mut self, batch: &[Stored], feed: &mut Feed<'_>) -> Result<Flow> {
        let values = feed.wanted.values;
        for some in batch.chunks(REQUESTS) {
            let mut request = Vec::new();
            for stored in some {
                let (name, flag) = link::name(&stored.key)?;
                // Without values, the size of each is asked for.
                let what = if values { "v" } else { "s" };
                request.extend_from_slice(format!("mg {name}{flag} {what} f l u\r\n").as_bytes());
            }
            self.link.send(&request, some.len())?;
            for stored in some {
                if self.one(stored, feed)? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
        }
        Ok(Flow::Continue)
    }

    /// Hands out a key whose answer is due.
    fn one(&mut self, stored: &Stored, feed: &mut Feed<'_>) -> Result<Flow> {
        let (answer, value) = self.link.value(&stored.key, feed.wanted.value_bytes_max)?;
        let Answer::Found(about) = answer else {
            feed.summary.vanished += 1;
            return Ok(Flow::Continue);
        };
        let head = Head {
            expires_at: stored.expires.map(|seconds| seconds.saturating_mul(1000)),
            idle: about.idle,
            flags: about.flags,
            ..Head::new(0, &stored.key, Kind::String)
        };
        match value {
            Some(value) => {
                feed.begin(&head, Some(1));
                feed.value(&head, None, None, &value)
            }
            None => feed.whole(&head, about.size.unwrap_or(0), Some(1)),
        }
    }

    /// Connects again if answers are due that nobody took.
    fn refresh(&mut self) -> Result<()> {
        if self.link.is_stale() {
            self.link = Link::open(&self.address)?;
        }
        Ok(())
    }
}
