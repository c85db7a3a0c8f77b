//! The sections on differences after a round trip, and on what hostile bytes can do.

use maud::html;
use regauge_measure::Report;
use regauge_measure::report::{BombOutcome, Loss, Reach, Row, Safety};
use regauge_measure::thousands;

use super::Section;
use crate::table::{Cell, Column, Table, Tone};
use crate::text::{Unit, prose, visible};

/// Returns the section on what every contender lost or got wrong.
pub fn fidelity(report: &Report) -> Option<Section> {
    let columns = vec![
        Column::text("library"),
        Column::text("runtime"),
        Column::text("what"),
        Column::number("count"),
        Column::text("first at"),
        Column::text("before"),
        Column::text("after"),
    ];
    let mut table = Table::new("Differences between the original and a library's output", columns);
    for row in &report.rows {
        for loss in &row.wrong {
            table.push(difference(row, loss, "wrong", Tone::Bad));
        }
        for loss in &row.losses {
            table.push(difference(row, loss, "lost", Tone::Care));
        }
    }
    let failed: Vec<&Row> = report.rows.iter().filter(|row| row.failure.is_some()).collect();
    let faithful: Vec<String> = report
        .rows
        .iter()
        .filter(|row| row.failure.is_none() && row.wrong.is_empty() && row.losses.is_empty())
        .map(|row| format!("{} ({})", row.contender, row.runtime.name()))
        .collect();
    let wrong: Vec<&Row> = report.rows.iter().filter(|row| !row.wrong.is_empty()).collect();
    let columns = ["format", "what", "count", "first at", "before", "after"];
    let columns = columns.map(|head| match head {
        "count" => Column::number(head),
        head => Column::text(head),
    });
    let mut formats = Table::new("Data that a format cannot represent", columns.into());
    for one in &report.references {
        for loss in &one.losses {
            let mut cells =
                vec![Cell::text(&one.format), Cell::text(&loss.kind), Cell::count(loss.count)];
            cells.extend(example(loss));
            formats.push(cells);
        }
    }
    let body = html! {
        p {
            "Every library decoded the whole file and encoded it again, and regauge compared the output with the original, value by value. "
            em { "Lost" } " is a difference caused by a format or a library that leaves the data recognizable; "
            em { "wrong" } " is anything else, and the library is then not timed."
        }
        @if !faithful.is_empty() {
            p { strong { "Lost nothing: " } (prose(&faithful.join(", "))) "." }
        }
        @for row in wrong {
            p { strong { (visible(&row.contender)) " (" (visible(row.runtime.name())) ")" }
                " returned wrong data in " (thousands(row.wrong_documents)) " of " (thousands(report.input.documents)) " documents." }
        }
        @if !table.rows.is_empty() { (table.html("c-fidelity")) }
        @if !formats.rows.is_empty() {
            p { "These differences come from the formats: the nearest value that the format can represent was written, for every library." }
            (formats.html("c-formats"))
        }
        @if !failed.is_empty() {
            h3 { "Failed" }
            ul { @for row in failed {
                li { strong { (visible(&row.contender)) " (" (visible(row.runtime.name())) ")" } ": "
                    (visible(row.failure.as_deref().unwrap_or_default())) }
            } }
        }
    };
    Section::new("fidelity", "Fidelity", body)
}

fn difference(row: &Row, loss: &Loss, word: &str, tone: Tone) -> Vec<Cell> {
    let mut cells = vec![
        Cell::text(&row.contender).below(&row.format),
        Cell::text(row.runtime.name()),
        Cell::text(&loss.kind).tag(word, tone),
        Cell::count(loss.count),
    ];
    cells.extend(example(loss));
    cells
}

/// Returns the cells of the first case: where, before and after.
fn example(loss: &Loss) -> [Cell; 3] {
    match loss.examples.first() {
        Some(example) => [
            Cell::code(&example.path).below(format!("document {}", thousands(example.document))),
            side(&example.before, "absent"),
            side(&example.after, "missing"),
        ],
        None => [Cell::none(), Cell::none(), Cell::none()],
    }
}

fn side(value: &str, if_empty: &str) -> Cell {
    if value.is_empty() { Cell::text(if_empty) } else { Cell::code(value) }
}

