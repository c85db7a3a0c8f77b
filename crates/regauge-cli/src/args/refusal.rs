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
    let is_number = std::error::Error::source(&error)
        .is_some_and(|source| source.is::<ParseIntError>() || source.is::<ParseFloatError>());
    match (error.get(ContextKind::InvalidValue), error.get(ContextKind::InvalidArg)) {
        (Some(found), Some(option)) if is_number => {
            let message = format!("found {found} for {option}, expected a number");
            command().error(ErrorKind::ValueValidation, message)
        }
        _ => error,
    }
}
