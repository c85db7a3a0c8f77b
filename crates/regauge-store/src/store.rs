//! A collection: documents in, documents out, and every stored byte accounted for.

use std::time::{SystemTime, UNIX_EPOCH};

use data_encoding::BASE64;
use regauge::convert::{self, Options};
use regauge::{Format, Limits, OnLoss};

use crate::codec::{self, Codec, Compression, Packer, ZSTD_LEVEL};
use crate::engine::{self, Change, Engine, KeyKind, Layout, Order, Pair, Range};
use crate::envelope::{self, Envelope};
use crate::error::{Error, Result};

/// Values that are read at a time when a range is walked: a page that fills memory is cut short by
/// its bytes.
const PAGE: usize = 1_000;
/// The collection that is used where none is named.
pub const DEFAULT_COLLECTION: &str = "objects";
/// The largest document: the envelope counts its bytes in 32 bits, and every engine and every
/// reader has to hold it whole.
pub const DOCUMENT_BYTES_MAX: usize = 1 << 30;

/// What a collection is, kept in the database beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How new values are stored.
    pub codec: Codec,
    /// What a value without an envelope is, in a table that others have written.
    pub assume: Option<Assume>,
    /// Where it is.
    pub layout: Layout,
}

/// What a value without an envelope is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assume {
    /// Its format and compression; of zstd and lz4 only what tells its own length.
    pub format: Format,
    /// Whether it is in Base64.
    pub base64: bool,
}

impl Settings {
    /// A collection of regauge's own, of this name.
    ///
    /// # Errors
    /// `Usage` for a name that is no plain word.
    pub fn new(name: &str, codec: Codec) -> Result<Settings> {
        check_name(name)?;
        let layout = Layout {
            table: name.to_owned(),
            key: "key".to_owned(),
            value: "value".to_owned(),
            key_kind: KeyKind::Bytes,
            text: false,
        };
        Ok(Settings { codec, assume: None, layout })
    }

    fn to_note(&self) -> String {
        let Settings { codec, assume, layout } = self;
        let assume = assume.map_or(String::new(), |one| {
            format!("{}{}", if one.base64 { "base64:" } else { "" }, one.format.name())
        });
        let fields = [
            ("codec", codec.to_string()),
            ("assume", assume),
            ("table", layout.table.clone()),
            ("key", layout.key.clone()),
            ("value", layout.value.clone()),
            ("key_kind", layout.key_kind.name().to_owned()),
            ("text", layout.text.to_string()),
        ];
        let lines = fields.iter().filter(|(_, value)| !value.is_empty());
        lines.map(|(name, value)| format!("{name} = {value}\n")).collect()
    }

    fn from_note(name: &str, note: &[u8]) -> Result<Settings> {
        let text = String::from_utf8_lossy(note);
        let field =
            |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
        let need = |key: &str| {
            field(key).ok_or_else(|| {
                Error::usage(format!("the settings of collection {name} have no {key}"))
            })
        };
        let kind = need("key_kind")?;
        Ok(Settings {
            codec: need("codec")?.parse()?,
            assume: field("assume").map(str::parse).transpose()?,
            layout: Layout {
                table: need("table")?.to_owned(),
                key: need("key")?.to_owned(),
                value: need("value")?.to_owned(),
                key_kind: KeyKind::parse(kind)
                    .ok_or_else(|| Error::usage(format!("found key_kind {kind}")))?,
                text: need("text")? == "true",
            },
        })
    }
}

impl std::str::FromStr for Assume {
    type Err = Error;

    /// `marshal`, or `base64:marshal`.
    fn from_str(text: &str) -> Result<Assume> {
        let (base64, format) = match text.strip_prefix("base64:") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let Codec { format, compression } = format.parse()?;
        if compression != Compression::None {
            return Err(Error::usage("a value without an envelope is not compressed by regauge"));
        }
        Ok(Assume { format, base64 })
    }
}

