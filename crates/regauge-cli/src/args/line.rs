//! The command line as a whole: what the derived arguments leave to the library's table of options, and the
//! form of the help.

use clap::CommandFactory as _;
use regauge::options::{Language, OPTIONS};

use super::Cli;

/// Returns the command line, with the help and the old names of the options in the library's table.
pub fn command() -> clap::Command {
    let command = Cli::command().mut_subcommands(|command| match command.get_name() {
        "query" => crate::commands::query::adapt(command),
        _ => command,
    });
    let command = with_table(command);
    // clap prints the version as soon as it finds `--version`, whatever follows.
    match std::env::args_os().any(|one| one == "--verbose") {
        true => command.version(crate::version::verbose()),
        false => command,
    }
}

/// Completes the options of a command and of its subcommands that have a row in the table. One with
/// a help text of its own means something else there, or more.
fn with_table(command: clap::Command) -> clap::Command {
    let from_table = |arg: clap::Arg| {
        let row = arg
            .get_long()
            .filter(|_| arg.get_help().is_none())
            .and_then(|long| OPTIONS.iter().find(|row| row.name(Language::Command) == Some(long)));
        match row {
            Some(row) => arg.help(row.help).aliases(row.old_names(Language::Command, false)),
            None => arg,
        }
    };
    let command = command.mut_args(from_table).mut_subcommands(with_table);
    match command.get_after_help().map(ToString::to_string) {
        Some(text) => command.after_help(reflowed(&text)),
        None => command,
    }
}

/// Joins the lines of each paragraph, which clap breaks for the width of the terminal. Lines that are
/// indented stay as they are.
fn reflowed(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut last = "";
    for line in text.lines() {
        let stands_alone = |line: &str| line.is_empty() || line.starts_with(' ');
        if !joined.is_empty() {
            joined.push(if stands_alone(line) || stands_alone(last) { '\n' } else { ' ' });
        }
        joined.push_str(line);
        last = line;
    }
    joined
}

/// Returns the old names of options among the arguments, each with the name to use.
pub fn old_names(
    arguments: impl Iterator<Item = String>,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    let flags = arguments.take_while(|one| one != "--").filter_map(|one| {
        one.strip_prefix("--").map(|flag| flag.split('=').next().unwrap_or_default().to_owned())
    });
    flags.filter_map(|flag| {
        OPTIONS.iter().find_map(|row| {
            let old = row.old_names(Language::Command, false).find(|old| *old == flag)?;
            Some((old, row.name(Language::Command)?))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_hold_together() {
        command().debug_assert();
    }

    /// An example that a narrow terminal breaks cannot be copied.
    #[test]
    fn examples_fit_80_columns() {
        fn check(command: &clap::Command) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in help.lines().filter(|line| line.starts_with(' ')) {
                assert!(line.chars().count() <= 80, "{}: {line}", command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        check(&command());
    }
}
