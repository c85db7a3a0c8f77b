//! The current record of a writer, collected as it arrives: the fields of ISO 2709, in UTF-8.
//!
//! ISO 2709 computes a directory from them, and the formats of lines turn them into lines. What ISO 2709
//! cannot hold is a fault here, so these writers agree on it.

use unicode_normalization::char::is_combining_mark;

use super::charset::{self, charset_of};
use super::scan;
use super::shape::TakeRecord;
use super::{FIELD_TERMINATOR, SUBFIELD_DELIMITER, is_control_tag, is_pair};
use crate::bytes::buffer::Out;
use crate::model::hint::Hint;
use crate::model::option::Opt;
use crate::model::record::{CHARSET_POSITION, Charset};
use crate::options::marc::CharsetChoice;
use crate::policy::fidelity::{Fidelity, LossKind, OnLoss};
use crate::{Error, ErrorKind, Result};

/// Implements what the writers of records have in common that collect the parts of a record in a
/// `Shape<Body>`, their field `inner`, and write it into `out` by their method `write`.
macro_rules! writer {
    ($writer:ident) => {
        impl<'o> $writer<'o> {
            /// Bounds the text of a record by
            /// [`Limits::record_bytes`](crate::Limits::record_bytes); the default limit applies
            /// otherwise.
            #[must_use]
            pub fn with_limits(mut self, limits: &$crate::Limits) -> $writer<'o> {
                self.inner.set_limits(limits);
                self
            }

            /// Returns the buffer, with whatever is still in memory.
            pub fn into_out(self) -> $crate::bytes::buffer::Out<'o> {
                self.out
            }

            /// Accepts the parts of a record in place of its events;
            /// [`end_document`](crate::Writer::end_document) then writes it.
            pub fn parts(&mut self) -> &mut (impl $crate::codec::marc::shape::TakeRecord + use<>) {
                self.inner.parts()
            }
        }

        impl $crate::policy::event::Sink for $writer<'_> {
            $crate::policy::event::forward!(null bool i64 u64 f64 f32 str bytes big_int ext);
            $crate::policy::event::forward!(begin_array end_array begin_map key key_value end_map);
            $crate::policy::event::forward!(text_pair fidelity);
        }

        impl $crate::policy::event::Writer for $writer<'_> {
            fn end_document(&mut self) -> $crate::Result {
                self.inner.end_parts()?;
                self.write()
            }
            fn finish(&mut self) -> $crate::Result {
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
    };
}
pub(super) use writer;

/// How a format tells a field of text from a data field without subfields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Indicators {
    /// By the text: exactly two characters that can be indicators are indicators.
    InText,
    /// By their own place. The writer checks them.
    Apart,
}

/// The current record, with its fields as they follow the directory of ISO 2709, but in UTF-8.
pub(super) struct Body {
    pub(super) leader: String,
    pub(super) charset: Option<Charset>,
    data: Out<'static>,
    pub(super) fields: Vec<FieldPlace>,
    /// The first fault of the record.
    fault: Option<Error>,
    pub(super) fidelity: Fidelity,
    indicators: Indicators,
}

/// What the formats of lines write.
pub(super) struct Parts<'b> {
    pub(super) leader: &'b str,
    pub(super) fields: &'b [FieldPlace],
    pub(super) data: &'b [u8],
    pub(super) fidelity: &'b mut Fidelity,
}

/// A field in [`Body::data`].
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldPlace {
    pub(super) tag: [u8; 3],
    pub(super) start: u32,
    /// The position after the terminator.
    pub(super) end: u32,
    /// The lengths of the indicators.
    pub(super) indicators: [u32; 2],
    /// How many delimiters belong in it.
    pub(super) delimiters: u32,
    /// There are no indicators.
    pub(super) is_text: bool,
}

impl FieldPlace {
    pub(super) fn name(&self) -> String {
        self.tag.iter().map(|b| char::from(*b)).collect()
    }

    /// Returns the bytes of the field without its terminator.
    pub(super) fn content<'d>(&self, data: &'d [u8]) -> &'d [u8] {
        &data[self.start as usize..self.end as usize - 1]
    }
}

impl Body {
    pub(super) fn new(fidelity: Fidelity, indicators: Indicators) -> Body {
        Body {
            leader: String::new(),
            charset: None,
            data: Out::in_memory(),
            fields: Vec::new(),
            fault: None,
            fidelity,
            indicators,
        }
    }

    /// Returns the fields, each with its terminator.
    pub(super) fn data(&self) -> &[u8] {
        self.data.held()
    }

