//! Tokens: `rgt_` and a public number, a dot, and a secret.
//!
//! The number finds the token, the secret proves it. Only the HMAC-SHA-256 of both under the
//! server's key is stored: reading the registry reveals no token, and 256 random bits cannot be
//! guessed, so a slow hash would add nothing. Hashes are compared in constant time.

use std::fmt;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::str::FromStr;

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use super::{Error, Result, failed};

const PREFIX: &str = "rgt_";
/// Bytes of the public number.
const NUMBER_BYTES: usize = 8;
/// Random bytes of the secret.
const SECRET_BYTES: usize = 32;
/// Characters of them in base64url.
const SECRET_CHARACTERS: usize = 43;
/// Domain separation: the key serves no other purpose.
const PURPOSE: &[u8] = b"regauge gateway token 1\0";

/// What a token allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Reading a tenant's values.
    Read,
    /// Changing them.
    Write,
    /// Creating, suspending, moving and dropping tenants, and issuing tokens.
    Admin,
    /// Reading the metrics.
    Metrics,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Scope; 4] = [Scope::Read, Scope::Write, Scope::Admin, Scope::Metrics];

    /// Returns its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Scope::Read => "read",
            Scope::Write => "write",
            Scope::Admin => "admin",
            Scope::Metrics => "metrics",
        }
    }

    /// Returns whether it belongs to a tenant's tokens rather than the gateway's.
    #[must_use]
    pub fn is_of_tenant(self) -> bool {
        matches!(self, Scope::Read | Scope::Write)
    }
}

/// A set of scopes, written `read,write`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scopes(u8);

impl Scopes {
    /// Creates a set of these.
    #[must_use]
    pub fn of(scopes: &[Scope]) -> Scopes {
        Scopes(scopes.iter().fold(0, |set, one| set | 1 << *one as u8))
    }

    /// Returns whether it is in the set.
    #[must_use]
    pub fn has(self, scope: Scope) -> bool {
        self.0 & 1 << scope as u8 != 0
    }

    /// Returns the scopes in the set.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |one| self.has(*one))
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.iter().map(Scope::name).collect();
        out.write_str(&names.join(","))
    }
}

impl FromStr for Scopes {
    type Err = Error;

    fn from_str(text: &str) -> Result<Scopes> {
        let mut scopes = Vec::new();
        for name in text.split(',') {
            let known = Scope::ALL.into_iter().find(|one| one.name() == name.trim());
            scopes.push(known.ok_or_else(|| {
                Error::Usage(format!(
                    "found scope \"{}\", expected read, write, admin or metrics",
                    name.escape_debug()
                ))
            })?);
        }
        Ok(Scopes::of(&scopes))
    }
}

/// The public part of a token.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenId([u8; NUMBER_BYTES]);

impl TokenId {
    fn parse(digits: &str) -> Option<TokenId> {
        // Uppercase digits are not an alternative spelling of the same token.
        Some(TokenId(HEXLOWER.decode(digits.as_bytes()).ok()?.try_into().ok()?))
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&HEXLOWER.encode(&self.0))
    }
}

impl fmt::Debug for TokenId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl FromStr for TokenId {
    type Err = Error;

    fn from_str(text: &str) -> Result<TokenId> {
        TokenId::parse(text).ok_or_else(|| {
            Error::Usage(format!(
                "found \"{}\" as the number of a token, expected 16 digits of 0 to 9 and a to f",
                text.escape_debug()
            ))
        })
    }
}

/// A whole token, which is shown once, to its future owner.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenText(String);

impl TokenText {
    /// Returns the token itself. Not for logs.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for TokenText {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("TokenText(…)")
    }
}

/// A token as found in a request: well-formed, but not verified.
pub struct Presented<'t> {
    /// Its public part.
    pub id: TokenId,
    secret: &'t str,
}

impl<'t> Presented<'t> {
    /// Parses a token; `None` if it is malformed.
    #[must_use]
    pub fn parse(text: &'t str) -> Option<Presented<'t>> {
        let (number, secret) = text.strip_prefix(PREFIX)?.split_once('.')?;
        let plain = |one: u8| one.is_ascii_alphanumeric() || one == b'-' || one == b'_';
        if secret.len() != SECRET_CHARACTERS || !secret.bytes().all(plain) {
            return None;
        }
        Some(Presented { id: TokenId::parse(number)?, secret })
    }
}

/// A token as stored in the registry.
#[derive(Clone)]
pub struct Token {
    /// Its public part.
    pub id: TokenId,
    /// The number of its tenant; `None` for a gateway token.
    pub tenant: Option<i64>,
    /// What it allows.
    pub scopes: Scopes,
    /// When it was created: seconds since 1970-01-01 UTC.
    pub created: i64,
    /// When it expires; `None` is never.
    pub expires: Option<i64>,
    pub(super) hash: [u8; 32],
}

/// The server's key.
pub(super) struct ServerKey([u8; 32]);

impl ServerKey {
    /// Reads the key, or creates one if there is none.
    pub(super) fn load_or_make(path: &Path) -> Result<ServerKey> {
        let doing = || format!("read the key {}", path.display());
        let mut key = [0; 32];
        match regauge_os::create_private_file(path) {
            Ok(mut file) => {
                getrandom::fill(&mut key).map_err(|error| failed("make a key", error))?;
                file.write_all(&key)
                    .and_then(|()| file.sync_all())
                    .map_err(|error| failed(format!("write the key {}", path.display()), error))?;
                return Ok(ServerKey(key));
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(format!("make the key {}", path.display()), error)),
        }
        let mut file = File::open(path).map_err(|error| failed(doing(), error))?;
        let data = file.metadata().map_err(|error| failed(doing(), error))?;
        if let Some(mode) = regauge_os::mode_if_shared(&data) {
            return Err(Error::Usage(format!(
                "the key {} has mode {mode:03o}, so others can read it; run chmod 600 on it",
                path.display()
            )));
        }
        if data.len() != 32 {
            return Err(Error::Usage(format!(
                "the key {} has {} bytes, expected 32",
                path.display(),
                data.len()
            )));
        }
        file.read_exact(&mut key).map_err(|error| failed(doing(), error))?;
        Ok(ServerKey(key))
    }

