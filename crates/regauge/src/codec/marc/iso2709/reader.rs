//! ISO 2709 to events, straight from the bytes.
//!
//! A record is checked whole (directory, lengths, charset) before its first event is emitted, so
//! that a broken one leaves no trace in the output. The only work per byte is three passes at
//! memory speed: UTF-8, the positions of the delimiters, and the writer's copy.

use super::layout::{ENTRY_BYTES, FieldPlace, Layout, RECORD_BYTES_MIN, tag_name};
use super::whole;
use crate::bytes::reader::{Parse, Resync, Status};
use crate::codec::marc::charset;
use crate::codec::marc::leader::{CHARSET_POSITION, LEADER_BYTES, Sizes, number};
use crate::codec::marc::marc8;
use crate::codec::marc::scan::delimiters;
use crate::codec::marc::{
    FIELD_TERMINATOR, Options, RECORD_TERMINATOR, SUBFIELD_DELIMITER, between, is_control_tag,
    is_pair,
};
use crate::model::hint::Hint;
use crate::model::limits::Limit;
use crate::model::option::Opt;
use crate::model::record::Charset;
use crate::options::marc::CharsetChoice;
use crate::policy::event::Sink;
use crate::policy::fidelity::LossKind;
use crate::{Error, ErrorKind, Format, Limits, Result};

/// A reader of ISO 2709.
pub type Reader<'a> = crate::bytes::reader::Reader<'a, Parser>;

/// The longest record whose length fits five digits.
const LONGEST_RECORD: usize = 99_999;

/// The state machine of ISO 2709: see [`Parse`].
#[derive(Debug, Default)]
pub struct Parser {
    options: Options,
    limits: Limits,
    layout: Layout,
    /// The fields of a record whose data is in a different order from its directory.
    straight: Vec<u8>,
    /// The text of a record that is not UTF-8.
    decoded: String,
    leader: String,
    id: Option<String>,
    /// How many bytes of an unfinished record contain no terminator.
    scanned: usize,
}

/// The length of a record.
struct Extent {
    length: usize,
    /// The length that the leader states instead, if that is wrong.
    stated: Option<usize>,
}

impl Parser {
    /// Creates a parser with these options and limits. [`Limits::record_bytes`] bounds the search
    /// for the end of a record.
    pub fn new(options: Options, limits: Limits) -> Parser {
        Parser { options, limits, ..Parser::default() }
    }

    /// Finds the end of the record at the start of `rest`; `None` if it is not in the window.
    fn extent(&mut self, rest: &[u8], last: bool) -> Result<Option<Extent>> {
        if rest.len() < 5 && !last {
            return Ok(None);
        }
        let head = &rest[..rest.len().min(5)];
        let Some(stated) = number(head) else {
            return Err(Error::syntax(format!(
                "found \"{}\", expected the five digits of a record's length (leader/00-04)",
                head.escape_ascii()
            ))
            .at(0));
        };
        if rest.len() < LEADER_BYTES && !last {
            return Ok(None);
        }
        if rest.len() >= stated.max(RECORD_BYTES_MIN) {
            if stated >= RECORD_BYTES_MIN && rest[stated - 1] == RECORD_TERMINATOR {
                return Ok(Some(Extent { length: stated, stated: None }));
            }
        } else if !last && stated >= RECORD_BYTES_MIN {
            return Ok(None);
        }
        // The length is wrong, or the record is too long for five digits.
        let from = self.scanned.min(rest.len());
        if let Some(index) = memchr::memchr(RECORD_TERMINATOR, &rest[from..]) {
            return Ok(Some(Extent { length: from + index + 1, stated: Some(stated) }));
        }
        if last {
            return Err(Error::truncated(format!(
                "found the end of the input after {} bytes of a record, expected {stated} bytes \
                 and a record terminator",
                rest.len()
            ))
            .at(rest.len() as u64));
        }
        if rest.len() as u64 > self.limits.record_bytes {
            return Err(Error::limit(format!(
                "found no record terminator in {} bytes, the limit of record_bytes",
                self.limits.record_bytes
            ))
            .hint(Hint::raise(Limit::RecordBytes))
            .at(0));
        }
        self.scanned = rest.len();
        Ok(None)
    }

