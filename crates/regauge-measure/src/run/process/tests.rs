//! Contenders that misbehave in every possible way, played by the shell.

use super::*;

const PATIENCE: Duration = Duration::from_secs(20);
const HELLO: &str = r#"echo '{"ok":true,"runtime":"sh","version":"1","gc":"none"}'"#;

fn shell(script: &str) -> Launch {
    Launch {
        program: "sh".into(),
        arguments: vec!["-c".into(), script.into()],
        environment: Vec::new(),
        folder: std::env::temp_dir(),
    }
}

fn start_error(script: &str, patience: Duration) -> Trouble {
    Process::start(&shell(script), patience).err().expect("the script gives no hello")
}

fn hold_error(script: &str, patience: Duration) -> Trouble {
    let (mut process, _) = Process::start(&shell(&format!("{HELLO}\n{script}")), PATIENCE).unwrap();
    process.ask::<crate::model::protocol::Counted>(&Command::Hold, patience).unwrap_err()
}

#[test]
fn an_honest_one_is_heard() {
    let script = format!("{HELLO}\nread line; echo '{{\"ok\":true,\"documents\":7}}'; read line");
    let (mut process, hello) = Process::start(&shell(&script), PATIENCE).unwrap();
    assert_eq!((hello.runtime.as_str(), hello.version.as_str()), ("sh", "1"));
    let answer: crate::model::protocol::Counted = process.ask(&Command::Hold, PATIENCE).unwrap();
    assert_eq!(answer.documents, 7);
    if cfg!(target_os = "linux") {
        let (resident, peak) = process.memory().unwrap();
        assert!(resident > 100_000 && peak >= resident, "{resident} {peak}");
    }
    process.stop();
}

#[test]
fn an_absent_interpreter() {
    let launch = Launch { program: "no-such-interpreter".into(), ..shell("") };
    let trouble = Process::start(&launch, PATIENCE).err().unwrap();
    assert!(
        matches!(&trouble, Trouble::NoRuntime(why) if why.starts_with("no-such-interpreter cannot be started")),
        "{trouble:?}"
    );
}

#[test]
fn an_absent_library() {
    let said = r#"echo '{"ok":false,"missing":"no oj here"}'"#;
    assert_eq!(start_error(said, PATIENCE), Trouble::Missing("no oj here".into()));
}

#[test]
fn one_that_raises_can_be_asked_again() {
    let script = format!(
        "{HELLO}\nread line; echo '{{\"ok\":false,\"error\":\"boom\"}}'\n\
         read line; echo '{{\"ok\":true,\"documents\":1}}'"
    );
    let (mut process, _) = Process::start(&shell(&script), PATIENCE).unwrap();
    let first = process.ask::<crate::model::protocol::Counted>(&Command::Hold, PATIENCE);
    assert_eq!(first.unwrap_err(), Trouble::Raised("boom".into()));
    assert!(process.ask::<crate::model::protocol::Counted>(&Command::Hold, PATIENCE).is_ok());
}

#[test]
fn one_that_prints_junk() {
    assert_eq!(
        hold_error("read line; echo hello world; sleep 20", PATIENCE).to_string(),
        "found \"hello world\" on its output, expected a reply from the runner"
    );
}

#[test]
fn one_that_floods_its_output_is_cut_off() {
    let trouble = hold_error("read line; tr '\\0' 'x' < /dev/zero", PATIENCE);
    assert!(matches!(&trouble, Trouble::Junk(line) if line.chars().count() == 300), "{trouble:?}");
}

#[test]
fn one_that_hangs_is_stopped() {
    let began = Instant::now();
    let trouble = hold_error("exec sleep 60", Duration::from_millis(200));
    assert_eq!(trouble, Trouble::Silent(Duration::from_millis(200)));
    assert!(began.elapsed() < Duration::from_secs(30));
}

#[test]
fn one_that_dies_is_quoted() {
    let message = hold_error("read line; echo 'oh no' >&2; exit 3", PATIENCE).to_string();
    assert_eq!(message, "ended by itself (exit status: 3), saying: oh no");
    let message = hold_error("read line; kill -SEGV $$", PATIENCE).to_string();
    assert!(message.starts_with("ended by itself (signal: 11"), "{message}");
}

#[test]
fn the_line_that_names_the_error_is_quoted() {
    for (said, line) in [
        ("Traceback:\n  File \"a.py\"\nImportError: no name\n", Some("ImportError: no name")),
        (
            "a.mjs:4: syntax error, unexpected '='\nimport x\n       ^~~~\n",
            Some("a.mjs:4: syntax error, unexpected '='"),
        ),
        (
            "a.mjs:4:\n  ^\nSyntaxError: x\n    at new Error (a.mjs:1)\n\nNode.js v20.1.0\n",
            Some("SyntaxError: x"),
        ),
        ("a.rb:1: b (NameError)\n\tfrom a.rb:2:in 'Error'\n", Some("a.rb:1: b (NameError)")),
        ("oh no\n~~~\n", Some("oh no")),
        ("\n", None),
    ] {
        assert_eq!(telling(said), line, "{said}");
    }
}

#[test]
fn one_that_closes_its_output_and_then_exits_ended_by_itself() {
    let message = hold_error("read line; exec >&-; sleep 0.1; exit 0", PATIENCE).to_string();
    assert_eq!(message, "ended by itself (exit status: 0)");
}

#[test]
fn a_time_below_a_second_is_not_told_as_none() {
    let told = |ms| Trouble::Silent(Duration::from_millis(ms)).to_string();
    assert_eq!(told(300), "gave no answer within 0.3 s and was stopped");
    assert_eq!(told(10), "gave no answer within 0.1 s and was stopped");
    assert_eq!(told(7_000), "gave no answer within 7 s and was stopped");
}

/// What a contender starts ends with it, whether it is stopped, killed or exits.
#[cfg(target_os = "linux")]
#[test]
fn children_end_with_their_contender() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("child");
    let hello = format!("{HELLO}\nsleep 77 >/dev/null 2>&1 & echo $! > {}", file.display());
    for rest in ["read line; exit 0", "exec sleep 70"] {
        let script = format!("{hello}\nread line; echo '{{\"ok\":true,\"documents\":7}}'\n{rest}");
        let (mut process, _) = Process::start(&shell(&script), PATIENCE).unwrap();
        process.ask::<crate::model::protocol::Counted>(&Command::Hold, PATIENCE).unwrap();
        let id = std::fs::read_to_string(&file).unwrap();
        let command = std::path::Path::new("/proc").join(id.trim()).join("cmdline");
        let is_alive = || std::fs::read(&command).is_ok_and(|line| line.starts_with(b"sleep"));
        let until = Instant::now() + PATIENCE;
        while !is_alive() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(is_alive());
        process.stop_within(Duration::from_millis(300));
        let until = Instant::now() + PATIENCE;
        while is_alive() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(!is_alive(), "{rest}");
    }
}

#[test]
fn one_that_did_not_start_in_time_was_given_nothing() {
    let limit = Duration::from_millis(200);
    let trouble = start_error("sleep 70", limit);
    assert_eq!(trouble, Trouble::NotStarted(limit));
    assert_eq!(trouble.to_string(), "did not start within 0.2 s and was stopped");
}
