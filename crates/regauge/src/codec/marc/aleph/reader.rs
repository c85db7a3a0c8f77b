//! Aleph sequential to events.
//!
//! A record is looked for whole, up to the first line with another system number, and built before its
//! first event is emitted, so that a broken one leaves no trace.

use super::faults;
use super::split::{Marker, last_code, marker};
use crate::bytes::reader::{Parse, Resync, Status};
use crate::codec::marc::leader::NO_LEADER;
use crate::codec::marc::lines::{
    Found, check_weight, find_line, line_at, resume, split_first, whole_line,
};
use crate::codec::marc::shape::{record_limit, too_long};
use crate::codec::marc::{between, is_control_tag};
use crate::model::record::Record;
use crate::policy::event::Sink;
use crate::policy::fidelity::LossKind;
use crate::{Error, Format, Limits, Result};

/// A reader of Aleph sequential.
pub type Reader<'a> = crate::bytes::reader::Reader<'a, Parser>;

/// The digits of a system number.
type Number = [u8; 9];

/// Where the content of a line begins.
const CONTENT_AT: usize = 18;

/// The state machine of Aleph sequential: see [`Parse`].
#[derive(Debug, Default)]
pub struct Parser {
    limits: Limits,
    record: Record,
    /// The content of a field of several lines, or with blanks for carets.
    text: String,
    has_leader: bool,
    /// What is lost from the current record, and what replaces it.
    losses: Vec<(String, String)>,
    id: Option<String>,
    /// How many bytes of an unfinished record hold no end of it.
    scanned: usize,
    /// The number of the broken record that is skipped.
    skipped: Option<Option<Number>>,
}

/// A line of a record.
#[derive(Clone, Copy)]
struct Line<'r> {
    tag: &'r str,
    ind1: &'r str,
    ind2: &'r str,
    alphabet: &'r str,
    content: &'r str,
}

impl Line<'_> {
    fn has_indicators(&self) -> bool {
        (self.ind1, self.ind2) != (" ", " ")
    }
}

impl Parser {
    /// Creates a parser with these limits. [`Limits::record_bytes`] bounds a record.
    pub fn new(limits: Limits) -> Parser {
        Parser { limits, ..Parser::default() }
    }

    /// Returns the length of the record at the start of `rest`; `None` if it does not end in the window.
    fn extent(&mut self, rest: &[u8], last: bool) -> Result<Option<usize>> {
        let own = number_of(&rest[line_at(rest, 0).0]);
        let bound = record_limit(&self.limits);
        let is_next = |at: usize, line: &[u8]| at > 0 && begins_after(line, own);
        let (length, is_whole) = match find_line(rest, self.scanned, last, is_next) {
            Found::At(length) => (length, true),
            Found::Open(at) => {
                self.scanned = at;
                (rest.len(), false)
            }
        };
        if length as u64 > bound {
            return Err(too_long(bound).at(0));
        }
        Ok(is_whole.then_some(length))
    }

    /// Builds the record from its lines.
    fn build(&mut self, lines: &[u8]) -> Result {
        self.record.clear();
        self.losses.clear();
        self.has_leader = false;
        let Some(text) = crate::model::utf8::from_utf8(lines) else {
            let at = std::str::from_utf8(lines).err().map_or(0, |error| error.valid_up_to());
            return Err(faults::no_utf8(lines[at]).at(at as u64));
        };
        self.begin(lines);
        let mut at = 0;
        while at < lines.len() {
            let (range, mut next) = line_at(lines, at);
            if between(&lines[range.clone()]) < range.len() {
                let line = parsed(&text[range]).map_err(|error| error.at(at as u64))?;
                next = self.add(text, line, next).map_err(|error| error.at(at as u64))?;
            }
            at = next;
        }
        self.end(lines);
        Ok(())
    }

    /// Puts the system number in the place of a field 001 that the record lacks.
    fn begin(&mut self, lines: &[u8]) {
        let is_id = |_: usize, line: &[u8]| line.get(10..13) == Some(b"001");
        if find_line(lines, 0, true, is_id) != Found::At(lines.len()) {
            return;
        }
        if let Some(number) = number_of(lines) {
            let number = String::from_utf8_lossy(&number).into_owned();
            self.record.add_text("001", &number);
            let found = "a record without 001".to_owned();
            self.losses.push((found, format!("its system number, {number}")));
        }
    }

