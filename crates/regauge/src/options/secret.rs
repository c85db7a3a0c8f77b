//! The secret of an application, which no message shows.

use std::fmt;
use std::sync::Arc;

/// What an application signs and encrypts with: `secret_key_base` of Rails, `SECRET_KEY` of Django or Flask.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<[u8]>);

impl Secret {
    /// Returns the secret of these bytes; `None` if there are none, which signs nothing.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Secret> {
        (!bytes.is_empty()).then(|| Secret(bytes.into()))
    }

    /// Returns the secret in a file: all of it but one line end.
    #[must_use]
    pub fn from_file(bytes: &[u8]) -> Option<Secret> {
        let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        Secret::new(line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// Returns the bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_ends_with_a_line() {
        let bytes = |file: &[u8]| Secret::from_file(file).map(|secret| secret.bytes().to_vec());
        for (file, expected) in [
            (&b"abc"[..], &b"abc"[..]),
            (b"abc\n", b"abc"),
            (b"abc\r\n", b"abc"),
            (b" a\nb \n\n", b" a\nb \n"),
        ] {
            assert_eq!(bytes(file).as_deref(), Some(expected));
        }
        for file in [&b""[..], b"\n", b"\r\n"] {
            assert_eq!(bytes(file), None);
        }
        assert_eq!(format!("{:?}", Secret::new(b"hush")), "Some(Secret(…))");
    }
}
