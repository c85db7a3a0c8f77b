//! Names the formats that contenders read, and what they make of them.

use regauge::marc;
use serde::{Deserialize, Serialize};

/// The bytes that a contender reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wire {
    /// JSON: one document, or one a line.
    Json,
    /// MessagePack: one document, or one after the other.
    Msgpack,
    /// MARC 21 records (ISO 2709).
    Marc,
    /// One MARCXML collection.
    Marcxml,
    /// MARC-in-JSON, one record a line.
    MarcJson,
    /// Ruby's own format.
    Marshal,
    /// YAML: one document, or one after the other.
    Yaml,
    /// BSON documents, one after the other.
    Bson,
    /// CBOR: one document, or one after the other.
    Cbor,
    /// Python's own format, in the protocol that Python chooses.
    Pickle,
    /// The same in protocol 0, which is text.
    Pickle0,
    /// The same in protocol 2.
    Pickle2,
    /// The same in protocol 5.
    Pickle5,
    /// A format that regauge does not know, by the name that its adapter gives it. Its runtime
    /// writes the reference bytes (`made from: json`).
    Own(&'static str),
}

impl Wire {
    /// The formats that regauge knows, with the names that adapters use.
    pub(crate) const ALL: [(&'static str, Wire); 13] = [
        ("json", Wire::Json),
        ("msgpack", Wire::Msgpack),
        ("marc", Wire::Marc),
        ("marcxml", Wire::Marcxml),
        ("marc-json", Wire::MarcJson),
        ("marshal", Wire::Marshal),
        ("yaml", Wire::Yaml),
        ("bson", Wire::Bson),
        ("cbor", Wire::Cbor),
        ("pickle", Wire::Pickle),
        ("pickle-0", Wire::Pickle0),
        ("pickle-2", Wire::Pickle2),
        ("pickle-5", Wire::Pickle5),
    ];

    /// Returns the name that adapters use.
    #[must_use]
    pub fn name(self) -> &'static str {
        if let Wire::Own(name) = self {
            return name;
        }
        Wire::ALL.iter().find(|(_, wire)| *wire == self).map_or("", |(name, _)| name)
    }
}

/// What a contender makes of the bytes. Only contenders that give the same are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Gives {
    /// The runtime's plain values: maps, lists, text, numbers.
    Data,
    /// The library's own tree, which a caller still has to walk.
    Tree,
    /// Objects of a MARC library.
    Record,
}

impl Gives {
    /// Returns the name that an adapter's head uses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Gives::Data => "data",
            Gives::Tree => "tree",
            Gives::Record => "record",
        }
    }

    /// Returns the name for people: "plain values".
    #[must_use]
    pub fn what(self) -> &'static str {
        match self {
            Gives::Data => "plain values",
            Gives::Tree => "the library's own tree",
            Gives::Record => "record objects",
        }
    }
}

/// Returns how MARC is written for a measurement: in UTF-8, so that all formats hold the same
/// record.
pub(crate) fn marc_options() -> marc::Options {
    marc::Options {
        write_charset: marc::CharsetChoice::Always(marc::Charset::Utf8),
        compact: true,
        ..marc::Options::default()
    }
}
