//! The numbers of the format: opcodes and types of values (Redis `src/rdb.h`, Valkey `src/rdb.h`).

use crate::Kind;

/// What stands before the keys of a database, or before one key.
pub(super) mod opcode {
    /// Redis Enterprise: a number about the next key (librdb's `src/lib/defines.h`, `__RDB_OPCODE_RAM_LRU`).
    pub const ENTERPRISE_LRU: u8 = 107;
    /// Redis 8.6: what modules keep at the next key.
    pub const KEY_META: u8 = 243;
    /// Valkey 9: which slots of a cluster are being imported.
    pub const SLOT_IMPORT: u8 = 243;
    /// How many keys a slot of a cluster has.
    pub const SLOT_INFO: u8 = 244;
    /// A library of functions.
    pub const FUNCTION_2: u8 = 245;
    /// A library of functions, as release candidates of Redis 7.0 wrote it.
    pub const FUNCTION: u8 = 246;
    /// What a module keeps beside the keys.
    pub const MODULE_AUX: u8 = 247;
    /// For how many seconds the next key was not used.
    pub const IDLE: u8 = 248;
    /// How often the next key is used.
    pub const FREQUENCY: u8 = 249;
    /// A fact about the server: name and value.
    pub const AUX: u8 = 250;
    /// How many keys follow.
    pub const RESIZE_DB: u8 = 251;
    /// When the next key expires, in milliseconds.
    pub const EXPIRE_MS: u8 = 252;
    /// When the next key expires, in seconds.
    pub const EXPIRE: u8 = 253;
    /// The number of the database.
    pub const SELECT_DB: u8 = 254;
    /// The end.
    pub const EOF: u8 = 255;
}

/// How a value is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// A string.
    String,
    /// A number of strings.
    List,
    /// A number of strings.
    Set,
    /// A number of members, each with its score as text.
    ScoresAsText,
    /// A number of members, each with its score as a double.
    Scores,
    /// A number of fields, each with its value.
    Hash,
    /// A hash with an expiry before each field.
    ExpiringHash(Expiry),
    /// A hash with an expiry after each value, in milliseconds since 1970 or -1 (Valkey).
    ValkeyHash,
    /// A string that is a zipmap.
    Zipmap,
    /// A string that is an intset.
    Intset,
    /// A string that is a ziplist or a listpack.
    Packed(Packing, Tuple),
    /// A number of ziplists.
    Quicklist,
    /// A number of listpacks, or of single elements.
    Quicklist2,
    /// A stream, in its first version to its fifth.
    Stream(u8),
    /// What a module wrote, which tells how it continues.
    Module,
}

/// What the expiries of a hash's fields are relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expiry {
    /// To 1970: a release candidate of Redis 7.4.
    Absolute,
    /// To the earliest of them, which stands first.
    Relative,
}

/// The two ways to pack small values into a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Ziplist,
    Listpack,
}

/// What belongs together in a packed value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tuple {
    /// The elements of a list.
    Element,
    /// The members of a set.
    Member,
    /// A member and its score.
    Scored,
    /// A field and its value.
    Pair,
    /// A field, its value, and when it expires, in milliseconds since 1970 or 0. The earliest expiry stands
    /// before the string, or nothing does.
    Expiring(Expiry),
}

impl Tuple {
    /// Returns how many elements belong together.
    pub fn width(self) -> u64 {
        match self {
            Tuple::Element | Tuple::Member => 1,
            Tuple::Scored | Tuple::Pair => 2,
            Tuple::Expiring(_) => 3,
        }
    }
}

/// Returns what a type of values is; `None` if it is not known.
pub(super) fn layout(code: u8, is_valkey: bool) -> Option<(Kind, Layout)> {
    use Packing::{Listpack, Ziplist};
    Some(match code {
        0 => (Kind::String, Layout::String),
        1 => (Kind::List, Layout::List),
        2 => (Kind::Set, Layout::Set),
        3 => (Kind::SortedSet, Layout::ScoresAsText),
        4 => (Kind::Hash, Layout::Hash),
        5 => (Kind::SortedSet, Layout::Scores),
        7 => (Kind::Module, Layout::Module),
        9 => (Kind::Hash, Layout::Zipmap),
        10 => (Kind::List, Layout::Packed(Ziplist, Tuple::Element)),
        11 => (Kind::Set, Layout::Intset),
        12 => (Kind::SortedSet, Layout::Packed(Ziplist, Tuple::Scored)),
        13 => (Kind::Hash, Layout::Packed(Ziplist, Tuple::Pair)),
        14 => (Kind::List, Layout::Quicklist),
        15 => (Kind::Stream, Layout::Stream(1)),
        16 => (Kind::Hash, Layout::Packed(Listpack, Tuple::Pair)),
        17 => (Kind::SortedSet, Layout::Packed(Listpack, Tuple::Scored)),
        18 => (Kind::List, Layout::Quicklist2),
        19 => (Kind::Stream, Layout::Stream(2)),
        20 => (Kind::Set, Layout::Packed(Listpack, Tuple::Member)),
        21 => (Kind::Stream, Layout::Stream(3)),
        // The number was given out twice.
        22 if is_valkey => (Kind::Hash, Layout::ValkeyHash),
        22 => (Kind::Hash, Layout::ExpiringHash(Expiry::Absolute)),
        23 => (Kind::Hash, Layout::Packed(Listpack, Tuple::Expiring(Expiry::Absolute))),
        24 => (Kind::Hash, Layout::ExpiringHash(Expiry::Relative)),
        25 => (Kind::Hash, Layout::Packed(Listpack, Tuple::Expiring(Expiry::Relative))),
        26 => (Kind::Stream, Layout::Stream(4)),
        27 => (Kind::Stream, Layout::Stream(5)),
        _ => return None,
    })
}
