//! Bytes to events, a field at a time.

use std::collections::HashMap;

use super::scan::{Field, Scanner, Skipper};
use super::types::{Inferred, MARK, VALUE_PREFIX, infer};
use super::{Options, Types, delimiter, faults, sniff};
use crate::bytes::reader::{Parse, Resync, Status};
use crate::model::limits::{Limit, Limits};
use crate::model::path::Path;
use crate::model::text::shorten;
use crate::model::utf8;
use crate::model::value::Value;
use crate::policy::event::{BigInt, Sink};
use crate::{Error, ErrorKind, Format, Result};

/// The reader of CSV and TSV: see [`mod@crate::codec::csv`].
#[derive(Debug)]
pub struct Parser {
    format: Format,
    options: Options,
    limits: Limits,
    delimiter: u8,
    /// Fields may hold values in the wrapped notation.
    unwraps: bool,
    scanner: Scanner,
    place: Place,
    header: Header,
    /// How many fields a row has.
    width: Option<u64>,
    /// How many fields of the current record have been read.
    fields: u64,
    /// The text of a field with quotes in it.
    unescaped: String,
    /// Where in a broken record the search for its end is.
    skipper: Option<Skipper>,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The beginning of the file.
    Start,
    /// The header, whose delimiter is not known yet.
    Sniff,
    /// The header, or more of it.
    Header,
    /// A row.
    Between,
    /// More of a row.
    Row,
}

/// The names of the columns.
#[derive(Debug, Default)]
struct Header {
    names: Vec<Box<str>>,
    places: HashMap<Box<str>, usize>,
    bytes: u64,
    /// The line as it stands in the file.
    raw: Vec<u8>,
}

impl Parser {
    /// Creates a parser at the start of a file of this format, CSV or TSV.
    pub fn new(format: Format, options: Options, limits: Limits) -> Parser {
        let delimiter = delimiter(format, &options);
        Parser {
            format,
            options,
            limits,
            delimiter,
            unwraps: false,
            scanner: Scanner::new(delimiter),
            place: Place::Start,
            header: Header::default(),
            width: None,
            fields: 0,
            unescaped: String::new(),
            skipper: None,
        }
    }

    /// Sets whether fields may hold values in the wrapped notation, for an
    /// [`Unwrap`](crate::policy::notation::Unwrap) that follows.
    #[must_use]
    pub fn unwrapping(mut self, unwraps: bool) -> Parser {
        self.unwraps = unwraps;
        self
    }

    /// Skips a byte order mark. Returns whether the window holds enough to tell.
    fn begin(&mut self, bytes: &[u8], pos: &mut usize, last: bool) -> bool {
        let head = bytes.get(*pos..).unwrap_or_default();
        if head.len() < MARK.len() && !last && MARK.as_bytes().starts_with(head) {
            return false;
        }
        if head.starts_with(MARK.as_bytes()) {
            *pos += MARK.len();
            self.header.raw.extend_from_slice(MARK.as_bytes());
        }
        self.place = match self.options {
            Options { header: true, delimiter: None, .. } if self.format == Format::Csv => {
                Place::Sniff
            }
            Options { header: true, .. } => Place::Header,
            _ => Place::Between,
        };
        true
    }

    /// Finds out which delimiter the header has. Returns whether the window holds enough to tell.
    fn sniff(&mut self, bytes: &[u8], pos: usize, last: bool) -> bool {
        let Some(found) = sniff::delimiter(bytes.get(pos..).unwrap_or_default(), last) else {
            return false;
        };
        (self.delimiter, self.scanner) = (found.byte(), Scanner::new(found.byte()));
        self.place = Place::Header;
        true
    }

    /// Reads the header. Returns whether it is whole.
    fn header(&mut self, bytes: &[u8], pos: &mut usize, last: bool) -> Result<bool> {
        loop {
            if self.fields == 0 {
                match line(bytes, *pos, last) {
                    Line::Open => return Ok(false),
                    Line::Blank(_) => return Err(faults::blank_line(true).at(*pos as u64)),
                    // A file without a byte is a table without a row.
                    Line::End => {
                        self.place = Place::Between;
                        return Ok(true);
                    }
                    Line::Text => {}
                }
            }
            let Some(field) = self.scanner.field(bytes, *pos, last)? else { return Ok(false) };
            let name = text(bytes, &field, &mut self.unescaped)?;
            self.header.add(name, &self.limits).map_err(|error| error.at(*pos as u64))?;
            self.header.raw.extend_from_slice(&bytes[*pos..field.next]);
            self.fields += 1;
            *pos = field.next;
            if field.is_last {
                self.width = Some(self.fields);
                self.place = Place::Between;
                return Ok(true);
            }
        }
    }

