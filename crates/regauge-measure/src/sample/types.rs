//! wip
use super::Put;
use std::io;
pub(super) fn generate(_seed: u64, _count: u64, _put: &mut Put) -> io::Result<()> {
    Ok(())
}
