//! MARCMaker to events.
//!
//! A record is looked for whole, up to the blank line after it, and built before its first event is
//! emitted, so that a broken one leaves no trace.

use std::ops::Range;

use super::expand::{Expander, Fault};
use super::faults;
use crate::bytes::reader::{Parse, Resync, Status};
use crate::codec::marc::lines::{
    Found, check_weight, find_line, line_at, resume, split_first, whole_line,
};
use crate::codec::marc::shape::{record_limit, too_long};
use crate::codec::marc::{
    Options, SUBFIELD_DELIMITER, between, charset, is_control_tag, is_pair, marc8,
};
use crate::model::record::{Charset, Field as RecordField, Record};
use crate::options::marc::CharsetChoice;
use crate::policy::event::Sink;
use crate::policy::fidelity::{LossKind, OnLoss};
use crate::{Error, Format, Limits, Result};

/// A reader of MARCMaker.
pub type Reader<'a> = crate::bytes::reader::Reader<'a, Parser>;

/// The state machine of MARCMaker: see [`Parse`].
#[derive(Debug, Default)]
pub struct Parser {
    options: Options,
    limits: Limits,
    record: Record,
    expander: Expander,
    /// The content of a field that has several lines.
    joined: Vec<u8>,
    /// A field in MARC-8.
    bytes: Vec<u8>,
    /// A field in UTF-8.
    text: String,
    /// Whether there are comments between the fields of the current record.
    has_comments: bool,
    id: Option<String>,
    /// How many bytes of an unfinished record hold no end of it.
    scanned: usize,
}

/// How the text of a record is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Encoding {
    charset: Charset,
    /// Dollar signs and backslashes are all that differs from the text.
    is_plain: bool,
}

/// A field in the lines of a record.
struct Field<'r> {
    /// Where its first line begins.
    at: usize,
    tag: &'r str,
    /// Its content, unless that is in [`Parser::joined`].
    content: Range<usize>,
    is_joined: bool,
    /// Where the next line begins.
    next: usize,
}

impl Parser {
    /// Creates a parser with these options and limits. [`Limits::record_bytes`] bounds a record.
    pub fn new(options: Options, limits: Limits) -> Parser {
        Parser { options, limits, ..Parser::default() }
    }

