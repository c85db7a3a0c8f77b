//! Events to bytes, a row at a time.
//!
//! A row is held until it is whole, because its keys may come in any order. A map or an array in it is
//! either given a column for each of its values ([`flatten`](super::flatten)), or held as a value and
//! written as JSON.

mod sink;

use super::flatten::Flatten;
use super::table::{Columns, Row};
use super::types::{PLAIN_COLUMN, VALUE_PREFIX, WRAPPED_COLUMN};
use super::{Nested, Options, Types, delimiter, faults};
use crate::bytes::buffer::Out;
use crate::model::limits::{Limit, Limits};
use crate::model::text::shorten;
use crate::model::value::Value;
use crate::policy::event::Sink;
use crate::policy::fidelity::{Fidelity, KEY_PREFIX, LossKind, OnLoss};
use crate::policy::tree::Builder;
use crate::{Format, Result};

/// The writer of CSV and TSV: see [`mod@crate::codec::csv`].
#[derive(Debug)]
pub struct Writer<'o> {
    out: Out<'o>,
    fidelity: Fidelity,
    options: Options,
    limits: Limits,
    delimiter: u8,
    columns: Columns,
    row: Row,
    open: Open,
    /// The column of the next value.
    column: Option<usize>,
    flatten: Flatten,
    /// A map or an array that becomes one field, and how many containers are open in it.
    held: Option<(Builder, usize)>,
    /// The columns of the source, as a row, for a table without rows.
    source: Option<Value>,
    /// Whether a rollback returns to a place after the first row.
    had_columns: bool,
}

/// What is open of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Nothing,
    /// A row with a name for each field.
    Map,
    /// A row without names.
    Array,
    /// A document that is one field under a name of our own.
    Single,
}

impl<'o> Writer<'o> {
    /// Creates a writer of this format, CSV or TSV. What it cannot hold goes by the policy of `fidelity`.
    pub fn new(out: Out<'o>, format: Format, options: Options, fidelity: Fidelity) -> Writer<'o> {
        Writer {
            out,
            fidelity,
            options,
            limits: Limits::default(),
            delimiter: delimiter(format, &options),
            columns: Columns::default(),
            row: Row::default(),
            open: Open::Nothing,
            column: None,
            flatten: Flatten::default(),
            held: None,
            source: None,
            had_columns: false,
        }
    }

    /// Sets the limits on a row, which is held in memory.
    #[must_use]
    pub fn with_limits(mut self, limits: &Limits) -> Writer<'o> {
        self.limits = *limits;
        self
    }

