//! Moves a collection from one codec to another, while others read and write.
//!
//! The collection's own codec is changed first, so that new values use the new one. Then the old
//! values are walked in key order, in batches: each is decoded, re-encoded and put back only if it
//! is still the one that was read. A value that another writer has changed meanwhile is left alone;
//! it is in the new codec already. Readers see either the old or the new bytes, and each envelope
//! says which. The last key of every batch is noted in the database: an interrupted run resumes
//! there.
//!
//! At the end, two parts are walked again: everything an earlier run had passed, because values it
//! refused may be acceptable now; and everything this run has passed, because others may have put
//! values there in the old codec before they saw the new one. They check every second.
//!
//! A value that the new format cannot hold exactly stays unchanged, and is reported.
//!
//! A run that writes or undoes the wrapped notation first looks at the values that are in the new codec
//! already, which would stay. If the notation would change one, the run is refused: nothing says whether
//! it is in the notation, and doing it twice would change what it means.

use std::time::{Duration, Instant};

use crate::codec::Codec;
use crate::engine::{Order, Range};
use crate::envelope::Envelope;
use crate::error::{Error, Result, shown};
use crate::settings::Settings;
use crate::store::{Entry, SETTINGS_AGE, Store};

/// Values per transaction when putting back: enough to amortise syncing, few enough that no writer
/// waits long.
const BATCH: usize = 200;
/// Bytes of old and new values at which a batch is put back early.
const BATCH_BYTES: usize = 16 << 20;

/// What to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The codec for every value.
    pub to: Codec,
    /// Dry run: measures the saving, and reports what would be lost.
    pub dry_run: bool,
    /// Maximum number of values per second, above 0; `None` is unlimited.
    pub rate: Option<f64>,
}

/// How often `progress` is called while a run waits for its rate.
const TICK: Duration = Duration::from_millis(20);

/// What was done, or would be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Values examined.
    pub values: u64,
    /// Values converted to the new codec.
    pub changed: u64,
    /// Values already in the new codec.
    pub already: u64,
    /// Values that another writer changed meanwhile.
    pub overtaken: u64,
    /// Values left unchanged: damaged, or not representable in the new format.
    pub refused: u64,
    /// Stored size of the changed values before.
    pub bytes_before: u64,
    /// Their stored size after.
    pub bytes_after: u64,
    /// Where an interrupted run resumed.
    pub resumed_after: Option<Vec<u8>>,
}

/// Re-encodes a collection.
///
/// `progress` is called for every value, and while the run waits for its rate.
///
/// # Errors
/// `Usage` for a rate that is not above 0, and for a collection that does not exist; `Engine`, `Stopped`, and
/// those of `on_refused`. What was done by then stays done, and the next run continues from there.
pub fn reencode(
    store: &mut Store,
    plan: &Plan,
    on_refused: &mut dyn FnMut(&Error) -> Result,
    progress: &mut dyn FnMut(&Outcome),
) -> Result<Outcome> {
    if let Some(rate) = plan.rate
        && !(rate.is_finite() && rate > 0.0)
    {
        return Err(Error::usage(format!("found a rate of {rate}, expected a number above 0")));
    }
    if !store.is_there()? {
        return Err(Error::usage(format!("the database has no collection {}", store.name())));
    }
    let note = format!("reencode/{}", store.name());
    let mut outcome = Outcome::default();
    let mut range = Range::all();
    let switches = !plan.dry_run && store.settings().codec != plan.to;
    // The note of a run to another codec says nothing about this one.
    if !plan.dry_run
        && let Some(last) = resume(store.engine().note(&note)?, &aim(store, plan.to))
    {
        range.from = Some(last.clone());
        outcome.resumed_after = Some(last);
    }
    refuse_ambiguous(store, &range, plan.to)?;
    if switches {
        store.save(Settings { codec: plan.to, ..store.settings().clone() })?;
    }
    let mut run = Run {
        plan,
        note,
        began: Instant::now(),
        batch: Vec::new(),
        bytes: 0,
        unseen_till: None,
        outcome,
    };
    run.walk(store, &range, Pass::First, on_refused, progress)?;
    if !plan.dry_run {
        if let Some(last) = run.outcome.resumed_after.clone() {
            let before = Range { from: None, to: Some(last) };
            run.walk(store, &before, Pass::Resumed, on_refused, progress)?;
        }
        if switches {
            let to = run.unseen_till.take();
            run.walk(store, &Range { from: None, to }, Pass::Again, on_refused, progress)?;
        }
        store.engine().set_note(&run.note, None)?;
    }
    progress(&run.outcome);
    Ok(run.outcome)
}

/// Which pass over the values this is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// From the beginning, or from where an earlier run was interrupted.
    First,
    /// Over what that run had passed.
    Resumed,
    /// Over what this run has passed: only values changed now count.
    Again,
}

struct Run<'p> {
    plan: &'p Plan,
    note: String,
    began: Instant,
    batch: Vec<(Vec<u8>, Vec<u8>, Vec<u8>)>,
    bytes: usize,
    /// The first key examined after others had seen the new codec.
    unseen_till: Option<Vec<u8>>,
    outcome: Outcome,
}

