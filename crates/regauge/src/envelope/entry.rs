//! Entries of Rails.cache as an object of Marshal: up to 6.1, and in 7.0 and 7.1 with the format of 6.1.
//!
//! Read from `ActiveSupport::Cache::Entry` of Rails 6.1.7.10 (`cache.rb`), 7.0.10 (`cache.rb`, `Rails61Coder`) and
//! 7.1.6 (`entry.rb`). The object has `@value`, `@version`, `@created_at` and `@expires_in`, seconds after
//! `@created_at`, which is 0.0 since 7.0. If it has `@compressed`, `@value` is the zlib of the value's Marshal.
//! `@s`, the size of the value once it was asked for, is ignored.

use std::collections::HashMap;

use super::packing::{self, Packing};
use super::{Fact, Inside, Row, Taken, Tools};
use crate::model::format::Format;
use crate::model::value::Value;
use crate::sinks::memory::{read_values, write_values};
use crate::{Error, ErrorKind, Options, Result};

/// The object.
pub(super) const ENTRY: Row = Row {
    name: "rails-cache-6.1",
    title: "Rails.cache 6.1",
    // It is Marshal.
    is_certain: false,
    looks_like: &[Some(Format::Marshal)],
    holds: &[Format::Marshal],
    looks: |bytes, _| bytes.starts_with(HEAD),
    open,
    close: Some(close),
};

/// The version, an object, and the symbol of 27 bytes that is its class.
const HEAD: &[u8] = b"\x04\x08o:\x20ActiveSupport::Cache::Entry";

/// Options that keep everything that Marshal carries.
fn options(tools: &Tools<'_>) -> Options {
    let mut options = Options::new(Format::Marshal, Format::Marshal);
    options.limits = *tools.limits;
    options.identity = true;
    options
}

/// Returns the only document of Marshal in `bytes`.
pub(super) fn read(bytes: &[u8], tools: &Tools<'_>) -> Result<Value> {
    let mut values = read_values(bytes, &options(tools))?;
    match values.len() {
        1 => Ok(without_shared_floats(values.remove(0))),
        others => Err(not_single(others)),
    }
}

/// Puts each float where it is referred to: Ruby writes equal ones once, wherever they stand, and they have no identity.
fn without_shared_floats(mut value: Value) -> Value {
    let mut floats = HashMap::new();
    let mut left = vec![&mut value];
    // An anchor comes before its aliases.
    while let Some(value) = left.pop() {
        match value {
            Value::Anchor(id, inside) if matches!(**inside, Value::F64(_)) => {
                let (id, float) = (*id, std::mem::replace(&mut **inside, Value::Null));
                floats.insert(id, float.clone());
                *value = float;
            }
            Value::Anchor(_, inside) => left.push(inside),
            Value::Alias(id) => {
                if let Some(float) = floats.get(id) {
                    *value = float.clone();
                }
            }
            Value::Typed(_, inside) => left.push(inside),
            Value::Array(items) => left.extend(items.iter_mut().rev()),
            Value::Map(pairs) => {
                left.extend(pairs.iter_mut().rev().flat_map(|(key, value)| [value, key]));
            }
            _ => {}
        }
    }
    value
}

/// Returns the value in Marshal.
pub(super) fn write(value: Value, tools: &Tools<'_>) -> Result<Vec<u8>> {
    Ok(write_values(&[value], &options(tools))?.0)
}

/// Returns the only document of what an envelope is made around.
pub(super) fn single(inside: &Inside<'_>, tools: &Tools<'_>) -> Result<Value> {
    read(inside.bytes, tools)
}

/// Checks that an envelope is made around one document of Marshal.
pub(super) fn check_single(inside: &Inside<'_>, tools: &Tools<'_>) -> Result {
    match inside.format {
        Format::Marshal => single(inside, tools).map(drop),
        _ => Ok(()),
    }
}

#[cold]
pub(super) fn not_single(found: usize) -> Error {
    Error::new(ErrorKind::Refused, format!("found {found} documents, expected one value"))
}

/// Refuses to put another value beside fields that share objects with the value before, or with one another:
/// their references would be to something else.
pub(super) fn check_unshared<'v>(fields: impl Iterator<Item = &'v Value>) -> Result {
    match fields.into_iter().any(has_references) {
        false => Ok(()),
        true => {
            let message =
                "found an entry that shares an object between its value and its other fields";
            Err(Error::new(ErrorKind::Refused, message))
        }
    }
}

fn has_references(value: &Value) -> bool {
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            Value::Anchor(..) | Value::Alias(_) => return true,
            Value::Typed(_, inside) => left.push(inside),
            Value::Array(items) => left.extend(items),
            Value::Map(pairs) => left.extend(pairs.iter().flat_map(|(key, value)| [key, value])),
            _ => {}
        }
    }
    false
}

