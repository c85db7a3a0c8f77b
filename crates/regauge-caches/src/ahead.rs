//! Looks into values on other cores while the source is read, and hands them over in the source's order.

use std::mem;
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Scope};

use regauge::{Limits, Result};
use regauge_sources::{Flow, Item, Part, Source, Summary, Wanted};

use crate::look::{Look, Looker};

/// How many bytes a core gets at once.
const BATCH_BYTES: usize = 256 << 10;
/// How many items a core gets at once: each takes some 300 bytes beside its key and value.
const BATCH_ITEMS: usize = 4096;
/// A longer value is not copied: this thread looks into it.
const COPIED_BYTES_MAX: usize = 1 << 20;

/// Reads a source, looks into each value, on so many cores, and calls `each` for every item, in order.
///
/// # Errors
/// Those of [`Source::read`] and of `each`. What was read before an error has been handed over.
pub fn read(
    source: &mut dyn Source,
    wanted: &Wanted<'_>,
    limits: Limits,
    jobs: usize,
    each: &mut dyn FnMut(&Item<'_>, Option<Look>) -> Result<()>,
) -> Result<Summary> {
    let looker = Looker::new(limits);
    // Without values there is nothing to look into.
    if jobs <= 1 || !wanted.values {
        return source.read(wanted, &mut |item| {
            each(item, item.value.map(|value| looker.look(value)))?;
            Ok(Flow::Continue)
        });
    }
    thread::scope(|scope| {
        let mut crew = Crew::start(scope, limits, jobs);
        let ran = source.read(wanted, &mut |item| {
            if item.value.is_some_and(|value| value.len() > COPIED_BYTES_MAX) {
                crew.hand_over(each)?;
                each(item, item.value.map(|value| looker.look(value)))?;
            } else {
                crew.take(item, each)?;
            }
            Ok(Flow::Continue)
        });
        let handed_over = crew.hand_over(each);
        ran.and_then(|summary| handed_over.map(|()| summary))
    })
}

/// The other cores, each with a batch at most. They get batches in turn, so the next one has the oldest.
struct Crew {
    workers: Vec<Worker>,
    next: usize,
    batch: Batch,
}

/// A thread that looks into the values of batches.
struct Worker {
    batches: SyncSender<Batch>,
    done: Receiver<Batch>,
    is_busy: bool,
}

impl Crew {
    fn start<'scope>(scope: &'scope Scope<'scope, '_>, limits: Limits, jobs: usize) -> Crew {
        let workers = (0..jobs).map(|_| Worker::start(scope, limits)).collect();
        Crew { workers, next: 0, batch: Batch::default() }
    }

    /// Puts an item into the batch, and gives a full batch away.
    fn take(
        &mut self,
        item: &Item<'_>,
        each: &mut dyn FnMut(&Item<'_>, Option<Look>) -> Result<()>,
    ) -> Result<()> {
        self.batch.push(item);
        if self.batch.bytes.len() < BATCH_BYTES && self.batch.items.len() < BATCH_ITEMS {
            return Ok(());
        }
        let workers = self.workers.len();
        let worker = &mut self.workers[self.next];
        let mut done = worker.finish().unwrap_or_default();
        let result = done.hand_over(each);
        worker.begin(mem::replace(&mut self.batch, done));
        self.next = (self.next + 1) % workers;
        result
    }

    /// Hands over everything that was taken.
    fn hand_over(
        &mut self,
        each: &mut dyn FnMut(&Item<'_>, Option<Look>) -> Result<()>,
    ) -> Result<()> {
        let worker = &mut self.workers[self.next];
        let oldest = worker.finish();
        worker.begin(mem::take(&mut self.batch));
        if let Some(mut oldest) = oldest {
            oldest.hand_over(each)?;
        }
        for turn in 1..=self.workers.len() {
            let at = (self.next + turn) % self.workers.len();
            if let Some(mut batch) = self.workers[at].finish() {
                batch.hand_over(each)?;
            }
        }
        Ok(())
    }
}

impl Worker {
    fn start<'scope>(scope: &'scope Scope<'scope, '_>, limits: Limits) -> Worker {
        let (batches, given) = sync_channel::<Batch>(1);
        let (back, done) = sync_channel(1);
        scope.spawn(move || {
            let looker = Looker::new(limits);
            for mut batch in given {
                batch.look(&looker);
                if back.send(batch).is_err() {
                    break;
                }
            }
        });
        Worker { batches, done, is_busy: false }
    }

    /// Waits for the batch that this worker has, if it has one.
    fn finish(&mut self) -> Option<Batch> {
        mem::take(&mut self.is_busy)
            .then(|| self.done.recv().expect("a worker ends after its channel"))
    }

    fn begin(&mut self, batch: Batch) {
        self.batches.send(batch).expect("a worker ends after its channel");
        self.is_busy = true;
    }
}

/// Items whose bytes are kept beside them.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    items: Vec<Kept>,
}

/// An item without its bytes, where they are in the batch, and what was seen.
struct Kept {
    item: Item<'static>,
    key: Range<usize>,
    field: Option<Range<usize>>,
    value: Option<Range<usize>>,
    look: Option<Look>,
}

impl Batch {
    fn push(&mut self, item: &Item<'_>) {
        let (part, field) = match item.part {
            Some(Part::Field(field)) => (None, Some(self.keep(field))),
            Some(Part::Index(index)) => (Some(Part::Index(index)), None),
            Some(Part::Member) => (Some(Part::Member), None),
            Some(Part::Score(score)) => (Some(Part::Score(score)), None),
            None => (None, None),
        };
        let key = self.keep(item.key);
        let value = item.value.map(|value| self.keep(value));
        let item = Item { key: b"", part, value: None, ..*item };
        self.items.push(Kept { item, key, field, value, look: None });
    }

    fn keep(&mut self, bytes: &[u8]) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        start..self.bytes.len()
    }

    fn look(&mut self, looker: &Looker) {
        for kept in &mut self.items {
            kept.look = kept.value.clone().map(|value| looker.look(&self.bytes[value]));
        }
    }

    /// Hands over the items, and leaves an empty batch.
    fn hand_over(
        &mut self,
        each: &mut dyn FnMut(&Item<'_>, Option<Look>) -> Result<()>,
    ) -> Result<()> {
        for kept in self.items.drain(..) {
            let part = kept.field.map(|field| Part::Field(&self.bytes[field])).or(kept.item.part);
            let item = Item {
                key: &self.bytes[kept.key],
                part,
                value: kept.value.map(|value| &self.bytes[value]),
                ..kept.item
            };
            each(&item, kept.look)?;
        }
        self.bytes.clear();
        Ok(())
    }
}
