//! Writes what changed from one run to another.

use std::fmt::Write as _;

use regauge_measure::compare::{Compared, Comparison};
use regauge_measure::stats::Estimate;
use regauge_measure::time;

use super::{Layout, grid};
use crate::screen::{WIDTH_MIN, wrapped};
use crate::text::visible;

/// The share of 95% intervals that exclude 1 by chance.
const BY_CHANCE: f64 = 0.05;

/// Renders the comparison as text: how much changed, what, and with `full` the table of everything.
#[must_use]
pub fn render(comparison: &Comparison, layout: Layout, full: bool) -> String {
    let times = || comparison.rows.iter().flat_map(|row| [&row.decode, &row.encode]).flatten();
    let all = times().count();
    let changed = times().filter(|change| change.is_change()).count();
    let unknown = times().filter(|change| change.too_few).count();
    let known = all - unknown;
    let told = match (known, unknown) {
        (0, 1..) => "too few samples to tell whether times changed".to_owned(),
        (_, 0) => format!("{changed} of {known} times changed by more than noise"),
        (_, 1) => format!(
            "{changed} of {known} times changed by more than noise; 1 more has too few samples to tell"
        ),
        _ => format!(
            "{changed} of {known} times changed by more than noise; {unknown} more have too few samples \
             to tell"
        ),
    };
    let mut text = format!("Compared with the earlier run: {told}\n\n");
    let columns = layout.width.map_or(100, usize::from).max(WIDTH_MIN);
    for warning in &comparison.warnings {
        for part in wrapped(&format!("Warning: {}", visible(warning)), columns) {
            let _ = writeln!(text, "{part}");
        }
    }
    if !comparison.warnings.is_empty() {
        text.push('\n');
    }
    for row in &comparison.rows {
        changes(row, columns, &mut text);
    }
    if full {
        let _ = writeln!(text, "{}\n", table(comparison, layout));
    }
    if known > 0 {
        text.push_str("More than noise: the 95% interval of the ratio to before excludes 1.");
        let by_chance = known as f64 * BY_CHANCE;
        if by_chance.round() >= 1.0 {
            let _ = write!(
                text,
                " Even if nothing had\nchanged, about {by_chance:.0} of {known} would seem to have, by chance."
            );
        }
        text.push('\n');
    }
    for (names, what) in
        [(&comparison.gone, "Only in the earlier run"), (&comparison.new, "Only in this run")]
    {
        if !names.is_empty() {
            let _ = writeln!(text, "{what}: {}", names.join(", "));
        }
    }
    text
}

/// Writes what changed for a contender, if anything did.
fn changes(row: &Compared, columns: usize, text: &mut String) {
    let who = format!("{} ({})", row.name, row.runtime.name());
    let mut line = |line: &str| {
        for (number, part) in wrapped(line, columns - 4).iter().enumerate() {
            let _ = writeln!(text, "{}{part}", if number == 0 { "  " } else { "    " });
        }
    };
    for (what, change) in [("decode", &row.decode), ("encode", &row.encode)] {
        if let Some(change) = change.as_ref().filter(|change| change.is_change()) {
            line(&format!("{} {what}: {} of before, {who}", change.word(), shown(&change.ratio)));
        }
    }
    if !row.remarks.is_empty() {
        line(&format!("{who}: {}", row.remarks.join("; ")));
    }
}

/// Formats a ratio with as many digits as tell it from 0.
fn shown(Estimate { median, low, high, .. }: &Estimate) -> String {
    let digits = match *low {
        small if small > 0.0 && small < 0.1 => 1 + small.log10().floor().abs().min(9.0) as usize,
        _ => 2,
    };
    format!("{median:.digits$} ({low:.digits$}–{high:.digits$})")
}

