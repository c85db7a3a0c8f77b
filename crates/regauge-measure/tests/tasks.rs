//! Every task on little data: a full set of tables with figures that can be. They need `python3`
//! and `ruby` with their standard libraries; without, they say so and pass (with `CI=true` they fail). Speed is never
//! asserted.

use std::path::Path;
use std::time::Duration;

use regauge_measure::report::{Report, Task, TaskRow, TaskTable};
use regauge_measure::{Options, Quiet, task};
use regauge_report::{Layout, render};
use regauge_testdata::has;

fn measured(name: &str, records: u64, folder: &Path) -> Report {
    let native = vec![env!("CARGO_BIN_EXE_regauge-contender").into()];
    let mut options = Options::new(folder.join("none"), native);
    options.rounds = Some(5);
    options.sample_min = Duration::from_micros(500);
    options.python = Some("python3".into());
    options.data_dir = Some(folder.join("data"));
    let mut request = task::Request::default();
    name.clone_into(&mut request.name);
    request.records = Some(records);
    let report = task::run(&request, &options, &mut Quiet).unwrap();
    let again: Report = serde_json::from_str(&report.to_json()).unwrap();
    assert_eq!(again, report, "the task goes to JSON and back");
    report
}

fn task(report: &Report) -> &Task {
    let task = report.task.as_ref().expect("a task's report has it");
    for table in &task.tables {
        for row in &table.rows {
            assert_eq!(row.cells.len(), table.columns.len(), "{}, {}", table.title, row.name);
            sane(table, row);
        }
    }
    assert!(!task.source.is_empty() && !task.question.is_empty());
    // Every sentence was filled in.
    assert!(!task.changed.is_empty());
    for sentence in &task.changed {
        assert!(!sentence.contains(['{', '}']), "{sentence}");
    }
    task
}

/// Figures are numbers, lie in their intervals, and an empty row says why.
fn sane(table: &TaskTable, row: &TaskRow) {
    let who = format!("{}, {}", table.title, row.name);
    for estimate in row.cells.iter().flat_map(|cell| [cell.today, cell.today_ratio]).flatten() {
        assert!(estimate.median.is_finite() && estimate.median > 0.0, "{who}: {estimate:?}");
        assert!(estimate.low <= estimate.median && estimate.median <= estimate.high, "{who}");
    }
    if row.cells.iter().all(|cell| cell.today.is_none()) {
        assert!(row.note.is_some(), "{who} is empty and says nothing");
    }
    let is_baseline = table.baseline.as_deref() == Some(&row.name);
    for cell in row.cells.iter().filter(|cell| is_baseline && cell.today.is_some()) {
        assert_eq!(cell.today_ratio.unwrap().median, 1.0, "{who}");
    }
}

fn table<'t>(task: &'t Task, title: &str) -> &'t TaskTable {
    task.tables.iter().find(|one| one.title == title).unwrap_or_else(|| panic!("no {title}"))
}

fn row<'t>(table: &'t TaskTable, label: &str) -> &'t TaskRow {
    table
        .rows
        .iter()
        .find(|row| row.name == label || row.name.starts_with(&format!("{label} · ")))
        .unwrap_or_else(|| panic!("no row {label} in {table:?}"))
}

#[test]
fn marc_catalog() {
    let folder = tempfile::tempdir().unwrap();
    let report = measured("marc-catalog", 60, folder.path());
    let task = task(&report);
    assert_eq!(report.input.documents, 60);
    let sizes = table(task, "Size of the catalogue");
    let (marc, json) = (&row(sizes, "marc21").cells[0], &row(sizes, "json (ndj)").cells[0]);
    assert!(json.today_ratio.unwrap().median > 1.3, "{json:?}");
    assert_eq!((marc.published, json.published), (Some(31e6), Some(56e6)));
    assert_eq!(json.published_ratio, Some(1.8));
    // regauge's own are always there; a missing gem is told with how to get it.
    let own = table(task, "Rust, regauge's own codecs");
    assert!(own.rows.len() >= 4 && own.rows.iter().all(|row| row.cells[2].today.is_some()));
    let ruby = table(task, "MRI Ruby, MARC::Record objects");
    let oj = row(ruby, "json (oj)");
    assert!(
        oj.cells[0].today.is_some()
            || oj.note.as_deref().is_some_and(|note| note.contains("not installed: ")),
        "{oj:?}"
    );
    let text = render(&report, Layout::default());
    assert!(text.contains("Task marc-catalog: ") && text.contains("What has changed"), "{text}");
}

#[test]
fn object_store() {
    if !has("ruby", &["--version"]) || !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let report = measured("object-store", 3_000, folder.path());
    let task = task(&report);
    for (title, python) in [("Ruby's Marshal, all objects", 0), ("Python's pickle, all objects", 1)]
    {
        let all = table(task, title);
        for label in ["create + dump", "create + dump + Base64", "load", "Base64 + load"] {
            assert!(row(all, label).cells[0].today.is_some(), "{title}, {label}");
        }
        let bytes = |label: &str| row(all, label).cells[1].today.unwrap().median;
        let share = bytes("create + dump + Base64") / bytes("create + dump");
        assert!((1.33..1.40).contains(&share), "Base64 makes {share} of {python}");
    }
    let size = row(table(task, "Size with vs without Base64, Ruby"), "an object");
    assert_eq!((size.cells[0].published, size.cells[0].published_to), (Some(1.3), Some(1.35)));
    // A line has a point each thousand objects, and only goes up.
    let chart = &task.charts[0];
    assert_eq!(chart.lines.len(), 7);
    for line in &chart.lines {
        let places: Vec<f64> = line.points.iter().map(|point| point[0]).collect();
        assert_eq!(places, [1_000.0, 2_000.0, 3_000.0], "{}", line.name);
        assert!(line.points[0][1] > 0.0 && line.points[2][1] > line.points[0][1], "{line:?}");
    }
    let text = render(&report, Layout::default());
    assert!(text.starts_with("objects made by the task: 3,000 objects\n"), "{text}");
}

