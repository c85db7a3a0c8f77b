//! ISO 2709 to events, straight from the bytes.
//!
//! A record is checked whole (directory, lengths, charset) before its first event leaves, so that
//! a broken one leaves no trace in the output. What costs per byte are three passes at memory
//! speed: UTF-8, the places of the delimiters, and the copy that the writer makes.

use super::scan::{Tag, delimiters};
use crate::event::Sink;
use crate::fidelity::LossKind;
use crate::marc::charset::{self, Charset, CharsetChoice};
use crate::marc::leader::{LEADER_BYTES, Sizes, from_nine_digits, number};
use crate::marc::marc8;
use crate::marc::{
    FIELD_BYTES_MAX, FIELD_TERMINATOR, Options, RECORD_BYTES_MAX, RECORD_TERMINATOR,
    SUBFIELD_DELIMITER, is_control_tag, is_indicator,
};
use crate::reader::{Parse, Resync, Status};
use crate::{Error, ErrorKind, Format, Limits, Result};

/// A reader of ISO 2709.
pub type Reader<'a> = crate::reader::Reader<'a, Parser>;

/// The bytes of one directory entry: tag, length, start.
const ENTRY_BYTES: usize = 12;

/// A leader, the directory's terminator and the record's.
const RECORD_BYTES_MIN: usize = LEADER_BYTES + 2;

/// The state machine of ISO 2709: see [`Parse`].
#[derive(Debug, Default)]
pub struct Parser {
    options: Options,
    limits: Limits,
    fields: Vec<FieldPlace>,
    /// The places of the delimiters in the text that `fields` speak of.
    delimiters: Vec<u32>,
    /// The text of a record that is not UTF-8.
    decoded: String,
    leader: String,
    id: Option<String>,
    /// How many bytes of an unfinished record hold no terminator.
    scanned: usize,
}

/// A field of the record at hand, in the text behind the directory.
#[derive(Clone, Copy, Debug)]
struct FieldPlace {
    tag: Tag,
    start: u32,
    /// Where the field's terminator stands.
    end: u32,
}

/// How long a record is.
struct Extent {
    length: usize,
    /// What the leader says instead, where that is wrong.
    stated: Option<usize>,
}

impl Parser {
    /// A parser with these options and limits. [`Limits::record_bytes`] is how far the end of a
    /// record is looked for.
    pub fn new(options: Options, limits: Limits) -> Parser {
        Parser { options, limits, ..Parser::default() }
    }

