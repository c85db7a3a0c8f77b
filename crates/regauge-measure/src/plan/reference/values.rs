//! Reads documents back for comparison.

use std::fs::File;
use std::path::Path;

use regauge::convert::{self, Input};
use regauge::{Format, Limits, Value, values};

use crate::model::error::Error;
use crate::plan::contender::Contender;

/// The documents of a file, one after the other.
pub(crate) struct Values<'f>(Kind<'f>);

enum Kind<'f> {
    Stream(values::Values<'f>),
    /// Documents in spans, each on its own.
    Pieces {
        bytes: Vec<u8>,
        spans: std::vec::IntoIter<(u64, u64)>,
        options: Box<convert::Options>,
    },
}

/// Returns the options for reading documents of a format back.
pub(crate) fn options(format: Format) -> convert::Options {
    let mut options = convert::Options::new(format, format);
    options.limits = Limits::NONE;
    options
}

/// Returns the options for reading a contender's output back: a library that follows YAML 1.1
/// rightly writes some text plain that YAML 1.2 reads as something else.
pub(crate) fn options_for(contender: &Contender, format: Format) -> convert::Options {
    let mut options = options(format);
    options.yaml.schema = contender.yaml_schema;
    options
}

fn open(path: &Path) -> Result<File, Error> {
    File::open(path).map_err(Error::io("read", path))
}

impl<'f> Values<'f> {
    /// Opens a file that regauge wrote.
    pub(crate) fn open(path: &Path, format: Format) -> Result<Values<'static>, Error> {
        Values::open_with(path, &options(format))
    }

    /// Opens a file that is to be read in this way.
    pub(crate) fn open_with(
        path: &Path,
        options: &convert::Options,
    ) -> Result<Values<'static>, Error> {
        Values::of(Input::Once(Box::new(open(path)?)), options)
    }

    /// Opens a base file: JSON lines in the reversible notation.
    pub(super) fn open_base(path: &Path) -> Result<Values<'static>, Error> {
        let mut options = options(Format::Ndjson);
        options.unwrap = true;
        Values::open_with(path, &options)
    }

    /// Opens a file with its documents in these spans.
    pub(crate) fn open_pieces(
        path: &Path,
        spans: Vec<(u64, u64)>,
        options: &convert::Options,
    ) -> Result<Values<'static>, Error> {
        let bytes = std::fs::read(path).map_err(Error::io("read", path))?;
        let options = Box::new(options.clone());
        Ok(Values(Kind::Pieces { bytes, spans: spans.into_iter(), options }))
    }

    /// Reads the documents in these bytes.
    pub(crate) fn from_slice(
        bytes: &'f [u8],
        options: &convert::Options,
    ) -> Result<Values<'f>, Error> {
        Values::of(Input::Bytes(bytes), options)
    }

    fn of(input: Input<'f>, options: &convert::Options) -> Result<Values<'f>, Error> {
        let values = values::Values::open(input, options);
        Ok(Values(Kind::Stream(values.map_err(|error| Error::Input(super::told(&error)))?)))
    }

    /// Returns the next document.
    pub(crate) fn next(&mut self) -> regauge::Result<Option<Value>> {
        match &mut self.0 {
            Kind::Stream(values) => values.next(),
            Kind::Pieces { bytes, spans, options } => {
                let Some((start, end)) = spans.next() else { return Ok(None) };
                let piece = bytes.get(start as usize..end as usize).unwrap_or_default();
                let mut found = values::read_values(piece, options)?;
                if found.len() > 1 {
                    return Err(regauge::Error::syntax(format!(
                        "found {} documents, expected one",
                        found.len()
                    )));
                }
                // No document at all is what YAML has for nothing: null.
                Ok(Some(found.pop().unwrap_or(Value::Null)))
            }
        }
    }

    /// Returns the offset in the file after the last document.
    pub(super) fn offset(&self) -> u64 {
        match &self.0 {
            Kind::Stream(values) => values.offset(),
            Kind::Pieces { .. } => 0,
        }
    }
}
