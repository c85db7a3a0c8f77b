//! What only tests ask of Linux and the like: modes, links, signals.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

pub use std::os::unix::fs::symlink;

/// Returns the permissions of a file.
///
/// # Panics
/// If there is no such file.
pub fn mode(path: impl AsRef<Path>) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// Sets the permissions of a file.
///
/// # Panics
/// If there is no such file.
pub fn set_mode(path: impl AsRef<Path>, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Returns what changes when a file is written or replaced: its number and its times.
///
/// # Panics
/// If there is no such file.
pub fn moment(path: impl AsRef<Path>) -> [i64; 4] {
    let data = fs::metadata(path).unwrap();
    [data.ino().cast_signed(), data.mtime(), data.mtime_nsec(), data.ctime_nsec()]
}

/// Returns the signal that ended a process.
pub fn signal(status: ExitStatus) -> Option<i32> {
    status.signal()
}

fn process(id: u32) -> Pid {
    Pid::from_raw(id.cast_signed()).unwrap()
}

/// Sends a process what Ctrl-C sends.
///
/// # Panics
/// If there is no such process.
pub fn interrupt(id: u32) {
    kill_process(process(id), Signal::INT).unwrap();
}

/// Returns whether a process has ended, even if nobody has asked for its status yet.
///
/// # Panics
/// If no process can have this number.
pub fn has_ended(id: u32) -> bool {
    let stat = || fs::read_to_string(format!("/proc/{id}/stat"));
    test_kill_process(process(id)).is_err() || stat().is_ok_and(|stat| stat.contains(") Z "))
}
