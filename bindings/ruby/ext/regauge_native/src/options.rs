//! Keyword arguments.

use regauge::convert::DuplicateKeys;
use regauge::documents::Documents;
use regauge::fidelity::Objects;
use regauge::marc::{Charset, CharsetChoice};
use regauge::{Format, Limits, OnLoss, Options, bson, marshal, pickle, yaml};

use crate::ruby::{self, Raise, VALUE};

/// The keyword arguments of one call.
pub struct Settings {
    /// The library's options.
    pub core: Options,
    /// Whether keys become symbols.
    pub symbolize: bool,
    /// Whether everything that is loaded is frozen.
    pub freeze: bool,
    /// The classes that Marshal may instantiate: an array, or `nil`.
    pub permit: VALUE,
    /// Called with each object that the format cannot hold; `nil` for none.
    pub default: VALUE,
    /// Whether an object that the format cannot hold is asked for its `to_h`.
    pub to_h: bool,
    /// Whether symbols stay symbols in formats that have them.
    pub symbols: bool,
    /// Whether the readers have default settings, so that a previously used one can be reused.
    pub usual: bool,
    /// Whether the keywords ask for reading the wrapped notation.
    pub unwrap: Option<bool>,
}

impl Settings {
    /// Returns the options without keyword arguments.
    pub fn new(format: Format) -> Settings {
        let mut core = Options::new(format, format);
        // What Psych reads, and what Rails' files expect.
        core.yaml.schema = yaml::Schema::Yaml11;
        core.marshal.inert = true;
        Settings {
            core,
            symbolize: false,
            freeze: false,
            permit: ruby::NIL,
            default: ruby::NIL,
            to_h: false,
            symbols: false,
            usual: true,
            unwrap: None,
        }
    }

    /// Parses keyword arguments: a hash, or `nil`.
    ///
    /// # Errors
    /// An `ArgumentError` for an unknown name or value.
    pub fn parse(format: Format, keywords: VALUE) -> Result<Settings, Raise> {
        let mut settings = Settings::new(format);
        if keywords == ruby::NIL {
            return Ok(settings);
        }
        let mut result = Ok(());
        ruby::each_pair(keywords, |key, value| {
            result = settings.set(key, value);
            result.is_ok()
        });
        result.map(|()| settings)
    }

    /// Parses the keyword arguments for loading. `on_loss: :wrap` used to undo the notation: a
    /// caller who still passes it must not get the notation itself.
    ///
    /// # Errors
    /// Those of `parse`.
    pub fn loading(format: Format, keywords: VALUE) -> Result<Settings, Raise> {
        let settings = Settings::parse(format, keywords)?;
        if settings.core.on_loss == OnLoss::Wrap {
            return Err(ruby::argument_error(
                "on_loss: :wrap is for writing; pass unwrap: true to read what it wrote",
            ));
        }
        Ok(settings)
    }

    /// Parses the keyword arguments of a store, which reads what it wrote.
    ///
    /// # Errors
    /// Those of `parse`.
    pub fn storing(format: Format, keywords: VALUE) -> Result<Settings, Raise> {
        let mut settings = Settings::parse(format, keywords)?;
        settings.core.unwrap = settings.unwrap.unwrap_or(settings.core.on_loss == OnLoss::Wrap);
        Ok(settings)
    }

    fn set(&mut self, key: VALUE, value: VALUE) -> Result<(), Raise> {
        let name = word(key).ok_or_else(|| ruby::argument_error("a keyword is not a symbol"))?;
        let truth = value != ruby::NIL && value != ruby::FALSE;
        match name.as_str() {
            "symbolize_names" => self.symbolize = truth,
            "freeze" => self.freeze = truth,
            "permit" => self.permit = array_or_nil(value, "permit")?,
            "default" => self.default = value,
            "to_h" => self.to_h = truth,
            _ => {
                self.usual = false;
                return self.set_core(&name, value, truth);
            }
        }
        Ok(())
    }

