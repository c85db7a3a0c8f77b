//! A running Redis or Valkey: one server, one that Sentinels watch, or all masters of a cluster.
//!
//! | URL | what |
//! |---|---|
//! | `redis://user:password@host:6379/2` | a server, database 2; without a number, all that hold keys |
//! | `rediss://…` | the same through TLS, with the certificates that the system trusts |
//! | `unix:/run/redis.sock?db=2`, `redis+unix:…` | through a socket of the file system |
//! | `redis://host:26379?master=name` | the master that a Sentinel names; the name may be left out if it has one |
//!
//! `valkey://`, `valkeys://` and `valkey+unix:` are the same. A node of a cluster is recognised, and all of the
//! cluster's masters are read, one after the other.
//!
//! - **Keys** come from `SCAN`, never from `KEYS`, so no command takes long. A key that is there all the time comes at
//!   least once. It may come twice while the server resizes its tables, and so may a member of a large set, sorted set
//!   or hash. A list that changes while it is read may give an element twice, or leave one out.
//! - **Nothing is written** but by [`Source::replace_if_unchanged`]. Since Redis 7.2 reads do not count as use either
//!   (`CLIENT NO-TOUCH`). On older servers, reading a value or its length makes the key a recent one for LRU and LFU.
//! - **Expiry** is what `PTTL` and the server's clock give together: right to a few milliseconds.
//! - **Speed**: values are asked for in batches. [`Wanted::rate`] bounds the keys per second; to be easy on a server,
//!   set it, or read a dump. [`Wanted::load`] makes it wait while the server is busy.
//! - **Memory**: a batch of keys with up to 4 MiB of strings, or one longer string, and a page of 500 elements. Redis
//!   tells the length of a string, but not those of elements, which [`Wanted::value_bytes_max`] does not bound.

mod batch;
mod link;
mod load;
mod pages;
mod replace;
mod scan;
mod servers;
mod url;

use regauge::Result;

use crate::feed::{Each, Feed};
use crate::pace::Pace;
use crate::source::At;
use crate::{Flow, Replaced, Source, Summary, Wanted};
use link::Link;
use load::Load;
use url::Target;

/// A connection to a server, or to all masters of a cluster.
pub struct Redis {
    target: Target,
    masters: Vec<Link>,
}

impl Redis {
    /// Connects.
    ///
    /// # Errors
    /// `Refused` for a URL that is none, or if the server takes no such user or password; `Io` if it cannot be
    /// reached.
    pub fn open(url: &str) -> Result<Redis> {
        let target = Target::parse(url)?;
        let masters = servers::connect(&target)?;
        Ok(Redis { target, masters })
    }
}

impl Source for Redis {
    fn read(&mut self, wanted: &Wanted<'_>, each: Each<'_>) -> Result<Summary> {
        let mut feed = Feed::new(wanted, each);
        if let Some(first) = self.masters.first() {
            feed.summary.title = first.title();
        }
        if let count @ 2.. = self.masters.len() {
            feed.summary.title += &format!(", {count} masters of a cluster");
        }
        let mut pace = Pace::new(wanted.rate);
        for link in &mut self.masters {
            let mut load = Load::new(wanted.load);
            for database in servers::databases(link, self.target.database)? {
                if wanted.database.is_some_and(|one| one != database) {
                    continue;
                }
                link.select(database)?;
                if scan::database(link, database, (&mut pace, &mut load), &mut feed)? == Flow::Stop
                {
                    return Ok(finished(feed, false));
                }
            }
        }
        Ok(finished(feed, true))
    }

    fn replace_if_unchanged(&mut self, at: &At<'_>, old: &[u8], new: &[u8]) -> Result<Replaced> {
        replace::replace(&mut self.masters, &self.target, at, old, new)
    }
}

fn finished(feed: Feed<'_>, is_whole: bool) -> Summary {
    let mut summary = feed.summary;
    summary.is_whole = is_whole;
    // What the protocol adds is not counted.
    summary.bytes = summary.item_bytes;
    summary
}