impl Run<'_> {
    fn walk(
        &mut self,
        store: &mut Store,
        range: &Range,
        pass: Pass,
        on_refused: &mut dyn FnMut(&Error) -> Result,
        progress: &mut dyn FnMut(&Outcome),
    ) -> Result {
        let counts = u64::from(pass != Pass::Again);
        let mut last = Vec::new();
        store.scan(range, Order::Ascending, &mut |store, key, value| {
            self.outcome.values += counts;
            if self.unseen_till.is_none() && self.began.elapsed() > SETTINGS_AGE * 2 {
                self.unseen_till = Some(key.to_vec());
            }
            match anew(store, key, value, self.plan.to) {
                Ok(None) => self.outcome.already += counts,
                Ok(Some(new)) => {
                    self.bytes += value.len() + new.len();
                    self.batch.push((key.to_vec(), value.to_vec(), new));
                }
                Err(error @ (Error::Damaged { .. } | Error::Document { .. } | Error::Usage(_))) => {
                    // Values that stay unchanged are reported once.
                    self.outcome.refused += counts;
                    if pass != Pass::Again {
                        on_refused(&error)?;
                    }
                }
                Err(other) => return Err(other),
            }
            key.clone_into(&mut last);
            if self.batch.len() >= BATCH || self.bytes >= BATCH_BYTES {
                self.put_back(store, &last, pass)?;
                self.wait(store, progress)?;
            }
            progress(&self.outcome);
            Ok(true)
        })?;
        if self.batch.is_empty() { Ok(()) } else { self.put_back(store, &last, pass) }
    }

    /// Waits until as many values as there were so far are due.
    fn wait(&self, store: &Store, progress: &mut dyn FnMut(&Outcome)) -> Result {
        let Some(rate) = self.plan.rate else { return Ok(()) };
        let due = Duration::try_from_secs_f64(self.outcome.values as f64 / rate);
        let due = due.unwrap_or(Duration::MAX);
        while let Some(left) = due.checked_sub(self.began.elapsed()) {
            if store.is_stopped() {
                return Err(Error::Stopped);
            }
            std::thread::sleep(left.min(TICK));
            progress(&self.outcome);
        }
        Ok(())
    }

    fn put_back(&mut self, store: &mut Store, last: &[u8], pass: Pass) -> Result {
        self.bytes = 0;
        let done = if self.plan.dry_run {
            vec![true; self.batch.len()]
        } else {
            let swaps: Vec<(&[u8], &[u8], &[u8])> =
                self.batch.iter().map(|(key, old, new)| (&key[..], &old[..], &new[..])).collect();
            let layout = store.settings().layout.clone();
            // Noted first, so that a run that resumes takes no value of this one for another's. Values
            // that are not put back then are, when it looks again at what was passed.
            if pass == Pass::First {
                let text = [aim(store, self.plan.to).as_bytes(), b"\n", last].concat();
                store.engine().set_note(&self.note, Some(&text))?;
            }
            store.engine().swap_many(&layout, &swaps)?
        };
        let outcome = &mut self.outcome;
        for ((_, old, new), done) in self.batch.drain(..).zip(done) {
            // One that was not there on the first pass.
            outcome.values += u64::from(pass == Pass::Again && done);
            if done {
                outcome.changed += 1;
                outcome.bytes_before += old.len() as u64;
                outcome.bytes_after += new.len() as u64;
            } else if pass != Pass::Again {
                outcome.overtaken += 1;
            }
        }
        Ok(())
    }
}

/// Re-encodes a value; `None` if it is in the new codec already.
fn anew(store: &mut Store, key: &[u8], value: &[u8], to: Codec) -> Result<Option<Vec<u8>>> {
    // Its checksum is verified, nothing else.
    if has_codec(key, value, to) {
        return Ok(None);
    }
    let entry = store.unseal(key, value)?;
    // Its timestamp stays unchanged.
    let created = entry.created.unwrap_or_else(crate::store::now);
    let from = (entry.codec.format, store.unwrap);
    store.seal_as(key, &entry.document, from, to, created).map(Some)
}

fn has_codec(key: &[u8], value: &[u8], codec: Codec) -> bool {
    matches!(Envelope::open(key, value), Ok(Some((envelope, _))) if envelope.codec == codec)
}

/// Refuses a run that would leave values that the notation changes beside values that it has changed.
fn refuse_ambiguous(store: &mut Store, range: &Range, to: Codec) -> Result {
    if !store.converter().changes_notation() {
        return Ok(());
    }
    store.scan(range, Order::Ascending, &mut |store, key, value| {
        match has_codec(key, value, to) && is_changed(store, key, value)? {
            true => Err(Error::usage(format!(
                "key {}: the document has the codec {to} already, and may be in the wrapped notation or \
                 not; nothing was changed; re-encode the collection to another codec first",
                shown(key)
            ))),
            false => Ok(true),
        }
    })
}

/// Returns whether the notation would change a document that has its codec.
fn is_changed(store: &mut Store, key: &[u8], value: &[u8]) -> Result<bool> {
    let converter = store.converter();
    let read = |store: &mut Store| -> Result<bool> {
        let Entry { codec, document, .. } = store.unseal(key, value)?;
        let pair = (codec.format, codec.format);
        let stays = converter.literally().converted(key, &document, pair, false)?;
        let changed = converter.converted(key, &document, pair, store.unwrap);
        Ok(changed.map_or(true, |changed| changed != stays))
    };
    match read(store) {
        // `verify` reports it.
        Err(Error::Damaged { .. } | Error::Document { .. }) => Ok(false),
        other => other,
    }
}

/// Returns what a run makes of the values, as its note says it.
fn aim(store: &Store, to: Codec) -> String {
    match (store.converter().changes_notation(), store.unwrap) {
        (false, _) => to.to_string(),
        (true, false) => format!("{to} wrapped"),
        (true, true) => format!("{to} unwrapped"),
    }
}

/// Returns the key after which an interrupted run with the same aim resumes.
fn resume(note: Option<Vec<u8>>, aim: &str) -> Option<Vec<u8>> {
    let note = note?;
    let end = note.iter().position(|byte| *byte == b'\n')?;
    (note[..end] == *aim.as_bytes()).then(|| note[end + 1..].to_vec())
}