fn table(comparison: &Comparison, layout: Layout) -> comfy_table::Table {
    let header =
        ["library", "runtime", "decode", "vs before", "", "encode", "vs before", "", "remarks"];
    let mut table = grid::table(layout, &header);
    for row in &comparison.rows {
        let mut cells = vec![row.name.clone(), row.runtime.name().to_owned()];
        for change in [&row.decode, &row.encode] {
            match change {
                None => cells.extend(["–", "–", "–"].map(str::to_owned)),
                Some(change) => cells.extend([
                    time(change.now_ns),
                    shown(&change.ratio),
                    change.word().to_owned(),
                ]),
            }
        }
        cells.push(row.remarks.join("; "));
        table.add_row(cells);
    }
    grid::align(&mut table, 2..4);
    grid::align(&mut table, 5..7);
    table
}

#[cfg(test)]
mod tests {
    use regauge_measure::compare::compare;
    use regauge_measure::stats;

    use super::*;
    use crate::full::tests::report;

    #[test]
    fn a_small_ratio_is_not_shown_as_none() {
        let check = |low, median, high, text: &str| {
            assert_eq!(shown(&Estimate::between(low, median, high)), text);
        };
        check(0.0012, 0.0013, 0.0015, "0.0013 (0.0012–0.0015)");
        check(0.041, 0.05, 0.06, "0.050 (0.041–0.060)");
        check(0.9, 1.0, 1.1, "1.00 (0.90–1.10)");
        check(0.0, 0.5, 1.0, "0.50 (0.00–1.00)");
    }

    #[test]
    fn what_chance_alone_changes_is_told_of_many() {
        let mut report = report();
        let rows = report.rows.clone();
        for copy in 0..7 {
            report.rows.extend(rows.iter().cloned().map(|mut row| {
                row.contender.push_str(&copy.to_string());
                row
            }));
        }
        let text = render(&compare(&report, &report), Layout::default(), false);
        assert!(text.contains("about 2 of 48 would seem to have, by chance."), "{text}");
    }

    #[test]
    fn changes_beyond_the_noise_are_counted() {
        let before = report();
        let text = render(&compare(&before, &before), Layout::default(), false);
        assert!(text.contains("0 of 6 times changed"), "{text}");
        assert!(!text.contains("by chance") && !text.contains("Warning"), "{text}");
        let mut other = report();
        other.schema = "regauge-measure/1".into();
        other.input.bytes += 1;
        let text = render(&compare(&other, &before), Layout::default(), false);
        let warned = "Warning: The earlier run uses schema regauge-measure/1, this one ";
        let places =
            [warned, "Warning: The data differ: ", "More than noise"].map(|one| text.find(one));
        assert!(places.is_sorted() && places[0].is_some(), "{text}");
        let mut few = report();
        for timing in few.rows.iter_mut().filter_map(|row| row.timing.as_mut()) {
            timing.decode.samples_ns.truncate(1);
            timing.decode.estimate_ns.too_few = true;
            timing.encode.estimate_ns.too_few = true;
        }
        let text = render(&compare(&before, &few), Layout::default(), false);
        let first =
            "Compared with the earlier run: too few samples to tell whether times changed\n";
        assert!(text.starts_with(first), "{text}");
        assert!(!text.contains("More than noise"), "{text}");
        let mut later = report();
        let quick = later.rows.iter_mut().find(|row| row.contender == "quick").unwrap();
        let decode = &mut quick.timing.as_mut().unwrap().decode;
        decode.samples_ns.iter_mut().for_each(|sample| *sample *= 1.3);
        decode.estimate_ns = stats::estimate(&decode.samples_ns, 1);
        let comparison = compare(&before, &later);
        let text = render(&comparison, Layout::default(), false);
        let first = "Compared with the earlier run: 1 of 6 times changed by more than noise\n\n  \
                     slower decode: 1.30 (1.26–1.34) of before, quick";
        assert!(text.starts_with(first), "{text}");
        assert!(!text.contains('|'), "{text}");
        let text = render(&comparison, Layout::default(), true);
        assert!(text.contains("| 1.30 (1.26–1.34) | slower |"), "{text}");
    }
}
