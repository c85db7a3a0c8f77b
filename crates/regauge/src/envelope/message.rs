//! Messages of Celery and jobs of Sidekiq: JSON documents that carry another one.
//!
//! Read from kombu 5.7.0 (`kombu/transport/virtual/base.py`, `kombu/serialization.py`, `kombu/compression.py`),
//! Celery 5.7.0 (protocol 2, `celery/app/amqp.py`) and Sidekiq 6.5.12 (`lib/sidekiq/job_util.rb`).
//!
//! A message of Celery is a map of `body`, `content-type`, `content-encoding`, `headers` and `properties`; the
//! body is base64 of the task's `[args, kwargs, embed]` in the format of the content type. A job of Sidekiq is
//! a map of `class`, `args`, `jid` and more; inside are the arguments. If it carries [a job of Active
//! Job](super::active_job), which is its only argument then, that job is inside.
//!
//! Any JSON document may have such keys, so neither is certain.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem;

use super::packing::Packing;
use super::{Fact, Inside, LOOK_BYTES, Row, Taken, Tools, active_job, django};
use crate::model::format::Format;
use crate::model::limits::Limits;
use crate::model::value::Value;
use crate::sinks::memory::{read_values, write_values};
use crate::{Error, ErrorKind, Options, Result};

/// A message of Celery, as kombu puts it into Redis and other stores that are no brokers.
pub(super) const CELERY: Row = Row {
    name: "celery-message",
    title: "a message of Celery",
    is_certain: false,
    looks_like: &[Some(Format::Json)],
    holds: &[Format::Json, Format::Pickle, Format::Msgpack, Format::Yaml],
    looks: |bytes, is_whole| has_keys(bytes, is_whole, &["body", "content-type", "properties"]),
    open: open_celery,
    close: Some(close_celery),
};

/// A job of Sidekiq.
pub(super) const SIDEKIQ: Row = Row {
    name: "sidekiq-job",
    title: "a job of Sidekiq",
    is_certain: false,
    looks_like: &[Some(Format::Json)],
    holds: &[Format::Json],
    looks: |bytes, is_whole| has_keys(bytes, is_whole, &["class", "args", "jid"]),
    open: open_sidekiq,
    close: Some(close_sidekiq),
};

/// The content types that kombu registers, and how the body of each is encoded.
const CONTENT_TYPES: [(&str, Format, &str); 4] = [
    ("application/json", Format::Json, "utf-8"),
    ("application/x-python-serialize", Format::Pickle, "binary"),
    ("application/x-msgpack", Format::Msgpack, "binary"),
    ("application/x-yaml", Format::Yaml, "utf-8"),
];

/// What kombu calls zlib, and zstd.
const COMPRESSIONS: [(&str, Packing); 2] =
    [("application/x-gzip", Packing::Zlib), ("application/zstd", Packing::Zstd)];

fn options(limits: &Limits) -> Options {
    let mut options = Options::new(Format::Json, Format::Json);
    options.limits = *limits;
    // What is put back has the digits that it had.
    options.json_read.exact_numbers = true;
    options
}

/// Whether all of a JSON document is here, and is a map with these keys.
pub(super) fn has_keys(bytes: &[u8], is_whole: bool, keys: &[&str]) -> bool {
    let is_map =
        is_whole && bytes.len() <= LOOK_BYTES && bytes.trim_ascii_start().starts_with(b"{");
    // Looking for text is cheaper than reading.
    let is_there = |key: &&str| memmem::find(bytes, key.as_bytes()).is_some();
    is_map && keys.iter().all(is_there) && names_keys(bytes, keys)
}

/// Returns whether a map of JSON has these keys, as frameworks write them: without escapes. Looks only at brackets and
/// strings, because opening the envelope reads all of it anyway.
fn names_keys(bytes: &[u8], keys: &[&str]) -> bool {
    let bytes = bytes.trim_ascii();
    let (mut depth, mut found, mut at) = (0_usize, vec![false; keys.len()], 0);
    while let Some(byte) = bytes.get(at) {
        // A second document is no part of the message.
        if at > 0 && depth == 0 {
            return false;
        }
        at += 1;
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let Some(length) = string_bytes(&bytes[at..]) else { return false };
                let name = &bytes[at..at + length];
                at += length + 1;
                let is_key = depth == 1 && bytes[at..].trim_ascii_start().starts_with(b":");
                if let Some(key) = keys.iter().position(|key| is_key && key.as_bytes() == name) {
                    found[key] = true;
                }
            }
            _ => {}
        }
    }
    depth == 0 && found.iter().all(|found| *found)
}

