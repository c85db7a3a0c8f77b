//! Transactions: one for a change of several statements, or one that a caller begins and ends.

use rusqlite::Connection;

/// A change of several statements: all of them are stored, or none.
///
/// Within a transaction of the caller it is a savepoint.
pub(super) struct Writing<'c> {
    connection: &'c Connection,
    is_nested: bool,
    is_open: bool,
}

impl<'c> Writing<'c> {
    pub(super) fn begin(connection: &'c Connection) -> rusqlite::Result<Writing<'c>> {
        let is_nested = !connection.is_autocommit();
        // Immediate, so that two writers wait for each other instead of failing halfway.
        let begin = if is_nested { "SAVEPOINT change" } else { "BEGIN IMMEDIATE" };
        connection.execute_batch(begin)?;
        Ok(Writing { connection, is_nested, is_open: true })
    }

    pub(super) fn commit(mut self) -> rusqlite::Result<()> {
        self.connection.execute_batch(if self.is_nested { "RELEASE change" } else { "COMMIT" })?;
        self.is_open = false;
        Ok(())
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        // SQLite has rolled back by itself after some errors.
        if self.is_open && !self.connection.is_autocommit() {
            let undo =
                if self.is_nested { "ROLLBACK TO change; RELEASE change" } else { "ROLLBACK" };
            // What cannot be undone now is undone when the connection closes.
            let _ = self.connection.execute_batch(undo);
        }
    }
}
