//! A collection of the object store, for Python.
//!
//! Objects are converted to the bytes of the collection's codec and back by the same walker and
//! builder as in `dumps` and `loads`. The GIL is released while the database works, and the
//! handle's own lock is only ever taken without it: so no thread waits for one while it holds the
//! other.

pub mod adopt;
mod handle;
mod scan;
pub mod series;
mod work;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ThreadId;

use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use regauge::{Format, Options};
use regauge_store::{Codec, KeyKind, Order, Range, Store};

use crate::errors::{self, Way};
use crate::options::{For, Given};
use crate::raw::bytes::Input;
use crate::stream;

pub use scan::PyScan;

/// A handle of one collection.
#[pyclass(module = "regauge._regauge", name = "Store", subclass, frozen)]
pub struct PyStore {
    url: String,
    collection: String,
    opened: Mutex<Opened>,
    /// The thread that has `opened` while it calls functions of the user.
    caller: Mutex<Option<ThreadId>>,
    /// The format of new values, as its index in `Format::ALL`: objects are encoded before the
    /// handle is locked.
    format: AtomicUsize,
    key_kind: KeyKind,
    /// Whether keys are `bytes` when the collection is walked.
    bytes_keys: bool,
    sync: bool,
    options: Options,
    sort_keys: bool,
    default: Option<Py<PyAny>>,
    hooks: [Option<Py<PyAny>>; 5],
}

struct Opened {
    /// `None` after `close`.
    store: Option<Store>,
    /// The process that opened it: a connection does not survive a fork.
    process: u32,
}

/// Opens a collection.
fn open(
    url: &str,
    collection: &str,
    codec: Option<Codec>,
    sync: bool,
) -> regauge_store::Result<Store> {
    let store = Store::open(url, collection, codec)?;
    if !sync {
        store.engine().sync_each_change(false)?;
    }
    Ok(store)
}

fn place(format: Format) -> usize {
    Format::ALL.iter().position(|one| *one == format).unwrap_or(0)
}

fn numbered(format: usize) -> Format {
    Format::ALL.get(format).copied().unwrap_or(Format::Json)
}

#[pymethods]
impl PyStore {
    #[new]
    #[pyo3(signature = (url, collection = regauge_store::DEFAULT_COLLECTION, codec = None, *, keys = "text", sync = true, **options))]
    fn new(
        py: Python<'_>,
        url: &str,
        collection: &str,
        codec: Option<&str>,
        keys: &str,
        sync: bool,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyStore> {
        let bytes_keys = match keys {
            "text" => false,
            "bytes" => true,
            other => {
                return Err(PyValueError::new_err(format!(
                    "found {other:?} as keys, expected \"text\" or \"bytes\""
                )));
            }
        };
        let given = Given::parse(Format::Json, Format::Json, For::Storing, false, options)?;
        let opened = py.detach(|| {
            let codec = codec.map(str::parse).transpose()?;
            open(url, collection, codec, sync)
        });
        let mut store = opened.map_err(|error| errors::stored(py, &error, Way::Encode))?;
        store.limits = given.options.limits;
        store.on_loss = given.options.on_loss;
        store.objects = given.options.objects;
        store.unwrap = given.options.unwrap;
        let Given { options, hooks, default, sort_keys, .. } = given;
        let hooks = [hooks.object, hooks.pairs, hooks.ext, hooks.tag, hooks.types];
        let settings = store.settings();
        Ok(PyStore {
            url: url.to_owned(),
            collection: collection.to_owned(),
            format: AtomicUsize::new(place(settings.codec.format)),
            key_kind: settings.layout.key_kind,
            opened: Mutex::new(Opened { store: Some(store), process: std::process::id() }),
            caller: Mutex::new(None),
            bytes_keys,
            sync,
            options,
            sort_keys,
            default: default.map(Bound::unbind),
            hooks: hooks.map(|hook| hook.map(Bound::unbind)),
        })
    }

    /// Returns the URL that it was opened with.
    #[getter]
    fn url(&self) -> &str {
        &self.url
    }

    /// Returns the name of the collection.
    #[getter]
    fn collection(&self) -> &str {
        &self.collection
    }

    /// Returns the codec of new values: "msgpack", "json+zstd".
    #[getter]
    fn codec(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, Way::Decode, |store| Ok(store.settings().codec.to_string()))
    }

