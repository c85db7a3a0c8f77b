//! The part of a window that has been validated as UTF-8.
//!
//! Everything is checked before the grammar sees it, a few kilobytes at a time: checking one long
//! piece costs far less than checking many scalars, and lets the grammar borrow text unchecked.
//! Invalid bytes are reported when the grammar reaches them, so that window boundaries make no
//! difference.

#![allow(unsafe_code, reason = "text that was checked to be UTF-8")]

/// How much is checked first; doubled each time.
const FIRST_STEP: usize = 4 << 10;
const LAST_STEP: usize = 256 << 10;

/// The checked part of a window.
pub(super) struct View<'a> {
    bytes: &'a [u8],
    /// Everything before this index is UTF-8.
    checked: usize,
    step: usize,
    /// The bytes after `checked` are not UTF-8, and more input cannot change that.
    broken: bool,
}

impl<'a> View<'a> {
    /// Creates a view with nothing checked.
    pub(super) fn new(bytes: &'a [u8]) -> View<'a> {
        View { bytes, checked: 0, step: FIRST_STEP, broken: false }
    }

    /// Checks more of the window, at least `least` bytes of it in total if there are that many.
    /// Returns `false` if nothing was left, or if the next bytes are not UTF-8.
    pub(super) fn extend(&mut self, least: usize) -> bool {
        if self.broken {
            return false;
        }
        let from = self.checked;
        let to = (from + self.step).max(least).min(self.bytes.len());
        self.step = (self.step * 2).min(LAST_STEP);
        let piece = &self.bytes[from..to];
        if simdutf8::basic::from_utf8(piece).is_ok() {
            self.checked = to;
        } else if let Err(error) = std::str::from_utf8(piece) {
            self.checked = from + error.valid_up_to();
            // A character that is cut off by the end of the piece is not broken.
            self.broken = error.error_len().is_some();
        }
        self.checked > from
    }

    /// Returns the text checked so far.
    #[inline]
    pub(super) fn text(&self) -> &'a str {
        // SAFETY: `extend` moves `checked` only over pieces that are each UTF-8.
        unsafe { std::str::from_utf8_unchecked(&self.bytes[..self.checked]) }
    }

    /// Returns whether the whole window is checked.
    pub(super) fn is_whole(&self) -> bool {
        self.checked == self.bytes.len()
    }

    /// Returns whether invalid bytes follow; otherwise a character may be cut off.
    pub(super) fn is_broken(&self) -> bool {
        self.broken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_never_cut() {
        let text = "aé€😀".repeat(4000);
        let mut view = View::new(text.as_bytes());
        while view.extend(0) {}
        assert!(view.is_whole() && !view.is_broken());
        assert_eq!(view.text(), text);
        for cut in 1..=3 {
            let mut view = View::new(&text.as_bytes()[..text.len() - cut]);
            while view.extend(0) {}
            assert!(!view.is_whole() && !view.is_broken());
            assert_eq!(view.text().len(), text.len() - 4);
        }
    }

    #[test]
    fn broken_bytes_end_the_text() {
        let mut bytes = "é".repeat(5000).into_bytes();
        bytes[7001] = b'x';
        let mut view = View::new(&bytes);
        while view.extend(0) {}
        assert_eq!((view.text().len(), view.is_broken()), (7000, true));
    }
}
