//! Writes what changed from one run to another.

use std::fmt::Write as _;

use regauge_measure::compare::Comparison;
use regauge_measure::stats::Estimate;
use regauge_measure::time;

use super::{Layout, grid};

/// Renders the comparison as text.
#[must_use]
pub fn render(comparison: &Comparison, layout: Layout) -> String {
    let mut text = String::from("Compared with the earlier run\n\n");
    for warning in &comparison.warnings {
        let _ = writeln!(text, "Note: {warning}");
    }
    if !comparison.warnings.is_empty() {
        text.push('\n');
    }
    let header =
        ["library", "runtime", "decode", "vs before", "", "encode", "vs before", "", "remarks"];
    let mut table = grid::table(layout, &header);
    let (mut changed, mut all) = (0, 0);
    for row in &comparison.rows {
        let mut cells = vec![row.name.clone(), row.runtime.name().to_owned()];
        for change in [&row.decode, &row.encode] {
            let Some(change) = change else {
                cells.extend(["–", "–", "–"].map(str::to_owned));
                continue;
            };
            let Estimate { median, low, high, .. } = change.ratio;
            all += 1;
            changed += usize::from(change.word() != "same");
            cells.push(time(change.now_ns));
            cells.push(format!("{median:.2} ({low:.2}–{high:.2})"));
            cells.push(change.word().to_owned());
        }
        cells.push(row.remarks.join("; "));
        table.add_row(cells);
    }
    grid::align(&mut table, 2..4);
    grid::align(&mut table, 5..7);
    let _ = writeln!(text, "{table}\n");
    let _ = writeln!(
        text,
        "{changed} of {all} times changed by more than noise: the 95% interval of the ratio \
         excludes 1.\nIf nothing had changed, about {} of {all} would still seem to, by chance.",
        (all as f64 * 0.05).ceil()
    );
    for (names, what) in
        [(&comparison.gone, "Only in the earlier run"), (&comparison.new, "Only in this run")]
    {
        if !names.is_empty() {
            let _ = writeln!(text, "{what}: {}", names.join(", "));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use regauge_measure::compare::compare;
    use regauge_measure::stats;

    use super::*;
    use crate::full::tests::report;

    #[test]
    fn changes_beyond_the_noise_are_counted() {
        let before = report();
        let text = render(&compare(&before, &before), Layout::default());
        assert!(text.contains("0 of 6 times changed"), "{text}");
        let mut later = report();
        let quick = later.rows.iter_mut().find(|row| row.contender == "quick").unwrap();
        let decode = &mut quick.timing.as_mut().unwrap().decode;
        decode.samples_ns.iter_mut().for_each(|sample| *sample *= 1.3);
        decode.estimate_ns = stats::estimate(&decode.samples_ns, 1);
        let text = render(&compare(&before, &later), Layout::default());
        assert!(text.contains("| 1.30 (1.26–1.34) | slower |"), "{text}");
        assert!(text.contains("1 of 6 times changed by more than noise"), "{text}");
    }
}
