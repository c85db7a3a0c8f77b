//! A collection: documents in, documents out, and every stored byte accounted for.

mod converter;
pub(crate) mod direct;
mod page;
mod seal;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use regauge::{Format, Limits, Objects, OnLoss};

use crate::codec::{self, Codec, Compression, Packer, ZSTD_LEVEL};
use crate::engine::{self, Change, Engine, KeyKind, Order, Pair, Range, narrow_after};
use crate::error::{Error, Result};
use crate::settings::{Settings, check_name};

pub(crate) use self::converter::Converter;

/// Values read at a time when a range is walked: a page that would fill memory is cut short by its
/// size.
const PAGE: usize = 1_000;
/// How long a handle keeps using the codec it knows before it asks the database whether the
/// collection has another one now: `reencode` relies on it.
pub(crate) const SETTINGS_AGE: Duration = Duration::from_secs(1);
/// The default collection.
pub const DEFAULT_COLLECTION: &str = "objects";
/// The largest document: the envelope stores its length in 32 bits, and every engine and every
/// reader has to hold it whole.
pub const DOCUMENT_BYTES_MAX: usize = 1 << 30;

/// Bytes of documents that a dictionary is trained on, hundreds of times its usual size.
const TRAINING_BYTES_MAX: usize = 64 << 20;

/// A stored value, its payload still encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its codec.
    pub codec: Codec,
    /// When it was put, in seconds since 1970-01-01 UTC; `None` without an envelope.
    pub created: Option<u32>,
    /// Its size in the database, including the envelope.
    pub stored_bytes: u64,
    /// The document's bytes in the codec's format, decompressed.
    pub document: Vec<u8>,
}

/// Called with the store, a key and a stored value; returns whether to continue.
pub type Each<'e> = dyn FnMut(&mut Store, &[u8], &[u8]) -> Result<bool> + 'e;

/// The state of a walk over a range of keys.
#[derive(Clone, Debug)]
pub struct Walk {
    rest: Range,
    order: Order,
    ended: bool,
}

impl Walk {
    /// Creates a walk at its start.
    #[must_use]
    pub fn new(range: &Range, order: Order) -> Walk {
        Walk { rest: range.clone(), order, ended: false }
    }
}

/// One collection of a database.
pub struct Store {
    engine: Box<dyn Engine>,
    name: String,
    settings: Settings,
    packer: Packer,
    /// When these settings were last seen in the database.
    seen: Option<Instant>,
    /// What conversions do with values that a format cannot hold. With [`OnLoss::Wrap`], documents
    /// are put in the wrapped notation, whatever the codec holds.
    pub on_loss: OnLoss,
    /// What they do with classes and symbols; `None` does what [`Store::on_loss`] says.
    pub objects: Option<Objects>,
    /// Whether stored documents are in the wrapped notation, which is undone on the way out. A
    /// document being put is never assumed to be.
    pub unwrap: bool,
    /// The limits of the readers.
    pub limits: Limits,
    /// Ends a walk over the collection (`scan`, and so `verify`, `reencode` and `train`) at the
    /// next value with `Stopped`, once another thread sets it.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Store {
    /// Opens a collection of the database at this URL. A missing one is created when its first
    /// value is put, with `codec`, or MessagePack; an existing one keeps its own codec.
    ///
    /// # Errors
    /// `Usage` for an invalid URL or name, `Engine` if the database cannot be opened.
    pub fn open(url: &str, collection: &str, codec: Option<Codec>) -> Result<Store> {
        Store::with_engine(engine::open(url)?, collection, codec)
    }

    /// Opens an existing collection; creates nothing.
    ///
    /// # Errors
    /// `Absent` if it does not exist, and those of `open`.
    pub fn open_existing(url: &str, collection: &str) -> Result<Store> {
        let engine = engine::open_existing(url)?;
        if engine.note(&note_name(collection))?.is_none() {
            let there = Store::collections(&*engine)?;
            let shown = match there.is_empty() {
                true => "it has none".to_owned(),
                false => format!("it has {}", there.join(", ")),
            };
            let message = format!("the database has no collection {collection}; {shown}");
            return Err(Error::Absent(message));
        }
        Store::with_engine(engine, collection, None)
    }

