//! Entries of Rails.cache since 7.0.
//!
//! Read from `activesupport/lib/active_support/cache/` of Rails 7.0.10 (`cache.rb`, `Rails70Coder`), 7.1.6,
//! 7.2.3, 8.0.5 and 8.1.3 (`coder.rb`, `entry.rb`, `serializer_with_fallback.rb`). The head did not change
//! from 7.1 to 8.1.
//!
//! 7.1 and later (`Coder#dump`), little-endian:
//!
//! ```text
//! 00 11         signature
//! C             type: 1 serialized, 2 UTF-8, 3 binary, 4 US-ASCII; + 0x80 compressed
//! E             expires at, seconds since 1970; below 0: never
//! l<            bytes of the version; -1: none
//! …             the version: UTF-8, or another String in Marshal
//! …             the payload: Marshal; MessagePack after CC 80; or the bytes of a String
//! ```
//!
//! 7.0 (`Rails70Coder`): `00`, or `01` for zlib, and the Marshal of `[value, expires_at, version]`, without the
//! nils at the end.

use super::packing::{self, Packing};
use super::{Fact, Inside, Row, Taken, Tools, entry};
use crate::model::format::Format;
use crate::model::value::Value;
use crate::{Error, ErrorKind, Options, Result};

/// `Coder` of 7.1 and later.
pub(super) const CODER: Row = Row {
    name: "rails-cache-7.1",
    title: "Rails.cache 7.1",
    is_certain: true,
    looks_like: &[None],
    holds: &[Format::Marshal, Format::Msgpack],
    looks: |bytes, _| match bytes {
        [0, 0x11, kind, ..] => (1..=4).contains(&(kind & !COMPRESSED)),
        _ => false,
    },
    open: open_coder,
    close: Some(close_coder),
};

/// `Rails70Coder`, which 7.1 and later still read.
pub(super) const PACKED: Row = Row {
    name: "rails-cache-7.0",
    title: "Rails.cache 7.0",
    is_certain: true,
    looks_like: &[None],
    holds: &[Format::Marshal],
    looks: |bytes, _| match bytes {
        [0, 4, 8, b'[', ..] => true,
        [1, packed @ ..] => packing::is_zlib(packed),
        _ => false,
    },
    open: open_packed,
    close: Some(close_packed),
};

const SIGNATURE: [u8; 2] = [0x00, 0x11];
/// Signature, type, expiry and the length of the version.
const HEAD_BYTES: usize = 2 + 1 + 8 + 4;
const COMPRESSED: u8 = 0x80;
const SERIALIZED: u8 = 1;
const NO_VERSION: i32 = -1;
/// What `ActiveSupport::MessagePack` writes before the value: the integer 128 in two bytes.
const MSGPACK_SIGNATURE: &[u8] = &[0xCC, 0x80];
const MARSHAL_SIGNATURE: &[u8] = &[0x04, 0x08];
/// The extension types that `ActiveSupport::MessagePack` of 7.1 registers (`extensions.rb`).
const MSGPACK_EXTENSIONS: std::ops::RangeInclusive<i8> = 0..=17;

/// The head of an entry.
struct Head<'b> {
    kind: u8,
    expires: f64,
    version: Option<&'b [u8]>,
    payload: &'b [u8],
    /// Where the payload begins.
    at: usize,
}

impl Head<'_> {
    fn of(bytes: &[u8]) -> Result<Head<'_>> {
        let Some((head, rest)) = bytes.split_first_chunk::<HEAD_BYTES>() else {
            let found = bytes.len();
            return Err(cut(
                format!("found the end after {found} bytes, expected a head of {HEAD_BYTES}"),
                found,
            ));
        };
        let kind = head[2];
        let expires = f64::from_le_bytes(array(&head[3..11]));
        let length = i32::from_le_bytes(array(&head[11..15]));
        if !expires.is_finite() {
            return Err(Error::syntax(format!(
                "found {expires:?} as the time of expiry, expected seconds"
            ))
            .at(3));
        }
        let version = match usize::try_from(length) {
            Ok(length) => Some(rest.get(..length).ok_or_else(|| {
                let message = format!(
                    "found a version of {length} bytes, expected at most the {} that follow",
                    rest.len()
                );
                cut(message, 11)
            })?),
            Err(_) if length == NO_VERSION => None,
            Err(_) => {
                let message = format!(
                    "found {length} bytes as the length of the version, expected -1 for none"
                );
                return Err(Error::syntax(message).at(11));
            }
        };
        let at = HEAD_BYTES + version.map_or(0, <[u8]>::len);
        Ok(Head { kind, expires, version, payload: &bytes[at..], at })
    }

    fn facts(&self, tools: &Tools<'_>) -> Result<Vec<Fact>> {
        let mut facts = Vec::new();
        if self.expires >= 0.0 {
            facts.push(Fact::seconds("expires", self.expires));
        }
        match self.version {
            Some(version) if version.starts_with(MARSHAL_SIGNATURE) => {
                let value =
                    entry::read(version, tools).map_err(|error| error.at(HEAD_BYTES as u64))?;
                facts.push(Fact { name: "version", value });
            }
            Some(version) => facts.push(Fact::text("version", String::from_utf8_lossy(version))),
            None => {}
        }
        Ok(facts)
    }
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(bytes);
    array
}

