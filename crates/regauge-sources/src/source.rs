//! What every source does: read all of it, and perhaps replace a value.

use regauge::{Error, ErrorKind, Result};

use crate::item::{Item, Kind, Part};

/// A cache or a dump of one, a column of a table, or a field of a collection.
pub trait Source {
    /// Reads what is wanted, and calls `each` for every item. Its result says how to go on.
    ///
    /// # Errors
    /// `Io` if the source cannot be read; `Truncated`, `Syntax` or `Unsupported` if it is not what it seems;
    /// `Limit` for a value that is longer than [`Wanted::value_bytes_max`]; and those of `each`.
    fn read(
        &mut self,
        wanted: &Wanted<'_>,
        each: &mut dyn FnMut(&Item<'_>) -> Result<Flow>,
    ) -> Result<Summary>;

    /// Replaces one value by `new` if it still is `old`, in one step for every other client. The key's expiry
    /// stays as it is; in Memcached and Cassandra, to the second.
    ///
    /// # Errors
    /// `Refused` if this source, or its server, takes no writes; `Unrepresentable` if the place cannot hold the new
    /// value, and still has the old one; `Io` if it is not known whether the value was replaced.
    fn replace_if_unchanged(&mut self, at: &At<'_>, old: &[u8], new: &[u8]) -> Result<Replaced> {
        let _ = (at, old, new);
        Err(Error::new(ErrorKind::Refused, "found a dump to write to, expected a server")
            .hint("connect to the server that the dump is from"))
    }
}

/// The place of one value: what identifies an [`Item`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct At<'a> {
    /// The number of the database, from 0.
    pub database: u64,
    /// The key.
    pub key: &'a [u8],
    /// The place in the key.
    pub part: Option<Part<'a>>,
}

impl<'a> From<&Item<'a>> for At<'a> {
    fn from(item: &Item<'a>) -> At<'a> {
        At { database: item.database, key: item.key, part: item.part }
    }
}

/// What to read, and how fast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanted<'a> {
    /// Only keys that begin with these bytes.
    pub prefix: &'a [u8],
    /// Only this database.
    pub database: Option<u64>,
    /// Only keys of this kind.
    pub kind: Option<Kind>,
    /// Which of these keys.
    pub sample: Sample,
    /// Whether values are read. Without them, each key gives one item with its size.
    pub values: bool,
    /// The longest value that is held in memory, in bytes. Redis takes no longer ones than 512 MB unless
    /// `proto-max-bulk-len` is raised.
    pub value_bytes_max: u64,
    /// The most keys per second that a server is asked for; `None` for as fast as it answers.
    pub rate: Option<u32>,
    /// The percentage of a core that a server may spend on all its clients while it is asked for keys; `None` for any.
    /// Only Redis and Valkey tell.
    pub load: Option<u8>,
}

impl Default for Wanted<'_> {
    /// All keys with their values.
    fn default() -> Self {
        Wanted {
            prefix: b"",
            database: None,
            kind: None,
            sample: Sample::All,
            values: true,
            value_bytes_max: 512 << 20,
            rate: None,
            load: None,
        }
    }
}

impl Wanted<'_> {
    /// Returns whether a key is wanted, apart from sampling.
    pub fn admits(&self, database: u64, key: &[u8], kind: Kind) -> bool {
        key.starts_with(self.prefix)
            && self.database.is_none_or(|one| one == database)
            && self.kind.is_none_or(|one| one == kind)
    }
}

/// Which of the wanted keys are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// All of them.
    All,
    /// The first one and then every n-th; 0 counts as 1.
    EveryNth(u64),
    /// The first ones that the source gives, up to this number. A server gives keys in no order.
    First(u64),
}

/// How to go on after an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// With the next item.
    Continue,
    /// With the next key.
    SkipKey,
    /// Not at all.
    Stop,
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Where it is from: `RDB 10 of Redis 7.0.15`.
    pub title: String,
    /// How many keys were handed out.
    pub keys: u64,
    /// How many items.
    pub items: u64,
    /// How many bytes of keys, fields and values were handed out.
    pub item_bytes: u64,
    /// How many bytes were read: of the file, or from the server.
    pub bytes: u64,
    /// How many keys were passed over, because they were not wanted or not in the sample.
    pub passed_over: u64,
    /// What has no values to hand out.
    pub skipped: Skipped,
    /// How many keys vanished while they were read: they expired, or were deleted.
    pub vanished: u64,
    /// Whether the source was read to its end.
    pub is_whole: bool,
    /// Whether more bytes follow the end, such as the commands of an append-only file. They are not read.
    pub has_tail: bool,
}

/// How much of a source has no values to hand out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// Keys that hold a stream. Each gives an item without a value.
    pub streams: u64,
    /// Keys that hold a module's type. Each gives an item without a value.
    pub modules: u64,
    /// What modules keep beside the keys, and at a key.
    pub module_data: u64,
    /// Libraries of functions.
    pub functions: u64,
    /// Documents without the field that is read, or with null in it; rows of Cassandra with null in the column.
    pub absent: u64,
    /// Documents in which the field is neither binary data nor text.
    pub others: u64,
}

/// How an attempt to replace a value ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaced {
    /// The value is the new one.
    Done,
    /// The value is no longer the old one, and stays as it is.
    Changed,
    /// The key or its part does not exist any more.
    Gone,
    /// The key belongs to another table or collection than the source.
    Elsewhere,
}
