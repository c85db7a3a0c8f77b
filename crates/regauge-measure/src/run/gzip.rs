//! Computes what gzip -6 makes of the reference bytes and of what contenders write.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::model::error::Error;
use crate::plan::reference::{Bytes, References};

/// Computes the gzipped size of each reference, one thread each.
pub(crate) fn gzip_all(references: &References) -> Result<Vec<(String, u64)>, Error> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = references
            .list
            .iter()
            .map(|one| scope.spawn(|| Ok((one.name(), gzip_bytes(&one.path)?))))
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

/// Scales the gzipped sizes of a part to the whole, as each format grows.
pub(crate) fn gzip_scaled(
    sizes: &[(String, u64)],
    part: &References,
    whole: &References,
) -> Vec<(String, u64)> {
    let scaled = |large: &Bytes| {
        let small = part.list.iter().find(|one| one.name() == large.name())?;
        let size = u128::from(gzip_of(sizes, &large.name()));
        let size = size * u128::from(large.bytes) / u128::from(small.bytes.max(1));
        Some((large.name(), size as u64))
    };
    whole.list.iter().filter_map(scaled).collect()
}

/// Computes the gzipped size of one reference.
pub(crate) fn gzip_of(sizes: &[(String, u64)], name: &str) -> u64 {
    sizes.iter().find(|(one, _)| one == name).map_or(0, |(_, bytes)| *bytes)
}

/// Returns the size of a file after gzip -6.
pub(crate) fn gzip_bytes(path: &Path) -> Result<u64, Error> {
    let file = File::open(path).map_err(Error::io("read", path))?;
    let Counter(bytes) = gzip(file, Counter(0)).map_err(Error::io("compress", path))?;
    Ok(bytes)
}

/// Compresses what `plain` reads into `packed`. All gzip streams are fed in pieces of the same size, because
/// their sizes depend on it by a byte or two, and the same bytes must have one size everywhere.
pub(crate) fn gzip<W: Write>(mut plain: impl Read, packed: W) -> std::io::Result<W> {
    /// A power of two that fits the first-level cache.
    const PIECE: usize = 1 << 14;
    let mut encoder = GzEncoder::new(packed, Compression::new(6));
    let mut piece = vec![0; PIECE];
    loop {
        // A reader may return less than it has: the piece is filled.
        let mut filled = 0;
        while filled < PIECE {
            match plain.read(&mut piece[filled..])? {
                0 => break,
                more => filled += more,
            }
        }
        if filled == 0 {
            return encoder.finish();
        }
        encoder.write_all(&piece[..filled])?;
    }
}

/// Counts what is written to it.
struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
