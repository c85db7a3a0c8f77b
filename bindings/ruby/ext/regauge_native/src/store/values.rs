//! Documents in and out: encodes and decodes objects with the codecs here.

use std::sync::Arc;

use regauge::{Error, Format};
use regauge_store::{Entry, Store};

use super::failure::{at_key, exception_of};
use super::{Opened, key_bytes, opened};
use crate::convert::{format_of, table};
use crate::dump::document_bytes;
use crate::errors::{Phase, exception};
use crate::load::load_bytes;
use crate::marshal_dump;
use crate::names::names;
use crate::options::Settings;
use crate::ruby::{self, NIL, Raise, VALUE};

/// A prepared change: a document, or `None` to delete.
type Change = (Vec<u8>, Option<Vec<u8>>);

impl Opened {
    /// Accesses the collection without the GVL.
    pub(super) fn ask<R: Send>(
        &self,
        phase: Phase,
        act: impl FnOnce(&mut Store) -> regauge_store::Result<R> + Send,
    ) -> Result<R, Raise> {
        let shared = &self.shared;
        let answer = ruby::without_lock(|| act(&mut shared.lock()))?;
        answer.map_err(|error| exception_of(error, phase))
    }

    pub(super) fn format(&self) -> Format {
        self.settings.core.to
    }

    /// Encodes the object as a document in the collection's format.
    fn document(&self, key: &[u8], object: VALUE) -> Result<Vec<u8>, Raise> {
        let format = self.format();
        let document = match format {
            Format::Marshal => {
                let string = marshal_dump::dump(object)?;
                let bytes = ruby::bytes_of(string).to_vec();
                ruby::keep(string);
                Ok(bytes)
            }
            format if format.is_marc() => record_bytes(object, format),
            _ => document_bytes(object, &self.settings, Vec::new()),
        };
        document.map_err(|raise| at_key(raise, key))
    }

    /// Returns the object of a document.
    pub(super) fn object(&self, key: &[u8], entry: &Entry) -> Result<VALUE, Raise> {
        let format = entry.codec.format;
        let object = if format.is_marc() {
            let string = ruby::output(&entry.document, format.is_text());
            ruby::call(codec_module(format)?, names().id_load, &[string]).map_err(Raise::from)
        } else if format == self.format() {
            load_bytes(&entry.document, &self.settings)
        } else {
            // A value in another codec: one not yet re-encoded, or no longer.
            load_bytes(&entry.document, &Settings::storing(format, self.options)?)
        };
        object.map_err(|raise| at_key(raise, key))
    }
}

fn codec_module(format: Format) -> Result<VALUE, Raise> {
    let names = names();
    Ok(ruby::call(names.regauge, names.id_codec, &[ruby::symbol(format.name())])?)
}

fn record_bytes(object: VALUE, format: Format) -> Result<Vec<u8>, Raise> {
    if ruby::kind_of(object) == rb_sys::ruby_value_type::RUBY_T_ARRAY {
        let error = Error::unrepresentable("found an array, expected one record");
        return Err(exception(&error.in_format(format), Phase::Encode));
    }
    let string = ruby::call(codec_module(format)?, names().id_own_dump, &[object])?;
    let bytes = ruby::bytes_of(string);
    let bytes = if format.is_json() { bytes.trim_ascii_end() } else { bytes }.to_vec();
    ruby::keep(string);
    Ok(bytes)
}

/// `store.put(key, object)`.
pub fn put(arguments: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let &[key, object] = arguments else {
        return Err(ruby::argument_error("put takes a key and an object"));
    };
    let (key, store) = (key_bytes(key)?, opened(receiver)?);
    let (document, format) = (store.document(&key, object)?, store.format());
    store.ask(Phase::Encode, |store| store.put_written(&key, &document, format))?;
    ruby::keep(receiver);
    Ok(object)
}

