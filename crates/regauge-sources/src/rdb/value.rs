//! Hands out the values of one key (Redis `src/rdb.c`, `rdbLoadObject`).
//!
//! If you add a layout, also add it to `skip.rs`, which walks over the same bytes.

use std::io::Read;

use regauge::{Error, Result};

use super::input::Input;
use super::packed::{Entries, Entry, Fault};
use super::sets::{Integers, Zipmap};
use super::skip;
use super::types::{Expiry, Layout, Packing, Tuple};
use crate::feed::{Feed, Head};
use crate::{Flow, Part};

/// What reads a value: the input, a buffer for what must be kept meanwhile, and who takes it.
pub(super) struct Values<'v, 'f, R> {
    pub input: &'v mut Input<R>,
    /// The field or the member at hand.
    pub held: &'v mut Vec<u8>,
    pub head: Head<'v>,
    pub feed: &'v mut Feed<'f>,
}

/// Goes on with the next element, or skips those that are left and returns.
macro_rules! go_on {
    ($flow:expr) => {
        match $flow? {
            Flow::Continue => {}
            Flow::SkipKey => return Ok(Flow::Continue),
            Flow::Stop => return Ok(Flow::Stop),
        }
    };
    ($flow:expr, $skip:expr) => {
        match $flow? {
            Flow::Continue => {}
            Flow::SkipKey => {
                $skip;
                return Ok(Flow::Continue);
            }
            Flow::Stop => return Ok(Flow::Stop),
        }
    };
}

impl<R: Read> Values<'_, '_, R> {
    /// Hands out everything in the value that follows. Returns whether to go on.
    pub fn read(&mut self, layout: Layout) -> Result<Flow> {
        match layout {
            Layout::String => self.string(),
            Layout::List => self.strings(Part::Index),
            Layout::Set => self.strings(|_| Part::Member),
            Layout::ScoresAsText => self.scored(text_score, skip::text_score),
            Layout::Scores => self.scored(score, skip::score),
            Layout::Hash => self.hash(),
            Layout::ExpiringHash(expiry) => self.expiring_hash(expiry),
            Layout::ValkeyHash => self.valkey_hash(),
            Layout::Zipmap => self.zipmap(),
            Layout::Intset => self.intset(),
            Layout::Packed(packing, tuple) => self.packed(packing, tuple),
            Layout::Quicklist => self.quicklist(),
            Layout::Quicklist2 => self.quicklist_2(),
            // These have no values to hand out, and come as a whole.
            Layout::Stream(_) | Layout::Module => {
                let start = self.input.offset();
                let parts = skip::value(self.input, layout)?;
                self.feed.whole(&self.head, self.input.offset() - start, parts)
            }
        }
    }

    fn string(&mut self) -> Result<Flow> {
        self.feed.begin(&self.head, Some(1));
        let value = self.input.string()?;
        self.feed.value(&self.head, None, None, value)
    }

    /// Reads the number of elements.
    fn begin(&mut self) -> Result<u64> {
        let count = self.input.length()?;
        self.feed.begin(&self.head, Some(count));
        Ok(count)
    }

    /// Keeps the string that follows.
    #[inline]
    fn hold(&mut self) -> Result<()> {
        self.held.clear();
        self.held.extend_from_slice(self.input.string()?);
        Ok(())
    }

    fn strings(&mut self, part: fn(u64) -> Part<'static>) -> Result<Flow> {
        let count = self.begin()?;
        for index in 0..count {
            let value = self.input.string()?;
            let flow = self.feed.value(&self.head, Some(part(index)), None, value);
            go_on!(flow, skip::strings(self.input, count - index - 1)?);
        }
        Ok(Flow::Continue)
    }

    fn scored(
        &mut self,
        read: fn(&mut Input<R>) -> Result<f64>,
        skip: fn(&mut Input<R>) -> Result<()>,
    ) -> Result<Flow> {
        let count = self.begin()?;
        for index in 0..count {
            self.hold()?;
            let score = read(self.input)?;
            let flow = self.feed.value(&self.head, Some(Part::Score(score)), None, self.held);
            go_on!(flow, skip::scored(self.input, count - index - 1, skip)?);
        }
        Ok(Flow::Continue)
    }

    fn hash(&mut self) -> Result<Flow> {
        let count = self.begin()?;
        for index in 0..count {
            self.hold()?;
            let value = self.input.string()?;
            let flow = self.feed.value(&self.head, Some(Part::Field(self.held)), None, value);
            go_on!(flow, skip::strings(self.input, 2 * (count - index - 1))?);
        }
        Ok(Flow::Continue)
    }

