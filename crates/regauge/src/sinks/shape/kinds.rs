//! The types of values, and how often each was seen.

/// The types that are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// Null.
    Null,
    /// A boolean.
    Bool,
    /// An integer of any size.
    Integer,
    /// A double or a single.
    Float,
    /// A decimal with its digits.
    Decimal,
    /// Text.
    Text,
    /// Text that is not UTF-8, or has lone surrogates.
    BrokenText,
    /// Bytes.
    Bytes,
    /// A point in time.
    Timestamp,
    /// A symbol.
    Symbol,
    /// A MessagePack extension, or another value that only one format has.
    Extension,
    /// A repeated occurrence of a value.
    Alias,
    /// An array.
    Array,
    /// A map.
    Map,
}

impl Kind {
    /// All types.
    pub const ALL: [Kind; 14] = [
        Kind::Null,
        Kind::Bool,
        Kind::Integer,
        Kind::Float,
        Kind::Decimal,
        Kind::Text,
        Kind::BrokenText,
        Kind::Bytes,
        Kind::Timestamp,
        Kind::Symbol,
        Kind::Extension,
        Kind::Alias,
        Kind::Array,
        Kind::Map,
    ];

    /// Returns the name in reports: `"null"`, `"bool"`, …
    pub fn name(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Bool => "bool",
            Kind::Integer => "integer",
            Kind::Float => "float",
            Kind::Decimal => "decimal",
            Kind::Text => "text",
            Kind::BrokenText => "broken text",
            Kind::Bytes => "bytes",
            Kind::Timestamp => "timestamp",
            Kind::Symbol => "symbol",
            Kind::Extension => "extension",
            Kind::Alias => "alias",
            Kind::Array => "array",
            Kind::Map => "map",
        }
    }
}

/// How often each type was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kinds(pub(super) [u64; Kind::ALL.len()]);

impl Kinds {
    /// Returns the types that were seen, in the order of [`Kind::ALL`].
    pub fn seen(&self) -> impl Iterator<Item = (Kind, u64)> + '_ {
        Kind::ALL.into_iter().zip(self.0).filter(|(_, count)| *count > 0)
    }

    /// Returns how often this type was seen.
    pub fn count(&self, kind: Kind) -> u64 {
        self.0[kind as usize]
    }

    /// Returns the number of values of all types.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}
