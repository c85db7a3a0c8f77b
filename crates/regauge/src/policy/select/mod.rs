//! Keeps, leaves out and renames values by their paths, on the way from a reader to a writer.
//!
//! The rules of a [`Selection`] name places of the input. `plan` compiles them into states, one for
//! each set of rules that can still match below a value; `sink` is the adapter that follows the
//! events of a document through the states. It keeps no values: memory is bounded by the depth.
//!
//! - With `only` rules, a value is kept if it lies at or below one of their paths. A container that a
//!   path leads through is kept, even if nothing in it is; another value in its place is left out.
//!   The document itself is always kept: a scalar becomes null.
//! - A `drop` rule leaves out what lies at its path, even if an `only` rule keeps it.
//! - A `rename` rule gives a key another name. If the map has that key already, the conversion
//!   stops: nothing is lost in silence.
//!
//! A path names text keys, symbols by their text, and other keys by their notation, as messages do.
//! A type or an anchor is part of the value in it. Shared values are written out where they occur,
//! because the place that the others refer to may be left out.

pub(crate) mod plan;
pub(crate) mod sink;
#[cfg(test)]
mod tests;

use std::fmt;

use crate::model::path::{Pattern, Selector};
use plan::Plan;

/// What a rule does with the values at its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Keeps them, and leaves out everything that no such rule keeps.
    Only,
    /// Leaves them out.
    Drop,
    /// Gives their key this name.
    Rename(Box<str>),
}

/// A path and what happens there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What to do.
    pub action: Action,
    /// Where.
    pub path: Pattern,
}

impl fmt::Display for Rule {
    /// Displays the name of the option and the path.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.action {
            Action::Only => "only",
            Action::Drop => "drop",
            Action::Rename(_) => "rename",
        };
        write!(f, "{name} {}", self.path)
    }
}

/// Rules that select parts of documents by their paths. Without any, everything is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    rules: Vec<Rule>,
}

impl Selection {
    /// Creates a selection that keeps everything.
    pub fn new() -> Selection {
        Selection::default()
    }

    /// Adds a path to keep, such as `items[*].price`.
    ///
    /// # Errors
    /// What is wrong with the path, and where.
    pub fn only(&mut self, path: &str) -> Result<(), String> {
        let path = Pattern::parse(path)?;
        self.add(Rule { action: Action::Only, path })
    }

    /// Adds a path to leave out.
    ///
    /// # Errors
    /// What is wrong with the path, and where.
    pub fn drop(&mut self, path: &str) -> Result<(), String> {
        let path = Pattern::parse(path)?;
        self.add(Rule { action: Action::Drop, path })
    }

    /// Gives the key at a path another name.
    ///
    /// # Errors
    /// What is wrong with the path, and where.
    pub fn rename(&mut self, path: &str, name: &str) -> Result<(), String> {
        let path = Pattern::parse(path)?;
        self.add(Rule { action: Action::Rename(name.into()), path })
    }

    /// Adds a rename of the form `PATH=NAME`.
    ///
    /// # Errors
    /// What is wrong with the path, and where.
    pub fn rename_to(&mut self, text: &str) -> Result<(), String> {
        match Pattern::parse_until(text, Some('='))? {
            (path, Some(name)) if !name.is_empty() => {
                self.add(Rule { action: Action::Rename(name.into()), path })
            }
            _ => Err("found no new name, expected PATH=NAME; write \\= for a = in a name of the \
                      path"
                .to_owned()),
        }
    }

    /// Adds a rule.
    ///
    /// # Errors
    /// The rule drops a whole document, or renames what has no key.
    pub fn add(&mut self, rule: Rule) -> Result<(), String> {
        let last = rule.path.0.last();
        match &rule.action {
            Action::Drop if last.is_none() => {
                return Err("found $, the whole document, expected a path in it".to_owned());
            }
            Action::Rename(_) if !matches!(last, Some(Selector::Key(_))) => {
                let path = &rule.path;
                return Err(format!("found the path {path}, expected one that ends in a key"));
            }
            _ => {}
        }
        self.rules.push(rule);
        Ok(())
    }

    /// Checks that the rules go together, as a conversion does before it begins.
    ///
    /// # Errors
    /// Two names for one key, or too many combinations of paths with stars.
    pub fn check(&self) -> Result<(), String> {
        Plan::new(self, false).map(|_| ())
    }

    /// Returns whether everything is kept as it is.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns the rules, in the order in which they were added.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }
}

/// Which rules of a selection matched something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// Whether each rule has matched.
    seen: Vec<bool>,
    /// Whether a document was an array although every path begins with a key.
    arrays: bool,
}

impl Matches {
    /// Adds those of another part of the input.
    pub(crate) fn merge(&mut self, other: &Matches) {
        self.seen.resize(self.seen.len().max(other.seen.len()), false);
        for (mine, theirs) in self.seen.iter_mut().zip(&other.seen) {
            *mine |= theirs;
        }
        self.arrays |= other.arrays;
    }

    /// Returns the rules that matched nothing.
    pub fn unmatched<'r>(&self, selection: &'r Selection) -> impl Iterator<Item = &'r Rule> {
        let seen = |index: usize| self.seen.get(index).is_some_and(|seen| *seen);
        let rules = selection.rules.iter().enumerate();
        rules.filter(move |(index, _)| !seen(*index)).map(|(_, rule)| rule)
    }

    /// Returns whether a document was an array although every path begins with a key: the paths
    /// probably lack `[*]` at the beginning.
    pub fn met_arrays(&self) -> bool {
        self.arrays
    }
}
