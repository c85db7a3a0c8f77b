//! The `regauge` command.

fn main() {}