    /// Completes a record: counts a system number that is not in it, and a missing leader.
    fn end(&mut self, lines: &[u8]) {
        if let (Some(number), Some(id)) = (number_of(lines), self.record.id())
            && !is_same_number(&number, id)
        {
            let number = String::from_utf8_lossy(&number).into_owned();
            let found = format!("the system number {number}, which is not in field 001");
            self.losses.push((found, "nothing".to_owned()));
        }
        if !self.has_leader {
            self.record.set_leader(NO_LEADER);
            self.losses.push(("a record without a leader".to_owned(), NO_LEADER.to_owned()));
        }
    }

    /// Adds the field of a line, and those that continue it. Returns where the line after them begins.
    fn add(&mut self, text: &str, line: Line<'_>, next: usize) -> Result<usize> {
        if line.alphabet != "L" {
            let found = format!("the alphabet code {} of {}", line.alphabet, line.tag);
            self.losses.push((found, "L".to_owned()));
        }
        let is_leader = line.tag == "LDR";
        if is_leader || is_control_tag(line.tag.as_bytes()) {
            if line.has_indicators() {
                return Err(faults::indicators(line.tag));
            }
            let forbidden: &[u8] = if is_leader { b"\r" } else { b"\r\x1D\x1E" };
            check_characters(line.content, line.tag, forbidden)?;
            self.text.clear();
            self.text.extend(line.content.chars().map(|c| if c == '^' { ' ' } else { c }));
            if !is_leader {
                self.record.add_text(line.tag, &self.text);
            } else if std::mem::replace(&mut self.has_leader, true) {
                return Err(faults::second_leader());
            } else {
                self.record.set_leader(&self.text);
            }
            return Ok(next);
        }
        let (content, next) = self.joined(text, line, next)?;
        let added = self.add_data(line, content.as_deref().unwrap_or(line.content));
        if let Some(content) = content {
            self.text = content;
        }
        added.map(|()| next)
    }

    /// Joins the lines that continue this one. Returns their content, unless there are none, and where the
    /// line after them begins.
    fn joined(
        &mut self,
        text: &str,
        line: Line<'_>,
        mut next: usize,
    ) -> Result<(Option<String>, usize)> {
        let mut content: Option<String> = None;
        let mut code = last_code(line.content);
        while next < text.len() {
            let (range, after) = line_at(text.as_bytes(), next);
            // What is wrong with the line is found when it is read as a field.
            let Ok(more) = parsed(&text[range]) else { break };
            let is_same =
                |a: &Line<'_>, b: &Line<'_>| (a.tag, a.ind1, a.ind2) == (b.tag, b.ind1, b.ind2);
            let Some((kind, rest)) = marker(more.content).filter(|_| is_same(&line, &more)) else {
                break;
            };
            let content = content.get_or_insert_with(|| {
                let mut text = std::mem::take(&mut self.text);
                text.clear();
                text.push_str(line.content);
                text
            });
            if let Marker::Same(found) = kind {
                if let Some(expected) = code
                    && expected != found
                {
                    return Err(faults::other_code(found, expected, line.tag));
                }
                if content.ends_with('^') {
                    content.pop();
                    content.push(' ');
                }
            }
            content.push_str(rest);
            code = last_code(rest).or(code);
            next = after;
        }
        Ok((content, next))
    }

    /// Adds a data field, or a field of text.
    fn add_data(&mut self, line: Line<'_>, mut content: &str) -> Result {
        check_characters(content, line.tag, b"\r\x1D\x1E\x1F")?;
        while let Some((kind, rest)) = marker(content) {
            let found = format!("a mark that {} continues a field before it", line.tag);
            self.losses.push((found, "nothing".to_owned()));
            content = match kind {
                Marker::New => rest,
                Marker::Same(_) => &content[5..],
            };
        }
        let Some(mut rest) = content.strip_prefix("$$") else {
            if content.is_empty() {
                self.record.add_data(line.tag, line.ind1, line.ind2);
            } else if line.has_indicators() || content.contains("$$") {
                return Err(faults::no_subfield(content, line.tag));
            } else {
                self.record.add_text(line.tag, content);
            }
            return check_weight(&self.record, &self.limits);
        };
        self.record.add_data(line.tag, line.ind1, line.ind2);
        loop {
            let (code, value) = split_first(rest);
            if code.is_empty() {
                return Err(faults::no_code(line.tag));
            }
            let end = value.find("$$");
            self.record.add_subfield(code, &value[..end.unwrap_or(value.len())]);
            check_weight(&self.record, &self.limits)?;
            match end {
                Some(end) => rest = &value[end + 2..],
                None => return Ok(()),
            }
        }
    }
}

