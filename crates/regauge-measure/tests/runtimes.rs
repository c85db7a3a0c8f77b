//! Whole measurements in runtimes other than Python: Node.js, and one of the user's own. Those
//! whose interpreter is not there say so and pass. Speed is never asserted.

use std::path::{Path, PathBuf};
use std::time::Duration;

use regauge_measure::report::{Report, Row};
use regauge_measure::{Options, Quiet, Runtime, run};
use regauge_report::{Layout, render};
use regauge_testdata::has;

fn tests(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

fn options(folder: &Path, document: &str, adapters: &[&str]) -> Options {
    let input = folder.join("a.json");
    std::fs::write(&input, document).unwrap();
    let mut options = Options::new(input, vec![env!("CARGO_BIN_EXE_regauge-contender").into()]);
    options.rounds = Some(5);
    options.sample_min = Duration::from_micros(500);
    options.adapters = adapters.iter().map(|name| tests(name)).collect();
    options.only = vec!["test ".into()];
    options.data_dir = Some(folder.join("data"));
    options
}

fn row<'r>(report: &'r Report, name: &str) -> &'r Row {
    report
        .rows
        .iter()
        .find(|row| row.contender == name)
        .unwrap_or_else(|| panic!("no row {name}: {report:?}"))
}

#[test]
fn misbehaviour_in_node_is_reported_and_the_run_goes_on() {
    if !has("node", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let document = r#"{"name": "first", "zero": -0.0, "list": [1, 2.5, null, "é"]}"#;
    let names = ["honest", "late", "lossy", "wrong"].map(|name| format!("contenders/{name}.cjs"));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let report = run(&options(folder.path(), document, &names), &mut Quiet).unwrap();

    let honest = row(&report, "test honest");
    assert_eq!(honest.runtime, Runtime::of("node"));
    assert!(honest.runtime_version.starts_with("Node.js "), "{}", honest.runtime_version);
    let timing = honest.timing.as_ref().unwrap();
    assert!(timing.decode.gc_share.is_some_and(|share| (0.0..=1.0).contains(&share)));
    assert!(timing.decode.cpu_share.is_some());
    // JSON.stringify writes no sign of zero.
    let kinds = |name: &str| -> Vec<String> {
        row(&report, name).losses.iter().map(|loss| loss.kind.clone()).collect()
    };
    assert_eq!(kinds("test honest"), ["negative zero"]);
    assert_eq!(kinds("test lossy"), ["key order", "negative zero"]);
    assert!(row(&report, "test lossy").timing.is_some());
    let wrong = row(&report, "test wrong");
    assert!(wrong.timing.is_none());
    assert_eq!(wrong.wrong[0].examples[0].path, "$.name");
    assert_eq!(
        row(&report, "test late").failure.as_deref(),
        Some("ended by itself (exit status: 9)")
    );
    assert!(render(&report, Layout::default()).contains("Node.js"));
}

#[test]
fn integers_that_a_double_cannot_hold_are_not_right_in_node() {
    if !has("node", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), r#"{"id": 9007199254740993, "text": "x"}"#, &[]);
    options.only = vec!["node".into()];
    let report = run(&options, &mut Quiet).unwrap();
    let json = row(&report, "json");
    assert!(json.timing.is_none(), "{json:?}");
    let place = &json.wrong[0].examples[0];
    assert_eq!(
        (place.path.as_str(), place.before.as_str(), place.after.as_str()),
        ("$.id", "9007199254740993", "9007199254740992")
    );
    // The format of V8 holds a BigInt, and its reference is not made by way of JSON.parse.
    let v8 = row(&report, "v8.serialize");
    assert!(v8.timing.is_some() && v8.losses.is_empty(), "{v8:?}");
}

/// The runner marks long integers before it parses: nothing else may look like one to it.
#[test]
fn long_runs_of_digits_that_are_no_integers_are_kept_in_node() {
    if !has("node", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let document = r#"[0.12345678901234568, -1.0000000000000002, 1.2345678901234567e-300,
        1e-12, -9007199254740993, 12345678901234567890123, 1234567890123456,
        "12345678901234567890", "\\\"12345678901234567890\\", "a\u12345678901234567890",
        {"98765432109876543210": [98765432109876543210]}]"#;
    let mut options = options(folder.path(), document, &[]);
    options.only = vec!["v8".into()];
    let report = run(&options, &mut Quiet).unwrap();
    let v8 = row(&report, "v8.serialize");
    assert!(v8.timing.is_some() && v8.losses.is_empty() && v8.wrong.is_empty(), "{v8:?}");
}

#[test]
fn a_runtime_of_the_users_own() {
    if !has("perl", &["-MJSON::PP", "-e", "1"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let document = r#"{"name": "first", "list": [1, null, "é"], "a": true}"#;
    let mut options = options(folder.path(), document, &["runtimes/json_pp.pm"]);
    options.runners = vec![tests("runtimes/perl.pl")];
    options.only = vec!["perl".into()];
    let report = run(&options, &mut Quiet).unwrap();
    let row = row(&report, "JSON::PP");
    assert_eq!((row.runtime.id(), row.runtime.name()), ("perl", "Perl"));
    assert!(row.runtime_version.starts_with("Perl 5."), "{}", row.runtime_version);
    assert!(row.timing.is_some() && row.wrong.is_empty(), "{row:?}");
    assert_eq!(row.losses[0].kind, "key order");
    assert!(render(&report, Layout::default()).contains("Perl"));

    options.runners.clear();
    let message = run(&options, &mut Quiet).unwrap_err().to_string();
    assert!(message.contains("json_pp.pm: found another suffix, expected one of ."), "{message}");
}

#[test]
fn a_compiled_language_is_translated_first() {
    if !has("javac", &["-version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // Where a runtime is set up, what was translated is kept.
    std::fs::create_dir_all(folder.path().join("data/java")).unwrap();
    let broken = folder.path().join("broken.java");
    let head = "// contender: test broken\n// library: x\n// format: json\n// gives: data\n\
                // install: no\n// untrusted: safe\n";
    std::fs::write(&broken, format!("{head}final class Contender {{ oops }}\n")).unwrap();
    let document = r#"{"name": "first", "big": 123456789012345678901234567890, "list": [1.5]}"#;
    let mut options = options(folder.path(), document, &["contenders/plain.java"]);
    options.adapters.push(broken);
    options.only.push("jackson (json)".into());
    let report = run(&options, &mut Quiet).unwrap();
    let plain = row(&report, "test plain");
    assert!(plain.timing.is_some() && plain.losses.is_empty(), "{plain:?}");
    assert!(plain.runtime_version.starts_with("Java "), "{}", plain.runtime_version);
    let failure = row(&report, "test broken").failure.clone().unwrap();
    assert!(failure.starts_with("cannot be compiled: "), "{failure}");
    // There are no jars in this folder.
    let absent = report.missing.iter().find(|one| one.contender == "jackson (json)").unwrap();
    assert_eq!(absent.reason, "jackson-databind-*.jar is missing", "known without a compiler");
    let kept = std::fs::read_dir(folder.path().join("data/built")).unwrap().count();
    assert_eq!(kept, 1, "the one that could be translated");
}
