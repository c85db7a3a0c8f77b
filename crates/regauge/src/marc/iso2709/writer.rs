//! Records to ISO 2709: length, base address and directory are computed, all else is written as
//! it is.

use unicode_normalization::char::is_combining_mark;

use crate::event::{Sink, forward};
use crate::fidelity::{Fidelity, LossKind, OnLoss};
use crate::marc::charset::{self, Charset, CharsetChoice};
use crate::marc::leader::{CHARSET_POSITION, LEADER_BYTES, write_number};
use crate::marc::record::{Field, Record, RecordBuilder};
use crate::marc::{
    FIELD_BYTES_MAX, FIELD_TERMINATOR, Options, RECORD_BYTES_MAX, RECORD_TERMINATOR,
    SUBFIELD_DELIMITER, is_control_tag, is_indicator, marc8,
};
use crate::out::Out;
use crate::{Error, ErrorKind, Limits, Result};

/// A writer of ISO 2709: a sink for documents in the shape of MARC-in-JSON.
pub struct Writer<'o> {
    inner: RecordBuilder,
    out: Out<'o>,
    options: Options,
    directory: Vec<u8>,
    data: Vec<u8>,
}

impl<'o> Writer<'o> {
    /// A writer into `out`.
    pub fn new(out: Out<'o>, options: Options, fidelity: Fidelity) -> Writer<'o> {
        let inner = RecordBuilder::new(&Limits::default(), fidelity);
        Writer { inner, out, options, directory: Vec::new(), data: Vec::new() }
    }

    /// The buffer, for what is still in memory.
    pub fn into_out(self) -> Out<'o> {
        self.out
    }

    /// Writes the record that the builder holds.
    fn write(&mut self) -> Result {
        self.directory.clear();
        self.data.clear();
        let (record, fidelity) = self.inner.parts();
        let mut leader = leader_bytes(record, fidelity)?;
        let charset = match self.options.write_charset {
            CharsetChoice::Auto => record.charset(),
            CharsetChoice::Always(charset) => {
                leader[CHARSET_POSITION] = match charset {
                    Charset::Utf8 => b'a',
                    Charset::Marc8 => b' ',
                };
                charset
            }
        };
        let text = record.all_text();
        let mut body = Body {
            data: &mut self.data,
            marc8: charset == Charset::Marc8 && !marc8::is_plain(text.as_bytes()),
            // One look at all text spares one at each piece.
            clean: !has_delimiter(text),
            fidelity,
        };
        for field in record.fields() {
            let start = body.data.len();
            body.field(field)?;
            let length = body.data.len() - start;
            let tag = field.tag().as_bytes();
            if tag.len() != 3 || !tag.iter().all(|byte| matches!(byte, 0x20..=0x7E)) {
                return Err(Error::unrepresentable(format!(
                    "found the tag {:?}, expected three printable ASCII characters",
                    field.tag()
                )));
            }
            if length > FIELD_BYTES_MAX && !self.options.oversize {
                return Err(oversize(
                    format!("field {} of {length} bytes", field.tag()),
                    FIELD_BYTES_MAX,
                ));
            }
            let mut entry = [0; 12];
            entry[..3].copy_from_slice(tag);
            write_number(&mut entry[3..7], length);
            write_number(&mut entry[7..], start);
            self.directory.extend_from_slice(&entry);
        }
        let base = LEADER_BYTES + self.directory.len() + 1;
        let length = base + self.data.len() + 1;
        if length > RECORD_BYTES_MAX && !self.options.oversize {
            return Err(oversize(format!("a record of {length} bytes"), RECORD_BYTES_MAX));
        }
        write_number(&mut leader[..5], length);
        write_number(&mut leader[12..17], base);
        self.out.room(length, u64::MAX)?;
        self.out.extend(&leader);
        self.out.extend(&self.directory);
        self.out.push(FIELD_TERMINATOR);
        self.out.extend(&self.data);
        self.out.push(RECORD_TERMINATOR);
        Ok(())
    }
}

#[cold]
fn oversize(found: String, bound: usize) -> Error {
    Error::new(
        ErrorKind::Refused,
        format!("found {found}, more than the {bound} that ISO 2709 has digits for"),
    )
    .hint("pass --marc-oversize to write nines for the length, or write MARCXML or MARC-in-JSON")
}

/// The leader as bytes: ISO 8859-1, as it was read.
fn leader_bytes(record: &Record, fidelity: &mut Fidelity) -> Result<[u8; LEADER_BYTES]> {
    let leader = record.leader();
    let mut bytes = [b' '; LEADER_BYTES];
    if leader.is_ascii() && leader.len() == LEADER_BYTES {
        bytes.copy_from_slice(leader.as_bytes());
        return Ok(bytes);
    }
    let count = leader.chars().count();
    let wide = leader.chars().find(|c| u32::from(*c) > 0xFF);
    let message = match wide {
        Some(c) => format!("found {c:?} in the leader, expected ASCII"),
        None => format!("found a leader of {count} characters, expected {LEADER_BYTES}"),
    };
    if count != LEADER_BYTES || wide.is_some() {
        if fidelity.policy() != OnLoss::Approximate {
            return Err(Error::unrepresentable(message)
                .hint("pass --on-loss approximate to cut it or fill it with blanks"));
        }
        fidelity.note(LossKind::Marc, message, "24 characters");
    }
    for (byte, c) in bytes.iter_mut().zip(leader.chars()) {
        *byte = u8::try_from(u32::from(c)).unwrap_or(b' ');
    }
    Ok(bytes)
}

fn has_delimiter(text: &str) -> bool {
    memchr::memchr3(RECORD_TERMINATOR, FIELD_TERMINATOR, SUBFIELD_DELIMITER, text.as_bytes())
        .is_some()
}