    /// Returns the length of the record at the start of `rest`; `None` if it does not end in the window.
    fn extent(&mut self, rest: &[u8], last: bool) -> Result<Option<usize>> {
        let bound = record_limit(&self.limits);
        let (length, is_whole) = match find_line(rest, self.scanned, last, is_end) {
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
        self.has_comments = false;
        let (first, mut at) = line_at(lines, 0);
        let leader = &lines[first];
        self.leader(leader.get(6..).unwrap_or_default())?;
        let encoding = self.encoding(lines, at)?;
        while at < lines.len() {
            if lines[at] == b'#' {
                self.has_comments = true;
                at = line_at(lines, at).1;
                continue;
            }
            let field = self.field(lines, at)?;
            at = field.next;
            self.add(lines, &field, encoding)?;
        }
        if encoding.charset != self.said() && has_more_than_ascii(&self.record) {
            self.record.set_charset(Some(encoding.charset));
        }
        Ok(())
    }

    /// Sets the leader.
    fn leader(&mut self, raw: &[u8]) -> Result {
        self.text.clear();
        let expanded = match std::str::from_utf8(raw) {
            Ok(raw) => self.expander.expand_text(raw, true, &mut self.text),
            Err(_) => {
                let latin1: String = raw.iter().map(|byte| char::from(*byte)).collect();
                self.expander.expand_text(&latin1, true, &mut self.text).map_err(|fault| {
                    // A character of Latin-1 is one byte of the line.
                    Fault { at: latin1[..fault.at].chars().count(), ..fault }
                })
            }
        };
        expanded
            .map_err(|Fault { at, kind }| faults::wrong(kind, "the leader").at(6 + at as u64))?;
        self.record.set_leader(&self.text);
        Ok(())
    }

    /// Returns the charset that leader/09 declares.
    fn said(&self) -> Charset {
        charset::declared(self.record.leader())
    }

    /// Decides how the fields, which begin at `from`, are encoded: as ISO 2709 does.
    fn encoding(&self, lines: &[u8], from: usize) -> Result<Encoding> {
        let fields = &lines[from..];
        let said = self.said();
        let is_utf8 = simdutf8::basic::from_utf8(fields).is_ok();
        let charset = match (self.options.charset, said, is_utf8) {
            (CharsetChoice::Always(charset), ..) => charset,
            (CharsetChoice::Auto, Charset::Utf8, _) => Charset::Utf8,
            (CharsetChoice::Auto, Charset::Marc8, true) if !is_ascii(lines, from) => Charset::Utf8,
            (CharsetChoice::Auto, Charset::Marc8, _) => Charset::Marc8,
        };
        if charset == Charset::Utf8 && !is_utf8 {
            let valid = std::str::from_utf8(fields).err().map_or(0, |error| error.valid_up_to());
            let at = from + valid;
            return Err(faults::no_utf8(lines[at], said).at(at as u64));
        }
        let has_mnemonics = memchr::memchr(b'{', fields).is_some();
        let has_delimiters = memchr::memchr3(0x1D, 0x1E, SUBFIELD_DELIMITER, fields).is_some();
        let is_text =
            charset == Charset::Utf8 || marc8::is_plain(fields) && !self.options.references;
        Ok(Encoding { charset, is_plain: is_text && !has_mnemonics && !has_delimiters })
    }

    /// Finds the lines of the field at `at`. Those that do not begin with an equals sign continue it.
    fn field<'r>(&mut self, lines: &'r [u8], at: usize) -> Result<Field<'r>> {
        let (line, mut next) = line_at(lines, at);
        let Some(tag) = tag_of(&lines[line.clone()]) else {
            return Err(faults::no_tag(&lines[line]).at(at as u64));
        };
        let content = (line.start + 6).min(line.end)..line.end;
        let continues =
            |next: usize| lines.get(next).is_some_and(|byte| !matches!(byte, b'=' | b'#'));
        let is_joined = continues(next);
        if is_joined {
            self.joined.clear();
            self.joined.extend_from_slice(&lines[content.clone()]);
        }
        while continues(next) {
            let (line, after) = line_at(lines, next);
            self.joined.extend_from_slice(&lines[line]);
            next = after;
        }
        Ok(Field { at, tag, content, is_joined, next })
    }

    /// Adds a field to the record.
    fn add(&mut self, lines: &[u8], field: &Field<'_>, encoding: Encoding) -> Result {
        let joined = std::mem::take(&mut self.joined);
        let raw = if field.is_joined { &joined } else { &lines[field.content.clone()] };
        let is_control = is_control_tag(field.tag.as_bytes());
        let added = if encoding.is_plain {
            self.add_plain(field.tag, raw, is_control)
        } else {
            self.add_expanded(field.tag, raw, is_control, encoding.charset)
        };
        self.joined = joined;
        added.map_err(|error| {
            let start = if field.is_joined { field.at } else { field.content.start };
            let inside = if field.is_joined { 0 } else { error.offset().unwrap_or(0) };
            error.at(start as u64 + inside)
        })
    }

    /// Adds a field whose content is text but for dollar signs and backslashes.
    fn add_plain(&mut self, tag: &str, raw: &[u8], is_control: bool) -> Result {
        let Some(content) = crate::model::utf8::from_utf8(raw) else {
            // The lines are, so a character was cut by a line end.
            return Err(faults::no_utf8(raw[0], self.said()).at(0));
        };
        let dollar = memchr::memchr(b'$', raw).filter(|_| !is_control);
        let (head, rest) = match dollar {
            Some(at) => (&content[..at], Some(&content[at + 1..])),
            None => (content, None),
        };
        if memchr::memchr(b'\\', head.as_bytes()).is_none() {
            return add_field(&mut self.record, tag, head, rest, '$', &self.limits);
        }
        self.text.clear();
        self.text.extend(head.chars().map(|c| if c == '\\' { ' ' } else { c }));
        add_field(&mut self.record, tag, &self.text, rest, '$', &self.limits)
    }

    /// Adds a field with mnemonics, or in MARC-8.
    fn add_expanded(
        &mut self,
        tag: &str,
        raw: &[u8],
        is_control: bool,
        charset: Charset,
    ) -> Result {
        self.text.clear();
        let wrong = |Fault { at, kind }| faults::wrong(kind, tag).at(at as u64);
        if charset == Charset::Utf8 {
            let raw = std::str::from_utf8(raw).unwrap_or_default();
            self.expander.expand_text(raw, is_control, &mut self.text).map_err(wrong)?;
        } else {
            self.bytes.clear();
            self.expander.expand_bytes(raw, is_control, &mut self.bytes).map_err(wrong)?;
            let references = self.options.references;
            charset::decode_field(&self.bytes, &mut self.text, references)
                .map_err(|(_, message)| faults::marc8(&message, tag).at(0))?;
        }
        if let Some(at) = memchr::memchr2(0x1D, 0x1E, self.text.as_bytes()) {
            return Err(faults::terminator(self.text.as_bytes()[at], tag).at(0));
        }
        let delimiter = char::from(SUBFIELD_DELIMITER);
        let (head, rest) = match self.text.split_once(delimiter) {
            Some((head, rest)) if !is_control => (head, Some(rest)),
            _ => (self.text.as_str(), None),
        };
        add_field(&mut self.record, tag, head, rest, delimiter, &self.limits)
    }
}

/// Adds a field of text, or of indicators and subfields, to the record.
fn add_field(
    record: &mut Record,
    tag: &str,
    head: &str,
    rest: Option<&str>,
    delimiter: char,
    limits: &Limits,
) -> Result {
    if rest.is_none() && (is_control_tag(tag.as_bytes()) || !is_pair(head.as_bytes())) {
        record.add_text(tag, head);
        return check_weight(record, limits);
    }
    let (ind1, ind2) = split_first(head);
    record.add_data(tag, ind1, ind2);
    for subfield in rest.into_iter().flat_map(|rest| rest.split(delimiter)) {
        let (code, value) = split_first(subfield);
        record.add_subfield(code, value);
        check_weight(record, limits)?;
    }
    check_weight(record, limits)
}

