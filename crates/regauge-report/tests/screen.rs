//! What a terminal shows of a measurement: one screen of 80 columns and 45 lines. `BLESS=1` writes
//! the snapshots.

use std::path::Path;

use regauge_measure::Report;
use regauge_report::{View, screen};
use serde_json::{Value, json};

const LINES: usize = 45;

/// A contender: name, format, bytes, decode and encode in microseconds, whether it is usual.
type One = (&'static str, &'static str, u64, f64, f64, bool);

const RUNTIMES: [(&str, &str); 5] = [
    ("native", "rustc 1.90"),
    ("java", "Java 21.0.2"),
    ("node", "Node.js 20.20.2"),
    ("python", "CPython 3.11.7"),
    ("ruby", "MRI Ruby 3.1.2"),
];

fn estimate(median: f64) -> Value {
    json!({"median": median, "low": median * 0.98, "high": median * 1.02})
}

fn series(median: f64) -> Value {
    json!({"iterations": 10, "samples_ns": [median], "estimate_ns": estimate(median),
        "cpu_share": 1.0, "gc_share": null})
}

fn row((runtime, version): (&str, &str), one: One, best: f64) -> Value {
    let (contender, format, bytes, decode, encode, usual) = one;
    let (decode, encode) = (decode * 1e3, encode * 1e3);
    let timing = (decode > 0.0).then(|| {
        json!({"decode": series(decode), "encode": series(encode),
            "total_ns": estimate(decode + encode), "ratio": estimate((decode + encode) / best),
            "memory": null})
    });
    json!({"contender": contender, "runtime": runtime, "runtime_version": version,
        "library": contender, "version": "1.0", "format": format, "gives": "data",
        "unsafe_because": null, "output_bytes": bytes, "output_gzip_bytes": bytes / 5,
        "losses": [], "wrong": [], "wrong_documents": 0, "failure": null, "timing": timing,
        "usual": usual, "safety": {"runs_code": null, "proof": "", "bombs": [], "limits": ""}})
}

fn rows(runtime: (&str, &str), contenders: &[One]) -> Vec<Value> {
    let best = contenders.iter().map(|one| (one.3 + one.4) * 1e3).fold(f64::MAX, f64::min);
    contenders.iter().map(|one| row(runtime, *one, best)).collect()
}

fn python() -> Vec<One> {
    vec![
        ("ormsgpack", "msgpack", 36_100, 58.0, 19.0, true),
        ("orjson", "json", 45_400, 63.0, 26.0, true),
        ("msgspec (msgpack)", "msgpack", 36_100, 77.0, 28.0, true),
        ("msgspec (json)", "json", 45_400, 91.0, 31.0, true),
        ("pickle", "pickle", 39_000, 81.0, 92.0, true),
        ("json", "json", 45_400, 257.0, 208.0, true),
        ("ujson", "json", 45_400, 301.0, 212.0, true),
    ]
}

fn others(runtime: &str) -> Vec<One> {
    match runtime {
        "native" => vec![
            ("regauge (msgpack)", "msgpack", 36_100, 31.0, 9.0, false),
            ("rmp-serde", "msgpack", 36_100, 48.0, 8.0, true),
            ("sonic-rs", "json", 45_400, 44.0, 21.0, true),
            ("serde_json", "json", 45_400, 101.0, 33.0, true),
        ],
        "java" => vec![
            ("jackson (msgpack)", "msgpack", 36_100, 201.0, 88.0, true),
            ("jackson", "json", 45_400, 250.0, 101.0, true),
        ],
        "node" => vec![
            ("msgpackr", "msgpack", 36_100, 122.0, 61.0, true),
            ("json (to text)", "json", 45_400, 140.0, 70.0, true),
            ("json", "json", 45_400, 151.0, 75.0, true),
            ("v8.serialize", "v8", 51_000, 402.0, 120.0, true),
        ],
        _ => vec![
            ("msgpack", "msgpack", 36_100, 190.0, 70.0, true),
            ("json", "json", 45_400, 280.0, 190.0, true),
            ("oj", "json", 45_400, 284.0, 188.0, true),
            ("yajl", "json", 45_400, 700.0, 490.0, false),
        ],
    }
}

