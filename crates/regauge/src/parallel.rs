//! Record streams over several cores: cut at record boundaries, converted in parts, written in
//! order.
//!
//! The calling thread reads and writes, the workers convert. A part is handed out only while fewer
//! than `PARTS_PER_JOB` per worker are under way, finished or not, so that memory is bounded
//! whatever the speeds are; buffers go round.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

use crate::convert::{Input, OnBad, Options, Summary, run};
use crate::documents::Documents;
use crate::fidelity::{Fidelity, OnLoss};
use crate::format::Format;
use crate::out::Out;
use crate::output::Output;
use crate::reader::BadRecord;
use crate::{Error, ErrorKind, Result};

/// The size of a part: large enough that handing it over costs nothing, small enough to stay in
/// the cache of the worker's core together with its output.
const PART_BYTES: usize = 256 << 10;

/// Parts under way for each worker: one at work, the others waiting, so that the workers go on while
/// the calling thread writes. In one run of nine rounds two cores were 1.1 times as fast as one
/// with two parts of 512 KiB, 1.3 times with four of 256 KiB (medians; the machine was noisy).
const PARTS_PER_JOB: usize = 4;

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

/// The end of the last whole record in `bytes`, if there is one: the format's own terminator,
/// which cannot stand inside of a record.
fn last_boundary(format: Format, bytes: &[u8]) -> Option<usize> {
    match format {
        Format::Ndjson => memchr::memrchr(b'\n', bytes).map(|at| at + 1),
        Format::Marc => memchr::memrchr(0x1D, bytes).map(|at| at + 1),
        _ => None,
    }
}

/// A part of the input on its way to a worker.
struct Part {
    bytes: Vec<u8>,
    buffer: Vec<u8>,
    reply: SyncSender<Done>,
}

/// A part that a worker is done with.
struct Done {
    input: Vec<u8>,
    output: Vec<u8>,
    bad: Vec<BadRecord>,
    result: Result<Summary>,
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
    let mut read = input.open()?;
    let jobs = options.jobs;
    let (to_workers, from_main) = sync_channel::<Part>(jobs * PARTS_PER_JOB);
    let from_main = Arc::new(Mutex::new(from_main));
    std::thread::scope(|scope| {
        // Moved in, so that every way out of this closure closes the channel and ends the workers.
        let to_workers = to_workers;
        for _ in 0..jobs {
            let parts = Arc::clone(&from_main);
            scope.spawn(move || work(&parts, options));
        }
        drop(from_main);
        let mut total = Total::new(options)?;
        let mut under_way: VecDeque<Receiver<Done>> = VecDeque::new();
        let mut spare: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        let mut cutter = Cutter::new(options);
        let mut more = true;
        while more || !under_way.is_empty() {
            if more && under_way.len() < jobs * PARTS_PER_JOB {
                let (bytes, buffer) = spare.pop().unwrap_or_default();
                match cutter.next(&mut read, bytes)? {
                    Some(bytes) => {
                        let (reply, done) = sync_channel(1);
                        let part = Part { bytes, buffer, reply };
                        to_workers.send(part).map_err(|_| worker_gone())?;
                        under_way.push_back(done);
                    }
                    None => more = false,
                }
                continue;
            }
            let first = under_way.pop_front().expect("a part is under way");
            let done = first.recv().map_err(|_| worker_gone())?;
            spare.push(total.take(done, &mut output, on_bad)?);
        }
        total.finish(&mut output)
    })
}

/// A worker has panicked; the scope carries its panic on when it ends.
fn worker_gone() -> Error {
    Error::from(std::io::Error::other("a converting thread has ended early"))
}

