//! Records to ISO 2709: length, base address and directory are computed, everything else is written
//! unchanged.
//!
//! The fields are collected in UTF-8 as they arrive. The charset is known only at the end of the
//! record, because keys may be in any order; then the fields of a record in MARC-8 are encoded.

use unicode_normalization::char::is_combining_mark;

use super::scan;
use crate::bytes::buffer::Out;
use crate::codec::marc::charset;
use crate::codec::marc::leader::{CHARSET_POSITION, LEADER_BYTES, nine_digits, write_number};
use crate::codec::marc::shape::{Shape, TakeRecord};
use crate::codec::marc::{
    FIELD_BYTES_MAX, FIELD_TERMINATOR, Options, RECORD_BYTES_MAX, RECORD_TERMINATOR, Record,
    SUBFIELD_DELIMITER, is_control_tag, is_indicator, marc8,
};
use crate::model::hint::Hint;
use crate::model::option::Opt;
use crate::model::record::Charset;
use crate::options::marc::CharsetChoice;
use crate::policy::event::{Sink, forward};
use crate::policy::fidelity::{Fidelity, LossKind, OnLoss};
use crate::{Error, ErrorKind, Limits, Result};

/// A writer of ISO 2709: a sink for documents in the shape of MARC-in-JSON.
pub struct Writer<'o> {
    inner: Shape<Body>,
    out: Out<'o>,
    options: Options,
    /// The fields of a record in MARC-8.
    encoded: Vec<u8>,
}

impl<'o> Writer<'o> {
    /// Creates a writer into `out`.
    pub fn new(out: Out<'o>, options: Options, fidelity: Fidelity) -> Writer<'o> {
        let body = Body {
            leader: String::new(),
            charset: None,
            data: Out::in_memory(),
            fields: Vec::new(),
            fault: None,
            fidelity,
        };
        let inner = Shape::new(body, &Limits::default());
        Writer { inner, out, options, encoded: Vec::new() }
    }

    /// Bounds the text of a record by [`Limits::record_bytes`]; the default limit applies
    /// otherwise.
    #[must_use]
    pub fn with_limits(mut self, limits: &Limits) -> Writer<'o> {
        self.inner.set_limits(limits);
        self
    }

    /// Returns the buffer, with whatever is still in memory.
    pub fn into_out(self) -> Out<'o> {
        self.out
    }

    /// Continues in another buffer, and returns the previous one.
    pub fn replace_out(&mut self, out: Out<'o>) -> Out<'o> {
        std::mem::replace(&mut self.out, out)
    }

    /// Accepts the parts of a record in place of its events;
    /// [`end_document`](crate::Writer::end_document) then writes it.
    pub fn parts(&mut self) -> &mut (impl TakeRecord + use<>) {
        self.inner.parts()
    }

    /// Writes a record. One that was read from ISO 2709 and not changed since, except for its
    /// leader, is written from its own bytes.
    ///
    /// # Errors
    /// The same as for its events.
    pub fn record(&mut self, record: &Record) -> Result {
        if self.verbatim(record)? {
            return Ok(());
        }
        record.give(self.inner.parts())?;
        self.inner.end_parts()?;
        self.write()
    }

    /// Writes a record from the bytes that it was read from; returns `false` if that is not
    /// possible.
    fn verbatim(&mut self, record: &Record) -> Result<bool> {
        let Some(bytes) = record.verbatim().map(str::as_bytes) else { return Ok(false) };
        let length = LEADER_BYTES + bytes.len() + 1;
        let leader = record.leader();
        if leader.len() != LEADER_BYTES
            || !leader.is_ascii()
            || length > RECORD_BYTES_MAX
            || self.inner.whole(record.weight()).is_none()
        {
            return Ok(false);
        }
        let body = &mut self.inner.target;
        let mut leader = leader_bytes(leader, &mut body.fidelity)?;
        let charset = charset_of(&mut leader, record.charset_key(), &self.options);
        if charset == Charset::Marc8 && !marc8::is_plain(bytes) {
            return Ok(false);
        }
        let Some(base) = memchr::memchr(FIELD_TERMINATOR, bytes) else { return Ok(false) };
        write_number(&mut leader[..5], length);
        write_number(&mut leader[12..17], LEADER_BYTES + base + 1);
        self.out.room(length, u64::MAX)?;
        self.out.extend(&leader);
        self.out.extend(bytes);
        self.out.push(RECORD_TERMINATOR);
        Ok(true)
    }

    /// Writes the current record.
    fn write(&mut self) -> Result {
        let body = &mut self.inner.target;
        if let Some(fault) = body.fault.take() {
            return Err(fault);
        }
        body.check_delimiters()?;
        let mut leader = leader_bytes(&body.leader, &mut body.fidelity)?;
        let charset = charset_of(&mut leader, body.charset, &self.options);
        let data = match charset {
            Charset::Marc8 if !marc8::is_plain(body.data.held()) => {
                body.encode(&mut self.encoded)?;
                self.encoded.as_slice()
            }
            _ => body.data.held(),
        };
        let base = LEADER_BYTES + 12 * body.fields.len() + 1;
        let length = base + data.len() + 1;
        if length > RECORD_BYTES_MAX && !self.options.oversize {
            // A field that is too long says more than a record that is too long.
            body.check_lengths()?;
            return Err(oversize(format!("a record of {length} bytes"), RECORD_BYTES_MAX));
        }
        if !self.options.oversize {
            body.check_lengths()?;
        }
        write_number(&mut leader[..5], length);
        write_number(&mut leader[12..17], base);
        self.out.room(length, u64::MAX)?;
        self.out.extend(&leader);
        for field in &body.fields {
            let (length, start) = ((field.end - field.start) as usize, field.start as usize);
            self.out.extend_short(&field.tag);
            if length <= FIELD_BYTES_MAX && start <= RECORD_BYTES_MAX {
                self.out.push_array(nine_digits((length * 100_000 + start) as u32));
            } else {
                let mut digits = [0; 9];
                write_number(&mut digits[..4], length);
                write_number(&mut digits[4..], start);
                self.out.push_array(digits);
            }
        }
        self.out.push(FIELD_TERMINATOR);
        self.out.extend(data);
        self.out.push(RECORD_TERMINATOR);
        Ok(())
    }
}

