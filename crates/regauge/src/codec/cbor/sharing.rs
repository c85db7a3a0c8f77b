//! Shared values (tags 28 and 29) for a sink that holds no references: their bytes are kept, and
//! each reference reads them again, within a budget.

use std::sync::Arc;

use crate::model::hint::Hint;
use crate::model::limits::{Limit, Limits};
use crate::model::option::Opt;
use crate::model::value::Value;
use crate::policy::fidelity::Fidelity;
use crate::{Error, Result};

/// How many levels deep a reference may lead to a value that holds references. Each level is a call
/// of the reader.
const NESTING: usize = 64;

/// This many bytes cost as much as one event, so that repeating a long string is not free.
const BYTES_PER_EVENT: u64 = 64;

/// The shared values of a document.
#[derive(Debug, Default)]
pub(super) struct Sharing {
    values: Vec<Shared>,
    /// Total number of bytes kept.
    bytes: u64,
    /// Number of values given a name for a sink that holds references.
    anchors: u64,
    /// Cost of all references so far.
    spent: u64,
    /// Number of references currently being replayed, one inside another.
    nesting: usize,
}

#[derive(Debug)]
struct Shared {
    bytes: Arc<[u8]>,
    items: u64,
    /// Its offset in the input.
    offset: u64,
    /// Whether it has been read to its end.
    is_whole: bool,
}

impl Sharing {
    /// Forgets everything, because numbers count from the beginning of a document.
    #[inline]
    pub(super) fn end_document(&mut self) {
        if self.anchors > 0 || !self.values.is_empty() {
            *self = Sharing::default();
        }
    }

    /// Returns whether a value is being replayed, in which case the values in it already have
    /// numbers.
    pub(super) fn is_replaying(&self) -> bool {
        self.nesting > 0
    }

    /// Returns whether a value is being replayed inside another replay.
    pub(super) fn is_nested(&self) -> bool {
        self.nesting > 1
    }

    /// Returns the name of the next value, from 1.
    pub(super) fn next_anchor(&mut self) -> u64 {
        self.anchors += 1;
        self.anchors
    }

    /// Returns the name of the value that a reference means, for a sink that holds references.
    pub(super) fn anchor(&self, index: &Value) -> Result<u64> {
        match index {
            Value::Int(index @ 0..) if (*index as u64) < self.anchors => Ok(*index as u64 + 1),
            index => Err(dangling(index, self.anchors)),
        }
    }

    /// Keeps a value of `items` items that begins at `offset`, and returns its number.
    pub(super) fn keep(
        &mut self,
        bytes: &[u8],
        items: u64,
        offset: u64,
        limits: &Limits,
    ) -> Result<usize> {
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        let bound = limits.record_bytes;
        if self.bytes > bound {
            return Err(Error::limit(format!(
                "found more than {bound} bytes of shared values, the limit of \
                 record_bytes"
            ))
            .hint(Hint::raise(Limit::RecordBytes)));
        }
        self.values.push(Shared { bytes: bytes.into(), items, offset, is_whole: false });
        Ok(self.values.len() - 1)
    }

    /// Marks the value with this number as complete.
    pub(super) fn finish(&mut self, index: usize) {
        self.values[index].is_whole = true;
    }

    /// Returns the bytes of the value that a reference at `offset` means, to be read once more.
    /// Call [`end_replay`](Sharing::end_replay) afterwards.
    pub(super) fn begin_replay(
        &mut self,
        index: &Value,
        offset: u64,
        limits: &Limits,
        fidelity: &Fidelity,
    ) -> Result<Arc<[u8]>> {
        let shared = match index {
            Value::Int(index) => usize::try_from(*index).ok().and_then(|i| self.values.get(i)),
            _ => None,
        };
        let Some(shared) = shared else {
            return Err(dangling(index, self.values.len() as u64));
        };
        if !shared.is_whole {
            let (why, hint) = fidelity.no_cycles();
            return Err(Error::new(
                crate::ErrorKind::Refused,
                format!(
                    "found a reference at byte {offset} to the value that contains it, which begins at \
                     byte {}; {why}",
                    shared.offset
                ),
            )
            .hint(hint));
        }
        let cost = shared.items + shared.bytes.len() as u64 / BYTES_PER_EVENT;
        self.spent = self.spent.saturating_add(cost);
        if self.spent > limits.aliases {
            return Err(Error::limit(format!(
                "found references that add more than {} values when they are expanded, the \
                 limit of aliases",
                limits.aliases
            ))
            .hint(
                Hint::raise(Limit::Aliases)
                    .or(Hint::set(Opt::OnLoss, "wrap").to("write references")),
            ));
        }
        if self.nesting == NESTING {
            return Err(Error::limit(format!("found references nested more than {NESTING} deep")));
        }
        self.nesting += 1;
        Ok(Arc::clone(&shared.bytes))
    }

    /// Ends the replay of a value.
    pub(super) fn end_replay(&mut self) {
        self.nesting -= 1;
    }
}

#[cold]
fn dangling(index: &Value, count: u64) -> Error {
    Error::syntax(format!(
        "found a reference to shared value {index} with {count} shared values before it"
    ))
}
