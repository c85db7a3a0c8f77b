//! A document's tree as text.
//!
//! A table's values come first, each as `key = value`; then come the tables in it, as sections of
//! their own. The order of keys is kept: a table that a plain value follows is written in braces, in
//! its place, and only those at the end of a table become sections.
//!
//! What is written is TOML 1.0 too: no escapes, line breaks or commas that only 1.1 has.

use std::fmt::Write as _;

use toml_writer::{TomlKeyBuilder, TomlStringBuilder, WriteTomlKey as _, WriteTomlValue as _};

use super::tree::{Content as _, Id, NONE, ROOT};
use super::writer::{Document, Held};
use crate::Result;
use crate::bytes::buffer::Out;

/// An array that would make a line longer gets a line for each of its values.
const LINE_BYTES: usize = 80;

/// Tables whose header would be longer are written in braces: every table in a table repeats its
/// header, so without a bound a long key would be written any number of times.
const HEADER_BYTES: usize = 256;

/// Appends a text in quotes.
pub(super) fn push_text(out: &mut String, text: &str) {
    // Writing into a string does not fail.
    let _ = TomlStringBuilder::new(text).as_basic().write_toml_value(out);
}

/// Appends a key, in quotes if it needs them.
fn push_key(out: &mut String, key: &str) {
    let key = TomlKeyBuilder::new(key);
    let _ = key.as_unquoted().unwrap_or_else(|| key.as_basic()).write_toml_key(out);
}

/// Writes a whole document.
pub(super) fn document(document: &Document, out: &mut Out<'_>) -> Result {
    let mut printer = Printer {
        document,
        out,
        line: String::new(),
        path: String::new(),
        todo: Vec::new(),
        is_first: true,
    };
    printer.body(ROOT)?;
    printer.sections()
}

/// What is still to be written, innermost last, with the length of the path there.
enum Todo {
    /// This table or array of tables, and those after it.
    Sections(Id, usize),
    /// This item of an array of tables, and those after it.
    Items(Id, usize),
}

struct Printer<'d, 'o, 'b> {
    document: &'d Document,
    out: &'b mut Out<'o>,
    line: String,
    /// The keys of the section at hand, as its header has them.
    path: String,
    todo: Vec<Todo>,
    is_first: bool,
}

