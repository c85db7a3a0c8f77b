//! Edits of a text, by their places.

use std::ops::Range;

/// Replacements of parts of a text, in any order.
#[derive(Debug, Default)]
pub(super) struct Patch {
    edits: Vec<(Range<usize>, String)>,
    /// Those that come after the others at the same place.
    last: Vec<(Range<usize>, String)>,
}

impl Patch {
    /// Replaces a part.
    pub fn replace(&mut self, range: Range<usize>, text: impl Into<String>) {
        self.edits.push((range, text.into()));
    }

    /// Puts text between two bytes, after what was put there before.
    pub fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.replace(at..at, text);
    }

    /// Puts text between two bytes, after all else that is put there.
    pub fn insert_last(&mut self, at: usize, text: impl Into<String>) {
        self.last.push((at..at, text.into()));
    }

    /// Removes a part. Parts that overlap are removed together.
    pub fn remove(&mut self, range: Range<usize>) {
        self.replace(range, "");
    }

    /// Returns the text with all edits; `None` if two are at the same place.
    pub fn apply(mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        self.edits.append(&mut self.last);
        self.edits.sort_by_key(|(range, _)| (range.start, range.end));
        let mut text = Vec::with_capacity(bytes.len() + 64);
        let mut done = 0;
        let mut removed = true;
        for (range, new) in self.edits {
            let is_removal = new.is_empty();
            // What is put into a part that goes comes after it.
            let may = removed && (is_removal || range.is_empty());
            if range.start < done && !may || range.end < range.start {
                return None;
            }
            text.extend_from_slice(bytes.get(done..range.start.max(done))?);
            text.extend_from_slice(new.as_bytes());
            if range.end > done {
                removed = is_removal;
            }
            done = done.max(range.end);
        }
        text.extend_from_slice(bytes.get(done..)?);
        Some(text)
    }
}
