//! Conversions in memory that tell what was not kept.

use std::io;

use regauge::convert::{Input, Summary, convert};
use regauge::{Options, Output};

/// Converts bytes, and returns the new ones with what happened.
///
/// # Errors
/// Those of [`convert`].
pub fn converted(bytes: &[u8], options: &Options) -> regauge::Result<(Vec<u8>, Summary)> {
    let mut memory = Memory(Vec::with_capacity(bytes.len().min(ROOM_BYTES)));
    let summary = convert(Input::Bytes(bytes), &mut memory, options, &mut |_| Ok(()))?;
    Ok((memory.0, summary))
}

/// The largest initial capacity.
const ROOM_BYTES: usize = 256 << 10;

/// An output whose bytes can all be changed later.
struct Memory(Vec<u8>);

impl Output for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn hold(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn patch(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let start = offset as usize;
        self.0[start..start + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn release(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn can_truncate(&self) -> bool {
        true
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.0.truncate(length as usize);
        Ok(())
    }
}
