//! The compression that envelopes need: the library has none, and the caller provides it.

use crate::model::limits::Limits;
use crate::{Error, ErrorKind, Result};

/// How a part of an envelope is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// zlib, RFC 1950: what Rails, Django and Flask use.
    Zlib,
    /// gzip, RFC 1952.
    Gzip,
    /// Zstandard, RFC 8878.
    Zstd,
    /// LZ4 frames.
    Lz4,
}

impl Packing {
    /// Returns the name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Packing::Zlib => "zlib",
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
            Packing::Lz4 => "lz4",
        }
    }

    /// Returns the compression that bytes begin like.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Packing> {
        match bytes {
            [0x1F, 0x8B, 8, ..] => Some(Packing::Gzip),
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Some(Packing::Zstd),
            [0x04, 0x22, 0x4D, 0x18, ..] => Some(Packing::Lz4),
            _ => is_zlib(bytes).then_some(Packing::Zlib),
        }
    }
}

/// Whether bytes begin with a head of zlib (RFC 1950 §2.2): deflate, a window of at most 32 KiB, no
/// dictionary, and a check that divides by 31.
pub(super) fn is_zlib(bytes: &[u8]) -> bool {
    let [method, flags, ..] = *bytes else { return false };
    let is_deflate = method & 0x0F == 8 && method >> 4 <= 7;
    is_deflate && flags & 0x20 == 0 && u16::from_be_bytes([method, flags]) % 31 == 0
}

/// Compresses and decompresses within bounds.
pub trait Packer {
    /// Returns the bytes that `packed` holds.
    ///
    /// # Errors
    /// `Truncated` or `Syntax` if `packed` is not exactly one stream of this compression, `Limit` if it
    /// holds more than [`Limits::record_bytes`] or exceeds [`Limits::expansion`], `Unsupported` if this
    /// packer does not have the compression.
    fn unpack(&self, packing: Packing, packed: &[u8], limits: &Limits) -> Result<Vec<u8>>;

    /// Returns `plain` compressed.
    ///
    /// # Errors
    /// `Unsupported` if this packer does not have the compression.
    fn pack(&self, packing: Packing, plain: &[u8]) -> Result<Vec<u8>>;
}

/// Returns what `packed` holds and its compression, which its first bytes tell; `at` is where it is in the
/// envelope.
pub(super) fn unpack(
    packed: &[u8],
    at: usize,
    tools: &super::Tools<'_>,
) -> Result<(Vec<u8>, Packing)> {
    let Some(packing) = Packing::of(packed) else {
        let begins = packed[..packed.len().min(4)].escape_ascii();
        return Err(Error::new(
            ErrorKind::Unsupported,
            format!("found compressed data that begins with `{begins}`, expected zlib, gzip, zstd or LZ4"),
        )
        .hint("take it off with the compressor that the application sets")
        .at(at as u64));
    };
    let bytes =
        tools.packer.unpack(packing, packed, tools.limits).map_err(|error| error.at(at as u64))?;
    Ok((bytes, packing))
}
