//! Ziplists and listpacks: small values in one string (Redis `src/ziplist.c`, `src/listpack.c`).
//!
//! A ziplist has a head of its length and the place of its last entry (32 bits each, little-endian, as all numbers
//! but lengths are) and the number of entries (16 bits). An entry is the length of the one before (a byte, or 0xFE
//! and 32 bits), an encoding, and the bytes. A listpack has no place of the last entry, and the length of each
//! entry stands after it, in 7 bits a byte. Both end with 0xFF, and both give 65,535 as the number of entries if
//! there are more.

use super::types::Packing;

/// A small value: bytes, or an integer that stands for its digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry<'a> {
    Bytes(&'a [u8]),
    Integer(i64),
}

impl<'a> Entry<'a> {
    /// Returns the value as bytes.
    #[inline]
    pub fn bytes<'b>(self, digits: &'b mut itoa::Buffer) -> &'b [u8]
    where
        'a: 'b,
    {
        match self {
            Entry::Bytes(bytes) => bytes,
            Entry::Integer(number) => digits.format(number).as_bytes(),
        }
    }
}

/// What is wrong with packed values: what was found, and the index of the byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub at: usize,
    pub found: &'static str,
}

/// The entries of a ziplist or a listpack.
pub(super) struct Entries<'a> {
    packing: Packing,
    bytes: &'a [u8],
    pos: usize,
}

impl Packing {
    fn head_bytes(self) -> usize {
        match self {
            Packing::Ziplist => 10,
            Packing::Listpack => 6,
        }
    }
}

/// Returns the number of entries from the first bytes; `None` if they do not tell.
pub(super) fn count(packing: Packing, head: &[u8]) -> Option<u64> {
    let count = head.get(..packing.head_bytes())?.last_chunk()?;
    Some(u16::from_le_bytes(*count)).filter(|count| *count < u16::MAX).map(u64::from)
}

impl<'a> Entries<'a> {
    /// Begins at the first entry.
    pub fn new(packing: Packing, bytes: &'a [u8]) -> Result<Entries<'a>, Fault> {
        let head = packing.head_bytes();
        let claimed = bytes.first_chunk().map(|length| u32::from_le_bytes(*length));
        if bytes.len() <= head || claimed.is_none_or(|length| length as usize != bytes.len()) {
            return Err(Fault { at: 0, found: "a wrong length" });
        }
        if bytes.last() != Some(&0xFF) {
            return Err(Fault { at: bytes.len() - 1, found: "no end mark" });
        }
        Ok(Entries { packing, bytes, pos: head })
    }

    /// Returns the number of entries.
    pub fn count(&self) -> Result<u64, Fault> {
        if let Some(count) = count(self.packing, self.bytes) {
            return Ok(count);
        }
        let mut rest = Entries { packing: self.packing, bytes: self.bytes, pos: self.pos };
        let mut count = 0;
        while rest.next()?.is_some() {
            count += 1;
        }
        Ok(count)
    }

    /// Returns the next entry.
    #[inline]
    pub fn next(&mut self) -> Result<Option<Entry<'a>>, Fault> {
        if self.pos + 1 == self.bytes.len() {
            return Ok(None);
        }
        match self.packing {
            Packing::Ziplist => self.ziplist().map(Some),
            Packing::Listpack => self.listpack().map(Some),
        }
    }