#[cold]
fn cut(message: String, at: usize) -> Error {
    Error::truncated(message).hint("check that the value was copied whole").at(at as u64)
}

fn open_coder(bytes: &[u8], tools: &Tools<'_>) -> Result<Taken> {
    let head = Head::of(bytes)?;
    let mut steps = Vec::new();
    let mut payload = head.payload.to_vec();
    if head.kind & COMPRESSED != 0 {
        let (plain, packing) = packing::unpack(head.payload, head.at, tools)?;
        steps.push(packing.name());
        payload = plain;
    }
    let (format, bytes) = match head.kind & !COMPRESSED {
        SERIALIZED => serialized(payload, head.at)?,
        2 => (Format::Marshal, string(Kind::Utf8, payload, tools)?),
        3 => (Format::Marshal, string(Kind::Binary, payload, tools)?),
        4 => (Format::Marshal, string(Kind::Ascii, payload, tools)?),
        other => {
            let message = format!(
                "found an entry of type {other}, expected 1 to 4, which Rails 7.1 to 8.1 write"
            );
            return Err(Error::new(ErrorKind::Unsupported, message).at(2));
        }
    };
    Ok(Taken { facts: head.facts(tools)?, steps, format, bytes, is_checked: false })
}

/// Returns the format of a payload, and the payload without its mark.
fn serialized(mut payload: Vec<u8>, at: usize) -> Result<(Format, Vec<u8>)> {
    if payload.starts_with(MSGPACK_SIGNATURE) {
        payload.drain(..MSGPACK_SIGNATURE.len());
        return Ok((Format::Msgpack, payload));
    }
    if payload.starts_with(MARSHAL_SIGNATURE) {
        return Ok((Format::Marshal, payload));
    }
    if payload.is_empty() {
        return Err(cut("found the end of the entry, expected its payload".to_owned(), at));
    }
    // An application may set a serializer of its own.
    match super::seen(&payload) {
        Some(format) => Ok((format, payload)),
        None => {
            let begins = payload[..payload.len().min(4)].escape_ascii();
            let message = format!(
                "found a payload that begins with `{begins}`, expected Marshal or MessagePack"
            );
            Err(Error::new(ErrorKind::Unsupported, message)
                .hint("take it off with the serializer that the application sets")
                .at(at as u64))
        }
    }
}

enum Kind {
    Utf8,
    Binary,
    Ascii,
}

/// Returns a String as the document of Marshal that `Marshal.dump` makes of it.
fn string(kind: Kind, payload: Vec<u8>, tools: &Tools<'_>) -> Result<Vec<u8>> {
    let value = match kind {
        Kind::Binary => Value::Bytes(payload),
        Kind::Ascii if !payload.is_ascii() => Value::BrokenText(payload),
        Kind::Ascii | Kind::Utf8 => match String::from_utf8(payload) {
            Ok(text) => Value::Text(text),
            Err(error) => Value::BrokenText(error.into_bytes()),
        },
    };
    entry::write(value, tools)
}

