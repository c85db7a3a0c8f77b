//! Limits a process that is given hostile documents: memory by a system limit and a check every few
//! milliseconds, time by the clock and by a system limit in case nothing is left to watch the
//! clock.

use std::time::Duration;

use crate::run::process::Process;

/// So many times the memory that a document may fill may be reserved for it. Reserving costs
/// nothing, and libraries that do so for a length that is not there fail soon after, without harm;
/// but nobody should reserve what no machine has.
pub(crate) const RESERVED: u64 = 5;

/// The limits of one document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Bytes of memory above what the process had before it.
    pub memory: u64,
    pub time: Duration,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { memory: 512 << 20, time: Duration::from_secs(5) }
    }
}

/// CPU seconds that one process may use for all its documents: the system then ends it, even if
/// regauge is gone.
#[cfg(target_os = "linux")]
const CORE_SECONDS: u64 = 120;
/// Bytes that it may write to a file.
#[cfg(target_os = "linux")]
const FILE_BYTES: u64 = 64 << 20;

/// Sets the limits of the system on a running process. Its address space may grow by [`RESERVED`]
/// times `memory` above what it has mapped now: some runtimes map many gigabytes that they never
/// use. Elsewhere than on Linux the looks alone bound it.
#[cfg(target_os = "linux")]
pub(crate) fn bind(process: &Process, memory: u64) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let Some(pid) = Pid::from_raw(process.id().cast_signed()) else { return };
    let set = |resource, limit: u64| {
        // If a limit cannot be set, the others and the checks remain.
        let _ = prlimit(Some(pid), resource, Rlimit { current: Some(limit), maximum: Some(limit) });
    };
    if let Some(mapped) = mapped(process) {
        set(Resource::As, mapped + RESERVED * memory);
    }
    set(Resource::Core, 0);
    set(Resource::Cpu, CORE_SECONDS);
    set(Resource::Fsize, FILE_BYTES);
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn bind(_process: &Process, _memory: u64) {}

/// Returns the bytes of its address space.
#[cfg(target_os = "linux")]
fn mapped(process: &Process) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{}/status", process.id())).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Makes the highest memory so far the memory of now, where the system can; says whether it did.
pub(crate) fn forget_peak(process: &Process) -> bool {
    // `man 5 proc`: 5 resets VmHWM.
    std::fs::write(format!("/proc/{}/clear_refs", process.id()), "5").is_ok()
}
