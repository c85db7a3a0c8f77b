//! From the caller's format to the collection's, and back.

use regauge::convert::{self, Options};
use regauge::{Format, Limits, Objects, OnLoss};

use super::Entry;
use crate::error::{Error, Result};

/// Converts documents on the way in and out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Converter {
    pub(super) on_loss: OnLoss,
    pub(super) objects: Option<Objects>,
    pub(super) unwrap: bool,
    pub(super) limits: Limits,
}

impl Converter {
    /// Returns the document of an entry, in `format`.
    pub(crate) fn document(&self, key: &[u8], entry: Entry, format: Format) -> Result<Vec<u8>> {
        if entry.codec.format == format && self.keeps_bytes() && !self.unwrap {
            return Ok(entry.document);
        }
        self.converted(key, &entry.document, (entry.codec.format, format), self.unwrap)
    }

    /// Returns whether a document that is in the format already stays as it is.
    pub(super) fn keeps_bytes(&self) -> bool {
        self.on_loss != OnLoss::Wrap && self.objects.is_none()
    }

    /// Returns whether documents are brought into the wrapped notation, or out of it.
    pub(crate) fn changes_notation(&self) -> bool {
        self.on_loss == OnLoss::Wrap || self.objects == Some(Objects::Wrap) || self.unwrap
    }

    /// Returns a converter that takes every document literally, and keeps all of it.
    pub(crate) fn literally(self) -> Converter {
        Converter { on_loss: OnLoss::Refuse, objects: None, unwrap: false, ..self }
    }

    /// Converts a document; one that is in the format already is still read and rewritten.
    pub(crate) fn converted(
        &self,
        key: &[u8],
        document: &[u8],
        (from, to): (Format, Format),
        unwrap: bool,
    ) -> Result<Vec<u8>> {
        let mut options = Options::new(from, to);
        (options.on_loss, options.objects) = (self.on_loss, self.objects);
        options.unwrap = unwrap;
        options.limits = self.limits;
        options.documents = regauge::documents::Documents::Keep;
        let converted = convert::convert_counted(document, &options);
        let (mut converted, summary) = converted.map_err(|error| Error::document(key, error))?;
        let documents = summary.documents;
        if documents != 1 {
            return Err(Error::damaged(key, format!("found {documents} documents, expected one")));
        }
        // The newline at the end of a JSON file is not part of the document.
        if to.is_json() && converted.last() == Some(&b'\n') {
            converted.pop();
        }
        Ok(converted)
    }
}
