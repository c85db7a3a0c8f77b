//! The library's only error type: what went wrong, where, and what to do about it.
//!
//! An [`Error`] is one word wide, so that a hot call returns it in a register. A reader that finds
//! a fault knows only its offset; record, path, line and excerpt are added by the callers that know
//! them (see [`crate::convert`](mod@crate::convert)).

use std::borrow::Cow;
use std::fmt;
use std::io;

use crate::model::format::Format;
use crate::model::hint::{Hint, Surface};
use crate::model::limits::{Limit, Limits};
use crate::model::path::Path;

/// The result of every fallible function in this crate.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

/// The category of an error: the part that callers act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Reading or writing bytes failed; [`std::error::Error::source`] is the [`io::Error`].
    Io,
    /// The input ends inside a value.
    Truncated,
    /// The input breaks the grammar of its format.
    Syntax,
    /// The input is well formed but needs something that this version does not support.
    Unsupported,
    /// The target format cannot hold this document in any way.
    Unrepresentable,
    /// A limit of [`crate::Limits`] was reached.
    Limit,
    /// Continuing would lose something, and the policy is [`crate::OnLoss::Refuse`].
    Refused,
    /// The input is well formed, but is not what a Rust type (with the feature `serde`) or a filter
    /// asks for.
    Data,
}

impl ErrorKind {
    /// Returns the kind's name in lower case, as reports show it: `"syntax"`, `"refused"`, …
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::Io => "io",
            ErrorKind::Truncated => "truncated",
            ErrorKind::Syntax => "syntax",
            ErrorKind::Unsupported => "unsupported",
            ErrorKind::Unrepresentable => "unrepresentable",
            ErrorKind::Limit => "limit",
            ErrorKind::Refused => "refused",
            ErrorKind::Data => "data",
        }
    }
}

/// An error and its location.
///
/// The text says where, what was found, what was expected and what to do:
///
/// ```text
/// msgpack: byte 41, at $.items[2].when: found the reserved byte 0xC1, expected a value
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    format: Option<Format>,
    offset: Option<u64>,
    line_column: Option<(u64, u64)>,
    record: Option<u64>,
    record_id: Option<Box<str>>,
    path: Option<Path>,
    message: Cow<'static, str>,
    hint: Option<Hint>,
    excerpt: Option<Box<str>>,
    source: Option<io::Error>,
}

impl Error {
    /// Creates an error of `kind`. `message` says what was found and what was expected, in lower
    /// case and without a full stop.
    #[cold]
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Error {
        Error(Box::new(Inner {
            kind,
            format: None,
            offset: None,
            line_column: None,
            record: None,
            record_id: None,
            path: None,
            message: message.into(),
            hint: None,
            excerpt: None,
            source: None,
        }))
    }

    /// Creates a [`ErrorKind::Syntax`] error.
    #[cold]
    pub fn syntax(message: impl Into<Cow<'static, str>>) -> Error {
        Error::new(ErrorKind::Syntax, message)
    }

    /// Creates a [`ErrorKind::Truncated`] error.
    #[cold]
    pub fn truncated(message: impl Into<Cow<'static, str>>) -> Error {
        Error::new(ErrorKind::Truncated, message)
    }

    /// Creates a [`ErrorKind::Limit`] error.
    #[cold]
    pub fn limit(message: impl Into<Cow<'static, str>>) -> Error {
        Error::new(ErrorKind::Limit, message)
    }

    /// Creates a [`ErrorKind::Unrepresentable`] error.
    #[cold]
    pub fn unrepresentable(message: impl Into<Cow<'static, str>>) -> Error {
        Error::new(ErrorKind::Unrepresentable, message)
    }

    /// Sets the offset, in bytes from the start of the input.
    #[cold]
    #[must_use]
    pub fn at(mut self, offset: u64) -> Error {
        self.0.offset = Some(offset);
        self
    }

    /// Sets the format of the input.
    #[must_use]
    pub fn in_format(mut self, format: Format) -> Error {
        self.0.format = Some(format);
        self
    }

    /// Adds what the fault is in, in front of the message.
    #[cold]
    #[must_use]
    pub(crate) fn within(mut self, what: &str) -> Error {
        self.0.message = format!("in {what}: {}", self.0.message).into();
        self
    }

