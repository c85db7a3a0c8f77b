//! `regauge formats`: the table of formats.

use comfy_table::{ContentArrangement, Table, presets};
use regauge::codec::Framing;
use regauge::matrix::{self, Outcome};
use regauge::{Format, Sink};

use crate::args::Formats;
use crate::commands::inspect::trimmed;
use crate::failure::Result;
use crate::report::{print, to_stdout};
use crate::tables::TABLES;
use regauge_packing::files::Compression;

/// Lists the formats on standard output.
pub fn run(arguments: &Formats) -> Result {
    match (arguments.matrix, arguments.json) {
        (false, false) => print(text().as_bytes()),
        (false, true) => to_stdout(json),
        (true, false) => print(matrix_text().as_bytes()),
        (true, true) => to_stdout(matrix_json),
    }
}

/// What a table holds.
const ROWS: &str = "rows";

fn framing(format: Format) -> &'static str {
    match format.framing() {
        Framing::Single => "one document",
        Framing::Either => "one or many documents",
        Framing::Records => "records",
    }
}

fn text() -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(columns());
    table.set_header([
        "format",
        "name",
        "read",
        "write",
        "stream",
        "holds",
        "suffixes",
        "cannot hold",
    ]);
    for format in Format::ALL {
        let suffixes: Vec<_> = format.suffixes().iter().map(|one| format!(".{one}")).collect();
        table.add_row([
            format.title(),
            format.name(),
            "yes",
            "yes",
            "yes",
            framing(format),
            &suffixes.join(" "),
            &format.cannot_hold().join(", "),
        ]);
    }
    for kind in &TABLES {
        let suffixes: Vec<_> = kind.suffixes.iter().map(|one| format!(".{one}")).collect();
        let here = if kind.is_built() { "yes" } else { "not built" };
        table.add_row([
            kind.title,
            kind.name,
            here,
            here,
            "no",
            ROWS,
            &suffixes.join(" "),
            &kind.cannot_hold.join(", "),
        ]);
    }
    let packed: Vec<_> = Compression::ALL.iter().map(|one| format!(".{}", one.suffix())).collect();
    format!(
        "{}\n\nA compression suffix may follow: {}.\nConversion refuses what a format cannot \
         hold, unless --on-loss says otherwise.\n",
        trimmed(&table),
        packed.join(" ")
    )
}

/// Returns the table's width: the terminal's, or one that suits a pager.
fn columns() -> u16 {
    let columns =
        terminal_size::terminal_size_of(std::io::stdout()).map_or(0, |(width, _)| width.0);
    if columns < 60 { 120 } else { columns }
}

fn json(json: &mut dyn Sink) -> regauge::Result {
    json.begin_array(None)?;
    for format in Format::ALL {
        let lists = [format.suffixes(), format.cannot_hold()];
        facts(json, [format.name(), format.title(), framing(format)], [true; 3], lists)?;
    }
    for table in &TABLES {
        let can = [table.is_built(), table.is_built(), false];
        let lists = [table.suffixes, table.cannot_hold];
        facts(json, [table.name, table.title, ROWS], can, lists)?;
    }
    json.end_array()
}

/// Writes the facts of a format: its name, its title and what it holds; whether it is read, written and streamed;
/// its suffixes, and what it cannot hold.
fn facts(
    json: &mut dyn Sink,
    [name, title, holds]: [&str; 3],
    can: [bool; 3],
    [suffixes, cannot_hold]: [&[&str]; 2],
) -> regauge::Result {
    json.begin_map(None)?;
    json.key("name")?;
    json.str(name)?;
    json.key("title")?;
    json.str(title)?;
    for (what, can) in ["read", "write", "stream"].into_iter().zip(can) {
        json.key(what)?;
        json.bool(can)?;
    }
    json.key("holds")?;
    json.str(holds)?;
    for (key, list) in [("suffixes", suffixes), ("cannot_hold", cannot_hold)] {
        json.key(key)?;
        json.begin_array(None)?;
        for one in list {
            json.str(one)?;
        }
        json.end_array()?;
    }
    json.end_map()
}

/// A kind of value, and what happens to it in each of [`Format::ALL`].
type Line = (&'static str, Vec<Outcome>);

/// Returns, for each source, the kinds that it has, and what happens to them in each target.
fn matrix() -> Vec<(Format, Vec<Line>)> {
    let kinds = matrix::kinds();
    let line = |from, kind: &matrix::Kind| {
        let outcomes: Vec<_> =
            Format::ALL.into_iter().map(|to| matrix::outcome(kind, from, to)).collect();
        (outcomes[0] != Outcome::Absent).then_some((kind.name, outcomes))
    };
    let table = |from| (from, kinds.iter().filter_map(|kind| line(from, kind)).collect());
    Format::ALL.into_iter().map(table).collect()
}

fn matrix_text() -> String {
    let mut text = String::from(
        "What happens to each kind of value when it is converted from one format to another, found \
         by converting one.\n\n\
         =  exact, without a message\n\
         +  changed, counted and reported: a shared value is repeated in each place, a number in CSV is text\n\
         w  refused; --on-loss wrap keeps it, and --unwrap restores it\n\
         ~  refused; --on-loss approximate writes the nearest value, and counts it\n\
         x  refused\n",
    );
    for (from, lines) in matrix() {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        let names = Format::ALL.into_iter().map(Format::name);
        table.set_header(
            [format!("from {}", from.title())].into_iter().chain(names.map(str::to_owned)),
        );
        for (kind, outcomes) in lines {
            let letters = outcomes.iter().map(|outcome| outcome.letter().to_string());
            table.add_row([kind.to_owned()].into_iter().chain(letters));
        }
        text.push('\n');
        text.push_str(&trimmed(&table));
        text.push('\n');
    }
    text
}

fn matrix_json(json: &mut dyn Sink) -> regauge::Result {
    json.begin_array(None)?;
    for (from, lines) in matrix() {
        for (kind, outcomes) in lines {
            json.begin_map(None)?;
            json.key("from")?;
            json.str(from.name())?;
            json.key("kind")?;
            json.str(kind)?;
            json.key("to")?;
            json.begin_map(None)?;
            for (to, outcome) in Format::ALL.into_iter().zip(outcomes) {
                json.key(to.name())?;
                json.str(outcome.name())?;
            }
            json.end_map()?;
            json.end_map()?;
        }
    }
    json.end_array()
}
