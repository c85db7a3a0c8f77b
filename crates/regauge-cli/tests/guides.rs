//! The guides keep their word: every command in docs/guides runs, in the order of its page, and prints
//! what the page shows.
//!
//! A block marked `console` has commands after `$ `, each followed by its output, where `…` stands for
//! any text, and a line of it alone for any lines. A block marked `python` or `ruby` that names a file
//! in its first line, `# main.py`, is written to that file. One marked `text` only shows something.

mod common;

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use common::Folder;

/// What a page has the reader do.
#[derive(Debug)]
enum Step {
    /// A command, and the lines that it prints.
    Run(String, Vec<String>),
    /// A file, and its content.
    Write(String, String),
}

/// The steps of a page.
fn steps(page: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(language) = line.strip_prefix("```") else { continue };
        let block: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
        match (language, block.first().and_then(|first| first.strip_prefix("# "))) {
            ("text", _) => {}
            ("console", _) => run_of(&block, &mut steps),
            ("python" | "ruby", Some(name)) if Path::new(name).extension().is_some() => {
                steps.push(Step::Write(name.to_owned(), block.join("\n") + "\n"));
            }
            _ => panic!("a block marked {language:?} that nothing runs: {block:?}"),
        }
    }
    steps
}

fn run_of(block: &[&str], steps: &mut Vec<Step>) {
    let mut shown: Option<(String, Vec<String>)> = None;
    for line in block {
        match (line.strip_prefix("$ "), &mut shown) {
            (Some(command), _) => {
                steps.extend(shown.replace((command.to_owned(), Vec::new())).map(Step::from));
            }
            (None, Some((command, _))) if command.ends_with('\\') => {
                command.push('\n');
                command.push_str(line);
            }
            (None, Some((_, output))) => output.push((*line).to_owned()),
            (None, None) => panic!("output before the first command: {line}"),
        }
    }
    steps.extend(shown.map(Step::from));
}

impl From<(String, Vec<String>)> for Step {
    fn from((command, output): (String, Vec<String>)) -> Step {
        Step::Run(command, output)
    }
}

/// Whether the output is as shown.
fn is_as_shown(shown: &[String], printed: &[&str]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((line, rest)) if line == "…" => {
            (0..=printed.len()).any(|from| is_as_shown(rest, &printed[from..]))
        }
        Some((line, rest)) => printed.split_first().is_some_and(|(first, others)| {
            is_like(line, first.trim_end()) && is_as_shown(rest, others)
        }),
    }
}

/// Whether a line is as shown, where `…` stands for any text.
fn is_like(shown: &str, printed: &str) -> bool {
    let Some((start, rest)) = shown.split_once('…') else { return shown == printed };
    let Some(mut left) = printed.strip_prefix(start) else { return false };
    let mut parts: Vec<_> = rest.split('…').collect();
    let end = parts.pop().unwrap_or_default();
    for part in parts {
        let Some((_, after)) = left.split_once(part) else { return false };
        left = after;
    }
    left.ends_with(end)
}

/// Runs a page in a folder of its own, with `regauge` in the path.
#[track_caller]
fn follow(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides").join(name);
    let steps = steps(&fs::read_to_string(&path).unwrap());
    assert!(steps.iter().any(|step| matches!(step, Step::Run(..))), "{name} runs nothing");
    let folder = Folder::new();
    let binary = Path::new(env!("CARGO_BIN_EXE_regauge")).parent().unwrap();
    let mut paths = vec![binary.to_owned()];
    paths.extend(env::split_paths(&env::var_os("PATH").unwrap()));
    for step in steps {
        let (command, shown) = match step {
            Step::Write(file, text) => {
                folder.write(&file, text);
                continue;
            }
            Step::Run(command, shown) => (command, shown),
        };
        let program = command.split_whitespace().next().unwrap();
        if matches!(program, "ruby" | "python3") && !is_there(program) {
            assert!(env::var_os("CI").is_none(), "{name} needs {program}");
            eprintln!("skipped the rest of {name}: no {program}");
            return;
        }
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1\n{command}")])
            .current_dir(folder.path(""))
            .env("PATH", env::join_paths(&paths).unwrap())
            .env("XDG_CACHE_HOME", folder.path(".cache"))
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let printed: Vec<_> = text.lines().collect();
        assert!(
            is_as_shown(&shown, &printed),
            "{name}: `{command}` printed\n{text}\nand the page shows\n{}",
            shown.join("\n")
        );
        // `…` also stands for an error message, so a page has to show the one that it wants.
        let is_error = shown.iter().any(|line| line.starts_with("regauge: "));
        assert!(output.status.success() || is_error, "{name}: `{command}` failed:\n{text}");
    }
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|done| done.status.success())
}

#[test]
fn every_guide_is_followed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides");
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".md") && name != "README.md")
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "json-library.md",
            // Followed by tools/cache_guides_check.py, which has a Redis, Rails and Django.
            "leave-marshal.md",
            "leave-pickle.md",
            "marc-catalogue.md",
            "marshal-in-a-database.md",
            "mongodb-dump.md",
            "pickled-models.md",
            // Followed by the same.
            "redis-clients.md",
            // Followed by the Python package's tests, which have PySpark.
            "spark.md",
        ]
    );
}

#[test]
fn json_library() {
    follow("json-library.md");
}

#[test]
fn marc_catalogue() {
    follow("marc-catalogue.md");
}

#[test]
fn marshal_in_a_database() {
    follow("marshal-in-a-database.md");
}

#[test]
fn mongodb_dump() {
    follow("mongodb-dump.md");
}

#[test]
fn pickled_models() {
    follow("pickled-models.md");
}

#[test]
fn the_comparison_can_fail() {
    let shown = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    assert!(is_as_shown(&shown(&["a", "…", "d"]), &["a", "b", "c", "d"]));
    assert!(!is_as_shown(&shown(&["a", "…", "d"]), &["a", "b", "c"]));
    assert!(!is_as_shown(&shown(&["a"]), &["a", "b"]));
    assert!(is_like("…: 3 of … records", "x.mrc: 3 of 5 records"));
    assert!(!is_like("…: 3 of … records", "x.mrc: 4 of 5 records"));
    assert!(!is_like("abc…abc", "abc"));
}