    /// Finds the end of the record at the head of `rest`; `None` when it is not in the window.
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
        // The length is wrong, or the record is longer than five digits can say.
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
            .hint("pass --limit record_bytes=… to raise it")
            .at(0));
        }
        self.scanned = rest.len();
        Ok(None)
    }

    /// Fills `fields` and `delimiters` from the directory of `record`, and gives the index where
    /// the data begins, and a loss to count.
    fn layout(&mut self, record: &[u8], stated: Option<usize>) -> Result<(usize, Option<String>)> {
        match self.by_directory(record) {
            Ok((base, note)) => match stated {
                None => Ok((base, note)),
                Some(stated) => {
                    let actual = record.len();
                    let overflow = fits_digits(stated, actual, RECORD_BYTES_MAX);
                    let note = note.or_else(|| {
                        (!overflow).then(|| {
                            format!("a record of {actual} bytes whose leader says {stated}")
                        })
                    });
                    Ok((base, note))
                }
            },
            Err(error) => match self.by_terminators(record) {
                Some((base, exact)) if exact || self.options.repair => {
                    let note = (!exact).then(|| {
                        format!("a record whose directory is wrong ({})", error.message())
                    });
                    Ok((base, note))
                }
                other => Err(self.explain(error, record, stated, other.is_some())),
            },
        }
    }

    #[cold]
    fn explain(
        &self,
        error: Error,
        record: &[u8],
        stated: Option<usize>,
        can_repair: bool,
    ) -> Error {
        let mut error = match stated {
            None => error,
            Some(stated) => Error::new(
                error.kind(),
                format!(
                    "found a record of {} bytes whose leader says {stated}, and {}",
                    record.len(),
                    error.message().strip_prefix("found ").unwrap_or(error.message())
                ),
            )
            .at(error.offset().unwrap_or(0)),
        };
        if can_repair {
            error = error.hint("pass --marc-repair to read the fields by their terminators");
        }
        error
    }

    fn by_directory(&mut self, record: &[u8]) -> Result<(usize, Option<String>)> {
        let fault = |offset: usize, message: String| Err(Error::syntax(message).at(offset as u64));
        let end = record.len() - 1;
        if record.len() < RECORD_BYTES_MIN {
            return fault(
                0,
                format!("found a record of {} bytes, expected 26 or more", record.len()),
            );
        }
        let Some(base) = Sizes::of(record).base_address else {
            let found = record[12..17].escape_ascii();
            return fault(
                12,
                format!("found \"{found}\", expected the base address of data (leader/12-16)"),
            );
        };
        if base <= LEADER_BYTES || base > end || record[base - 1] != FIELD_TERMINATOR {
            return fault(
                12,
                format!(
                    "found the base address {base} (leader/12-16), expected it right behind the \
                     directory's terminator"
                ),
            );
        }
        let directory = &record[LEADER_BYTES..base - 1];
        if !directory.len().is_multiple_of(ENTRY_BYTES) {
            return fault(
                LEADER_BYTES,
                format!(
                    "found a directory of {} bytes, expected entries of {ENTRY_BYTES}",
                    directory.len()
                ),
            );
        }
        let data = &record[base..end];
        self.fields.clear();
        let (mut next, mut total, mut in_order) = (0, 0, true);
        for (index, entry) in directory.chunks_exact(ENTRY_BYTES).enumerate() {
            let place = LEADER_BYTES + index * ENTRY_BYTES;
            let tag = tag(entry).map_err(|error| error.at(place as u64))?;
            let digits = entry[3..].first_chunk::<9>().and_then(from_nine_digits);
            let Some(digits) = digits.map(|digits| digits as usize) else {
                return fault(
                    place,
                    format!(
                        "found the directory entry \"{}\", expected a tag and nine digits",
                        entry.escape_ascii()
                    ),
                );
            };
            let (length, start) = (digits / 100_000, digits % 100_000);
            let stop = start + length;
            if length == 0 || stop > data.len() || data[stop - 1] != FIELD_TERMINATOR {
                return fault(
                    place,
                    format!(
                        "found the directory entry \"{}\", which does not end at a field's \
                         terminator",
                        entry.escape_ascii()
                    ),
                );
            }
            in_order &= start == next;
            next = stop;
            total += length;
            self.fields.push(FieldPlace { tag, start: start as u32, end: stop as u32 - 1 });
        }
        if !in_order {
            let mut places: Vec<_> = self.fields.iter().map(|f| (f.start, f.end)).collect();
            places.sort_unstable();
            if let Some(pair) = places.windows(2).find(|pair| pair[1].0 <= pair[0].1) {
                return fault(
                    base + pair[1].0 as usize,
                    "found two directory entries that name the same bytes, expected each field to \
                     have its own"
                        .to_owned(),
                );
            }
        }
        self.find_delimiters(data, base)?;
        let note = if total != data.len() {
            Some(format!("{} bytes that no directory entry names", data.len() - total))
        } else if !in_order {
            Some("a directory in another order than the data".to_owned())
        } else {
            None
        };
        Ok((base, note))
    }

    /// Fills `delimiters`, and checks that terminators stand where fields end and nowhere else.
    fn find_delimiters(&mut self, data: &[u8], base: usize) -> Result {
        self.delimiters.clear();
        delimiters(data, &mut self.delimiters);
        let terminators =
            self.delimiters.iter().filter(|place| data[**place as usize] != SUBFIELD_DELIMITER);
        if terminators.clone().count() == self.fields.len() {
            return Ok(());
        }
        // Bytes that no entry names may hold what they like; a field may not.
        for field in &self.fields {
            let inside = |place: &&u32| (field.start..field.end).contains(*place);
            if let Some(place) = terminators.clone().find(inside) {
                return Err(Error::syntax(format!(
                    "found a terminator (0x{:02X}) within field {}",
                    data[*place as usize],
                    field.tag.as_str()
                ))
                .at(base as u64 + u64::from(*place)));
            }
        }
        Ok(())
    }

    /// Fills `fields` by their terminators, in the order of the directory, if there are as many.
    /// Gives the index where the data begins, and whether the directory agrees as far as numbers
    /// too large for their digits can.
    fn by_terminators(&mut self, record: &[u8]) -> Option<(usize, bool)> {
        let end = record.len().checked_sub(1)?;
        let rest = record.get(LEADER_BYTES..end)?;
        let base = LEADER_BYTES + memchr::memchr(FIELD_TERMINATOR, rest)? + 1;
        let directory = &record[LEADER_BYTES..base - 1];
        if !directory.len().is_multiple_of(ENTRY_BYTES) {
            return None;
        }
        let data = &record[base..end];
        let stated_base = Sizes::of(record).base_address;
        let mut exact = stated_base.is_some_and(|stated| fits_digits(stated, base, 99_999));
        self.fields.clear();
        self.delimiters.clear();
        delimiters(data, &mut self.delimiters);
        let mut start = 0;
        let mut entries = directory.chunks_exact(ENTRY_BYTES);
        for &place in &self.delimiters {
            if data[place as usize] == SUBFIELD_DELIMITER {
                continue;
            }
            let entry = entries.next()?;
            let length = (place - start) as usize + 1;
            exact &= number(&entry[3..7])
                .is_some_and(|stated| fits_digits(stated, length, FIELD_BYTES_MAX))
                && number(&entry[7..12])
                    .is_some_and(|stated| fits_digits(stated, start as usize, 99_999));
            self.fields.push(FieldPlace { tag: tag(entry).ok()?, start, end: place });
            start = place + 1;
        }
        (entries.next().is_none() && start as usize == data.len()).then_some((base, exact))
    }

    /// Decides the charset, and gives the one that the record has to carry.
    fn text<'t>(
        &mut self,
        record: &'t [u8],
        base: usize,
        decoded: &'t mut String,
    ) -> Result<(&'t str, Option<Charset>)> {
        let said = Charset::of_leader(record[9]);
        let data = &record[base..record.len() - 1];
        let utf8 = simdutf8::basic::from_utf8(data).ok();
        let references = self.options.references;
        let refers =
            |text: &str| references && memchr::memmem::find(text.as_bytes(), b"&#x").is_some();
        // Without a byte above 0x7F and without an escape both charsets are ASCII.
        let plain = |text: &str| marc8::is_plain(text.as_bytes()) && !refers(text);
        let in_marc8 = match (self.options.charset, said, utf8) {
            (CharsetChoice::Always(Charset::Marc8), _, Some(text)) => !plain(text),
            (CharsetChoice::Always(Charset::Marc8), _, None) => true,
            (CharsetChoice::Always(Charset::Utf8), ..) => false,
            (CharsetChoice::Auto, Charset::Utf8, _) => false,
            // Text that is UTF-8 by chance while it was meant as MARC-8 hardly exists: a letter
            // of UTF-8 would be two special characters in a row. Only an escape sequence, which
            // no UTF-8 text has, speaks for MARC-8.
            (CharsetChoice::Auto, Charset::Marc8, Some(text)) => {
                memchr::memchr(charset::ESCAPE, text.as_bytes()).is_some()
                    || text.is_ascii() && refers(text)
            }
            (CharsetChoice::Auto, Charset::Marc8, None) => true,
        };
        if in_marc8 {
            self.decode(data, decoded).map_err(|error| {
                let offset = error.offset().unwrap_or(0) + base as u64;
                error.at(offset)
            })?;
            let carried = (said == Charset::Utf8).then_some(Charset::Marc8);
            return Ok((decoded, carried));
        }
        match utf8 {
            Some(text) => {
                let carried = (said == Charset::Marc8 && !text.is_ascii()).then_some(Charset::Utf8);
                Ok((text, carried))
            }
            None => Err(self.not_utf8(data, base, said)),
        }
    }

    /// Decodes all fields from MARC-8, and makes `fields` and `delimiters` speak of the result.
    fn decode(&mut self, data: &[u8], decoded: &mut String) -> Result {
        decoded.clear();
        for index in 0..self.fields.len() {
            let field = self.fields[index];
            let bytes = &data[field.start as usize..field.end as usize];
            let start = decoded.len() as u32;
            let references = self.options.references;
            if let Err((offset, message)) = charset::decode_field(bytes, decoded, references) {
                let place = place_name(field.tag, &bytes[..offset]);
                let (found, expected) = message.split_once(", ").unwrap_or((&message, ""));
                return Err(Error::syntax(format!("{found} in {place} (MARC-8), {expected}"))
                    .hint("pass --charset utf8 if the record is in UTF-8")
                    .at(u64::from(field.start) + offset as u64));
            }
            let end = decoded.len() as u32;
            decoded.push(char::from(FIELD_TERMINATOR));
            self.fields[index] = FieldPlace { tag: field.tag, start, end };
        }
        self.delimiters.clear();
        delimiters(decoded.as_bytes(), &mut self.delimiters);
        Ok(())
    }

    #[cold]
    fn not_utf8(&self, data: &[u8], base: usize, said: Charset) -> Error {
        let offset = match std::str::from_utf8(data) {
            Ok(_) => 0,
            Err(error) => error.valid_up_to(),
        };
        let field = self.fields.iter().find(|f| (f.start..f.end).contains(&(offset as u32)));
        let place = match field {
            Some(field) => place_name(field.tag, &data[field.start as usize..offset]),
            None => "bytes that belong to no field".to_owned(),
        };
        let (why, hint) = match said {
            Charset::Utf8 => (
                "leader/09 is \"a\"",
                "pass --charset marc8 if the leader is wrong and the record is in MARC-8",
            ),
            Charset::Marc8 => ("--charset utf8", "pass --charset auto to go by leader/09"),
        };
        Error::syntax(format!(
            "found byte 0x{:02X} in {place}, expected UTF-8 ({why})",
            data[offset]
        ))
        .hint(hint)
        .at((base + offset) as u64)
    }

    /// Checks the record and gives its events.
    fn record<S: Sink + ?Sized>(
        &mut self,
        record: &[u8],
        stated: Option<usize>,
        sink: &mut S,
    ) -> Result {
        let (base, note) = self.layout(record, stated)?;
        let mut decoded = std::mem::take(&mut self.decoded);
        let result = match self.text(record, base, &mut decoded) {
            Ok((text, charset)) => {
                if let Some(note) = note {
                    sink.fidelity().note(LossKind::Marc, note, "the text, with numbers that fit");
                }
                self.emit(record, text, charset, sink)
            }
            Err(error) => Err(error),
        };
        self.decoded = decoded;
        result
    }

    /// Gives the events of a record that was found good. `fields` and `delimiters` speak of
    /// `text`.
    fn emit<S: Sink + ?Sized>(
        &mut self,
        record: &[u8],
        text: &str,
        charset: Option<Charset>,
        sink: &mut S,
    ) -> Result {
        sink.begin_map(Some(2 + u64::from(charset.is_some())))?;
        sink.key("leader")?;
        match std::str::from_utf8(&record[..LEADER_BYTES]) {
            Ok(leader) if leader.is_ascii() => sink.str(leader)?,
            _ => {
                self.leader.clear();
                self.leader.extend(record[..LEADER_BYTES].iter().map(|&b| char::from(b)));
                sink.str(&self.leader)?;
            }
        }
        if let Some(charset) = charset {
            sink.key("charset")?;
            sink.str(charset.name())?;
        }
        sink.key("fields")?;
        sink.begin_array(Some(self.fields.len() as u64))?;
        let mut cursor = 0;
        for field in &self.fields {
            // Fields nearly always come in the order of the data, so the cursor only moves on.
            let at = |cursor: usize| self.delimiters.get(cursor).copied();
            if at(cursor).is_none_or(|place| place > field.end)
                || cursor > 0 && self.delimiters[cursor - 1] >= field.start
            {
                cursor = self.delimiters.partition_point(|place| *place < field.start);
            }
            while at(cursor).is_some_and(|place| place < field.start) {
                cursor += 1;
            }
            let first = cursor;
            while at(cursor).is_some_and(|place| place < field.end) {
                cursor += 1;
            }
            let delimiters = &self.delimiters[first..cursor];
            cursor += 1;
            sink.begin_map(Some(1))?;
            sink.key(field.tag.as_str())?;
            emit_field(text, field, delimiters, sink)?;
            sink.end_map()?;
        }
        sink.end_array()?;
        sink.end_map()
    }

    /// Notes what the record calls itself, as far as that can be told of a broken one.
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
        // An identifier is short; whatever is longer is no identifier.
        let id = String::from_utf8_lossy(&rest[..end.min(64)]).trim().to_owned();
        self.id = (!id.is_empty()).then_some(id);
    }
}

