//! Streams of many documents: listings of keys, ranges of time series, exports of tenants.
//!
//! Each page is read once the client has taken the previous one: a slow client holds no file and no
//! thread, and at most one page of memory.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use regauge::{Format, OnLoss};
use regauge_store::series::{Series, time_text};
use regauge_store::{Order, Range, Store};
use serde_json::{Map, Value, json};

use super::series;
use crate::server::gateway::{Access, Gateway, Grant};
use crate::server::http::{Answer, Doing, Problem, Tag, media, reading};
use crate::server::request::{Call, Query, body};

/// Values per page.
const PAGE: usize = 256;
/// Bytes of lines after which a page ends early.
const PAGE_BYTES: usize = 4 << 20;

/// What the line of a value contains.
#[derive(Clone)]
enum Line {
    /// Key, codec and size of a document, and the document itself if it is wanted.
    Object { with_value: bool },
    /// Time and document of a value of a series.
    Point(Series),
}

/// A listing in progress.
struct Pages {
    gateway: Arc<Gateway>,
    grant: Arc<Grant>,
    range: Range,
    order: Order,
    left: usize,
    line: Line,
    on_loss: OnLoss,
    /// The address of this listing without the parameter that says where to continue.
    address: String,
}

pub(crate) async fn objects(call: Call) -> Answer {
    let query = call.query(&["prefix", "after", "limit", "order", "values", "on_loss"])?;
    let most = call.gateway.config.limits.page;
    let limit = query.number("limit", most)?.unwrap_or(most);
    let order = order(&query)?;
    let with_value = query.word("values", &[("true", true), ("false", false)])?.unwrap_or(false);
    let prefix = query.key_bytes("prefix")?.unwrap_or_default();
    let mut range = Range::prefix(prefix);
    if let Some(after) = query.key_bytes("after")? {
        // It may be any key: the listing continues with what has the prefix and sorts after it.
        match order {
            Order::Ascending => {
                range.from = range.from.max(Some([after, &[0]].concat()));
            }
            Order::Descending => {
                let to = range.to.take().map_or(after.to_vec(), |to| to.min(after.to_vec()));
                range.to = Some(to);
            }
        }
    }
    let address = address("/v1/objects", &call, "after");
    let line = Line::Object { with_value };
    respond(call, range, order, limit, line, query.on_loss()?, address).await
}

pub(crate) async fn series(call: Call) -> Answer {
    let query = call.query(&["from", "till", "limit", "order", "on_loss"])?;
    let most = call.gateway.config.limits.page;
    let limit = query.number("limit", most)?.unwrap_or(most);
    let order = order(&query)?;
    let name = call.part(2)?;
    let series = series::open(&name)?;
    let mut range = series.whole();
    if let Some(from) = query.text("from")? {
        range.from = Some(series.key(series::time(from)?));
    }
    if let Some(till) = query.text("till")? {
        range.to = Some(series.key(series::time(till)?));
    }
    let other = if order == Order::Ascending { "from" } else { "till" };
    let address = address(call.request.uri().path(), &call, other);
    let line = Line::Point(series);
    respond(call, range, order, limit, line, query.on_loss()?, address).await
}

fn order(query: &Query) -> Answer<Order> {
    let known = [("ascending", Order::Ascending), ("descending", Order::Descending)];
    Ok(query.word("order", &known)?.unwrap_or_default())
}

/// Returns the address without one parameter, ready for a new value of it.
fn address(path: &str, call: &Call, without: &str) -> String {
    let query = call.request.uri().query().unwrap_or_default();
    let mut address = format!("{path}?");
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        if pair.split('=').next() != Some(without) {
            address += pair;
            address.push('&');
        }
    }
    address + without + "="
}

async fn respond(
    call: Call,
    range: Range,
    order: Order,
    left: usize,
    line: Line,
    on_loss: OnLoss,
    address: String,
) -> Answer {
    media::wanted(call.headers(), &[Format::Ndjson])?;
    let grant = call.grant.expect("the table asks for a tenant's scope");
    let gateway = call.gateway;
    let pages = Pages { gateway, grant, range, order, left, line, on_loss, address };
    // The first page decides whether there is an answer at all.
    let (first, rest) = pages.next().await?;
    let ahead = stream::iter([Ok(first)]);
    let tail = stream::try_unfold(rest, |pages| async move {
        match pages {
            None => Ok(None),
            Some(pages) => match pages.next().await {
                Ok(found) => Ok(Some(found)),
                // The status has been sent already: the client sees a truncated answer.
                Err(problem) => Err(io::Error::other(problem.to_json().to_string())),
            },
        }
    });
    Ok(streamed(Body::from_stream(stream::StreamExt::chain(ahead, tail)), Format::Ndjson))
}

