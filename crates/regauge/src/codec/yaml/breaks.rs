//! The line breaks that only YAML 1.1 has: U+0085, U+2028 and U+2029 (§4.2 there). In YAML 1.2 they
//! are ordinary characters. Writers escape them.
//!
//! The grammar looks for line feeds and carriage returns. If a window contains one of the three, it
//! reads a copy in which they are replaced by carriage returns of the same length
//! ([`Breaks::piece`]), so that indices stay the same; text is taken from the window itself. U+0085
//! becomes a line feed in text; U+2028 and U+2029 stay, even where a line feed would be folded
//! away.

use super::event::Handler;
use super::machine::Run;

/// Fills up the copy: not a byte of UTF-8.
const FILL: u8 = 0xFF;
/// How much is copied at once; doubled each time a token does not end there.
const PIECE: usize = 64 << 10;

/// Finds and copies them, looking at every byte once.
#[derive(Debug)]
pub(super) struct Breaks {
    /// How many bytes after the parser's position are known to contain none.
    clear: usize,
    /// What follows the parser's position, from `at` on, with carriage returns in their place.
    copy: Vec<u8>,
    at: usize,
    piece: usize,
}

/// The part of a window that the grammar is given.
pub(super) struct Piece<'a> {
    pub(super) end: usize,
    /// What the grammar reads in place of the window's bytes up to `end`.
    pub(super) copy: Option<&'a [u8]>,
    /// Whether the window ends where the piece does.
    pub(super) whole: bool,
}

impl Default for Breaks {
    fn default() -> Breaks {
        Breaks { clear: 0, copy: Vec::new(), at: 0, piece: PIECE }
    }
}

impl Breaks {
    /// Returns what to read of `bytes` from `pos` on.
    pub(super) fn piece(&mut self, bytes: &[u8], pos: usize) -> Piece<'_> {
        if self.at == self.copy.len() && !self.any(bytes, pos) {
            return Piece { end: bytes.len(), copy: None, whole: true };
        }
        let have = (self.copy.len() - self.at).min(bytes.len() - pos);
        let end = bytes.len().min(pos + self.piece.max(have));
        if self.at > have {
            self.copy.drain(..self.at);
            self.at = 0;
        }
        // A character that was cut off is looked at again.
        let from = self.copy.len().saturating_sub(2).max(self.at);
        self.copy.extend_from_slice(&bytes[pos + have..end]);
        replace(&mut self.copy[from..]);
        Piece { end, copy: Some(&self.copy[self.at..]), whole: end == bytes.len() }
    }

    /// Moves the parser's position on by this many bytes.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.clear = self.clear.saturating_sub(bytes);
        self.at = (self.at + bytes).min(self.copy.len());
        if bytes > 0 {
            self.piece = PIECE;
        }
    }

    /// Enlarges the piece after a token did not end within it.
    pub(super) fn enlarge(&mut self) {
        self.piece = self.piece.saturating_mul(2);
    }

    /// Returns whether there is one at or after `pos`.
    fn any(&mut self, bytes: &[u8], pos: usize) -> bool {
        let mut at = (pos + self.clear).min(bytes.len());
        while let Some(found) = memchr::memchr2(0xC2, 0xE2, &bytes[at..]) {
            at += found;
            match bytes[at..] {
                [0xC2, 0x85, ..] | [0xE2, 0x80, 0xA8 | 0xA9, ..] => {
                    self.clear = at - pos;
                    return true;
                }
                // It may be cut off.
                [_] | [0xE2, _] => break,
                _ => at += 1,
            }
        }
        self.clear = (bytes.len() - pos).saturating_sub(2);
        false
    }
}

/// Replaces the three by carriage returns.
fn replace(bytes: &mut [u8]) {
    let mut at = 0;
    while let Some(found) = memchr::memchr2(0xC2, 0xE2, &bytes[at..]) {
        at += found;
        match &mut bytes[at..] {
            [lead @ 0xC2, rest @ 0x85, ..] => (*lead, *rest) = (b'\r', b'\n'),
            [lead @ 0xE2, middle @ 0x80, rest @ (0xA8 | 0xA9), ..] => {
                (*lead, *middle, *rest) = (b'\r', FILL, FILL);
            }
            _ => {}
        }
        at += 1;
    }
}

/// Returns the index after the carriage return at `at` of a copy if it replaces U+2028 or U+2029.
#[inline]
pub(super) fn after_kept(bytes: &[u8], at: usize) -> Option<usize> {
    (bytes.get(at + 1) == Some(&FILL)).then_some(at + 3)
}

/// How line breaks between two lines become text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    /// A single one becomes a space; the first of several is dropped (§6.5).
    Lines,
    /// The first was escaped, and is dropped.
    Escaped,
    /// All are kept.
    Keep,
}

/// The line breaks between two lines: those from `from` to `to`, plus `count` further line feeds.
pub(super) struct Between<'a> {
    pub(super) text: &'a str,
    /// The text, or its copy.
    pub(super) bytes: &'a [u8],
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) count: usize,
}

impl Between<'_> {
    /// Appends what they become to a text.
    #[inline]
    pub(super) fn add(mut self, out: &mut String, fold: Fold) {
        if self.text.as_ptr() != self.bytes.as_ptr() {
            return self.add_of_copy(out, fold);
        }
        match (fold, self.count) {
            (Fold::Lines, 1) => out.push(' '),
            (Fold::Keep, 1) => out.push('\n'),
            (Fold::Keep, count) => out.extend(std::iter::repeat_n('\n', count)),
            (_, count) => out.extend(std::iter::repeat_n('\n', count - 1)),
        }
    }

    #[cold]
    fn add_of_copy(&mut self, out: &mut String, fold: Fold) {
        for index in 0..self.count {
            match (self.next(), fold) {
                (_, Fold::Escaped) if index == 0 => {}
                ('\n', Fold::Lines) if index == 0 => {
                    if self.count == 1 {
                        out.push(' ');
                    }
                }
                (char, _) => out.push(char),
            }
        }
    }

    fn next(&mut self) -> char {
        while self.from < self.to {
            let at = self.from;
            self.from += 1;
            match self.bytes[at] {
                b'\n' => return '\n',
                b'\r' => {
                    if let Some(after) = after_kept(self.bytes, at) {
                        self.from = after;
                        return self.text[at..].chars().next().unwrap_or('\n');
                    }
                    self.from += usize::from(self.bytes.get(at + 1) == Some(&b'\n'));
                    return '\n';
                }
                _ => {}
            }
        }
        '\n'
    }
}

impl<'a, H: Handler + ?Sized> Run<'_, 'a, H> {
    pub(super) fn breaks_between(&self, from: usize, to: usize, count: usize) -> Between<'a> {
        Between { text: self.text, bytes: self.bytes, from, to, count }
    }
}