fn work(parts: &Mutex<Receiver<Part>>, options: &Options) {
    loop {
        let part = match parts.lock() {
            Ok(queue) => queue.recv(),
            Err(_) => return,
        };
        let Ok(Part { bytes, buffer, reply }) = part else { return };
        let tracked = options.report || options.on_loss == OnLoss::Approximate;
        let (mut result, mut bad) = attempt(&bytes, buffer, options, tracked);
        let is_faulty = match &result {
            Ok(_) => !bad.is_empty(),
            Err(error) => error.kind() != ErrorKind::Io,
        };
        if is_faulty && !tracked {
            // The fast route knows no paths, and a pipe cannot be asked again; this part can.
            let buffer = result.map_or_else(|_| Vec::new(), |(_, output)| output);
            (result, bad) = attempt(&bytes, buffer, options, true);
        }
        let (result, output) = match result {
            Ok((summary, output)) => (Ok(summary), output),
            Err(error) => (Err(error), Vec::new()),
        };
        // The main thread is gone only when the run has failed already.
        let _ = reply.send(Done { input: bytes, output, bad, result });
    }
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

/// Cuts a stream at record boundaries.
struct Cutter {
    format: Format,
    record_bytes: u64,
    /// The beginning of a record whose end has not been read yet.
    rest: Vec<u8>,
    eof: bool,
}

impl Cutter {
    fn new(options: &Options) -> Cutter {
        let record_bytes = options.limits.record_bytes.max(options.limits.token_bytes);
        Cutter { format: options.from, record_bytes, rest: Vec::new(), eof: false }
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
            if let Some(end) = last_boundary(self.format, &bytes[searched..]) {
                self.rest.extend_from_slice(&bytes[searched + end..]);
                bytes.truncate(searched + end);
                return Ok(Some(bytes));
            }
            searched = bytes.len();
            if bytes.len() as u64 > self.record_bytes {
                return Err(Error::limit(format!(
                    "found a record of more than {} bytes",
                    self.record_bytes
                ))
                .in_format(self.format)
                .hint("pass --limit record_bytes=… to raise the limit, or --jobs 1"));
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
            _ => (b"", b"", b""),
        };
        Ok(Frame { head: head.to_vec(), between, tail: tail.to_vec(), empty })
    }

    fn body<'b>(&self, part: &'b [u8]) -> &'b [u8] {
        let stripped = part.strip_prefix(self.head.as_slice());
        // A part without a record need not have the shape of one with records.
        stripped.and_then(|part| part.strip_suffix(self.tail.as_slice())).unwrap_or_default()
    }
}

/// What has been written, and where the next part begins.
struct Total {
    frame: Frame,
    summary: Summary,
    offset: u64,
    begun: bool,
}

impl Total {
    fn new(options: &Options) -> Result<Total> {
        let fidelity = Fidelity::new(options.on_loss, options.to);
        let summary = Summary { documents: 0, bad_records: 0, fidelity };
        Ok(Total { frame: Frame::new(options)?, summary, offset: 0, begun: false })
    }

    /// Writes a finished part and gives its buffers back.
    fn take(
        &mut self,
        done: Done,
        output: &mut impl Output,
        on_bad: &mut OnBad<'_>,
    ) -> Result<(Vec<u8>, Vec<u8>)> {
        let before = self.summary.documents + self.summary.bad_records;
        for bad in done.bad {
            on_bad(BadRecord { error: self.place(bad.error, before), ..bad })?;
        }
        let part = done.result.map_err(|error| self.place(error, before))?;
        let body = self.frame.body(&done.output);
        if !body.is_empty() {
            output.write(if self.begun { self.frame.between } else { &self.frame.head })?;
            output.write(body)?;
            self.begun = true;
        }
        self.summary.documents += part.documents;
        self.summary.bad_records += part.bad_records;
        self.summary.fidelity.merge(&part.fidelity, before);
        self.offset += done.input.len() as u64;
        Ok((done.input, done.output))
    }

    /// An error of a part, with its place in the whole.
    #[cold]
    fn place(&self, error: Error, records_before: u64) -> Error {
        let offset = error.offset().map(|offset| offset + self.offset);
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

    fn finish(self, output: &mut impl Output) -> Result<Summary> {
        output.write(if self.begun { &self.frame.tail } else { &self.frame.empty })?;
        output.release()?;
        Ok(self.summary)
    }
}
