//! Error texts for the current subcommand: a hint names no option that the subcommand does not
//! take.

use std::sync::{LazyLock, OnceLock};

use clap::{ArgMatches, Command, CommandFactory as _};
use regauge::Error;
use regauge::hint::Surface;
use regauge::options::{Language, Opt};

use crate::args::Cli;

/// The subcommand's names: `["store", "put"]`.
static RUNS: OnceLock<Vec<String>> = OnceLock::new();

/// The flags that it takes.
static FLAGS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut command = &Cli::command();
    for name in RUNS.get().into_iter().flatten() {
        command = command.find_subcommand(name).unwrap_or(command);
    }
    flags(command).collect()
});

/// Returns the flags of a command, without dashes.
pub fn flags(command: &Command) -> impl Iterator<Item = String> {
    command.get_arguments().filter_map(|one| one.get_long()).map(str::to_owned)
}

/// Records which subcommand is running.
pub fn runs(matches: &ArgMatches) {
    let mut names = Vec::new();
    let mut at = matches;
    while let Some((name, below)) = at.subcommand() {
        names.push(name.to_owned());
        at = below;
    }
    // It is recorded once, before anything else happens.
    let _ = RUNS.set(names);
}

fn takes(opt: Opt) -> bool {
    opt.name(Language::Command).is_some_and(|name| FLAGS.iter().any(|flag| flag == name))
}

const HERE: Surface<'static> =
    Surface { language: Language::Command, is_generic: false, takes: &takes };

/// Returns the text of an error.
pub fn text(error: &Error) -> String {
    error.display(&HERE).to_string()
}

/// Returns what to do about an error.
pub fn hint(error: &Error) -> Option<String> {
    error.hint_for(&HERE)
}

#[cfg(test)]
mod tests;
