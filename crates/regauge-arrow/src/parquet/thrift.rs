//! Thrift's compact protocol, as far as it takes to walk over a structure.
//!
//! Specification: <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>. The crate
//! `parquet` reads footers and page headers itself. It allocates what they claim and recurses as deep as they nest,
//! so they are walked over first.

/// Why a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// More bytes follow than were given.
    Short,
    /// The bytes are no structure.
    Wrong,
}

/// Kinds of values, as the protocol numbers them.
pub const TRUE: u8 = 1;
pub const FALSE: u8 = 2;
pub const I8: u8 = 3;
pub const I16: u8 = 4;
pub const I32: u8 = 5;
pub const I64: u8 = 6;
pub const DOUBLE: u8 = 7;
pub const BINARY: u8 = 8;
pub const LIST: u8 = 9;
pub const SET: u8 = 10;
pub const MAP: u8 = 11;
pub const STRUCT: u8 = 12;
pub const UUID: u8 = 13;

/// How deep structures may nest that are walked over. Parquet's nest 6 deep.
const DEPTH_MAX: usize = 32;

/// A place in bytes.
pub struct Compact<'b> {
    bytes: &'b [u8],
    pos: usize,
}

impl<'b> Compact<'b> {
    /// Starts at the first byte.
    pub fn new(bytes: &'b [u8]) -> Compact<'b> {
        Compact { bytes, pos: 0 }
    }

    /// Returns how many bytes were walked over.
    pub fn position(&self) -> usize {
        self.pos
    }

    fn byte(&mut self) -> Result<u8, Fault> {
        let byte = self.bytes.get(self.pos).ok_or(Fault::Short)?;
        self.pos += 1;
        Ok(*byte)
    }

    fn advance(&mut self, count: u64) -> Result<(), Fault> {
        let count = usize::try_from(count).map_err(|_| Fault::Short)?;
        match self.pos.checked_add(count).filter(|end| *end <= self.bytes.len()) {
            Some(end) => self.pos = end,
            None => return Err(Fault::Short),
        }
        Ok(())
    }

    fn varint(&mut self) -> Result<u64, Fault> {
        let mut value = 0_u64;
        for shift in (0..70).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F).checked_shl(shift).unwrap_or(0);
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Fault::Wrong)
    }

    /// Reads a signed number of any width but one byte.
    pub fn int(&mut self) -> Result<i64, Fault> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Reads the head of a list: the kind of its elements, and their number.
    pub fn list(&mut self) -> Result<(u8, u64), Fault> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.varint()?,
            count => count.into(),
        };
        Ok((head & 0x0F, count))
    }

    /// Walks over a structure. `take` is called with the number and the kind of each field, and returns whether it
    /// has read the value; otherwise it is walked over.
    pub fn structure(
        &mut self,
        take: &mut dyn FnMut(&mut Self, i64, u8) -> Result<bool, Fault>,
    ) -> Result<(), Fault> {
        self.structure_at(0, take)
    }

    fn structure_at(
        &mut self,
        depth: usize,
        take: &mut dyn FnMut(&mut Self, i64, u8) -> Result<bool, Fault>,
    ) -> Result<(), Fault> {
        if depth > DEPTH_MAX {
            return Err(Fault::Wrong);
        }
        let mut field = 0_i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            field = match head >> 4 {
                0 => self.int()?,
                step => field.saturating_add(step.into()),
            };
            let kind = head & 0x0F;
            if !take(self, field, kind)? {
                self.skip(kind, depth)?;
            }
        }
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Result<(), Fault> {
        match kind {
            // Its value is its kind.
            TRUE | FALSE => Ok(()),
            _ => self.skip_value(kind, depth),
        }
    }

    fn skip_value(&mut self, kind: u8, depth: usize) -> Result<(), Fault> {
        match kind {
            TRUE | FALSE | I8 => self.advance(1),
            I16 | I32 | I64 => self.varint().map(drop),
            DOUBLE => self.advance(8),
            UUID => self.advance(16),
            BINARY => {
                let length = self.varint()?;
                self.advance(length)
            }
            LIST | SET => {
                let (kind, count) = self.list()?;
                (0..count).try_for_each(|_| self.skip_element(kind, depth))
            }
            MAP => match self.varint()? {
                0 => Ok(()),
                count => {
                    let kinds = self.byte()?;
                    (0..count).try_for_each(|_| {
                        self.skip_element(kinds >> 4, depth)?;
                        self.skip_element(kinds & 0x0F, depth)
                    })
                }
            },
            STRUCT => self.structure_at(depth + 1, &mut |_, _, _| Ok(false)),
            _ => Err(Fault::Wrong),
        }
    }

    /// Walks over an element of a container, which takes a byte at least.
    fn skip_element(&mut self, kind: u8, depth: usize) -> Result<(), Fault> {
        if depth > DEPTH_MAX {
            return Err(Fault::Wrong);
        }
        self.skip_value(kind, depth + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(bytes: &[u8]) -> Result<Vec<(i64, u8)>, Fault> {
        let mut found = Vec::new();
        let mut compact = Compact::new(bytes);
        compact.structure(&mut |_, field, kind| {
            found.push((field, kind));
            Ok(false)
        })?;
        assert_eq!(compact.position(), bytes.len());
        Ok(found)
    }

    #[test]
    fn every_kind_is_walked_over() {
        assert_eq!(fields(&[0]), Ok(vec![]));
        assert_eq!(fields(&[0x11, 0x12, 0]), Ok(vec![(1, TRUE), (2, FALSE)]));
        assert_eq!(
            fields(&[0x15, 0x80, 0x01, 0x18, 2, b'a', b'b', 0]),
            Ok(vec![(1, I32), (2, BINARY)])
        );
        assert_eq!(fields(&[0x19, 0x25, 2, 4, 0]), Ok(vec![(1, LIST)]));
        assert_eq!(fields(&[0x1B, 1, 0x58, 2, 1, b'x', 0]), Ok(vec![(1, MAP)]));
        assert_eq!(fields(&[0x1C, 0x15, 2, 0, 0]), Ok(vec![(1, STRUCT)]));
        assert_eq!(fields(&[0x05, 0x20, 2, 0]), Ok(vec![(16, I32)]));
    }

    #[test]
    fn what_is_cut_or_no_structure() {
        for bytes in [&[][..], &[0x15], &[0x15, 0x80], &[0x18, 9, b'a'], &[0x19, 0xF5, 0xFF]] {
            assert_eq!(fields(bytes), Err(Fault::Short), "{bytes:?}");
        }
        assert_eq!(fields(&[0x1E, 0]), Err(Fault::Wrong));
        assert_eq!(
            fields(&[0x15, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
            Err(Fault::Wrong)
        );
        // Structures, and lists of lists, that nest without end.
        assert_eq!(fields(&[0x1C; 4096]), Err(Fault::Wrong));
        let mut lists = vec![0x19];
        lists.extend([0x19; 4096]);
        assert_eq!(fields(&lists), Err(Fault::Wrong));
    }

    #[test]
    fn numbers() {
        for (bytes, value) in [(&[0][..], 0), (&[1], -1), (&[2], 1), (&[0xFE, 0x01], 127)] {
            assert_eq!(Compact::new(bytes).int(), Ok(value));
        }
    }
}
