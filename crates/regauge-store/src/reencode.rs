//! From one codec to another, while others read and write.
//!
//! The collection's own codec is changed first, so that new values come in the new one. Then the
//! old values are walked in the order of their keys, in batches: each is decoded, encoded anew and
//! put back only if it is still the one that was read. A value that somebody has changed meanwhile
//! is theirs, and in the new codec already. Readers see the old bytes or the new, and each says by
//! its envelope what it is. The last key of every batch is noted in the database: a run that was
//! stopped goes on there.
//!
//! A value that the new format cannot hold exactly stays as it is, and is told.

use std::time::{Duration, Instant};

use crate::codec::Codec;
use crate::engine::{Order, Range};
use crate::error::{Error, Result};
use crate::store::{Settings, Store};

/// Values that are put back in one transaction: long enough that syncing does not count, short
/// enough that no writer waits long.
const BATCH: usize = 200;
/// Bytes of old and new values after which a batch is put back early.
const BATCH_BYTES: usize = 16 << 20;

/// What to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The codec that every value shall have.
    pub to: Codec,
    /// Whether nothing is changed: the saving is measured, and what would be lost is told.
    pub dry_run: bool,
    /// At most so many values a second; nothing is no limit.
    pub rate: Option<f64>,
}

/// What was done, or would be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Values that were looked at.
    pub values: u64,
    /// Values that are in the new codec now.
    pub changed: u64,
    /// Values that had it already.
    pub already: u64,
    /// Values that somebody else changed meanwhile.
    pub overtaken: u64,
    /// Values that stay as they are: damaged, or not to be held by the new format.
    pub refused: u64,
    /// Stored bytes of the changed values before.
    pub bytes_before: u64,
    /// Stored bytes of the same after.
    pub bytes_after: u64,
    /// Where a run that was stopped before went on.
    pub resumed_after: Option<Vec<u8>>,
}

/// Re-encodes a collection.
///
/// # Errors
/// `Engine`, and those of `on_refused`. What was done till then stays done, and the next run goes
/// on from there.
pub fn reencode(
    store: &mut Store,
    plan: &Plan,
    on_refused: &mut dyn FnMut(&Error) -> Result,
    progress: &mut dyn FnMut(&Outcome),
) -> Result<Outcome> {
    let note = format!("reencode/{}", store.name());
    let mut outcome = Outcome::default();
    let mut range = Range::all();
    if !plan.dry_run {
        if store.settings().codec != plan.to {
            store.save(Settings { codec: plan.to, ..store.settings().clone() })?;
        }
        if let Some(last) = resume(store.engine().note(&note)?, plan.to) {
            range.from = Some(last.clone());
            outcome.resumed_after = Some(last);
        }
    }
    let began = Instant::now();
    let mut batch = Vec::new();
    let mut bytes = 0;
    store.scan(&range, Order::Ascending, &mut |store, key, value| {
        outcome.values += 1;
        match anew(store, key, value, plan.to) {
            Ok(None) => outcome.already += 1,
            Ok(Some(new)) => {
                bytes += value.len() + new.len();
                batch.push((key.to_vec(), value.to_vec(), new));
            }
            Err(error @ (Error::Damaged { .. } | Error::Document { .. } | Error::Usage(_))) => {
                outcome.refused += 1;
                on_refused(&error)?;
            }
            Err(other) => return Err(other),
        }
        if batch.len() >= BATCH || bytes >= BATCH_BYTES {
            bytes = 0;
            put_back(store, plan, &note, &mut batch, key, &mut outcome)?;
            wait(plan.rate, outcome.values, began);
        }
        progress(&outcome);
        Ok(true)
    })?;
    if let Some((last, _, _)) = batch.last() {
        let last = last.clone();
        put_back(store, plan, &note, &mut batch, &last, &mut outcome)?;
    }
    if !plan.dry_run {
        store.engine().set_note(&note, None)?;
    }
    progress(&outcome);
    Ok(outcome)
}

/// The value in the new codec; nothing where it has it already.
fn anew(store: &mut Store, key: &[u8], value: &[u8], to: Codec) -> Result<Option<Vec<u8>>> {
    let entry = store.unseal(key, value)?;
    if entry.codec == to && entry.created.is_some() {
        return Ok(None);
    }
    // When it was put stays what it was.
    let created = entry.created.unwrap_or_else(crate::store::now);
    store.seal_as(key, &entry.document, entry.codec.format, to, created).map(Some)
}

fn put_back(
    store: &mut Store,
    plan: &Plan,
    note: &str,
    batch: &mut Vec<(Vec<u8>, Vec<u8>, Vec<u8>)>,
    last: &[u8],
    outcome: &mut Outcome,
) -> Result {
    let done = if plan.dry_run {
        vec![true; batch.len()]
    } else {
        let swaps: Vec<(&[u8], &[u8], &[u8])> =
            batch.iter().map(|(key, old, new)| (&key[..], &old[..], &new[..])).collect();
        let layout = store.settings().layout.clone();
        let done = store.engine().swap_many(&layout, &swaps)?;
        let text = [plan.to.to_string().as_bytes(), b"\n", last].concat();
        store.engine().set_note(note, Some(&text))?;
        done
    };
    for ((_, old, new), done) in batch.drain(..).zip(done) {
        if done {
            outcome.changed += 1;
            outcome.bytes_before += old.len() as u64;
            outcome.bytes_after += new.len() as u64;
        } else {
            outcome.overtaken += 1;
        }
    }
    Ok(())
}

/// The key behind which a stopped run to the same codec goes on.
fn resume(note: Option<Vec<u8>>, to: Codec) -> Option<Vec<u8>> {
    let note = note?;
    let end = note.iter().position(|byte| *byte == b'\n')?;
    let same = note[..end] == *to.to_string().as_bytes();
    same.then(|| note[end + 1..].to_vec())
}

/// Sleeps as long as the rate asks for.
fn wait(rate: Option<f64>, done: u64, began: Instant) {
    let Some(rate) = rate else { return };
    let due = Duration::try_from_secs_f64(done as f64 / rate).unwrap_or(Duration::MAX);
    std::thread::sleep(due.saturating_sub(began.elapsed()));
}
