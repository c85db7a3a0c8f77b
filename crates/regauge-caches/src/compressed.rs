//! Compressed values: unpacked to see what is inside.

use std::io::Read as _;

use regauge::Limits;
use regauge::envelope::{Packer as _, Packing};
use regauge_packing::Values;
use regauge_packing::files::Compression;

/// Returns what is inside, and how it was compressed; `None` if it is not compressed, or not whole.
pub fn unpacked(bytes: &[u8], limits: &Limits) -> Option<(Vec<u8>, &'static str)> {
    // Two bytes of text can be a head of zlib.
    let packing =
        Packing::of(bytes).filter(|packing| *packing != Packing::Zlib || bytes.len() >= 8);
    if let Some(packing) = packing {
        return Values.unpack(packing, bytes, limits).ok().map(|inside| (inside, packing.name()));
    }
    let compression = Compression::from_magic(bytes)?;
    let decoder = compression.decoder(bytes, limits).ok()?;
    let mut inside = Vec::new();
    decoder.take(limits.record_bytes.saturating_add(1)).read_to_end(&mut inside).ok()?;
    (inside.len() as u64 <= limits.record_bytes).then(|| (inside, compression.name()))
}

/// Returns what is inside a raw block of Snappy, which has no mark: only a length, and that all of it fits.
pub fn unsnapped(bytes: &[u8], limits: &Limits) -> Option<Vec<u8>> {
    let length = snap::raw::decompress_len(bytes).ok()? as u64;
    // Snappy never shrinks by more than 1 to 22, its longest copy in three bytes being 64.
    let is_likely =
        length > 0 && length <= limits.record_bytes && length <= 22 * bytes.len() as u64;
    is_likely.then(|| snap::raw::Decoder::new().decompress_vec(bytes).ok()).flatten()
}
