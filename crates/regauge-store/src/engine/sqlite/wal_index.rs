//! The header of SQLite's WAL index: whether anything was committed since the last check.
//!
//! A file in WAL mode has an index in memory that all its connections share. It begins with two
//! copies of a header that every commit changes: a counter, the last frame, a checksum over all
//! frames (<https://www.sqlite.org/walformat.html>, section 2.1). SQLite reads it without a lock
//! when a read begins, and trusts its own cache of the database while it is unchanged; so do we.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{Ordering, fence};

use rusqlite::{Connection, ffi};

/// Bytes of a copy of the header.
const HEADER: usize = 48;
/// Bytes of the index that are mapped at a time.
const REGION: c_int = 32_768;
/// Where the header says that it is initialised.
const IS_INIT: usize = 12;

/// A snapshot of the header. Between two equal ones there was no commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment([u8; HEADER]);

/// The header of a connection's file.
pub(super) struct WalIndex {
    header: *const u8,
}

// SAFETY: the memory is shared by processes and threads anyway, and `now` is prepared for any
// change to it. The pointer belongs to the connection it came from, which may be sent.
unsafe impl Send for WalIndex {}

impl WalIndex {
    /// Returns the header of a file that is in WAL mode and was read through this connection;
    /// `None` for any other.
    ///
    /// # Safety
    /// It must not be used after the connection is closed, or has left WAL mode.
    pub(super) unsafe fn of(connection: &Connection) -> Option<WalIndex> {
        let mode: String =
            connection.query_row("PRAGMA journal_mode", [], |row| row.get(0)).ok()?;
        if mode != "wal" {
            return None;
        }
        let mut file: *mut ffi::sqlite3_file = std::ptr::null_mut();
        let place = (&raw mut file).cast::<c_void>();
        // SAFETY: the handle is open, and this operation stores a pointer where the last argument
        // points (<https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html>).
        let code = unsafe {
            let name = c"main".as_ptr();
            ffi::sqlite3_file_control(
                connection.handle(),
                name,
                ffi::SQLITE_FCNTL_FILE_POINTER,
                place,
            )
        };
        if code != ffi::SQLITE_OK || file.is_null() {
            return None;
        }
        let mut header: *mut c_void = std::ptr::null_mut();
        // SAFETY: the file is the connection's, and open. Methods of version 2 and above have
        // `xShmMap`; if it is not asked to extend, it returns the memory that the connection has
        // mapped already, which stays where it is while the connection is in WAL mode.
        let code = unsafe {
            let methods = (*file).pMethods.as_ref()?;
            if methods.iVersion < 2 {
                return None;
            }
            methods.xShmMap?(file, 0, REGION, 0, &raw mut header)
        };
        let found = code == ffi::SQLITE_OK && !header.is_null();
        found.then(|| WalIndex { header: header.cast::<u8>().cast_const() })
    }

    /// Returns the header now; `None` while it is being changed.
    pub(super) fn now(&self) -> Option<Moment> {
        // As SQLite's `walIndexTryHdr`: a writer changes the second copy first.
        let first = self.copy(0);
        fence(Ordering::SeqCst);
        let second = self.copy(HEADER);
        (first == second && first[IS_INIT] != 0).then_some(Moment(first))
    }

    fn copy(&self, from: usize) -> [u8; HEADER] {
        let mut copy = [0; HEADER];
        for (place, part) in copy.chunks_exact_mut(8).enumerate() {
            // SAFETY: the two copies are at the beginning of a mapped region, which is
            // page-aligned, and every bit pattern is a number. Others may write meanwhile: a torn
            // copy differs from the other one.
            let word = unsafe { self.header.add(from + 8 * place).cast::<u64>().read_volatile() };
            part.copy_from_slice(&word.to_ne_bytes());
        }
        copy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(path: &std::path::Path, mode: &str) -> Connection {
        let connection = Connection::open(path).unwrap();
        connection.pragma_update(None, "journal_mode", mode).unwrap();
        connection
            .execute_batch("CREATE TABLE IF NOT EXISTS t (a); SELECT count(*) FROM t")
            .unwrap();
        connection
    }

    #[test]
    fn a_moment_ends_with_anybodys_commit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let (one, other) = (open(&path, "wal"), open(&path, "wal"));
        // SAFETY: the connection outlives it, in WAL mode.
        let index = unsafe { WalIndex::of(&one) }.unwrap();
        let mut last = index.now().unwrap();
        assert_eq!(index.now(), Some(last));
        for connection in [&one, &other, &one] {
            connection.execute("INSERT INTO t VALUES (1)", []).unwrap();
            let now = index.now().unwrap();
            assert_ne!(now, last);
            last = now;
        }
        // Uncommitted changes do not count, and rolled-back ones never happened.
        other.execute_batch("BEGIN IMMEDIATE; INSERT INTO t VALUES (2)").unwrap();
        assert_eq!(index.now(), Some(last));
        other.execute_batch("ROLLBACK").unwrap();
        assert_eq!(index.now(), Some(last));
        // A checkpoint moves the log into the file: no value changes.
        let (): () = other.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(())).unwrap();
        assert_eq!(index.now(), Some(last));
        other.execute("DELETE FROM t", []).unwrap();
        assert_ne!(index.now(), Some(last));
    }

    #[test]
    fn a_file_without_a_log_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let connection = open(&folder.path().join("a.db"), "delete");
        // SAFETY: as above.
        assert!(unsafe { WalIndex::of(&connection) }.is_none());
        let files = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(files, 1, "it has no shared memory, and is given none");
        let connection = Connection::open_in_memory().unwrap();
        // SAFETY: as above.
        assert!(unsafe { WalIndex::of(&connection) }.is_none());
    }
}
