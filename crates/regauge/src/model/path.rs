//! The position of a value in a document: `$.items[2].when`.

mod pattern;

use std::fmt;

pub use pattern::{Pattern, Selector};

/// One step down from a container to a value in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// The value under this key of a map. A key that is not text is given in its notation.
    Key(Box<str>),
    /// The value at this index of an array, from 0.
    Index(u64),
}

/// The path from the root of a document to one of its values. Displays as `$.items[2].when`; a key
/// that is not a plain word is quoted: `$["two words"]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Path(pub Vec<Step>);

/// Keys and paths longer than this are cut in messages, never in [`Path`] itself.
const SHOWN_KEY_CHARS: usize = 60;
const SHOWN_STEPS: usize = 24;

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        let hidden = self.0.len().saturating_sub(SHOWN_STEPS);
        for (index, step) in self.0.iter().enumerate() {
            // A deep path keeps its head and its tail.
            if hidden > 0 && index >= SHOWN_STEPS / 2 && index < SHOWN_STEPS / 2 + hidden {
                if index == SHOWN_STEPS / 2 {
                    write!(f, "…({hidden} more)…")?;
                }
                continue;
            }
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) if is_word(key) => write!(f, ".{key}")?,
                Step::Key(key) => {
                    let mut chars = key.chars();
                    let shown: String = chars.by_ref().take(SHOWN_KEY_CHARS).collect();
                    let more = if chars.next().is_some() { "…" } else { "" };
                    write!(f, "[\"{}{more}\"]", shown.escape_debug())?;
                }
            }
        }
        Ok(())
    }
}

/// Returns whether a key can appear in a path without quotes.
fn is_word(key: &str) -> bool {
    key.len() <= SHOWN_KEY_CHARS
        && !key.is_empty()
        && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-' || b == b'$')
}
