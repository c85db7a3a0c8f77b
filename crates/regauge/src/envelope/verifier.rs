//! What Rails signs and encrypts: cookies, signed global ids, messages of an application's own.
//!
//! Read from `activesupport/lib/active_support/` of Rails 5.1.7, 6.1.7.10, 7.0.10, 7.1.6 and 8.0.5
//! (`message_verifier.rb`, `message_encryptor.rb`, `messages/metadata.rb`), and of the keys `key_generator.rb`,
//! railties' `application.rb` and actionpack's `action_dispatch/middleware/cookies.rb`.
//!
//! - Signed: base64, `--`, and an HMAC of SHA-1, SHA-256, SHA-384 or SHA-512 in hexadecimal digits.
//! - Encrypted with AES-GCM: base64 of the data, of 12 bytes of initialization vector and of 16 bytes of
//!   authentication tag, with `--` between them.
//! - Encrypted with AES-CBC (cookies until 5.1): base64 of the data and of 16 bytes of initialization vector, with `--`
//!   between them, and all of it signed.
//!
//! The key is PBKDF2 of `secret_key_base` and a salt for each purpose, with 1000 rounds of SHA-1 (by default until 6.1) or
//! SHA-256 (from 7.0): 64 bytes to sign with, 32 to encrypt with. What AES-CBC encrypts has a key for each. An application
//! may also pass a key of its own.
//!
//! A value with an expiry or a purpose is in a map of its own: `{"_rails": {"message": base64, "exp": …, "pur":
//! …}}` in JSON, or, since 7.1 if it is set so, `{"_rails": {"data": value, …}}` in the value's own serializer. In
//! a Cookie header, `+`, `/` and `=` are percent-encoded.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::{Fact, Hash, Keys, Row, Taken, Tools, django, entry, message};
use crate::model::format::Format;
use crate::model::value::Value;
use crate::{Error, Result};

/// What `ActiveSupport::MessageVerifier` makes.
pub(super) const SIGNED: Row = Row {
    name: "rails-signed",
    title: "a signed message of Rails",
    is_certain: true,
    looks_like: &[None],
    holds: &[],
    looks: |bytes, is_whole| is_whole && may_begin(bytes) && signed(&unescaped(bytes)).is_some(),
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
    looks: |bytes, is_whole| {
        is_whole && may_begin(bytes) && Sealed::of(&unescaped(bytes)).is_some()
    },
    open: open_encrypted,
    close: None,
};

/// The salts of Rails' own signatures: cookies, Active Storage, signed global ids and signed ids of records.
const SIGNED_SALTS: [&str; 4] =
    ["signed cookie", "ActiveStorage", "signed_global_ids", "active_record/signed_id"];
/// The salts of cookies, and so sessions, that Rails encrypts with AES-CBC: of the key that encrypts, and of the one that
/// signs.
const COOKIES: &str = "encrypted cookie";
const SIGNED_COOKIES: &str = "signed encrypted cookie";
/// `iterations:` of `Rails.application.key_generator`.
const ROUNDS: u32 = 1000;
const SIGNED_KEY_BYTES: usize = 64;
/// Enough characters of Base64 for what [`last_block`] reads: `--` and up to 24 digits.
const BLOCK_END: usize = 40;

/// Padding is left out of base64 for URLs.
const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const PLAIN: GeneralPurpose = GeneralPurpose::new(&STANDARD, LENIENT);
const FOR_URLS: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT);

/// Whether bytes begin with base64, some of which may be percent-encoded. For most values the first byte tells.
fn may_begin(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|byte| is_base64(byte) || *byte == b'%')
}

/// Returns the text of a cookie without percent-encoding, as far as base64 needs one.
fn unescaped(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut rest = bytes.trim_ascii_end();
    let mut text = Vec::new();
    while let Some(at) = memchr::memchr(b'%', rest) {
        let (before, escape) = rest.split_at(at);
        text.extend_from_slice(before);
        let (byte, after) = match escape {
            [_, b'2', b'B' | b'b', after @ ..] => (b'+', after),
            [_, b'2', b'F' | b'f', after @ ..] => (b'/', after),
            [_, b'3', b'D' | b'd', after @ ..] => (b'=', after),
            _ => (b'%', &escape[1..]),
        };
        text.push(byte);
        rest = after;
    }
    if text.is_empty() {
        return Cow::Borrowed(rest);
    }
    text.extend_from_slice(rest);
    Cow::Owned(text)
}

