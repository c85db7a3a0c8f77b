//! Helpers for tests that compare two ways of reading: events as lines, input in pieces, and bytes
//! as digits.

use super::{BigInt, Ext, Sink, Type};
use crate::model::value::Value;
use crate::policy::fidelity::{Fidelity, OnLoss};
use crate::{Error, Format, Result};

/// Records every event as a line.
pub(crate) struct Recorder {
    pub lines: Vec<String>,
    /// Whether shared values are sent only once.
    pub references: bool,
    fidelity: Fidelity,
}

impl Default for Recorder {
    fn default() -> Recorder {
        let fidelity = Fidelity::new(OnLoss::Refuse, Format::Msgpack);
        Recorder { lines: Vec::new(), references: false, fidelity }
    }
}

impl Recorder {
    fn note(&mut self, line: impl std::fmt::Debug) -> Result {
        self.lines.push(format!("{line:?}"));
        Ok(())
    }
}

impl Sink for Recorder {
    fn holds_references(&mut self) -> bool {
        self.references
    }

    fn null(&mut self) -> Result {
        self.note("null")
    }
    fn bool(&mut self, v: bool) -> Result {
        self.note(v)
    }
    fn i64(&mut self, v: i64) -> Result {
        // An error of the sink itself is located at its event.
        if v == 77 {
            return Err(Error::unrepresentable("found 77"));
        }
        self.note(("i64", v))
    }
    fn u64(&mut self, v: u64) -> Result {
        self.note(("u64", v))
    }
    fn f64(&mut self, v: f64) -> Result {
        self.note(("f64", v.to_bits()))
    }
    fn str(&mut self, v: &str) -> Result {
        self.note(("str", v))
    }
    fn bytes(&mut self, v: &[u8]) -> Result {
        self.note(("bytes", v))
    }
    fn big_int(&mut self, v: BigInt<'_>) -> Result {
        self.note(("big_int", v))
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        self.note(("ext", v))
    }
    fn begin_array(&mut self, len: Option<u64>) -> Result {
        self.note(("begin_array", len))
    }
    fn end_array(&mut self) -> Result {
        self.note("end_array")
    }
    fn begin_map(&mut self, len: Option<u64>) -> Result {
        self.note(("begin_map", len))
    }
    fn key(&mut self, k: &str) -> Result {
        self.note(("key", k))
    }
    fn key_value(&mut self, k: &Value) -> Result {
        self.note(("key_value", k))
    }
    fn end_map(&mut self) -> Result {
        self.note("end_map")
    }
    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        self.note(("begin_typed", t))
    }
    fn end_typed(&mut self) -> Result {
        self.note("end_typed")
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
}

/// Reads at most this many bytes at a time.
pub(crate) struct Pieces<'a>(pub &'a [u8], pub usize);

impl std::io::Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.1.min(self.0.len()).min(buffer.len());
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

/// Returns the bytes of hexadecimal digits; spaces and the like between them are ignored.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    assert!(digits.len().is_multiple_of(2), "{text}");
    let digit = |byte: u8| (byte as char).to_digit(16).unwrap() as u8;
    digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}
