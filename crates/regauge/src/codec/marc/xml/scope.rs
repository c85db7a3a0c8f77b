//! Which elements around the records are open, and what their namespace prefixes mean.

use super::{MARCXCHANGE, NAMESPACE};

/// The meaning of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Namespace {
    /// MARCXML or MarcXchange.
    Marc,
    /// None at all.
    Absent,
    /// Something else.
    Other,
}

impl Namespace {
    /// Returns the meaning of this namespace name.
    pub(super) fn of(uri: &str) -> Namespace {
        let uri = uri.trim();
        if uri.is_empty() {
            Namespace::Absent
        } else if uri.trim_end_matches('/') == NAMESPACE || uri.starts_with(MARCXCHANGE) {
            Namespace::Marc
        } else {
            Namespace::Other
        }
    }
}

/// The open elements, one inside another.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// The names, concatenated.
    names: String,
    elements: Vec<Element>,
    bindings: Vec<(String, Namespace)>,
}

#[derive(Clone, Copy, Debug)]
struct Element {
    name: usize,
    bindings: usize,
}

impl Scope {
    /// Returns how many elements are open.
    pub(super) fn depth(&self) -> usize {
        self.elements.len()
    }

    /// Opens an element; its prefixes are bound afterwards.
    pub(super) fn open(&mut self, name: &str) {
        let element = Element { name: self.names.len(), bindings: self.bindings.len() };
        self.elements.push(element);
        self.names.push_str(name);
    }

    /// Binds a prefix for the element opened last, `""` for the default namespace.
    pub(super) fn bind(&mut self, prefix: &str, namespace: Namespace) {
        self.bindings.push((prefix.to_owned(), namespace));
    }

    /// Returns the name of the innermost open element.
    pub(super) fn innermost(&self) -> Option<&str> {
        self.elements.last().map(|element| &self.names[element.name..])
    }

    /// Closes the innermost element.
    pub(super) fn close(&mut self) {
        if let Some(element) = self.elements.pop() {
            self.names.truncate(element.name);
            self.bindings.truncate(element.bindings);
        }
    }

    /// Closes elements until `depth` are open.
    pub(super) fn close_to(&mut self, depth: usize) {
        while self.elements.len() > depth {
            self.close();
        }
    }

    /// Returns what the prefix means here. A prefix that was never bound counts as none.
    pub(super) fn resolve(&self, prefix: &str) -> Namespace {
        let bound = self.bindings.iter().rev().find(|(name, _)| name == prefix);
        bound.map_or(Namespace::Absent, |(_, namespace)| *namespace)
    }
}

/// Splits a name into its prefix (without the colon, `""` if there is none) and its local part.
#[inline]
pub(super) fn split_name(name: &str) -> (&str, &str) {
    name.split_once(':').unwrap_or(("", name))
}
