//! Versions that paquito puts in front of a value, so that an application can change its serializer.
//!
//! Read from paquito 1.0.2 (`lib/paquito/comment_prefix_version.rb`, `single_byte_prefix_version.rb`):
//!
//! - `CommentPrefixVersion`: `#☠1☢` and a line break, a comment in YAML. The digit is the version.
//! - `SingleBytePrefixVersion`: a byte from 0 to 252, recognised in front of Marshal.
//!
//! What follows is what the application's coder of that version wrote. Only that coder reads it, so that it keeps
//! its format.

use super::{Fact, Inside, Row, Taken, Tools, django, entry};
use crate::model::format::Format;
use crate::model::hint::Hint;
use crate::model::option::Opt;
use crate::model::value::Value;
use crate::{Error, ErrorKind, Result};

/// `CommentPrefixVersion`.
pub(super) const COMMENT: Row = Row {
    name: "paquito-comment",
    title: "a value of paquito with a comment",
    is_certain: true,
    looks_like: &[None],
    holds: &CODERS,
    looks: |bytes, _| comment(bytes).is_some(),
    open: |bytes, _| {
        let Some((version, payload)) = comment(bytes) else {
            return Err(Error::syntax("found no comment with a version, expected `#☠1☢`").at(0));
        };
        // YAML has no mark of its own, and a comment is what it reads.
        let is_yaml = super::seen(payload).is_none() && std::str::from_utf8(payload).is_ok();
        let format = if is_yaml { Format::Yaml } else { django::format_of(payload)? };
        taken(version, payload, format)
    },
    close: Some(|around, inside, tools| {
        let (version, payload) = comment(around).unwrap_or_default();
        close(version, &around[..around.len() - payload.len()], inside, tools)
    }),
};

/// `SingleBytePrefixVersion`.
pub(super) const BYTE: Row = Row {
    name: "paquito-byte",
    title: "a value of paquito with a byte",
    // Without Marshal's mark it could be anything; with it, no format is detected.
    is_certain: true,
    looks_like: &[None],
    holds: &[Format::Marshal],
    looks: |bytes, _| byte(bytes).is_some(),
    open: |bytes, _| {
        let Some((version, payload)) = byte(bytes) else {
            return Err(Error::syntax("found no byte with Marshal after it, expected a version"));
        };
        taken(version, payload, Format::Marshal)
    },
    close: Some(|around, inside, tools| {
        let (version, payload) = byte(around).unwrap_or_default();
        close(version, &around[..around.len() - payload.len()], inside, tools)
    }),
};

const CODERS: [Format; 4] = [Format::Yaml, Format::Marshal, Format::Msgpack, Format::Json];
/// `SingleBytePrefixVersionWithStringBypass` has the bytes above for Strings.
const BYTE_MAX: u8 = 252;

/// Returns the version, and what follows.
fn comment(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let (version, rest) = bytes.strip_prefix("#☠".as_bytes())?.split_first()?;
    let payload = rest.strip_prefix("☢\n".as_bytes())?;
    version.is_ascii_digit().then(|| (version - b'0', payload))
}

/// Returns the version, and the Marshal that follows.
fn byte(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let (version, payload) = bytes.split_first()?;
    // The version of Marshal, and a type of it.
    let is_marshal =
        matches!(payload, [4, 8, kind, ..] if b"0TFiIlf\"/:;[{}oSuUeCcmMd@".contains(kind));
    (*version <= BYTE_MAX && is_marshal).then_some((*version, payload))
}

fn taken(version: u8, payload: &[u8], format: Format) -> Result<Taken> {
    let facts = vec![Fact { name: "version", value: Value::Int(version.into()) }];
    Ok(Taken { facts, steps: Vec::new(), format, bytes: payload.to_vec(), is_checked: false })
}

fn close(version: u8, head: &[u8], inside: &Inside<'_>, tools: &Tools<'_>) -> Result<Vec<u8>> {
    if inside.format != inside.was {
        let message = format!(
            "found {} to put after the version {version}, expected {}, which the coder of that version reads",
            inside.format.title(),
            inside.was.title()
        );
        let plain = Hint::set(Opt::Envelope, "open").to("write the value without it");
        return Err(Error::new(ErrorKind::Refused, message).hint(Hint::into(inside.was).or(plain)));
    }
    entry::check_single(inside, tools)?;
    Ok([head, inside.bytes].concat())
}
