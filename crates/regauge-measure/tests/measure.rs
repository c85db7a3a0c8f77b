//! Whole measurements with contenders that behave and contenders that do not. They need `python3`
//! with its standard library; without, they say so and pass (with `CI=true` they fail). Speed is never asserted.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use regauge_measure::report::{Report, Row};
use regauge_measure::{Options, PartSize, Progress, Quiet, Runtime, Stage, run};
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
    assert_eq!(
        row(&report, "test hangs").failure.as_deref(),
        Some("gave no answer within 10 s and was stopped")
    );
    assert!(row(&report, "test honest").timing.is_some());
}

#[test]
fn a_missing_interpreter_is_a_missing_contender() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), "a.json", DOCUMENT, &["honest"]);
    options.python = Some(folder.path().join("no-python"));
    let report = run(&options, &mut Quiet).unwrap();
    assert!(report.rows.is_empty());
    assert!(report.missing[0].reason.contains("cannot be started"), "{:?}", report.missing);
}

/// A machine that is disturbed every fourth time.
fn noisy_probe() -> Duration {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let disturbed = COUNT.fetch_add(1, Ordering::Relaxed).is_multiple_of(4);
    Duration::from_millis(if disturbed { 9 } else { 1 })
}

#[test]
fn on_a_noisy_machine_quiet_samples_count_and_all_are_kept() {
    if !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), "a.json", DOCUMENT, &["honest", "prints"]);
    options.probe = noisy_probe;
    options.rounds = Some(20);
    let report = run(&options, &mut Quiet).unwrap();
    let noise = report.noise.as_ref().unwrap();
    assert_eq!(noise.best_probe_ns, 1e6);
    assert!(noise.quiet_share.is_some_and(|share| share > 0.1 && share < 0.9), "{noise:?}");
    for name in ["test honest", "test prints"] {
        let decode = &row(&report, name).timing.as_ref().unwrap().decode;
        assert_eq!((decode.samples_ns.len(), decode.probes_ns.len()), (20, 20));
        let quiet = |place: &u64| decode.probes_ns[*place as usize] == [1e6; 2];
        assert!(!decode.left_out.is_empty() && !decode.left_out.iter().any(quiet), "{decode:?}");
    }
    assert!(report.verdict.is_some());
}

fn never_quiet_probe() -> Duration {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let quiet = COUNT.fetch_add(1, Ordering::Relaxed).is_multiple_of(10);
    Duration::from_millis(if quiet { 1 } else { 9 })
}

#[test]
fn where_no_moment_is_quiet_times_are_of_the_processor_and_the_report_says_so() {
    // A contender is bound to one of several cores, where the system can do that.
    let may_pin =
        cfg!(target_os = "linux") && std::thread::available_parallelism().unwrap().get() > 1;
    if !may_pin || !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), "a.json", DOCUMENT, &["honest", "slow"]);
    options.probe = never_quiet_probe;
    options.rounds = Some(20);
    let report = run(&options, &mut Quiet).unwrap();
    for name in ["test honest", "test slow"] {
        let timing = row(&report, name).timing.as_ref().unwrap();
        assert!(timing.decode.by_processor_time && timing.encode.by_processor_time, "{timing:?}");
        assert_eq!((timing.decode.samples_ns.len(), timing.decode.left_out.len()), (20, 0));
    }
    // It sleeps for three milliseconds of the clock in each pass, and for none of the processor's.
    let slow = row(&report, "test slow").timing.as_ref().unwrap();
    assert!(slow.decode.estimate_ns.median < 3e6, "{slow:?}");
    let note = "2 of the 2 contenders, those that work on one thread, are timed by processor time";
    assert!(report.notes.iter().any(|one| one.contains(note)), "{:?}", report.notes);
}

/// A race of a second or two.
fn race(folder: &Path, adapters: &[&str], budget: u64) -> Report {
    let mut options = options(folder, "a.json", DOCUMENT, adapters);
    options.rounds = None;
    options.sample_min = Duration::from_millis(1);
    options.budget = Duration::from_secs(budget);
    let report = run(&options, &mut Quiet).unwrap();
    assert!(report.method.took_s < budget as f64 + 3.0, "{}", report.method.took_s);
    report
}

