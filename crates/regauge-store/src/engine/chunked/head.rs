//! Heads, which replace large values, and the names of their rows.

use std::hash::{BuildHasher as _, Hasher as _};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use data_encoding::HEXLOWER;

use crate::engine::Layout;
use crate::envelope::MAGIC;

/// Bytes of a head.
pub(super) const HEAD: usize = 36;

/// The fields of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) chunk: u32,
    pub(super) length: u64,
    pub(super) generation: [u8; 16],
}

impl Head {
    pub(super) fn bytes(&self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        bytes[..2].copy_from_slice(&MAGIC);
        bytes[4..8].copy_from_slice(&self.chunk.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.length.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.generation);
        let checksum = crc32c::crc32c(&bytes[..32]);
        bytes[32..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Parses a stored value as a head; `None` if it is an ordinary value.
    pub(super) fn parse(value: &[u8]) -> Option<Head> {
        let bytes: &[u8; HEAD] = value.try_into().ok()?;
        let (said, checksum) = bytes.split_at(32);
        let [a, b] = MAGIC;
        if said[..4] != [a, b, 0, 0] || checksum != crc32c::crc32c(said).to_le_bytes() {
            return None;
        }
        Some(Head {
            chunk: u32::from_le_bytes(said[4..8].try_into().ok()?),
            length: u64::from_le_bytes(said[8..16].try_into().ok()?),
            generation: said[16..].try_into().ok()?,
        })
        .filter(|head| head.chunk > 0)
    }

    pub(super) fn chunks(&self) -> u64 {
        self.length.div_ceil(u64::from(self.chunk))
    }

    /// Returns when its writer started.
    pub(super) fn began(&self) -> Duration {
        let time: [u8; 8] = self.generation[..8].try_into().expect("8 of 16 bytes");
        Duration::from_nanos(u64::from_be_bytes(time))
    }
}

/// Returns the name of a value column for row names; an adopted table may have any name.
pub(super) fn column(layout: &Layout) -> String {
    let escaped = |name: &str| name.replace('%', "%25").replace('/', "%2f");
    format!("{}/{}", escaped(&layout.table), escaped(&layout.value))
}

pub(super) fn head_key(layout: &Layout, head: &Head) -> Vec<u8> {
    format!("head/{}/{}", column(layout), HEXLOWER.encode(&head.generation)).into_bytes()
}

pub(super) fn part_key(layout: &Layout, head: &Head, number: u64) -> Vec<u8> {
    let generation = HEXLOWER.encode(&head.generation);
    format!("part/{}/{generation}/{number:08}", column(layout)).into_bytes()
}

/// Parses a row `head/…` into the head and the key it describes.
pub(super) fn noted(prefix: &[u8], name: &[u8], said: &[u8]) -> Option<(Head, Vec<u8>)> {
    let generation = HEXLOWER.decode(name.strip_prefix(prefix)?).ok()?;
    let (length, rest) = said.split_first_chunk::<8>()?;
    let (chunk, key) = rest.split_first_chunk::<4>()?;
    let head = Head {
        chunk: u32::from_le_bytes(*chunk),
        length: u64::from_le_bytes(*length),
        generation: generation.try_into().ok()?,
    };
    (head.chunk > 0).then(|| (head, key.to_vec()))
}

/// Creates a generation unique to this writer.
pub(super) fn generation() -> [u8; 16] {
    let mut bytes = [0; 16];
    let time = u64::try_from(since_1970().as_nanos()).unwrap_or(u64::MAX);
    bytes[..8].copy_from_slice(&time.to_be_bytes());
    // The keys of a new hash map's hasher come from the system's random source.
    let mut hasher = std::collections::hash_map::RandomState::new().build_hasher();
    hasher.write_u64(time);
    hasher.write_u32(std::process::id());
    bytes[8..].copy_from_slice(&hasher.finish().to_be_bytes());
    bytes
}

pub(super) fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::KeyKind;

    #[test]
    fn a_head_is_what_it_was_and_nothing_else_is_one() {
        let head = Head { chunk: 1_000, length: 2_500, generation: *b"0123456789abcdef" };
        let bytes = head.bytes();
        assert_eq!(Head::parse(&bytes), Some(head));
        assert_eq!(head.chunks(), 3);
        for bit in 0..HEAD * 8 {
            let mut other = bytes;
            other[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Head::parse(&other), None, "bit {bit}");
        }
        assert_eq!(Head::parse(&bytes[..35]), None);
        // In a text column, it is recognised by the same Base64 prefix as an envelope.
        assert!(data_encoding::BASE64.encode(&bytes).starts_with("wWc"));
    }

    #[test]
    fn generations_differ_and_tell_their_time() {
        let (one, two) = (generation(), generation());
        assert_ne!(one, two);
        let head = Head { chunk: 1, length: 1, generation: one };
        assert!(since_1970() - head.began() < Duration::from_secs(10));
    }

    #[test]
    fn names_of_columns_do_not_meet() {
        let layout = |table: &str, value: &str| Layout {
            table: table.into(),
            key: "k".into(),
            value: value.into(),
            key_kind: KeyKind::Bytes,
            text: false,
        };
        assert_ne!(column(&layout("a/b", "c")), column(&layout("a", "b/c")));
        assert_ne!(column(&layout("a%2fb", "c")), column(&layout("a/b", "c")));
    }
}
