//! `DELTA_BINARY_PACKED`: blocks of numbers, each as its difference from the one before.

/// What a walk over numbers found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The sum of those above 0.
    pub sum: u64,
    /// The index of the first byte after them.
    pub end: usize,
}

/// Walks over numbers, and adds them up if that is asked for; `None` if they are cut, or more than `most`.
pub fn walk(bytes: &[u8], most: u32, adds: bool) -> Option<Found> {
    let mut pos = 0;
    let block = varint(bytes, &mut pos)?;
    let parts = varint(bytes, &mut pos)?;
    let count = varint(bytes, &mut pos)?;
    let mut value = zigzag(varint(bytes, &mut pos)?);
    if parts == 0 || count > most.into() {
        return None;
    }
    let parts = usize::try_from(parts).ok()?;
    let each = block / parts as u64;
    let mut sum = if count > 0 { positive(value) } else { 0 };
    let mut left = count.saturating_sub(1);
    while left > 0 {
        let least = zigzag(varint(bytes, &mut pos)?);
        let widths = bytes.get(pos..pos.checked_add(parts)?)?;
        pos += parts;
        for width in widths {
            // Widths of parts that are not there have no meaning.
            if left == 0 {
                break;
            }
            let packed = usize::try_from(each.checked_mul(u64::from(*width))? / 8).ok()?;
            let part = bytes.get(pos..pos.checked_add(packed)?)?;
            pos += packed;
            // Decoding takes far longer than walking.
            let decoded = if adds { each.min(left) } else { 0 };
            for index in 0..decoded {
                let delta = bits(part, index, *width);
                value = value.wrapping_add(least).wrapping_add(delta as i64);
                sum = sum.saturating_add(positive(value));
            }
            left -= each.min(left);
        }
    }
    Some(Found { sum, end: pos })
}

/// Lengths are numbers of 32 bits, which wrap around.
fn positive(value: i64) -> u64 {
    u64::try_from(value as i32).unwrap_or_default()
}

fn varint(bytes: &[u8], pos: &mut usize) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..70).step_by(7) {
        let byte = *bytes.get(*pos)?;
        *pos += 1;
        value |= u64::from(byte & 0x7F).checked_shl(shift).unwrap_or(0);
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Returns the number of so many bits at an index; what is missing is 0.
fn bits(bytes: &[u8], index: u64, width: u8) -> u64 {
    let start = index * u64::from(width);
    let mut value = 0_u64;
    for bit in 0..u64::from(width).min(64) {
        let at = start + bit;
        let byte = bytes.get((at / 8) as usize).copied().unwrap_or(0);
        value |= u64::from(byte >> (at % 8) & 1) << bit;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_the_specification() {
        // 1, 2, 3, 4, 5: a first value, and deltas of 1 without a bit.
        let bytes = [128, 1, 4, 5, 2, 2, 0, 0, 0, 0, 0xFF];
        assert_eq!(walk(&bytes, 5, true), Some(Found { sum: 15, end: 10 }));
        assert_eq!(walk(&bytes, 4, true), None);
        // 7, 5, 3, 1, 2, 3, 4, 5: the least delta is -2, and 2 bits are left.
        let bytes = [128, 1, 4, 8, 14, 3, 2, 0, 0, 0, 0xC0, 0x3F, 0, 0, 0, 0, 0, 0];
        assert_eq!(walk(&bytes, 8, true), Some(Found { sum: 30, end: 18 }));
        for cut in 0..bytes.len() {
            assert_eq!(walk(&bytes[..cut], 8, false), None, "{cut}");
        }
        assert_eq!(walk(&[128, 1, 4, 0, 0], 0, true), Some(Found { sum: 0, end: 5 }));
        // No parts; and a count of which nothing follows.
        assert_eq!(walk(&[128, 1, 0, 5, 2], 9, true), None);
        assert_eq!(walk(&[0, 4, 5, 2], 9, true), None);
    }
}