/// The names of collections are those of tables: plain words keep every tool content.
fn check_name(name: &str) -> Result {
    let plain = |one: char| one.is_ascii_alphanumeric() || one == '_';
    if name.is_empty()
        || name.len() > 60
        || !name.chars().all(plain)
        || ["regauge_", "sqlite_"].iter().any(|one| name.to_ascii_lowercase().starts_with(one))
    {
        return Err(Error::usage(format!(
            "found \"{name}\" as the name of a collection, expected up to 60 letters, digits and _, \
             not beginning with regauge_"
        )));
    }
    Ok(())
}

/// A stored value, its payload still as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// How it is stored.
    pub codec: Codec,
    /// When it was put, in seconds since 1970-01-01 UTC; nothing where it has no envelope.
    pub created: Option<u32>,
    /// Bytes in the database, envelope included.
    pub stored_bytes: u64,
    /// The document's bytes in the codec's format, decompressed.
    pub document: Vec<u8>,
}

/// Is given the store, a key and a stored value, and says whether to go on.
pub type Each<'e> = dyn FnMut(&mut Store, &[u8], &[u8]) -> Result<bool> + 'e;

/// One collection of a database.
pub struct Store {
    engine: Box<dyn Engine>,
    name: String,
    settings: Settings,
    packer: Packer,
    /// Whether the collection is known to be in the database.
    seen: bool,
    /// What conversions on the way in and out do with what a format cannot hold.
    pub on_loss: OnLoss,
    /// The bounds of the readers.
    pub limits: Limits,
}

impl Store {
    /// Opens a collection of the database of this URL. One that is not there is made when its
    /// first value is put, with `codec`, or MessagePack; one that is there keeps its own.
    ///
    /// # Errors
    /// `Usage` for a URL or a name that cannot be, `Engine` where the database cannot be opened.
    pub fn open(url: &str, collection: &str, codec: Option<Codec>) -> Result<Store> {
        Store::with_engine(engine::open(url)?, collection, codec)
    }

    /// The same on an engine that is open already.
    ///
    /// # Errors
    /// As `open`.
    pub fn with_engine(
        engine: Box<dyn Engine>,
        collection: &str,
        codec: Option<Codec>,
    ) -> Result<Store> {
        let settings = match engine.note(&note_name(collection))? {
            Some(note) => Settings::from_note(collection, &note)?,
            None => {
                let default = Codec { format: Format::Msgpack, compression: Compression::None };
                Settings::new(collection, codec.unwrap_or(default))?
            }
        };
        let packer = Packer::new(ZSTD_LEVEL, &dictionaries(&*engine, collection)?)?;
        Ok(Store {
            engine,
            name: collection.to_owned(),
            settings,
            packer,
            seen: false,
            on_loss: OnLoss::default(),
            limits: Limits::default(),
        })
    }

    /// Makes the collection in the database, or changes its settings there.
    ///
    /// # Errors
    /// `Engine`.
    pub fn save(&mut self, settings: Settings) -> Result {
        if settings.assume.is_none() {
            self.engine.create(&settings.layout)?;
        }
        self.engine.set_note(&note_name(&self.name), Some(settings.to_note().as_bytes()))?;
        self.settings = settings;
        Ok(())
    }

    /// Takes a table that others have written for a collection, as it stands.
    ///
    /// # Errors
    /// `Usage` where the table or one of its columns is not there.
    pub fn adopt(&mut self, settings: Settings) -> Result {
        check_name(&self.name)?;
        if self.is_there()? && self.settings.assume.is_none() {
            return Err(Error::usage(format!(
                "collection {} is there already, with values of its own; name another",
                self.name
            )));
        }
        self.engine.check(&settings.layout)?;
        // A page of the table shows whether the columns are what they are said to be.
        self.engine.page(&settings.layout, &Range::all(), Order::Ascending, 1)?;
        self.engine.set_note(&note_name(&self.name), Some(settings.to_note().as_bytes()))?;
        // What a run on another table noted is of no use here.
        self.engine.set_note(&format!("reencode/{}", self.name), None)?;
        self.settings = settings;
        self.seen = true;
        Ok(())
    }

