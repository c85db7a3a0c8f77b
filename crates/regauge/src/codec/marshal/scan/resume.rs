//! Scanning parts of a document, and resuming after parts that another pass has consumed.

use super::{Frame, Scanner, Tables};

/// See [`Scanner::suspend`].
pub(in crate::codec::marshal) struct Suspended {
    at: usize,
    depth: u32,
    stack: Vec<Frame>,
}

impl Scanner {
    /// Resumes at this place, inside `depth` containers, with `values` values to come. Keeps what
    /// was found.
    pub fn resume(&mut self, at: usize, depth: u32, values: u64) {
        self.at = at;
        self.depth = depth;
        self.stack.clear();
        self.stack.push(Frame::Values(values));
    }

    /// After [`resume`](Scanner::resume): adds one more container, with `values` values that come
    /// first.
    pub fn enter_again(&mut self, values: u64) {
        self.depth += 1;
        self.stack.push(Frame::Leave(1));
        self.stack.push(Frame::Values(values));
    }

    /// Takes out the position within a value, for [`go_on_with`](Scanner::go_on_with).
    pub fn suspend(&mut self) -> Suspended {
        Suspended { at: self.at, depth: self.depth, stack: std::mem::take(&mut self.stack) }
    }

    /// Puts that value before everything still to come.
    pub fn go_on_with(&mut self, value: Suspended) {
        (self.at, self.depth) = (value.at, value.depth);
        self.stack.extend(value.stack);
    }

    /// Returns the place of the next token.
    pub fn at(&self) -> usize {
        self.at
    }
}

impl Tables {
    /// Keeps only the first `objects` and `symbols`.
    pub fn forget(&mut self, objects: usize, symbols: usize) {
        self.objects.truncate(objects);
        self.symbols.truncate(symbols);
        self.encoding_flag = self.encoding_flag.filter(|flag| (*flag as usize) < symbols);
    }
}