    fn set_core(&mut self, name: &str, value: VALUE, truth: bool) -> Result<(), Raise> {
        let core = &mut self.core;
        match name {
            "limits" => core.limits = limits(value)?,
            "unwrap" => {
                core.unwrap = truth;
                self.unwrap = Some(truth);
            }
            "on_loss" => {
                core.on_loss = choice(
                    name,
                    value,
                    &[
                        ("refuse", OnLoss::Refuse),
                        ("wrap", OnLoss::Wrap),
                        ("approximate", OnLoss::Approximate),
                    ],
                )?;
            }
            "objects" => {
                core.objects = Some(choice(
                    name,
                    value,
                    &[
                        ("refuse", Objects::Refuse),
                        ("data", Objects::Data),
                        ("wrap", Objects::Wrap),
                    ],
                )?);
            }
            "duplicate_keys" => {
                core.duplicate_keys = choice(
                    name,
                    value,
                    &[
                        ("last", DuplicateKeys::Keep),
                        ("keep", DuplicateKeys::Keep),
                        ("refuse", DuplicateKeys::Refuse),
                    ],
                )?;
            }
            "symbols" => self.symbols = choice(name, value, &[("text", false), ("keep", true)])?,
            "numbers" => {
                let exact = choice(name, value, &[("float", false), ("exact", true)])?;
                core.json_read.exact_numbers = exact;
                core.yaml.exact_numbers = exact;
            }
            "comments" => core.json_read.comments = truth,
            "trailing_commas" => core.json_read.trailing_commas = truth,
            "allow_nan" => core.json_read.non_finite = truth,
            "pretty" => core.json_write.indent = truth.then_some(2),
            "indent" => {
                let indent = number(name, value, 16)? as u8;
                core.json_write.indent = Some(indent);
                core.yaml_write.indent = indent.max(1);
            }
            "ascii_only" => core.json_write.escape_non_ascii = truth,
            "indent_sequences" => core.yaml_write.indent_sequences = truth,
            "document_start" => core.yaml_write.document_start = truth,
            "schema" => {
                core.yaml.schema = choice(
                    name,
                    value,
                    &[
                        ("1.1", yaml::Schema::Yaml11),
                        ("core", yaml::Schema::Core),
                        ("1.2", yaml::Schema::Core),
                        ("json", yaml::Schema::Json),
                        ("failsafe", yaml::Schema::Failsafe),
                    ],
                )?;
            }
            "indefinite" => core.cbor.indefinite = truth,
            "deterministic" => core.cbor.deterministic = truth,
            "keep_tags" => core.cbor.keep_tags = truth,
            "extended_json" => {
                core.bson.extended_json = Some(choice(
                    name,
                    value,
                    &[
                        ("canonical", bson::ExtendedJson::Canonical),
                        ("relaxed", bson::ExtendedJson::Relaxed),
                    ],
                )?);
            }
            "document_bytes" => {
                core.bson.document_bytes = Some(number(name, value, i64::MAX)? as u64)
            }
            "binary" => {
                core.marshal.binary = choice(
                    name,
                    value,
                    &[("bytes", marshal::Binary::Bytes), ("text", marshal::Binary::Text)],
                )?;
            }
            "protocol" => core.pickle.protocol = Some(number(name, value, 5)? as u8),
            "strings" => {
                core.pickle.strings = choice(
                    name,
                    value,
                    &[
                        ("ascii", pickle::Strings::Ascii),
                        ("utf8", pickle::Strings::Utf8),
                        ("latin1", pickle::Strings::Latin1),
                        ("bytes", pickle::Strings::Bytes),
                    ],
                )?;
            }
            "charset" => core.marc.charset = charset(name, value)?,
            "write_charset" => core.marc.write_charset = charset(name, value)?,
            "references" => core.marc.references = truth,
            "repair" => core.marc.repair = truth,
            "oversize" => core.marc.oversize = truth,
            "compact" => core.marc.compact = truth,
            "documents" => {
                core.documents = choice(
                    name,
                    value,
                    &[
                        ("auto", Documents::Auto),
                        ("keep", Documents::Keep),
                        ("split", Documents::Split),
                        ("join", Documents::Join),
                    ],
                )?;
            }
            "skip_bad" => core.skip_bad = truth,
            "jobs" | "threads" => core.jobs = number(name, value, 256)?.max(1) as usize,
            _ => return Err(ruby::argument_error(&format!("unknown keyword: :{name}"))),
        }
        Ok(())
    }
}