    /// Like `open`, on an engine that is already open.
    ///
    /// # Errors
    /// Those of `open`.
    pub fn with_engine(
        engine: Box<dyn Engine>,
        collection: &str,
        codec: Option<Codec>,
    ) -> Result<Store> {
        let note = engine.note(&note_name(collection))?;
        let seen = note.is_some().then(Instant::now);
        let settings = match note {
            Some(note) => Settings::from_note(collection, &note)?,
            None => {
                let default = Codec { format: Format::Msgpack, compression: Compression::None };
                let mut settings = Settings::new(collection, codec.unwrap_or(default))?;
                settings.layout.key = engine.key_column().to_owned();
                settings
            }
        };
        let packer = Packer::new(ZSTD_LEVEL, &dictionaries(&*engine, collection)?)?;
        Ok(Store {
            engine,
            name: collection.to_owned(),
            settings,
            packer,
            seen,
            on_loss: OnLoss::default(),
            objects: None,
            unwrap: false,
            limits: Limits::default(),
            stop: None,
        })
    }

    /// Changes the settings of the collection in the database, creating it if necessary. Other open
    /// handles notice within a second.
    ///
    /// # Errors
    /// `Engine`, and those of `put`.
    pub fn save(&mut self, settings: Settings) -> Result {
        self.ensure()?;
        self.engine.set_note(&note_name(&self.name), Some(settings.to_note().as_bytes()))?;
        self.settings = settings;
        self.seen = Some(Instant::now());
        Ok(())
    }

    /// Adopts another program's table as a collection, unchanged.
    ///
    /// # Errors
    /// `Usage` if the table or one of its columns is missing.
    pub fn adopt(&mut self, settings: Settings) -> Result {
        check_name(&self.name)?;
        if self.is_there()? && self.settings.assume.is_none() {
            return Err(Error::usage(format!(
                "collection {} already exists, with values of its own; use another name",
                self.name
            )));
        }
        self.engine.check(&settings.layout)?;
        // A page of the table shows whether the columns are what they were declared to be.
        self.engine.page(&settings.layout, &Range::all(), Order::Ascending, 1)?;
        self.engine.set_note(&note_name(&self.name), Some(settings.to_note().as_bytes()))?;
        // Progress noted for another table is useless here.
        self.engine.set_note(&format!("reencode/{}", self.name), None)?;
        self.settings = settings;
        self.seen = Some(Instant::now());
        Ok(())
    }

    /// Removes the collection: its table with everything in it, even an adopted one, and everything
    /// regauge has noted about it.
    ///
    /// # Errors
    /// `Engine`.
    pub fn remove(&mut self) -> Result {
        self.engine.drop_table(&self.settings.layout)?;
        let of_series = self.engine.notes(&self.series_note(""))?;
        let dictionaries = self.engine.notes(&dictionary_note(&self.name))?;
        for name in of_series.iter().chain(&dictionaries) {
            self.engine.set_note(name, None)?;
        }
        self.engine.set_note(&format!("reencode/{}", self.name), None)?;
        self.engine.set_note(&note_name(&self.name), None)?;
        self.seen = None;
        Ok(())
    }

    /// Returns the settings of the collection.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the name of the collection.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the database engine.
    #[must_use]
    pub fn engine(&self) -> &dyn Engine {
        &*self.engine
    }

    /// Returns the collections of a database.
    ///
    /// # Errors
    /// `Engine`.
    pub fn collections(engine: &dyn Engine) -> Result<Vec<String>> {
        let prefix = note_name("");
        let names = engine.notes(&prefix)?;
        Ok(names
            .into_iter()
            .filter_map(|name| Some(name.strip_prefix(&prefix)?.to_owned()))
            .collect())
    }

    /// Puts a document that is in `format`.
    ///
    /// # Errors
    /// `Document` if it is broken, or if the collection's format cannot hold it; `Engine`.
    pub fn put(&mut self, key: &[u8], document: &[u8], format: Format) -> Result {
        self.refresh()?;
        let value = self.seal(key, document, format)?;
        self.ensure()?;
        self.engine.put(&self.settings.layout, key, &value)
    }

    /// Puts and deletes (`None`) many documents that are in `format`; all or none, if the engine
    /// supports that.
    ///
    /// # Errors
    /// Those of `put`.
    pub fn put_many(&mut self, documents: &[(&[u8], Option<&[u8]>)], format: Format) -> Result {
        self.refresh()?;
        let mut values = Vec::with_capacity(documents.len());
        let (codec, created) = (self.settings.codec, now());
        for (key, document) in documents {
            let value = document.map(|one| self.seal_as(key, one, (format, false), codec, created));
            values.push(value.transpose()?);
        }
        self.ensure()?;
        let changes: Vec<Change<'_>> = documents
            .iter()
            .zip(&values)
            .map(|((key, _), value)| (*key, value.as_deref()))
            .collect();
        self.engine.apply(&self.settings.layout, &changes)
    }

