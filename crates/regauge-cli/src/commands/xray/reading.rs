//! How long the sampled values take to read, in the runtimes that read them: `--time`.

use std::io;
use std::path::Path;
use std::time::Duration;

use regauge::{Format, Limits};
use regauge_caches::{Plain, Report};
use regauge_measure::{InputFile, Options, Runtime, run as measure, setup};
use regauge_report::xray::{OTHERS, Reading};

use crate::args::When;
use crate::commands::measure::{failure, native};
use crate::commands::stages::Stages;
use crate::failure::{Failure, Result};

/// The runtimes that read each format out of a cache.
const READERS: [(Format, &[&str]); 4] = [
    (Format::Marshal, &["ruby"]),
    (Format::Pickle, &["python"]),
    (Format::Json, &["ruby", "python"]),
    (Format::Msgpack, &["ruby", "python"]),
];
/// The time for the libraries of a runtime and a format.
const BUDGET: Duration = Duration::from_secs(6);

/// Decodes the sampled values that are plain data in the runtimes that read them: as they are, and in the formats
/// that they could move to. The runtimes get what regauge writes of the data, never bytes out of the cache.
///
/// # Errors
/// Those of the measuring engine other than missing runtimes and libraries, which are in the result.
pub fn all(report: &Report, limits: &Limits, progress: When) -> Result<Vec<Reading>> {
    let failed = |error: io::Error| Failure::io("a temporary folder", &error);
    let work = tempfile::tempdir().map_err(failed)?;
    crate::interrupt::remove_when_interrupted(work.path()).map_err(failed)?;
    let mut shown = Stages::for_terminal(progress);
    let mut readings = Vec::new();
    for (format, runtimes) in READERS {
        if !report.rows.iter().any(|row| row.format() == Some(format)) {
            continue;
        }
        let plain = report.plain(format, limits);
        let files = files(&plain, format, work.path()).map_err(failed)?;
        for runtime in runtimes.iter().map(|id| Runtime::of(id)) {
            readings.push(match files.is_empty() {
                true => Reading::not_timed(
                    format,
                    runtime,
                    "no prefix has only plain data in its sample",
                ),
                false => {
                    let options = options(&files, format, runtime, work.path())?;
                    let measured = measure(&options, &mut shown).map_err(failure)?;
                    Reading::new(format, runtime, plain.prefixes, &measured)
                }
            });
        }
    }
    shown.finish();
    Ok(readings)
}

/// Writes the values into a folder, one a file.
fn files(plain: &Plain<'_>, format: Format, work: &Path) -> io::Result<Vec<InputFile>> {
    let folder = work.join(format.name());
    std::fs::create_dir(&folder)?;
    let write = |(at, value): (usize, &&[u8])| {
        let name = format!("{at:05}.{}", format.suffixes()[0]);
        let path = folder.join(&name);
        std::fs::write(&path, value)?;
        Ok(InputFile { path, name, format })
    };
    plain.values.iter().enumerate().map(write).collect()
}

fn options(files: &[InputFile], format: Format, runtime: Runtime, work: &Path) -> Result<Options> {
    let mut options = Options::new(work.join(format.name()), native()?);
    options.files = files.to_vec();
    options.make_quick();
    // Samples that are taken side by side are too rough for a ratio.
    options.sample_at_once = false;
    options.processor_time = true;
    options.budget = BUDGET;
    options.take_part = vec![format!("{}/data", runtime.name())];
    options.only = [format].iter().chain(&OTHERS).map(|one| one.name().to_owned()).collect();
    options.data_dir = setup::data_dir();
    options.work_dir = Some(work.to_owned());
    Ok(options)
}
