//! Text in an encoding, symbols, and the bytes of numbers: the leaves that a type can change.

use super::super::objects::FIXED_ENCODING;
use super::super::types::*;
use super::super::writer::{Spelling, Writer};
use super::super::{encoding, float};
use super::{Expects, Frame, Pending, misfit};
use crate::model::text::shorten;
use crate::model::value::Value;
use crate::{Error, Result};

impl Writer<'_> {
    /// Writes text with pending state, from `text` if it is UTF-8.
    #[inline(never)]
    pub(in crate::codec::marshal) fn special_text(
        &mut self,
        raw: &[u8],
        text: Option<&str>,
    ) -> Result {
        let encoding = if text.is_some() { Some("UTF-8") } else { None };
        self.any_text(raw, text, encoding)
    }

    /// Writes a string marked as UTF-8 whose bytes are not.
    pub(in crate::codec::marshal) fn broken_text(&mut self, raw: &[u8]) -> Result {
        self.any_text(raw, None, Some("UTF-8"))
    }

    fn any_text(&mut self, raw: &[u8], text: Option<&str>, own: Option<&'static str>) -> Result {
        self.start()?;
        match &self.pending.expects {
            Expects::Anything | Expects::Text => {}
            Expects::Name(name) if text == Some(name) => {
                self.clear();
                self.counted.count += 1;
                return Ok(());
            }
            Expects::Symbol => return self.special_symbol(raw, text, own.is_some()),
            Expects::Raw if text.is_none() => return self.raw(raw),
            _ => return Err(self.misfit("text")),
        }
        let Pending { bare, payload, regexp, encoding, .. } = std::mem::take(&mut self.pending);
        let encoded;
        let (raw, encoding) = match (&encoding, text) {
            (Some(name), Some(text)) => {
                encoded = encode(name, text)?;
                (&encoded[..], Some(&**name))
            }
            (Some(name), None) => (raw, Some(&**name)),
            // Like Ruby: a pattern of ASCII is ASCII, unless marked otherwise.
            (None, _)
                if regexp.is_some_and(|bits| bits & FIXED_ENCODING == 0)
                    && own.is_some()
                    && raw.is_ascii() =>
            {
                (raw, Some("US-ASCII"))
            }
            (None, _) => (raw, own),
        };
        if let Some(encoding) = encoding.filter(|_| bare) {
            match self.frames.iter_mut().rev().find(|frame| matches!(frame, Frame::Ivars(_))) {
                Some(Frame::Ivars(said)) => *said = Some(encoding.into()),
                _ => return Err(misfit("text", &Expects::Anything)),
            }
        } else if encoding.is_some() {
            self.counted.insert(self.counted.floor, IVARS)?;
        }
        match (payload, regexp) {
            (true, _) => self.sized(0, raw)?,
            (false, Some(bits)) => {
                self.sized(REGEXP, raw)?;
                self.counted.room(1)?;
                self.counted.out.push(bits);
            }
            (false, None) => self.sized(STRING, raw)?,
        }
        self.clear();
        if !payload {
            self.take_anchors();
            self.objects += 1;
        }
        if let Some(encoding) = encoding.filter(|_| !bare) {
            self.long(1);
            self.encoding(encoding)?;
        }
        self.counted.count += 1;
        Ok(())
    }

    /// Writes the instance variable that gives an encoding.
    pub(super) fn encoding(&mut self, name: &str) -> Result {
        self.counted.room(1 + LONG_BYTES)?;
        match name {
            "UTF-8" => self.encoding_flag(true),
            "US-ASCII" => self.encoding_flag(false),
            name => self.encoding_name(name),
        }
    }

    fn special_symbol(&mut self, raw: &[u8], text: Option<&str>, utf8: bool) -> Result {
        let encoding = self.pending.encoding.take();
        self.clear();
        match (&encoding, text) {
            (None, Some(text)) => self.text_symbol(text)?,
            // Marked as UTF-8, though its bytes are not.
            (None, None) if utf8 => drop(self.symbol(raw, Spelling::Utf8)?),
            (None, None) => drop(self.symbol(raw, Spelling::Ascii)?),
            (Some(name), text) => {
                let encoded = match text {
                    Some(text) => encode(name, text)?,
                    None => raw.into(),
                };
                let spelling = match &**name {
                    "UTF-8" => Spelling::Utf8,
                    name => Spelling::Named(name),
                };
                self.symbol(&encoded, spelling)?;
            }
        }
        self.name_leaf(|| Value::Text(String::from_utf8_lossy(raw).into_owned()));
        self.counted.count += 1;
        Ok(())
    }

    /// Writes the bytes of one number unchanged.
    fn raw(&mut self, raw: &[u8]) -> Result {
        let end = match raw {
            [FIXNUM, ..] => long(raw, 1).map(|(_, end)| end),
            [FLOAT, ..] => long(raw, 1)
                .filter(|(length, start)| {
                    usize::try_from(*length).is_ok_and(|l| start + l == raw.len())
                })
                .filter(|(_, start)| float::read(&raw[*start..]).is_some())
                .map(|_| raw.len()),
            [BIGNUM, b'+' | b'-', ..] => long(raw, 2).and_then(|(words, start)| {
                Some(start + usize::try_from(words).ok()?.checked_mul(2)?)
            }),
            _ => None,
        };
        if end != Some(raw.len()) {
            return Err(self.misfit("other bytes"));
        }
        self.clear();
        if raw[0] == FIXNUM {
            let (v, _) = long(raw, 1).expect("just read");
            self.name_leaf(|| Value::Int(v));
        } else {
            self.take_anchors();
            self.objects += 1;
        }
        self.counted.room(raw.len())?;
        self.counted.out.extend(raw);
        self.counted.count += 1;
        Ok(())
    }
}

/// Encodes text in another encoding.
fn encode(name: &str, text: &str) -> Result<Box<[u8]>> {
    if name == "UTF-8" {
        return Ok(text.as_bytes().into());
    }
    match encoding::encode(name, text) {
        Some(bytes) => Ok(bytes.into()),
        None => Err(Error::unrepresentable(format!(
            "found text in the encoding {:?}, which is unknown or lacks one of its characters",
            shorten(name)
        ))
        .hint("pass its bytes instead of the text")),
    }
}
