//! Bandwidths as people write them.

/// Parses a bandwidth in bytes per second, such as `10MB/s`, `100Mbit/s`, `1 Gbit/s`, `40MiB/s` or
/// `5000000` (bytes per second). Units are SI: 1 MB is 10^6 bytes; KiB, MiB and GiB are powers of
/// 1,024.
///
/// # Errors
/// A sentence that says what was found and expected.
pub fn parse_bandwidth(text: &str) -> Result<f64, String> {
    let fail =
        || format!("found \"{text}\", expected a number with a unit, such as 10MB/s or 100Mbit/s");
    let text = text.trim();
    let end = text.find(|one: char| !one.is_ascii_digit() && one != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: f64 = number.parse().map_err(|_| fail())?;
    let unit = unit.trim();
    let unit = unit.strip_suffix("/s").or_else(|| unit.strip_suffix("ps")).unwrap_or(unit);
    let (prefix, divisor) = if let Some(prefix) = unit.strip_suffix("bit") {
        (prefix, 8.0)
    } else if let Some(prefix) = unit.strip_suffix('b') {
        (prefix, 8.0)
    } else {
        (unit.strip_suffix('B').unwrap_or(unit), 1.0)
    };
    let factor = match prefix {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "Ki" => 1024.0,
        "Mi" => 1024.0 * 1024.0,
        "Gi" => 1024.0 * 1024.0 * 1024.0,
        _ => return Err(fail()),
    };
    let bandwidth = number * factor / divisor;
    if bandwidth > 0.0 && bandwidth.is_finite() {
        Ok(bandwidth)
    } else {
        Err(format!("found \"{text}\", expected a bandwidth above 0"))
    }
}

/// Formats a bandwidth for people: `18 MB/s`.
#[must_use]
pub fn bandwidth_text(bandwidth: f64) -> String {
    let (value, unit) = match bandwidth {
        bandwidth if bandwidth >= 1e9 => (bandwidth / 1e9, "GB/s"),
        bandwidth if bandwidth >= 1e6 => (bandwidth / 1e6, "MB/s"),
        bandwidth if bandwidth >= 1e3 => (bandwidth / 1e3, "kB/s"),
        bandwidth => (bandwidth, "B/s"),
    };
    if value >= 9.95 { format!("{value:.0} {unit}") } else { format!("{value:.1} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bandwidths() {
        for (text, bytes) in [
            ("10MB/s", 10e6),
            ("100Mbit/s", 12.5e6),
            ("1 Gbit/s", 125e6),
            ("2.5GB/s", 2.5e9),
            ("1Mbps", 125e3),
            ("56kb", 7e3),
            ("4MiB/s", 4_194_304.0),
            ("5000000", 5e6),
            ("10M", 10e6),
        ] {
            assert_eq!(parse_bandwidth(text), Ok(bytes), "{text}");
        }
        for text in ["", "fast", "10 furlongs", "MB/s", "-3MB/s", "1.2.3MB/s", "0", "0MB/s"] {
            assert!(parse_bandwidth(text).is_err(), "{text}");
        }
        assert!(parse_bandwidth("10 miles").unwrap_err().contains("such as 10MB/s"));
    }

    #[test]
    fn texts() {
        assert_eq!(bandwidth_text(125e6), "125 MB/s");
        assert_eq!(bandwidth_text(1.25e9), "1.2 GB/s");
        assert_eq!(bandwidth_text(17_960_000.0), "18 MB/s");
        assert_eq!(bandwidth_text(900.0), "900 B/s");
    }
}