    /// Returns the document of a key, in `format`.
    ///
    /// # Errors
    /// `Damaged`; `Document` if `format` cannot hold it; `Engine`.
    pub fn get(&mut self, key: &[u8], format: Format) -> Result<Option<Vec<u8>>> {
        match self.entry(key)? {
            Some(entry) => self.document(key, entry, format).map(Some),
            None => Ok(None),
        }
    }

    /// Returns the documents of many keys, in `format`.
    ///
    /// # Errors
    /// Those of `get`.
    pub fn get_many(&mut self, keys: &[&[u8]], format: Format) -> Result<Vec<Option<Vec<u8>>>> {
        if !self.is_there()? {
            return Ok(vec![None; keys.len()]);
        }
        let values = self.engine.get_many(&self.settings.layout, keys)?;
        let documents = keys.iter().zip(values).map(|(key, value)| {
            let Some(value) = value else { return Ok(None) };
            let entry = self.unseal_owned(key, value)?;
            self.document(key, entry, format).map(Some)
        });
        documents.collect()
    }

    /// Returns a stored value with its metadata.
    ///
    /// # Errors
    /// `Damaged`, `Engine`.
    pub fn entry(&mut self, key: &[u8]) -> Result<Option<Entry>> {
        if !self.is_there()? {
            return Ok(None);
        }
        match self.engine.get(&self.settings.layout, key)? {
            Some(value) => self.unseal_owned(key, value).map(Some),
            None => Ok(None),
        }
    }

    /// Returns whether this key has a document.
    ///
    /// # Errors
    /// `Engine`.
    pub fn exists(&mut self, key: &[u8]) -> Result<bool> {
        Ok(self.is_there()? && self.engine.exists(&self.settings.layout, key)?)
    }

    /// Deletes a document; returns whether there was one.
    ///
    /// # Errors
    /// `Engine`.
    pub fn delete(&mut self, key: &[u8]) -> Result<bool> {
        Ok(self.is_there()? && self.engine.delete(&self.settings.layout, key)?)
    }

    /// Puts a document if the stored value is still the one that [`Store::stored`] returned
    /// (`None`: if there is still none).
    ///
    /// # Errors
    /// `Conflict`, and those of `put`.
    pub fn put_if(
        &mut self,
        key: &[u8],
        seen: Option<&[u8]>,
        document: &[u8],
        format: Format,
    ) -> Result {
        self.refresh()?;
        let value = self.seal(key, document, format)?;
        self.ensure()?;
        match self.engine.swap(&self.settings.layout, key, seen, Some(&value))? {
            true => Ok(()),
            false => Err(Error::Conflict { key: crate::error::shown(key) }),
        }
    }

    /// Returns the raw stored bytes of a key, which [`Store::put_if`] takes as seen.
    ///
    /// # Errors
    /// `Engine`.
    pub fn stored(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        if !self.is_there()? {
            return Ok(None);
        }
        self.engine.get(&self.settings.layout, key)
    }

    /// Returns the range of keys that begin with these bytes.
    ///
    /// # Errors
    /// `Usage` if keys are numbers, which are not ordered by their digits.
    pub fn prefix(&self, prefix: &[u8]) -> Result<Range> {
        if prefix.is_empty() {
            return Ok(Range::all());
        }
        if self.settings.layout.key_kind == KeyKind::Integer {
            return Err(Error::usage(format!(
                "the keys of collection {} are whole numbers, which have no prefix; pass \
                 a range of keys",
                self.name
            )));
        }
        Ok(if prefix.is_empty() { Range::all() } else { Range::prefix(prefix) })
    }

    /// Calls `each` with every key and stored value of a range, page by page: concurrent changes
    /// are visible once their page is read. `each` returns whether to continue.
    ///
    /// # Errors
    /// `Engine`, `Stopped`, and those of `each`.
    pub fn scan(&mut self, range: &Range, order: Order, each: &mut Each<'_>) -> Result {
        let mut walk = Walk::new(range, order);
        loop {
            let page = self.next_page(&mut walk)?;
            if page.is_empty() {
                return Ok(());
            }
            for (key, value) in &page {
                if self.is_stopped() {
                    return Err(Error::Stopped);
                }
                if !each(self, key, value)? {
                    return Ok(());
                }
            }
        }
    }

