//! `regauge completions`: shell completion scripts.

use clap::CommandFactory as _;

use crate::args::{Cli, Completions};
use crate::failure::Result;
use crate::report::print;

/// Writes a shell completion script to standard output.
pub fn run(arguments: &Completions) -> Result {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "regauge", &mut script);
    print(&script)
}
