//! Converts record streams on several cores: cut at record boundaries, converted in parts, written
//! in order.
//!
//! There is no dispatcher and no writer thread. A worker takes the next part of the input (a range
//! that it reads itself, if the input can be read at any position), converts it, and queues the
//! result. A worker that finds the first part of the queue converted and no other worker writing
//! writes that part and those that follow it; the others meanwhile continue with the next parts. So
//! all costs of a file are spread, including the system's share, and a worker waits only if more
//! than `PARTS_PER_JOB` parts per worker are under way: memory is bounded whatever the speeds are.
//! Buffers are recycled.
//!
//! The calling thread does the accounting, in input order. It is woken for many parts at once, or
//! for one that has a fault: with as many workers as cores, each time it runs, a worker does not.

mod parts;

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::thread::Builder;

use self::parts::{Part, Parts, Records, ToTerminator, read_range};
use crate::bytes::buffer::Out;
use crate::bytes::output::Output;
use crate::bytes::reader::{Skipped, WINDOW_BYTES};
use crate::convert::input::{Input, ReadAt, shrunk};
use crate::convert::job::{NAMED_BAD_RECORDS, OnBad, Summary, run};
use crate::model::format::{Format, Framing};
use crate::options::Options;
use crate::policy::documents::Documents;
use crate::policy::fidelity::{Fidelity, OnLoss};
use crate::policy::select::Matches;
use crate::{Error, ErrorKind, Result};

/// Parts under way per worker: one being converted, the others converted and waiting for an earlier
/// part.
const PARTS_PER_JOB: usize = 3;

/// Written parts after which the calling thread is woken, unless one of them is faulty.
const PARTS_PER_ACCOUNT: usize = 32;

/// Returns whether a conversion can be cut into parts: its input is a stream of records whose
/// boundaries can be found without parsing, and the outputs of two parts can be concatenated.
pub fn can_split(options: &Options) -> bool {
    let records = options.from.info().record_end.is_some();
    let documents = match options.resolved_documents() {
        Documents::Keep | Documents::Auto => options.to.framing() != Framing::Single,
        Documents::Join => options.to == Format::Json,
        Documents::Split => options.to.is_marc(),
    };
    // Which documents are taken depends on those before them.
    let all = options.head.is_none() && options.sample.is_none();
    let stage = options.stage.as_ref().is_none_or(|stage| stage.is_divisible());
    records && documents && all && stage && options.to.is_divisible()
}

/// Returns whether this conversion can be cut into parts for this input: see [`can_split`]. In a
/// stream, how far a broken record extends is only known by keeping it.
pub(crate) fn can_split_input(input: &Input<'_>, options: &Options) -> bool {
    can_split(options) && (!options.skip_bad || matches!(input, Input::At(_)))
}

/// A broken record in a part.
struct Bad {
    /// The error, without bytes if they are to be read again.
    piece: Skipped,
    /// Its length in bytes.
    length: u64,
}

impl Bad {
    fn is_unnamed(&self) -> bool {
        self.piece.error.is_none()
    }
}

/// A converted part.
struct Done {
    /// Where its first record begins.
    start: u64,
    /// The input buffer, to be reused.
    input: Vec<u8>,
    output: Vec<u8>,
    bad: Vec<Bad>,
    result: Result<Summary>,
}

/// The data of a part that the accounting needs.
struct Entry {
    start: u64,
    bad: Vec<Bad>,
    result: Result<Summary>,
}

impl Entry {
    fn is_faulty(&self) -> bool {
        self.result.is_err() || !self.bad.is_empty()
    }
}

/// The source of parts.
struct Supply<'a> {
    parts: Parts<'a>,
    /// The number of the next part.
    number: u64,
    ended: bool,
}

