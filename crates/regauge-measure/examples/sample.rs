//! Writes a sample to standard output: `cargo run --example sample -- catalog 100 0`.

use regauge_measure::sample::{Kind, Options, generate};
use std::io;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let kind: Kind = arguments.next().unwrap_or_default().parse()?;
    let count = arguments.next().map(|text| text.parse()).transpose()?;
    let seed = arguments.next().map_or(Ok(0), |text| text.parse())?;
    let summary = generate(kind, &Options { count, seed }, &mut io::stdout().lock())?;
    eprintln!("{} documents, {} bytes", summary.documents, summary.bytes);
    Ok(())
}
