//! What a format's code promises: the trait that each folder implements, and those that run it.

use std::fmt;

use crate::bytes::buffer::Out;
use crate::bytes::reader::Parse;
use crate::model::format::Format;
use crate::options::Options;
use crate::policy::event::Writer;
use crate::policy::fidelity::Fidelity;

/// A format's reader and writer.
pub trait Codec: 'static {
    /// The row of the table.
    const FORMAT: Format;
    /// Turns bytes into events.
    type Parser: Parse + Send + 'static;
    /// Turns events into bytes.
    type Writer<'o>: Writer + Send;

    /// Returns a parser that does what the options ask for.
    fn parser(options: &Options) -> Self::Parser;

    /// Returns a writer into `out` that does what the options ask for.
    fn writer<'o>(out: Out<'o>, options: &Options, fidelity: Fidelity) -> Self::Writer<'o>;

    /// Returns the output of a writer, with what is still in memory.
    fn into_out<'o>(writer: Self::Writer<'o>) -> Out<'o>;

    /// Whether the first bytes of a file, or all of it, are text of this format beyond reasonable doubt.
    /// Formats that [`super::detect`] tells by their marks need not say so here.
    fn is_likely(head: &[u8], is_whole: bool) -> bool {
        let _ = (head, is_whole);
        false
    }

    /// Whether a file of this format never, or hardly ever, begins like that.
    fn is_contradicted(looks: Looks, head: &[u8]) -> bool {
        let _ = head;
        match looks {
            Looks::Like(other) => other != Self::FORMAT,
            Looks::Other(_) => true,
            // The reader finds out: few letters begin a value.
            Looks::Text => false,
        }
    }
}

/// Generic code that runs with the codec of a format: see [`Format::visit`].
pub trait Visitor {
    /// What the code returns.
    type Output;

    /// Runs with this codec.
    fn visit<C: Codec>(self) -> Self::Output;
}

/// What the first bytes look like, beyond reasonable doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looks {
    /// Like this format.
    Like(Format),
    /// Like another kind of file, which has this name.
    Other(&'static str),
    /// Like text of some kind.
    Text,
}

impl Looks {
    /// Whether these bytes begin something else than JSON or YAML.
    pub(crate) fn is_neither_json_nor_yaml(self) -> bool {
        match self {
            Looks::Like(format) => !is_json_or_yaml(format),
            Looks::Other(_) => true,
            Looks::Text => false,
        }
    }
}

impl fmt::Display for Looks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Looks::Like(Format::MarcXml) => f.write_str("XML"),
            Looks::Like(format) => f.write_str(format.title()),
            Looks::Other(name) => f.write_str(name),
            Looks::Text => f.write_str("text"),
        }
    }
}

pub(super) fn is_json_or_yaml(format: Format) -> bool {
    matches!(format, Format::Json | Format::Ndjson | Format::MarcJson | Format::Yaml)
}

/// The text without byte order mark and white space at its beginning.
pub(crate) fn skip_blank(head: &[u8]) -> &[u8] {
    without_mark(head).trim_ascii_start()
}

pub(super) fn without_mark(head: &[u8]) -> &[u8] {
    head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head)
}
