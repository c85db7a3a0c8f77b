//! A format as another library reads and writes it: for `regauge.compat`.

use memchr::{memchr, memchr_iter, memchr2_iter, memchr3, memmem};
use pyo3::exceptions::{PyBaseException, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList};
use regauge::convert::DuplicateKeys;
use regauge::msgpack::Splitter;
use regauge::{Format, Options};

use crate::build::{Builder, Conversions, Hooks, Lent};
use crate::options::{For, Given, Keywords};
use crate::raw::bytes::Input;
use crate::walk::Walker;
use crate::{dump, load, pyyaml, stream};

/// What a dialect's conversions decide besides objects that are not plain data, and what the other library
/// does in another way.
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
    /// Whether only what PyYAML writes alike is written: see [`pyyaml`].
    pub bare: bool,
    /// Whether nobody reads the text of an error: the other library starts over.
    pub quiet: bool,
    refuses: Refuses,
    /// Whether JSON has spaces after commas and colons.
    spaced: bool,
    /// Whether dates and times without a tag are text in YAML.
    text_times: bool,
}

/// The documents that the other library has to read or write.
#[derive(Clone, Copy, Debug, Default)]
struct Refuses {
    /// Those that begin with a byte order mark.
    marks: bool,
    /// Those of BSON with what may be a DBRef.
    dbrefs: bool,
    /// Those of CBOR with what may be an infinity or NaN, which are written.
    infinities: bool,
    /// Those of YAML that PyYAML may read in another way.
    differences: bool,
    /// Those of YAML with what may be a tag, an anchor, an alias or a line break of YAML 1.1, which mean
    /// something else without a schema.
    tags: bool,
    /// Those of YAML with what may be an empty key, which is no error without a schema.
    empty_keys: bool,
    /// Those with the number -0, which the other library reads as an integer.
    zeros: bool,
    /// Those of JSON with the control character 0x7F, which are written.
    deletes: bool,
}