fn charset(name: &str, value: VALUE) -> Result<CharsetChoice, Raise> {
    choice(
        name,
        value,
        &[
            ("auto", CharsetChoice::Auto),
            ("utf8", CharsetChoice::Always(Charset::Utf8)),
            ("marc8", CharsetChoice::Always(Charset::Marc8)),
        ],
    )
}

fn limits(value: VALUE) -> Result<Limits, Raise> {
    let mut limits = Limits::default();
    if value == ruby::NIL {
        return Ok(limits);
    }
    if word(value).as_deref() == Some("none") {
        return Ok(Limits::NONE);
    }
    if ruby::kind_of(value) != rb_sys::ruby_value_type::RUBY_T_HASH {
        return Err(ruby::argument_error("limits: takes a hash such as { depth: 100 }, or :none"));
    }
    let mut wrong = None;
    ruby::each_pair(value, |key, value| {
        let name = word(key).unwrap_or_default();
        let bound = match ruby::small_integer(value) {
            Some(bound) => u64::try_from(bound).map(Some).ok(),
            None if value == ruby::NIL => Some(None),
            None => None,
        };
        if !bound.is_some_and(|bound| limits.set(&name, bound)) {
            wrong = Some(name);
        }
        wrong.is_none()
    });
    match wrong {
        None => Ok(limits),
        Some(name) => Err(ruby::argument_error(&format!(
            "unknown limit {name}, or a limit that is not a number; expected one of {}",
            Limits::NAMES.join(", ")
        ))),
    }
}

/// Returns the text of a symbol or string.
pub fn word(value: VALUE) -> Option<String> {
    use rb_sys::ruby_value_type as kind;
    let string = match ruby::kind_of(value) {
        kind::RUBY_T_SYMBOL => ruby::symbol_text(value),
        kind::RUBY_T_STRING => value,
        _ => return None,
    };
    let text = String::from_utf8_lossy(ruby::bytes_of(string)).into_owned();
    ruby::keep(string);
    Some(text)
}

fn choice<T: Copy>(name: &str, value: VALUE, known: &[(&str, T)]) -> Result<T, Raise> {
    let given = word(value).unwrap_or_default();
    known.iter().find(|(word, _)| *word == given).map(|(_, v)| *v).ok_or_else(|| {
        let words: Vec<String> = known.iter().map(|(word, _)| format!(":{word}")).collect();
        ruby::argument_error(&format!("{name}: takes {}", words.join(", ")))
    })
}

fn number(name: &str, value: VALUE, most: i64) -> Result<i64, Raise> {
    ruby::small_integer(value)
        .filter(|v| (0..=most).contains(v))
        .ok_or_else(|| ruby::argument_error(&format!("{name}: takes a number from 0 to {most}")))
}

fn array_or_nil(value: VALUE, name: &str) -> Result<VALUE, Raise> {
    if value == ruby::NIL || ruby::kind_of(value) == rb_sys::ruby_value_type::RUBY_T_ARRAY {
        return Ok(value);
    }
    Err(ruby::argument_error(&format!("{name}: takes an array of classes")))
}

/// Returns the permitted class or module (from an array, or `nil`) that has this name; `nil` for
/// none.
pub fn permitted(permit: VALUE, name: VALUE) -> VALUE {
    if permit == ruby::NIL {
        return ruby::NIL;
    }
    let wanted = ruby::bytes_of(name);
    for index in 0..ruby::array_length(permit) {
        let class = ruby::array_at(permit, index);
        use rb_sys::ruby_value_type as kind;
        if !matches!(ruby::kind_of(class), kind::RUBY_T_CLASS | kind::RUBY_T_MODULE) {
            continue;
        }
        let known = ruby::module_name(class);
        if known != ruby::NIL && ruby::bytes_of(known) == wanted {
            return class;
        }
    }
    ruby::NIL
}
