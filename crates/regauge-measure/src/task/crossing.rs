//! Says in a sentence where two alternatives cross as numbers grow, for a table whose columns have
//! 10, 100, 1,000 tenants.
//!
//! The sentence is derived from the samples. A number at which the 95% interval of the ratio includes
//! 1 is a tie. Two alternatives cross where the ratio is clear on both sides and passes 1 between them.

use crate::model::stats::Estimate;
use crate::model::text::thousands;

use super::changed::phrase;
use super::fill::Filled;
use super::plan::{CrossingPlan, Form};

/// The ratio of the two at one number.
#[derive(Debug, Clone, Copy)]
struct Point {
    number: f64,
    ratio: Estimate,
}

impl Point {
    /// Returns 1 if it is clearly more, -1 if clearly less, 0 for a tie.
    fn side(&self) -> i32 {
        match () {
            () if self.ratio.low > 1.0 => 1,
            () if self.ratio.high < 1.0 => -1,
            () => 0,
        }
    }
}

/// Returns the sentence, or nothing if the two were not measured at all.
pub(super) fn sentence(plan: &CrossingPlan, tables: &[Filled], seed: u64) -> Option<String> {
    let filled = tables.iter().find(|one| one.table.title == plan.table)?;
    let (row, against) = (filled.place(&plan.row).ok()?, filled.place(&plan.against).ok()?);
    let points: Vec<Point> = filled
        .table
        .columns
        .iter()
        .enumerate()
        .filter_map(|(at, column)| {
            let base = filled.figure(against, at).ok()?;
            let ratio = filled.figure(row, at).ok()?.against(base, column.less_is_better, seed);
            Some(Point { number: number(&column.name)?, ratio })
        })
        .collect();
    let last = points.last()?;
    let told: Vec<String> = points
        .iter()
        .map(|point| {
            let what = match point.side() {
                0 => "a tie".to_owned(),
                _ => phrase(point.ratio.median, Some(point.ratio), Form::Percent),
            };
            format!("{what} at {}", thousands(point.number as u64))
        })
        .collect();
    let crossings: Vec<String> =
        crossings(&points).iter().map(|at| thousands(rounded(*at))).collect();
    let sides = |side: i32| points.iter().filter(|point| point.side() == side).count();
    let end = if !crossings.is_empty() {
        format!("; the crossover is at about {} {}", crossings.join(" and "), plan.of)
    } else if points.len() == 1 {
        String::new()
    } else if sides(0) == 0 {
        format!("; no crossover up to {} {}", thousands(last.number as u64), plan.of)
    } else {
        "; any crossover is within the noise".to_owned()
    };
    Some(format!("{}: {}{end}.", plan.words, told.join(", ")))
}

/// Returns the number at the start of a column's name: 1000 for "1,000 tenants".
pub(super) fn number(name: &str) -> Option<f64> {
    let digits: String = name
        .chars()
        .take_while(|one| one.is_ascii_digit() || *one == ',')
        .filter(char::is_ascii_digit)
        .collect();
    digits.parse().ok()
}

/// Returns where the ratio clearly passes 1. Interpolates between two numbers on a logarithmic
/// scale.
fn crossings(points: &[Point]) -> Vec<f64> {
    let mut found = Vec::new();
    let clear: Vec<usize> = (0..points.len()).filter(|at| points[*at].side() != 0).collect();
    for pair in clear.windows(2) {
        let (one, other) = (pair[0], pair[1]);
        let side = points[one].side();
        if side == points[other].side() {
            continue;
        }
        // There may be ties between the two: take the first step across 1.
        let passes = |at: &usize| (points[at + 1].ratio.median > 1.0) == (side < 0);
        let Some(at) = (one..other).find(passes) else { continue };
        let (near, far) = (&points[at], &points[at + 1]);
        let (start, end) = (near.ratio.median.ln(), far.ratio.median.ln());
        let share = start / (start - end);
        let length = (far.number / near.number).ln();
        found.push(near.number * (length * share).exp());
    }
    found
}

