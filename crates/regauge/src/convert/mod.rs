//! The loop from a reader to a writer, on one thread or on several.

mod given;
mod input;
mod job;
pub mod parallel;

#[cfg(feature = "serde")]
pub(crate) use given::Events;
pub use given::{Given, convert_given, read_given};
pub use input::{Input, ReadAt, shrunk};
pub(crate) use job::write_with;
pub use job::{NAMED_BAD_RECORDS, OnBad, Summary};

use crate::bytes::buffer::Out;
use crate::bytes::excerpt;
use crate::bytes::output::Output;
use crate::codec::contract::{Codec, Visitor};
pub use crate::options::{DuplicateKeys, Options};
use crate::policy::event::Writer;
use crate::policy::fidelity::OnLoss;
pub use crate::policy::select::{Action, Matches, Rule, Selection};
use crate::policy::take::Pick;
use crate::{Error, ErrorKind, Result};
use job::{Job, run};

/// Reads `input`, writes `output`, and returns a summary.
///
/// `on_bad` is called for each record that was skipped under [`Options::skip_bad`].
///
/// # Errors
/// The reader's and the writer's, with offset, path and record; line, column and excerpt are added
/// if the input can be read again. On an error, the output is incomplete.
pub fn convert<'a>(
    input: Input<'a>,
    output: impl Output + Send + 'a,
    options: &Options,
    on_bad: &mut OnBad<'_>,
) -> Result<Summary> {
    let again = input.repeat();
    let pick = picked(again.as_ref(), options)?;
    let result = if options.jobs > 1 && parallel::can_split_input(&input, options) {
        parallel::convert(input, output, options, on_bad)
    } else {
        let out = Out::to_output(output, options.limits.record_bytes);
        // A stream cannot be read again to locate a fault, and a second reading for every broken
        // record would be too slow, so their paths are tracked on the way.
        let tracked = options.report
            || options.on_loss == OnLoss::Approximate
            || options.skip_bad
            || options.sample.is_some()
            || again.is_none();
        run(input, out, options, tracked, pick, on_bad).map(|(summary, _)| summary)
    };
    result.map_err(|error| explain(error, again, options))
}

/// The largest initial capacity of an output in memory.
const ROOM_BYTES: usize = 256 << 10;

/// Converts bytes in memory and returns the bytes of the other format.
///
/// # Errors
/// Same as [`convert`].
pub fn convert_bytes(input: &[u8], options: &Options) -> Result<Vec<u8>> {
    convert_counted(input, options).map(|(bytes, _)| bytes)
}

/// Same as [`convert_bytes`], and also returns what happened.
///
/// # Errors
/// Same as [`convert`].
pub fn convert_counted(input: &[u8], options: &Options) -> Result<(Vec<u8>, Summary)> {
    let tracked =
        options.report || options.on_loss == OnLoss::Approximate || options.sample.is_some();
    let pick = picked(Some(&Input::Bytes(input)), options)?;
    // Most formats take about the same space: the buffer of a small document need not move as it
    // grows.
    let room = input.len().saturating_add(64).min(ROOM_BYTES);
    let out = Out::reusing(Vec::with_capacity(room));
    match run(Input::Bytes(input), out, options, tracked, pick, &mut |_| Ok(())) {
        Ok((summary, out)) => Ok((out.into_vec(), summary)),
        Err(error) => Err(explain(error, Some(Input::Bytes(input)), options)),
    }
}

/// Returns which documents are converted, unless all are; for a sample, `again` is read to count
/// them.
fn picked(again: Option<&Input<'_>>, options: &Options) -> Result<Option<Pick>> {
    let Some(size) = options.sample else { return Ok(first(options)) };
    if options.head.is_some() {
        let message = "found both head and sample, expected one of them";
        return Err(Error::new(ErrorKind::Unsupported, message));
    }
    let Some(input) = again.and_then(Input::repeat) else {
        let message = "found an input that can be read only once; a sample takes two readings";
        return Err(Error::new(ErrorKind::Unsupported, message)
            .hint("write it to a file first, or take its first documents"));
    };
    let quiet = Options { report: false, select: Selection::default(), ..options.clone() };
    let out = Out::to_output(Discard, options.limits.record_bytes);
    let counted = run(input, out, &quiet, false, Some(Pick::Count), &mut |_| Ok(()));
    let (counted, _) =
        counted.map_err(|error| explain(error, again.and_then(Input::repeat), &quiet))?;
    let (left, rest) = (size.min(counted.documents), counted.documents);
    Ok(Some(Pick::Sample { left, rest, random: options.seed }))
}

