//! Files to be removed when the process is interrupted.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

static FILES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the file when the process is interrupted, ended or loses its terminal, and then lets
/// the signal do what it does. That the file is gone by then, under this name, does no harm.
///
/// # Errors
/// Those of setting a signal handler.
pub fn remove_when_interrupted(path: &Path) -> io::Result<()> {
    let Ok(mut files) = FILES.lock() else { return Ok(()) };
    if files.is_empty() {
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        std::thread::spawn(move || {
            if let Some(signal) = signals.forever().next() {
                for path in FILES.lock().iter().flat_map(|files| files.iter()) {
                    let _ = std::fs::remove_file(path);
                }
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
        });
    }
    files.push(path.to_owned());
    Ok(())
}
