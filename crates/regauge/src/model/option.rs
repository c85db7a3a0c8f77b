//! The table of options: the name of each, the values it takes, where it applies, and what its help
//! says.
//!
//! An option has one name. A general option has it everywhere: `--on-loss`, `on_loss`. An option of a
//! format is `schema` in the module of the format, and has the format in front elsewhere: `yaml_schema`
//! in functions of any format, `--yaml-schema` in the command. Where a language or a habit asks for
//! another spelling, [`spelled`](Row::spelled) and the table's comments say so. Names that an option had
//! before keep working, with a warning.
//!
//! Hints are rendered from the table, the command takes help texts and old names from it, and the
//! bindings read from it which keyword arguments a function takes. Each option is a row here; its effect
//! is documented at the field of [`crate::Options`] that the row names.

use crate::model::format::Format;
use Format::{
    AlephSeq, Bson, Cbor, Csv, Json, Marc, MarcJson, MarcXml, Marshal, Mrk, Msgpack, Ndjson,
    Pickle, Tsv, Yaml,
};

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
    /// What happens to what a framework put around a value.
    Envelope,
    /// The secret of the application, which signed or encrypted the value.
    Secret,
    /// What the application names the purpose of the secret, if not as its framework does.
    Salt,
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
    /// Paths of values to keep.
    Only,
    /// Paths of values to leave out.
    Drop,
    /// Paths of keys to rename.
    Rename,
    /// The number of documents, from the first.
    Head,
    /// The number of documents, at random.
    Sample,
    /// Which random sample.
    Seed,
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
    /// Whether the first row of CSV names the columns.
    CsvHeader,
    /// What stands between the fields of CSV.
    CsvDelimiter,
    /// Whether fields of CSV are only text.
    CsvTypes,
    /// What happens to maps and arrays in a row of CSV.
    CsvNested,
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
    /// Bytes; in the command the name of a file, because anyone on a machine sees command lines.
    Secret,
    /// Any text.
    Text,
    /// Paths; in the command one, as often as wanted.
    Paths,
    /// Paths with a new name for each; in the command one, as often as wanted.
    Renames,
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
    /// The gateway: parameters of a request's address.
    Http,
    /// This library: fields of [`crate::Options`].
    Rust,
}

/// A row of the option table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The option.
    pub opt: Opt,
    /// The field of [`crate::Options`]; where there are two, a comma between them.
    pub field: &'static str,
    /// Its name in a format's module, in all functions, and in the command.
    names: [&'static str; 3],
    /// Where it exists.
    surfaces: &'static [Language],
    /// Names that it had before.
    old: &'static [(Language, &'static str)],
    /// Its value.
    pub takes: Takes,
    /// Where it applies.
    pub side: Side,
    /// The formats that it applies to; empty means all.
    pub formats: &'static [Format],
    /// What it does, in a line.
    pub help: &'static str,
}

