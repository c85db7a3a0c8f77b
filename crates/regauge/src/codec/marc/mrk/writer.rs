//! Records to MARCMaker: a line for the leader and for each field, and a blank line.

use super::mnemonics::spelled;
use crate::bytes::buffer::Out;
use crate::codec::marc::body::{self, Body, FieldPlace, Indicators};
use crate::codec::marc::shape::Shape;
use crate::codec::marc::{Options, SUBFIELD_DELIMITER, charset, is_control_tag};
use crate::model::record::Charset;
use crate::policy::fidelity::Fidelity;
use crate::{Error, Limits, Result};

/// A writer of MARCMaker: a sink for documents in the shape of MARC-in-JSON.
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

    /// Writes the current record.
    fn write(&mut self) -> Result {
        let body = &mut self.inner.target;
        body.check()?;
        if let Some(field) = body.fields.iter().find(|field| is_leader(field)) {
            return Err(no_field(field));
        }
        let mut own = body.settle_charset(self.options.write_charset);
        let is_same = charset::is_same(body.data(), body.fidelity.policy());
        if own == Charset::Marc8 && body.declared() == Charset::Utf8 && !is_same {
            // In a file, nothing would tell.
            body.undeclared(own)?;
            own = Charset::Utf8;
        }
        if own == Charset::Utf8 && body.declared() == Charset::Marc8 && body.data().is_ascii() {
            // Only other letters would tell.
            own = Charset::Marc8;
        }
        let data = match own {
            Charset::Marc8 if !is_same => {
                body.encode(&mut self.encoded)?;
                self.encoded.as_slice()
            }
            _ => body.data(),
        };
        self.out.room(2 * data.len(), u64::MAX)?;
        self.out.extend(b"=LDR  ");
        put(&mut self.out, body.leader.as_bytes(), None, false);
        self.out.push_array([b'\n']);
        for field in &body.fields {
            self.out.push_array([b'=', field.tag[0], field.tag[1], field.tag[2], b' ', b' ']);
            put_field(&mut self.out, field, data, own == Charset::Marc8);
            self.out.push_array([b'\n']);
        }
        self.out.push_array([b'\n']);
        Ok(())
    }
}

/// Writes the content of a field.
fn put_field(out: &mut Out<'_>, field: &FieldPlace, data: &[u8], in_marc8: bool) {
    let content = field.content(data);
    let delimiter = match is_control_tag(&field.tag) {
        true => None,
        false => memchr::memchr(SUBFIELD_DELIMITER, content),
    };
    let head = delimiter.unwrap_or(content.len());
    put(out, &content[..head], Some(b'\\'), in_marc8);
    if let Some(start) = delimiter {
        for subfield in content[start + 1..].split(|byte| *byte == SUBFIELD_DELIMITER) {
            out.push_array([b'$']);
            put(out, subfield, None, in_marc8);
        }
    }
}

/// Writes text, with mnemonics for what has a meaning in a line, and for the bytes of MARC-8 beyond ASCII.
fn put(out: &mut Out<'_>, text: &[u8], blank: Option<u8>, in_marc8: bool) {
    let is_special = |byte: u8| match byte {
        b' ' => blank.is_some(),
        0..=0x1F | b'$' | b'\\' | b'{' | b'}' | 0x7F => true,
        0x80.. => in_marc8,
        _ => false,
    };
    let mut rest = text;
    while let Some(length) = rest.iter().position(|byte| is_special(*byte)) {
        out.extend_short(&rest[..length]);
        match (rest[length], blank) {
            (b' ', Some(blank)) => out.push_array([blank]),
            (byte, _) => out.extend_short(spelled(byte).as_bytes()),
        }
        rest = &rest[length + 1..];
    }
    out.extend_short(rest);
}

/// Returns whether the tag of a field stands for the leader.
fn is_leader(field: &FieldPlace) -> bool {
    matches!(&field.tag, b"LDR" | b"000")
}

#[cold]
fn no_field(field: &FieldPlace) -> Error {
    Error::unrepresentable(format!(
        "found the field {}, whose tag stands for the leader in MARCMaker",
        field.name()
    ))
}
