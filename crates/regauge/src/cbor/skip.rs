//! Where an item ends, without decoding it.

use super::types::*;

/// What is still to come in a container: twice the number of items, keys counted among them, and
/// one more for a map. So a key is next where the lowest two bits are `01`, and the container is at
/// its end below 2. A container of [`OPEN_ENDED`] length never comes to its end by counting.
pub(super) type Frame = u64;

/// One item: a document, or the content of a tag.
pub(super) const ONE: Frame = 2;
/// The mark of a container that ends with a break. Its count is out of reach.
pub(super) const OPEN_ENDED: Frame = 1 << 63 | COUNT_MAX << 4;
/// The mark, on the frame around, that what is open inside of it is the content of a tag.
pub(super) const IN_TAG: Frame = 1 << 62;
/// No file holds more items; a higher count is taken for this one.
const COUNT_MAX: u64 = 1 << 56;

/// The frame of an array with this count.
#[inline(always)]
pub(super) fn array_frame(count: u64) -> Frame {
    2 * count.min(COUNT_MAX)
}

/// The frame of a map of this many pairs.
#[inline(always)]
pub(super) fn map_frame(count: u64) -> Frame {
    4 * count.min(COUNT_MAX) + 1
}

/// Whether the container ends with a break.
#[inline]
pub(super) fn is_open_ended(frame: Frame) -> bool {
    frame >> 63 == 1
}

/// Whether a break may stand here: in an open-ended container, but not for a map's value.
#[inline]
pub(super) fn may_break(frame: Frame) -> bool {
    is_open_ended(frame) && frame & 3 != 3
}

/// The mark of an open-ended string, whose major type stands in the lowest bits.
const CHUNKS: Frame = 1 << 61;

/// Passes over one item, however its bytes come: it can stop at any byte and go on with more.
#[derive(Clone, Debug)]
pub(super) struct Skip {
    /// Where the next head begins; behind the end of the bytes, if a string is cut.
    next: usize,
    frame: Frame,
    outer: Vec<Frame>,
    items: u64,
}

impl Skip {
    /// At the beginning of an item.
    pub(super) const fn new() -> Skip {
        Skip { next: 0, frame: ONE, outer: Vec::new(), items: 0 }
    }

    /// How many items have been passed over.
    pub(super) fn items(&self) -> u64 {
        self.items
    }

    /// The end of the item that begins at `bytes[0]`, or `None` if it is not whole: then the next
    /// call goes on where this one stopped, and `bytes` must begin at the same place.
    ///
    /// What is not well-formed, or deeper than `depth`, ends right behind the fault, so that a
    /// reader of those bytes finds it.
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