impl Row {
    /// Returns the option's name, without dashes: in a binding that of a function of one format; `None`
    /// if it does not exist there.
    pub fn name(&self, language: Language) -> Option<&'static str> {
        self.spelled(language, false)
    }

    /// Returns the option's name, without dashes: in a binding that of a function of one format, or of a
    /// generic function, whose format is an argument. `None` if it does not exist there.
    pub fn spelled(&self, language: Language, is_generic: bool) -> Option<&'static str> {
        if language == Language::Rust {
            return Some(self.field);
        }
        if !self.surfaces.contains(&language) {
            return None;
        }
        Some(match (language, self.opt, is_generic) {
            // A word of the language.
            (Language::Python, Opt::From, _) => "from_",
            // The flag gives one limit, and can be repeated.
            (Language::Command, Opt::Limits, _) => "limit",
            // The flag takes a file.
            (Language::Command, Opt::Secret, _) => "secret-file",
            (Language::Command, ..) => self.names[2],
            (_, _, false) => self.names[0],
            (_, _, true) => self.names[1],
        })
    }

    /// Returns the names that the option had before, which are understood and answered with a warning.
    /// In a generic function of a binding, the name in the format's module is one.
    pub fn old_names(
        &self,
        language: Language,
        is_generic: bool,
    ) -> impl Iterator<Item = &'static str> {
        let [own, full, _] = self.names;
        let own = is_generic && language != Language::Command && own != full;
        let old = self.old.iter().filter(move |(of, _)| *of == language).map(|(_, name)| *name);
        old.chain(own.then_some(self.names[0])).filter(move |_| self.surfaces.contains(&language))
    }

    /// Returns whether the option applies to this format.
    pub fn is_for(&self, format: Format) -> bool {
        self.formats.is_empty() || self.formats.contains(&format)
    }

    /// Returns whether the option changes how this format is read.
    pub fn is_for_reading(&self, format: Format) -> bool {
        matches!(self.side, Side::Read | Side::Both) && self.is_for(format)
    }

    /// Returns whether the option changes how this format is written.
    pub fn is_for_writing(&self, format: Format) -> bool {
        matches!(self.side, Side::Write | Side::Both) && self.is_for(format)
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

/// Returns the bytes of a name with dashes for underscores.
const fn dashed<const N: usize>(name: &str) -> [u8; N] {
    let mut dashed = [0; N];
    let mut at = 0;
    while at < N {
        let byte = name.as_bytes()[at];
        dashed[at] = if byte == b'_' { b'-' } else { byte };
        at += 1;
    }
    dashed
}

/// The flag that has this name.
macro_rules! flag {
    ($name:expr) => {{
        const FLAG: [u8; $name.len()] = dashed($name);
        match std::str::from_utf8(&FLAG) {
            Ok(flag) => flag,
            Err(_) => panic!("a name in ASCII"),
        }
    }};
}

/// A row: the option and its field, the format and the name or only the name, where it exists, what it
/// takes and where it applies, the help, and old names.
macro_rules! row {
    ($opt:ident $field:literal, $format:literal $name:literal, $($rest:tt)*) => {
        row!(@ $opt $field, [$name, concat!($format, "_", $name), flag!(concat!($format, "_", $name))], $($rest)*)
    };
    ($opt:ident $field:literal, $name:literal, $($rest:tt)*) => {
        row!(@ $opt $field, [$name, $name, flag!($name)], $($rest)*)
    };
    (@ $opt:ident $field:literal, $names:expr, $on:ident, $takes:expr, $side:ident $formats:expr, $help:literal
        $(, $($language:ident $old:literal)+)?) => {
        Row {
            opt: Opt::$opt,
            field: $field,
            names: $names,
            surfaces: $on,
            old: &[$($((Language::$language, $old)),+)?],
            takes: $takes,
            side: $side,
            formats: $formats,
            help: $help,
        }
    };
}

use Side::{Both, Convert, Read, Write};
use Takes::{File, Limit, Number, Paths, Renames, Switch, Text, Words};

const JSON: &[Format] = &[Json, Ndjson];
const NUMBERS: &[Format] = &[Json, Ndjson, Yaml];
const STREAMS: &[Format] = &[Ndjson, Marc, MarcXml, MarcJson, Mrk, AlephSeq, Csv, Tsv];
/// Those whose records are in one of two charsets; the last has only leader/09.
const MARC8: &[Format] = &[Marc, Mrk];
const LEADER: &[Format] = &[Marc, Mrk, AlephSeq];
const TABLES: &[Format] = &[Csv, Tsv];
const CHARSETS: Takes = Words(&["auto", "utf8", "marc8"]);

/// Every interface, the gateway too.
const EVERYWHERE: &[Language] =
    &[Language::Command, Language::Python, Language::Ruby, Language::Http];
/// Every interface in which files and objects are converted.
const ALL: &[Language] = &[Language::Command, Language::Python, Language::Ruby];
/// Ruby has no reports by path: `convert` yields them.
const NOT_RUBY: &[Language] = &[Language::Command, Language::Python];
/// What objects of the language are made of, or written like.
const PYTHON: &[Language] = &[Language::Python];
const RUBY: &[Language] = &[Language::Ruby];

/// Every option, in the order of [`Opt`].
///
/// `allow_nan` is what the standard libraries of Python and Ruby call it. In `regauge.compat` and
/// `regauge/marc/compat`, which stand in for other libraries, keywords are those of these libraries.
#[rustfmt::skip]
pub const OPTIONS: [Row; 50] = [
    row!(From "from", "from", ALL, Takes::Format, Convert &[], "Input format [default: from the file name or the first bytes]"),
    row!(To "to", "to", ALL, Takes::Format, Convert &[], "Output format [default: from the file name]"),
    row!(OnLoss "on_loss", "on_loss", EVERYWHERE, Words(&["refuse", "wrap", "approximate"]), Write &[], "What to do with a value that the output format cannot hold exactly"),
    row!(Unwrap "unwrap", "unwrap", EVERYWHERE, Switch, Read &[], "Read the notation that --on-loss wrap writes, and restore the original values"),
    row!(Envelope "envelope", "envelope", ALL, Words(&["auto", "none", "open", "keep"]), Convert &[], "How to treat the envelope that a framework put around the value, such as a Rails.cache entry or a Django session"),
    row!(Secret "secret", "secret", ALL, Takes::Secret, Convert &[], "Check the signature of the envelope with the secret in FILE, or decrypt it: secret_key_base of Rails, SECRET_KEY of Django or Flask. A wrong or missing signature is an error"),
    row!(Salt "salt", "salt", ALL, Text, Convert &[], "Salt that the application signs or encrypts with [default: each salt that the framework itself uses]"),
    row!(Objects "objects", "objects", ALL, Words(&["refuse", "data", "wrap"]), Write &[], "What to do with classes, tags and symbols that the output format lacks [default: the --on-loss policy, or data with --on-loss approximate]"),
    row!(Limits "limits", "limits", ALL, Limit, Both &[], "Set a limit, remove it with NAME=none, or remove all with none: depth, token_bytes, record_bytes, integer_digits, nodes, expansion, aliases, window_bytes, time (seconds that a filter may take for a document). Byte limits accept KiB, MiB and GiB"),
    row!(Documents "documents", "documents", ALL, Words(&["auto", "keep", "split", "join"]), Convert &[], "Split arrays into documents, or join documents into an array"),
    row!(Bad "skip_bad", "bad", ALL, Words(&["stop", "skip"]), Read STREAMS, "What to do with a broken record: stop, skip it, or keep its bytes in a FILE and skip it"),
    row!(DuplicateKeys "duplicate_keys", "duplicate_keys", ALL, Words(&["keep", "refuse"]), Read &[], "What to do with a key that occurs twice in one map"),
    row!(Report "report", "report", NOT_RUBY, File, Convert &[], "Write a JSON report of what was read, written, skipped, lost and approximated (- is standard output)"),
    row!(Jobs "jobs", "jobs", ALL, Number(1, 256), Convert &[], "Maximum number of threads [default: one per core]"),
    row!(Only "select", "only", ALL, Paths, Convert &[], "Keep only the value at PATH, such as items[*].price, and the containers around it; repeatable"),
    row!(Drop "select", "drop", ALL, Paths, Convert &[], "Leave out the value at PATH; repeatable"),
    row!(Rename "select", "rename", ALL, Renames, Convert &[], "Rename the key at PATH: a.b=c renames the key b in a to c; repeatable"),
    row!(Head "head", "head", ALL, Number(1, u64::MAX), Convert &[], "Stop after N documents; in JSON and where arrays are split, after N elements of an array at the top"),
    row!(Sample "sample", "sample", ALL, Number(1, u64::MAX), Convert &[], "Take N documents at random, counted as for --head; reads the input twice"),
    row!(Seed "seed", "seed", ALL, Number(0, u64::MAX), Convert &[], "Seed of --sample; the same seed takes the same documents [default: 0]"),
    row!(JsonComments "json_read.comments", "json" "comments", ALL, Switch, Read JSON, "Accept comments in JSON, // and /* */"),
    row!(JsonTrailingCommas "json_read.trailing_commas", "json" "trailing_commas", ALL, Switch, Read JSON, "Accept commas before ] and } in JSON"),
    row!(JsonNan "json_read.non_finite", "json" "allow_nan", ALL, Switch, Read JSON, "Accept NaN, Infinity and -Infinity in JSON", Command "json-nan" Python "non_finite"),
    row!(Numbers "json_read.exact_numbers, yaml.exact_numbers", "numbers", ALL, Words(&["double", "exact"]), Read NUMBERS, "How to keep a number with a fraction or an exponent: as the nearest double, or as its digits"),
    row!(JsonIndent "json_write.indent", "json" "indent", ALL, Number(0, 16), Write &[Json], "Write JSON over several lines, indented by N spaces per level", Command "indent"),
    row!(EscapeNonAscii "json_write.escape_non_ascii", "json" "ascii", ALL, Switch, Write JSON, "Write JSON in ASCII only, other characters as \\uXXXX", Command "escape-non-ascii" Ruby "ascii_only"),
    row!(FloatStyle "json_write.float_style", "json" "float_style", PYTHON, Words(&["shortest", "python", "ruby"]), Write JSON, "Write doubles in JSON as this language does"),
    row!(YamlSchema "yaml.schema", "yaml" "schema", ALL, Words(&["core", "json", "failsafe", "1.1", "psych"]), Read &[Yaml], "How to read unquoted words and numbers in YAML: `1.1` reads `yes`, `0777` and dates as PyYAML does, `psych` as Ruby"),
    row!(YamlIndent "yaml_write.indent", "yaml" "indent", ALL, Number(1, 16), Write &[Yaml], "Indent YAML maps by N spaces per level"),
    row!(YamlIndentSequences "yaml_write.indent_sequences", "yaml" "indent_sequences", ALL, Switch, Write &[Yaml], "Also indent YAML sequences below their keys"),
    row!(YamlDocumentStart "yaml_write.document_start", "yaml" "document_start", ALL, Switch, Write &[Yaml], "Also write `---` before the first YAML document"),
    row!(Charset "marc.charset", "marc" "charset", ALL, CHARSETS, Read MARC8, "Read ISO 2709 and MARCMaker in this charset, whatever the records say", Command "charset"),
    row!(MarcWriteCharset "marc.write_charset", "marc" "write_charset", ALL, CHARSETS, Write LEADER, "Write ISO 2709 and MARCMaker in this charset, and set leader/09 [default: the record's own]"),
    row!(MarcRepair "marc.repair", "marc" "repair", ALL, Switch, Read &[Marc], "Read MARC records with a wrong directory by their field terminators"),
    row!(MarcOversize "marc.oversize", "marc" "oversize", ALL, Switch, Write &[Marc], "Write MARC fields over 9,999 bytes and records over 99,999 bytes to ISO 2709 anyway"),
    row!(MarcReferences "marc.references", "marc" "references", ALL, Switch, Read MARC8, "Decode references such as &#x4E2D; in MARC-8"),
    row!(MarcCompact "marc.compact", "marc" "compact", ALL, Switch, Write &[MarcXml], "Write MARCXML without line breaks and indentation"),
    row!(ExtendedJson "bson.extended_json", "json" "extended", ALL, Words(&["canonical", "relaxed"]), Convert JSON, "Read and write JSON as MongoDB's Extended JSON v2, in this form", Command "extended-json" Python "extended_json" Ruby "extended_json"),
    row!(BsonDocumentBytes "bson.document_bytes", "bson" "document_bytes", ALL, Number(0, u64::MAX), Write &[Bson], "Refuse to write a document larger than N bytes; MongoDB accepts 16777216"),
    row!(CborDeterministic "cbor.deterministic", "cbor" "deterministic", ALL, Switch, Write &[Cbor], "Write the deterministic encoding of RFC 8949: sorted keys, shortest numbers"),
    row!(CborIndefinite "cbor.indefinite", "cbor" "indefinite", ALL, Switch, Write &[Cbor], "Write arrays and maps with a closing break if their length is not known up front"),
    row!(CborKeepTags "cbor.keep_tags", "cbor" "keep_tags", RUBY, Switch, Read &[Cbor], "Keep CBOR tags as data"),
    row!(RubyBinary "marshal.binary", "marshal" "binary", ALL, Words(&["bytes", "text"]), Read &[Marshal], "How to read a string without an encoding: as bytes, as Ruby does, or as text if it is valid UTF-8 (for files of Ruby 1.8)", Command "ruby-binary"),
    row!(MarshalExact "marshal.exact", "marshal" "exact", PYTHON, Switch, Read &[Marshal], "Read Marshal objects with everything that they carry"),
    row!(PickleProtocol "pickle.protocol", "pickle" "protocol", ALL, Number(0, 5), Write &[Pickle], "Write pickles of this protocol [default: 4, for Python 3.4 and later]"),
    row!(PickleStrings "pickle.strings", "pickle" "strings", ALL, Words(&["ascii", "utf8", "latin1", "bytes"]), Read &[Pickle], "How to read the 8-bit strings of Python 2"),
    row!(CsvHeader "csv.header", "csv" "header", ALL, Words(&["yes", "no"]), Both TABLES, "Whether the first row of CSV names the columns; without a header, a row is an array"),
    row!(CsvDelimiter "csv.delimiter", "csv" "delimiter", ALL, Words(&["comma", "semicolon", "tab", "pipe", "colon", "space"]), Both &[Csv], "The character between the fields of CSV"),
    row!(CsvTypes "csv.types", "csv" "types", ALL, Words(&["text", "infer"]), Both TABLES, "What fields without quotes are in CSV: text, or numbers, true and false if they are spelled as regauge writes them"),
    row!(CsvNested "csv.nested", "csv" "nested", ALL, Words(&["refuse", "flatten"]), Write TABLES, "What to do with a map or an array in a row of CSV: refuse it, or write a column for each value in it, such as a.b and a.0"),
];

/// An option that a caller named.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// The option.
    pub row: &'static Row,
    /// The name to use instead, if the caller's is an old one.
    pub instead: Option<&'static str>,
}

