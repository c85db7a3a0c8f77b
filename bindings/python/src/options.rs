//! Keyword arguments to the core's options: the same names in all functions.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use regauge::convert::DuplicateKeys;
use regauge::documents::Documents;
use regauge::{Format, Objects, OnLoss, Options, marc, marshal, pickle, yaml};

use crate::build::Hooks;

/// What a caller asked for.
pub struct Given<'py> {
    /// What the core does.
    pub options: Options,
    /// Functions to call while loading.
    pub hooks: Hooks<'py>,
    /// A function to call for what cannot be written.
    pub default: Option<Bound<'py, PyAny>>,
    /// Keys in order.
    pub sort_keys: bool,
    /// Text instead of bytes.
    pub text: bool,
    /// A function that is told of each record that is passed over.
    pub on_bad: Option<Bound<'py, PyAny>>,
}

/// Which keyword arguments a function takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum For {
    /// `loads`, `load`, `iter_load`.
    Loading,
    /// `dumps`, `dump`, `Writer`.
    Dumping,
    /// `convert`, `inspect`.
    Converting,
    /// `Store`, whose values may be in any format.
    Storing,
}

const LOADING: &[&str] = &["limits", "on_loss", "duplicate_keys", "object_hook"];
const DUMPING: &[&str] = &["limits", "on_loss", "objects", "default", "sort_keys"];
const STORING: &[&str] = &[
    "limits",
    "on_loss",
    "objects",
    "default",
    "sort_keys",
    "duplicate_keys",
    "object_hook",
    "object_pairs_hook",
    "ext_hook",
    "tag_hook",
    "types",
];

/// What one format's functions take beside the others.
fn own(format: Format, purpose: For) -> &'static [&'static str] {
    match (format, purpose) {
        (Format::Json, For::Loading) => {
            &["object_pairs_hook", "numbers", "comments", "trailing_commas", "non_finite"]
        }
        (Format::Ndjson, For::Loading) => &[
            "object_pairs_hook",
            "numbers",
            "comments",
            "trailing_commas",
            "non_finite",
            "bad",
            "on_bad",
        ],
        (Format::Json, _) => &["indent", "ascii", "float_style", "text"],
        (Format::Ndjson, _) => &["ascii", "float_style", "text"],
        (Format::Yaml, For::Loading) => {
            &["object_pairs_hook", "numbers", "tag_hook", "schema", "types"]
        }
        (Format::Yaml, _) => &["indent", "indent_sequences", "document_start", "text"],
        (Format::Msgpack, For::Loading) => &["object_pairs_hook", "ext_hook"],
        (Format::Bson, For::Loading) => &["object_pairs_hook"],
        (Format::Bson, _) => &["document_bytes"],
        (Format::Cbor, For::Loading) => &["object_pairs_hook", "tag_hook"],
        (Format::Cbor, _) => &["deterministic", "indefinite"],
        (Format::Marshal, For::Loading) => &["object_pairs_hook", "types", "binary", "exact"],
        (Format::Pickle, For::Loading) => &["object_pairs_hook", "types", "strings"],
        (Format::Pickle, _) => &["protocol"],
        (Format::Marc, For::Loading) => &["charset", "repair", "bad", "on_bad"],
        (Format::Marc, _) => &["write_charset", "oversize"],
        (Format::MarcXml | Format::MarcJson, For::Loading) => &["bad", "on_bad"],
        (Format::MarcXml, _) => &["compact"],
        _ => &[],
    }
}