fn reference(format: &str, bytes: u64, zstd: u64) -> Value {
    json!({"format": format, "bytes": bytes, "gzip_bytes": bytes / 5, "written_by": "regauge",
        "compressions": [{"codec": "zstd -3", "bytes": zstd, "compress_ns": estimate(1e5),
            "decompress_ns": estimate(1e4)}]})
}

fn choice(runtime: &str, purpose: &str, winners: &[&str], gain: Value) -> Value {
    json!({"runtime": runtime, "gives": "data", "purpose": purpose, "winners": winners,
        "too_close": winners.len() > 1, "because": "", "gain": gain})
}

fn gain(size: f64, cost: f64) -> Value {
    json!({"is_same": false, "size": size, "time": estimate(cost), "cost": estimate(cost)})
}

fn field(runtime: &str, (timed, found): (u64, u64), not_timed: &[(&str, bool)]) -> Value {
    let usual = not_timed.iter().filter(|(_, usual)| *usual).count();
    let not_timed: Vec<Value> = not_timed
        .iter()
        .map(|(name, usual)| {
            json!({"contender": name, "usual": usual, "why": "the budget ran out",
                "is_ruled_out": false})
        })
        .collect();
    json!({"runtime": runtime, "gives": "data", "found": found, "timed": timed, "usual": 4,
        "usual_timed": 4 - usual, "usual_missing": [], "not_timed": not_timed, "now": "json"})
}

/// A report of these runtimes, without a verdict.
fn base(runtimes: &[&str]) -> Value {
    let mut all: Vec<Value> = Vec::new();
    for runtime in RUNTIMES.iter().filter(|(id, _)| runtimes.contains(id)) {
        let contenders = if runtime.0 == "python" { python() } else { others(runtime.0) };
        all.extend(rows(*runtime, &contenders));
    }
    json!({"schema": "regauge-measure/3", "regauge": "0.1.0", "command": [],
        "input": {"name": "orders.json", "format": "json", "bytes": 45_600, "documents": 1},
        "machine": {"processor": "Example 9000", "cores": 2, "memory_bytes": null,
            "system": "linux", "load": null},
        "method": {"seed": 1, "rounds": {"decode": 9, "encode": 9}, "sample_min_ns": 0,
            "budget_s": 55.0, "took_s": 51.0, "timed_documents": 1, "every": 1},
        "references": [reference("json", 45_400, 5_881), reference("msgpack", 36_100, 5_974),
            reference("pickle", 39_000, 6_120)],
        "rows": all, "missing": [], "notes": [],
        "verdict": {"summary": [], "choices": [], "fields": []}})
}

fn push(report: &mut Value, path: &str, value: Value) {
    report.pointer_mut(path).unwrap().as_array_mut().unwrap().push(value);
}

fn decided(report: &mut Value, runtime: &str, winners: [&[&str]; 3], gains: [Value; 3]) {
    for ((purpose, winners), gain) in ["storage", "wire", "cache"].iter().zip(winners).zip(gains) {
        push(report, "/verdict/choices", choice(runtime, purpose, winners, gain));
    }
    let count = report["rows"].as_array().unwrap().iter();
    let count = count.filter(|row| row["runtime"] == runtime).count() as u64;
    push(report, "/verdict/fields", field(runtime, (count, count), &[]));
}

fn decide_python(report: &mut Value) {
    decided(
        report,
        "python",
        [&["orjson + zstd -3"], &["ormsgpack"], &["ormsgpack"]],
        [gain(7.7, 4.9), gain(1.3, 2.1), gain(1.3, 5.4)],
    );
}

