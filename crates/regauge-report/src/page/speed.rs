//! Sizes, and times.

use maud::{Markup, html};
use regauge_measure::report::{Dropped, Loss, Report, Row, Timing};
use regauge_measure::{Gives, Runtime, groups, is_in, thousands};

use super::{Section, charts, summary};
use crate::charts::{Figure, Part};
use crate::fastest::sentences;
use crate::names;
use crate::table::{Cell, Column, Table, Tone};
use crate::text::Unit;

/// Sizes of the reference bytes.
pub fn sizes(report: &Report, figures: &[Figure]) -> Option<Section> {
    let base = report
        .references
        .iter()
        .find(|one| one.format == "marc")
        .or_else(|| report.references.first())?;
    let percent = |part: u64, whole: u64| {
        let share = part as f64 / whole.max(1) as f64;
        Cell::figure(share, &Unit::Ratio)
    };
    let against = format!("vs {}", base.format);
    let columns = vec![
        Column::text("format"),
        Column::number("size"),
        Column::number(&against),
        Column::number("gzipped"),
        Column::number(format!("{against}, gzipped")),
        Column::text("written by"),
    ];
    let mut table = Table::new("Total size of all documents", columns);
    let mut packed = Table::new(
        "Compression: sizes and times for all documents as one stream",
        ["format", "compression"]
            .map(Column::text)
            .into_iter()
            .chain(["size", "vs original", "compress", "decompress"].map(Column::number))
            .collect(),
    );
    for one in &report.references {
        table.push(vec![
            Cell::text(&one.format),
            Cell::figure(one.bytes as f64, &Unit::Bytes),
            percent(one.bytes, base.bytes),
            Cell::figure(one.gzip_bytes as f64, &Unit::Bytes),
            percent(one.gzip_bytes, base.gzip_bytes),
            Cell::text(&one.written_by),
        ]);
        for compression in &one.compressions {
            packed.push(vec![
                Cell::text(&one.format),
                Cell::text(&compression.codec),
                Cell::figure(compression.bytes as f64, &Unit::Bytes),
                percent(compression.bytes, one.bytes)
                    .bar(compression.bytes as f64 / one.bytes as f64),
                Cell::estimate(&compression.compress_ns, &Unit::Time),
                Cell::estimate(&compression.decompress_ns, &Unit::Time),
            ]);
        }
    }
    let body = html! {
        (charts(figures, Part::Sizes))
        (table.html("c-sizes"))
        @if !packed.rows.is_empty() { (packed.html("c-packed")) }
    };
    Section::new("sizes", "Size", body)
}

/// Times of all contenders.
pub fn section(report: &Report, figures: &[Figure]) -> Option<Section> {
    if report.rows.is_empty() {
        return None;
    }
    let body = html! {
        (charts(figures, Part::Speed))
        @for (index, (runtime, gives)) in groups(report).into_iter().enumerate() {
            (group(report, runtime, gives, index))
        }
        details.legend {
            summary { "What the columns mean" }
            dl {
                dt { "decode, encode" } dd { "Median time of one pass over " (passes(report)) ", with half of the 95% interval as ± percent." }
                dt { "vs best" } dd { "Decoding and encoding together, relative to the best in the table, with the 95% interval of the ratio. If it includes 1, the two tie. \"At least\": dropped early because it was too slow." }
                @if report.rows.iter().any(|row| row.whole.is_some()) {
                    dt { "whole file" } dd { "Decoding and encoding the whole file once; the other times are for the timed part." }
                }
                dt { "memory" } dd { "The peak of the process above the bare interpreter with the library loaded." }
                dt { "GC" } dd { "The garbage collector's share of decoding and of encoding, if the runtime reports it." }
                dt { "kept" } dd { "What the library's own output lost from the original, as regauge reads both. A library that returns wrong data is not timed." }
            }
        }
    };
    Section::new("speed", "Speed", body)
}

fn passes(report: &Report) -> String {
    let method = &report.method;
    match (method.timed_documents, method.every) {
        (1, _) => "the document".to_owned(),
        (count, 0 | 1) => format!("all {} documents", thousands(count)),
        (count, every) => format!("{} documents, one in every {every}", thousands(count)),
    }
}