    /// Begins a row, after blank lines. Returns how it ended, if not with a row.
    fn between<S: Sink + ?Sized>(
        &mut self,
        bytes: &[u8],
        pos: &mut usize,
        last: bool,
        sink: &mut S,
    ) -> Result<Option<Status>> {
        loop {
            match line(bytes, *pos, last) {
                Line::Open => return Ok(Some(Status::More)),
                Line::End => return Ok(Some(Status::End)),
                Line::Blank(length) => match self.width {
                    Some(2..) => *pos += length,
                    width => return Err(faults::blank_line(width.is_none()).at(*pos as u64)),
                },
                Line::Text => break,
            }
        }
        match self.options.header {
            true => sink.begin_map(self.width)?,
            false => sink.begin_array(self.width)?,
        }
        (self.place, self.fields) = (Place::Row, 0);
        Ok(None)
    }

    /// Reads a row. Returns whether it is whole.
    fn row<S: Sink + ?Sized>(
        &mut self,
        bytes: &[u8],
        pos: &mut usize,
        last: bool,
        sink: &mut S,
    ) -> Result<bool> {
        loop {
            let field = match self.scanner.field(bytes, *pos, last) {
                Ok(Some(field)) => field,
                Ok(None) => return Ok(false),
                Err(error) => {
                    // The path of the error ends in its column.
                    if let Some(name) = self.header.names.get(self.fields as usize) {
                        sink.key(name)?;
                    }
                    return Err(error);
                }
            };
            if self.width.is_none_or(|width| self.fields < width) {
                if let Some(name) = self.header.names.get(self.fields as usize) {
                    sink.key(name)?;
                }
                self.value(bytes, &field, sink)?;
            }
            self.fields += 1;
            if !field.is_last {
                *pos = field.next;
                continue;
            }
            *pos = field.stop;
            let width = *self.width.get_or_insert(self.fields);
            if self.fields != width {
                let has_header = self.options.header;
                return Err(faults::ragged(self.fields, width, has_header, self.format)
                    .at(field.stop as u64)
                    .at_path(Path::default()));
            }
            match self.options.header {
                true => sink.end_map()?,
                false => sink.end_array()?,
            }
            *pos = field.next;
            self.place = Place::Between;
            return Ok(true);
        }
    }

    /// Sends the value of a field.
    fn value<S: Sink + ?Sized>(&mut self, bytes: &[u8], field: &Field, sink: &mut S) -> Result {
        let text = text(bytes, field, &mut self.unescaped)?;
        if self.unwraps
            && let Some(notation) = text.strip_prefix(VALUE_PREFIX)
        {
            let value = Value::from_plain_json(notation, self.limits);
            return value.map_err(|error| no_value(error, text, field.start))?.drive(sink);
        }
        if self.options.types == Types::Text || field.is_quoted {
            return sink.str(text);
        }
        match infer(text) {
            Inferred::Text => sink.str(text),
            Inferred::Bool(v) => sink.bool(v),
            Inferred::Int(v) => sink.i64(v),
            Inferred::UInt(v) => sink.u64(v),
            Inferred::Double(v) => sink.f64(v),
            Inferred::Big { negative, digits } => {
                if digits.len() as u64 > u64::from(self.limits.integer_digits) {
                    return Err(too_many_digits(digits.len(), &self.limits).at(field.start as u64));
                }
                sink.big_int(BigInt::Decimal { negative, digits })
            }
        }
    }
}

impl Default for Parser {
    /// Reads CSV with the default options and limits.
    fn default() -> Parser {
        Parser::new(Format::Csv, Options::default(), Limits::default())
    }
}

impl Parse for Parser {
    const FORMAT: Format = Format::Csv;