    /// Sets what to do about it: an option to set, or text that names no option.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Hint>) -> Error {
        self.0.hint = Some(hint.into());
        self
    }

    /// Sets the hint to raise the limit of depth, unless it is already as high as it can be.
    #[doc(hidden)]
    #[must_use]
    pub fn hint_depth(self, limit: u32) -> Error {
        if limit >= Limits::DEPTH_CEILING {
            return self;
        }
        self.hint(Hint::raise(Limit::Depth).to("raise it, up to 1024"))
    }

    /// Sets the number of the document in its stream, from 1.
    #[must_use]
    pub fn in_record(mut self, record: u64) -> Error {
        self.0.record = Some(record);
        self
    }

    /// Sets the record's own identifier (field 001 of a MARC record).
    #[must_use]
    pub fn in_record_id(mut self, id: impl Into<Box<str>>) -> Error {
        self.0.record_id = Some(id.into());
        self
    }

    /// Sets the path of the fault in its document.
    #[must_use]
    pub fn at_path(mut self, path: Path) -> Error {
        self.0.path = Some(path);
        self
    }

    /// This error, found below `step` of a container.
    #[cfg(feature = "serde")]
    #[cold]
    pub(crate) fn below(mut self, step: crate::model::path::Step) -> Error {
        self.0.path.get_or_insert_default().0.insert(0, step);
        self
    }

    /// This error without offset and record, which mean nothing where there is no input.
    #[cfg(feature = "serde")]
    #[cold]
    pub(crate) fn without_place(mut self) -> Error {
        (self.0.offset, self.0.record) = (None, None);
        self
    }

    /// This error about a document that was read outside of the library: it keeps the document's number, and an
    /// offset only if that code set one.
    #[cold]
    pub(crate) fn of_given(mut self) -> Error {
        self.0.format = None;
        self.0.offset = self.0.offset.filter(|offset| *offset > 0);
        self
    }

    /// Sets line and column of the fault, both from 1; columns count characters.
    #[must_use]
    pub fn at_line(mut self, line: u64, column: u64) -> Error {
        self.0.line_column = Some((line, column));
        self
    }

    /// Sets an excerpt of a few lines that shows the place: see [`crate::bytes::excerpt`].
    #[must_use]
    pub fn with_excerpt(mut self, excerpt: impl Into<Box<str>>) -> Error {
        self.0.excerpt = Some(excerpt.into());
        self
    }

    /// Returns the category of this error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the format of the input that caused the error.
    pub fn format(&self) -> Option<Format> {
        self.0.format
    }

    /// Returns the offset of the fault in the (decompressed) input, in bytes from 0.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// Returns line and column of the fault, from 1, if the format is text.
    pub fn line_column(&self) -> Option<(u64, u64)> {
        self.0.line_column
    }

    /// Returns the number of the document in its stream, from 1.
    pub fn record(&self) -> Option<u64> {
        self.0.record
    }

    /// Returns the record's own identifier: field 001 of a MARC record.
    pub fn record_id(&self) -> Option<&str> {
        self.0.record_id.as_deref()
    }

    /// Returns the path of the fault in its document.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_ref()
    }

    /// Returns what was found and what was expected, without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns what to do about it, in the words of a surface; `None` if nothing there can help.
    pub fn hint_for(&self, surface: &Surface<'_>) -> Option<String> {
        self.0.hint.as_ref()?.render(surface)
    }

    /// Returns the full text with the hint in the words of a surface. [`Display`](fmt::Display)
    /// uses those of this library: fields of [`crate::Options`].
    pub fn display<'a>(&'a self, surface: &'a Surface<'a>) -> impl fmt::Display + 'a {
        struct On<'a>(&'a Error, &'a Surface<'a>);
        impl fmt::Display for On<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.write(f, self.1)
            }
        }
        On(self, surface)
    }

    /// Returns a few lines of the input that show the place.
    pub fn excerpt(&self) -> Option<&str> {
        self.0.excerpt.as_deref()
    }
}

impl From<io::Error> for Error {
    #[cold]
    fn from(source: io::Error) -> Error {
        // One of our own errors that had to pass through `Read` or `Write`, such as from a
        // decompressor.
        let source = match source.downcast::<Error>() {
            Ok(ours) => return ours,
            Err(source) => source,
        };
        let mut error = Error::new(ErrorKind::Io, source.to_string());
        error.0.source = Some(source);
        error
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, &Surface::RUST)
    }
}

impl Error {
    fn write(&self, f: &mut fmt::Formatter<'_>, surface: &Surface<'_>) -> fmt::Result {
        let inner = &*self.0;
        if let Some(format) = inner.format {
            write!(f, "{}: ", format.name())?;
        }
        let mut separator = "";
        if let Some(record) = inner.record {
            write!(f, "record {record}")?;
            if let Some(id) = &inner.record_id {
                write!(f, " (001 {})", id.escape_debug())?;
            }
            separator = ", ";
        }
        if let Some(offset) = inner.offset {
            write!(f, "{separator}byte {offset}")?;
            if let Some((line, column)) = inner.line_column {
                write!(f, " (line {line}, column {column})")?;
            }
            separator = ", ";
        }
        if let Some(path) = &inner.path {
            write!(f, "{separator}at {path}")?;
            separator = ", ";
        }
        if !separator.is_empty() {
            f.write_str(": ")?;
        }
        f.write_str(&inner.message)?;
        if let Some(hint) = self.hint_for(surface) {
            write!(f, "; {hint}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({:?}: {self})", self.0.kind)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|e| e as _)
    }
}
