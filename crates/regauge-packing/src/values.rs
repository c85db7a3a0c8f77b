//! Values in memory, as envelopes hold them.

use std::io::{self, BufReader, Read, Write as _};

use flate2::Compression;
use flate2::bufread::{MultiGzDecoder, ZlibDecoder};
use flate2::write::{GzEncoder, ZlibEncoder};
use lz4_flex::frame::{FrameEncoder, FrameInfo};
use regauge::envelope::{Packer, Packing};
use regauge::hint::Hint;
use regauge::limits::Limit;
use regauge::{Error, Limits, Result};

use crate::lz4;

/// The level of Ruby's and Python's zlib.
const DEFLATE_LEVEL: u32 = 6;
/// The level that zstd takes if none is set.
const ZSTD_LEVEL: i32 = 3;

/// Compresses and decompresses values in memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Values;

impl Packer for Values {
    fn unpack(&self, packing: Packing, packed: &[u8], limits: &Limits) -> Result<Vec<u8>> {
        match packing {
            Packing::Zlib => {
                let mut decoder = ZlibDecoder::new(packed);
                let plain = bounded(&mut decoder, packing, packed.len(), limits)?;
                match decoder.into_inner() {
                    [] => Ok(plain),
                    rest => Err(trailing(rest.len())),
                }
            }
            Packing::Gzip => {
                bounded(&mut MultiGzDecoder::new(packed), packing, packed.len(), limits)
            }
            Packing::Zstd => {
                let mut decoder = zstd::Decoder::with_buffer(packed)?;
                decoder.window_log_max(limits.window_bytes.max(1).ilog2().clamp(10, 31))?;
                bounded(&mut decoder, packing, packed.len(), limits)
            }
            Packing::Lz4 => {
                let mut frames = lz4::Frames::new(BufReader::new(packed));
                bounded(&mut frames, packing, packed.len(), limits)
            }
        }
    }

    fn pack(&self, packing: Packing, plain: &[u8]) -> Result<Vec<u8>> {
        let level = Compression::new(DEFLATE_LEVEL);
        Ok(match packing {
            Packing::Zlib => {
                let mut encoder = ZlibEncoder::new(Vec::new(), level);
                encoder.write_all(plain)?;
                encoder.finish()?
            }
            Packing::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), level);
                encoder.write_all(plain)?;
                encoder.finish()?
            }
            Packing::Zstd => {
                let mut encoder = zstd::Encoder::new(Vec::new(), ZSTD_LEVEL)?;
                encoder.include_checksum(true)?;
                encoder.write_all(plain)?;
                encoder.finish()?
            }
            Packing::Lz4 => {
                let info = FrameInfo::new().content_checksum(true);
                let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
                encoder.write_all(plain)?;
                encoder.finish().map_err(io::Error::other)?
            }
        })
    }
}

/// Reads all, or fails as soon as there is more than the limits allow: a bomb takes no more memory than a
/// document may have.
fn bounded(
    read: &mut dyn Read,
    packing: Packing,
    packed: usize,
    limits: &Limits,
) -> Result<Vec<u8>> {
    let expanded = (packed as u64).saturating_mul(limits.expansion).max(Limits::EXPANSION_FREE);
    let most = limits.record_bytes.min(expanded);
    // Most values are small: for them this is one allocation and one call of the decoder.
    let mut plain = Vec::with_capacity((4 * packed).clamp(256, 16 << 10));
    let got = read.take(most.saturating_add(1)).read_to_end(&mut plain);
    got.map_err(|error| explain(error, packing, packed))?;
    if plain.len() as u64 > most {
        let limit = match most < limits.record_bytes {
            true => Limit::Expansion,
            false => Limit::RecordBytes,
        };
        let (name, of) = (packing.name(), limit.name());
        let found = format!(
            "found more than {most} bytes in {packed} bytes of {name} data, the limit of {of}"
        );
        return Err(Error::limit(found).hint(Hint::raise(limit)));
    }
    Ok(plain)
}

#[cold]
fn explain(error: io::Error, packing: Packing, packed: usize) -> Error {
    if error.get_ref().is_some_and(|inner| inner.is::<Error>()) {
        return error.into();
    }
    let name = packing.name();
    match error.kind() {
        io::ErrorKind::UnexpectedEof => Error::truncated(format!(
            "found the end of {name} data after {packed} bytes, expected more of it"
        )),
        _ => Error::syntax(format!("found broken {name} data: {error}")),
    }
    .hint("check that the value was copied whole")
}

#[cold]
fn trailing(bytes: usize) -> Error {
    Error::syntax(format!("found {bytes} trailing bytes, expected the end of the zlib data"))
        .hint("check that the value was copied whole")
}

#[cfg(test)]
mod tests {
    use super::*;
    use regauge::ErrorKind;

    const ALL: [Packing; 4] = [Packing::Zlib, Packing::Gzip, Packing::Zstd, Packing::Lz4];

    #[test]
    fn what_is_packed_comes_back() {
        let plain = b"a value, a value, a value".repeat(100);
        for packing in ALL {
            let packed = Values.pack(packing, &plain).unwrap();
            assert!(packed.len() < plain.len());
            assert_eq!(Packing::of(&packed), Some(packing));
            assert_eq!(Values.unpack(packing, &packed, &Limits::default()).unwrap(), plain);
            for end in 0..packed.len() {
                let cut = Values.unpack(packing, &packed[..end], &Limits::default());
                assert_ne!(cut.ok(), Some(plain.clone()), "{packing:?} {end}");
            }
        }
    }

    #[test]
    fn a_bomb_is_refused_in_bounded_memory() {
        let plain = vec![0; 1 << 20];
        let mut limits = Limits::default();
        limits.record_bytes = 1 << 16;
        for packing in ALL {
            let packed = Values.pack(packing, &plain).unwrap();
            let error = Values.unpack(packing, &packed, &limits).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Limit, "{packing:?}: {error}");
        }
    }

    #[test]
    fn trailing_bytes_are_no_zlib() {
        let packed = [Values.pack(Packing::Zlib, b"value").unwrap(), b"!!".to_vec()].concat();
        let error = Values.unpack(Packing::Zlib, &packed, &Limits::default()).unwrap_err();
        assert!(error.to_string().starts_with("found 2 trailing bytes"), "{error}");
    }
}
