//! Foreign text (names of files and libraries, values of documents), and figures with their units.

use regauge::text::escape_hidden;
use regauge_measure::{bytes, thousands, time};

/// The most characters of one foreign string that are shown; the whole of it is in `results.json`.
const SHOWN_MAX: usize = 600;

/// Makes foreign text safe to show in a page or a chart: characters that are invisible, change the
/// text direction or are not allowed in XML are shown as escapes, and text beyond [`SHOWN_MAX`]
/// is counted. (Escaping for HTML and SVG comes later, and is done elsewhere.)
pub fn visible(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(SHOWN_MAX) else { return prose(text) };
    let more = thousands(text[end..].chars().count() as u64);
    format!("{}… ({more} more characters)", prose(&text[..end]))
}

/// Makes a sentence of regauge's own safe, which may quote foreign text. It is shown whole.
pub fn prose(text: &str) -> String {
    escape_hidden(&text.replace(['\n', '\t'], " ")).into_owned()
}

/// Makes foreign text safe, with at most this many characters, for the labels of a chart.
pub fn label(text: &str, characters_max: usize) -> String {
    let shown = visible(text);
    if shown.chars().count() <= characters_max {
        return shown;
    }
    let mut cut: String = shown.chars().take(characters_max - 1).collect();
    cut.push('…');
    cut
}

/// Returns a part of a file's name: letters and digits in lower case, and hyphens.
pub fn slug(text: &str) -> String {
    let mut slug = String::new();
    for character in text.chars() {
        if slug.len() >= 40 {
            break;
        }
        if character.is_ascii_alphanumeric() {
            slug.push(character.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_end_matches('-').to_owned()
}

/// What a number counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Time,
    /// Bytes.
    Bytes,
    /// Bytes a second.
    Bandwidth,
    /// So often a second.
    PerSecond,
    /// A factor.
    Ratio,
    /// A count, or a unit that is written after the number.
    Other(String),
}

impl Unit {
    /// Returns the unit of a task's column or axis.
    pub fn of(name: &str) -> Unit {
        match name {
            "ns" => Unit::Time,
            "bytes" => Unit::Bytes,
            "bytes per second" | "bytes/s" | "B/s" => Unit::Bandwidth,
            "per second" => Unit::PerSecond,
            "ratio" => Unit::Ratio,
            other => Unit::Other(visible(other)),
        }
    }

    /// Returns a figure in a table: three digits.
    pub fn figure(&self, value: f64) -> String {
        if !value.is_finite() {
            return "–".to_owned();
        }
        match self {
            // Longer than a life, or less than nothing: no time, but it may not fill the page.
            Unit::Time if value.abs() >= 1e19 => format!("{:.2e} s", value / 1e9),
            Unit::Time if value < 0.0 => format!("−{}", time(-value)),
            Unit::Time => time(value),
            Unit::Bytes if value < 0.0 => format!("−{}", bytes(-value as u64)),
            Unit::Bytes => bytes(value.round() as u64),
            Unit::Bandwidth => format!("{}/s", bytes(value.max(0.0).round() as u64)),
            Unit::PerSecond => format!("{}/s", digits(value)),
            Unit::Ratio => format!("{}×", ratio_digits(value)),
            Unit::Other(unit) if unit.is_empty() => digits(value),
            Unit::Other(unit) => format!("{} {unit}", digits(value)),
        }
    }

    /// Returns a figure at a tick of an axis: as short as it can be, since ticks are round numbers.
    pub fn tick(&self, value: f64) -> String {
        match self {
            Unit::Time => scaled(value, &[(1e9, " s"), (1e6, " ms"), (1e3, " µs"), (1.0, " ns")]),
            Unit::Bytes => scaled(value, &BYTES),
            Unit::Bandwidth => format!("{}/s", scaled(value, &BYTES)),
            Unit::PerSecond => format!("{}/s", grouped(value)),
            Unit::Ratio => format!("{}×", plain(value)),
            Unit::Other(_) => grouped(value),
        }
    }
}

const BYTES: [(f64, &str); 4] = [(1e9, " GB"), (1e6, " MB"), (1e3, " kB"), (1.0, " B")];

fn scaled(value: f64, steps: &[(f64, &str)]) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    // A tick that was computed may lie a rounding error below its unit.
    let found = steps.iter().find(|(step, _)| value.abs() >= step * 0.999_999);
    let (step, unit) = found.or(steps.last()).copied().unwrap_or((1.0, ""));
    format!("{}{unit}", plain(value / step))
}

/// Formats a number without trailing zeros.
fn plain(value: f64) -> String {
    if value.abs() >= 1e15 {
        return format!("{value:.1e}");
    }
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.replace('-', "−")
}

fn grouped(value: f64) -> String {
    if (1e4..1e15).contains(&value) && (value - value.round()).abs() < 1e-6 {
        thousands(value.round() as u64)
    } else {
        plain(value)
    }
}

fn digits(value: f64) -> String {
    match value.abs() {
        size if size >= 99.95 && value > 0.0 && size < 1e15 => thousands(value.round() as u64),
        size if size >= 1e9 => format!("{value:.2e}"),
        size if size >= 9.995 => format!("{value:.1}"),
        size if size >= 0.0995 || size == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.2e}"),
    }
}

