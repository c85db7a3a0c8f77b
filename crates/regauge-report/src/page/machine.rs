//! The sections on how it was measured: cold start and memory, noise, what is missing, machine,
//! method, command.

use maud::html;
use regauge_measure::report::{Memory, Missing};
use regauge_measure::{Report, bytes, thousands, time};

use super::{Section, charts};
use crate::charts::{Figure, Part};
use crate::table::{Cell, Column, Table};
use crate::text::{Unit, visible};

/// Returns the section on cold start and memory.
pub fn cold(report: &Report) -> Option<Section> {
    let rows: Vec<_> = report
        .rows
        .iter()
        .filter(|row| {
            row.cold.is_some() || row.timing.as_ref().is_some_and(|one| one.memory.is_some())
        })
        .collect();
    if rows.is_empty() {
        return None;
    }
    let mut columns = vec![Column::text("library"), Column::text("runtime")];
    let numbers = [
        "process ready",
        "first decode",
        "both",
        "first vs steady",
        "idle",
        "peak, decoding",
        "peak overall",
        "for the data",
    ];
    columns.extend(numbers.map(Column::number));
    let mut table = Table::new("Cold start and memory", columns);
    for row in rows {
        let mut cells =
            vec![Cell::text(&row.contender).below(&row.version), Cell::text(row.runtime.name())];
        let timing = row.timing.as_ref();
        match &row.cold {
            Some(cold) => {
                let first = cold.first_decode_ns.median;
                let steady = timing.map(|one| one.decode.estimate_ns.median);
                let ratio = steady.filter(|steady| *steady > 0.0).map(|steady| first / steady);
                cells.extend([
                    Cell::estimate(&cold.start_ns, &Unit::Time),
                    Cell::estimate(&cold.first_decode_ns, &Unit::Time),
                    Cell::figure(cold.start_ns.median + first, &Unit::Time),
                    Cell::maybe(ratio, &Unit::Ratio),
                ]);
            }
            None => cells.extend((0..4).map(|_| Cell::none())),
        }
        cells.extend(memory(timing.and_then(|one| one.memory)));
        table.push(cells);
    }
    let body = html! {
        p { "Steady means warmed up; a script that runs once is not. Memory is the resident set of the process, as the system reports it." }
        (table.without_empty_columns().html("c-cold"))
    };
    Section::new("cold", "Cold start and memory", body)
}

fn memory(memory: Option<Memory>) -> [Cell; 4] {
    let cell =
        |part: fn(Memory) -> u64| Cell::maybe(memory.map(|one| part(one) as f64), &Unit::Bytes);
    [
        cell(|one| one.idle),
        cell(|one| one.decode_peak),
        cell(|one| one.peak),
        cell(|one| one.peak.saturating_sub(one.idle)),
    ]
}

/// Returns the section on how quiet the machine was.
pub fn noise(report: &Report, figures: &[Figure]) -> Option<Section> {
    let noise = report.noise.as_ref()?;
    let body = html! {
        p {
            "Machine noise: " strong { (format!("±{:.1}%", noise.spread * 100.0)) }
            ", half the interquartile range of a fixed piece of work that was timed "
            (thousands(noise.probes_ns.len() as u64)) " times between the samples."
            @if let Some(share) = noise.quiet_share {
                " " (format!("{:.0}%", share * 100.0)) " of the samples were quiet: estimates use only these if there are enough; results.json has all of them."
            }
        }
        (charts(figures, Part::Noise))
    };
    Section::new("noise", "Noise", body)
}

/// Returns the section on what could not be run, and how to install it.
pub fn missing(report: &Report) -> Option<Section> {
    if report.missing.is_empty() {
        return None;
    }
    let columns = ["library", "runtime", "how to install", "error"];
    let mut table = Table::new("Not installed", columns.into_iter().map(Column::text).collect());
    for Missing { contender, runtime, install, reason, .. } in &report.missing {
        table.push(vec![
            Cell::text(contender),
            Cell::text(runtime.name()),
            Cell::code(install),
            Cell::text(reason.lines().next().unwrap_or_default()),
        ]);
    }
    let count = report.missing.len() as u64;
    let body = html! {
        p {
            (thousands(count)) @if count == 1 { " contender" } @else { " contenders" }
            " could not be run."
            @if report.machine.can_set_up() {
                " " code { "regauge measure --setup" } " installs what it can."
            }
        }
        (table.html("c-missing"))
    };
    Section::new("missing", "Not installed", body)
}

/// Returns the section on the machine, the versions, the method and the command.
pub fn method(report: &Report) -> Option<Section> {
    let (machine, method) = (&report.machine, &report.method);
    let body = html! {
        h3 { "Command" }
        pre.box tabindex="0" role="region" aria-label="Command" { code { (command(&report.command)) } }
        h3 { "Machine" }
        dl.facts {
            dt { "processor" } dd { (visible(&machine.processor)) ", " (thousands(machine.cores)) " cores" }
            dt { "memory" } dd { (machine.memory_bytes.map_or("unknown".to_owned(), bytes)) }
            dt { "system" } dd { (visible(&machine.system)) }
            @if let Some(load) = machine.load { dt { "load at the start" } dd { (format!("{load:.2}")) } }
        }
        h3 { "Method" }
        dl.facts {
            dt { "rounds" } dd { (thousands(method.rounds.decode)) " decoding, " (thousands(method.rounds.encode)) " encoding, shuffled with seed " (method.seed) }
            dt { "shortest sample" } dd { (time(method.sample_min_ns as f64)) }
            dt { "time" } dd { (format!("{:.0} s of {:.0} s", method.took_s, method.budget_s)) }
            dt { "timed" } dd {
                (thousands(method.timed_documents)) " of " (thousands(report.input.documents)) " documents"
                @if method.every > 1 { ", one in every " (method.every) "; " (method.beyond_the_part()) }
            }
            dt { "intervals" } dd { "95%, percentile bootstrap of the median; outliers are kept" }
        }
        (versions(report).html("c-versions"))
    };
    Section::new("method", "Machine and method", body)
}

fn versions(report: &Report) -> Table {
    let columns = ["library", "version", "runtime"];
    let mut table = Table::new("Versions", columns.into_iter().map(Column::text).collect());
    let mut seen = std::collections::BTreeSet::new();
    for row in &report.rows {
        let runtime = if row.runtime_version.is_empty() {
            row.runtime.name()
        } else {
            row.runtime_version.as_str()
        };
        if seen.insert((runtime, &row.library, &row.version)) {
            table.push(vec![
                Cell::text(&row.library),
                Cell::text(&row.version),
                Cell::text(runtime),
            ]);
        }
    }
    table
}

/// Quotes a command for a shell.
fn command(words: &[String]) -> String {
    let is_plain = |word: &str| {
        let plain = |one: char| one.is_ascii_alphanumeric() || "-_./=:,+@%".contains(one);
        !word.is_empty() && word.chars().all(plain)
    };
    let words: Vec<String> = words
        .iter()
        .map(|word| {
            if is_plain(word) { word.clone() } else { format!("'{}'", word.replace('\'', r"'\''")) }
        })
        .collect();
    visible(&words.join(" "))
}