    /// Returns whether the caller has asked walks to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Returns the next keys and stored values of a walk; none at its end.
    ///
    /// # Errors
    /// `Engine`.
    pub fn next_page(&mut self, walk: &mut Walk) -> Result<Vec<Pair>> {
        if walk.ended || !self.is_there()? {
            return Ok(Vec::new());
        }
        let layout = &self.settings.layout;
        let page: Vec<Pair> = self.engine.page(layout, &walk.rest, walk.order, PAGE)?;
        walk.ended = match page.last() {
            Some((last, _)) => !narrow_after(&mut walk.rest, layout, last, walk.order),
            None => true,
        };
        Ok(page)
    }

    /// Trains a zstd dictionary on the first values of the collection, at most 64 MiB of documents,
    /// and uses it for all values put from now on. Returns its size.
    ///
    /// # Errors
    /// `Usage` if there are too few values.
    pub fn train(&mut self, samples: usize, size: usize) -> Result<usize> {
        let (mut documents, mut bytes_left) = (Vec::new(), TRAINING_BYTES_MAX);
        self.scan(&Range::all(), Order::Ascending, &mut |store, key, value| {
            // A damaged value is not trained on; `verify` reports it.
            if let Ok(entry) = store.unseal(key, value) {
                let Some(left) = bytes_left.checked_sub(entry.document.len()) else {
                    return Ok(false);
                };
                bytes_left = left;
                documents.push(entry.document);
            }
            Ok(documents.len() < samples)
        })?;
        let dictionary = codec::train(&documents, size)?;
        let mut all = dictionaries(&*self.engine, &self.name)?;
        // Named by its number: two concurrent trainings each keep theirs.
        let number = codec::dictionary_number(&dictionary);
        let name = format!("{}{:06}-{number:010}", dictionary_note(&self.name), all.len());
        self.engine.set_note(&name, Some(&dictionary))?;
        let bytes = dictionary.len();
        all.push(dictionary);
        self.packer = Packer::new(ZSTD_LEVEL, &all)?;
        Ok(bytes)
    }

    /// Returns the document of an entry, in `format`.
    ///
    /// # Errors
    /// `Document`.
    pub fn document(&self, key: &[u8], entry: Entry, format: Format) -> Result<Vec<u8>> {
        self.converter().document(key, entry, format)
    }

    /// Returns how this handle converts.
    pub(crate) fn converter(&self) -> Converter {
        let Store { on_loss, objects, unwrap, limits, .. } = *self;
        Converter { on_loss, objects, unwrap, limits }
    }

    /// Creates the collection before the first value is put.
    fn ensure(&mut self) -> Result {
        if self.is_there()? {
            return Ok(());
        }
        check_name(&self.name)?;
        let note = note_name(&self.name);
        let layout = self.settings.layout.clone();
        // One whose creation was interrupted is ours.
        if self.engine.has_table(&layout.table)?
            && self.engine.note(&engine::making(&note))?.is_none()
        {
            // Another process may have created the collection at this very moment.
            if self.is_there()? {
                return Ok(());
            }
            return Err(Error::usage(format!(
                "the database has a table {} already, which is not a collection; adopt it, or name \
                 another",
                layout.table
            )));
        }
        self.engine.create_noted(&layout, &note, self.settings.to_note().as_bytes())?;
        self.seen = Some(Instant::now());
        Ok(())
    }

    /// Returns whether the collection exists. Once it does, the database is not asked again.
    ///
    /// # Errors
    /// `Engine`.
    pub fn is_there(&mut self) -> Result<bool> {
        if self.seen.is_none() && self.engine.note(&note_name(&self.name))?.is_some() {
            self.seen = Some(Instant::now());
        }
        Ok(self.seen.is_some())
    }

    /// Picks up settings that others have changed or created.
    fn refresh(&mut self) -> Result {
        if self.seen.is_some_and(|seen| seen.elapsed() < SETTINGS_AGE) {
            return Ok(());
        }
        if let Some(note) = self.engine.note(&note_name(&self.name))? {
            self.settings = Settings::from_note(&self.name, &note)?;
            self.seen = Some(Instant::now());
        }
        Ok(())
    }
}

fn note_name(collection: &str) -> String {
    format!("collection/{collection}")
}

fn dictionary_note(collection: &str) -> String {
    format!("dictionary/{collection}/")
}

fn dictionaries(engine: &dyn Engine, collection: &str) -> Result<Vec<Vec<u8>>> {
    let names = engine.notes(&dictionary_note(collection))?;
    let notes = names.iter().map(|name| Ok(engine.note(name)?.unwrap_or_default()));
    notes.collect()
}

/// Returns seconds since 1970-01-01 UTC, for the envelope.
pub(crate) fn now() -> u32 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u32::try_from(since.as_secs()).unwrap_or(u32::MAX)
}