/// Returns whether a line is that of a leader: the customary tag, or that of the manual.
fn is_leader(line: &[u8]) -> bool {
    tag_of(line).is_some_and(|tag| matches!(tag, "LDR" | "000"))
}

/// Returns the tag at the start of a line; `None` if it does not begin a field. Blanks at the end may be
/// missing.
fn tag_of(line: &[u8]) -> Option<&str> {
    let tag = line.strip_prefix(b"=")?.get(..3)?;
    let has_blanks = matches!(&line[4..], [] | [b' '] | [b' ', b' ', ..]);
    let is_tag = has_blanks && tag.iter().all(|byte| matches!(byte, 0x20..=0x7E));
    std::str::from_utf8(tag).ok().filter(|_| is_tag)
}

/// Returns whether the record before this line, which is not its first, has ended.
fn is_end(at: usize, line: &[u8]) -> bool {
    at > 0 && (between(line) == line.len() || is_leader(line))
}

/// Returns whether the fields from `from` on are ASCII, whatever the comments are.
fn is_ascii(lines: &[u8], from: usize) -> bool {
    if lines[from..].is_ascii() {
        return true;
    }
    let mut at = from;
    while at < lines.len() {
        let (line, next) = line_at(lines, at);
        if lines[at] != b'#' && !lines[line].is_ascii() {
            return false;
        }
        at = next;
    }
    true
}

/// Returns whether the fields hold a character beyond ASCII.
fn has_more_than_ascii(record: &Record) -> bool {
    record.fields().any(|field| match field {
        RecordField::Text { text, .. } => !text.is_ascii(),
        RecordField::Data { ind1, ind2, mut subfields, .. } => {
            !ind1.is_ascii()
                || !ind2.is_ascii()
                || subfields.any(|(code, value)| !code.is_ascii() || !value.is_ascii())
        }
    })
}

/// Passes over blank lines and comments before a record, and counts the comments. Returns whether the last line
/// it saw was whole.
fn pass_comments<S: Sink + ?Sized>(
    bytes: &[u8],
    pos: &mut usize,
    last: bool,
    sink: &mut S,
) -> bool {
    loop {
        *pos += between(&bytes[*pos..]);
        if bytes.get(*pos) != Some(&b'#') {
            return true;
        }
        let (line, next) = line_at(bytes, *pos);
        if next == bytes.len() && !last && bytes.last() != Some(&b'\n') {
            return false;
        }
        sink.fidelity().note(LossKind::Marc, comment(&bytes[line]), "nothing");
        *pos = next;
    }
}

/// Counts the comments between the fields of a record.
fn note_comments<S: Sink + ?Sized>(lines: &[u8], sink: &mut S) {
    let mut at = 0;
    while at < lines.len() {
        let (line, next) = line_at(lines, at);
        if lines[at] == b'#' {
            sink.fidelity().note(LossKind::Marc, comment(&lines[line]), "nothing");
        }
        at = next;
    }
}

fn comment(line: &[u8]) -> String {
    let shown = line[..line.len().min(40)].escape_ascii();
    format!("the comment \"{shown}\"")
}

impl Parse for Parser {
    const FORMAT: Format = Format::Mrk;

    fn parse<S: Sink + ?Sized>(
        &mut self,
        bytes: &[u8],
        pos: &mut usize,
        last: bool,
        sink: &mut S,
    ) -> Result<Status> {
        self.id = None;
        if self.scanned == 0 && !pass_comments(bytes, pos, last, sink) {
            return Ok(Status::More);
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
        // What begins without a leader need not be held to its end.
        if self.scanned == 0
            && let Some(first) = whole_line(rest, last)
            && !is_leader(first)
        {
            return Err(in_window(faults::no_leader(first).at(0)));
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
        self.expander.keeps_unknown = sink.fidelity().policy() == OnLoss::Approximate;
        if let Err(error) = self.build(&rest[..length]) {
            self.id = self.record.id().filter(|id| !id.is_empty()).map(str::to_owned);
            self.expander.unknown.clear();
            return Err(in_window(error));
        }
        if self.has_comments {
            note_comments(&rest[..length], sink);
        }
        for name in self.expander.unknown.drain(..) {
            let found = format!("{name}, a mnemonic that is not in the table");
            sink.fidelity().note(LossKind::Marc, found, "the same text");
        }
        self.record.hand_over(sink)?;
        *pos = start + length;
        Ok(Status::Document)
    }

    fn resync(&mut self, bytes: &[u8], start: usize, pos: usize, last: bool) -> Resync {
        let _ = start;
        self.scanned = 0;
        // Comments before the record are done with.
        resume(bytes, pos, last, |_, line| is_end(1, line))
    }

    fn record_id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }
}