impl<'py> Given<'py> {
    /// Nothing but the formats.
    pub fn new(from: Format, to: Format) -> Given<'py> {
        let mut options = Options::new(from, to);
        // Tuples and the like are wanted; and a number is what Python writes it as.
        options.pickle.exact = true;
        options.json_read.exact_numbers = false;
        options.json_write.exact_numbers = true;
        options.yaml_write.exact_numbers = true;
        options.yaml_write.keep_tags = true;
        Given {
            options,
            hooks: Hooks::default(),
            default: None,
            sort_keys: false,
            text: false,
            on_bad: None,
        }
    }

    /// What the keyword arguments say.
    ///
    /// # Errors
    /// `TypeError` for one that the function does not take, `ValueError` for a value that it does
    /// not know.
    pub fn parse(
        from: Format,
        to: Format,
        purpose: For,
        arguments: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Given<'py>> {
        let mut given = Given::new(from, to);
        let Some(arguments) = arguments else { return Ok(given) };
        for (name, value) in arguments {
            let name: String = name.extract()?;
            let format = if purpose == For::Dumping { to } else { from };
            let (common, own, taker) = match purpose {
                For::Loading => (LOADING, own(format, purpose), format.title()),
                For::Storing => (STORING, &[][..], "a store"),
                _ => (DUMPING, own(format, purpose), format.title()),
            };
            let known = purpose == For::Converting
                || common.contains(&name.as_str())
                || own.contains(&name.as_str());
            if !known {
                let mut names: Vec<_> = common.iter().chain(own).copied().collect();
                names.sort_unstable();
                return Err(PyTypeError::new_err(format!(
                    "found the keyword argument {name}, which {taker} does not take here; it takes \
                     {}",
                    names.join(", "),
                )));
            }
            if !value.is_none() {
                given.set(&name, &value)?;
            }
        }
        Ok(given)
    }

    fn set(&mut self, name: &str, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let options = &mut self.options;
        let hook = || -> PyResult<Option<Bound<'py, PyAny>>> {
            if value.is_callable() {
                return Ok(Some(value.clone()));
            }
            let found = value.get_type().name()?;
            Err(PyTypeError::new_err(format!("found {found} as {name}, expected a function")))
        };
        match name {
            "limits" => {
                for (key, bound) in value.cast::<PyDict>()? {
                    let key: String = key.extract()?;
                    if !options.limits.set(&key, bound.extract()?) {
                        let names = regauge::Limits::NAMES.join(", ");
                        return Err(PyValueError::new_err(format!(
                            "found the limit {key:?}, expected one of {names}"
                        )));
                    }
                }
            }
            "on_loss" => {
                options.on_loss = choose(
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
                options.objects = Some(choose(
                    name,
                    value,
                    &[
                        ("refuse", Objects::Refuse),
                        ("wrap", Objects::Wrap),
                        ("data", Objects::Data),
                    ],
                )?);
            }
            "duplicate_keys" => {
                options.duplicate_keys = choose(
                    name,
                    value,
                    &[
                        ("last", DuplicateKeys::Keep),
                        ("keep", DuplicateKeys::Keep),
                        ("refuse", DuplicateKeys::Refuse),
                    ],
                )?;
            }
            "numbers" => {
                let exact = choose(name, value, &[("double", false), ("exact", true)])?;
                options.json_read.exact_numbers = exact;
                options.yaml.exact_numbers = exact;
            }
            "schema" => {
                options.yaml.schema = choose(
                    name,
                    value,
                    &[
                        ("core", yaml::Schema::Core),
                        ("json", yaml::Schema::Json),
                        ("failsafe", yaml::Schema::Failsafe),
                        ("1.1", yaml::Schema::Yaml11),
                    ],
                )?;
            }
            "strings" => {
                options.pickle.strings = choose(
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
            "binary" => {
                options.marshal.binary = choose(
                    name,
                    value,
                    &[("bytes", marshal::Binary::Bytes), ("text", marshal::Binary::Text)],
                )?;
            }
            "charset" | "write_charset" => {
                let choice: marc::CharsetChoice =
                    value.extract::<String>()?.parse().map_err(PyValueError::new_err)?;
                if name == "charset" {
                    options.marc.charset = choice;
                } else {
                    options.marc.write_charset = choice;
                }
            }
            "float_style" => {
                use regauge::json::FloatStyle;
                options.json_write.float_style = choose(
                    name,
                    value,
                    &[
                        ("shortest", FloatStyle::Shortest),
                        ("python", FloatStyle::Python),
                        ("ruby", FloatStyle::Ruby),
                    ],
                )?;
            }
            "documents" => {
                options.documents = choose(
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
            "bad" => {
                options.skip_bad = choose(name, value, &[("stop", false), ("skip", true)])?;
            }
            "indent" => {
                let width: u8 = value.extract()?;
                options.json_write.indent = Some(width);
                options.yaml_write.indent = width;
            }
            "protocol" => {
                let protocol: u8 = value.extract()?;
                if protocol > pickle::types::HIGHEST_PROTOCOL {
                    return Err(PyValueError::new_err(format!(
                        "found protocol {protocol}, expected 0 to 5"
                    )));
                }
                options.pickle.protocol = Some(protocol);
            }
            "document_bytes" => options.bson.document_bytes = Some(value.extract()?),
            "jobs" => options.jobs = value.extract::<usize>()?.max(1),
            "comments" => options.json_read.comments = value.is_truthy()?,
            "trailing_commas" => options.json_read.trailing_commas = value.is_truthy()?,
            "non_finite" => options.json_read.non_finite = value.is_truthy()?,
            "ascii" => options.json_write.escape_non_ascii = value.is_truthy()?,
            "indent_sequences" => options.yaml_write.indent_sequences = value.is_truthy()?,
            "document_start" => options.yaml_write.document_start = value.is_truthy()?,
            "deterministic" => options.cbor.deterministic = value.is_truthy()?,
            "indefinite" => options.cbor.indefinite = value.is_truthy()?,
            "repair" => options.marc.repair = value.is_truthy()?,
            "oversize" => options.marc.oversize = value.is_truthy()?,
            "compact" => options.marc.compact = value.is_truthy()?,
            "exact" => options.marshal.exact = value.is_truthy()?,
            "report" => options.report = value.is_truthy()?,
            "text" => self.text = value.is_truthy()?,
            "sort_keys" => self.sort_keys = value.is_truthy()?,
            "default" => self.default = hook()?,
            "on_bad" => self.on_bad = hook()?,
            "object_hook" => self.hooks.object = hook()?,
            "object_pairs_hook" => self.hooks.pairs = hook()?,
            "ext_hook" => self.hooks.ext = hook()?,
            "tag_hook" => self.hooks.tag = hook()?,
            "types" => {
                value.cast::<pyo3::types::PyMapping>()?;
                self.hooks.types = Some(value.clone());
            }
            _ => {
                return Err(PyTypeError::new_err(format!(
                    "found the keyword argument {name}, which this function does not take"
                )));
            }
        }
        Ok(())
    }

    /// Whether a key that stands twice is refused.
    pub fn unique(&self) -> bool {
        self.options.duplicate_keys == DuplicateKeys::Refuse
    }
}

/// The choice of this name.
fn choose<T: Copy>(name: &str, value: &Bound<'_, PyAny>, choices: &[(&str, T)]) -> PyResult<T> {
    let found: String = value.extract()?;
    let choice = choices.iter().find(|(choice, _)| *choice == found);
    choice.map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<_> = choices.iter().map(|(name, _)| format!("{name:?}")).collect();
        PyValueError::new_err(format!("found {found:?} as {name}, expected {}", names.join(", ")))
    })
}