/// Gives the content of one field.
#[inline]
fn emit_field<S: Sink + ?Sized>(
    text: &str,
    field: &FieldPlace,
    delimiters: &[u32],
    sink: &mut S,
) -> Result {
    let content = &text[field.start as usize..field.end as usize];
    let Some(&first) =
        delimiters.first().filter(|_| !is_control_tag(field.tag.as_str().as_bytes()))
    else {
        let bytes = content.as_bytes();
        let is_text = is_control_tag(field.tag.as_str().as_bytes())
            || !matches!(bytes, [a, b] if is_indicator(*a) && is_indicator(*b));
        if is_text {
            return sink.str(content);
        }
        begin_data(content, 0, sink)?;
        sink.end_array()?;
        return sink.end_map();
    };
    begin_data(&text[field.start as usize..first as usize], delimiters.len(), sink)?;
    for (index, &place) in delimiters.iter().enumerate() {
        let start = place as usize + 1;
        let end = delimiters.get(index + 1).map_or(field.end, |next| *next) as usize;
        let subfield = &text[start..end];
        let (code, value) = match subfield.as_bytes() {
            [] => ("", ""),
            [0..=0x7F, ..] => subfield.split_at(1),
            _ => subfield.split_at(subfield.chars().next().map_or(0, char::len_utf8)),
        };
        sink.begin_map(Some(1))?;
        sink.key(code)?;
        sink.str(value)?;
        sink.end_map()?;
    }
    sink.end_array()?;
    sink.end_map()
}

