//! Text and numbers.

use super::{Writer, ops};
use crate::codec::pickle::types::*;
use crate::model::hint::Hint;
use crate::model::option::Opt;
use crate::policy::event::BigInt;
use crate::{Error, Result};

impl Writer<'_> {
    /// Writes text with its opcode.
    #[inline]
    pub(super) fn write_text(&mut self, text: &[u8]) -> Result {
        if text.len() < 256 && self.protocol >= 4 {
            self.room(text.len() + 4)?;
            self.out.extend_with_header([SHORT_BINUNICODE, text.len() as u8], text);
            return Ok(());
        }
        self.write_long_text(text)
    }

    #[inline(never)]
    pub(super) fn write_long_text(&mut self, text: &[u8]) -> Result {
        if self.protocol == 0 {
            return self.write_escaped(text);
        }
        match u32::try_from(text.len()) {
            Ok(length) => {
                let [a, b, c, d] = length.to_le_bytes();
                self.payload([BINUNICODE, a, b, c, d], text)
            }
            Err(_) if self.protocol >= 4 => self.payload(eight(BINUNICODE8, text.len()), text),
            Err(_) => Err(self.too_long(text.len())),
        }
    }

    /// Writes text for protocol 0, as `pickle.py` does.
    pub(super) fn write_escaped(&mut self, text: &[u8]) -> Result {
        let mut line = Vec::with_capacity(text.len());
        for code in codes(text) {
            match code {
                0 | 0x0A | 0x0D | 0x1A | 0x5C => escape(&mut line, code),
                0..=0xFF => line.push(code as u8),
                _ => escape(&mut line, code),
            }
        }
        self.line(UNICODE, &line)
    }

    pub(super) fn write_int(&mut self, v: i64) -> Result {
        if self.protocol == 0 {
            return match i32::try_from(v) {
                Ok(v) => self.line(INT, v.to_string().as_bytes()),
                Err(_) => self.line(LONG, format!("{v}L").as_bytes()),
            };
        }
        match v {
            0..=0xFF => self.out.push_array([BININT1, v as u8]),
            0x100..=0xFFFF => self.out.push_array([BININT2, v as u8, (v >> 8) as u8]),
            _ => match i32::try_from(v) {
                Ok(v) => {
                    let [a, b, c, d] = v.to_le_bytes();
                    self.out.push_array([BININT, a, b, c, d]);
                }
                Err(_) => return self.write_long(&v.to_le_bytes()),
            },
        }
        Ok(())
    }

    /// Writes a little-endian two's complement integer.
    pub(super) fn write_long(&mut self, bytes: &[u8]) -> Result {
        let negative = bytes.last().is_some_and(|top| *top >= 0x80);
        let sign = if negative { 0xFF } else { 0 };
        let mut length = bytes.len();
        while length > 1 && bytes[length - 1] == sign && (bytes[length - 2] ^ sign) < 0x80 {
            length -= 1;
        }
        let bytes = &bytes[..length];
        match (length, self.protocol) {
            (_, 0 | 1) => {
                let mut magnitude = bytes.to_vec();
                if negative {
                    ops::negate(&mut magnitude);
                }
                while magnitude.last() == Some(&0) {
                    magnitude.pop();
                }
                let v = BigInt::Binary { negative, magnitude: &magnitude };
                self.line(LONG, format!("{}L", crate::model::number::big_int_text(v)).as_bytes())
            }
            (0..=0xFF, _) => self.payload([LONG1, length as u8], bytes),
            _ => match i32::try_from(length) {
                Ok(length) => {
                    let [a, b, c, d] = length.to_le_bytes();
                    self.payload([LONG4, a, b, c, d], bytes)
                }
                Err(_) => Err(self.too_long(length)),
            },
        }
    }

    pub(super) fn write_float(&mut self, v: f64) -> Result {
        if self.protocol > 0 {
            let [a, b, c, d, e, f, g, h] = v.to_be_bytes();
            self.out.push_array([BINFLOAT, a, b, c, d, e, f, g, h]);
            return Ok(());
        }
        match v {
            _ if v.is_nan() => self.line(FLOAT, b"nan"),
            f64::INFINITY => self.line(FLOAT, b"inf"),
            f64::NEG_INFINITY => self.line(FLOAT, b"-inf"),
            _ => self.line(FLOAT, zmij::Buffer::new().format_finite(v).as_bytes()),
        }
    }

    #[cold]
    pub(super) fn too_long(&self, length: usize) -> Error {
        Error::unrepresentable(format!(
            "found a value of {length} bytes, which pickle protocol {} cannot hold",
            self.protocol
        ))
        .hint(Hint::set_any(Opt::PickleProtocol, &["4", "5"]))
    }
}

/// Returns an opcode and an eight-byte length.
pub(super) fn eight(opcode: u8, length: usize) -> [u8; 9] {
    let mut header = [opcode; 9];
    header[1..].copy_from_slice(&(length as u64).to_le_bytes());
    header
}

fn escape(line: &mut Vec<u8>, code: u32) {
    let text = if code > 0xFFFF { format!("\\U{code:08x}") } else { format!("\\u{code:04x}") };
    line.extend_from_slice(text.as_bytes());
}

/// Returns the code points of UTF-8 that may contain surrogates.
fn codes(text: &[u8]) -> Vec<u32> {
    let mut codes = Vec::with_capacity(text.len());
    let mut rest = text;
    loop {
        let valid = match std::str::from_utf8(rest) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&rest[..error.valid_up_to()]).unwrap_or_default(),
        };
        codes.extend(valid.chars().map(u32::from));
        match &rest[valid.len()..] {
            [] => return codes,
            [0xED, b @ 0xA0..=0xBF, c, after @ ..] => {
                codes.push(0xD000 | u32::from(b & 0x3F) << 6 | u32::from(c & 0x3F));
                rest = after;
            }
            // Unreachable: text is UTF-8, and whatever a reader calls surrogates has the forms
            // above.
            [_, after @ ..] => {
                codes.push(0xFFFD);
                rest = after;
            }
        }
    }
}