    /// The settings of the collection.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The name of the collection.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The database.
    #[must_use]
    pub fn engine(&self) -> &dyn Engine {
        &*self.engine
    }

    /// The collections of a database.
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
    /// `Document` where it is broken, or where the collection's format cannot hold it; `Engine`.
    pub fn put(&mut self, key: &[u8], document: &[u8], format: Format) -> Result {
        let value = self.seal(key, document, format)?;
        self.ensure()?;
        self.engine.put(&self.settings.layout, key, &value)
    }

    /// Puts and deletes (nothing) many documents that are in `format`, all or none where the
    /// engine can.
    ///
    /// # Errors
    /// As `put`.
    pub fn put_many(&mut self, documents: &[(&[u8], Option<&[u8]>)], format: Format) -> Result {
        let mut values = Vec::with_capacity(documents.len());
        for (key, document) in documents {
            values.push(document.map(|one| self.seal(key, one, format)).transpose()?);
        }
        self.ensure()?;
        let changes: Vec<Change<'_>> = documents
            .iter()
            .zip(&values)
            .map(|((key, _), value)| (*key, value.as_deref()))
            .collect();
        self.engine.apply(&self.settings.layout, &changes)
    }

    /// The document of a key, in `format`.
    ///
    /// # Errors
    /// `Damaged`; `Document` where `format` cannot hold it; `Engine`.
    pub fn get(&mut self, key: &[u8], format: Format) -> Result<Option<Vec<u8>>> {
        match self.entry(key)? {
            Some(entry) => self.document(key, entry, format).map(Some),
            None => Ok(None),
        }
    }

    /// The documents of many keys, in `format`.
    ///
    /// # Errors
    /// As `get`.
    pub fn get_many(&mut self, keys: &[&[u8]], format: Format) -> Result<Vec<Option<Vec<u8>>>> {
        if !self.is_there()? {
            return Ok(vec![None; keys.len()]);
        }
        let values = self.engine.get_many(&self.settings.layout, keys)?;
        let documents = keys.iter().zip(values).map(|(key, value)| {
            let Some(value) = value else { return Ok(None) };
            let entry = self.unseal(key, &value)?;
            self.document(key, entry, format).map(Some)
        });
        documents.collect()
    }

    /// A stored value with what is known of it.
    ///
    /// # Errors
    /// `Damaged`, `Engine`.
    pub fn entry(&mut self, key: &[u8]) -> Result<Option<Entry>> {
        if !self.is_there()? {
            return Ok(None);
        }
        match self.engine.get(&self.settings.layout, key)? {
            Some(value) => self.unseal(key, &value).map(Some),
            None => Ok(None),
        }
    }

    /// Whether there is a document of this key.
    ///
    /// # Errors
    /// `Engine`.
    pub fn exists(&mut self, key: &[u8]) -> Result<bool> {
        Ok(self.is_there()? && self.engine.exists(&self.settings.layout, key)?)
    }

    /// Deletes a document; tells whether there was one.
    ///
    /// # Errors
    /// `Engine`.
    pub fn delete(&mut self, key: &[u8]) -> Result<bool> {
        Ok(self.is_there()? && self.engine.delete(&self.settings.layout, key)?)
    }

    /// Puts a document if the stored value is still the one that [`Store::stored`] gave
    /// (nothing: if there is none).
    ///
    /// # Errors
    /// `Conflict`, and as `put`.
    pub fn put_if(
        &mut self,
        key: &[u8],
        seen: Option<&[u8]>,
        document: &[u8],
        format: Format,
    ) -> Result {
        let value = self.seal(key, document, format)?;
        self.ensure()?;
        match self.engine.swap(&self.settings.layout, key, seen, Some(&value))? {
            true => Ok(()),
            false => Err(Error::Conflict { key: crate::error::shown(key) }),
        }
    }

