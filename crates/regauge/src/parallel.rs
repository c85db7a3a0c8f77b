//! Record streams over several cores: cut at record boundaries, converted in parts, written in
//! order.
//!
//! The calling thread hands out the work and keeps the account of what is done; the workers do it.
//! Where the input can be read at any place, a part is a range of it, and the worker that converts
//! it reads it too; where the output can be written at any place, that worker also writes it, from
//! its own core's cache, when it is its turn: two writes at once would only wait for each other in
//! the system. So all that a file costs, the system's share included, is spread. A stream is read,
//! and written, by the calling thread.
//!
//! A part is handed out only while fewer than `PARTS_PER_JOB` per worker are under way, converted
//! or not, so that memory is bounded whatever the speeds are; buffers go round.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Condvar, Mutex};

use crate::convert::{Input, OnBad, Options, ReadAt, Summary, run};
use crate::documents::Documents;
use crate::fidelity::{Fidelity, OnLoss};
use crate::format::Format;
use crate::out::Out;
use crate::output::{Output, WriteAt};
use crate::reader::BadRecord;
use crate::{Error, ErrorKind, Result};

/// The size of a part: large enough that handing it over costs nothing, small enough to stay in
/// the cache of the worker's core together with its output.
const PART_BYTES: usize = 512 << 10;

/// Parts under way for each worker: one at work, the others waiting, so that nobody waits for the
/// calling thread.
const PARTS_PER_JOB: u64 = 3;

/// Tells whether a conversion can be cut into parts: its input is a stream of records whose
/// boundaries are found without parsing, and the outputs of two parts can stand one behind the
/// other.
pub fn can_split(options: &Options) -> bool {
    let records = matches!(options.from, Format::Ndjson | Format::Marc);
    let documents = match options.resolved_documents() {
        Documents::Keep | Documents::Auto => options.to != Format::Json,
        Documents::Join => options.to == Format::Json,
        Documents::Split => options.to.is_marc(),
    };
    records && documents
}

/// The byte that ends a record, and cannot stand inside of one.
fn terminator(format: Format) -> u8 {
    match format {
        Format::Marc => 0x1D,
        _ => b'\n',
    }
}

/// What a worker is asked for. Parts have numbers in the order of the input.
struct Job {
    number: u64,
    part: Part,
    buffer: Vec<u8>,
}

/// What a worker says.
enum Reply {
    Done(u64, Done),
    /// It has panicked.
    Gone,
}

/// A part of the input on its way to a worker.
enum Part {
    /// Whole records that begin at this offset.
    Bytes { start: u64, bytes: Vec<u8> },
    /// The records that begin in this range, to be read into the buffer.
    Range { start: u64, end: u64, buffer: Vec<u8> },
}

/// A part that a worker is done with.
struct Done {
    /// Where its first record begins.
    start: u64,
    /// The buffer of the input, to be used again.
    input: Vec<u8>,
    output: Vec<u8>,
    bad: Vec<BadRecord>,
    result: Result<Summary>,
}

/// The work that waits. Closed, it lets the workers go.
#[derive(Default)]
struct Queue {
    jobs: Mutex<(VecDeque<Job>, bool)>,
    changed: Condvar,
}

impl Queue {
    fn push(&self, job: Job) {
        let mut jobs = self.jobs.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        jobs.0.push_back(job);
        self.changed.notify_one();
    }

    fn pop(&self) -> Option<Job> {
        let mut jobs = self.jobs.lock().ok()?;
        loop {
            if jobs.1 {
                return None;
            }
            match jobs.0.pop_front() {
                Some(job) => return Some(job),
                None => jobs = self.changed.wait(jobs).ok()?,
            }
        }
    }
}

/// An output that is written at any place, a part after the other.
struct Turns {
    write_at: Box<dyn WriteAt>,
    frame: Frame,
    turn: Mutex<Turn>,
    changed: Condvar,
}

