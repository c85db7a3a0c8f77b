//! Compression for envelopes: what the library asks for, within its limits.

use std::io::{self, Read, Write as _};

use flate2::bufread::ZlibDecoder;
use flate2::write::ZlibEncoder;
use regauge::envelope::{Packer, Packing};
use regauge::hint::Hint;
use regauge::limits::Limit;
use regauge::{Error, Limits, Result};

use crate::compress::{Compression, Encoder};

/// The compressions of the command.
pub struct CommandPacker;

impl Packer for CommandPacker {
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
            Packing::Gzip => unpack(Compression::Gzip, packing, packed, limits),
            Packing::Zstd => unpack(Compression::Zstd, packing, packed, limits),
            Packing::Lz4 => unpack(Compression::Lz4, packing, packed, limits),
        }
    }

    fn pack(&self, packing: Packing, plain: &[u8]) -> Result<Vec<u8>> {
        let mut packed = Vec::new();
        match packing {
            Packing::Zlib => {
                // The level of Ruby's and Python's zlib.
                let mut encoder = ZlibEncoder::new(&mut packed, flate2::Compression::new(6));
                encoder.write_all(plain)?;
                encoder.finish()?;
            }
            Packing::Gzip => pack(Compression::Gzip, plain, &mut packed)?,
            Packing::Zstd => pack(Compression::Zstd, plain, &mut packed)?,
            Packing::Lz4 => pack(Compression::Lz4, plain, &mut packed)?,
        }
        Ok(packed)
    }
}

fn unpack(one: Compression, packing: Packing, packed: &[u8], limits: &Limits) -> Result<Vec<u8>> {
    let mut decoder = one.decoder(packed, limits)?;
    bounded(&mut decoder, packing, packed.len(), limits)
}

fn pack(one: Compression, plain: &[u8], packed: &mut Vec<u8>) -> Result {
    let mut encoder: Encoder<&mut Vec<u8>> = one.encoder(packed, None, 1)?;
    encoder.write_all(plain)?;
    Ok(encoder.finish()?)
}

/// Reads all, or fails as soon as there is more than the limits allow: a bomb takes no more memory than a
/// document may have.
fn bounded(
    read: &mut dyn Read,
    packing: Packing,
    packed: usize,
    limits: &Limits,
) -> Result<Vec<u8>> {
    let mut plain = Vec::new();
    let most = limits.record_bytes;
    let got = read.take(most.saturating_add(1)).read_to_end(&mut plain);
    got.map_err(|error| explain(error, packing, packed))?;
    if plain.len() as u64 > most {
        let name = packing.name();
        let found = format!(
            "found more than {most} bytes in {packed} bytes of {name} data, the limit of record_bytes"
        );
        return Err(Error::limit(found).hint(Hint::raise(Limit::RecordBytes)));
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
            let packed = CommandPacker.pack(packing, &plain).unwrap();
            assert!(packed.len() < plain.len());
            assert_eq!(Packing::of(&packed), Some(packing));
            assert_eq!(CommandPacker.unpack(packing, &packed, &Limits::default()).unwrap(), plain);
            for end in 0..packed.len() {
                let cut = CommandPacker.unpack(packing, &packed[..end], &Limits::default());
                assert_ne!(cut.ok(), Some(plain.clone()), "{packing:?} {end}");
            }
        }
    }

    #[test]
    fn a_bomb_is_refused_in_bounded_memory() {
        let plain = vec![0; 1 << 20];
        let mut limits = Limits::default();
        limits.set("record_bytes", Some(1 << 16));
        for packing in ALL {
            let packed = CommandPacker.pack(packing, &plain).unwrap();
            let error = CommandPacker.unpack(packing, &packed, &limits).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Limit, "{packing:?}: {error}");
        }
    }

    #[test]
    fn trailing_bytes_are_no_zlib() {
        let packed =
            [CommandPacker.pack(Packing::Zlib, b"value").unwrap(), b"!!".to_vec()].concat();
        let error = CommandPacker.unpack(Packing::Zlib, &packed, &Limits::default()).unwrap_err();
        assert!(error.to_string().starts_with("found 2 trailing bytes"), "{error}");
    }
}
