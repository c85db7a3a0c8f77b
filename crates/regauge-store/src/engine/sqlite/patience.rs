//! How long a connection waits for another one that writes, and how often it asks.
//!
//! SQLite does not queue writers: a connection gets the file if it happens to ask while the file is
//! free. SQLite's own timeout asks more and more rarely, down to ten times a second, so a writer that
//! commits without a pause can keep the others waiting until they give up. Asking every few
//! milliseconds costs next to nothing, because a synced transaction takes about as long.

use std::cell::Cell;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::Connection;

/// How long a change waits for another writer.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// Milliseconds between two attempts, over and over again. They differ, so that two writers do not
/// stay in step.
const PAUSES: [u64; 4] = [1, 2, 1, 3];

thread_local! {
    static BEGUN: Cell<Instant> = Cell::new(Instant::now());
}

/// Makes a connection wait for others that write.
pub(super) fn wait_for_others(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.busy_handler(Some(ask_again))
}

/// Called when the file is in use, with the number of earlier calls. Returns whether to ask again.
fn ask_again(earlier: i32) -> bool {
    if earlier == 0 {
        BEGUN.set(Instant::now());
    }
    if BEGUN.get().elapsed() >= PATIENCE {
        return false;
    }
    sleep(Duration::from_millis(PAUSES[earlier.cast_unsigned() as usize % PAUSES.len()]));
    true
}
