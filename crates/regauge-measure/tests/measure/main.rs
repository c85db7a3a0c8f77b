//! Whole measurements with contenders that behave and contenders that do not. They need `python3`
//! with its standard library; without, they say so and pass (with `CI=true` they fail). Speed is never asserted.

mod data;
mod noise;
mod race;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use regauge_measure::report::{Report, Row};
use regauge_measure::{Options, Progress, Quiet, Runtime, Stage, run};
use regauge_report::{Layout, render};
use regauge_testdata::has;

const DOCUMENT: &str =
    r#"{"name": "first", "zero": -0.0, "list": [1, 2.5, null, "é"], "big": 123}"#;

fn adapter(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/contenders").join(format!("{name}.py"))
}

/// Quick options for these adapters, on a file of this name and content.
fn options(folder: &Path, name: &str, content: &str, adapters: &[&str]) -> Options {
    let input = folder.join(name);
    std::fs::write(&input, content).unwrap();
    let mut options = Options::new(input, vec![env!("CARGO_BIN_EXE_regauge-contender").into()]);
    options.rounds = Some(5);
    options.sample_min = Duration::from_micros(500);
    options.adapters = adapters.iter().map(|name| adapter(name)).collect();
    options.only = vec!["test ".into()];
    options.python = Some("python3".into());
    options.data_dir = Some(folder.join("data"));
    // The machine that runs the tests is not quiet.
    options.probe = || Duration::from_millis(1);
    options
}

fn measured(adapters: &[&str]) -> Report {
    let folder = tempfile::tempdir().unwrap();
    run(&options(folder.path(), "a.json", DOCUMENT, adapters), &mut Quiet).unwrap()
}

fn row<'r>(report: &'r Report, name: &str) -> &'r Row {
    report
        .rows
        .iter()
        .find(|row| row.contender == name)
        .unwrap_or_else(|| panic!("no row {name}: {report:?}"))
}

#[test]
fn an_honest_contender_is_timed() {
    if !has("python3", &["--version"]) {
        return;
    }
    let report = measured(&["honest", "prints"]);
    for name in ["test honest", "test prints"] {
        let row = row(&report, name);
        assert_eq!((row.runtime, row.version.as_str()), (Runtime::of("python"), "1.0"));
        assert!(row.runtime_version.starts_with("CPython 3"), "{}", row.runtime_version);
        assert_eq!((row.losses.len(), row.wrong.len(), &row.failure), (0, 0, &None));
        let timing = row.timing.as_ref().unwrap();
        for series in [&timing.decode, &timing.encode] {
            assert_eq!(series.samples_ns.len(), 5);
            assert!(series.samples_ns.iter().all(|ns| *ns > 0.0));
            let estimate = series.estimate_ns;
            assert!(estimate.low <= estimate.median && estimate.median <= estimate.high);
            assert!(series.gc_share.is_some_and(|share| (0.0..1.0).contains(&share)));
        }
        if cfg!(target_os = "linux") {
            let memory = timing.memory.unwrap();
            assert!(memory.idle > 1_000_000 && memory.peak >= memory.decode_peak);
        }
    }
    let best = report.rows.iter().filter_map(|row| row.timing.as_ref()).next().unwrap();
    assert_eq!(best.ratio.median, 1.0, "the best comes first");
}

#[test]
fn a_contender_that_gives_wrong_data_gets_no_time() {
    if !has("python3", &["--version"]) {
        return;
    }
    let report = measured(&["honest", "wrong"]);
    let row = row(&report, "test wrong");
    assert!(row.timing.is_none());
    assert_eq!(row.wrong_documents, 1);
    let wrong = &row.wrong[0];
    assert_eq!((wrong.kind.as_str(), wrong.count), ("value", 1));
    let example = &wrong.examples[0];
    assert_eq!(
        (example.path.as_str(), example.before.as_str(), example.after.as_str()),
        ("$.name", "\"first\"", "\"another\"")
    );
    let text = render(&report, Layout::default());
    assert!(
        text.lines()
            .any(|line| line.starts_with("| test wrong 1.0 ") && line.contains(" wrong | ")),
        "{text}"
    );
    assert!(text.contains("1 × value; first in document 1 at $.name"), "{text}");
}

