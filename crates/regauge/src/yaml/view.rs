//! The part of a window that is known to be UTF-8.
//!
//! Everything is checked before the grammar sees it, some kilobytes at a time: checking one long
//! piece costs far less than checking many scalars, and lets the grammar borrow text unchecked.
//! What is wrong is reported when the grammar has come so far, so that it makes no difference
//! where a window ends.

#![allow(unsafe_code, reason = "text that was checked to be UTF-8")]

/// How much is looked at first, and then twice as much each time.
const FIRST_STEP: usize = 4 << 10;
const LAST_STEP: usize = 256 << 10;

/// The checked part of a window.
pub(super) struct View<'a> {
    bytes: &'a [u8],
    /// Everything before this index is UTF-8.
    checked: usize,
    step: usize,
    /// What follows `checked` is not UTF-8, nor could it become so.
    broken: bool,
}

impl<'a> View<'a> {
    /// Nothing is checked yet.
    pub(super) fn new(bytes: &'a [u8]) -> View<'a> {
        View { bytes, checked: 0, step: FIRST_STEP, broken: false }
    }

    /// Checks more of the window, `least` bytes of it in all if there are so many. Gives `false`
    /// if there was nothing left, or nothing that is UTF-8.
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
            // A character that the piece's end cuts off is not broken.
            self.broken = error.error_len().is_some();
        }
        self.checked > from
    }

    /// The text so far.
    #[inline]
    pub(super) fn text(&self) -> &'a str {
        // SAFETY: `extend` moves `checked` only over pieces that are UTF-8 each.
        unsafe { std::str::from_utf8_unchecked(&self.bytes[..self.checked]) }
    }

    /// Whether all of the window is checked.
    pub(super) fn is_whole(&self) -> bool {
        self.checked == self.bytes.len()
    }

    /// Whether bytes that are not UTF-8 follow; otherwise a character may be cut off.
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
