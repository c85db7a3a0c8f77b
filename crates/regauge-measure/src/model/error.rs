//! Errors that end a whole measurement. Trouble with one contender does not; it goes into the
//! report.

use std::fmt;
use std::path::{Path, PathBuf};

/// Why there is no report.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    Io {
        /// What was being done, such as "read".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The data cannot be measured; the message says where and why.
    Input(String),
    /// An adapter file does not say what it must.
    Adapter {
        /// The adapter.
        path: PathBuf,
        /// What is missing or wrong in it.
        reason: String,
    },
    /// A runner file does not say what it must.
    Runner {
        /// The runner.
        path: PathBuf,
        /// What is missing or wrong in it.
        reason: String,
    },
    /// The choice of contenders leaves none.
    NoContender(String),
    /// There is no such runtime.
    NoRuntime(String),
    /// The task does not exist, or cannot run on this data.
    Task(String),
    /// A step of the set-up failed.
    Setup(String),
}

impl Error {
    /// Returns a function for `map_err` on file operations.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        move |source| Error::Io { action, path: path.to_path_buf(), source }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io { action, path, source } => {
                write!(out, "cannot {action} {}: {source}", path.display())
            }
            Error::Input(message)
            | Error::NoContender(message)
            | Error::NoRuntime(message)
            | Error::Task(message)
            | Error::Setup(message) => out.write_str(message),
            Error::Adapter { path, reason } => {
                write!(out, "contender {}: {reason}", path.display())
            }
            Error::Runner { path, reason } => write!(out, "runner {}: {reason}", path.display()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
