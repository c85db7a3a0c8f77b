//! Values that are referred to (tags 28 and 29), for a sink that holds no references: their bytes
//! are kept, and a reference reads them again, under a budget.

use std::sync::Arc;

use crate::hint::Hint;
use crate::limits::Limit;
use crate::limits::Limits;
use crate::options::Opt;
use crate::value::Value;
use crate::{Error, Result};

/// How deep references may lead to values that hold references. Each level is a call of the reader.
const NESTING: usize = 64;

/// So many bytes cost as much as one event: a long string that is repeated is not free.
const BYTES_PER_EVENT: u64 = 64;

/// The values of a document that may be referred to.
#[derive(Debug, Default)]
pub(super) struct Sharing {
    values: Vec<Shared>,
    /// Bytes that are kept, of all of them.
    bytes: u64,
    /// Values that were named to a sink that holds references.
    anchors: u64,
    /// What references have cost so far.
    spent: u64,
    /// References that are being read again, one inside of another.
    nesting: usize,
}

#[derive(Debug)]
struct Shared {
    bytes: Arc<[u8]>,
    items: u64,
    /// Where it stands in the input.
    offset: u64,
    /// Whether it has been read to its end.
    is_whole: bool,
}

impl Sharing {
    /// Forgets everything: numbers count from the beginning of a document.
    #[inline]
    pub(super) fn end_document(&mut self) {
        if self.anchors > 0 || !self.values.is_empty() {
            *self = Sharing::default();
        }
    }

    /// Whether a value is read again: then the values in it have their numbers.
    pub(super) fn is_replaying(&self) -> bool {
        self.nesting > 0
    }

    /// Whether a value is read again inside of one that is.
    pub(super) fn is_nested(&self) -> bool {
        self.nesting > 1
    }

    /// The next value's name, from 1.
    pub(super) fn next_anchor(&mut self) -> u64 {
        self.anchors += 1;
        self.anchors
    }

    /// The name of the value that a reference means, in a sink that holds references.
    pub(super) fn anchor(&self, index: &Value) -> Result<u64> {
        match index {
            Value::Int(index @ 0..) if (*index as u64) < self.anchors => Ok(*index as u64 + 1),
            index => Err(dangling(index, self.anchors)),
        }
    }

    /// Keeps a value, of so many items, that begins at this offset. Gives its number.
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
                "found more than {bound} bytes of values that may be referred to, the limit of \
                 record_bytes"
            ))
            .hint(Hint::raise(Limit::RecordBytes)));
        }
        self.values.push(Shared { bytes: bytes.into(), items, offset, is_whole: false });
        Ok(self.values.len() - 1)
    }

    /// The value with this number is whole.
    pub(super) fn finish(&mut self, index: usize) {
        self.values[index].is_whole = true;
    }

    /// The bytes of the value that a reference at `offset` means, which are to be read once more;
    /// [`end_replay`](Sharing::end_replay) follows.
    pub(super) fn begin_replay(
        &mut self,
        index: &Value,
        offset: u64,
        limits: &Limits,
    ) -> Result<Arc<[u8]>> {
        let shared = match index {
            Value::Int(index) => usize::try_from(*index).ok().and_then(|i| self.values.get(i)),
            _ => None,
        };
        let Some(shared) = shared else {
            return Err(dangling(index, self.values.len() as u64));
        };
        if !shared.is_whole {
            return Err(Error::new(
                crate::ErrorKind::Refused,
                format!(
                    "found a reference at byte {offset} to the value around it, which begins at \
                     byte {}: a cycle, which the target cannot hold",
                    shared.offset
                ),
            )
            .hint(Hint::set(Opt::OnLoss, "wrap").to("write references (reversible)")));
        }
        let cost = shared.items + shared.bytes.len() as u64 / BYTES_PER_EVENT;
        self.spent = self.spent.saturating_add(cost);
        if self.spent > limits.aliases {
            return Err(Error::limit(format!(
                "found references that add more than {} values when they are written out, the \
                 limit of aliases",
                limits.aliases
            ))
            .hint(
                Hint::raise(Limit::Aliases)
                    .or(Hint::set(Opt::OnLoss, "wrap").to("write references")),
            ));
        }
        if self.nesting == NESTING {
            return Err(Error::limit(format!(
                "found references inside of values that are referred to, more than {NESTING} deep"
            )));
        }
        self.nesting += 1;
        Ok(Arc::clone(&shared.bytes))
    }

    /// The value has been read again.
    pub(super) fn end_replay(&mut self) {
        self.nesting -= 1;
    }
}

#[cold]
fn dangling(index: &Value, count: u64) -> Error {
    Error::syntax(format!(
        "found a reference to the shared value {index} where {count} have come before it"
    ))
}
