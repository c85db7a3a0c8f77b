//! The 16 bytes before every value: what the following bytes are, and whether they are intact.
//!
//! | bytes | what |
//! |---|---|
//! | 0–1 | `C1 67`: no UTF-8 text begins like this, no MessagePack (C1 is never used), no Marshal,
//! no pickle |
//! | 2 | version of the envelope in the high half (1), compression in the low half |
//! | 3 | format of the document |
//! | 4–7 | seconds since 1970-01-01 UTC when the value was put, little-endian: valid until 2106 |
//! | 8–11 | bytes of the document before compression, little-endian |
//! | 12–15 | CRC-32C (Castagnoli) of bytes 0–11 and of everything after the envelope, little-endian
//! |
//!
//! The frame itself names a zstd dictionary (RFC 8878 §3.1.1.1.3). The length limits decompression,
//! so that a damaged or hostile value cannot fill the memory.

use regauge::Format;

use crate::codec::{Codec, Compression};
use crate::error::{Error, Result};

/// Bytes of an envelope.
pub const BYTES: usize = 16;
/// The first two bytes.
pub const MAGIC: [u8; 2] = [0xC1, 0x67];
/// The first three characters of the Base64 of every envelope: its magic accounts for two and a
/// half of them, and the half byte of version 1 for the rest.
pub(crate) const BASE64_OF_MAGIC: &[u8] = b"wWc";
/// The version that is written.
pub const VERSION: u8 = 1;

/// The fields of an envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Format and compression of what follows.
    pub codec: Codec,
    /// When the value was put: seconds since 1970-01-01 UTC.
    pub created: u32,
    /// Bytes of the document before compression.
    pub length: u32,
}

/// Compressions by their number in the low half of byte 2.
const COMPRESSIONS: [(u8, Compression); 4] =
    [(0, Compression::None), (1, Compression::Zstd), (2, Compression::Lz4), (3, Compression::Gzip)];

impl Envelope {
    /// Returns the envelope for this payload (the document, compressed with the codec).
    ///
    /// # Panics
    /// For a format that no value can have (`Codec` prevents that).
    #[must_use]
    pub fn seal(&self, payload: &[u8]) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..2].copy_from_slice(&MAGIC);
        let compression = number(&COMPRESSIONS, self.codec.compression);
        bytes[2] = VERSION << 4 | compression.expect("every compression has a number");
        bytes[3] = self.codec.format.info().store_number.expect("a codec's format has a number");
        bytes[4..8].copy_from_slice(&self.created.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.length.to_le_bytes());
        let checksum = checksum(&bytes[..12], payload);
        bytes[12..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Splits a stored value into its envelope and its payload, or returns `None` if it has no
    /// envelope.
    ///
    /// # Errors
    /// `Damaged`, naming `key`: a checksum mismatch, an unknown version or number, or too few
    /// bytes.
    pub fn open<'v>(key: &[u8], value: &'v [u8]) -> Result<Option<(Envelope, &'v [u8])>> {
        if !value.starts_with(&MAGIC) {
            return Ok(None);
        }
        let Some((head, payload)) = value.split_at_checked(BYTES) else {
            let found = value.len();
            let reason = format!("found {found} bytes, expected an envelope of {BYTES}");
            return Err(Error::damaged(key, reason));
        };
        let word =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let version = head[2] >> 4;
        // The head of a chunked value, left unresolved because some of its chunks are missing.
        if version == 0 && value.len() == 36 {
            return Err(Error::damaged(
                key,
                "found the head of a value in chunks, but some of the chunks are missing",
            ));
        }
        if version != VERSION {
            return Err(Error::damaged(
                key,
                format!(
                    "found an envelope of version {version}, expected {VERSION}; a newer regauge \
                     may have written it"
                ),
            ));
        }
        let (found, expected) = (checksum(&head[..12], payload), word(12));
        if found != expected {
            return Err(Error::damaged(
                key,
                format!(
                    "the checksum of the value is {found:08x}, its envelope says {expected:08x}: \
                     the stored bytes have changed since they were put"
                ),
            ));
        }
        let compression = named(&COMPRESSIONS, head[2] & 0xF);
        let format = format_numbered(head[3]);
        let (Some(compression), Some(format)) = (compression, format) else {
            return Err(Error::damaged(
                key,
                format!(
                    "found compression {} and format {}, which this version does not know",
                    head[2] & 0xF,
                    head[3]
                ),
            ));
        };
        let codec = Codec { format, compression };
        Ok(Some((Envelope { codec, created: word(4), length: word(8) }, payload)))
    }
}

