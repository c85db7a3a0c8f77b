//! MARC 21 by several threads, without the interpreter's lock, in the order of the input.
//!
//! A piece of the input is cut where records end, its parts are read at the same time, and the
//! records wait until they are asked for. Anything unusual (a broken record, one whose length is
//! wrong, one too long for a piece) ends that: from the beginning of the piece at hand the stream
//! goes on with one reader, so that errors and repairs are what they are without threads.

use std::collections::VecDeque;
use std::io::Read as _;

use regauge::fidelity::Fidelity;
use regauge::marc::{Options, RECORD_TERMINATOR, Record, RecordBuilder};
use regauge::reader::Reader;
use regauge::{Format, Limits, OnLoss, Sink as _, Source as _, marc};

use crate::ruby::{self, Jump};
use crate::stream::FromRead;

/// Bytes that a thread reads at a time.
const PART_BYTES: usize = 256 << 10;

/// What is read ahead.
pub struct Ahead {
    threads: usize,
    options: Options,
    limits: Limits,
    input: Input,
    ready: VecDeque<Record>,
    /// Bytes and records that are behind.
    pub offset: u64,
    /// Records that are behind.
    pub records: u64,
}

enum Input {
    Slice(&'static [u8]),
    Read { read: FromRead, left: Vec<u8>, ended: bool },
}

/// What the next step is.
pub enum Next {
    /// A record.
    Record(Box<Record>),
    /// Nothing is left.
    End,
    /// One reader has to go on with these bytes, and what `read` gives behind them.
    GoOn(Vec<u8>, Option<FromRead>),
    /// The same, with bytes that stay where they are.
    GoOnSlice(&'static [u8]),
    /// Reading failed: a method of Ruby raised.
    Failed(std::io::Error),
    /// Something interrupted the thread.
    Jumped(Jump),
}

impl Ahead {
    /// Reads a string's bytes, or what `read` gives, by so many threads.
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

    /// The next record, read ahead with others.
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
                // Every thread is waited for, also when one has found something unusual.
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
            // Only what may stand between records.
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

/// Cuts bytes that end with a record into parts that do.
fn parts(bytes: &[u8], count: usize) -> Vec<&[u8]> {
    let size = bytes.len().div_ceil(count).max(1);
    let (mut parts, mut rest) = (Vec::new(), bytes);
    while !rest.is_empty() {
        let from = size.min(rest.len()) - 1;
        let end = rest[from..].iter().position(|byte| *byte == RECORD_TERMINATOR);
        let (part, behind) = rest.split_at(end.map_or(rest.len(), |end| from + end + 1));
        parts.push(part);
        rest = behind;
    }
    parts
}

/// The records of a part; `None` where one is not as it should be.
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
