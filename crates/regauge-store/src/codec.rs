//! How a document is stored: its format and its compression.

use std::fmt;
use std::io::Read as _;
use std::str::FromStr;
use std::sync::Arc;

use regauge::Format;

use crate::envelope;
use crate::error::{Error, Result};

/// A format and a compression, written `msgpack`, `msgpack+zstd`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codec {
    /// The format of the document. Never NDJSON: a value is one document.
    pub format: Format,
    /// How its bytes are compressed.
    pub compression: Compression,
}

/// How the bytes of a document are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// Zstandard (RFC 8878), with the collection's dictionary if it has one.
    Zstd,
    /// LZ4 blocks without a frame: the envelope has the length and the checksum.
    Lz4,
    /// gzip (RFC 1952).
    Gzip,
}

impl Compression {
    /// All of them.
    pub const ALL: [Compression; 4] =
        [Compression::None, Compression::Zstd, Compression::Lz4, Compression::Gzip];

    /// Returns its name after the `+` of a codec.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Compression::None => "none",
            Compression::Zstd => "zstd",
            Compression::Lz4 => "lz4",
            Compression::Gzip => "gzip",
        }
    }
}

impl Codec {
    /// Creates an uncompressed codec.
    ///
    /// # Errors
    /// `Usage` for a format that holds a stream of documents rather than one.
    pub fn new(format: Format, compression: Compression) -> Result<Codec> {
        if !envelope::has_number(format) {
            return Err(Error::usage(format!(
                "a value is one document, but {} is a stream of them; use {}",
                format.title(),
                Format::Json.name()
            )));
        }
        Ok(Codec { format, compression })
    }
}

impl FromStr for Codec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Codec> {
        let (format, compression) = text.split_once('+').unwrap_or((text, "none"));
        let wrong = |what: &str, found: &str, known: Vec<&str>| {
            Error::usage(format!("found {what} \"{found}\", expected one of {}", known.join(", ")))
        };
        let compression = Compression::ALL
            .into_iter()
            .find(|one| one.name() == compression)
            .ok_or_else(|| {
                let known = Compression::ALL.iter().map(|one| one.name()).collect();
                wrong("compression", compression, known)
            })?;
        let format = format.parse::<Format>().map_err(|_| {
            let known = Format::ALL.iter().filter(|one| envelope::has_number(**one));
            wrong("format", format, known.map(|one| one.name()).collect())
        })?;
        Codec::new(format, compression)
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.format.name())?;
        match self.compression {
            Compression::None => Ok(()),
            other => write!(out, "+{}", other.name()),
        }
    }
}

/// The compressor of a collection, with its dictionary and its buffers.
pub(crate) struct Packer {
    level: i32,
    /// All dictionaries of the collection; new values use the last one.
    dictionaries: Arc<[Vec<u8>]>,
    compressor: Option<zstd::bulk::Compressor<'static>>,
    /// The compressor without a dictionary, created on first use: it takes about 100 KB.
    decompressor: Option<zstd::bulk::Decompressor<'static>>,
    /// Every dictionary that a stored value may need, by number.
    decompressors: Vec<(u32, zstd::bulk::Decompressor<'static>)>,
}

/// zstd's own default: on documents of a few kilobytes, higher levels gain little.
pub(crate) const ZSTD_LEVEL: i32 = 3;

impl Packer {
    /// Creates a packer. `dictionaries` are all those of the collection, the newest last.
    pub(crate) fn new(level: i32, dictionaries: &[Vec<u8>]) -> Result<Packer> {
        let mut decompressors = Vec::new();
        for one in dictionaries {
            let number = dictionary_number(one);
            let with = zstd::bulk::Decompressor::with_dictionary(one).map_err(failed)?;
            decompressors.push((number, with));
        }
        let dictionaries = dictionaries.into();
        Ok(Packer { level, dictionaries, compressor: None, decompressor: None, decompressors })
    }

    /// Returns another packer for use on a different thread.
    pub(crate) fn another(&self) -> Result<Packer> {
        Packer::new(self.level, &self.dictionaries)
    }