/// Returns how many documents are converted, if only the first ones are.
fn first(options: &Options) -> Option<Pick> {
    options.head.map(|most| Pick::First(most.max(1)))
}

/// Adds to an error what a second reading of its input reveals: the path, the line, and an excerpt.
/// `options` must be those that the input was read with.
#[cold]
pub fn explain(mut error: Error, again: Option<Input<'_>>, options: &Options) -> Error {
    if error.kind() == ErrorKind::Io {
        return error;
    }
    let Some(again) = again else { return error };
    if error.path().is_none() {
        let Some(second) = again.repeat() else { return error };
        let mut quiet = Options { jobs: 1, report: false, ..options.clone() };
        if quiet.stage.as_ref().is_some_and(|stage| stage.places_errors()) {
            // What has no path yet is an error of the reader.
            (quiet.stage, quiet.to) = (None, quiet.from);
        }
        let out = Out::to_output(Discard, options.limits.record_bytes);
        if let Err(replayed) = run(second, out, &quiet, true, first(options), &mut |_| Ok(()))
            && replayed.kind() == error.kind()
            && replayed.offset() == error.offset()
            && let Some(path) = replayed.path()
        {
            error = error.at_path(path.clone());
        }
    }
    let is_text = options.from.is_text();
    if let Some(offset) = error.offset()
        && let Ok(bytes) = again.open()
        && let Ok(place) = excerpt::place(bytes, offset, is_text)
    {
        error = error.with_excerpt(place.excerpt);
        if let Some((line, column)) = place.line_column {
            error = error.at_line(line, column);
        }
    }
    error
}

/// An output that discards its bytes.
struct Discard;

impl Output for Discard {
    fn write(&mut self, _: &[u8]) -> std::io::Result<()> {
        Ok(())
    }
    fn hold(&mut self) -> std::io::Result<()> {
        Ok(())
    }
    fn patch(&mut self, _: u64, _: &[u8]) -> std::io::Result<()> {
        Ok(())
    }
    fn release(&mut self) -> std::io::Result<()> {
        Ok(())
    }
    fn can_truncate(&self) -> bool {
        true
    }
    fn truncate(&mut self, _: u64) -> std::io::Result<()> {
        Ok(())
    }
}

/// Reads `input`, a stream of [`Options::from`], into a custom sink, on the calling thread.
/// [`Options::to`] should be the same format; options for writing have no effect.
///
/// # Errors
/// Same as [`convert`], and those of the sink.
pub fn read<'a>(
    input: Input<'a>,
    options: &Options,
    sink: &mut impl Writer,
    on_bad: &mut OnBad<'_>,
) -> Result<Summary> {
    let again = input.repeat();
    let kept = options.for_trees();
    let pick = picked(again.as_ref(), options)?;
    let job = Job { options: &kept, tracked: options.report || again.is_none(), pick };
    let result = options.from.visit(ReadFrom { job, input, sink, on_bad });
    result.map_err(|error| explain(error, again, options))
}

/// Opens a format's reader, and drives it into a sink.
struct ReadFrom<'j, 'a, 'b, W> {
    job: Job<'j>,
    input: Input<'a>,
    sink: &'j mut W,
    on_bad: &'j mut OnBad<'b>,
}

impl<W: Writer> Visitor for ReadFrom<'_, '_, '_, W> {
    type Output = Result<Summary>;

    fn visit<C: Codec>(self) -> Result<Summary> {
        let reader = self.input.reader(C::parser(self.job.options))?;
        self.job.drive(reader, self.sink, self.on_bad)
    }
}
