//! Rewords what the argument parser says where it would not help.

use std::num::{ParseFloatError, ParseIntError};

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use super::command;

/// Ends the program with a message about wrong arguments, or prints help or the version.
pub fn exit(error: Error) -> ! {
    reworded(error).exit()
}

/// Says what a number is expected to be, and suggests no subcommand that help does not list.
fn reworded(mut error: Error) -> Error {
    if let Some(ContextValue::Strings(names)) = error.get(ContextKind::SuggestedSubcommand) {
        let command = command();
        let is_hidden =
            |name: &String| command.find_subcommand(name).is_some_and(clap::Command::is_hide_set);
        let names = names.iter().filter(|name| !is_hidden(name)).cloned().collect();
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(names));
    }
    let expected = match std::error::Error::source(&error) {
        Some(source) if source.is::<ParseIntError>() => "a whole number from 0",
        Some(source) if source.is::<ParseFloatError>() => "a number",
        _ => return error,
    };
    match (error.get(ContextKind::InvalidValue), error.get(ContextKind::InvalidArg)) {
        (Some(found), Some(option)) => Error::raw(
            ErrorKind::ValueValidation,
            format!("found {found} for {option}, expected {expected}\n"),
        ),
        _ => error,
    }
}
