//! Says in a sentence what has changed since a post, from its figures and today's samples.
//!
//! A task file has the wording for each of three outcomes; this module decides which one applies. Two
//! rows are tied when the 95% interval of the ratio of their figures includes 1.

use crate::model::stats::Estimate;

use super::figure::{Figure, published_against};
use super::fill::Filled;
use super::plan::{ChangePlan, Form};

/// From so many on, those that tie with a winner are counted instead of named.
const TIED_MAX: usize = 3;

/// Whether today's figures confirm what the post found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// The same order.
    Same,
    /// The other order.
    Turned,
    /// A tie.
    Close,
}

impl Outcome {
    /// Compares the order of two rows, by their ratio, then and now.
    fn of(then: f64, now: Estimate) -> Outcome {
        match () {
            () if now.low <= 1.0 && now.high >= 1.0 => Outcome::Close,
            () if (then < 1.0) == (now.median < 1.0) => Outcome::Same,
            () => Outcome::Turned,
        }
    }

    fn words(self, change: &ChangePlan) -> &str {
        match self {
            Outcome::Same => &change.same,
            Outcome::Turned => &change.turned,
            Outcome::Close => &change.close,
        }
    }
}

/// Returns the sentence.
pub(super) fn sentence(change: &ChangePlan, tables: &[Filled], seed: u64) -> String {
    let Some(filled) = tables.iter().find(|one| one.table.title == change.table) else {
        return format!("There is no table \"{}\".", change.table);
    };
    let columns = &filled.table.columns;
    let Some(column) = columns.iter().position(|one| one.name == change.column) else {
        return format!("There is no column \"{}\".", change.column);
    };
    let told = match (&change.row, &change.against) {
        (Some(row), Some(against)) => pair(change, filled, column, row, against, seed),
        (Some(row), None) => alone(change, filled, column, row, seed),
        _ => best(change, filled, column, seed),
    };
    told.unwrap_or_else(|why| format!("{}, {}: {why}.", change.table, change.column.to_lowercase()))
}

/// Compares two rows, then and now.
fn pair(
    change: &ChangePlan,
    filled: &Filled,
    column: usize,
    row: &str,
    against: &str,
    seed: u64,
) -> Result<String, String> {
    let less = filled.table.columns[column].less_is_better;
    let (one, other) = (filled.place(row)?, filled.place(against)?);
    let cell = |place: usize| &filled.table.rows[place].cells[column];
    let printed = |place: usize| cell(place).published_ratio;
    let is_base =
        |place: usize| filled.table.baseline.as_ref() == Some(&filled.table.rows[place].name);
    let then = match (cell(one).published, cell(other).published) {
        // A ratio that the post prints takes precedence over one calculated from its rounded numbers.
        _ if is_base(other) && printed(one).is_some() => printed(one),
        _ if is_base(one) && printed(other).is_some() => printed(other).map(|ratio| 1.0 / ratio),
        (Some(value), Some(base)) => Some(published_against(value, base, less)),
        _ => printed(one),
    };
    let then = then.ok_or("the post has no figure to compare with")?;
    let now = filled.figure(one, column)?.against(filled.figure(other, column)?, less, seed);
    let sentence = told(change, Outcome::of(then, now), then, now);
    Ok(sentence.replace("{row}", row).replace("{against}", against))
}

/// Compares a row that is itself a ratio, then and now.
fn alone(
    change: &ChangePlan,
    filled: &Filled,
    column: usize,
    row: &str,
    seed: u64,
) -> Result<String, String> {
    let place = filled.place(row)?;
    let cell = &filled.table.rows[place].cells[column];
    let low = cell.published.ok_or("the post has no figure to compare with")?;
    let high = cell.published_to.unwrap_or(low);
    let now = filled.figure(place, column)?.estimate(seed);
    // A ratio within the post's own range has not changed.
    let then = now.median.clamp(low, high);
    let outcome = Outcome::of(then, now);
    let words = outcome.words(change).replace("{then}", &range(low, high, change.form));
    Ok(filled_in(&words, change, then, now).replace("{row}", row))
}

/// Fills the wording of an outcome with its ratios.
fn told(change: &ChangePlan, outcome: Outcome, then: f64, now: Estimate) -> String {
    filled_in(outcome.words(change), change, then, now)
}