    /// Returns the name of the database engine: "SQLite 3.50.4".
    #[getter]
    fn engine(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, Way::Decode, |store| Ok(store.engine().name()))
    }

    fn __getitem__<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match self.fetch(key)? {
            Some(value) => Ok(value),
            None => Err(PyKeyError::new_err(key.clone().unbind())),
        }
    }

    fn __setitem__(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = key.py();
        let key = self.key(key)?;
        let format = self.format();
        let put = |bytes: &[u8]| {
            self.with(py, Way::Encode, |store| store.put_written(&key, bytes, format))
        };
        self.written(&key, value, format, put)?
    }

    fn __delitem__(&self, key: &Bound<'_, PyAny>) -> PyResult<()> {
        match self.delete(key)? {
            true => Ok(()),
            false => Err(PyKeyError::new_err(key.clone().unbind())),
        }
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let name = self.key(key)?;
        self.with(key.py(), Way::Decode, |store| store.exists(&name))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let (values, _) = self.with(py, Way::Decode, |store| store.count())?;
        Ok(usize::try_from(values).unwrap_or(usize::MAX))
    }

    fn __iter__(this: &Bound<'_, Self>) -> PyResult<PyScan> {
        PyScan::new(this, scan::What::Keys, None, None, None, false)
    }

    /// Returns the value of a key, or `default`.
    #[pyo3(signature = (key, default = None, /))]
    fn get<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.fetch(key)?.or(default))
    }

    /// Deletes a value; returns whether there was one.
    fn delete(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let name = self.key(key)?;
        self.with(key.py(), Way::Decode, |store| store.delete(&name))
    }

    /// Returns the values of many keys, fetched in one call: a dict of those that exist.
    fn get_many<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let py = keys.py();
        let mut names = Vec::new();
        let mut objects = Vec::new();
        for key in keys.try_iter()? {
            let key = key?;
            names.push(self.key(&key)?);
            objects.push(key);
        }
        let entries = self.with(py, Way::Decode, |store| {
            let names: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
            store.entries(&names)
        })?;
        let found = PyDict::new(py);
        for ((object, name), entry) in objects.iter().zip(&names).zip(entries) {
            if let Some(entry) = entry {
                found.set_item(object, self.decoded(py, name, &entry)?)?;
            }
        }
        Ok(found)
    }

    /// Stores many values in one transaction: a mapping, or pairs of key and value.
    fn put_many(&self, items: &Bound<'_, PyAny>) -> PyResult<usize> {
        let py = items.py();
        let format = self.format();
        let pairs = match items.hasattr("items")? {
            true => items.call_method0("items")?,
            false => items.clone(),
        };
        let mut documents: Vec<(Vec<u8>, Option<Vec<u8>>)> = Vec::new();
        for pair in pairs.try_iter()? {
            let pair = pair?;
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
            let key = self.key(&key)?;
            let document = self.written(&key, &value, format, <[u8]>::to_vec)?;
            documents.push((key, Some(document)));
        }
        self.apply(py, &documents, format)?;
        Ok(documents.len())
    }

    /// Deletes the values of these keys in one transaction.
    fn delete_many(&self, keys: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = keys.py();
        let mut documents = Vec::new();
        for key in keys.try_iter()? {
            documents.push((self.key(&key?)?, None));
        }
        self.apply(py, &documents, self.format())
    }

    /// Returns the keys and values of a range, smallest key first.
    #[pyo3(signature = (*, prefix = None, from_ = None, to = None, reverse = false))]
    fn scan(
        this: &Bound<'_, Self>,
        prefix: Option<&Bound<'_, PyAny>>,
        from_: Option<&Bound<'_, PyAny>>,
        to: Option<&Bound<'_, PyAny>>,
        reverse: bool,
    ) -> PyResult<PyScan> {
        PyScan::new(this, scan::What::Items, prefix, from_, to, reverse)
    }

    /// Returns the keys of a range, without reading their values.
    #[pyo3(signature = (*, prefix = None, from_ = None, to = None, reverse = false))]
    fn scan_keys(
        this: &Bound<'_, Self>,
        prefix: Option<&Bound<'_, PyAny>>,
        from_: Option<&Bound<'_, PyAny>>,
        to: Option<&Bound<'_, PyAny>>,
        reverse: bool,
    ) -> PyResult<PyScan> {
        PyScan::new(this, scan::What::Keys, prefix, from_, to, reverse)
    }

    /// Returns the metadata of a stored value: its codec, when it was put, its size; or `None`.
    fn stat<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let py = key.py();
        let name = self.key(key)?;
        let Some(entry) = self.with(py, Way::Decode, |store| store.entry(&name))? else {
            return Ok(None);
        };
        let known = PyDict::new(py);
        known.set_item("codec", entry.codec.to_string())?;
        known.set_item("created", entry.created)?;
        known.set_item("stored_bytes", entry.stored_bytes)?;
        known.set_item("document_bytes", entry.document.len())?;
        Ok(Some(known))
    }

    /// Returns the number of values, and their size in the database.
    fn volume(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        self.with(py, Way::Decode, |store| store.count())
    }

    /// Stores a document that is already in `format`, without creating objects. It is read in full
    /// first, and converted to the collection's format exactly, or refused.
    fn put_document(
        &self,
        key: &Bound<'_, PyAny>,
        document: &Bound<'_, PyAny>,
        format: &str,
    ) -> PyResult<()> {
        let name = self.key(key)?;
        let format = stream::format(format)?;
        let document = Input::new(document)?.as_slice().to_vec();
        self.with(key.py(), Way::Decode, |store| store.put(&name, &document, format))
    }

    /// Returns the document of a key in `format`, or in its own, as bytes; `None` if there is none.
    #[pyo3(signature = (key, format = None))]
    fn get_document<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        format: Option<&str>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let py = key.py();
        let name = self.key(key)?;
        let format = format.map(stream::format).transpose()?;
        let document = self.with(py, Way::Decode, |store| match format {
            Some(format) => store.get(&name, format),
            None => Ok(store.entry(&name)?.map(|entry| entry.document)),
        })?;
        Ok(document.map(|bytes| PyBytes::new(py, &bytes)))
    }

    /// Closes the database. Any later use of the handle raises.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let store = py.detach(|| Ok(self.lock()?.store.take()));
        store.map(drop).map_err(|error| errors::stored(py, &error, Way::Decode))
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&self, py: Python<'_>, _args: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close(py)
    }

    fn __repr__(&self) -> String {
        // A URL may hold a password.
        let shown = match self.url.split_once("://") {
            Some((scheme, _)) => format!("{scheme}://…"),
            None => self.url.clone(),
        };
        format!("Store({shown:?}, {:?})", self.collection)
    }

    /// Returns the bytes of a key.
    fn _key<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(key.py(), &self.key(key)?))
    }

    /// Returns the number of the format of new values, for `_encoded` and `_apply`.
    fn _format(&self) -> usize {
        self.format.load(Ordering::Relaxed)
    }

    /// Encodes a value in the format of this number, for `_apply`.
    fn _encoded<'py>(
        &self,
        format: usize,
        key: &Bound<'py, PyAny>,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let py = value.py();
        let key = self.key(key)?;
        self.written(&key, value, numbered(format), |bytes| PyBytes::new(py, bytes))
    }

    /// Stores what `_encoded` returned, and deletes keys with `None`, in one transaction.
    fn _apply(
        &self,
        py: Python<'_>,
        format: usize,
        documents: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    ) -> PyResult<()> {
        self.apply(py, &documents, numbered(format))
    }

    /// Returns the stored bytes of a key (`None`: absent) and its value, for `_swap`.
    fn _seen<'py>(
        &self,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Option<(Bound<'py, PyBytes>, Bound<'py, PyAny>)>> {
        let py = key.py();
        let name = self.key(key)?;
        let seen = self.with(py, Way::Decode, |store| {
            let Some(stored) = store.stored(&name)? else { return Ok(None) };
            let entry = store.unseal(&name, &stored)?;
            Ok(Some((stored, entry)))
        })?;
        let Some((stored, entry)) = seen else { return Ok(None) };
        let value = self.decoded(py, &name, &entry)?;
        Ok(Some((PyBytes::new(py, &stored), value)))
    }

    /// Stores a value, or deletes it (`delete`), if the stored bytes are still these. Returns
    /// whether it did.
    #[pyo3(signature = (key, seen, value, delete = false))]
    fn _swap(
        &self,
        key: &Bound<'_, PyAny>,
        seen: Option<Vec<u8>>,
        value: &Bound<'_, PyAny>,
        delete: bool,
    ) -> PyResult<bool> {
        let py = key.py();
        let name = self.key(key)?;
        let format = self.format();
        let swap = |document: Option<&[u8]>| {
            self.with(py, Way::Encode, |store| {
                store.swap_written(&name, seen.as_deref(), document, format)
            })
        };
        match delete {
            true => swap(None),
            false => self.written(&name, value, format, |bytes| swap(Some(bytes)))?,
        }
    }

    /// Implements `verify`, returning plain values.
    #[pyo3(signature = (prefix = None, on_bad = None))]
    fn _verify<'py>(
        &self,
        py: Python<'py>,
        prefix: Option<&Bound<'py, PyAny>>,
        on_bad: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        work::verify(self, py, prefix, on_bad)
    }

    /// Implements `reencode`, returning plain values.
    #[pyo3(signature = (to, dry_run, rate, on_refused, progress))]
    fn _reencode<'py>(
        &self,
        py: Python<'py>,
        to: &str,
        dry_run: bool,
        rate: Option<f64>,
        on_refused: Option<Bound<'py, PyAny>>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        work::reencode(self, py, to, dry_run, rate, on_refused, progress)
    }

    /// Returns whether the database is gone with this handle.
    fn _is_temporary(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, Way::Decode, |store| Ok(store.engine().is_temporary()))
    }

    /// Begins a transaction of this handle: what it changes is visible to it alone, and others wait.
    fn _begin(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, Way::Encode, |store| store.engine().begin())
    }

    /// Stores what was changed since `_begin`, or nothing of it.
    fn _end(&self, py: Python<'_>, commit: bool) -> PyResult<()> {
        self.with(py, Way::Encode, |store| store.engine().end(commit))
    }

    /// Returns the first key from one key (inclusive) to another (exclusive), or the last; or `None`.
    fn _end_key<'py>(
        &self,
        from_: &Bound<'py, PyAny>,
        to: &Bound<'py, PyAny>,
        last: bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = from_.py();
        let range = Range { from: Some(self.key(from_)?), to: Some(self.key(to)?) };
        let order = if last { Order::Descending } else { Order::Ascending };
        let keys = self.with(py, Way::Decode, |store| store.keys(&range, order, 1))?;
        keys.first().map(|key| self.named(py, key)).transpose()
    }

    /// Returns places and keys in the order in which the keys were first put, after a place.
    fn _keys_by_age<'py>(
        &self,
        py: Python<'py>,
        after: Option<i64>,
        reverse: bool,
        limit: usize,
    ) -> PyResult<Vec<(i64, Bound<'py, PyAny>)>> {
        let order = if reverse { Order::Descending } else { Order::Ascending };
        let keys = self.with(py, Way::Decode, |store| {
            if !store.is_there()? {
                return Ok(Vec::new());
            }
            store.engine().keys_by_age(&store.settings().layout, after, order, limit)
        })?;
        keys.into_iter().map(|(place, key)| Ok((place, self.named(py, &key)?))).collect()
    }

    /// Trains a zstd dictionary on the first values, and returns its size.
    #[pyo3(signature = (samples = 10_000, size = 64 << 10))]
    fn train(&self, py: Python<'_>, samples: usize, size: usize) -> PyResult<usize> {
        self.with(py, Way::Encode, |store| store.train(samples, size))
    }
}
