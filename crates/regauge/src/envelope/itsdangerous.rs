//! What Flask signs with itsdangerous: sessions in cookies.
//!
//! Read from Flask 3.1.3 (`flask/sessions.py`, `flask/json/tag.py`) and itsdangerous 2.2.0 (`timed.py`,
//! `url_safe.py`, `encoding.py`): `data.time.signature`, each in base64 for URLs without padding. A dot in front
//! means that the data is zlib. The time is seconds since 1970, big-endian; the signature is an HMAC of SHA-1
//! (Flask's), or of another hash. Inside is JSON, in which Flask writes what JSON lacks as a map of one key that
//! begins with a space: `{" t": [1, 2]}` is a tuple, `" d"` a time, `" b"` bytes, `" u"` a UUID.
//!
//! The key of the HMAC is made of salt and secret in one of the ways of `Signer.derive_key`: as an HMAC, which is
//! Flask's, or as a hash of the salt, `signer` and the secret, which is the default.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::django::{begins_like_data, format_of, is_word, word_data};
use super::{Fact, Hash, Keys, Row, Taken, Tools};
use crate::{Error, Result};

/// A session of Flask, or anything else of `URLSafeTimedSerializer`.
pub(super) const FLASK: Row = Row {
    name: "flask-session",
    title: "a signed value of Flask (itsdangerous)",
    is_certain: true,
    looks_like: &[None],
    holds: &[],
    looks: |bytes, is_whole| match is_whole {
        true => Parts::of(bytes).is_some(),
        false => {
            bytes.iter().all(|byte| is_word(*byte) || *byte == b'.') && begins_like_data(bytes)
        }
    },
    open,
    close: None,
};

/// The salts of Flask's sessions, of `URLSafeTimedSerializer`, of `TimestampSigner` and of the tokens of Flask-WTF.
const SALTS: [&str; 4] =
    ["cookie-session", "itsdangerous", "itsdangerous.Signer", "wtf-csrf-token"];

struct Parts<'b> {
    data: &'b [u8],
    is_compressed: bool,
    /// Seconds since 1970.
    time: u64,
    /// What is signed.
    text: &'b [u8],
    signature: Vec<u8>,
    hash: Hash,
}

impl Parts<'_> {
    fn of(bytes: &[u8]) -> Option<Parts<'_>> {
        let all = bytes.trim_ascii_end();
        let (is_compressed, parts) = match all {
            [b'.', parts @ ..] => (true, parts),
            parts => (false, parts),
        };
        // For most values the first byte tells, without a search for dots.
        if !parts.first().is_some_and(|byte| is_word(*byte)) {
            return None;
        }
        let mut parts = parts.split(|byte| *byte == b'.');
        let data =
            parts.next().filter(|data| !data.is_empty() && data.iter().copied().all(is_word))?;
        let (time, signature) = (parts.next()?, parts.next()?);
        // SHA-1, SHA-256, SHA-384 and SHA-512. A JSON Web Token has longer text in the middle.
        let text = &all[..all.len() - signature.len() - 1];
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        let hash = Hash::of_bytes(signature.len())?;
        let time =
            URL_SAFE_NO_PAD.decode(time).ok().filter(|time| (4..=5).contains(&time.len()))?;
        let time = time.iter().fold(0, |time, byte| time << 8 | u64::from(*byte));
        parts.next().is_none().then_some(Parts { data, is_compressed, time, text, signature, hash })
    }

    /// Whether this secret made the signature, with this salt.
    fn is_made_by(&self, keys: &Keys<'_>, salt: &[u8]) -> bool {
        let (ciphers, hash, secret) = (keys.ciphers, self.hash, keys.secret());
        // `hmac`, `django-concat` and `concat`.
        [
            ciphers.hmac(hash, secret, salt),
            ciphers.hash(hash, &[salt, b"signer", secret]),
            ciphers.hash(hash, &[salt, secret]),
        ]
        .iter()
        .any(|key| ciphers.is_hmac(hash, key, self.text, &self.signature))
    }
}

fn open(bytes: &[u8], tools: &Tools<'_>) -> Result<Taken> {
    let Some(parts) = Parts::of(bytes) else {
        return Err(Error::syntax("found no data, time and signature with dots between them"));
    };
    let is_checked = tools.check(&FLASK, &SALTS, |keys, salt| parts.is_made_by(keys, salt))?;
    let Parts { data, is_compressed, time, .. } = parts;
    let (bytes, steps) = word_data(data, is_compressed, tools)?;
    let facts = vec![Fact::seconds("signed", time as f64), Fact::signature(is_checked)];
    Ok(Taken { facts, steps, format: format_of(&bytes)?, bytes, is_checked })
}