/// `store.put_many([key, object, key, object, …])`: the store itself instead of an object deletes.
/// All or nothing, if the engine supports that.
pub fn put_many(arguments: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let &[list] = arguments else {
        return Err(ruby::argument_error("put_many takes an array of keys and objects"));
    };
    if ruby::kind_of(list) != rb_sys::ruby_value_type::RUBY_T_ARRAY {
        return Err(ruby::type_error("put_many takes an array of keys and objects"));
    }
    let store = opened(receiver)?;
    let mut changes: Vec<Change> = Vec::with_capacity(ruby::array_length(list) / 2);
    let mut index = 0;
    while let (Some(key), Some(object)) =
        (ruby::array_get(list, index), ruby::array_get(list, index + 1))
    {
        let key = key_bytes(key)?;
        let document = match object == receiver {
            true => None,
            false => Some(store.document(&key, object)?),
        };
        changes.push((key, document));
        index += 2;
    }
    let format = store.format();
    store.ask(Phase::Encode, |store| {
        let changes: Vec<_> = changes.iter().map(|(key, one)| (&key[..], one.as_deref())).collect();
        store.put_many_written(&changes, format)
    })?;
    ruby::keep(list);
    ruby::keep(receiver);
    Ok(NIL)
}

/// `store.get(key)`: the object, or the store itself if there is none.
pub fn get(arguments: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let &[key] = arguments else { return Err(ruby::argument_error("get takes a key")) };
    let (key, store) = (key_bytes(key)?, opened(receiver)?);
    let object = match store.ask(Phase::Decode, |store| store.entry(&key))? {
        Some(entry) => store.object(&key, &entry)?,
        None => receiver,
    };
    ruby::keep(receiver);
    Ok(object)
}

/// `store.get_many([key, …])`: objects in the order of the keys, the store itself for missing ones.
pub fn get_many(arguments: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let &[list] = arguments else { return Err(ruby::argument_error("get_many takes keys")) };
    if ruby::kind_of(list) != rb_sys::ruby_value_type::RUBY_T_ARRAY {
        return Err(ruby::type_error("get_many takes an array of keys"));
    }
    let store = opened(receiver)?;
    let mut keys = Vec::with_capacity(ruby::array_length(list));
    while let Some(key) = ruby::array_get(list, keys.len()) {
        keys.push(key_bytes(key)?);
    }
    let entries = store.ask(Phase::Decode, |store| {
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        store.entries(&keys)
    })?;
    let objects = ruby::array(&[]);
    for (key, entry) in keys.iter().zip(entries) {
        let object = match entry {
            Some(entry) => store.object(key, &entry)?,
            None => receiver,
        };
        ruby::array_extend(objects, &[object]);
    }
    ruby::keep(objects);
    ruby::keep(receiver);
    Ok(objects)
}

/// `store.seen(key)`: the stored bytes and the object; `nil` and the store itself if there is none.
pub fn seen(arguments: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let &[key] = arguments else { return Err(ruby::argument_error("seen takes a key")) };
    let (key, store) = (key_bytes(key)?, opened(receiver)?);
    let found = store.ask(Phase::Decode, |store| {
        let Some(stored) = store.stored(&key)? else { return Ok(None) };
        let entry = store.unseal(&key, &stored)?;
        Ok(Some((stored, entry)))
    })?;
    let pair = match found {
        Some((stored, entry)) => {
            let stored = ruby::binary(&stored);
            let object = store.object(&key, &entry)?;
            let pair = ruby::array(&[stored, object]);
            ruby::keep(stored);
            pair
        }
        None => ruby::array(&[NIL, receiver]),
    };
    ruby::keep(receiver);
    Ok(pair)
}

/// `store.swap(key, seen, object)`: puts the object, or deletes if it is the store itself, if the
/// stored bytes are still those that were seen (`nil`: if there are none). Returns whether it did.
pub fn swap(arguments: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let &[key, seen, object] = arguments else {
        return Err(ruby::argument_error("swap takes a key, what was seen and an object"));
    };
    let (key, store) = (key_bytes(key)?, opened(receiver)?);
    let seen = ruby::is_string(seen).then(|| ruby::bytes_of(seen).to_vec());
    let document = match object == receiver {
        true => None,
        false => Some(store.document(&key, object)?),
    };
    let format = store.format();
    let done = store.ask(Phase::Encode, |store| {
        store.swap_written(&key, seen.as_deref(), document.as_deref(), format)
    })?;
    ruby::keep(receiver);
    Ok(truth(done))
}

