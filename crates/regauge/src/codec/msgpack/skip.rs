//! Finds where documents end, without decoding them.

use super::types::*;

/// Skips one value, however its bytes arrive: it can stop at any byte and continue with more.
///
/// No stack is needed: every token takes one from the number of remaining values, and a container
/// adds its own.
#[derive(Clone, Debug)]
pub(crate) struct Skip {
    /// Where the next token begins; past the end of the bytes if a string is cut off.
    next: usize,
    /// How many values are still to come.
    left: u64,
}

impl Skip {
    /// Starts at the beginning of a value.
    pub(crate) const fn new() -> Skip {
        Skip { next: 0, left: 1 }
    }

    /// Returns the end of the value that begins at `bytes[0]`, or `None` if it is incomplete: then
    /// the next call continues where this one stopped, and `bytes` must begin at the same place.
    pub(crate) fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        let (mut next, mut left) = (self.next, self.left);
        while left > 0 {
            let Some(&marker) = bytes.get(next) else { break };
            let (size, more) = FIXED[usize::from(marker)];
            if size > 0 {
                next += usize::from(size);
                left = left - 1 + u64::from(more);
                continue;
            }
            let Some((size, more)) = variable(marker, &bytes[next..]) else { break };
            next = next.saturating_add(size);
            // Saturating: a count that large can never be reached.
            left = (left - 1).saturating_add(more);
        }
        (self.next, self.left) = (next, left);
        (left == 0 && next <= bytes.len()).then_some(next)
    }
}

/// Returns the size in bytes, and the number of values that follow, of a token with a length after
/// its marker.
#[inline]
fn variable(marker: u8, token: &[u8]) -> Option<(usize, u64)> {
    let header = usize::from(HEADER_BYTES[usize::from(marker)]);
    let length_bytes = match marker {
        EXT8 | EXT16 | EXT32 => &token.get(..header)?[1..header - 1],
        _ => &token.get(..header)?[1..],
    };
    let length = length_bytes.iter().fold(0u64, |length, byte| length << 8 | u64::from(*byte));
    Some(match marker {
        ARRAY16 | ARRAY32 => (header, length),
        MAP16 | MAP32 => (header, 2 * length),
        _ => (header.saturating_add(usize::try_from(length).unwrap_or(usize::MAX)), 0),
    })
}

/// Size in bytes, and number of values that follow, of every token whose marker determines them;
/// size 0 for the others. The unused byte counts as a token: the reader reports it.
const FIXED: [(u8, u8); 256] = fixed();

const fn fixed() -> [(u8, u8); 256] {
    let mut table = [(1, 0); 256];
    let mut marker = 0;
    while marker < 256 {
        let byte = marker as u8;
        table[marker] = match byte {
            FIXMAP..FIXARRAY => (1, 2 * (byte & 15)),
            FIXARRAY..FIXSTR => (1, byte & 15),
            FIXSTR..NIL => (1 + (byte & 31), 0),
            BIN8..=EXT32 | STR8..=MAP32 => (0, 0),
            FIXEXT1..=FIXEXT16 => (2 + (1 << (byte - FIXEXT1)), 0),
            _ => (HEADER_BYTES[marker], 0),
        };
        marker += 1;
    }
    table
}

/// Splits a stream of documents, to decode it on several cores.
///
/// ```
/// use regauge::msgpack::Splitter;
/// let mut splitter = Splitter::new();
/// let mut bytes = b"\x93\x01\x02\x03\xA5he".to_vec();
/// let end = splitter.documents_end(&bytes, usize::MAX);
/// assert_eq!(end, 4);
/// bytes.drain(..end);
/// bytes.extend(b"llo");
/// assert_eq!(splitter.documents_end(&bytes, usize::MAX), 6);
/// ```
#[derive(Clone, Debug)]
pub struct Splitter {
    skip: Skip,
}

impl Splitter {
    /// Creates a splitter at the beginning of a document.
    pub fn new() -> Splitter {
        Splitter { skip: Skip::new() }
    }

    /// Returns the end of the first document that ends at or after `want` bytes, or else of the
    /// last complete one; 0 if there is none.
    ///
    /// The next call must be given the bytes after that end, followed by more: an incomplete
    /// document is scanned only once, in however many pieces it arrives.
    pub fn documents_end(&mut self, bytes: &[u8], want: usize) -> usize {
        let mut end = 0;
        while end < want.max(1) {
            let Some(length) = self.skip.end(&bytes[end..]) else { break };
            end += length;
            self.skip = Skip::new();
        }
        end
    }
}

impl Default for Splitter {
    fn default() -> Splitter {
        Splitter::new()
    }
}

/// Returns the end of the first document in `bytes` that ends at or after `want` bytes, or else of
/// the last complete one; 0 if there is none. See [`Splitter`] for bytes that arrive in pieces.
pub fn documents_end(bytes: &[u8], want: usize) -> usize {
    Splitter::new().documents_end(bytes, want)
}
