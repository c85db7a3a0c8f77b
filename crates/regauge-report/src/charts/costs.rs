//! Charts the cost of a document in time, over the bandwidth.

use regauge_measure::report::{Cost, Costs};
use regauge_measure::{Gives, Report, Runtime};

use super::lines::{Line, Lines, Mark, drawing};
use super::{Figure, Part};
use crate::names;
use crate::scale::Scale;
use crate::table::{Cell, Column, Table};
use crate::text::{Unit, label, slug};

/// The slowest and fastest line on the chart, as shares of the assumed bandwidth; the crossings are
/// always inside.
const SPAN: f64 = 300.0;
/// Places at which the total is computed.
const STEPS: usize = 60;
/// More lines than that cannot be distinguished.
const NAMED_MAX: usize = 6;

/// Returns a chart for each runtime and kind of objects.
pub fn figures(report: &Report, costs: &Costs) -> Vec<Figure> {
    let mut groups: Vec<(Runtime, Gives)> = Vec::new();
    for row in &costs.rows {
        let group = (row.runtime, row.gives);
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    groups
        .into_iter()
        .enumerate()
        .filter_map(|(index, (runtime, gives))| figure(report, costs, index, runtime, gives))
        .collect()
}

/// Returns the name of a way: the library, its format unless the name contains it, the compressor.
/// The verdict and the crossings use the same words.
pub fn way(cost: &Cost) -> String {
    let lower = cost.contender.to_lowercase();
    let told = lower.contains(&cost.format) || cost.format.contains(&lower);
    let format = if told { String::new() } else { format!(" ({})", cost.format) };
    match cost.compression.as_str() {
        "none" => format!("{}{format}", cost.contender),
        codec => format!("{}{format} + {codec}", cost.contender),
    }
}

/// Returns the total time in nanoseconds: one write, and the assumed number of transfers and reads.
fn total(cost: &Cost, reads: f64, bandwidth: f64) -> f64 {
    cost.write_ns + reads * (cost.read_ns + cost.bytes / bandwidth * 1e9)
}

/// Returns the bandwidth at which two ways cost the same.
fn crossing(one: &Cost, other: &Cost, reads: f64) -> f64 {
    let fixed = |cost: &Cost| cost.write_ns + reads * cost.read_ns;
    reads * 1e9 * (one.bytes - other.bytes) / (fixed(other) - fixed(one))
}

fn figure(
    report: &Report,
    costs: &Costs,
    index: usize,
    runtime: Runtime,
    of: Gives,
) -> Option<Figure> {
    let rows: Vec<&Cost> = costs
        .rows
        .iter()
        .filter(|row| row.runtime == runtime && row.gives == of)
        .filter(|row| total(row, 1.0, 1e6).is_finite() && total(row, 1.0, 1e6) > 0.0)
        .collect();
    if rows.is_empty() {
        return None;
    }
    let reads = costs.assumed.reads_per_write.max(0.0);
    let assumed = costs.assumed.bandwidth.clamp(1.0, 1e15);
    let named_by_verdict: Vec<f64> = costs
        .crossings
        .iter()
        .filter(|one| one.runtime == runtime && one.gives == of)
        .filter(|one| rows.iter().any(|row| way(row) == one.below))
        .map(|one| one.bandwidth)
        .filter(|bandwidth| bandwidth.is_finite() && *bandwidth > 0.0)
        .collect();
    let near = |bandwidth: &&f64| **bandwidth > assumed / 1e5 && **bandwidth < assumed * 1e4;
    let low =
        named_by_verdict.iter().filter(near).fold(assumed / SPAN, |low, one| low.min(one / 3.0));
    let high =
        named_by_verdict.iter().filter(near).fold(assumed * SPAN, |high, one| high.max(one * 3.0));
    let x = Scale::between(low, high, true, Unit::Bandwidth);
    let winners = winners(costs, (runtime, of), &rows, reads, &x);
    if winners.is_empty() {
        // All of them are refused: there is no cheapest to draw.
        return None;
    }
    let line = |row: &Cost| -> Vec<(f64, f64)> {
        (0..=STEPS)
            .map(|step| x.value(step as f64 / STEPS as f64))
            .map(|bandwidth| (bandwidth, total(row, reads, bandwidth)))
            .collect()
    };
    let mut marks: Vec<Mark> = winners
        .windows(2)
        .map(|pair| crossing(pair[0], pair[1], reads))
        .zip(&winners)
        .filter(|(bandwidth, _)| bandwidth.is_finite() && *bandwidth > low && *bandwidth < high)
        .map(|(bandwidth, below)| Mark {
            x: bandwidth,
            y: Some(total(below, reads, bandwidth)),
            text: Unit::Bandwidth.figure(bandwidth),
        })
        .collect();
    marks.sort_by(|one, other| one.x.total_cmp(&other.x));
    let everything: Vec<f64> = rows.iter().flat_map(|row| line(row)).map(|(_, y)| y).collect();
    let group = names::group(report, runtime, of);
    let title = format!("Time to write, move and read a document, {group}");
    let chart = Lines {
        title: label(&title, 160),
        x_title: "bandwidth between writer and reader".to_owned(),
        y_title: format!("one write, {} transfers and reads", plain(reads)),
        y: Scale::log(everything, Unit::Time),
        faint: rows
            .iter()
            .filter(|row| !winners.iter().any(|winner| std::ptr::eq(*winner, **row)))
            .map(|row| line(row))
            .collect(),
        lines: winners
            .iter()
            .map(|row| Line { name: label(&way(row), 44), points: line(row), dotted: false })
            .collect(),
        marks,
        x,
    };
    let description = description(&winners, reads);
    let data = data(&chart.title, &winners, reads, assumed);
    let caption = "Coloured: the options that are cheapest at some bandwidth; grey: all others. \
                   Dots mark the bandwidths at which the cheapest changes. Both axes are \
                   logarithmic.";
    let id = match slug(runtime.name()) {
        name if name.is_empty() => format!("cost-{}", index + 1),
        name => format!("cost-{}-{name}", index + 1),
    };
    let title = chart.title.clone();
    let figure = Figure::new(Part::Costs, id, title, data, |room| drawing(&chart, room));
    Some(figure.described(description, caption))
}

/// Returns the ways that are cheapest somewhere, from low bandwidth to high. The report's own
/// winners come first: they exclude what is unsafe or loses data.
fn winners<'a>(
    costs: &Costs,
    (runtime, of): (Runtime, Gives),
    rows: &[&'a Cost],
    reads: f64,
    x: &Scale,
) -> Vec<&'a Cost> {
    let find = |name: &str| rows.iter().copied().find(|row| way(row) == name);
    let mut told: Vec<(f64, &Cost, &Cost)> = costs
        .crossings
        .iter()
        .filter(|one| one.runtime == runtime && one.gives == of)
        .filter_map(|one| Some((one.bandwidth, find(&one.below)?, find(&one.above)?)))
        .collect();
    told.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut winners: Vec<&Cost> = Vec::new();
    let mut add = |row: &'a Cost| {
        if winners.len() < NAMED_MAX && !winners.iter().any(|one| std::ptr::eq(*one, row)) {
            winners.push(row);
        }
    };
    for (_, below, above) in &told {
        add(below);
        add(above);
    }
    if told.is_empty() {
        for step in 0..=STEPS * 4 {
            let bandwidth = x.value(step as f64 / (STEPS * 4) as f64);
            let at = |row: &Cost| total(row, reads, bandwidth);
            let allowed = rows.iter().copied().filter(|row| !row.is_refused);
            let best = allowed.min_by(|one, other| at(one).total_cmp(&at(other)));
            best.into_iter().for_each(&mut add);
        }
    }
    winners
}

fn description(winners: &[&Cost], reads: f64) -> String {
    let mut text = format!("From low to high bandwidth, the cheapest is {}", way(winners[0]));
    for pair in winners.windows(2) {
        let bandwidth = crossing(pair[0], pair[1], reads);
        text.push_str(&format!(", from {} on {}", Unit::Bandwidth.figure(bandwidth), way(pair[1])));
    }
    text.push('.');
    text
}

fn data(title: &str, winners: &[&Cost], reads: f64, assumed: f64) -> Table {
    let bandwidths: Vec<f64> =
        [0.01, 0.1, 1.0, 10.0].iter().map(|factor| assumed * factor).collect();
    let mut columns = vec![Column::text("option"), Column::number("size")];
    columns.extend(bandwidths.iter().map(|one| Column::number(Unit::Bandwidth.figure(*one))));
    let mut data = Table::new(title, columns);
    for row in winners {
        let mut cells = vec![Cell::text(way(row)), Cell::figure(row.bytes, &Unit::Bytes)];
        cells.extend(
            bandwidths.iter().map(|one| Cell::figure(total(row, reads, *one), &Unit::Time)),
        );
        data.push(cells);
    }
    data
}

fn plain(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