fn five() -> Value {
    let mut report = base(&["native", "java", "node", "python", "ruby"]);
    for row in report["rows"].as_array_mut().unwrap() {
        let bomb = json!({"kind": "arrays 100,000 deep", "bytes": 200_000, "outcome": "crashed",
            "ended": true, "detail": "signal 11"});
        match row["contender"].as_str().unwrap() {
            "pickle" => row["safety"]["reach"] = json!("code"),
            "sonic-rs" => row["safety"]["bombs"] = json!([bomb]),
            "serde_json" => {
                row["losses"] = json!([{"kind": "key order", "count": 9, "examples": []}]);
            }
            "yajl" => row["safety"] = Value::Null,
            _ => {}
        }
    }
    let same = json!({"is_same": true, "size": 1.0, "time": estimate(1.0), "cost": estimate(1.0)});
    let mut two = |runtime: &str, winners: [&[&str]; 3]| {
        decided(&mut report, runtime, winners, [gain(4.9, 3.0), gain(1.2, 2.3), same.clone()]);
    };
    two("native", [&["regauge (msgpack) + zstd -3"], &["regauge (msgpack)"], &["rmp-serde"]]);
    two(
        "java",
        [&["jackson + zstd -3", "jackson (msgpack) + zstd -3"], &["jackson"], &["jackson"]],
    );
    two("node", [&["json + zstd -3", "msgpackr + zstd -3", "v8"], &["msgpackr"], &["msgpackr"]]);
    two("ruby", [&["json + zstd -3"], &["json", "oj"], &["msgpack"]]);
    decide_python(&mut report);
    for (name, runtime, usual) in
        [("rapidjson", "ruby", false), ("fastjson2", "java", true), ("cborx", "python", true)]
    {
        push(
            &mut report,
            "/missing",
            json!({"contender": name, "runtime": runtime, "install": "pip install it", "reason": "",
                "usual": usual}),
        );
    }
    report["notes"] = json!(["Contenders were pinned to core 1.", "Still warming up: none."]);
    report
}

fn shown(value: &Value, view: View) -> String {
    let report: Report = serde_json::from_value(value.clone()).expect("a report");
    screen(&report, view)
}

/// Compares the screen of 80 columns with a file beside this one.
fn snapshot(name: &str, value: &Value) -> String {
    let found = shown(value, View::default());
    assert!(found.lines().count() <= LINES, "{} lines:\n{found}", found.lines().count());
    for line in found.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/screen");
    let path = path.join(format!("{name}.txt"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, &found).expect("written");
    } else {
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(expected == found, "{name} is not as it was; found:\n{found}");
    }
    found
}

#[test]
fn five_runtimes() {
    let text = snapshot("five", &five());
    for words in [
        "json or oj (a tie)",
        "same as now",
        "7.7x smaller",
        "stopped by 200 kB",
        "Smaller, faster: than json, uncompressed",
    ] {
        assert!(text.contains(words), "{words}:\n{text}");
    }
    // What was not tested is rated from its documentation, and says so.
    let all = shown(&five(), View { full: true, ..View::default() });
    let line = all.lines().find(|line| line.starts_with(" yajl")).unwrap();
    assert!(line.ends_with("safe (docs)"), "{line}");
}

#[test]
fn one_runtime() {
    let mut report = base(&["python"]);
    decide_python(&mut report);
    let text = snapshot("one", &report);
    assert!(text.starts_with("orders.json: JSON, 1 document, 45.6 kB"), "{text}");
}

/// Everyone was timed, and no one may be recommended.
#[test]
fn nothing_decided() {
    let mut report = base(&["python", "ruby"]);
    let none = || [Value::Null, Value::Null, Value::Null];
    decided(&mut report, "python", [&[], &[], &[]], none());
    decided(&mut report, "ruby", [&[], &[], &[]], none());
    for row in report["rows"].as_array_mut().unwrap() {
        row["losses"] = json!([{"kind": "negative zero", "count": 1, "examples": []}]);
    }
    report["interrupted"] = json!(true);
    let text = snapshot("nothing", &report);
    let why = "7 of 7 timed, no answer: none of the 7 timed is safe and lossless";
    assert!(text.contains(why), "{text}");
    assert!(text.contains("Interrupted: "), "{text}");
}

/// A runtime names no winner while a usual library of it was not timed.
#[test]
fn usual_ones_that_were_not_timed() {
    let mut report = base(&["python", "ruby"]);
    decided(
        &mut report,
        "ruby",
        [&["json + zstd -3"], &["json", "oj"], &["msgpack"]],
        [gain(4.9, 3.0), gain(1.0, 1.0), gain(1.0, 1.8)],
    );
    for (name, usual) in [("orjson", true), ("msgspec (json)", true), ("ujson", false)] {
        let rows = report["rows"].as_array_mut().unwrap();
        let row = rows.iter_mut().find(|row| row["contender"] == name).unwrap();
        row["timing"] = Value::Null;
        row["usual"] = json!(usual);
    }
    let missing = [("orjson", true), ("msgspec (json)", true), ("ujson", false)];
    push(&mut report, "/verdict/fields", field("python", (4, 7), &missing));
    let text = snapshot("not-timed", &report);
    assert!(text.contains("4 of 7 timed, no answer: orjson, msgspec (json) not timed"), "{text}");
    let line = text.lines().find(|line| line.starts_with("Python")).unwrap();
    assert!(!line.contains("ormsgpack"), "{line}");
}