struct Turn {
    /// The part that may be written.
    number: u64,
    /// Where it goes.
    offset: u64,
    begun: bool,
    /// Nothing is written any more.
    closed: bool,
}

impl Turns {
    fn new(write_at: Box<dyn WriteAt>, options: &Options) -> Result<Turns> {
        let turn = Mutex::new(Turn { number: 0, offset: 0, begun: false, closed: false });
        Ok(Turns { write_at, frame: Frame::new(options)?, turn, changed: Condvar::new() })
    }

    /// Waits until everything before this part is written, and writes it. A part that failed ends
    /// the writing.
    fn write(&self, number: u64, done: &mut Done) {
        let lock = || self.turn.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut turn = lock();
        while turn.number != number && !turn.closed {
            turn = self.changed.wait(turn).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        if turn.closed {
            return;
        }
        if done.result.is_ok() {
            let written = self.write_part(&done.output, &mut turn);
            if let Err(error) = written {
                done.result = Err(error.into());
            }
        }
        turn.closed |= done.result.is_err();
        turn.number += 1;
        self.changed.notify_all();
    }

    fn write_part(&self, part: &[u8], turn: &mut Turn) -> std::io::Result<()> {
        let body = self.frame.body(part);
        if body.is_empty() {
            return Ok(());
        }
        for piece in [self.frame.before(std::mem::replace(&mut turn.begun, true)), body] {
            if !piece.is_empty() {
                self.write_at.write_at(piece, turn.offset)?;
                turn.offset += piece.len() as u64;
            }
        }
        Ok(())
    }
}

/// Lets the workers go, on every way out.
struct Closing<'q>(&'q Queue, Option<&'q Turns>);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        let mut jobs = self.0.jobs.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        *jobs = (VecDeque::new(), true);
        self.0.changed.notify_all();
        if let Some(turns) = self.1 {
            let turn = turns.turn.lock();
            turn.unwrap_or_else(|poisoned| poisoned.into_inner()).closed = true;
            turns.changed.notify_all();
        }
    }
}

/// As [`crate::convert::convert`], over [`Options::jobs`] threads.
///
/// # Errors
/// As there. The first error in the order of the input ends the run.
pub(crate) fn convert<'a>(
    input: Input<'a>,
    mut output: impl Output + Send + 'a,
    options: &Options,
    on_bad: &mut OnBad<'_>,
) -> Result<Summary> {
    let mut parts = Parts::new(input, options)?;
    let at = parts.at();
    let turns = match output.write_at()? {
        Some(write_at) => Some(Turns::new(write_at, options)?),
        None => None,
    };
    let queue = Queue::default();
    let most = options.jobs as u64 * PARTS_PER_JOB;
    std::thread::scope(|scope| {
        let closing = Closing(&queue, turns.as_ref());
        let (to_main, replies) = channel();
        for _ in 0..options.jobs {
            let Closing(queue, turns) = closing;
            let to_main = to_main.clone();
            scope.spawn(move || work(queue, &to_main, at, turns, options));
        }
        let mut total = Total::new(options)?;
        // The parts that are handed out, those of them that are done.
        let mut under_way: VecDeque<Option<Done>> = VecDeque::new();
        let mut first = 0;
        let mut spare: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        let mut more = true;
        loop {
            while more && (under_way.len() as u64) < most {
                let (bytes, buffer) = spare.pop().unwrap_or_default();
                match parts.next(bytes)? {
                    Some(part) => {
                        let number = first + under_way.len() as u64;
                        queue.push(Job { number, part, buffer });
                        under_way.push_back(None);
                    }
                    None => more = false,
                }
            }
            if under_way.is_empty() {
                break;
            }
            match replies.recv().map_err(|_| worker_gone())? {
                Reply::Done(number, done) => under_way[(number - first) as usize] = Some(done),
                Reply::Gone => return Err(worker_gone()),
            }
            while under_way.front().is_some_and(Option::is_some) {
                let done = under_way.pop_front().flatten().expect("just looked");
                let done = total.account(done, on_bad)?;
                if turns.is_none() {
                    total.write(&done, &mut output)?;
                }
                spare.push((done.input, done.output));
                first += 1;
            }
        }
        if let Some(turns) = &turns {
            let turn = turns.turn.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            output.advance(turn.offset)?;
            total.begun = turn.begun;
        }
        total.finish(&mut output)
    })
}