    /// Decides the charset. Returns the one that the record has to carry.
    fn text<'t>(
        &mut self,
        head: &[u8],
        data: &'t [u8],
        decoded: &'t mut String,
    ) -> Result<(&'t str, Option<Charset>)> {
        let said = Charset::of_leader(head[CHARSET_POSITION]);
        let utf8 = simdutf8::basic::from_utf8(data).ok();
        let references = self.options.references;
        let refers =
            |text: &str| references && memchr::memmem::find(text.as_bytes(), b"&#x").is_some();
        // Without a byte above 0x7F or an escape, both charsets are ASCII.
        let plain = |text: &str| marc8::is_plain(text.as_bytes()) && !refers(text);
        let in_marc8 = match (self.options.charset, said, utf8) {
            (CharsetChoice::Always(Charset::Marc8), _, Some(text)) => !plain(text),
            (CharsetChoice::Always(Charset::Marc8), _, None) => true,
            (CharsetChoice::Always(Charset::Utf8), ..) => false,
            (CharsetChoice::Auto, Charset::Utf8, _) => false,
            // MARC-8 text is practically never valid UTF-8 by chance, because a letter of UTF-8
            // would be two special characters in a row. Only an escape sequence, which no UTF-8
            // text has, indicates MARC-8.
            (CharsetChoice::Auto, Charset::Marc8, Some(text)) => {
                memchr::memchr(charset::ESCAPE, text.as_bytes()).is_some()
                    || text.is_ascii() && refers(text)
            }
            (CharsetChoice::Auto, Charset::Marc8, None) => true,
        };
        if in_marc8 {
            self.decode(head, data, decoded)?;
            let carried = (said == Charset::Utf8).then_some(Charset::Marc8);
            return Ok((decoded, carried));
        }
        match utf8 {
            Some(text) => {
                let carried = (said == Charset::Marc8 && !text.is_ascii()).then_some(Charset::Utf8);
                Ok((text, carried))
            }
            None => Err(self.not_utf8(head, data, said)),
        }
    }

    /// Decodes all fields from MARC-8, and makes `fields` and `delimiters` refer to the result.
    fn decode(&mut self, head: &[u8], data: &[u8], decoded: &mut String) -> Result {
        decoded.clear();
        for index in 0..self.layout.fields.len() {
            let field = self.layout.fields[index];
            let bytes = &data[field.start as usize..field.end as usize];
            let start = decoded.len() as u32;
            let references = self.options.references;
            if let Err((offset, message)) = charset::decode_field(bytes, decoded, references) {
                let place = place_name(&head[LEADER_BYTES..], index, &bytes[..offset]);
                let (found, expected) = message.split_once(", ").unwrap_or((&message, ""));
                return Err(Error::syntax(format!("{found} in {place} (MARC-8), {expected}"))
                    .hint(Hint::set(Opt::Charset, "utf8").when("the record is in UTF-8"))
                    .at(u64::from(field.start) + offset as u64));
            }
            let end = decoded.len() as u32;
            decoded.push(char::from(FIELD_TERMINATOR));
            self.layout.fields[index] = FieldPlace { start, end };
        }
        delimiters(decoded.as_bytes(), &mut self.layout.delimiters);
        Ok(())
    }

    #[cold]
    fn not_utf8(&self, head: &[u8], data: &[u8], said: Charset) -> Error {
        let offset = std::str::from_utf8(data).err().map_or(0, |error| error.valid_up_to());
        let fields = &self.layout.fields;
        let inside = |f: &FieldPlace| (f.start..f.end).contains(&(offset as u32));
        let place = match fields.iter().position(inside) {
            Some(index) => {
                let before = &data[fields[index].start as usize..offset];
                place_name(&head[LEADER_BYTES..], index, before)
            }
            None => "bytes that belong to no field".to_owned(),
        };
        let (why, hint) = match said {
            Charset::Utf8 => (
                "leader/09 is \"a\"",
                Hint::set(Opt::Charset, "marc8")
                    .when("the leader is wrong and the record is in MARC-8"),
            ),
            Charset::Marc8 => ("as requested", Hint::set(Opt::Charset, "auto").to("use leader/09")),
        };
        Error::syntax(format!(
            "found byte 0x{:02X} in {place}, expected UTF-8 ({why})",
            data[offset]
        ))
        .hint(hint)
        .at(offset as u64)
    }

    /// Checks the record and emits its events.
    fn record<S: Sink + ?Sized>(
        &mut self,
        record: &[u8],
        stated: Option<usize>,
        sink: &mut S,
    ) -> Result {
        let (base, note) = self.layout.read(record, stated, self.options.repair)?;
        let (head, mut data) = (&record[..base], &record[base..record.len() - 1]);
        let mut straight = std::mem::take(&mut self.straight);
        let original = (!self.layout.in_order).then(|| self.layout.straighten(data, &mut straight));
        if original.is_some() {
            data = &straight;
        }
        let mut decoded = std::mem::take(&mut self.decoded);
        let result = match self.text(head, data, &mut decoded) {
            Ok((text, charset)) => {
                if let Some(note) = note {
                    sink.fidelity().note(LossKind::Marc, note, "the text, with numbers that fit");
                }
                let exact = self.layout.is_right
                    && original.is_none()
                    && std::ptr::eq(text.as_ptr(), data.as_ptr());
                self.emit(head, text, charset, exact, sink)
            }
            Err(error) => {
                let offset = error.offset().unwrap_or(0) as u32;
                let offset = match original {
                    Some(original) => self.layout.original_place(&original, offset),
                    None => offset,
                };
                Err(error.at(base as u64 + u64::from(offset)))
            }
        };
        (self.decoded, self.straight) = (decoded, straight);
        result
    }

    /// Emits the events of a record that passed all checks. `fields` and `delimiters` refer to
    /// `text`; with `exact`, so does the directory.
    fn emit<S: Sink + ?Sized>(
        &mut self,
        head: &[u8],
        text: &str,
        charset: Option<Charset>,
        exact: bool,
        sink: &mut S,
    ) -> Result {
        let Some(directory) = crate::model::utf8::from_utf8(&head[LEADER_BYTES..]) else {
            return Err(Error::syntax("found a directory that is not ASCII").at(24));
        };
        if head[..LEADER_BYTES].is_ascii()
            && let Some(head) = crate::model::utf8::from_utf8(head)
            && let Some(record) = sink.whole_record(whole::weight(head, text, &self.layout))
        {
            whole::fill(record, head, text, &self.layout, exact);
            record.set_charset(charset);
            return Ok(());
        }
        sink.begin_map(Some(2 + u64::from(charset.is_some())))?;
        sink.key("leader")?;
        match std::str::from_utf8(&head[..LEADER_BYTES]) {
            Ok(leader) if leader.is_ascii() => sink.str(leader)?,
            _ => {
                self.leader.clear();
                self.leader.extend(head[..LEADER_BYTES].iter().map(|&b| char::from(b)));
                sink.str(&self.leader)?;
            }
        }
        if let Some(charset) = charset {
            sink.key("charset")?;
            sink.str(charset.name())?;
        }
        sink.key("fields")?;
        let Layout { fields, delimiters, .. } = &self.layout;
        sink.begin_array(Some(fields.len() as u64))?;
        let (mut cursor, mut tag_at) = (0, 0);
        for field in fields {
            let first = cursor;
            while delimiters[cursor] < field.end {
                cursor += 1;
            }
            let own = &delimiters[first..cursor];
            // The terminator.
            cursor += 1;
            let tag = &directory[tag_at..tag_at + 3];
            tag_at += ENTRY_BYTES;
            emit_field(text, tag, field, own, sink)?;
        }
        sink.end_array()?;
        sink.end_map()
    }

    /// Records the identifier of the record, as far as a broken one reveals it.
    #[cold]
    fn note_id(&mut self, record: &[u8]) {
        let base = LEADER_BYTES + memchr::memchr(FIELD_TERMINATOR, record).unwrap_or(0);
        let Some(base) = base.checked_sub(LEADER_BYTES).filter(|base| *base >= LEADER_BYTES) else {
            return;
        };
        let data = &record[base + 1..];
        let mut entries = record[LEADER_BYTES..base].chunks_exact(ENTRY_BYTES);
        let Some(entry) = entries.find(|entry| entry.starts_with(b"001")) else { return };
        let Some(start) = number(&entry[7..12]) else { return };
        let Some(rest) = data.get(start..) else { return };
        let end = rest.iter().position(|b| matches!(b, 0x1D..=0x1F)).unwrap_or(rest.len());
        // Identifiers are short; anything longer is not one.
        let id = String::from_utf8_lossy(&rest[..end.min(64)]).trim().to_owned();
        self.id = (!id.is_empty()).then_some(id);
    }
}

