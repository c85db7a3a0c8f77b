//! Why a command fails, how that is printed on standard error, and its exit status.

use std::fmt::{self, Display};
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use regauge::text::escape_hidden_in_lines;
use regauge::{Error, ErrorKind};

use crate::words;

/// The result of a command.
pub type Result<T = ()> = std::result::Result<T, Failure>;

/// Done.
pub const DONE: u8 = 0;
/// Bad data, or a failed read or write midway.
pub const BAD_DATA: u8 = 1;
/// The command cannot do what it was asked: an unknown option or format, a missing file, an output
/// that exists.
pub const USAGE: u8 = 2;
/// Continuing would have lost something, or the output's format cannot hold it at all.
pub const REFUSED: u8 = 3;
/// A store has no such key, or its value is damaged.
pub const NO_VALUE: u8 = 4;

/// Ctrl-C ended it early, as shells have it: 128 and the number of the signal.
pub const INTERRUPTED: u8 = 130;

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// The library's error, about the file of this name.
    Data { name: String, error: Error },
    /// The command cannot be carried out; nothing was started.
    Usage(String),
    /// Reading or writing failed midway.
    Io(String),
    /// Continuing would have lost something, as explained.
    Refused(String),
    /// A store has no such value, or it is damaged.
    Value(String),
    /// The text of a filter is wrong: the message, and an excerpt that shows the place.
    Filter(String, String),
    /// There is nothing to say: the status is the answer.
    Quiet(u8),
    /// The reader of our output has gone: there is nothing to report.
    BrokenPipe,
}

impl Failure {
    /// Creates a usage error; what to do about it follows a semicolon.
    pub fn usage(message: impl Display) -> Failure {
        Failure::Usage(message.to_string())
    }

    /// Creates an error about reading or writing `name`.
    pub fn io(name: impl Display, error: &io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
            _ => Failure::Io(format!("{name}: {}", plain(error))),
        }
    }

    /// Wraps the library's error about the input `name`. I/O errors already carry a name: see
    /// [`named`].
    pub fn data(name: &str, error: Error) -> Failure {
        let source = std::error::Error::source(&error);
        match source.and_then(|source| source.downcast_ref::<io::Error>()) {
            Some(source) if source.kind() == io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
            Some(source) if error.kind() == ErrorKind::Io => Failure::Io(plain(source)),
            _ => Failure::Data { name: name.to_owned(), error },
        }
    }

    /// Returns the exit status for the caller's script.
    pub fn status(&self) -> u8 {
        match self {
            Failure::Data { error, .. } if is_refusal(error) => REFUSED,
            Failure::Data { .. } | Failure::Io(_) | Failure::BrokenPipe => BAD_DATA,
            Failure::Usage(_) | Failure::Filter(..) => USAGE,
            Failure::Quiet(status) => *status,
            Failure::Refused(_) => REFUSED,
            Failure::Value(_) => NO_VALUE,
        }
    }

    /// Prints it on standard error, and returns the exit status.
    pub fn report(&self) -> ExitCode {
        match self {
            Failure::Data { name, error } => {
                say(name, words::text(error));
                if let Some(excerpt) = error.excerpt() {
                    say_excerpt(excerpt);
                }
            }
            Failure::Usage(message)
            | Failure::Io(message)
            | Failure::Refused(message)
            | Failure::Value(message) => complain(message),
            Failure::Filter(message, excerpt) => {
                complain(message);
                say_excerpt(excerpt);
            }
            Failure::Quiet(_) => {}
            Failure::BrokenPipe => regauge_os::end_by_broken_pipe(),
        }
        ExitCode::from(self.status())
    }
}

/// Returns whether the output cannot hold the data under the chosen policy.
fn is_refusal(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Refused | ErrorKind::Unrepresentable)
}

/// Adds to an error the file it is about and what was being done with it. One of the library's own says both.
pub fn named(doing: &str, name: &str, error: &io::Error) -> io::Error {
    if let Some(ours) = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        return io::Error::new(error.kind(), words::text(ours).to_string());
    }
    io::Error::new(error.kind(), format!("cannot {doing} {name}: {}", plain(error)))
}

/// Formats a system error without its number: `No such file or directory`; an error of the library in the
/// command's words.
pub fn plain(error: &io::Error) -> String {
    if let Some(ours) = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        return words::text(ours);
    }
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// Returns whether standard error takes colours: a terminal, and NO_COLOR not set
/// (<https://no-color.org>).
fn styled(style: Style) -> Style {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    if wanted && io::stderr().is_terminal() && regauge_os::takes_escapes() {
        style
    } else {
        Style::new()
    }
}

/// Prints a line on standard error. A failure to print it is no reason to stop.
pub fn say(name: &str, what: impl Display) {
    complain(format_args!("{name}: {what}"));
}

/// Prints a line on standard error. The name of a file may be in it, with anything that a terminal would obey.
pub fn complain(what: impl fmt::Display) {
    let style = styled(Style::new().bold());
    let what = what.to_string();
    let what = escape_hidden_in_lines(&what);
    let _ = writeln!(io::stderr().lock(), "{style}regauge:{style:#} {what}");
}

fn say_excerpt(excerpt: &str) {
    let mark = styled(AnsiColor::Red.on_default().bold());
    let mut stderr = io::stderr().lock();
    let mut lines = excerpt.lines().peekable();
    while let Some(line) = lines.next() {
        let style = if lines.peek().is_none() { mark } else { Style::new() };
        let _ = writeln!(stderr, "  {style}{line}{style:#}");
    }
}