/// Returns how many bytes there are before the quotation mark that ends a string.
fn string_bytes(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'"', b'\\', &bytes[at..])?;
        match bytes[at] {
            b'"' => return Some(at),
            _ if at + 2 > bytes.len() => return None,
            _ => at += 2,
        }
    }
}

/// A map of JSON.
pub(super) struct Message(Vec<(Value, Value)>);

pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<Message> {
    match value(bytes, limits)? {
        Value::Map(pairs) => Ok(Message(pairs)),
        other => Err(Error::syntax(format!("found {}, expected a map", other.type_name()))),
    }
}

/// Returns the only document of JSON in `bytes`.
pub(super) fn value(bytes: &[u8], limits: &Limits) -> Result<Value> {
    let mut values = read_values(bytes, &options(limits))?;
    match values.len() {
        1 => Ok(values.remove(0)),
        others => Err(super::entry::not_single(others)),
    }
}

impl Message {
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        get(&self.0, key)
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Value::as_str)
    }

    fn under(&self, map: &str, key: &str) -> Option<&str> {
        let Some(Value::Map(pairs)) = self.get(map) else { return None };
        get(pairs, key).and_then(Value::as_str)
    }

    fn set(&mut self, key: &str, value: Value) {
        match self.0.iter_mut().rev().find(|(name, _)| name.as_str() == Some(key)) {
            Some((_, place)) => *place = value,
            None => self.0.push((Value::from(key), value)),
        }
    }

    fn write(self, limits: &Limits) -> Result<Vec<u8>> {
        json(&Value::Map(self.0), limits)
    }

    /// Returns what text there is at these keys, each under the name of its fact.
    pub(super) fn facts(&self, names: &[(&'static str, &str)]) -> Vec<Fact> {
        let fact = |(name, key): &(&'static str, &str)| Some(Fact::text(name, self.text(key)?));
        names.iter().filter_map(fact).collect()
    }

    /// Returns the arguments at a key, an array.
    pub(super) fn arguments(&self, key: &str, limits: &Limits) -> Result<Vec<u8>> {
        match self.get(key) {
            Some(arguments @ Value::Array(_)) => json(arguments, limits),
            other => {
                let found = other.map_or("nothing", Value::type_name);
                Err(Error::syntax(format!("found {found} as {key}, expected an array")))
            }
        }
    }

    /// Returns the message with other arguments at a key.
    pub(super) fn with_arguments(
        mut self,
        key: &str,
        arguments: &[u8],
        limits: &Limits,
    ) -> Result<Vec<u8>> {
        match value(arguments, limits)? {
            arguments @ Value::Array(_) => self.set(key, arguments),
            other => return Err(not_put(&other, key, "an array")),
        }
        self.write(limits)
    }
}

#[cold]
fn not_put(found: &Value, key: &str, expected: &str) -> Error {
    let found = found.type_name();
    let message = format!("found {found} to put into {key}, expected {expected}");
    Error::new(ErrorKind::Refused, message)
}

/// Returns the value at a key; of several, the last one, as the JSON of Ruby and of Python has it.
pub(super) fn get<'v>(pairs: &'v [(Value, Value)], key: &str) -> Option<&'v Value> {
    pairs.iter().rev().find(|(name, _)| name.as_str() == Some(key)).map(|(_, value)| value)
}

/// Returns the value in JSON, without a line end.
pub(super) fn json(value: &Value, limits: &Limits) -> Result<Vec<u8>> {
    let (mut bytes, _) = write_values(std::slice::from_ref(value), &options(limits))?;
    while bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    Ok(bytes)
}

/// Returns text at a key of a message.
fn required<'m>(message: &'m Message, key: &str) -> Result<&'m str> {
    message.text(key).ok_or_else(|| {
        let found = message.get(key).map_or("nothing", Value::type_name);
        Error::syntax(format!("found {found} as {key}, expected text"))
    })
}