    /// Returns the entry after one that there is.
    #[inline]
    pub fn also(&mut self) -> Result<Entry<'a>, Fault> {
        let at = self.pos;
        self.next()?.ok_or(Fault { at, found: "an entry without its other half" })
    }

    /// Takes so many bytes, and leaves one for the end mark.
    #[inline]
    fn take(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        let end = self.pos.saturating_add(count);
        if end >= self.bytes.len() {
            return Err(Fault { at: self.pos, found: "an entry beyond the end" });
        }
        let taken = &self.bytes[self.pos..end];
        self.pos = end;
        Ok(taken)
    }

    /// Takes a little-endian number with its sign.
    #[inline]
    fn integer(&mut self, width: usize) -> Result<Entry<'a>, Fault> {
        let taken = self.take(width)?;
        let mut bytes = [0; 8];
        bytes[8 - width..].copy_from_slice(taken);
        Ok(Entry::Integer(i64::from_le_bytes(bytes) >> (64 - 8 * width)))
    }

    fn ziplist(&mut self) -> Result<Entry<'a>, Fault> {
        if self.take(1)?[0] == 0xFE {
            self.take(4)?;
        }
        let at = self.pos;
        let encoding = self.take(1)?[0];
        let low = usize::from(encoding & 0x3F);
        let length = match encoding {
            0x00..0x40 => low,
            0x40..0x80 => low << 8 | usize::from(self.take(1)?[0]),
            0x80 => self.take(4)?.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)),
            0xC0 => return self.integer(2),
            0xD0 => return self.integer(4),
            0xE0 => return self.integer(8),
            0xF0 => return self.integer(3),
            0xFE => return self.integer(1),
            0xF1..=0xFD => return Ok(Entry::Integer(i64::from(encoding & 0x0F) - 1)),
            _ => return Err(Fault { at, found: "an unknown encoding" }),
        };
        self.take(length).map(Entry::Bytes)
    }

    fn listpack(&mut self) -> Result<Entry<'a>, Fault> {
        let start = self.pos;
        let encoding = self.take(1)?[0];
        let low = usize::from(encoding);
        let entry = match encoding {
            0x00..0x80 => Entry::Integer(encoding.into()),
            0x80..0xC0 => Entry::Bytes(self.take(low & 0x3F)?),
            0xC0..0xE0 => {
                // Thirteen bits, of which the first is the sign.
                let number = (low as i16 & 0x1F) << 8 | i16::from(self.take(1)?[0]);
                Entry::Integer((number << 3 >> 3).into())
            }
            0xE0..0xF0 => {
                let length = (low & 0x0F) << 8 | usize::from(self.take(1)?[0]);
                Entry::Bytes(self.take(length)?)
            }
            0xF0 => {
                let bytes = self.take(4)?;
                let length = bytes.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
                Entry::Bytes(self.take(length)?)
            }
            0xF1 => self.integer(2)?,
            0xF2 => self.integer(3)?,
            0xF3 => self.integer(4)?,
            0xF4 => self.integer(8)?,
            _ => return Err(Fault { at: start, found: "an unknown encoding" }),
        };
        self.take(back_bytes(self.pos - start))?;
        Ok(entry)
    }
}

