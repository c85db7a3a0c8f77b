//! Holds one conversation with every runner whose interpreter is installed: all must answer alike.
//! JRuby is found where the set-up puts it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::model::assets;
use crate::model::protocol::{Command, Op};
use crate::model::runtime::{Places, RunnerFile, Runtime, carried, with};
use crate::plan::folders;
use crate::plan::launch::{self, Launch};
use crate::run::process::{Process, Trouble};

const PATIENCE: Duration = Duration::from_secs(120);

/// The documents of the conversation, and the place where the second one is broken.
const DOCUMENTS: [&str; 3] = [
    r#"{"a":[1,2.5,null,"é\u2028\"",{}],"b":"","c":[]}"#,
    "[true,false,-1,1e100]",
    r#"{"z":1,"a":{"b":[[]]}}"#,
];

/// Returns the adapter that a runner is tried with.
fn adapter(runner: &RunnerFile, lab: &Path) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    match runner.runtime.id() {
        "python" => lab.join("contenders/python/json.py"),
        "node" => lab.join("contenders/node/json.cjs"),
        // Needs no library.
        "java" => tests.join("contenders/plain.java"),
        "perl" => tests.join("runtimes/json_pp.pm"),
        _ => lab.join("contenders/ruby/json.rb"),
    }
}

/// Starts a runner with its adapter; returns nothing, and prints a message, if that is not
/// possible.
fn start(runner: &RunnerFile, folder: &Path) -> Option<Process> {
    let id = runner.runtime.id();
    let lab = folder.join("lab");
    assets::unpack(&lab).unwrap();
    let places = Places {
        runner: lab.join(&runner.file),
        adapter: adapter(runner, &lab),
        data: folders::data_dir(),
        lab,
        built: folder.join(format!("built-{id}")),
        ..Places::default()
    };
    if runner.build.is_some()
        && let Err(why) = launch::build(runner, &places)
    {
        eprintln!("skipped {id}: {why:?}");
        return None;
    }
    let started = match runner.command(None, &places) {
        Ok(started) => started,
        Err(why) => {
            eprintln!("skipped {id}: {why}");
            return None;
        }
    };
    match Process::start(&Launch::of(started, folder), PATIENCE) {
        Ok((process, hello)) => {
            assert!(!hello.runtime.is_empty() && !hello.version.is_empty(), "{id}: {hello:?}");
            assert!(!hello.gc.is_empty(), "{id}: {hello:?}");
            eprintln!("talking to {}", hello.runtime);
            Some(process)
        }
        Err(trouble) => {
            eprintln!("skipped {id}: {trouble}");
            None
        }
    }
}

/// A conversation in a folder of its own.
struct Talk<'t> {
    process: Process,
    id: &'t str,
    folder: &'t Path,
}

impl Talk<'_> {
    fn ask(&mut self, command: &Command) -> Value {
        self.process
            .ask(command, PATIENCE)
            .unwrap_or_else(|trouble| panic!("{}: {command:?}: {trouble:?}", self.id))
    }

    /// Returns the output, split at the spans beside it.
    fn pieces(&self, name: &str) -> Vec<Value> {
        let bytes = std::fs::read(self.folder.join(name)).unwrap();
        let spans = std::fs::read(self.folder.join(format!("{name}.spans"))).unwrap();
        let ends: Vec<usize> = serde_json::from_slice(&spans).unwrap();
        ends.chunks_exact(2)
            .map(|span| &bytes[span[0]..span[1]])
            .map(|piece| match piece {
                [] => json!("nothing"),
                piece => serde_json::from_slice(piece).unwrap(),
            })
            .collect()
    }
}

