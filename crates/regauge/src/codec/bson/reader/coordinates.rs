//! Arrays of two and three doubles: coordinates, of which files hold tens of thousands.

use super::super::types::*;

/// The size of an array of two doubles, in bytes.
pub(super) const PAIR: usize = 27;

/// Returns the numbers of an array of two doubles that begins here: coordinates, of which files
/// hold tens of thousands. `None` for any other array, and if a number is not finite, because not
/// every sink takes those.
#[inline(always)]
pub(super) fn pair(bytes: &[u8]) -> Option<(f64, f64)> {
    // Checks the bytes around the numbers with three comparisons.
    let array = bytes.first_chunk::<PAIR>()?;
    let head = u64::from_le_bytes([PAIR as u8, 0, 0, 0, DOUBLE, b'0', 0, 0]);
    let between = u64::from_le_bytes([DOUBLE, b'1', 0, 0, 0, 0, 0, 0]);
    let is_pair = number(array, 0) << 8 >> 8 == head
        && number(array, 14) << 32 >> 40 == between
        && array[PAIR - 1] == 0;
    let (x, y) = (f64::from_bits(number(array, 7)), f64::from_bits(number(array, 18)));
    (is_pair && x.is_finite() && y.is_finite()).then_some((x, y))
}

/// The size of an array of three doubles, in bytes.
pub(super) const TRIPLE: usize = 38;

/// Same, for three.
#[inline]
pub(super) fn triple(bytes: &[u8]) -> Option<[f64; 3]> {
    let array = bytes.first_chunk::<TRIPLE>()?;
    let double = |index: u8| -> Option<f64> {
        let at = 4 + 11 * usize::from(index);
        let [DOUBLE, digit, 0, bytes @ ..] = array[at..].first_chunk::<11>()? else { return None };
        Some(f64::from_le_bytes(*bytes)).filter(|v| *digit == b'0' + index && v.is_finite())
    };
    let is_whole = array.starts_with(&(TRIPLE as u32).to_le_bytes()) && array[TRIPLE - 1] == 0;
    if is_whole { Some([double(0)?, double(1)?, double(2)?]) } else { None }
}

/// Returns eight bytes at a place in an array of two.
#[inline(always)]
fn number(array: &[u8; PAIR], at: usize) -> u64 {
    u64::from_le_bytes(array[at..at + 8].try_into().expect("eight bytes"))
}