#[cold]
fn oversize(found: String, bound: usize) -> Error {
    Error::new(
        ErrorKind::Refused,
        format!("found {found}, more than the ISO 2709 maximum of {bound}"),
    )
    .hint(
        Hint::on(Opt::MarcOversize)
            .to("write nines for the length")
            .or("write MARCXML or MARC-in-JSON"),
    )
}

/// Returns the leader as bytes: ISO 8859-1, as it was read.
fn leader_bytes(leader: &str, fidelity: &mut Fidelity) -> Result<[u8; LEADER_BYTES]> {
    let mut bytes = [b' '; LEADER_BYTES];
    if leader.is_ascii() && leader.len() == LEADER_BYTES {
        bytes.copy_from_slice(leader.as_bytes());
        return Ok(bytes);
    }
    let count = leader.chars().count();
    let wide = leader.chars().find(|c| u32::from(*c) > 0xFF);
    if count != LEADER_BYTES || wide.is_some() {
        let message = match wide {
            Some(c) => format!("found {c:?} in the leader, expected ASCII"),
            None => format!("found a leader of {count} characters, expected {LEADER_BYTES}"),
        };
        if fidelity.policy() != OnLoss::Approximate {
            return Err(Error::unrepresentable(message).hint(
                Hint::set(Opt::OnLoss, "approximate").to("truncate it or pad it with blanks"),
            ));
        }
        fidelity.note(LossKind::Marc, message, "24 characters");
    }
    for (byte, c) in bytes.iter_mut().zip(leader.chars()) {
        *byte = u8::try_from(u32::from(c)).unwrap_or(b' ');
    }
    Ok(bytes)
}

/// Returns the charset for a record that carries this one, or none, and updates the leader to
/// match.
fn charset_of(
    leader: &mut [u8; LEADER_BYTES],
    carried: Option<Charset>,
    options: &Options,
) -> Charset {
    match options.write_charset {
        CharsetChoice::Auto => carried.unwrap_or(Charset::of_leader(leader[CHARSET_POSITION])),
        CharsetChoice::Always(charset) => {
            leader[CHARSET_POSITION] = match charset {
                Charset::Utf8 => b'a',
                Charset::Marc8 => b' ',
            };
            charset
        }
    }
}

/// The current record, with its fields as they will follow the directory, but in UTF-8.
struct Body {
    leader: String,
    charset: Option<Charset>,
    data: Out<'static>,
    fields: Vec<FieldPlace>,
    /// The first fault of the record.
    fault: Option<Error>,
    fidelity: Fidelity,
}

/// A field in [`Body::data`].
#[derive(Clone, Copy, Debug)]
struct FieldPlace {
    tag: [u8; 3],
    start: u32,
    /// The position after the terminator.
    end: u32,
    /// The lengths of the indicators.
    indicators: [u32; 2],
    /// How many delimiters belong in it.
    delimiters: u32,
}

impl FieldPlace {
    fn name(&self) -> String {
        self.tag.iter().map(|b| char::from(*b)).collect()
    }
}

