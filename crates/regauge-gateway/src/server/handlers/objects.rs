//! `/v1/objects/{key}`: one document.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use regauge::{Format, OnLoss};
use regauge_store::envelope::{self, Envelope};
use regauge_store::{Compression, Store};

use crate::server::gateway::{Access, Kept};
use crate::server::http::{Answer, Conditions, Doing, Problem, Tag, media, reading, writing};
use crate::server::operate::config::Limits;
use crate::server::request::Call;
use crate::server::request::body::{self, bounded};

/// A document as sent to a client.
struct Found {
    /// The format in which it is stored.
    stored: Format,
    /// The format in which it is sent.
    format: Format,
    codec: HeaderValue,
    tag: Tag,
    /// `None` if the client has it already.
    body: Option<Bytes>,
}

/// What a client asks to read.
struct Wanted {
    headers: HeaderMap,
    formats: Vec<Format>,
    conditions: Conditions,
    on_loss: OnLoss,
    unwrap: bool,
    most: u64,
}

pub(crate) async fn get(call: Call) -> Answer {
    let key = call.key()?;
    get_key(call, key).await
}

pub(crate) async fn get_key(call: Call, key: Vec<u8>) -> Answer {
    let query = call.query(&["on_loss", "unwrap"])?;
    let (on_loss, unwrap) = (query.on_loss()?, query.unwrap()?);
    let conditions = Conditions::of(call.headers())?;
    let grant = call.grant();
    let most = grant.quota.limits.converted_bytes;
    let number = grant.tenant.number;
    let formats = &call.gateway.config.formats;
    // Documents read under another loss policy are not cached.
    let is_usual = on_loss == OnLoss::Refuse && !unwrap;
    if is_usual && let Some(kept) = call.gateway.recent.get(number, &key) {
        let to = chosen(call.headers(), formats, kept.stored)?;
        if conditions.refuse_read(kept.tag) {
            return Err(Problem::precondition());
        }
        let sent =
            kept.sent.iter().find(|(format, body)| *format == to && body.len() as u64 <= most);
        if let Some((_, body)) = sent {
            let body = (!conditions.is_fresh(kept.tag)).then(|| body.clone());
            let (stored, codec, tag) = (kept.stored, kept.codec, kept.tag);
            call.gateway.metrics.recent();
            return Ok(Found { stored, format: to, codec, tag, body }.answer());
        }
    }
    let calm = grant.runtime.changes.calm();
    let (formats, headers) = (formats.clone(), call.headers().clone());
    let wanted = Wanted { headers, formats, conditions, on_loss, unwrap, most };
    let key = Arc::new(key);
    let sought = Arc::clone(&key);
    let read = move |store: &mut Store| fetch(store, &sought, &wanted);
    let found = call.gateway.with_store(grant, Access::ReadOne, read).await?;
    if is_usual && let (Some(calm), Some(body)) = (calm, &found.body) {
        let kept = Kept {
            stored: found.stored,
            codec: found.codec.clone(),
            tag: found.tag,
            sent: vec![(found.format, body.clone())],
        };
        call.gateway.recent.keep(&grant.runtime.changes, calm, number, &key, kept);
    }
    Ok(found.answer())
}

