//! The table of options: the name of each in the command, in Python and in Ruby, the values it
//! takes, and where it applies.
//!
//! Hints are rendered from it, and the Python package reads from it which keyword arguments a
//! function takes. Each option is a row here; its effect is documented at the field of
//! [`crate::Options`] that the row names.

use crate::model::format::Format;
use Format::{Bson, Cbor, Json, Marc, MarcJson, MarcXml, Marshal, Msgpack, Ndjson, Pickle, Yaml};

/// An option of a conversion, of reading or of writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Opt {
    /// The format of the input.
    From,
    /// The format of the output.
    To,
    /// What happens to values that the target cannot hold.
    OnLoss,
    /// Whether the input is in the notation that wrapping writes.
    Unwrap,
    /// What happens to classes, tags and symbols that the target does not have.
    Objects,
    /// The limits of [`crate::Limits`].
    Limits,
    /// How documents of the input become documents of the output.
    Documents,
    /// What happens to broken records.
    Bad,
    /// What happens to a key that occurs twice in one map.
    DuplicateKeys,
    /// Whether losses are reported with their paths.
    Report,
    /// The number of threads.
    Jobs,
    /// Comments in JSON.
    JsonComments,
    /// Trailing commas in JSON.
    JsonTrailingCommas,
    /// NaN and the infinities in JSON.
    JsonNan,
    /// Whether numbers are doubles or keep their digits.
    Numbers,
    /// The indentation of JSON.
    JsonIndent,
    /// JSON in ASCII.
    EscapeNonAscii,
    /// How JSON spells doubles.
    FloatStyle,
    /// What plain scalars mean in YAML.
    YamlSchema,
    /// The indentation of YAML.
    YamlIndent,
    /// Indented sequences in YAML.
    YamlIndentSequences,
    /// `---` before the first YAML document.
    YamlDocumentStart,
    /// The encoding that ISO 2709 is read in.
    Charset,
    /// The encoding that ISO 2709 is written in.
    MarcWriteCharset,
    /// Reading MARC records by their field terminators.
    MarcRepair,
    /// Writing records that are too long for ISO 2709.
    MarcOversize,
    /// Character references in MARC-8.
    MarcReferences,
    /// MARCXML without indentation.
    MarcCompact,
    /// The form of Extended JSON.
    ExtendedJson,
    /// The largest BSON document.
    BsonDocumentBytes,
    /// CBOR's deterministic encoding.
    CborDeterministic,
    /// CBOR items of indefinite length.
    CborIndefinite,
    /// CBOR tags that stay data.
    CborKeepTags,
    /// How Marshal strings without an encoding are read.
    RubyBinary,
    /// Marshal objects with everything that they carry.
    MarshalExact,
    /// The protocol of pickles.
    PickleProtocol,
    /// How 8-bit strings of Python 2 are read.
    PickleStrings,
}

/// The value that an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing: it is on or off.
    Switch,
    /// One of these words.
    Words(&'static [&'static str]),
    /// A whole number between these bounds.
    Number(u64, u64),
    /// The name of a format.
    Format,
    /// A limit's name and its value.
    Limit,
    /// The name of a file in the command; on or off elsewhere.
    File,
}

/// Where an option applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// To reading.
    Read,
    /// To writing.
    Write,
    /// To reading and to writing.
    Both,
    /// To a conversion from one format to another.
    Convert,
}

/// An interface to regauge, which determines the names of options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// The command line.
    Command,
    /// The Python package.
    Python,
    /// The Ruby gem.
    Ruby,
}

/// A row of the option table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The option.
    pub opt: Opt,
    /// The field of [`crate::Options`].
    pub field: &'static str,
    names: [&'static str; 3],
    /// Its value.
    pub takes: Takes,
    /// Where it applies.
    pub side: Side,
    /// The formats that it applies to; empty means all.
    pub formats: &'static [Format],
}

impl Row {
    /// Returns the option's name, without dashes; `None` if it does not exist there.
    pub fn name(&self, language: Language) -> Option<&'static str> {
        Some(self.names[language as usize]).filter(|name| !name.is_empty())
    }

    /// Returns whether the option applies to this format.
    pub fn is_for(&self, format: Format) -> bool {
        self.formats.is_empty() || self.formats.contains(&format)
    }

    /// Returns the name of `word` as a value of this option. The bindings build maps with one value
    /// per key, so keeping both keys means keeping the last there; Ruby calls a double a float.
    pub fn word(&self, language: Language, word: &'static str) -> &'static str {
        match (self.opt, language, word) {
            (Opt::DuplicateKeys, Language::Python | Language::Ruby, "keep") => "last",
            (Opt::Numbers, Language::Ruby, "double") => "float",
            _ => word,
        }
    }
}

