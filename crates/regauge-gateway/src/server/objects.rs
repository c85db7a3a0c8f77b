//! `/v1/objects/{key}`: one document.

use std::borrow::Cow;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use regauge::{Format, OnLoss};
use regauge_store::envelope::{self, Envelope};
use regauge_store::{Compression, Store};

use super::body::{self, bounded};
use super::config::Limits;
use super::problem::{Answer, Doing, Problem};
use super::routes::Call;
use super::tag::{Conditions, Tag};
use super::{Access, media, reading, writing};

/// A document as a client gets it.
pub(super) struct Found {
    pub format: Format,
    pub codec: String,
    pub tag: Tag,
    /// Nothing where the client has it already.
    pub body: Option<Bytes>,
}

/// What a client wants to read.
pub(super) struct Wanted {
    pub headers: HeaderMap,
    pub formats: Vec<Format>,
    pub conditions: Conditions,
    pub on_loss: OnLoss,
    pub most: u64,
}

pub(super) async fn get(call: Call) -> Answer {
    let key = call.key()?;
    get_key(call, key).await
}

pub(super) async fn get_key(call: Call, key: Vec<u8>) -> Answer {
    let query = call.query(&["on_loss"])?;
    let wanted = Wanted {
        conditions: Conditions::of(call.headers())?,
        on_loss: query.on_loss()?,
        formats: call.gateway.config.formats.clone(),
        most: call.grant().quota.limits.converted_bytes,
        headers: call.request.headers().clone(),
    };
    let read = move |store: &mut Store| fetch(store, &key, &wanted);
    let found = call.gateway.with_store(call.grant(), Access::ReadOne, read).await?;
    let mut response = Response::new(Body::empty());
    let headers = response.headers_mut();
    headers.insert(header::ETAG, found.tag.header(found.format));
    headers.insert(header::VARY, HeaderValue::from_static("Accept"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    match found.body {
        None => *response.status_mut() = StatusCode::NOT_MODIFIED,
        Some(body) => {
            let media = HeaderValue::from_static(media::sent(found.format));
            headers.insert(header::CONTENT_TYPE, media);
            if let Ok(codec) = HeaderValue::from_str(&found.codec) {
                headers.insert("regauge-codec", codec);
            }
            *response.body_mut() = Body::from(body);
        }
    }
    Ok(response)
}

/// The document of a key, in the format that the client likes best.
pub(super) fn fetch(store: &mut Store, key: &[u8], wanted: &Wanted) -> Answer<Found> {
    let Some(stored) = store.stored(key).map_err(reading)? else {
        return Err(absent(key));
    };
    let tag = Tag::of(&stored);
    // The checksum is looked at here.
    let (format, codec, is_plain) = match Envelope::open(key, &stored).map_err(reading)? {
        Some((Envelope { codec, .. }, _)) => {
            (codec.format, codec.to_string(), codec.compression == Compression::None)
        }
        None => {
            let entry = store.unseal(key, &stored).map_err(reading)?;
            (entry.codec.format, entry.codec.to_string(), false)
        }
    };
    // As it is stored is how it is sent soonest, and never refused.
    let mut formats = wanted.formats.clone();
    if let Some(place) = formats.iter().position(|one| *one == format) {
        formats[..=place].rotate_right(1);
    }
    let to = media::wanted(&wanted.headers, &formats)?;
    if wanted.conditions.refuse_read(tag) {
        return Err(Problem::precondition());
    }
    let mut found = Found { format: to, codec, tag, body: None };
    if wanted.conditions.is_fresh(tag) {
        return Ok(found);
    }
    if is_plain && to == format {
        found.body = Some(Bytes::from(stored).slice(envelope::BYTES..));
        return Ok(found);
    }
    let entry = store.unseal(key, &stored).map_err(reading)?;
    drop(stored);
    store.on_loss = wanted.on_loss;
    let how = (store.limits, wanted.on_loss);
    let pair = (entry.codec.format, to);
    let (document, _) = bounded(key, &entry.document, pair, how, wanted.most, Doing::Reading)?;
    found.body = Some(match document {
        Cow::Owned(converted) => converted.into(),
        Cow::Borrowed(_) => store.document(key, entry, to).map_err(reading)?.into(),
    });
    Ok(found)
}

pub(super) fn absent(key: &[u8]) -> Problem {
    let key = regauge_store::shown(key);
    Problem::not_found(format!("there is no document of key {key}")).with("key", key)
}

pub(super) async fn put(call: Call) -> Answer {
    let key = call.key()?;
    put_key(call, key).await
}

pub(super) async fn put_key(call: Call, key: Vec<u8>) -> Answer {
    let format = media::of_body(call.headers(), &call.gateway.config.formats)?;
    let conditions = Conditions::of(call.headers())?;
    let on_loss = call.query(&["on_loss"])?.on_loss()?;
    let limits = call.grant().quota.limits;
    let is_repeatable = conditions.is_empty();
    call.once(is_repeatable, limits.body_bytes, move |gateway, grant, body| async move {
        if body.bytes.is_empty() {
            return Err(Problem::request("found an empty body, expected a document"));
        }
        let write = move |store: &mut Store| {
            store.on_loss = on_loss;
            write(store, &key, &body.bytes, format, &conditions, limits)
        };
        let written = gateway.with_store(&grant, Access::Write, write).await?;
        let mut response = Response::new(Body::empty());
        *response.status_mut() =
            if written.is_new { StatusCode::CREATED } else { StatusCode::NO_CONTENT };
        response.headers_mut().insert(header::ETAG, written.tag.header(written.format));
        Ok(response)
    })
    .await
}

struct Written {
    is_new: bool,
    tag: Tag,
    format: Format,
}

fn write(
    store: &mut Store,
    key: &[u8],
    body: &[u8],
    format: Format,
    conditions: &Conditions,
    limits: Limits,
) -> Answer<Written> {
    let to = store.settings().codec.format;
    let usual = std::mem::replace(&mut store.limits, body::limits(limits));
    let how = (store.limits, store.on_loss);
    let most = limits.converted_bytes;
    let (document, format) = bounded(key, body, (format, to), how, most, Doing::Writing)?;
    if matches!(document, Cow::Owned(_)) {
        // What the tenant's limits are for has been looked at on the way.
        store.limits = usual;
    }
    let is_new;
    if conditions.is_empty() {
        is_new = !store.exists(key).map_err(writing)?;
        store.put(key, &document, format).map_err(writing)?;
    } else {
        let seen = store.stored(key).map_err(writing)?;
        if !conditions.allow(seen.as_deref().map(Tag::of)) {
            return Err(Problem::precondition());
        }
        is_new = seen.is_none();
        store.put_if(key, seen.as_deref(), &document, format).map_err(writing)?;
    }
    // It is this tenant's writer's turn, so what is there now is what was put.
    let stored = store.stored(key).map_err(writing)?.unwrap_or_default();
    Ok(Written { is_new, tag: Tag::of(&stored), format: to })
}

pub(super) async fn delete(call: Call) -> Answer {
    let key = call.key()?;
    delete_key(call, key).await
}

pub(super) async fn delete_key(call: Call, key: Vec<u8>) -> Answer {
    call.query(&[])?;
    let conditions = Conditions::of(call.headers())?;
    let is_repeatable = conditions.is_empty();
    call.once(is_repeatable, 0, move |gateway, grant, _| async move {
        let delete = move |store: &mut Store| {
            let seen = store.stored(&key).map_err(writing)?;
            if !conditions.allow(seen.as_deref().map(Tag::of)) {
                return Err(Problem::precondition());
            }
            let Some(seen) = seen else { return Err(absent(&key)) };
            let layout = store.settings().layout.clone();
            match store.engine().swap(&layout, &key, Some(&seen), None).map_err(writing)? {
                true => Ok(()),
                false => Err(Problem::precondition()),
            }
        };
        gateway.with_store(&grant, Access::Write, delete).await?;
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        Ok(response)
    })
    .await
}