fn streamed(body: Body, format: Format) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media::sent(format)));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

impl Pages {
    /// Returns the lines of the next page, and where to continue.
    async fn next(mut self) -> Answer<(Bytes, Option<Pages>)> {
        let (range, order, left) = (self.range.clone(), self.order, self.left);
        let (line, on_loss) = (self.line.clone(), self.on_loss);
        let most = self.grant.quota.limits.converted_bytes;
        let read = move |store: &mut Store| page(store, &range, order, left, &line, on_loss, most);
        let found = self.gateway.with_store(&self.grant, Access::Read, read).await?;
        let Page { mut lines, count, last, more } = found;
        let Some(last) = last else { return Ok((lines.into(), None)) };
        self.left -= count.min(self.left);
        match self.order {
            Order::Ascending => self.range.from = Some([&last[..], &[0]].concat()),
            Order::Descending => self.range.to = Some(last.clone()),
        }
        if !more {
            return Ok((lines.into(), None));
        }
        if self.left > 0 {
            return Ok((lines.into(), Some(self)));
        }
        let value = match (&self.line, self.order) {
            (Line::Object { .. }, _) => percent_encode(&last, NON_ALPHANUMERIC).to_string(),
            (Line::Point(series), order) => {
                // A page that fills the limit consists of values of the series.
                let next = series.time(&last).and_then(|time| match order {
                    // `till` is exclusive, so the last time can serve as the end.
                    Order::Descending => Some(time),
                    Order::Ascending => time.checked_add(1),
                });
                let Some(next) = next else { return Ok((lines.into(), None)) };
                time_text(next)
            }
        };
        let next = json!({"next": format!("{}{value}", self.address)});
        lines.extend_from_slice(next.to_string().as_bytes());
        lines.push(b'\n');
        Ok((lines.into(), None))
    }
}

struct Page {
    lines: Vec<u8>,
    count: usize,
    last: Option<Vec<u8>>,
    /// Whether there are values after it.
    more: bool,
}

fn page(
    store: &mut Store,
    range: &Range,
    order: Order,
    left: usize,
    line: &Line,
    on_loss: OnLoss,
    most: u64,
) -> Answer<Page> {
    let layout = store.settings().layout.clone();
    let mut page = Page { lines: Vec::new(), count: 0, last: None, more: false };
    if !store.engine().has_table(&layout.table).map_err(reading)? {
        return Ok(page);
    }
    let pairs = store.engine().page(&layout, range, order, left.min(PAGE)).map_err(reading)?;
    for (key, value) in &pairs {
        page.last = Some(key.clone());
        // Others may have put keys between those of a series.
        if matches!(line, Line::Point(series) if series.time(key).is_none()) {
            continue;
        }
        write_line(&mut page.lines, store, key, value, line, on_loss, most);
        page.count += 1;
        if page.lines.len() >= PAGE_BYTES {
            break;
        }
    }
    if let Some(last) = &page.last {
        let mut rest = range.clone();
        match order {
            Order::Ascending => rest.from = Some([&last[..], &[0]].concat()),
            Order::Descending => rest.to = Some(last.clone()),
        }
        page.more = !store.engine().keys(&layout, &rest, order, 1).map_err(reading)?.is_empty();
    }
    Ok(page)
}

