//! Takes an envelope off an input.

use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use regauge::envelope::{self, ROWS, Row, Tools};
use regauge::hint::Hint;
use regauge::limits::Limit;
use regauge::options::{Envelopes, Opt};
use regauge::{Error, ErrorKind, Format};

use super::{Source, Stream, ToldBy};
use crate::failure::{Failure, Result};
use crate::packer::CommandPacker;

impl Source {
    /// Takes off what is asked for; returns whether there was an envelope. `told` is the format of the
    /// bytes, if one is known, and `head` are the first of them.
    pub(super) fn open_envelope(
        &mut self,
        envelopes: Envelopes,
        told: Option<Format>,
        head: &[u8],
    ) -> Result<bool> {
        let is_asked = matches!(envelopes, Envelopes::Open | Envelopes::Keep);
        let is_whole = head.len() < super::HEAD_BYTES;
        let could_be = match envelopes {
            Envelopes::Never => false,
            Envelopes::Open | Envelopes::Keep => true,
            // A name or an option has decided the format.
            Envelopes::Auto => {
                self.told_by == ToldBy::Content
                    && envelope::find(head, is_whole, told).is_some_and(|row| row.is_certain)
            }
        };
        if !could_be {
            return Ok(false);
        }
        let bytes = self.all()?;
        let row = find(&bytes, told).filter(|row| row.is_certain || is_asked);
        let Some(row) = row else {
            self.stream = Stream::Memory(bytes.into());
            return if is_asked { Err(self.no_envelope()) } else { Ok(false) };
        };
        let tools = Tools { limits: &self.limits, packer: &CommandPacker };
        let opened = envelope::open(bytes, row, !is_asked, &tools);
        let opened = opened.map_err(|error| Failure::data(&self.file, error))?;
        self.name = format!("{} (inside {})", self.file, opened.names());
        self.stream = Stream::Memory(opened.bytes.as_slice().into());
        self.size = Some(opened.bytes.len() as u64);
        // With an envelope, `--from` is about the inside.
        if self.told_by != ToldBy::Option {
            (self.format, self.told_by) = (opened.format, ToldBy::Envelope);
        }
        self.opened = Some(Arc::new(opened));
        Ok(true)
    }

    /// Reads everything, within the limit for one record.
    fn all(&self) -> Result<Vec<u8>> {
        let most = self.limits.record_bytes;
        let read = if self.can_repeat() { self.again() } else { Ok(self.take()) };
        let mut bytes = Vec::new();
        read.and_then(|read| read.take(most.saturating_add(1)).read_to_end(&mut bytes))
            .map_err(|error| Failure::data(&self.file, error.into()))?;
        self.opened_once.store(true, Ordering::Relaxed);
        if bytes.len() as u64 > most {
            let found =
                format!("found more than {most} bytes, the limit of record_bytes, in an envelope");
            let error = Error::limit(found).hint(Hint::raise(Limit::RecordBytes));
            return Err(Failure::data(&self.file, error));
        }
        Ok(bytes)
    }

    /// Returns the envelope that the input looks like, without taking it off: of a document that is read as
    /// it is, if it is small enough to be looked at.
    pub fn looks_enveloped(&self) -> Option<&'static Row> {
        let is_small = self.size.is_some_and(|size| size <= envelope::LOOK_BYTES as u64);
        if self.opened.is_some() || !is_small || !self.can_repeat() {
            return None;
        }
        let mut bytes = Vec::new();
        let most = envelope::LOOK_BYTES as u64 + 1;
        self.again().ok()?.take(most).read_to_end(&mut bytes).ok()?;
        envelope::find(&bytes, true, Some(self.format))
    }

    #[cold]
    fn no_envelope(&self) -> Failure {
        let titles: Vec<_> = ROWS.iter().map(|row| row.title).collect();
        let found = format!("found no envelope, expected one of {}", titles.join(", "));
        let error = Error::new(ErrorKind::Unsupported, found);
        Failure::data(&self.file, error.hint(Hint::without("read it", Opt::Envelope)))
    }
}

/// Returns the row that recognises all of an input.
fn find(bytes: &[u8], told: Option<Format>) -> Option<&'static Row> {
    let seen = Format::from_magic(&bytes[..bytes.len().min(super::HEAD_BYTES)]);
    [told, seen, None].into_iter().find_map(|format| envelope::find(bytes, true, format))
}
