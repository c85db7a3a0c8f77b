//! Whole measurements with hostile documents, costs and a verdict. They need `python3`; without,
//! they say so and pass (with `CI=true` they fail).

use std::path::{Path, PathBuf};
use std::time::Duration;

use regauge_measure::report::{BombOutcome, Reach, Report, Row};
use regauge_measure::{Options, Quiet, run, safety};
use regauge_report::{Layout, render, render_safety};
use regauge_testdata::has;

const DOCUMENT: &str = r#"{"name": "first", "zero": -0.0, "list": [1, 2.5, null, "é"]}"#;

fn adapter(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/contenders").join(format!("{name}.py"))
}

fn options(folder: &Path, adapters: &[&str], when: safety::When) -> Options {
    let input = folder.join("a.json");
    std::fs::write(&input, DOCUMENT).unwrap();
    let mut options = Options::new(input, vec![env!("CARGO_BIN_EXE_regauge-contender").into()]);
    options.rounds = Some(5);
    options.sample_min = Duration::from_micros(500);
    options.adapters = adapters.iter().map(|name| adapter(name)).collect();
    options.only = vec!["test ".into()];
    options.python = Some("python3".into());
    options.data_dir = Some(folder.join("data"));
    options.work_dir = Some(folder.to_path_buf());
    options.safety = when;
    // Nothing here depends on how quiet the machine is.
    options.probe = || Duration::from_millis(1);
    options
}

fn row<'r>(report: &'r Report, name: &str) -> &'r Row {
    report.rows.iter().find(|row| row.contender == name).unwrap()
}

#[test]
fn hostile_documents_alone() {
    if !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), &["honest"], safety::When::Only);
    options.only.push("serde_json".into());
    let report = run(&options, &mut Quiet).unwrap();
    assert!(report.rows.iter().all(|row| !row.is_timed()), "nothing is timed");
    let honest = row(&report, "test honest").safety.as_ref().unwrap();
    assert_eq!((honest.runs_code, honest.reach), (Some(false), Reach::Data));
    assert!(honest.limits.contains("arrays and maps: "), "{honest:?}");
    let native = row(&report, "serde_json").safety.as_ref().unwrap();
    let deep = native.bombs.iter().find(|bomb| bomb.kind.starts_with("arrays")).unwrap();
    assert_eq!(deep.outcome, BombOutcome::Refused);
    assert!(deep.detail.contains("recursion limit exceeded"), "{deep:?}");
    assert!(native.limits.contains("arrays and maps: at most 127 deep"), "{native:?}");
    let text = render_safety(&report, Layout::default());
    assert!(text.starts_with("Safety: effects of hostile documents"), "{text}");
    assert!(text.contains("hold data only"), "{text}");
    // The work folder went with the run.
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name.to_string_lossy().starts_with("regauge-"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_measurement_tells_costs_and_what_to_take() {
    if !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let report =
        run(&options(folder.path(), &["honest", "lossy"], safety::When::Off), &mut Quiet).unwrap();
    assert!(report.rows.iter().all(|row| row.safety.is_none()));
    let costs = report.costs.as_ref().unwrap();
    let plain: Vec<_> = costs.rows.iter().filter(|one| one.compression == "none").collect();
    assert_eq!(plain.len(), 2);
    for cost in plain {
        assert!(cost.write_ns > 0.0 && cost.read_ns > 0.0 && cost.bytes > 40.0, "{cost:?}");
        let all = cost.write_ns + 10.0 * (cost.move_ns + cost.read_ns);
        assert!((cost.total_ns.median - all).abs() < 1.0, "{cost:?}");
    }
    let verdict = report.verdict.as_ref().unwrap();
    assert_eq!(verdict.choices.len(), 3);
    let cache = verdict.choices.iter().find(|one| one.purpose == "cache").unwrap();
    // What loses data does not win, however fast it is.
    assert_eq!(cache.winners, ["test honest (json)"]);
    assert!(cache.because.contains("test lossy (json): loses"), "{}", cache.because);
    let text = render(&report, Layout::default());
    // Which compression pays on so small a document, if any, is a matter of the moment.
    let advice = text.split("What to use\n\n- Python: ").nth(1).expect("a section of its own");
    let advice = advice.lines().next().unwrap();
    assert!(advice.contains("use test honest (json)") && !advice.contains("lossy"), "{advice}");
    assert!(text.contains("Cost per document: written once, moved at 125 MB/s"), "{text}");
}

#[test]
fn without_time_nobody_is_tried_and_it_is_said() {
    if !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), &["honest"], safety::When::Auto);
    options.budget = Duration::ZERO;
    let report = run(&options, &mut Quiet).unwrap();
    assert!(row(&report, "test honest").safety.is_none());
    assert!(
        report.notes.iter().any(|note| note.starts_with("1 contender has not been safety-tested")),
        "{:?}",
        report.notes
    );
}
