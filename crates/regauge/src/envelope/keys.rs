//! Signatures and encryption, with the secret of the application.
//!
//! Frameworks do not sign with the secret itself. They derive a key for each purpose, which a salt names: their own
//! purposes are known, and an application passes the salt of another. Each family of envelopes says how it derives.
//!
//! - **The cryptography is the caller's.** The library has none; [`Ciphers`] brings it, with comparisons that take the
//!   same time wherever signatures differ.
//! - **No message shows a secret or a key.**
//! - **What was signed is not fresh.** An expiry is reported, and does not make a signature wrong.

use super::{Row, Tools};
use crate::model::hint::Hint;
use crate::model::option::Opt;
use crate::options::Secret;
use crate::{Error, ErrorKind, Options, Result};

/// A hash function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    /// SHA-1, FIPS 180-4: 20 bytes.
    Sha1,
    /// SHA-256: 32 bytes.
    Sha256,
    /// SHA-384: 48 bytes.
    Sha384,
    /// SHA-512: 64 bytes.
    Sha512,
}

impl Hash {
    /// Returns the function whose result has this many bytes.
    #[must_use]
    pub fn of_bytes(bytes: usize) -> Option<Hash> {
        Some(match bytes {
            20 => Hash::Sha1,
            32 => Hash::Sha256,
            48 => Hash::Sha384,
            64 => Hash::Sha512,
            _ => return None,
        })
    }
}

/// The cryptography that envelopes need: the library has none, and the caller provides it.
pub trait Ciphers {
    /// Returns the hash of these parts, one after the other.
    fn hash(&self, hash: Hash, parts: &[&[u8]]) -> Vec<u8>;

    /// Returns the HMAC of a message (RFC 2104).
    fn hmac(&self, hash: Hash, key: &[u8], message: &[u8]) -> Vec<u8>;

    /// Returns whether this is the HMAC of a message, in a time that does not depend on where it differs.
    fn is_hmac(&self, hash: Hash, key: &[u8], message: &[u8], signature: &[u8]) -> bool;

    /// Returns a key of this many bytes, from a secret and a salt (PBKDF2 with an HMAC, RFC 8018 §5.2).
    fn pbkdf2(&self, hash: Hash, secret: &[u8], salt: &[u8], rounds: u32, bytes: usize) -> Vec<u8>;

    /// Decrypts AES-256-GCM without associated data (NIST SP 800-38D); `None` if the tag is not that of this key,
    /// vector and data.
    fn decrypt(
        &self,
        key: &[u8; 32],
        vector: &[u8; 12],
        data: &[u8],
        tag: &[u8; 16],
    ) -> Option<Vec<u8>>;

    /// Decrypts AES-256-CBC (NIST SP 800-38A), and takes off the padding of PKCS #7 (RFC 5652 §6.3); `None` if that is
    /// wrong. Nothing here says whether the data was changed: the caller has checked its signature.
    fn decrypt_cbc(&self, key: &[u8; 32], vector: &[u8; 16], data: &[u8]) -> Option<Vec<u8>>;
}

/// What signatures are checked with.
#[derive(Clone, Copy)]
pub struct Keys<'k> {
    secret: &'k Secret,
    /// The application's own salt; `None` stands for those of the framework.
    salt: Option<&'k str>,
    /// Hashes, signs and decrypts.
    pub(super) ciphers: &'k dyn Ciphers,
}

impl<'k> Keys<'k> {
    /// Returns the keys of a secret, and of the application's own salt if it passes one.
    #[must_use]
    pub fn new(secret: &'k Secret, salt: Option<&'k str>, ciphers: &'k dyn Ciphers) -> Keys<'k> {
        Keys { secret, salt, ciphers }
    }

    /// Returns the keys that options ask for; `None` without a secret.
    #[must_use]
    pub fn of(options: &'k Options, ciphers: &'k dyn Ciphers) -> Option<Keys<'k>> {
        let secret = options.secret.as_ref()?;
        Some(Keys::new(secret, options.salt.as_deref(), ciphers))
    }

    pub(super) fn secret(&self) -> &'k [u8] {
        self.secret.bytes()
    }

    /// Returns the application's salt, or else the framework's.
    fn salts(&self, known: &'k [&'k str]) -> Vec<&'k str> {
        self.salt.map_or_else(|| known.to_vec(), |salt| vec![salt])
    }
}

impl<'t> Tools<'t> {
    /// Returns whether there is a secret that a signature was checked with, under one of these salts or the
    /// application's own.
    ///
    /// # Errors
    /// `Data` if the secret did not make the signature.
    pub(super) fn check(
        &self,
        row: &Row,
        salts: &'t [&'t str],
        is_signed: impl Fn(&Keys<'t>, &[u8]) -> bool,
    ) -> Result<bool> {
        let Some(keys) = &self.keys else { return Ok(false) };
        let salts = keys.salts(salts);
        match salts.iter().any(|salt| is_signed(keys, salt.as_bytes())) {
            true => Ok(true),
            false => Err(not_made("found a wrong signature", "made it", row, keys, &salts)),
        }
    }

    /// Returns what an attempt to decrypt returns, under one of these salts or the application's own.
    ///
    /// # Errors
    /// `Unsupported` without a secret, `Data` if it is not that of the data.
    pub(super) fn decrypt(
        &self,
        row: &Row,
        salts: &'t [&'t str],
        decrypted: impl Fn(&Keys<'t>, &[u8]) -> Option<Vec<u8>>,
    ) -> Result<Vec<u8>> {
        let Some(keys) = &self.keys else { return Err(encrypted()) };
        let salts = keys.salts(salts);
        let found = salts.iter().find_map(|salt| decrypted(keys, salt.as_bytes()));
        found.ok_or_else(|| {
            let found = "found data that the secret does not decrypt, or that was changed";
            not_made(found, "encrypted it", row, keys, &salts)
        })
    }
}

#[cold]
fn encrypted() -> Error {
    let found = "found encrypted data, which only the secret of the application opens";
    Error::new(ErrorKind::Unsupported, found).hint(Hint::give(Opt::Secret).to("decrypt it"))
}

#[cold]
fn not_made(found: &str, done: &str, row: &Row, keys: &Keys<'_>, salts: &[&str]) -> Error {
    let names: Vec<_> = salts.iter().map(|salt| format!("{salt:?}")).collect();
    let error = Error::new(
        ErrorKind::Data,
        format!("{found}, expected that the secret {done} with the salt {}", names.join(" or ")),
    );
    let unchecked = Hint::without("read it unchecked", Opt::Secret);
    match (keys.salt, row.name) {
        (None, _) => error.hint(Hint::give(Opt::Salt).when("the application passes another")),
        // Without the secret, nothing decrypts it.
        (Some(_), "rails-encrypted") => error,
        (Some(_), _) => error.hint(unchecked),
    }
}

/// Refuses an input in which nothing was checked, though a secret was given.
#[cold]
pub(super) fn nothing_checked() -> Error {
    let found = "found nothing that is signed or encrypted, expected what the secret is for";
    Error::new(ErrorKind::Data, found).hint(Hint::without("read it", Opt::Secret))
}
