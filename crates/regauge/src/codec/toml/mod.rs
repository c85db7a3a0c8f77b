//! TOML 1.1: configuration files of tables, keys and values.
//!
//! The specification is <https://toml.io/en/v1.1.0>. A file is one document, and that is a map. The
//! grammar is read by `toml_parser`; what a document means (which keys and tables may stand
//! together, what numbers and dates say) is decided here.
//!
//! Reader and writer hold the whole document, because a table's parts may be anywhere in a file, and
//! because a table's plain values have to stand before the tables in it. [`Limits::record_bytes`] and
//! [`Limits::nodes`] bound it.
//!
//! # Deviations
//! - An integer beyond 64 bits and a float beyond the range of a double are errors, as the
//!   specification asks for what is not held without loss.
//! - Fractions of a second have any number of digits, and leap seconds are read.
//!
//! # What a round trip loses
//! Comments, white space, how numbers, text and keys are spelled, and whether a table has a header, is
//! dotted or in braces. The order of keys is kept.

mod build;
mod faults;
mod lines;
mod moment;
pub(crate) mod places;
mod print;
mod reader;
mod scalars;
#[cfg(test)]
mod tests;
mod tree;
mod types;
mod writer;

pub use reader::Parser;
pub use writer::Writer;

use crate::bytes::buffer::Out;
use crate::codec::contract::Codec;
use crate::codec::contract::Looks;
use crate::model::limits::Limits;
use crate::{Fidelity, Format, options};

/// How TOML is read.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// A float whose digits a double does not keep is counted as a loss. A conversion with a report
    /// sets it.
    pub count_rounded: bool,
}

/// Reads TOML.
pub type Reader<'a> = crate::bytes::reader::Reader<'a, Parser>;

crate::codec::grid::grid! {
    /// The value, a map, as TOML. What the format cannot hold goes by `policy`.
    ///
    /// ```
    /// use regauge::{OnLoss, Value, toml};
    /// let text = |text: &str| Value::Text(text.to_owned());
    /// let server = Value::Map(vec![(text("port"), Value::Int(8080))]);
    /// let value = Value::Map(vec![(text("name"), text("a")), (text("server"), server)]);
    /// let bytes = toml::to_vec(&value, OnLoss::Refuse)?;
    /// assert_eq!(bytes, b"name = \"a\"\n\n[server]\nport = 8080\n");
    /// assert_eq!(toml::from_slice(&bytes)?, value);
    /// # Ok::<(), regauge::Error>(())
    /// ```
    Toml, "document"
}

/// TOML 1.1.
#[derive(Clone, Copy, Debug)]
pub enum Toml {}

impl Codec for Toml {
    const FORMAT: Format = Format::Toml;
    type Parser = Parser;
    type Writer<'o> = Writer<'o>;

    fn parser(options: &options::Options) -> Parser {
        Parser::new(Options { count_rounded: options.report }, options.limits)
    }

    fn writer<'o>(out: Out<'o>, options: &options::Options, fidelity: Fidelity) -> Writer<'o> {
        Writer::new(out, fidelity).with_limits(&options.limits)
    }

    fn into_out<'o>(writer: Self::Writer<'o>) -> Out<'o> {
        writer.into_out()
    }

    /// Whether the bytes are read without an error, up to where they are cut, and there is a key with a
    /// value. JSON, which can look like a header, has none.
    fn is_likely(head: &[u8], is_whole: bool) -> bool {
        let lines = match is_whole {
            true => head.len(),
            false => memchr::memrchr(b'\n', head).map_or(0, |end| end + 1),
        };
        // No pair is without a value, and looking for one is cheaper than reading.
        let head = &head[..lines];
        if !memchr::memchr_iter(b'=', head).any(|at| may_be_value(&head[at + 1..])) {
            return false;
        }
        let Ok(text) = std::str::from_utf8(head) else { return false };
        match reader::read(text, Limits::default()) {
            Ok(tree) => tree.has_values(),
            // A value of several lines can be cut.
            Err(error) => {
                !is_whole
                    && error.kind() == crate::ErrorKind::Truncated
                    && error.path().is_some_and(|path| !path.0.is_empty())
            }
        }
    }

    /// A header can look like an array of JSON or YAML.
    fn is_contradicted(looks: Looks, _: &[u8]) -> bool {
        looks != Looks::Like(Format::Toml) && looks.is_neither_json_nor_yaml()
    }
}

/// Returns whether bytes begin like a value (TOML 1.1, `val`), unlike the end of base64 and what signatures are joined with.
fn may_be_value(bytes: &[u8]) -> bool {
    match bytes.trim_ascii_start() {
        [b'+' | b'-', byte, ..] | [byte, ..] if byte.is_ascii_digit() => true,
        [b'+' | b'-', b'i' | b'n', ..] => true,
        [b'"' | b'\'' | b'[' | b'{' | b't' | b'f' | b'i' | b'n', ..] => true,
        _ => false,
    }
}
