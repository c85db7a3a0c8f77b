//! Records to ISO 2709: length, base address and directory are computed, everything else is written
//! unchanged.
//!
//! The fields are collected in UTF-8 as they arrive. The charset is known only at the end of the
//! record, because keys may be in any order; then the fields of a record in MARC-8 are encoded.

use crate::bytes::buffer::Out;
use crate::codec::marc::body::{self, Body, FieldPlace, Indicators};
use crate::codec::marc::charset::{charset_of, is_same};
use crate::codec::marc::leader::{CHARSET_POSITION, LEADER_BYTES, nine_digits, write_number};
use crate::codec::marc::shape::Shape;
use crate::codec::marc::{
    FIELD_BYTES_MAX, FIELD_TERMINATOR, Options, RECORD_BYTES_MAX, RECORD_TERMINATOR, Record,
};
use crate::model::hint::Hint;
use crate::model::option::Opt;
use crate::model::record::Charset;
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

body::writer!(Writer);

impl<'o> Writer<'o> {
    /// Creates a writer into `out`.
    pub fn new(out: Out<'o>, options: Options, fidelity: Fidelity) -> Writer<'o> {
        let body = Body::new(fidelity, Indicators::InText);
        let inner = Shape::new(body, &Limits::default());
        Writer { inner, out, options, encoded: Vec::new() }
    }

    /// Continues in another buffer, and returns the previous one.
    pub fn replace_out(&mut self, out: Out<'o>) -> Out<'o> {
        std::mem::replace(&mut self.out, out)
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
        let charset = charset_of(
            &mut leader[CHARSET_POSITION],
            record.charset_key(),
            self.options.write_charset,
        );
        let declared = Charset::of_leader(leader[CHARSET_POSITION]);
        if !is_same(bytes, body.fidelity.policy())
            && (charset == Charset::Marc8
                || declared == Charset::Marc8 && !body::is_taken_for_utf8(bytes))
        {
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

    /// Encodes the fields of a record that is to be in MARC-8; returns whether they had to be. Leader/09 changes with a
    /// charset that the options name, and a charset is refused that no reader would find.
    fn encode(&mut self, leader: &mut [u8; LEADER_BYTES]) -> Result<bool> {
        let body = &mut self.inner.target;
        let choice = self.options.write_charset;
        let charset = charset_of(&mut leader[CHARSET_POSITION], body.charset, choice);
        let declared = Charset::of_leader(leader[CHARSET_POSITION]);
        if is_same(body.data(), body.fidelity.policy()) {
            return Ok(false);
        }
        if charset == Charset::Utf8 {
            if declared == Charset::Utf8 || body::is_taken_for_utf8(body.data()) {
                return Ok(false);
            }
            if !body.data().is_ascii() {
                body.undeclared(charset)?;
            }
        }
        let fields = (declared == Charset::Utf8).then(|| body.fields.clone());
        body.encode(&mut self.encoded)?;
        let Some(fields) = fields else {
            body.mark_marc8(&mut self.encoded);
            return Ok(true);
        };
        // What is no UTF-8 is refused by readers, and the rest would be other text to them.
        let is_utf8 = simdutf8::basic::from_utf8(&self.encoded).is_ok();
        if is_utf8 {
            body.undeclared(charset)?;
            body.fields = fields;
        }
        Ok(!is_utf8)
    }

    /// Writes the current record.
    fn write(&mut self) -> Result {
        let body = &mut self.inner.target;
        body.check()?;
        let mut leader = leader_bytes(&body.leader, &mut body.fidelity)?;
        let is_encoded = self.encode(&mut leader)?;
        let body = &mut self.inner.target;
        let data = if is_encoded { self.encoded.as_slice() } else { body.data() };
        let base = LEADER_BYTES + 12 * body.fields.len() + 1;
        let length = base + data.len() + 1;
        if length > RECORD_BYTES_MAX && !self.options.oversize {
            // A field that is too long says more than a record that is too long.
            check_lengths(&body.fields)?;
            return Err(oversize(format!("a record of {length} bytes"), RECORD_BYTES_MAX));
        }
        if !self.options.oversize {
            check_lengths(&body.fields)?;
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

/// Checks that no field is longer than its length can say.
fn check_lengths(fields: &[FieldPlace]) -> Result {
    let long = |field: &&FieldPlace| (field.end - field.start) as usize > FIELD_BYTES_MAX;
    match fields.iter().find(long) {
        None => Ok(()),
        Some(field) => Err(oversize(
            format!("field {} of {} bytes", field.name(), field.end - field.start),
            FIELD_BYTES_MAX,
        )),
    }
}