fn decode(text: &[u8]) -> Result<Vec<u8>> {
    let is_for_urls = text.iter().any(|byte| b"-_".contains(byte));
    let decoded = if is_for_urls { FOR_URLS.decode(text) } else { PLAIN.decode(text) };
    decoded.map_err(|error| django::not_base64(&error))
}

/// Returns the data of a signed message, and the signature in hexadecimal digits.
fn signed(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    // SHA-1, SHA-256, SHA-384, SHA-512.
    [40, 64, 96, 128].into_iter().find_map(|digits| {
        let (data, signature) = last(text, digits)?;
        let is_data = !data.is_empty() && data.iter().all(is_base64);
        (is_data && signature.iter().all(is_digit)).then_some((data, signature))
    })
}

/// Returns what is before the last part of a text, and the part, of so many bytes. It is found from the end, because base64
/// for URLs may have `--` in it.
fn last(text: &[u8], digits: usize) -> Option<(&[u8], &[u8])> {
    let (before, part) = text.split_at_checked(text.len().checked_sub(digits)?)?;
    Some((before.strip_suffix(b"--")?, part))
}

/// Returns what is before the last part, which is base64 of 16 bytes, with or without padding.
fn last_block(text: &[u8]) -> Option<(&[u8], [u8; 16])> {
    [24, 22].into_iter().find_map(|digits| {
        let (before, part) = last(text, digits)?;
        Some((before, decode(part).ok()?.try_into().ok()?))
    })
}

fn is_base64(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
}

/// Returns the bytes of hexadecimal digits, of which there are as many as a hash has.
fn unhex(digits: &[u8]) -> Vec<u8> {
    let value = |digit: u8| (digit as char).to_digit(16).unwrap_or_default() as u8;
    digits.chunks_exact(2).map(|pair| value(pair[0]) << 4 | value(pair[1])).collect()
}

/// What `ActiveSupport::MessageEncryptor` makes.
enum Sealed {
    Gcm(Gcm),
    Cbc(Cbc),
}

impl Sealed {
    fn of(text: &[u8]) -> Option<Sealed> {
        Gcm::of(text).map(Sealed::Gcm).or_else(|| Cbc::of(text).map(Sealed::Cbc))
    }

    fn cipher(&self) -> &'static str {
        match self {
            Sealed::Gcm(_) => "aes-256-gcm",
            Sealed::Cbc(_) => "aes-256-cbc",
        }
    }

    /// Returns the salts of Rails' own.
    fn salts(&self) -> &'static [&'static str] {
        match self {
            Sealed::Gcm(_) => &["authenticated encrypted cookie"],
            Sealed::Cbc(_) => &[COOKIES],
        }
    }

    /// Returns what a secret decrypts, with this salt.
    fn decrypted(&self, keys: &Keys<'_>, salt: &[u8]) -> Option<Vec<u8>> {
        match self {
            Sealed::Gcm(sealed) => sealed.decrypted(keys, salt),
            Sealed::Cbc(sealed) => sealed.decrypted(keys, salt),
        }
    }
}

/// Data, initialization vector and authentication tag.
struct Gcm {
    data: Vec<u8>,
    vector: [u8; 12],
    tag: [u8; 16],
}

impl Gcm {
    fn of(text: &[u8]) -> Option<Gcm> {
        let (text, tag) = last_block(text)?;
        let (data, vector) = last(text, 16)?;
        let (data, vector) = (decode(data).ok()?, decode(vector).ok()?.try_into().ok()?);
        (!data.is_empty()).then_some(Gcm { data, vector, tag })
    }

    fn decrypted(&self, keys: &Keys<'_>, salt: &[u8]) -> Option<Vec<u8>> {
        derived(keys, salt, 32).find_map(|key| {
            let key = <&[u8; 32]>::try_from(key.as_slice()).ok()?;
            keys.ciphers.decrypt(key, &self.vector, &self.data, &self.tag)
        })
    }
}

/// A signed message that holds data and initialization vector.
struct Cbc {
    /// What is signed: base64 of the two, which are base64 themselves.
    text: Vec<u8>,
    signature: Vec<u8>,
    data: Vec<u8>,
    vector: [u8; 16],
}