/// Returns the system number at the start of a line.
fn number_of(line: &[u8]) -> Option<Number> {
    let number = line.first_chunk::<9>()?;
    let is_number = number.iter().all(u8::is_ascii_digit) && line.get(9) == Some(&b' ');
    is_number.then_some(*number)
}

/// Returns whether a line begins a record after the one of this number.
fn begins_after(line: &[u8], own: Option<Number>) -> bool {
    number_of(line).is_some_and(|number| Some(number) != own)
}

/// Returns whether a field 001 holds this number, with or without leading zeros.
fn is_same_number(number: &Number, id: &str) -> bool {
    let digits = |bytes: &[u8]| {
        let zeros = bytes.iter().take_while(|byte| **byte == b'0').count();
        bytes[zeros..].to_vec()
    };
    digits(number) == digits(id.trim_matches(' ').as_bytes())
}

/// Parses the columns of a line.
fn parsed(line: &str) -> Result<Line<'_>> {
    let bytes = line.as_bytes();
    if number_of(bytes).is_none() {
        return Err(faults::no_number(bytes));
    }
    let columns = bytes.get(10..17).filter(|columns| {
        columns[..5].iter().all(|byte| matches!(byte, 0x20..=0x7E))
            && columns[5] == b' '
            && columns[6].is_ascii_graphic()
    });
    // A blank at the end may be missing.
    if columns.is_none() || bytes.get(17).is_some_and(|byte| *byte != b' ') {
        return Err(faults::no_columns(bytes));
    }
    Ok(Line {
        tag: &line[10..13],
        ind1: &line[13..14],
        ind2: &line[14..15],
        alphabet: &line[16..17],
        content: line.get(CONTENT_AT..).unwrap_or_default(),
    })
}

fn check_characters(content: &str, tag: &str, forbidden: &[u8]) -> Result {
    let found = content.bytes().find(|byte| *byte < b' ' && forbidden.contains(byte));
    found.map_or(Ok(()), |byte| Err(faults::control(byte, tag)))
}

impl Parse for Parser {
    const FORMAT: Format = Format::AlephSeq;

    fn parse<S: Sink + ?Sized>(
        &mut self,
        bytes: &[u8],
        pos: &mut usize,
        last: bool,
        sink: &mut S,
    ) -> Result<Status> {
        self.id = None;
        if self.scanned == 0 {
            *pos += between(&bytes[*pos..]);
        }
        let start = *pos;
        let rest = &bytes[start..];
        // A byte order mark may be cut in two.
        if rest.is_empty() || !last && rest[0] == 0xEF && rest.len() < 3 {
            return Ok(if last { Status::End } else { Status::More });
        }
        let in_window = |error: Error| {
            let inside = error.offset().unwrap_or(0);
            error.at(start as u64 + inside)
        };
        // What begins with a broken line need not be held to its end.
        if self.scanned == 0
            && let Some(first) = whole_line(rest, last)
            && let Ok(line) = std::str::from_utf8(first)
            && let Err(error) = parsed(line)
        {
            self.id = number_of(first).map(|number| String::from_utf8_lossy(&number).into_owned());
            return Err(in_window(error));
        }
        let length = match self.extent(rest, last) {
            Ok(Some(length)) => length,
            Ok(None) => return Ok(Status::More),
            Err(error) => {
                self.scanned = 0;
                return Err(in_window(error));
            }
        };
        self.scanned = 0;
        if let Err(error) = self.build(&rest[..length]) {
            self.id = self.record.id().filter(|id| !id.is_empty()).map(str::to_owned);
            return Err(in_window(error));
        }
        for (found, written) in self.losses.drain(..) {
            sink.fidelity().note(LossKind::Marc, found, written);
        }
        self.record.hand_over(sink)?;
        *pos = start + length;
        Ok(Status::Document)
    }

    fn resync(&mut self, bytes: &[u8], start: usize, pos: usize, last: bool) -> Resync {
        let _ = start;
        self.scanned = 0;
        let own = *self.skipped.get_or_insert_with(|| number_of(&bytes[pos..]));
        let found = resume(bytes, pos, last, |_, line| begins_after(line, own));
        if matches!(found, Resync::At(_)) {
            self.skipped = None;
        }
        found
    }

    fn record_id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }
}
