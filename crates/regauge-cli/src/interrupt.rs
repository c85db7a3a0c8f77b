//! Cleanup when the process is interrupted, terminated or loses its terminal: unfinished files are
//! removed. A command that can stop early with what it has is asked to do so first.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Once};

use regauge_os::Signal;

use crate::failure::complain;

static FILES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static ASKED: Mutex<Option<Arc<AtomicBool>>> = Mutex::new(None);
static LISTENING: Once = Once::new();

/// Removes the file or folder when the process is interrupted, terminated or loses its terminal,
/// and then lets the signal take its course. It is harmless if the path no longer exists by then.
///
/// # Errors
/// Those of setting a signal handler.
pub fn remove_when_interrupted(path: &Path) -> io::Result<()> {
    let Ok(mut files) = FILES.lock() else { return Ok(()) };
    files.push(path.to_owned());
    drop(files);
    listen()
}

/// Returns a flag that the first Ctrl-C sets instead of ending the process. The second one ends it
/// and its contenders.
///
/// # Errors
/// Those of setting a signal handler.
pub fn stop_flag() -> io::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    if let Ok(mut asked) = ASKED.lock() {
        *asked = Some(Arc::clone(&flag));
    }
    listen()?;
    Ok(flag)
}

fn listen() -> io::Result<()> {
    let mut result = Ok(());
    LISTENING.call_once(|| {
        result = regauge_os::on_signal(|signal| {
            if signal != Signal::Interrupt || !asks_first() {
                end(signal);
            }
        });
    });
    result
}

/// Sets the flag, if there is one that is unset; returns whether it did.
fn asks_first() -> bool {
    let Ok(asked) = ASKED.lock() else { return false };
    let first = asked.as_ref().is_some_and(|flag| !flag.swap(true, Ordering::Relaxed));
    if first {
        complain("stopping; results so far are kept (press Ctrl-C again to quit immediately)");
    }
    first
}

fn end(signal: Signal) {
    regauge_measure::end_all();
    for path in FILES.lock().iter().flat_map(|files| files.iter()) {
        let _ = std::fs::remove_file(path);
        let _ = std::fs::remove_dir_all(path);
    }
    regauge_os::end_by(signal);
}
