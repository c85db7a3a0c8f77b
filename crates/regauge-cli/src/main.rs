//! The `regauge` command: arguments in, exit status out. The library does the work.

#![forbid(unsafe_code)]

mod args;
mod commands;
mod encoded;
mod engines;
mod failure;
mod flags;
mod input;
mod interrupt;
mod output;
mod progress;
mod read_ahead;
mod report;
mod tables;
mod version;
mod words;

use std::process::ExitCode;

use args::{Cli, Command};
use clap::FromArgMatches as _;

/// Says which options have another name now.
fn warn_of_old_names(command: &Command) {
    let is_quiet = match command {
        Command::Convert(arguments) => arguments.quiet,
        Command::Query(arguments) => arguments.convert.quiet,
        Command::Inspect(_) => false,
        _ => return,
    };
    for (old, now) in args::old_names(args::given()).filter(|_| !is_quiet) {
        eprintln!("warning: --{old} is now --{now}; the old name will go away");
    }
}

fn main() -> ExitCode {
    // Wrong arguments exit here, with status 2.
    let matches =
        args::command().try_get_matches().unwrap_or_else(|error| args::refusal::exit(error));
    let mut cli =
        Cli::from_arg_matches(&matches).unwrap_or_else(|error| args::refusal::exit(error));
    words::runs(&matches);
    warn_of_old_names(&cli.command);
    let done = match &mut cli.command {
        Command::Convert(arguments) => commands::convert::run(arguments),
        Command::Query(arguments) => commands::query::run(arguments),
        Command::Inspect(arguments) => commands::inspect::run(arguments),
        Command::Measure(arguments) => commands::measure::run(arguments),
        Command::Report(arguments) => commands::report::run(arguments),
        Command::Sample(arguments) => commands::sample::run(arguments),
        Command::Migrate(arguments) => commands::migrate::run(arguments),
        Command::Xray(arguments) => commands::xray::run(arguments),
        Command::Contender(arguments) => commands::measure::serve(arguments),
        Command::Store(arguments) => commands::store::run(arguments),
        Command::Serve(arguments) => commands::serve::run(arguments),
        Command::Formats(arguments) => commands::formats::run(arguments),
        Command::Completions(arguments) => commands::completions::run(arguments),
        Command::Man(arguments) => commands::man::run(arguments),
    };
    match done {
        Ok(()) => ExitCode::from(failure::DONE),
        Err(failure) => failure.report(),
    }
}
