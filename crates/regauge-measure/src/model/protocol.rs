//! The protocol between the parent and a runner: one line of JSON per message, over pipes.
//!
//! The runner speaks first ([`Hello`]); then every [`Command`] gets one [`Answer`]. The runners for
//! other languages are `lab/runners/*`; if you change the protocol here, change them, too.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What the parent asks for.
#[derive(Debug, Serialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub(crate) enum Command<'a> {
    /// Read the reference bytes; `spans` is a file with a JSON list of start, end, start, end …
    /// in bytes, or nothing when the file is one document.
    Load { path: &'a Path, spans: Option<&'a Path> },
    /// Write reference bytes in the contender's own format from JSON documents, with their
    /// spans in a file beside (`.spans`).
    Prepare { path: &'a Path, spans: Option<&'a Path>, out: &'a Path },
    /// Decode what is loaded, encode each object again, and write that, with a line feed after
    /// each when `lines`.
    Check { out: &'a Path, lines: bool },
    /// Turn bytes in the contender's own format into JSON lines.
    Reveal { path: &'a Path, spans: Option<&'a Path>, out: &'a Path },
    /// Decode and encode each document alone; an empty span in the spans beside `out` stands for
    /// one that failed. With `json`, by way of the contender's own format and back to JSON.
    Sift { path: &'a Path, spans: &'a Path, out: &'a Path, json: bool },
    /// Decode what is loaded, and keep the objects for encoding.
    Hold,
    /// Decode or encode the whole `iterations` times, and say how long it took. With `gc`, the
    /// collector is watched, which may cost time.
    Sample { op: Op, iterations: u64, gc: bool },
    /// To a task's own program: make so many objects, or read them; files go into `folder`.
    /// With `step`, `work` tells the time after each so many objects.
    Ready { documents: u64, step: Option<u64>, path: Option<&'a Path>, folder: &'a Path },
    /// To a task's own program: do a case once, and say whether what came of it is right.
    Try { case: &'a str },
    /// To a task's own program: do a case so many times, and say how long it took.
    Work { case: &'a str, iterations: u64 },
    /// End.
    Exit,
}

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// Bytes to objects.
    Decode,
    /// Objects to bytes.
    Encode,
}

impl Op {
    /// Returns the word for people: "decode", "encode".
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Op::Decode => "decode",
            Op::Encode => "encode",
        }
    }
}

/// The first line of a runner.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Hello {
    /// Interpreter and version.
    pub runtime: String,
    /// Version of the library.
    pub version: String,
    /// How the collector is set, in words.
    pub gc: String,
}

/// The answer to `Load`, `Prepare`, `Reveal` and `Hold`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Counted {
    pub documents: u64,
}

/// The answer to `Check`. The times are rough: they serve to plan the rounds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Checked {
    pub decode_ns: u64,
    pub encode_ns: u64,
}

/// The answer to `Sample`, for all iterations together.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Sampled {
    /// By the monotonic clock.
    pub ns: u64,
    /// Processor time of the process.
    pub cpu_ns: Option<u64>,
    /// Time in the collector, if the runtime reports it.
    pub gc_ns: Option<u64>,
    /// Collections, if the runtime reports them.
    pub gc_count: Option<u64>,
    /// Objects allocated, if the runtime reports them.
    pub allocations: Option<u64>,
}

impl Sampled {
    /// Returns a sample of which only the time is known.
    pub(crate) fn of_ns(ns: u64) -> Sampled {
        Sampled { ns, cpu_ns: None, gc_ns: None, gc_count: None, allocations: None }
    }
}

/// One line of a runner: it worked, or why not.
#[derive(Debug)]
pub(crate) enum Answer<T> {
    Done(T),
    /// The library is not there.
    Missing(String),
    /// The contender raised an error.
    Raised(String),
    /// The runner failed before the library had the data.
    Unprepared(String),
}

impl<T: DeserializeOwned> Answer<T> {
    /// Reads an answer; `None` when the line is not one.
    pub(crate) fn read(line: &str) -> Option<Answer<T>> {
        #[derive(Deserialize)]
        struct Status {
            ok: bool,
            missing: Option<String>,
            error: Option<String>,
            by: Option<String>,
        }
        let status: Status = serde_json::from_str(line).ok()?;
        match status {
            Status { ok: true, .. } => serde_json::from_str(line).ok().map(Answer::Done),
            Status { missing: Some(message), .. } => Some(Answer::Missing(message)),
            Status { error: Some(message), by: Some(by), .. } if by == "runner" => {
                Some(Answer::Unprepared(message))
            }
            Status { error: Some(message), .. } => Some(Answer::Raised(message)),
            Status { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_as_the_runners_read_them() {
        let text = |command: &Command| serde_json::to_string(command).unwrap();
        assert_eq!(
            text(&Command::Load { path: Path::new("a.json"), spans: None }),
            r#"{"do":"load","path":"a.json","spans":null}"#
        );
        assert_eq!(
            text(&Command::Sample { op: Op::Encode, iterations: 3, gc: false }),
            r#"{"do":"sample","op":"encode","iterations":3,"gc":false}"#
        );
        assert_eq!(text(&Command::Exit), r#"{"do":"exit"}"#);
    }

    #[test]
    fn answers() {
        assert!(matches!(
            Answer::<Counted>::read(r#"{"ok":true,"documents":4}"#),
            Some(Answer::Done(Counted { documents: 4 }))
        ));
        assert!(matches!(
            Answer::<Counted>::read(r#"{"ok":false,"missing":"no oj"}"#),
            Some(Answer::Missing(message)) if message == "no oj"
        ));
        assert!(matches!(
            Answer::<Counted>::read(r#"{"ok":false,"error":"boom"}"#),
            Some(Answer::Raised(message)) if message == "boom"
        ));
        assert!(matches!(
            Answer::<Counted>::read(r#"{"ok":false,"error":"boom","by":"runner"}"#),
            Some(Answer::Unprepared(message)) if message == "boom"
        ));
        // Fields that a runtime does not report may be left out.
        let Some(Answer::Done(sampled)) =
            Answer::<Sampled>::read(r#"{"ok":true,"ns":4,"gc_ns":null}"#)
        else {
            panic!("no answer");
        };
        assert_eq!((sampled.ns, sampled.cpu_ns, sampled.allocations), (4, None, None));
        for junk in ["hello", "{}", r#"{"ok":true}"#, r#"{"ok":false}"#, "[1]"] {
            assert!(Answer::<Counted>::read(junk).is_none(), "{junk}");
        }
    }
}
