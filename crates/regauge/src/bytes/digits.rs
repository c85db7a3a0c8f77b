//! The fast path for numbers in JSON's grammar (RFC 8259 §6), which JSON and Marshal share.
//!
//! It must agree with [`scan`](crate::model::number::grammar::scan) on the numbers that both accept; JSON's
//! tests compare them.

use std::hint::black_box;

use super::simd::{Block, last_digits, sixteen};
use super::table_powers::{POWERS, SMALLEST};

/// A number that [`quick`] accepted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Quick {
    /// An integer's magnitude; the caller handles the sign.
    Integer(u64),
    /// A double, without its sign.
    Double(f64),
}

/// Returns the magnitude of the number whose first digit is at `at`, and the index after it. `None`
/// for unusual input: near the end of the window, with an extra leading zero, more than 19 digits,
/// or a fault. Then the caller takes its slow path.
#[inline(always)]
pub(crate) fn quick(bytes: &[u8], at: usize) -> Option<(Quick, usize)> {
    let whole = sixteen(bytes, at)?;
    let mut digits = Block::load(whole).digits();
    if digits == 0 || (whole[0] == b'0' && digits != 1) {
        return None;
    }
    // Whether short integers have one, two or three digits is hard to foresee.
    if digits <= 3 && !matches!(whole[digits as usize], b'.' | b'e' | b'E') {
        return Some((Quick::Integer(three_digits(whole, digits)), at + digits as usize));
    }
    let mut end = at + foreseen([2, 3], digits);
    let mut mantissa = last_digits(sixteen(bytes, end.checked_sub(16)?)?, digits);
    if digits == 16 {
        (mantissa, end, digits) = up_to_19(bytes, mantissa, end, digits)?;
    }
    match bytes.get(end)? {
        b'.' => {}
        b'e' | b'E' => return None,
        _ => return Some((Quick::Integer(mantissa), end)),
    }
    let point = end + 1;
    let fraction = sixteen(bytes, point)?;
    let count = Block::load(fraction).digits();
    if count == 0 || digits + count > 19 {
        return None;
    }
    end = point + count as usize;
    mantissa = mantissa * TENS[count as usize] + last_digits(sixteen(bytes, end - 16)?, count);
    if count == 16 {
        (mantissa, end, _) = up_to_19(bytes, mantissa, end, digits + 16)?;
    }
    if matches!(bytes.get(end)?, b'e' | b'E') {
        return None;
    }
    Some((Quick::Double(double(mantissa, -((end - point) as i32))), end))
}

/// Returns the value of the first one to three bytes, which are digits.
#[inline(always)]
fn three_digits(bytes: &[u8; 16], count: u32) -> u64 {
    let [first, second, third, ..] = *bytes;
    let digits = u32::from_be_bytes([0, first, second, third]) ^ 0x0030_3030;
    // What follows the digits is shifted out.
    let digits = digits >> (8 * (3 - count));
    u64::from((digits >> 16 & 0xFF) * 100 + (digits >> 8 & 0xFF) * 10 + (digits & 0xFF))
}

/// Returns the count through a predictable branch if it is one of two frequent values.
///
/// The position of every byte after a number would otherwise wait until its digits are counted. If
/// a branch predicts the count, what follows is read in the meantime: canada.json takes 4% less time.
/// `black_box` keeps the compiler from seeing that all three arms give the same value; it affects
/// only speed. The digits after a point are counted: their branch would be mispredicted too often.
#[inline(always)]
fn foreseen([first, second]: [u32; 2], count: u32) -> usize {
    if count == first {
        black_box(first as usize)
    } else if count == second {
        black_box(second as usize)
    } else {
        count as usize
    }
}

/// Parses further digits after the first sixteen, up to 19 in all; `None` if there are more.
#[inline]
fn up_to_19(
    bytes: &[u8],
    mut mantissa: u64,
    mut end: usize,
    mut digits: u32,
) -> Option<(u64, usize, u32)> {
    while let Some(digit) = digit_at(bytes, end) {
        if digits == 19 {
            return None;
        }
        mantissa = mantissa * 10 + digit;
        (end, digits) = (end + 1, digits + 1);
    }
    Some((mantissa, end, digits))
}

#[inline(always)]
fn digit_at(bytes: &[u8], at: usize) -> Option<u64> {
    let digit = bytes.get(at)?.wrapping_sub(b'0');
    (digit <= 9).then_some(u64::from(digit))
}

const TENS: [u64; 20] = {
    let mut tens = [1; 20];
    let mut index = 1;
    while index < 20 {
        tens[index] = tens[index - 1] * 10;
        index += 1;
    }
    tens
};

/// Returns the double nearest to `mantissa * 10^exponent`, ties to even; infinite beyond the range.
///
/// See Lemire, "Number Parsing at a Gigabyte per Second" (2021). Mushtak and Lemire, "Fast Number
/// Parsing Without Fallback" (2022), show that 128 bits of the power suffice for every 64-bit
/// mantissa, so no case needs a fallback.
#[inline(always)]
pub(crate) fn double(mantissa: u64, exponent: i32) -> f64 {
    const MANTISSA_BITS: i32 = 52;
    if mantissa == 0 || exponent < SMALLEST {
        return 0.0;
    }
    let Some(&(high_power, low_power)) = POWERS.get((exponent - SMALLEST) as usize) else {
        return f64::INFINITY;
    };
    let shift = mantissa.leading_zeros();
    let mantissa = mantissa << shift;
    let product = u128::from(mantissa) * u128::from(high_power);
    let (mut high, mut low) = ((product >> 64) as u64, product as u64);
    // Only if the bits below the double's are all ones can the rest of the power carry into it.
    if high & 0x1FF == 0x1FF {
        let rest = ((u128::from(mantissa) * u128::from(low_power)) >> 64) as u64;
        let carry;
        (low, carry) = low.overflowing_add(rest);
        high += u64::from(carry);
    }
    let top = (high >> 63) as i32;
    let cut = top + 64 - MANTISSA_BITS - 3;
    // One bit more than the double holds, for rounding.
    let mut bits = high >> cut;
    // floor(log2(10^exponent)) is exponent * 217706 >> 16 in the range of the table.
    let mut power = ((exponent * 217_706) >> 16) + 63 + top - shift as i32 + 1023;
    if power <= 0 {
        return subnormal(bits, power);
    }
    // A tie: only for small powers are all lower bits zero.
    if low <= 1 && (-4..=23).contains(&exponent) && bits & 3 == 1 && bits << cut == high {
        bits &= !1;
    }
    bits = (bits + (bits & 1)) >> 1;
    if bits >> (MANTISSA_BITS + 1) != 0 {
        bits = 1 << MANTISSA_BITS;
        power += 1;
    }
    if power >= 0x7FF {
        return f64::INFINITY;
    }
    f64::from_bits((power as u64) << MANTISSA_BITS | bits & ((1 << MANTISSA_BITS) - 1))
}

#[cold]
fn subnormal(bits: u64, power: i32) -> f64 {
    if power < -62 {
        return 0.0;
    }
    let bits = bits >> (1 - power);
    // Rounding up into the smallest normal number sets its exponent automatically.
    f64::from_bits((bits + (bits & 1)) >> 1)
}
