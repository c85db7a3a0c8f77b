//! Opens a file.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::patience::wait_for_others;
use super::{code, failed};
use crate::error::Error;

/// Opens a file, or a URL of one, in this mode.
pub(super) fn connect(path: &str, mode: OpenFlags) -> rusqlite::Result<Connection> {
    let flags = mode | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(Path::new(path), flags)?;
    wait_for_others(&mut connection)?;
    // Otherwise a misspelt column in double quotes would be read as a string.
    for one in [DbConfig::SQLITE_DBCONFIG_DQS_DML, DbConfig::SQLITE_DBCONFIG_DQS_DDL] {
        connection.set_db_config(one, false)?;
    }
    Ok(connection)
}

/// Returns the error for a file that cannot be opened. SQLite does not say that it is read-only, which a
/// file in WAL mode cannot be: its index is another file.
pub(super) fn unopened(path: &str, doing: &str, error: rusqlite::Error) -> Error {
    let is_closed = code(&error) == Some(ErrorCode::CannotOpen);
    match is_closed.then(|| OpenOptions::new().append(true).open(path)) {
        Some(Err(found)) if found.kind() == io::ErrorKind::ReadOnlyFilesystem => Error::Engine {
            doing: doing.to_owned(),
            message: "the file system is read-only, and a file in WAL mode needs others beside it"
                .to_owned(),
            passing: false,
        },
        _ => failed(doing)(error),
    }
}