    /// Returns the parts of the record.
    pub(super) fn parts(&mut self) -> Parts<'_> {
        let Body { leader, fields, data, fidelity, .. } = self;
        Parts { leader, fields, data: data.held(), fidelity }
    }

    /// Returns the charset that leader/09 declares.
    pub(super) fn declared(&self) -> Charset {
        charset::declared(&self.leader)
    }

    /// Returns the charset to write, and changes leader/09 if the choice is another than the record's.
    pub(super) fn settle_charset(&mut self, choice: CharsetChoice) -> Charset {
        let place = self.leader.char_indices().nth(CHARSET_POSITION);
        let found = place.map_or(b' ', |(_, c)| u8::try_from(c).unwrap_or(b' '));
        let mut code = found;
        let charset = charset_of(&mut code, self.charset, choice);
        if let Some((at, c)) = place
            && code != found
        {
            let code = char::from(code);
            self.leader.replace_range(at..at + c.len_utf8(), code.encode_utf8(&mut [0; 1]));
        }
        charset
    }

    /// Same as [`settle_charset`](Body::settle_charset), for a format whose text is UTF-8, so that the
    /// leader alone tells the charset: refuses another.
    pub(super) fn settle_declared(&mut self, choice: CharsetChoice) -> Result {
        let charset = self.settle_charset(choice);
        if charset == self.declared() || self.data().is_ascii() {
            return Ok(());
        }
        self.undeclared(charset)
    }

    /// Ends the last field with letters beyond ASCII in an escape sequence to the set that is in use anyway, if the
    /// encoded fields would be taken for UTF-8, which has no escape sequences.
    pub(super) fn mark_marc8(&mut self, encoded: &mut Vec<u8>) {
        if !is_taken_for_utf8(encoded) {
            return;
        }
        let has_more = |field: &FieldPlace| !field.content(encoded).is_ascii();
        let Some(last) = self.fields.iter().rposition(has_more) else { return };
        let at = self.fields[last].end as usize - 1;
        encoded.splice(at..at, TO_BASIC_LATIN);
        let length = TO_BASIC_LATIN.len() as u32;
        self.fields[last].end += length;
        for field in &mut self.fields[last + 1..] {
            (field.start, field.end) = (field.start + length, field.end + length);
        }
    }

    /// Refuses a charset that the leader does not declare, or counts it as lost.
    #[cold]
    pub(super) fn undeclared(&mut self, charset: Charset) -> Result {
        let (own, declared) = match charset {
            Charset::Marc8 => ("MARC-8", "UTF-8"),
            Charset::Utf8 => ("UTF-8", "MARC-8"),
        };
        let found = format!("a record in {own} whose leader declares {declared}");
        if self.fidelity.policy() == OnLoss::Approximate {
            self.fidelity.note(LossKind::Marc, found, format!("a record in {declared}"));
            return Ok(());
        }
        let target = self.fidelity.target().title();
        let message = format!("found {found}, which {target} cannot hold");
        Err(Error::new(ErrorKind::Refused, message).hint(
            Hint::set(Opt::MarcWriteCharset, "utf8").to("declare UTF-8").or(Hint::set(
                Opt::MarcWriteCharset,
                "marc8",
            )
            .to("declare MARC-8")),
        ))
    }

    /// Returns the first fault of the record, which is complete.
    pub(super) fn check(&mut self) -> Result {
        match self.fault.take() {
            Some(fault) => Err(fault),
            None => self.check_delimiters(),
        }
    }

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
            self.data.held_mut().insert(at, text.as_bytes());
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
        // Without a subfield, anything but two indicators would be taken for text.
        if !fits || delimiters == 0 && !is_pair(&self.data.held()[start..end]) {
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

    /// Encodes the fields in MARC-8 into `out`, and makes `fields` refer to that.
    pub(super) fn encode(&mut self, out: &mut Vec<u8>) -> Result {
        out.clear();
        for index in 0..self.fields.len() {
            let field = self.fields[index];
            let start = out.len() as u32;
            let bytes = &self.data.held()[field.start as usize..field.end as usize - 1];
            let text = std::str::from_utf8(bytes).expect("pieces of text were put together");
            for (piece_index, piece) in text.split(char::from(SUBFIELD_DELIMITER)).enumerate() {
                let before = out.len();
                if piece_index == 0 {
                    charset::encode(piece, out, &mut self.fidelity, || field.name())?;
                    // Letters that are taken apart are no indicators of one character each.
                    if !is_control_tag(&field.tag)
                        && !field.is_text
                        && !comes_back(piece, &out[before..], piece.len())
                    {
                        charset::taken_apart(
                            "indicators",
                            piece,
                            &field.name(),
                            &mut self.fidelity,
                        )?;
                    }
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
                let first = piece.chars().next().map_or(0, char::len_utf8);
                if first > 1 && !comes_back(piece, &out[before + 1..], first) {
                    let code = &piece[..first];
                    charset::taken_apart("subfield code", code, &field.name(), &mut self.fidelity)?;
                }
            }
            out.push(FIELD_TERMINATOR);
            self.fields[index] = FieldPlace { start, end: out.len() as u32, ..field };
        }
        Ok(())
    }
}

/// Escapes to Basic Latin as G0, the default.
const TO_BASIC_LATIN: [u8; 3] = [charset::ESCAPE, b'(', b'B'];

/// Returns whether the reader takes the bytes of a record whose leader declares MARC-8 for UTF-8.
pub(super) fn is_taken_for_utf8(data: &[u8]) -> bool {
    !data.is_ascii()
        && memchr::memchr(charset::ESCAPE, data).is_none()
        && simdutf8::basic::from_utf8(data).is_ok()
}

/// Returns whether the first bytes of a text are the same after encoding.
fn comes_back(text: &str, encoded: &[u8], length: usize) -> bool {
    if text.is_ascii() {
        return true;
    }
    let mut again = String::new();
    charset::decode_piece(encoded, &mut again, false).is_ok()
        && again.as_bytes().get(..length) == text.as_bytes().get(..length)
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
            is_text: false,
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
        self.last().is_text = true;
        if is_control_tag(&self.last().tag) {
            // Such a field is text up to its terminator, so it may contain 0x1F.
            self.last().delimiters = memchr::memchr_iter(SUBFIELD_DELIMITER, bytes).count() as u32;
        } else if self.indicators == Indicators::InText && is_pair(bytes) {
            // It has to read back as text.
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
        if self.indicators == Indicators::InText
            && (field.indicators != [1, 1] || field.delimiters == 0)
        {
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