    fn expiring_hash(&mut self, expiry: Expiry) -> Result<Flow> {
        let earliest = match expiry {
            Expiry::Absolute => 1,
            Expiry::Relative => i64::from_le_bytes(self.input.window.array()?),
        };
        let count = self.begin()?;
        for index in 0..count {
            let expires_at = match self.input.length()? {
                0 => None,
                // One more than after the earliest, because 0 stands for never.
                later => Some(earliest.saturating_add_unsigned(later).saturating_sub(1)),
            };
            self.hold()?;
            let value = self.input.string()?;
            let flow = self.feed.value(&self.head, Some(Part::Field(self.held)), expires_at, value);
            go_on!(flow, skip::expiring_pairs(self.input, count - index - 1)?);
        }
        Ok(Flow::Continue)
    }

    fn valkey_hash(&mut self) -> Result<Flow> {
        let count = self.begin()?;
        // The expiry stands after the value, which must be kept till then.
        let mut value = Vec::new();
        for index in 0..count {
            self.hold()?;
            value.clear();
            value.extend_from_slice(self.input.string()?);
            let expires_at = i64::from_le_bytes(self.input.window.array()?);
            let expires_at = Some(expires_at).filter(|time| *time >= 0);
            let part = Some(Part::Field(self.held));
            let flow = self.feed.value(&self.head, part, expires_at, &value);
            go_on!(flow, skip::valkey_pairs(self.input, count - index - 1)?);
        }
        Ok(Flow::Continue)
    }

    fn zipmap(&mut self) -> Result<Flow> {
        let at = self.input.offset();
        let mut pairs = Zipmap::new(self.input.string()?);
        let count = pairs.count().map_err(|fault| wrong(fault, "a zipmap", at))?;
        self.feed.begin(&self.head, Some(count));
        while let Some((field, value)) =
            pairs.next().map_err(|fault| wrong(fault, "a zipmap", at))?
        {
            go_on!(self.feed.value(&self.head, Some(Part::Field(field)), None, value));
        }
        Ok(Flow::Continue)
    }

    fn intset(&mut self) -> Result<Flow> {
        let at = self.input.offset();
        let integers = Integers::new(self.input.string()?);
        let integers = integers.map_err(|fault| wrong(fault, "an intset", at))?;
        self.feed.begin(&self.head, Some(integers.members()));
        let mut digits = itoa::Buffer::new();
        for integer in integers {
            let value = digits.format(integer).as_bytes();
            go_on!(self.feed.value(&self.head, Some(Part::Member), None, value));
        }
        Ok(Flow::Continue)
    }

    fn packed(&mut self, packing: Packing, tuple: Tuple) -> Result<Flow> {
        if tuple == Tuple::Expiring(Expiry::Relative) {
            // The earliest expiry, which the entries tell as well.
            self.input.window.skip(8)?;
        }
        let at = self.input.offset();
        let entries = Entries::new(packing, self.input.string()?);
        let entries = entries.map_err(|fault| wrong_packed(fault, packing, at))?;
        let count = entries.count().map_err(|fault| wrong_packed(fault, packing, at))?;
        self.feed.begin(&self.head, Some(count / tuple.width()));
        match tuples(entries, tuple, &mut 0, &self.head, self.feed) {
            Ok(Flow::Stop) => Ok(Flow::Stop),
            Ok(_) => Ok(Flow::Continue),
            Err(Failed::Entries(fault)) => Err(wrong_packed(fault, packing, at)),
            Err(Failed::Caller(error)) => Err(error),
        }
    }

    fn quicklist(&mut self) -> Result<Flow> {
        let count = self.input.length()?;
        self.feed.begin(&self.head, None);
        let mut index = 0;
        for node in 0..count {
            let flow = self.node(Packing::Ziplist, &mut index);
            go_on!(flow, skip::strings(self.input, count - node - 1)?);
        }
        Ok(Flow::Continue)
    }

    fn quicklist_2(&mut self) -> Result<Flow> {
        let count = self.input.length()?;
        self.feed.begin(&self.head, None);
        let mut index = 0;
        for node in 0..count {
            let at = self.input.offset();
            let flow = match self.input.length()? {
                1 => {
                    let value = self.input.string()?;
                    let part = Some(Part::Index(index));
                    index += 1;
                    self.feed.value(&self.head, part, None, value)
                }
                2 => self.node(Packing::Listpack, &mut index),
                other => return Err(skip::wrong_container(other, at)),
            };
            go_on!(flow, skip::nodes(self.input, count - node - 1)?);
        }
        Ok(Flow::Continue)
    }