/// The fields behind the directory.
struct Body<'b> {
    data: &'b mut Vec<u8>,
    /// Text has to be encoded.
    marc8: bool,
    /// No text holds a delimiter.
    clean: bool,
    fidelity: &'b mut Fidelity,
}

impl Body<'_> {
    fn field(&mut self, field: Field<'_>) -> Result {
        match field {
            Field::Text { tag, text } => self.text_field(tag, text)?,
            Field::Data { tag, ind1, ind2, subfields } => {
                if is_control_tag(tag.as_bytes()) {
                    return Err(Error::unrepresentable(format!(
                        "found indicators and subfields in {tag}, expected text: \
                         the fields 00X are control fields"
                    )));
                }
                self.indicators(tag, ind1, ind2, subfields.is_empty())?;
                for (code, value) in subfields {
                    self.subfield(tag, code, value)?;
                }
            }
        }
        self.data.push(FIELD_TERMINATOR);
        Ok(())
    }

    /// Text has to come back as text: see `emit_field` of the reader.
    fn text_field(&mut self, tag: &str, text: &str) -> Result {
        let control = is_control_tag(tag.as_bytes());
        if !control && matches!(text.as_bytes(), [a, b] if is_indicator(*a) && is_indicator(*b)) {
            return Err(Error::unrepresentable(format!(
                "found the text {text:?} in {tag}, which would be read back as two indicators"
            ))
            .hint("write it as a data field without subfields"));
        }
        if !self.clean {
            let bytes = text.as_bytes();
            if control {
                // A control field is text up to its terminator, so it may hold a 0x1F.
                self.no_terminator(tag, bytes)?;
            } else {
                self.no_delimiter(tag, text)?;
            }
        }
        if !self.marc8 {
            self.data.extend_from_slice(text.as_bytes());
            return Ok(());
        }
        for (index, piece) in text.split(char::from(SUBFIELD_DELIMITER)).enumerate() {
            if index > 0 {
                self.data.push(SUBFIELD_DELIMITER);
            }
            self.text(tag, "", piece)?;
        }
        Ok(())
    }

    fn indicators(&mut self, tag: &str, ind1: &str, ind2: &str, alone: bool) -> Result {
        let plain = ind1.len() == 1 && ind2.len() == 1;
        if plain && self.clean && !alone {
            self.data.extend_from_slice(&[ind1.as_bytes()[0], ind2.as_bytes()[0]]);
            return Ok(());
        }
        let fits = match ind1.chars().count() {
            1 => true,
            // Nothing before the first subfield is read as two empty indicators.
            0 => ind2.is_empty(),
            _ => false,
        };
        let both = [ind1, ind2].concat();
        let bytes = both.as_bytes();
        let is_pair = matches!(bytes, [a, b] if is_indicator(*a) && is_indicator(*b));
        if !fits || alone && !is_pair {
            return Err(Error::unrepresentable(format!(
                "found the indicators {ind1:?} and {ind2:?} in {tag}, expected a character each"
            )));
        }
        self.no_delimiter(tag, &both)?;
        self.text(tag, "", &both)
    }

    fn subfield(&mut self, tag: &str, code: &str, value: &str) -> Result {
        self.data.push(SUBFIELD_DELIMITER);
        let fits = match code.len() {
            1 => true,
            0 => value.is_empty(),
            _ => code.chars().count() == 1,
        };
        if !fits {
            return Err(Error::unrepresentable(format!(
                "found the subfield code {code:?} in {tag}, expected one character"
            )));
        }
        if !self.clean {
            self.no_delimiter(tag, code)?;
            self.no_delimiter(tag, value)?;
        }
        if !self.marc8 {
            self.data.extend_from_slice(code.as_bytes());
            self.data.extend_from_slice(value.as_bytes());
            return Ok(());
        }
        // A mark stands before its letter in MARC-8, and that letter can be the code.
        let marked = value.chars().next().is_some_and(is_combining_mark);
        if code.is_ascii() && code.as_bytes().first() != Some(&charset::ESCAPE) && !marked {
            self.data.extend_from_slice(code.as_bytes());
            return self.text(tag, code, value);
        }
        self.text(tag, code, &[code, value].concat())
    }

    /// Text in the record's charset.
    fn text(&mut self, tag: &str, code: &str, text: &str) -> Result {
        if !self.marc8 {
            self.data.extend_from_slice(text.as_bytes());
            return Ok(());
        }
        charset::encode(text, self.data, self.fidelity, || match code {
            "" => tag.to_owned(),
            code => format!("{tag} ${code}"),
        })
    }

    fn no_delimiter(&self, tag: &str, text: &str) -> Result {
        match text.bytes().find(|byte| matches!(byte, 0x1D..=0x1F)) {
            Some(byte) => Err(self.delimiter(tag, byte)),
            None => Ok(()),
        }
    }

    fn no_terminator(&self, tag: &str, bytes: &[u8]) -> Result {
        match bytes.iter().find(|byte| matches!(byte, 0x1D..=0x1E)) {
            Some(byte) => Err(self.delimiter(tag, *byte)),
            None => Ok(()),
        }
    }

    #[cold]
    fn delimiter(&self, tag: &str, byte: u8) -> Error {
        Error::unrepresentable(format!(
            "found the control character U+{byte:04X} in {tag}, which is a delimiter in ISO 2709"
        ))
    }
}

impl Sink for Writer<'_> {
    forward!(null bool i64 u64 f64 f32 str bytes big_int ext begin_array end_array);
    forward!(begin_map key key_value end_map fidelity);
}

impl crate::event::Writer for Writer<'_> {
    fn end_document(&mut self) -> Result {
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
