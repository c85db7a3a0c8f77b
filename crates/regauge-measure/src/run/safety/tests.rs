//! Tests with real interpreters: unsafe libraries, safe ones, and contenders that misbehave in each
//! way that a limit guards against. They need `python3` or `ruby`; without, they say so and pass.

use regauge_testdata::has;

use super::*;
use crate::model::runtime::Runtime;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// How an adapter is started, by its path below the crate.
fn launch(adapter: &str) -> Launch {
    let (program, runner, flags) = match adapter.ends_with(".py") {
        true => ("python3", "python.py", vec!["-B".into()]),
        false => ("ruby", "ruby.rb", Vec::new()),
    };
    let mut arguments: Vec<std::ffi::OsString> = flags;
    arguments.push(root().join("lab/runners").join(runner).into());
    arguments.push(root().join(adapter).into());
    Launch {
        program: program.into(),
        arguments,
        environment: vec![("PYTHONHASHSEED".into(), "0".into())],
        folder: std::env::temp_dir(),
    }
}

fn trial(cache: Option<&Path>) -> Trial<'_> {
    Trial { cache, gadgets: root().join("lab/payloads"), patience: Duration::from_secs(60) }
}

fn tried(adapter: &str, format: &str) -> Safety {
    let folder = tempfile::tempdir().unwrap();
    let bounds = Bounds::default();
    trial(None).try_format(format, &launch(adapter), folder.path(), bounds).unwrap()
}

fn prober(adapter: &str, folder: &Path, bounds: Bounds) -> Prober {
    let patience = Duration::from_secs(60);
    let gadgets = root().join("lab/payloads");
    Prober::new(&launch(adapter), "json", folder, &gadgets, patience, bounds).unwrap()
}

fn outcome(safety: &Safety, kind: &str) -> BombOutcome {
    let bomb = safety.bombs.iter().find(|bomb| bomb.kind == kind);
    bomb.unwrap_or_else(|| panic!("no {kind}: {safety:?}")).outcome
}

#[test]
fn pickle_runs_what_the_document_names() {
    if !has("python3", &["--version"]) {
        return;
    }
    let safety = tried("tests/contenders/unpickles.py", "pickle");
    assert_eq!((safety.runs_code, safety.reach), (Some(true), Reach::Code), "{safety:?}");
    assert!(safety.proof.contains("os.mkdir"), "{}", safety.proof);
    assert!(safety.proof.contains("made its mark"), "{}", safety.proof);
    // The unpickler grows its memo to the number that the document names, or refuses it.
    let memo = outcome(&safety, "a memo entry of number 2^31");
    assert!(matches!(memo, BombOutcome::OutOfMemory | BombOutcome::Refused), "{safety:?}");
}

#[test]
fn json_of_python_takes_data_alone() {
    if !has("python3", &["--version"]) {
        return;
    }
    let safety = tried("tests/contenders/honest.py", "json");
    assert_eq!((safety.runs_code, safety.reach), (Some(false), Reach::Data), "{safety:?}");
    assert!(safety.proof.contains("left no trace"), "{}", safety.proof);
    assert_eq!(safety.bombs.len(), 4);
    assert!(safety.bombs.iter().all(|bomb| bomb.outcome != BombOutcome::Crashed), "{safety:?}");
    assert!(safety.limits.contains("arrays"), "{}", safety.limits);
}

#[test]
fn marshal_of_ruby_calls_methods_of_named_classes() {
    if !has("ruby", &["--version"]) {
        return;
    }
    let safety = tried("lab/contenders/ruby/marshal.rb", "marshal");
    assert_eq!((safety.runs_code, safety.reach), (Some(true), Reach::Methods), "{safety:?}");
    assert!(safety.proof.contains("a method of it was called"), "{}", safety.proof);
}

