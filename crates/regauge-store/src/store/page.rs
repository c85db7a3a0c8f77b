//! For callers that walk a range at their own pace, page by page.

use super::{Pair, Store};
use crate::engine::{self, Order, Range};
use crate::error::Result;

impl Store {
    /// Returns the first keys and stored values of a range, at most `limit` of them or a few
    /// megabytes.
    ///
    /// # Errors
    /// `Engine`.
    pub fn page(&mut self, range: &Range, order: Order, limit: usize) -> Result<Vec<Pair>> {
        if !self.is_there()? {
            return Ok(Vec::new());
        }
        self.engine.page(&self.settings.layout, range, order, limit)
    }

    /// Returns the rest of a range after a key; `None` if no key can follow.
    #[must_use]
    pub fn range_after(&self, range: &Range, order: Order, key: &[u8]) -> Option<Range> {
        let mut rest = range.clone();
        engine::narrow_after(&mut rest, &self.settings.layout, key, order).then_some(rest)
    }
}