/// Returns in how many bytes a listpack keeps the length of an entry. The bounds are those of `lpEncodeBacklen`,
/// which takes a byte more than it must at three of them.
#[inline]
fn back_bytes(length: usize) -> usize {
    match length {
        0..=127 => 1,
        128..16_383 => 2,
        16_383..2_097_151 => 3,
        2_097_151..268_435_455 => 4,
        _ => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Check = fn(&[u8], Result<&[Entry<'_>], &str>);

    fn check(packing: Packing, entries: &[u8], expected: Result<&[Entry<'_>], &str>) {
        let head = packing.head_bytes();
        let mut bytes = vec![0; head];
        bytes.extend_from_slice(entries);
        bytes.push(0xFF);
        let length = bytes.len() as u32;
        bytes[..4].copy_from_slice(&length.to_le_bytes());
        // As many as do not fit into the field, so that they are counted.
        bytes[head - 2..head].copy_from_slice(&[0xFF; 2]);
        let mut entries = Entries::new(packing, &bytes).unwrap();
        let count = entries.count();
        let mut found = Vec::new();
        let fault = loop {
            match entries.next() {
                Ok(Some(entry)) => found.push(entry),
                Ok(None) => break None,
                Err(fault) => break Some(fault.found),
            }
        };
        assert_eq!(fault.map_or(Ok(&found[..]), Err), expected);
        assert_eq!(count.ok(), expected.ok().map(|entries| entries.len() as u64));
    }

    #[test]
    fn ziplists_give_their_entries() {
        use Entry::{Bytes, Integer};
        let check: Check = |bytes, expected| check(Packing::Ziplist, bytes, expected);
        check(b"", Ok(&[]));
        // The two examples in `ziplist.c`.
        check(b"\x00\xF3\x02\xF6", Ok(&[Integer(2), Integer(5)]));
        check(b"\x00\x0BHello World", Ok(&[Bytes(b"Hello World")]));
        check(b"\x00\xF1\x02\xFD", Ok(&[Integer(0), Integer(12)]));
        check(b"\x00\xFE\x80\x03\xC0\x00\x80", Ok(&[Integer(-128), Integer(-32_768)]));
        check(b"\xFE\x00\x01\x00\x00\xF0\xFF\xFF\x7F", Ok(&[Integer(8_388_607)]));
        check(b"\x00\xD0\xFE\xFF\xFF\xFF", Ok(&[Integer(-2)]));
        check(b"\x00\xE0\x00\x00\x00\x00\x00\x00\x00\x80", Ok(&[Integer(i64::MIN)]));
        check(b"\x00\x40\x03abc\x05\x80\x00\x00\x00\x01d", Ok(&[Bytes(b"abc"), Bytes(b"d")]));
        check(b"\x00\x04abc", Err("an entry beyond the end"));
        check(b"\x00\xF0\x01", Err("an entry beyond the end"));
        check(b"\x00\xC1", Err("an unknown encoding"));
    }

    #[test]
    fn listpacks_give_their_entries() {
        use Entry::{Bytes, Integer};
        let check: Check = |bytes, expected| check(Packing::Listpack, bytes, expected);
        check(b"", Ok(&[]));
        check(b"\x00\x01\x7F\x01", Ok(&[Integer(0), Integer(127)]));
        check(
            b"\xC0\x80\x02\xDF\xFF\x02\xD0\x00\x02",
            Ok(&[Integer(128), Integer(-1), Integer(-4096)]),
        );
        check(b"\x83abc\x04\x80\x01", Ok(&[Bytes(b"abc"), Bytes(b"")]));
        check(b"\xE0\x03abc\x05\xF0\x01\x00\x00\x00d\x06", Ok(&[Bytes(b"abc"), Bytes(b"d")]));
        check(b"\xF1\x00\x80\x03\xF2\xFF\xFF\xFF\x04", Ok(&[Integer(-32_768), Integer(-1)]));
        check(b"\xF3\x00\x00\x00\x80\x05", Ok(&[Integer(i32::MIN.into())]));
        check(b"\xF4\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F\x09", Ok(&[Integer(i64::MAX)]));
        check(b"\xF5\x01", Err("an unknown encoding"));
        check(b"\x84abc\x04", Err("an entry beyond the end"));
        // The length of the entry takes a byte more from these lengths on.
        for (length, back) in [(125, 1), (126, 2), (16_377, 2), (16_378, 3)] {
            let mut bytes = match length {
                0..4096 => vec![0xE0 | (length >> 8) as u8, length as u8],
                _ => vec![0xF0, length as u8, (length >> 8) as u8, 0, 0],
            };
            let head = bytes.len();
            bytes.resize(head + length, b'x');
            bytes.resize(head + length + back, 0);
            let expected = vec![b'x'; length];
            check(&bytes, Ok(&[Bytes(&expected)]));
        }
    }

    #[test]
    fn heads_are_checked() {
        let fault =
            |bytes: &[u8]| Entries::new(Packing::Listpack, bytes).err().map(|fault| fault.found);
        assert_eq!(fault(b"\x07\0\0\0\0\0\xFF"), None);
        assert_eq!(fault(b"\x07\0\0\0\0\0\xFE"), Some("no end mark"));
        assert_eq!(fault(b"\x08\0\0\0\0\0\xFF"), Some("a wrong length"));
        assert_eq!(fault(b""), Some("a wrong length"));
        assert_eq!(count(Packing::Listpack, b"\x07\0\0\0\x02\0"), Some(2));
        assert_eq!(count(Packing::Listpack, b"\x07\0\0\0\xFF\xFF"), None);
        assert_eq!(count(Packing::Ziplist, b"\x07\0\0\0\0\0\0\0\x03\0\0"), Some(3));
        assert_eq!(count(Packing::Ziplist, b"\x07\0\0"), None);
    }
}
