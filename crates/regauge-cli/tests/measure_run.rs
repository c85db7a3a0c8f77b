//! `regauge measure` from the command line, with native contenders only: they are always available.

mod common;

use std::process::Stdio;
use std::time::Duration;

use common::Folder;

/// Keeps a run short; speed is never asserted.
const SHORT: &str = "--only regauge --only serde_json --rounds 3 --progress never";

fn json(folder: &Folder, name: &str) -> serde_json::Value {
    serde_json::from_slice(&folder.read(name)).unwrap()
}

#[test]
fn a_run_is_compared_with_an_earlier_one() {
    let folder = Folder::new();
    folder.write("a.json", r#"{"list": [1, 2.5, null, "text"]}"#);
    folder.run(&format!("measure a.json {SHORT} --json old.json")).silent();
    let ran = folder.run(&format!("measure a.json {SHORT} --compare old.json")).silent();
    // On a busy machine, three rounds can leave too few samples.
    let told = |text: &str| {
        let result = text.split_once("Compared with the earlier run: ").expect(text).1;
        result.starts_with("too few samples to tell whether times changed\n")
            || result.split_once('\n').unwrap().0.contains(" times changed by more than noise")
    };
    let text = ran.text();
    assert!(told(&text), "{text}");
    assert!(!text.contains("| serde_json "), "{text}");
    // No colour without a terminal.
    assert!(!text.contains('\x1b'), "{text}");
    let ran = folder.run(&format!("measure a.json {SHORT} --compare old.json --full")).silent();
    assert!(ran.text().contains("| serde_json "), "{}", ran.text());
    // With the report on standard output, this goes to standard error.
    let ran = folder.run(&format!("measure a.json {SHORT} --compare old.json --json -"));
    serde_json::from_str::<serde_json::Value>(&ran.text()).unwrap();
    assert!(told(&ran.stderr), "{}", ran.stderr);

    // The file is read before the run, which would otherwise be wasted.
    let ran = folder.run("measure a.json --compare none.json").status(2);
    assert_eq!(ran.stderr, "regauge: none.json: no such file\n");
    folder.write("other.json", "[1]");
    let ran = folder.run("measure a.json --compare other.json").status(2);
    assert!(ran.stderr.contains("expected what --json of an earlier run wrote"), "{}", ran.stderr);
}

#[test]
fn a_quick_run_is_short_and_says_how_it_went() {
    let folder = Folder::new();
    folder.write("a.json", r#"{"list": [1, 2.5, null, "text"]}"#);
    folder
        .run("measure a.json --only serde_json --quick --budget 3 --progress never --json a.out")
        .silent();
    let report = json(&folder, "a.out");
    assert_eq!(report["method"]["budget_s"], 3.0);
    let took = report["method"]["took_s"].as_f64().unwrap();
    // The test machine may be busy; what matters is that the budget has an effect.
    assert!(took < 60.0, "{took}");
    assert!(report["noise"]["probes_ns"].as_array().unwrap().len() > 5);
    let decode = &report["rows"][0]["timing"]["decode"];
    assert!(decode["sittings"].as_array().unwrap().len() >= 2, "{decode}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_was_measured() {
    let folder = Folder::new();
    folder.write("a.json", r#"{"list": [1, 2.5, null, "text"]}"#);
    let long = "measure a.json --only serde_json --only rmp-serde --rounds 4000 \
                --json a.out --progress never";
    let child = folder
        .command(long)
        .env("TMPDIR", folder.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(5));
    regauge_testdata::unix::interrupt(child.id());
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{errors}");
    assert!(errors.contains("results so far are kept"), "{errors}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("Interrupted: "), "{text}");
    assert_eq!(json(&folder, "a.out")["interrupted"], true);
    assert_eq!(folder.names(), ["a.json", "a.out"], "nothing else is left");
}

#[cfg(unix)]
#[test]
fn a_second_ctrl_c_ends_at_once_whatever_a_contender_does() {
    use regauge_testdata::unix::{has_ended, interrupt, signal};
    if !regauge_testdata::has("python3", &["--version"]) {
        return;
    }
    let folder = Folder::new();
    folder.write("a.json", "[1]");
    let head = "# contender: hangs\n# library: hangs\n# format: json\n# gives: data\n\
                # install: none\n# untrusted: safe\n";
    // It records where it is, and does not return.
    let body = "import os, time\ndef decode(data):\n    open(OUT, 'w').write(str(os.getpid()))\n    \
                time.sleep(600)\nencode = bytes\ndef version():\n    return '1'\n";
    let out = folder.path("pid");
    folder.write("hangs.py", format!("{head}OUT = {:?}\n{body}", out.to_str().unwrap()));
    let temporary = tempfile::tempdir().unwrap();
    let mut child = folder
        .command("measure a.json --contender hangs.py --only hangs --rounds 3 --json a.out")
        .env("TMPDIR", temporary.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let hung = (0..600).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        std::fs::read_to_string(&out).is_ok_and(|text| !text.is_empty())
    });
    assert!(hung, "the contender was never asked");
    interrupt(child.id());
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(child.try_wait().unwrap(), None, "it waits for the answer");
    interrupt(child.id());
    let status = child.wait().unwrap();
    assert_eq!(signal(status), Some(2));
    let left = std::fs::read_dir(temporary.path()).unwrap().count();
    assert_eq!((left, folder.names()), (0, vec!["a.json".into(), "hangs.py".into(), "pid".into()]));
    // The contender was killed with it.
    let id = folder.text("pid").parse().unwrap();
    let gone = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        has_ended(id)
    });
    assert!(gone, "the contender is still there");
}

#[cfg(unix)]
#[test]
fn a_set_up_and_an_interpreter_are_found_from_where_the_command_runs() {
    if !regauge_testdata::has("python3", &["--version"]) {
        return;
    }
    let folder = Folder::new();
    folder.write("a.json", "[1]");
    let head = "# contender: mine\n# library: json\n# format: json\n# gives: data\n\
                # install: none\n# untrusted: safe\n";
    let body = "import json\ndecode = json.loads\ndef encode(value):\n    \
                return json.dumps(value).encode()\ndef version():\n    return '1'\n";
    folder.write("mine.py", format!("{head}{body}"));
    for place in ["set-up/python/bin", "own"] {
        std::fs::create_dir_all(folder.path(place)).unwrap();
        let python = folder.path(place).join("python");
        // It leaves a mark next to itself.
        std::fs::write(&python, "#!/bin/sh\ntouch \"$0.ran\"\nexec python3 \"$@\"\n").unwrap();
        regauge_testdata::unix::set_mode(&python, 0o755);
    }
    let run = |more: &str| {
        let only = "--contender mine.py --only mine --rounds 3 --safety off --progress never";
        folder.run(&format!("measure a.json {only} --json a.out --force {more}")).silent();
        let report = json(&folder, "a.out");
        let rows = report["rows"].as_array().unwrap();
        let row = rows.iter().find(|row| row["contender"] == "mine");
        assert!(row.unwrap()["timing"].is_object(), "{more}: {row:?}");
    };
    run("--dir set-up");
    assert!(folder.path("set-up/python/bin/python.ran").exists());
    run("--interpreter python=own/python");
    assert!(folder.path("own/python.ran").exists());
}

/// A folder that is named from where the command runs is another one for a contender.
#[test]
fn compiled_contenders_are_found_in_a_folder_of_any_name() {
    if !regauge_testdata::has("javac", &["-version"]) {
        return;
    }
    let folder = Folder::new();
    folder.write("a.json", r#"{"list": [1, 2.5, null, "text"]}"#);
    let only = "--only java --rounds 3 --safety off --progress never";
    folder.run(&format!("measure a.json {only} --json a.out --dir kept")).silent();
    let report = json(&folder, "a.out");
    let mut rows = report["rows"].as_array().unwrap().iter();
    let row = rows.find(|row| row["contender"] == "java serialization").unwrap();
    assert!(row["timing"].is_object(), "{row}");
    assert!(folder.path("kept/cache/built").is_dir());
}

#[test]
fn names_of_nothing_are_refused_before_anything_is_measured() {
    let folder = Folder::new();
    folder.write("a.json", "[1]");
    for option in ["contender", "runner"] {
        let ran = folder.run(&format!("measure a.json --{option} nope.py")).status(2);
        assert_eq!(ran.stderr, "regauge: nope.py: no such file\n");
    }
    if !cfg!(windows) {
        let ran = folder.run("measure --setup foo --dir sets").status(2);
        assert!(ran.stderr.contains("found the runtime \"foo\" to set up"), "{}", ran.stderr);
    }
}

/// A folder that cannot take the report is found before the run, which would otherwise be wasted.
#[cfg(target_os = "linux")]
#[test]
fn a_report_that_cannot_be_written_is_refused_at_once() {
    let folder = Folder::new();
    folder.write("a.json", "[1]");
    let ran = folder.run(&format!("measure a.json {SHORT} --out /proc/report")).status(1);
    assert!(ran.stderr.starts_with("regauge: /proc: "), "{}", ran.stderr);
    assert_eq!(ran.text(), "", "nothing was measured");
}

/// If a file cannot be written after the run, its answer is not lost.
#[test]
fn the_answer_is_printed_before_anything_is_written() {
    if !regauge_testdata::has("python3", &["--version"]) {
        return;
    }
    let folder = Folder::new();
    folder.write("a.json", r#"{"list": [1, 2.5, null, "text"]}"#);
    let taken = folder.path("kept.json").display().to_string();
    folder.write(
        "meanwhile.py",
        format!(
            "# contender: meanwhile\n# library: json\n# format: json\n# gives: data\n# install: no\n\
             # untrusted: safe\nimport json\nopen({taken:?}, 'w').write('mine')\ndecode = json.loads\n\
             def encode(value):\n    return json.dumps(value).encode()\n\
             def version():\n    return '1'\n"
        ),
    );
    let ran = folder
        .run(&format!("measure a.json {SHORT} --only meanwhile --contender meanwhile.py --json kept.json --out out"))
        .status(1);
    assert!(ran.text().starts_with("a.json: JSON, "), "{}", ran.text());
    assert!(ran.text().ends_with("Report: out/report.html\n"), "{}", ran.text());
    assert!(ran.stderr.contains("kept.json: was created meanwhile and was kept"), "{}", ran.stderr);
    assert_eq!(folder.text("kept.json"), "mine");
}
