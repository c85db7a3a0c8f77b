//! Imports whole files into a collection, and exports a collection to a file.

use std::collections::HashSet;
use std::fmt::Display;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::{self, Read};

use regauge::convert::Options;
use regauge::documents::Documents;
use regauge::output::Output as _;
use regauge::values::{self, Anchors, Values};
use regauge::{Format, Value};
use regauge_store::engine::Pair;
use regauge_store::series::{Buckets, parse_time, time_text};
use regauge_store::{Error, Store, Walk, shown};

use super::args::{Keys, Policy};
use super::key_path::{KeyPath, member};
use super::{all_good, failure, name, range};
use crate::failure::{Failure, Result, complain};
use crate::input::Source;
use crate::output::{Destination, Outlet};
use crate::report::print;
use regauge_packing::files::Compression;

/// Documents that are stored in one transaction.
const BATCH: usize = 500;
/// A batch is stored early once it has this many bytes of documents.
const BATCH_BYTES: usize = 8 << 20;

/// How many keys of an import are compared with each other: less than 20 MB of memory.
const COMPARED_MAX: usize = 1 << 20;

/// Stores every document of a file, or adds them to a series, keyed by time; prints how many, and
/// says which replaced others. What was stored before an error stays, and is reported.
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
    let mut import =
        Import { store, source, key, series, options, format, tally: Tally::default() };
    let ran = import.walk();
    source.finish_progress();
    let ran = match ran {
        Ok(()) => import.put(),
        Err(failure) => import.put().and(Err(failure)),
    };
    import.report(&ran)?;
    ran
}

/// An import that runs.
struct Import<'i> {
    store: &'i mut Store,
    source: &'i Source,
    key: Option<&'i KeyPath>,
    series: Option<(&'i str, Option<Buckets>)>,
    options: Options,
    format: Format,
    tally: Tally,
}

/// What an import has read and stored.
#[derive(Default)]
struct Tally {
    batch: Vec<(Vec<u8>, Vec<u8>)>,
    batch_bytes: usize,
    read: u64,
    stored: u64,
    /// Hashes of the first keys.
    keys: HashSet<u64>,
    repeated: u64,
    /// The first document whose key an earlier one had, and the key.
    first_repeated: Option<(u64, String)>,
}

impl Import<'_> {
    fn walk(&mut self) -> Result {
        let source = self.source;
        let again = || -> io::Result<Box<dyn Read + Send>> { source.again() };
        let bad = |error| Failure::data(&source.name, error);
        let mut documents = Values::open(source.input(&again), &self.options).map_err(bad)?;
        while let Some(value) = documents.next().map_err(bad)? {
            let anchors = Anchors::of(&value);
            match &value {
                // A JSON file that is one array is a file of documents.
                Value::Array(items) if source.format == Format::Json => {
                    items.iter().try_for_each(|item| self.take(item, &anchors))?;
                }
                other => self.take(other, &anchors)?,
            }
        }
        Ok(())
    }

    /// Takes a document into the batch, and stores that when it is full.
    fn take(&mut self, document: &Value, anchors: &Anchors<'_>) -> Result {
        let tally = &mut self.tally;
        tally.read += 1;
        let default = if self.series.is_some() { "time" } else { "key" };
        let wrong = |why: &dyn Display| {
            Failure::Io(format!("{}: document {}: {why}", self.source.name, tally.read))
        };
        let (mut key, value) = keyed(document, self.key, default).map_err(|why| wrong(&why))?;
        if self.series.is_some() {
            // One time may be written in several ways.
            let time = parse_time(&String::from_utf8_lossy(&key)).map_err(|error| wrong(&error))?;
            key = time_text(time).into_bytes();
        }
        let cut = anchors.cut_out(value, &self.options.limits);
        let document = cut
            .and_then(|value| encoded(&value, self.format, &self.options))
            .map_err(|error| Failure::data(&self.source.name, error.in_record(tally.read)))?;
        tally.compare(&key);
        tally.batch_bytes += document.len();
        tally.batch.push((key, document));
        match tally.batch.len() < BATCH && tally.batch_bytes < BATCH_BYTES {
            true => Ok(()),
            false => self.put(),
        }
    }

    /// Stores the batch.
    fn put(&mut self) -> Result {
        self.tally.batch_bytes = 0;
        let batch = std::mem::take(&mut self.tally.batch);
        match self.series {
            Some(series) => put_slices(self.store, series, &batch, self.format),
            None => {
                let documents: Vec<(&[u8], Option<&[u8]>)> =
                    batch.iter().map(|(key, one)| (&key[..], Some(&one[..]))).collect();
                self.store.put_many(&documents, self.format)
            }
        }
        .map_err(failure)?;
        self.tally.stored += batch.len() as u64;
        Ok(())
    }

    fn report(&self, ran: &Result) -> Result {
        let tally = &self.tally;
        let stored = match tally.stored {
            1 => "1 document was stored".to_owned(),
            count => format!("{count} documents were stored"),
        };
        match ran {
            Ok(()) => print(format!("{stored}\n").as_bytes())?,
            Err(_) => complain(format_args!("{stored}; the import ends with an error:")),
        }
        let Some((number, key)) = &tally.first_repeated else { return Ok(()) };
        let which = match tally.read > COMPARED_MAX as u64 {
            true => format!(" (compared with the first {COMPARED_MAX} keys)"),
            false => String::new(),
        };
        complain(format_args!(
            "{} of them replaced an earlier one of the file with the same key{which}; the first is \
             document {number}, key {key}",
            tally.repeated
        ));
        Ok(())
    }
}

impl Tally {
    /// Notes a key that an earlier document had.
    fn compare(&mut self, key: &[u8]) {
        let mut hasher = DefaultHasher::new();
        hasher.write(key);
        let hash = hasher.finish();
        let is_new = match self.keys.len() < COMPARED_MAX {
            true => self.keys.insert(hash),
            false => !self.keys.contains(&hash),
        };
        if !is_new {
            self.repeated += 1;
            self.first_repeated.get_or_insert_with(|| (self.read, shown(key)));
        }
    }
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
/// document, or its only members, `default` and `value`.
fn keyed<'d>(
    document: &'d Value,
    key: Option<&KeyPath>,
    default: &str,
) -> std::result::Result<(Vec<u8>, &'d Value), String> {
    if let Some(key) = key {
        return Ok((key.find(document)?, document));
    }
    let key = KeyPath::of_member(default);
    let bytes = key
        .find(document)
        .map_err(|why| format!("{why}; name the member that holds the key with --key"))?;
    let value = member(document, "value").ok_or("found no member value")?;
    match unexpected(document, [default, "value"]) {
        Some(found) => Err(format!(
            "found {found}, expected only {default} and value; pass --key {default} to store whole \
             documents"
        )),
        None => Ok((bytes, value)),
    }
}

/// Returns a description of the first member that is not one of these, or repeats one.
fn unexpected(document: &Value, names: [&str; 2]) -> Option<String> {
    let Value::Map(members) = document else { return None };
    members.iter().enumerate().find_map(|(index, (name, _))| {
        let shown = name.as_str().map_or_else(|| name.to_string(), str::to_owned);
        if !name.as_str().is_some_and(|name| names.contains(&name)) {
            return Some(format!("the member {shown}"));
        }
        let is_repeated = members[..index].iter().any(|(other, _)| other == name);
        is_repeated.then(|| format!("the member {shown} twice"))
    })
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
