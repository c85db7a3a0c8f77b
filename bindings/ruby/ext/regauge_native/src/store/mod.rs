//! Collections in a database: the native part of `Regauge::Store`.
//!
//! | module | |
//! |---|---|
//! | [`values`] | documents in and out |
//! | [`cursor`] | walks over keys and values |
//! | [`care`] | settings, counting, verifying, re-encoding |
//! | [`failure`] | the store's errors as exceptions |
//!
//! Database calls run without the GVL. They hold the collection's mutex, and use nothing of Ruby
//! meanwhile: so neither lock ever waits for the other.
//!
//! A forked process must not touch its parent's connections, not even to close them. So a
//! collection records which process opened it: a child opens its own on the first call, and leaves
//! the parent's alone.

pub mod care;
pub mod cursor;
mod failure;
pub mod values;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use regauge::{Format, Limits, Objects, OnLoss};
use regauge_store::{Codec, Range, Store, series::Series};

use crate::data::{DataType, Held};
use crate::errors::Phase;
use crate::options::{Settings, word};
use crate::ruby::{self, NIL, Raise, VALUE};
use failure::{exception_of, store_error};

/// An open collection, and the process that opened it.
struct Shared {
    /// Always `Some`, until this is dropped.
    store: Option<Mutex<Store>>,
    process: u32,
    /// Whether the database is gone with its connection.
    is_temporary: bool,
}

impl Shared {
    fn new(store: Store) -> Arc<Shared> {
        let is_temporary = store.engine().is_temporary();
        let process = std::process::id();
        Arc::new(Shared { store: Some(Mutex::new(store)), process, is_temporary })
    }

    /// Returns the collection, once nobody else has it. Must not be called while holding the GVL.
    fn lock(&self) -> MutexGuard<'_, Store> {
        let store = self.store.as_ref().expect("there until it is dropped");
        // A panic leaves no partial change behind: that is up to the database.
        store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // The parent's: closing it here would release its locks.
            std::mem::forget(self.store.take());
        }
    }
}

/// The location of a collection, and how to open it.
struct Place {
    url: String,
    collection: String,
    codec: Option<Codec>,
    /// Whether each change is on disk before it is acknowledged.
    sync: bool,
    on_loss: OnLoss,
    objects: Option<Objects>,
    /// Whether stored documents are read as the wrapped notation.
    unwrap: bool,
    limits: Limits,
    /// Whether nothing is ever put: the collection only defines the encoding of values.
    seals_only: bool,
}

impl Place {
    fn open(&self) -> regauge_store::Result<Store> {
        let mut store = Store::open(&self.url, &self.collection, self.codec)?;
        if !self.sync {
            store.engine().sync_each_change(false)?;
        }
        (store.on_loss, store.objects) = (self.on_loss, self.objects);
        store.unwrap = self.unwrap;
        store.limits = self.limits;
        Ok(store)
    }

    /// The same, if the collection must have the requested codec.
    fn open_first(&self) -> regauge_store::Result<Store> {
        let store = self.open()?;
        match self.codec.filter(|wanted| *wanted != store.settings().codec) {
            None => Ok(store),
            Some(wanted) => Err(regauge_store::Error::Usage(format!(
                "collection {} stores {}, not {wanted}; reencode changes it",
                self.collection,
                store.settings().codec
            ))),
        }
    }
}

/// `Regauge::Native::Store`.
struct Handle {
    /// `None` once it is closed.
    shared: Option<Arc<Shared>>,
    /// For the collection's own format.
    settings: Arc<Settings>,
    place: Arc<Place>,
    /// The keyword arguments.
    options: VALUE,
}

impl Held for Handle {
    const NAME: &'static std::ffi::CStr = c"Regauge::Native::Store";
    fn mark(&self) {
        ruby::mark(self.options);
        ruby::mark(self.settings.permit);
        ruby::mark(self.settings.default);
    }
}

static HANDLE: DataType<Handle> = DataType::new();

