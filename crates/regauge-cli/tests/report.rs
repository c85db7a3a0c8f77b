//! `--report`, messages about losses, and the commands that only print information.

mod common;

use common::{Folder, marc};

/// Returns the value of a key on a line of its own, in one of our reports.
fn field<'r>(report: &'r str, key: &str) -> &'r str {
    let name = format!("\"{key}\": ");
    let line = report.lines().find(|line| line.trim_start().starts_with(&name));
    let line = line.unwrap_or_else(|| panic!("no {key} in {report}"));
    line.trim_start()[name.len()..].trim_end_matches(',')
}

#[test]
fn a_report_tells_what_was_approximated_path_by_path() {
    let folder = Folder::new();
    // [{"f": bytes}, {"f": bytes, "x": Infinity}]
    folder.write(
        "in.msgpack",
        b"\x92\x81\xA1f\xC4\x01\x01\x82\xA1f\xC4\x01\x02\xA1x\xCB\x7F\xF0\0\0\0\0\0\0",
    );
    let ran = folder
        .run("convert in.msgpack out.json.gz --on-loss approximate --report report.json")
        .status(0);
    assert_eq!(
        ran.stderr,
        "regauge: in.msgpack: bytes: 2 times, first: at $[0].f, found 1 bytes of binary data, \
         wrote Base64 text\n\
         regauge: in.msgpack: non-finite: once: at $[1].x, found Infinity, wrote null\n"
    );
    let report = folder.text("report.json");
    // It is JSON, according to our own reader.
    folder.run("convert report.json /dev/null --to msgpack").silent();
    assert_eq!(field(&report, "exact"), "false");
    assert_eq!(field(&report, "documents"), "1");
    assert_eq!(field(&report, "compression"), "null");
    assert!(report.contains("\"compression\": \"gzip\""), "{report}");
    assert_eq!(field(&report, "bytes"), "24");
    let paths: Vec<_> =
        report.lines().filter(|line| line.contains("\"path\"")).map(str::trim).collect();
    assert_eq!(paths, ["\"path\": \"$[0].f\",", "\"path\": \"$[1].f\",", "\"path\": \"$[1].x\","]);
    // Losses in a pipe have paths, too.
    let ran = folder
        .feed("convert - /dev/null --to json --on-loss approximate", &folder.read("in.msgpack"));
    assert!(ran.stderr.contains("at $[1].x"), "{}", ran.stderr);
}

