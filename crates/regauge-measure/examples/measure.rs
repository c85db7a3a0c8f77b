//! Measures a file and prints the report: the engine without the command line around it.
//!
//! ```text
//! cargo build -p regauge-measure && cargo run -p regauge-measure --example measure -- FILE [ONLY…]
//! cargo run -p regauge-measure --example measure -- --setup FOLDER
//! ```

use regauge_measure::{Options, Progress, Stage, run, setup};
use regauge_report::{Layout, render};

struct Told;

impl Progress for Told {
    fn begin(&mut self, stage: Stage, steps: u64) {
        eprintln!("{} ({steps})", stage.name());
    }

    fn step(&mut self, what: &str) {
        if !what.is_empty() {
            eprintln!("  {what}");
        }
    }
}

fn main() -> Result<(), regauge_measure::Error> {
    let mut arguments = std::env::args().skip(1);
    let input = arguments.next().expect("the file to measure on");
    if input == "--setup" {
        let mut options = setup::Options::default();
        options.folder = arguments.next().map(Into::into);
        let plan = setup::plan(&options)?;
        eprint!("{plan}");
        let done = setup::execute(&plan, &mut |step| eprintln!("$ {}", step.line()))?;
        for (line, reason) in done.failed {
            eprintln!("left undone: {line}: {reason}");
        }
        return Ok(());
    }
    let contender = std::env::current_exe()
        .expect("a running program has a path")
        .with_file_name("../regauge-contender");
    let mut options = Options::new(input.into(), vec![contender.into()]);
    options.common = std::env::var_os("COMMON").is_some();
    options.only = arguments.collect();
    options.python = std::env::var_os("PYTHON").map(Into::into);
    options.command = std::env::args().collect();
    if let Some(seconds) = std::env::var("BUDGET").ok().and_then(|text| text.parse().ok()) {
        options.budget = std::time::Duration::from_secs(seconds);
    }
    let report = run(&options, &mut Told)?;
    print!("{}", render(&report, Layout { width: Some(160), lines: true }));
    if let Some(path) = std::env::var_os("JSON") {
        std::fs::write(path, report.to_json()).expect("the JSON can be written");
    }
    Ok(())
}