#[test]
fn losses_are_listed_and_do_not_cost_the_time() {
    if !has("python3", &["--version"]) {
        return;
    }
    let report = measured(&["lossy"]);
    let row = row(&report, "test lossy");
    assert!(row.timing.is_some() && row.wrong.is_empty());
    let kinds: Vec<(&str, u64)> =
        row.losses.iter().map(|loss| (loss.kind.as_str(), loss.count)).collect();
    assert_eq!(kinds, [("key order", 1), ("negative zero", 1)]);
    assert_eq!(row.losses[1].examples[0].path, "$.zero");
}

#[test]
fn misbehaviour_is_reported_and_the_run_goes_on() {
    if !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let names = ["dies", "honest", "junk", "raises", "late", "absent"];
    let options = options(folder.path(), "a.json", DOCUMENT, &names);
    let report = run(&options, &mut Quiet).unwrap();
    let failure = |name: &str| {
        let row = row(&report, name);
        assert!(row.timing.is_none(), "{name}");
        row.failure.clone().unwrap()
    };
    assert_eq!(
        failure("test dies"),
        "ended by itself (exit status: 7), saying: the library gives up"
    );
    assert_eq!(
        failure("test junk"),
        "found \"Segmentation fault, or is it?\" on its output, expected a reply from the runner"
    );
    assert_eq!(failure("test raises"), "ValueError: no, not this");
    assert_eq!(failure("test late"), "ended by itself (exit status: 9)");
    assert!(row(&report, "test honest").timing.is_some());
    assert_eq!(report.missing.len(), 1);
    let missing = &report.missing[0];
    assert_eq!(missing.install, "pip install absent");
    assert_eq!(missing.reason, "No module named 'regauge_no_such_library'");
    let text = render(&report, Layout::default());
    assert!(text.contains("- test absent (Python): pip install absent"), "{text}");
}

#[test]
fn a_contender_that_hangs_is_stopped() {
    if !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), "a.json", DOCUMENT, &["hangs", "honest"]);
    options.patience = Duration::from_secs(10);
    let report = run(&options, &mut Quiet).unwrap();
    let failure = row(&report, "test hangs").failure.as_deref().unwrap();
    // 10 s, less what a busy machine took to get there.
    let seconds = failure
        .strip_prefix("gave no answer within ")
        .and_then(|rest| rest.strip_suffix(" s and was stopped")?.parse::<u64>().ok());
    assert!(matches!(seconds, Some(1..=10)), "{failure}");
    assert!(row(&report, "test honest").timing.is_some());
}

#[test]
fn a_named_interpreter_that_is_not_there_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), "a.json", DOCUMENT, &["honest"]);
    options.python = Some(folder.path().join("no-python"));
    let message = run(&options, &mut Quiet).unwrap_err().to_string();
    assert!(message.contains("no-python") && message.contains("cannot be started"), "{message}");
}

/// Stops the run when so many steps of the laps are done.
struct Stopper {
    stop: Arc<AtomicBool>,
    after: u64,
    in_laps: bool,
}

impl Progress for Stopper {
    fn begin(&mut self, stage: Stage, _: u64) {
        self.in_laps = matches!(stage, Stage::Lap(_));
    }

    fn step(&mut self, _: &str) {
        if self.in_laps && self.after == 0 {
            self.stop.store(true, Ordering::Relaxed);
        }
        self.after -= u64::from(self.in_laps && self.after > 0);
    }
}

