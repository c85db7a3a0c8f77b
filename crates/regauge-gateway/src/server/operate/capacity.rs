//! How many tenants may stay open: as many as the limit on open files and the memory allow.
//!
//! Reopening a tenant's file costs many times a read from an open one (docs/gateway.md, "Speed"),
//! so the limit is the machine's own. It assumes that every tenant has the maximum number of
//! connections and full page caches; usually an open tenant has one connection.

use std::fs::read_to_string;

use crate::tenants::PAGE_CACHE;

/// Maximum number of open stores per tenant: several requests may read at once.
pub(crate) const IDLE_MAX: usize = 4;
/// Files per tenant: each connection has the database and its log open, and all share one index.
const FILES: u64 = 2 * IDLE_MAX as u64 + 1;
/// Bytes per connection besides its pages: SQLite's own, the prepared statements, the codec.
const CONNECTION: u64 = 160 << 10;
/// Bytes per tenant.
const BYTES: u64 = IDLE_MAX as u64 * (PAGE_CACHE as u64 + CONNECTION);
/// The gateway's own files: the registry, the shared file, the log.
const OWN_FILES: u64 = 128;
/// Tenants that stay open in any case.
const LEAST: u64 = 16;
/// The assumed memory of a machine that does not report it.
const USUAL_MEMORY: u64 = 4 << 30;

/// Returns the number of tenants for this many open files and bytes of memory, given a number of
/// client connections.
pub(crate) fn tenants(files: u64, memory: u64, connections: u64) -> usize {
    // If the clients could use all files, the tenants get half.
    let left = files.saturating_sub(connections.saturating_add(OWN_FILES)).max(files / 2);
    let most = (left / FILES).min(memory / 4 / BYTES).max(LEAST);
    usize::try_from(most).unwrap_or(usize::MAX)
}

/// Returns the number of files that the process may have open, after raising the limit as far as
/// possible.
pub(crate) fn files() -> u64 {
    // No limit at all: no amount of memory needs more.
    regauge_os::raise_open_files().unwrap_or(u64::from(u32::MAX))
}

/// Returns the bytes of memory: the machine's, or the control group's limit if that is lower.
pub(crate) fn memory() -> u64 {
    let machine = read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
    });
    let group = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let group = group.iter().find_map(|path| read_to_string(path).ok()?.trim().parse().ok());
    machine.unwrap_or(USUAL_MEMORY).min(group.unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scarcer_of_files_and_memory_bounds_the_tenants() {
        let gib = 1 << 30;
        // A small server: 256 MB is a quarter of its memory.
        assert_eq!(tenants(1 << 20, gib, 4_096), 157);
        assert_eq!(tenants(20_000, 24 * gib, 4_096), 1_752);
        assert_eq!(tenants(1 << 20, 24 * gib, 4_096), 3_780);
        // A shell's usual limit is less than the clients may use.
        assert_eq!(tenants(1_024, 24 * gib, 4_096), 56);
        assert_eq!(tenants(64, 64 << 20, 4_096), 16);
        assert!(tenants(u64::MAX, u64::MAX, u64::MAX) > 1_000_000);
    }

    #[test]
    fn files_and_memory_are_those_of_the_machine() {
        assert!(files() >= 256);
        assert!(memory() > 64 << 20);
    }
}