    fn hash(&self, id: TokenId, secret: &str) -> [u8; 32] {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("a key of any length");
        mac.update(PURPOSE);
        mac.update(&id.0);
        mac.update(secret.as_bytes());
        mac.finalize().into_bytes().into()
    }

    /// Creates a token and its hash.
    pub(super) fn make(&self) -> Result<(TokenId, TokenText, [u8; 32])> {
        let (mut number, mut secret) = ([0; NUMBER_BYTES], [0; SECRET_BYTES]);
        for bytes in [&mut number[..], &mut secret[..]] {
            getrandom::fill(bytes).map_err(|error| failed("make a token", error))?;
        }
        let id = TokenId(number);
        let secret = BASE64URL_NOPAD.encode(&secret);
        let hash = self.hash(id, &secret);
        Ok((id, TokenText(format!("{PREFIX}{id}.{secret}")), hash))
    }

    /// Returns whether a token has this hash. Takes constant time, even without a hash.
    pub(super) fn proves(&self, presented: &Presented<'_>, known: Option<&Token>) -> bool {
        let expected = known.map_or([0; 32], |token| token.hash);
        let found = self.hash(presented.id, presented.secret);
        let same = bool::from(found[..].ct_eq(&expected[..]));
        same && known.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> (tempfile::TempDir, ServerKey) {
        let folder = tempfile::tempdir().unwrap();
        let key = ServerKey::load_or_make(&folder.path().join("key")).unwrap();
        (folder, key)
    }

    #[test]
    fn a_token_proves_itself_and_no_other() {
        let (_folder, key) = key();
        let (id, text, hash) = key.make().unwrap();
        let token = Token { id, tenant: None, scopes: Scopes(1), created: 0, expires: None, hash };
        let proves = |text: &str| match Presented::parse(text) {
            Some(shown) => key.proves(&shown, Some(&token).filter(|one| one.id == shown.id)),
            None => false,
        };
        assert!(proves(text.reveal()));
        // Every other character at every place: base64url has spare bits at the end, and the text
        // is what is compared.
        let whole = text.reveal().as_bytes();
        for place in 0..whole.len() {
            for other in 0x20..0x7F_u8 {
                if other != whole[place] {
                    let mut forged = whole.to_vec();
                    forged[place] = other;
                    assert!(!proves(std::str::from_utf8(&forged).unwrap()));
                }
            }
            assert!(!proves(&text.reveal()[..place]));
        }
        assert!(!proves(&format!("{}A", text.reveal())));
        let (_other_folder, other) = self::key();
        assert!(!other.proves(&Presented::parse(text.reveal()).unwrap(), Some(&token)));
        assert!(!key.proves(&Presented::parse(text.reveal()).unwrap(), None));
    }

    #[cfg(unix)]
    #[test]
    fn the_key_is_the_owners_alone() {
        use regauge_testdata::unix::{mode, set_mode};
        let (folder, key) = key();
        let path = folder.path().join("key");
        assert_eq!(mode(&path), 0o600);
        assert_eq!(ServerKey::load_or_make(&path).unwrap().0, key.0, "it is kept");
        set_mode(&path, 0o640);
        let error = ServerKey::load_or_make(&path).err().unwrap().to_string();
        assert!(
            error.ends_with("has mode 640, so others can read it; run chmod 600 on it"),
            "{error}"
        );
        set_mode(&path, 0o600);
        std::fs::write(&path, b"short").unwrap();
        assert!(ServerKey::load_or_make(&path).is_err());
    }

    #[test]
    fn a_token_is_shown_by_no_debug_print() {
        let (_folder, key) = key();
        assert_eq!(format!("{:?}", key.make().unwrap().1), "TokenText(…)");
    }

    #[test]
    fn scopes() {
        assert_eq!("write,read".parse::<Scopes>().unwrap().to_string(), "read,write");
        assert!("".parse::<Scopes>().is_err());
        assert!("all".parse::<Scopes>().is_err());
        assert!(!Scopes::of(&[Scope::Read]).has(Scope::Write));
    }
}