fn truth(value: bool) -> VALUE {
    if value { ruby::TRUE } else { ruby::FALSE }
}

/// `store.key?(key)`.
pub fn has_key(arguments: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let &[key] = arguments else { return Err(ruby::argument_error("key? takes a key")) };
    let (key, store) = (key_bytes(key)?, opened(receiver)?);
    store.ask(Phase::Decode, |store| store.exists(&key)).map(truth)
}

/// `store.delete(key)`: whether there was one.
pub fn delete(arguments: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let &[key] = arguments else { return Err(ruby::argument_error("delete takes a key")) };
    let (key, store) = (key_bytes(key)?, opened(receiver)?);
    store.ask(Phase::Encode, |store| store.delete(&key)).map(truth)
}

/// `store.entry(key)`: the metadata of a stored value, or `nil`.
pub fn entry(arguments: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let &[key] = arguments else { return Err(ruby::argument_error("entry takes a key")) };
    let (key, store) = (key_bytes(key)?, opened(receiver)?);
    let Some(entry) = store.ask(Phase::Decode, |store| store.entry(&key))? else {
        return Ok(NIL);
    };
    let created = entry.created.map_or(NIL, |at| ruby::time(at.into(), 0));
    ruby::keep(created);
    table(&[
        ("codec", ruby::text(&entry.codec.to_string())),
        ("created", created),
        ("stored_bytes", ruby::integer(entry.stored_bytes as i64)),
        ("document_bytes", ruby::integer(entry.document.len() as i64)),
    ])
}

/// `store.read(key, format)`: the document in a format, converted if it is stored in another; or
/// `nil`. No object is built.
pub fn read(arguments: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let &[key, format] = arguments else {
        return Err(ruby::argument_error("read takes a key and a format"));
    };
    let (key, store, format) = (key_bytes(key)?, opened(receiver)?, format_of(format)?);
    let document = store.ask(Phase::Decode, |store| store.get(&key, format))?;
    Ok(document.map_or(NIL, |document| ruby::output(&document, format.is_text())))
}

/// `store.write(key, bytes, format)`: puts a document that is in a format, converted if the
/// collection stores another.
pub fn write(arguments: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let &[key, document, format] = arguments else {
        return Err(ruby::argument_error("write takes a key, bytes and a format"));
    };
    let (key, store, format) = (key_bytes(key)?, opened(receiver)?, format_of(format)?);
    if !ruby::is_string(document) {
        return Err(ruby::type_error("write takes the bytes of a document as a String"));
    }
    let bytes = ruby::bytes_of(document).to_vec();
    store.ask(Phase::Decode, |store| store.put(&key, &bytes, format))?;
    Ok(NIL)
}

/// `store.seal(object)`: the bytes that `put` would store.
pub fn seal(arguments: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let &[object] = arguments else { return Err(ruby::argument_error("seal takes an object")) };
    let store = opened(receiver)?;
    let (document, format) = (store.document(b"", object)?, store.format());
    let value = store.ask(Phase::Encode, |store| store.seal_written(b"", &document, format))?;
    ruby::keep(receiver);
    Ok(ruby::binary(&value))
}

/// `store.unseal(bytes)`: the object of stored bytes.
pub fn unseal(arguments: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let &[stored] = arguments else { return Err(ruby::argument_error("unseal takes bytes")) };
    if !ruby::is_string(stored) {
        return Err(ruby::type_error("unseal takes the stored bytes as a String"));
    }
    let store = opened(receiver)?;
    let bytes: Arc<[u8]> = ruby::bytes_of(stored).into();
    let entry = store.ask(Phase::Decode, |store| store.unseal(b"", &bytes))?;
    let object = store.object(b"", &entry)?;
    ruby::keep(receiver);
    Ok(object)
}
