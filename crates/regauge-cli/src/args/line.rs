//! The command line as a whole: what the derived arguments leave to the library's table of options, and the
//! form of the help.

use clap::CommandFactory as _;
use regauge::Format;
use regauge::options::{Language, OPTIONS, Opt, Row, Side};

use super::Cli;
use crate::tables::Form;

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

/// Returns the flags among the arguments, without dashes and values.
fn flags(arguments: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    arguments.take_while(|one| one != "--").filter_map(|one| {
        one.strip_prefix("--").map(|flag| flag.split('=').next().unwrap_or_default().to_owned())
    })
}

/// Returns a line for each flag among the arguments that changes nothing, because its formats are neither
/// read nor written. `is_filtered` says whether a filter runs, whose own numbers follow `--numbers`, and which may fail on
/// a document of any format.
fn without_effect(
    arguments: impl Iterator<Item = String>,
    from: Form,
    to: Option<Form>,
    is_filtered: bool,
) -> impl Iterator<Item = String> {
    let doing = match to {
        Some(to) => format!("converts {} to {}", from.title(), to.title()),
        None => format!("reads {}", from.title()),
    };
    let given: Vec<_> = flags(arguments).collect();
    let has_sample = given.iter().any(|flag| flag == "sample");
    let from = from.format();
    let written = to.and_then(Form::format);
    given.into_iter().filter_map(move |flag| {
        let formats = match row_of(&flag) {
            Some(row) if row.opt == Opt::Seed && !has_sample => {
                return Some("--seed has no effect without --sample".to_owned());
            }
            Some(row) if matches!(row.opt, Opt::Numbers | Opt::Bad) && is_filtered => return None,
            Some(row) if !row.formats.is_empty() && !has_effect(row, from, written) => formats(row),
            None if flag.starts_with("parquet-") && to.is_none_or(|to| to.name() != "parquet") => {
                "writing Parquet".to_owned()
            }
            _ => return None,
        };
        Some(format!("--{flag} has no effect: it is for {formats}, and this {doing}"))
    })
}

fn row_of(flag: &str) -> Option<&'static Row> {
    if flag == "pretty" {
        return Some(Opt::JsonIndent.row());
    }
    OPTIONS.iter().find(|row| {
        row.name(Language::Command) == Some(flag)
            || row.old_names(Language::Command, false).any(|old| old == flag)
    })
}

fn has_effect(row: &Row, from: Option<Format>, to: Option<Format>) -> bool {
    let reads = from.is_some_and(|from| row.is_for_reading(from));
    let writes = to.is_some_and(|to| row.is_for_writing(to));
    let converts = || [from, to].into_iter().flatten().any(|format| row.is_for(format));
    reads || writes || row.side == Side::Convert && converts()
}

/// Returns what an option is for: `reading JSON or NDJSON`.
fn formats(row: &Row) -> String {
    let doing = match row.side {
        Side::Read => "reading ",
        Side::Write => "writing ",
        Side::Both | Side::Convert => "",
    };
    let titles: Vec<_> = row.formats.iter().map(|format| format.title()).collect();
    match titles.split_last() {
        Some((last, [])) => format!("{doing}{last}"),
        Some((last, others)) => format!("{doing}{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Prints a warning for each option of this command line that changes nothing.
pub fn warn_without_effect(from: Form, to: Option<Form>, is_filtered: bool) {
    for line in without_effect(given(), from, to, is_filtered) {
        eprintln!("warning: {line}");
    }
}

/// Returns the arguments of this process.
pub fn given() -> impl Iterator<Item = String> {
    std::env::args_os().skip(1).map(|one| one.to_string_lossy().into_owned())
}

/// Returns the old names of options among the arguments, each with the name to use.
pub fn old_names(
    arguments: impl Iterator<Item = String>,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    flags(arguments).filter_map(|flag| {
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