/// The queue between the workers and the end of the run. Parts are numbered in input order.
struct Line {
    /// Converted parts, and gaps for unfinished ones, from this number on.
    first: u64,
    converted: VecDeque<Option<Done>>,
    /// A worker is writing the part before them.
    writing: bool,
    /// Parts that were taken and not yet written.
    under_way: usize,
    /// Written parts that the calling thread has not seen, and how many of them are faulty.
    entries: VecDeque<Entry>,
    faulty: usize,
    /// Workers that are still running.
    at_work: usize,
    panicked: bool,
    /// Nothing more is taken or written.
    closed: bool,
    spare: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Line {
    /// Returns whether the calling thread has something to process.
    fn has_news(&self) -> bool {
        self.at_work == 0
            || self.panicked
            || self.faulty > 0
            || self.entries.len() >= PARTS_PER_ACCOUNT
    }
}

/// The destination of parts, used by one worker at a time.
struct Sheet<O> {
    output: O,
    frame: Frame,
    begun: bool,
}

impl<O: Output> Sheet<O> {
    fn write(&mut self, part: &[u8]) -> Result {
        let body = self.frame.body(part);
        if !body.is_empty() {
            self.output.write(self.frame.before(std::mem::replace(&mut self.begun, true)))?;
            self.output.write(body)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result {
        self.output.write(if self.begun { &self.frame.tail } else { &self.frame.empty })?;
        self.output.release()?;
        Ok(())
    }
}

/// The state that the threads share.
struct Shop<'a, O> {
    options: &'a Options,
    at: Option<&'a dyn ReadAt>,
    supply: Mutex<Supply<'a>>,
    line: Mutex<Line>,
    /// Signals room for another part, or the end.
    room: Condvar,
    /// Signals work for the calling thread.
    news: Condvar,
    sheet: Mutex<Sheet<O>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn wait<'l>(changed: &Condvar, line: MutexGuard<'l, Line>) -> MutexGuard<'l, Line> {
    changed.wait(line).unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Same as [`crate::convert::convert`], on [`Options::jobs`] threads.
///
/// # Errors
/// Same as there. The first error in input order ends the run.
pub(crate) fn convert<'a>(
    input: Input<'a>,
    output: impl Output + Send + 'a,
    options: &Options,
    on_bad: &mut OnBad<'_>,
) -> Result<Summary> {
    let parts = Parts::new(input, options)?;
    let jobs = options.jobs;
    let shop = Shop {
        options,
        at: parts.at(),
        supply: Mutex::new(Supply { parts, number: 0, ended: false }),
        line: Mutex::new(Line {
            first: 0,
            converted: VecDeque::new(),
            writing: false,
            under_way: 0,
            entries: VecDeque::new(),
            faulty: 0,
            at_work: jobs,
            panicked: false,
            closed: false,
            spare: Vec::new(),
        }),
        room: Condvar::new(),
        news: Condvar::new(),
        sheet: Mutex::new(Sheet { output, frame: Frame::new(options)?, begun: false }),
    };
    let fidelity = Fidelity::new(options.on_loss, options.to);
    let matches = Matches::default();
    let mut total = Summary { documents: 0, bad_records: 0, fidelity, matches };
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            let builder = match &options.stage {
                Some(stage) => Builder::new().stack_size(stage.stack_bytes()),
                None => Builder::new(),
            };
            let worker = builder.spawn_scoped(scope, || {
                if let Some(stage) = &options.stage {
                    stage.begin_thread();
                }
                shop.work();
            });
            worker.expect("the system starts a thread");
        }
        let result = shop.keep_account(&mut total, on_bad);
        shop.close();
        result
    })?;
    let sheet = shop.sheet.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    sheet.finish()?;
    Ok(total)
}

