//! Request bodies: read within limits, and converted within limits.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use bytes::Bytes;
use futures_util::StreamExt as _;
use regauge::convert::{self, Input, Options};
use regauge::output::Output;
use regauge::{Format, Limits, OnLoss};
use regauge_store::{Error, shown};
use tokio::sync::OwnedSemaphorePermit;

use crate::server::gateway::{Gateway, MEMORY_UNIT};
use crate::server::http::{Answer, Doing, Problem};
use crate::server::operate::config;

/// A body, and the memory reserved for it as long as this lives.
pub(crate) struct Taken {
    pub bytes: Bytes,
    _memory: Option<OwnedSemaphorePermit>,
}

fn too_large(limit: u64) -> Problem {
    Problem::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        "too-large",
        format!("the body has more than {limit} bytes, the limit of this tenant"),
    )
    .with("limit", limit)
}

impl Gateway {
    /// Reads a body within a size limit, and within the configured time.
    pub(crate) async fn take(&self, headers: &HeaderMap, body: Body, limit: u64) -> Answer<Taken> {
        // hyper has checked the header: it is a number, and occurs once.
        let length = headers.get(header::CONTENT_LENGTH).and_then(|one| one.to_str().ok());
        if length.and_then(|one| one.parse::<u64>().ok()).is_some_and(|length| length > limit) {
            return Err(too_large(limit));
        }
        let seconds = self.config.connections.body_seconds;
        let read = tokio::time::timeout(Duration::from_secs(seconds), self.read(body, limit));
        read.await.unwrap_or_else(|_| {
            Err(Problem::new(
                StatusCode::REQUEST_TIMEOUT,
                "slow",
                format!("the body did not arrive in full within {seconds} s"),
            )
            .header(header::CONNECTION, "close"))
        })
    }

    async fn read(&self, body: Body, limit: u64) -> Answer<Taken> {
        let mut stream = body.into_data_stream();
        let mut held: Option<OwnedSemaphorePermit> = None;
        let mut allowed = 0;
        let mut all: Vec<u8> = Vec::new();
        let mut first: Option<Bytes> = None;
        while let Some(chunk) = stream.next().await {
            let chunk = chunk
                .map_err(|error| Problem::request(format!("the body cannot be read: {error}")))?;
            let length = first.as_ref().map_or(all.len(), Bytes::len) + chunk.len();
            if length as u64 > limit {
                return Err(too_large(limit));
            }
            if length > allowed {
                let units = (length - allowed).div_ceil(MEMORY_UNIT).max(64);
                let wanted = u32::try_from(units).unwrap_or(u32::MAX);
                let more = Arc::clone(&self.memory)
                    .try_acquire_many_owned(wanted)
                    .map_err(|_| Problem::busy("too many large bodies at once; try again"))?;
                allowed += units * MEMORY_UNIT;
                match &mut held {
                    Some(held) => held.merge(more),
                    None => held = Some(more),
                }
            }
            // A small body arrives in one piece, which is not copied.
            match first.take() {
                None if all.is_empty() => first = Some(chunk),
                None => all.extend_from_slice(&chunk),
                Some(before) => {
                    all.extend_from_slice(&before);
                    all.extend_from_slice(&chunk);
                }
            }
        }
        Ok(Taken { bytes: first.unwrap_or_else(|| all.into()), _memory: held })
    }
}

/// Returns the reader's limits for a tenant's data.
pub(crate) fn limits(limits: config::Limits) -> Limits {
    let mut reader = Limits::default();
    reader.depth = limits.depth.min(Limits::DEPTH_CEILING);
    reader.token_bytes = limits.body_bytes;
    reader.record_bytes = limits.converted_bytes;
    reader.aliases = 1 << 16;
    reader
}

/// A document in another format, if it could swell on the way, or is in the wrapped notation: at
/// most `most` bytes of it. Any other is left to the store.
pub(crate) fn bounded<'d>(
    key: &[u8],
    document: &'d [u8],
    (from, to): (Format, Format),
    (limits, on_loss, unwrap): (Limits, OnLoss, bool),
    most: u64,
    doing: Doing,
) -> Answer<(Cow<'d, [u8]>, Format)> {
    if !unwrap && (from == to || !from.info().has_references) {
        return Ok((Cow::Borrowed(document), from));
    }
    let mut options = Options::new(from, to);
    (options.limits, options.on_loss, options.unwrap) = (limits, on_loss, unwrap);
    options.documents = regauge::documents::Documents::Keep;
    let mut out = Bounded { bytes: Vec::new(), most, is_full: false };
    let done = convert::convert(Input::Bytes(document), &mut out, &options, &mut |_| Ok(()));
    if out.is_full {
        let status = match doing {
            Doing::Reading => StatusCode::NOT_ACCEPTABLE,
            Doing::Writing => StatusCode::PAYLOAD_TOO_LARGE,
        };
        let detail = format!(
            "as {}, with its shared values written out, the document has more than {most} bytes",
            to.title()
        );
        return Err(Problem::new(status, "swollen", detail).with("limit", most));
    }
    let summary =
        done.map_err(|error| Problem::store(Error::Document { key: shown(key), error }, doing))?;
    if summary.documents != 1 {
        let detail = format!("found {} documents, expected one", summary.documents);
        return Err(Problem::request(detail));
    }
    if to.is_json() && out.bytes.last() == Some(&b'\n') {
        out.bytes.pop();
    }
    Ok((Cow::Owned(out.bytes), to))
}

struct Bounded {
    bytes: Vec<u8>,
    most: u64,
    is_full: bool,
}

impl Output for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if (self.bytes.len() + bytes.len()) as u64 > self.most {
            self.is_full = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn hold(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn patch(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let at = usize::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
        let place = self.bytes.get_mut(at..at + bytes.len()).ok_or(io::ErrorKind::InvalidInput)?;
        place.copy_from_slice(bytes);
        Ok(())
    }

    fn release(&mut self) -> io::Result<()> {
        Ok(())
    }
}
