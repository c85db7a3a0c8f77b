//! Converts keyword arguments to the core's options: the same names in all functions.

use std::sync::OnceLock;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyInt, PyMapping, PyString};
use regauge::convert::DuplicateKeys;
use regauge::options::{self, Language, OPTIONS, Opt, Row, Secret, Setting, Side, Takes};
use regauge::{Format, OnLoss, Options};

use crate::build::Hooks;
use crate::python;

/// The caller's options.
pub struct Given<'py> {
    /// The core's options.
    pub options: Options,
    /// Functions to call while loading.
    pub hooks: Hooks<'py>,
    /// A function to call for unsupported objects.
    pub default: Option<Bound<'py, PyAny>>,
    /// Whether keys are sorted.
    pub sort_keys: bool,
    /// Whether to return text instead of bytes.
    pub text: bool,
    /// A function to call for each skipped record.
    pub on_bad: Option<Bound<'py, PyAny>>,
    /// The options that the called function takes.
    pub keywords: Keywords,
}

/// The set of keyword arguments that a function takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum For {
    /// `loads`, `load`, `iter_load`.
    Loading,
    /// `events`, `parse_events`.
    Events,
    /// `dumps`, `dump`, `Writer`.
    Dumping,
    /// `convert`, `inspect`.
    Converting,
    /// `Store`, whose values may be in any format.
    Storing,
    /// A function without options.
    Nothing,
}

/// The keyword arguments that exist only in Python.
const OWN: [&str; 9] = [
    "default",
    "sort_keys",
    "text",
    "object_hook",
    "object_pairs_hook",
    "ext_hook",
    "tag_hook",
    "types",
    "on_bad",
];

/// The keyword arguments of a function: those of its options, from the core's table, and those that
/// exist only in Python.
#[derive(Clone, Copy, Debug)]
pub struct Keywords {
    purpose: For,
    format: Format,
    /// Whether the format is an argument of the function: then options have the format in their names.
    is_generic: bool,
}

impl Keywords {
    /// For a function that takes none.
    pub const NONE: Keywords =
        Keywords { purpose: For::Nothing, format: Format::Json, is_generic: true };

    /// For a function of this format, in its module or of all formats.
    pub fn new(purpose: For, format: Format, is_generic: bool) -> Keywords {
        Keywords { purpose, format, is_generic }
    }

    /// Returns whether the function is one of all formats.
    pub fn is_generic(self) -> bool {
        self.is_generic
    }

    /// Returns whether the function takes an option.
    pub fn takes(self, opt: Opt) -> bool {
        opt.name(Language::Python).is_some() && self.takes_row(opt.row())
    }

    fn takes_row(self, row: &Row) -> bool {
        match self.purpose {
            For::Nothing => false,
            For::Converting => true,
            For::Storing => row.side != Side::Convert && row.formats.is_empty(),
            For::Loading | For::Events => row.is_for_reading(self.format),
            For::Dumping => row.is_for_writing(self.format),
        }
    }

    /// Returns what the function takes besides options: hooks, and the like.
    fn own(self) -> impl Iterator<Item = &'static str> {
        OWN.iter().copied().filter(move |name| self.takes_own(name))
    }

    fn takes_own(self, name: &str) -> bool {
        let (loads, stores) = (self.purpose == For::Loading, self.purpose == For::Storing);
        let format = self.format;
        // Events have no maps to hook.
        let builds = loads || self.purpose == For::Events;
        match name {
            "default" | "sort_keys" => self.purpose == For::Dumping || stores,
            "text" => self.purpose == For::Dumping && format.is_text() && !format.is_marc(),
            "object_hook" => loads || stores,
            "object_pairs_hook" => loads && !format.is_marc() || stores,
            "ext_hook" => builds && format == Format::Msgpack || stores,
            "tag_hook" => builds && matches!(format, Format::Cbor | Format::Yaml) || stores,
            "types" => {
                use Format::{Marshal, Pickle, Yaml};
                builds && matches!(format, Marshal | Pickle | Yaml) || stores
            }
            "on_bad" => builds && Opt::Bad.row().is_for(format),
            _ => false,
        }
    }

    /// Returns the names of all keyword arguments, in order.
    pub fn names(self) -> Vec<&'static str> {
        let rows = OPTIONS.iter().filter(|row| self.takes_row(row));
        let options = rows.filter_map(|row| row.spelled(Language::Python, self.is_generic));
        let mut names: Vec<_> = self.own().chain(options).collect();
        names.sort_unstable();
        names
    }

    #[cold]
    fn unknown(self, name: &str) -> PyErr {
        let taker = match self.purpose {
            For::Storing => "a store",
            For::Converting => "a conversion",
            _ => self.format.title(),
        };
        PyTypeError::new_err(format!(
            "found the keyword argument {name}, which {taker} does not take here; it takes {}",
            self.names().join(", "),
        ))
    }
}

