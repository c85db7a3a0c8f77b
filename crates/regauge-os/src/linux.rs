//! What only Linux has.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::process::Child;

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::{Bounds, Memory};

/// Creates a file without a name in a folder: the system removes it, however this process ends.
///
/// # Errors
/// Those of the system; `Unsupported` by this system or this file system.
pub fn unnamed_file(folder: &Path) -> io::Result<File> {
    // Without /proc, the file could never get its name.
    if !Path::new("/proc/self/fd").is_dir() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(folder, flags, Mode::from_raw_mode(0o666))?))
}

/// Gives an unnamed file a name that does not exist.
///
/// # Errors
/// Those of the system; `AlreadyExists`.
pub fn give_name(file: &File, path: &Path) -> io::Result<()> {
    let here = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(rustix::fs::linkat(CWD, here, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

/// Returns what the system says of a process.
fn status(child: &Child) -> Option<String> {
    fs::read_to_string(format!("/proc/{}/status", child.id())).ok()
}

/// Returns a value of it in bytes.
fn bytes(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Returns the memory of a child, if the system reports it.
pub fn memory(child: &Child) -> Option<Memory> {
    let status = status(child)?;
    Some(Memory { resident: bytes(&status, "VmRSS:")?, peak: bytes(&status, "VmHWM:")? })
}

/// Makes the most memory so far the memory of now, if the system can; returns whether it did.
pub fn forget_peak(child: &Child) -> bool {
    // 5 resets VmHWM (proc(5)).
    fs::write(format!("/proc/{}/clear_refs", child.id()), "5").is_ok()
}

/// Sets the limits of the system on a running child. Those that cannot be set are left out. The
/// system ends a child that exceeds one, even if we are gone.
pub fn bind(child: &Child, bounds: Bounds) {
    let Some(id) = Pid::from_raw(child.id().cast_signed()) else { return };
    let set = |resource, limit: u64| {
        let _ = prlimit(Some(id), resource, Rlimit { current: Some(limit), maximum: Some(limit) });
    };
    if let Some(mapped) = status(child).and_then(|status| bytes(&status, "VmSize:")) {
        set(Resource::As, mapped + bounds.growth);
    }
    set(Resource::Core, 0);
    set(Resource::Cpu, bounds.core_seconds);
    set(Resource::Fsize, bounds.file_bytes);
}

/// A set of cores that threads may run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cores(CpuSet);

impl Cores {
    /// Returns those that the calling thread may use, or nothing if the system does not pin
    /// threads.
    pub fn allowed() -> Option<Cores> {
        sched_getaffinity(None).ok().map(Cores)
    }

    /// Returns a set of one of them.
    pub fn only(&self, number: usize) -> Cores {
        let mut set = CpuSet::new();
        set.set(number);
        Cores(set)
    }

    /// Returns their numbers.
    pub fn numbers(&self) -> Vec<usize> {
        (0..CpuSet::MAX_CPU).filter(|number| self.0.is_set(*number)).collect()
    }

    /// Lets the calling thread run on these only; returns whether the system allowed it.
    pub fn pin_here(&self) -> bool {
        sched_setaffinity(None, &self.0).is_ok()
    }

    /// Lets a thread of any process run on these only; returns whether the system allowed it.
    pub fn pin_thread(&self, id: u32) -> bool {
        let id = i32::try_from(id).ok().and_then(Pid::from_raw);
        id.is_some_and(|id| sched_setaffinity(Some(id), &self.0).is_ok())
    }
}