    /// Returns the buffer, for the bytes that are in memory: see [`Out::into_vec`].
    pub fn into_out(self) -> Out<'o> {
        self.out
    }

    fn policy(&self) -> OnLoss {
        self.fidelity.policy()
    }

    fn target(&self) -> &'static str {
        self.fidelity.target().title()
    }

    /// Returns whether containers in a row become columns. The notation keeps them in one field.
    fn flattens(&self) -> bool {
        self.options.nested == Nested::Flatten && self.policy() != OnLoss::Wrap
    }

    /// Counts a loss that has no notation, or refuses it.
    fn lose(&mut self, kind: LossKind, found: String, written: &str) -> Result {
        if self.policy() != OnLoss::Approximate {
            return Err(faults::refusal(&self.fidelity, &found, written));
        }
        self.fidelity.note(kind, found, written);
        Ok(())
    }

    /// Begins a row.
    fn begin_row(&mut self, open: Open) -> Result {
        let has_names = open != Open::Array;
        if self.columns.width().is_some() && self.columns.has_names() != has_names {
            return Err(faults::mixed());
        }
        if has_names && !self.options.header {
            self.lose(LossKind::Key, "keys without a header".to_owned(), "the values alone")?;
        }
        self.row.clear();
        self.row.open(self.columns.width().unwrap_or(0));
        self.flatten.begin_row();
        (self.open, self.column) = (open, None);
        Ok(())
    }

    /// A value begins: if it is a whole document but no row, it gets a column of its own.
    fn begin_single(&mut self, what: &str) -> Result {
        if self.open != Open::Nothing {
            return Ok(());
        }
        let name = match self.policy() {
            OnLoss::Refuse => return Err(faults::no_map(what, self.target())),
            OnLoss::Wrap => WRAPPED_COLUMN,
            OnLoss::Approximate => {
                let found = format!("{what} as a document");
                self.fidelity.note(LossKind::Special, found, "the column `value`");
                PLAIN_COLUMN
            }
        };
        self.begin_row(Open::Single)?;
        self.column = Some(self.locate(name)?);
        Ok(())
    }

    /// Returns the column of this name for the value that comes next.
    fn locate(&mut self, name: &str) -> Result<usize> {
        match self.columns.find(name, self.row.next()) {
            Some(place) if self.row.has(place) => self.key_again(name, place),
            Some(place) => {
                self.row.open(place + 1);
                Ok(place)
            }
            None if self.columns.width().is_some() => {
                Err(faults::no_such_column(name, self.target()))
            }
            None => {
                self.check_width(self.row.width())?;
                let place = self.columns.add(name);
                self.row.open(place + 1);
                Ok(place)
            }
        }
    }

    fn check_width(&self, fields: usize) -> Result {
        match fields as u64 >= self.limits.nodes {
            true => Err(faults::too_many("fields", self.limits.nodes, Limit::Nodes)),
            false => Ok(()),
        }
    }

    /// A column that has its value already.
    #[cold]
    fn key_again(&mut self, name: &str, place: usize) -> Result<usize> {
        let shown = shorten(name);
        match self.policy() {
            OnLoss::Refuse => {
                let found = format!("the column {shown:?} a second time in one row");
                Err(self.fidelity.refusal(&found, r#"{"$key:…": …}"#, "the last of its values"))
            }
            OnLoss::Approximate => {
                let found = format!("the column {shown:?} again");
                self.fidelity.note(LossKind::Key, found, "the last of its values");
                Ok(place)
            }
            // The notation of a key is JSON, in front of which there may be any number of spaces: so
            // each of the equal keys is spelled in a way of its own.
            OnLoss::Wrap => {
                let mut spelled = match name.strip_prefix(KEY_PREFIX) {
                    Some(notation) => format!("{KEY_PREFIX} {notation}"),
                    None => format!("{KEY_PREFIX}{}", Value::Text(name.to_owned())),
                };
                let next = self.row.next();
                while self.columns.find(&spelled, next).is_some_and(|it| self.row.has(it)) {
                    spelled.insert(KEY_PREFIX.len(), ' ');
                }
                self.locate(&spelled)
            }
        }
    }

    /// Returns the column of the value that comes next.
    fn place(&mut self) -> Result<usize> {
        match self.open {
            Open::Array => {
                let place = self.row.next();
                match self.columns.width() {
                    Some(width) if place >= width => {
                        return Err(faults::uneven(place as u64 + 1, width as u64));
                    }
                    _ => self.check_width(place)?,
                }
                self.row.open(place + 1);
                Ok(place)
            }
            Open::Map if self.flattens() => {
                self.flatten.value();
                self.place_flat()
            }
            _ => Ok(self.column.take().unwrap_or_default()),
        }
    }

    /// Returns the column of the path at hand.
    fn place_flat(&mut self) -> Result<usize> {
        let flatten = std::mem::take(&mut self.flatten);
        let place = self.locate(flatten.name());
        self.flatten = flatten;
        place
    }

    /// Writes a field where the next value belongs.
    fn field(&mut self, text: &str, quoted: bool) -> Result {
        let place = self.place()?;
        self.put(place, text, quoted)
    }

    fn put(&mut self, place: usize, text: &str, quoted: bool) -> Result {
        if (self.row.bytes() + text.len()) as u64 > self.limits.record_bytes {
            return Err(faults::too_many("bytes", self.limits.record_bytes, Limit::RecordBytes));
        }
        self.row.put(place, text, self.delimiter, quoted);
        if self.open == Open::Single {
            self.open = Open::Nothing;
        }
        Ok(())
    }

    /// Writes a value that is not text, but has a text.
    fn scalar(&mut self, what: &str, text: &str) -> Result {
        self.begin_single(what)?;
        if self.options.types == Types::Infer {
            return self.field(text, false);
        }
        if self.policy() == OnLoss::Wrap {
            return self.field(&format!("{VALUE_PREFIX}{text}"), false);
        }
        self.fidelity.note(LossKind::Untyped, what, "its text");
        self.field(text, false)
    }

    fn begin(&mut self, is_array: bool) -> Result {
        if let Some((builder, depth)) = &mut self.held {
            *depth += 1;
            return match is_array {
                true => builder.begin_array(None),
                false => builder.begin_map(None),
            };
        }
        let what = if is_array { "an array" } else { "a map" };
        match self.open {
            Open::Nothing if !is_array => return self.begin_row(Open::Map),
            Open::Nothing if !self.options.header => return self.begin_row(Open::Array),
            Open::Map if self.flattens() => {
                self.fidelity.note(LossKind::Special, what, "columns");
                self.flatten.begin(is_array);
                return self.check_name();
            }
            _ => self.begin_single(what)?,
        }
        match self.policy() {
            OnLoss::Refuse => return Err(faults::nested(what, self.target())),
            OnLoss::Approximate => self.fidelity.note(LossKind::Special, what, "its JSON"),
            OnLoss::Wrap => {}
        }
        let mut builder = Builder::new(&self.limits);
        match is_array {
            true => builder.begin_array(None)?,
            false => builder.begin_map(None)?,
        }
        self.held = Some((builder, 1));
        Ok(())
    }

    /// Checks the length of a path.
    fn check_name(&self) -> Result {
        match self.flatten.name().len() as u64 > self.limits.record_bytes {
            true => Err(faults::too_many("bytes", self.limits.record_bytes, Limit::RecordBytes)),
            false => Ok(()),
        }
    }

    fn end(&mut self, is_array: bool) -> Result {
        if let Some((builder, depth)) = &mut self.held {
            *depth -= 1;
            match is_array {
                true => builder.end_array()?,
                false => builder.end_map()?,
            }
            return if *depth == 0 { self.end_held() } else { Ok(()) };
        }
        if self.open == Open::Map && self.flatten.is_inside() {
            return self.end_flat(is_array);
        }
        self.end_row()
    }

    /// Writes the value that was held.
    fn end_held(&mut self) -> Result {
        let Some(value) = self.held.take().and_then(|(mut builder, _)| builder.take()) else {
            return Ok(());
        };
        let json = value.notation()?;
        match self.policy() {
            OnLoss::Wrap => self.field(&format!("{VALUE_PREFIX}{json}"), false),
            _ => self.field(&json, false),
        }
    }

    /// Ends a map or an array that became columns.
    fn end_flat(&mut self, is_array: bool) -> Result {
        if !self.flatten.end() {
            return Ok(());
        }
        let (what, text) = if is_array { ("an empty array", "[]") } else { ("an empty map", "{}") };
        self.lose(LossKind::Special, format!("{what} in a row"), "its JSON")?;
        let place = self.place_flat()?;
        self.put(place, text, false)
    }

    /// Ends a row: one without a key is a document for the notation.
    fn end_row(&mut self) -> Result {
        let is_map = std::mem::replace(&mut self.open, Open::Nothing) == Open::Map;
        if is_map && self.row.next() == 0 && self.policy() == OnLoss::Wrap {
            let place = self.locate(WRAPPED_COLUMN)?;
            return self.put(place, "$value:{}", false);
        }
        Ok(())
    }

    /// Checks a row against the columns.
    fn check_row(&mut self) -> Result {
        let Some(width) = self.columns.width() else {
            return match self.row.width() {
                0 => Err(faults::no_columns(self.target())),
                _ => Ok(()),
            };
        };
        if !self.columns.has_names() {
            return match self.row.next() {
                fields if fields < width => Err(faults::uneven(fields as u64, width as u64)),
                _ => Ok(()),
            };
        }
        let missing: Vec<usize> = self.row.missing().collect();
        for place in missing {
            let name = shorten(self.columns.name(place));
            let found = format!("a row without a value for the column {name:?}");
            self.lose(LossKind::Special, found, "an empty field")?;
        }
        Ok(())
    }

    /// Fixes the columns by the first row, and writes the header.
    fn begin_table(&mut self) -> Result {
        let has_names = self.columns.are_named();
        self.columns.fix(self.row.width(), has_names);
        match has_names && self.options.header {
            true => self.columns.write(&mut self.out, self.delimiter),
            false => Ok(()),
        }
    }

    /// Writes the header of a table without rows.
    fn header_alone(&mut self, row: &Value) -> Result {
        row.drive(self)?;
        match self.row.width() {
            0 => Ok(()),
            _ => self.begin_table(),
        }
    }
}

impl crate::Writer for Writer<'_> {
    fn end_document(&mut self) -> Result {
        self.check_row()?;
        if self.columns.width().is_none() {
            self.begin_table()?;
        } else if self.row.is_disordered() {
            let found = "the keys of a row in another order than those of the first".to_owned();
            self.lose(LossKind::Key, found, "them in that order")?;
        }
        self.row.write(&mut self.out, self.delimiter)
    }

    fn columns(&mut self, row: &Value) -> Result {
        // Written at the end: a filter may send its first row there.
        let is_row = matches!(row, Value::Map(_));
        self.source = (is_row && self.columns.width().is_none()).then(|| row.clone());
        Ok(())
    }

    fn finish(&mut self) -> Result {
        if let Some(row) = self.source.take().filter(|_| self.columns.width().is_none()) {
            self.header_alone(&row)?;
        }
        self.out.finish()
    }

    fn checkpoint(&mut self) {
        self.had_columns = self.columns.width().is_some();
        self.out.checkpoint();
    }

    fn rollback(&mut self) {
        if !self.had_columns {
            self.columns = Columns::default();
        }
        self.row.clear();
        self.flatten.clear();
        self.held = None;
        (self.open, self.column) = (Open::Nothing, None);
        self.out.rollback();
        self.fidelity.close_all();
    }
}
