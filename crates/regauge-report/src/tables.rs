//! Writes the figures as CSV (RFC 4180): plain numbers in nanoseconds and bytes, a header line, one
//! file for each kind of row.
//!
//! Text that a spreadsheet would read as a formula gets a leading apostrophe: names of contenders
//! and values of documents are foreign, and `=HYPERLINK(…)` in a cell is code. Numbers are our own
//! and stay unchanged.

use regauge_measure::Report;
use regauge_measure::report::{Row, Task};
use regauge_measure::stats::Estimate;

use crate::text::slug;

/// A table in the making.
struct Csv(csv::Writer<Vec<u8>>);

/// A cell.
enum Value<'a> {
    Text(&'a str),
    Number(f64),
    Count(u64),
    Flag(bool),
    None,
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::Text(text)
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Value::Text(text)
    }
}

impl From<f64> for Value<'_> {
    fn from(number: f64) -> Self {
        if number.is_finite() { Value::Number(number) } else { Value::None }
    }
}

impl From<u64> for Value<'_> {
    fn from(count: u64) -> Self {
        Value::Count(count)
    }
}

impl From<bool> for Value<'_> {
    fn from(flag: bool) -> Self {
        Value::Flag(flag)
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::None, Into::into)
    }
}

/// Returns a text that no spreadsheet takes for a formula.
fn guarded(text: &str) -> String {
    // What a spreadsheet passes over before it looks for a sign, controls and blanks, does not
    // hide the sign.
    let first = text.chars().find(|one| !one.is_whitespace() && !one.is_control());
    let starts_a_formula = matches!(first, Some('=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠'))
        || text.starts_with(['\t', '\r', '\n']);
    if starts_a_formula { format!("'{text}") } else { text.to_owned() }
}

impl Csv {
    fn new(head: &[&str]) -> Csv {
        let mut csv = Csv(csv::WriterBuilder::new().from_writer(Vec::new()));
        csv.push(head.iter().map(|name| Value::Text(name)).collect());
        csv
    }

    fn push(&mut self, cells: Vec<Value>) {
        let cells = cells.into_iter().map(|cell| match cell {
            Value::Text(text) => guarded(text),
            Value::Number(number) => number.to_string(),
            Value::Count(count) => count.to_string(),
            Value::Flag(flag) => flag.to_string(),
            Value::None => String::new(),
        });
        self.0.write_record(cells).expect("all rows are as long as the head, in memory");
    }

    fn text(self) -> String {
        let bytes = self.0.into_inner().expect("memory takes everything");
        String::from_utf8(bytes).expect("made of text")
    }
}

/// Returns all tables: the names of their files and what is in them.
pub fn all(report: &Report) -> Vec<(String, String)> {
    let mut files = vec![
        ("sizes.csv".to_owned(), sizes(report)),
        ("rows.csv".to_owned(), rows(report)),
        ("samples.csv".to_owned(), samples(report)),
        ("differences.csv".to_owned(), differences(report)),
    ];
    if report.costs.is_some() {
        files.push(("costs.csv".to_owned(), costs(report)));
        files.push(("crossings.csv".to_owned(), crossings(report)));
    }
    if report.rows.iter().any(|row| row.safety.is_some()) {
        files.push(("safety.csv".to_owned(), safety(report)));
    }
    if let Some(task) = &report.task {
        files.extend(task_tables(task));
        files.extend(task_charts(task));
    }
    files
}

fn sizes(report: &Report) -> String {
    let mut csv = Csv::new(&[
        "format",
        "compression",
        "bytes",
        "compress_ns",
        "compress_low_ns",
        "compress_high_ns",
        "decompress_ns",
        "decompress_low_ns",
        "decompress_high_ns",
        "written_by",
    ]);
    for one in &report.references {
        let mut push = |compression: &str, bytes: u64, times: [Option<f64>; 6]| {
            let mut cells: Vec<Value> =
                vec![(&one.format).into(), compression.into(), bytes.into()];
            cells.extend(times.map(Value::from));
            cells.push((&one.written_by).into());
            csv.push(cells);
        };
        push("none", one.bytes, [None; 6]);
        if one.compressions.is_empty() {
            push("gzip -6", one.gzip_bytes, [None; 6]);
        }
        for compression in &one.compressions {
            let (to, from) = (compression.compress_ns, compression.decompress_ns);
            let times = [to.median, to.low, to.high, from.median, from.low, from.high];
            push(&compression.codec, compression.bytes, times.map(Some));
        }
    }
    csv.text()
}

