//! `regauge man`: manual pages, generated from the argument definitions.

use std::io;

use crate::args::Man;
use crate::failure::{Failure, Result};
use crate::output::Destination;
use crate::report::print;

/// Writes one page to standard output, or all pages to a folder.
pub fn run(arguments: &Man) -> Result {
    let mut root = crate::args::command();
    root.build();
    let commands: Vec<clap::Command> =
        root.get_subcommands().filter(|one| is_for_people(one)).cloned().collect();
    if let Some(folder) = &arguments.folder {
        std::fs::create_dir_all(folder).map_err(|error| {
            Failure::Io(format!("{}: cannot be created: {error}", folder.display()))
        })?;
        for command in std::iter::once(root).chain(commands) {
            let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
            let destination = Destination::open(&folder.join(format!("{name}.1")), true)?;
            destination.write_all(&page(command)?)?;
            destination.commit()?;
        }
        return Ok(());
    }
    let Some(name) = &arguments.about else { return print(&page(root)?) };
    let names: Vec<_> = commands.iter().map(|one| one.get_name().to_owned()).collect();
    match commands.into_iter().find(|one| one.get_name() == name) {
        Some(command) => print(&page(command)?),
        None => Err(Failure::usage(format!(
            "unknown command `{name}`, expected one of {}",
            names.join(", ")
        ))),
    }
}

fn is_for_people(command: &clap::Command) -> bool {
    command.get_name() != "help" && !command.is_hide_set()
}

fn page(command: clap::Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    let rendered: io::Result<()> = clap_mangen::Man::new(command).render(&mut page);
    rendered.map_err(|error| Failure::io("the manual page", &error))?;
    Ok(page)
}
