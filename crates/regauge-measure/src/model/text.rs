//! Writes figures for people: times, sizes and counts. Every note and table uses the same.

/// Formats a time with three digits and a unit: `1.23 ms`.
#[must_use]
pub fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns >= 1e9 => (ns / 1e9, "s"),
        ns if ns >= 1e6 => (ns / 1e6, "ms"),
        ns if ns >= 1e3 => (ns / 1e3, "µs"),
        ns => (ns, "ns"),
    };
    format!("{} {unit}", three_digits(value))
}

/// Formats a number with three digits: `1.23`, `12.3`, `123`.
#[must_use]
pub fn three_digits(value: f64) -> String {
    match value {
        value if value >= 99.95 => format!("{value:.0}"),
        value if value >= 9.995 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

/// Formats bytes in decimal units, as the posts do: 1 MB is 10^6 bytes.
#[must_use]
pub fn bytes(count: u64) -> String {
    let value = count as f64;
    match count {
        1_000_000_000.. => format!("{} GB", three_digits(value / 1e9)),
        1_000_000.. => format!("{} MB", three_digits(value / 1e6)),
        10_000.. => format!("{} kB", three_digits(value / 1e3)),
        _ => format!("{} B", thousands(count)),
    }
}

/// Formats digits in groups of three: `1,234`.
#[must_use]
pub fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a number with its noun and verb: `1 record was`, `1,234 records were`.
pub(crate) fn were(count: u64, noun: &str) -> String {
    let end = if count == 1 { " was" } else { "s were" };
    format!("{} {noun}{end}", thousands(count))
}

/// Formats a number without insignificant zeros.
#[must_use]
pub fn plain(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value}") }
}

/// Shortens a message to its first line and 300 characters: libraries' messages may quote whole
/// documents.
pub(crate) fn shortened(text: &str) -> String {
    let line = text.lines().next().unwrap_or("");
    // What a library quotes of the data must not control the terminal.
    let line = regauge::text::escape_hidden(line);
    if line.chars().count() <= 300 {
        return line.into_owned();
    }
    line.chars().take(299).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures() {
        for (ns, text) in [
            (0.0, "0.00 ns"),
            (999.0, "999 ns"),
            (1_234.0, "1.23 µs"),
            (12_345_678.0, "12.3 ms"),
            (2.5e9, "2.50 s"),
            (123e9, "123 s"),
        ] {
            assert_eq!(time(ns), text);
        }
        for (count, text) in [
            (0, "0 B"),
            (9_999, "9,999 B"),
            (16_402, "16.4 kB"),
            (31_000_000, "31.0 MB"),
            (2_000_000_000, "2.00 GB"),
        ] {
            assert_eq!(bytes(count), text);
        }
    }
}
