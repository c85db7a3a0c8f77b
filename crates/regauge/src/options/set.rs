//! Setting an option by its row, with a value as a command line, Python or Ruby gives it.

use super::bson::ExtendedJson;
use super::csv;
use super::json::FloatStyle;
use super::marc::CharsetChoice;
use super::{DuplicateKeys, Envelopes, Options, Secret, marshal, pickle, yaml};
use super::{Language, Opt, Row, Takes};
use crate::model::record::Charset;
use crate::policy::documents::Documents;
use crate::policy::fidelity::{Objects, OnLoss};

/// The value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting<'v> {
    /// On or off.
    Switch(bool),
    /// One of the words of [`Takes::Words`], in the core's spelling.
    Word(&'v str),
    /// A number within the bounds of [`Takes::Number`].
    Number(u64),
    /// Any text.
    Text(&'v str),
    /// The secret of an application.
    Secret(&'v Secret),
}

impl Row {
    /// The core's spelling of a word that a caller in this language gave.
    pub fn core_word<'w>(&self, language: Language, given: &'w str) -> &'w str {
        let Takes::Words(words) = self.takes else { return given };
        words.iter().find(|word| self.word(language, word) == given).map_or(given, |word| word)
    }

    /// What the option takes, for an error: `"refuse", "wrap" or "approximate"`.
    pub fn expected(&self, language: Language) -> String {
        match self.takes {
            Takes::Switch | Takes::File => "true or false".to_owned(),
            Takes::Words(words) => {
                let quote = |word: &&'static str| match language {
                    Language::Ruby => format!(":{}", self.word(language, word)),
                    _ => format!("\"{}\"", self.word(language, word)),
                };
                words.iter().map(quote).collect::<Vec<_>>().join(", ")
            }
            Takes::Number(least, u64::MAX) => format!("a number from {least}"),
            Takes::Number(least, most) => format!("a number from {least} to {most}"),
            Takes::Format => "the name of a format".to_owned(),
            Takes::Limit => "limits by their names".to_owned(),
            Takes::Secret => "a secret that is not empty, as bytes or text".to_owned(),
            Takes::Text => "text".to_owned(),
            Takes::Paths => "paths, such as items[*].price".to_owned(),
            Takes::Renames => "new names by paths that end in a key".to_owned(),
        }
    }
}

impl Options {
    /// Sets an option of the table. Returns `false`, and changes nothing, for a value that the option
    /// does not take; [`Row::expected`] says what it takes. Formats, limits and paths are set by
    /// their fields.
    pub fn set(&mut self, opt: Opt, to: Setting<'_>) -> bool {
        self.try_set(opt, to).is_some()
    }