/// Opens a data field, up to its subfields.
#[inline]
fn begin_data<S: Sink + ?Sized>(indicators: &str, subfields: usize, sink: &mut S) -> Result {
    let (ind1, ind2) = match indicators.as_bytes() {
        [] => ("", ""),
        [0..=0x7F, ..] => indicators.split_at(1),
        _ => indicators.split_at(indicators.chars().next().map_or(0, char::len_utf8)),
    };
    sink.begin_map(Some(3))?;
    sink.key("ind1")?;
    sink.str(ind1)?;
    sink.key("ind2")?;
    sink.str(ind2)?;
    sink.key("subfields")?;
    sink.begin_array(Some(subfields as u64))
}

/// Whether a number that does not fit its digits may be written as `stated`: as nines, as zeros or
/// as its last digits. One that fits must be right.
fn fits_digits(stated: usize, actual: usize, max: usize) -> bool {
    stated == actual
        || actual > max && (stated == max || stated == 0 || stated == actual % (max + 1))
}

#[inline]
fn tag(entry: &[u8]) -> Result<Tag> {
    Tag::new([entry[0], entry[1], entry[2]]).ok_or_else(|| {
        Error::syntax(format!(
            "found the tag \"{}\", expected three printable ASCII characters",
            entry[..3].escape_ascii()
        ))
    })
}