/// Returns whether a value without the magic bytes has an envelope after all: with the magic
/// restored, its checksum matches. In a text column (`base64`) the first characters are restored.
/// The chance of mistaking a foreign value for one is 1 in 2^42.
pub(crate) fn lost_its_magic(value: &[u8], base64: bool) -> bool {
    // For most values the bytes after the magic decide it, without reading the rest.
    let is_likely = |head: &[u8]| match head {
        [_, _, version, format, ..] => {
            version >> 4 == VERSION
                && named(&COMPRESSIONS, version & 0xF).is_some()
                && format_numbered(*format).is_some()
        }
        _ => false,
    };
    let is_good = |set_right: &[u8]| matches!(Envelope::open(b"", set_right), Ok(Some(_)));
    if !base64 {
        return is_likely(value) && is_good(&[&MAGIC, &value[2..]].concat());
    }
    let Some(rest) = value.get(BASE64_OF_MAGIC.len()..) else { return false };
    let decoded = |rest: &[u8]| data_encoding::BASE64.decode(&[BASE64_OF_MAGIC, rest].concat());
    rest.get(..5).is_some_and(|five| decoded(five).is_ok_and(|head| is_likely(&head)))
        && decoded(rest).is_ok_and(|bytes| is_good(&bytes))
}

/// Returns whether a value of this format can be stored.
pub(crate) fn has_number(format: Format) -> bool {
    format.info().store_number.is_some()
}

/// The format of this number in byte 3.
fn format_numbered(number: u8) -> Option<Format> {
    Format::ALL.into_iter().find(|format| format.info().store_number == Some(number))
}

fn number<T: PartialEq>(table: &[(u8, T)], one: T) -> Option<u8> {
    table.iter().find(|(_, other)| *other == one).map(|(number, _)| *number)
}

fn named<T: Copy>(table: &[(u8, T)], number: u8) -> Option<T> {
    table.iter().find(|(other, _)| *other == number).map(|(_, one)| *one)
}

fn checksum(head: &[u8], payload: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(head), payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        data_encoding::HEXLOWER.encode(bytes)
    }

    /// The vectors of docs/store.md; the checksums were computed by a separate bitwise CRC-32C.
    const VECTOR_1: &str = "c1671001000000000200000080183ee0";
    const VECTOR_2: &str = "c167110300d2496b04010000f0298332";

    #[test]
    fn vectors() {
        let seal = |codec: &str, created, length, payload: &[u8]| {
            let codec: Codec = codec.parse().unwrap();
            hex(&Envelope { codec, created, length }.seal(payload))
        };
        assert_eq!(seal("json", 0, 2, b"{}"), VECTOR_1);
        assert_eq!(seal("msgpack+zstd", 1_800_000_000, 260, b"payload"), VECTOR_2);
    }

    #[test]
    fn every_flipped_bit_is_found() {
        let codec: Codec = "cbor+zstd".parse().unwrap();
        let payload = b"some payload that stands for a compressed document";
        let mut value = Envelope { codec, created: 7, length: 99 }.seal(payload).to_vec();
        value.extend_from_slice(payload);
        assert_eq!(Envelope::open(b"k", &value).unwrap().unwrap().1, payload);
        for bit in 0..value.len() * 8 {
            value[bit / 8] ^= 1 << (bit % 8);
            let opened = Envelope::open(b"k", &value);
            // Corrupted first bytes: no envelope any more, but still recognised as one.
            if bit < 16 {
                assert!(matches!(opened, Ok(None)), "bit {bit}");
                assert!(lost_its_magic(&value, false), "bit {bit}");
            } else {
                assert!(matches!(opened, Err(Error::Damaged { .. })), "bit {bit}");
            }
            value[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn every_flipped_bit_of_the_magic_in_base64_is_found() {
        let codec: Codec = "json".parse().unwrap();
        let mut value = Envelope { codec, created: 7, length: 2 }.seal(b"{}").to_vec();
        value.extend_from_slice(b"{}");
        let mut text = data_encoding::BASE64.encode(&value).into_bytes();
        for bit in 0..BASE64_OF_MAGIC.len() * 8 {
            text[bit / 8] ^= 1 << (bit % 8);
            assert!(lost_its_magic(&text, true), "bit {bit}");
            text[bit / 8] ^= 1 << (bit % 8);
        }
        for others in ["", "wW", "{\"a\": 1}", "BAhbB2kGaQc=", "- a\n- b\n"] {
            assert!(!lost_its_magic(others.as_bytes(), true), "{others}");
            assert!(!lost_its_magic(others.as_bytes(), false), "{others}");
        }
    }

    #[test]
    fn every_cut_is_found() {
        let codec: Codec = "json".parse().unwrap();
        let mut value = Envelope { codec, created: 7, length: 2 }.seal(b"{}").to_vec();
        value.extend_from_slice(b"{}");
        for length in 2..value.len() {
            assert!(Envelope::open(b"k", &value[..length]).is_err(), "{length} bytes");
        }
    }
}