    /// Compresses a document into its payload.
    pub(crate) fn pack(&mut self, compression: Compression, document: Vec<u8>) -> Result<Vec<u8>> {
        Ok(match compression {
            Compression::None => document,
            Compression::Zstd => {
                if self.compressor.is_none() {
                    let new = match self.dictionaries.last() {
                        Some(one) => zstd::bulk::Compressor::with_dictionary(self.level, one),
                        None => zstd::bulk::Compressor::new(self.level),
                    };
                    self.compressor = Some(new.map_err(failed)?);
                }
                let compressor = self.compressor.as_mut().expect("made above");
                compressor.compress(&document).map_err(failed)?
            }
            Compression::Lz4 => lz4_flex::block::compress(&document),
            Compression::Gzip => {
                let level = flate2::Compression::new(6);
                let mut encoder = flate2::bufread::GzEncoder::new(document.as_slice(), level);
                let mut out = Vec::with_capacity(document.len() / 2);
                encoder.read_to_end(&mut out).map_err(failed)?;
                out
            }
        })
    }

    /// Returns whether a stored value may need a dictionary that is not loaded.
    pub(crate) fn lacks_dictionary(&self, value: &[u8]) -> bool {
        let Some((_, payload)) = value.split_at_checked(envelope::BYTES) else { return false };
        let number = zstd::zstd_safe::get_dict_id_from_frame(payload).map_or(0, u32::from);
        number > 0 && !self.decompressors.iter().any(|(one, _)| *one == number)
    }

