//! What Rails signs and encrypts: cookies, signed global ids, messages of an application's own.
//!
//! Read from `activesupport/lib/active_support/` of Rails 6.1.7.10, 7.0.10, 7.1.6 and 8.0.5
//! (`message_verifier.rb`, `message_encryptor.rb`, `messages/metadata.rb`).
//!
//! - Signed: base64, `--`, and an HMAC of SHA-1, SHA-256, SHA-384 or SHA-512 in hexadecimal digits.
//! - Encrypted with AES-GCM: base64 of the data, of 12 bytes of initialization vector and of 16 bytes of
//!   authentication tag, with `--` between them. Only the key opens it.
//!
//! A value with an expiry or a purpose is in a map of its own: `{"_rails": {"message": base64, "exp": …, "pur":
//! …}}` in JSON, or, since 7.1 if it is set so, `{"_rails": {"data": value, …}}` in the value's own serializer. In
//! a Cookie header, `+`, `/` and `=` are percent-encoded.

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::{Fact, Row, Taken, Tools, django, entry, message};
use crate::model::format::Format;
use crate::model::value::Value;
use crate::{Error, ErrorKind, Result};

/// What `ActiveSupport::MessageVerifier` makes.
pub(super) const SIGNED: Row = Row {
    name: "rails-signed",
    title: "a signed message of Rails",
    is_certain: true,
    looks_like: &[None],
    holds: &[],
    looks: |bytes, is_whole| is_whole && signed(&unescaped(bytes)).is_some(),
    open: open_signed,
    close: None,
};

/// What `ActiveSupport::MessageEncryptor` makes.
pub(super) const ENCRYPTED: Row = Row {
    name: "rails-encrypted",
    title: "an encrypted message of Rails",
    is_certain: true,
    looks_like: &[None],
    holds: &[],
    looks: |bytes, is_whole| is_whole && is_encrypted(&unescaped(bytes)),
    open: |_, _| {
        Err(Error::new(
            ErrorKind::Unsupported,
            "found encrypted data, which only the key of the application opens",
        )
        .hint("decrypt it with ActiveSupport::MessageEncryptor"))
    },
    close: None,
};

/// Padding is left out of base64 for URLs.
const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const PLAIN: GeneralPurpose = GeneralPurpose::new(&STANDARD, LENIENT);
const FOR_URLS: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT);

/// Returns the text of a cookie without percent-encoding, as far as base64 needs one.
fn unescaped(bytes: &[u8]) -> Vec<u8> {
    let mut rest = bytes.trim_ascii_end();
    let mut text = Vec::with_capacity(rest.len());
    while let [first, after @ ..] = rest {
        let (byte, after) = match (first, after) {
            (b'%', [b'2', b'B' | b'b', after @ ..]) => (b'+', after),
            (b'%', [b'2', b'F' | b'f', after @ ..]) => (b'/', after),
            (b'%', [b'3', b'D' | b'd', after @ ..]) => (b'=', after),
            _ => (*first, after),
        };
        text.push(byte);
        rest = after;
    }
    text
}

fn decode(text: &[u8]) -> Result<Vec<u8>> {
    let is_for_urls = text.iter().any(|byte| b"-_".contains(byte));
    let decoded = if is_for_urls { FOR_URLS.decode(text) } else { PLAIN.decode(text) };
    decoded.map_err(|error| django::not_base64(&error))
}

/// Returns the data of a signed message.
fn signed(text: &[u8]) -> Option<&[u8]> {
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    // SHA-1, SHA-256, SHA-384, SHA-512.
    [40, 64, 96, 128].into_iter().find_map(|digits| {
        let (data, signature) = text.split_at_checked(text.len().checked_sub(digits)?)?;
        let data = data.strip_suffix(b"--")?;
        let is_data = !data.is_empty() && data.iter().all(is_base64);
        (is_data && signature.iter().all(is_digit)).then_some(data)
    })
}

fn is_base64(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=-_".contains(byte)
}

/// Whether these are data, initialization vector and authentication tag.
fn is_encrypted(text: &[u8]) -> bool {
    let Some(text) = std::str::from_utf8(text).ok() else { return false };
    let parts: Vec<_> =
        text.split("--").map(|part| decode(part.as_bytes()).unwrap_or_default()).collect();
    matches!(parts.as_slice(), [data, vector, tag] if !data.is_empty() && vector.len() == 12 && tag.len() == 16)
}

fn open_signed(bytes: &[u8], tools: &Tools<'_>) -> Result<Taken> {
    let text = unescaped(bytes);
    let Some(data) = signed(&text) else {
        return Err(Error::syntax("found no base64 and signature with -- between them"));
    };
    let bytes = decode(data)?;
    let format = django::format_of(&bytes)?;
    let mut facts = Vec::new();
    let (format, bytes) = match about(&bytes, format, tools)? {
        Some(about) => about.open(&mut facts, format, tools)?,
        None => (format, bytes),
    };
    facts.push(Fact::text("signature", "not checked"));
    Ok(Taken { facts, steps: vec!["base64"], format, bytes })
}

/// What is under `_rails`.
struct About(Vec<(Value, Value)>);

/// Returns what a message says of its value, if it says anything.
fn about(bytes: &[u8], format: Format, tools: &Tools<'_>) -> Result<Option<About>> {
    let value = match format {
        Format::Json => message::value(bytes, tools.limits)?,
        Format::Marshal => entry::read(bytes, tools)?,
        _ => return Ok(None),
    };
    let Value::Map(pairs) = value else { return Ok(None) };
    let Ok([(key, inside)]) = <[_; 1]>::try_from(pairs) else { return Ok(None) };
    match inside {
        Value::Map(pairs) if key.as_str() == Some("_rails") => Ok(Some(About(pairs))),
        _ => Ok(None),
    }
}

impl About {
    fn take(&mut self, key: &str) -> Option<Value> {
        let at = self.0.iter().position(|(name, _)| name.as_str() == Some(key))?;
        Some(self.0.swap_remove(at).1).filter(|value| !value.is_null())
    }

    fn open(
        mut self,
        facts: &mut Vec<Fact>,
        format: Format,
        tools: &Tools<'_>,
    ) -> Result<(Format, Vec<u8>)> {
        for (name, key) in [("expires", "exp"), ("purpose", "pur")] {
            facts.extend(self.take(key).map(|value| Fact { name, value }));
        }
        match (self.take("message"), self.take("data"), format) {
            (Some(Value::Text(text)), None, _) => {
                let bytes = decode(text.as_bytes())?;
                Ok((django::format_of(&bytes)?, bytes))
            }
            (None, data, Format::Marshal) => {
                Ok((format, entry::write(data.unwrap_or(Value::Null), tools)?))
            }
            (None, data, _) => {
                Ok((format, message::json(data.unwrap_or(Value::Null), tools.limits)?))
            }
            _ => Err(Error::syntax("found _rails without message or data, expected one of them")),
        }
    }
}