/// Refuses an argument that is no function.
///
/// # Errors
/// `TypeError` with the name of the argument.
pub fn function(name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    match value.is_callable() {
        true => Ok(()),
        false => Err(mistaken(name, value, "a function")),
    }
}

/// Returns the `TypeError` for an argument of another type.
#[cold]
fn mistaken(name: &str, value: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    match value.repr() {
        Ok(found) => PyTypeError::new_err(format!("found {found} as {name}, expected {expected}")),
        Err(raised) => raised,
    }
}

/// Warns of an old name of an option.
#[cold]
fn deprecated(py: Python<'_>, name: &str, instead: &str) -> PyResult<()> {
    python::errors(py)?.getattr("deprecated")?.call1((name, instead)).map(|_| ())
}

impl<'py> Given<'py> {
    /// Creates options that only set the formats, for a store's values.
    pub fn new(from: Format, to: Format) -> Given<'py> {
        let mut options = Options::new(from, to);
        // Tuples and the like are wanted; and a number is whatever Python writes.
        options.pickle.exact = true;
        options.json_read.exact_numbers = false;
        options.json_write.exact_numbers = true;
        options.yaml_write.exact_numbers = true;
        Given {
            options,
            hooks: Hooks::default(),
            default: None,
            sort_keys: false,
            text: false,
            on_bad: None,
            keywords: Keywords::new(For::Storing, from, false),
        }
    }

    /// Returns the core's options for a document of a format if there are no keyword arguments. They are created
    /// once: creating them takes as long as reading a small document.
    pub fn usual(format: Format) -> &'static Options {
        static USUAL: [OnceLock<Options>; Format::ALL.len()] =
            [const { OnceLock::new() }; Format::ALL.len()];
        USUAL[format as usize].get_or_init(|| Given::new(format, format).options)
    }

    /// Parses the keyword arguments.
    ///
    /// # Errors
    /// `TypeError` for one that the function does not take, `ValueError` for an unknown value.
    pub fn parse(
        from: Format,
        to: Format,
        purpose: For,
        is_generic: bool,
        arguments: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Given<'py>> {
        let mut given = Given::new(from, to);
        let format = if purpose == For::Dumping { to } else { from };
        let keywords = Keywords::new(purpose, format, is_generic);
        given.keywords = keywords;
        let Some(arguments) = arguments else { return Ok(given) };
        let mut unwrap = None;
        for (name, value) in arguments {
            let name: String = name.extract()?;
            given.set(&name, &value)?;
            if name == "unwrap" && !value.is_none() {
                unwrap = Some(given.options.unwrap);
            }
        }
        given.settle_decimals();
        // A store reads what it wrote.
        if purpose == For::Storing {
            given.options.unwrap = unwrap.unwrap_or(given.options.wraps());
        }
        Ok(given)
    }

    /// In JSON and YAML a decimal is a plain number, but in the notation it stays a decimal:
    /// otherwise it would be read as a float.
    pub fn settle_decimals(&mut self) {
        let as_numbers = self.options.on_loss != OnLoss::Wrap;
        self.options.json_write.exact_numbers = as_numbers;
        self.options.yaml_write.exact_numbers = as_numbers;
    }

    /// Sets a keyword argument; None is the same as leaving it out.
    fn set(&mut self, name: &str, value: &Bound<'py, PyAny>) -> PyResult<()> {
        if !self.keywords.takes_own(name) {
            return self.set_option(name, value);
        }
        if value.is_none() {
            return Ok(());
        }
        let hook = || function(name, value).map(|()| Some(value.clone()));
        match name {
            "text" => self.text = value.is_truthy()?,
            "sort_keys" => self.sort_keys = value.is_truthy()?,
            "default" => self.default = hook()?,
            "on_bad" => self.on_bad = hook()?,
            "object_hook" => self.hooks.object = hook()?,
            "object_pairs_hook" => self.hooks.pairs = hook()?,
            "ext_hook" => self.hooks.ext = hook()?,
            "tag_hook" => self.hooks.tag = hook()?,
            _ => {
                let expected = "a dict of functions by the names of classes";
                let types =
                    value.cast::<PyMapping>().map_err(|_| mistaken(name, value, expected))?;
                for pair in types.items()? {
                    let (class, constructor): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
                        pair.extract()?;
                    function(&format!("{name}[{}]", class.repr()?), &constructor)?;
                }
                self.hooks.types = Some(value.clone());
            }
        }
        Ok(())
    }

    /// Sets the options of the table that have this name. An option of another format has no effect in
    /// a function of all formats.
    fn set_option(&mut self, name: &str, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let formats = [self.options.from, self.options.to];
        let keywords = self.keywords;
        let is_generic = keywords.is_generic;
        let found = options::named(Language::Python, name, formats, is_generic);
        let takes = |row: &Row| is_generic || keywords.takes_row(row);
        let Some(first) = found.iter().find(|named| takes(named.row)) else {
            return Err(keywords.unknown(name));
        };
        if let Some(instead) = first.instead {
            deprecated(value.py(), name, instead)?;
        }
        for named in found.iter().filter(|named| keywords.takes_row(named.row)) {
            self.set_row(named.row, name, value)?;
        }
        Ok(())
    }

    fn set_row(&mut self, row: &Row, name: &str, value: &Bound<'py, PyAny>) -> PyResult<()> {
        if value.is_none() {
            return Ok(());
        }
        let word: Option<String>;
        let to = match row.takes {
            Takes::Limit => return self.set_limits(value),
            Takes::Secret => return self.set_secret(row, name, value),
            Takes::Paths | Takes::Renames => return self.set_paths(row.opt, name, value),
            Takes::Switch | Takes::File => Some(Setting::Switch(value.is_truthy()?)),
            Takes::Number(..) => value.extract().ok().map(Setting::Number),
            Takes::Text => {
                word = value.extract().ok();
                word.as_deref().map(Setting::Text)
            }
            Takes::Words(_) | Takes::Format => {
                word = value.extract().ok();
                word.as_ref().map(|it| Setting::Word(row.core_word(Language::Python, it)))
            }
        };
        if to.is_some_and(|to| self.options.set(row.opt, to)) {
            return Ok(());
        }
        let is_of_type = match row.takes {
            Takes::Number(..) => value.is_instance_of::<PyInt>(),
            _ => value.is_instance_of::<PyString>(),
        };
        let expected = row.expected(Language::Python);
        Err(match is_of_type {
            true => {
                let found = value.repr()?;
                PyValueError::new_err(format!("found {found} as {name}, expected {expected}"))
            }
            false => mistaken(name, value, &expected),
        })
    }

    /// Sets the secret. No message has it in it.
    fn set_secret(&mut self, row: &Row, name: &str, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let bytes: Option<Vec<u8>> = match value.extract::<String>() {
            Ok(text) => Some(text.into_bytes()),
            Err(_) => value.cast::<PyBytes>().ok().map(|bytes| bytes.as_bytes().to_vec()),
        };
        let expected = row.expected(Language::Python);
        let Some(bytes) = bytes else {
            let found = value.get_type().name()?;
            let message = format!("found an object of {found} as {name}, expected {expected}");
            return Err(PyTypeError::new_err(message));
        };
        let secret = Secret::new(&bytes);
        match secret.is_some_and(|secret| self.options.set(row.opt, Setting::Secret(&secret))) {
            true => Ok(()),
            false => {
                Err(PyValueError::new_err(format!("found nothing as {name}, expected {expected}")))
            }
        }
    }

    /// Adds paths to keep or to leave out, or new names by paths.
    fn set_paths(&mut self, opt: Opt, name: &str, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let select = &mut self.options.select;
        let fault = |path: &str, fault: String| {
            PyValueError::new_err(format!("found {path:?} in {name}: {fault}"))
        };
        if opt == Opt::Rename {
            let expected = "a dict of new names by their paths";
            let names = value.cast::<PyDict>().map_err(|_| mistaken(name, value, expected))?;
            for (path, new) in names {
                let (path, new): (String, String) = (path.extract()?, new.extract()?);
                select.rename(&path, &new).map_err(|text| fault(&path, text))?;
            }
            return Ok(());
        }
        let paths = match value.try_iter() {
            // A single string would be a list of its characters.
            Ok(paths) if !value.is_instance_of::<PyString>() => paths,
            _ => return Err(mistaken(name, value, "a list of paths")),
        };
        for path in paths {
            let path: String = path?.extract()?;
            let added = match opt {
                Opt::Drop => select.drop(&path),
                _ => select.only(&path),
            };
            added.map_err(|text| fault(&path, text))?;
        }
        Ok(())
    }

    fn set_limits(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let expected = "a dict of limits by their names";
        let limits = value.cast::<PyDict>().map_err(|_| mistaken("limits", value, expected))?;
        for (key, bound) in limits {
            let key: String = key.extract().map_err(|_| mistaken("limits", value, expected))?;
            let Ok(most) = bound.extract() else {
                let name = format!("limits[{key:?}]");
                return Err(mistaken(&name, &bound, "a number from 0, or None for no limit"));
            };
            self.options.limits.set(&key, most).map_err(PyValueError::new_err)?;
        }
        Ok(())
    }

    /// Returns whether duplicate keys are refused.
    pub fn unique(&self) -> bool {
        self.options.duplicate_keys == DuplicateKeys::Refuse
    }
}