impl Body {
    fn here(&self) -> u32 {
        self.data.held().len() as u32
    }

    fn last(&mut self) -> &mut FieldPlace {
        self.fields.last_mut().expect("a tag has come")
    }

    /// Keeps the first fault for the end of the record.
    #[cold]
    #[inline(never)]
    fn fail(&mut self, message: impl FnOnce(&str) -> String) {
        let tag = self.last().name();
        self.fault.get_or_insert_with(|| Error::unrepresentable(message(&tag)));
    }

    #[inline]
    fn end_field(&mut self) {
        self.data.push_array([FIELD_TERMINATOR]);
        let end = self.here();
        self.last().end = end;
    }

    /// Inserts an indicator at its position, which is the end unless keys come in an unusual order.
    #[inline]
    fn indicator(&mut self, which: usize, text: &str) {
        let field = self.fields.last_mut().expect("a tag has come");
        field.indicators[which] = text.len() as u32;
        let at = field.start as usize + if which == 1 { field.indicators[0] as usize } else { 0 };
        if at == self.data.held().len() {
            self.data.extend_short(text.as_bytes());
        } else {
            self.data.held_mut().splice(at..at, text.bytes());
        }
    }

    /// Writes indicators that are not one character each, but must still round-trip.
    #[cold]
    fn check_indicators(&mut self) {
        let FieldPlace { start, indicators: [first, second], delimiters, .. } = *self.last();
        let (start, middle) = (start as usize, (start + first) as usize);
        let end = middle + second as usize;
        let text = |range| String::from_utf8_lossy(&self.data.held()[range]).into_owned();
        let (ind1, ind2) = (text(start..middle), text(middle..end));
        let fits = match ind1.chars().count() {
            1 => true,
            // Nothing before the first subfield reads back as two empty indicators.
            0 => ind2.is_empty(),
            _ => false,
        };
        let is_pair = matches!(
            &self.data.held()[start..end],
            [a, b] if is_indicator(*a) && is_indicator(*b)
        );
        // Without a subfield, anything but two indicators would be taken for text.
        if !fits || delimiters == 0 && !is_pair {
            self.fail(|tag| {
                format!(
                    "found the indicators {ind1:?} and {ind2:?} in {tag}, expected one character each"
                )
            });
        }
    }

    /// Checks that no text contains a delimiter.
    fn check_delimiters(&self) -> Result {
        let expected: usize = self.fields.iter().map(|field| field.delimiters as usize + 1).sum();
        if scan::count(self.data.held()) == expected {
            return Ok(());
        }
        for field in &self.fields {
            let bytes = &self.data.held()[field.start as usize..field.end as usize - 1];
            let is_delimiter = |b: &&u8| matches!(**b, 0x1D..=0x1F);
            let wrong = match bytes.iter().find(|b| matches!(b, 0x1D | 0x1E)) {
                Some(byte) => Some(*byte),
                None => (bytes.iter().filter(is_delimiter).count() != field.delimiters as usize)
                    .then_some(SUBFIELD_DELIMITER),
            };
            if let Some(byte) = wrong {
                return Err(Error::unrepresentable(format!(
                    "found the control character U+{byte:04X} in {}, which is a delimiter in \
                     ISO 2709",
                    field.name()
                )));
            }
        }
        Ok(())
    }

    fn check_lengths(&self) -> Result {
        let long = |field: &&FieldPlace| (field.end - field.start) as usize > FIELD_BYTES_MAX;
        match self.fields.iter().find(long) {
            None => Ok(()),
            Some(field) => Err(oversize(
                format!("field {} of {} bytes", field.name(), field.end - field.start),
                FIELD_BYTES_MAX,
            )),
        }
    }

    /// Encodes the fields in MARC-8 into `out`, and makes `fields` refer to that.
    fn encode(&mut self, out: &mut Vec<u8>) -> Result {
        out.clear();
        for index in 0..self.fields.len() {
            let field = self.fields[index];
            let start = out.len() as u32;
            let bytes = &self.data.held()[field.start as usize..field.end as usize - 1];
            let text = std::str::from_utf8(bytes).expect("pieces of text were put together");
            for (piece_index, piece) in text.split(char::from(SUBFIELD_DELIMITER)).enumerate() {
                if piece_index == 0 {
                    charset::encode(piece, out, &mut self.fidelity, || field.name())?;
                    continue;
                }
                out.push(SUBFIELD_DELIMITER);
                let mut chars = piece.chars();
                let code =
                    chars.next().filter(|c| c.is_ascii() && *c != char::from(charset::ESCAPE));
                // A mark comes before its letter in MARC-8, and that letter can be the code.
                let marked = chars.next().is_some_and(is_combining_mark);
                let value = match code {
                    Some(code) if !marked => {
                        out.push(code as u8);
                        &piece[1..]
                    }
                    _ => piece,
                };
                charset::encode(value, out, &mut self.fidelity, || match code {
                    Some(code) => format!("{} ${code}", field.name()),
                    None => field.name(),
                })?;
            }
            out.push(FIELD_TERMINATOR);
            self.fields[index] = FieldPlace { start, end: out.len() as u32, ..field };
        }
        Ok(())
    }
}

