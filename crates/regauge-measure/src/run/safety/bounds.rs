//! Limits a process that is given hostile documents: memory by a system limit and a check every few
//! milliseconds, time by the clock and by a system limit in case nothing is left to watch the
//! clock.

use std::time::Duration;

use regauge_os as os;

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
const CORE_SECONDS: u64 = 120;
/// Bytes that it may write to a file.
const FILE_BYTES: u64 = 64 << 20;

/// Sets the limits of the system on a running process. Its address space may grow by [`RESERVED`]
/// times `memory` above what it has mapped now: some runtimes map many gigabytes that they never
/// use. Elsewhere than on Linux the looks alone bound it.
pub(crate) fn bind(process: &Process, memory: u64) {
    let growth = RESERVED * memory;
    let bounds = os::Bounds { growth, core_seconds: CORE_SECONDS, file_bytes: FILE_BYTES };
    os::bind(process.child(), bounds);
}