    /// Decompresses a payload into its document, which has `length` bytes according to the
    /// envelope.
    pub(crate) fn unpack(
        &mut self,
        key: &[u8],
        compression: Compression,
        payload: &[u8],
        length: u32,
    ) -> Result<Vec<u8>> {
        let length = length as usize;
        let wrong = |why: String| Error::damaged(key, format!("{}: {why}", compression.name()));
        // LZ4 expands a byte to at most 255.
        let is_beyond = compression == Compression::Lz4 && length / 255 > payload.len();
        if length > crate::store::DOCUMENT_BYTES_MAX || is_beyond {
            return Err(wrong(format!(
                "the envelope says {length} bytes, which {} stored bytes cannot produce",
                payload.len()
            )));
        }
        let document = match compression {
            Compression::None => payload.to_vec(),
            Compression::Zstd => {
                let number = zstd::zstd_safe::get_dict_id_from_frame(payload).map_or(0, u32::from);
                if number == 0 && self.decompressor.is_none() {
                    self.decompressor = Some(zstd::bulk::Decompressor::new().map_err(failed)?);
                }
                let known = self.decompressors.iter_mut().find(|(one, _)| *one == number);
                let known = known.map(|(_, one)| one);
                let plain = self.decompressor.as_mut().filter(|_| number == 0);
                let Some(decompressor) = plain.or(known) else {
                    return Err(wrong(format!(
                        "it needs dictionary {number}, which the collection does not have"
                    )));
                };
                decompressor
                    .decompress(payload, length)
                    .map_err(|error| wrong(error.to_string()))?
            }
            Compression::Lz4 => lz4_flex::block::decompress(payload, length)
                .map_err(|error| wrong(error.to_string()))?,
            Compression::Gzip => {
                let decoder = flate2::bufread::GzDecoder::new(payload);
                // One byte more than promised reveals excess data.
                let mut limited = decoder.take(length as u64 + 1);
                let mut out = Vec::with_capacity(length.min(1 << 20));
                limited.read_to_end(&mut out).map_err(|error| wrong(error.to_string()))?;
                out
            }
        };
        if document.len() != length {
            return Err(wrong(format!(
                "found {} bytes, the envelope says {length}",
                document.len()
            )));
        }
        Ok(document)
    }
}

/// Trains a dictionary on sample documents, at most `size` bytes long.
///
/// # Errors
/// `Usage` if the samples are too few or too small.
pub(crate) fn train(samples: &[Vec<u8>], size: usize) -> Result<Vec<u8>> {
    zstd::dict::from_samples(samples, size).map_err(|error| {
        Error::usage(format!(
            "no dictionary can be trained from {} values: {error}; training takes a few hundred",
            samples.len()
        ))
    })
}

/// Returns the number that identifies a dictionary in frames (RFC 8878 §5).
pub(crate) fn dictionary_number(dictionary: &[u8]) -> u32 {
    match dictionary.get(4..8) {
        Some(&[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]),
        _ => 0,
    }
}

fn failed(error: std::io::Error) -> Error {
    Error::Engine { doing: "compress".into(), message: error.to_string(), passing: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for name in ["json", "msgpack+zstd", "marshal+lz4", "yaml+gzip", "marc"] {
            assert_eq!(name.parse::<Codec>().unwrap().to_string(), name);
        }
        assert_eq!("cbor+none".parse::<Codec>().unwrap().to_string(), "cbor");
        let refused = |text: &str| text.parse::<Codec>().unwrap_err().to_string();
        assert_eq!(
            refused("json+snappy"),
            "found compression \"snappy\", expected one of none, zstd, lz4, gzip"
        );
        assert_eq!(
            refused("xml"),
            "found format \"xml\", expected one of json, yaml, msgpack, bson, cbor, marshal, \
             pickle, marc, marcxml, marc-json, toml"
        );
        assert!(refused("ndjson").starts_with("a value is one document"));
    }

    #[test]
    fn every_compression_gives_back_and_keeps_to_the_length() {
        let mut packer = Packer::new(ZSTD_LEVEL, &[]).unwrap();
        let document: Vec<u8> = b"{\"name\": \"value\"}, ".repeat(500);
        for compression in Compression::ALL {
            let payload = packer.pack(compression, document.clone()).unwrap();
            let length = u32::try_from(document.len()).unwrap();
            assert_eq!(packer.unpack(b"k", compression, &payload, length).unwrap(), document);
            for wrong in [length - 1, length + 1, 0] {
                assert!(packer.unpack(b"k", compression, &payload, wrong).is_err(), "{wrong}");
            }
            if compression != Compression::None {
                assert!(payload.len() < document.len() / 10, "{}", compression.name());
                assert!(packer.unpack(b"k", compression, &payload[..9], length).is_err());
            }
        }
    }

    #[test]
    fn dictionaries_serve_old_values_and_new_ones() {
        let samples: Vec<Vec<u8>> = (0..2_000)
            .map(|i| {
                format!("{{\"id\":{i},\"kind\":\"order\",\"state\":\"open\",\"sum\":{}}}", i * 7)
            })
            .map(String::into_bytes)
            .collect();
        let (one, two) =
            (train(&samples[..1_000], 2_000).unwrap(), train(&samples, 4_000).unwrap());
        assert_ne!(dictionary_number(&one), dictionary_number(&two));
        let length = u32::try_from(samples[77].len()).unwrap();
        let pack = |dictionaries: &[Vec<u8>]| {
            let mut packer = Packer::new(ZSTD_LEVEL, dictionaries).unwrap();
            packer.pack(Compression::Zstd, samples[77].clone()).unwrap()
        };
        let payloads =
            [pack(&[]), pack(std::slice::from_ref(&one)), pack(&[one.clone(), two.clone()])];
        assert!(payloads[1].len() < payloads[0].len(), "a dictionary helps small values");
        let mut packer = Packer::new(ZSTD_LEVEL, &[one.clone(), two]).unwrap();
        for payload in &payloads {
            let back = packer.unpack(b"k", Compression::Zstd, payload, length).unwrap();
            assert_eq!(back, samples[77]);
        }
        let mut without = Packer::new(ZSTD_LEVEL, &[one]).unwrap();
        let error = without.unpack(b"k", Compression::Zstd, &payloads[2], length).unwrap_err();
        assert!(error.to_string().contains("needs dictionary"), "{error}");
    }
}
