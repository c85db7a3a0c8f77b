//! A separate folder for each test, and the command run in it.

#![allow(dead_code, reason = "every test file uses a part of it")]

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::{fs, io::Write as _};

/// A temporary folder that the command runs in, so that messages contain bare file names.
pub struct Folder(tempfile::TempDir);

/// The result of a run.
pub struct Ran {
    pub status: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Ran {
    fn new(output: Output) -> Ran {
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Ran { status: output.status.code(), stdout: output.stdout, stderr }
    }

    /// Asserts that the run succeeded silently.
    #[track_caller]
    pub fn silent(self) -> Ran {
        assert_eq!((self.status, self.stderr.as_str()), (Some(0), ""));
        self
    }

    /// Asserts that the run ended with this status.
    #[track_caller]
    pub fn status(self, status: i32) -> Ran {
        assert_eq!(self.status, Some(status), "{}", self.stderr);
        self
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    /// Returns the names of all files in the folder, in order.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// Builds the command with these arguments, separated by blanks.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_regauge"));
        command.args(arguments.split(' ').filter(|one| !one.is_empty()));
        command.current_dir(self.0.path()).stdin(Stdio::null());
        // Keeps the developer's own cache out of it.
        let cache = std::env::temp_dir().join("regauge-tests-cache");
        command.env("XDG_CACHE_HOME", cache);
        command
    }

    pub fn run(&self, arguments: &str) -> Ran {
        Ran::new(self.command(arguments).output().unwrap())
    }

    /// Like [`Folder::run`], with standard input.
    pub fn feed(&self, arguments: &str, stdin: &[u8]) -> Ran {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let bytes = stdin.to_vec();
        let feeder = std::thread::spawn(move || {
            // If the command stops reading, that is not the test's problem.
            let _ = pipe.write_all(&bytes);
        });
        let output = child.wait_with_output().unwrap();
        feeder.join().unwrap();
        Ran::new(output)
    }
}

/// Returns lines of NDJSON, all different.
pub fn lines(count: usize) -> String {
    (0..count)
        .map(|n| format!("{{\"id\":{n},\"name\":\"name {n}\",\"list\":[{n},null,0.5]}}\n"))
        .collect()
}

/// Returns a MARC 21 record with a 001 and a 245.
pub fn marc(id: &str, title: &str) -> Vec<u8> {
    let fields = [("001", format!("{id}\x1E")), ("245", format!("10\x1Fa{title}\x1E"))];
    let mut directory = String::new();
    let mut data = String::new();
    for (tag, field) in &fields {
        directory += &format!("{tag}{:04}{:05}", field.len(), data.len());
        data += field;
    }
    let base = 24 + directory.len() + 1;
    let length = base + data.len() + 1;
    format!("{length:05}nam a22{base:05}   4500{directory}\x1E{data}\x1D").into_bytes()
}
