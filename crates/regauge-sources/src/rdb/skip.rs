//! Walks over a value without holding it.
//!
//! A length that is far too large ends at the end of the dump: each element takes a byte at least.

use std::io::Read;

use regauge::{Error, ErrorKind, Result};

use super::input::Input;
use super::types::{Expiry, Layout, Packing, Tuple};
use super::{packed, sets};

/// The bytes that tell the number of entries of any packed value.
const PACKED_HEAD_BYTES: usize = 10;

/// Walks over a value. Returns how many parts it has, if that can be told.
pub(super) fn value<R: Read>(input: &mut Input<R>, layout: Layout) -> Result<Option<u64>> {
    match layout {
        Layout::String => {
            input.skip_string()?;
            return Ok(Some(1));
        }
        Layout::Zipmap => return Ok(sets::pairs(input.skip_string_after(PACKED_HEAD_BYTES)?)),
        Layout::Intset => return Ok(sets::integers(input.skip_string_after(PACKED_HEAD_BYTES)?)),
        Layout::Packed(packing, tuple) => return packed(input, packing, tuple),
        Layout::Stream(version) => return stream(input, version).map(Some),
        Layout::Module => {
            input.length()?;
            return module(input).map(|()| None);
        }
        _ => {}
    }
    if layout == Layout::ExpiringHash(Expiry::Relative) {
        input.window.skip(8)?;
    }
    let count = input.length()?;
    match layout {
        Layout::Quicklist => {
            strings(input, count)?;
            return Ok(None);
        }
        Layout::Quicklist2 => {
            nodes(input, count)?;
            return Ok(None);
        }
        Layout::ScoresAsText => scored(input, count, text_score)?,
        Layout::Scores => scored(input, count, score)?,
        Layout::Hash => {
            strings(input, count)?;
            strings(input, count)?;
        }
        Layout::ExpiringHash(_) => expiring_pairs(input, count)?,
        Layout::ValkeyHash => valkey_pairs(input, count)?,
        _ => strings(input, count)?,
    }
    Ok(Some(count))
}

fn packed<R: Read>(input: &mut Input<R>, packing: Packing, tuple: Tuple) -> Result<Option<u64>> {
    if tuple == Tuple::Expiring(Expiry::Relative) {
        input.window.skip(8)?;
    }
    let count = packed::count(packing, input.skip_string_after(PACKED_HEAD_BYTES)?);
    Ok(count.map(|count| count / tuple.width()))
}

/// Walks over so many strings.
pub(super) fn strings<R: Read>(input: &mut Input<R>, count: u64) -> Result<()> {
    (0..count).try_for_each(|_| input.skip_string())
}

/// Walks over so many numbers.
pub(super) fn numbers<R: Read>(input: &mut Input<R>, count: u64) -> Result<()> {
    (0..count).try_for_each(|_| input.length().map(drop))
}

/// Walks over so many members and their scores.
pub(super) fn scored<R: Read>(
    input: &mut Input<R>,
    count: u64,
    score: fn(&mut Input<R>) -> Result<()>,
) -> Result<()> {
    (0..count).try_for_each(|_| {
        input.skip_string()?;
        score(input)
    })
}

/// Walks over a score of eight bytes.
pub(super) fn score<R: Read>(input: &mut Input<R>) -> Result<()> {
    input.window.skip(8)
}

/// Walks over a score of digits.
pub(super) fn text_score<R: Read>(input: &mut Input<R>) -> Result<()> {
    match input.window.byte()? {
        253.. => Ok(()),
        length => input.window.skip(length.into()),
    }
}

/// Walks over so many fields and their values, each with its expiry before it.
pub(super) fn expiring_pairs<R: Read>(input: &mut Input<R>, count: u64) -> Result<()> {
    (0..count).try_for_each(|_| {
        input.length()?;
        strings(input, 2)
    })
}

/// Walks over so many fields and their values, each with its expiry after it.
pub(super) fn valkey_pairs<R: Read>(input: &mut Input<R>, count: u64) -> Result<()> {
    (0..count).try_for_each(|_| {
        strings(input, 2)?;
        input.window.skip(8)
    })
}

/// Walks over so many listpacks or single elements of a list.
pub(super) fn nodes<R: Read>(input: &mut Input<R>, count: u64) -> Result<()> {
    (0..count).try_for_each(|_| {
        let at = input.offset();
        match input.length()? {
            1 | 2 => input.skip_string(),
            other => Err(wrong_container(other, at)),
        }
    })
}

#[cold]
pub(super) fn wrong_container(found: u64, at: u64) -> Error {
    Error::syntax(format!("found container {found} in a list, expected 1 or 2"))
        .at(at)
        .hint(super::DAMAGED)
}

/// Walks over what a module wrote: numbers and strings, each after its kind, up to an end mark.
pub(super) fn module<R: Read>(input: &mut Input<R>) -> Result<()> {
    loop {
        let at = input.offset();
        match input.length()? {
            0 => return Ok(()),
            1 | 2 => input.length().map(drop)?,
            3 => input.window.skip(4)?,
            4 => input.window.skip(8)?,
            5 => input.skip_string()?,
            other => {
                let message =
                    format!("found kind {other} in the data of a module, expected 0 to 5");
                return Err(Error::new(ErrorKind::Unsupported, message).at(at).hint(super::NEWER));
            }
        }
    }
}

/// Walks over a stream. Returns how many entries it has.
fn stream<R: Read>(input: &mut Input<R>, version: u8) -> Result<u64> {
    // Each node is the identifier of its first entry, and a listpack.
    let count = input.length()?;
    strings(input, count)?;
    strings(input, count)?;
    let entries = input.length()?;
    // The last identifier; later also the first one, the last that was deleted, and how many were ever added.
    numbers(input, if version >= 2 { 7 } else { 2 })?;
    let groups = input.length()?;
    (0..groups).try_for_each(|_| group(input, version))?;
    if version >= 4 {
        producers(input)?;
    }
    Ok(entries)
}

/// The identifier of an entry, where it is not written as two numbers.
const ENTRY_BYTES: u64 = 16;

/// Walks over a group of consumers.
fn group<R: Read>(input: &mut Input<R>, version: u8) -> Result<()> {
    input.skip_string()?;
    numbers(input, if version >= 2 { 3 } else { 2 })?;
    let pending = input.length()?;
    (0..pending).try_for_each(|_| {
        // The entry, when it was delivered, and how often.
        input.window.skip(ENTRY_BYTES + 8)?;
        input.length().map(drop)
    })?;
    let consumers = input.length()?;
    (0..consumers).try_for_each(|_| {
        input.skip_string()?;
        // When it was seen, and later also when it was active.
        input.window.skip(if version >= 3 { 16 } else { 8 })?;
        entries(input)
    })?;
    if version >= 5 { entries(input) } else { Ok(()) }
}

/// Walks over a number of identifiers.
fn entries<R: Read>(input: &mut Input<R>) -> Result<()> {
    let count = input.length()?;
    input.window.skip(count.saturating_mul(ENTRY_BYTES))
}

/// Walks over what a stream remembers of its producers, so that none adds an entry twice.
fn producers<R: Read>(input: &mut Input<R>) -> Result<()> {
    numbers(input, 2)?;
    let producers = input.length()?;
    (0..producers).try_for_each(|_| {
        input.skip_string()?;
        let count = input.length()?;
        (0..count).try_for_each(|_| {
            input.skip_string()?;
            numbers(input, 2)
        })
    })?;
    numbers(input, 2)
}
