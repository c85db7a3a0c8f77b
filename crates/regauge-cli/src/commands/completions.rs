//! `regauge completions`: shell completion scripts.

use crate::args::Completions;
use crate::failure::Result;
use crate::report::print;

/// Writes a shell completion script to standard output.
pub fn run(arguments: &Completions) -> Result {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::args::command(), "regauge", &mut script);
    print(&script)
}
