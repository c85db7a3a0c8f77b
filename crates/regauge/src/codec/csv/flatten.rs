//! The columns of values in maps and arrays: `a.b`, `a.0`.

/// The path of the value at hand in its row.
#[derive(Debug, Default)]
pub(super) struct Flatten {
    name: String,
    levels: Vec<Level>,
}

/// A map or an array that is open; the first is the row.
#[derive(Debug)]
struct Level {
    /// The bytes of the name before a key or an index.
    prefix: usize,
    /// The index of the next value of an array.
    index: Option<u64>,
    is_empty: bool,
}

impl Flatten {
    /// Begins a row.
    pub fn begin_row(&mut self) {
        self.clear();
        self.levels.push(Level { prefix: 0, index: None, is_empty: true });
    }

    pub fn clear(&mut self) {
        self.name.clear();
        self.levels.clear();
    }

    /// Returns whether a map or an array in the row is open.
    pub fn is_inside(&self) -> bool {
        self.levels.len() > 1
    }

    /// Names the next value after its key.
    pub fn key(&mut self, key: &str) {
        let prefix = self.levels.last().map_or(0, |level| level.prefix);
        self.name.truncate(prefix);
        self.name.push_str(key);
    }

    /// Begins a map or an array.
    pub fn begin(&mut self, is_array: bool) {
        self.value();
        self.name.push('.');
        let index = is_array.then_some(0);
        self.levels.push(Level { prefix: self.name.len(), index, is_empty: true });
    }

    /// Ends it. Returns whether nothing was in it; its own name is then [`name`](Flatten::name).
    pub fn end(&mut self) -> bool {
        let Some(level) = self.levels.pop() else { return false };
        // Without the dot.
        self.name.truncate(level.prefix.saturating_sub(1));
        level.is_empty
    }

    /// Names a value after its index, if it is in an array.
    pub fn value(&mut self) {
        let Some(level) = self.levels.last_mut() else { return };
        level.is_empty = false;
        if let Some(index) = &mut level.index {
            self.name.truncate(level.prefix);
            self.name.push_str(itoa::Buffer::new().format(*index));
            *index += 1;
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }
}
