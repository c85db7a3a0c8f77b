//! Holds the differences between the original and a copy.

use regauge::compare::Change;
use serde::{Deserialize, Serialize};

/// Differences of one kind between the original and a contender's own output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// The kind: "key order", "negative zero", "value" …
    pub kind: String,
    /// How often.
    pub count: u64,
    /// The first few.
    pub examples: Vec<Example>,
}

impl Loss {
    /// Returns whether regauge left it out of what it wrote in this format, which can hold it: Marshal and
    /// pickle keep classes, but loading one could run code.
    #[must_use]
    pub fn was_left_out(&self, format: &str) -> bool {
        self.kind == "class or tag" && (format == "marshal" || format.starts_with("pickle"))
    }

    /// Returns a difference between two documents as reports show it.
    pub(crate) fn of(change: &Change) -> Loss {
        Loss {
            kind: change.kind.name().to_owned(),
            count: change.count,
            examples: change
                .examples
                .iter()
                .map(|one| Example {
                    document: one.document,
                    path: one.path.to_string(),
                    before: one.before.clone(),
                    after: one.after.clone(),
                })
                .collect(),
        }
    }
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Example {
    /// The document, from 1.
    pub document: u64,
    /// Where in it.
    pub path: String,
    /// What stood there.
    pub before: String,
    /// What stands there now.
    pub after: String,
}
