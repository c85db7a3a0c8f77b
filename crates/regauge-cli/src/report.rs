//! `--report`: what a conversion did, as JSON. It is written during the run, so that any number of
//! broken records takes no memory.

use std::io;

use regauge::convert::{Selection, Summary};
use regauge::envelope::Opened;
use regauge::fidelity::{Fidelity, Loss};
use regauge::json;
use regauge::out::Out;
use regauge::reader::Skipped;
use regauge::{Error, Format, OnLoss, Sink, Writer};

use crate::commands::enveloped;
use crate::failure::{Failure, Result};
use crate::input::Source;
use crate::output::Destination;
use crate::tables::Form;
use regauge_packing::files::Compression;

/// One side of a conversion, as named in the report.
pub struct Side<'a> {
    pub name: &'a str,
    pub form: Form,
    pub compression: Option<Compression>,
    /// Bytes on the disk or in the pipe.
    pub bytes: Option<u64>,
    /// Bytes before compression.
    pub plain_bytes: Option<u64>,
}

/// A report being written.
pub struct Report {
    writer: json::Writer<'static>,
    destination: Destination,
    /// Bytes received so far of the current broken record.
    open: Option<u64>,
}

impl Report {
    /// Starts a report: the options, and the list of broken records.
    ///
    /// # Errors
    /// Those of writing.
    pub fn begin(destination: Destination, source: &Source, to: Form) -> Result<Report> {
        let outlet = destination.outlet(None, None, 1);
        let outlet = outlet.map_err(|error| Failure::io(&destination.name, &error))?;
        let write = json::WriteOptions { indent: Some(2), ..Default::default() };
        let out = Out::to_output(outlet, u64::MAX);
        let writer =
            json::Writer::new(out, write, Fidelity::new(OnLoss::Approximate, Format::Json));
        let mut report = Report { writer, destination, open: None };
        report.write(|json| {
            json.begin_map(None)?;
            json.key("regauge")?;
            json.str(env!("CARGO_PKG_VERSION"))?;
            json.key("command")?;
            json.begin_array(None)?;
            for argument in std::env::args_os() {
                json.str(&argument.to_string_lossy())?;
            }
            json.end_array()?;
            json.key("from")?;
            json.str(source.form().name())?;
            json.key("to")?;
            json.str(to.name())?;
            json.key("bad")?;
            json.begin_array(None)
        })?;
        Ok(report)
    }

