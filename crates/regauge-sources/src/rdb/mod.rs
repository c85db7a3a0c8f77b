//! Dumps of Redis and Valkey: RDB files.
//!
//! After `REDIS` and a version of four digits, or `VALKEY` and one of three, come opcodes and keys. A key is the type of
//! its value, its name and the value. An opcode says something about the database or about the next key, such as when
//! it expires. The last one is followed by a checksum (since version 5).
//!
//! There is no specification but the source: Redis `src/rdb.h` and `src/rdb.c`, `src/listpack.c`, `src/ziplist.c`,
//! `src/intset.c`, `src/zipmap.c` and `src/lzf_d.c`; Valkey's `src/rdb.c` since version 80.
//!
//! - **Versions** 1 to 13 of Redis (to Redis 8.6), 80 of Valkey 9. A newer version is read up to the first opcode or
//!   type that is not known.
//! - **Memory**: a window of 256 KiB, and the longest string, as its bytes arrive. What is not wanted is skipped
//!   without being held.
//! - **Not read**: streams, types of modules and functions. They are walked over and counted; the first two give an
//!   item without a value. Types of Redis 4.0's release candidates tell no length, and are refused.
//! - **The checksum** is compared at the end, after all items were handed out.
//! - **Expired keys** are in a dump till the server deletes them, and are handed out like any other.
//!
//! Compression around the dump is the caller's: [`Rdb::new`] takes any reader.

mod crc64;
mod input;
mod packed;
mod sets;
mod skip;
mod types;
mod value;
mod window;

mod lzf;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use regauge::{Error, ErrorKind, Result};

use crate::feed::{Each, Feed, Head, shown};
use crate::{Flow, Source, Summary, Wanted};
use input::Input;
use types::{Layout, opcode};
use value::Values;

/// What to do about bytes that break the format.
const DAMAGED: &str = "the dump is damaged at or before this byte; take a new one";
/// What to do about bytes that a newer server wrote.
const NEWER: &str = "a newer server wrote this dump; upgrade regauge, or read the server itself";

/// A dump, which can be read once.
pub struct Rdb<R> {
    input: Input<R>,
    is_read: bool,
}

impl Rdb<File> {
    /// Opens a file.
    ///
    /// # Errors
    /// `Io` if it cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> Result<Rdb<File>> {
        Ok(Rdb::new(File::open(path)?))
    }
}

impl<R: Read> Rdb<R> {
    /// Takes a dump from a reader, which needs no buffer of its own.
    pub fn new(read: R) -> Rdb<R> {
        Rdb { input: Input::new(read), is_read: false }
    }
}

/// Returns whether these are the first bytes of a dump.
pub fn is_rdb(bytes: &[u8]) -> bool {
    let digits = |bytes: &[u8], count: usize| {
        bytes.get(..count).is_some_and(|digits| digits.iter().all(u8::is_ascii_digit))
    };
    bytes.strip_prefix(b"REDIS").is_some_and(|rest| digits(rest, 4))
        || bytes.strip_prefix(b"VALKEY").is_some_and(|rest| digits(rest, 3))
}

/// What the opcodes before a key say about it.
#[derive(Clone, Copy, Default)]
struct About {
    expires_at: Option<i64>,
    idle: Option<u64>,
    frequency: Option<u8>,
}

/// The version in the first bytes.
struct Version {
    number: u32,
    is_valkey: bool,
}

impl<R: Read> Source for Rdb<R> {
    fn read(&mut self, wanted: &Wanted<'_>, each: Each<'_>) -> Result<Summary> {
        if std::mem::replace(&mut self.is_read, true) {
            let message = "found a dump that was already read, expected its beginning";
            return Err(Error::new(ErrorKind::Refused, message).hint("open it again"));
        }
        self.input.bytes_max = wanted.value_bytes_max;
        let mut feed = Feed::new(wanted, each);
        let version = self.version()?;
        let number = version.number;
        feed.summary.title = format!("RDB {number}");
        feed.summary.is_whole = self.walk(&version, &mut feed)?;
        if feed.summary.is_whole {
            self.verify(number)?;
            feed.summary.bytes = self.input.offset();
            feed.summary.has_tail = !self.input.window.is_at_end()?;
        } else {
            feed.summary.bytes = self.input.offset();
        }
        Ok(feed.summary)
    }
}

