//! Takes an envelope off an input.

use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use regauge::Format;
use regauge::envelope::{self, Keys, Peeled, Row, Tools};
use regauge_packing::{Secrets, Values};

use super::{Source, Stream, ToldBy, Wanted};
use crate::failure::{Failure, Result};

impl Source {
    /// Takes off what is asked for; returns whether there was an envelope. `told` is the format of the
    /// bytes, if one is known, and `head` are the first of them.
    pub(super) fn open_envelope(
        &mut self,
        wanted: &Wanted,
        told: Option<Format>,
        head: &[u8],
    ) -> Result<bool> {
        let is_whole = head.len() < super::HEAD_BYTES;
        // A name or an option has decided the format, or the content has.
        let named = told.filter(|_| self.told_by != ToldBy::Content);
        let (envelopes, secret) = (wanted.envelope, wanted.secret.as_ref());
        let could_be = envelope::may_peel(head, is_whole, named, envelopes, secret.is_some());
        if !could_be {
            return Ok(false);
        }
        let bytes = self.all()?;
        let keys = secret.map(|secret| Keys::new(secret, wanted.salt.as_deref(), &Secrets));
        let tools = Tools { limits: &self.limits, packer: &Values, keys };
        let opened = match envelope::peel(bytes, told, envelopes, &tools) {
            Ok(Peeled::Opened(opened)) => opened,
            Ok(Peeled::Bare(bytes)) => {
                self.stream = Stream::Memory(bytes.into());
                return Ok(false);
            }
            Err(error) => return Err(Failure::data(&self.file, error)),
        };
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
        let read = if self.can_repeat() { self.again() } else { Ok(self.take()) };
        let failed = |error| Failure::data(&self.file, error);
        let bytes = envelope::read_all(read.map_err(|error| failed(error.into()))?, &self.limits)
            .map_err(failed)?;
        self.opened_once.store(true, Ordering::Relaxed);
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
}