/// Returns the section on the risk of decoding untrusted bytes.
pub fn safety(report: &Report) -> Option<Section> {
    let is_of_interest = |row: &&Row| row.safety.is_some() || row.unsafe_because.is_some();
    let rows: Vec<&Row> = report.rows.iter().filter(is_of_interest).collect();
    if rows.is_empty() {
        return None;
    }
    let columns = ["library", "runtime", "runs code", "hostile documents", "default limits"];
    let mut table = Table::new("Untrusted input", columns.into_iter().map(Column::text).collect());
    let columns = vec![
        Column::text("library"),
        Column::text("runtime"),
        Column::text("document"),
        Column::number("size"),
        Column::text("outcome"),
        Column::number("memory"),
        Column::text("details"),
    ];
    let mut bombs = Table::new("Small documents that demand a lot", columns);
    for row in &rows {
        table.push(risk(row));
        for bomb in row.safety.iter().flat_map(|safety| &safety.bombs) {
            let (word, tone) = outcome(bomb.outcome);
            bombs.push(vec![
                Cell::text(&row.contender).below(&row.format),
                Cell::text(row.runtime.name()),
                Cell::text(&bomb.kind),
                Cell::figure(bomb.bytes as f64, &Unit::Bytes),
                if bomb.ended {
                    Cell::text(word).tone(tone).tag("ended the process", Tone::Bad)
                } else {
                    Cell::text(word).tone(tone)
                },
                Cell::maybe(bomb.peak_bytes.map(|bytes| bytes as f64), &Unit::Bytes),
                Cell::text(&bomb.detail),
            ]);
        }
    }
    let body = html! {
        p { "Each test runs in a child process with limits on time and memory, in an empty folder: a payload that would leave a mark if the library ran it, and small documents that demand a lot." }
        (table.html("c-safety"))
        @if !bombs.rows.is_empty() { (bombs.without_empty_columns().html("c-bombs")) }
    };
    Section::new("safety", "Safety", body)
}

fn risk(row: &Row) -> Vec<Cell> {
    let name = Cell::text(&row.contender).below(&row.format);
    let reach = row.safety.as_ref().map_or(Reach::Data, |safety| safety.reach);
    let runs = match row.safety.as_ref().map(|safety| (safety.runs_code, &safety.proof)) {
        Some((Some(false) | None, proof)) if reach == Reach::Methods => {
            Cell::text("methods of classes it names").tone(Tone::Care).below(proof)
        }
        Some((Some(false) | None, proof)) if reach == Reach::Objects => {
            Cell::text("no, but makes objects").tone(Tone::Care).below(proof)
        }
        Some((Some(true), proof)) => Cell::text("yes").tone(Tone::Bad).below(proof),
        Some((Some(false), proof)) => Cell::text("no").tone(Tone::Good).below(proof),
        Some((None, proof)) => {
            Cell::text("impossible in this format").tone(Tone::Good).below(proof)
        }
        None => Cell::text("not tested"),
    };
    let runs = match &row.unsafe_because {
        Some(reason) => runs.tag("unsafe", Tone::Bad).also(reason),
        None => runs,
    };
    let limits = row.safety.as_ref().map_or_else(Cell::none, |safety| Cell::text(&safety.limits));
    vec![name, Cell::text(row.runtime.name()), runs, withstood(row.safety.as_ref()), limits]
}

fn withstood(safety: Option<&Safety>) -> Cell {
    let Some(bombs) = safety.map(|safety| &safety.bombs).filter(|bombs| !bombs.is_empty()) else {
        return Cell::none();
    };
    let is_well =
        |outcome: BombOutcome| matches!(outcome, BombOutcome::Refused | BombOutcome::Decoded);
    let well = bombs.iter().filter(|bomb| is_well(bomb.outcome)).count();
    let text = format!("withstood {well} of {}", bombs.len());
    let failed: Vec<String> = bombs
        .iter()
        .filter(|bomb| !is_well(bomb.outcome))
        .map(|bomb| format!("{}: {}", bomb.kind, outcome(bomb.outcome).0))
        .collect();
    let tone = if well == bombs.len() { Tone::Good } else { Tone::Bad };
    Cell::text(text).key(well as f64 / bombs.len() as f64).tone(tone).below(failed.join(", "))
}

/// Says what a bomb did.
pub fn outcome(outcome: BombOutcome) -> (&'static str, Tone) {
    match outcome {
        BombOutcome::Refused => ("refused", Tone::Good),
        BombOutcome::Decoded => ("decoded without harm", Tone::Good),
        BombOutcome::OutOfMemory => ("took too much memory", Tone::Bad),
        BombOutcome::OutOfTime => ("took too long", Tone::Bad),
        BombOutcome::Crashed => ("crashed the process", Tone::Bad),
    }
}
