//! The errors of the scan, with their places.

use super::{PLACES, Scanner};
use crate::model::hint::Hint;
use crate::model::limits::{Limit, Limits};
use crate::{Error, ErrorKind};

impl Scanner {
    #[cold]
    pub(super) fn bad_link(&self, index: i64) -> Error {
        let count = self.tables.objects.len();
        syntax(
            self.at,
            format!("found a link to object {index}, expected one of the {count} before it"),
        )
    }

    /// Handles input that ends before the document does.
    #[cold]
    pub(super) fn cut(&mut self, document: &[u8]) -> Error {
        match self.short.take() {
            Some((at, what)) => Error::truncated(what).at(at as u64),
            None => {
                let left = document.len() - self.at;
                let what = match left {
                    0 => "found the end of the input, expected a value".to_owned(),
                    _ => format!(
                        "found the end of the input {left} bytes into a value, expected the rest of it"
                    ),
                };
                Error::truncated(what).at(self.at as u64)
            }
        }
    }

    #[cold]
    pub(super) fn token_too_long(&self, length: u64, limits: &Limits) -> Error {
        Error::limit(format!(
            "found a value of {length} bytes, more than {}, the limit of token_bytes",
            limits.token_bytes
        ))
        .hint(Hint::raise(Limit::TokenBytes))
        .at(self.at as u64)
    }

    #[cold]
    pub(super) fn too_many_symbols(&self, limits: &Limits) -> Error {
        Error::limit(format!("found more than {} symbols, the limit of nodes", limits.nodes))
            .hint(Hint::say("Ruby writes each symbol once").then(Hint::raise(Limit::Nodes)))
            .at(self.at as u64)
    }

    #[cold]
    pub(super) fn too_large(&self, limits: &Limits) -> Error {
        if limits.record_bytes > PLACES as u64 {
            return Error::new(
                ErrorKind::Unsupported,
                "found a document of 4 GiB or more, which Ruby Marshal's reader cannot hold",
            )
            .at(self.at as u64);
        }
        Error::limit(format!(
            "found a document of more than {} bytes, the limit of record_bytes",
            limits.record_bytes
        ))
        .hint(Hint::raise(Limit::RecordBytes).to(
            "raise it: links can name any object before them, so the whole document is held in memory",
        ))
        .at(self.at as u64)
    }
}

#[cold]
pub(super) fn syntax(at: usize, message: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::syntax(message).at(at as u64)
}

#[cold]
pub(super) fn negative(at: usize, count: i64) -> Error {
    syntax(at, format!("found a length of {count}, expected 0 or more"))
}

/// Formats a byte for messages.
pub(super) fn shown(byte: u8) -> String {
    match byte {
        b'!'..=b'~' => format!("{:?} (0x{byte:02X})", char::from(byte)),
        _ => format!("0x{byte:02X}"),
    }
}