    fn try_set(&mut self, opt: Opt, to: Setting<'_>) -> Option<()> {
        match opt {
            Opt::From | Opt::To | Opt::Limits => return None,
            Opt::Only | Opt::Drop | Opt::Rename => return None,
            Opt::OnLoss => {
                self.on_loss = to.word(&[
                    ("refuse", OnLoss::Refuse),
                    ("wrap", OnLoss::Wrap),
                    ("approximate", OnLoss::Approximate),
                ])?;
            }
            Opt::Unwrap => self.unwrap = to.switch()?,
            Opt::Envelope => {
                self.envelope = to.word(&[
                    ("auto", Envelopes::Auto),
                    ("none", Envelopes::Never),
                    ("open", Envelopes::Open),
                    ("keep", Envelopes::Keep),
                ])?;
            }
            Opt::Secret => self.secret = Some(to.secret()?),
            Opt::Salt => self.salt = Some(to.text()?),
            Opt::Objects => {
                self.objects = Some(to.word(&[
                    ("refuse", Objects::Refuse),
                    ("data", Objects::Data),
                    ("wrap", Objects::Wrap),
                ])?);
            }
            Opt::Documents => {
                self.documents = to.word(&[
                    ("auto", Documents::Auto),
                    ("keep", Documents::Keep),
                    ("split", Documents::Split),
                    ("join", Documents::Join),
                ])?;
            }
            Opt::Bad => self.skip_bad = to.word(&[("stop", false), ("skip", true)])?,
            Opt::DuplicateKeys => {
                self.duplicate_keys =
                    to.word(&[("keep", DuplicateKeys::Keep), ("refuse", DuplicateKeys::Refuse)])?;
            }
            Opt::Report => self.report = to.switch()?,
            Opt::Jobs => self.jobs = usize::try_from(to.number(opt)?).ok()?,
            Opt::Head => self.head = Some(to.number(opt)?),
            Opt::Sample => self.sample = Some(to.number(opt)?),
            Opt::Seed => self.seed = to.number(opt)?,
            Opt::JsonComments => self.json_read.comments = to.switch()?,
            Opt::JsonTrailingCommas => self.json_read.trailing_commas = to.switch()?,
            Opt::JsonNan => self.json_read.non_finite = to.switch()?,
            Opt::Numbers => {
                let exact = to.word(&[("double", false), ("exact", true)])?;
                self.json_read.exact_numbers = exact;
                self.yaml.exact_numbers = exact;
            }
            Opt::JsonIndent => self.json_write.indent = Some(to.small(opt)?),
            Opt::EscapeNonAscii => self.json_write.escape_non_ascii = to.switch()?,
            Opt::FloatStyle => {
                self.json_write.float_style = to.word(&[
                    ("shortest", FloatStyle::Shortest),
                    ("python", FloatStyle::Python),
                    ("ruby", FloatStyle::Ruby),
                ])?;
            }
            Opt::YamlSchema => {
                self.yaml.schema = to.word(&[
                    ("core", yaml::Schema::Core),
                    ("json", yaml::Schema::Json),
                    ("failsafe", yaml::Schema::Failsafe),
                    ("1.1", yaml::Schema::Yaml11),
                    ("psych", yaml::Schema::Psych),
                ])?;
            }
            Opt::YamlIndent => self.yaml_write.indent = to.small(opt)?,
            Opt::YamlIndentSequences => self.yaml_write.indent_sequences = to.switch()?,
            Opt::YamlDocumentStart => self.yaml_write.document_start = to.switch()?,
            Opt::Charset => self.marc.charset = to.charset()?,
            Opt::MarcWriteCharset => self.marc.write_charset = to.charset()?,
            Opt::MarcRepair => self.marc.repair = to.switch()?,
            Opt::MarcOversize => self.marc.oversize = to.switch()?,
            Opt::MarcReferences => self.marc.references = to.switch()?,
            Opt::MarcCompact => self.marc.compact = to.switch()?,
            Opt::ExtendedJson => {
                self.bson.extended_json = Some(to.word(&[
                    ("canonical", ExtendedJson::Canonical),
                    ("relaxed", ExtendedJson::Relaxed),
                ])?);
            }
            Opt::BsonDocumentBytes => self.bson.document_bytes = Some(to.number(opt)?),
            Opt::CborDeterministic => self.cbor.deterministic = to.switch()?,
            Opt::CborIndefinite => self.cbor.indefinite = to.switch()?,
            Opt::CborKeepTags => self.cbor.keep_tags = to.switch()?,
            Opt::RubyBinary => {
                self.marshal.binary =
                    to.word(&[("bytes", marshal::Binary::Bytes), ("text", marshal::Binary::Text)])?;
            }
            Opt::MarshalExact => self.marshal.exact = to.switch()?,
            Opt::PickleProtocol => self.pickle.protocol = Some(to.small(opt)?),
            Opt::PickleStrings => {
                self.pickle.strings = to.word(&[
                    ("ascii", pickle::Strings::Ascii),
                    ("utf8", pickle::Strings::Utf8),
                    ("latin1", pickle::Strings::Latin1),
                    ("bytes", pickle::Strings::Bytes),
                ])?;
            }
            Opt::CsvHeader => self.csv.header = to.word(&[("yes", true), ("no", false)])?,
            Opt::CsvDelimiter => {
                self.csv.delimiter = Some(to.word(&csv::Delimiter::NAMES)?);
            }
            Opt::CsvTypes => {
                self.csv.types =
                    to.word(&[("text", csv::Types::Text), ("infer", csv::Types::Infer)])?;
            }
            Opt::CsvNested => {
                self.csv.nested =
                    to.word(&[("refuse", csv::Nested::Refuse), ("flatten", csv::Nested::Flatten)])?;
            }
        }
        Some(())
    }
}