fn ratio_digits(value: f64) -> String {
    match value.abs() {
        size if size >= 1e9 => format!("{value:.2e}"),
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Returns the wider side of an interval, as a share of its middle: `±3%`.
pub fn margin(estimate: &regauge_measure::stats::Estimate) -> String {
    if estimate.too_few {
        return "too few".to_owned();
    }
    let side = (estimate.high - estimate.median).max(estimate.median - estimate.low);
    // Exact values and single samples have no interval.
    if estimate.median <= 0.0 || side <= 0.0 || !side.is_finite() {
        return String::new();
    }
    let percent = 100.0 * side / estimate.median;
    if percent >= 1e6 {
        return "±any".to_owned();
    }
    if percent < 1.0 { format!("±{percent:.1}%") } else { format!("±{percent:.0}%") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_shown() {
        assert_eq!(visible("a\u{202E}b\u{2066}c\0d\ne"), r"a\u{202e}b\u{2066}c\u{0}d e");
        assert_eq!(visible("naïve 日本 😀"), "naïve 日本 😀");
        assert_eq!(visible("\u{FFFE}\u{FEFF}\u{7F}"), r"\u{fffe}\u{feff}\u{7f}");
        let long = "x".repeat(SHOWN_MAX + 1_234);
        assert!(visible(&long).ends_with("x… (1,234 more characters)"));
        assert_eq!(visible(&"x".repeat(SHOWN_MAX)), "x".repeat(SHOWN_MAX));
        // Sentences of our own are shown whole, with what they quote made visible.
        assert_eq!(prose(&format!("{long}\u{202E}")), format!("{long}\\u{{202e}}"));
    }

    #[test]
    fn names_of_files_hold_nothing_but_letters_digits_and_hyphens() {
        assert_eq!(slug("../../etc: Size & time!"), "etc-size-time");
        assert_eq!(slug("日本"), "");
        assert_eq!(slug(&"a b".repeat(100)).len(), 40);
    }

    #[test]
    fn labels_are_cut() {
        assert_eq!(label("abcdef", 4), "abc…");
        assert_eq!(label("abcd", 4), "abcd");
    }

    #[test]
    fn ticks_from_nanoseconds_to_seconds_and_from_bytes_to_gigabytes() {
        let check = |unit: &Unit, values: &[(f64, &str)]| {
            for (value, text) in values {
                assert_eq!(&unit.tick(*value), text, "{value}");
            }
        };
        check(
            &Unit::Time,
            &[
                (0.0, "0"),
                (0.5, "0.5 ns"),
                (1.0, "1 ns"),
                (200.0, "200 ns"),
                (1e3, "1 µs"),
                (9.999_999_999e5, "1 ms"),
                (2.5e6, "2.5 ms"),
                (1e9, "1 s"),
                (2e11, "200 s"),
            ],
        );
        check(
            &Unit::Bytes,
            &[(0.0, "0"), (5.0, "5 B"), (1e3, "1 kB"), (2.5e6, "2.5 MB"), (1e9, "1 GB")],
        );
        check(&Unit::Bandwidth, &[(1e5, "100 kB/s"), (1e9, "1 GB/s")]);
        check(&Unit::PerSecond, &[(20_000.0, "20,000/s"), (0.5, "0.5/s")]);
        check(&Unit::Ratio, &[(1.5, "1.5×"), (10.0, "10×")]);
    }

    #[test]
    fn figures_have_three_digits() {
        assert_eq!(Unit::of("ns").figure(1_234_567.0), "1.23 ms");
        assert_eq!(Unit::of("bytes").figure(31_000_000.0), "31.0 MB");
        assert_eq!(Unit::of("per second").figure(68.3), "68.3/s");
        assert_eq!(Unit::of("per second").figure(12_345.6), "12,346/s");
        assert_eq!(Unit::of("ratio").figure(1.6), "1.60×");
        assert_eq!(Unit::of("percent").figure(5.3), "5.30 percent");
        assert_eq!(Unit::of("ns").figure(f64::NAN), "–");
    }
}