impl<O: Output + Send> Shop<'_, O> {
    /// Accounts for finished parts until all workers have ended.
    fn keep_account(&self, total: &mut Summary, on_bad: &mut OnBad<'_>) -> Result {
        loop {
            let mut line = lock(&self.line);
            while !line.has_news() {
                line = wait(&self.news, line);
            }
            let entries = std::mem::take(&mut line.entries);
            let (ended, panicked) = (line.at_work == 0, line.panicked);
            drop(line);
            for entry in entries {
                let faulty = entry.is_faulty();
                account(total, entry, self.at, on_bad)?;
                if faulty {
                    lock(&self.line).faulty -= 1;
                }
            }
            self.room.notify_all();
            if panicked {
                return Err(worker_gone());
            }
            if ended {
                return Ok(());
            }
        }
    }

    /// Tells the workers to stop.
    fn close(&self) {
        lock(&self.line).closed = true;
        self.room.notify_all();
    }

    fn work(&self) {
        /// Signals that this worker has ended, even by a panic; otherwise the calling thread would
        /// wait forever.
        struct Farewell<'s, 'a, O>(&'s Shop<'a, O>);

        impl<O> Drop for Farewell<'_, '_, O> {
            fn drop(&mut self) {
                let Shop { line, room, news, .. } = self.0;
                let mut line = lock(line);
                line.at_work -= 1;
                if std::thread::panicking() {
                    (line.panicked, line.closed) = (true, true);
                }
                room.notify_all();
                if line.has_news() {
                    news.notify_all();
                }
            }
        }

        let _farewell = Farewell(self);
        while let Some((input, output)) = self.buffers() {
            let Some((number, part)) = self.take(input) else {
                lock(&self.line).under_way -= 1;
                return;
            };
            let done = match part {
                Ok(part) => convert_part(part, output, self.at, self.options),
                // An error in the input takes the place of the part.
                Err(error) => Done::failed(0, Vec::new(), output, error),
            };
            self.put(number, done);
        }
    }

    /// Waits for room and returns the buffers for a part; `None` if the run has ended.
    fn buffers(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        let most = self.options.jobs * PARTS_PER_JOB;
        let mut line = lock(&self.line);
        while !line.closed
            && (line.under_way >= most
                || line.faulty >= most
                || line.entries.len() >= 2 * PARTS_PER_ACCOUNT)
        {
            line = wait(&self.room, line);
        }
        if line.closed {
            return None;
        }
        line.under_way += 1;
        Some(line.spare.pop().unwrap_or_default())
    }

    /// Returns the next part of the input and its number; `None` at the end.
    fn take(&self, buffer: Vec<u8>) -> Option<(u64, Result<Part>)> {
        let mut supply = lock(&self.supply);
        if supply.ended {
            return None;
        }
        let part = supply.parts.next(buffer).transpose();
        supply.ended = !matches!(part, Some(Ok(_)));
        let number = supply.number;
        supply.number += 1;
        part.map(|part| (number, part))
    }

    /// Queues a part, and writes those that are next in order unless another worker is writing.
    fn put(&self, number: u64, done: Done) {
        let mut line = lock(&self.line);
        let place = (number - line.first) as usize;
        if line.converted.len() <= place {
            line.converted.resize_with(place + 1, || None);
        }
        line.converted[place] = Some(done);
        while !line.writing
            && !line.closed
            && let Some(Some(_)) = line.converted.front()
        {
            let Some(Some(mut done)) = line.converted.pop_front() else {
                unreachable!("just checked")
            };
            line.first += 1;
            line.writing = true;
            drop(line);
            if done.result.is_ok()
                && let Err(error) = lock(&self.sheet).write(&done.output)
            {
                done.result = Err(error);
            }
            let Done { start, input, output, bad, result } = done;
            line = lock(&self.line);
            line.writing = false;
            line.under_way -= 1;
            line.spare.push((input, output));
            // A part that failed ends the writing.
            line.closed |= result.is_err();
            let entry = Entry { start, bad, result };
            line.faulty += usize::from(entry.is_faulty());
            line.entries.push_back(entry);
            self.room.notify_one();
            if line.has_news() {
                self.news.notify_all();
            }
        }
        if line.closed {
            self.room.notify_all();
        }
    }
}

/// Returns the error for a worker that panicked; the scope propagates the panic when it ends.
fn worker_gone() -> Error {
    Error::from(std::io::Error::other("a conversion thread ended early"))
}

impl Done {
    fn converted(
        start: u64,
        input: Vec<u8>,
        result: Result<(Summary, Vec<u8>)>,
        bad: Vec<Bad>,
    ) -> Done {
        let (result, output) = match result {
            Ok((summary, output)) => (Ok(summary), output),
            Err(error) => (Err(error), Vec::new()),
        };
        Done { start, input, output, bad, result }
    }

    fn failed(start: u64, input: Vec<u8>, output: Vec<u8>, error: Error) -> Done {
        Done { start, input, output, bad: Vec::new(), result: Err(error) }
    }
}

fn convert_part(part: Part, buffer: Vec<u8>, at: Option<&dyn ReadAt>, options: &Options) -> Done {
    let (start, input, records) = match part {
        Part::Bytes { start, bytes } => {
            let all = 0..bytes.len();
            (start, bytes, all)
        }
        Part::Range { start, end, buffer: mut input } => {
            let at = at.expect("only such inputs are cut into ranges");
            match read_range(at, start, end, &mut input, options) {
                Ok(Records::Read(start, records)) => (start, input, records),
                Ok(Records::Long(start)) => {
                    let read = ToTerminator::new(at, start, end, options.from);
                    let (result, bad) =
                        attempt(Input::Once(Box::new(read)), buffer, options, true, true);
                    return Done::converted(start, input, result, bad);
                }
                // The error's offset is already absolute, so `place` must add 0.
                Err(error) => return Done::failed(0, input, buffer, error),
            }
        }
    };
    let bytes = &input[records];
    let tracked = options.report || options.on_loss == OnLoss::Approximate;
    let (mut result, mut bad) = attempt(Input::Bytes(bytes), buffer, options, tracked, false);
    let is_faulty = match &result {
        Ok(_) => !bad.is_empty(),
        Err(error) => error.kind() != ErrorKind::Io,
    };
    if is_faulty && !tracked {
        // The fast path tracks no paths, and a pipe cannot be read again; this part can.
        let buffer = result.map_or_else(|_| Vec::new(), |(_, output)| output);
        (result, bad) = attempt(Input::Bytes(bytes), buffer, options, true, false);
    }
    Done::converted(start, input, result, bad)
}

