//! The table of formats: a row of facts for each, known before a byte is read.
//!
//! Errors, hints and policies name formats, so the names are down here. The code of each is in its
//! folder; the table that joins the two is [`crate::codec`].

use std::fmt;

/// Defines [`Format`] and [`Format::info`] from the rows.
macro_rules! formats {
    ($($(#[$doc:meta])* $format:ident = $info:expr;)*) => {
        /// A grammar that regauge reads and writes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Format {
            $($(#[$doc])* $format,)*
        }

        impl Format {
            /// All formats, in the order of the documentation.
            pub const ALL: [Format; [$(Format::$format),*].len()] = [$(Format::$format),*];

            /// What is known of the format before a byte is read.
            pub const fn info(self) -> &'static Info {
                match self {
                    $(Format::$format => {
                        const INFO: Info = $info;
                        &INFO
                    })*
                }
            }
        }
    };
}

const JSON: Info = Info {
    name: "json",
    title: "JSON",
    suffixes: &["json", "geojson", "webmanifest"],
    media_types: &["application/json"],
    framing: Framing::Single,
    record_end: None,
    joined: Some(["[", ",", "]\n"]),
    is_text: true,
    has_symbols: false,
    has_references: false,
    store_number: Some(1),
    cannot_hold: &[
        "NaN and infinities",
        "bytes",
        "keys that are not text",
        "dates and times",
        "extension types",
        "classes, tags and symbols",
        "shared references",
        "text that is not UTF-8",
    ],
};

const CSV: Info = Info {
    name: "csv",
    title: "CSV",
    suffixes: &["csv"],
    media_types: &["text/csv"],
    framing: Framing::Records,
    // A field in quotes can hold a newline.
    record_end: None,
    // The header would stand before each document.
    joined: None,
    is_text: true,
    has_symbols: false,
    has_references: false,
    store_number: None,
    cannot_hold: &[
        "null",
        "maps and arrays in a row",
        "rows without a value for a column",
        "documents other than maps",
        "the types of numbers and truth values (kept on request)",
        "NaN and infinities",
        "bytes",
        "keys that are not text",
        "duplicate keys",
        "dates and times",
        "extension types",
        "classes, tags and symbols",
        "shared references",
        "text that is not UTF-8",
    ],
};

formats! {
    /// JSON, RFC 8259.
    Json = JSON;
    /// JSON documents, one per line.
    Ndjson = Info {
        name: "ndjson",
        title: "NDJSON",
        suffixes: &["ndjson", "jsonl", "ldjson", "jsonlines"],
        media_types: &["application/x-ndjson", "application/jsonl", "application/ndjson"],
        framing: Framing::Records,
        record_end: Some(b'\n'),
        joined: Some([""; 3]),
        store_number: None,
        ..JSON
    };
    /// YAML 1.2.
    Yaml = Info {
        name: "yaml",
        title: "YAML",
        suffixes: &["yaml", "yml"],
        media_types: &["application/yaml", "application/x-yaml", "text/yaml"],
        framing: Framing::Either,
        record_end: None,
        joined: Some(["", "---\n", ""]),
        is_text: true,
        has_symbols: false,
        has_references: true,
        store_number: Some(2),
        cannot_hold: &[],
    };
    /// MessagePack.
    Msgpack = Info {
        name: "msgpack",
        title: "MessagePack",
        suffixes: &["msgpack", "mpk", "mp", "msgp"],
        media_types: &["application/vnd.msgpack", "application/msgpack", "application/x-msgpack"],
        framing: Framing::Either,
        record_end: None,
        joined: Some([""; 3]),
        is_text: false,
        has_symbols: false,
        has_references: false,
        store_number: Some(3),
        cannot_hold: &[
            "integers beyond 64 bits",
            "decimals as written",
            "dates and times but points in time",
            "classes, tags and symbols",
            "shared references",
            "lone surrogates",
        ],
    };
    /// BSON.
    Bson = Info {
        name: "bson",
        title: "BSON",
        suffixes: &["bson"],
        media_types: &["application/bson"],
        framing: Framing::Records,
        record_end: None,
        joined: Some([""; 3]),
        is_text: false,
        has_symbols: true,
        has_references: false,
        store_number: Some(4),
        cannot_hold: &[
            "documents but maps",
            "integers beyond 64 bits, and unsigned ones",
            "keys that are not text, or hold a zero byte",
            "points in time finer than a millisecond",
            "extension types",
            "classes and tags",
            "shared references",
            "text that is not UTF-8",
        ],
    };
    /// CBOR, RFC 8949.
    Cbor = Info {
        name: "cbor",
        title: "CBOR",
        suffixes: &["cbor", "cborseq"],
        media_types: &["application/cbor"],
        framing: Framing::Either,
        record_end: None,
        joined: Some([""; 3]),
        is_text: false,
        has_symbols: true,
        has_references: true,
        store_number: Some(5),
        cannot_hold: &[
            "MessagePack extension types",
            "times without a zone",
            "BSON's own types",
            "classes",
            "text that is not UTF-8",
        ],
    };
    /// Ruby's Marshal 4.8.
    Marshal = Info {
        name: "marshal",
        title: "Ruby Marshal",
        suffixes: &["marshal", "rbm", "4.8", "ri"],
        media_types: &["application/x-ruby-marshal"],
        framing: Framing::Either,
        record_end: None,
        joined: Some([""; 3]),
        is_text: false,
        has_symbols: true,
        has_references: true,
        store_number: Some(6),
        cannot_hold: &[],
    };
    /// Python's pickle, protocols 0 to 5.
    Pickle = Info {
        name: "pickle",
        title: "Python pickle",
        suffixes: &["pickle", "pkl", "pck"],
        media_types: &["application/x-python-pickle"],
        framing: Framing::Either,
        record_end: None,
        joined: Some([""; 3]),
        is_text: false,
        has_symbols: false,
        has_references: true,
        store_number: Some(7),
        cannot_hold: &[],
    };
    /// MARC 21 and UNIMARC in ISO 2709.
    Marc = Info {
        name: "marc",
        title: "MARC 21",
        suffixes: &["mrc", "marc", "marc21", "iso2709", "utf8.mrc"],
        media_types: &["application/marc"],
        framing: Framing::Records,
        record_end: Some(0x1D),
        joined: Some([""; 3]),
        is_text: false,
        has_symbols: false,
        has_references: false,
        store_number: Some(8),
        cannot_hold: &["anything but MARC records"],
    };
    /// MARCXML, the Library of Congress's "MARC 21 slim" schema.
    MarcXml = Info {
        name: "marcxml",
        title: "MARCXML",
        suffixes: &["marcxml", "mrcx", "marc.xml", "xml"],
        media_types: &["application/marcxml+xml"],
        framing: Framing::Records,
        record_end: None,
        joined: None,
        is_text: true,
        has_symbols: false,
        has_references: false,
        store_number: Some(9),
        cannot_hold: &["anything but MARC records"],
    };
    /// MARC-in-JSON, one record per line.
    MarcJson = Info {
        name: "marc-json",
        title: "MARC-in-JSON",
        suffixes: &["marc.json", "marcjson", "mij", "marc.ndjson", "marc.jsonl"],
        media_types: &["application/marc+json"],
        framing: Framing::Records,
        record_end: None,
        joined: Some([""; 3]),
        is_text: true,
        has_symbols: false,
        has_references: false,
        store_number: Some(10),
        cannot_hold: &["anything but MARC records"],
    };
    /// MARCMaker, the lines of text of MARCMaker, MARCBreaker and MarcEdit.
    Mrk = Info {
        name: "mrk",
        title: "MARCMaker",
        suffixes: &["mrk", "mrk8", "marcmaker"],
        media_types: &["text/x-marcmaker"],
        framing: Framing::Records,
        // A line end is not the end of a record.
        record_end: None,
        joined: Some([""; 3]),
        is_text: true,
        has_symbols: false,
        has_references: false,
        store_number: None,
        cannot_hold: &["anything but MARC records"],
    };
    /// Aleph sequential, the lines of text of Ex Libris's Aleph.
    AlephSeq = Info {
        name: "alephseq",
        title: "Aleph sequential",
        suffixes: &["seq", "alephseq", "aleph"],
        media_types: &["text/x-aleph-sequential"],
        framing: Framing::Records,
        record_end: None,
        // Records in a row need different system numbers.
        joined: None,
        is_text: true,
        has_symbols: false,
        has_references: false,
        store_number: None,
        cannot_hold: &[
            "anything but MARC records",
            "line ends",
            "two dollar signs in a row",
            "records without field 001",
        ],
    };
    /// TOML 1.1.
    Toml = Info {
        name: "toml",
        title: "TOML",
        suffixes: &["toml"],
        media_types: &["application/toml"],
        framing: Framing::Single,
        record_end: None,
        joined: None,
        is_text: true,
        has_symbols: false,
        has_references: false,
        store_number: Some(11),
        cannot_hold: &[
            "null",
            "documents other than maps",
            "integers beyond 64 bits, and unsigned ones",
            "bytes",
            "keys that are not text",
            "duplicate keys",
            "durations, extension types",
            "classes, tags and symbols",
            "shared references",
            "text that is not UTF-8",
        ],
    };
    /// CSV, RFC 4180.
    Csv = CSV;
    /// CSV with tabs between the fields.
    Tsv = Info {
        name: "tsv",
        title: "TSV",
        suffixes: &["tsv", "tab"],
        media_types: &["text/tab-separated-values"],
        ..CSV
    };
}

/// How documents are arranged in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// A file is one document.
    Single,
    /// A file is any number of documents.
    Either,
    /// A file is a stream of records.
    Records,
}

/// What is known of a format before a byte is read.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// The name on the command line and in Python: `json`, `marc-json`.
    pub name: &'static str,
    /// The name in prose: `MessagePack`, `MARC 21`.
    pub title: &'static str,
    /// File name suffixes without the dot, in lower case, the customary one first.
    pub suffixes: &'static [&'static str],
    /// Media types, the one that is sent first.
    pub media_types: &'static [&'static str],
    /// How documents are arranged in a file.
    pub framing: Framing,
    /// The byte that ends a record and never occurs inside one, so that a stream can be cut into parts
    /// without parsing it; `None` if there is no such byte.
    pub record_end: Option<u8>,
    /// What opens, separates and closes documents that are written one by one and put into one file;
    /// `None` if that makes no file of the format.
    pub joined: Option<[&'static str; 3]>,
    /// Whether the format is text, so that an error has a line and a column.
    pub is_text: bool,
    /// Whether the format has symbols beside text.
    pub has_symbols: bool,
    /// Whether a document can name a value once and refer to it again, so that it may grow by any
    /// factor when it is written out.
    pub has_references: bool,
    /// The number of the format in a stored value's envelope. It never changes and is never given to
    /// another format; `None` for a format that values are not stored in.
    pub store_number: Option<u8>,
    /// What the format cannot hold of the event model, in words; empty if it holds everything.
    pub cannot_hold: &'static [&'static str],
}

