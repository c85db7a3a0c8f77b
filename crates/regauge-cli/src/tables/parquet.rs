//! Parquet, by the crate regauge-arrow.

use std::io;
use std::sync::Arc;

use regauge::convert::Summary;
use regauge::{Limits, Options, Output as _, Sink, Writer};
use regauge_arrow::Losses;
use regauge_arrow::parquet::{Compression, FileReader, How, write};

use super::{Asked, Code, Plan, Read, Rows};
use crate::args::{Packed, When};
use crate::failure::{Failure, Result};
use crate::input::{Source, Wanted};
use crate::output::Outlet;
use crate::progress::Meter;
use regauge_packing::files;

/// The code of Parquet.
pub struct Parquet;

impl Code for Parquet {
    fn rows(&self, source: Arc<Source>, limits: &Limits) -> regauge::Result<Box<dyn Rows>> {
        Ok(Box::new(FileReader::open(source, limits)?))
    }

    fn plan(&self, asked: &Asked<'_>) -> Result<Box<dyn Plan>> {
        let schema = match &asked.flags.parquet_schema {
            Some(path) => {
                let limits = asked.limits;
                let wanted = Wanted { limits, tables: true, ..Wanted::plain(None) };
                let source = Source::open(path, &wanted, Meter::new(When::Never, true))?;
                let name = source.name.clone();
                let table = source.table.ok_or_else(|| {
                    Failure::usage(format!(
                        "{name}: is {}, expected Parquet",
                        source.format.title()
                    ))
                })?;
                table.check_source(&source)?;
                let reader = FileReader::open(Arc::new(source), &limits);
                Some(reader.map_err(|error| Failure::data(&name, error))?.columns())
            }
            None => None,
        };
        Ok(Box::new(Write(How {
            compression: compression(asked.compress, asked.level)?,
            sample: asked.flags.parquet_sample,
            schema,
            on_loss: asked.on_loss,
            is_marc: asked.is_marc,
        })))
    }
}

/// Returns how pages are compressed.
fn compression(asked: Option<Packed>, level: Option<u32>) -> Result<Compression> {
    let compression = match asked {
        None | Some(Packed::Snappy) => Compression::Snappy,
        Some(Packed::Whole(whole)) => match whole.0 {
            None => Compression::None,
            Some(files::Compression::Zstd) => Compression::Zstd(level.unwrap_or(3)),
            Some(files::Compression::Gzip) => Compression::Gzip(level.unwrap_or(6)),
            Some(files::Compression::Lz4) => Compression::Lz4,
            Some(other) => {
                return Err(Failure::usage(format!(
                    "Parquet has no pages of {}; pass --compress with none, snappy, gzip, zstd or lz4",
                    other.name()
                )));
            }
        },
    };
    let levels = match compression {
        Compression::Zstd(_) => Some(1..=22),
        Compression::Gzip(_) => Some(1..=9),
        _ => None,
    };
    match (level, levels) {
        (Some(level), Some(levels)) if !levels.contains(&level) => Err(Failure::usage(format!(
            "--level {level} is out of range, expected {} to {}",
            levels.start(),
            levels.end()
        ))),
        (Some(_), None) => Err(Failure::usage("--level needs --compress zstd or gzip")),
        _ => Ok(compression),
    }
}

impl Rows for FileReader {
    fn next(&mut self, sink: &mut dyn Sink) -> regauge::Result<bool> {
        self.next(sink)
    }

    fn as_records(&mut self) {
        self.as_records();
    }

    fn count(&self) -> u64 {
        self.rows()
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        self.facts()
    }
}

struct Write(How);

impl Plan for Write {
    fn write(
        &self,
        out: &mut Outlet,
        options: &Options,
        read: &mut Read<'_>,
    ) -> regauge::Result<Summary> {
        let losses = Losses::strict();
        let out = Through(out);
        let mut summary =
            write(out, options, &self.0, &losses, |sink: &mut dyn Writer| read(sink))?;
        summary.fidelity.merge(&losses.fidelity(), 0);
        Ok(summary)
    }
}

/// Passes bytes on to an outlet.
struct Through<'o>(&'o mut Outlet);

impl io::Write for Through<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