impl Opt {
    /// Returns the option's row.
    pub fn row(self) -> &'static Row {
        &OPTIONS[self as usize]
    }

    /// Returns the option's name, without dashes; `None` if it does not exist there.
    pub fn name(self, language: Language) -> Option<&'static str> {
        self.row().name(language)
    }
}

const fn row(
    opt: Opt,
    field: &'static str,
    names: [&'static str; 3],
    takes: Takes,
    side: Side,
    formats: &'static [Format],
) -> Row {
    Row { opt, field, names, takes, side, formats }
}

use Side::{Both, Convert, Read, Write};
use Takes::{File, Limit, Number, Switch, Words};

const JSON: &[Format] = &[Json, Ndjson];
const NUMBERS: &[Format] = &[Json, Ndjson, Yaml];
const STREAMS: &[Format] = &[Ndjson, Marc, MarcXml, MarcJson];
const CHARSETS: Takes = Words(&["auto", "utf8", "marc8"]);

/// Every option, in the order of [`Opt`]: its field, its names in the command, in Python and in
/// Ruby (empty if it does not exist there), its values, and where it applies.
#[rustfmt::skip]
pub const OPTIONS: [Row; 37] = [
    row(Opt::From, "from", ["from", "from_", "from"], Takes::Format, Convert, &[]),
    row(Opt::To, "to", ["to", "to", "to"], Takes::Format, Convert, &[]),
    row(Opt::OnLoss, "on_loss", ["on-loss", "on_loss", "on_loss"], Words(&["refuse", "wrap", "approximate"]), Write, &[]),
    row(Opt::Unwrap, "unwrap", ["unwrap", "unwrap", "unwrap"], Switch, Read, &[]),
    row(Opt::Objects, "objects", ["objects", "objects", "objects"], Words(&["refuse", "data", "wrap"]), Write, &[]),
    row(Opt::Limits, "limits", ["limit", "limits", "limits"], Limit, Both, &[]),
    row(Opt::Documents, "documents", ["documents", "documents", "documents"], Words(&["auto", "keep", "split", "join"]), Convert, &[]),
    row(Opt::Bad, "skip_bad", ["bad", "bad", "skip_bad"], Words(&["stop", "skip"]), Read, STREAMS),
    row(Opt::DuplicateKeys, "duplicate_keys", ["duplicate-keys", "duplicate_keys", "duplicate_keys"], Words(&["keep", "refuse"]), Read, &[]),
    row(Opt::Report, "report", ["report", "report", ""], File, Convert, &[]),
    row(Opt::Jobs, "jobs", ["jobs", "jobs", "jobs"], Number(1, 256), Convert, &[]),
    row(Opt::JsonComments, "json_read.comments", ["json-comments", "comments", "comments"], Switch, Read, JSON),
    row(Opt::JsonTrailingCommas, "json_read.trailing_commas", ["json-trailing-commas", "trailing_commas", "trailing_commas"], Switch, Read, JSON),
    row(Opt::JsonNan, "json_read.non_finite", ["json-nan", "non_finite", "allow_nan"], Switch, Read, JSON),
    row(Opt::Numbers, "json_read.exact_numbers, yaml.exact_numbers", ["numbers", "numbers", "numbers"], Words(&["double", "exact"]), Read, NUMBERS),
    row(Opt::JsonIndent, "json_write.indent", ["indent", "indent", "indent"], Number(0, 16), Write, &[Json]),
    row(Opt::EscapeNonAscii, "json_write.escape_non_ascii", ["escape-non-ascii", "ascii", "ascii_only"], Switch, Write, JSON),
    row(Opt::FloatStyle, "json_write.float_style", ["", "float_style", ""], Words(&["shortest", "python", "ruby"]), Write, JSON),
    row(Opt::YamlSchema, "yaml.schema", ["yaml-schema", "schema", "schema"], Words(&["core", "json", "failsafe", "1.1"]), Read, &[Yaml]),
    row(Opt::YamlIndent, "yaml_write.indent", ["yaml-indent", "indent", "indent"], Number(1, 16), Write, &[Yaml]),
    row(Opt::YamlIndentSequences, "yaml_write.indent_sequences", ["yaml-indent-sequences", "indent_sequences", "indent_sequences"], Switch, Write, &[Yaml]),
    row(Opt::YamlDocumentStart, "yaml_write.document_start", ["yaml-document-start", "document_start", "document_start"], Switch, Write, &[Yaml]),
    row(Opt::Charset, "marc.charset", ["charset", "charset", "charset"], CHARSETS, Read, &[Marc]),
    row(Opt::MarcWriteCharset, "marc.write_charset", ["marc-write-charset", "write_charset", "write_charset"], CHARSETS, Write, &[Marc]),
    row(Opt::MarcRepair, "marc.repair", ["marc-repair", "repair", "repair"], Switch, Read, &[Marc]),
    row(Opt::MarcOversize, "marc.oversize", ["marc-oversize", "oversize", "oversize"], Switch, Write, &[Marc]),
    row(Opt::MarcReferences, "marc.references", ["marc-references", "references", "references"], Switch, Read, &[Marc]),
    row(Opt::MarcCompact, "marc.compact", ["marc-compact", "compact", "compact"], Switch, Write, &[MarcXml]),
    row(Opt::ExtendedJson, "bson.extended_json", ["extended-json", "extended_json", "extended_json"], Words(&["canonical", "relaxed"]), Convert, JSON),
    row(Opt::BsonDocumentBytes, "bson.document_bytes", ["bson-document-bytes", "document_bytes", "document_bytes"], Number(0, u64::MAX), Write, &[Bson]),
    row(Opt::CborDeterministic, "cbor.deterministic", ["cbor-deterministic", "deterministic", "deterministic"], Switch, Write, &[Cbor]),
    row(Opt::CborIndefinite, "cbor.indefinite", ["cbor-indefinite", "indefinite", "indefinite"], Switch, Write, &[Cbor]),
    row(Opt::CborKeepTags, "cbor.keep_tags", ["", "", "keep_tags"], Switch, Read, &[Cbor]),
    row(Opt::RubyBinary, "marshal.binary", ["ruby-binary", "binary", "binary"], Words(&["bytes", "text"]), Read, &[Marshal]),
    row(Opt::MarshalExact, "marshal.exact", ["", "exact", ""], Switch, Read, &[Marshal]),
    row(Opt::PickleProtocol, "pickle.protocol", ["pickle-protocol", "protocol", "protocol"], Number(0, 5), Write, &[Pickle]),
    row(Opt::PickleStrings, "pickle.strings", ["pickle-strings", "strings", "strings"], Words(&["ascii", "utf8", "latin1", "bytes"]), Read, &[Pickle]),
];

/// Returns the options that a name stands for in a language: those of the formats at hand, or all of
/// that name if it is none of theirs. In a conversion from JSON to YAML, `indent` is two options.
pub fn named(language: Language, name: &str, formats: [Format; 2]) -> Vec<&'static Row> {
    let is_here = |row: &&Row| formats.iter().any(|format| row.is_for(*format));
    let mut rows: Vec<&Row> =
        OPTIONS.iter().filter(|row| row.name(language) == Some(name)).collect();
    if rows.iter().any(is_here) {
        rows.retain(is_here);
    }
    rows
}

