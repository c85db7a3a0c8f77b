//! Finds where the values stand in a text that the reader has accepted.

use std::borrow::Cow;
use std::collections::HashMap;

use toml_parser::decoder::Encoding;
use toml_parser::parser::EventReceiver;
use toml_parser::{ErrorSink, Raw, Source, Span};

use super::lines::{Cut, Expressions};
use crate::model::limits::Limits;
use crate::model::place::{Entry, Form, Place, Places};

/// Returns the place of the document of a text.
pub(crate) fn places(text: &str) -> Place {
    let source = Source::new(text);
    let mut expressions = Expressions::new(source, Limits::DEPTH_CEILING);
    let mut tree = Tree::new();
    let mut section = ROOT;
    loop {
        let mut found =
            Expression { source, keys: Vec::new(), header: None, values: Places::default() };
        if expressions.next(u64::MAX, &mut ()) != Cut::Expression {
            return tree.into_place(ROOT);
        }
        toml_parser::parser::parse_document(expressions.tokens(), &mut found, &mut ());
        let Expression { keys, header, mut values, .. } = found;
        match header {
            Some(header) => section = tree.header(keys, &header),
            None => tree.pair(section, keys, values.roots.pop()),
        }
    }
}

/// A key, with its place.
type Key = (String, Span);

/// A header, or a key with its value.
struct Expression<'i> {
    source: Source<'i>,
    /// The parts of the key, and of keys in braces until their value begins.
    keys: Vec<Key>,
    header: Option<Header>,
    values: Places,
}

/// A header: where it stands, and whether it begins an item of an array.
struct Header {
    start: usize,
    end: usize,
    is_item: bool,
}

impl Expression<'_> {
    fn open_header(&mut self, span: Span, is_item: bool) {
        self.header = Some(Header { start: span.start(), end: span.end(), is_item });
    }

    fn close_header(&mut self, span: Span) {
        if let Some(header) = &mut self.header {
            header.end = span.end();
        }
    }
}

impl EventReceiver for Expression<'_> {
    fn std_table_open(&mut self, span: Span, _: &mut dyn ErrorSink) {
        self.open_header(span, false);
    }
    fn array_table_open(&mut self, span: Span, _: &mut dyn ErrorSink) {
        self.open_header(span, true);
    }
    fn std_table_close(&mut self, span: Span, _: &mut dyn ErrorSink) {
        self.close_header(span);
    }
    fn array_table_close(&mut self, span: Span, _: &mut dyn ErrorSink) {
        self.close_header(span);
    }
    fn simple_key(&mut self, span: Span, encoding: Option<Encoding>, _: &mut dyn ErrorSink) {
        if self.values.innermost().is_some() {
            match self.values.is_in_entry() {
                // The parts of a dotted key make tables without braces.
                true => self.values.mark_dotted(),
                false => self.values.entry(span.start(), None, false),
            }
            return;
        }
        let text = self.source.input().get(span.start()..span.end()).unwrap_or_default();
        let mut key = Cow::Borrowed("");
        Raw::new_unchecked(text, encoding, span).decode_key(&mut key, &mut ());
        self.keys.push((key.into_owned(), span));
    }
    fn key_val_sep(&mut self, span: Span, _: &mut dyn ErrorSink) {
        if self.values.innermost().is_some() {
            self.values.set_mark(span.end());
        } else if let Some((_, first)) = self.keys.first() {
            self.values.entry(first.start(), Some(span.end()), false);
        }
    }
    fn scalar(&mut self, span: Span, encoding: Option<Encoding>, _: &mut dyn ErrorSink) {
        let form = match encoding {
            Some(Encoding::BasicString) => Form::Double,
            Some(Encoding::LiteralString) => Form::Single,
            Some(Encoding::MlBasicString | Encoding::MlLiteralString) => Form::Lines,
            None => Form::Plain,
        };
        self.values.value(span.start()..span.end(), form);
    }
    fn inline_table_open(&mut self, span: Span, _: &mut dyn ErrorSink) -> bool {
        self.values.begin(Some(span.start()), Form::Flow);
        true
    }
    fn inline_table_close(&mut self, span: Span, _: &mut dyn ErrorSink) {
        self.values.end(Some(span.end()));
    }
    fn array_open(&mut self, span: Span, _: &mut dyn ErrorSink) -> bool {
        self.values.begin(Some(span.start()), Form::Flow);
        true
    }
    fn array_close(&mut self, span: Span, _: &mut dyn ErrorSink) {
        self.values.end(Some(span.end()));
    }
}