impl Printer<'_, '_, '_> {
    fn held(&self, id: Id) -> &Held {
        &self.document.node(id).content
    }

    /// Hands the line on.
    fn flush(&mut self) -> Result {
        self.out.room(self.line.len(), self.out.position())?;
        self.out.extend(self.line.as_bytes());
        self.line.clear();
        self.is_first = false;
        Ok(())
    }

    /// Writes the sections that are to be written.
    fn sections(&mut self) -> Result {
        while let Some(todo) = self.todo.pop() {
            let (Todo::Sections(id, length) | Todo::Items(id, length)) = todo;
            self.path.truncate(length);
            let next = self.document.node(id).next;
            if let Todo::Items(..) = todo {
                if next != NONE {
                    self.todo.push(Todo::Items(next, length));
                }
                self.header("[[", "]]")?;
                self.body(id)?;
                continue;
            }
            if next != NONE {
                self.todo.push(Todo::Sections(next, length));
            }
            if let Held::Replaced = self.held(id) {
                continue;
            }
            if !self.path.is_empty() {
                self.path.push('.');
            }
            push_key(&mut self.path, self.document.key(id));
            match self.held(id) {
                Held::Array => {
                    let first = self.document.node(id).first;
                    self.todo.push(Todo::Items(first, self.path.len()));
                }
                _ => {
                    // The headers of the tables in it say that it is there.
                    if !self.is_of_sections(id) {
                        self.header("[", "]")?;
                    }
                    self.body(id)?;
                }
            }
        }
        Ok(())
    }

    fn header(&mut self, open: &str, close: &str) -> Result {
        if !self.is_first {
            self.line.push('\n');
        }
        let _ = writeln!(self.line, "{open}{}{close}", self.path);
        self.flush()
    }

    /// The children of a table without those that were replaced.
    fn pairs(&self, table: Id) -> impl Iterator<Item = Id> {
        self.document.children(table).filter(|id| !matches!(self.held(*id), Held::Replaced))
    }

    /// The first of the sections at the end of a table, [`NONE`] without any.
    fn first_section(&self, table: Id) -> Id {
        let mut first = NONE;
        for id in self.pairs(table) {
            match self.is_section(id) {
                true if first == NONE => first = id,
                true => {}
                false => first = NONE,
            }
        }
        first
    }

    /// Whether a table has something in it, all of it sections.
    fn is_of_sections(&self, table: Id) -> bool {
        let first = self.pairs(table).next();
        first.is_some_and(|first| first == self.first_section(table))
    }

    /// Whether a value in the section at hand can be a section.
    fn is_section(&self, id: Id) -> bool {
        let node = self.document.node(id);
        let is_short = self.path.len() + 3 + node.key.len() <= HEADER_BYTES;
        is_short
            && match node.content {
                Held::Table => true,
                Held::Array => {
                    let mut items = self.document.children(id).peekable();
                    items.peek().is_some() && items.all(|item| self.held(item).is_table())
                }
                _ => false,
            }
    }

    /// Writes the plain values of a table, and leaves its sections to be written.
    fn body(&mut self, table: Id) -> Result {
        let sections = self.first_section(table);
        let mut id = self.document.node(table).first;
        while id != NONE && id != sections {
            if !matches!(self.held(id), Held::Replaced) {
                self.pair(id)?;
            }
            id = self.document.node(id).next;
        }
        if sections != NONE {
            self.todo.push(Todo::Sections(sections, self.path.len()));
        }
        Ok(())
    }

    /// Writes a line of a key and its value; of a long array, as many lines as it has values.
    fn pair(&mut self, id: Id) -> Result {
        push_key(&mut self.line, self.document.key(id));
        self.line.push_str(" = ");
        let is_array = matches!(self.held(id), Held::Array);
        if !is_array || self.fits(id) {
            self.value(id)?;
            self.line.push('\n');
            return self.flush();
        }
        self.line.push_str("[\n");
        let mut item = self.document.node(id).first;
        while item != NONE {
            self.line.push_str("    ");
            self.value(item)?;
            self.line.push_str(",\n");
            self.flush()?;
            item = self.document.node(item).next;
        }
        self.line.push_str("]\n");
        self.flush()
    }

    /// Whether a value goes on the line at hand.
    fn fits(&self, id: Id) -> bool {
        let mut length = self.line.len();
        self.walk(id, |step| {
            length += match step {
                Step::Scalar(text) => text.len(),
                Step::Key(key) => key.len() + 3,
                Step::Begin(false) | Step::End(false) => 1,
                Step::Begin(true) | Step::End(true) | Step::Between => 2,
            };
            length <= LINE_BYTES
        })
    }

    /// Writes a value on the line at hand.
    fn value(&mut self, id: Id) -> Result {
        let mut line = std::mem::take(&mut self.line);
        let mut result = Ok(());
        self.walk(id, |step| {
            match step {
                Step::Scalar(text) => line.push_str(text),
                Step::Key(key) => {
                    push_key(&mut line, key);
                    line.push_str(" = ");
                }
                Step::Begin(is_table) => line.push_str(if is_table { "{ " } else { "[" }),
                Step::End(true) if line.ends_with("{ ") => {
                    line.replace_range(line.len() - 1.., "}")
                }
                Step::End(is_table) => line.push_str(if is_table { " }" } else { "]" }),
                Step::Between => line.push_str(", "),
            }
            result.is_ok()
        });
        self.line = line;
        if self.line.len() > 1 << 16 {
            result = self.flush();
        }
        result
    }

    /// Tells the parts of a value on one line, until `take` has enough. Gives whether it had not.
    fn walk<'s>(&'s self, root: Id, mut take: impl FnMut(Step<'s>) -> bool) -> bool {
        let tree = self.document;
        let mut id = root;
        loop {
            let node = tree.node(id);
            let is_keyed = id != root && tree.node(node.parent).content.is_table();
            if is_keyed && !take(Step::Key(tree.text(node.key))) {
                return false;
            }
            let goes_on = match node.content {
                Held::Scalar(text) => take(Step::Scalar(tree.text(text))),
                Held::Table | Held::Array => take(Step::Begin(node.content.is_table())),
                Held::Replaced => true,
            };
            if !goes_on {
                return false;
            }
            if let Some(first) = self.pairs(id).next() {
                id = first;
                continue;
            }
            let is_container = matches!(node.content, Held::Table | Held::Array);
            if is_container && !take(Step::End(node.content.is_table())) {
                return false;
            }
            loop {
                if id == root {
                    return true;
                }
                let node = tree.node(id);
                let mut next = node.next;
                while next != NONE && matches!(self.held(next), Held::Replaced) {
                    next = tree.node(next).next;
                }
                if next != NONE {
                    id = next;
                    if !take(Step::Between) {
                        return false;
                    }
                    break;
                }
                id = node.parent;
                if !take(Step::End(tree.node(id).content.is_table())) {
                    return false;
                }
            }
        }
    }
}

/// A part of a value on one line.
enum Step<'s> {
    Key(&'s str),
    Scalar(&'s str),
    /// A container begins, and whether it is a table.
    Begin(bool),
    End(bool),
    Between,
}
