//! A format as another library reads and writes it: for `regauge.compat`.

use pyo3::exceptions::{PyBaseException, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList};
use regauge::msgpack::Splitter;
use regauge::{Format, Options};

use crate::build::{Conversions, Hooks};
use crate::options::{For, Given, Keywords};
use crate::raw::bytes::Input;
use crate::{dump, load, stream};

/// What a dialect's conversions decide besides objects that are not plain data.
#[derive(Clone, Copy, Debug, Default)]
pub struct Special {
    /// Whether `lower` is called with tuples.
    pub tuples: bool,
    /// Whether `lower` is called with bytes.
    pub bytes: bool,
    /// Whether `lower` is called with integers beyond 64 bits.
    pub ints: bool,
    /// Whether `lower` is called with text that UTF-8 cannot represent.
    pub surrogates: bool,
    /// Whether a container that occurs in several places is written in each, also in a format with
    /// references.
    pub repeats: bool,
}

impl Special {
    fn parse(words: &str) -> PyResult<Special> {
        let mut special = Special::default();
        for word in words.split_whitespace() {
            match word {
                "tuples" => special.tuples = true,
                "bytes" => special.bytes = true,
                "ints" => special.ints = true,
                "surrogates" => special.surrogates = true,
                "repeats" => special.repeats = true,
                _ => {
                    let expected = "expected tuples, bytes, ints, surrogates or repeats";
                    return Err(PyValueError::new_err(format!("found {word:?}, {expected}")));
                }
            }
        }
        Ok(special)
    }
}

/// Python's functions and classes for values that are not plain data, in place of `regauge._values`.
#[derive(Clone)]
pub struct Values<'py> {
    /// The object that has them.
    pub object: Bound<'py, PyAny>,
    /// Its `key`, which converts or refuses a key that is not text.
    pub key: Option<Bound<'py, PyAny>>,
    /// Its functions for text, containers and `int64`.
    pub conversions: Option<Conversions<'py>>,
}

/// The options of one direction, parsed.
struct Ready {
    options: Options,
    hooks: [Option<Py<PyAny>>; 5],
    default: Option<Py<PyAny>>,
    sort_keys: bool,
    text: bool,
    keywords: Keywords,
}

impl Ready {
    fn parse(
        format: Format,
        purpose: For,
        arguments: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Ready> {
        let given = Given::parse(format, format, purpose, false, arguments)?;
        let Given { options, hooks, default, sort_keys, text, keywords, .. } = given;
        let Hooks { object, pairs, ext, tag, types } = hooks;
        let hooks = [object, pairs, ext, tag, types].map(|hook| hook.map(Bound::unbind));
        let default = default.map(Bound::unbind);
        Ok(Ready { options, hooks, default, sort_keys, text, keywords })
    }
}

/// `loads` and `dumps` of a format with the options and the conversions of another library.
///
/// `values` has the functions and classes of `regauge._values` that the format needs. `special` names
/// what its `lower` decides in addition: "tuples", "bytes", "ints" (beyond 64 bits), "surrogates";
/// "repeats" writes no references.
#[pyclass(frozen, name = "Dialect", module = "regauge._regauge")]
pub struct PyDialect {
    format: Format,
    values: Py<PyAny>,
    key: Option<Py<PyAny>>,
    conversions: [Option<Py<PyAny>>; 4],
    special: Special,
    arguments: Option<Py<PyDict>>,
    reads: PyOnceLock<Ready>,
    writes: PyOnceLock<Ready>,
}

#[pymethods]
impl PyDialect {
    #[new]
    #[pyo3(signature = (format, values, special = "", /, **options))]
    fn new(
        format: &str,
        values: &Bound<'_, PyAny>,
        special: &str,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyDialect> {
        let of = |name: &str| -> PyResult<Option<Py<PyAny>>> {
            Ok(values.getattr_opt(name)?.map(Bound::unbind))
        };
        Ok(PyDialect {
            format: stream::format(format)?,
            values: values.clone().unbind(),
            key: of("key")?,
            conversions: [of("text")?, of("array")?, of("length")?, of("int64")?],
            special: Special::parse(special)?,
            arguments: options.map(|it| it.clone().unbind()),
            reads: PyOnceLock::new(),
            writes: PyOnceLock::new(),
        })
    }

    /// Returns the value in `data`.
    fn loads<'py>(&self, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = data.py();
        let input = Input::new(data)?;
        let given = self.given(py, For::Loading)?;
        load::loads_with(py, input.as_slice(), given)
    }

    /// Returns the first documents in `data`, at most `count`, the offset of their end, and the
    /// exception that ended the stream earlier or None.
    fn first<'py>(
        &self,
        data: &Bound<'py, PyAny>,
        count: usize,
    ) -> PyResult<(Bound<'py, PyList>, u64, Option<Bound<'py, PyBaseException>>)> {
        let py = data.py();
        let input = Input::new(data)?;
        let given = self.given(py, For::Loading)?;
        let (list, end, raised) = load::first(py, input.as_slice(), count, given)?;
        Ok((list, end, raised.map(|raised| raised.into_value(py).into_bound(py))))
    }

    /// Returns the bytes of `value`.
    fn dumps<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let given = self.given(value.py(), For::Dumping)?;
        dump::dumps_with(value, &given)
    }
}

/// Finds the end of a MessagePack value that arrives in pieces.
#[pyclass(name = "Splitter", module = "regauge._regauge")]
pub struct PySplitter(Splitter);

#[pymethods]
impl PySplitter {
    #[new]
    fn new() -> PySplitter {
        PySplitter(Splitter::new())
    }

    /// Returns the end of the value that begins `data`, or 0 if it is cut off. The next call takes the
    /// same bytes and more, and goes on where this one stopped.
    fn end(&mut self, data: &Bound<'_, PyAny>) -> PyResult<usize> {
        Ok(self.0.documents_end(Input::new(data)?.as_slice(), 1))
    }
}

impl PyDialect {
    fn given<'py>(&self, py: Python<'py>, purpose: For) -> PyResult<Given<'py>> {
        let cell = if purpose == For::Loading { &self.reads } else { &self.writes };
        let ready = cell.get_or_try_init(py, || {
            let arguments = self.arguments.as_ref().map(|arguments| arguments.bind(py));
            let mut ready = Ready::parse(self.format, purpose, arguments)?;
            ready.options.bson.int64 = self.conversions[3].is_some();
            PyResult::Ok(ready)
        })?;
        let bound = |held: &Option<Py<PyAny>>| held.as_ref().map(|held| held.bind(py).clone());
        let [object, pairs, ext, tag, types] = &ready.hooks;
        let [text, array, length, int64] = self.conversions.each_ref().map(bound);
        let values = Values {
            object: self.values.bind(py).clone(),
            key: bound(&self.key),
            conversions: Conversions::some(text, array, length, int64),
        };
        Ok(Given {
            options: ready.options.clone(),
            hooks: Hooks {
                object: bound(object),
                pairs: bound(pairs),
                ext: bound(ext),
                tag: bound(tag),
                types: bound(types),
            },
            default: bound(&ready.default),
            sort_keys: ready.sort_keys,
            text: ready.text,
            on_bad: None,
            keywords: ready.keywords,
            values: Some(values),
            special: self.special,
        })
    }
}
