//! The data: streams, parts, values that a format cannot hold, broken input.

use std::time::Duration;

use regauge_measure::{PartSize, Quiet, run};
use regauge_testdata::has;

use crate::{options, row};

#[test]
fn a_stream_is_checked_document_by_document() {
    if !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let lines: String =
        (0..300).map(|index| format!("{{\"name\": \"n{index}\", \"zero\": 0.0}}\n")).collect();
    let mut options = options(folder.path(), "a.ndjson", &lines, &["honest", "wrong"]);
    options.only.push("regauge".into());
    let report = run(&options, &mut Quiet).unwrap();
    assert_eq!((report.input.documents, report.method.timed_documents), (300, 300));
    let honest = row(&report, "test honest");
    assert!(honest.timing.is_some());
    // Its output has a space more at each colon and comma; regauge's is the reference.
    let compressed = &honest.output_compressed;
    assert_eq!(compressed.get("gzip -6").copied(), honest.output_gzip_bytes);
    assert_eq!(compressed.len(), 3, "{compressed:?}");
    for cost in
        report.costs.as_ref().unwrap().rows.iter().filter(|one| one.contender == "test honest")
    {
        let size = compressed.get(&cost.compression).copied().or(honest.output_bytes);
        assert!((cost.bytes * 300.0 - size.unwrap() as f64).abs() < 1e-6, "{cost:?}");
    }
    let ours = row(&report, "regauge (json)");
    let reference = report.references.iter().find(|one| one.format == "ndjson").unwrap();
    assert!(ours.output_compressed.is_empty());
    assert_eq!(ours.output_gzip_bytes, Some(reference.gzip_bytes));
    let gzip = reference.compressions.iter().find(|one| one.codec == "gzip -6").unwrap();
    assert_eq!(gzip.bytes, reference.gzip_bytes, "the same bytes have one size");
    assert!(row(&report, "regauge (msgpack)").timing.is_some());
    let wrong = row(&report, "test wrong");
    assert_eq!(wrong.wrong_documents, 300);
    assert_eq!(wrong.wrong[0].examples[1].document, 2);
}

#[test]
fn documents_that_a_contender_does_not_give_back_can_be_left_out() {
    if !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let lines: String =
        (0..300).map(|index| format!("{{\"name\": \"n{index}\", \"zero\": 0.0}}\n")).collect();
    let mut options = options(folder.path(), "a.ndjson", &lines, &["honest", "picky", "wrong"]);
    let strict = run(&options, &mut Quiet).unwrap();
    assert_eq!(
        row(&strict, "test picky").failure.as_deref(),
        Some("ValueError: n7 is not to its taste")
    );
    options.common = true;
    let report = run(&options, &mut Quiet).unwrap();
    assert_eq!(report.input.documents, 298);
    assert_eq!(
        report.notes[0],
        "2 documents were left out because at least one contender does not return them intact: \
         2 by test picky (Python)."
    );
    assert!(row(&report, "test picky").timing.is_some());
    assert!(row(&report, "test honest").timing.is_some());
    // One that is wrong everywhere is not waited for.
    assert_eq!(row(&report, "test wrong").wrong_documents, 298);
}

#[test]
fn short_of_time_everything_is_checked_and_timed_on_a_part() {
    if !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let lines: String = (0..3_000)
        .map(|index| format!("{{\"name\":\"n{index:04}\",\"text\":\"{}\"}}\n", "x".repeat(60)))
        .collect();
    let mut options = options(folder.path(), "a.ndjson", &lines, &["honest"]);
    (options.rounds, options.budget) = (None, Duration::from_secs(8));
    options.common = true;
    options.part_size = PartSize { whole: 100_000, part: 30_000 };
    let whole = run(&options, &mut Quiet).unwrap();
    let formats: Vec<&str> = whole.references.iter().map(|one| one.format.as_str()).collect();
    assert_eq!(formats, ["ndjson"], "of large data, what the contenders need is written");
    assert!(!whole.method.checked_on_part, "documents may be left out: all are looked at");
    options.part_only = true;
    let report = run(&options, &mut Quiet).unwrap();
    let method = &report.method;
    assert!(method.checked_on_part && !method.has_finals && method.every > 1, "{method:?}");
    let honest = row(&report, "test honest");
    assert!(honest.timing.is_some() && honest.whole.is_none());
    // Sizes are those of all documents; Python writes three spaces in each.
    assert_eq!(report.input.documents, 3_000);
    assert_eq!(honest.output_bytes, Some(lines.len() as u64 + 3 * 3_000));
}

#[test]
fn what_a_format_cannot_hold_is_written_as_near_as_it_can() {
    let folder = tempfile::tempdir().unwrap();
    let big = r#"{"name": "x", "zero": 0, "big": 123456789012345678901234567890}"#;
    let mut options = options(folder.path(), "a.json", big, &[]);
    options.only = vec!["regauge (".into()];
    let report = run(&options, &mut Quiet).unwrap();
    let lost = |format: &str| -> Vec<(String, String)> {
        let reference = report.references.iter().find(|one| one.format == format).unwrap();
        let first = |loss: &regauge_measure::report::Loss| loss.examples[0].path.clone();
        reference.losses.iter().map(|loss| (loss.kind.clone(), first(loss))).collect()
    };
    assert_eq!(lost("json"), []);
    assert_eq!(lost("msgpack"), [("integer to double".to_owned(), "$.big".to_owned())]);
    // The library gave back what it was given: the loss is not its own.
    assert!(row(&report, "regauge (msgpack)").losses.is_empty());
}

#[test]
fn a_format_that_cannot_hold_the_data_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let beyond = format!(r#"{{"name": "x", "big": 1{}}}"#, "0".repeat(400));
    let mut options = options(folder.path(), "a.json", &beyond, &[]);
    options.only = vec!["regauge (".into()];
    let report = run(&options, &mut Quiet).unwrap();
    assert!(report.rows.iter().all(|row| row.contender != "regauge (msgpack)"));
    assert!(
        report.notes[0].starts_with("MessagePack is left out: found the number 1000"),
        "{:?}",
        report.notes
    );
    assert!(!report.notes[0].contains("--"), "there is no such flag: {:?}", report.notes);
}

#[test]
fn bad_input_is_an_error_with_a_place() {
    let folder = tempfile::tempdir().unwrap();
    let told = |name: &str, content: &str| {
        let mut options = options(folder.path(), name, content, &[]);
        options.only.clear();
        run(&options, &mut Quiet).unwrap_err().to_string()
    };
    let message = told("a.json", "{\"a\": [1, }");
    assert!(message.contains("a.json: json: byte 10") && message.contains("expected"), "{message}");
    let message = told("empty.json", "");
    assert!(message.contains("empty.json: json: byte 0"), "{message}");
    let message = told("a.msgpack", "\u{89}PNG\r\n");
    assert!(message.contains("a.msgpack: msgpack: "), "{message}");
    let message = told("a.unknown", "hello");
    assert!(message.contains("pass --from FORMAT"), "{message}");
    let message = told("a.ndjson", "");
    assert!(message.contains("contains no document"), "{message}");
}
