//! Imports whole files into a collection, and exports a collection to a file.

use std::io::{self, Read};

use regauge::convert::Options;
use regauge::documents::Documents;
use regauge::output::Output as _;
use regauge::values::{self, Values};
use regauge::{Format, Value};
use regauge_store::engine::Pair;
use regauge_store::series::{Buckets, parse_time};
use regauge_store::{Error, Store, Walk, shown};

use super::args::{Keys, Policy};
use super::key_path::{KeyPath, member};
use super::{all_good, failure, name, range};
use crate::failure::{Failure, Result, complain};
use crate::input::Source;
use crate::output::{Destination, Outlet};
use regauge_packing::files::Compression;

/// Documents that are stored in one transaction.
const BATCH: usize = 500;
/// A batch is stored early once it has this many bytes of documents.
const BATCH_BYTES: usize = 8 << 20;

/// Stores every document of a file, or adds them to a series, keyed by time. What was stored before
/// an error stays, and is reported.
pub fn import(
    store: &mut Store,
    source: &Source,
    key: Option<&KeyPath>,
    series: Option<(&str, Option<Buckets>)>,
    policy: Policy,
) -> Result {
    // The documents are written in the store's format here, and stored unchanged.
    let options = policy.options(source.format, source.format);
    let format = store.settings().codec.format;
    let mut batch: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    let mut count = 0;
    let mut put = |store: &mut Store, batch: &mut Vec<(Vec<u8>, Vec<u8>)>| {
        let done = match series {
            Some(series) => put_slices(store, series, batch, format),
            None => {
                let documents: Vec<(&[u8], Option<&[u8]>)> =
                    batch.iter().map(|(key, one)| (&key[..], Some(&one[..]))).collect();
                store.put_many(&documents, format)
            }
        }
        .map_err(failure);
        if done.is_ok() {
            count += batch.len() as u64;
        }
        batch.clear();
        done
    };
    let mut number = 0_u64;
    let mut bytes = 0;
    let mut one = |value: Value| -> Result {
        number += 1;
        let default = if series.is_some() { "time" } else { "key" };
        let (key, value) = keyed(value, key, default)
            .map_err(|why| Failure::Io(format!("{}: document {number}: {why}", source.name)))?;
        let document = encoded(&value, format, &options)
            .map_err(|error| Failure::data(&source.name, error.in_record(number)))?;
        bytes += document.len();
        batch.push((key, document));
        if batch.len() < BATCH && bytes < BATCH_BYTES {
            return Ok(());
        }
        bytes = 0;
        put(store, &mut batch)
    };
    let again = || -> io::Result<Box<dyn Read + Send>> { source.again() };
    let input = source.input(&again);
    let bad = |error| Failure::data(&source.name, error);
    let walk = || -> Result {
        let mut documents = Values::open(input, &options).map_err(bad)?;
        while let Some(value) = documents.next().map_err(bad)? {
            match value {
                // A JSON file that is one array is a file of documents.
                Value::Array(items) if source.format == Format::Json => {
                    items.into_iter().try_for_each(&mut one)?;
                }
                other => one(other)?,
            }
        }
        Ok(())
    };
    let ran = walk();
    source.finish_progress();
    let ran = ran.and_then(|()| put(store, &mut batch));
    if ran.is_err() {
        complain(format_args!("{count} documents were stored before that, and remain"));
    }
    ran
}

/// Stores documents in a series, keyed by time.
fn put_slices(
    store: &mut Store,
    (name, buckets): (&str, Option<Buckets>),
    batch: &[(Vec<u8>, Vec<u8>)],
    format: Format,
) -> regauge_store::Result {
    let mut slices = Vec::with_capacity(batch.len());
    for (time, document) in batch {
        slices.push((parse_time(&String::from_utf8_lossy(time))?, &document[..]));
    }
    match slices.is_empty() {
        true => Ok(()),
        false => store.put_slices(name, buckets, &slices, format).map(drop),
    }
}

/// Splits a document into its key and its value: the member that `key` names and the whole
/// document, or its members `default` and `value`.
fn keyed(
    document: Value,
    key: Option<&KeyPath>,
    default: &str,
) -> std::result::Result<(Vec<u8>, Value), String> {
    if let Some(key) = key {
        let bytes = key.find(&document)?;
        return Ok((bytes, document));
    }
    let key = KeyPath::of_member(default);
    let bytes = key
        .find(&document)
        .map_err(|why| format!("{why}; name the member that holds the key with --key"))?;
    let value = member(&document, "value").cloned();
    value.map(|value| (bytes, value)).ok_or_else(|| "found no member value".to_owned())
}

fn encoded(value: &Value, format: Format, options: &Options) -> regauge::Result<Vec<u8>> {
    let mut options = options.clone();
    options.to = format;
    options.documents = Documents::Keep;
    values::write_values(std::slice::from_ref(value), &options).map(|(bytes, _)| bytes)
}

