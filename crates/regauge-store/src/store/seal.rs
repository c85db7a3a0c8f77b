//! What is stored of a document: converted, compressed, in its envelope. And back.

use std::borrow::Cow;

use regauge::{Format, msgpack};

use super::{DOCUMENT_BYTES_MAX, Entry, Store, dictionaries, now};
use crate::codec::{Codec, Compression, Packer, ZSTD_LEVEL};
use crate::envelope::{self, Envelope};
use crate::error::{Error, Result};

impl Store {
    /// Encodes a document for storage: converted, compressed, with its envelope.
    ///
    /// # Errors
    /// `Document`.
    pub fn seal(&mut self, key: &[u8], document: &[u8], format: Format) -> Result<Vec<u8>> {
        self.seal_as(key, document, (format, false), self.settings.codec, now())
    }

    /// The same for a document that may be in the wrapped notation (`unwrap`), in any codec.
    pub(crate) fn seal_as(
        &mut self,
        key: &[u8],
        document: &[u8],
        (format, unwrap): (Format, bool),
        codec: Codec,
        created: u32,
    ) -> Result<Vec<u8>> {
        // A document already in the format is still read, so that nothing broken is ever stored.
        // MessagePack stays unchanged; text is compacted, and other formats are rewritten by our
        // writers.
        if (format, codec.format) == (Format::Msgpack, Format::Msgpack)
            && self.converter().keeps_bytes()
            && !unwrap
            && msgpack::check(document, &self.limits).is_ok()
        {
            return self.sealed(key, document.into(), codec, created);
        }
        let pair = (format, codec.format);
        let converted = self.converter().converted(key, document, pair, unwrap)?;
        self.sealed(key, converted.into(), codec, created)
    }

    /// Encodes a document that is in the codec's format: compressed, with its envelope.
    pub(super) fn sealed(
        &mut self,
        key: &[u8],
        document: Cow<'_, [u8]>,
        codec: Codec,
        created: u32,
    ) -> Result<Vec<u8>> {
        if document.len() > DOCUMENT_BYTES_MAX {
            return Err(Error::usage(format!(
                "key {}: the document has {} bytes, the limit is {DOCUMENT_BYTES_MAX}",
                crate::error::shown(key),
                document.len()
            )));
        }
        let length = u32::try_from(document.len()).expect("below the limit");
        let payload = match codec.compression {
            Compression::None => document,
            compression => self.packer.pack(compression, document.into_owned())?.into(),
        };
        let envelope = Envelope { codec, created, length }.seal(&payload);
        // A buffer created for this value usually has room for its envelope.
        let mut value = match payload {
            Cow::Owned(payload) => payload,
            Cow::Borrowed(payload) => {
                let mut value = Vec::with_capacity(envelope::BYTES + payload.len());
                value.extend_from_slice(payload);
                value
            }
        };
        value.splice(..0, envelope);
        Ok(value)
    }

    /// Opens a stored value: checks its envelope and checksum, and decompresses its document.
    ///
    /// # Errors
    /// `Damaged`.
    pub fn unseal(&mut self, key: &[u8], value: &[u8]) -> Result<Entry> {
        match self.settings.unseal(&mut self.packer, key, value) {
            // Another process may have trained one since this handle was opened.
            Err(Error::Damaged { .. }) if self.packer.lacks_dictionary(value) => {
                let all = dictionaries(&*self.engine, &self.name)?;
                self.packer = Packer::new(ZSTD_LEVEL, &all)?;
                self.settings.unseal(&mut self.packer, key, value)
            }
            other => other,
        }
    }

    /// The same for an owned value: if nothing has to be decompressed, its bytes become the
    /// document's.
    pub(super) fn unseal_owned(&mut self, key: &[u8], mut value: Vec<u8>) -> Result<Entry> {
        if let Ok(Some((Envelope { codec, created, length }, payload))) =
            Envelope::open(key, &value)
            && codec.compression == Compression::None
            && payload.len() == length as usize
        {
            let stored_bytes = value.len() as u64;
            value.drain(..envelope::BYTES);
            return Ok(Entry { codec, created: Some(created), stored_bytes, document: value });
        }
        self.unseal(key, &value)
    }

    /// Returns another packer like this handle's, for another thread.
    pub(crate) fn another_packer(&self) -> Result<Packer> {
        self.packer.another()
    }
}
