//! Values of Django's caches, and what Django signs.
//!
//! Read from Django 5.2.19: `django/core/cache/backends/{filebased,db,redis}.py`, `django/core/signing.py`,
//! `django/contrib/sessions/backends/base.py`; and django-redis 7.0.0, `django_redis/compressors`. They have
//! been the same since Django 3.1, before which sessions were base64 of `hash:data`.
//!
//! | where | bytes |
//! |---|---|
//! | file-based cache | a pickle of the expiry, a float or None; zlib of a pickle |
//! | database cache | base64 of a pickle |
//! | Redis, Memcached, local memory | a pickle, or an integer in digits: no envelope |
//! | django-redis with a compressor | zlib, gzip, LZ4, zstd or xz of a pickle, JSON or MessagePack |
//! | sessions, `signing.dumps` | `data:time:signature`; data is base64, after `.` of zlib, of JSON or a pickle |
//!
//! A signature is an HMAC of SHA-256 (until 3.1, of SHA-1) with a key that is the hash of the salt, `signer` and
//! `SECRET_KEY` (`salted_hmac`). What is in cookies has `django.http.cookies` in front of `SECRET_KEY`.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use super::packing::{self, Packing};
use super::{Fact, Hash, Inside, Keys, Row, Taken, Tools};
use crate::model::format::Format;
use crate::sinks::memory::read_values;
use crate::{Error, ErrorKind, Options, Result};

/// A file of the file-based cache.
pub(super) const FILE: Row = Row {
    name: "django-cache-file",
    title: "a file of Django's cache",
    // No pickle continues with what zlib begins with, so that reading it as pickles fails.
    is_certain: true,
    looks_like: &[Some(Format::Pickle)],
    holds: &[Format::Pickle],
    looks: |bytes, _| expiry(bytes).is_some_and(|(_, end)| packing::is_zlib(&bytes[end..])),
    open: open_file,
    close: Some(close_file),
};

/// A row of the database cache.
pub(super) const TABLE: Row = Row {
    name: "django-cache-table",
    title: "a row of Django's cache table",
    is_certain: true,
    looks_like: &[None],
    holds: &[Format::Pickle],
    looks: looks_like_table,
    open: open_table,
    close: Some(|_, inside, tools| {
        check_single(inside, tools)?;
        Ok(STANDARD.encode(inside.bytes).into_bytes())
    }),
};

/// A session, or anything else of `django.core.signing.dumps`.
pub(super) const SIGNED: Row = Row {
    name: "django-signed",
    title: "a signed value of Django",
    is_certain: true,
    looks_like: &[None],
    holds: &[],
    looks: |bytes, is_whole| match is_whole {
        true => Signed::of(bytes).is_some(),
        false => {
            bytes.iter().all(|byte| is_word(*byte) || *byte == b'.') && begins_like_data(bytes)
        }
    },
    open: open_signed,
    close: None,
};

/// The salts of Django's own: sessions in a database or cache, sessions in cookies, `signing.dumps`, and messages.
const SALTS: [&str; 4] = [
    "django.contrib.sessions.SessionStore",
    "django.contrib.sessions.backends.signed_cookies",
    "django.core.signing",
    "django.contrib.messages",
];
/// What stands in front of the secret for cookies.
const COOKIES: &[u8] = b"django.http.cookies";

/// What django-redis's ZlibCompressor makes.
pub(super) const ZLIB: Row = Row {
    name: "zlib",
    title: "zlib",
    is_certain: true,
    // The first byte is that of a text in CBOR, whose length the second would be.
    looks_like: &[None, Some(Format::Cbor)],
    holds: &[Format::Pickle, Format::Json, Format::Msgpack, Format::Marshal],
    // `x^` is text as well.
    looks: |bytes, is_whole| {
        packing::is_zlib(bytes) && !bytes.is_ascii() && !is_cbor(bytes, is_whole)
    },
    open: |bytes, tools| {
        let bytes = tools.packer.unpack(Packing::Zlib, bytes, tools.limits)?;
        let format = format_of(&bytes)?;
        Ok(Taken { facts: Vec::new(), steps: Vec::new(), format, bytes, is_checked: false })
    },
    close: Some(|_, inside, tools| tools.packer.pack(Packing::Zlib, inside.bytes)),
};

