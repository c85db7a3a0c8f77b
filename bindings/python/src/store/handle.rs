//! Building blocks for the methods of a collection.

use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError, TryLockError};
use std::thread::current;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyInt, PyString};
use regauge::Format;
use regauge_store::{Codec, Entry, Error, KeyKind, Store, shown};

use super::{Opened, PyStore, numbered, open};
use crate::build::Hooks;
use crate::errors::{self, Way};
use crate::options::Given;
use crate::{dump, load};

impl PyStore {
    /// Returns the handle, once no other thread has it.
    ///
    /// # Errors
    /// `Usage` in a function that is called while this thread has it.
    pub(super) fn lock(&self) -> regauge_store::Result<MutexGuard<'_, Opened>> {
        match self.opened.try_lock() {
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Poisoned(held)) => return Ok(held.into_inner()),
            Ok(held) => return Ok(held),
        }
        if *self.caller.lock().unwrap_or_else(PoisonError::into_inner) == Some(current().id()) {
            return Err(Error::Usage(
                "the store is in use by the call that calls this function: a database in memory has one connection; use \
                 the store after that call"
                    .to_owned(),
            ));
        }
        Ok(self.opened.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs something on the store while other threads run.
    pub(super) fn with<T: Send>(
        &self,
        py: Python<'_>,
        way: Way,
        act: impl FnOnce(&mut Store) -> regauge_store::Result<T> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| {
            let mut opened = self.lock()?;
            if opened.process != std::process::id() {
                self.opened_anew(&mut opened)?;
            }
            match &mut opened.store {
                Some(store) => act(store).map(Some),
                None => Ok(None),
            }
        });
        match done {
            Ok(Some(done)) => Ok(done),
            Ok(None) => Err(PyValueError::new_err("found a closed store, expected an open one")),
            Err(error) => Err(errors::stored(py, &error, way)),
        }
    }

    /// Returns a connection of this process: the parent's must be neither used here nor closed.
    #[cold]
    fn opened_anew(&self, opened: &mut Opened) -> regauge_store::Result<()> {
        if let Some(store) = opened.store.take() {
            let (codec, is_temporary) = (store.settings().codec, store.engine().is_temporary());
            std::mem::forget(store);
            if is_temporary {
                return Err(Error::Usage(
                    "a database in memory stays with the process that opened it; this one was forked from it, \
                     and must open its own"
                        .to_owned(),
                ));
            }
            opened.store = Some(self.another(Some(codec))?);
        }
        opened.process = std::process::id();
        Ok(())
    }

    /// Returns another handle for the same collection.
    pub(super) fn another(&self, codec: Option<Codec>) -> regauge_store::Result<Store> {
        let mut store = open(&self.url, &self.collection, codec, self.sync)?;
        store.limits = self.options.limits;
        store.on_loss = self.options.on_loss;
        store.objects = self.options.objects;
        store.unwrap = self.options.unwrap;
        Ok(store)
    }

    pub(super) fn format(&self) -> Format {
        numbered(self.format.load(Ordering::Relaxed))
    }

    /// Returns the options for a value in this format.
    pub(super) fn given<'py>(&self, py: Python<'py>, format: Format) -> Given<'py> {
        let mut given = Given::new(format, format);
        given.options.limits = self.options.limits;
        given.options.on_loss = self.options.on_loss;
        given.options.unwrap = self.options.unwrap;
        given.settle_decimals();
        given.options.objects = self.options.objects;
        given.options.duplicate_keys = self.options.duplicate_keys;
        given.sort_keys = self.sort_keys;
        let hooks = [&self.default].into_iter().chain(&self.hooks);
        let mut hooks = hooks.map(|hook| hook.as_ref().map(|hook| hook.bind(py).clone()));
        given.default = hooks.next().flatten();
        let [object, pairs, ext, tag, types] = std::array::from_fn(|_| hooks.next().flatten());
        given.hooks = Hooks { object, pairs, ext, tag, types };
        given
    }

    /// Returns the bytes of a key.
    pub(super) fn key(&self, key: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
        if let Ok(text) = key.cast::<PyString>() {
            return Ok(text.to_str()?.as_bytes().to_vec());
        }
        if let Ok(bytes) = key.cast::<PyBytes>() {
            return Ok(bytes.as_bytes().to_vec());
        }
        if self.key_kind == KeyKind::Integer
            && key.is_instance_of::<PyInt>()
            && !key.is_instance_of::<PyBool>()
        {
            return Ok(key.str()?.to_str()?.as_bytes().to_vec());
        }
        let expected = match self.key_kind {
            KeyKind::Integer => "int, or str of its digits",
            _ => "str or bytes",
        };
        Err(PyTypeError::new_err(format!(
            "found {} as a key, expected {expected}",
            key.get_type().name()?
        )))
    }

    /// Returns a key as a Python object.
    pub(super) fn named<'py>(&self, py: Python<'py>, key: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        match std::str::from_utf8(key) {
            Ok(digits) if self.key_kind == KeyKind::Integer => {
                py.get_type::<PyInt>().call1((digits,))
            }
            Ok(text) if !self.bytes_keys => Ok(PyString::new(py, text).into_any()),
            _ => Ok(PyBytes::new(py, key).into_any()),
        }
    }

    /// Passes the bytes of a value in the collection's format to `take`.
    pub(super) fn written<'py, T>(
        &self,
        key: &[u8],
        value: &Bound<'py, PyAny>,
        format: Format,
        take: impl FnOnce(&[u8]) -> T,
    ) -> PyResult<T> {
        let py = value.py();
        if format.is_marc() && value.is_instance_of::<pyo3::types::PyList>() {
            return Err(PyTypeError::new_err(format!(
                "key {}: found a list, expected one record: a value is one document",
                shown(key)
            )));
        }
        let given = self.given(py, format);
        dump::written(value, &given, take).map_err(|raised| errors::keyed(py, raised, &shown(key)))
    }

    /// Returns the value of an entry.
    pub(super) fn decoded<'py>(
        &self,
        py: Python<'py>,
        key: &[u8],
        entry: &Entry,
    ) -> PyResult<Bound<'py, PyAny>> {
        let format = entry.codec.format;
        let given = self.given(py, format);
        let value = load::loads_with(py, &entry.document, given)
            .map_err(|raised| errors::keyed(py, raised, &shown(key)))?;
        match value.cast::<pyo3::types::PyList>() {
            Ok(records) if format.is_marc() => records.get_item(0),
            _ => Ok(value),
        }
    }

    pub(super) fn fetch<'py>(
        &self,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = key.py();
        let name = self.key(key)?;
        match self.with(py, Way::Decode, |store| store.entry(&name))? {
            Some(entry) => self.decoded(py, &name, &entry).map(Some),
            None => Ok(None),
        }
    }

    pub(super) fn apply(
        &self,
        py: Python<'_>,
        documents: &[(Vec<u8>, Option<Vec<u8>>)],
        format: Format,
    ) -> PyResult<()> {
        if documents.is_empty() {
            return Ok(());
        }
        self.with(py, Way::Encode, |store| {
            let documents: Vec<(&[u8], Option<&[u8]>)> =
                documents.iter().map(|(key, one)| (key.as_slice(), one.as_deref())).collect();
            store.put_many_written(&documents, format)
        })
    }
}