impl Format {
    /// The name on the command line: `json`, `marc-json`.
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    /// The name in prose: `MessagePack`, `MARC 21`.
    pub const fn title(self) -> &'static str {
        self.info().title
    }

    /// File name suffixes without the dot, in lower case, the customary one first.
    pub const fn suffixes(self) -> &'static [&'static str] {
        self.info().suffixes
    }

    /// How documents are arranged in a file.
    pub const fn framing(self) -> Framing {
        self.info().framing
    }

    /// Whether the format is text, so that an error has a line and a column.
    pub const fn is_text(self) -> bool {
        self.info().is_text
    }

    /// Whether the format is JSON of any content, in one document or in lines.
    pub const fn is_json(self) -> bool {
        matches!(self, Format::Json | Format::Ndjson)
    }

    /// Whether the format carries MARC records and nothing else.
    pub const fn is_marc(self) -> bool {
        matches!(
            self,
            Format::Marc | Format::MarcXml | Format::MarcJson | Format::Mrk | Format::AlephSeq
        )
    }

    /// Whether the format's reader gives nothing but MARC records, with their keys in the customary order.
    /// MARC-in-JSON can be any JSON.
    pub const fn gives_records(self) -> bool {
        self.is_marc() && !matches!(self, Format::MarcJson)
    }

    /// Whether the parts of a file can be written apart and put together: no part has a header of its own,
    /// and no record is numbered by those before it.
    pub const fn is_divisible(self) -> bool {
        !self.is_table() && !matches!(self, Format::AlephSeq)
    }

    /// Whether a file is a table: rows of the same columns, which a header names once.
    pub const fn is_table(self) -> bool {
        matches!(self, Format::Csv | Format::Tsv)
    }

    /// What the format cannot hold of the event model, in words; empty if it holds everything.
    pub const fn cannot_hold(self) -> &'static [&'static str] {
        self.info().cannot_hold
    }

    /// The format that a file name's suffix tells, compression suffixes aside: `a.json` gives
    /// JSON. The longest suffix wins, so `a.marc.json` is MARC-in-JSON.
    pub fn from_name(name: &str) -> Option<Format> {
        let name = name.to_ascii_lowercase();
        let mut best: Option<(usize, Format)> = None;
        for format in Format::ALL {
            for suffix in format.suffixes() {
                let fits = name.strip_suffix(suffix).is_some_and(|stem| stem.ends_with('.'));
                if fits && best.is_none_or(|(length, _)| suffix.len() > length) {
                    best = Some((suffix.len(), format));
                }
            }
        }
        best.map(|(_, format)| format)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Format {
    type Err = String;

    /// The format of this name; `marc21`, `mrc`, `messagepack` and `jsonl` are understood too.
    fn from_str(name: &str) -> Result<Format, String> {
        let lower = name.to_ascii_lowercase();
        Format::ALL
            .into_iter()
            .find(|format| {
                format.name() == lower
                    || format.suffixes().contains(&lower.as_str()) && lower != "xml"
                    || format.title().to_ascii_lowercase() == lower
            })
            .ok_or_else(|| {
                let names: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
                format!("unknown format `{name}`: known are {}", names.join(", "))
            })
    }
}

#[cfg(test)]
mod tests;