/// Converts a part into a buffer. The bytes of broken records are kept, unless the part is `long`.
/// Records without a message are merged with the one before.
fn attempt(
    input: Input<'_>,
    buffer: Vec<u8>,
    options: &Options,
    tracked: bool,
    long: bool,
) -> (Result<(Summary, Vec<u8>)>, Vec<Bad>) {
    let mut bad: Vec<Bad> = Vec::new();
    let ran = run(input, Out::reusing(buffer), options, tracked, None, &mut |mut piece| {
        let length = piece.bytes.len() as u64;
        if long {
            piece.bytes = Vec::new();
        }
        match bad.last_mut() {
            Some(last) if piece.continues || piece.error.is_none() && last.is_unnamed() => {
                last.length += length;
                last.piece.bytes.append(&mut piece.bytes);
            }
            _ => bad.push(Bad { piece, length }),
        }
        Ok(())
    });
    (ran.map(|(summary, out)| (summary, out.into_vec())), bad)
}

/// The bytes around and between the records of a whole file. Every part is converted to a whole
/// file of its own; its frame is then stripped.
struct Frame {
    head: Vec<u8>,
    between: &'static [u8],
    tail: Vec<u8>,
    /// A file without records.
    empty: Vec<u8>,
}

impl Frame {
    fn new(options: &Options) -> Result<Frame> {
        let nothing = Input::Bytes(&[]);
        let (_, out) = run(nothing, Out::in_memory(), options, false, None, &mut |_| Ok(()))?;
        let empty = out.into_vec();
        let (head, between, tail): (&[u8], &'static [u8], &[u8]) = match options.to {
            Format::Json if options.json_write.indent.is_some() => (b"[", b",", b"\n]\n"),
            Format::Json => (b"[", b",", b"]\n"),
            Format::MarcXml => {
                let end = memchr::memmem::rfind(&empty, b"</").unwrap_or(empty.len());
                (&empty[..end], b"", &empty[end..])
            }
            // Every document after the first of a file is marked as one.
            Format::Yaml if !options.yaml_write.document_start => (b"", b"---\n", b""),
            _ => (b"", b"", b""),
        };
        Ok(Frame { head: head.to_vec(), between, tail: tail.to_vec(), empty })
    }

    /// Returns the records of a part.
    fn body<'b>(&self, part: &'b [u8]) -> &'b [u8] {
        let stripped = part.strip_prefix(self.head.as_slice());
        // A part without records need not have the shape of one with records.
        stripped.and_then(|part| part.strip_suffix(self.tail.as_slice())).unwrap_or_default()
    }

    /// Returns the bytes that go before a part with records: the head before the first, a separator
    /// before others.
    fn before(&self, begun: bool) -> &[u8] {
        if begun { self.between } else { &self.head }
    }
}

/// Accounts for the next part in order.
fn account(
    total: &mut Summary,
    entry: Entry,
    at: Option<&dyn ReadAt>,
    on_bad: &mut OnBad<'_>,
) -> Result {
    let before = total.documents + total.bad_records;
    let mut named = NAMED_BAD_RECORDS.saturating_sub(total.bad_records);
    for Bad { mut piece, length } in entry.bad {
        piece.offset += entry.start;
        piece.error = piece.error.filter(|_| named > 0);
        piece.error = piece.error.map(|error| place(error, before, entry.start));
        named = named.saturating_sub(1);
        match at {
            Some(at) if piece.bytes.len() as u64 != length => {
                give_again(at, piece, length, on_bad)?
            }
            _ => on_bad(piece)?,
        }
    }
    let part = entry.result.map_err(|error| place(error, before, entry.start))?;
    total.documents += part.documents;
    total.bad_records += part.bad_records;
    total.fidelity.merge(&part.fidelity, before);
    total.matches.merge(&part.matches);
    Ok(())
}

/// Reads the bytes of a broken record again and passes them on in pieces.
fn give_again(at: &dyn ReadAt, mut piece: Skipped, length: u64, on_bad: &mut OnBad<'_>) -> Result {
    let end = piece.offset + length;
    while piece.offset < end {
        let mut bytes = vec![0; (end - piece.offset).min(WINDOW_BYTES as u64) as usize];
        let got = match at.read_at(&mut bytes, piece.offset) {
            Ok(0) => return Err(shrunk(piece.offset)),
            Ok(got) => got,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        bytes.truncate(got);
        let offset = piece.offset + got as u64;
        let next =
            Skipped { error: None, continues: true, offset, head: Vec::new(), bytes: Vec::new() };
        on_bad(Skipped { bytes, ..std::mem::replace(&mut piece, next) })?;
    }
    Ok(())
}

/// Adjusts the location of an error in a part to the whole input.
#[cold]
fn place(error: Error, records_before: u64, start: u64) -> Error {
    let offset = error.offset().map(|offset| offset + start);
    let record = error.record().map(|record| record + records_before);
    let error = match offset {
        Some(offset) => error.at(offset),
        None => error,
    };
    match record {
        Some(record) => error.in_record(record),
        None => error,
    }
}
