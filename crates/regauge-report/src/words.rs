//! Describes a contender in a word or two: what it keeps, and what hostile input does to it. The
//! terminal and the page use the same words.

use regauge::Format;
use regauge_measure::report::{BombOutcome, Loss, Reach, Row};
use regauge_measure::{Report, thousands};

use crate::table::Tone;
use crate::text::visible;

/// What a loss removes, if that is shorter than the name of its kind.
const TAKEN: [(&str, &str); 23] = [
    ("duplicate key", "duplicate keys"),
    ("integer to double", "integers"),
    ("integer to text", "integers"),
    ("double to integer", "doubles"),
    ("double rounded", "all digits"),
    ("negative zero", "-0.0"),
    ("non-finite", "NaN, infinity"),
    ("bytes to text", "bytes"),
    ("key to text", "keys"),
    ("symbol to text", "symbols"),
    ("decimal to double", "decimals"),
    ("decimal to text", "decimals"),
    ("decimal digits", "decimals"),
    ("time to text", "times"),
    ("time rounded", "exact times"),
    ("offset of a time", "time zones"),
    ("special value to text", "special values"),
    ("subtype of bytes", "subtypes"),
    ("text repaired", "invalid text"),
    ("tuple to list", "tuples"),
    ("set to list", "sets"),
    ("class or tag", "classes, tags"),
    ("read otherwise by YAML 1.2", "YAML 1.2"),
];

/// Says what a busy machine means for the reader.
pub fn busy(share: f64) -> String {
    format!(
        "The machine was busy: contenders had the processor for only {:.0}% of their time. Trust \
         ratios, not times.",
        share * 100.0
    )
}

/// Says on which part of a document was timed, or nothing if that is all of it: "Timed on 338 of the
/// 293,270 elements of $, 0.1% of the file; …".
pub fn part(report: &Report) -> Option<String> {
    let part = report.method.part.as_ref()?;
    Some(format!(
        "Timed on {} of the {} elements of {}, {} of the file; {}.",
        thousands(part.elements),
        thousands(part.of),
        visible(&part.path),
        share(part.share),
        report.method.beyond_the_part()
    ))
}

/// Formats a share: "12%", and with a digit more near nothing and near all: "0.3%", "<0.1%", "99.8%", ">99.9%".
pub fn share(share: f64) -> String {
    match share * 100.0 {
        part @ (..=0.0 | 0.95..=99.05 | 100.0..) => format!("{part:.0}%"),
        ..0.05 => "<0.1%".to_owned(),
        99.95.. => ">99.9%".to_owned(),
        part => format!("{part:.1}%"),
    }
}

/// Formats a part of a whole as a share; a part of nothing is none of it.
pub fn share_of(part: u64, whole: u64) -> String {
    share(part as f64 / whole.max(1) as f64)
}

/// Returns a format as prose writes it: "JSON", "MARC 21". A folder may contain several.
pub fn format(names: &str) -> String {
    let title = |name: &str| {
        let known = Format::ALL.iter().find(|format| format.name() == name);
        known.map_or_else(|| visible(name), |format| format.title().to_owned())
    };
    names.split(", ").map(title).collect::<Vec<_>>().join(", ")
}

/// Formats the number of documents: "1 document", "18,881 records".
pub fn documents(report: &Report) -> String {
    let word = match report.input.format.as_str() {
        "marc" | "marcxml" | "marc-json" => "record",
        "objects" => "object",
        _ => "document",
    };
    let count = report.input.documents;
    format!("{} {word}{}", thousands(count), if count == 1 { "" } else { "s" })
}

/// Says what a round trip through the library and its format keeps: "everything", "not key order".
pub fn keeps(report: &Report, row: &Row) -> (String, Tone) {
    if !row.wrong.is_empty() {
        return ("wrong data".to_owned(), Tone::Bad);
    }
    if row.output_bytes.is_none() {
        return ("–".to_owned(), Tone::Plain);
    }
    let format = report.references.iter().find(|one| one.format == row.format);
    let of_format = format.map_or(&[][..], |one| &one.losses);
    let mut taken: Vec<String> = Vec::new();
    let mut is_untested = false;
    for loss in row.losses.iter().chain(of_format) {
        if loss.was_left_out(&row.format) {
            is_untested = true;
            continue;
        }
        let word = word_of(loss);
        if !taken.contains(&word) {
            taken.push(word);
        }
    }
    match taken.as_slice() {
        [] if is_untested => ("untested: classes".to_owned(), Tone::Care),
        [] => ("everything".to_owned(), Tone::Good),
        [one] => (format!("not {one}"), Tone::Care),
        [one, rest @ ..] => (format!("not {one} +{}", rest.len()), Tone::Care),
    }
}

fn word_of(loss: &Loss) -> String {
    if matches!(loss.kind.as_str(), "integer to double" | "integer to text") && is_of_big_ones(loss)
    {
        return "big integers".to_owned();
    }
    let known = TAKEN.iter().find(|(kind, _)| *kind == loss.kind);
    known.map_or_else(|| visible(&loss.kind), |(_, word)| (*word).to_owned())
}

/// Returns whether every integer that is shown is beyond 64 bits.
fn is_of_big_ones(loss: &Loss) -> bool {
    let is_small = |text: &str| text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok();
    !loss.examples.is_empty() && loss.examples.iter().all(|one| !is_small(&one.before))
}