/// Libraries without a row, because there was no time for them, are counted as on the page.
#[test]
fn those_that_were_not_reached_are_counted() {
    let mut report = base(&["python", "ruby"]);
    push(&mut report, "/verdict/fields", field("python", (7, 16), &[("cbor2", true)]));
    push(&mut report, "/verdict/fields", field("ruby", (4, 5), &[("yajl", false)]));
    let text = shown(&report, View::default());
    assert!(text.lines().next().unwrap().ends_with("11 of 21 libraries timed"), "{text}");
    assert!(text.contains("7 of 16 timed, no answer: cbor2 not timed"), "{text}");
}

/// A note that is too long loses names from its list, never its reason.
#[test]
fn notes_keep_their_reasons() {
    let mut report = five();
    let names = ["a library of some length (Node.js)"; 8].join(", ");
    let reason = "x".repeat(170);
    report["notes"] = json!([
        format!("Not timed, because the budget ran out: {names}."),
        format!("A note that does not fit {reason}."),
        "A short one.",
    ]);
    let text = shown(&report, View::default());
    let note = text.split("Note: Not timed").nth(1).unwrap();
    assert!(note.starts_with(", because the budget ran out: a library of"), "{text}");
    assert!(note.contains("(Node.js), …"), "{text}");
    assert!(text.contains("Note: A short one.") && !text.contains("xx"), "{text}");
    assert!(text.contains("1 more note: --full"), "{text}");
}

/// What the caller prints below the screen is part of it.
#[test]
fn lines_of_the_caller_have_room() {
    for reserved in [0, 2, 6] {
        let text = shown(&five(), View { reserved, ..View::default() });
        assert!(text.lines().count() + reserved <= LINES, "{reserved}:\n{text}");
    }
}

/// Where runtimes have different libraries now, the legend names them all, if it has room.
#[test]
fn gains_say_over_what() {
    let mut report = five();
    report["verdict"]["fields"][0]["now"] = json!("serde_json");
    report["verdict"]["fields"][1]["now"] = json!("jackson");
    let text = shown(&report, View::default());
    let legend = "Smaller, faster: than json (Rust: serde_json; Java: jackson), uncompressed";
    assert!(text.contains(legend), "{text}");
    report["verdict"]["fields"][2]["now"] = json!("a library with a long name");
    let text = shown(&report, View::default());
    let legend = "Smaller, faster: than the usual library for this format, uncompressed";
    assert!(text.contains(legend), "{text}");
}

#[test]
fn a_task() {
    let full: Value = serde_json::from_str(include_str!("full.json")).expect("a report");
    let text = snapshot("task", &full);
    let place = |words: &str| text.find(words).unwrap_or_else(|| panic!("no {words}:\n{text}"));
    assert!(place("then") < place("to store"), "the task comes first:\n{text}");
    // A task whose programs are its own has nobody to rank.
    let mut own = full;
    for key in ["rows", "references", "missing"] {
        own[key] = json!([]);
    }
    own["verdict"] = Value::Null;
    let text = snapshot("task-own", &own);
    assert!(!text.contains("nothing to compare") && !text.contains("no answer"), "{text}");
}

#[test]
fn every_width_is_kept() {
    let report = five();
    for width in [1, 30, 40, 60, 64, 72, 80, 100, 160, 300] {
        let text = shown(&report, View { width: Some(width), ..View::default() });
        for line in text.lines() {
            assert!(line.chars().count() <= usize::from(width).max(24), "{width}: {line}");
        }
        assert!(text.contains("ormsgpack"), "{width}:\n{text}");
    }
}

#[test]
fn colours_are_only_colours() {
    let report = five();
    let plain = shown(&report, View::default());
    let coloured = shown(&report, View { colours: true, ..View::default() });
    assert!(!plain.contains('\x1b') && coloured.contains("\x1b[1m"));
    let mut stripped = String::new();
    for (index, part) in coloured.split('\x1b').enumerate() {
        stripped.push_str(if index == 0 { part } else { part.split_once('m').unwrap().1 });
    }
    assert_eq!(stripped, plain);
}

