//! Standard numbers with their check digits, call numbers, dates.

use super::super::rng::Rng;

/// Returns an ISBN-10 and the ISBN-13 of the same book, both with valid check digits.
///
/// `group` is the ISBN group of a country or language, one digit. The rest is drawn at random, so
/// a number may happen to belong to a real book; nothing else of that book will match.
pub(super) fn isbn(rng: &mut Rng, group: u64) -> (String, String) {
    let body = format!("{group}{:08}", rng.below(100_000_000));
    let digits: Vec<u64> = body.bytes().take(9).map(|b| u64::from(b - b'0')).collect();
    let sum: u64 = digits.iter().zip((2..=10).rev()).map(|(d, w)| d * w).sum();
    let check = match (11 - sum % 11) % 11 {
        10 => 'X',
        digit => char::from(b'0' + digit as u8),
    };
    let long: Vec<u64> = [9, 7, 8].into_iter().chain(digits.iter().copied()).collect();
    let sum: u64 = long.iter().enumerate().map(|(i, d)| d * (1 + 2 * (i as u64 % 2))).sum();
    let body = &body[..9];
    (format!("{body}{check}"), format!("978{body}{}", (10 - sum % 10) % 10))
}

/// Returns an ISSN with a valid check digit.
pub(super) fn issn(rng: &mut Rng) -> String {
    let number = rng.between(20_000, 2_799_999);
    let digits = format!("{number:07}");
    let sum: u64 =
        digits.bytes().zip((2..=8).rev()).map(|(b, w): (u8, u64)| u64::from(b - b'0') * w).sum();
    let check = match (11 - sum % 11) % 11 {
        10 => 'X',
        digit => char::from(b'0' + digit as u8),
    };
    format!("{}-{}{check}", &digits[..4], &digits[4..])
}

/// Returns a Library of Congress control number for a book of `year`, as it stands in 010 $a.
pub(super) fn lccn(rng: &mut Rng, year: u64) -> String {
    if year >= 2001 {
        format!("  {year}{:06}", rng.below(400_000))
    } else {
        format!("   {:02}{:06} ", year.max(1900) % 100, rng.below(200_000))
    }
}

/// Returns a 14-digit item barcode with its Luhn check digit; `prefix` has five digits (a 3 for
/// items and the library's number).
pub(super) fn barcode(rng: &mut Rng, prefix: u64) -> String {
    let body = format!("{prefix:05}{:08}", rng.below(9_000_000));
    let sum: u64 = body
        .bytes()
        .enumerate()
        .map(|(i, b)| {
            let digit = u64::from(b - b'0') * (2 - i as u64 % 2);
            digit / 10 + digit % 10
        })
        .sum();
    format!("{body}{}", (10 - sum % 10) % 10)
}

/// Year, month, day.
#[derive(Clone, Copy)]
pub(super) struct Date {
    pub(super) year: u64,
    pub(super) month: u64,
    pub(super) day: u64,
}

impl Date {
    /// Returns a day from the start of `from` to the end of `to`. No month has a day past its 28th.
    pub(super) fn draw(rng: &mut Rng, from: u64, to: u64) -> Date {
        Date {
            year: rng.between(from, to.max(from)),
            month: rng.between(1, 12),
            day: rng.between(1, 28),
        }
    }

    /// `yymmdd`, as in 008/00-05.
    pub(super) fn short(self) -> String {
        format!("{:02}{:02}{:02}", self.year % 100, self.month, self.day)
    }

    /// `yyyymmdd`.
    pub(super) fn compact(self) -> String {
        format!("{}{:02}{:02}", self.year, self.month, self.day)
    }

    /// `m/d/yyyy`, as circulation systems write it.
    pub(super) fn slashed(self) -> String {
        format!("{}/{}/{}", self.month, self.day, self.year)
    }
}

/// The shelf marks of a book.
pub(super) struct Call {
    /// Library of Congress class and number: 050 $a.
    pub(super) class: String,
    /// Cutter and date: 050 $b.
    pub(super) cutter: String,
    /// Dewey number: 082 $a.
    pub(super) dewey: String,
}

/// Returns the shelf marks of a book on the subject numbered `subject`, of LC class `class`, under
/// the name or title `entry`.
pub(super) fn call(rng: &mut Rng, subject: u64, class: &str, entry: &str, year: u64) -> Call {
    // Books on one subject stand together, so most of the number follows from the subject.
    let divisor = if rng.chance(600) { 1 } else { rng.between(2, 9) };
    let number = 1 + (subject * 7919) % 8999 / divisor;
    let decimal = if rng.chance(120) { format!(".{}", rng.between(1, 95)) } else { String::new() };
    let initial = entry.chars().find(char::is_ascii_alphabetic).unwrap_or('X').to_ascii_uppercase();
    let digits = if rng.chance(700) { rng.between(11, 99) } else { rng.between(110, 9999) };
    let cutter = if rng.chance(250) {
        let second = char::from(b'A' + rng.below(26) as u8);
        format!(".{initial}{digits} {second}{} {year}", rng.between(2, 99))
    } else if rng.chance(750) {
        format!(".{initial}{digits} {year}")
    } else {
        format!(".{initial}{digits}")
    };
    let hundreds = (subject * 37 + 300) % 1000;
    let dewey = match rng.below(4) {
        0 => format!("{hundreds:03}"),
        1 => format!("{hundreds:03}/.{}", rng.between(1, 99)),
        2 => format!("{hundreds:03}.{}", rng.between(1, 999)),
        _ => format!("{hundreds:03}.{}/{}", rng.between(1, 99), rng.between(1, 9999)),
    };
    Call { class: format!("{class}{number}{decimal}"), cutter, dewey }
}

/// `number` in lower-case Roman numerals, as prefatory pages are counted; for numbers under 50.
pub(super) fn roman_numeral(number: u64) -> String {
    let mut left = number.min(49);
    let mut text = String::new();
    for (value, letters) in [(40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")] {
        while left >= value {
            text.push_str(letters);
            left -= value;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_digits_hold() {
        let mut rng = Rng::for_item(7, 7, 7);
        for _ in 0..2000 {
            let (short, long) = isbn(&mut rng, 0);
            let value = |c: char| c.to_digit(10).unwrap_or(10);
            let sum: u32 = short.chars().zip((1..=10).rev()).map(|(c, w)| value(c) * w).sum();
            assert_eq!((short.len(), sum % 11), (10, 0), "{short}");
            let sum: u32 = long.chars().zip([1, 3].iter().cycle()).map(|(c, w)| value(c) * w).sum();
            assert_eq!((long.len(), sum % 10), (13, 0), "{long}");

            let issn = issn(&mut rng).replace('-', "");
            let sum: u32 = issn.chars().zip((1..=8).rev()).map(|(c, w)| value(c) * w).sum();
            assert_eq!((issn.len(), sum % 11), (8, 0), "{issn}");

            let barcode = barcode(&mut rng, 39_015);
            let luhn = |(i, c): (usize, char)| {
                let digit = value(c) * if i % 2 == 0 { 2 } else { 1 };
                digit / 10 + digit % 10
            };
            let sum: u32 = barcode.chars().enumerate().map(luhn).sum();
            assert_eq!((barcode.len(), sum % 10), (14, 0), "{barcode}");
        }
    }

    #[test]
    fn roman_numerals() {
        let shown: Vec<String> = [1, 4, 9, 14, 29, 40, 48].map(roman_numeral).into();
        assert_eq!(shown, ["i", "iv", "ix", "xiv", "xxix", "xl", "xlviii"]);
    }
}
