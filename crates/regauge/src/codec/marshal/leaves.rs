//! Numbers, text and symbols.

use super::read::{Encoding, Name};
use super::types::*;
use super::walk::Walk;
use super::{Binary, encoding, float, skip};
use crate::model::hint::Hint;
use crate::model::limits::Limit;
use crate::model::utf8::from_utf8;
use crate::policy::event::{BigInt, Ext, Sink};
use crate::{Error, Result};

impl<'d> Walk<'d> {
    pub fn float<S: Sink + ?Sized>(&mut self, sink: &mut S) -> Result {
        let (text, end) = skip::bytes(self.document, self.at + 1);
        let value = float::read_at(self.document, end - text.len(), end);
        let Some(value) = value else {
            let shown = crate::model::text::shorten(&String::from_utf8_lossy(text));
            return Err(Error::syntax(format!("found the float {shown:?}, expected a number"))
                .at(self.at as u64));
        };
        if self.options.exact && float::text(value, &mut [0; float::TEXT_BYTES]) != text {
            return self.raw(end, sink);
        }
        sink.f64(value)?;
        self.at = end;
        Ok(())
    }

    pub fn big_integer<S: Sink + ?Sized>(&mut self, sink: &mut S) -> Result {
        let (words, start) = skip::number(self.document, self.at + 2);
        let end = start + 2 * words as usize;
        let digits = &self.document[start..end];
        let negative = self.document[self.at + 1] == b'-';
        let length = digits.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let magnitude = &digits[..length];
        let narrow = match length {
            0..=8 => {
                let mut word = [0; 8];
                word[..length].copy_from_slice(magnitude);
                Some(u64::from_le_bytes(word))
            }
            _ => None,
        };
        let small = narrow.and_then(|v| match negative {
            false => i64::try_from(v).ok(),
            true => 0i64.checked_sub_unsigned(v),
        });
        if self.options.exact {
            let fixnum = small.is_some_and(|v| FIXNUM_RANGE.contains(&v));
            if fixnum || words != length.div_ceil(2) as u64 {
                return self.raw(end, sink);
            }
        }
        match (small, narrow) {
            (Some(v), _) => sink.i64(v)?,
            (None, Some(v)) if !negative => sink.u64(v)?,
            _ => {
                // A byte is 2.40824 digits. The limit does not apply if the same bytes are written.
                let digits = length as u64 * 2_408_240 / 1_000_000;
                if digits > u64::from(self.limits.integer_digits) && !self.options.exact {
                    return Err(self.too_many_digits(length));
                }
                sink.big_int(BigInt::Binary { negative, magnitude })?;
            }
        }
        self.at = end;
        Ok(())
    }

    #[cold]
    pub fn too_many_digits(&self, bytes: usize) -> Error {
        Error::limit(format!(
            "found an integer of {bytes} bytes, which has more than {} digits, the limit of \
             integer_digits",
            self.limits.integer_digits
        ))
        .hint(Hint::raise(Limit::IntegerDigits))
        .at(self.at as u64)
    }

    /// Emits a number in a notation that Ruby would not write, as raw bytes.
    #[cold]
    pub fn raw<S: Sink + ?Sized>(&mut self, end: usize, sink: &mut S) -> Result {
        self.begin_typed(sink, "raw", "", 0)?;
        sink.bytes(&self.document[self.at..end])?;
        self.at = end;
        Ok(())
    }

    /// Emits text in its encoding, without its wrappers.
    pub fn text<S: Sink + ?Sized>(
        &mut self,
        raw: &'d [u8],
        encoding: Encoding<'d>,
        sink: &mut S,
    ) -> Result {
        let (name, text) = match encoding {
            Encoding::Utf8 => {
                return match from_utf8(raw) {
                    Some(text) => sink.str(text),
                    None => sink.ext(Ext::BrokenText(raw)),
                };
            }
            Encoding::None => {
                if self.options.binary == Binary::Text
                    && let Some(text) = from_utf8(raw)
                {
                    return sink.str(text);
                }
                return sink.bytes(raw);
            }
            Encoding::Ascii => match from_utf8(raw).filter(|text| text.is_ascii()) {
                Some(text) if !self.options.keeps_objects() => return sink.str(text),
                text => ("US-ASCII", text.map(Into::into)),
            },
            Encoding::Named(name) if self.options.keeps_objects() => (name, None),
            Encoding::Named(name) => (name, encoding::decode(name, raw)),
        };
        self.begin_typed(sink, "encoding", name, 0)?;
        match text {
            Some(text) => sink.str(&text),
            None => sink.bytes(raw),
        }
    }

    /// Returns the text of a symbol that needs no type around it.
    pub fn plain_symbol(&self, symbol: Name<'d>) -> Option<std::borrow::Cow<'d, str>> {
        let text = self.scanned.utf8(symbol)?;
        let Some(ivars) = symbol.ivars else { return Some(text) };
        let ivars = self.scanned.ivars(ivars);
        let plain = match ivars.encoding {
            Encoding::Utf8 => !self.options.exact || !text.is_ascii(),
            // Instance variables that say nothing make no difference.
            Encoding::None | Encoding::Ascii => !self.options.exact,
            Encoding::Named(_) => false,
        };
        plain.then_some(text)
    }

    pub fn symbol<S: Sink + ?Sized>(&mut self, symbol: Name<'d>, sink: &mut S) -> Result {
        if let Some(text) = self.plain_symbol(symbol) {
            return sink.ext(Ext::Symbol(&text));
        }
        self.begin_typed(sink, "symbol", "", 0)?;
        let encoding =
            symbol.ivars.map_or(Encoding::None, |ivars| self.scanned.ivars(ivars).encoding);
        match encoding {
            // Bytes without an encoding are bytes, whatever the options say about strings.
            Encoding::None => sink.bytes(symbol.raw),
            encoding => self.text(symbol.raw, encoding, sink),
        }
    }
}
