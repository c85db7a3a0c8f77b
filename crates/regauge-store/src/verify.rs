//! Verifies every checksum and every document of a collection.

use regauge::Format;
use regauge::values;

use crate::codec::Codec;
use crate::engine::{ABANDONED, Order, Range};
use crate::error::{Error, Result};
use crate::store::Store;

/// What a walk over a collection found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Values verified.
    pub values: u64,
    /// Their size in the database.
    pub stored_bytes: u64,
    /// The size of their documents, decompressed.
    pub document_bytes: u64,
    /// The number of values per codec, and their size in the database; the most frequent first.
    pub codecs: Vec<(Codec, u64, u64)>,
    /// Values without an envelope: adopted ones.
    pub bare: u64,
    /// Values that are damaged or cannot be decoded.
    pub bad: u64,
    /// Large values that crashed writers had left half-written, now removed.
    pub swept: u64,
}

/// Verifies every value of a range: envelope, checksum, decompression, and the whole document with
/// its format's reader. Calls `on_bad` for each bad value, with an error that names its key, and
/// continues.
///
/// # Errors
/// `Engine`, and those of `on_bad`.
pub fn verify(
    store: &mut Store,
    range: &Range,
    on_bad: &mut dyn FnMut(&Error) -> Result,
    progress: &mut dyn FnMut(&Findings),
) -> Result<Findings> {
    let mut found = verify_first(store, (range, Order::Ascending, u64::MAX), on_bad, progress)?;
    if *range == Range::all() && store.is_there()? {
        let layout = store.settings().layout.clone();
        // A read-only database is still verified.
        found.swept = store.engine().sweep(&layout, ABANDONED).unwrap_or(0);
    }
    Ok(found)
}

/// Like [`verify`], for the first `limit` values of a range in an order.
///
/// # Errors
/// Those of [`verify`].
pub fn verify_first(
    store: &mut Store,
    (range, order, limit): (&Range, Order, u64),
    on_bad: &mut dyn FnMut(&Error) -> Result,
    progress: &mut dyn FnMut(&Findings),
) -> Result<Findings> {
    let mut found = Findings::default();
    if limit == 0 {
        return Ok(found);
    }
    store.scan(range, order, &mut |store, key, value| {
        found.values += 1;
        found.stored_bytes += value.len() as u64;
        match look(store, key, value) {
            Ok((codec, document_bytes, bare)) => {
                found.document_bytes += document_bytes;
                found.bare += u64::from(bare);
                count(&mut found.codecs, codec, value.len() as u64);
            }
            Err(error @ (Error::Damaged { .. } | Error::Document { .. })) => {
                found.bad += 1;
                on_bad(&error)?;
            }
            Err(other) => return Err(other),
        }
        progress(&found);
        Ok(found.values < limit)
    })?;
    found.codecs.sort_by_key(|(_, values, _)| std::cmp::Reverse(*values));
    Ok(found)
}

fn look(store: &mut Store, key: &[u8], value: &[u8]) -> Result<(Codec, u64, bool)> {
    let entry = store.unseal(key, value)?;
    let bytes = entry.document.len() as u64;
    read_whole(store, key, entry.codec.format, &entry.document)?;
    Ok((entry.codec, bytes, entry.created.is_none()))
}

/// Reads a document to its end; there must be exactly one.
fn read_whole(store: &Store, key: &[u8], format: Format, document: &[u8]) -> Result {
    let mut options = regauge::Options::new(format, format);
    options.limits = store.limits;
    let read = values::read_values(document, &options);
    let documents = read.map_err(|error| Error::document(key, error))?.len();
    if documents != 1 {
        return Err(Error::damaged(key, format!("found {documents} documents, expected one")));
    }
    Ok(())
}

fn count(codecs: &mut Vec<(Codec, u64, u64)>, codec: Codec, bytes: u64) {
    match codecs.iter_mut().find(|(one, _, _)| *one == codec) {
        Some((_, values, sum)) => {
            *values += 1;
            *sum += bytes;
        }
        None => codecs.push((codec, 1, bytes)),
    }
}
