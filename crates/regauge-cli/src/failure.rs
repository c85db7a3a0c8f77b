//! Why a command ends early, how that is said on standard error, and the exit status it gives.

use std::fmt::{self, Display};
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use regauge::{Error, ErrorKind};

use crate::words;

/// The result of a command.
pub type Result<T = ()> = std::result::Result<T, Failure>;

/// Done.
pub const DONE: u8 = 0;
/// The data is bad, or reading or writing it failed on the way.
pub const BAD_DATA: u8 = 1;
/// The command cannot do what it was asked for: unknown option or format, no such file, an output
/// that exists.
pub const USAGE: u8 = 2;
/// Going on would have lost something, or the output's format cannot hold it at all.
pub const REFUSED: u8 = 3;
/// A store has no such key, or what it has there is damaged.
pub const NO_VALUE: u8 = 4;

/// Why a command ended early.
#[derive(Debug)]
pub enum Failure {
    /// The library's error, about the file of this name.
    Data { name: String, error: Error },
    /// The command cannot be carried out; nothing was begun.
    Usage(String),
    /// Reading or writing failed on the way.
    Io(String),
    /// Going on would have lost something, as said.
    Refused(String),
    /// A store has no such value, or a damaged one.
    Value(String),
    /// Whoever read our output has gone: nothing to say.
    BrokenPipe,
}

impl Failure {
    /// A failure of the command line, with what to do about it after a semicolon.
    pub fn usage(message: impl Display) -> Failure {
        Failure::Usage(message.to_string())
    }

    /// A failure while reading or writing `name`.
    pub fn io(name: impl Display, error: &io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
            _ => Failure::Io(format!("{name}: {}", plain(error))),
        }
    }

    /// The library's error about the input `name`. Errors of reading and writing come named
    /// already: see [`named`].
    pub fn data(name: &str, error: Error) -> Failure {
        let source = std::error::Error::source(&error);
        match source.and_then(|source| source.downcast_ref::<io::Error>()) {
            Some(source) if source.kind() == io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
            Some(source) if error.kind() == ErrorKind::Io => Failure::Io(plain(source)),
            _ => Failure::Data { name: name.to_owned(), error },
        }
    }

    /// The exit status that tells the caller's script.
    pub fn status(&self) -> u8 {
        match self {
            Failure::Data { error, .. } if is_refusal(error) => REFUSED,
            Failure::Data { .. } | Failure::Io(_) | Failure::BrokenPipe => BAD_DATA,
            Failure::Usage(_) => USAGE,
            Failure::Refused(_) => REFUSED,
            Failure::Value(_) => NO_VALUE,
        }
    }

    /// Says it on standard error, and gives the exit status.
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
            Failure::BrokenPipe => {
                // As other tools: ended by the signal, which the shell shows as 141.
                let _ =
                    signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGPIPE);
            }
        }
        ExitCode::from(self.status())
    }
}

/// Whether the output cannot hold the data, as far as it may be changed.
fn is_refusal(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Refused | ErrorKind::Unrepresentable)
}

/// The same error, naming the file it is about and what was being done with it.
pub fn named(doing: &str, name: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot {doing} {name}: {}", plain(error)))
}

/// An error of the system without its number: `No such file or directory`.
pub fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// Whether standard error takes colours: a terminal, and NO_COLOR not set (<https://no-color.org>).
fn styled(style: Style) -> Style {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    if wanted && io::stderr().is_terminal() { style } else { Style::new() }
}

/// One line on standard error. That it cannot be written is no reason to stop.
pub fn say(name: &str, what: impl Display) {
    complain(format_args!("{name}: {what}"));
}

/// One line on standard error.
pub fn complain(what: impl fmt::Display) {
    let style = styled(Style::new().bold());
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
