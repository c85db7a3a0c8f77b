//! Charts the probes that show how quiet the machine was.

use regauge_measure::report::Noise;
use regauge_measure::stats;

use super::lines::{Line, Lines, drawing};
use super::{Figure, Part};
use crate::scale::Scale;
use crate::table::{Cell, Column, Table};
use crate::text::Unit;

/// Returns the chart, where there is more than one probe.
pub fn figure(noise: &Noise) -> Option<Figure> {
    let probes: Vec<f64> =
        noise.probes_ns.iter().copied().filter(|probe| probe.is_finite() && *probe > 0.0).collect();
    if probes.len() < 2 {
        return None;
    }
    let title = "A fixed piece of work, timed repeatedly";
    let mut data = Table::new(title, vec![Column::number("probe"), Column::number("time")]);
    for (index, probe) in probes.iter().enumerate() {
        data.push(vec![Cell::count(index as u64 + 1), Cell::figure(*probe, &Unit::Time)]);
    }
    let middle = stats::median(&probes);
    let count = probes.len() as f64;
    let extent = probes.iter().copied().chain([middle * 0.9, middle * 1.1]);
    let chart = Lines {
        title: title.to_owned(),
        x: Scale::between(1.0, count, false, Unit::Other(String::new())),
        x_title: "probe, in the order taken".to_owned(),
        y: Scale::linear(extent, Unit::Time),
        y_title: "time".to_owned(),
        faint: vec![vec![(1.0, middle), (count, middle)]],
        lines: vec![Line {
            name: "probes".to_owned(),
            points: probes
                .iter()
                .enumerate()
                .map(|(index, ns)| (index as f64 + 1.0, *ns))
                .collect(),
            dotted: probes.len() <= 60,
        }],
        marks: Vec::new(),
    };
    let fold = |by: fn(f64, f64) -> f64| probes.iter().copied().fold(middle, by);
    let description = format!(
        "{} probes, median {}, from {} to {}.",
        probes.len(),
        Unit::Time.figure(middle),
        Unit::Time.figure(fold(f64::min)),
        Unit::Time.figure(fold(f64::max))
    );
    let figure = Figure::new(Part::Noise, "noise", title, data, |room| drawing(&chart, room));
    let caption = "A straight line means a quiet machine. The grey line is the median.";
    Some(figure.described(description, caption))
}