type Id = usize;

const ROOT: Id = 0;

/// The tables of a document, whose parts may be anywhere in it.
struct Tree {
    nodes: Vec<Node>,
    /// The values of tables by their keys.
    named: HashMap<(Id, String), Id>,
}

struct Node {
    entry: Entry,
    children: Vec<Id>,
}

impl Tree {
    fn new() -> Tree {
        let mut tree = Tree { nodes: Vec::new(), named: HashMap::new() };
        tree.add(None, Entry::new(0, Place::new(0..0, Form::Section)));
        tree
    }

    fn add(&mut self, parent: Option<Id>, entry: Entry) -> Id {
        let id = self.nodes.len();
        self.nodes.push(Node { entry, children: Vec::new() });
        if let Some(parent) = parent {
            self.nodes[parent].children.push(id);
        }
        id
    }

    fn place(&mut self, id: Id) -> &mut Place {
        &mut self.nodes[id].entry.value
    }

    /// Returns the value under a key; without one, adds a table of this form.
    fn table(&mut self, parent: Id, (key, span): Key, form: Form) -> Id {
        if let Some(&found) = self.named.get(&(parent, key.clone())) {
            return match (self.nodes[found].entry.value.form, self.nodes[found].children.last()) {
                (Form::Sections, Some(&last)) => last,
                _ => found,
            };
        }
        let at = span.start();
        let id = self.add(Some(parent), Entry::new(at, Place::new(at..at, form)));
        self.named.insert((parent, key), id);
        id
    }

    /// Opens the table that a header names.
    fn header(&mut self, mut keys: Vec<Key>, header: &Header) -> Id {
        let Some(last) = keys.pop() else { return ROOT };
        let parent = keys.into_iter().fold(ROOT, |at, key| self.table(at, key, Form::Implied));
        let section = Entry::new(header.start, Place::new(header.start..header.end, Form::Section));
        if !header.is_item {
            let id = self.table(parent, last, Form::Implied);
            self.nodes[id].entry = section;
            return id;
        }
        let array = match self.named.get(&(parent, last.0.clone())) {
            Some(&array) => array,
            None => self.table(parent, last, Form::Sections),
        };
        self.nodes[array].entry.start = self.nodes[array].entry.start.min(header.start);
        self.add(Some(array), section)
    }

    /// Adds a key with its value to a table.
    fn pair(&mut self, section: Id, mut keys: Vec<Key>, value: Option<Place>) {
        let start = keys.first().map_or(0, |(_, span)| span.start());
        let (Some((last, _)), Some(value)) = (keys.pop(), value) else { return };
        let end = value.span.end;
        let table = keys.into_iter().fold(section, |at, key| self.table(at, key, Form::Dotted));
        let id = self.add(Some(table), Entry::new(start, value));
        self.named.insert((table, last), id);
        self.place(section).span.end = end;
    }

    fn into_place(mut self, id: Id) -> Place {
        self.take(id).value
    }

    /// Takes an entry with all that is in it. Recurses as deep as the reader lets tables nest.
    fn take(&mut self, id: Id) -> Entry {
        let mut entry = Entry::new(0, Place::new(0..0, Form::Plain));
        std::mem::swap(&mut entry, &mut self.nodes[id].entry);
        for child in std::mem::take(&mut self.nodes[id].children) {
            let child = self.take(child);
            entry.value.entries.push(child);
        }
        entry
    }
}