/// A word, and what it sets.
type Word = (&'static str, fn(&mut Special));

impl Special {
    const WORDS: [Word; 17] = [
        ("tuples", |special| special.tuples = true),
        ("bytes", |special| special.bytes = true),
        ("ints", |special| special.ints = true),
        ("surrogates", |special| special.surrogates = true),
        ("repeats", |special| special.repeats = true),
        ("bare", |special| special.bare = true),
        ("quiet", |special| special.quiet = true),
        ("spaced", |special| special.spaced = true),
        ("text_times", |special| special.text_times = true),
        ("no_marks", |special| special.refuses.marks = true),
        ("no_dbrefs", |special| special.refuses.dbrefs = true),
        ("no_infinities", |special| special.refuses.infinities = true),
        ("no_differences", |special| special.refuses.differences = true),
        ("no_tags", |special| special.refuses.tags = true),
        ("no_empty_keys", |special| special.refuses.empty_keys = true),
        ("no_zeros", |special| special.refuses.zeros = true),
        ("no_deletes", |special| special.refuses.deletes = true),
    ];

    fn parse(words: &str) -> PyResult<Special> {
        let mut special = Special::default();
        for word in words.split_whitespace() {
            let Some((_, set)) = Special::WORDS.iter().find(|(known, _)| *known == word) else {
                let known = Special::WORDS.map(|(known, _)| known).join(", ");
                let message = format!("found {word:?}, expected some of {known}");
                return Err(PyValueError::new_err(message));
            };
            set(&mut special);
        }
        Ok(special)
    }
}

impl Refuses {
    /// Returns whether the other library has to read a document.
    fn to_read(self, bytes: &[u8]) -> bool {
        self.marks && bytes.starts_with(b"\xEF\xBB\xBF")
            || self.dbrefs && memchr_iter(b'$', bytes).any(|at| bytes[at..].starts_with(b"$ref"))
            || self.tags && (memchr3(b'!', b'&', b'*', bytes).is_some() || has_old_break(bytes))
            || self.empty_keys && may_have_empty_key(bytes)
            || self.zeros && has_negative_zero(bytes)
            || self.differences && pyyaml::differs(bytes)
    }

    /// Returns whether the other library has to write what was written as these bytes.
    fn to_write(self, bytes: &[u8]) -> bool {
        // A double of CBOR whose exponent has all bits.
        let is_infinite = |at: usize| matches!(bytes[at + 1..], [0x7F | 0xFF, 0xF0..=0xFF, ..]);
        self.infinities && memchr_iter(0xFB, bytes).any(is_infinite)
            || self.deletes && memchr(0x7F, bytes).is_some()
    }
}

/// Returns whether JSON has the number -0, or text that looks like it.
fn has_negative_zero(bytes: &[u8]) -> bool {
    let is_whole = |at: usize| {
        matches!(bytes.get(at + 2), None | Some(b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r'))
    };
    memmem::find_iter(bytes, b"-0").any(is_whole)
}

/// Returns whether YAML has a colon with nothing before it but what begins a key.
fn may_have_empty_key(bytes: &[u8]) -> bool {
    memchr_iter(b':', bytes).any(|at| {
        let before = bytes[..at].iter().rfind(|byte| !matches!(byte, b' ' | b'\t'));
        matches!(before, None | Some(b'\n' | b'\r' | b'-' | b'?' | b':' | b'{' | b'[' | b','))
    })
}

/// Returns whether UTF-8 has U+0085, U+2028 or U+2029.
fn has_old_break(bytes: &[u8]) -> bool {
    memchr2_iter(0xC2, 0xE2, bytes)
        .any(|at| matches!(bytes[at..], [0xC2, 0x85, ..] | [0xE2, 0x80, 0xA8 | 0xA9, ..]))
}

/// The error for what the other library has to do.
#[cold]
fn not_plain() -> PyErr {
    PyValueError::new_err("the other library has to do this")
}

/// Python's functions and classes for values that are not plain data, in place of `regauge._values`.
#[derive(Clone)]
pub struct Values<'py> {
    /// The object that has them.
    pub object: Bound<'py, PyAny>,
    /// Its `key`, which converts or refuses a key that is not text.
    pub key: Option<Bound<'py, PyAny>>,
    /// Its `int64`, which converts that type of BSON.
    pub int64: Option<Bound<'py, PyAny>>,
    /// Its functions for text and containers.
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
/// `values` has the functions and classes of `regauge._values` that the format needs. `special` has words:
/// what its `lower` decides in addition ("tuples", "bytes", "ints" beyond 64 bits, "surrogates"), and those
/// of [`Special`] that say what the other library does in another way.
#[pyclass(frozen, name = "Dialect", module = "regauge._regauge")]
pub struct PyDialect {
    format: Format,
    values: Py<PyAny>,
    key: Option<Py<PyAny>>,
    int64: Option<Py<PyAny>>,
    conversions: [Option<Py<PyAny>>; 3],
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
            int64: of("int64")?,
            conversions: [of("text")?, of("array")?, of("length")?],
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
        let bytes = input.as_slice();
        if self.special.refuses.to_read(bytes) {
            return Err(not_plain());
        }
        let ready = self.ready(py, For::Loading)?;
        let mut builder = self.builder(py, ready);
        let failed = match load::document(py, bytes, &ready.options, &mut builder) {
            Ok(value) => return Ok(value),
            Err(failed) => failed,
        };
        if self.special.quiet {
            builder.fail();
            return Err(not_plain());
        }
        Err(load::raised(failed, &mut builder, bytes, &ready.options, ready.keywords))
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
        let bytes = input.as_slice();
        if self.special.refuses.to_read(bytes) {
            return Err(not_plain());
        }
        let ready = self.ready(py, For::Loading)?;
        let mut builder = self.builder(py, ready);
        let (list, end, raised) =
            load::first(bytes, count, &mut builder, &ready.options, ready.keywords);
        Ok((list, end, raised.map(|raised| raised.into_value(py).into_bound(py))))
    }

    /// Returns the bytes of `value`.
    fn dumps<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = value.py();
        let ready = self.ready(py, For::Dumping)?;
        let mut walker = self.walker(py, ready);
        dump::written_by(value, &ready.options, &mut walker, |written| match written {
            Ok(bytes) if !self.special.refuses.to_write(bytes) => {
                dump::returned(py, bytes, ready.text)
            }
            Err((error, raised)) if !self.special.quiet => {
                Err(dump::raised(py, &error, raised, ready.keywords))
            }
            _ => Err(not_plain()),
        })
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
    /// Returns the options of one direction, which are parsed once.
    fn ready(&self, py: Python<'_>, purpose: For) -> PyResult<&Ready> {
        let cell = if purpose == For::Loading { &self.reads } else { &self.writes };
        cell.get_or_try_init(py, || {
            let arguments = self.arguments.as_ref().map(|arguments| arguments.bind(py));
            let mut ready = Ready::parse(self.format, purpose, arguments)?;
            ready.options.bson.int64 = self.int64.is_some();
            ready.options.json_write.spaced = self.special.spaced;
            ready.options.yaml.text_times = self.special.text_times;
            Ok(ready)
        })
    }

    /// Returns what builds the objects of a document.
    fn builder<'py>(&self, py: Python<'py>, ready: &Ready) -> Lent<'py> {
        let [object, pairs, ext, tag, types] = ready.hooks.each_ref().map(|hook| bound(py, hook));
        let hooks = Hooks { object, pairs, ext, tag, types };
        let [text, array, length] = self.conversions.each_ref().map(|held| bound(py, held));
        let mut builder = Builder::new(py, self.format, hooks.some());
        builder.unique_keys(ready.options.duplicate_keys == DuplicateKeys::Refuse);
        builder.convert_with(Values {
            object: self.values.bind(py).clone(),
            key: bound(py, &self.key),
            int64: bound(py, &self.int64),
            conversions: Conversions::some(text, array, length),
        });
        builder
    }

    /// Returns what walks the objects of a document.
    fn walker<'py>(&self, py: Python<'py>, ready: &Ready) -> Walker<'py> {
        let mut walker = Walker::new(py, self.format, ready.options.limits);
        walker.sort_keys = ready.sort_keys;
        walker.default = bound(py, &ready.default);
        walker.values = Some(self.values.bind(py).clone());
        walker.special = self.special;
        walker
    }
}

fn bound<'py>(py: Python<'py>, held: &Option<Py<PyAny>>) -> Option<Bound<'py, PyAny>> {
    held.as_ref().map(|held| held.bind(py).clone())
}
