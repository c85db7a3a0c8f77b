//! The formats: their names, suffixes and first bytes, and what each can hold.

use std::fmt;
use std::str::FromStr;

/// A grammar that regauge reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Format {
    /// JSON, RFC 8259.
    Json,
    /// JSON documents, one per line.
    Ndjson,
    /// YAML 1.2.
    Yaml,
    /// MessagePack.
    Msgpack,
    /// BSON.
    Bson,
    /// CBOR, RFC 8949.
    Cbor,
    /// Ruby's Marshal 4.8.
    Marshal,
    /// Python's pickle, protocols 0 to 5.
    Pickle,
    /// MARC 21 and UNIMARC in ISO 2709.
    Marc,
    /// MARCXML, the Library of Congress's "MARC 21 slim" schema.
    MarcXml,
    /// MARC-in-JSON, one record per line.
    MarcJson,
}

/// How many documents a file of a format holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// A file is one document.
    Single,
    /// A file is one or more documents.
    Either,
    /// A file is a stream of records.
    Records,
}

impl Format {
    /// All formats, in the order of the documentation.
    pub const ALL: [Format; 11] = [
        Format::Json,
        Format::Ndjson,
        Format::Yaml,
        Format::Msgpack,
        Format::Bson,
        Format::Cbor,
        Format::Marshal,
        Format::Pickle,
        Format::Marc,
        Format::MarcXml,
        Format::MarcJson,
    ];

    /// Returns the name on the command line: `json`, `marc-json`.
    pub fn name(self) -> &'static str {
        match self {
            Format::Json => "json",
            Format::Ndjson => "ndjson",
            Format::Yaml => "yaml",
            Format::Msgpack => "msgpack",
            Format::Bson => "bson",
            Format::Cbor => "cbor",
            Format::Marshal => "marshal",
            Format::Pickle => "pickle",
            Format::Marc => "marc",
            Format::MarcXml => "marcxml",
            Format::MarcJson => "marc-json",
        }
    }

    /// Returns the name in prose: `MessagePack`, `MARC 21`.
    pub fn title(self) -> &'static str {
        match self {
            Format::Json => "JSON",
            Format::Ndjson => "NDJSON",
            Format::Yaml => "YAML",
            Format::Msgpack => "MessagePack",
            Format::Bson => "BSON",
            Format::Cbor => "CBOR",
            Format::Marshal => "Ruby Marshal",
            Format::Pickle => "Python pickle",
            Format::Marc => "MARC 21",
            Format::MarcXml => "MARCXML",
            Format::MarcJson => "MARC-in-JSON",
        }
    }

    /// Returns the file name suffixes without the dot, in lower case, the usual one first.
    pub fn suffixes(self) -> &'static [&'static str] {
        match self {
            Format::Json => &["json", "geojson", "webmanifest"],
            Format::Ndjson => &["ndjson", "jsonl", "ldjson", "jsonlines"],
            Format::Yaml => &["yaml", "yml"],
            Format::Msgpack => &["msgpack", "mpk", "mp", "msgp"],
            Format::Bson => &["bson"],
            Format::Cbor => &["cbor", "cborseq"],
            Format::Marshal => &["marshal", "rbm", "4.8", "ri"],
            Format::Pickle => &["pickle", "pkl", "pck"],
            Format::Marc => &["mrc", "marc", "marc21", "iso2709", "utf8.mrc"],
            Format::MarcXml => &["marcxml", "mrcx", "marc.xml", "xml"],
            Format::MarcJson => &["marc.json", "marcjson", "mij", "marc.ndjson", "marc.jsonl"],
        }
    }

    /// Returns how many documents a file holds.
    pub fn framing(self) -> Framing {
        match self {
            Format::Json => Framing::Single,
            Format::Yaml | Format::Msgpack | Format::Cbor => Framing::Either,
            Format::Marshal | Format::Pickle => Framing::Either,
            Format::Bson => Framing::Records,
            Format::Ndjson | Format::Marc | Format::MarcXml | Format::MarcJson => Framing::Records,
        }
    }

    /// Returns whether the format is text, so that a fault has a line and a column.
    pub fn is_text(self) -> bool {
        match self {
            Format::Json | Format::Ndjson | Format::Yaml => true,
            Format::MarcXml | Format::MarcJson => true,
            Format::Msgpack | Format::Bson | Format::Cbor => false,
            Format::Marshal | Format::Pickle | Format::Marc => false,
        }
    }

    /// Returns whether the format is general-purpose JSON, as one document or as lines.
    pub const fn is_json(self) -> bool {
        matches!(self, Format::Json | Format::Ndjson)
    }

    /// Returns whether the format carries only MARC records.
    pub const fn is_marc(self) -> bool {
        matches!(self, Format::Marc | Format::MarcXml | Format::MarcJson)
    }

    /// Returns what the format cannot hold of the event model, in words; empty if it holds
    /// everything.
    pub fn cannot_hold(self) -> &'static [&'static str] {
        match self {
            Format::Json | Format::Ndjson => &[
                "NaN and infinities",
                "bytes",
                "keys that are not text",
                "dates and times",
                "extension types",
                "classes, tags and symbols",
                "shared references",
                "text that is not UTF-8",
            ],
            Format::Msgpack => &[
                "integers beyond 64 bits",
                "decimals as written",
                "dates and times other than points in time",
                "classes, tags and symbols",
                "shared references",
                "lone surrogates",
            ],
            Format::Cbor => &[
                "MessagePack extension types",
                "times without a zone",
                "BSON's own types",
                "classes",
                "text that is not UTF-8",
            ],
            Format::Bson => &[
                "documents other than maps",
                "integers beyond 64 bits, and unsigned ones",
                "keys that are not text, or hold a zero byte",
                "points in time finer than a millisecond",
                "extension types",
                "classes and tags",
                "shared references",
                "text that is not UTF-8",
            ],
            Format::Yaml | Format::Marshal | Format::Pickle => &[],
            Format::Marc | Format::MarcXml | Format::MarcJson => &["anything but MARC records"],
        }
    }

    /// Returns the format of a file name's suffix, ignoring compression suffixes: `a.json` is JSON.
    /// The longest suffix wins, so `a.marc.json` is MARC-in-JSON.
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

    /// Returns the format that the first bytes of a (decompressed) file identify, if they do.
    /// `head` should hold 4 KiB, or the whole file if that is shorter.
    pub fn from_magic(head: &[u8]) -> Option<Format> {
        crate::detect::from_magic(head)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    /// Parses a format name; also accepts `marc21`, `mrc`, `messagepack` and `jsonl`.
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
mod tests {
    use super::*;

    #[test]
    fn suffix_tells_the_format() {
        for (name, format) in [
            ("a.json", Some(Format::Json)),
            ("a.JSON", Some(Format::Json)),
            ("a.marc.json", Some(Format::MarcJson)),
            ("a.mrc", Some(Format::Marc)),
            ("a.xml", Some(Format::MarcXml)),
            ("a.jsonl", Some(Format::Ndjson)),
            ("json", None),
            ("a.txt", None),
        ] {
            assert_eq!(Format::from_name(name), format, "{name}");
        }
    }

    #[test]
    fn names_parse_back() {
        for format in Format::ALL {
            assert_eq!(format.name().parse(), Ok(format));
        }
        assert!("xml".parse::<Format>().is_err());
    }
}
