//! `/v1/batch`: many documents in one request, all changes or none.

use std::borrow::Cow;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use regauge::convert::Options;
use regauge::documents::Documents;
use regauge::values::{self, Anchors};
use regauge::{Format, OnLoss, Value};
use regauge_store::{Error, Store, shown};

use crate::server::gateway::{Access, forbidden};
use crate::server::http::{Answer, Doing, Problem, Tag, media, reading, writing};
use crate::server::operate::config::Limits;
use crate::server::request::{Call, body, checked_key};
use crate::tenants::Scope;

/// One operation of a batch.
enum Operation {
    Get(Vec<u8>),
    Put(Vec<u8>, Value),
    Delete(Vec<u8>),
}

impl Operation {
    fn name(&self) -> &'static str {
        match self {
            Operation::Get(_) => "get",
            Operation::Put(..) => "put",
            Operation::Delete(_) => "delete",
        }
    }

    fn key(&self) -> &[u8] {
        match self {
            Operation::Get(key) | Operation::Put(key, _) | Operation::Delete(key) => key,
        }
    }
}

pub(crate) async fn post(call: Call) -> Answer {
    // A MARC record is not a list of operations.
    let mut formats = call.gateway.config.formats.clone();
    formats.retain(|format| !format.is_marc());
    let from = media::of_body(call.headers(), &formats)?;
    // By default, the answer uses the format of the request.
    let mut order = formats;
    if let Some(place) = order.iter().position(|one| *one == from) {
        order[..=place].rotate_right(1);
    }
    let to = media::wanted(call.headers(), &order)?;
    let query = call.query(&["on_loss", "unwrap"])?;
    let (on_loss, unwrap) = (query.on_loss()?, query.unwrap()?);
    let limits = call.grant().quota.limits;
    call.once(true, limits.body_bytes, move |gateway, grant, body| async move {
        let may_write = grant.scopes.has(Scope::Write);
        let read = move || parse(&body.bytes, from, limits, unwrap);
        let operations = gateway.blocking(read).await?;
        let written = operations.iter().filter(|one| !matches!(one, Operation::Get(_)));
        let written: Vec<_> = written.map(|one| one.key().to_vec()).collect();
        if !written.is_empty() && !may_write {
            return Err(forbidden(Scope::Write));
        }
        let carry_out = move |store: &mut Store| {
            let (results, changes) = plan(store, operations, limits, on_loss)?;
            let answer = Value::Map(vec![(text("results"), Value::Array(results))]);
            let mut options = Options::new(from, to);
            (options.on_loss, options.documents) = (on_loss, Documents::Keep);
            let (bytes, _) = values::write_values(&[answer], &options)
                .map_err(|error| Problem::document(&error, Doing::Reading))?;
            // Only what can be answered is done.
            if !changes.is_empty() {
                let changes: Vec<(&[u8], Option<&[u8]>)> =
                    changes.iter().map(|(key, one)| (&key[..], one.as_deref())).collect();
                let format = store.settings().codec.format;
                store.put_many(&changes, format).map_err(writing)?;
            }
            Ok(bytes)
        };
        // Read-only batches take their turn as well: nobody writes between two values of a batch.
        let bytes = gateway.with_store(&grant, Access::Write(written), carry_out).await?;
        let mut response = Response::new(Body::from(bytes));
        let media = HeaderValue::from_static(media::sent(to));
        response.headers_mut().insert(header::CONTENT_TYPE, media);
        Ok(response)
    })
    .await
}

fn text(name: &str) -> Value {
    Value::Text(name.to_owned())
}

fn member<'v>(map: &'v [(Value, Value)], name: &str) -> Option<&'v Value> {
    let is = |one: &&(Value, Value)| matches!(&one.0, Value::Text(text) if text == name);
    map.iter().find(is).map(|(_, value)| value)
}

/// Returns the first name that a map of known members has twice.
fn repeated(map: &[(Value, Value)]) -> Option<&str> {
    let is_repeated = |(index, (name, _)): &(usize, &(Value, Value))| {
        map[..*index].iter().any(|(other, _)| other == name)
    };
    map.iter().enumerate().find(is_repeated).and_then(|(_, (name, _))| name.as_str())
}

fn parse(bytes: &[u8], from: Format, limits: Limits, unwrap: bool) -> Answer<Vec<Operation>> {
    let mut options = Options::new(from, from);
    (options.unwrap, options.documents) = (unwrap, Documents::Keep);
    options.limits = body::limits(limits);
    let documents = values::read_values(bytes, &options)
        .map_err(|error| Problem::document(&error, Doing::Writing))?;
    let [Value::Map(body)] = &documents[..] else {
        return Err(Problem::request("expected one document: {\"operations\": […]}"));
    };
    if let Some((name, _)) =
        body.iter().find(|(name, _)| !matches!(name, Value::Text(name) if name == "operations"))
    {
        return Err(Problem::request(format!("found member {name:?}, expected only operations")));
    }
    if let Some(name) = repeated(body) {
        return Err(Problem::request(format!("found the member {name} twice")));
    }
    let Some(Value::Array(list)) = member(body, "operations") else {
        return Err(Problem::request("expected a member operations, an array"));
    };
    if list.len() > limits.batch {
        return Err(Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too-large",
            format!("found {} operations, the limit is {}", list.len(), limits.batch),
        )
        .with("limit", limits.batch as u64));
    }
    let anchors = Anchors::of(&documents[0]);
    let cut = |value: &Value| {
        anchors
            .cut_out(value, &options.limits)
            .map(Cow::into_owned)
            .map_err(|error| Problem::document(&error, Doing::Writing))
    };
    list.iter().enumerate().map(|(index, one)| operation(index, one, &cut)).collect()
}