/// Emits one field.
#[inline]
fn emit_field<S: Sink + ?Sized>(
    text: &str,
    tag: &str,
    field: &FieldPlace,
    delimiters: &[u32],
    sink: &mut S,
) -> Result {
    let is_control = is_control_tag(tag.as_bytes());
    let Some(&first) = delimiters.first().filter(|_| !is_control) else {
        let content = &text[field.start as usize..field.end as usize];
        if is_control || !is_pair(content.as_bytes()) {
            return sink.text_pair(tag, content);
        }
        begin_data(tag, content, 0, sink)?;
        sink.end_array()?;
        sink.end_map()?;
        return sink.end_map();
    };
    begin_data(tag, &text[field.start as usize..first as usize], delimiters.len(), sink)?;
    for (index, &place) in delimiters.iter().enumerate() {
        let start = place as usize + 1;
        let end = delimiters.get(index + 1).map_or(field.end, |next| *next) as usize;
        let subfield = &text[start..end];
        let (code, value) = match subfield.as_bytes() {
            [] => ("", ""),
            [0..=0x7F, ..] => subfield.split_at(1),
            _ => subfield.split_at(subfield.chars().next().map_or(0, char::len_utf8)),
        };
        sink.text_pair(code, value)?;
    }
    sink.end_array()?;
    sink.end_map()?;
    sink.end_map()
}

