//! The section on what using a format costs, under stated assumptions.

use maud::{Markup, html};
use regauge_measure::Report;
use regauge_measure::report::{Cost, Costs};

use super::{Section, charts};
use crate::charts::costs::way;
use crate::charts::{Figure, Part};
use crate::table::{Cell, Column, Table};
use crate::text::{Unit, visible};

/// Returns the section.
pub fn section(report: &Report, figures: &[Figure]) -> Option<Section> {
    let costs = report.costs.as_ref().filter(|costs| !costs.rows.is_empty())?;
    let body = html! {
        (assumptions(costs))
        (charts(figures, Part::Costs))
        (crossings(costs))
        (table(costs).html("c-costs"))
    };
    Section::new("cost", "Cost per document", body)
}

fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn assumptions(costs: &Costs) -> Markup {
    let assumed = &costs.assumed;
    let months = number(assumed.store_months);
    html! {
        p {
            "Assumptions: " strong { (Unit::Bandwidth.figure(assumed.bandwidth)) } " between writer and reader, "
            strong { (number(assumed.reads_per_write)) } " reads per write, stored for "
            strong { (months) @if months == "1" { " month" } @else { " months" } } ". "
            code { "--bandwidth" } ", " code { "--reads-per-write" } " and " code { "--store-months" }
            " change these."
        }
    }
}

fn crossings(costs: &Costs) -> Markup {
    html! {
        @if !costs.crossings.is_empty() {
            h3 { "Where the cheapest changes" }
            ul {
                @for one in &costs.crossings {
                    li {
                        (visible(one.runtime.name())) ": " strong { (visible(&one.below)) } " below "
                        (Unit::Bandwidth.figure(one.bandwidth)) ", " strong { (visible(&one.above)) } " above"
                    }
                }
            }
        }
    }
}

fn table(costs: &Costs) -> Table {
    let mut columns = vec![Column::text("option"), Column::text("runtime")];
    let numbers = [
        "write",
        "transfer",
        "read",
        "total",
        "size",
        "core hours per million",
        "storage per million",
    ];
    columns.extend(numbers.map(Column::number));
    let mut table = Table::new("Cost per document", columns);
    let mut rows: Vec<&Cost> = costs.rows.iter().collect();
    rows.sort_by(|one, other| one.total_ns.median.total_cmp(&other.total_ns.median));
    let most = rows.last().map_or(0.0, |row| row.total_ns.median);
    for row in rows {
        let months = row.byte_months_per_million;
        table.push(vec![
            Cell::text(way(row)),
            Cell::text(row.runtime.name()),
            Cell::figure(row.write_ns, &Unit::Time),
            Cell::figure(row.move_ns, &Unit::Time),
            Cell::figure(row.read_ns, &Unit::Time),
            Cell::estimate(&row.total_ns, &Unit::Time).bar(row.total_ns.median / most),
            Cell::figure(row.bytes, &Unit::Bytes),
            Cell::figure(row.core_hours_per_million, &Unit::Other("h".to_owned())),
            Cell::text(format!("{} × months", Unit::Bytes.figure(months))).key(months),
        ]);
    }
    table
}
