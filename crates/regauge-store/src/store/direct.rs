//! For callers that create documents with regauge's own writers, such as the bindings, for those
//! that inspect them in place, and for those that need only keys.

use regauge::tape::Tape;
use regauge::{Format, Limits, OnLoss, Options, values};

use super::{Change, Entry, Store, now};
use crate::engine::{Order, Range};
use crate::error::{Error, Result};

/// The error for a stored value that holds several documents, or none.
pub(crate) const NOT_ONE: &str = "found no single document, expected one";

impl Entry {
    /// Reads the document as a tape.
    pub(crate) fn tape(&self, key: &[u8], limits: Limits, unwrap: bool) -> Result<Tape> {
        let mut options = Options::new(self.codec.format, self.codec.format);
        options.unwrap = unwrap;
        options.limits = limits;
        let read = values::read_tape(&self.document, &options);
        let read = read.map_err(|error| Error::document(key, error))?;
        read.ok_or_else(|| Error::damaged(key, NOT_ONE))
    }
}

impl Store {
    /// Returns the document of a key as a tape, for lookups: see [`Tape::root`].
    ///
    /// # Errors
    /// `Damaged`, `Document`, `Engine`.
    pub fn tape(&mut self, key: &[u8]) -> Result<Option<Tape>> {
        let (limits, unwrap) = (self.limits, self.unwrap);
        self.entry(key)?.map(|entry| entry.tape(key, limits, unwrap)).transpose()
    }

    /// Like [`Store::put`], for one whole document just created by a regauge writer: if it is in
    /// the collection's format, it is not read again before it is stored.
    ///
    /// # Errors
    /// Those of [`Store::put`].
    pub fn put_written(&mut self, key: &[u8], document: &[u8], format: Format) -> Result {
        self.refresh()?;
        let value = self.seal_written(key, document, format)?;
        self.ensure()?;
        self.engine.put(&self.settings.layout, key, &value)
    }

    /// Like [`Store::put_many`], for documents as in [`Store::put_written`].
    ///
    /// # Errors
    /// Those of [`Store::put_many`].
    pub fn put_many_written(
        &mut self,
        documents: &[(&[u8], Option<&[u8]>)],
        format: Format,
    ) -> Result {
        self.refresh()?;
        let mut values = Vec::with_capacity(documents.len());
        for (key, document) in documents {
            values.push(document.map(|one| self.seal_written(key, one, format)).transpose()?);
        }
        self.ensure()?;
        let changes: Vec<Change<'_>> = documents
            .iter()
            .zip(&values)
            .map(|((key, _), value)| (*key, value.as_deref()))
            .collect();
        self.engine.apply(&self.settings.layout, &changes)
    }

    /// Puts a document as in [`Store::put_written`], or deletes it (`None`), if the stored value is
    /// still the one that [`Store::stored`] returned (`None`: if there is still none). Returns
    /// whether it did.
    ///
    /// # Errors
    /// Those of [`Store::put`].
    pub fn swap_written(
        &mut self,
        key: &[u8],
        seen: Option<&[u8]>,
        document: Option<&[u8]>,
        format: Format,
    ) -> Result<bool> {
        self.refresh()?;
        let value = document.map(|one| self.seal_written(key, one, format)).transpose()?;
        self.ensure()?;
        self.engine.swap(&self.settings.layout, key, seen, value.as_deref())
    }

    /// Returns the stored values of many keys with their metadata, in the order of the keys.
    ///
    /// # Errors
    /// `Damaged`, `Engine`.
    pub fn entries(&mut self, keys: &[&[u8]]) -> Result<Vec<Option<Entry>>> {
        if !self.is_there()? {
            return Ok(keys.iter().map(|_| None).collect());
        }
        let values = self.engine.get_many(&self.settings.layout, keys)?;
        let entries = keys
            .iter()
            .zip(values)
            .map(|(key, value)| value.map(|value| self.unseal_owned(key, value)).transpose());
        entries.collect()
    }

    /// Returns the first keys of a range, without their values.
    ///
    /// # Errors
    /// `Engine`.
    pub fn keys(&mut self, range: &Range, order: Order, limit: usize) -> Result<Vec<Vec<u8>>> {
        if !self.is_there()? {
            return Ok(Vec::new());
        }
        self.engine.keys(&self.settings.layout, range, order, limit)
    }

    /// Returns the number of values in the collection, and their size in the database.
    ///
    /// # Errors
    /// `Engine`.
    pub fn count(&mut self) -> Result<(u64, u64)> {
        if !self.is_there()? {
            return Ok((0, 0));
        }
        self.engine.count(&self.settings.layout)
    }

    /// Like [`Store::seal`], for a document as in [`Store::put_written`].
    ///
    /// # Errors
    /// Those of [`Store::seal`].
    pub fn seal_written(&mut self, key: &[u8], document: &[u8], format: Format) -> Result<Vec<u8>> {
        let codec = self.settings.codec;
        match codec.format == format {
            true => self.sealed(key, document.into(), codec, now()),
            // Documents written under this handle's policy are in the notation if it says so.
            false => {
                let unwrap = self.on_loss == OnLoss::Wrap;
                self.seal_as(key, document, (format, unwrap), codec, now())
            }
        }
    }
}
