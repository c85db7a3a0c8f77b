//! Parallel MARC 21 parsing without the GVL, preserving the order of the input.
//!
//! A chunk of the input is cut at record boundaries, its parts are read concurrently, and the
//! records are queued until requested. Anything unusual (a broken record, one with a wrong length,
//! one too long for a chunk) ends that: from the beginning of the current chunk, the stream
//! continues with a single reader, so that errors and repairs are the same as without threads.

use std::collections::VecDeque;
use std::io::Read as _;

use regauge::fidelity::Fidelity;
use regauge::marc::{Options, RECORD_TERMINATOR, Record, RecordBuilder};
use regauge::reader::Reader;
use regauge::{Format, Limits, OnLoss, Sink as _, Source as _, marc};

use crate::ruby::{self, Jump};
use crate::stream::FromRead;

/// Bytes per thread and read.
const PART_BYTES: usize = 256 << 10;

/// The state of reading ahead.
pub struct Ahead {
    threads: usize,
    options: Options,
    limits: Limits,
    input: Input,
    ready: VecDeque<Record>,
    /// Bytes and records already passed.
    pub offset: u64,
    /// Records already passed.
    pub records: u64,
}

enum Input {
    Slice(&'static [u8]),
    Read { read: FromRead, left: Vec<u8>, ended: bool },
}

/// The next step.
pub enum Next {
    /// A record.
    Record(Box<Record>),
    /// The end.
    End,
    /// A single reader has to continue with these bytes, followed by what `read` returns.
    GoOn(Vec<u8>, Option<FromRead>),
    /// The same, with bytes that are pinned.
    GoOnSlice(&'static [u8]),
    /// Reading failed: a Ruby method raised.
    Failed(std::io::Error),
    /// Something interrupted the thread.
    Jumped(Jump),
}

impl Ahead {
    /// Reads a string's bytes, or what `read` returns, with this many threads.
    pub fn new(
        threads: usize,
        options: Options,
        limits: Limits,
        bytes: &'static [u8],
        read: Option<FromRead>,
    ) -> Ahead {
        let input = match read {
            None => Input::Slice(bytes),
            Some(read) => Input::Read { read, left: Vec::new(), ended: false },
        };
        Ahead { threads, options, limits, input, ready: VecDeque::new(), offset: 0, records: 0 }
    }

    /// Returns the next record, reading ahead.
    pub fn next(&mut self) -> Next {
        if let Some(record) = self.ready.pop_front() {
            return Next::Record(Box::new(record));
        }
        let wanted = self.threads * PART_BYTES;
        if let Input::Read { read, left, ended } = &mut self.input {
            while left.len() < wanted && !*ended {
                let start = left.len();
                left.resize(start + PART_BYTES, 0);
                match read.read(&mut left[start..]) {
                    Ok(count) => {
                        left.truncate(start + count);
                        *ended = count == 0;
                    }
                    Err(error) => return Next::Failed(error),
                }
            }
        }
        let (bytes, all) = match &self.input {
            Input::Slice(bytes) => (&bytes[..bytes.len().min(wanted)], bytes.len() <= wanted),
            Input::Read { left, ended, .. } => (&left[..], *ended),
        };
        if bytes.is_empty() {
            return Next::End;
        }
        let end = match bytes.iter().rposition(|byte| *byte == RECORD_TERMINATOR) {
            Some(_) if all => bytes.len(),
            Some(last) => last + 1,
            None => return self.go_on(),
        };
        let parts = parts(&bytes[..end], self.threads);
        let (options, limits) = (&self.options, &self.limits);
        let read = ruby::without_lock(|| -> Option<Vec<Vec<Record>>> {
            std::thread::scope(|scope| {
                let readers: Vec<_> = parts
                    .iter()
                    .map(|part| scope.spawn(|| records(part, options, limits)))
                    .collect();
                // Wait for every thread, even if one has found something unusual.
                let read: Vec<_> = readers.into_iter().map(|reader| reader.join()).collect();
                read.into_iter().map(|read| read.ok().flatten()).collect()
            })
        });
        let read = match read {
            Ok(Some(read)) => read,
            Ok(None) => return self.go_on(),
            Err(jump) => return Next::Jumped(jump),
        };
        self.ready.extend(read.into_iter().flatten());
        self.offset += end as u64;
        self.records += self.ready.len() as u64;
        match &mut self.input {
            Input::Slice(bytes) => *bytes = &bytes[end..],
            Input::Read { left, .. } => drop(left.drain(..end)),
        }
        match self.ready.pop_front() {
            Some(record) => Next::Record(Box::new(record)),
            // Only what is allowed between records.
            None => self.next(),
        }
    }

    fn go_on(&mut self) -> Next {
        match std::mem::replace(&mut self.input, Input::Slice(&[])) {
            Input::Slice(bytes) => Next::GoOnSlice(bytes),
            Input::Read { read, left, .. } => Next::GoOn(left, Some(read)),
        }
    }
}

/// Cuts bytes that end at a record boundary into parts that do, too.
fn parts(bytes: &[u8], count: usize) -> Vec<&[u8]> {
    let size = bytes.len().div_ceil(count).max(1);
    let (mut parts, mut rest) = (Vec::new(), bytes);
    while !rest.is_empty() {
        let from = size.min(rest.len()) - 1;
        let end = rest[from..].iter().position(|byte| *byte == RECORD_TERMINATOR);
        let (part, after) = rest.split_at(end.map_or(rest.len(), |end| from + end + 1));
        parts.push(part);
        rest = after;
    }
    parts
}

/// Reads the records of a part; `None` if one of them is irregular.
fn records(part: &[u8], options: &Options, limits: &Limits) -> Option<Vec<Record>> {
    let mut builder = RecordBuilder::new(limits, Fidelity::new(OnLoss::Approximate, Format::Marc));
    let parser = marc::iso2709::Parser::new(options.clone(), *limits);
    let mut reader = Reader::from_slice(parser, part);
    let mut records = Vec::new();
    loop {
        builder.reset();
        if !reader.next(&mut builder).ok()? {
            return (builder.fidelity().count() == 0).then_some(records);
        }
        records.push(builder.take());
    }
}