#[test]
fn a_race_drops_those_far_behind_and_has_a_winner() {
    if !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // `slow` sleeps for three milliseconds in every call.
    let report = race(folder.path(), &["honest", "slow"], 8);
    let slow = row(&report, "test slow");
    let dropped = slow.dropped.unwrap_or_else(|| panic!("{slow:?}"));
    assert!(dropped.at_least > 2.0 && dropped.processes >= 1, "{dropped:?}");
    assert!(slow.timing.is_some() && slow.usual);
    let honest = row(&report, "test honest");
    assert!(honest.dropped.is_none());
    assert!(honest.timing.as_ref().unwrap().decode.processes() >= 3, "{honest:?}");
    let verdict = report.verdict.unwrap();
    let field = &verdict.fields[0];
    assert!(field.is_decided());
    assert_eq!((field.found, field.timed, field.usual_timed), (2, 2, 1));
    assert_eq!(verdict.choices[2].winners, ["test honest (json)"]);
}

#[test]
fn one_that_hangs_is_ruled_out_by_the_time_it_was_given() {
    if !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let report = race(folder.path(), &["honest", "hangs_usual"], 8);
    let hangs = row(&report, "test hangs usual");
    let dropped = hangs.dropped.unwrap_or_else(|| panic!("{hangs:?}"));
    assert!(hangs.timing.is_none() && dropped.processes == 0 && dropped.at_least > 100.0);
    let verdict = report.verdict.unwrap();
    assert!(verdict.fields[0].is_decided());
    let not_timed = &verdict.fields[0].not_timed[0];
    assert!(
        not_timed.is_ruled_out && not_timed.why.contains("x slower than the best"),
        "{not_timed:?}"
    );
}

#[test]
fn a_winner_that_is_wrong_on_the_whole_of_large_data_falls() {
    if !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let element = format!(r#"{{"name": "{}"}}"#, "x".repeat(800));
    let document = format!("[{}]", vec![element; 4_000].join(","));
    let adapters = ["wrong_when_large", "slow"];
    let mut options = options(folder.path(), "a.json", &document, &adapters);
    options.rounds = None;
    options.budget = Duration::from_secs(12);
    let report = run(&options, &mut Quiet).unwrap();
    let part = report.method.part.as_ref().unwrap();
    assert!(part.of == 4_000 && part.elements < 2_000, "{part:?}");
    // It was the fastest on the part, which it gives back as it is.
    let wrong = row(&report, "test wrong when large");
    assert!(wrong.timing.is_none() && !wrong.wrong.is_empty(), "{wrong:?}");
    // The next takes its place, after it has given back the whole.
    let slow = row(&report, "test slow");
    let whole = slow.whole.unwrap_or_else(|| panic!("{slow:?}"));
    assert!(whole.decode_ns > 0.0 && whole.encode_ns > 0.0);
    assert_eq!(slow.timing.as_ref().unwrap().ratio.median, 1.0);
    let verdict = report.verdict.unwrap();
    let mut winners = verdict.choices.iter().flat_map(|one| &one.winners);
    assert!(winners.all(|one| one.starts_with("test slow (json)")), "{verdict:?}");
    let not_timed = &verdict.fields[0].not_timed[0];
    assert!(not_timed.is_ruled_out && not_timed.why == "its output is wrong", "{not_timed:?}");
}

#[test]
fn one_that_never_says_hello_leaves_its_runtime_without_a_winner() {
    if !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let report = race(folder.path(), &["honest", "never_starts"], 8);
    let verdict = report.verdict.unwrap();
    assert!(!verdict.fields[0].is_decided(), "{verdict:?}");
    assert!(verdict.choices.iter().all(|one| one.winners.is_empty()));
    assert!(verdict.summary[0].contains("no winner: test never starts was not timed"));
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
    assert!(report.notes.iter().any(|note| note.starts_with("Not timed: test honest")));
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
    assert_eq!(
        failure,
        "gave no answer within 2 s and was stopped; a longer --budget gives it more time"
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
    assert!(row(&report, "test honest").timing.is_some());
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

#[test]
fn a_choice_that_leaves_nobody_names_who_there_is() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), "a.json", DOCUMENT, &[]);
    options.only = vec!["nobody".into()];
    let message = run(&options, &mut Quiet).unwrap_err().to_string();
    assert!(message.starts_with("no contender for this data is called nobody; "), "{message}");
    assert!(message.contains("; there are @msgpack/msgpack, "), "{message}");
    options.only = vec!["Serde_jsom".into()];
    let message = run(&options, &mut Quiet).unwrap_err().to_string();
    assert!(message.contains("the nearest name is serde_json; "), "{message}");
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