fn rows(report: &Report) -> String {
    let mut csv = Csv::new(&[
        "contender",
        "runtime",
        "runtime_version",
        "library",
        "version",
        "format",
        "unsafe",
        "output_bytes",
        "output_gzip_bytes",
        "decode_ns",
        "decode_low_ns",
        "decode_high_ns",
        "encode_ns",
        "encode_low_ns",
        "encode_high_ns",
        "total_ns",
        "total_low_ns",
        "total_high_ns",
        "to_best",
        "to_best_low",
        "to_best_high",
        "idle_bytes",
        "decode_peak_bytes",
        "peak_bytes",
        "decode_gc_share",
        "encode_gc_share",
        "decode_allocations",
        "encode_allocations",
        "start_ns",
        "first_decode_ns",
        "lost",
        "wrong",
        "failure",
    ]);
    for row in &report.rows {
        csv.push(row_cells(row));
    }
    csv.text()
}

fn row_cells(row: &Row) -> Vec<Value<'_>> {
    let timing = row.timing.as_ref();
    let three = |estimate: Option<Estimate>| -> [Value; 3] {
        [estimate.map(|one| one.median), estimate.map(|one| one.low), estimate.map(|one| one.high)]
            .map(Value::from)
    };
    let (decode, encode) = (timing.map(|one| &one.decode), timing.map(|one| &one.encode));
    let memory = timing.and_then(|one| one.memory);
    let count =
        |losses: &[regauge_measure::report::Loss]| losses.iter().map(|one| one.count).sum::<u64>();
    let mut cells: Vec<Value> = vec![
        (&row.contender).into(),
        row.runtime.name().into(),
        (&row.runtime_version).into(),
        (&row.library).into(),
        (&row.version).into(),
        (&row.format).into(),
        row.unsafe_because.as_ref().into(),
        row.output_bytes.into(),
        row.output_gzip_bytes.into(),
    ];
    cells.extend(three(decode.map(|one| one.estimate_ns)));
    cells.extend(three(encode.map(|one| one.estimate_ns)));
    cells.extend(three(timing.map(|one| one.total_ns)));
    cells.extend(three(timing.map(|one| one.ratio)));
    cells.extend([
        memory.map(|one| one.idle).into(),
        memory.map(|one| one.decode_peak).into(),
        memory.map(|one| one.peak).into(),
        decode.and_then(|one| one.gc_share).into(),
        encode.and_then(|one| one.gc_share).into(),
        decode.and_then(|one| one.allocations).into(),
        encode.and_then(|one| one.allocations).into(),
        row.cold.as_ref().map(|one| one.start_ns.median).into(),
        row.cold.as_ref().map(|one| one.first_decode_ns.median).into(),
        count(&row.losses).into(),
        count(&row.wrong).into(),
        row.failure.as_ref().into(),
    ]);
    cells
}

fn samples(report: &Report) -> String {
    let head = ["contender", "runtime", "operation", "sample", "ns", "iterations", "outlier"];
    let mut csv = Csv::new(&head);
    for row in &report.rows {
        let Some(timing) = &row.timing else { continue };
        for (operation, series) in [("decode", &timing.decode), ("encode", &timing.encode)] {
            for (index, ns) in series.samples_ns.iter().enumerate() {
                let index = index as u64;
                csv.push(vec![
                    (&row.contender).into(),
                    row.runtime.name().into(),
                    operation.into(),
                    index.into(),
                    (*ns).into(),
                    series.iterations.into(),
                    series.outliers.contains(&index).into(),
                ]);
            }
        }
    }
    csv.text()
}

fn differences(report: &Report) -> String {
    let mut csv = Csv::new(&[
        "contender",
        "runtime",
        "format",
        "severity",
        "kind",
        "count",
        "document",
        "path",
        "before",
        "after",
    ]);
    for row in &report.rows {
        for (severity, losses) in [("wrong", &row.wrong), ("lost", &row.losses)] {
            for loss in losses {
                let mut push = |example: Option<&regauge_measure::report::Example>| {
                    csv.push(vec![
                        (&row.contender).into(),
                        row.runtime.name().into(),
                        (&row.format).into(),
                        severity.into(),
                        (&loss.kind).into(),
                        loss.count.into(),
                        example.map(|one| one.document).into(),
                        example.map(|one| &one.path).into(),
                        example.map(|one| &one.before).into(),
                        example.map(|one| &one.after).into(),
                    ]);
                };
                if loss.examples.is_empty() {
                    push(None);
                }
                loss.examples.iter().for_each(|example| push(Some(example)));
            }
        }
    }
    csv.text()
}

