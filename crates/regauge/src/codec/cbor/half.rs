//! Half-precision numbers (IEEE 754 binary16) as bits, so that a NaN keeps its payload.

/// Returns the single with the same value; every half has one (RFC 8949 Appendix D).
#[inline]
pub(super) fn to_f32(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let exponent = u32::from(half >> 10 & 31);
    let fraction = u32::from(half & 0x3FF);
    let magnitude = match exponent {
        // Subnormal: the fraction counts units of 2^-24, and a single holds the product exactly.
        0 => (fraction as f32 * f32::from_bits(0x3380_0000)).to_bits(),
        31 => 0x7F80_0000 | fraction << 13,
        _ => (exponent + 112) << 23 | fraction << 13,
    };
    f32::from_bits(sign | magnitude)
}

/// Returns the half with exactly this value, if there is one.
#[inline]
pub(super) fn from_f32(v: f32) -> Option<u16> {
    let bits = v.to_bits();
    // The low thirteen bits of the fraction do not fit, whatever the exponent.
    if bits & 0x1FFF != 0 {
        return None;
    }
    let sign = (bits >> 16 & 0x8000) as u16;
    let exponent = (bits >> 23 & 0xFF) as i32 - 127;
    let fraction = (bits >> 13 & 0x3FF) as u16;
    match exponent {
        128 => Some(sign | 0x7C00 | fraction),
        -14..=15 => Some(sign | ((exponent + 15) as u16) << 10 | fraction),
        -24..=-15 => {
            let shift = (-14 - exponent) as u32;
            let whole = 0x400 | fraction;
            (whole.trailing_zeros() >= shift).then_some(sign | whole >> shift)
        }
        -127 if fraction == 0 => Some(sign),
        _ => None,
    }
}

/// Returns the single with exactly this value, if there is one. A NaN's payload counts.
#[inline]
pub(super) fn f32_of(v: f64) -> Option<f32> {
    if v.is_nan() {
        let bits = v.to_bits();
        let single =
            (bits >> 32 & 0x8000_0000) as u32 | 0x7F80_0000 | (bits >> 29 & 0x7F_FFFF) as u32;
        return (bits & 0x1FFF_FFFF == 0).then(|| f32::from_bits(single));
    }
    let single = v as f32;
    (f64::from(single).to_bits() == v.to_bits()).then_some(single)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the value from the definition: sign, exponent and fraction as a double.
    fn by_definition(half: u16) -> f64 {
        let sign = if half & 0x8000 == 0 { 1.0 } else { -1.0 };
        let (exponent, fraction) = (i32::from(half >> 10 & 31), f64::from(half & 0x3FF));
        sign * match exponent {
            0 => fraction * 2f64.powi(-24),
            31 if fraction == 0.0 => f64::INFINITY,
            31 => f64::NAN,
            _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
        }
    }

    #[test]
    fn every_half_there_and_back() {
        for half in 0..=u16::MAX {
            let single = to_f32(half);
            assert_eq!(from_f32(single), Some(half), "{half:#06x}");
            let expected = by_definition(half);
            assert!(
                f64::from(single).to_bits() == expected.to_bits()
                    || single.is_nan() && expected.is_nan(),
                "{half:#06x}: {single} for {expected}"
            );
        }
    }

    #[test]
    fn what_is_no_half() {
        for v in [100_000.0, 65_520.0, 0.1, 1.0 + f32::EPSILON, 2f32.powi(-25), f32::MIN_POSITIVE] {
            assert_eq!(from_f32(v), None, "{v}");
        }
        assert_eq!(from_f32(f32::from_bits(1)), None);
        assert_eq!(from_f32(f32::from_bits(0x7FC0_0001)), None);
        assert_eq!(from_f32(65_504.0), Some(0x7BFF));
        assert_eq!(from_f32(1.5 * 2f32.powi(-24)), None);
    }

    #[test]
    fn what_is_a_single() {
        for v in [0.0, -0.0, 1.5, f64::INFINITY, 3.4028234663852886e38, 1e-45f32.into()] {
            assert_eq!(f32_of(v).map(|single| f64::from(single).to_bits()), Some(v.to_bits()));
        }
        for v in [0.1, 1e300, 1e-50, f64::from_bits(0x7FF8_0000_0000_0001)] {
            assert_eq!(f32_of(v), None, "{v}");
        }
        let quiet = f32_of(f64::from_bits(0xFFF8_0000_2000_0000)).unwrap();
        assert_eq!(quiet.to_bits(), 0xFFC0_0001);
    }
}