/// Whether CBOR reads these bytes: a text whose length is the second byte (RFC 8949 §3.1), and other items
/// after it. Of the first bytes of a file, detection has read what is there.
fn is_cbor(bytes: &[u8], is_whole: bool) -> bool {
    if !is_whole {
        return super::seen(bytes) == Some(Format::Cbor);
    }
    let [_, length, rest @ ..] = bytes else { return false };
    let text = rest.get(..usize::from(*length));
    // Reading all takes time, and is needed only if the text is one.
    text.is_some_and(|text| std::str::from_utf8(text).is_ok())
        && read_values(bytes, &Options::new(Format::Cbor, Format::Cbor)).is_ok()
}

/// Returns the format of what an application's serializer wrote.
pub(super) fn format_of(bytes: &[u8]) -> Result<Format> {
    super::seen(bytes).ok_or_else(|| {
        let found = match bytes {
            [] => "nothing".to_owned(),
            _ => format!("data that begins with `{}`", bytes[..bytes.len().min(8)].escape_ascii()),
        };
        Error::new(
            ErrorKind::Unsupported,
            format!("found {found}, expected a pickle, JSON or MessagePack"),
        )
        .hint("take it off with the serializer that the application sets")
    })
}

/// Returns the time of the pickle of a float or None at the beginning, and its end.
///
/// ```text
/// 80 05  [95 and the length of the frame]  47 and a double, or 4E  2E
/// ```
fn expiry(bytes: &[u8]) -> Option<(Option<f64>, usize)> {
    let mut rest = match bytes {
        [0x80, 2..=5, 0x95, _, _, _, _, _, _, _, _, rest @ ..] | [0x80, 2..=5, rest @ ..] => rest,
        _ => return None,
    };
    let time = match rest {
        [b'N', after @ ..] => {
            rest = after;
            None
        }
        [b'G', after @ ..] => {
            let (time, after) = after.split_first_chunk::<8>()?;
            rest = after;
            Some(f64::from_be_bytes(*time))
        }
        _ => return None,
    };
    let [b'.', rest @ ..] = rest else { return None };
    Some((time, bytes.len() - rest.len()))
}

fn open_file(bytes: &[u8], tools: &Tools<'_>) -> Result<Taken> {
    let Some((time, end)) = expiry(bytes) else {
        return Err(Error::syntax(
            "found no pickle of a float or None, expected the time of expiry",
        )
        .at(0));
    };
    let (bytes, packing) = packing::unpack(&bytes[end..], end, tools)?;
    let facts = time.filter(|time| time.is_finite()).map(|time| Fact::seconds("expires", time));
    let steps = vec![packing.name()];
    Ok(Taken {
        facts: facts.into_iter().collect(),
        steps,
        format: Format::Pickle,
        bytes,
        is_checked: false,
    })
}

fn close_file(around: &[u8], inside: &Inside<'_>, tools: &Tools<'_>) -> Result<Vec<u8>> {
    check_single(inside, tools)?;
    let end = expiry(around).map_or(0, |(_, end)| end);
    let packed = tools.packer.pack(Packing::Zlib, inside.bytes)?;
    Ok([&around[..end], &packed].concat())
}

/// Refuses anything but one pickle: `pickle.loads` would leave out the others.
fn check_single(inside: &Inside<'_>, tools: &Tools<'_>) -> Result {
    let mut options = Options::new(inside.format, inside.format);
    options.limits = *tools.limits;
    match read_values(inside.bytes, &options)?.len() {
        1 => Ok(()),
        others => Err(super::entry::not_single(others)),
    }
}

/// Whether this is base64 of bytes that begin with the mark of a pickle of protocol 2 to 5, and, if all is
/// here, end as one.
fn looks_like_table(bytes: &[u8], is_whole: bool) -> bool {
    let text = bytes.trim_ascii_end();
    let begins = matches!(text, [b'g', b'A', b'I'..=b'X', _, ..]);
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    begins
        && text.iter().all(is_base64)
        && (!is_whole || is_pickle(&STANDARD.decode(text).unwrap_or_default()))
}

fn is_pickle(bytes: &[u8]) -> bool {
    matches!(bytes, [0x80, 2..=5, .., b'.'])
}

fn open_table(bytes: &[u8], _: &Tools<'_>) -> Result<Taken> {
    let bytes = STANDARD.decode(bytes.trim_ascii_end()).map_err(|error| not_base64(&error))?;
    Ok(Taken {
        facts: Vec::new(),
        steps: vec!["base64"],
        format: Format::Pickle,
        bytes,
        is_checked: false,
    })
}

