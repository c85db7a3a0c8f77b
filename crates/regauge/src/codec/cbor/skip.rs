//! Finds where an item ends, without decoding it.

use super::types::*;

/// What a container still needs: twice the number of items (keys included), plus one for a map. So
/// a key is next if the lowest two bits are `01`, and the container ends below 2. A container of
/// [`OPEN_ENDED`] length never ends by counting.
pub(super) type Frame = u64;

/// One item: a document, or the content of a tag.
pub(super) const ONE: Frame = 2;
/// Marks a container that ends with a break. Its count cannot be reached.
pub(super) const OPEN_ENDED: Frame = 1 << 63 | COUNT_MAX << 4;
/// Marks the enclosing frame: the item open inside it is the content of a tag.
pub(super) const IN_TAG: Frame = 1 << 62;
/// No file holds more items; a higher count is clamped to this one.
const COUNT_MAX: u64 = 1 << 56;

/// Returns the frame of an array with this count.
#[inline(always)]
pub(super) fn array_frame(count: u64) -> Frame {
    2 * count.min(COUNT_MAX)
}

/// Returns the frame of a map of this many pairs.
#[inline(always)]
pub(super) fn map_frame(count: u64) -> Frame {
    4 * count.min(COUNT_MAX) + 1
}

/// Returns whether the container ends with a break.
#[inline]
pub(super) fn is_open_ended(frame: Frame) -> bool {
    frame >> 63 == 1
}

/// Returns whether a break is allowed here: in an open-ended container, but not in place of a map's
/// value.
#[inline]
pub(super) fn may_break(frame: Frame) -> bool {
    is_open_ended(frame) && frame & 3 != 3
}

/// Marks an open-ended string; its major type is in the lowest bits.
const CHUNKS: Frame = 1 << 61;

/// Skips one item, however its bytes arrive: it can stop at any byte and resume with more.
#[derive(Clone, Debug)]
pub(super) struct Skip {
    /// Where the next head begins; past the end of the bytes if a string is cut off.
    next: usize,
    frame: Frame,
    outer: Vec<Frame>,
    items: u64,
}

impl Skip {
    /// Creates a search at the beginning of an item.
    pub(super) const fn new() -> Skip {
        Skip { next: 0, frame: ONE, outer: Vec::new(), items: 0 }
    }

    /// Returns how many items have been skipped.
    pub(super) fn items(&self) -> u64 {
        self.items
    }

    /// Returns the end of the item that begins at `bytes[0]`, or `None` if it is incomplete. In
    /// that case the next call resumes where this one stopped, and `bytes` must begin at the same
    /// place.
    ///
    /// A malformed item, or one nested deeper than `depth`, ends right after the fault, so that
    /// reading those bytes finds the fault.
    pub(super) fn end(&mut self, bytes: &[u8], depth: usize) -> Option<usize> {
        loop {
            while self.frame < 2 {
                let Some(outer) = self.outer.pop() else {
                    return (self.next <= bytes.len()).then_some(self.next);
                };
                self.frame = outer;
            }
            let (initial, word) = token(bytes.get(self.next..)?)?;
            let (major, info) = (initial >> 5, initial & 31);
            let fault = Some(self.next + 1);
            if initial == BREAK {
                if self.frame & CHUNKS == 0 && !may_break(self.frame) {
                    return fault;
                }
                self.next += 1;
                self.frame = 0;
                continue;
            }
            if (28..INDEFINITE).contains(&info) {
                return fault;
            }
            if self.frame & CHUNKS != 0 {
                if info == INDEFINITE || major != (self.frame & 7) as u8 {
                    return fault;
                }
            } else {
                self.frame -= 2;
            }
            self.items += 1;
            let count = argument(initial, word);
            let inner = match (major, info) {
                (major::BYTES | major::TEXT, INDEFINITE) => CHUNKS | Frame::from(major),
                (major::ARRAY, INDEFINITE) => OPEN_ENDED,
                (major::MAP, INDEFINITE) => OPEN_ENDED | 1,
                (_, INDEFINITE) => return fault,
                (major::BYTES | major::TEXT, _) => {
                    let length = usize::try_from(count).unwrap_or(usize::MAX);
                    self.next =
                        self.next.saturating_add(head_bytes(initial).saturating_add(length));
                    if self.next > bytes.len() {
                        return None;
                    }
                    continue;
                }
                (major::ARRAY, _) => array_frame(count),
                (major::MAP, _) => map_frame(count),
                (major::TAG, _) => ONE,
                _ => {
                    self.next += head_bytes(initial);
                    continue;
                }
            };
            self.next += head_bytes(initial);
            if self.outer.len() >= depth {
                return Some(self.next);
            }
            self.outer.push(self.frame);
            self.frame = inner;
        }
    }
}