fn group(report: &Report, runtime: Runtime, gives: Gives, index: usize) -> Markup {
    let rows: Vec<&Row> = report.rows.iter().filter(|row| is_in(row, runtime, gives)).collect();
    let title = names::group(report, runtime, gives);
    let numbers = [
        "decode",
        "encode",
        "total",
        "vs best",
        "whole file",
        "size",
        "gzipped",
        "memory",
        "GC",
        "allocations",
    ];
    let mut columns = vec![Column::text("library"), Column::text("format")];
    columns.extend(numbers.map(Column::number));
    columns.push(Column::text("kept"));
    let mut table = Table::new(&title, columns);
    table.headed = true;
    let slowest = rows
        .iter()
        .filter_map(|row| row.timing.as_ref())
        .map(|timing| timing.total_ns.median)
        .fold(0.0, f64::max);
    for row in &rows {
        table.push(cells(row, slowest));
    }
    html! {
        h3 { (crate::text::visible(&title)) }
        div.sentences { (summary::with_bold_heads(&sentences(&rows, report.method.seed))) }
        (table.without_empty_columns().html(&format!("c-speed-{index}")))
    }
}

fn cells(row: &Row, slowest: f64) -> Vec<Cell> {
    let mut name = Cell::text(&row.contender).below(&row.version);
    if row.unsafe_because.is_some() {
        name = name.tag("unsafe", Tone::Bad);
    }
    let size = |bytes: Option<u64>| Cell::maybe(bytes.map(|bytes| bytes as f64), &Unit::Bytes);
    let mut cells = vec![name, Cell::text(&row.format)];
    let sizes = [size(row.output_bytes), size(row.output_gzip_bytes)];
    let whole = row.whole.map(|whole| whole.decode_ns + whole.encode_ns);
    let whole = Cell::maybe(whole, &Unit::Time);
    match &row.timing {
        Some(timing) => cells.extend(times(row, timing, slowest, whole, sizes)),
        None => {
            let (word, tone) = match () {
                () if !row.wrong.is_empty() => ("wrong", Tone::Bad),
                () if row.output_bytes.is_some() => ("not timed", Tone::Plain),
                () => ("failed", Tone::Bad),
            };
            cells.push(Cell::none().tag(word, tone));
            cells.extend((0..2).map(|_| Cell::none()));
            cells.push(row.dropped.as_ref().map_or_else(Cell::none, at_least));
            cells.push(whole);
            cells.extend(sizes);
            cells.extend((0..3).map(|_| Cell::none()));
        }
    }
    cells.push(kept(row));
    cells
}

fn times(row: &Row, timing: &Timing, slowest: f64, whole: Cell, sizes: [Cell; 2]) -> Vec<Cell> {
    let series = |series: &regauge_measure::report::Series| {
        let cell = Cell::estimate(&series.estimate_ns, &Unit::Time);
        match series.outliers.len() {
            0 => cell,
            1 => cell.also("1 outlier"),
            count => cell.also(format!("{count} outliers")),
        }
    };
    let two = |decode: Option<f64>, encode: Option<f64>, text: fn(f64) -> String| match (
        decode, encode,
    ) {
        (Some(decode), Some(encode)) => {
            Cell::text(format!("{} / {}", text(decode), text(encode))).key(decode)
        }
        (Some(decode), None) => Cell::text(text(decode)).key(decode),
        _ => Cell::none(),
    };
    let percent = |share: f64| format!("{:.0}%", share * 100.0);
    let count = |count: f64| thousands(count.max(0.0).round() as u64);
    let memory = timing.memory.map(|memory| memory.peak.saturating_sub(memory.idle) as f64);
    let [size, gzipped] = sizes;
    vec![
        series(&timing.decode),
        series(&timing.encode),
        Cell::figure(timing.total_ns.median, &Unit::Time).bar(timing.total_ns.median / slowest),
        behind(row, timing),
        whole,
        size,
        gzipped,
        Cell::maybe(memory, &Unit::Bytes),
        two(timing.decode.gc_share, timing.encode.gc_share, percent),
        two(timing.decode.allocations, timing.encode.allocations, count),
    ]
}

/// Returns how far it is behind the best of its group.
fn behind(row: &Row, timing: &Timing) -> Cell {
    match &row.dropped {
        Some(dropped) => at_least(dropped),
        None => Cell::ratio(&timing.ratio),
    }
}

/// Returns the minimum for one that left the race early.
fn at_least(dropped: &Dropped) -> Cell {
    let factor = dropped.at_least;
    Cell::text(format!("at least {}", crate::answer::times(factor))).key(factor)
}

/// Says in a word what a round trip kept.
fn kept(row: &Row) -> Cell {
    let kinds = |losses: &[Loss]| {
        let list: Vec<String> =
            losses.iter().map(|loss| format!("{} ×{}", loss.kind, thousands(loss.count))).collect();
        list.join(", ")
    };
    match () {
        () if row.failure.is_some() => Cell::none(),
        () if !row.wrong.is_empty() => {
            Cell::text("wrong data").tone(Tone::Bad).below(kinds(&row.wrong))
        }
        () if row.losses.is_empty() => Cell::text("everything").tone(Tone::Good),
        () => Cell::text("not everything").tone(Tone::Care).below(kinds(&row.losses)),
    }
}