/// Returns what an entry says of its value.
pub(super) fn facts(expires: Option<Value>, version: Option<Value>) -> Vec<Fact> {
    let expires = expires.and_then(|at| seconds(&at)).map(|at| Fact::seconds("expires", at));
    let version = version.filter(|version| !version.is_null());
    let version = version.map(|version| Fact { name: "version", value: version.untyped().clone() });
    expires.into_iter().chain(version).collect()
}

fn seconds(value: &Value) -> Option<f64> {
    match value.untyped() {
        Value::F64(at) if at.is_finite() => Some(*at),
        Value::Int(at) => Some(*at as f64),
        _ => None,
    }
}

/// The fields of an entry.
struct Fields(Vec<(Value, Value)>);

impl Fields {
    fn of(bytes: &[u8], tools: &Tools<'_>) -> Result<Fields> {
        let mut value = read(bytes, tools)?;
        while let Value::Typed(_, inside) | Value::Anchor(_, inside) = value {
            value = *inside;
        }
        match value {
            Value::Map(fields) => Ok(Fields(fields)),
            other => {
                let found = other.type_name();
                Err(Error::syntax(format!("found {found}, expected the fields of an Entry")))
            }
        }
    }

    fn get(&self, name: &str) -> Option<&Value> {
        let field = self.0.iter().find(|(key, _)| key.as_str() == Some(name))?;
        Some(&field.1)
    }

    fn is_compressed(&self) -> bool {
        self.get("@compressed").is_some()
    }

    fn take_value(self) -> Result<Value> {
        let field = self.0.into_iter().find(|(key, _)| key.as_str() == Some("@value"));
        field.map(|(_, value)| value).ok_or_else(|| {
            Error::new(
                ErrorKind::Unsupported,
                "found an Entry without @value, expected one of Rails 5 to 7.1",
            )
        })
    }
}

fn open(bytes: &[u8], tools: &Tools<'_>) -> Result<Taken> {
    let fields = Fields::of(bytes, tools)?;
    let created = fields.get("@created_at").and_then(seconds).unwrap_or(0.0);
    let expires =
        fields.get("@expires_in").and_then(seconds).map(|after| Value::F64(created + after));
    let mut facts = facts(expires, fields.get("@version").cloned());
    if created > 0.0 {
        facts.insert(0, Fact::seconds("created", created));
    }
    let is_compressed = fields.is_compressed();
    let value = fields.take_value()?;
    let (steps, bytes) = match value {
        Value::Bytes(packed) if is_compressed => {
            let (bytes, packing) = packing::unpack(&packed, 0, tools)?;
            (vec![packing.name()], bytes)
        }
        value if is_compressed => {
            let found = value.type_name();
            return Err(Error::syntax(format!(
                "found {found} as a compressed @value, expected binary data"
            )));
        }
        value => (Vec::new(), write(value, tools)?),
    };
    Ok(Taken { facts, steps, format: Format::Marshal, bytes, is_checked: false })
}

fn close(around: &[u8], inside: &Inside<'_>, tools: &Tools<'_>) -> Result<Vec<u8>> {
    let mut entry = read(around, tools)?;
    let value = single(inside, tools)?;
    let mut place = &mut entry;
    // An anchor would be that of an entry in its own value.
    while let Value::Typed(_, inside) = place {
        place = inside;
    }
    let Value::Map(fields) = place else {
        return Err(Error::syntax("found no fields, expected those of an Entry"));
    };
    let others = fields.iter().filter(|(key, _)| key.as_str() != Some("@value"));
    check_unshared(others.map(|(_, value)| value))?;
    let is = |field: &(Value, Value), name: &str| field.0.as_str() == Some(name);
    let was_compressed = fields.iter().any(|field| is(field, "@compressed"));
    // The size is computed again when it is asked for; the mark is set if it still holds.
    fields.retain(|field| !is(field, "@s") && !is(field, "@compressed"));
    let mut put = (value, false);
    if was_compressed {
        let packed = tools.packer.pack(Packing::Zlib, inside.bytes)?;
        if packed.len() < inside.bytes.len() {
            put = (Value::Bytes(packed), true);
        }
    }
    match fields.iter_mut().find(|field| is(field, "@value")) {
        Some(field) => field.1 = put.0,
        None => fields.insert(0, (Value::from("@value"), put.0)),
    }
    if put.1 {
        fields.push((Value::from("@compressed"), Value::Bool(true)));
    }
    write(entry, tools)
}