    /// The stored bytes of a key as they are: what [`Store::put_if`] takes as seen.
    ///
    /// # Errors
    /// `Engine`.
    pub fn stored(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        if !self.is_there()? {
            return Ok(None);
        }
        self.engine.get(&self.settings.layout, key)
    }

    /// Calls `each` with every key and stored value of a range, page by page: what is changed
    /// meanwhile is seen as it is when its page is read. `each` says whether to go on.
    ///
    /// # Errors
    /// `Engine`, and those of `each`.
    pub fn scan(&mut self, range: &Range, order: Order, each: &mut Each<'_>) -> Result {
        if !self.is_there()? {
            return Ok(());
        }
        let layout = self.settings.layout.clone();
        let mut rest = range.clone();
        loop {
            let page: Vec<Pair> = self.engine.page(&layout, &rest, order, PAGE)?;
            let Some((last, _)) = page.last() else { return Ok(()) };
            let mut end = false;
            match order {
                Order::Ascending => match successor(&layout, last) {
                    Some(next) => rest.from = Some(next),
                    None => end = true,
                },
                Order::Descending => rest.to = Some(last.clone()),
            }
            for (key, value) in &page {
                if !each(self, key, value)? {
                    return Ok(());
                }
            }
            if end {
                return Ok(());
            }
        }
    }

    /// Trains a dictionary for zstd from the first values of the collection, and uses it for all
    /// that are put from now on. Gives its size.
    ///
    /// # Errors
    /// `Usage` where the values are too few.
    pub fn train(&mut self, samples: usize, size: usize) -> Result<usize> {
        let mut documents = Vec::new();
        self.scan(&Range::all(), Order::Ascending, &mut |store, key, value| {
            // A damaged one teaches nothing; `verify` names it.
            if let Ok(entry) = store.unseal(key, value) {
                documents.push(entry.document);
            }
            Ok(documents.len() < samples)
        })?;
        let dictionary = codec::train(&documents, size)?;
        let mut all = dictionaries(&*self.engine, &self.name)?;
        // With its number: two who train at once each keep theirs.
        let number = codec::dictionary_number(&dictionary);
        let name = format!("{}{:06}-{number:010}", dictionary_note(&self.name), all.len());
        self.engine.set_note(&name, Some(&dictionary))?;
        let bytes = dictionary.len();
        all.push(dictionary);
        self.packer = Packer::new(ZSTD_LEVEL, &all)?;
        Ok(bytes)
    }

    /// The stored bytes of a document: converted, compressed, behind its envelope.
    ///
    /// # Errors
    /// `Document`.
    pub fn seal(&mut self, key: &[u8], document: &[u8], format: Format) -> Result<Vec<u8>> {
        self.seal_as(key, document, format, self.settings.codec, now())
    }

    pub(crate) fn seal_as(
        &mut self,
        key: &[u8],
        document: &[u8],
        format: Format,
        codec: Codec,
        created: u32,
    ) -> Result<Vec<u8>> {
        let converted = self.converted(key, document, format, codec.format)?;
        if converted.len() > DOCUMENT_BYTES_MAX {
            return Err(Error::usage(format!(
                "key {}: the document has {} bytes, the limit is {DOCUMENT_BYTES_MAX}",
                crate::error::shown(key),
                converted.len()
            )));
        }
        let length = u32::try_from(converted.len()).expect("below the limit");
        let payload = self.packer.pack(codec.compression, converted)?;
        let mut value = Vec::with_capacity(envelope::BYTES + payload.len());
        value.extend_from_slice(&Envelope { codec, created, length }.seal(&payload));
        value.extend_from_slice(&payload);
        Ok(value)
    }

