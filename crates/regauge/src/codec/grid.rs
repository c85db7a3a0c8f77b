//! One document at a time: the four functions that every format has, for a document as a [`Value`].
//!
//! They use the default options and limits. [`read_values`](crate::read_values) and
//! [`write_values`](crate::write_values) take [`Options`] and any number of documents.

use std::io::{Read, Write};

use super::contract::Codec;
use crate::bytes::buffer::Out;
use crate::bytes::here::Here;
use crate::bytes::output::StreamOutput;
use crate::bytes::reader::{Parse, Reader};
use crate::model::format::Framing;
use crate::model::limits::Limits;
use crate::model::value::Value;
use crate::options::Options;
use crate::policy::event::{Source as _, Writer as _};
use crate::policy::fidelity::OnLoss;
use crate::policy::notation::Escape;
use crate::policy::tree::Builder;
use crate::{Error, Result};

/// Defines the functions for a codec; `item` is what messages call a document. What is documented
/// before it belongs to `to_vec`.
macro_rules! grid {
    ($(#[$doc:meta])* $codec:ty, $item:literal) => {
        $crate::codec::grid::grid!(@read $codec, $item);

        $(#[$doc])*
        ///
        /// # Errors
        /// `Refused` by the policy, `Unrepresentable` for a document that does not fit the format.
        pub fn to_vec(
            value: &$crate::Value,
            policy: $crate::OnLoss,
        ) -> $crate::Result<Vec<u8>> {
            $crate::codec::grid::to_vec::<$codec>(value, policy)
        }

        /// Writes the value. What the format cannot hold goes by `policy`.
        ///
        /// # Errors
        /// Same as [`to_vec`], and `Io` from `write`.
        pub fn to_writer(
            write: impl std::io::Write,
            value: &$crate::Value,
            policy: $crate::OnLoss,
        ) -> $crate::Result {
            $crate::codec::grid::to_writer::<$codec>(write, value, policy)
        }
    };
    (@read $codec:ty, $item:literal) => {
        /// Returns the only document in the bytes, within the default limits. A value that an alias repeats stands in
        /// each place; [`read_values`](crate::read_values) keeps the references.
        ///
        /// # Errors
        /// `Syntax` and `Truncated` with their offset, also if a second document follows; `Limit`; `Refused` for a
        /// value that contains itself.
        pub fn from_slice(bytes: &[u8]) -> $crate::Result<$crate::Value> {
            $crate::codec::grid::from_slice::<$codec>(bytes, $item)
        }

        /// Returns the only document of a stream, within the default limits.
        ///
        /// # Errors
        /// Same as [`from_slice`], and `Io` from `read`.
        pub fn from_reader(read: impl std::io::Read) -> $crate::Result<$crate::Value> {
            $crate::codec::grid::from_reader::<$codec>(read, $item)
        }
    };
}
pub(crate) use grid;

pub(crate) fn from_slice<C: Codec>(bytes: &[u8], item: &str) -> Result<Value> {
    let parser = C::parser(&Options::new(C::FORMAT, C::FORMAT));
    only::<C, _>(Reader::from_slice(parser, bytes), Some(bytes.len() as u64), item)
}

#[allow(unsafe_code, reason = "the stream stays on this thread")]
pub(crate) fn from_reader<C: Codec>(read: impl Read, item: &str) -> Result<Value> {
    // SAFETY: the reader that takes it is used and dropped in this function, which starts no thread.
    let read = unsafe { Here::new(read) };
    let parser = C::parser(&Options::new(C::FORMAT, C::FORMAT));
    only::<C, _>(Reader::from_read(parser, read), None, item)
}

/// Reads a document that nothing may follow.
fn only<C: Codec, P: Parse>(
    mut reader: Reader<'_, P>,
    length: Option<u64>,
    item: &str,
) -> Result<Value> {
    let article = if item.starts_with('i') { "an" } else { "a" };
    let mut builder = Builder::new(&Limits::default()).without_references();
    if !reader.next(&mut builder)? {
        let message = format!("found no bytes, expected {article} {item}");
        return Err(Error::truncated(message).at(0).in_format(C::FORMAT));
    }
    let value = builder.take().expect("a whole document was read");
    let end = reader.offset();
    match reader.next(&mut builder) {
        Ok(false) => Ok(value),
        // The reader knows that nothing may follow.
        Err(error) if C::FORMAT.framing() == Framing::Single => Err(error),
        Ok(true) | Err(_) => {
            let left = length.map_or(String::new(), |length| format!("{} ", length - end));
            let message = format!(
                "found {left}trailing bytes after the {item}, expected the end of the input"
            );
            Err(Error::syntax(message).at(end).in_format(C::FORMAT))
        }
    }
}

pub(crate) fn to_vec<C: Codec>(value: &Value, policy: OnLoss) -> Result<Vec<u8>> {
    Ok(write::<C>(Out::in_memory(), value, policy)?.into_vec())
}

#[allow(unsafe_code, reason = "the stream stays on this thread")]
pub(crate) fn to_writer<C: Codec>(to: impl Write, value: &Value, policy: OnLoss) -> Result {
    // SAFETY: the writer that takes it is used and dropped in this function, which starts no thread.
    let to = unsafe { Here::new(to) };
    let out = Out::to_output(StreamOutput::new(to), Limits::default().record_bytes);
    write::<C>(out, value, policy).map(|_| ())
}

fn write<'o, C: Codec>(out: Out<'o>, value: &Value, policy: OnLoss) -> Result<Out<'o>> {
    let mut options = Options::new(C::FORMAT, C::FORMAT);
    options.on_loss = policy;
    let mut writer = C::writer(out, &options, options.fidelity());
    match options.wraps() {
        true => value.drive(&mut Escape::new(&mut writer))?,
        false => value.drive(&mut writer)?,
    }
    writer.end_document()?;
    writer.finish()?;
    Ok(C::into_out(writer))
}
