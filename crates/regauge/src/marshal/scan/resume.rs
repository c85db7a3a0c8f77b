//! Scanning parts of a document, and going on behind what somebody else has passed over.

use super::{Frame, Scanner, Tables};

/// See [`Scanner::suspend`].
pub(in crate::marshal) struct Suspended {
    at: usize,
    depth: u32,
    stack: Vec<Frame>,
}

impl Scanner {
    /// Is to go on at this place, in so many containers, with so many values. What was found stays.
    pub fn resume(&mut self, at: usize, depth: u32, values: u64) {
        self.at = at;
        self.depth = depth;
        self.stack.clear();
        self.stack.push(Frame::Values(values));
    }

    /// Behind [`resume`](Scanner::resume): there are so many values first, in one more container.
    pub fn enter_again(&mut self, values: u64) {
        self.depth += 1;
        self.stack.push(Frame::Leave(1));
        self.stack.push(Frame::Values(values));
    }

    /// Where it stands within a value, for [`go_on_with`](Scanner::go_on_with).
    pub fn suspend(&mut self) -> Suspended {
        Suspended { at: self.at, depth: self.depth, stack: std::mem::take(&mut self.stack) }
    }

    /// That value comes before all that is to come.
    pub fn go_on_with(&mut self, value: Suspended) {
        (self.at, self.depth) = (value.at, value.depth);
        self.stack.extend(value.stack);
    }

    /// What comes next.
    pub fn at(&self) -> usize {
        self.at
    }
}

impl Tables {
    /// Keeps the first of both only.
    pub fn forget(&mut self, objects: usize, symbols: usize) {
        self.objects.truncate(objects);
        self.symbols.truncate(symbols);
        self.encoding_flag = self.encoding_flag.filter(|flag| (*flag as usize) < symbols);
    }
}