#[test]
fn a_report_of_an_exact_conversion_says_so() {
    let folder = Folder::new();
    folder.write("in.json", r#"{"a":1,"a":0.5}"#);
    let ran = folder.run("convert in.json out.msgpack --report -").status(0);
    assert_eq!(field(&ran.text(), "exact"), "true");
    assert!(ran.text().contains("\"kind\": \"duplicate-key\""), "{}", ran.text());
    assert_eq!(field(&ran.text(), "error"), "null");
}

/// What a target does not keep, even though it accepts the value.
#[test]
fn a_report_does_not_say_exact_of_what_has_changed() {
    let folder = Folder::new();
    let told = |command: &str, kind: &str, found: &str| {
        let ran = folder.run(command).status(0);
        let report = ran.text();
        assert_eq!(field(&report, "exact"), "false", "{report}");
        assert!(report.contains(&format!("\"kind\": \"{kind}\"")), "{report}");
        assert!(report.contains(found), "{report}");
    };
    // {"a": [1, 2]} whose elements are named "1" and "0".
    folder
        .write("names.bson", b"\x1B\0\0\0\x04a\0\x13\0\0\0\x101\0\x01\0\0\0\x100\0\x02\0\0\0\0\0");
    for to in ["json", "bson", "msgpack"] {
        let command = format!("convert names.bson /dev/null --to {to} --report -");
        told(&command, "array-name", "the name \\\"1\\\" of an element of an array");
    }
    folder.write("decimal.marshal", b"\x04\x08[\x06u:\x0FBigDecimal\x0E18:0.15e1");
    told("convert decimal.marshal /dev/null --to msgpack --report -", "decimal", "1.5");
    folder.write("nan.msgpack", b"\x91\xCB\x7F\xF8\0\0\0\0\0\x01");
    for to in ["yaml", "marshal", "json --json-extended canonical"] {
        let command = format!("convert nan.msgpack /dev/null --to {to}");
        let ran = folder.run(&command).status(3);
        assert!(ran.stderr.contains("NaN with the"), "{to}: {}", ran.stderr);
        told(
            &format!("{command} --on-loss approximate -q --report -"),
            "non-finite",
            "NaN with the",
        );
    }
}

#[test]
fn a_report_of_a_rounded_number_says_so() {
    let folder = Folder::new();
    folder.write("in.json", "[0.1, 0.1000000000000000000001]");
    let ran = folder.run("convert in.json out.msgpack --report - --quiet").silent();
    assert_eq!(field(&ran.text(), "exact"), "false");
    assert_eq!(field(&ran.text(), "kind"), "\"rounded\"");
    assert_eq!(field(&ran.text(), "count"), "1");
    assert_eq!(field(&ran.text(), "path"), "\"$[1]\"");
}

#[test]
fn a_report_of_a_refusal_has_the_error() {
    let folder = Folder::new();
    folder.write("in.msgpack", b"\x91\xC4\x01\x00");
    folder.run("convert in.msgpack out.json --report report.json").status(3);
    let report = folder.text("report.json");
    assert_eq!(field(&report, "kind"), "\"refused\"");
    assert_eq!(field(&report, "path"), "\"$[0]\"");
    assert!(field(&report, "hint").contains("--on-loss wrap"));
    assert_eq!(folder.names(), ["in.msgpack", "report.json"]);
}

#[test]
fn inspect_tells_what_is_in_a_file() {
    let folder = Folder::new();
    folder.write("in.json", r#"{"items":[{"id":1,"name":"one"},{"id":-2,"name":"two"}]}"#);
    let text = folder.run("inspect in.json").silent().text();
    for line in [
        "format     JSON, by its name",
        "documents  1",
        "depth      3",
        "values     integer 2, text 2, array 1, map 3",
        "integers   -2 to 1",
    ] {
        assert!(text.lines().any(|one| one == line), "{line} in {text}");
    }
    let json = folder.feed("inspect - --json", &folder.read("in.json")).silent().text();
    assert_eq!(field(&json, "told_by"), "\"content\"");
    assert_eq!(field(&json, "json_bytes"), "56");
    assert!(json.contains("\"path\": \"$.items[*].name\""), "{json}");
}

#[test]
fn inspect_tells_the_broken_records_of_a_catalogue() {
    let folder = Folder::new();
    let mut broken = marc("b", "Broken");
    broken[12..17].copy_from_slice(b"00030");
    folder.write("in.mrc", [marc("a", "One"), broken, marc("c", "Three")].concat());
    let text = folder.run("inspect in.mrc").silent().text();
    assert!(text.contains("records    2\nbroken     1\n"), "{text}");
    assert!(
        text.contains("charset    UTF-8 (a) 2\ntypes      language material (a) 2\n"),
        "{text}"
    );
    assert!(text.contains("broken records:\n  marc: record 2"), "{text}");
    let json = folder.run("inspect in.mrc --json").silent().text();
    assert_eq!((field(&json, "bad_records"), field(&json, "245")), ("1", "2"));
}

#[test]
fn inspect_shows_what_came_before_a_fault() {
    let folder = Folder::new();
    folder.write("in.json", "[1,2,");
    let ran = folder.run("inspect in.json").status(1);
    assert!(ran.text().contains("documents  0 before the error"), "{}", ran.text());
    assert!(ran.stderr.starts_with("regauge: in.json: json: byte 5"), "{}", ran.stderr);
}

#[test]
fn formats_are_listed() {
    let folder = Folder::new();
    let text = folder.run("formats").silent().text();
    let json = folder.run("formats --json").silent().text();
    for format in regauge::Format::ALL {
        assert!(text.contains(format.title()), "{text}");
        assert!(json.contains(&format!("\"name\": \"{}\"", format.name())), "{json}");
    }
}

#[test]
fn help_completions_and_manual_pages_are_made() {
    let folder = Folder::new();
    let commands = [
        "convert",
        "query",
        "inspect",
        "xray",
        "migrate",
        "measure",
        "report",
        "sample",
        "store",
        "serve",
        "formats",
        "completions",
        "man",
    ];
    for command in commands {
        let help = folder.run(&format!("{command} --help")).silent().text();
        assert!(
            help.contains("Examples:\n  regauge ") || help.contains("Examples:\n  curl"),
            "{help}"
        );
        let page = folder.run(&format!("man {command}")).silent().text();
        assert!(page.contains(".TH") && page.contains("regauge"), "{page}");
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = folder.run(&format!("completions {shell}")).silent().text();
        assert!(script.contains("on-loss") && script.contains("inspect"), "{shell}");
    }
    folder.run("man --folder share/man1").silent();
    let mut pages: Vec<_> = commands.iter().map(|one| format!("regauge-{one}.1")).collect();
    pages.push("regauge.1".into());
    pages.sort();
    let mut found: Vec<_> = std::fs::read_dir(folder.path("share/man1"))
        .unwrap()
        .map(|one| one.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    assert_eq!(found, pages);
    let version = folder.run("--version").silent().text();
    assert_eq!(version, format!("regauge {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_verbose_version_tells_how_the_command_was_built() {
    let folder = Folder::new();
    let version = folder.run("--version --verbose").silent().text();
    let lines: Vec<_> = version.lines().collect();
    assert_eq!(lines.len(), 5, "{version}");
    assert_eq!(lines[0], format!("regauge {}", env!("CARGO_PKG_VERSION")));
    let commit = lines[1].strip_prefix("commit: ").unwrap();
    assert_eq!(commit, env!("REGAUGE_COMMIT"));
    assert!(
        lines[2].starts_with("target: ") && lines[2].contains(std::env::consts::ARCH),
        "{version}"
    );
    assert_eq!(lines[3].contains("gateway"), cfg!(feature = "gateway"), "{version}");
    assert_eq!(lines[3].contains("servers"), cfg!(feature = "servers"), "{version}");
    assert_eq!(lines[4], format!("SQLite: {}", rusqlite::version()));
    assert_eq!(folder.run("--verbose --version").silent().text(), version);
    folder.run("--verbose formats").status(2);
}

#[test]
fn a_sample_is_written_in_any_format() {
    let folder = Folder::new();
    folder.run("sample catalog a.mrc --count 50").silent();
    folder.run("sample catalog b.xml.gz --count 50").silent();
    folder.run("convert b.xml.gz b.mrc").silent();
    assert!(folder.read("a.mrc") == folder.read("b.mrc"));
    let piped = folder.run("sample catalog --count 50").silent();
    assert!(piped.stdout == folder.read("a.mrc"));
    folder.run("sample catalog a.mrc --count 50").status(2);
    let ran = folder.run("sample types --count 3").silent();
    assert_eq!(ran.text().lines().count(), 3);
    assert!(folder.run("sample poems").status(2).stderr.contains("expected one of: catalog"));
}

#[test]
fn measure_runs_on_a_stream_and_writes_raw_samples() {
    let folder = Folder::new();
    folder.write("in.json", r#"{"a":[1,2,3]}"#);
    let ran = folder.feed(
        "measure - --only rust --rounds 1 --budget 1 --progress never --json raw.json",
        &folder.read("in.json"),
    );
    let screen = ran.silent().text();
    assert!(screen.starts_with("standard input: JSON, 1 document, 13 B"), "{screen}");
    // The screen has only the leading rows; which ones depends on timing.
    let raw = folder.text("raw.json");
    assert!(raw.contains("\"standard input\"") && raw.contains("\"serde_json\""), "{raw}");
    folder.run("measure in.json --only nothing-like-it").status(2);
    let one_of_two =
        folder.run("measure in.json --only serde_json --only sonic-sr").status(2).stderr;
    assert!(one_of_two.contains("called sonic-sr; the nearest name is sonic-rs;"), "{one_of_two}");
    for given in ["--python /no/such", "--interpreter node=no-such-program", "--ruby ."] {
        let stderr = folder.run(&format!("measure in.json {given}")).status(2).stderr;
        let path = given.rsplit([' ', '=']).next().unwrap();
        assert!(stderr.contains(&format!("{path}: found no such program")), "{stderr}");
    }
    folder.run("measure").status(2);
}