/// Rounds to two digits: more would claim too much precision.
fn rounded(number: f64) -> u64 {
    let unit = 10_f64.powf(number.log10().floor() - 1.0).max(1.0);
    ((number / unit).round() * unit) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::report::{Cell, Column, TaskRow, TaskTable};
    use crate::task::figure::Figure;

    /// Makes a table with these times for the two rows, each with a little spread.
    fn filled(columns: &[&str], one: &[f64], many: &[f64]) -> Filled {
        let figure = |median: &f64| {
            let samples: Vec<f64> =
                (0..11).map(|step| median * (0.99 + 0.002 * f64::from(step))).collect();
            (*median > 0.0).then(|| Figure::sum(vec![samples.into()]))
        };
        let row = |name: &str| TaskRow {
            name: name.into(),
            published: false,
            cells: vec![Cell::default(); columns.len()],
            note: None,
        };
        let column =
            |name: &&str| Column { name: (*name).into(), unit: "ns".into(), less_is_better: true };
        Filled {
            table: TaskTable {
                title: "T".into(),
                columns: columns.iter().map(column).collect(),
                rows: vec![row("one"), row("many")],
                baseline: None,
            },
            figures: vec![one.iter().map(figure).collect(), many.iter().map(figure).collect()],
            labels: vec!["one".into(), "many".into()],
        }
    }

    fn told(columns: &[&str], one: &[f64], many: &[f64]) -> Option<String> {
        let plan = CrossingPlan {
            table: "T".into(),
            row: "many".into(),
            against: "one".into(),
            of: "tenants".into(),
            words: "Many against one".into(),
        };
        sentence(&plan, &[filled(columns, one, many)], 1)
    }

    const COLUMNS: [&str; 4] = ["10 tenants", "100 tenants", "1,000 tenants", "10,000 tenants"];

    #[test]
    fn the_crossing_point_lies_where_the_ratio_passes_one() {
        let text = told(&COLUMNS, &[100.0; 4], &[50.0, 50.0, 200.0, 400.0]).unwrap();
        assert!(text.starts_with("Many against one: 50% less ("), "{text}");
        // From half to double over a factor of ten: halfway on the logarithmic scale, at 316.
        assert!(text.ends_with(" at 10,000; the crossover is at about 320 tenants."), "{text}");
        // Ties between two clear sides do not hide the crossing.
        let text = told(&COLUMNS, &[100.0; 4], &[50.0, 100.0, 100.1, 400.0]).unwrap();
        assert!(text.contains("a tie at 100, a tie at 1,000"), "{text}");
        assert!(text.contains("the crossover is at about "), "{text}");
        let text = told(&COLUMNS, &[100.0; 4], &[50.0, 200.0, 50.0, 50.0]).unwrap();
        assert!(text.ends_with("the crossover is at about 32 and 320 tenants."), "{text}");
    }

    #[test]
    fn no_crossing_is_claimed_that_was_not_seen() {
        let text = told(&COLUMNS, &[100.0; 4], &[150.0, 150.0, 200.0, 400.0]).unwrap();
        assert!(text.ends_with("; no crossover up to 10,000 tenants."), "{text}");
        let text = told(&COLUMNS, &[100.0; 4], &[100.0, 150.0, 200.0, 400.0]).unwrap();
        assert!(text.ends_with("; any crossover is within the noise."), "{text}");
        // A number at which nothing was measured is left out; if all are, there is no sentence.
        let text = told(&COLUMNS[..2], &[100.0; 2], &[150.0, 0.0]).unwrap();
        assert!(text.ends_with("%) at 10."), "{text}");
        assert_eq!(told(&COLUMNS, &[100.0; 4], &[0.0; 4]), None);
    }

    #[test]
    fn numbers() {
        assert_eq!(number("1,000 tenants"), Some(1000.0));
        assert_eq!(number("tenants"), None);
        assert_eq!([rounded(316.2), rounded(9.7), rounded(12_345.0)], [320, 10, 12_000]);
    }
}