    fn write(&mut self, act: impl FnOnce(&mut json::Writer<'static>) -> regauge::Result) -> Result {
        let name = &self.destination.name;
        act(&mut self.writer).map_err(|error| Failure::data(name, error))
    }

    /// Adds a skipped broken record, or more of one.
    ///
    /// # Errors
    /// Those of writing.
    pub fn bad(&mut self, bad: &Skipped) -> regauge::Result {
        let length = bad.bytes.len() as u64;
        if bad.continues {
            self.open = self.open.map(|bytes| bytes + length);
            return Ok(());
        }
        self.end_bad()?;
        let Some(error) = &bad.error else { return Ok(()) };
        self.writer.begin_map(None)?;
        error_fields(&mut self.writer, error)?;
        self.open = Some(length);
        Ok(())
    }

    fn end_bad(&mut self) -> regauge::Result {
        let Some(bytes) = self.open.take() else { return Ok(()) };
        self.writer.key("bytes")?;
        self.writer.u64_or_i64(bytes)?;
        self.writer.end_map()
    }

    /// Ends the report, and puts it in its place.
    ///
    /// # Errors
    /// Those of writing.
    pub fn end(
        mut self,
        input: &Side<'_>,
        output: &Side<'_>,
        opened: Option<&Opened>,
        ran: std::result::Result<&Summary, &Error>,
        select: &Selection,
    ) -> Result {
        self.end_bad().map_err(|error| Failure::data(&self.destination.name, error))?;
        self.write(|json| {
            json.end_array()?;
            for (key, side) in [("input", input), ("output", output)] {
                json.key(key)?;
                side_map(json, side)?;
            }
            if let Some(opened) = opened {
                json.key("envelopes")?;
                enveloped::json(&opened.layers, json)?;
            }
            match ran {
                Ok(summary) => {
                    json.key("documents")?;
                    json.u64_or_i64(summary.documents)?;
                    json.key("bad_records")?;
                    json.u64_or_i64(summary.bad_records)?;
                    json.key("exact")?;
                    json.bool(summary.fidelity.is_exact() && summary.bad_records == 0)?;
                    json.key("losses")?;
                    json.begin_array(None)?;
                    for loss in summary.fidelity.losses() {
                        loss_map(json, loss)?;
                    }
                    json.end_array()?;
                    if !select.is_empty() {
                        json.key("unmatched")?;
                        json.begin_array(None)?;
                        for rule in summary.matches.unmatched(select) {
                            json.str(&rule.to_string())?;
                        }
                        json.end_array()?;
                    }
                    json.key("error")?;
                    json.null()?;
                }
                Err(error) => {
                    json.key("error")?;
                    json.begin_map(None)?;
                    error_fields(json, error)?;
                    json.end_map()?;
                }
            }
            json.end_map()?;
            json.end_document()?;
            json.finish()
        })?;
        self.destination.commit()
    }
}

/// Writes an unsigned number as the event grammar requires.
pub trait Unsigned {
    /// Writes it as `i64` if it fits.
    fn u64_or_i64(&mut self, value: u64) -> regauge::Result;
}

impl<S: Sink + ?Sized> Unsigned for S {
    fn u64_or_i64(&mut self, value: u64) -> regauge::Result {
        match i64::try_from(value) {
            Ok(value) => self.i64(value),
            Err(_) => self.u64(value),
        }
    }
}

fn side_map(json: &mut dyn Sink, side: &Side<'_>) -> regauge::Result {
    json.begin_map(None)?;
    json.key("name")?;
    json.str(side.name)?;
    json.key("format")?;
    json.str(side.form.name())?;
    json.key("compression")?;
    match side.compression {
        Some(one) => json.str(one.name())?,
        None => json.null()?,
    }
    for (key, value) in [("bytes", side.bytes), ("plain_bytes", side.plain_bytes)] {
        if let Some(value) = value {
            json.key(key)?;
            json.u64_or_i64(value)?;
        }
    }
    json.end_map()
}

fn loss_map(json: &mut dyn Sink, loss: &Loss) -> regauge::Result {
    json.begin_map(None)?;
    json.key("kind")?;
    json.str(loss.kind.name())?;
    json.key("count")?;
    json.u64_or_i64(loss.count)?;
    json.key("examples")?;
    json.begin_array(None)?;
    for example in &loss.examples {
        json.begin_map(None)?;
        if let Some(record) = example.record {
            json.key("record")?;
            json.u64_or_i64(record)?;
        }
        if let Some(path) = &example.path {
            json.key("path")?;
            json.str(&path.to_string())?;
        }
        json.key("found")?;
        json.str(&example.found)?;
        json.key("written")?;
        json.str(&example.written)?;
        json.end_map()?;
    }
    json.end_array()?;
    json.end_map()
}

/// Writes the fields of an error into an open map.
///
/// # Errors
/// The sink's.
pub fn error_fields(json: &mut dyn Sink, error: &Error) -> regauge::Result {
    json.key("kind")?;
    json.str(error.kind().name())?;
    if let Some(record) = error.record() {
        json.key("record")?;
        json.u64_or_i64(record)?;
    }
    if let Some(id) = error.record_id() {
        json.key("id")?;
        json.str(id)?;
    }
    if let Some(offset) = error.offset() {
        json.key("offset")?;
        json.u64_or_i64(offset)?;
    }
    if let Some((line, column)) = error.line_column() {
        json.key("line")?;
        json.u64_or_i64(line)?;
        json.key("column")?;
        json.u64_or_i64(column)?;
    }
    if let Some(path) = error.path() {
        json.key("path")?;
        json.str(&path.to_string())?;
    }
    json.key("message")?;
    json.str(error.message())?;
    if let Some(hint) = crate::words::hint(error) {
        json.key("hint")?;
        json.str(&hint)?;
    }
    Ok(())
}

/// Writes one JSON document to standard output.
///
/// # Errors
/// Those of writing.
pub fn to_stdout(emit: impl FnOnce(&mut dyn Sink) -> regauge::Result) -> Result {
    let options = json::WriteOptions { indent: Some(2), ..Default::default() };
    let fidelity = Fidelity::new(OnLoss::Approximate, Format::Json);
    let mut writer = json::Writer::new(Out::in_memory(), options, fidelity);
    let emitted =
        emit(&mut writer).and_then(|()| writer.end_document()).and_then(|()| writer.finish());
    emitted.map_err(|error| Failure::data("standard output", error))?;
    print(&writer.into_out().into_vec())
}

/// Writes bytes to standard output.
///
/// # Errors
/// Those of writing.
pub fn print(bytes: &[u8]) -> Result {
    use io::Write as _;
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
    written.map_err(|error| Failure::io("standard output", &error))
}