#[test]
fn a_run_that_is_stopped_keeps_what_was_measured() {
    if !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), "a.json", DOCUMENT, &["honest", "prints"]);
    options.rounds = Some(9);
    let stop = Arc::new(AtomicBool::new(false));
    options.stop = Some(Arc::clone(&stop));
    // The first lap has three rounds of decoding and three of encoding.
    let report = run(&options, &mut Stopper { stop, after: 6, in_laps: false }).unwrap();
    assert!(report.interrupted);
    for name in ["test honest", "test prints"] {
        let timing = row(&report, name).timing.as_ref().unwrap();
        assert!((3..9).contains(&timing.encode.samples_ns.len()), "{timing:?}");
    }
    assert!(render(&report, Layout::default()).contains("The run was interrupted"));

    // Before anything was measured there is a report all the same.
    options.stop = Some(Arc::new(AtomicBool::new(true)));
    let report = run(&options, &mut Quiet).unwrap();
    assert!(report.interrupted && report.rows.is_empty());
    assert!(
        report.notes.iter().any(|note| {
            note.starts_with("Not timed, because ") && note.contains(": test honest")
        })
    );
}

#[test]
fn several_processes_warm_up_and_give_their_part() {
    if !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), "a.json", DOCUMENT, &["honest"]);
    options.rounds = Some(9);
    let report = run(&options, &mut Quiet).unwrap();
    let row = row(&report, "test honest");
    let timing = row.timing.as_ref().unwrap();
    for series in [&timing.decode, &timing.encode] {
        assert_eq!(series.samples_ns.len(), 9);
        assert_eq!((series.sizes(), series.processes()), (vec![3, 3, 3], 3));
        assert!(series.sittings.iter().all(|one| one.warm_up_samples > 0 && one.warm_up_ns > 0.0));
        assert!(series.gc_count.is_some_and(|count| count >= 0.0));
        assert_eq!(series.allocations, None, "CPython does not count them");
    }
    let cold = row.cold.as_ref().unwrap();
    // An interpreter takes milliseconds to start, and a small document a fraction of one.
    assert!(cold.start_ns.median > 1e6 && cold.first_decode_ns.median > 0.0);
    assert!(cold.start_ns.median > cold.first_decode_ns.median);
}

#[test]
fn references_are_compressed_with_times() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), "a.json", DOCUMENT, &[]);
    options.only = vec!["serde_json".into()];
    let report = run(&options, &mut Quiet).unwrap();
    for reference in report.references.iter().filter(|one| one.written_by == "regauge") {
        let names: Vec<&str> =
            reference.compressions.iter().map(|one| one.codec.as_str()).collect();
        assert_eq!(names, ["gzip -6", "zstd -3", "lz4"]);
        assert_eq!(reference.compressions[0].bytes, reference.gzip_bytes);
    }
}

#[test]
fn a_slow_check_is_stopped_by_the_budget_and_says_what_helps() {
    if !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), "a.json", DOCUMENT, &["hangs", "honest"]);
    options.rounds = None;
    options.budget = Duration::from_secs(8);
    let report = run(&options, &mut Quiet).unwrap();
    let failure = row(&report, "test hangs").failure.as_deref().unwrap();
    // A second or two, by what the start of Python has left of the budget.
    assert!(failure.starts_with("gave no answer within "), "{failure}");
    assert!(
        failure.ends_with(" s and was stopped; a longer --budget gives it more time"),
        "{failure}"
    );
    assert!(row(&report, "test honest").timing.is_some());
    assert!(report.method.took_s < 60.0, "{}", report.method.took_s);
}

#[test]
fn native_contenders_run_in_processes_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), "a.json", DOCUMENT, &[]);
    options.only = vec!["rust".into()];
    let report = run(&options, &mut Quiet).unwrap();
    let names: Vec<&str> = report.rows.iter().map(|row| row.contender.as_str()).collect();
    for name in ["regauge (json)", "regauge (msgpack)", "serde_json", "sonic-rs", "rmp-serde"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(report.rows.iter().all(Row::is_timed), "{report:?}");
    let ours = row(&report, "regauge (json)");
    assert!(ours.losses.is_empty(), "{ours:?}");
    // serde_json sorts keys unless it is built otherwise; that is a loss, not an error.
    assert_eq!(row(&report, "serde_json").losses[0].kind, "key order");
}

