//! Which SQLite wrote a file last, and what is known of it.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// The versions whose checkpoints can overwrite a commit of another connection in WAL mode: the WAL-reset
/// bug (<https://sqlite.org/wal.html#walresetbug>).
const WAL_RESET: std::ops::RangeInclusive<u32> = 3_007_000..=3_051_002;

/// Returns a warning if the file is in WAL mode and was last written by a version with that bug.
///
/// The header of the file says both: bytes 18 and 19 are 2 in WAL mode, and bytes 96 to 99 are the number
/// of the version (<https://sqlite.org/fileformat.html>, sections 1.3.3 and 1.3.19).
pub(super) fn warning(path: &Path) -> Option<String> {
    let mut header = [0; 100];
    File::open(path).ok()?.read_exact(&mut header).ok()?;
    let number = u32::from_be_bytes([header[96], header[97], header[98], header[99]]);
    if header[18..20] != [2, 2] || !WAL_RESET.contains(&number) {
        return None;
    }
    let (major, minor, patch) = (number / 1_000_000, number / 1_000 % 1_000, number % 1_000);
    Some(format!(
        "last written by SQLite {major}.{minor}.{patch}: up to 3.51.2, several programs that write at once \
         can lose a commit or damage the file (sqlite.org/wal.html#walresetbug); update those programs"
    ))
}