fn packing_of(message: &Message) -> Result<Option<Packing>> {
    let Some(name) = message.under("headers", "compression") else { return Ok(None) };
    match COMPRESSIONS.iter().find(|(known, _)| *known == name) {
        Some((_, packing)) => Ok(Some(*packing)),
        None => {
            let name = name.escape_debug();
            let message = format!("found the compression {name}, expected zlib or zstd");
            Err(Error::new(ErrorKind::Unsupported, message))
        }
    }
}

fn open_celery(bytes: &[u8], tools: &Tools<'_>) -> Result<Taken> {
    let message = read(bytes, tools.limits)?;
    let body = required(&message, "body")?;
    let content_type = required(&message, "content-type")?;
    let mut steps = Vec::new();
    let mut bytes = match message.under("properties", "body_encoding") {
        Some("base64") => {
            steps.push("base64");
            STANDARD.decode(body).map_err(|error| django::not_base64(&error))?
        }
        _ => body.as_bytes().to_vec(),
    };
    if let Some(packing) = packing_of(&message)? {
        steps.push(packing.name());
        bytes = tools.packer.unpack(packing, &bytes, tools.limits)?;
    }
    let known = CONTENT_TYPES.iter().find(|(name, ..)| *name == content_type);
    let Some((_, format, _)) = known else {
        let found = content_type.escape_debug();
        let expected: Vec<_> = CONTENT_TYPES.iter().map(|(name, ..)| *name).collect();
        let message = format!("found the content type {found}, expected {}", expected.join(", "));
        return Err(Error::new(ErrorKind::Unsupported, message));
    };
    let facts =
        [("task", message.under("headers", "task")), ("id", message.under("headers", "id"))];
    let facts = facts.into_iter().filter_map(|(name, text)| Some(Fact::text(name, text?)));
    let facts = facts.chain([Fact::text("content type", content_type)]).collect();
    Ok(Taken { facts, steps, format: *format, bytes, is_checked: false })
}

fn close_celery(around: &[u8], inside: &Inside<'_>, tools: &Tools<'_>) -> Result<Vec<u8>> {
    let mut message = read(around, tools.limits)?;
    let mut body = inside.bytes.to_vec();
    if let Some(packing) = packing_of(&message)? {
        body = tools.packer.pack(packing, &body)?;
    }
    let Some((name, _, encoding)) = CONTENT_TYPES.iter().find(|(_, of, _)| *of == inside.format)
    else {
        return Err(Error::new(ErrorKind::Refused, "found a format without a content type"));
    };
    message.set("body", Value::from(STANDARD.encode(body)));
    message.set("content-encoding", Value::from(*encoding));
    message.set("content-type", Value::from(*name));
    let properties = message.0.iter_mut().find(|(key, _)| key.as_str() == Some("properties"));
    let Some((_, Value::Map(properties))) = properties else {
        return Err(Error::syntax("found no map as properties, expected one with body_encoding"));
    };
    properties.retain(|(key, _)| key.as_str() != Some("body_encoding"));
    properties.push((Value::from("body_encoding"), Value::from("base64")));
    message.write(tools.limits)
}

/// Returns the job of Active Job that a job of Sidekiq carries; `None` if it is one of Sidekiq's own.
fn carried(message: &Message) -> Option<&Value> {
    message.text("wrapped")?;
    let Some(Value::Array(arguments)) = message.get("args") else { return None };
    let [job] = arguments.as_slice() else { return None };
    active_job::is_job(job).then_some(job)
}

fn open_sidekiq(bytes: &[u8], tools: &Tools<'_>) -> Result<Taken> {
    let message = read(bytes, tools.limits)?;
    let facts = message.facts(&[("class", "class"), ("job", "jid"), ("queue", "queue")]);
    let bytes = match carried(&message) {
        Some(job) => json(job, tools.limits)?,
        None => message.arguments("args", tools.limits)?,
    };
    Ok(Taken { facts, steps: Vec::new(), format: Format::Json, bytes, is_checked: false })
}

fn close_sidekiq(around: &[u8], inside: &Inside<'_>, tools: &Tools<'_>) -> Result<Vec<u8>> {
    let mut message = read(around, tools.limits)?;
    if carried(&message).is_none() {
        return message.with_arguments("args", inside.bytes, tools.limits);
    }
    match value(inside.bytes, tools.limits)? {
        job @ Value::Map(_) => message.set("args", Value::Array(vec![job])),
        other => return Err(not_put(&other, "args", "a job of Active Job")),
    }
    message.write(tools.limits)
}