fn filled_in(words: &str, change: &ChangePlan, then: f64, now: Estimate) -> String {
    words
        .replace("{then}", &phrase(then, None, change.form))
        .replace("{now}", &phrase(now.median, Some(now), change.form))
        .replace("{trend}", trend(then, now))
}

/// Compares the best rows of a column, then and now.
fn best(change: &ChangePlan, filled: &Filled, column: usize, seed: u64) -> Result<String, String> {
    let less = filled.table.columns[column].less_is_better;
    let rank = |value: f64| if less { value } else { -value };
    let rows = &filled.table.rows;
    let old = (0..rows.len())
        .filter_map(|place| Some((place, rank(rows[place].cells[column].published?))))
        .min_by(|one, other| one.1.total_cmp(&other.1))
        .map(|(place, _)| place)
        .ok_or("the post has no figures")?;
    let old_figure = filled.figure(old, column)?;
    let mut order: Vec<(usize, &Figure, f64)> = (0..rows.len())
        .filter_map(|place| {
            let figure = filled.figure(place, column).ok()?;
            Some((place, figure, rank(rows[place].cells[column].today?.median)))
        })
        .collect();
    order.sort_by(|one, other| one.2.total_cmp(&other.2));
    let rival =
        order.iter().find(|(place, ..)| *place != old).ok_or("nothing else was measured")?;
    let (first, ..) = order[0];
    // If the old winner still leads, the rival is the runner-up; otherwise it is the new winner.
    let (now, outcome) = if first == old {
        let now = rival.1.against(old_figure, less, seed);
        (now, if now.low <= 1.0 { Outcome::Close } else { Outcome::Same })
    } else {
        let now = old_figure.against(rival.1, less, seed);
        (now, if now.low <= 1.0 { Outcome::Close } else { Outcome::Turned })
    };
    // A new winner that ties with others is not named alone.
    let ties = order[1..].iter().filter(|(place, ..)| outcome == Outcome::Turned && *place != old);
    let ties = ties.take_while(|one| one.1.against(rival.1, less, seed).low <= 1.0);
    let tied: Vec<&str> = ties.map(|(place, ..)| filled.labels[*place].as_str()).collect();
    let new = &filled.labels[rival.0];
    let new = match tied.len() {
        0 => new.clone(),
        1..TIED_MAX => format!("{new} or {} (a tie)", tied.join(" or ")),
        many => format!("{new} or one of {many} others (a tie)"),
    };
    Ok(outcome
        .words(change)
        .replace("{old}", &filled.labels[old])
        .replace("{new}", &new)
        .replace("{now}", &phrase(now.median, Some(now), change.form)))
}

/// Returns a ratio in words, with today's interval: "1.67x slower (1.60–1.74)", "5.3% more".
pub(super) fn phrase(ratio: f64, interval: Option<Estimate>, form: Form) -> String {
    let (shown, bounds): (String, fn(f64, bool) -> f64) = match form {
        Form::Percent => {
            let word = if ratio < 1.0 { "less" } else { "more" };
            let percent = |ratio: f64, less: bool| {
                let part = (ratio - 1.0) * 100.0;
                if less { -part } else { part }
            };
            (format!("{}% {word}", digits(percent(ratio, ratio < 1.0))), percent)
        }
        Form::Factor => {
            let word = if ratio < 1.0 { "faster" } else { "slower" };
            let factor = |ratio: f64, fast: bool| if fast { 1.0 / ratio } else { ratio };
            (format!("{:.2}x {word}", factor(ratio, ratio < 1.0)), factor)
        }
    };
    let Some(interval) = interval.filter(|one| one.low < one.high) else { return shown };
    let mut ends = [bounds(interval.low, ratio < 1.0), bounds(interval.high, ratio < 1.0)];
    ends.sort_by(f64::total_cmp);
    match form {
        Form::Percent => format!("{shown} ({} to {}%)", digits(ends[0]), digits(ends[1])),
        Form::Factor => format!("{shown} ({:.2}–{:.2})", ends[0], ends[1]),
    }
}

/// Returns what the post gives, a ratio or a range of ratios: "10 to 12% more".
fn range(low: f64, high: f64, form: Form) -> String {
    let last = phrase(high, None, form);
    if low >= high {
        return last;
    }
    let first = phrase(low, None, form);
    let number = first.split(['x', '%']).next().unwrap_or_default();
    format!("{number} to {last}")
}