/// Returns the module of a format in a binding, `regauge.json` or `Regauge::JSON`; `None` if no
/// hint needs it.
pub fn module(language: Language, format: Format) -> Option<&'static str> {
    Some(match (language, format) {
        (Language::Python, Json) => "regauge.json",
        (Language::Python, Ndjson) => "regauge.ndjson",
        (Language::Python, Msgpack) => "regauge.msgpack",
        (Language::Ruby, Json) => "Regauge::JSON",
        (Language::Ruby, Ndjson) => "Regauge::NDJSON",
        (Language::Ruby, Msgpack) => "Regauge::MessagePack",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_has_its_row() {
        for (index, row) in OPTIONS.iter().enumerate() {
            assert_eq!(row.opt as usize, index, "{:?}", row.opt);
        }
    }

    /// In the command, a name refers to one option. In a binding it may refer to one option per
    /// format.
    #[test]
    fn names_are_clear() {
        for (index, row) in OPTIONS.iter().enumerate() {
            for other in &OPTIONS[index + 1..] {
                for language in [Language::Command, Language::Python, Language::Ruby] {
                    if row.name(language).is_none() || row.name(language) != other.name(language) {
                        continue;
                    }
                    let apart = Format::ALL.iter().all(|of| !row.is_for(*of) || !other.is_for(*of));
                    assert!(
                        language != Language::Command && apart,
                        "{:?} and {:?} share a name in {language:?}",
                        row.opt,
                        other.opt
                    );
                }
            }
        }
    }
}
