//! The text of a value: compact JSON in the wrapped notation.
//!
//! The notation itself is a policy, below all formats. Where it spells a key that is not text, and where
//! a message shows a value, it asks for the value's text; the functions for that are here, because the
//! text is JSON.

use std::fmt;

use super::{Parser, ReadOptions, Reader, WriteOptions, Writer};
use crate::bytes::buffer::Out;
use crate::model::format::Format;
use crate::model::limits::Limits;
use crate::model::value::Value;
use crate::policy::event::{Source, Writer as _};
use crate::policy::fidelity::{Fidelity, OnLoss};
use crate::policy::notation::{Escape, Unwrap};
use crate::policy::tree::Builder;
use crate::{Error, Result};

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fidelity = Fidelity::new(OnLoss::Wrap, Format::Json);
        let writer = Writer::new(Out::in_memory(), WriteOptions::default(), fidelity);
        let mut escape = Escape::new(writer);
        self.drive(&mut escape).map_err(|_| fmt::Error)?;
        escape.end_document().map_err(|_| fmt::Error)?;
        let bytes = escape.into_inner().into_out().into_vec();
        f.write_str(std::str::from_utf8(bytes.trim_ascii_end()).map_err(|_| fmt::Error)?)
    }
}

impl std::str::FromStr for Value {
    type Err = Error;

    /// Parses a text in the wrapped notation. A number with a fraction or an exponent is a double
    /// if the double is written exactly so, and a decimal otherwise: thus every value round-trips
    /// through its text.
    fn from_str(text: &str) -> Result<Value> {
        Value::from_notation(text, Limits::default())
    }
}

impl Value {
    /// As [`FromStr`](std::str::FromStr) has it, within these limits.
    pub(crate) fn from_notation(text: &str, limits: Limits) -> Result<Value> {
        let mut builder = Builder::new(&limits);
        let unwrap = Unwrap::new(&mut builder, &limits);
        let mut unwrap = unwrap.with_numbers_as_decimals();
        let exact = ReadOptions { exact_numbers: true, ..Default::default() };
        let parser = Parser::new(exact, limits);
        let mut reader = Reader::from_slice(parser, text.as_bytes());
        Source::next(&mut reader, &mut unwrap)?;
        Source::next(&mut reader, &mut unwrap)?;
        builder.take().ok_or_else(|| Error::truncated("found no value"))
    }

    /// Parses a text that [`notation`](Value::notation) wrote, and leaves the notation in it as the maps
    /// that it is made of.
    pub(crate) fn from_plain_json(text: &str, limits: Limits) -> Result<Value> {
        let mut builder = Builder::new(&limits);
        let mut reader =
            Reader::from_slice(Parser::new(Default::default(), limits), text.as_bytes());
        Source::next(&mut reader, &mut builder)?;
        Source::next(&mut reader, &mut builder)?;
        builder.take().ok_or_else(|| Error::truncated("found no value"))
    }

    /// Returns the value in the wrapped notation, with a user's own maps unchanged: for a value that
    /// has passed through [`Escape`].
    pub(crate) fn notation(&self) -> Result<String> {
        let bytes = bytes(OnLoss::Wrap, |writer| self.drive(writer))?;
        Ok(String::from_utf8(bytes).expect("JSON is text"))
    }
}

/// Returns the value as compact JSON without a final newline. With [`OnLoss::Wrap`] it is the full
/// notation: a user's own maps are guarded against being mistaken for it.
///
/// # Errors
/// `Refused` for values that the policy does not let through.
pub fn to_vec(value: &Value, on_loss: OnLoss) -> Result<Vec<u8>> {
    bytes(on_loss, |writer| match on_loss {
        OnLoss::Wrap => value.drive(&mut Escape::new(writer)),
        _ => value.drive(writer),
    })
}

/// Writes the value as [`to_vec`] returns it.
///
/// # Errors
/// Same as [`to_vec`], and `Io` from `write`.
pub fn to_writer(mut write: impl std::io::Write, value: &Value, policy: OnLoss) -> Result {
    Ok(write.write_all(&to_vec(value, policy)?)?)
}

fn bytes(on_loss: OnLoss, drive: impl FnOnce(&mut Writer<'_>) -> Result) -> Result<Vec<u8>> {
    let fidelity = Fidelity::new(on_loss, Format::Json);
    let mut writer = Writer::new(Out::in_memory(), WriteOptions::default(), fidelity);
    drive(&mut writer)?;
    let mut bytes = writer.into_out().into_vec();
    debug_assert_eq!(bytes.last(), Some(&b','));
    bytes.pop();
    Ok(bytes)
}
