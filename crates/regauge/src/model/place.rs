//! Where the values of a document stand in its text, for edits that keep the rest of it.

use std::ops::Range;

/// A value in the text.
#[derive(Clone, Debug)]
pub struct Place {
    /// Its bytes, without a key, an anchor or a tag before it. Those of a block collection reach from
    /// its first entry to its last; those of a TOML table, from its header to its last pair.
    pub span: Range<usize>,
    /// How it is written.
    pub form: Form,
    /// The values in it, in the order in which the reader gives them.
    pub entries: Vec<Entry>,
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A number, a word, a plain scalar of YAML.
    Plain,
    /// Text in single quotes.
    Single,
    /// Text in double quotes.
    Double,
    /// A block scalar of YAML, or text in three quotes in TOML.
    Lines,
    /// Nothing: an empty node of YAML.
    Missing,
    /// An alias of YAML.
    Alias,
    /// A collection in brackets.
    Flow,
    /// A collection of YAML by indentation.
    Block,
    /// A TOML table with a header of its own, or the whole file.
    Section,
    /// A TOML table that only headers of tables in it name.
    Implied,
    /// A TOML array of tables with a header each.
    Sections,
    /// A collection whose parts have no place of their own: a TOML table made by dotted keys.
    Dotted,
}

/// A value in a collection, with what belongs to it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Where it begins: with its key, its dash, its header, or the value itself.
    pub start: usize,
    /// The index after the colon, the dash or the equals sign, where a value can be put; `None` if
    /// there is no such sign, or it is on another line than the key.
    pub mark: Option<usize>,
    /// Whether it is a merge key of YAML 1.1, which the reader replaces by what it merges.
    pub merges: bool,
    /// The value.
    pub value: Place,
}

impl Entry {
    /// Creates an entry that begins at `start`.
    pub(crate) fn new(start: usize, value: Place) -> Entry {
        Entry { start, mark: None, merges: false, value }
    }
}

impl Form {
    /// Returns whether values of this form have values in them.
    pub fn is_collection(self) -> bool {
        use Form::{Block, Dotted, Flow, Implied, Section, Sections};
        matches!(self, Flow | Block | Section | Implied | Sections | Dotted)
    }
}

impl Place {
    /// Creates a value without values in it.
    pub fn new(span: Range<usize>, form: Form) -> Place {
        Place { span, form, entries: Vec::new() }
    }

    /// Returns the entries that the reader gives.
    pub fn own(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| !entry.merges)
    }

    /// Returns whether the places of the value and of all that is in it are known. An entry of `{a, b}`
    /// in YAML has no value, and no sign after which one could stand.
    pub fn is_known(&self) -> bool {
        let is_known = |entry: &Entry| entry.start != UNKNOWN && entry.value.is_known();
        self.span.start != UNKNOWN && self.span.end != UNKNOWN && self.entries.iter().all(is_known)
    }

    /// Returns the index after the last byte of the value and of all that is in it.
    pub fn end(&self) -> usize {
        let inner = self.entries.iter().map(|entry| entry.value.end()).max();
        inner.map_or(self.span.end, |inner| inner.max(self.span.end))
    }
}

/// The place of a collection that its first entry will tell.
const UNKNOWN: usize = usize::MAX;

/// Collects places from the events of a reader.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// The values that are complete.
    pub(crate) roots: Vec<Place>,
    open: Vec<Entry>,
    /// Where the next entry begins, its mark, and whether it is a merge key.
    next: Option<(usize, Option<usize>, bool)>,
}

impl Places {
    /// Begins an entry: its key or its dash stands at `start`.
    pub(crate) fn entry(&mut self, start: usize, mark: Option<usize>, merges: bool) {
        self.next = Some((start, mark, merges));
    }

    /// Returns whether an entry has begun whose value is still to come.
    pub(crate) fn is_in_entry(&self) -> bool {
        self.next.is_some()
    }

    /// Returns the innermost open collection.
    pub(crate) fn innermost(&mut self) -> Option<&mut Place> {
        self.open.last_mut().map(|entry| &mut entry.value)
    }

    /// Tells where the sign after the key stands.
    pub(crate) fn set_mark(&mut self, at: usize) {
        if let Some((_, mark, _)) = &mut self.next {
            *mark = Some(at);
        }
    }

    /// Says that the innermost collection has keys of several parts.
    pub(crate) fn mark_dotted(&mut self) {
        if let Some(entry) = self.open.last_mut() {
            entry.value.form = Form::Dotted;
        }
    }

    fn put(&mut self, entry: Entry) {
        match self.open.last_mut() {
            Some(around) => around.value.entries.push(entry),
            None => self.roots.push(entry.value),
        }
    }

    fn made(&mut self, value: Place) -> Entry {
        let (start, mark, merges) = self.next.take().unwrap_or((value.span.start, None, false));
        Entry { start, mark, merges, value }
    }

    /// Adds a value without values in it.
    pub(crate) fn value(&mut self, span: Range<usize>, form: Form) {
        let entry = self.made(Place::new(span, form));
        self.put(entry);
    }

    /// Adds a node of YAML without content, which stands where it could be put.
    pub(crate) fn missing(&mut self, otherwise: usize) {
        let at = self.next.and_then(|(_, mark, _)| mark).unwrap_or(otherwise);
        self.value(at..at, Form::Missing);
    }

    /// Opens a collection that begins at `start`; without it, where the first entry does.
    pub(crate) fn begin(&mut self, start: Option<usize>, form: Form) {
        let start = start.unwrap_or(UNKNOWN);
        let entry = self.made(Place::new(start..start, form));
        self.open.push(entry);
    }

    /// Ends the innermost collection at `end`; without it, where the last value in it does.
    pub(crate) fn end(&mut self, end: Option<usize>) {
        let Some(mut entry) = self.open.pop() else { return };
        let entries = &entry.value.entries;
        let first = entries.first().map_or(0, |first| first.start);
        let last = entries.last().map_or(0, |last| last.value.span.end);
        let span = &mut entry.value.span;
        if span.start == UNKNOWN {
            span.start = first;
        }
        if entry.start == UNKNOWN {
            entry.start = first;
        }
        span.end = end.unwrap_or(last);
        self.put(entry);
    }
}
