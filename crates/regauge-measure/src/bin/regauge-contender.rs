//! Serves one native contender over standard input and output, like a hidden subcommand of
//! `regauge`, for this crate's own tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    match regauge_measure::serve_native(
        &name,
        &mut std::io::stdin().lock(),
        &mut std::io::stdout().lock(),
    ) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("regauge-contender: {error}");
            ExitCode::from(2)
        }
    }
}