/// Says what a hostile document does: "safe", "runs code", "stopped by 200 kB". "(docs)" marks what
/// was not tested, or is refused whatever the tests say: it is what the documentation says.
pub fn hostile(row: &Row) -> (String, Tone) {
    let Some(safety) = &row.safety else {
        return match &row.unsafe_because {
            Some(_) => ("unsafe (docs)".to_owned(), Tone::Bad),
            None => ("safe (docs)".to_owned(), Tone::Plain),
        };
    };
    let reached = match safety.reach {
        Reach::Code => Some("runs code"),
        _ if safety.runs_code == Some(true) => Some("runs code"),
        Reach::Methods => Some("calls methods"),
        _ => None,
    };
    if let Some(text) = reached {
        return (text.to_owned(), Tone::Bad);
    }
    let harms = |outcome| {
        matches!(outcome, BombOutcome::Crashed | BombOutcome::OutOfMemory | BombOutcome::OutOfTime)
    };
    let stopped = safety.bombs.iter().filter(|bomb| bomb.ended && harms(bomb.outcome));
    if let Some(bytes) = stopped.map(|bomb| bomb.bytes).min() {
        return (format!("stopped by {}", round_bytes(bytes)), Tone::Bad);
    }
    match (safety.reach, &row.unsafe_because) {
        (_, Some(_)) => ("unsafe (docs)".to_owned(), Tone::Bad),
        (Reach::Objects, None) => ("makes objects".to_owned(), Tone::Care),
        _ => ("safe".to_owned(), Tone::Good),
    }
}

/// Formats a size in as few characters as possible: "1 kB".
fn round_bytes(bytes: u64) -> String {
    match bytes {
        1_000_000.. => format!("{:.0} MB", bytes as f64 / 1e6),
        1_000.. => format!("{:.0} kB", bytes as f64 / 1e3),
        _ => format!("{bytes} B"),
    }
}

/// Says why a contender has no times, in a word or two.
pub fn without_times(row: &Row) -> &'static str {
    match () {
        () if !row.wrong.is_empty() => "wrong data",
        () if row.dropped.is_some() => "too slow",
        () if row.output_bytes.is_none() && !is_late(row) => "failed",
        () => "not timed",
    }
}

/// Returns whether it was stopped because it, or its start, took longer than it was given.
pub fn is_late(row: &Row) -> bool {
    let late = ["gave no answer within ", "did not start within "];
    row.failure.as_deref().is_some_and(|why| late.iter().any(|words| why.starts_with(words)))
}

#[cfg(test)]
mod tests {
    use regauge_measure::report::{Dropped, Example};

    use super::*;

    #[test]
    fn formats_have_their_names() {
        assert_eq!(format("msgpack"), "MessagePack");
        assert_eq!(format("cbor, marc, objects"), "CBOR, MARC 21, objects");
    }

    #[test]
    fn a_small_share_is_not_called_none_nor_a_large_one_all() {
        let check = |part, text: &str| assert_eq!(share(part), text);
        check(0.0, "0%");
        check(0.0001, "<0.1%");
        check(0.001_15, "0.1%");
        check(0.006, "0.6%");
        check(0.42, "42%");
        check(0.9904, "99%");
        check(0.997, "99.7%");
        check(0.999_9, ">99.9%");
        check(1.0, "100%");
        check(1.3, "130%");
        assert_eq!(share_of(0, 0), "0%");
        assert_eq!(share_of(1, u64::MAX), "<0.1%");
    }

    #[test]
    fn integers_that_are_lost_only_beyond_64_bits_are_called_big() {
        let word = |before: &[&str]| {
            let example = |before: &&str| Example {
                document: 1,
                path: "$".into(),
                before: (*before).to_owned(),
                after: String::new(),
            };
            let examples = before.iter().map(example).collect();
            word_of(&Loss { kind: "integer to double".into(), count: 9, examples })
        };
        assert_eq!(word(&["123456789012345678901", "-9223372036854775809"]), "big integers");
        assert_eq!(word(&["18446744073709551615"]), "integers");
        assert_eq!(word(&["123456789012345678901", "1"]), "integers");
        assert_eq!(word(&[]), "integers");
    }

    #[test]
    fn classes_that_were_left_out_are_untested() {
        let mut report = crate::full::tests::report();
        let mut row = report.rows[0].clone();
        let loss = Loss { kind: "class or tag".into(), count: 1, examples: Vec::new() };
        report.references[0].losses = vec![loss];
        report.references[0].format = "pickle-2".into();
        row.format = "pickle-2".into();
        row.losses.clear();
        assert_eq!(keeps(&report, &row).0, "untested: classes");
        report.references[0].format = "cbor".into();
        row.format = "cbor".into();
        assert_eq!(keeps(&report, &row).0, "not classes, tags");
    }

    #[test]
    fn what_did_not_answer_in_time_has_not_failed() {
        let mut row = crate::full::tests::report().rows[0].clone();
        (row.timing, row.output_bytes) = (None, None);
        for late in ["gave no answer within 2 s and was stopped", "did not start within 2 s"] {
            row.failure = Some(late.into());
            assert_eq!(without_times(&row), "not timed");
        }
        row.dropped = Some(Dropped { at_least: 12.0, processes: 0 });
        assert_eq!(without_times(&row), "too slow", "that is known");
        row.dropped = None;
        row.failure = Some("ended by itself (exit status: 1)".into());
        assert_eq!(without_times(&row), "failed");
    }

    #[test]
    fn sizes_are_short() {
        let check = |bytes, text: &str| assert_eq!(round_bytes(bytes), text);
        check(999, "999 B");
        check(1_024, "1 kB");
        check(200_001, "200 kB");
        check(2_900_000, "3 MB");
    }
}
