//! Injected failures: every write, sync, truncation and removal that SQLite asks of its files
//! fails, each in a separate run, alone and with all that follow it. A failing write has written
//! half.
//!
//! SQLite's own file layer does the work; this intercepts four of its operations.

#![allow(unsafe_code, reason = "a file layer of SQLite is a table of C functions")]

use std::ffi::{c_char, c_int, c_void};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};
use std::sync::{Mutex, OnceLock};

use regauge::Format;
use regauge_store::{Error, Range, Store, verify};
use rusqlite::ffi;

/// Number of operations since the failure was planned.
static OPERATIONS: AtomicI64 = AtomicI64::new(0);
/// Which of them fails; none if negative.
static FAILS_AT: AtomicI64 = AtomicI64::new(-1);
/// Whether all fail from then on.
static FOR_GOOD: AtomicBool = AtomicBool::new(false);

fn fails() -> bool {
    let (number, at) = (OPERATIONS.fetch_add(1, SeqCst), FAILS_AT.load(SeqCst));
    at >= 0 && (number == at || FOR_GOOD.load(SeqCst) && number > at)
}

/// Plans a failure, or none.
fn plan(at: i64, for_good: bool) {
    FAILS_AT.store(at, SeqCst);
    FOR_GOOD.store(for_good, SeqCst);
    OPERATIONS.store(0, SeqCst);
}

/// A pointer that all threads read and none changes.
struct Shared<T>(*mut T);
// SAFETY: the pointee never changes after it was stored in its static.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Shared<T> {}

/// SQLite's own layer.
static OWN: OnceLock<Shared<ffi::sqlite3_vfs>> = OnceLock::new();
/// Its tables of file functions, one for files with locks and one for those without, and ours for
/// each.
static TABLES: Mutex<Vec<(usize, Shared<ffi::sqlite3_io_methods>)>> = Mutex::new(Vec::new());
/// The functions that ours intercept: both tables have the same.
static FUNCTIONS: OnceLock<ffi::sqlite3_io_methods> = OnceLock::new();

fn own() -> &'static ffi::sqlite3_io_methods {
    FUNCTIONS.get().expect("a file was opened")
}

/// Returns our table for one of SQLite's.
///
/// # Safety
/// It is one of SQLite's, which exist for the whole process.
unsafe fn table(of: *const ffi::sqlite3_io_methods) -> *const ffi::sqlite3_io_methods {
    let mut tables = TABLES.lock().unwrap();
    if let Some((_, ours)) = tables.iter().find(|(known, _)| *known == of.addr()) {
        return ours.0;
    }
    // SAFETY: as above.
    let mut ours = unsafe { *of };
    let first = FUNCTIONS.get_or_init(|| ours);
    assert!(
        first.xWrite.map(|f| f as usize) == ours.xWrite.map(|f| f as usize),
        "one way to write"
    );
    ours.xWrite = Some(write);
    ours.xSync = Some(sync);
    ours.xTruncate = Some(truncate);
    let ours = Box::leak(Box::new(ours));
    tables.push((of.addr(), Shared(ours)));
    ours
}

unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    given: *mut c_int,
) -> c_int {
    let layer = OWN.get().expect("registered").0;
    // SAFETY: SQLite's own function, with SQLite's arguments; an open file has a table, and ours is
    // identical except for three functions.
    unsafe {
        let code = (*layer).xOpen.expect("every layer opens")(layer, name, file, flags, given);
        if code == ffi::SQLITE_OK && !(*file).pMethods.is_null() {
            (*file).pMethods = table((*file).pMethods);
        }
        code
    }
}

unsafe extern "C" fn remove(_: *mut ffi::sqlite3_vfs, name: *const c_char, sync: c_int) -> c_int {
    if fails() {
        return ffi::SQLITE_IOERR_DELETE;
    }
    let layer = OWN.get().expect("registered").0;
    // SAFETY: SQLite's own function, with SQLite's arguments.
    unsafe { (*layer).xDelete.expect("every layer deletes")(layer, name, sync) }
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    bytes: *const c_void,
    count: c_int,
    at: i64,
) -> c_int {
    let fails = fails();
    let count = if fails { count / 2 } else { count };
    // SAFETY: SQLite's own function, with no more than SQLite's arguments.
    let code = unsafe { own().xWrite.expect("every file is written")(file, bytes, count, at) };
    // Alternates between a full disk and a broken one.
    match (fails, OPERATIONS.load(SeqCst) % 2) {
        (true, 0) => ffi::SQLITE_FULL,
        (true, _) => ffi::SQLITE_IOERR_WRITE,
        (false, _) => code,
    }
}

/// Nothing is synced: the machine does not lose power.
unsafe extern "C" fn sync(_: *mut ffi::sqlite3_file, _: c_int) -> c_int {
    if fails() { ffi::SQLITE_IOERR_FSYNC } else { ffi::SQLITE_OK }
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: i64) -> c_int {
    if fails() {
        return ffi::SQLITE_IOERR_TRUNCATE;
    }
    // SAFETY: SQLite's own function, with SQLite's arguments.
    unsafe { own().xTruncate.expect("every file is cut")(file, size) }
}

/// Routes every database opened from now on through the functions above.
fn register() {
    // SAFETY: SQLite's default layer exists for the whole process, and so does its copy.
    unsafe {
        let layer = ffi::sqlite3_vfs_find(std::ptr::null());
        assert!(!layer.is_null());
        let mut ours = *layer;
        ours.zName = c"failing".as_ptr();
        ours.pNext = std::ptr::null_mut();
        ours.xOpen = Some(open);
        ours.xDelete = Some(remove);
        OWN.get_or_init(|| Shared(layer));
        let code = ffi::sqlite3_vfs_register(Box::leak(Box::new(ours)), 1);
        assert_eq!(code, ffi::SQLITE_OK);
    }
}