/// The inputs of a call. Nothing is borrowed from the handle: Ruby methods that run meanwhile may
/// use the same one.
struct Opened {
    shared: Arc<Shared>,
    settings: Arc<Settings>,
    place: Arc<Place>,
    options: VALUE,
}

fn opened(receiver: VALUE) -> Result<Opened, Raise> {
    let handle = HANDLE.get(receiver)?;
    let Some(shared) = &handle.shared else {
        return Err(store_error("the store is closed; open it again"));
    };
    let mut shared = Arc::clone(shared);
    let place = Arc::clone(&handle.place);
    if shared.process != std::process::id() {
        if shared.is_temporary && !place.seals_only {
            return Err(store_error(
                "a database in memory stays with the process that opened it; this one was forked \
                 from it, and must open its own",
            ));
        }
        let store = ruby::without_lock(|| place.open())?;
        shared = Shared::new(store.map_err(|error| exception_of(error, Phase::Decode))?);
        HANDLE.get(receiver)?.shared = Some(Arc::clone(&shared));
    }
    let handle = HANDLE.get(receiver)?;
    let settings = Arc::clone(&handle.settings);
    Ok(Opened { shared, settings, place, options: handle.options })
}

/// `Native.store_open(url, collection, codec or nil, sync, keywords)`.
pub fn open(arguments: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let &[url, collection, codec, sync, options] = arguments else {
        return Err(ruby::argument_error("store_open takes a URL, two names, sync and keywords"));
    };
    let text = |value: VALUE, what: &str| {
        word(value).ok_or_else(|| ruby::type_error(&format!("{what}: takes a String or Symbol")))
    };
    let given = Settings::storing(Format::Msgpack, options)?;
    opened_at(
        Place {
            url: text(url, "url")?,
            collection: text(collection, "collection")?,
            codec: if codec == NIL { None } else { Some(codec_of(codec)?) },
            sync: sync != NIL && sync != ruby::FALSE,
            on_loss: given.core.on_loss,
            objects: given.core.objects,
            unwrap: given.core.unwrap,
            limits: given.core.limits,
            seals_only: false,
        },
        options,
    )
}

/// `Native.sealer(codec, keywords)`: a store only for `seal` and `unseal`.
pub fn sealer(arguments: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let &[codec, options] = arguments else {
        return Err(ruby::argument_error("sealer takes a codec and keywords"));
    };
    let given = Settings::storing(Format::Msgpack, options)?;
    opened_at(
        Place {
            url: "sqlite::memory:".to_owned(),
            collection: "objects".to_owned(),
            codec: Some(codec_of(codec)?),
            sync: true,
            on_loss: given.core.on_loss,
            objects: given.core.objects,
            unwrap: given.core.unwrap,
            limits: given.core.limits,
            seals_only: true,
        },
        options,
    )
}

fn opened_at(place: Place, options: VALUE) -> Result<VALUE, Raise> {
    let store = ruby::without_lock(|| place.open_first())?;
    let store = store.map_err(|error| exception_of(error, Phase::Decode))?;
    let settings = Arc::new(Settings::storing(store.settings().codec.format, options)?);
    let shared = Some(Shared::new(store));
    let handle = Handle { shared, settings, place: Arc::new(place), options };
    let object = HANDLE.wrap(crate::names::names().store_class, handle);
    ruby::keep(options);
    Ok(object)
}

/// `store.close`: calls in progress finish first.
pub fn close(_: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let shared = HANDLE.get(receiver)?.shared.take();
    ruby::without_lock(move || drop(shared))?;
    Ok(NIL)
}

/// Returns the codec of a name.
fn codec_of(value: VALUE) -> Result<Codec, Raise> {
    let name = word(value).unwrap_or_default().replace('_', "-");
    name.parse().map_err(|error: regauge_store::Error| ruby::argument_error(&error.to_string()))
}