#[test]
fn tenancy() {
    if !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let report = measured("tenancy", 2_000, folder.path());
    let task = task(&report);
    let queries = &task.tables[0];
    let many = row(queries, "one per tenant, kept open");
    assert_eq!(many.cells[1].published_ratio, Some(1.053));
    // The tables of Python. Those of regauge's own engines are measured by the command, not here.
    for table in &task.tables[..2] {
        for row in &table.rows {
            assert!(row.cells[..2].iter().all(|cell| cell.today.is_some()), "{row:?}");
        }
    }
    assert!(task.changed[0].contains("5.3% more"), "{:?}", task.changed);
}

#[test]
fn ruby_types() {
    if !has("ruby", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let report = measured("ruby-types", 80, folder.path());
    let task = task(&report);
    for title in ["An object of type Hash", "An object of type String", "An object of type Float"] {
        for label in ["Marshal", "JSON (built-in ruby)"] {
            let cell = &row(table(task, title), label).cells[0];
            assert!(cell.today.is_some_and(|rate| rate.median > 1.0), "{title}, {label}");
        }
    }
    let custom = table(task, "An object of type CustomClass, and which libraries accept it");
    assert!(row(custom, "Marshal").cells[0].today.is_some());
    // It writes such an object as a string, without a word.
    let json = row(custom, "JSON (built-in ruby)");
    assert!(json.cells[0].today.is_none());
    assert_eq!(json.note.as_deref(), Some("does not accept custom classes: returned a String"));
}

/// A file may be in any format, and its documents are counted.
#[test]
fn ruby_types_of_a_file() {
    if !has("ruby", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = Vec::new();
    for _ in 0..3 {
        // {"type": "Float", "value": 1.5}
        bytes.extend(b"\x82\xA4type\xA5Float\xA5value\xCA\x3F\xC0\0\0");
    }
    let path = folder.path().join("in.msgpack");
    let mut options = Options::new(path.clone(), Vec::new());
    options.rounds = Some(5);
    options.sample_min = Duration::from_micros(500);
    let mut request = task::Request::default();
    "ruby-types".clone_into(&mut request.name);
    request.file = true;
    std::fs::write(&path, &bytes).unwrap();
    let report = task::run(&request, &options, &mut Quiet).unwrap();
    let size = bytes.len() as u64;
    assert_eq!((report.input.format.as_str(), report.input.documents), ("msgpack", 3));
    assert_eq!((report.input.name.as_str(), report.input.bytes), ("in.msgpack", size));
    let floats = table(report.task.as_ref().unwrap(), "An object of type Float");
    assert!(row(floats, "Marshal").cells[0].today.is_some(), "{floats:?}");
    // Others are refused, and not measured as nothing.
    std::fs::write(&path, b"\x91\x01").unwrap();
    let error = task::run(&request, &options, &mut Quiet).unwrap_err().to_string();
    assert!(error.contains("cannot use this data: document 1 is no map of a type"), "{error}");
}

#[test]
fn time_slice() {
    if !has("ruby", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // A batch of ten.
    let report = measured("time-slice", 10, folder.path());
    let task = task(&report);
    let bytes = table(task, "Bytes per slice");
    let json = row(bytes, "JSON").cells[0].today.unwrap().median;
    assert!((16_300.0..16_500.0).contains(&json), "{json}");
    assert_eq!(row(bytes, "JSON").cells[0].published, Some(16_402.0));
    let calls = table(task, "1,000 calls: a rehearsal, then the run");
    // Ruby's own library is always there, among what the post does not have.
    let own = row(calls, "json");
    assert!(!own.published && own.cells.iter().all(|cell| cell.today.is_some()), "{own:?}");
    let batch = row(table(task, "A batch of slices at once"), "json");
    let (run, batch) = (own.cells[1].today.unwrap(), batch.cells[0].today.unwrap());
    // Ten documents are not a thousand; no more is said of time.
    assert!(batch.median < run.median, "{batch:?} {run:?}");
}

#[test]
fn senators() {
    if !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let report = measured("senators", 3, folder.path());
    let task = task(&report);
    let all = table(task, "Python, to dictionaries and lists");
    let json = row(all, "json");
    assert!(json.cells.iter().all(|cell| cell.today.is_some()), "{json:?}");
    assert_eq!(json.cells[0].published, Some(1.4e6));
    assert_eq!(row(all, "cPickle").cells[0].published_ratio, Some(14.1 / 1.4));
}

#[test]
fn own_is_a_measurement_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("a.json");
    std::fs::write(&input, r#"{"a": [1, 2]}"#).unwrap();
    let native = vec![env!("CARGO_BIN_EXE_regauge-contender").into()];
    let mut options = Options::new(input, native);
    options.rounds = Some(5);
    options.sample_min = Duration::from_micros(500);
    options.only = vec!["rust".into()];
    let mut request = task::Request::default();
    "own".clone_into(&mut request.name);
    request.file = true;
    let report = task::run(&request, &options, &mut Quiet).unwrap();
    assert_eq!(report.task.as_ref().unwrap().name, "own");
    assert!(report.rows.iter().any(|row| row.timing.is_some()));
}