    fn parse<S: Sink + ?Sized>(
        &mut self,
        bytes: &[u8],
        pos: &mut usize,
        last: bool,
        sink: &mut S,
    ) -> Result<Status> {
        loop {
            let goes_on = match self.place {
                Place::Start => self.begin(bytes, pos, last),
                Place::Sniff => self.sniff(bytes, *pos, last),
                Place::Header => self.header(bytes, pos, last)?,
                Place::Between => match self.between(bytes, pos, last, sink)? {
                    Some(status) => return Ok(status),
                    None => true,
                },
                Place::Row => match self.row(bytes, pos, last, sink)? {
                    true => return Ok(Status::Document),
                    false => false,
                },
            };
            if !goes_on {
                return Ok(Status::More);
            }
        }
    }

    fn resync(&mut self, bytes: &[u8], _: usize, pos: usize, last: bool) -> Resync {
        // Without columns there are no rows.
        if self.options.header && self.width.is_none() {
            return Resync::Never;
        }
        self.scanner.reset();
        self.place = Place::Between;
        let mut skipper = self.skipper.take().unwrap_or_default();
        match skipper.skip(self.delimiter, bytes, pos) {
            Some(next) => Resync::At(next),
            None if last => Resync::At(bytes.len()),
            None => {
                self.skipper = Some(skipper);
                Resync::Past(bytes.len())
            }
        }
    }

    fn columns(&self) -> Option<Value> {
        let empty = || Value::Text(String::new());
        let names = self.header.names.iter();
        let row: Vec<_> = names.map(|name| (Value::Text(name.to_string()), empty())).collect();
        (!row.is_empty()).then_some(Value::Map(row))
    }

    fn head(&self) -> &[u8] {
        match self.options.header {
            true => &self.header.raw,
            false => &[],
        }
    }

    fn format(&self) -> Format {
        self.format
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }
}

impl Header {
    fn add(&mut self, name: &str, limits: &Limits) -> Result {
        let place = self.names.len();
        if let Some(first) = self.places.get(name) {
            return Err(faults::column_again(name, first + 1, place + 1));
        }
        self.bytes += name.len() as u64;
        if self.bytes > limits.record_bytes {
            return Err(faults::too_many("bytes", limits.record_bytes, Limit::RecordBytes));
        }
        if place as u64 >= limits.nodes {
            return Err(faults::too_many("fields", limits.nodes, Limit::Nodes));
        }
        self.names.push(name.into());
        self.places.insert(name.into(), place);
        Ok(())
    }
}

/// What stands at the start of a line.
enum Line {
    /// The window does not tell.
    Open,
    /// The end of the input.
    End,
    /// The end of the line, and its length.
    Blank(usize),
    /// A field.
    Text,
}

fn line(bytes: &[u8], at: usize, last: bool) -> Line {
    match (bytes.get(at), bytes.get(at + 1)) {
        (None, _) if last => Line::End,
        (None, _) => Line::Open,
        (Some(b'\n'), _) => Line::Blank(1),
        (Some(b'\r'), Some(b'\n')) => Line::Blank(2),
        (Some(b'\r'), None) if !last => Line::Open,
        _ => Line::Text,
    }
}

/// Returns the text of a field, which is in `unescaped` if there are doubled quotes in it.
fn text<'t>(bytes: &'t [u8], field: &Field, unescaped: &'t mut String) -> Result<&'t str> {
    let raw = &bytes[field.start..field.end];
    let Some(text) = utf8::from_utf8(raw) else {
        let (error, at) = faults::no_utf8(raw);
        return Err(error.at((field.start + at) as u64));
    };
    if !field.is_escaped {
        return Ok(text);
    }
    unescaped.clear();
    for (index, part) in text.split("\"\"").enumerate() {
        if index > 0 {
            unescaped.push('"');
        }
        unescaped.push_str(part);
    }
    Ok(unescaped)
}

#[cold]
fn no_value(error: Error, text: &str, at: usize) -> Error {
    if error.kind() == ErrorKind::Limit {
        return error.at(at as u64);
    }
    let shown = shorten(text);
    Error::syntax(format!("found the field `{shown}`, expected a value after `{VALUE_PREFIX}`"))
        .at(at as u64)
}

#[cold]
fn too_many_digits(have: usize, limits: &Limits) -> Error {
    let most = limits.integer_digits;
    Error::limit(format!(
        "found an integer of {have} digits, more than {most}, the limit of integer_digits"
    ))
    .hint(crate::model::hint::Hint::raise(Limit::IntegerDigits))
}
