//! Values of cachelib, and so of Flask-Caching: `!` and a pickle.
//!
//! Read from cachelib 0.17.0 (`src/cachelib/serializers.py`, `BaseRedisSerializer`). Integers are digits, without
//! an envelope.

use super::entry::not_single;
use super::{Inside, Row, Taken, Tools};
use crate::model::format::Format;
use crate::sinks::memory::read_values;
use crate::{Error, Options, Result};

/// What stands in front of every pickle.
const MARK: u8 = b'!';

/// A value of the cache.
pub(super) const CACHELIB: Row = Row {
    name: "cachelib",
    title: "a value of Flask-Caching",
    // No text: the mark of a pickle is no UTF-8. In MessagePack and CBOR the mark would be a number that a
    // document follows.
    is_certain: true,
    looks_like: &[None],
    holds: &[Format::Pickle],
    looks: |bytes, _| matches!(bytes, [MARK, 0x80, 2..=5, _, ..]),
    open,
    close: Some(close),
};

fn open(bytes: &[u8], _: &Tools<'_>) -> Result<Taken> {
    let Some((&MARK, inside)) = bytes.split_first() else {
        return Err(Error::syntax("found no exclamation mark, expected one and a pickle"));
    };
    let bytes = inside.to_vec();
    Ok(Taken {
        facts: Vec::new(),
        steps: Vec::new(),
        format: Format::Pickle,
        bytes,
        is_checked: false,
    })
}

fn close(_: &[u8], inside: &Inside<'_>, tools: &Tools<'_>) -> Result<Vec<u8>> {
    let mut options = Options::new(inside.format, inside.format);
    options.limits = *tools.limits;
    match read_values(inside.bytes, &options)?.len() {
        1 => Ok([&[MARK], inside.bytes].concat()),
        others => Err(not_single(others)),
    }
}