/// `245 $a` for a place in field 245 before which stands `before`.
#[cold]
fn place_name(tag: Tag, before: &[u8]) -> String {
    match before.iter().rposition(|b| *b == SUBFIELD_DELIMITER).and_then(|at| before.get(at + 1)) {
        Some(code) if code.is_ascii_graphic() => format!("{} ${}", tag.as_str(), char::from(*code)),
        _ => tag.as_str().to_owned(),
    }
}

/// What may stand between two records without being part of one.
fn between(rest: &[u8]) -> usize {
    let mut at = 0;
    loop {
        at += match &rest[at..] {
            [b'\n' | b'\r' | b' ' | b'\t' | 0 | 0x1A, ..] => 1,
            [0xEF, 0xBB, 0xBF, ..] => 3,
            _ => return at,
        };
    }
}

/// Whether a record begins at `start` beyond doubt: its leader's two numbers lead to terminators.
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
                // Of a truncated record the window holds all there is.
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
        // A record of the right length is passed over whole, whatever is in it.
        if let Some(length) = Sizes::of(rest).record_length
            && length >= RECORD_BYTES_MIN
        {
            match rest.get(length - 1) {
                Some(&RECORD_TERMINATOR) => return Resync::At(start + length),
                None if !last => return Resync::More,
                _ => {}
            }
        }
        // Otherwise it ends at the next terminator, unless a good record begins before that: then
        // this one has lost its end. To see that, the window has to hold the longest record.
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
            None => Resync::More,
        }
    }

    fn record_id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }
}
