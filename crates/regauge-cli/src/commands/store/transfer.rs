//! Whole files into a collection, and a collection into a file.

use std::io::{self, Read};

use regauge::convert::{Input, Options};
use regauge::documents::Documents;
use regauge::output::Output as _;
use regauge::values::{self, Values};
use regauge::{Format, Value};
use regauge_store::Store;

use super::args::Keys;
use super::{failure, range};
use crate::compress::Compression;
use crate::failure::{Failure, Result, complain};
use crate::input::Source;
use crate::output::Destination;

/// Documents that are put in one transaction.
const BATCH: usize = 500;

/// Puts every document of a file. What was put before an error stays, and is told.
pub fn import(store: &mut Store, source: &Source, key: Option<&str>) -> Result {
    let mut options = Options::new(source.format, source.format);
    options.on_loss = store.on_loss;
    let format = store.settings().codec.format;
    let mut batch: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    let mut count = 0;
    let mut put = |store: &mut Store, batch: &mut Vec<(Vec<u8>, Vec<u8>)>| {
        let documents: Vec<(&[u8], Option<&[u8]>)> =
            batch.iter().map(|(key, one)| (&key[..], Some(&one[..]))).collect();
        let done = store.put_many(&documents, format).map_err(failure);
        if done.is_ok() {
            count += batch.len() as u64;
        }
        batch.clear();
        done
    };
    let mut number = 0_u64;
    let mut one = |value: Value| -> Result {
        number += 1;
        let (key, value) = keyed(value, key)
            .map_err(|why| Failure::Value(format!("{}: document {number}: {why}", source.name)))?;
        let document = encoded(&value, format, &options)
            .map_err(|error| Failure::data(&source.name, error.in_record(number)))?;
        batch.push((key, document));
        if batch.len() >= BATCH { put(store, &mut batch) } else { Ok(()) }
    };
    let again = || -> io::Result<Box<dyn Read + Send>> { source.again() };
    let input = match source.can_repeat() {
        true => Input::Again(&again),
        false => Input::Once(source.take()),
    };
    let bad = |error| Failure::data(&source.name, error);
    let walk = || -> Result {
        let mut documents = Values::open(input, &options).map_err(bad)?;
        while let Some(value) = documents.next().map_err(bad)? {
            match value {
                // A file of JSON that is one array is a file of documents.
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
        complain(format_args!("{count} documents were put before that, and stay"));
    }
    ran
}

/// A document as its key and its value.
fn keyed(document: Value, key: Option<&str>) -> std::result::Result<(Vec<u8>, Value), String> {
    let Value::Map(members) = &document else {
        return Err(format!("found {}, expected a map that holds the key", document.type_name()));
    };
    let member = |name: &str| {
        let is = |one: &Value| matches!(one, Value::Text(text) if text == name);
        members.iter().find(|(key, _)| is(key)).map(|(_, value)| value)
    };
    let name = key.unwrap_or("key");
    let bytes = match member(name) {
        Some(Value::Text(text)) => text.clone().into_bytes(),
        Some(Value::Bytes(bytes)) => bytes.clone(),
        Some(Value::Int(number)) => number.to_string().into_bytes(),
        Some(Value::UInt(number)) => number.to_string().into_bytes(),
        Some(other) => {
            return Err(format!(
                "member {name} is {}, expected text, bytes or a whole number",
                other.type_name()
            ));
        }
        None if key.is_none() => {
            return Err("found no member key; say with --key which one holds it".to_owned());
        }
        None => return Err(format!("found no member {name}, which holds the key")),
    };
    match key {
        Some(_) => Ok((bytes, document)),
        None => {
            let value = member("value").cloned();
            value.map(|value| (bytes, value)).ok_or_else(|| "found no member value".to_owned())
        }
    }
}

fn encoded(value: &Value, format: Format, options: &Options) -> regauge::Result<Vec<u8>> {
    let mut options = options.clone();
    options.to = format;
    options.documents = Documents::Keep;
    values::write_values(std::slice::from_ref(value), &options).map(|(bytes, _)| bytes)
}

/// Writes a range of a collection as a stream of documents.
pub fn export(
    store: &mut Store,
    keys: &Keys,
    destination: Destination,
    (to, compression): (Format, Option<Compression>),
    values_only: bool,
) -> Result {
    let outlet = destination.outlet(compression, None, 1);
    let mut outlet = outlet.map_err(|error| Failure::io(&destination.name, &error))?;
    // One document of JSON is an array of all.
    let (open, between, close) = match to {
        Format::Json => ("[", ",", "]\n"),
        Format::Yaml => ("", "---\n", ""),
        _ => ("", "", ""),
    };
    let mut left = keys.limit.unwrap_or(u64::MAX);
    let mut first = true;
    let mut stopped: Option<Failure> = None;
    let (range, order) = range(keys);
    let write = |outlet: &mut crate::output::Outlet, bytes: &[u8]| {
        outlet.write(bytes).map_err(|error| Failure::io(&destination.name, &error))
    };
    write(&mut outlet, open.as_bytes())?;
    let each = &mut |store: &mut Store, key: &[u8], value: &[u8]| {
        if left == 0 {
            return Ok(false);
        }
        left -= 1;
        let entry = store.unseal(key, value)?;
        let done = wrapped(store, key, entry, values_only, to).and_then(|bytes| {
            let lead = if first { "" } else { between };
            write(&mut outlet, lead.as_bytes())?;
            write(&mut outlet, &bytes)
        });
        first = false;
        stopped = done.err();
        Ok(stopped.is_none())
    };
    store.scan(&range, order, each).map_err(failure)?;
    if let Some(failure) = stopped {
        return Err(failure);
    }
    write(&mut outlet, close.as_bytes())?;
    outlet.finish().map_err(|error| Failure::io(&destination.name, &error))?;
    destination.commit()
}

/// A stored document in the stream's format, with its key around it.
fn wrapped(
    store: &Store,
    key: &[u8],
    entry: regauge_store::Entry,
    values_only: bool,
    to: Format,
) -> Result<Vec<u8>> {
    let shown = regauge_store::shown(key);
    let bad = |error| Failure::data(&format!("key {shown}"), error);
    let mut options = Options::new(entry.codec.format, to);
    options.on_loss = store.on_loss;
    options.documents = Documents::Keep;
    let mut read = values::read_values(&entry.document, &options).map_err(bad)?;
    let value = match (read.pop(), read.is_empty()) {
        (Some(value), true) => value,
        _ => return Err(Failure::Value(format!("key {shown}: expected one document"))),
    };
    let value = match values_only {
        true => value,
        false => {
            let key = match String::from_utf8(key.to_vec()) {
                Ok(text) => Value::Text(text),
                Err(error) => Value::Bytes(error.into_bytes()),
            };
            let name = |name: &str| Value::Text(name.to_owned());
            Value::Map(vec![(name("key"), key), (name("value"), value)])
        }
    };
    let (bytes, _) = values::write_values(&[value], &options).map_err(bad)?;
    Ok(bytes)
}