impl TakeRecord for Body {
    fn begin(&mut self) -> Result {
        self.leader.clear();
        self.charset = None;
        self.data.held_mut().clear();
        self.fields.clear();
        self.fault = None;
        Ok(())
    }

    fn leader(&mut self, text: &str) {
        self.leader.push_str(text);
    }

    fn charset(&mut self, charset: Charset) {
        self.charset = Some(charset);
    }

    #[inline]
    fn tag(&mut self, tag: &str) {
        let start = self.here();
        let bytes = tag.as_bytes();
        let known = match bytes {
            [a, b, c] if bytes.iter().all(|byte| matches!(byte, 0x20..=0x7E)) => Some([*a, *b, *c]),
            _ => None,
        };
        self.fields.push(FieldPlace {
            tag: known.unwrap_or(*b"???"),
            start,
            end: start,
            indicators: [0; 2],
            delimiters: 0,
        });
        if known.is_none() {
            self.fail(|_| {
                format!("found the tag {tag:?}, expected three printable ASCII characters")
            });
        }
    }

    fn text(&mut self, text: &str) {
        let bytes = text.as_bytes();
        self.data.extend_short(bytes);
        self.end_field();
        if is_control_tag(&self.last().tag) {
            // Such a field is text up to its terminator, so it may contain 0x1F.
            self.last().delimiters = memchr::memchr_iter(SUBFIELD_DELIMITER, bytes).count() as u32;
        } else if matches!(bytes, [a, b] if is_indicator(*a) && is_indicator(*b)) {
            // It has to read back as text: see `emit_field` of the reader.
            self.fail(|tag| {
                format!(
                    "found the text {text:?} in {tag}, which would be read back as two \
                     indicators, expected a data field without subfields"
                )
            });
        }
    }

    #[inline]
    fn begin_data(&mut self) {
        if is_control_tag(&self.last().tag) {
            self.fail(|tag| {
                format!(
                    "found indicators and subfields in {tag}, expected text: the fields 00X are \
                     control fields"
                )
            });
        }
    }

    #[inline]
    fn ind1(&mut self, text: &str) {
        self.indicator(0, text);
    }

    #[inline]
    fn ind2(&mut self, text: &str) {
        self.indicator(1, text);
    }

    #[inline]
    fn code(&mut self, code: &str) {
        self.last().delimiters += 1;
        self.data.push_array([SUBFIELD_DELIMITER]);
        match code.as_bytes() {
            [byte] => self.data.push_array([*byte]),
            bytes => {
                self.data.extend(bytes);
                if code.chars().count() > 1 {
                    self.fail(|tag| {
                        format!("found the subfield code {code:?} in {tag}, expected one character")
                    });
                }
            }
        }
    }

    #[inline]
    fn value(&mut self, text: &str) {
        // The delimiter is followed by a code, or by nothing at all.
        if self.data.held().last() == Some(&SUBFIELD_DELIMITER) && !text.is_empty() {
            self.fail(|tag| {
                format!("found a subfield without a code in {tag}, expected a character")
            });
        }
        self.data.extend_short(text.as_bytes());
    }

    #[inline]
    fn end_data(&mut self) {
        let field = *self.last();
        if field.indicators != [1, 1] || field.delimiters == 0 {
            self.check_indicators();
        }
        self.end_field();
    }

    #[inline]
    fn weight(&self) -> u64 {
        (self.data.held().len() + size_of::<FieldPlace>() * self.fields.len()) as u64
    }

    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
}

impl Sink for Writer<'_> {
    forward!(null bool i64 u64 f64 f32 str bytes big_int ext begin_array end_array);
    forward!(begin_map key key_value end_map text_pair fidelity);
}

impl crate::policy::event::Writer for Writer<'_> {
    fn end_document(&mut self) -> Result {
        self.inner.end_parts()?;
        self.write()
    }
    fn finish(&mut self) -> Result {
        self.out.finish()
    }
    fn checkpoint(&mut self) {
        self.out.checkpoint();
    }
    fn rollback(&mut self) {
        self.inner.reset();
        self.out.rollback();
    }
}