#[test]
fn each_payload_of_marshal_leaves_its_trace() {
    if !has("ruby", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut prober = prober("lab/contenders/ruby/marshal.rb", folder.path(), Bounds::default());
    for payload in payloads::of("marshal") {
        let (worked, tried) = prober.payload(&payload).unwrap();
        assert!(worked, "{}: {tried:?}", payload.name);
    }
}

#[test]
fn psych_is_safe_by_default_and_unsafe_by_name() {
    if !has("ruby", &["--version"]) {
        return;
    }
    let safe = tried("tests/contenders/psych.rb", "yaml");
    assert_eq!((safe.runs_code, safe.reach), (Some(false), Reach::Data), "{safe:?}");
    let loose = tried("tests/contenders/psych_unsafe.rb", "yaml");
    assert_eq!((loose.runs_code, loose.reach), (Some(true), Reach::Methods), "{loose:?}");
}

#[test]
fn each_bound_stops_what_it_is_for() {
    if !has("python3", &["--version"]) {
        return;
    }
    let bounds = Bounds { memory: 64 << 20, time: Duration::from_secs(2) };
    let folder = tempfile::tempdir().unwrap();
    let mut prober = prober("tests/contenders/stopped.py", folder.path(), bounds);
    for (document, outcome, words) in [
        ("\"fine\"", BombOutcome::Decoded, ""),
        ("\"refuse\"", BombOutcome::Refused, "ValueError: no, not this"),
        (
            "\"ask\"",
            BombOutcome::OutOfMemory,
            "was refused the memory that it asked for: MemoryError",
        ),
        ("\"grow\"", BombOutcome::OutOfMemory, ""),
        ("\"endless\"", BombOutcome::OutOfTime, "was not done after 2 s and was stopped"),
        ("\"crash\"", BombOutcome::Crashed, "signal: 11"),
        ("\"later\"", BombOutcome::Crashed, "while it let go of what it had decoded: ended"),
        ("\"fine\"", BombOutcome::Decoded, ""),
    ] {
        let tried = prober.bomb(document.as_bytes()).unwrap();
        assert_eq!(tried.outcome, outcome, "{document}: {tried:?}");
        assert!(tried.words.contains(words), "{document}: {tried:?}");
        let lives = ["\"fine\"", "\"refuse\"", "\"ask\""].contains(&document);
        assert!(tried.ended != lives || document == "\"grow\"", "{document}: {tried:?}");
        if cfg!(target_os = "linux") {
            assert!(tried.peak.is_some_and(|peak| peak < 400 << 20), "{document}: {tried:?}");
        }
    }
    assert!(prober.starts >= 4, "{}", prober.starts);
}

#[test]
fn nothing_is_left_behind() {
    if !has("python3", &["--version"]) || !cfg!(target_os = "linux") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let bounds = Bounds { memory: 64 << 20, time: Duration::from_secs(1) };
    let mut prober = prober("tests/contenders/stopped.py", folder.path(), bounds);
    // It starts a process that nobody waits for, and hangs.
    let tried = prober.bomb(b"\"child\"").unwrap();
    assert_eq!(tried.outcome, BombOutcome::OutOfTime);
    drop(prober);
    let with_word = || -> Vec<PathBuf> {
        std::fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                std::fs::read(path.join("cmdline"))
                    .is_ok_and(|line| String::from_utf8_lossy(&line).contains("31556926.5"))
            })
            .collect()
    };
    let until = Instant::now() + Duration::from_secs(5);
    while !with_word().is_empty() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(with_word(), Vec::<PathBuf>::new());
    // Documents and sandbox are in the caller's folder, and go with it.
    let mut names: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["hostile", "sandbox", "smallest"]);
}

fn contender(adapter: &str) -> Contender {
    let read = Contender::from_file(&root().join(adapter), crate::model::runtime::carried());
    read.unwrap().remove(0)
}

#[test]
fn what_was_found_is_remembered_by_its_versions() {
    if !has("python3", &["--version"]) {
        return;
    }
    let (folder, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let honest = contender("tests/contenders/honest.py");
    assert_eq!(honest.runtime, Runtime::of("python"));
    let launch = launch("tests/contenders/honest.py");
    let hello = Hello { runtime: "CPython".into(), version: "1.0".into(), gc: String::new() };
    let trial = trial(Some(cache.path()));
    assert_eq!(trial.known(&honest, &launch, &hello), Found::NotTested);
    let first = trial.of(&honest, &launch, &hello, folder.path());
    assert!(matches!(first, Found::Safety(_)), "{first:?}");
    assert_eq!(trial.known(&honest, &launch, &hello), first);
    let newer = Hello { version: "1.1".into(), ..hello.clone() };
    assert_eq!(trial.known(&honest, &launch, &newer), Found::NotTested);
    // A run that is to try anew does not take what is remembered.
    let gone = Launch { program: "no-such-interpreter".into(), ..launch };
    let again = trial.of(&honest, &gone, &hello, folder.path());
    assert!(matches!(&again, Found::Failed(why) if why.contains("cannot be started")), "{again:?}");
}

#[test]
fn where_a_format_names_no_code_nothing_is_claimed() {
    let (reach, proof) = proof(&[], &[], "msgpack");
    assert_eq!(reach, Reach::Data);
    assert_eq!(proof, "nothing was tried: msgpack has no means to name code");
}

#[test]
fn the_protocols_of_pickle_are_one_format() {
    assert_eq!(
        ["pickle", "pickle-0", "ndjson", "yaml"].map(kind_of),
        ["pickle", "pickle", "json", "yaml"]
    );
}
