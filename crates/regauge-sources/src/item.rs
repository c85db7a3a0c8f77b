//! One value of a cache, and where it is.

/// A value, with its key and its place in the key.
///
/// A key that holds several values, such as a hash, gives an item for each of them, one after the other. A key
/// whose values are not wanted, or cannot be told apart (a stream, a module's type), gives one item without a
/// value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Item<'a> {
    /// The number of the database, from 0.
    pub database: u64,
    /// The key: any bytes.
    pub key: &'a [u8],
    /// What the key holds.
    pub kind: Kind,
    /// The place in the key; `None` for a string, and if the item stands for all of its key.
    pub part: Option<Part<'a>>,
    /// The value: any bytes. `None` if values are not wanted, or if the kind has none to hand out.
    pub value: Option<&'a [u8]>,
    /// The length of the value in bytes. Without a value: what the key's value takes in the source, which may be
    /// compressed there.
    pub bytes: u64,
    /// When the key expires, in milliseconds since 1970, UTC. It may be past: a dump keeps such keys.
    pub expires_at: Option<i64>,
    /// Whether the source knows when keys expire; if not, `expires_at` is `None`, and says nothing.
    pub knows_expiry: bool,
    /// When this field of a hash expires (Redis 7.4, Valkey 9), in milliseconds since 1970, UTC.
    pub part_expires_at: Option<i64>,
    /// For how many seconds nobody has used the key, if the source knows.
    pub idle: Option<u64>,
    /// How often the key is used, on the logarithmic scale of Redis from 0 to 255, if the source knows.
    pub frequency: Option<u8>,
    /// The number that the client stored beside the value: the flags of Memcached.
    pub flags: Option<u32>,
    /// Whether the value is in a place that holds text only, such as a text column.
    pub is_text: bool,
    /// Whether this is the first item of its key.
    pub is_first: bool,
    /// How many parts the key has, if the source knows before it has read them all.
    pub parts: Option<u64>,
}

/// What a key holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// One value.
    String,
    /// Values in order.
    List,
    /// Values without order.
    Set,
    /// Values, each with a score.
    SortedSet,
    /// Values, each with a field.
    Hash,
    /// A log of entries, which is not read.
    Stream,
    /// A type that a module of the server defines, which is not read.
    Module,
}

impl Kind {
    /// Returns the name, as Redis' command `TYPE` gives it: `"string"`, `"zset"`, …
    pub fn name(self) -> &'static str {
        match self {
            Kind::String => "string",
            Kind::List => "list",
            Kind::Set => "set",
            Kind::SortedSet => "zset",
            Kind::Hash => "hash",
            Kind::Stream => "stream",
            Kind::Module => "module",
        }
    }
}

/// The place of a value in its key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part<'a> {
    /// At this index of a list, from 0.
    Index(u64),
    /// A member of a set.
    Member,
    /// A member of a sorted set, with this score.
    Score(f64),
    /// Under this field of a hash.
    Field(&'a [u8]),
}