/// Returns the options that a name stands for in a binding: those of the formats at hand, or all of
/// that name if it is none of theirs. Only old names stand for several: in a conversion from JSON to
/// YAML, `indent` was two options.
pub fn named(language: Language, name: &str, formats: [Format; 2], is_generic: bool) -> Vec<Named> {
    let is_here = |named: &Named| formats.iter().any(|format| named.row.is_for(*format));
    let find = |row: &'static Row| {
        let now = row.spelled(language, is_generic)?;
        let is_old = row.old_names(language, is_generic).any(|old| old == name);
        (now == name || is_old).then_some(Named { row, instead: (now != name).then_some(now) })
    };
    let mut found: Vec<Named> = OPTIONS.iter().filter_map(find).collect();
    if found.iter().any(is_here) {
        found.retain(is_here);
    }
    found
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

    /// In functions of all formats, and in the command, a name refers to one option, old names
    /// included; in the module of a format too.
    #[test]
    fn names_are_clear() {
        for (index, row) in OPTIONS.iter().enumerate() {
            for other in &OPTIONS[index + 1..] {
                for language in [Language::Command, Language::Python, Language::Ruby] {
                    for is_generic in [true, false] {
                        let apart =
                            Format::ALL.iter().all(|of| !row.is_for(*of) || !other.is_for(*of));
                        let names = |row: &Row| {
                            let old = row.old.iter().filter(|(of, _)| *of == language);
                            let old = old.map(|(_, name)| *name);
                            let now = row.spelled(language, is_generic);
                            now.into_iter().chain(old).collect::<Vec<_>>()
                        };
                        let (mine, others) = (names(row), names(other));
                        let shared = mine.iter().any(|name| others.contains(name));
                        assert!(
                            !shared || !is_generic && language != Language::Command && apart,
                            "{:?} and {:?} share a name in {language:?}: {mine:?}",
                            row.opt,
                            other.opt
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn one_option_has_one_name() {
        for row in &OPTIONS {
            let [own, full, flag] = row.names;
            assert_eq!(flag, full.replace('_', "-"));
            let format = full.strip_suffix(own).unwrap().trim_end_matches('_');
            let family = row.formats.first().map(|of| of.name().trim_end_matches("xml"));
            assert!(format.is_empty() || Some(format) == family, "{full} is for {family:?}");
            assert!(!row.help.is_empty() && !row.help.contains('\n'));
            assert!(row.help.starts_with(char::is_uppercase) && !row.help.ends_with('.'));
            for (language, old) in row.old {
                assert!(row.surfaces.contains(language), "{old}");
                let found = named(*language, old, [Format::Json; 2], true);
                assert!(found.iter().any(|found| found.instead.is_some()), "{old}");
            }
        }
        let generic = |name| named(Language::Python, name, [Format::Json, Format::Yaml], true);
        let instead: Vec<_> = generic("indent").iter().map(|it| it.instead).collect();
        assert_eq!(instead, [Some("json_indent"), Some("yaml_indent")]);
        assert_eq!(generic("yaml_indent")[0].row.opt, Opt::YamlIndent);
        assert!(generic("yaml_indent")[0].instead.is_none());
        let own = named(Language::Ruby, "ascii_only", [Format::Json; 2], false);
        assert_eq!((own[0].row.opt, own[0].instead), (Opt::EscapeNonAscii, Some("ascii")));
        assert!(named(Language::Ruby, "json_ascii", [Format::Json; 2], false).is_empty());
    }
}