#[test]
fn the_report_goes_to_json_and_back() {
    if !has("python3", &["--version"]) {
        return;
    }
    let report = measured(&["honest", "wrong", "absent"]);
    let text = report.to_json();
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    assert!(text.contains("\"schema\": \"regauge-measure/3\""));
}

#[test]
fn a_choice_that_leaves_nobody_names_the_nearest() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), "a.json", DOCUMENT, &[]);
    options.only = vec!["nobody".into()];
    let message = run(&options, &mut Quiet).unwrap_err().to_string();
    assert_eq!(
        message,
        "no contender for this data is called nobody; --list shows their names, formats and runtimes"
    );
    for (wanted, nearest) in [("Serde_jsom", "serde_json"), ("pyton", "Python")] {
        options.only = vec![wanted.into()];
        let message = run(&options, &mut Quiet).unwrap_err().to_string();
        assert!(message.contains(&format!("the nearest name is {nearest}; ")), "{message}");
    }
}

#[test]
fn ruby_contenders_where_ruby_is() {
    if !has("ruby", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), "a.json", DOCUMENT, &[]);
    options.only = vec!["marshal".into(), "ruby".into()];
    let report = run(&options, &mut Quiet).unwrap();
    let marshal = row(&report, "marshal");
    let timing = marshal.timing.as_ref().unwrap_or_else(|| panic!("{marshal:?}"));
    // The document has a Hash, an Array and texts: no decoder makes them of fewer objects.
    assert!(timing.decode.allocations.is_some_and(|count| count >= 4.0), "{timing:?}");
    assert!(timing.decode.gc_count.is_some());
    assert!(marshal.unsafe_because.as_deref().is_some_and(|why| why.contains("runs code")));
    let reference = report.references.iter().find(|one| one.format == "marshal").unwrap();
    assert_eq!(reference.written_by, "regauge");
    let json = report.rows.iter().find(|row| row.contender == "json").unwrap();
    assert!(json.timing.is_some() || json.failure.is_some(), "{json:?}");
}

/// A library that there was no time to check may not be installed at all: then it is not one of those that
/// were not timed.
#[cfg(unix)]
#[test]
fn what_is_not_installed_is_not_counted_though_it_was_not_reached() {
    use std::os::unix::fs::PermissionsExt;
    if !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let python = folder.path().join("bare-python");
    // Isolated, without site-packages: it has its standard library and nothing else.
    std::fs::write(&python, "#!/bin/sh\nexec python3 -I -S \"$@\"\n").unwrap();
    std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut options = options(folder.path(), "a.json", DOCUMENT, &[]);
    options.only = ["PyYAML", "orjson", "pickle (protocol 2)"].map(str::to_owned).into();
    options.python = Some(python);
    options.rounds = None;
    options.budget = Duration::from_millis(1);
    let report = run(&options, &mut Quiet).unwrap();
    let missing: Vec<&str> = report.missing.iter().map(|one| one.contender.as_str()).collect();
    let of_yaml = missing.iter().filter(|name| name.starts_with("PyYAML")).count();
    assert_eq!(of_yaml, 3, "one try for one library: {missing:?}");
    let verdict = report.verdict.unwrap();
    let not_timed: Vec<&str> = verdict
        .fields
        .iter()
        .flat_map(|field| &field.not_timed)
        .map(|one| one.contender.as_str())
        .collect();
    assert!(
        not_timed.contains(&"pickle (protocol 2)") && !not_timed.contains(&"orjson"),
        "{not_timed:?}"
    );
    let found: u64 = verdict.fields.iter().map(|field| field.found).sum();
    assert_eq!(found as usize, not_timed.len());
}