/// Formats a percentage: one decimal below ten.
fn digits(percent: f64) -> String {
    if percent.abs() < 9.95 { format!("{percent:.1}") } else { format!("{percent:.0}") }
}

/// Says whether the gap between two rows has grown, by today's interval.
fn trend(then: f64, now: Estimate) -> &'static str {
    if (now.low..=now.high).contains(&then) {
        return "the same gap as in the post";
    }
    let distance = |ratio: f64| ratio.ln().abs();
    if distance(now.median) > distance(then) {
        "a larger gap than in the post"
    } else {
        "a smaller gap than in the post"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::report::{Cell, Column, TaskRow, TaskTable};

    /// Returns a table of one column with these published figures and samples.
    fn filled(rows: &[(&str, Option<f64>, &[f64])], less_is_better: bool) -> Filled {
        let figure = |samples: &[f64]| {
            (!samples.is_empty()).then(|| Figure::sum(vec![samples.to_vec().into()]))
        };
        Filled {
            table: TaskTable {
                title: "T".into(),
                columns: vec![Column { name: "C".into(), unit: "ns".into(), less_is_better }],
                rows: rows
                    .iter()
                    .map(|(name, published, samples)| TaskRow {
                        name: (*name).to_owned(),
                        published: published.is_some(),
                        cells: vec![Cell {
                            today: figure(samples).map(|one| one.estimate(1)),
                            published: *published,
                            published_to: None,
                            ..Cell::default()
                        }],
                        note: None,
                    })
                    .collect(),
                baseline: None,
            },
            figures: rows.iter().map(|(_, _, samples)| vec![figure(samples)]).collect(),
            labels: rows.iter().map(|(name, ..)| (*name).to_owned()).collect(),
        }
    }

    fn change(row: Option<&str>, against: Option<&str>, form: Form) -> ChangePlan {
        let words = if row.is_some() {
            "{row} {against} {then} {now} {trend}"
        } else {
            "{old} {new} {now}"
        };
        ChangePlan {
            table: "T".into(),
            column: "C".into(),
            row: row.map(str::to_owned),
            against: against.map(str::to_owned),
            form,
            same: format!("same: {words}"),
            turned: format!("turned: {words}"),
            close: format!("close: {words}"),
        }
    }

    const LOW: &[f64] = &[10.0, 10.1, 10.2, 10.3, 10.1, 10.2, 10.0];
    const HIGH: &[f64] = &[20.0, 20.2, 20.4, 20.6, 20.2, 20.4, 20.0];
    const WIDE: &[f64] = &[6.0, 10.1, 9.0, 15.0, 12.0, 8.0, 14.0];

    fn said(rows: &[(&str, Option<f64>, &[f64])], form: Form) -> String {
        sentence(&change(Some("a"), Some("b"), form), &[filled(rows, true)], 1)
    }

    #[test]
    fn a_pair_keeps_its_order_turns_or_ties() {
        let same = said(&[("a", Some(3.0), LOW), ("b", Some(4.0), HIGH)], Form::Factor);
        assert!(same.starts_with("same: a b 1.33x faster 2.00x faster ("), "{same}");
        assert!(same.ends_with("a larger gap than in the post"), "{same}");
        let turned = said(&[("a", Some(3.0), HIGH), ("b", Some(4.0), LOW)], Form::Factor);
        assert!(turned.starts_with("turned: a b 1.33x faster 2.00x slower ("), "{turned}");
        let close = said(&[("a", Some(3.0), WIDE), ("b", Some(4.0), LOW)], Form::Factor);
        assert!(close.starts_with("close: a b 1.33x faster 1.00x slower (0"), "{close}");
    }

    #[test]
    fn an_overhead_is_told_in_percent_with_its_interval() {
        let same = said(&[("a", Some(1.053), HIGH), ("b", Some(1.0), LOW)], Form::Percent);
        assert!(same.starts_with("same: a b 5.3% more 100% more ("), "{same}");
        let turned = said(&[("a", Some(1.053), LOW), ("b", Some(1.0), HIGH)], Form::Percent);
        assert!(turned.starts_with("turned: a b 5.3% more 50% less ("), "{turned}");
        let as_then = said(&[("a", Some(2.0), HIGH), ("b", Some(1.0), LOW)], Form::Percent);
        assert!(as_then.ends_with("the same gap as in the post"), "{as_then}");
    }

    #[test]
    fn the_best_stays_is_overtaken_or_ties() {
        let best = |rows: &[(&str, Option<f64>, &[f64])]| {
            sentence(&change(None, None, Form::Factor), &[filled(rows, true)], 1)
        };
        let kept = best(&[("a", Some(3.0), LOW), ("b", Some(4.0), HIGH)]);
        assert!(kept.starts_with("same: a b 2.00x slower ("), "{kept}");
        // A row that the post does not have can win.
        let overtaken = best(&[("a", Some(3.0), HIGH), ("b", Some(4.0), HIGH), ("c", None, LOW)]);
        assert!(overtaken.starts_with("turned: a c 2.00x slower ("), "{overtaken}");
        let close = best(&[("a", Some(3.0), WIDE), ("b", Some(4.0), LOW)]);
        assert!(close.starts_with("close: a b"), "{close}");
        let [old, ago] = [("a", Some(3.0), HIGH), ("b", Some(4.0), HIGH)];
        let two = best(&[old, ago, ("c", None, LOW), ("d", None, LOW)]);
        assert!(two.starts_with("turned: a c or d (a tie) 2.00x slower ("), "{two}");
        let names = ["c", "d", "e", "f"].map(|name| (name, None, LOW));
        let many = best(&[&[old, ago], &names[..]].concat());
        assert!(many.starts_with("turned: a c or one of 3 others (a tie) "), "{many}");
    }

    #[test]
    fn more_is_better_if_the_column_says_so() {
        let rows: &[(&str, Option<f64>, &[f64])] =
            &[("a", Some(68.3), LOW), ("b", Some(62.7), HIGH)];
        let text = sentence(&change(None, None, Form::Factor), &[filled(rows, false)], 1);
        assert!(text.starts_with("turned: a b"), "{text}");
        let text = sentence(&change(Some("a"), Some("b"), Form::Factor), &[filled(rows, false)], 1);
        assert!(text.starts_with("turned: a b 1.09x faster 2.00x slower"), "{text}");
    }

    #[test]
    fn a_printed_ratio_takes_precedence_over_a_calculated_one() {
        let mut table = filled(&[("a", Some(3.0), LOW), ("b", Some(4.0), HIGH)], true);
        table.table.baseline = Some("a".to_owned());
        table.table.rows[1].cells[0].published_ratio = Some(1.3);
        let told = |row, against| {
            sentence(&change(Some(row), Some(against), Form::Factor), &[table.clone()], 1)
        };
        assert!(told("b", "a").starts_with("same: b a 1.30x slower"), "{}", told("b", "a"));
        assert!(told("a", "b").starts_with("same: a b 1.30x faster"), "{}", told("a", "b"));
    }

    #[test]
    fn a_range_is_told_as_one() {
        let said = |samples: &[f64], form| {
            let mut table = filled(&[("a", Some(1.1), samples)], true);
            table.table.rows[0].cells[0].published_to = Some(1.12);
            let words = |text: &str| format!("{text}: {{then}}, {{now}}, {{trend}}");
            let change = ChangePlan {
                same: words("same"),
                turned: words("turned"),
                close: words("close"),
                ..change(Some("a"), None, form)
            };
            sentence(&change, &[table], 1)
        };
        let within = said(&[1.11, 1.11, 1.11, 1.11, 1.11, 1.11], Form::Percent);
        assert_eq!(within, "same: 10 to 12% more, 11% more, the same gap as in the post");
        let beyond = said(&[1.5; 6], Form::Factor);
        assert!(beyond.starts_with("same: 1.10 to 1.12x slower, 1.50"), "{beyond}");
        assert!(beyond.ends_with("a larger gap than in the post"), "{beyond}");
    }

    #[test]
    fn what_was_not_measured_is_not_judged() {
        let text = said(&[("a", Some(3.0), LOW), ("b", Some(4.0), &[])], Form::Factor);
        assert_eq!(text, "T, c: \"b\" was not measured.");
        let text = said(&[("a", Some(3.0), LOW)], Form::Factor);
        assert_eq!(text, "T, c: there is no row \"b\".");
        let text = said(&[("a", None, LOW), ("b", None, HIGH)], Form::Factor);
        assert_eq!(text, "T, c: the post has no figure to compare with.");
    }
}