#[cold]
pub(super) fn not_base64(error: &base64::DecodeError) -> Error {
    Error::syntax(format!("found text that is no base64: {error}"))
        .hint("check that the value was copied whole")
}

/// The parts of a signed value.
struct Signed<'b> {
    data: &'b [u8],
    is_compressed: bool,
    /// Seconds since 1970.
    time: i64,
    /// What is signed.
    text: &'b [u8],
    /// In base64 for URLs.
    signature: &'b [u8],
}

impl Signed<'_> {
    fn of(bytes: &[u8]) -> Option<Signed<'_>> {
        let all = bytes.trim_ascii_end();
        // For most values the first byte tells, without a search for colons.
        if !all.first().is_some_and(|byte| is_word(*byte) || *byte == b'.') {
            return None;
        }
        let mut parts = all.split(|byte| *byte == b':');
        let (data, time, signature) = (parts.next()?, parts.next()?, parts.next()?);
        // HMAC of SHA-256, or of SHA-1 as Django had it before 3.1.
        let is_signed =
            matches!(signature.len(), 43 | 27) && signature.iter().copied().all(is_word);
        let (is_compressed, data) = match data {
            [b'.', data @ ..] => (true, data),
            data => (false, data),
        };
        let is_data = !data.is_empty() && data.iter().copied().all(is_word);
        let time = base62(time)?;
        let text = &all[..all.len() - signature.len() - 1];
        (parts.next().is_none() && is_signed && is_data).then_some(Signed {
            data,
            is_compressed,
            time,
            text,
            signature,
        })
    }

    /// Whether this secret made the signature, with this salt.
    fn is_made_by(&self, keys: &Keys<'_>, salt: &[u8]) -> bool {
        let signature = URL_SAFE_NO_PAD.decode(self.signature).unwrap_or_default();
        let Some(hash) = Hash::of_bytes(signature.len()) else { return false };
        [&b""[..], COOKIES].into_iter().any(|front| {
            let key = keys.ciphers.hash(hash, &[salt, b"signer", front, keys.secret()]);
            keys.ciphers.is_hmac(hash, &key, self.text, &signature)
        })
    }
}

fn open_signed(bytes: &[u8], tools: &Tools<'_>) -> Result<Taken> {
    let Some(signed) = Signed::of(bytes) else {
        return Err(Error::syntax("found no data, time and signature with colons between them"));
    };
    let is_checked = tools.check(&SIGNED, &SALTS, |keys, salt| signed.is_made_by(keys, salt))?;
    let Signed { data, is_compressed, time, .. } = signed;
    let (bytes, steps) = word_data(data, is_compressed, tools)?;
    let facts = vec![Fact::seconds("signed", time as f64), Fact::signature(is_checked)];
    Ok(Taken { facts, steps, format: format_of(&bytes)?, bytes, is_checked })
}

/// Undoes base64 for URLs, and zlib.
pub(super) fn word_data(
    data: &[u8],
    is_compressed: bool,
    tools: &Tools<'_>,
) -> Result<(Vec<u8>, Vec<&'static str>)> {
    let bytes = URL_SAFE_NO_PAD.decode(data).map_err(|error| not_base64(&error))?;
    if !is_compressed {
        return Ok((bytes, vec!["base64"]));
    }
    let bytes = tools.packer.unpack(Packing::Zlib, &bytes, tools.limits)?;
    Ok((bytes, vec!["base64", "zlib"]))
}

/// Whether a byte is one of base64 for URLs.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// Whether signed data begins like base64 of JSON, of a pickle, or of zlib.
pub(super) fn begins_like_data(bytes: &[u8]) -> bool {
    [&b"eyJ"[..], b"W", b"gA", b".eJ", b".eN", b".eA", b".eF"]
        .iter()
        .any(|one| bytes.starts_with(one))
}

/// Returns the number that Django writes a time as: digits, then capital and small letters.
fn base62(text: &[u8]) -> Option<i64> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'Z' => Some(byte - b'A' + 10),
        b'a'..=b'z' => Some(byte - b'a' + 36),
        _ => None,
    };
    // Six digits reach the year 3769.
    if !(1..=6).contains(&text.len()) {
        return None;
    }
    text.iter().try_fold(0, |number, byte| Some(number * 62 + i64::from(digit(*byte)?)))
}