impl Cbc {
    fn of(text: &[u8]) -> Option<Cbc> {
        let (text, signature) = signed(text)?;
        // Decoding the end is enough to rule most texts out.
        let end = &text[text.len().saturating_sub(BLOCK_END) / 4 * 4..];
        last_block(&decode(end).ok()?)?;
        let inside = decode(text).ok()?;
        let (data, vector) = last_block(&inside)?;
        let data = decode(data).ok()?;
        // Padding fills the last block of 16 bytes, and has one of its own if it was full.
        let is_whole = !data.is_empty() && data.len() % 16 == 0;
        let signature = unhex(signature);
        is_whole.then(|| Cbc { text: text.to_vec(), signature, data, vector })
    }

    /// Returns what a secret decrypts. Nothing is decrypted before its signature was checked, because whether padding is
    /// right would tell what was encrypted; and no answer says which of the two was wrong.
    fn decrypted(&self, keys: &Keys<'_>, salt: &[u8]) -> Option<Vec<u8>> {
        let hash = Hash::of_bytes(self.signature.len())?;
        // Cookies are signed with a key of another purpose. An application may leave out the second key, or derive it
        // from the same salt.
        let other = if salt == COOKIES.as_bytes() { SIGNED_COOKIES.as_bytes() } else { salt };
        let signing = derived(keys, other, SIGNED_KEY_BYTES);
        derived(keys, salt, 32).zip(signing).find_map(|(key, signing)| {
            let is_made_by =
                |key: &[u8]| keys.ciphers.is_hmac(hash, key, &self.text, &self.signature);
            if !is_made_by(&signing) && !is_made_by(&key) {
                return None;
            }
            let key = <&[u8; 32]>::try_from(key.as_slice()).ok()?;
            keys.ciphers.decrypt_cbc(key, &self.vector, &self.data)
        })
    }
}

/// Returns the keys that a version of Rails may derive, and the secret as a key of the application's own.
fn derived(keys: &Keys<'_>, salt: &[u8], bytes: usize) -> impl Iterator<Item = Vec<u8>> {
    let hashes = [Hash::Sha256, Hash::Sha1].into_iter();
    let derived =
        hashes.map(move |hash| keys.ciphers.pbkdf2(hash, keys.secret(), salt, ROUNDS, bytes));
    std::iter::once(keys.secret().to_vec()).chain(derived)
}

fn open_encrypted(bytes: &[u8], tools: &Tools<'_>) -> Result<Taken> {
    let Some(sealed) = Sealed::of(&unescaped(bytes)) else {
        return Err(Error::syntax(
            "found neither three parts in base64 with -- between them, nor two that are signed",
        ));
    };
    let decrypted = |keys: &Keys<'_>, salt: &[u8]| sealed.decrypted(keys, salt);
    let bytes = tools.decrypt(&ENCRYPTED, sealed.salts(), decrypted)?;
    let (facts, format, bytes) = value(bytes, tools)?;
    let steps = vec!["base64", sealed.cipher()];
    Ok(Taken { facts, steps, format, bytes, is_checked: true })
}

fn open_signed(bytes: &[u8], tools: &Tools<'_>) -> Result<Taken> {
    let text = unescaped(bytes);
    let Some((data, signature)) = signed(&text) else {
        return Err(Error::syntax("found no base64 and signature with -- between them"));
    };
    let signature = unhex(signature);
    let is_checked = tools.check(&SIGNED, &SIGNED_SALTS, |keys, salt| {
        let Some(hash) = Hash::of_bytes(signature.len()) else { return false };
        derived(keys, salt, SIGNED_KEY_BYTES)
            .any(|key| keys.ciphers.is_hmac(hash, &key, data, &signature))
    })?;
    let (mut facts, format, bytes) = value(decode(data)?, tools)?;
    facts.push(Fact::signature(is_checked));
    Ok(Taken { facts, steps: vec!["base64"], format, bytes, is_checked })
}

/// Returns the value of a message, and what the message says of it.
fn value(bytes: Vec<u8>, tools: &Tools<'_>) -> Result<(Vec<Fact>, Format, Vec<u8>)> {
    let format = django::format_of(&bytes)?;
    let mut facts = Vec::new();
    let (format, bytes) = match about(&bytes, format, tools)? {
        Some(about) => about.open(&mut facts, format, tools)?,
        None => (format, bytes),
    };
    Ok((facts, format, bytes))
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
                Ok((format, message::json(&data.unwrap_or(Value::Null), tools.limits)?))
            }
            _ => Err(Error::syntax("found _rails without message or data, expected one of them")),
        }
    }
}