fn close_coder(around: &[u8], inside: &Inside<'_>, tools: &Tools<'_>) -> Result<Vec<u8>> {
    let head = Head::of(around)?;
    let mut payload = Vec::with_capacity(inside.bytes.len() + 2);
    if inside.format == Format::Msgpack {
        check_extensions(inside, tools)?;
        payload.extend_from_slice(MSGPACK_SIGNATURE);
    } else {
        entry::check_single(inside, tools)?;
    }
    payload.extend_from_slice(inside.bytes);
    let mut kind = SERIALIZED;
    if head.kind & COMPRESSED != 0 {
        let packing = Packing::of(head.payload).unwrap_or(Packing::Zlib);
        let packed = tools.packer.pack(packing, &payload)?;
        // As `try_compress`, which keeps what does not become smaller.
        if packed.len() < payload.len() {
            (kind, payload) = (SERIALIZED | COMPRESSED, packed);
        }
    }
    let mut bytes = Vec::with_capacity(head.at + payload.len());
    bytes.extend_from_slice(&SIGNATURE);
    bytes.push(kind);
    // Expiry and version as they were.
    bytes.extend_from_slice(&around[3..head.at]);
    bytes.extend_from_slice(&payload);
    Ok(bytes)
}

/// Refuses extensions that `ActiveSupport::MessagePack` does not register: it could not load the entry.
fn check_extensions(inside: &Inside<'_>, tools: &Tools<'_>) -> Result {
    let mut options = Options::new(Format::Msgpack, Format::Msgpack);
    options.limits = *tools.limits;
    let values = crate::sinks::memory::read_values(inside.bytes, &options)?;
    let [value] = values.as_slice() else { return Err(entry::not_single(values.len())) };
    // What Rails wrote, it reads.
    let is_known = |kind: i8| MSGPACK_EXTENSIONS.contains(&kind) || inside.was == Format::Msgpack;
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        let found = match value {
            Value::Array(items) => {
                left.extend(items);
                continue;
            }
            Value::Map(pairs) => {
                left.extend(pairs.iter().flat_map(|(key, value)| [key, value]));
                continue;
            }
            Value::MsgpackExt(kind, _) if !is_known(*kind) => format!("the extension {kind}"),
            Value::Timestamp(_) => "a point in time (the extension -1)".to_owned(),
            _ => continue,
        };
        let message = format!("found {found}, which ActiveSupport::MessagePack does not read");
        return Err(Error::new(ErrorKind::Refused, message)
            .hint(crate::model::hint::Hint::into(Format::Marshal)));
    }
    Ok(())
}

fn open_packed(bytes: &[u8], tools: &Tools<'_>) -> Result<Taken> {
    let mut steps = Vec::new();
    let marshal = match bytes {
        [1, packed @ ..] => {
            let (plain, packing) = packing::unpack(packed, 1, tools)?;
            steps.push(packing.name());
            plain
        }
        [0, plain @ ..] => plain.to_vec(),
        _ => return Err(cut("found no mark, expected 00 or 01".to_owned(), 0)),
    };
    let Value::Array(members) = entry::read(&marshal, tools)? else {
        return Err(
            Error::syntax("found no Array, expected one of value, expiry and version").at(1)
        );
    };
    let mut members = members.into_iter();
    let value = members.next().unwrap_or(Value::Null);
    let facts = entry::facts(members.next(), members.next());
    Ok(Taken {
        facts,
        steps,
        format: Format::Marshal,
        bytes: entry::write(value, tools)?,
        is_checked: false,
    })
}

fn close_packed(around: &[u8], inside: &Inside<'_>, tools: &Tools<'_>) -> Result<Vec<u8>> {
    let (plain, packing) = match around {
        [1, packed @ ..] => {
            let (plain, packing) = packing::unpack(packed, 1, tools)?;
            (plain, Some(packing))
        }
        around => (around.get(1..).unwrap_or_default().to_vec(), None),
    };
    let value = entry::single(inside, tools)?;
    let Value::Array(mut members) = entry::read(&plain, tools)? else {
        return Err(
            Error::syntax("found no Array, expected one of value, expiry and version").at(1)
        );
    };
    entry::check_unshared(members.iter().skip(1))?;
    match members.first_mut() {
        Some(first) => *first = value,
        None => members.push(value),
    }
    let marshal = entry::write(Value::Array(members), tools)?;
    if let Some(packing) = packing {
        let packed = tools.packer.pack(packing, &marshal)?;
        if packed.len() < marshal.len() {
            return Ok([&[1], packed.as_slice()].concat());
        }
    }
    Ok([&[0], marshal.as_slice()].concat())
}