/// Reads one operation; `cut` returns a value as a document of its own.
fn operation(
    index: usize,
    value: &Value,
    cut: &dyn Fn(&Value) -> Answer<Value>,
) -> Answer<Operation> {
    let wrong = |what: &str| Problem::request(format!("operation {index}: {what}"));
    let Value::Map(map) = value else { return Err(wrong("expected a map")) };
    for (name, _) in map {
        let is_known = matches!(name, Value::Text(name) if matches!(name.as_str(), "op" | "key" | "key_base64" | "value"));
        if !is_known {
            return Err(wrong("found a member that is not op, key, key_base64 or value"));
        }
    }
    if let Some(name) = repeated(map) {
        return Err(wrong(&format!("found the member {name} twice")));
    }
    let key = match (member(map, "key"), member(map, "key_base64")) {
        (Some(Value::Text(key)), None) => key.clone().into_bytes(),
        (Some(Value::Bytes(key)), None) => key.clone(),
        (None, Some(Value::Text(key))) => data_encoding::BASE64
            .decode(key.as_bytes())
            .map_err(|_| wrong("key_base64 is no Base64"))?,
        _ => return Err(wrong("expected a key, as text or bytes, or a key_base64")),
    };
    let key = checked_key(key)?;
    let op = match member(map, "op") {
        Some(Value::Text(op)) => op.as_str(),
        _ => return Err(wrong("expected a member op: get, put or delete")),
    };
    match (op, member(map, "value")) {
        ("get", None) => Ok(Operation::Get(key)),
        ("delete", None) => Ok(Operation::Delete(key)),
        ("put", Some(value)) => Ok(Operation::Put(key, cut(value)?)),
        ("put", None) => Err(wrong("put: expected a value")),
        ("get" | "delete", Some(_)) => Err(wrong("found a value, which only put has")),
        _ => Err(wrong("expected op to be get, put or delete")),
    }
}

/// Changes in the tenant's format: a document to put, or `None` to delete.
type Changes = Vec<(Vec<u8>, Option<Vec<u8>>)>;

/// Returns a key for an answer: JSON cannot hold one that is not text.
fn named(key: &[u8]) -> (Value, Value) {
    match std::str::from_utf8(key) {
        Ok(key) => (text("key"), text(key)),
        Err(_) => (text("key_base64"), text(&data_encoding::BASE64.encode(key))),
    }
}

/// Returns the results, and the changes to be made for them to hold. Gets see the state before the
/// batch.
fn plan(
    store: &mut Store,
    operations: Vec<Operation>,
    limits: Limits,
    on_loss: OnLoss,
) -> Answer<(Vec<Value>, Changes)> {
    let codec = store.settings().codec;
    let mut results = Vec::with_capacity(operations.len());
    let mut changes = Changes::new();
    let mut converted = 0;
    for operation in operations {
        let mut result = vec![(text("op"), text(operation.name())), named(operation.key())];
        let status = match operation {
            Operation::Get(key) => match store.stored(&key).map_err(reading)? {
                None => 404,
                Some(stored) => {
                    let entry = store.unseal(&key, &stored).map_err(reading)?;
                    converted += entry.document.len() as u64;
                    let format = entry.codec.format;
                    let mut options = Options::new(format, format);
                    options.documents = Documents::Keep;
                    options.limits = store.limits;
                    let bad = |error| reading(Error::Document { key: shown(&key), error });
                    let mut read = values::read_values(&entry.document, &options).map_err(bad)?;
                    let tag = Tag::of(&stored).text(format);
                    result.push((text("etag"), text(&tag)));
                    result.push((text("value"), read.pop().unwrap_or(Value::Null)));
                    200
                }
            },
            Operation::Put(key, value) => {
                let mut options = Options::new(Format::Msgpack, codec.format);
                (options.on_loss, options.documents) = (on_loss, Documents::Keep);
                let bad = |error| writing(Error::Document { key: shown(&key), error });
                let (bytes, _) = values::write_values(&[value], &options).map_err(bad)?;
                converted += bytes.len() as u64;
                changes.push((key, Some(bytes)));
                200
            }
            Operation::Delete(key) => {
                let is_there = store.exists(&key).map_err(reading)?;
                changes.push((key, None));
                if is_there { 200 } else { 404 }
            }
        };
        if converted > limits.converted_bytes {
            return Err(Problem::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "too-large",
                format!("the documents of the batch exceed {} bytes", limits.converted_bytes),
            )
            .with("limit", limits.converted_bytes));
        }
        result.push((text("status"), Value::Int(status)));
        results.push(Value::Map(result));
    }
    Ok((results, changes))
}