const STEPS: usize = 12;

fn key(step: usize, part: usize) -> String {
    format!("{step:02}/{part}")
}

/// Values put per step.
fn parts(step: usize) -> usize {
    2 + step % 3
}

/// Returns the value of a key: some have a few bytes, some several pages.
fn value(step: usize, part: usize) -> String {
    let filler = "a page is soon full ".repeat([1, 40, 900][(step + part) % 3]);
    format!("{{\"step\":{step},\"part\":{part},\"filler\":\"{filler}\"}}")
}

/// Runs one step in one transaction: puts values, records in `last` that it was the last, and
/// deletes the first value of the step before the last.
fn step(store: &mut Store, step: usize) -> Result<(), Error> {
    let mut changes: Vec<(String, Option<String>)> =
        (0..parts(step)).map(|part| (key(step, part), Some(value(step, part)))).collect();
    changes.push(("last".to_owned(), Some(step.to_string())));
    if let Some(before) = step.checked_sub(2) {
        changes.push((key(before, 0), None));
    }
    let changes: Vec<(&[u8], Option<&[u8]>)> = changes
        .iter()
        .map(|(key, value)| (key.as_bytes(), value.as_ref().map(|text| text.as_bytes())))
        .collect();
    store.put_many(&changes, Format::Json)
}

/// Runs all steps, closing and reopening the store after every fourth. Returns which were
/// acknowledged, and the errors.
fn run(url: &str) -> (Vec<bool>, Vec<Error>) {
    let (mut done, mut errors) = (vec![false; STEPS], Vec::new());
    let mut store = None;
    for (number, done) in done.iter_mut().enumerate() {
        if number % 4 == 0 {
            // The last connection to close writes the log back into the file.
            drop(store.take());
        }
        for _ in 0..2 {
            if store.is_none() {
                let codec = Some("msgpack+zstd".parse().unwrap());
                match Store::open(url, "objects", codec) {
                    Ok(opened) => store = Some(opened),
                    Err(error) => errors.push(error),
                }
            }
        }
        let Some(store) = &mut store else { continue };
        match step(store, number) {
            Ok(()) => *done = true,
            Err(error) => {
                errors.push(error);
                // It can still be read.
                let last = store.get(b"last", Format::Json);
                assert!(last.is_ok(), "{last:?}");
            }
        }
    }
    (done, errors)
}

/// Checks the file after a run, with SQLite itself and with the store.
fn check(path: &Path, url: &str, done: &[bool], at: &str) {
    let connection = rusqlite::Connection::open(path).unwrap();
    let sound: String =
        connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok", "{at}");
    drop(connection);
    let mut store = match Store::open_existing(url, "objects") {
        Ok(store) => store,
        Err(error) => {
            assert!(!done.contains(&true), "{at}: {error}");
            return;
        }
    };
    let none = &mut |error: &Error| panic!("{at}: {error}");
    verify::verify(&mut store, &Range::all(), none, &mut |_| ()).unwrap();
    let mut get = |key: &str| {
        let found = store.get(key.as_bytes(), Format::Json).unwrap();
        found.map(|text| String::from_utf8(text).unwrap())
    };
    let there: Vec<bool> = (0..STEPS).map(|step| get(&key(step, 1)).is_some()).collect();
    for step in 0..STEPS {
        assert!(there[step] || !done[step], "{at}: step {step} was acknowledged, and is lost");
        for part in 0..parts(step) {
            let is_deleted = part == 0 && there.get(step + 2) == Some(&true);
            let wanted = (there[step] && !is_deleted).then(|| value(step, part));
            assert!(get(&key(step, part)) == wanted, "{at}: step {step} is torn at part {part}");
        }
    }
    let last = there.iter().rposition(|there| *there).map(|step| step.to_string());
    assert_eq!(get("last"), last, "{at}");
}

#[test]
fn each_write_and_sync_may_fail() {
    register();
    let run_in = |at: i64, for_good: bool| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("failing.db");
        let url = format!("sqlite:{}", path.display());
        plan(at, for_good);
        let (done, errors) = run(&url);
        let operations = OPERATIONS.load(SeqCst);
        plan(-1, false);
        let how = if for_good { "and all after it" } else { "alone" };
        check(&path, &url, &done, &format!("operation {at} fails, {how}"));
        (done, errors, operations)
    };
    let (done, errors, operations) = run_in(-1, false);
    assert!(errors.is_empty() && done == [true; STEPS], "{errors:?}");
    assert!(operations > 100, "{operations}");
    let mut told = 0;
    for at in 0..operations {
        let (done, errors, _) = run_in(at, false);
        let failed = done.iter().filter(|done| !**done).count();
        assert!(errors.len() <= 1 && failed <= 1, "operation {at} alone: {errors:?}");
        told += errors.len();
        let (done, errors, _) = run_in(at, true);
        assert!(!errors.is_empty() || done == [true; STEPS], "operation {at}: nobody was told");
        for error in errors {
            let text = error.to_string();
            let is_clear = ["disk", "I/O", "full", "file"].iter().any(|word| text.contains(word));
            assert!(is_clear, "operation {at}: {text}");
        }
    }
    println!("failing: {operations} operations, each alone ({told} told) and for good");
    assert!(told > 50, "most of the failures of one operation are told: {told}");
}
