//! What can go wrong, and for which key.

use std::fmt;

/// The result of an operation.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

/// Why an operation failed. The next operation works, unless the text says otherwise.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An invalid URL, codec, collection or key: what was found and what was expected.
    Usage(String),
    /// The database failed: what was being done, and its message.
    Engine {
        /// What was being done.
        doing: String,
        /// The database's own message.
        message: String,
        /// Whether the same call may work a moment later, because a lock is held or the connection
        /// was lost before anything was sent.
        passing: bool,
    },
    /// The database has no room left, and nothing was changed.
    Full {
        /// What was being done.
        doing: String,
        /// What is full, and the server's message if there is one.
        message: String,
    },
    /// The name of something new is taken.
    Exists(String),
    /// A stored value is not what was put, according to its checksum or its envelope.
    Damaged {
        /// The key, for display.
        key: String,
        /// What is wrong.
        reason: String,
    },
    /// A value cannot be decoded, or cannot be held in the requested format.
    Document {
        /// The key, for display.
        key: String,
        /// The core's error, with offset and path.
        error: regauge::Error,
    },
    /// Something that should exist does not, such as a database or a collection.
    Absent(String),
    /// Another writer has changed the value meanwhile.
    Conflict {
        /// The key, for display.
        key: String,
    },
    /// The caller asked a walk to stop.
    Stopped,
}

impl Error {
    pub(crate) fn usage(message: impl Into<String>) -> Error {
        Error::Usage(message.into())
    }

    pub(crate) fn damaged(key: &[u8], reason: impl Into<String>) -> Error {
        Error::Damaged { key: shown(key), reason: reason.into() }
    }

    pub(crate) fn document(key: &[u8], error: regauge::Error) -> Error {
        Error::Document { key: shown(key), error }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Usage(message) | Error::Absent(message) | Error::Exists(message) => {
                out.write_str(message)
            }
            Error::Full { doing, message } => write!(out, "cannot {doing}: {message}"),
            Error::Engine { doing, message, passing } => {
                write!(out, "cannot {doing}: {message}")?;
                if *passing { out.write_str("; try again") } else { Ok(()) }
            }
            Error::Damaged { key, reason } => write!(out, "key {key}: {reason}"),
            Error::Document { key, error } => write!(out, "key {key}: {error}"),
            Error::Conflict { key } => {
                write!(out, "key {key}: another writer has changed it meanwhile; read it again")
            }
            Error::Stopped => out.write_str("stopped before the end"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Document { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// Formats a key for display: text in quotes, other bytes in hexadecimal.
#[must_use]
pub fn shown(key: &[u8]) -> String {
    match legible(key) {
        Some(text) => format!("\"{text}\""),
        None => format!("x'{}'", data_encoding::HEXLOWER.encode(key)),
    }
}

/// Returns the text of a key that is shown as it is: without hidden characters, except for joiners, which words
/// of Persian and some emoji are spelt with.
#[must_use]
pub fn legible(key: &[u8]) -> Option<&str> {
    let is_joiner = |character| matches!(character, '\u{200C}' | '\u{200D}');
    let is_unseen = |character| regauge::text::is_hidden(character) && !is_joiner(character);
    std::str::from_utf8(key).ok().filter(|text| !text.contains(is_unseen))
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn a_key_that_could_look_like_another_is_in_hexadecimal() {
        assert_eq!(shown("a/ü".as_bytes()), "\"a/ü\"");
        assert_eq!(shown("a\u{202E}b".as_bytes()), "x'61e280ae62'");
        assert_eq!(shown(b"a\n"), "x'610a'");
        assert_eq!(shown(b"\xFF"), "x'ff'");
        let joined = "می\u{200C}خواهم 👨\u{200D}👩";
        assert_eq!(shown(joined.as_bytes()), format!("\"{joined}\""));
    }
}