    /// Hands out the elements of a part of a list, from this index on.
    fn node(&mut self, packing: Packing, index: &mut u64) -> Result<Flow> {
        let at = self.input.offset();
        let wrong = |fault| wrong_packed(fault, packing, at);
        let entries = Entries::new(packing, self.input.string()?).map_err(wrong)?;
        match tuples(entries, Tuple::Element, index, &self.head, self.feed) {
            Ok(flow) => Ok(flow),
            Err(Failed::Entries(fault)) => Err(wrong(fault)),
            Err(Failed::Caller(error)) => Err(error),
        }
    }
}

/// Why entries were not handed out.
enum Failed {
    Entries(Fault),
    Caller(Error),
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Failed {
        Failed::Entries(fault)
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Failed {
        Failed::Caller(error)
    }
}

/// Hands out packed values.
fn tuples(
    mut entries: Entries<'_>,
    tuple: Tuple,
    index: &mut u64,
    head: &Head<'_>,
    feed: &mut Feed<'_>,
) -> Result<Flow, Failed> {
    let (mut first, mut second) = (itoa::Buffer::new(), itoa::Buffer::new());
    while let Some(entry) = entries.next()? {
        let bytes = entry.bytes(&mut first);
        let flow = match tuple {
            Tuple::Element => {
                let part = Part::Index(*index);
                *index += 1;
                feed.value(head, Some(part), None, bytes)?
            }
            Tuple::Member => feed.value(head, Some(Part::Member), None, bytes)?,
            Tuple::Scored => {
                let score = packed_score(entries.also()?)?;
                feed.value(head, Some(Part::Score(score)), None, bytes)?
            }
            Tuple::Pair => {
                let value = entries.also()?.bytes(&mut second);
                feed.value(head, Some(Part::Field(bytes)), None, value)?
            }
            Tuple::Expiring(_) => {
                let value = entries.also()?.bytes(&mut second);
                let expires_at = packed_expiry(entries.also()?)?;
                feed.value(head, Some(Part::Field(bytes)), expires_at, value)?
            }
        };
        if flow != Flow::Continue {
            return Ok(flow);
        }
    }
    Ok(Flow::Continue)
}

fn packed_score(entry: Entry<'_>) -> Result<f64, Fault> {
    match entry {
        Entry::Integer(number) => Ok(number as f64),
        Entry::Bytes(text) => {
            parsed(text).ok_or(Fault { at: 0, found: "a score that is not a number" })
        }
    }
}

fn packed_expiry(entry: Entry<'_>) -> Result<Option<i64>, Fault> {
    match entry {
        Entry::Integer(0) => Ok(None),
        Entry::Integer(time) => Ok(Some(time)),
        Entry::Bytes(_) => Err(Fault { at: 0, found: "an expiry that is no integer" }),
    }
}

fn parsed(text: &[u8]) -> Option<f64> {
    str::from_utf8(text).ok()?.parse().ok()
}

/// Reads a score of eight bytes.
fn score<R: Read>(input: &mut Input<R>) -> Result<f64> {
    Ok(f64::from_le_bytes(input.window.array()?))
}

/// Reads a score as Redis 3 and older wrote it: the length of its digits in a byte, of which the highest three stand
/// for what has none.
fn text_score<R: Read>(input: &mut Input<R>) -> Result<f64> {
    let at = input.offset();
    match input.window.byte()? {
        253 => Ok(f64::NAN),
        254 => Ok(f64::INFINITY),
        255 => Ok(f64::NEG_INFINITY),
        length => match parsed(input.window.take(length.into())?) {
            Some(score) => Ok(score),
            None => Err(Error::syntax("found a score that is not a number, expected digits")
                .at(at)
                .hint(super::DAMAGED)),
        },
    }
}

#[cold]
fn wrong_packed(fault: Fault, packing: Packing, at: u64) -> Error {
    let name = match packing {
        Packing::Ziplist => "a ziplist",
        Packing::Listpack => "a listpack",
    };
    wrong(fault, name, at)
}

#[cold]
fn wrong(fault: Fault, name: &str, at: u64) -> Error {
    let Fault { at: inside, found } = fault;
    // The place in it is of use to those who look into the string, which may be compressed.
    let place = if inside == 0 { String::new() } else { format!(" at its byte {inside}") };
    let message = format!("found {found}{place}, expected {name}");
    Error::syntax(message).at(at).hint(super::DAMAGED)
}