/// Formats one line; a value that is damaged, or cannot be JSON, is reported in it, and the listing
/// continues.
fn write_line(
    out: &mut Vec<u8>,
    store: &mut Store,
    key: &[u8],
    stored: &[u8],
    line: &Line,
    on_loss: OnLoss,
    most: u64,
) {
    let mut members = Map::new();
    let with_value = match line {
        Line::Object { with_value } => {
            match std::str::from_utf8(key) {
                Ok(text) => members.insert("key".to_owned(), json!(text)),
                Err(_) => members
                    .insert("key_base64".to_owned(), json!(data_encoding::BASE64.encode(key))),
            };
            *with_value
        }
        Line::Point(series) => {
            members.insert("time".to_owned(), json!(series.time(key).map(time_text)));
            true
        }
    };
    let mut value = None;
    let mut read = || -> Answer<()> {
        let opened = regauge_store::envelope::Envelope::open(key, stored).map_err(reading)?;
        if matches!(line, Line::Object { .. }) {
            if let Some((envelope, _)) = opened {
                let tag = Tag::of(stored).text(envelope.codec.format);
                members.insert("etag".to_owned(), json!(tag));
                members.insert("codec".to_owned(), json!(envelope.codec.to_string()));
                members.insert("created".to_owned(), json!(envelope.created));
                members.insert("bytes".to_owned(), json!(envelope.length));
            }
            members.insert("stored_bytes".to_owned(), json!(stored.len()));
        }
        if with_value {
            value = Some(as_json(store, key, stored, on_loss, most)?);
        }
        Ok(())
    };
    if let Err(problem) = read() {
        members.insert("problem".to_owned(), problem.to_json());
    }
    let text = Value::Object(members).to_string();
    match value {
        None => out.extend_from_slice(text.as_bytes()),
        Some(value) => {
            out.extend_from_slice(&text.as_bytes()[..text.len() - 1]);
            out.extend_from_slice(if text == "{}" { b"\"value\":" } else { b",\"value\":" });
            out.extend_from_slice(&value);
            out.push(b'}');
        }
    }
    out.push(b'\n');
}

fn as_json(
    store: &mut Store,
    key: &[u8],
    stored: &[u8],
    on_loss: OnLoss,
    most: u64,
) -> Answer<Vec<u8>> {
    let entry = store.unseal(key, stored).map_err(reading)?;
    store.on_loss = on_loss;
    let pair = (entry.codec.format, Format::Json);
    let how = (store.limits, on_loss, false);
    let (document, _) = body::bounded(key, &entry.document, pair, how, most, Doing::Reading)?;
    let mut json = match document {
        Cow::Owned(converted) => converted,
        Cow::Borrowed(_) => store.document(key, entry, Format::Json).map_err(reading)?,
    };
    // JSON has line breaks only between tokens, and this is a single line.
    for byte in json.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')) {
        *byte = b' ';
    }
    Ok(json)
}

/// Streams all documents of a tenant, for an administrator.
pub(crate) async fn export(call: Call) -> Answer {
    let query = call.query(&["on_loss"])?;
    // Values that JSON cannot hold are wrapped so that they can be read back.
    let on_loss = match query.bytes("on_loss") {
        None => OnLoss::Wrap,
        Some(_) => query.on_loss()?,
    };
    let formats = [Format::Ndjson, Format::Msgpack, Format::Cbor];
    let format = media::wanted(call.headers(), &formats)?;
    let id = call.tenant()?;
    let gateway = call.gateway;
    let number = gateway.known(&id)?.number;
    let gate = Arc::clone(&gateway.runtime(number).gate);
    let start: (bool, Option<Vec<u8>>) = (false, None);
    let pages = move |(is_last, from): (bool, Option<Vec<u8>>)| {
        let (gateway, gate, id) = (Arc::clone(&gateway), Arc::clone(&gate), id.clone());
        async move {
            if is_last {
                return Ok(None);
            }
            let gate = gate.read_owned().await;
            let inner = Arc::clone(&gateway);
            let read = move || {
                let _gate = gate;
                let tenant = inner.known(&id)?;
                let limits = inner.limits_of(&tenant);
                inner.handles.get(&tenant).with(&inner.home, limits, |store| {
                    crate::tenants::export(store, from, PAGE, format, on_loss).map_err(reading)
                })
            };
            let (bytes, next) = gateway.blocking(read).await?;
            Ok(Some((Bytes::from(bytes), (next.is_none(), next))))
        }
    };
    let first: Answer<_> = pages(start).await;
    let (first, rest) = first?.unwrap_or((Bytes::new(), (true, None)));
    let ahead = stream::iter([Ok(first)]);
    let tail = stream::try_unfold(rest, move |from| {
        let next = pages(from);
        async move {
            next.await.map_err(|problem: Problem| io::Error::other(problem.to_json().to_string()))
        }
    });
    Ok(streamed(Body::from_stream(stream::StreamExt::chain(ahead, tail)), format))
}
