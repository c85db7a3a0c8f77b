//! The grammar of numbers in JSON (RFC 8259 §6), in which other formats spell decimals too.

/// How [`scan`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scan {
    /// A whole number that ends before this index.
    Number {
        /// The index after its last byte.
        end: usize,
        /// Whether it has neither fraction nor exponent.
        integer: bool,
    },
    /// The bytes end where the number may continue; it is incomplete if `missing` names what it
    /// lacks.
    Cut { missing: Option<&'static str> },
    /// The byte at this index is not what was expected, as named.
    Fault(usize, &'static str),
    /// The byte at this index is a digit after a leading zero.
    LeadingZero(usize),
}

/// Scans a number from `at` (a `-` or a digit) on.
pub(crate) fn scan(bytes: &[u8], mut at: usize) -> Scan {
    let digits = |from: usize| {
        bytes[from..].iter().position(|b| !b.is_ascii_digit()).map_or(bytes.len(), |n| from + n)
    };
    let (digit, fraction, power) =
        ("a digit", "a digit after the decimal point", "a digit of the exponent");
    if bytes[at] == b'-' {
        at += 1;
    }
    let end = digits(at);
    let mut integer = true;
    if end == at {
        return match at == bytes.len() {
            true => Scan::Cut { missing: Some(digit) },
            false => Scan::Fault(at, digit),
        };
    }
    if bytes[at] == b'0' && end > at + 1 {
        return Scan::LeadingZero(at + 1);
    }
    at = end;
    if bytes.get(at) == Some(&b'.') {
        integer = false;
        let end = digits(at + 1);
        if end == at + 1 {
            return match end == bytes.len() {
                true => Scan::Cut { missing: Some(fraction) },
                false => Scan::Fault(end, fraction),
            };
        }
        at = end;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        integer = false;
        at += 1;
        if matches!(bytes.get(at), Some(b'+' | b'-')) {
            at += 1;
        }
        let end = digits(at);
        if end == at {
            return match end == bytes.len() {
                true => Scan::Cut { missing: Some(power) },
                false => Scan::Fault(end, power),
            };
        }
        at = end;
    }
    match at == bytes.len() {
        true => Scan::Cut { missing: None },
        false => Scan::Number { end: at, integer },
    }
}

/// Returns whether the whole text is a number in JSON's grammar (RFC 8259 §6).
pub fn is_number(text: &str) -> bool {
    let bytes = text.as_bytes();
    matches!(bytes.first(), Some(b'-' | b'0'..=b'9'))
        && scan(bytes, 0) == Scan::Cut { missing: None }
}
