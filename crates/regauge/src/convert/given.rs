//! Conversions of documents that other code reads: a file with a footer, say, which no
//! [`Parse`] could read from its beginning to its end.

use crate::bytes::buffer::Out;
use crate::bytes::output::Output;
use crate::bytes::reader::{Parse, Reader, Status};
use crate::convert::job::{Job, Summary, write_with};
use crate::model::format::{Format, Framing};
use crate::model::limits::Limits;
use crate::options::Options;
use crate::policy::documents::Documents;
use crate::policy::event::{Sink, Writer};
use crate::policy::take::Pick;
use crate::{Error, ErrorKind, Result};

/// Documents that other code reads.
pub struct Given<'g> {
    /// Sends the events of the next document; returns `false` at the end.
    pub next: &'g mut dyn FnMut(&mut dyn Sink) -> Result<bool>,
    /// How many documents there are, if that is known before they are read.
    pub count: Option<u64>,
}

/// Writes the documents in the format [`Options::to`], and returns a summary. [`Options::from`] has no effect.
///
/// # Errors
/// Those of the source, of the policy and of the writer, with the path and the number of the document.
pub fn convert_given<'a>(
    given: Given<'_>,
    output: impl Output + Send + 'a,
    options: &Options,
) -> Result<Summary> {
    let out = Out::to_output(output, options.limits.record_bytes);
    let options = as_given(options);
    let pick = given.pick(&options)?;
    let written = write_with(given.reader(&options), out, &options, true, pick);
    written.map(|(summary, _)| summary).map_err(Error::of_given)
}

/// Sends the documents to a custom sink, through the adapters that the options ask for.
///
/// # Errors
/// Same as [`convert_given`].
pub fn read_given(
    given: Given<'_>,
    options: &Options,
    mut sink: &mut dyn Writer,
) -> Result<Summary> {
    let options = as_given(options);
    let job = Job { options: &options, tracked: true, pick: given.pick(&options)? };
    job.drive(given.reader(&options), &mut sink, &mut |_| Ok(())).map_err(Error::of_given)
}

/// Returns options for documents that are no notation, and no stream with broken records.
fn as_given(options: &Options) -> Options {
    let mut options = options.clone();
    // A binary format, in which any value is what it is.
    options.from = Format::Msgpack;
    options.skip_bad = false;
    if options.documents == Documents::Auto {
        let joins = options.to.framing() == Framing::Single;
        options.documents = if joins { Documents::Join } else { Documents::Keep };
    }
    options
}

impl<'g> Given<'g> {
    fn pick(&self, options: &Options) -> Result<Option<Pick>> {
        match (options.head, options.sample, self.count) {
            (Some(_), Some(_), _) => Err(Error::new(
                ErrorKind::Unsupported,
                "found both head and sample, expected one of them",
            )),
            (Some(most), None, _) => Ok(Some(Pick::First(most.max(1)))),
            (None, Some(size), Some(rest)) => {
                Ok(Some(Pick::Sample { left: size.min(rest), rest, random: options.seed }))
            }
            (None, Some(_), None) => Err(Error::new(
                ErrorKind::Unsupported,
                "found a source of unknown length; a sample needs the number of documents",
            )),
            (None, None, _) => Ok(None),
        }
    }

    fn reader(self, options: &Options) -> Reader<'static, Events<'g>> {
        // A stream, so that errors have the number of the document.
        let events = Events { next: self.next, limits: options.limits, format: Format::Ndjson };
        Reader::from_slice(events, &[])
    }
}

/// Drives a sink in place of a parser.
pub(crate) struct Events<'g> {
    /// Sends the events of the next document; returns `false` at the end.
    pub(crate) next: &'g mut dyn FnMut(&mut dyn Sink) -> Result<bool>,
    pub(crate) limits: Limits,
    /// The format that errors name, and how they count documents.
    pub(crate) format: Format,
}

impl Parse for Events<'_> {
    const FORMAT: Format = Format::Msgpack;

    fn parse<S: Sink + ?Sized>(
        &mut self,
        _bytes: &[u8],
        _pos: &mut usize,
        _last: bool,
        mut sink: &mut S,
    ) -> Result<Status> {
        Ok(if (self.next)(&mut sink)? { Status::Document } else { Status::End })
    }

    fn format(&self) -> Format {
        self.format
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::output::StreamOutput;
    use crate::policy::fidelity::OnLoss;

    /// Converts 0, 1, 2, … up to this number.
    fn counted(end: i64, options: &Options) -> Result<String> {
        let mut numbers = 0..end;
        let mut next = |sink: &mut dyn Sink| match numbers.next() {
            Some(number) => sink.i64(number).map(|()| true),
            None => Ok(false),
        };
        let mut bytes = Vec::new();
        let given = Given { next: &mut next, count: Some(end as u64) };
        convert_given(given, StreamOutput::new(&mut bytes), options)?;
        Ok(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn documents_become_lines_or_one_array() {
        let mut options = Options::new(Format::Json, Format::Ndjson);
        assert_eq!(counted(3, &options).unwrap(), "0\n1\n2\n");
        options.to = Format::Json;
        assert_eq!(counted(3, &options).unwrap().replace('\n', ""), "[0,1,2]");
    }

    #[test]
    fn some_of_the_documents() {
        let mut options = Options::new(Format::Json, Format::Ndjson);
        options.head = Some(2);
        assert_eq!(counted(9, &options).unwrap(), "0\n1\n");
        (options.head, options.sample) = (None, Some(3));
        assert_eq!(counted(9, &options).unwrap().lines().count(), 3);
        assert_eq!(counted(2, &options).unwrap().lines().count(), 2);
    }

    #[test]
    fn an_error_has_the_number_and_the_path_and_no_format() {
        let options = Options::new(Format::Json, Format::Ndjson);
        assert_eq!(options.on_loss, OnLoss::Refuse);
        let mut left = 3;
        let mut next = |sink: &mut dyn Sink| {
            left -= 1;
            sink.begin_map(None)?;
            sink.key("a")?;
            if left > 0 {
                sink.i64(1)?
            } else {
                sink.bytes(b"x")?
            }
            sink.end_map().map(|()| true)
        };
        let given = Given { next: &mut next, count: None };
        let error = convert_given(given, StreamOutput::new(Vec::new()), &options).unwrap_err();
        assert!(
            error.to_string().starts_with("record 3, at $.a: found 1 bytes of binary data"),
            "{error}"
        );
    }
}