    /// What a stored value is: its envelope and checksum looked at, its document decompressed.
    ///
    /// # Errors
    /// `Damaged`.
    pub fn unseal(&mut self, key: &[u8], value: &[u8]) -> Result<Entry> {
        let stored_bytes = value.len() as u64;
        if let Some((envelope, payload)) = Envelope::open(key, value)? {
            let Envelope { codec, created, length } = envelope;
            // Somebody else may have trained one since this handle was opened.
            if codec.compression == Compression::Zstd && !self.packer.knows(payload) {
                let all = dictionaries(&*self.engine, &self.name)?;
                self.packer = Packer::new(ZSTD_LEVEL, &all)?;
            }
            let document = self.packer.unpack(key, codec.compression, payload, length)?;
            return Ok(Entry { codec, created: Some(created), stored_bytes, document });
        }
        if self.settings.layout.text && value.starts_with(b"wWc") {
            return Err(Error::damaged(
                key,
                "found text that begins as an envelope does, and is no Base64",
            ));
        }
        let Some(Assume { format, base64 }) = self.settings.assume else {
            return Err(Error::damaged(
                key,
                "the value has no envelope; where others wrote it, say what it is with --assume",
            ));
        };
        let document = match base64 {
            false => value.to_vec(),
            // Ruby's Base64.encode64 breaks its lines.
            true => {
                let dense: Vec<u8> =
                    value.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
                BASE64.decode(&dense).map_err(|error| {
                    Error::damaged(key, format!("found a value that is no Base64 ({error})"))
                })?
            }
        };
        let codec = Codec { format, compression: Compression::None };
        Ok(Entry { codec, created: None, stored_bytes, document })
    }

    /// The document of an entry, in `format`.
    ///
    /// # Errors
    /// `Document`.
    pub fn document(&self, key: &[u8], entry: Entry, format: Format) -> Result<Vec<u8>> {
        if entry.codec.format == format {
            return Ok(entry.document);
        }
        self.converted(key, &entry.document, entry.codec.format, format)
    }

    /// Converts a document; one that is in the format already is read once, so that nothing broken
    /// is ever stored.
    fn converted(&self, key: &[u8], document: &[u8], from: Format, to: Format) -> Result<Vec<u8>> {
        let mut options = Options::new(from, to);
        options.on_loss = self.on_loss;
        options.limits = self.limits;
        options.documents = regauge::documents::Documents::Keep;
        let converted = convert::convert_counted(document, &options);
        let (mut converted, documents) = converted.map_err(|error| Error::document(key, error))?;
        if documents != 1 {
            return Err(Error::damaged(key, format!("found {documents} documents, expected one")));
        }
        // The line feed at the end of a file of JSON is no part of the document.
        if to.is_json() && converted.last() == Some(&b'\n') {
            converted.pop();
        }
        Ok(converted)
    }

    /// Makes the table before the first value is put.
    fn ensure(&mut self) -> Result {
        if self.is_there()? {
            return Ok(());
        }
        check_name(&self.name)?;
        if self.engine.has_table(&self.settings.layout.table)? {
            return Err(Error::usage(format!(
                "the database has a table {} already, which is no collection; take it with \
                 `regauge store adopt`, or name another",
                self.settings.layout.table
            )));
        }
        self.save(self.settings.clone())
    }

    /// Whether the collection is there. Asked of the database once only when it is.
    fn is_there(&mut self) -> Result<bool> {
        if !self.seen {
            self.seen = self.engine.note(&note_name(&self.name))?.is_some();
        }
        Ok(self.seen)
    }
}

/// The first key behind this one; nothing behind the last that there can be.
fn successor(layout: &Layout, key: &[u8]) -> Option<Vec<u8>> {
    if layout.key_kind == KeyKind::Integer
        && let Some(number) =
            std::str::from_utf8(key).ok().and_then(|text| text.parse::<i64>().ok())
    {
        return number.checked_add(1).map(|next| next.to_string().into_bytes());
    }
    let mut next = key.to_vec();
    next.push(0);
    Some(next)
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

/// Seconds since 1970-01-01 UTC, for the envelope.
pub(crate) fn now() -> u32 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u32::try_from(since.as_secs()).unwrap_or(u32::MAX)
}