/// Returns the bytes of a key: a String's, a Symbol's, an Integer's decimal digits.
fn key_bytes(value: VALUE) -> Result<Vec<u8>, Raise> {
    if let Some(number) = ruby::small_integer(value) {
        return Ok(number.to_string().into_bytes());
    }
    let Some(text) = ruby::text_of_key(value) else {
        return Err(ruby::type_error("a key is a String, a Symbol or an Integer"));
    };
    let bytes = ruby::bytes_of(text).to_vec();
    ruby::keep(text);
    Ok(bytes)
}

/// Returns a key as a UTF-8 string if it is valid, else as bytes.
fn key_string(key: &[u8]) -> VALUE {
    match std::str::from_utf8(key) {
        Ok(text) => ruby::text(text),
        Err(_) => ruby::binary(key),
    }
}

/// Returns the range of `[from, to, prefix]`: each may be `nil`.
fn range_of(from: VALUE, to: VALUE, prefix: VALUE) -> Result<Range, Raise> {
    let optional = |value: VALUE| if value == NIL { Ok(None) } else { key_bytes(value).map(Some) };
    let mut range = Range { from: optional(from)?, to: optional(to)? };
    if let Some(prefix) = optional(prefix)? {
        let within = Range::prefix(&prefix);
        range.from = range.from.max(within.from);
        range.to = match (range.to, within.to) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }
    Ok(range)
}

fn series_of(name: VALUE, bucket: VALUE) -> Result<Series, Raise> {
    let name = word(name).ok_or_else(|| ruby::type_error("a series has a name"))?;
    let bucket = integer_of(bucket).and_then(|bucket| u64::try_from(bucket).ok());
    let bucket = std::time::Duration::from_nanos(bucket.unwrap_or(0));
    Series::new(&name, bucket).map_err(|error| ruby::argument_error(&error.to_string()))
}

fn time_of(value: VALUE) -> Result<i64, Raise> {
    let beyond =
        || ruby::argument_error("found a time outside the range of a series, 1677 to 2262");
    if ruby::small_integer(value).is_none() && !ruby::is_integer(value) {
        return Err(ruby::type_error("a time of a series is an Integer of nanoseconds"));
    }
    integer_of(value).ok_or_else(beyond)
}

/// Returns an Integer, if it fits.
fn integer_of(value: VALUE) -> Option<i64> {
    if let Some(number) = ruby::small_integer(value) {
        return Some(number);
    }
    let (negative, magnitude) = ruby::is_integer(value).then(|| ruby::big_parts(value))?;
    let mut bytes = [0; 8];
    bytes.get_mut(..magnitude.len())?.copy_from_slice(&magnitude);
    let number = i128::from(u64::from_le_bytes(bytes));
    i64::try_from(if negative { -number } else { number }).ok()
}

/// `Native.series_key(name, bucket in nanoseconds, time in nanoseconds)`.
pub fn series_key(arguments: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let &[name, bucket, time] = arguments else {
        return Err(ruby::argument_error("series_key takes a name, a bucket and a time"));
    };
    Ok(ruby::binary(&series_of(name, bucket)?.key(time_of(time)?)))
}

/// `Native.series_time(name, bucket, key)`: the time in a key, or `nil`.
pub fn series_time(arguments: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let &[name, bucket, key] = arguments else {
        return Err(ruby::argument_error("series_time takes a name, a bucket and a key"));
    };
    let time = series_of(name, bucket)?.time(&key_bytes(key)?);
    Ok(time.map_or(NIL, ruby::integer))
}

/// `Native.series_range(name, bucket)`: the first key of a series, and the first after it.
pub fn series_range(arguments: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let &[name, bucket] = arguments else {
        return Err(ruby::argument_error("series_range takes a name and a bucket"));
    };
    let range = series_of(name, bucket)?.whole();
    let from = range.from.map_or(NIL, |key| ruby::binary(&key));
    let to = range.to.map_or(NIL, |key| ruby::binary(&key));
    ruby::keep(from);
    Ok(ruby::array(&[from, to]))
}
