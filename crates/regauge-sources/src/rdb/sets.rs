//! Two older ways to pack small values: intsets and zipmaps (Redis `src/intset.c`, `src/zipmap.c`).

use super::packed::Fault;

/// The members of an intset: their width in bytes and their number (32 bits each), then the integers in order. All
/// numbers are little-endian.
pub(super) struct Integers<'a> {
    width: usize,
    rest: &'a [u8],
}

impl<'a> Integers<'a> {
    pub fn new(bytes: &'a [u8]) -> Result<Integers<'a>, Fault> {
        let short = Fault { at: 0, found: "a wrong length" };
        let (width, rest) = bytes.split_first_chunk().ok_or(short)?;
        let (count, rest) = rest.split_first_chunk().ok_or(short)?;
        let width = match u32::from_le_bytes(*width) {
            width @ (2 | 4 | 8) => width as usize,
            _ => {
                return Err(Fault { at: 0, found: "integers that are not 2, 4 or 8 bytes wide" });
            }
        };
        if rest.len() as u64 != u64::from(u32::from_le_bytes(*count)) * width as u64 {
            return Err(short);
        }
        Ok(Integers { width, rest })
    }

    pub fn members(&self) -> u64 {
        (self.rest.len() / self.width) as u64
    }
}

/// Returns the number of integers from the first 8 bytes.
pub(super) fn integers(head: &[u8]) -> Option<u64> {
    Some(u32::from_le_bytes(*head.get(..8)?.last_chunk()?).into())
}

impl Iterator for Integers<'_> {
    type Item = i64;

    #[inline]
    fn next(&mut self) -> Option<i64> {
        let (taken, rest) = self.rest.split_at_checked(self.width)?;
        self.rest = rest;
        let mut bytes = [0; 8];
        bytes[8 - self.width..].copy_from_slice(taken);
        Some(i64::from_le_bytes(bytes) >> (64 - 8 * self.width))
    }
}

/// A field and its value.
type Pair<'a> = (&'a [u8], &'a [u8]);

/// The strings of a zipmap, fields and values in turn: the number of pairs (a byte), then for each string its length (a
/// byte, or 0xFE and 32 bits) and its bytes; a value has the number of unused bytes before them, which follow. It ends
/// with 0xFF.
pub(super) struct Zipmap<'a> {
    bytes: &'a [u8],
    pos: usize,
}

impl<'a> Zipmap<'a> {
    pub fn new(bytes: &'a [u8]) -> Zipmap<'a> {
        Zipmap { bytes, pos: 1 }
    }

    /// Returns the next field and its value.
    pub fn next(&mut self) -> Result<Option<Pair<'a>>, Fault> {
        let at = self.pos;
        let Some(length) = self.length()? else {
            let is_end = self.pos == self.bytes.len();
            return if is_end {
                Ok(None)
            } else {
                Err(Fault { at, found: "an end mark before the end" })
            };
        };
        let field = self.take(length)?;
        let at = self.pos;
        let length = self.length()?.ok_or(Fault { at, found: "a field without a value" })?;
        let unused = usize::from(self.take(1)?[0]);
        let value = self.take(length)?;
        self.take(unused)?;
        Ok(Some((field, value)))
    }

    /// Returns the number of pairs.
    pub fn count(&self) -> Result<u64, Fault> {
        let mut rest = Zipmap { bytes: self.bytes, pos: self.pos };
        let mut count = 0;
        while rest.next()?.is_some() {
            count += 1;
        }
        Ok(count)
    }

    /// Takes the length of a string; `None` at the end mark.
    fn length(&mut self) -> Result<Option<usize>, Fault> {
        Ok(match self.take(1)?[0] {
            0xFF => None,
            0xFE => {
                let bytes = self.take(4)?;
                Some(bytes.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
            }
            length => Some(length.into()),
        })
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        let rest = self.bytes.get(self.pos..).unwrap_or_default();
        let taken =
            rest.get(..count).ok_or(Fault { at: self.pos, found: "an entry beyond the end" })?;
        self.pos += count;
        Ok(taken)
    }
}

/// Returns the number of pairs from the first byte; `None` if it does not tell.
pub(super) fn pairs(head: &[u8]) -> Option<u64> {
    head.first().filter(|count| **count < 254).map(|count| u64::from(*count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_integers(bytes: &[u8], expected: Result<&[i64], &str>) {
        let found = Integers::new(bytes).map(|all| (all.members(), all.collect::<Vec<_>>()));
        let found = found.map_err(|fault| fault.found);
        let expected = expected.map(|all| (all.len() as u64, all.to_vec()));
        assert_eq!(found, expected, "{bytes:x?}");
    }

    #[test]
    fn intsets_give_their_integers() {
        check_integers(b"\x02\0\0\0\x02\0\0\0\xFF\xFF\x05\0", Ok(&[-1, 5]));
        check_integers(b"\x04\0\0\0\x01\0\0\0\0\0\0\x80", Ok(&[i32::MIN.into()]));
        check_integers(b"\x08\0\0\0\x01\0\0\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", Ok(&[i64::MAX]));
        let wrong = "a wrong length";
        check_integers(b"\x02\0\0\0\x02\0\0\0\xFF\xFF\x05", Err(wrong));
        check_integers(b"\x02\0\0\0\x02\0\0", Err(wrong));
        let wrong = "integers that are not 2, 4 or 8 bytes wide";
        check_integers(b"\x03\0\0\0\0\0\0\0", Err(wrong));
        assert_eq!(integers(b"\x02\0\0\0\x02\0\0\0\xFF"), Some(2));
    }

    fn check_zipmap(bytes: &[u8], expected: Result<&[(&str, &str)], &str>) {
        let mut map = Zipmap::new(bytes);
        let count = map.count();
        let mut found = Vec::new();
        let end = loop {
            match map.next() {
                Ok(Some((field, value))) => {
                    found.push((str::from_utf8(field).unwrap(), str::from_utf8(value).unwrap()));
                }
                Ok(None) => break Ok(&found[..]),
                Err(fault) => break Err(fault.found),
            }
        };
        assert_eq!(end, expected, "{bytes:x?}");
        assert_eq!(count.ok(), expected.ok().map(|pairs| pairs.len() as u64));
    }

    #[test]
    fn zipmaps_give_their_pairs() {
        // The example in `zipmap.c`, and one with unused bytes and a long length.
        let pairs = [("foo", "bar"), ("hello", "world")];
        check_zipmap(b"\x02\x03foo\x03\x00bar\x05hello\x05\x00world\xFF", Ok(&pairs));
        check_zipmap(b"\x01\x01a\xFE\x02\0\0\0\x01bc-\xFF", Ok(&[("a", "bc")]));
        check_zipmap(b"\x00\xFF", Ok(&[]));
        check_zipmap(b"\x01\x01a\xFF", Err("a field without a value"));
        check_zipmap(b"\x01\x01a\x05\x00bc\xFF", Err("an entry beyond the end"));
        check_zipmap(b"\x00\xFF\xFF", Err("an end mark before the end"));
        check_zipmap(b"", Err("an entry beyond the end"));
        assert_eq!((super::pairs(b"\x02\x03"), super::pairs(b"\xFE")), (Some(2), None));
    }
}
