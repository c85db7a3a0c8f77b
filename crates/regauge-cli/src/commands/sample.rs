//! `regauge sample`: generated documents, in any format.

use std::io::{self, BufWriter, Write};
use std::thread;

use regauge::convert::{Input, Options, convert};
use regauge::output::Output as _;
use regauge::{Error, Format};
use regauge_measure::sample::{self, Kind};

use crate::args::{Sample, threads};
use crate::commands::convert::{check_level, check_terminal, is_stream, output_format};
use crate::failure::{Failure, Result};
use crate::output::{Destination, Outlet};
use crate::tables::Table;

/// Documents are small; they are passed on in pieces of this size.
const PIECE_BYTES: usize = 256 << 10;

/// Writes a sample.
pub fn run(arguments: &Sample) -> Result {
    let kind = arguments.kind;
    let count = arguments.count.unwrap_or(kind.default_count());
    let native = Format::from_name(&format!("sample.{}", kind.suffix(count)));
    let native = native.expect("a sample's suffix is one that we know");
    let implied = arguments.to.or(is_stream(&arguments.output).then_some(native));
    refuse_table(arguments)?;
    let (to, compression) = output_format(&arguments.output, implied, arguments.compress)?;
    check_level(arguments.level, compression)?;
    check_terminal(&arguments.output, to, compression)?;
    let jobs = threads(None);
    let destination = Destination::open(&arguments.output, arguments.force)?;
    let outlet = destination.outlet(compression, arguments.level, jobs);
    let mut outlet = outlet.map_err(|error| Failure::io(&destination.name, &error))?;
    let how = sample::Options { count: Some(count), seed: arguments.seed };
    let made = if to == native {
        let mut write = BufWriter::with_capacity(PIECE_BYTES, Pieces(&mut outlet));
        sample::generate(kind, &how, &mut write).map(drop).map_err(Error::from)
    } else {
        let mut options = Options::new(native, to);
        options.jobs = jobs;
        convert_sample(kind, &how, &options, &mut outlet)
    };
    let finished = made.and_then(|()| Ok(outlet.finish()?));
    finished.map_err(|error| Failure::data(&format!("the sample {kind}"), error))?;
    destination.commit()
}

/// Refuses a file name of a table, which is written with all of its columns known.
fn refuse_table(arguments: &Sample) -> Result {
    let name = arguments.output.to_string_lossy();
    match Table::from_name(&name).filter(|_| arguments.to.is_none()) {
        Some(table) => Err(Failure::usage(format!(
            "{name}: a sample cannot be written as {}; write another format, and convert it",
            table.title
        ))),
        None => Ok(()),
    }
}

/// Generates the sample on a separate thread, and converts it on the fly.
fn convert_sample(
    kind: Kind,
    how: &sample::Options,
    options: &Options,
    outlet: &mut Outlet,
) -> std::result::Result<(), Error> {
    let (read, write) = io::pipe()?;
    thread::scope(|scope| {
        let maker = scope.spawn(move || {
            sample::generate(kind, how, &mut BufWriter::with_capacity(PIECE_BYTES, write))
        });
        let ran = convert(Input::Once(Box::new(read)), outlet, options, &mut |_| Ok(()));
        let made = maker
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the sample generator stopped early")));
        // If the conversion ends early, the generator gets a broken pipe.
        ran?;
        made?;
        Ok(())
    })
}

/// Adapts an outlet to [`Write`], which the generator takes.
struct Pieces<'a>(&'a mut Outlet);

impl Write for Pieces<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