/// With `full` everybody is listed, whatever room that takes.
#[test]
fn all_contenders() {
    let text = shown(&five(), View { full: true, ..View::default() });
    for name in ["ujson", "yajl", "serde_json", "v8.serialize"] {
        assert!(text.contains(&format!(" {name}")), "{name}:\n{text}");
    }
    assert!(!text.contains("--full"), "{text}");
}

#[test]
fn foreign_text_cannot_speak_to_the_terminal() {
    let mut report = five();
    report["input"]["name"] = json!("a\u{1b}[31mb\u{202e}.json");
    report["rows"][0]["contender"] = json!("x\u{7}\ny");
    report["notes"] = json!(["\u{1b}]0;title\u{7}"]);
    let text = shown(&report, View::default());
    assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text}");
}

/// A row that is faster than the shown ones is not left out, nor is what the gains are compared with.
#[test]
fn the_fastest_and_the_baseline_are_shown() {
    let mut report = five();
    for row in report["rows"].as_array_mut().unwrap() {
        // The fastest of Python wins nothing.
        if row["contender"] == "ormsgpack" {
            row["losses"] = json!([{"kind": "key order", "count": 1, "examples": []}]);
        }
    }
    for choice in report["verdict"]["choices"].as_array_mut().unwrap() {
        if choice["runtime"] == "python" {
            choice["winners"] = json!(["pickle"]);
        }
    }
    for field in report["verdict"]["fields"].as_array_mut().unwrap() {
        if field["runtime"] == "python" {
            field["now"] = json!("ujson");
        }
    }
    let text = snapshot("baseline", &report);
    for name in [" ormsgpack ", " pickle ", " ujson "] {
        assert!(text.lines().any(|line| line.starts_with(name)), "{name}:\n{text}");
    }
}

#[test]
fn times_of_too_few_samples_are_marked() {
    let mut report = base(&["python"]);
    let text = shown(&report, View::default());
    assert!(!text.contains('~'), "{text}");
    report["rows"][0]["timing"]["decode"]["estimate_ns"]["too_few"] = json!(true);
    let text = shown(&report, View::default());
    let line = text.lines().find(|line| line.starts_with(" ormsgpack")).unwrap();
    assert!(line.contains("~58 µs") && !line.contains("~19 µs"), "{line}");
    assert!(text.contains(" ~ too few samples for an interval"), "{text}");
}

/// What contenders keep gives way to their names.
#[test]
fn names_are_not_cut_until_they_are_the_same() {
    let mut report = base(&["java"]);
    let names =
        ["fastjson2 (json)", "fastjson2 (jsonb)", "pickle (protocol 2)", "pickle (protocol 5)"];
    let one = |name: &'static str| (name, "json", 45_400, 91.0, 31.0, true);
    let mut list = rows(RUNTIMES[1], &names.map(one));
    for row in &mut list {
        let loss = |kind| json!({"kind": kind, "count": 1, "examples": []});
        row["losses"] = json!([loss("special value to text"), loss("duplicate key")]);
    }
    report["rows"] = list.into();
    let text = shown(&report, View::default());
    let found: std::collections::BTreeSet<&str> = text
        .lines()
        .filter(|line| line.starts_with(" fastjson2") || line.starts_with(" pickle"))
        .filter_map(|line| line.split("  ").next())
        .collect();
    assert_eq!(found.len(), names.len(), "{text}");
    assert!(
        text.contains("not spe") && text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
}

/// Only what the set-up can install is said to be installed by it.
#[test]
fn how_to_get_what_is_not_installed() {
    let told = |installs: &[(&str, &str)]| {
        let mut report = base(&["python"]);
        let one = |(install, reason): &(&str, &str)| json!({"contender": "x", "runtime": "python", "install": install, "reason": reason});
        report["missing"] = installs.iter().map(one).collect();
        let text = shown(&report, View::default());
        let line = text.lines().find(|line| line.starts_with("Not installed: "));
        line.map(str::to_owned).unwrap_or_default()
    };
    let (pip, own) =
        (("pip install x", ""), ("the Python package of regauge (bindings/python)", ""));
    assert!(told(&[pip]).ends_with("; --setup installs them"));
    assert!(told(&[own]).ends_with("; --list says how to get them"));
    assert!(told(&[pip, own]).contains("--setup installs most"));
    assert_eq!(told(&[("a C extension", "not available on JRuby")]), "");
}
