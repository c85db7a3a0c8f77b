//! Programs of tasks written in Rust: the counterpart of `lab/tasks/runner.py` for Python.
//!
//! A program is told how much to make, and returns its cases. A case has a check, which does the
//! work once and returns figures or what was wrong, and the work itself. It is timed by the clock:
//! these programs query databases, and waiting for one is part of the cost.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::bench::{nanoseconds, say};
use crate::model::protocol::Hello;

/// The environment variable with the URLs of the databases that were given, one on a line.
pub const DATABASES: &str = "REGAUGE_TASK_DATABASES";

/// What a program is told before it lists its cases.
#[derive(Debug, Clone, Deserialize)]
#[non_exhaustive]
pub struct Ready {
    /// How many documents, records or objects the task has.
    pub documents: u64,
    /// A file of documents, if the task has one.
    #[serde(default)]
    pub path: Option<PathBuf>,
    /// An empty folder for files, which is removed in the end.
    pub folder: PathBuf,
}

/// What a check gives: numbers by name, or what was wrong.
pub type Checked = Result<BTreeMap<String, f64>, String>;

/// One kind of work.
pub struct Case<'c> {
    /// As the rows of the task's tables name it.
    pub name: String,
    /// What it runs on: a library or a server, with its version.
    pub version: String,
    /// Does the work once and checks the result.
    pub check: Box<dyn FnMut() -> Checked + 'c>,
    /// Does the work this many times.
    pub work: Box<dyn FnMut(u64) -> Result<(), String> + 'c>,
}

/// A case that this machine lacks something for.
#[derive(Debug, Clone, Serialize)]
pub struct Absent {
    /// As the rows of the task's tables name it.
    pub name: String,
    /// How to get what it lacks.
    pub install: String,
    /// The full text of its row, unless something has to be installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Absent {
    /// Returns a case that is absent for a reason of its own.
    #[must_use]
    pub fn because(name: String, why: &str) -> Absent {
        Absent { name, install: String::new(), why: Some(why.to_owned()) }
    }
}

/// Everything that a program can do here.
#[derive(Default)]
pub struct Cases<'c> {
    /// The cases that exist.
    pub cases: Vec<Case<'c>>,
    /// The cases that do not.
    pub absent: Vec<Absent>,
}

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
enum Command {
    Ready(Ready),
    Try { case: String },
    Work { case: String, iterations: u64 },
    Exit,
}

/// Answers the engine until it says `exit` or goes away. `ready` makes the cases.
///
/// # Errors
/// Trouble with the pipes, and `InvalidData` for a line that is no command of a program.
pub fn serve<'c>(
    ready: impl Fn(&Ready) -> Result<Cases<'c>, String>,
    commands: impl BufRead,
    mut answers: impl Write,
) -> io::Result<()> {
    let hello = Hello {
        runtime: "Rust, in regauge".to_owned(),
        version: String::new(),
        gc: "none".to_owned(),
    };
    say(&mut answers, Ok(hello))?;
    let mut known = Cases::default();
    for line in commands.lines() {
        let command = serde_json::from_str::<Command>(&line?)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        match command {
            Command::Exit => break,
            Command::Ready(told) => {
                let answer = ready(&told).map(|cases| {
                    known = cases;
                    let named = |one: &Case<'_>| Named {
                        name: one.name.clone(),
                        version: one.version.clone(),
                    };
                    Readied {
                        cases: known.cases.iter().map(named).collect(),
                        absent: known.absent.clone(),
                    }
                });
                say(&mut answers, answer)?;
            }
            Command::Try { case } => {
                let tried = find(&mut known, &case).map(|case| match (case.check)() {
                    Ok(figures) => Tried { figures, wrong: None },
                    Err(wrong) => Tried { figures: BTreeMap::new(), wrong: Some(wrong) },
                });
                say(&mut answers, tried)?;
            }
            Command::Work { case, iterations } => {
                let worked = find(&mut known, &case).and_then(|case| {
                    let began = Instant::now();
                    (case.work)(iterations)?;
                    Ok(Worked { ns: nanoseconds(began) })
                });
                say(&mut answers, worked)?;
            }
        }
    }
    Ok(())
}

fn find<'k, 'c>(known: &'k mut Cases<'c>, name: &str) -> Result<&'k mut Case<'c>, String> {
    known
        .cases
        .iter_mut()
        .find(|one| one.name == name)
        .ok_or_else(|| format!("there is no case \"{name}\""))
}

#[derive(Serialize)]
struct Named {
    name: String,
    version: String,
}

#[derive(Serialize)]
struct Readied {
    cases: Vec<Named>,
    absent: Vec<Absent>,
}

#[derive(Serialize)]
struct Tried {
    figures: BTreeMap<String, f64>,
    wrong: Option<String>,
}

#[derive(Serialize)]
struct Worked {
    ns: u64,
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn cases_are_named_checked_and_timed() {
        let done = Cell::new(0);
        let counted = &done;
        let make = |told: &Ready| {
            let wanted = told.documents as f64;
            let good = Case {
                name: "good".to_owned(),
                version: "1".to_owned(),
                check: Box::new(move || Ok(BTreeMap::from([("bytes".to_owned(), wanted)]))),
                work: Box::new(move |times| {
                    counted.set(counted.get() + times);
                    Ok(())
                }),
            };
            let bad = Case {
                name: "bad".to_owned(),
                version: String::new(),
                check: Box::new(|| Err("decoded to a different value".to_owned())),
                work: Box::new(|_| Err("the line was cut".to_owned())),
            };
            let absent =
                Absent { name: "none".to_owned(), install: "get it".to_owned(), why: None };
            Ok(Cases { cases: vec![good, bad], absent: vec![absent] })
        };
        let commands = concat!(
            r#"{"do":"ready","documents":7,"step":null,"path":null,"folder":"."}"#,
            "\n",
            r#"{"do":"try","case":"good"}"#,
            "\n",
            r#"{"do":"try","case":"bad"}"#,
            "\n",
            r#"{"do":"work","case":"good","iterations":5}"#,
            "\n",
            r#"{"do":"work","case":"bad","iterations":1}"#,
            "\n",
            r#"{"do":"try","case":"none"}"#,
            "\n",
            r#"{"do":"exit"}"#,
            "\n",
        );
        let mut output = Vec::new();
        serve(make, commands.as_bytes(), &mut output).unwrap();
        let answers: Vec<serde_json::Value> = String::from_utf8(output)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(answers[1]["cases"][1]["name"], "bad");
        assert_eq!(answers[1]["absent"][0]["install"], "get it");
        assert_eq!(answers[2]["figures"]["bytes"], 7.0);
        assert_eq!(answers[3]["wrong"], "decoded to a different value");
        assert!(answers[4]["ok"] == true && answers[4]["ns"].is_u64());
        assert_eq!(done.get(), 5);
        assert_eq!(answers[5]["error"], "the line was cut");
        assert_eq!(answers[6]["error"], "there is no case \"none\"");
    }
}