/// A worker has panicked; the scope carries its panic on when it ends.
fn worker_gone() -> Error {
    Error::from(std::io::Error::other("a converting thread has ended early"))
}

fn work(
    queue: &Queue,
    to_main: &Sender<Reply>,
    at: Option<&dyn ReadAt>,
    turns: Option<&Turns>,
    options: &Options,
) {
    /// Tells the calling thread of a panic, which would else wait for ever.
    struct Farewell<'a>(&'a Sender<Reply>);

    impl Drop for Farewell<'_> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                let _ = self.0.send(Reply::Gone);
            }
        }
    }

    let _farewell = Farewell(to_main);
    while let Some(Job { number, part, buffer }) = queue.pop() {
        let mut done = convert_part(part, buffer, at, options);
        if let Some(turns) = turns {
            turns.write(number, &mut done);
        }
        // The calling thread is gone only when the run has failed already.
        if to_main.send(Reply::Done(number, done)).is_err() {
            return;
        }
    }
}

fn convert_part(part: Part, buffer: Vec<u8>, at: Option<&dyn ReadAt>, options: &Options) -> Done {
    let (start, input, records) = match part {
        Part::Bytes { start, bytes } => {
            let all = 0..bytes.len();
            (start, bytes, all)
        }
        Part::Range { start, end, buffer: mut input } => {
            let at = at.expect("ranges are made only of such inputs");
            match read_range(at, start, end, &mut input, options) {
                Ok((start, records)) => (start, input, records),
                Err(error) => {
                    // The error has its offset in the whole, and `place` counts from the start.
                    let (start, output, result) = (0, buffer, Err(error));
                    return Done { start, input, output, bad: Vec::new(), result };
                }
            }
        }
    };
    let bytes = &input[records];
    let tracked = options.report || options.on_loss == OnLoss::Approximate;
    let (mut result, mut bad) = attempt(bytes, buffer, options, tracked);
    let is_faulty = match &result {
        Ok(_) => !bad.is_empty(),
        Err(error) => error.kind() != ErrorKind::Io,
    };
    if is_faulty && !tracked {
        // The fast route knows no paths, and a pipe cannot be asked again; this part can.
        let buffer = result.map_or_else(|_| Vec::new(), |(_, output)| output);
        (result, bad) = attempt(bytes, buffer, options, true);
    }
    let (result, output) = match result {
        Ok((summary, output)) => (Ok(summary), output),
        Err(error) => (Err(error), Vec::new()),
    };
    Done { start, input, output, bad, result }
}

/// How much is read behind a range at first to find the end of its last record.
const SLACK_BYTES: u64 = 4 << 10;

