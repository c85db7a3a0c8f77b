//! What `inspect` adds for Ruby Marshal: what `Marshal.load` would look up and call.

use std::fmt::Write as _;
use std::io::{self, Read};

use comfy_table::{CellAlignment, Table, presets};
use regauge::Sink;
use regauge::limits::Limits;
use regauge::marshal::{Survey, survey};
use regauge::text::escape_hidden;
use regauge_measure::thousands;

use crate::commands::inspect::trimmed;
use crate::input::Source;
use crate::report::Unsigned as _;

/// Surveys a file that can be read again, if it is within the document size limit.
pub fn of(source: &Source, limits: &Limits) -> io::Result<Option<Survey>> {
    if !source.can_repeat() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let most = limits.record_bytes.saturating_add(1);
    source.again()?.take(most).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 != most).then(|| survey(&bytes, limits)))
}

/// Renders the survey as text.
pub fn text(survey: &Survey, top: usize) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "\nMarshal.load  {}", survey.verdict().words());
    if survey.nested > 0 {
        let nested = thousands(survey.nested);
        let _ = writeln!(
            text,
            "              {nested} payloads are themselves Marshal data, listed too"
        );
    }
    let mut table = table(["class", "as", "times", "first byte", "judged"]);
    for class in survey.classes.iter().take(top) {
        table.add_row([
            escape_hidden(&class.name).into_owned(),
            class.kind.to_owned(),
            thousands(class.count),
            thousands(class.offset),
            class.risk.name().to_owned(),
        ]);
    }
    if !survey.classes.is_empty() {
        let _ = writeln!(text, "\n{}", trimmed(&table));
    }
    left_out(&mut text, survey.classes.len(), top, "classes");
    for call in survey.calls.iter().take(top) {
        let _ = writeln!(
            text,
            "calls {}, {} times, first at byte {} ({})",
            escape_hidden(&call.method),
            thousands(call.count),
            thousands(call.offset),
            call.risk.name()
        );
    }
    left_out(&mut text, survey.calls.len(), top, "calls");
    text
}

fn left_out(text: &mut String, all: usize, top: usize, what: &str) {
    if all > top {
        let _ = writeln!(text, "… and {} more {what}; --top shows them", all - top);
    }
}

fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    for column in [2, 3] {
        let column = table.column_mut(column).expect("there are five");
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Writes the survey as the value of a key already written.
pub fn json(survey: &Survey, json: &mut dyn Sink) -> regauge::Result {
    json.begin_map(None)?;
    json.key("verdict")?;
    json.str(survey.verdict().name())?;
    json.key("objects")?;
    json.u64_or_i64(survey.objects)?;
    json.key("links")?;
    json.u64_or_i64(survey.links)?;
    json.key("nested")?;
    json.u64_or_i64(survey.nested)?;
    json.key("classes")?;
    json.begin_array(None)?;
    for class in &survey.classes {
        json.begin_map(None)?;
        json.key("name")?;
        json.str(&class.name)?;
        json.key("kind")?;
        json.str(class.kind)?;
        json.key("count")?;
        json.u64_or_i64(class.count)?;
        json.key("offset")?;
        json.u64_or_i64(class.offset)?;
        json.key("risk")?;
        json.str(class.risk.name())?;
        json.end_map()?;
    }
    json.end_array()?;
    json.key("calls")?;
    json.begin_array(None)?;
    for call in &survey.calls {
        json.begin_map(None)?;
        json.key("method")?;
        json.str(&call.method)?;
        json.key("count")?;
        json.u64_or_i64(call.count)?;
        json.key("offset")?;
        json.u64_or_i64(call.offset)?;
        json.key("risk")?;
        json.str(call.risk.name())?;
        json.end_map()?;
    }
    json.end_array()?;
    json.end_map()
}