fn converse(runner: &RunnerFile) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let id = runner.runtime.id();
    let Some(process) = start(runner, folder) else { return };
    let mut talk = Talk { process, id, folder };
    let [path, spans, bad, bad_spans] =
        ["in", "in.ends", "bad", "bad.ends"].map(|name| folder.join(name));
    let (out, single) = (folder.join("out"), folder.join("single"));
    let write = |documents: &[&str], path: &Path, spans: &Path| {
        let (mut bytes, mut ends) = (String::new(), Vec::new());
        for document in documents {
            ends.push(bytes.len());
            bytes.push_str(document);
            ends.push(bytes.len());
            bytes.push('\n');
        }
        std::fs::write(path, bytes).unwrap();
        std::fs::write(spans, serde_json::to_vec(&ends).unwrap()).unwrap();
    };
    write(&DOCUMENTS, &path, &spans);
    write(&[DOCUMENTS[0], "[1,", DOCUMENTS[2]], &bad, &bad_spans);
    std::fs::write(&single, DOCUMENTS[1]).unwrap();
    let values = DOCUMENTS.map(|text| serde_json::from_str::<Value>(text).unwrap());

    let load = talk.ask(&Command::Load { path: &path, spans: Some(&spans) });
    assert_eq!(load["documents"], 3, "{id}");
    let checked = talk.ask(&Command::Check { out: &out, lines: true });
    for key in ["decode_ns", "encode_ns"] {
        assert!(checked[key].is_u64(), "{id}: {checked}");
    }
    assert_eq!(talk.pieces("out"), values, "{id}");
    let text = std::fs::read_to_string(&out).unwrap();
    assert_eq!(text.lines().count(), 3, "{id}: a line feed after each");
    talk.ask(&Command::Check { out: &out, lines: false });
    assert!(!std::fs::read_to_string(&out).unwrap().contains('\n'), "{id}");
    assert_eq!(talk.pieces("out"), values, "{id}");

    assert_eq!(talk.ask(&Command::Hold)["documents"], 3, "{id}");
    for op in [Op::Decode, Op::Encode] {
        for gc in [false, true] {
            let sampled = talk.ask(&Command::Sample { op, iterations: 20, gc });
            assert!(sampled["ns"].as_u64().is_some_and(|ns| ns > 0), "{id}: {sampled}");
            let (cpu, collector) = (&sampled["cpu_ns"], &sampled["gc_ns"]);
            assert!(gc || cpu.is_u64() || cpu.is_null(), "{id}: {sampled}");
            assert!(collector.is_u64() || collector.is_null(), "{id}: {sampled}");
        }
    }

    let sifted = talk.ask(&Command::Sift { path: &bad, spans: &bad_spans, out: &out, json: false });
    assert_eq!(sifted["documents"], 3, "{id}");
    let without = [values[0].clone(), json!("nothing"), values[2].clone()];
    assert_eq!(talk.pieces("out"), without, "{id}");

    // Without spans a file is one document. What fails is told, and the conversation goes on.
    assert_eq!(talk.ask(&Command::Load { path: &single, spans: None })["documents"], 1, "{id}");
    talk.ask(&Command::Load { path: &bad, spans: Some(&bad_spans) });
    let raised = talk.process.ask::<Value>(&Command::Hold, PATIENCE);
    assert!(matches!(raised, Err(Trouble::Raised(ref why)) if !why.is_empty()), "{id}: {raised:?}");
    let absent = folder.join("absent");
    let raised = talk.process.ask::<Value>(&Command::Load { path: &absent, spans: None }, PATIENCE);
    assert!(matches!(raised, Err(Trouble::Raised(_))), "{id}: {raised:?}");
    talk.ask(&Command::Load { path: &path, spans: Some(&spans) });
    assert_eq!(talk.ask(&Command::Hold)["documents"], 3, "{id}");

    // Formats that only a runtime can write.
    if id != "perl" {
        let made = talk.ask(&Command::Prepare { path: &path, spans: Some(&spans), out: &out });
        assert_eq!(made["documents"], 3, "{id}");
        assert_eq!(talk.pieces("out"), values, "{id}");
        let (own_spans, revealed) = (folder.join("out.spans"), folder.join("revealed"));
        talk.ask(&Command::Reveal { path: &out, spans: Some(&own_spans), out: &revealed });
        let text = std::fs::read_to_string(&revealed).unwrap();
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines, values, "{id}");
        let command = Command::Sift { path: &bad, spans: &bad_spans, out: &out, json: true };
        talk.ask(&command);
        assert_eq!(talk.pieces("out"), without, "{id}");
    }
    talk.process.stop();
}

#[test]
fn every_carried_runner_answers_alike() {
    // What is native is asked less, in a test of its own.
    for runner in carried().iter().filter(|one| one.runtime != Runtime::NATIVE) {
        converse(runner);
    }
}

#[test]
fn a_runner_of_the_users_own_answers_alike() {
    if !regauge_testdata::has("perl", &["-MJSON::PP", "-e", "1"]) {
        return;
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runtimes/perl.pl");
    let list = with(&[file]).unwrap();
    converse(list.iter().find(|one| one.runtime.id() == "perl").unwrap());
}
