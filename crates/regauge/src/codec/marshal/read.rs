//! The smaller parts of a scanned document: text with its encoding, symbols, names.

use std::borrow::Cow;

use super::scan::{Symbol, Tables};
use super::types::*;
use super::{encoding, skip};
use crate::model::utf8::from_utf8;
use crate::{Error, ErrorKind, Result};

/// What the first instance variable of text says about its encoding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Encoding<'d> {
    /// Nothing: the bytes are not text (`ASCII-8BIT`).
    None,
    Utf8,
    Ascii,
    /// Another encoding, by its name.
    Named(&'d str),
}

/// The instance variables of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ivars<'d> {
    pub encoding: Encoding<'d>,
    /// How many there are besides the encoding, which comes first.
    pub others: u64,
    /// The place of the first of the others.
    pub at: usize,
    /// The encoding appears twice, or there are no instance variables at all, neither of which Ruby
    /// writes.
    pub odd: bool,
}

/// A symbol: its bytes, and where its instance variables begin, if it has any.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name<'d> {
    pub raw: &'d [u8],
    pub ivars: Option<usize>,
}

/// A document and its tables.
#[derive(Clone, Copy)]
pub(super) struct Scanned<'d> {
    pub document: &'d [u8],
    pub tables: &'d Tables,
}

impl<'d> Scanned<'d> {
    /// Returns the symbol at `at` and the place after it.
    pub fn symbol(self, at: usize) -> (Name<'d>, usize) {
        match self.document[at] {
            SYMLINK => {
                let (index, end) = skip::number(self.document, at + 1);
                (self.symbol_number(index as usize), end)
            }
            SYMBOL => {
                let (raw, end) = skip::bytes(self.document, at + 1);
                (Name { raw, ivars: None }, end)
            }
            _ => {
                let (raw, end) = skip::bytes(self.document, at + 2);
                (Name { raw, ivars: Some(end) }, skip::symbol(self.document, at))
            }
        }
    }

    fn symbol_number(self, index: usize) -> Name<'d> {
        let Symbol { at, length, ivars } = self.tables.symbols[index];
        let (start, end) = (at as usize, (at + length) as usize);
        Name { raw: &self.document[start..end], ivars: ivars.then_some(end) }
    }

    /// Returns the instance variables of text, whose count is at `at`.
    pub fn ivars(self, at: usize) -> Ivars<'d> {
        let (count, at) = skip::number(self.document, at);
        let mut found = Ivars { encoding: Encoding::None, others: count, at, odd: count == 0 };
        if count == 0 {
            return found;
        }
        let (name, value) = self.symbol(at);
        let Some(encoding) = self.encoding(name.raw, value) else { return found };
        (found.encoding, found.others) = (encoding, count - 1);
        found.at = skip::value(self.document, value);
        if count > 1 {
            let (name, _) = self.symbol(found.at);
            found.odd = matches!(name.raw, b"E" | b"encoding");
        }
        found
    }

    /// Returns the encoding given by an instance variable with this name and its value at `at`.
    fn encoding(self, name: &[u8], at: usize) -> Option<Encoding<'d>> {
        match (name, self.document[at]) {
            (b"E", TRUE) => Some(Encoding::Utf8),
            (b"E", FALSE) => Some(Encoding::Ascii),
            (b"encoding", STRING | LINK) => {
                let at = match self.document[at] {
                    LINK => self.target(at),
                    _ => at,
                };
                // The name is a string without an encoding of its own.
                if self.document[at] != STRING {
                    return None;
                }
                let (raw, _) = skip::bytes(self.document, at + 1);
                Some(match std::str::from_utf8(raw).ok()? {
                    "UTF-8" => Encoding::Utf8,
                    "US-ASCII" => Encoding::Ascii,
                    "ASCII-8BIT" | "BINARY" => Encoding::None,
                    name => Encoding::Named(name),
                })
            }
            _ => None,
        }
    }

    /// Returns the object that the link at `at` names.
    #[inline]
    pub fn target(self, at: usize) -> usize {
        let (index, _) = skip::number(self.document, at + 1);
        self.tables.objects[index as usize] as usize
    }

    /// Returns a name in UTF-8, and the place after its symbol at `at`.
    ///
    /// # Errors
    /// `Unsupported` if its encoding is unknown.
    pub fn name(self, at: usize) -> Result<(Cow<'d, str>, usize)> {
        let (name, end) = self.symbol(at);
        match self.utf8(name) {
            Some(name) => Ok((name, end)),
            None => Err(unknown_name(at)),
        }
    }

    /// Returns a symbol in UTF-8. A symbol without an encoding is text only if its bytes are ASCII.
    pub fn utf8(self, name: Name<'d>) -> Option<Cow<'d, str>> {
        let Some(ivars) = name.ivars else {
            return from_utf8(name.raw).filter(|name| name.is_ascii()).map(Cow::Borrowed);
        };
        match self.ivars(ivars).encoding {
            Encoding::None => from_utf8(name.raw).filter(|name| name.is_ascii()).map(Cow::Borrowed),
            Encoding::Ascii | Encoding::Utf8 => from_utf8(name.raw).map(Cow::Borrowed),
            Encoding::Named(encoding) => encoding::decode(encoding, name.raw),
        }
    }

    /// Returns whether the object at `at` is a number, or text with nothing but its encoding: a
    /// leaf, for which sharing does not matter.
    pub fn is_leaf(self, at: usize) -> bool {
        match self.document[at] {
            STRING | FLOAT | BIGNUM | CLASS | MODULE | MODULE_OLD | REGEXP => true,
            IVARS if matches!(self.document[at + 1], STRING | REGEXP) => {
                let (_, end) = skip::bytes(self.document, at + 2);
                let end = end + usize::from(self.document[at + 1] == REGEXP);
                let ivars = self.ivars(end);
                ivars.others == 0 && !ivars.odd
            }
            _ => false,
        }
    }
}

#[cold]
pub(super) fn unknown_name(at: usize) -> Error {
    Error::new(
        ErrorKind::Unsupported,
        "found a class or a name in an unknown encoding, expected ASCII or UTF-8",
    )
    .at(at as u64)
}