impl<R: Read> Rdb<R> {
    fn version(&mut self) -> Result<Version> {
        let head: [u8; 9] = self.input.window.array()?;
        let (is_valkey, digits) = match head.strip_prefix(b"REDIS") {
            Some(digits) => (false, digits),
            None => (true, head.strip_prefix(b"VALKEY").unwrap_or_default()),
        };
        match str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()) {
            Some(number) if number > 0 && is_rdb(&head) => Ok(Version { number, is_valkey }),
            _ => {
                let found = head.escape_ascii();
                let message = format!("found \"{found}\", expected \"REDIS\" and a version");
                let hint = "this is no RDB file, or a compressed one; decompress it first";
                Err(Error::syntax(message).at(0).hint(hint))
            }
        }
    }

    /// Walks over all opcodes and keys. Returns whether it came to the end.
    fn walk(&mut self, version: &Version, feed: &mut Feed<'_>) -> Result<bool> {
        let (mut key, mut held) = (Vec::new(), Vec::new());
        let mut database = 0;
        let mut about = About::default();
        loop {
            let at = self.input.offset();
            match self.input.window.byte()? {
                opcode::EOF => return Ok(true),
                opcode::SELECT_DB => database = self.input.length()?,
                opcode::EXPIRE_MS => {
                    about.expires_at = Some(i64::from_le_bytes(self.input.window.array()?));
                }
                opcode::EXPIRE => {
                    let seconds = i32::from_le_bytes(self.input.window.array()?);
                    about.expires_at = Some(i64::from(seconds) * 1000);
                }
                opcode::FREQUENCY => about.frequency = Some(self.input.window.byte()?),
                opcode::IDLE => about.idle = Some(self.input.length()?),
                opcode::ENTERPRISE_LRU => _ = self.input.length()?,
                code if code >= opcode::KEY_META => self.aside(code, at, version, feed)?,
                code => {
                    let Some((kind, layout)) = types::layout(code, version.is_valkey) else {
                        return Err(unknown(code, at));
                    };
                    key.clear();
                    key.extend_from_slice(self.input.string()?);
                    let About { expires_at, idle, frequency } = std::mem::take(&mut about);
                    let head =
                        Head { expires_at, idle, frequency, ..Head::new(database, &key, kind) };
                    let flow = self.key(head, layout, &mut held, feed);
                    if flow.map_err(|error| feed.named(error, &key))? == Flow::Stop
                        || feed.is_full()
                    {
                        return Ok(false);
                    }
                }
            }
        }
    }

    /// Hands out the value of a key, or walks over it.
    fn key(
        &mut self,
        head: Head<'_>,
        layout: Layout,
        held: &mut Vec<u8>,
        feed: &mut Feed<'_>,
    ) -> Result<Flow> {
        if !feed.takes(head.database, head.key, head.kind) {
            skip::value(&mut self.input, layout)?;
            return Ok(Flow::Continue);
        }
        let skipped = &mut feed.summary.skipped;
        match layout {
            Layout::Stream(_) => skipped.streams += 1,
            Layout::Module => skipped.modules += 1,
            _ => {}
        }
        if !feed.wanted.values {
            let start = self.input.offset();
            let parts = skip::value(&mut self.input, layout)?;
            return feed.whole(&head, self.input.offset() - start, parts);
        }
        Values { input: &mut self.input, held, head, feed }.read(layout)
    }

    /// Walks over what is about no key's value.
    #[cold]
    fn aside(&mut self, code: u8, at: u64, version: &Version, feed: &mut Feed<'_>) -> Result<()> {
        let input = &mut self.input;
        match code {
            opcode::AUX => {
                let server = match input.string()? {
                    b"redis-ver" => Some("Redis"),
                    b"valkey-ver" => Some("Valkey"),
                    _ => None,
                };
                let value = input.string()?;
                if let Some(server) = server {
                    feed.summary.title += &format!(" of {server} {}", shown(value));
                }
            }
            opcode::RESIZE_DB => skip::numbers(input, 2)?,
            opcode::SLOT_INFO => skip::numbers(input, 3)?,
            opcode::SLOT_IMPORT if version.is_valkey => {
                input.skip_string()?;
                let ranges = input.length()?;
                skip::numbers(input, ranges.saturating_mul(2))?;
            }
            opcode::KEY_META => {
                let classes = input.length()?;
                (0..classes).try_for_each(|_| {
                    input.window.skip(4)?;
                    skip::module(input)
                })?;
                feed.summary.skipped.module_data += 1;
            }
            opcode::MODULE_AUX => {
                input.length()?;
                skip::module(input)?;
                feed.summary.skipped.module_data += 1;
            }
            opcode::FUNCTION_2 => {
                input.skip_string()?;
                feed.summary.skipped.functions += 1;
            }
            opcode::FUNCTION => {
                // Name, engine, perhaps a description, and the code.
                skip::strings(input, 2)?;
                let described = input.length()?.min(1);
                skip::strings(input, described + 1)?;
                feed.summary.skipped.functions += 1;
            }
            _ => return Err(unknown(code, at)),
        }
        Ok(())
    }

    /// Compares the checksum that follows.
    fn verify(&mut self, version: u32) -> Result<()> {
        if version < 5 {
            return Ok(());
        }
        let (at, computed) = (self.input.offset(), self.input.window.checksum());
        let found = u64::from_le_bytes(self.input.window.array()?);
        // With `rdbchecksum no`, the server writes zeros.
        if found == 0 || found == computed {
            return Ok(());
        }
        let message = format!("found checksum {found:016x}, expected {computed:016x}");
        Err(Error::syntax(message)
            .at(at)
            .hint("some value is damaged, though all could be read; take a new dump"))
    }
}

#[cold]
fn unknown(code: u8, at: u64) -> Error {
    let (message, hint) = match code {
        6 => (
            "found a module's value in the layout of Redis 4.0's release candidates, which has no length".into(),
            "load it into Redis 4.0 with that module, and take a new dump",
        ),
        _ => (format!("found type {code}, expected one of 0 to 27 or an opcode from 243 on"), NEWER),
    };
    Error::new(ErrorKind::Unsupported, message).at(at).hint(hint)
}
