//! The columns of a table that is being written, and the row at hand.

use std::collections::HashMap;

use super::types::MARK;
use super::{Delimiter, sniff};
use crate::Result;
use crate::bytes::buffer::Out;

/// The columns, which the first row decides.
#[derive(Debug, Default)]
pub(super) struct Columns {
    names: Vec<Box<str>>,
    places: HashMap<Box<str>, usize>,
    /// The number of columns, once the first row is whole.
    width: Option<usize>,
    /// Whether they have names: rows are maps.
    has_names: bool,
}

impl Columns {
    /// Returns the place of a column; `likely` is where it is if keys come in order.
    pub fn find(&self, name: &str, likely: usize) -> Option<usize> {
        if self.names.get(likely).is_some_and(|column| **column == *name) {
            return Some(likely);
        }
        self.places.get(name).copied()
    }

    /// Adds a column.
    pub fn add(&mut self, name: &str) -> usize {
        self.places.insert(name.into(), self.names.len());
        self.names.push(name.into());
        self.names.len() - 1
    }

    pub fn name(&self, place: usize) -> &str {
        self.names.get(place).map_or("", |name| name)
    }

    pub fn width(&self) -> Option<usize> {
        self.width
    }

    /// Returns whether a row has begun to name them.
    pub fn are_named(&self) -> bool {
        !self.names.is_empty()
    }

    pub fn has_names(&self) -> bool {
        self.has_names
    }

    /// The first row is whole, and has this many fields.
    pub fn fix(&mut self, width: usize, has_names: bool) {
        (self.width, self.has_names) = (Some(width), has_names);
    }

    /// Writes the header.
    pub fn write(&self, out: &mut Out<'_>, delimiter: u8) -> Result {
        let mut row = Row::default();
        // A header by which a reader would take another delimiter: see `sniff`.
        let misleads = self.names.len() == 1 || delimiter != Delimiter::Comma.byte();
        for (place, name) in self.names.iter().enumerate() {
            row.open(place + 1);
            row.put(place, name, delimiter, misleads && sniff::is_several(name));
        }
        row.write(out, delimiter)
    }
}

/// A row. Its fields may come in any order.
#[derive(Debug, Default)]
pub(super) struct Row {
    /// The fields as they are written, in the order in which they came.
    text: String,
    /// Where in the text the field of each column is.
    fields: Vec<Option<(usize, usize)>>,
    /// The column after the one that came last.
    next: usize,
    /// A field came before one that belongs in front of it.
    is_disordered: bool,
}

impl Row {
    /// Makes room for this many fields.
    pub fn open(&mut self, width: usize) {
        if self.fields.len() < width {
            self.fields.resize(width, None);
        }
    }

    pub fn clear(&mut self) {
        self.text.clear();
        self.fields.clear();
        (self.next, self.is_disordered) = (0, false);
    }

    /// Writes a field, in quotes if it has to be or if `quoted` asks for them.
    pub fn put(&mut self, place: usize, field: &str, delimiter: u8, quoted: bool) {
        let start = self.text.len();
        if quoted || needs_quotes(field, delimiter) {
            self.text.push('"');
            for (index, part) in field.split('"').enumerate() {
                if index > 0 {
                    self.text.push_str("\"\"");
                }
                self.text.push_str(part);
            }
            self.text.push('"');
        } else {
            self.text.push_str(field);
        }
        self.fields[place] = Some((start, self.text.len()));
        self.is_disordered |= place < self.next;
        self.next = place + 1;
    }

    pub fn has(&self, place: usize) -> bool {
        self.fields.get(place).is_some_and(Option::is_some)
    }

    /// Returns the columns without a field.
    pub fn missing(&self) -> impl Iterator<Item = usize> {
        let fields = self.fields.iter().enumerate();
        fields.filter(|(_, field)| field.is_none()).map(|(place, _)| place)
    }

    pub fn width(&self) -> usize {
        self.fields.len()
    }

    /// Returns the column after the one that came last.
    pub fn next(&self) -> usize {
        self.next
    }

    pub fn is_disordered(&self) -> bool {
        self.is_disordered
    }

    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Writes the row as a line.
    pub fn write(&self, out: &mut Out<'_>, delimiter: u8) -> Result {
        out.room(self.text.len() + self.fields.len() + 3, u64::MAX)?;
        if self.text.is_empty() && self.fields.len() == 1 {
            // Without quotes, this would be a blank line.
            out.extend(b"\"\"");
        }
        for (place, field) in self.fields.iter().enumerate() {
            if place > 0 {
                out.push(delimiter);
            }
            let (start, end) = field.unwrap_or_default();
            out.extend_short(&self.text.as_bytes()[start..end]);
        }
        out.push(b'\n');
        Ok(())
    }
}

/// Returns whether a field is only read back if it is in quotes. A byte order mark would be skipped at the
/// beginning of a file.
fn needs_quotes(field: &str, delimiter: u8) -> bool {
    let bytes = field.as_bytes();
    let has = match bytes.len() {
        ..32 => {
            bytes.iter().any(|byte| matches!(*byte, b'"' | b'\n' | b'\r') || *byte == delimiter)
        }
        _ => {
            memchr::memchr3(b'"', b'\n', b'\r', bytes).is_some()
                || memchr::memchr(delimiter, bytes).is_some()
        }
    };
    has || field.starts_with(MARK)
}