/// Opens a data field, up to its subfields.
#[inline]
fn begin_data<S: Sink + ?Sized>(
    tag: &str,
    indicators: &str,
    subfields: usize,
    sink: &mut S,
) -> Result {
    let (ind1, ind2) = match indicators.as_bytes() {
        [] => ("", ""),
        [0..=0x7F, ..] => indicators.split_at(1),
        _ => indicators.split_at(indicators.chars().next().map_or(0, char::len_utf8)),
    };
    sink.begin_map(Some(1))?;
    sink.key(tag)?;
    sink.begin_map(Some(3))?;
    sink.key("ind1")?;
    sink.str(ind1)?;
    sink.key("ind2")?;
    sink.str(ind2)?;
    sink.key("subfields")?;
    sink.begin_array(Some(subfields as u64))
}

/// Returns `245 $a` for a place in field 245 that is preceded by `before`.
#[cold]
fn place_name(directory: &[u8], index: usize, before: &[u8]) -> String {
    let tag = tag_name(directory, index);
    match before.iter().rposition(|b| *b == SUBFIELD_DELIMITER).and_then(|at| before.get(at + 1)) {
        Some(code) if code.is_ascii_graphic() => format!("{tag} ${}", char::from(*code)),
        _ => tag,
    }
}

/// Returns whether a record certainly begins at `start`: its leader's two numbers lead to
/// terminators.
fn begins_record(bytes: &[u8], start: usize) -> bool {
    let record = &bytes[start..];
    let Sizes { record_length: Some(length), base_address: Some(base) } = Sizes::of(record) else {
        return false;
    };
    length >= RECORD_BYTES_MIN
        && base > LEADER_BYTES
        && record.get(length - 1) == Some(&RECORD_TERMINATOR)
        && record.get(base - 1) == Some(&FIELD_TERMINATOR)
}

impl Parse for Parser {
    const FORMAT: Format = Format::Marc;

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
        let in_window = |error: Error| match error.offset() {
            Some(offset) => error.at(start as u64 + offset),
            None => error,
        };
        let Extent { length, stated } = match self.extent(rest, last) {
            Ok(Some(extent)) => extent,
            Ok(None) => return Ok(Status::More),
            Err(error) => {
                self.scanned = 0;
                // The window holds all there is of a truncated record.
                if error.kind() == ErrorKind::Truncated {
                    self.note_id(rest);
                }
                return Err(in_window(error));
            }
        };
        self.scanned = 0;
        let record = &rest[..length];
        if let Err(error) = self.record(record, stated, sink) {
            self.note_id(record);
            return Err(in_window(error));
        }
        *pos = start + length;
        Ok(Status::Document)
    }

    fn resync(&mut self, bytes: &[u8], start: usize, pos: usize, last: bool) -> Resync {
        let _ = pos;
        self.scanned = 0;
        let start = start + between(&bytes[start..]);
        let rest = &bytes[start..];
        // A record of the right length is skipped whole, whatever its contents.
        if let Some(length) = Sizes::of(rest).record_length
            && length >= RECORD_BYTES_MIN
        {
            match rest.get(length - 1) {
                Some(&RECORD_TERMINATOR) => return Resync::At(start + length),
                None if !last => return Resync::More,
                _ => {}
            }
        }
        // Otherwise it ends at the next terminator, unless a valid record begins before that, in
        // which case this one has lost its end. To see that, the window has to hold the longest
        // record.
        let terminator = memchr::memchr(RECORD_TERMINATOR, rest);
        let search = &rest[..terminator.unwrap_or(rest.len())];
        for (at, byte) in search.iter().enumerate().skip(1) {
            if byte.is_ascii_digit() && begins_record(rest, at) {
                return Resync::At(start + at);
            }
        }
        match terminator {
            Some(at) => Resync::At(start + at + 1),
            None if last => Resync::At(bytes.len()),
            None => Resync::Past(bytes.len().saturating_sub(LONGEST_RECORD).max(start)),
        }
    }

    fn record_id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }
}