/// Writes a range of a collection as a stream of documents. A damaged value is named and skipped.
pub fn export(
    store: &mut Store,
    keys: &Keys,
    destination: Destination,
    (to, compression): (Format, Option<Compression>),
    values_only: bool,
) -> Result {
    let (range, order) = range(store, keys)?;
    let outlet = destination.outlet(compression, None, 1);
    let mut outlet = outlet.map_err(|error| Failure::io(&destination.name, &error))?;
    let mut export = Export {
        walk: Walk::new(&range, order),
        left: keys.limit.unwrap_or(u64::MAX),
        page: Vec::new().into_iter(),
        bad: 0,
    };
    let how = How { to, values_only };
    match to.info().joined {
        Some(frame) => export.as_many(store, &mut outlet, &destination.name, how, frame)?,
        None => export.as_one(store, &mut outlet, how)?,
    }
    outlet.finish().map_err(|error| Failure::io(&destination.name, &error))?;
    destination.commit()?;
    all_good(export.bad)
}

/// How documents are written.
#[derive(Clone, Copy)]
struct How {
    to: Format,
    /// Omits their keys.
    values_only: bool,
}

/// Iterates over stored documents.
struct Export {
    walk: Walk,
    left: u64,
    page: std::vec::IntoIter<Pair>,
    /// Values that were skipped.
    bad: u64,
}

impl Export {
    /// Returns the next undamaged document, wrapped with its key.
    fn next(&mut self, store: &mut Store, how: How) -> Result<Option<(String, Value)>> {
        loop {
            if self.left == 0 {
                return Ok(None);
            }
            let Some((key, value)) = self.page.next() else {
                let page = store.next_page(&mut self.walk).map_err(failure)?;
                if page.is_empty() {
                    return Ok(None);
                }
                self.page = page.into_iter();
                continue;
            };
            self.left -= 1;
            match document(store, &key, &value, how) {
                Ok(value) => return Ok(Some((shown(&key), value))),
                Err(error @ (Error::Damaged { .. } | Error::Document { .. })) => {
                    name(&error, &mut self.bad).map_err(failure)?;
                }
                Err(other) => return Err(failure(other)),
            }
        }
    }

    /// Each document by itself, one after the other.
    fn as_many(
        &mut self,
        store: &mut Store,
        outlet: &mut Outlet,
        place: &str,
        how: How,
        [open, between, close]: [&'static str; 3],
    ) -> Result {
        let options = options(store, how.to, how.to);
        let mut write =
            |bytes: &[u8]| outlet.write(bytes).map_err(|error| Failure::io(place, &error));
        let mut lead = open;
        while let Some((key, value)) = self.next(store, how)? {
            let (bytes, _) = values::write_values(&[value], &options)
                .map_err(|error| Failure::data(&format!("key {key}"), error))?;
            write(lead.as_bytes())?;
            write(in_array(&bytes, how.to))?;
            lead = between;
        }
        if lead == open {
            write(open.as_bytes())?;
        }
        write(close.as_bytes())
    }

    /// Writes all documents as one.
    fn as_one(&mut self, store: &mut Store, outlet: &mut Outlet, how: How) -> Result {
        let options = options(store, how.to, how.to);
        let mut stopped = None;
        let mut last = String::new();
        let next = || match self.next(store, how) {
            Ok(Some((key, value))) => {
                last = key;
                Ok(Some(value))
            }
            Ok(None) => Ok(None),
            Err(failure) => {
                stopped = Some(failure);
                Ok(None)
            }
        };
        let written = values::write_each(next, outlet, &options);
        if let Some(failure) = stopped {
            return Err(failure);
        }
        written.map(|_| ()).map_err(|error| Failure::data(&format!("key {last}"), error))
    }
}

fn options(store: &Store, from: Format, to: Format) -> Options {
    let mut options = Options::new(from, to);
    (options.on_loss, options.objects) = (store.on_loss, store.objects);
    options.unwrap = store.unwrap;
    options.documents = Documents::Keep;
    options
}

/// Returns a stored document, wrapped with its key.
fn document(store: &mut Store, key: &[u8], value: &[u8], how: How) -> regauge_store::Result<Value> {
    let entry = store.unseal(key, value)?;
    let bad = |error| Error::Document { key: shown(key), error };
    let mut options = options(store, entry.codec.format, how.to);
    options.limits = store.limits;
    let mut read = values::read_values(&entry.document, &options).map_err(bad)?;
    let value = match (read.pop(), read.is_empty()) {
        (Some(value), true) => value,
        _ => {
            let reason = "expected one document".to_owned();
            return Err(Error::Damaged { key: shown(key), reason });
        }
    };
    if how.values_only {
        return Ok(value);
    }
    let key = match String::from_utf8(key.to_vec()) {
        Ok(text) => Value::Text(text),
        Err(error) => Value::Bytes(error.into_bytes()),
    };
    let name = |name: &str| Value::Text(name.to_owned());
    Ok(Value::Map(vec![(name("key"), key), (name("value"), value)]))
}

/// Trims a written document for its place among others: within a JSON array, no newline follows it.
pub(super) fn in_array(document: &[u8], to: Format) -> &[u8] {
    match to {
        Format::Json => document.strip_suffix(b"\n").unwrap_or(document),
        _ => document,
    }
}