fn costs(report: &Report) -> String {
    let mut csv = Csv::new(&[
        "contender",
        "runtime",
        "format",
        "compression",
        "write_ns",
        "move_ns",
        "read_ns",
        "bytes",
        "total_ns",
        "total_low_ns",
        "total_high_ns",
        "core_hours_per_million",
        "byte_months_per_million",
    ]);
    for one in report.costs.iter().flat_map(|costs| &costs.rows) {
        csv.push(vec![
            (&one.contender).into(),
            one.runtime.name().into(),
            (&one.format).into(),
            (&one.compression).into(),
            one.write_ns.into(),
            one.move_ns.into(),
            one.read_ns.into(),
            one.bytes.into(),
            one.total_ns.median.into(),
            one.total_ns.low.into(),
            one.total_ns.high.into(),
            one.core_hours_per_million.into(),
            one.byte_months_per_million.into(),
        ]);
    }
    csv.text()
}

fn crossings(report: &Report) -> String {
    let mut csv = Csv::new(&["runtime", "bytes_per_second", "cheapest_below", "cheapest_above"]);
    for one in report.costs.iter().flat_map(|costs| &costs.crossings) {
        csv.push(vec![
            one.runtime.name().into(),
            one.bandwidth.into(),
            (&one.below).into(),
            (&one.above).into(),
        ]);
    }
    csv.text()
}

fn safety(report: &Report) -> String {
    let head = [
        "contender",
        "runtime",
        "runs_code",
        "proof",
        "limits",
        "bomb",
        "bomb_bytes",
        "outcome",
        "detail",
    ];
    let mut csv = Csv::new(&head);
    for row in &report.rows {
        let Some(safety) = &row.safety else { continue };
        let mut push = |bomb: Option<&regauge_measure::report::Bomb>| {
            let outcome = bomb.map(|one| crate::page::outcome(one.outcome).0);
            csv.push(vec![
                (&row.contender).into(),
                row.runtime.name().into(),
                safety.runs_code.into(),
                (&safety.proof).into(),
                (&safety.limits).into(),
                bomb.map(|one| &one.kind).into(),
                bomb.map(|one| one.bytes).into(),
                outcome.into(),
                bomb.map(|one| &one.detail).into(),
            ]);
        };
        if safety.bombs.is_empty() {
            push(None);
        }
        safety.bombs.iter().for_each(|bomb| push(Some(bomb)));
    }
    csv.text()
}

/// Returns the name of a task's file: numbered, so that equal and empty titles do not meet.
fn numbered(kind: &str, index: usize, title: &str) -> String {
    match slug(title) {
        name if name.is_empty() => format!("{kind}-{}.csv", index + 1),
        name => format!("{kind}-{}-{name}.csv", index + 1),
    }
}

fn task_tables(task: &Task) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for (index, table) in task.tables.iter().enumerate() {
        let head = [
            "row",
            "in_the_post",
            "column",
            "unit",
            "published",
            "today",
            "today_low",
            "today_high",
            "published_ratio",
            "today_ratio",
            "today_ratio_low",
            "today_ratio_high",
            "note",
        ];
        let mut csv = Csv::new(&head);
        for row in &table.rows {
            for (column, cell) in table.columns.iter().zip(&row.cells) {
                let (today, ratio) = (cell.today, cell.today_ratio);
                csv.push(vec![
                    (&row.name).into(),
                    row.published.into(),
                    (&column.name).into(),
                    (&column.unit).into(),
                    cell.published.into(),
                    today.map(|one| one.median).into(),
                    today.map(|one| one.low).into(),
                    today.map(|one| one.high).into(),
                    cell.published_ratio.into(),
                    ratio.map(|one| one.median).into(),
                    ratio.map(|one| one.low).into(),
                    ratio.map(|one| one.high).into(),
                    row.note.as_ref().into(),
                ]);
            }
        }
        files.push((numbered("task", index, &table.title), csv.text()));
    }
    files
}

fn task_charts(task: &Task) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for (index, chart) in task.charts.iter().enumerate() {
        let mut csv = Csv::new(&["line", "x", "y"]);
        for line in &chart.lines {
            for [x, y] in &line.points {
                csv.push(vec![(&line.name).into(), (*x).into(), (*y).into()]);
            }
        }
        files.push((numbered("lines", index, &chart.title), csv.text()));
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_text() {
        for text in
            ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =1", "\u{1}=1", "＝1", "\nx"]
        {
            assert!(guarded(text).starts_with('\''), "{text:?}");
        }
        for text in ["", "plain", "a=b", "'=1", "1-1", "$.items[0]"] {
            assert_eq!(guarded(text), text);
        }
    }

    #[test]
    fn numbers_stay_numbers_and_text_is_quoted() {
        let mut csv = Csv::new(&["a", "b", "c", "d"]);
        csv.push(vec![(-1.5).into(), "x,\"y\"\nz".into(), f64::NAN.into(), "-1".into()]);
        assert_eq!(csv.text(), "a,b,c,d\n-1.5,\"x,\"\"y\"\"\nz\",,'-1\n");
    }
}