impl Found {
    fn answer(self) -> Response {
        let mut response = Response::new(Body::empty());
        let headers = response.headers_mut();
        headers.insert(header::ETAG, self.tag.header(self.format));
        headers.insert(header::VARY, HeaderValue::from_static("Accept"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
        match self.body {
            None => *response.status_mut() = StatusCode::NOT_MODIFIED,
            Some(body) => {
                let media = HeaderValue::from_static(media::sent(self.format));
                headers.insert(header::CONTENT_TYPE, media);
                headers.insert("regauge-codec", self.codec);
                *response.body_mut() = Body::from(body);
            }
        }
        response
    }
}

/// Returns the client's preferred format. The stored format is the fastest to send, and never
/// refused.
fn chosen(headers: &HeaderMap, formats: &[Format], stored: Format) -> Answer<Format> {
    match formats.iter().position(|one| *one == stored) {
        Some(_) if !headers.contains_key(header::ACCEPT) => Ok(stored),
        Some(place) => {
            let mut formats = formats.to_vec();
            formats[..=place].rotate_right(1);
            media::wanted(headers, &formats)
        }
        None => media::wanted(headers, formats),
    }
}

/// Returns the document of a key, in the client's preferred format.
fn fetch(store: &mut Store, key: &[u8], wanted: &Wanted) -> Answer<Found> {
    let Some(stored) = store.stored(key).map_err(reading)? else {
        return Err(absent(key));
    };
    let tag = Tag::of(&stored);
    // The checksum is verified here.
    let (codec, is_plain) = match Envelope::open(key, &stored).map_err(reading)? {
        Some((Envelope { codec, .. }, _)) => (codec, codec.compression == Compression::None),
        None => (store.unseal(key, &stored).map_err(reading)?.codec, false),
    };
    let format = codec.format;
    let to = chosen(&wanted.headers, &wanted.formats, format)?;
    if wanted.conditions.refuse_read(tag) {
        return Err(Problem::precondition());
    }
    let codec = HeaderValue::from_str(&codec.to_string())
        .map_err(|error| Problem::internal(error.to_string()))?;
    let mut found = Found { stored: format, format: to, codec, tag, body: None };
    if wanted.conditions.is_fresh(tag) {
        return Ok(found);
    }
    let is_as_stored = wanted.on_loss != OnLoss::Wrap && !wanted.unwrap;
    if is_plain && to == format && is_as_stored {
        found.body = Some(Bytes::from(stored).slice(envelope::BYTES..));
        return Ok(found);
    }
    let entry = store.unseal(key, &stored).map_err(reading)?;
    drop(stored);
    (store.on_loss, store.unwrap) = (wanted.on_loss, wanted.unwrap);
    let how = (store.limits, wanted.on_loss, wanted.unwrap);
    let pair = (entry.codec.format, to);
    let (document, _) = bounded(key, &entry.document, pair, how, wanted.most, Doing::Reading)?;
    found.body = Some(match document {
        Cow::Owned(converted) => converted.into(),
        Cow::Borrowed(_) => store.document(key, entry, to).map_err(reading)?.into(),
    });
    Ok(found)
}

pub(crate) fn absent(key: &[u8]) -> Problem {
    let key = regauge_store::shown(key);
    Problem::not_found(format!("there is no document with key {key}")).with("key", key)
}

pub(crate) async fn put(call: Call) -> Answer {
    let key = call.key()?;
    put_key(call, key).await
}

pub(crate) async fn put_key(call: Call, key: Vec<u8>) -> Answer {
    let format = media::of_body(call.headers(), &call.gateway.config.formats)?;
    let conditions = Conditions::of(call.headers())?;
    let query = call.query(&["on_loss", "unwrap"])?;
    let (on_loss, unwrap) = (query.on_loss()?, query.unwrap()?);
    let limits = call.grant().quota.limits;
    let is_repeatable = conditions.is_empty();
    call.once(is_repeatable, limits.body_bytes, move |gateway, grant, body| async move {
        // An empty TOML file is an empty table.
        if body.bytes.is_empty() && format != Format::Toml {
            return Err(Problem::request("found an empty body, expected a document"));
        }
        let changed = Access::Write(vec![key.clone()]);
        let write = move |store: &mut Store| {
            store.on_loss = on_loss;
            write(store, &key, &body.bytes, (format, unwrap), &conditions, limits)
        };
        let written = gateway.with_store(&grant, changed, write).await?;
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
    (format, unwrap): (Format, bool),
    conditions: &Conditions,
    limits: Limits,
) -> Answer<Written> {
    let to = store.settings().codec.format;
    let usual = std::mem::replace(&mut store.limits, body::limits(limits));
    let how = (store.limits, store.on_loss, unwrap);
    let most = limits.converted_bytes;
    let (document, format) = bounded(key, body, (format, to), how, most, Doing::Writing)?;
    if matches!(document, Cow::Owned(_)) {
        // The conversion has already applied the tenant's limits and the policy.
        (store.limits, store.on_loss) = (usual, OnLoss::Refuse);
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
    // This tenant's other writers are waiting, so what is stored now is what was put.
    let stored = store.stored(key).map_err(writing)?.unwrap_or_default();
    Ok(Written { is_new, tag: Tag::of(&stored), format: to })
}

pub(crate) async fn delete(call: Call) -> Answer {
    let key = call.key()?;
    delete_key(call, key).await
}

pub(crate) async fn delete_key(call: Call, key: Vec<u8>) -> Answer {
    call.query(&[])?;
    let conditions = Conditions::of(call.headers())?;
    let is_repeatable = conditions.is_empty();
    call.once(is_repeatable, 0, move |gateway, grant, _| async move {
        let changed = Access::Write(vec![key.clone()]);
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
        gateway.with_store(&grant, changed, delete).await?;
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        Ok(response)
    })
    .await
}
