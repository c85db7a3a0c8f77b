//! The table of formats: one row each, and what a row promises.
//!
//! A format is a folder whose `mod.rs` implements [`Codec`], and a line in the table below. Everything
//! that works on any format ([`crate::convert()`], the command, the Python package, the Ruby gem, the
//! store, the gateway, the measuring engine) goes through [`Format::info`] for facts and through
//! [`Format::visit`] for code.

use std::fmt;

use crate::convert::Options;
use crate::detect::Looks;
use crate::event::Writer;
use crate::fidelity::Fidelity;
use crate::out::Out;
use crate::reader::Parse;
use crate::{bson, cbor, json, marc, marshal, msgpack, pickle, toml, yaml};

/// Defines [`Format`] and [`Format::visit`] from the rows.
macro_rules! formats {
    ($($(#[$doc:meta])* $format:ident = $codec:path;)*) => {
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
                    $(Format::$format => &<$codec as Codec>::INFO,)*
                }
            }

            /// Runs generic code with the format's codec.
            pub fn visit<V: Visitor>(self, visitor: V) -> V::Output {
                match self {
                    $(Format::$format => visitor.visit::<$codec>(),)*
                }
            }

            /// The first format of the table whose text the first bytes of a file look like.
            pub(crate) fn likely(head: &[u8], is_whole: bool) -> Option<Format> {
                $(if <$codec as Codec>::is_likely(head, is_whole) {
                    return Some(Format::$format);
                })*
                None
            }

            pub(crate) fn is_contradicted(self, looks: Looks, head: &[u8]) -> bool {
                match self {
                    $(Format::$format => <$codec as Codec>::is_contradicted(looks, head),)*
                }
            }
        }

        $(const _: () = assert!(
            matches!(<$codec as Codec>::FORMAT, Format::$format),
            "a codec names another format than its row"
        );)*
    };
}

formats! {
    /// JSON, RFC 8259.
    Json = json::Json;
    /// JSON documents, one per line.
    Ndjson = json::Ndjson;
    /// YAML 1.2.
    Yaml = yaml::Yaml;
    /// MessagePack.
    Msgpack = msgpack::Msgpack;
    /// BSON.
    Bson = bson::Bson;
    /// CBOR, RFC 8949.
    Cbor = cbor::Cbor;
    /// Ruby's Marshal 4.8.
    Marshal = marshal::Marshal;
    /// Python's pickle, protocols 0 to 5.
    Pickle = pickle::Pickle;
    /// MARC 21 and UNIMARC in ISO 2709.
    Marc = marc::iso2709::Marc;
    /// MARCXML, the Library of Congress's "MARC 21 slim" schema.
    MarcXml = marc::xml::MarcXml;
    /// MARC-in-JSON, one record per line.
    MarcJson = marc::json::MarcJson;
    /// TOML 1.1.
    Toml = toml::Toml;
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

/// A format's reader, writer and facts.
pub trait Codec: 'static {
    /// The row of the table.
    const FORMAT: Format;
    /// The facts.
    const INFO: Info;
    /// Turns bytes into events.
    type Parser: Parse + Send + 'static;
    /// Turns events into bytes.
    type Writer<'o>: Writer + Send;

    /// Returns a parser that does what the options ask for.
    fn parser(options: &Options) -> Self::Parser;

    /// Returns a writer into `out` that does what the options ask for.
    fn writer<'o>(out: Out<'o>, options: &Options, fidelity: Fidelity) -> Self::Writer<'o>;

    /// Returns the output of a writer, with what is still in memory.
    fn into_out<'o>(writer: Self::Writer<'o>) -> Out<'o>;

    /// Whether the first bytes of a file, or all of it, are text of this format beyond reasonable doubt.
    /// Formats that [`crate::detect`] tells by their marks need not say so here.
    fn is_likely(head: &[u8], is_whole: bool) -> bool {
        let _ = (head, is_whole);
        false
    }

    /// Whether a file of this format never, or hardly ever, begins like that.
    fn is_contradicted(looks: Looks, head: &[u8]) -> bool {
        let _ = head;
        match looks {
            Looks::Like(other) => other != Self::FORMAT,
            Looks::Other(_) => true,
            // The reader finds out: few letters begin a value.
            Looks::Text => false,
        }
    }
}

/// Generic code that runs with the codec of a format: see [`Format::visit`].
pub trait Visitor {
    /// What the code returns.
    type Output;

    /// Runs with this codec.
    fn visit<C: Codec>(self) -> Self::Output;
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
        matches!(self, Format::Marc | Format::MarcXml | Format::MarcJson)
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

    /// The format that the first bytes of a (decompressed) file tell, if they do: `head` should
    /// hold 4 KiB, or the whole file if that is shorter.
    pub fn from_magic(head: &[u8]) -> Option<Format> {
        crate::detect::from_magic(head)
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

    #[test]
    fn names_suffixes_and_numbers_are_given_once() {
        let mut seen = std::collections::HashSet::new();
        for format in Format::ALL {
            let info = format.info();
            let number = info.store_number.map(|number| format!("number {number}"));
            let media = info.media_types.iter().map(|media| format!("type {media}"));
            let suffixes = info.suffixes.iter().map(|suffix| format!(".{suffix}"));
            for one in suffixes.chain(media).chain(number).chain([info.name.to_owned()]) {
                assert!(seen.insert(one.clone()), "{one} stands in two rows");
            }
        }
    }
}