impl Setting<'_> {
    fn switch(self) -> Option<bool> {
        let Setting::Switch(on) = self else { return None };
        Some(on)
    }

    fn secret(self) -> Option<Secret> {
        let Setting::Secret(secret) = self else { return None };
        Some(secret.clone())
    }

    fn text(self) -> Option<String> {
        let Setting::Text(text) = self else { return None };
        Some(text.to_owned())
    }

    fn word<T: Copy>(self, known: &[(&str, T)]) -> Option<T> {
        let Setting::Word(given) = self else { return None };
        known.iter().find(|(word, _)| *word == given).map(|(_, value)| *value)
    }

    fn number(self, opt: Opt) -> Option<u64> {
        match (self, opt.row().takes) {
            (Setting::Number(number), Takes::Number(least, most)) => {
                (least..=most).contains(&number).then_some(number)
            }
            _ => None,
        }
    }

    fn small(self, opt: Opt) -> Option<u8> {
        self.number(opt).and_then(|number| u8::try_from(number).ok())
    }

    fn charset(self) -> Option<CharsetChoice> {
        self.word(&[
            ("auto", CharsetChoice::Auto),
            ("utf8", CharsetChoice::Always(Charset::Utf8)),
            ("marc8", CharsetChoice::Always(Charset::Marc8)),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;
    use crate::model::hint::Hint;
    use crate::model::option::OPTIONS;

    /// An option takes what its row says, each value another, and nothing else.
    #[test]
    fn rows_say_what_is_taken() {
        let secret = Secret::new(b"k").unwrap();
        for row in &OPTIONS {
            let set = |to| {
                let mut options = Options::new(Format::Json, Format::Json);
                options.set(row.opt, to).then(|| format!("{options:?}"))
            };
            let (taken, refused): (Vec<Setting<'_>>, Vec<_>) = match row.takes {
                Takes::Switch | Takes::File => (
                    vec![Setting::Switch(false), Setting::Switch(true)],
                    vec![Setting::Word("true"), Setting::Number(1)],
                ),
                Takes::Words(words) => (
                    words.iter().map(|word| Setting::Word(word)).collect(),
                    vec![Setting::Word("nothing"), Setting::Switch(true)],
                ),
                Takes::Number(least, most) => {
                    let beyond = least.checked_sub(1).into_iter().chain(most.checked_add(1));
                    let refused = beyond.map(Setting::Number).chain([Setting::Switch(true)]);
                    (vec![Setting::Number(least), Setting::Number(most)], refused.collect())
                }
                Takes::Secret => (vec![Setting::Secret(&secret)], vec![Setting::Text("k")]),
                Takes::Text => (
                    vec![Setting::Text(""), Setting::Text("signed cookie")],
                    vec![Setting::Word("k"), Setting::Switch(true)],
                ),
                Takes::Format | Takes::Limit | Takes::Paths | Takes::Renames => {
                    (vec![], vec![Setting::Word("json")])
                }
            };
            let mut seen = Vec::new();
            for to in taken {
                let options = set(to).unwrap_or_else(|| panic!("{:?} takes {to:?}", row.opt));
                assert!(!seen.contains(&options), "{:?} {to:?}", row.opt);
                seen.push(options);
            }
            for to in refused {
                assert_eq!(set(to), None, "{:?} {to:?}", row.opt);
            }
        }
    }

    /// A hint in Rust names the value of the field.
    #[test]
    fn hints_name_the_variants() {
        for row in &OPTIONS {
            let Takes::Words(words) = row.takes else { continue };
            for word in words {
                let mut options = Options::new(Format::Json, Format::Json);
                assert!(options.set(row.opt, Setting::Word(word)));
                let hint = Hint::set(row.opt, word).to_string();
                let (fields, value) = hint.split_once(" to ").unwrap();
                let field = fields.trim_matches('`').rsplit(['.', '`']).next().unwrap();
                let value = value.trim_matches('`');
                let shown = format!("{options:?}");
                let found = ["", "Some(", "Always(", "Some(Always("]
                    .iter()
                    .any(|around| shown.contains(&format!("{field}: {around}{value}")));
                assert!(found, "{hint}: {shown}");
            }
        }
    }

    #[test]
    fn words_differ_by_language() {
        let row = Opt::Numbers.row();
        assert_eq!(row.core_word(Language::Ruby, "float"), "double");
        assert_eq!(row.core_word(Language::Python, "float"), "float");
        assert_eq!(row.expected(Language::Ruby), ":float, :exact");
        assert_eq!(Opt::PickleProtocol.row().expected(Language::Python), "a number from 0 to 5");
    }
}