/// Reads the records that begin in a range: from behind the first terminator at or after
/// `start - 1` to the first one at or after `end - 1`. Gives where in the input they begin, and
/// where in the buffer they are. What the buffer held is overwritten, its length kept: filling
/// it with zeros first would cost as much as reading.
fn read_range(
    at: &dyn ReadAt,
    start: u64,
    end: u64,
    buffer: &mut Vec<u8>,
    options: &Options,
) -> Result<(u64, std::ops::Range<usize>)> {
    let ends = terminator(options.from);
    let base = start.saturating_sub(1);
    let mut filled = 0;
    // Reads on up to this offset, or to the end of the input; tells whether there is more.
    let mut read_to = |buffer: &mut Vec<u8>, to: u64| -> Result<(usize, bool)> {
        let want = (to - base) as usize;
        if buffer.len() < want {
            buffer.resize(want, 0);
        }
        while filled < want {
            match at.read_at(&mut buffer[filled..want], base + filled as u64) {
                Ok(0) => return Ok((filled, false)),
                Ok(got) => filled += got,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok((filled, true))
    };
    let (mut filled, mut more) = read_to(buffer, end + SLACK_BYTES)?;
    let own = filled.min((end - base) as usize);
    let first = match start {
        0 => 0,
        // A terminator that is the last byte of the range begins a record of the next.
        _ => match memchr::memchr(ends, &buffer[..own.saturating_sub(1)]) {
            Some(index) => index + 1,
            None => return Ok((end, 0..0)),
        },
    };
    let mut searched = ((end - 1 - base) as usize).max(first);
    let limit = options.limits.record_bytes.max(options.limits.token_bytes);
    loop {
        if searched < filled
            && let Some(index) = memchr::memchr(ends, &buffer[searched..filled])
        {
            filled = searched + index + 1;
            break;
        }
        if !more {
            break;
        }
        searched = filled;
        if searched as u64 > limit {
            return Err(too_long(options.from, limit).at(base + first as u64));
        }
        (filled, more) = read_to(buffer, base + 2 * filled as u64)?;
    }
    Ok((base + first as u64, first..filled))
}

#[cold]
fn too_long(format: Format, limit: u64) -> Error {
    Error::limit(format!("found a record of more than {limit} bytes"))
        .in_format(format)
        .hint("pass --limit record_bytes=… to raise the limit, or --jobs 1")
}

/// Converts a part into a buffer.
fn attempt(
    bytes: &[u8],
    buffer: Vec<u8>,
    options: &Options,
    tracked: bool,
) -> (Result<(Summary, Vec<u8>)>, Vec<BadRecord>) {
    let mut bad = Vec::new();
    let ran = run(Input::Bytes(bytes), Out::reusing(buffer), options, tracked, &mut |one| {
        bad.push(one);
        Ok(())
    });
    (ran.map(|(summary, out)| (summary, out.into_vec())), bad)
}

/// The parts of an input, in order.
enum Parts<'a> {
    Stream { read: Box<dyn Read + Send + 'a>, cutter: Cutter },
    Ranges { at: &'a dyn ReadAt, next: u64, size: u64 },
}

impl<'a> Parts<'a> {
    fn new(input: Input<'a>, options: &Options) -> Result<Parts<'a>> {
        Ok(match input {
            Input::At(at) => Parts::Ranges { at, next: 0, size: at.size()? },
            stream => Parts::Stream { read: stream.open()?, cutter: Cutter::new(options) },
        })
    }

    fn at(&self) -> Option<&'a dyn ReadAt> {
        match self {
            Parts::Ranges { at, .. } => Some(*at),
            Parts::Stream { .. } => None,
        }
    }

    /// The next part, in the given buffer; `None` at the end.
    fn next(&mut self, buffer: Vec<u8>) -> Result<Option<Part>> {
        match self {
            Parts::Stream { read, cutter } => {
                let start = cutter.offset;
                let bytes = cutter.next(read, buffer)?;
                Ok(bytes.map(|bytes| Part::Bytes { start, bytes }))
            }
            Parts::Ranges { next, size, .. } if *next < *size => {
                let start = *next;
                *next = (start + PART_BYTES as u64).min(*size);
                Ok(Some(Part::Range { start, end: *next, buffer }))
            }
            Parts::Ranges { .. } => Ok(None),
        }
    }
}

/// Cuts a stream at record boundaries.
struct Cutter {
    format: Format,
    record_bytes: u64,
    /// The beginning of a record whose end has not been read yet.
    rest: Vec<u8>,
    /// Where the next part begins in the input.
    offset: u64,
    eof: bool,
}

impl Cutter {
    fn new(options: &Options) -> Cutter {
        let record_bytes = options.limits.record_bytes.max(options.limits.token_bytes);
        Cutter { format: options.from, record_bytes, rest: Vec::new(), offset: 0, eof: false }
    }

    /// The next part, in the given buffer; `None` at the end.
    fn next(&mut self, read: &mut dyn Read, mut bytes: Vec<u8>) -> Result<Option<Vec<u8>>> {
        bytes.clear();
        bytes.append(&mut self.rest);
        let mut searched = 0;
        while !self.eof {
            let want = PART_BYTES.max(bytes.len() / 2);
            let start = bytes.len();
            let room = if start < want { want - start } else { want };
            bytes.resize(start + room, 0);
            let mut filled = start;
            while filled < bytes.len() && !self.eof {
                match read.read(&mut bytes[filled..]) {
                    Ok(0) => self.eof = true,
                    Ok(got) => filled += got,
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error.into()),
                }
            }
            bytes.truncate(filled);
            if self.eof {
                break;
            }
            let ends = terminator(self.format);
            if let Some(last) = memchr::memrchr(ends, &bytes[searched..]) {
                let end = searched + last + 1;
                self.rest.extend_from_slice(&bytes[end..]);
                bytes.truncate(end);
                self.offset += end as u64;
                return Ok(Some(bytes));
            }
            searched = bytes.len();
            if bytes.len() as u64 > self.record_bytes {
                return Err(too_long(self.format, self.record_bytes));
            }
        }
        Ok((!bytes.is_empty()).then_some(bytes))
    }
}

/// What stands around and between the records of a whole file. Every part comes as a whole file of
/// its own; without its frame it is what goes between.
struct Frame {
    head: Vec<u8>,
    between: &'static [u8],
    tail: Vec<u8>,
    /// A file without a record.
    empty: Vec<u8>,
}

impl Frame {
    fn new(options: &Options) -> Result<Frame> {
        let nothing = Input::Bytes(&[]);
        let (_, out) = run(nothing, Out::in_memory(), options, false, &mut |_| Ok(()))?;
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

    /// The records of a part.
    fn body<'b>(&self, part: &'b [u8]) -> &'b [u8] {
        let stripped = part.strip_prefix(self.head.as_slice());
        // A part without a record need not have the shape of one with records.
        stripped.and_then(|part| part.strip_suffix(self.tail.as_slice())).unwrap_or_default()
    }

    /// What goes before a part with records: the first has the head before it.
    fn before(&self, begun: bool) -> &[u8] {
        if begun { self.between } else { &self.head }
    }
}

/// The account of the parts that are done.
struct Total {
    frame: Frame,
    summary: Summary,
    begun: bool,
}

impl Total {
    fn new(options: &Options) -> Result<Total> {
        let fidelity = Fidelity::new(options.on_loss, options.to);
        let summary = Summary { documents: 0, bad_records: 0, fidelity };
        Ok(Total { frame: Frame::new(options)?, summary, begun: false })
    }

    /// Counts a converted part, the next in order.
    fn account(&mut self, mut done: Done, on_bad: &mut OnBad<'_>) -> Result<Done> {
        let before = self.summary.documents + self.summary.bad_records;
        for bad in std::mem::take(&mut done.bad) {
            on_bad(BadRecord { error: place(bad.error, before, done.start), ..bad })?;
        }
        let part = match &done.result {
            Ok(part) => part,
            Err(_) => {
                let error = done.result.expect_err("just looked");
                return Err(place(error, before, done.start));
            }
        };
        self.summary.documents += part.documents;
        self.summary.bad_records += part.bad_records;
        self.summary.fidelity.merge(&part.fidelity, before);
        Ok(done)
    }

    /// Writes a part.
    fn write(&mut self, done: &Done, output: &mut impl Output) -> Result {
        let body = self.frame.body(&done.output);
        if !body.is_empty() {
            output.write(self.frame.before(std::mem::replace(&mut self.begun, true)))?;
            output.write(body)?;
        }
        Ok(())
    }

    fn finish(self, output: &mut impl Output) -> Result<Summary> {
        output.write(if self.begun { &self.frame.tail } else { &self.frame.empty })?;
        output.release()?;
        Ok(self.summary)
    }
}

/// An error of a part, with its place in the whole.
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
